"""The plain changes that are tried on any array: each a function, with a phrase for it."""

import numpy as np


def softmax(array):
    exponentials = np.exp(array - array.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def cut(array, axis, part):
    """This part of an axis; the array itself if it has no such axis."""
    if array.ndim < (axis + 1 if axis >= 0 else -axis):
        return array
    return array[(slice(None),) * (axis % array.ndim) + (part,)]


def emptied(array, axis, part, fill=0):
    """The array with this part of an axis set to a number."""
    found = array.copy()
    cut(found, axis, part)[...] = fill
    return found


def kept(array, axis, part):
    """The array with everything but this part of an axis set to 0."""
    found = np.zeros_like(array)
    cut(found, axis, part)[...] = cut(array, axis, part)
    return found


def spread(array, axis, reduce):
    """The array with all entries of an axis replaced by one of them, or by a mean."""
    if array.ndim < (axis + 1 if axis >= 0 else -axis):
        return array
    return np.broadcast_to(reduce(array, axis), array.shape)


def mean(array, axis):
    return array.mean(axis=axis, keepdims=True)


# (name, what it does, parts): what is left out or kept of an axis
PARTS = (
    ("the first {one} left out", "The first {one} doesn't count.", (slice(1, None),)),
    ("the last {one} left out", "The last {one} doesn't count.", (slice(None, -1),)),
    (
        "the first and the last {one} left out",
        "The first and the last {one} don't count.",
        (slice(1, -1),),
    ),
    ("only the first {one}", "Only the first {one} counts.", (slice(0, 1),)),
    ("only the last {one}", "Only the last {one} counts.", (slice(-1, None),)),
    (
        "every second {one} left out",
        "Only every second {one} counts.",
        (slice(0, None, 2), slice(1, None, 2)),
    ),
)

# (name, change, how the changed array comes): entry by entry, by rows and columns, rows alone, and
# to other places
ELEMENTWISE = (
    ("negated", np.negative, "with the opposite sign"),
    ("in absolute value", np.abs, "in absolute value"),
    ("squared", np.square, "squared"),
    ("under a square root", np.sqrt, "under a square root"),
    (
        "with negative numbers set to 0",
        lambda a: np.maximum(a, 0),
        "with 0 for every negative number",
    ),
    ("rounded", np.rint, "rounded to whole numbers"),
    ("cut to integers", np.trunc, "without the fractional part"),
    ("rounded down", np.floor, "rounded down to whole numbers"),
    ("through an exponential", np.exp, "after an exponential"),
    ("through a logarithm", np.log, "after a logarithm"),
    ("inverted", lambda a: 1 / a, "as a reciprocal"),
    ("through a sigmoid", lambda a: 1 / (1 + np.exp(-a)), "after a sigmoid"),
    ("through a tanh", np.tanh, "after a tanh"),
    ("clipped to 0 and 1", lambda a: np.clip(a, 0, 1), "clipped to between 0 and 1"),
    ("clipped to -1 and 1", lambda a: np.clip(a, -1, 1), "clipped to between -1 and 1"),
    ("cubed", lambda a: a**3, "to the third power"),
    ("taken from 1", lambda a: 1 - a, "subtracted from 1"),
    ("too large by 1", lambda a: a + 1, "with 1 added"),
    ("too small by 1", lambda a: a - 1, "with 1 subtracted"),
    ("doubled", lambda a: 2 * a, "doubled"),
    ("halved", lambda a: a / 2, "halved"),
    ("through log1p", np.log1p, "after log1p"),
    *(
        (
            f"rounded to {n} digit" + "s" * (n > 1),
            lambda a, n=n: np.round(a, n),
            f"rounded to {n} digit" + "s" * (n > 1),
        )
        for n in (1, 2, 3, 4)
    ),
    (
        "with alternating signs",
        lambda a: a * (-1.0) ** np.arange(a.shape[-1]),
        "with every second sign changed",
    ),
)
ROWWISE = (
    ("through a softmax", softmax, "after a softmax of each row"),
    (
        "divided by its row sums",
        lambda a: a / a.sum(axis=-1, keepdims=True),
        "with each row divided by its sum",
    ),
    (
        "divided by its column sums",
        lambda a: a / a.sum(axis=-2, keepdims=True),
        "with each column divided by its sum",
    ),
    ("divided by its sum", lambda a: a / a.sum(), "divided by the sum of all entries"),
    ("divided by its largest entry", lambda a: a / a.max(), "divided by the largest entry"),
    (
        "divided by its row maxima",
        lambda a: a / a.max(axis=-1, keepdims=True),
        "with each row divided by its largest entry",
    ),
    (
        "divided by its rows' lengths",
        lambda a: a / np.linalg.norm(a, axis=-1, keepdims=True),
        "with each row divided by its Euclidean length",
    ),
    (
        "divided by its columns' lengths",
        lambda a: a / np.linalg.norm(a, axis=-2, keepdims=True),
        "with each column divided by its Euclidean length",
    ),
    (
        "without its row means",
        lambda a: a - a.mean(axis=-1, keepdims=True),
        "with the mean of each row subtracted",
    ),
    (
        "without its column means",
        lambda a: a - a.mean(axis=-2, keepdims=True),
        "with the mean of each column subtracted",
    ),
    ("without its mean", lambda a: a - a.mean(), "with the mean of all entries subtracted"),
    (
        "without its row maxima",
        lambda a: a - a.max(axis=-1, keepdims=True),
        "with the largest entry of each row subtracted",
    ),
    (
        "standardised by rows",
        lambda a: (a - a.mean(axis=-1, keepdims=True)) / a.std(axis=-1, keepdims=True),
        "with each row standardised to mean 0 and standard deviation 1",
    ),
    (
        "without its row minima",
        lambda a: a - a.min(axis=-1, keepdims=True),
        "with the smallest entry of each row subtracted",
    ),
    (
        "stretched to 0 and 1",
        lambda a: (a - a.min(axis=-1, keepdims=True)) / np.ptp(a, axis=-1, keepdims=True),
        "with each row rescaled to run from 0 to 1",
    ),
    (
        "divided by its largest absolute entry",
        lambda a: a / np.abs(a).max(),
        "divided by the largest absolute entry",
    ),
    (
        "divided by its root mean square",
        lambda a: a / np.sqrt((a**2).mean(axis=-1, keepdims=True)),
        "with each row divided by its root mean square",
    ),
    (
        "divided by the number of its columns",
        lambda a: a / a.shape[-1],
        "divided by the number of columns",
    ),
    (
        "divided by the root of the number of its columns",
        lambda a: a / np.sqrt(a.shape[-1]),
        "divided by the square root of the number of columns",
    ),
    (
        "squared and normalised",
        lambda a: a**2 / (a**2).sum(axis=-1, keepdims=True),
        "squared, each row divided by its sum",
    ),
    ("added up along each row", lambda a: np.cumsum(a, axis=-1), "as running sums along each row"),
    (
        "added up along each column",
        lambda a: np.cumsum(a, axis=-2),
        "as running sums along each column",
    ),
    (
        "averaged over each row",
        lambda a: np.broadcast_to(a.mean(axis=-1, keepdims=True), a.shape),
        "with the mean of each row everywhere",
    ),
    ("sorted in each column", lambda a: np.sort(a, axis=-2), "with each column sorted"),
    (
        "beside the diagonal only",
        lambda a: a * (1 - np.eye(*a.shape[-2:])),
        "with 0 on the diagonal",
    ),
    ("in reverse order along each row", lambda a: a[..., ::-1], "with each row in reverse order"),
    (
        "in reverse order along each column",
        lambda a: a[..., ::-1, :],
        "with each column in reverse order",
    ),
    ("shifted along each row", lambda a: np.roll(a, 1, -1), "shifted by one place along each row"),
    ("sorted in each row", lambda a: np.sort(a, axis=-1), "with each row sorted"),
    (
        "with only the largest of each row",
        lambda a: np.where(a == a.max(axis=-1, keepdims=True), a, 0),
        "with 0 for all but the largest entry of each row",
    ),
    ("below the diagonal only", lambda a: a * np.tri(*a.shape[-2:]), "with 0 above the diagonal"),
    (
        "above the diagonal only",
        lambda a: a * np.tri(*a.shape[:-3:-1]).T,
        "with 0 below the diagonal",
    ),
    ("on the diagonal only", lambda a: a * np.eye(*a.shape[-2:]), "with 0 off the diagonal"),
)
ROWS = (
    (
        "averaged over each column",
        lambda a: np.broadcast_to(a.mean(axis=-2, keepdims=True), a.shape),
        "with the mean of each column everywhere",
    ),
    (
        "of the first row for all",
        lambda a: np.broadcast_to(a[..., :1, :], a.shape),
        "with the first row for every row",
    ),
    (
        "of the last row for all",
        lambda a: np.broadcast_to(a[..., -1:, :], a.shape),
        "with the last row for every row",
    ),
)
PLACED = (
    (
        "shifted along its third last axis",
        lambda a: np.roll(a, 1, -3),
        "shifted by one place along the third axis from the end",
    ),
    (
        "shifted back along its third last axis",
        lambda a: np.roll(a, -1, -3),
        "shifted back by one place along the third axis from the end",
    ),
    (
        "in reverse order along its third last axis",
        lambda a: np.flip(a, -3),
        "in reverse order along the third axis from the end",
    ),
    (
        "averaged over its third last axis",
        lambda a: np.broadcast_to(a.mean(axis=-3, keepdims=True), a.shape),
        "with the mean over the third axis from the end everywhere",
    ),
    ("transposed", lambda a: np.swapaxes(a, -1, -2), "with the last two axes swapped"),
    ("with all its axes reversed", lambda a: a.T, "with all axes in reverse order, as .T gives it"),
    (
        "reshaped to its transpose's shape",
        lambda a: a.reshape(*a.shape[:-2], a.shape[-1], a.shape[-2]),
        "reshaped to the shape of the transpose",
    ),
    (
        "with its second and third axis swapped",
        lambda a: np.swapaxes(a, 1, 2),
        "with axes 1 and 2 swapped",
    ),
    (
        "with its third and second last axis swapped",
        lambda a: np.swapaxes(a, -2, -3),
        "with axes -2 and -3 swapped",
    ),
)

# (name, axis for so many axes)
OTHER_AXES = (
    ("the first axis", lambda n: 0),
    ("the second axis", lambda n: min(1, n - 1)),
    ("the last axis but one", lambda n: max(-2, -n)),
    ("all axes", lambda n: None),
    ("the last two axes", lambda n: tuple(range(-min(n, 2), 0))),
    ("all axes but the first", lambda n: tuple(range(1, n)) or (0,)),
    ("all axes but the last", lambda n: tuple(range(n - 1)) or (0,)),
)

# (name, what it does, where): scores that are hidden
HIDDEN = (
    (
        "hidden at the query's own position",
        "Query i doesn't attend to key i.",
        lambda a: np.eye(*a.shape[-2:], dtype=bool),
    ),
    (
        "hidden from the query's position on",
        "A query attends only to keys before its own position.",
        lambda a: ~np.tri(*a.shape[-2:], -1, dtype=bool),
    ),
    (
        "hidden after the next key",
        "A query sees the keys up to one after its own position.",
        lambda a: ~np.tri(*a.shape[-2:], 1, dtype=bool),
    ),
    (
        "hidden before the query",
        "A query attends to its own position and what comes after it.",
        lambda a: np.tri(*a.shape[-2:], -1, dtype=bool),
    ),
    (
        "hidden except for the keys beside the query",
        "A query attends only to the key at its own position and to its two neighbours.",
        lambda a: abs(np.subtract(*np.indices(a.shape[-2:]))) > 1,
    ),
    (
        "hidden for the first key",
        "The first key gets no weight.",
        lambda a: np.arange(a.shape[-1]) == 0,
    ),
    (
        "hidden for the last key",
        "The last key gets no weight.",
        lambda a: np.arange(a.shape[-1]) == a.shape[-1] - 1,
    ),
)

# (name, what it does, change): a mask that is another one
MASKS = (
    ("inverted", "True and False are swapped.", np.logical_not),
    ("transposed", "The last two axes are swapped.", lambda a: np.swapaxes(a, -1, -2)),
    ("True throughout", "Every entry is True.", np.ones_like),
    (
        "with a False diagonal",
        "The diagonal is False as well.",
        lambda a: a & ~np.eye(*a.shape[-2:], dtype=bool),
    ),
    (
        "with a True diagonal",
        "The diagonal is True as well.",
        lambda a: a | np.eye(*a.shape[-2:], dtype=bool),
    ),
    (
        "on the diagonal only",
        "Only the diagonal counts.",
        lambda a: a & np.eye(*a.shape[-2:], dtype=bool),
    ),
    ("below the diagonal only", "Nothing above the diagonal is True.", np.tril),
    ("above the diagonal only", "Nothing below the diagonal is True.", np.triu),
    (
        "shifted down by a row",
        "Each query has the row of the query before it.",
        lambda a: np.roll(a, 1, -2),
    ),
    (
        "shifted up by a row",
        "Each query has the row of the query after it.",
        lambda a: np.roll(a, -1, -2),
    ),
    (
        "shifted along its rows",
        "Each key has the column of the key before it.",
        lambda a: np.roll(a, 1, -1),
    ),
    (
        "shifted back along its rows",
        "Each key has the column of the key after it.",
        lambda a: np.roll(a, -1, -1),
    ),
    (
        "with every second key hidden",
        "Keys 1, 3, 5 and so on are hidden as well.",
        lambda a: a & (np.arange(a.shape[-1]) % 2 == 0),
    ),
    (
        "the same for all queries if one is",
        "All queries may see a key if one of them may.",
        lambda a: np.broadcast_to(a.any(axis=-2, keepdims=True), a.shape),
    ),
    (
        "the same for all queries if all are",
        "A query may see a key only if all queries may.",
        lambda a: np.broadcast_to(a.all(axis=-2, keepdims=True), a.shape),
    ),
    (
        "taken from the first query for all",
        "All queries have the row of the first.",
        lambda a: np.broadcast_to(a[..., :1, :], a.shape),
    ),
    (
        "taken from the last query for all",
        "All queries have the row of the last.",
        lambda a: np.broadcast_to(a[..., -1:, :], a.shape),
    ),
    (
        "True for rows without any key",
        "A query that may see no key may see them all.",
        lambda a: a | ~a.any(axis=-1, keepdims=True),
    ),
    (
        "False for rows with a hidden key",
        "A query that may not see every key may see none.",
        lambda a: a & a.all(axis=-1, keepdims=True),
    ),
)
