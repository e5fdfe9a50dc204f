"""The inputs that an exercise is tried with, made from the axes of its arguments."""

import numpy as np

from ..model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, normal

# different primes, so that no size can be taken for another
SIZES = (
    {"n_q": 5, "n_k": 7, "n": 5, "d_k": 3, "d_v": 13, "d_model": 11},
    {"n_q": 7, "n_k": 5, "n": 7, "d_k": 11, "d_v": 2, "d_model": 3},
)
# Here the largest unscaled score, 40,000, is 20,000 above the largest scaled one.
LONG_QUERY, LONG_KEYS = [100] * 4, [[100] * 4, [99] * 4, [0] * 4]
LARGE = {"n_q": 37, "n_k": 41, "n": 41, "d_k": 17, "d_v": 19, "d_model": 23}


def inputs(axes, numbers=(), make=None, sizes=(), leading=True):
    """The cases of an exercise whose arguments have these axes: {argument: "n_q d_k"}.

    Two of ordinary sizes, a larger one, and one whose arrays lie in memory in another order; equal
    sizes; one and two leading axes; float32 and float16, in a readable size too. `numbers` are the
    arguments behind the arrays, drawn in turn: each a tuple of values. `make` has functions of
    (shape, seed, dtype) for arguments that are not just normal numbers. `sizes` are what each case
    takes from, instead of SIZES and LARGE: two dicts, or three.
    """
    make = make or {}
    small, other, large = (*sizes, *(*SIZES, LARGE)[len(sizes) :])
    made = []

    def case(aspect, size, lead=(), dtype=np.float64, order="C"):
        seed = 100 + 10 * len(made)
        arrays = []
        for place, (name, labels) in enumerate(axes.items()):
            shape = (
                *lead,
                *(size if isinstance(size, int) else size[label] for label in labels.split()),
            )
            array = make.get(name, _normal)(shape, seed + place, dtype)
            arrays.append(np.asarray(array, order=order))
        drawn = [values[len(made) % len(values)] for values in numbers]
        made.append(Case(aspect, (*arrays, *drawn)))

    case(PLAIN, small)
    case(PLAIN, other)
    case(PLAIN, other, order="F")
    case(PLAIN, large)
    case(SQUARE, 3)
    case(SQUARE, 5)
    if leading:
        case(LEADING, small, (2,))
        case(LEADING, other, (2, 3))
        case(LEADING, small, (3, 2), order="F")
    for aspect, size, dtype in ((FLOAT32, small, np.float32), (FLOAT16, other, np.float16)):
        case(aspect, size, dtype=dtype)
        case(aspect, 2, dtype=dtype)  # small enough to be read
    return made


def _normal(shape, seed, dtype):
    return normal(*shape, seed=seed, dtype=dtype)


def given(aspect, *args, dtype=np.float64, extreme=False, **more):
    """A case of numbers as they stand here: a list is an array of this dtype."""
    arrays = (np.array(arg, dtype) if isinstance(arg, list) else arg for arg in args)
    return Case(aspect, tuple(arrays), extreme or aspect == HUGE, **more)


def drawn(
    aspect, *shapes, seed, behind=(), lead=(), dtype=np.float64, order="C", scale=1.0, extreme=False
):
    """A case of normal arrays of these shapes after leading axes, and of what is behind them."""
    arrays = [
        normal(*lead, *shape, seed=seed + i, dtype=dtype, scale=scale)
        for i, shape in enumerate(shapes)
    ]
    return Case(aspect, (*(np.asarray(array, order=order) for array in arrays), *behind), extreme)
