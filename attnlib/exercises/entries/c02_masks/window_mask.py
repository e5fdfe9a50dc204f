"""The exercise window_mask."""

import numpy as np

from ...families.masks import ADDITIVE, INVERTED
from ...model import PLAIN, SQUARE, Case, Exercise, Mistake, alike, ways

NO_LIMIT_LEFT, NO_LIMIT_RIGHT, NO_LIMIT = "no limit on the left", "no limit on the right", "no limit at all"
FEWER_KEYS = "more queries than keys"


def window_mask_answer(do, n_q, n_k, left, right):
    rows, columns = do.sizes(n_q, n_k)
    query, key = np.arange(rows)[:, None], np.arange(columns)[None, :]
    left, right = do.given(*do.limits(left, right))
    begins = do.lower(key, query, left) if left is not None else do.open(key, query, "left")
    ends = do.upper(key, query, right) if right is not None else do.open(key, query, "right")
    return do.form(do.sense(do.join(begins, ends)))


def _everywhere(key, query, side):
    return (key + query) * 0 == 0


def _at_zero(key, query, side):
    return key >= query if side == "left" else key <= query


def _only(one_side, open_side):
    """What is made of None on one side alone."""
    return {"open": lambda key, query, side: (open_side if side == one_side else _everywhere)(key, query, side)}


def _from_the_end(key, query, left):
    """What a slice [query - left:] holds: a negative start counts from the end."""
    start = query - left
    return key >= np.where(start < 0, np.maximum(start + key.size, 0), start)


def _cases():
    return [
        Case(PLAIN, (3, 4, 1, 0)), Case(PLAIN, (4, 5, 1, 2)), Case(PLAIN, (7, 11, 2, 3)), Case(PLAIN, (13, 17, 5, 2)),
        Case(PLAIN, (5, 7, 0, 2)), Case(SQUARE, (3, 3, 1, 1)), Case(SQUARE, (7, 7, 2, 1)), Case("one query", (1, 3, 0, 1)),
        Case("a window of one key", (3, 3, 0, 0)), Case("a window of one key", (5, 7, 0, 0)),
        Case(FEWER_KEYS, (3, 2, 1, 0)), Case(FEWER_KEYS, (11, 5, 2, 3)), Case("a window wider than the keys", (3, 4, 9, 8)),
        Case(NO_LIMIT_LEFT, (3, 4, None, 0)), Case(NO_LIMIT_LEFT, (7, 11, None, 2)),
        Case(NO_LIMIT_RIGHT, (3, 4, 0, None)), Case(NO_LIMIT_RIGHT, (7, 11, 2, None)),
        Case(NO_LIMIT, (2, 3, None, None)),
    ]


