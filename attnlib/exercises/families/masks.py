"""Who may attend to whom: the steps of masks and of masked scores, and what goes wrong in them."""

import numpy as np

from ..model import PLAIN, SQUARE, Case, Mistake, Step, each


def aligned_mask_answer(do, n_q, n_k):
    rows, columns = do.sizes(n_q, n_k)
    query, key = np.arange(rows)[:, None], np.arange(columns)[None, :]
    mask = do.compare(key, query + do.offset(n_q, n_k))
    return do.form(do.sense(mask))


TRIANGLE_STEPS = {
    "sizes": lambda n_q, n_k: (n_q, n_k),
    "compare": lambda key, query: key <= query,
    "sense": lambda mask: mask,
    "form": lambda mask: mask,
}


def additive_mask_of(fill):
    return lambda mask: np.where(mask, 0.0, fill)


INVERTED = Mistake(
    "mask inverted", change={"sense": lambda mask: ~mask},
    does="True stands where a query may not attend.",
    why="Here True means: may attend, as in torch's scaled_dot_product_attention. Other libraries "
        "mean the opposite; mixing the two is the most frequent mask error.",
    ask="What does True mean for the softmax that follows?")

ADDITIVE = Mistake(
    "additive mask instead of boolean", change=tuple({"form": additive_mask_of(fill)} for fill in (-np.inf, -1e9, -1e4)),
    does="The mask holds 0 and a very negative number, to be added to the scores.",
    why="A boolean mask is asked for: it says who may attend, and leaves the arithmetic to mask_scores.",
    ask="Which expression gives True and False directly?")

NOTHING_ALLOWED = Mistake(
    "nothing allowed", change={"compare": lambda key, query: (key + query) * 0 > 0, "sense": lambda mask: mask,
                               "form": lambda mask: mask},
    does="No query may see any key: the mask is False throughout.",
    why="True means: may attend. An array of zeros has to be filled where attending is allowed.",
    ask="Which entries of the mask does your function set to True?")

def _written_the_other_way(mask):
    """Entry [j, i] set for query i and key j; beyond the mask that is an IndexError."""
    found = np.zeros_like(mask)
    found[tuple(np.nonzero(mask))[::-1]] = True
    return found


def _of_size(n):
    return {"form": lambda mask: np.tri(n, dtype=bool)[:mask.shape[0], :mask.shape[1]]}


