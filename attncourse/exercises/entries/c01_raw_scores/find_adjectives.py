import numpy as np

from ...families.scores import softmax_of, swap  # noqa: F401, for the page
from ...model import LEADING, PLAIN, Case
from ...pages import written


def find_adjectives(x):
    noun = 2.0
    adjective = 1.0
    number = 1.0
    w_q = matrix(noun, 0, 0, number)
    w_k = matrix(0, adjective, 0, 1)
    query = x @ w_q  #: the queries
    key = x @ w_k  #: the keys
    q, k = query, key
    products = q @ swap(k)  #: the product of queries and keys
    scores = products
    return scores


def matrix(noun, adjective, verb, number):
    """(4, 2): the first three features go to the first entry, the number to the second."""
    return np.array([[noun, 0.0], [adjective, 0.0], [verb, 0.0], [0.0, number]])


def in_one(w):
    """Both columns added up, as one."""
    return w.sum(axis=1, keepdims=True)


def found(x):
    """1 where a noun asks and an adjective is the key."""
    return x[..., :, None, 0] * x[..., None, :, 1]


def agreement(x, of=np.multiply):
    """The product of the numbers of each two words, or another function of them."""
    return of(x[..., :, None, 3], x[..., None, :, 3])


def without_itself(scores):
    return np.where(np.eye(scores.shape[-1], dtype=bool), 0, scores)


# noun, adjective, verb, number: 1 plural, -1 singular, 0 none
WORDS = {
    "gatos": (1, 0, 0, 1),
    "gato": (1, 0, 0, -1),
    "viejo": (0, 1, 0, -1),  # old, in Spanish, where adjectives agree with their nouns
    "viejos": (0, 1, 0, 1),
    "duermen": (0, 0, 1, 1),
    "duerme": (0, 0, 1, -1),
    "y": (0, 0, 0, 0),
}


def vectors(text):
    return np.array([WORDS[word] for word in text.split()], dtype=np.float64)


def _cases():
    def drawn(n, seed, lead=()):
        rng = np.random.default_rng(seed)
        return np.array(list(WORDS.values()), dtype=np.float64)[rng.integers(7, size=(*lead, n))]

    texts = (
        "gato viejo",
        "gatos viejo",
        "gatos viejos",
        "gato duerme",
        "viejos duermen",
        "gato gatos",
        "viejo viejos",
        "duermen duerme",
        "gato y",
        "gato viejo duerme y gatos viejos duermen",
    )
    return [
        *(Case(PLAIN, (vectors(text),)) for text in texts),
        *(Case(PLAIN, (drawn(n, seed),)) for n, seed in ((3, 1), (5, 2), (11, 3), (29, 4))),
        Case("as many words as features", (drawn(4, 5),)),
        Case("one word", (vectors("gato"),)),
        Case("one word", (vectors("viejos"),)),
        Case(LEADING, (drawn(5, 6, (2,)),)),
        Case(LEADING, (drawn(3, 7, (2, 3)),)),
    ]


EXERCISE = written(
    find_adjectives,
    place=7,
    dtype="number",
    axes=dict(x="n d"),
    answer_axes="n_q n_k",
    cases=_cases,
)
