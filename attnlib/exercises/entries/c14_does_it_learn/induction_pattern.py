"""The exercise induction_pattern."""

import numpy as np

from ...families.masks import ADDITIVE, INVERTED
from ...model import PLAIN, Case, Exercise, Mistake, Step, alike, each, ways


def induction_pattern_answer(do, tokens):
    n = len(tokens)
    query, key = np.arange(n)[:, None], np.arange(n)[None, :]
    same = do.same(tokens[:, None], do.before(tokens)[None, :])
    return do.form(do.sense(do.join(do.join(same, do.order(key, query)), do.first(key))))


def _latest(mask):
    """Only the last True of each row."""
    n = mask.shape[1]
    last = n - 1 - np.argmax(mask[:, ::-1], axis=1)
    return mask & (np.arange(n)[None, :] == last[:, None])


def _earliest(mask):
    return mask & (np.cumsum(mask, axis=1) == 1)


def _token_before(query, has_one):
    """The token before each query; before the first stands the last one, as Python has it, or none."""
    before = np.roll(query, 1, axis=0)
    return np.where(np.arange(len(query))[:, None] > 0, before, np.iinfo(before.dtype).max) if has_one else before


def _rows_below(n):
    """A variant: only the rows of the tokens below this number."""
    return {"same": lambda query, before: (query == before) & (query < n)}


def _before_the_query(has_one=False):
    return lambda query, before: _token_before(query, has_one) == np.roll(before, -1, axis=1)


def _cases():
    def case(aspect, *tokens, dtype=np.int64):
        return Case(aspect, (np.array(tokens, dtype),))

    rng = np.random.default_rng(0)
    return [
        case(PLAIN, 0, 5, 0), case(PLAIN, 0, 5, 1, 7, 0, 5), case(PLAIN, 2, 5, 0, 7, 2, 5, 1, 9, 0, 7, 2),
        case(PLAIN, *rng.integers(4, size=13)), case(PLAIN, *rng.integers(6, size=17)),
        case("no token twice", 3, 1, 2), case("one token", 4), case("equal tokens", 1, 1, 1), case("equal tokens", 2, 2, 2, 2, 2),
        case("the first token comes last", 0, 1, 2, 0), case("equal neighbours", 1, 1, 0, 1, 0, 0),
        case("large and negative numbers", -1, 900, -1, 900), case("int32 tokens", 0, 1, 0, 1, 2, dtype=np.int32),
    ]