TRIANGLE_MISTAKES = (
    INVERTED,
    Mistake("positions compared one by one", change={"compare": lambda key, query: key[0] <= query[:, 0]},
            does="Query i is compared with key i alone: the two rows of positions do not make a table.",
            why="Each query meets each key: one of the two has to be a column, with an axis of length 1.",
            ask="Which shapes have the two sides of your comparison?"),
    Mistake("diagonal excluded", change={"compare": lambda key, query: key < query},
            does="A query may not see the key at its own position.",
            why="A position attends to itself too; and the first query would see nothing at all.",
            ask="What may the first query attend to?"),
    Mistake("one key too many", change={"compare": lambda key, query: key <= query + 1},
            does="Each query sees one key of its future.",
            why="With the next key in sight a model copies the answer it should predict.",
            ask="What is the last key that query 0 may see?"),
    Mistake("the future instead of the past", change={"compare": lambda key, query: key >= query},
            does="Each query sees itself and what comes after it.",
            why="Causal means that nothing later than the query is seen: the lower triangle.",
            ask="Is key j <= query i above or below the diagonal?"),
    Mistake("n_q and n_k swapped", change={"sizes": lambda n_q, n_k: (n_k, n_q)},
            does="The answer has n_k rows and n_q columns.",
            why="Rows belong to queries, columns to keys, as in the scores.",
            ask="Which shape must the mask share with the scores?"),
    Mistake("square mask", change=({"sizes": lambda n_q, n_k: (n_q, n_q)}, {"sizes": lambda n_q, n_k: (n_k, n_k)}),
            does="The mask is square.",
            why="There may be more keys than queries, or fewer.",
            ask="Which shape must the mask share with the scores?"),
    Mistake("everything allowed",
            change={"compare": lambda key, query: (key + query) * 0 == 0, "sense": lambda mask: mask,
                    "form": lambda mask: mask},
            does="Every query may see every key.",
            why="A causal mask hides the future.",
            ask="Which keys must query 0 not see?"),
    ADDITIVE,
    NOTHING_ALLOWED,
    Mistake("only the diagonal", change={"compare": lambda key, query: key == query},
            does="Each query sees one key alone.",
            why="A query may attend to everything up to its own position.",
            ask="Which comparison holds for all keys up to the query?"),
    Mistake("sliding window instead of the whole past",
            change=tuple({"compare": lambda key, query, w=w: (key <= query) & (key > query - w)} for w in (2, 3, 4, 5)),
            does="Each query sees itself and a few keys before it.",
            why="A causal mask hides the future alone: the whole past stays in sight.",
            ask="What is the first key that the last query may see?"),
    Mistake("blocks of positions", alone=True,
            change=tuple({"compare": lambda key, query, w=w: key // w <= query // w} for w in (2, 3, 4)),
            does="Positions are taken together in blocks: a query sees its whole block, and so a part of its future.",
            why="The mask holds for single positions: key j <= query i.",
            ask="What is the last key that query 0 may see?"),
    Mistake("only the key before", alone=True, change={"compare": lambda key, query: key == query - 1},
            does="Each query sees the key before its own position, and no other.",
            why="A query may attend to everything up to its own position.",
            ask="Which comparison holds for all keys up to the query?"),
    Mistake("positions compared as shares", alone=True,
            change={"compare": lambda key, query: key * query.shape[0] <= (query - query[0]) * key.shape[1]},
            does="Positions are divided by n_q and n_k before they are compared.",
            why="Query and key stand at whole positions; how many there are only decides where query 0 stands.",
            ask="At which position does query 1 stand, and how does that depend on n_k?"),
    Mistake("one column too many", alone=True,
            change=({"sizes": lambda n_q, n_k: (n_q, n_k + 1)}, {"sizes": lambda n_q, n_k: (n_q + 1, n_k)},
                                           {"sizes": lambda n_q, n_k: (n_q + 1, n_k + 1)},
                                           {"sizes": lambda n_q, n_k: (n_q, max(n_k - 1, 0))},
                                           {"sizes": lambda n_q, n_k: (max(n_q - 1, 0), n_k)}),
            does="The mask has a row or a column too many, or too few.",
            why="It has the shape of the scores, (n_q, n_k).",
            ask="How many rows and columns has your mask?"),
    Mistake("window around the diagonal", alone=True,
            change=tuple({"compare": lambda key, query, w=w: abs(key - query) <= w} for w in (1, 2, 3)),
            does="Each query sees a few keys before it and as many after it.",
            why="A causal mask hides the future alone: the whole past stays in sight, and nothing later.",
            ask="What is the last key that query 0 may see?"),
    Mistake("itself not seen", alone=True, change=({"compare": lambda key, query: key != query},),
            does="Each query sees every key but the one at its own position.",
            why="Causal means key j <= query i: a query sees itself and what came before.",
            ask="Which comparison holds for all keys up to the query?"),
    Mistake("edge off by two", alone=True, change=({"compare": lambda key, query: key <= query + 2},
                                       {"compare": lambda key, query: key < query - 1}),
            does="The edge of the mask is off by two keys: two too many, or two too few.",
            why="The last key that a query may see is the one at its own position.",
            ask="What is the last key that query 0 may see?"),
    Mistake("transposed", change=({"form": lambda mask: mask.T, "sense": lambda mask: mask}, {"form": _written_the_other_way}),
            does="Row and column have changed places: what belongs to query i and key j stands at [j, i].",
            why="Rows belong to queries, columns to keys, as in the scores.",
            ask="What does row 0 of the mask say, and about which query?"),
    Mistake("turned upside down",
            change=({"form": lambda mask: mask[::-1]}, {"form": lambda mask: mask[:, ::-1]}),
            does="The rows or columns of the mask are in reverse order.",
            why="Row 0 belongs to the first query, column 0 to the first key.",
            ask="What may the first query see, and in which row does it stand?"),
)

FEWER_KEYS = "more queries than keys"

ONLY_MORE_KEYS = Mistake(
    "only for n_q <= n_k",
    does="The mask is right unless there are more queries than keys.",
    why="The contract allows any two numbers; the shape is (n_q, n_k) in every case.",
    ask="What should the mask look like for n_q = 3, n_k = 2?")


def triangle_cases():
    return [Case(PLAIN, (2, 3)), Case(PLAIN, (5, 7)), Case(PLAIN, (3, 11)), Case("one query", (1, 3)),
            Case(SQUARE, (3, 3)), Case(SQUARE, (1, 1)), Case(FEWER_KEYS, (3, 2)), Case(FEWER_KEYS, (11, 5)),
            Case("many positions", (140, 150)), Case("many positions", (300, 40))]


CAUSAL_MASK_MISTAKES = TRIANGLE_MISTAKES + (
    Mistake("number of positions fixed in the code", change=tuple(map(_of_size, (10, 12, 16, 32, 64, 100, 128))),
            numbers=each(_of_size, lambda n: n in range(8, 300)),
            does="The mask is cut out of a table of a fixed size: for more positions it is too small.",
            why="n_q and n_k are given, and may be any numbers.",
            ask="How many rows and columns can your mask have at most?"),
    Mistake("aligned at the bottom right", change={"offset": lambda n_q, n_k: n_k - n_q},
            does="The last query sees every key.",
            why="That is the mask of queries that stand at the end of the keys. Here query 0 and key 0 stand at "
                "the same position: aligned at the top left.",
            ask="At which position does query 0 stand?"),
)


def fill_with(value):
    return lambda scores, mask, dtype: np.where(mask, scores, value)


def add_where_masked(value):
    return lambda scores, mask, dtype: scores + np.where(mask, 0.0, value)


MASK_STEPS = {
    "sense": lambda mask: mask,
    "fill": Step(fill_with(-np.inf), "the masked scores"),
    "finish_masked": lambda scores: scores,
}

ZERO_FILL = Mistake(
    "masked scores set to 0", change={"fill": fill_with(0.0)},
    does="Masked scores are 0, as if the mask were multiplied with the scores.",
    why="exp(0) is 1: a masked key keeps a weight, more than one with a negative score.",
    ask="Which score gives a weight of exactly 0 after the softmax?")


def masked_set_to(number):
    return Mistake(
        f"masked scores set to {number:.4g}", change={"fill": fill_with(number)},
        does=f"Masked scores are {number:.4g}.",
        why="Scores may lie below any number: only -inf gives a weight of exactly 0 in every row.",
        ask="Which score gives a weight of exactly 0 after the softmax?")


def masked_lowered_by(number):
    way = "raised" if number > 0 else "lowered"
    return Mistake(
        f"masked scores {way} by {abs(number):.4g}", change={"fill": add_where_masked(number)},
        does=f"Masked scores are {way} by {abs(number):.4g}.",
        why="A score that is moved by a number keeps a weight. Only -inf gives a weight of exactly 0.",
        ask="Which score gives a weight of exactly 0 after the softmax?")


def masked_multiplied_by(number):
    return Mistake(
        f"masked scores multiplied by {number:.4g}",
        change={"fill": lambda scores, mask, dtype: np.where(mask, scores, scores * number)},
        does=f"Masked scores are multiplied by {number:.4g}.",
        why="A factor leaves the sign and a weight. The mask has to choose: the score, or -inf.",
        ask="Which score gives a weight of exactly 0 after the softmax?")


FITTED_FILLS = (masked_set_to, masked_lowered_by, masked_multiplied_by)

BROADCAST = "a mask that broadcasts"

MASK_ASPECTS = {BROADCAST: Mistake(
        "only for a mask of the scores' shape",
        does="The function is right if the mask has the scores' shape, and not if it broadcasts to it.",
        why="A mask of shape (n_q, n_k) or (batch, 1, n_k) serves all heads and queries. Indexing "
            "with it, as in scores[~mask], does not broadcast.",
        ask="Which function chooses entry by entry, and broadcasts?")}
