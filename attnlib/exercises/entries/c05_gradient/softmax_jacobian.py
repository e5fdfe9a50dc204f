"""The exercise softmax_jacobian."""

import numpy as np

from ...families.gradients import SOFTMAX_OF_WEIGHTS, book_weights
from ...model import FLOAT16, FLOAT32, PLAIN, Case, Exercise, Mistake, Step, alike


def softmax_jacobian_answer(do, weights):
    weights = do.weights_in(weights)
    return do.finish(do.combine(do.diagonal(weights), do.outer(weights)))


def _cases():
    def case(aspect, row, dtype=np.float64):
        return Case(aspect, (np.asarray(row, dtype),))

    return [
        case(PLAIN, [0.25, 0.75]), case(PLAIN, [0.5, 0.125, 0.375]), case(PLAIN, book_weights(5, seed=1)),
        case(PLAIN, book_weights(11, seed=2)), case(PLAIN, book_weights(61, seed=4)), case("equal weights", [0.25] * 4),
        case("a weight of 0", [0.5, 0, 0.5]), case(FLOAT32, [0.25, 0.75], np.float32),
        case(FLOAT32, book_weights(7, seed=3), np.float32), case(FLOAT16, [0.5, 0.125, 0.375], np.float16),
    ]


def _over_rows(vector):
    """(n,) -> (n, n): the same row again and again."""
    return np.broadcast_to(vector, (vector.size, vector.size))


def _on_diagonal(entry):
    """Another number on the diagonal."""
    return {"answer": lambda w: np.diag(entry(w) + 0 * w) - _off_diagonal(np.outer(w, w))}


def _beside_diagonal(entry):
    """Another number beside the diagonal, of the row's weight and the column's."""
    return {"answer": lambda w: np.diag(w * (1 - w)) + _off_diagonal(
        entry(_over_rows(w).T, _over_rows(w)) + 0 * _over_rows(w))}


def _off_diagonal(array):
    return array - np.diag(np.diagonal(array))


def _without_row(jacobian, part):
    found = jacobian.copy()
    found[part] = 0
    return found


