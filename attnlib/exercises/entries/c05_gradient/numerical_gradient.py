"""The exercise numerical_gradient."""

import numpy as np

from ...model import PLAIN, Case, Exercise, Mistake, alike, normal, ways

LARGE_STEP = "a large step"


class Formula:
    """A function that says what it computes, and that a learner's answer may only call with arrays of one shape."""

    def __init__(self, text, compute):
        self.text, self.compute = text, compute

    def __call__(self, x):
        return float(self.compute(np.asarray(x)))

    def __repr__(self):
        return self.text


class Watched(Formula):
    """The same, noting whether it is called with another shape, or while the caller's own array is changed."""

    def __init__(self, x):
        super().__init__("the sum of x³", lambda x: (x ** 3).sum())
        self.x, self.before, self.shapes, self.changed = x, x.copy(), set(), False

    def __call__(self, x):
        self.shapes.add(np.shape(x))
        self.changed |= not np.array_equal(self.x, self.before)
        return super().__call__(x)


def numerical_gradient_answer(do, function, x, step):
    grad = np.zeros(x.shape)
    for at in do.entries(x):
        grad[at] = do.quotient(lambda change: function(_moved(x, at, change)), step)
    return do.form(do.finish(do.sense(do.places(grad))))


def _moved(x, at, change):
    moved = x.copy()
    moved[at] += change
    return moved


def _only(keep):
    """Only some entries of the gradient, the others 0."""
    def places(grad):
        found = np.zeros_like(grad)
        found.flat[keep(grad.size)] = grad.flat[keep(grad.size)]
        return found

    return {"places": places}


def _cases():
    cubes = Formula("the sum of x³", lambda x: (x ** 3).sum())
    product = Formula("the product of all entries", lambda x: x.prod())
    last = Formula("exp(x[..., -1]) + x.sum() ** 2", lambda x: np.exp(np.ravel(x)[-1]) + x.sum() ** 2)
    weighted = Formula("the sum of 1, 2, 3, ... times x²", lambda x: (np.arange(1, x.size + 1) * x.ravel() ** 2).sum())

    def case(aspect, function, x, step):
        return Case(aspect, (function, np.array(x, float), step), relative=1e-6)

    return [
        case(PLAIN, cubes, [1, 2], 0.5), case(PLAIN, weighted, [1, 0, -2], 0.1), case(PLAIN, last, [0.5, -1, 0.25], 1e-3),
        case(PLAIN, cubes, [[1, 2], [0, -1]], 0.25), case(PLAIN, weighted, normal(5, 7, seed=1), 1e-3),
        case(PLAIN, last, normal(3, 11, seed=2) / 4, 1e-2), case(PLAIN, product, [2, 3, 5], 1e-3), case("one entry", cubes, [2], 0.5),
        case("no axes", cubes, 2, 0.5), case("several axes", weighted, normal(2, 3, 5, seed=3), 1e-2),
        case(LARGE_STEP, cubes, [[1, -1, 2]], 2.0), case(LARGE_STEP, last, [[0.5, 1]], 1.0),
    ]


X_CHANGED = Mistake(
    "x changed in between",
    does="While the function is being called, the caller's own x holds other numbers.",
    why="Somebody else may look at x meanwhile, and if the function stops with an error x stays wrong: move a copy.",
    ask="Which array do you add the step to?")

OTHER_SHAPE = Mistake(
    "called with another shape",
    does="The function is called with arrays of another shape than x.",
    why="A function of x takes arrays of x's shape: a loss of a whole matrix has no meaning for one of its entries.",
    ask="Which shape has the array that you hand to the function?")


def leaves_x_alone(run):
    """The Mistake if x is changed in between, or the function called with another shape."""
    x = normal(3, 5, seed=4)
    watched = Watched(x)
    outcome = run(watched, x, 1e-3)
    if outcome.failure:
        return None
    return OTHER_SHAPE if watched.shapes - {x.shape} else X_CHANGED if watched.changed else None


