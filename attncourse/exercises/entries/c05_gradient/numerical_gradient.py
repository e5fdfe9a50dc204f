import numpy as np

from ...model import PLAIN, Case, normal
from ...pages import written

LARGE_STEP = "a large step"


class Formula:
    """A function that says what it computes."""

    def __init__(self, text, compute):
        self.text, self.compute = text, compute

    def __call__(self, x):
        return float(self.compute(np.asarray(x)))

    def __repr__(self):
        return self.text


class Watched(Formula):
    """The same, noting whether it is called with another shape, or while x is changed."""

    def __init__(self, x):
        super().__init__("the sum of x³", lambda x: (x**3).sum())
        self.x, self.before, self.shapes, self.changed = x, x.copy(), set(), False

    def moved(self):
        """Whether x is changed by more than rounding."""
        return not np.allclose(self.x, self.before, rtol=0, atol=1e-9)

    def __call__(self, x):
        self.shapes.add(np.shape(x))
        self.changed |= self.moved()
        return super().__call__(x)


def numerical_gradient(function, x, step):
    grad = np.zeros(x.shape)
    places = np.ndindex(*x.shape)
    for at in places:
        f = moved_along(function, x, at)
        quotient = (f(step) - f(-step)) / (2 * step)
        grad[at] = quotient
    found = grad
    signed = found
    return signed


def moved_along(function, x, at, kept=1):
    """The function of how far the entry is moved or, if nothing is kept of it, of its value."""

    def moved_by(change):
        moved = x.copy()
        moved[at] = kept * moved[at] + change
        return function(moved)

    return moved_by


# by what a step that is relative to an entry is multiplied
SIZES = (
    lambda entry: max(1, entry),
    lambda entry: 1 + entry,
    lambda entry: entry or 1,
    lambda entry: entry + 1e-8,
)


def slope(f, h):
    return (f(h) - f(-h)) / (2 * h)


def only(keep, grad):
    """Only some entries of the gradient, the others 0."""
    found = np.zeros_like(grad)
    found.flat[keep(grad.size)] = grad.flat[keep(grad.size)]
    return found


def left_moved(function, x, step):
    """The gradient if an entry that went up and down is not moved back."""
    moved, grad = x.copy(), np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        moved[at] += step
        up = function(moved)
        moved[at] -= 2 * step
        grad[at] = (up - function(moved)) / (2 * step)
    return grad


def copied_once(function, x, step, below=1):
    """The gradient if one copy goes up and one down, entry after entry; or only one up."""
    up, down, grad = x.copy(), x.copy(), np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        up[at] += step
        down[at] -= below * step
        grad[at] = (function(up) - function(down)) / ((1 + below) * step)
    return grad


def walked(function, x, step):
    """The gradient if each entry goes up and stays there, and both ends of its step count."""
    moved, grad = x.copy(), np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        before = function(moved)
        moved[at] += step
        grad[at] = (function(moved) - before) / step
    return grad


def same_twice(run):
    """An audit: whether every entry's two values are for the same numbers."""
    seen = []

    def cubes(x):
        seen.append(x.copy())
        return (x**3).sum()

    outcome = run(Formula("the sum of x³", cubes), normal(5, seed=4), 1e-3)
    pairs = zip(seen[::2], seen[1::2])
    same = len(seen) == 10 and all(np.array_equal(up, down) for up, down in pairs)
    return "both values at the same point" if same and not outcome.failure else None


def leaves_x_alone(run):
    """An audit: whether x is changed in between, or the function called with another shape. If x
    stays moved, it is an argument overwritten, which says enough.
    """
    x = normal(7, 11, seed=4)
    watched = Watched(x)
    outcome = run(watched, x, 0.1)
    if outcome.failure:
        return None
    if watched.shapes - {x.shape}:
        return "called with another shape"
    if watched.moved():
        return None
    if watched.changed:
        return "x changed in between"
    return None if np.array_equal(x, watched.before) else "x restored only approximately"


CUBES = Formula("the sum of x³", lambda x: (x**3).sum())
PRODUCT = Formula("the product of all entries", lambda x: x.prod())
LAST = Formula("exp(x[..., -1]) + x.sum() ** 2", lambda x: np.exp(np.ravel(x)[-1]) + x.sum() ** 2)
WEIGHTED = Formula(
    "the sum of 1, 2, 3, ... times x²", lambda x: (np.arange(1, x.size + 1) * x.ravel() ** 2).sum()
)


def _exact(*shape, seed):
    """Random numbers to which steps are added without rounding, so that an entry that is moved
    back in place is what it was, and only the audits say that it was moved.
    """
    return np.round(normal(*shape, seed=seed) * 256) / 256 + 0.0  # and without -0


def _cases():
    def case(aspect, function, x, step):
        return Case(aspect, (function, np.array(x, float), step), relative=1e-6)

    return [
        case(PLAIN, CUBES, [1, 2], 0.5),
        case(PLAIN, WEIGHTED, [1, 0, -2], 0.125),
        case(PLAIN, LAST, [0.5, -1, 0.25], 0.0625),
        case(PLAIN, CUBES, [[1, 2], [0, -1]], 0.25),
        case(PLAIN, WEIGHTED, _exact(5, 7, seed=1), 2**-10),
        case(PLAIN, LAST, _exact(3, 11, seed=2) / 4, 2**-7),
        case(PLAIN, PRODUCT, [2, 3, 5], 2**-10),
        case("one entry", CUBES, [2], 0.5),
        case("no axes", CUBES, 2, 0.5),
        case("three axes", WEIGHTED, _exact(2, 3, 5, seed=3), 2**-7),
        case(LARGE_STEP, CUBES, [[1, -1, 2]], 2.0),
        case(LARGE_STEP, LAST, [[0.5, 1]], 1.0),
    ]


EXERCISE = written(
    numerical_gradient,
    place=1,
    dtype="number",
    axes=dict(x="n"),
    answer_axes="n",
    cases=_cases,
    audits=(same_twice, leaves_x_alone),
)
