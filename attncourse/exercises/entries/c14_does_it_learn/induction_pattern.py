import numpy as np

from ...families.masks import all_are  # noqa: F401, for the page
from ...model import PLAIN, Case
from ...pages import written


def induction_pattern(tokens):
    n = len(tokens)
    query, key = np.arange(n)[:, None], np.arange(n)[None, :]
    before = np.roll(tokens, 1)  #: the tokens before the keys
    same = tokens[:, None] == before
    order = key <= query
    first = key >= 1
    seen = same & order & first
    mask = seen
    return mask


def latest(mask):
    """Only the last True of each row."""
    return mask & (np.cumsum(mask[:, ::-1], axis=1)[:, ::-1] == 1)


def token_before(tokens, has_one):
    """A column: each query's token before; the first has the last one, as in Python, or none."""
    before = np.roll(tokens, 1)
    if has_one:
        before[0] = np.iinfo(before.dtype).max
    return before[:, None]


def token_after(tokens, end):
    """A column: each query's next token; after the last one comes `end`."""
    return np.append(tokens[1:], end)[:, None]


def _cases():
    def case(aspect, *tokens, dtype=np.int64):
        return Case(aspect, (np.array(tokens, dtype),))

    rng = np.random.default_rng(0)
    return [
        case(PLAIN, 0, 5, 0),
        case(PLAIN, 2, 7, 7),
        case(PLAIN, 0, 1, 0, 2, 0),
        case(PLAIN, 0, 5, 1, 7, 0, 5),
        case(PLAIN, 2, 5, 0, 7, 2, 5, 1, 9, 0, 7, 2),
        case(PLAIN, *rng.integers(4, size=13)),
        case(PLAIN, *rng.integers(6, size=17)),
        case("no token twice", 3, 1, 2),
        case("one token", 4),
        case("equal tokens", 1, 1, 1),
        case("equal tokens", 2, 2, 2, 2, 2),
        case("the first token comes last", 0, 1, 2, 0),
        case("equal neighbours", 1, 1, 0, 1, 0, 0),
        case("large and negative numbers", -1, 900, -1, 900),
        case("large and negative numbers", 0, 256, 256, 0, 2**24, 2**24 + 1, 0),
        case("int32 tokens", 0, 1, 0, 1, 2, dtype=np.int32),
    ]


EXERCISE = written(
    induction_pattern,
    place=1,
    axes=dict(tokens="n"),
    answer_axes="n_q n_k",
    cases=_cases,
    dtype="bool",
)
