"""The exercise additive_mask."""

import numpy as np

from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, Case, Exercise, Mistake, alike


def additive_mask_answer(do, attn_mask, dtype):
    return do.as_dtype(do.choose(do.sense(attn_mask), do.seen(dtype), do.hidden(dtype)), np.dtype(dtype))


def _mask(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).random(shape) < 0.5


def _cases():
    tiny = np.array([[True, False], [True, True]])
    return [
        Case(PLAIN, (tiny, np.float64)), Case(PLAIN, (_mask(5, 7), np.dtype("float64"))),
        Case(PLAIN, (_mask(7, 3, seed=1), np.float64)), Case("equal sizes", (_mask(5, 5), np.float64)),
        Case(FLOAT32, (tiny, np.float32)), Case(FLOAT32, (_mask(3, 5), np.dtype("float32"))),
        Case(FLOAT16, (tiny, np.float16)), Case(FLOAT16, (_mask(5, 3), np.dtype("float16"))),
        Case("one axis", (np.array([True, False, True]), np.float64)), Case("one axis", (_mask(7), np.float32)),
        Case("no axes", (np.array(True), np.float64)), Case("no axes", (np.array(False), np.float32)),
        Case(LEADING, (_mask(2, 1, 3, 5), np.float64)), Case(LEADING, (_mask(3, 5, 7), np.float32)),
        Case("everything allowed", (np.ones((2, 3), bool), np.float64)),
        Case("nothing allowed", (np.zeros((2, 3), bool), np.float64)),
    ]


EXERCISE = Exercise(
    name="additive_mask", signature="(attn_mask, dtype)", place=8,
    axes=dict(attn_mask="n_q n_k"), answer_axes="n_q n_k",
    text="A boolean mask as numbers of a floating dtype, to be added to the scores: 0 where a query may attend, "
         "-inf where it may not.",
    answer=additive_mask_answer,
    steps={
        "sense": lambda mask: mask,
        "seen": lambda dtype: 0.0,
        "hidden": lambda dtype: -np.inf,
        "choose": lambda mask, seen, hidden: np.where(mask, seen, hidden),
        "as_dtype": lambda mask, dtype: mask.astype(dtype),
    },
    cases=_cases,
    hints=(
        "What added to a score leaves it as it is, and what makes it -inf?",
        "np.where(attn_mask, a, b) chooses entry by entry: a where the mask is True.",
        "np.where(attn_mask, 0.0, -np.inf) is float64; .astype(dtype) makes it the dtype that was asked for.",
    ),
    mistakes=(
        Mistake("mask inverted", change={"sense": lambda mask: ~mask},
                does="-inf stands where a query may attend.",
                why="True says: may attend. There nothing is added to the score, 0.",
                ask="What must be added to the score of a key that may be seen?"),
        *alike("A number that is not -inf only lowers a score: a higher one makes up for it, and where all keys are "
               "hidden they share the weight.",
               "What is the exponential of a hidden score, whatever the score was?",
               ("a large negative number instead of -inf",
                tuple({"hidden": lambda dtype, fill=fill: fill}
                      for fill in (-1e9, -1e4, -1e5, -1e6, -1e10, -1e8, -1e3, -100.0, -1e30, -1e38, -65504.0, -1e12)),
                "Hidden keys get a large negative number."),
               ("the dtype's lowest number instead of -inf", {"hidden": lambda dtype: float(np.finfo(dtype).min)},
                "Hidden keys get the lowest finite number of the dtype."),
               ("float64's lowest number instead of -inf", {"hidden": lambda dtype: float(np.finfo(np.float64).min)},
                "Hidden keys get float64's lowest finite number, which np.nan_to_num, too, puts in place of -inf. Only in a "
                "narrower dtype it becomes -inf."),
               ("-1 instead of -inf", {"hidden": lambda dtype: -1.0}, "Hidden keys get -1.")),
        *alike("What is added to a score that counts must leave it as it is.", "Which number changes nothing when it is added?",
               ("1 instead of 0", {"seen": lambda dtype: 1.0}, "1 is added to the scores of allowed keys."),
               ("the mask's own 1 and 0", {"seen": lambda dtype: 1.0, "hidden": lambda dtype: 0.0},
                "The mask itself as numbers: 1 for allowed keys, 0 for hidden ones.")),
        Mistake("inf instead of -inf", change={"hidden": lambda dtype: np.inf},
                does="Hidden keys get plus infinity.",
                why="The exponential of -inf is 0; that of inf is inf, and the weights become NaN.",
                ask="Should the score of a hidden key be the lowest or the highest?"),
        Mistake("0 times -inf", alone=True,
                change=({"choose": lambda mask, seen, hidden: (1.0 - mask) * -np.inf},
                        {"choose": lambda mask, seen, hidden: mask * -np.inf}),
                does="Where 0 is multiplied with infinity the answer is NaN.",
                why="0 times infinity is NaN, and NaN spreads to every weight of its row.",
                ask="What is 0 * inf?"),
        Mistake("NaN instead of -inf", alone=True, change={"hidden": lambda dtype: np.nan},
                does="Hidden keys get NaN.",
                why="A sum with NaN is NaN, and so are the whole row's weights; the exponential of -inf is exactly 0.",
                ask="Which number has the exponential 0?"),
    ),
)
