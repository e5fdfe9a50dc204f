"""The exercise softmax_jacobian."""

import numpy as np

from ...families.gradients import SOFTMAX_OF_WEIGHTS, book_weights
from ...model import FLOAT16, FLOAT32, PLAIN, Case, Exercise, Mistake, Step


def softmax_jacobian_answer(do, weights):
    weights = do.weights_in(weights)
    return do.finish(do.combine(do.diagonal(weights), do.outer(weights)))


def _jacobian_cases():
    f4, f2 = np.float32, np.float16
    return [
        Case(PLAIN, (np.array([0.25, 0.75]),)), Case(PLAIN, (np.array([0.5, 0.125, 0.375]),)),
        Case(PLAIN, (book_weights(5, seed=1),)), Case(PLAIN, (book_weights(11, seed=2),)),
        Case("equal weights", (np.array([0.25, 0.25, 0.25, 0.25]),)),
        Case("a weight of 0", (np.array([0.5, 0.0, 0.5]),)),
        Case(FLOAT32, (np.array([0.25, 0.75], f4),)), Case(FLOAT32, (book_weights(7, seed=3, dtype=f4),)),
        Case(FLOAT16, (np.array([0.5, 0.125, 0.375], f2),)),
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
    name="softmax_jacobian", signature="(weights)", place=1,
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
    cases=_jacobian_cases,
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
        Mistake("outer product missing",
                change=({"outer": lambda w: 0 * np.outer(w, w)},
                        {"outer": lambda w: 0 * np.outer(w, w), "diagonal": lambda w: w}),
                does="Only the first term is there, the weights on the diagonal.",
                why="The sum in the softmax's denominator depends on the scores, too: that gives the term -w_i w_j.",
                ask="What is the derivative of the denominator with respect to score j?"),
        Mistake("diagonal term missing",
                change=({"diagonal": lambda w: 0 * np.diag(w), "outer": lambda w: np.outer(w, w)},
                        {"combine": lambda diagonal, outer: outer}),
                does="Only the products w_i w_j are there.",
                why="The numerator exp(s_i) depends on score i as well: that adds w_i on the diagonal.",
                ask="What is the derivative of the numerator of weight i with respect to score i?"),
        Mistake("sign flipped", change={"combine": lambda diagonal, outer: outer - diagonal},
                does="Every entry has the wrong sign.",
                why="A weight grows with its own score: the diagonal is positive.",
                ask="What happens to weight i when score i grows?"),
        Mistake("sum instead of difference", change={"combine": lambda diagonal, outer: diagonal + outer},
                does="The products w_i w_j are added. Each row sums to twice its weight instead of 0.",
                why="When a score grows by itself, the other weights shrink.",
                ask="What must a row of the Jacobian sum to, if the softmax does not change when all scores "
                    "grow by 1?"),
        Mistake("sign flipped off the diagonal",
                change={"answer": lambda w: np.diag(w * (1 - w)) + _off_diagonal(np.outer(w, w))},
                does="The diagonal is right; off it, every entry is positive.",
                why="When a score grows by itself, the other weights shrink.",
                ask="What happens to weight i when another score grows?"),
        Mistake("identity instead of diag(weights)", change={"diagonal": lambda w: np.eye(w.size)},
                does="1 stands in place of w_i on the diagonal, before w_i w_j is subtracted.",
                why="Entry (i, j) is w_i (delta_ij - w_j): the weight multiplies the delta, too.",
                ask="What multiplies the Kronecker delta in w_i (delta_ij - w_j)?"),
        Mistake("1 instead of the Kronecker delta",
                change=({"diagonal": lambda w: _over_rows(w).T}, {"diagonal": _over_rows}),
                does="Entry (i, j) is w_i (1 - w_j) everywhere, as on the diagonal.",
                why="The 1 comes from the numerator of weight i, which depends on score i alone.",
                ask="What is the derivative of exp(s_i) with respect to another score s_j?"),
        Mistake("squares instead of the outer product",
                change=({"outer": lambda w: _over_rows(w * w)}, {"outer": lambda w: _over_rows(w * w).T}),
                does="Each row of the second term is the same: w_j squared instead of w_i w_j.",
                why="weights * weights multiplies entry by entry. The products of all pairs need a column "
                    "and a row.",
                ask="What are the shapes of the two factors in weights[:, None] * weights[None, :]?"),
        Mistake("weights instead of the outer product",
                change=({"outer": _over_rows}, {"outer": lambda w: _over_rows(w).T}),
                does="The weights are subtracted from diag(weights), row by row or column by column.",
                why="The second term is the product of two weights, w_i w_j.",
                ask="How many weights are multiplied in the entry (i, j) with i different from j?"),
        Mistake("inner product instead of outer", change={"outer": lambda w: np.full((w.size, w.size), w @ w)},
                does="One number, the sum of the squared weights, is subtracted everywhere.",
                why="For arrays with one axis @ sums over it, and .T does nothing. The outer "
                    "product keeps both indices.",
                ask="What is the shape of weights @ weights.T if weights has one axis?"),
        Mistake("Jacobian of the log-softmax",
                change=({"diagonal": lambda w: np.eye(w.size), "outer": _over_rows},
                        {"diagonal": lambda w: np.eye(w.size), "outer": lambda w: _over_rows(w).T}),
                does="Entry (i, j) is delta_ij - w_j: the derivative of the logarithm of weight i.",
                why="The derivative of the weight itself is w_i times that.",
                ask="What is the derivative of exp(x) if that of x is known?"),
        Mistake("zeros on the diagonal", change={"answer": lambda w: _off_diagonal(-np.outer(w, w))},
                does="Off the diagonal it is right; on it stands 0.",
                why="Each weight depends on its own score most of all: the entry is w_i (1 - w_i).",
                ask="What happens to weight i when score i grows?"),
        Mistake("weight missing on the diagonal",
                change={"answer": lambda w: np.diag(1 - w) - _off_diagonal(np.outer(w, w))},
                does="1 - w_i stands on the diagonal.",
                why="The derivative of a weight is the weight times something: w_i (1 - w_i).",
                ask="What multiplies the bracket in w_i (delta_ij - w_j)?"),
        Mistake("sign flipped on the diagonal", change=_on_diagonal(lambda w: w * w - w),
                does="Off the diagonal it is right; on it the sign is wrong.",
                why="A weight grows with its own score: the diagonal is positive.",
                ask="What happens to weight i when score i grows?"),
        Mistake("another number on the diagonal",
                change=tuple(map(_on_diagonal, (
                    lambda w: w * (1 + w), lambda w: w * w, lambda w: -w, lambda w: 1.0,
                    lambda w: (1 - w) ** 2, lambda w: w * w * (1 - w), lambda w: w * (1 - w) ** 2,
                    lambda w: 2 * w * (1 - w), lambda w: w * (1 - w) / 2, lambda w: w - 1,
                    lambda w: w * (w.sum() - 2 * w),
                    lambda w: np.sqrt(w), lambda w: np.exp(w), lambda w: 1 / w))),
                does="Off the diagonal it is right; on it another number than w_i (1 - w_i) stands.",
                why="On the diagonal the derivative of the numerator, w_i, comes to that of the denominator, -w_i "
                    "squared.",
                ask="What is the derivative of weight i with respect to score i?"),
        Mistake("another product beside the diagonal",
                change=tuple(map(_beside_diagonal, (
                    lambda a, b: -a, lambda a, b: -b, lambda a, b: a, lambda a, b: b, lambda a, b: -a * (1 - b),
                    lambda a, b: -b * (1 - a), lambda a, b: -1.0,
                    lambda a, b: 1.0, lambda a, b: -2 * a * b, lambda a, b: -a * b / 2, lambda a, b: -(a * b) ** 2,
                    lambda a, b: -a - b, lambda a, b: a - b, lambda a, b: b - a,
                    lambda a, b: -np.sqrt(a * b)))),
                does="The diagonal is right; beside it another number than -w_i w_j stands.",
                why="Beside the diagonal only the denominator depends on score j: that gives -w_i w_j.",
                ask="What is the derivative of weight i with respect to another score j?"),
        Mistake("one row left at 0", change=tuple({"finish": lambda j, part=part: _without_row(j, part)} for part in (
                    (-1, ...), (0, ...), (..., -1), (..., 0))),
                does="The first or the last row, or column, is 0.",
                why="There are n rows and n columns, from 0 to n - 1; range(n) ends at n - 1.",
                ask="Which rows do your loops go through?"),
        Mistake("only one triangle", change=({"finish": np.tril}, {"finish": np.triu}),
                does="The entries above or below the diagonal are 0.",
                why="Every weight depends on every score: the Jacobian is a full, symmetric matrix.",
                ask="Does weight 0 depend on the last score?"),
        Mistake("summed over an axis", change={"finish": lambda j: j.sum(axis=0)},
                does="The answer has n entries, all of them 0: the Jacobian's rows have been added.",
                why="The Jacobian itself is asked for. Its rows sum to 0, as moving all scores together changes "
                    "nothing.",
                ask="How many derivatives are there, for n weights and n scores?"),
        Mistake("divided by n", change={"finish": lambda j: j / len(j)},
                does="The entries are n times too small.",
                why="Nothing is averaged: an entry is one derivative.",
                ask="What divides by n in your function?"),
        Mistake("weight not subtracted on the diagonal",
                change={"outer": lambda w: _off_diagonal(np.outer(w, w))},
                does="Off the diagonal it is right; on it w_i stands instead of w_i (1 - w_i).",
                why="The denominator depends on score i, too: w_i squared is subtracted on the diagonal.",
                ask="What must a row of the Jacobian sum to, if the softmax does not change when all scores "
                    "grow by 1?"),
        SOFTMAX_OF_WEIGHTS,
    ),
)