EXERCISE = Exercise(
    name="softmax_jacobian", signature="(weights)", place=2,
    axes=dict(weights="n_q n_k"),
    text="The Jacobian of the softmax, (n, n), from its weights: entry (i, j) is the derivative of weight i "
         "with respect to score j.",
    answer=softmax_jacobian_answer,
    steps={
        "weights_in": Step(lambda weights: weights, "the weights"),
        "diagonal": Step(np.diag, "the diagonal term"),
        "outer": Step(lambda weights: np.outer(weights, weights), "the outer product"),
        "combine": lambda diagonal, outer: diagonal - outer,
        "finish": lambda jacobian: jacobian,
    },
    cases=_cases,
    hints=(
        "When score j grows, weight j grows, and all other weights shrink: they share one whole. "
        "Which entries are positive, and what does each row sum to?",
        "For i = j the derivative is w_i (1 - w_i). For i different from j it is -w_i w_j.",
        "Both are w_i (delta_ij - w_j), where delta_ij is 1 for i = j and 0 elsewhere.",
        "np.diag(weights) has the first term on its diagonal, and np.outer(weights, weights) holds "
        "all products w_i w_j. Subtract one from the other.",
    ),
    mistakes=(
        Mistake("diagonal-only Jacobian",
                change=({"outer": lambda w: np.diag(w * w)}, {"finish": lambda j: np.diagonal(j).copy()}),
                does="Only the derivatives w_i (1 - w_i) are there: each weight seems to depend on its own "
                     "score alone.",
                why="That is the derivative of a sigmoid. In a softmax every weight depends on every "
                    "score, through the sum.",
                ask="What happens to weight i when another score grows?"),
        *alike("The numerator exp(s_i) depends on score i, which adds w_i on the diagonal; the sum in the denominator "
               "depends on "
               "all scores, which gives -w_i w_j everywhere.",
               "What are the derivatives of the numerator of weight i, and of the denominator, with respect to score "
               "j?",
               ("outer product missing", ({"outer": lambda w: 0 * np.outer(w, w)},
                                          {"outer": lambda w: 0 * np.outer(w, w), "diagonal": lambda w: w}),
                "Only the first term is there, the weights on the diagonal."),
               ("diagonal term missing",
                ({"diagonal": lambda w: 0 * np.diag(w), "outer": lambda w: np.outer(w, w)},
                 {"combine": lambda diagonal, outer: outer}),
                "Only the products w_i w_j are there."),
               ("1 instead of the Kronecker delta", ({"diagonal": lambda w: _over_rows(w).T}, {"diagonal": _over_rows}),
                "Entry (i, j) is w_i (1 - w_j), or w_j (1 - w_i), everywhere, as on the diagonal."),
               ("another product beside the diagonal", tuple(map(_beside_diagonal, (
                   lambda a, b: -a, lambda a, b: -b, lambda a, b: a, lambda a, b: b, lambda a, b: -a * (1 - b),
                   lambda a, b: -b * (1 - a), lambda a, b: -1.0, lambda a, b: 1.0, lambda a, b: -2 * a * b,
                   lambda a, b: -a * b / 2, lambda a, b: -(a * b) ** 2, lambda a, b: -a - b, lambda a, b: a - b,
                   lambda a, b: b - a, lambda a, b: -np.sqrt(a * b)))),
                "The diagonal is right; beside it another number than -w_i w_j stands."),
               ("another number on the diagonal", tuple(map(_on_diagonal, (
                   lambda w: w * (1 + w), lambda w: w * w, lambda w: -w, lambda w: 1.0, lambda w: (1 - w) ** 2,
                   lambda w: w * w * (1 - w), lambda w: w * (1 - w) ** 2, lambda w: 2 * w * (1 - w),
                   lambda w: w * (1 - w) / 2,
                   lambda w: w - 1, lambda w: w * (w.sum() - 2 * w), np.sqrt, np.exp, lambda w: 1 / w))),
                "Off the diagonal it is right; on it another number than w_i (1 - w_i) stands."),
               ("zeros on the diagonal", {"answer": lambda w: _off_diagonal(-np.outer(w, w))},
                "Off the diagonal it is right; on it stands 0."),
               ("weight not subtracted on the diagonal", {"outer": lambda w: _off_diagonal(np.outer(w, w))},
                "Off the diagonal it is right; on it w_i stands instead of w_i (1 - w_i).")),
        *alike("A weight grows with its own score, and the other weights shrink: they share one whole, and the rows of "
               "the "
               "Jacobian sum to 0.",
               "What happens to weight i when score i grows, what when another score grows, and what does a row sum "
               "to?",
               ("sign flipped", {"combine": lambda diagonal, outer: outer - diagonal},
                "Every entry has the wrong sign."),
               ("sum instead of difference", {"combine": lambda diagonal, outer: diagonal + outer},
                "The products w_i w_j are added. Each row sums to twice its weight instead of 0."),
               ("sign flipped off the diagonal",
                {"answer": lambda w: np.diag(w * (1 - w)) + _off_diagonal(np.outer(w, w))},
                "The diagonal is right; off it, every entry is positive."),
               ("sign flipped on the diagonal", _on_diagonal(lambda w: w * w - w),
                "Off the diagonal it is right; on it the sign is wrong."),
               ("only one triangle", ({"finish": np.tril}, {"finish": np.triu}),
                "The entries above or below the diagonal are 0."),
               ("summed over an axis", {"finish": lambda j: j.sum(axis=0)},
                "The answer has n entries, all of them 0: the Jacobian's rows have been added.")),
        *alike("Entry (i, j) is w_i (delta_ij - w_j), where delta_ij is 1 for i = j and 0 elsewhere: the weight multiplies "
               "both terms.",
               "What multiplies the bracket in w_i (delta_ij - w_j)?",
               ("identity instead of diag(weights)", {"diagonal": lambda w: np.eye(w.size)},
                "1 stands in place of w_i on the diagonal, before w_i w_j is subtracted."),
               ("Jacobian of the log-softmax",
                tuple({"diagonal": lambda w: np.eye(w.size), "outer": outer} for outer in (_over_rows,
                                                                                           lambda w: _over_rows(w).T)),
                "Entry (i, j) is delta_ij - w_j, or its transpose: the derivative of the logarithm of weight i."),
               ("weight missing on the diagonal",
                {"answer": lambda w: np.diag(1 - w) - _off_diagonal(np.outer(w, w))},
                "1 - w_i stands on the diagonal.")),
        *alike("The second term is the product of two weights, w_i w_j, of a column and a row of them.",
               "What are the shapes of the two factors in weights[:, None] * weights[None, :]?",
               ("squares instead of the outer product",
                ({"outer": lambda w: _over_rows(w * w)}, {"outer": lambda w: _over_rows(w * w).T}),
                "Each row, or column, of the second term is the same: a squared weight instead of w_i w_j."),
               ("weights instead of the outer product", ({"outer": _over_rows}, {"outer": lambda w: _over_rows(w).T}),
                "The weights are subtracted from diag(weights), row by row or column by column."),
               ("inner product instead of outer", {"outer": lambda w: np.full((w.size, w.size), w @ w)},
                "One number, the sum of the squared weights, is subtracted everywhere: for one axis @ sums over it, "
                "and .T does "
                "nothing.")),
        Mistake("one row left at 0", change=tuple({"finish": lambda j, part=part: _without_row(j, part)} for part in (
                    (-1, ...), (0, ...), (..., -1), (..., 0))),
                does="The first or the last row, or column, is 0.",
                why="There are n rows and n columns, from 0 to n - 1; range(n - 1) ends before the last.",
                ask="Which rows do your loops go through?"),
        Mistake("divided by n", change={"finish": lambda j: j / len(j)},
                does="The entries are n times too small.",
                why="Nothing is averaged: an entry is one derivative.",
                ask="What divides by n in your function?"),
        SOFTMAX_OF_WEIGHTS,
    ),
)