EXERCISE = Exercise(
    name="numerical_gradient", signature="(function, x, step)", place=1, dtype="number",
    axes=dict(x="n"), answer_axes="n",
    text="The gradient of a function of an array to a number by central differences, "
         "(f(x + step e) - f(x - step e)) / (2 step) for each entry; x's shape. x is not changed, not even in between.",
    answer=numerical_gradient_answer,
    steps={
        "entries": lambda x: np.ndindex(*x.shape),
        "quotient": lambda f, step: (f(step) - f(-step)) / (2 * step),
        "places": lambda grad: grad,
        "sense": lambda grad: grad,
        "finish": lambda grad: grad,
        "form": lambda grad: grad,
    },
    cases=_cases, audits=(leaves_x_alone,),
    hints=(
        "For each entry: move it up by step, and down by step, and leave all others as they are.",
        "np.ndindex(*x.shape) goes through all entries of an array of any shape; x.copy() gives one that may be changed.",
        "With up[at] += step and down[at] -= step the entry of the gradient is (function(up) - function(down)) / (2 * step).",
    ),
    mistakes=(
        *alike("The central difference, (f(x + step) - f(x - step)) / (2 step), has an error that falls with the square of "
               "the step.", "For f(x) = x² at x = 1 and step 0.5, what is the right difference quotient?",
               ("forward difference", {"quotient": lambda f, step: (f(step) - f(0)) / step},
                "Only the step up is taken: the error falls with the step itself, not with its square."),
               ("backward difference", {"quotient": lambda f, step: (f(0) - f(-step)) / step},
                "Only the step down is taken: the error falls with the step itself, not with its square."),
               ("divided by step instead of 2 step", {"quotient": lambda f, step: (f(step) - f(-step)) / step},
                "The answer is twice as large as it should be: from one point to the other it is 2 step."),
               ("one value alone divided", {"quotient": lambda f, step: f(step) - f(-step) / (2 * step)},
                "Only the second value is divided by 2 step: in Python a - b / c is a - (b / c)."),
               ("not divided", {"quotient": lambda f, step: f(step) - f(-step)}, "The difference is not divided by any step."),
               ("divided by 2 alone", {"quotient": lambda f, step: (f(step) - f(-step)) / 2}, "The difference is divided by 2, not by 2 step."),
               ("multiplied by the step", {"quotient": lambda f, step: (f(step) - f(-step)) / 2 * step},
                "In Python a / 2 * step is (a / 2) * step: the difference is multiplied by the step."),
               ("second difference", {"quotient": lambda f, step: (f(step) - 2 * f(0) + f(-step)) / step ** 2},
                "The answer is the second derivative: of the value in the middle nothing should be left."),
               ("extrapolated", {"quotient": lambda f, step: (8 * (f(step / 2) - f(-step / 2)) - f(step) + f(-step)) / (6 * step)},
                "Two steps are combined, so that the error falls with the fourth power of the step."),
               ("half a step", {"quotient": lambda f, step: (f(step / 2) - f(-step / 2)) / step},
                "Each entry is moved by half a step."),
               ("a step of its own", tuple({"quotient": lambda f, step, h=h: (f(h) - f(-h)) / (2 * h)} for h in (
                   1e-5, 1e-6, 1e-4, 1e-3, 1e-7, 1e-2)),
                "A step that stands in the code is taken, whatever step says."),
               ("sign flipped", {"sense": lambda grad: -grad},
                "The two values are subtracted the wrong way round.")),
        *alike("Each entry is moved alone, and each has an entry in the gradient.", "How often is the function called for an x of n entries?",
               ("all entries moved at once", {"entries": lambda x: [...]},
                "All entries are moved together: what comes out is the sum of the gradient."),
               ("moved from 0", {"answer": lambda f, x, step: np.array([(f(e) - f(-e)) / (2 * step) for e in step * np.eye(
                   x.size).reshape(x.size, *x.shape)]).reshape(x.shape)},
                "The steps are taken from an array of zeros, not from x."),
               ("last entry left out", _only(lambda n: slice(0, n - 1)), "The last entry of the gradient is 0."),
               ("first entry left out", _only(lambda n: slice(1, n)), "The first entry of the gradient is 0."),
               ("first entry alone", _only(lambda n: slice(0, 1)), "Only the first entry is there; the others are 0."),
               ("a row moved at once", ways("entries", lambda x: range(x.shape[0]), lambda x: range(len(x)) if x.ndim else [()]),
                "All entries of x[i] are moved together: for two axes that is a whole row."),
               ("entry not moved back", ({"answer": lambda f, x, step: _left_moved(f, x, step)},
                                         {"answer": lambda f, x, step: _moved_once_copied(f, x, step)}),
                "An entry that has been moved stays moved while the next ones are.")),
        *alike("The answer has one entry for each entry of x.", "Which shape should the answer have?",
               ("size of the gradient", {"finish": lambda grad: np.sqrt((grad ** 2).sum())}, "The answer is the gradient's length."),
               ("gradient flat", {"form": np.ravel},
                "The entries stand in one row, whatever axes x has."),
               ("gradient made a unit vector", {"finish": lambda grad: grad / np.sqrt((grad ** 2).sum())}, "The gradient is divided by its length."),
               ("gradient summed", {"finish": np.sum}, "The answer is the sum of the gradient.")),
    ),
)


def _left_moved(function, x, step):
    moved, grad = x.copy(), np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        moved[at] += step
        up = function(moved)
        moved[at] -= 2 * step
        grad[at] = (up - function(moved)) / (2 * step)
    return grad


def _moved_once_copied(function, x, step):
    up, down, grad = x.copy(), x.copy(), np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        up[at] += step
        down[at] -= step
        grad[at] = (function(up) - function(down)) / (2 * step)
    return grad
