"""The exercise halves_from_neighbours."""

import numpy as np

from ...model import FLOAT16, FLOAT32, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike, normal, ways


def halves_from_neighbours_answer(do, w, n_heads):
    heads = do.heads(n_heads, w.shape[-1])
    return do.finish(do.reorder(w, heads, do.order(w.shape[-1] // heads)), n_heads)


def _reorder(w, n_heads, order):
    """The columns of each head in this order."""
    return w.reshape(*w.shape[:-1], n_heads, -1)[..., order].reshape(w.shape)


def _even_then_odd(d):
    return np.r_[np.arange(0, d, 2), np.arange(1, d, 2)]


def _rows(w, n_heads, order):
    return _reorder(w.T, n_heads, order).T


def _among_heads(w, n_heads, order):
    """Every second head first, whole heads at a time."""
    blocks = w.reshape(*w.shape[:-1], n_heads, -1)
    return blocks[..., _even_then_odd(n_heads), :].reshape(w.shape)


def _dealt_out(w, n_heads, order):
    """The heads' columns a step of n_heads apart, and left there."""
    return w.reshape(*w.shape[:-1], -1, n_heads)[..., order, :].reshape(w.shape)


def _brought_together(w, n_heads, order):
    """The heads' columns a step of n_heads apart, and then side by side."""
    return w.reshape(*w.shape[:-1], -1, n_heads)[..., order, :].swapaxes(-1, -2).reshape(w.shape)


def _cases():
    def counted(d, n_heads):
        return Case(PLAIN, (np.arange(d)[:, None] * 10.0 + np.arange(d) + 1, n_heads))

    def case(aspect, d, n_heads, seed, dtype=np.float64):
        return Case(aspect, (normal(d, d, seed=seed, dtype=dtype), n_heads))

    return [
        counted(4, 1), counted(8, 2), case(PLAIN, 6, 1, 1), case(PLAIN, 12, 2, 2), case(PLAIN, 30, 3, 3), case(PLAIN, 50, 5, 4),
        case("one head", 10, 1, 5), case(SQUARE, 16, 4, 6), case("one pair a head", 6, 3, 7),
        case(FLOAT32, 12, 2, 8, np.float32), case(FLOAT16, 8, 2, 9, np.float16),
    ]


EXERCISE = Exercise(
    name="halves_from_neighbours", signature="(w, n_heads)", place=3,
    axes=dict(w="d_model d_model"), answer_axes="d_model d_model",
    text="The matrix (d_model, d_model) that makes queries for rotary pairs of halves, from one that makes them for pairs of "
         "neighbours: in each head's block of columns first the even ones, then the odd ones.",
    answer=halves_from_neighbours_answer,
    steps={
        "heads": lambda n_heads, d_model: n_heads,
        "order": _even_then_odd,
        "reorder": _reorder,
        "finish": Step(lambda matrix, n_heads: matrix, "the matrix"),
    },
    cases=_cases,
    hints=(
        "Begin with one head of six columns: 0, 1, 2, 3, 4, 5 become 0, 2, 4, 1, 3, 5.",
        "w.reshape(d_model, n_heads, d_head) has the columns of each head on its last axis.",
        "On that axis 0::2 are the even columns and 1::2 the odd ones; concatenated there, and reshaped to w's own shape, they "
        "are the answer.",
    ),
    mistakes=(
        *alike("New column i of a head is the first feature of pair i, which was column 2i; new column i + d_head/2 was 2i + 1.",
               "Which old column should stand at place 1 of a head of six columns?",
               ("from halves to neighbours", {"order": lambda d: np.argsort(_even_then_odd(d))},
                "The columns are reordered the other way: columns i and i + d_head/2 come side by side."),
               ("odd columns first", {"order": lambda d: np.roll(_even_then_odd(d), d // 2)},
                "Each head begins with its odd columns: every pair turns the other way."),
               ("halves exchanged", {"order": lambda d: np.roll(np.arange(d), d // 2)},
                "The two halves of each head's columns change places."),
               ("neighbours exchanged", {"order": lambda d: np.arange(d) ^ 1},
                "Columns 2i and 2i + 1 change places."),
               ("even columns twice", {"order": lambda d: np.tile(np.arange(0, d, 2), 2)},
                "Each head has its even columns twice, and its odd ones not at all."),
               ("columns in reverse order", {"order": lambda d: np.arange(d)[::-1]},
                "The columns of each head run backwards.")),
        *alike("Every head turns its own features: its columns stay among themselves.",
               "Which columns of w belong to head 0, before and after?",
               ("heads ignored", {"heads": lambda n_heads, d_model: 1}, "The whole matrix is reordered as if it were one head."),
               ("n_heads and d_head swapped", {"heads": lambda n_heads, d_model: d_model // n_heads},
                "The columns are cut into blocks of n_heads columns each."),
               ("heads reordered", {"reorder": _among_heads}, "Whole heads change places, and their columns stay as they were."),
               ("only the first head reordered", {"reorder": lambda w, n_heads, order: np.concatenate(
                   [w[..., order], w[..., len(order):]], axis=-1)}, "The first head is as it should be, the others as they were."),
               ("the first head's columns for every head", ways(
                   "reorder", lambda w, n_heads, order: w[..., np.tile(order, n_heads)], lambda w, n_heads, order: w[..., order]),
                "The columns of the first head are taken for all heads, or are all that is left."),
               ("columns dealt out in turn", ways("reorder", _dealt_out, _brought_together),
                "Columns h, h + n_heads, h + 2 n_heads and so on are taken for those of head h.")),
        *alike("In x @ w a column of w makes a feature; a row meets a feature of x, and x has not changed.",
               "Which axis of w makes the features of x @ w?",
               ("rows instead of columns", {"reorder": _rows}, "The rows of w are reordered, and its columns stay."),
               ("rows and columns", {"reorder": lambda w, *given: _rows(_reorder(w, *given), *given)},
                "The rows of w are reordered as well."),
               ("transposed", {"finish": lambda matrix, n_heads: matrix.T}, "The matrix is transposed.")),
        Mistake("heads left apart", change={"finish": lambda matrix, n_heads: matrix.reshape(len(matrix), n_heads, -1)},
                does="The heads still have an axis of their own.", why="x @ w makes the features of all heads side by side.",
                ask="Which shape has w, and which has your answer?"),
        Mistake("nothing reordered", change={"reorder": lambda w, n_heads, order: w},
                does="The matrix stays as it was.", why="Turned in halves, its features make other pairs than those it was trained for.",
                ask="Which two columns make the first pair for neighbours, and which two for halves?"),
    ),
)
