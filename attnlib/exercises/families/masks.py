"""Who may attend to whom: the steps of masks and of masked scores, and what goes wrong in them."""

from dataclasses import replace

import numpy as np

from ..model import PLAIN, SQUARE, Case, Mistake, Step, alike, each


def aligned_mask_answer(do, n_q, n_k):
    rows, columns = do.sizes(n_q, n_k)
    query, key = np.arange(rows)[:, None], np.arange(columns)[None, :]
    mask = do.compare(key, query + do.offset(n_q, n_k))
    return do.form(do.sense(mask))


def as_it_is(mask):
    return mask


TRIANGLE_STEPS = {"sizes": lambda n_q, n_k: (n_q, n_k), "compare": lambda key, query: key <= query, "sense": as_it_is,
                  "form": as_it_is}


def additive_mask_of(fill):
    return lambda mask: np.where(mask, 0.0, fill)


def _compared(*comparisons):
    return tuple({"compare": compare} for compare in comparisons)


def _constant(value):
    """The same for every query and key."""
    return {"compare": lambda key, query: (key + query) * 0 == (0 if value else 1), "sense": as_it_is, "form": as_it_is}


def _written_the_other_way(mask):
    """Entry [j, i] set for query i and key j; beyond the mask that is an IndexError."""
    found = np.zeros_like(mask)
    found[tuple(np.nonzero(mask))[::-1]] = True
    return found


def _of_size(n):
    return {"form": lambda mask: np.tri(n, dtype=bool)[:mask.shape[0], :mask.shape[1]]}


INVERTED = Mistake(
    "mask inverted", change={"sense": lambda mask: ~mask},
    does="True stands where a query may not attend.",
    why="Here True means: may attend, as in torch's scaled_dot_product_attention. Other libraries mean the opposite, "
        "so "
        "that the two are easily mixed up.",
    ask="What does True mean for the softmax that follows?")

ADDITIVE = Mistake(
    "additive mask instead of boolean",
    change=tuple({"form": additive_mask_of(fill)} for fill in (-np.inf, -1e9, -1e4)),
    does="The mask holds 0 and a very negative number, to be added to the scores.",
    why="A boolean mask is asked for: it says who may attend, and leaves the arithmetic to mask_scores.",
    ask="Which expression gives True and False directly?")

NOTHING_ALLOWED = Mistake(
    "nothing allowed", change=_constant(False),
    does="No query may see any key: the mask is False throughout.",
    why="True means: may attend. An array of zeros has to be filled where attending is allowed.",
    ask="Which entries of the mask does your function set to True?")

SHAPED = "Rows belong to queries, columns to keys: the mask has the shape of the scores, (n_q, n_k), as they come."
WHOLE_PAST = "A causal mask hides the future alone: a query sees itself and everything before it, and nothing later."

