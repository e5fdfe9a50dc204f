import numpy as np

from ...model import FLOAT16, FLOAT32, PLAIN, Case
from ...pages import written

AXES = dict(target="n", draft="n")
SAME = "two equal distributions"
NEAR = "two nearly equal distributions"
EXACT = "u exactly the quotient"
ZERO = "words that one of the two never draws"


def accept_draft(target, draft, token, u):
    wanted, proposed = target, draft
    p = target[token]
    q = draft[token]
    ratio = p / q
    accepted = u < ratio
    gap = wanted - proposed  #: the differences
    positive = np.maximum(gap, 0)  #: the positive differences
    total = positive.sum()
    share = positive / total
    rest = np.where(total > 0, share, target)
    return accepted, rest


def without(distribution, token):
    """The distribution without this word, normalised again."""
    left = np.where(np.arange(len(distribution)) == token, 0, distribution)
    return left / left.sum()


def softmax(scores):
    powers = np.exp(scores)
    return powers / powers.sum()


def _cases():
    # Entries are multiples of 1/64: sums and differences of them are exact in any width.
    def case(aspect, target, draft, token, u, dtype=np.float64):
        whole = np.array(target), np.array(draft)
        assert all(part.sum() in (8, 64) for part in whole)
        parts = (np.asarray(part / part.sum(), dtype) for part in whole)
        return Case(aspect, (*parts, token, u))

    def drawn(aspect, n, token, u, seed, dtype=np.float64):
        rng = np.random.default_rng([seed, n])
        pair = (np.bincount(rng.integers(n, size=64 - n), minlength=n) + 1 for _ in range(2))
        return case(aspect, *pair, token, u, dtype)

    return [
        case(PLAIN, [4, 3, 1], [1, 3, 4], 2, 0.5),  # 1/4
        case(PLAIN, [4, 3, 1], [1, 3, 4], 2, 0.125),
        case(PLAIN, [4, 3, 1], [1, 3, 4], 0, 0.875),  # 4
        case(PLAIN, [4, 3, 1], [1, 2, 5], 2, 0.875),
        case(PLAIN, [1, 2, 5], [2, 4, 2], 1, 0.25),  # 1/2
        case(PLAIN, [1, 2, 5], [2, 4, 2], 1, 0.75),
        case(PLAIN, [3, 2, 3], [2, 4, 2], 1, 0.375),
        case(PLAIN, [1, 1, 1, 5], [2, 2, 2, 2], 3, 0.625),  # 5/2
        case(PLAIN, [5, 2, 1], [4, 1, 3], 0, 0.4375),  # 5/4
        case(PLAIN, [6, 1, 1], [6, 2, 0], 0, 0.625),  # 1
        *(drawn(PLAIN, n, token, u, seed) for n, token, u, seed in DRAWN),
        case("two words", [2, 6], [5, 3], 0, 0.75),  # 2/5
        case("two words", [2, 6], [5, 3], 0, 0.25),
        case("one word", [8], [8], 0, 0.5),
        case(EXACT, [2, 6], [4, 4], 0, 0.5),
        case(EXACT, [2, 2, 4], [4, 2, 2], 0, 0.5),
        case(EXACT, [1, 5, 2], [4, 2, 2], 0, 0.25),
        case(SAME, [4, 3, 1], [4, 3, 1], 1, 0.75),
        case(SAME, [5, 1, 1, 1], [5, 1, 1, 1], 2, 0.0),
        *(
            Case(NEAR, (np.array([0.5 + gap, 0.5 - gap]), np.array([0.5, 0.5]), token, 0.5))
            for gap in (2.0**-8, 2.0**-20)
            for token in (0, 1)
        ),
        case(ZERO, [0, 4, 4], [4, 4, 0], 0, 0.0),
        case(ZERO, [0, 4, 4], [4, 4, 0], 1, 0.5),
        case(ZERO, [4, 0, 0, 4], [0, 8, 0, 0], 1, 0.5),
        case(FLOAT32, [4, 3, 1], [1, 3, 4], 2, 0.5, np.float32),
        drawn(FLOAT32, 11, 4, 0.5, 31, np.float32),
        case(FLOAT16, [4, 3, 1], [1, 3, 4], 2, 0.125, np.float16),
        drawn(FLOAT16, 7, 3, 0.3, 41, np.float16),
    ]


DRAWN = (
    (5, 0, 0.2, 1),
    (5, 3, 0.9, 2),
    (7, 6, 0.6, 3),
    (7, 2, 0.35, 4),
    (11, 10, 0.45, 5),
    (13, 5, 0.8, 6),
    (13, 1, 0.7, 7),
    (17, 4, 0.15, 8),
)

EXERCISE = written(
    accept_draft,
    place=4,
    axes=AXES,
    outputs=("accepted", "rest"),
    part_dtypes=("number", "input"),
    cases=_cases,
)
