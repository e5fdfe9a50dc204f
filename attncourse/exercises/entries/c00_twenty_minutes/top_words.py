import numpy as np

from ...model import FLOAT16, FLOAT32, PLAIN, Case, Words, normal
from ...pages import written

TIES = "equal weights"
TWICE = "a word that occurs twice"
LETTERS = "it is the trophy too big does not fit in a suitcase".split()


def top_words(weights, words, count):
    sizes = -weights
    order = np.argsort(sizes, kind="stable")
    best = order[:count]
    found = words[best]
    return found


def each_once(order, words):
    """The positions in this order, without those of a word that came before."""
    _, first = np.unique(words[order], return_index=True)
    return order[np.sort(first)]


def added(weights, words):
    """For each position the weight of its word at all positions."""
    return np.array([weights[words == word].sum() for word in words])


def first_of(weights, positions):
    """For each of these positions the first one of its weight."""
    return np.array([np.flatnonzero(weights == weights[i])[0] for i in positions], int)


def partitioned(sizes, at):
    """The positions on one side of the place `at` in an order that np.argpartition leaves open."""
    n = len(sizes)
    order = np.argpartition(sizes, at) if -n <= at < n else np.arange(n)
    return order[at:] if at < 0 else order[: max(at, 1)]


def chosen_to_zero(weights, count):
    """The largest weight's position, again and again, where a chosen weight counts as 0."""
    left, positions = weights.copy(), []
    for _ in range(min(count, len(left))):
        positions.append(left.argmax())
        left[positions[-1]] = 0.0
    return np.array(positions, int)


def later_first(sizes):
    """The positions by size, the later of equals first."""
    return np.lexsort((-np.arange(len(sizes)), sizes))


def _cases():
    def some(aspect, weights, words, count, dtype=np.float64):
        return Case(aspect, (np.array(weights, dtype), Words(words.split()), count))

    def drawn(seed, n, count):
        powers = np.exp(2 * normal(n, seed=seed))
        words = [f"{LETTERS[i % 12]}{i // 12 or ''}" for i in range(n)]
        return Case(PLAIN, (powers / powers.sum(), Words(words), count))

    return [
        some(PLAIN, [0.25, 0.125, 0.5, 0.125], "the cat sleeps .", 2),
        some(PLAIN, [0.1, 0.6, 0.3], "big trophy suitcase", 1),
        some(PLAIN, [0.2, 0.1, 0.7], "c a b", 3),
        some(PLAIN, [0.05, 0.3, 0.1, 0.35, 0.2], "does the trophy fit ?", 3),
        some(PLAIN, [0.5, 0.05, 0.15, 0.3], "it is too big", 3),
        some(TIES, [0.3, 0.4, 0.3], "b c a", 2),
        some(TIES, [0.25, 0.25, 0.25, 0.25], "d a c b", 3),
        some(TIES, [0.0, 0.5, 0.0, 0.5, 0.0], "e b a d c", 4),
        # so many that a sort that keeps no order of equals shows
        some(TIES, [0.015625, 0.03125] * 20, " ".join(f"w{i}" for i in range(40)), 7),
        some(TWICE, [0.3, 0.25, 0.1, 0.35], "the trophy in the", 3),
        some(TWICE, [0.2, 0.35, 0.15, 0.3], "is it too is", 2),
        some("one word", [1.0], "trophy", 1),
        drawn(1, 11, 4),
        drawn(2, 40, 7),
        some(FLOAT32, [0.25, 0.5, 0.125, 0.125], "big it is too", 2, np.float32),
        some(FLOAT16, [0.125, 0.25, 0.5, 0.125], "fit not does it", 2, np.float16),
    ]


EXERCISE = written(
    top_words, place=2, axes=dict(weights="n"), dtype="number", in_words=True, cases=_cases
)