TRIANGLE_MISTAKES = (
    INVERTED, ADDITIVE, NOTHING_ALLOWED,
    Mistake("positions compared one by one", alone=True, change=_compared(lambda key, query: key[0] <= query[:, 0]),
            does="Query i is compared with key i alone: the two rows of positions do not make a table.",
            why="Each query meets each key: one of the two has to be a column, with an axis of length 1.",
            ask="Which shapes have the two sides of your comparison?"),
    *alike(WHOLE_PAST, "What may query 0 see, and what may the last query see?",
           ("diagonal excluded", _compared(lambda key, query: key < query),
            "A query may not see the key at its own position."),
           ("one key too many", _compared(lambda key, query: key <= query + 1),
            "Each query sees one key of its future."),
           ("the future instead of the past", _compared(lambda key, query: key >= query),
            "Each query sees itself and what comes after it."),
           ("everything allowed", _constant(True), "Every query may see every key."),
           ("only the diagonal", _compared(lambda key, query: key == query), "Each query sees one key alone."),
           ("sliding window instead of the whole past",
            _compared(*(lambda key, query, w=w: (key <= query) & (key > query - w) for w in (2, 3, 4, 5))),
            "Each query sees itself and a few keys before it.")),
    *(replace(mistake, alone=True) for mistake in alike(
        WHOLE_PAST, "What is the first key that the last query may see, and what is the last key that query 0 may see?",
        ("blocks of positions", _compared(*(lambda key, query, w=w: key // w <= query // w for w in (2, 3, 4))),
         "Positions are taken together in blocks: a query sees its whole block, and so a part of its future."),
        ("only the key before", _compared(lambda key, query: key == query - 1),
         "Each query sees the key before its own position, and no other."),
        ("window around the diagonal", _compared(*(lambda key, query, w=w: abs(key - query) <= w for w in (1, 2, 3))),
         "Each query sees a few keys before it and as many after it."),
        ("itself not seen", _compared(lambda key, query: key != query),
         "Each query sees every key but the one at its own position."),
        ("edge off by two", _compared(lambda key, query: key <= query + 2, lambda key, query: key < query - 1),
         "The edge of the mask is off by two keys: two too many, or two too few."),
        ("positions compared as shares",
         _compared(lambda key, query: key * query.shape[0] <= (query - query[0]) * key.shape[1]),
         "Positions are divided by n_q and n_k before they are compared."))),
    *alike(SHAPED, "Which shape must the mask share with the scores, and what does its row 0 say, about which query?",
           ("n_q and n_k swapped", {"sizes": lambda n_q, n_k: (n_k, n_q)}, "The answer has n_k rows and n_q columns."),
           ("square mask", ({"sizes": lambda n_q, n_k: (n_q, n_q)}, {"sizes": lambda n_q, n_k: (n_k, n_k)}),
            "The mask is square, whatever n_q and n_k are."),
           ("transposed", ({"form": lambda mask: mask.T, "sense": as_it_is}, {"form": _written_the_other_way}),
            "Row and column have changed places: what belongs to query i and key j stands at [j, i]."),
           ("turned upside down", ({"form": lambda mask: mask[::-1]}, {"form": lambda mask: mask[:, ::-1]}),
            "The rows or columns of the mask are in reverse order.")),
    Mistake("one column too many", alone=True,
            change=tuple({"sizes": lambda n_q, n_k, more=more: (max(n_q + more[0], 0), max(n_k + more[1], 0))}
                         for more in ((0, 1), (1, 0), (1, 1), (0, -1), (-1, 0))),
            does="The mask has a row or a column too many, or too few.", why=SHAPED,
            ask="How many rows and columns has your mask?"),
)

FEWER_KEYS = "more queries than keys"

ONLY_MORE_KEYS = Mistake(
    "only for n_q <= n_k",
    does="The mask is right unless there are more queries than keys.",
    why="The contract allows any two numbers; the shape is (n_q, n_k) in every case.",
    ask="What should the mask look like for n_q = 3, n_k = 2?")


def triangle_cases():
    sizes = ((PLAIN, 2, 3), (PLAIN, 5, 7), (PLAIN, 3, 11), ("one query", 1, 3), (SQUARE, 3, 3), (SQUARE, 1, 1),
             (FEWER_KEYS, 3, 2), (FEWER_KEYS, 11, 5), ("many positions", 140, 150), ("many positions", 300, 40))
    return [Case(aspect, (n_q, n_k)) for aspect, n_q, n_k in sizes]


CAUSAL_MASK_MISTAKES = TRIANGLE_MISTAKES + (
    Mistake("number of positions fixed in the code", alone=True,
            change=tuple(map(_of_size, (10, 12, 16, 32, 64, 100, 128))),
            numbers=each(_of_size, lambda n: n in range(8, 300)),
            does="The mask is cut out of a table of a fixed size: for more positions it is too small.",
            why="n_q and n_k are given, and may be any numbers.",
            ask="How many rows and columns can your mask have at most?"),
    Mistake("aligned at the bottom right", change={"offset": lambda n_q, n_k: n_k - n_q},
            does="The last query sees every key.",
            why="That is the mask of queries that stand at the end of the keys. Here query 0 and key 0 stand at the "
                "same "
                "position: aligned at the top left.",
            ask="At which position does query 0 stand?"),
)


def fill_with(value):
    return lambda scores, mask, dtype: np.where(mask, scores, value)


def add_where_masked(value):
    return lambda scores, mask, dtype: scores + np.where(mask, 0.0, value)


MASK_STEPS = {"sense": as_it_is, "fill": Step(fill_with(-np.inf), "the masked scores"),
              "finish_masked": lambda scores: scores}

NO_WEIGHT = "Which score gives a weight of exactly 0 after the softmax?"

ZERO_FILL = Mistake(
    "masked scores set to 0", change={"fill": fill_with(0.0)},
    does="Masked scores are 0, as if the mask were multiplied with the scores.",
    why="exp(0) is 1: a masked key keeps a weight, more than one with a negative score.", ask=NO_WEIGHT)


def masked_set_to(number):
    return Mistake(
        f"masked scores set to {number:.4g}", change={"fill": fill_with(number)},
        does=f"Masked scores are {number:.4g}.",
        why="Scores may lie below any number: only -inf gives a weight of exactly 0 in every row.", ask=NO_WEIGHT)


def masked_lowered_by(number):
    way = "raised" if number > 0 else "lowered"
    return Mistake(
        f"masked scores {way} by {abs(number):.4g}", change={"fill": add_where_masked(number)},
        does=f"Masked scores are {way} by {abs(number):.4g}.",
        why="A score that is moved by a number keeps a weight. Only -inf gives a weight of exactly 0.", ask=NO_WEIGHT)


def masked_multiplied_by(number):
    return Mistake(
        f"masked scores multiplied by {number:.4g}",
        change={"fill": lambda scores, mask, dtype: np.where(mask, scores, scores * number)},
        does=f"Masked scores are multiplied by {number:.4g}.",
        why="A factor leaves a weight. The mask has to choose: the score, or -inf.", ask=NO_WEIGHT)


FITTED_FILLS = (masked_set_to, masked_lowered_by, masked_multiplied_by)

BROADCAST = "a mask that broadcasts"

MASK_ASPECTS = {BROADCAST: Mistake(
        "only for a mask of the scores' shape",
        does="The function is right if the mask has the scores' shape, and not if it broadcasts to it.",
        why="A mask may have fewer axes than the scores, or axes of length 1, and then serves all heads or all queries. "
            "Indexing with it, as in scores[~mask], does not broadcast.",
        ask="Which function chooses entry by entry, and broadcasts?")}