EXERCISE = Exercise(
    name="window_mask", signature="(n_q, n_k, left, right)", place=3,
    answer_axes="n_q n_k",
    text="A boolean mask of shape (n_q, n_k), True where i - left <= j <= i + right; None means no limit on that side.",
    answer=window_mask_answer,
    steps={
        "sizes": lambda n_q, n_k: (n_q, n_k),
        "limits": lambda left, right: (left, right),
        "given": lambda left, right: (left, right),
        "lower": lambda key, query, left: key >= query - left,
        "upper": lambda key, query, right: key <= query + right,
        "open": _everywhere,
        "join": lambda begins, ends: begins & ends,
        "sense": lambda mask: mask,
        "form": lambda mask: mask,
    },
    cases=_cases, dtype="bool",
    hints=(
        "Two conditions must hold at once: key j is not too far before query i, and not too far after it.",
        "With query = np.arange(n_q)[:, None] and key = np.arange(n_k) each condition is one comparison of tables.",
        "Begin with a mask that is True throughout. Where left is not None, join it by & with key >= query - left; "
        "the other side likewise.",
    ),
    mistakes=(
        INVERTED, ADDITIVE,
        *alike("Both conditions hold for a key inside the window: it is not too early and not too late.",
               "Which keys satisfy your condition, and which satisfy only half of it?",
               ("either side suffices", {"join": lambda begins, ends: begins | ends},
                "A key is seen if it satisfies one of the two conditions."),
               ("only the left side counts", {"join": lambda begins, ends: begins}, "The right limit has no effect."),
               ("only the right side counts", {"join": lambda begins, ends: ends}, "The left limit has no effect.")),
        *alike("Both ends belong to the window: i - left <= j <= i + right.",
               "How many keys does a query in the middle see for left = 1, right = 0?",
               ("left end excluded", {"lower": lambda key, query, left: key > query - left},
                "The first key of each window is hidden."),
               ("right end excluded", {"upper": lambda key, query, right: key < query + right},
                "The last key of each window is hidden."),
               ("both ends excluded", {"lower": lambda key, query, left: key > query - left,
                                       "upper": lambda key, query, right: key < query + right},
                "The first and the last key of each window are hidden."),
               ("one key too many on the left", {"lower": lambda key, query, left: key >= query - left - 1},
                "Each window begins one key too early."),
               ("one key too many on the right", {"upper": lambda key, query, right: key <= query + right + 1},
                "Each window ends one key too late.")),
        *alike("left counts keys before the query's own position, right those after it.",
               "Which keys may the last query see if right is 0?",
               ("left and right swapped", {"limits": lambda left, right: (right, left)},
                "The window reaches as far to the left as it should to the right, and the other way round."),
               ("left on both sides", {"limits": lambda left, right: (left, left)},
                "The window reaches equally far to both sides, by left."),
               ("right on both sides", {"limits": lambda left, right: (right, right)},
                "The window reaches equally far to both sides, by right.")),
        *alike("None says that there is no limit on that side: every key there is seen.",
               "What should a window with left = None and right = 0 be?",
               ("None taken as 0", ({"open": _at_zero}, _only("left", _at_zero), _only("right", _at_zero)),
                "Where a side has no limit, nothing on that side is seen."),
               ("None opens both sides", {"given": lambda left, right: (None, None) if left is None or right is None else (left, right)},
                "Where one side has no limit, the other has none either."),
               ("None hides everything", {"open": lambda key, query, side: (key + query) * 0 > 0},
                "Where a side has no limit, no key is seen at all.")),
        Mistake("0 taken as no limit",
                change=ways("given", lambda left, right: (left or None, right or None), lambda left, right: (left or None, right),
                            lambda left, right: (left, right or None)),
                does="A limit of 0 has no effect.",
                why="`if left:` is False for None and for 0 alike; 0 says that nothing on that side is seen.",
                ask="How do you tell None from 0?"),
        Mistake("negative start of a slice", change={"lower": _from_the_end},
                does="Where a window would begin before the first key, its beginning is counted from the last one: the first keys are "
                     "hidden.",
                why="Where i - left is negative a slice [i - left:] counts from the end. A comparison, or a lower limit of 0, "
                    "has no such trap.",
                ask="What does row[-1:1] hold?"),
        Mistake("window of left keys", change={"lower": lambda key, query, left: key > query - left,
                                               "upper": lambda key, query, right: (key < query + right) | (key == query)},
                does="left and right count the query's own position as one of their keys.",
                why="The query's own key is seen beside left keys before it and right keys after it.",
                ask="How many keys does a query in the middle see for left = 1, right = 1?"),
        Mistake("own position not seen", change={"sense": lambda mask: mask & ~np.eye(*mask.shape, dtype=bool)},
                does="A query does not see the key at its own position.",
                why="i - left <= j <= i + right holds for j = i.",
                ask="May query i attend to key i?"),
        Mistake("causal besides", change={"sense": lambda mask: np.tril(mask)},
                does="Keys after the query are hidden, whatever right says.",
                why="Only left and right limit the window; it is causal if right is 0.",
                ask="What does right = 2 allow?"),
        Mistake("aligned at the bottom right",
                change={"lower": lambda key, query, left: key >= query + key.size - query.size - left,
                        "upper": lambda key, query, right: key <= query + key.size - query.size + right},
                does="The windows stand around the last keys: the last query beside the last key.",
                why="Here query i and key i stand at the same position, counted from the front.",
                ask="At which position does query 0 stand?"),
        Mistake("n_q and n_k swapped", change={"sizes": lambda n_q, n_k: (n_k, n_q)},
                does="The answer has n_k rows and n_q columns.",
                why="Rows belong to queries, columns to keys, as in the scores.",
                ask="Which shape must the mask share with the scores?"),
        Mistake("transposed", change={"form": lambda mask: mask.T},
                does="Rows and columns of the mask have changed places.",
                why="Rows belong to queries, columns to keys, as in the scores.",
                ask="What does row 0 of the mask say, and about which query?"),
    ),
)