EXERCISE = Exercise(
    name="induction_pattern", signature="(tokens)", place=1,
    axes=dict(tokens="n"), answer_axes="n_q n_k",
    text="A boolean array of shape (n, n), True where 1 <= j <= i and tokens[j - 1] == tokens[i]: key j comes after an "
         "earlier position with the query's own token.",
    answer=induction_pattern_answer,
    steps={
        "before": Step(lambda tokens: np.roll(tokens, 1), "the tokens before the keys"),
        "same": lambda query, before: query == before,
        "order": lambda key, query: key <= query,
        "first": lambda key: key >= 1,
        "join": lambda a, b: a & b,
        "sense": lambda mask: mask,
        "form": lambda mask: mask,
    },
    cases=_cases, dtype="bool",
    hints=(
        "Three conditions at once: key j has a position before it, it is not later than the query, and the token before it "
        "is the query's.",
        "tokens[:, None] == tokens[None, :] says at [i, j] whether query i and key j have the same token. You need the token "
        "before key j: the same table, one column further to the right.",
        "Start from np.zeros((n, n), dtype=bool), fill its columns from 1 on with tokens[:, None] == tokens[None, :-1], and "
        "keep what np.tri(n, dtype=bool) allows.",
    ),
    mistakes=(
        INVERTED, ADDITIVE,
        *alike("The key that answers is the one after the earlier occurrence: it holds what followed.",
               "In b 3 a 7 b, where is the token that should come next?",
               ("the same token instead of the one after it", (
                   {"before": lambda tokens: tokens, "first": lambda key: key >= 0},
                   {"before": lambda tokens: tokens, "first": lambda key: key >= 0, "order": lambda key, query: key < query}),
                "A query is sent to the positions that hold its own token, and not to the ones after them."),
               ("the token before instead of the one after", {"before": lambda tokens: np.roll(tokens, -1),
                                                              "first": lambda key: key < key.size - 1},
                "A query is sent to the positions in front of its own token."),
               ("two places further", {"before": lambda tokens: np.roll(tokens, 2), "first": lambda key: key >= 2},
                "A query is sent two places behind an earlier occurrence, not one."),
               ("the query's neighbour compared", tuple(
                   {"same": same, **first} for same in (_before_the_query(), _before_the_query(has_one=True))
                   for first in ({}, {"first": lambda key: key >= 0})),
                "The token before the query is compared with the key's own token."),
               ("the neighbours of both compared", ways("same", *(
                   lambda query, before, has_one=has_one: _token_before(query, has_one) == before for has_one in (False, True))),
                "The token before the query is compared with the token before the key.")),
        Mistake("rows of digits left out", change=(
                    _rows_below(4), {"form": lambda mask: mask & (np.arange(len(mask)) % 2 == 0)[:, None]}),
                numbers=each(_rows_below, lambda n: n > 0),
                does="Rows of digits, which are tokens from some number on or stand at odd places, are empty.",
                why="The formula speaks of all tokens: a digit that stands twice has right keys, too.",
                ask="Which keys are right for the second 3 of b 3 a 3?"),
        Mistake("only the place before", change={"form": lambda mask: np.eye(len(mask), k=-1, dtype=bool)},
                does="Every query is sent to the position right before it, whatever the tokens are.",
                why="That is the map of a head that finds the previous token. An induction head looks for the query's own token, "
                    "wherever it stood.",
                ask="Where in your function are two tokens compared?"),
        *alike("In front of key 0 stands no token: it comes after nothing.", "What is tokens[j - 1] for j = 0 in Python?",
               ("the last token in front of the first", {"first": lambda key: key >= 0},
                "Key 0 is compared with the last token, which Python finds at index -1."),
               ("key 1 left out", {"first": lambda key: key >= 2}, "Key 1 never counts, though position 0 comes before it.")),
        *alike("The key may be the query's own position and anything before it, and nothing later.",
               "Which keys does the causal mask leave to query i?",
               ("later keys too", {"order": lambda key, query: key == key + query * 0},
                "Keys after the query count as well, where the token before them is the query's."),
               ("only later keys", {"order": lambda key, query: key >= query},
                "Only keys from the query's own position on count."),
               ("diagonal excluded", {"order": lambda key, query: key < query},
                "The key at the query's own position never counts. It does where the query's token stands twice in a row."),
               ("one key too many", {"order": lambda key, query: key <= query + 1},
                "The next key counts as well. The token before it is always the query's own.")),
        *alike("Every key that comes after an earlier occurrence is a right one; each of them holds an answer.",
               "Which keys answer the last query of b 3 a 7 b 3 a 7 b?",
               ("only the latest occurrence", {"sense": _latest}, "Only the last right key of each row is True."),
               ("only the first occurrence", {"sense": _earliest}, "Only the first right key of each row is True.")),
        *alike("All conditions hold for each right key.", "Which of your conditions does each True entry satisfy?",
               ("either condition suffices", {"join": lambda a, b: a | b}, "One condition is enough for True."),
               ("tokens not compared", {"same": lambda query, before: (query == query) & (before == before)},
                "Every key from 1 to i counts, whatever the tokens are."),
               ("other tokens instead of its own", {"same": lambda query, before: query != before},
                "A query is sent behind the tokens that are not its own.")),
        Mistake("transposed", change={"form": lambda mask: mask.T},
                does="Rows and columns have changed places.",
                why="Rows belong to queries, columns to keys, as in the scores.",
                ask="What does row 0 say, and about which query?"),
    ),
)
