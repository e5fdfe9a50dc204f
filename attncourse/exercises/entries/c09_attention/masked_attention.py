import math

import numpy as np

from ...families.attention import ATTENTION_AXES
from ...families.inputs import LONG_KEYS, LONG_QUERY, drawn, given, inputs
from ...families.masked_attention import EPSILONS, filled, lowered, lowered_by, renormalised  # noqa: F401, for the page
from ...families.masks import BROADCAST
from ...families.scores import only_the_past, swap  # noqa: F401, for the page
from ...model import HUGE, LEADING, PLAIN, SQUARE
from ...pages import written


def masked_attention(query, key, value, attn_mask):
    q, k = query, key
    k_t = swap(k)
    products = q @ k_t  #: the product of queries and keys
    scores = products / math.sqrt(q.shape[-1])  #: the scores
    logits = scores
    mask = attn_mask
    s = np.where(mask, logits, -np.inf)  #: the masked scores
    along = -1
    shifted = s - s.max(axis=along, keepdims=True)  #: the shifted scores
    powers = np.exp(shifted)  #: the exponentials
    total = powers.sum(axis=along, keepdims=True)  #: the sum of the exponentials (one per row)
    weights = powers / total  #: the weights
    kept = weights
    alive = mask.any(axis=-1, keepdims=True)
    w = np.where(alive, kept, 0.0)
    chosen = value  #: the values
    v = chosen
    output = w @ v
    return output


def cut(mask, part):
    """The mask with the keys that are left, where it has more than one column."""
    return mask[..., part] if mask.shape[-1] > 1 else mask


def if_the_rows_match(weights, mask):
    """The weights, and an IndexError where the mask's rows can't be an index of the output's."""
    if mask.shape[:-1] != weights.shape[: mask.ndim - 1]:
        raise IndexError("boolean index did not match")
    return weights


DEAD = "a query that may attend to nothing"


def random_mask(*shape, seed=0):
    """A random mask in which every query may attend to a key, and every key is attended to."""
    mask = np.random.default_rng([seed, *shape]).random(shape) < 0.6
    mask[..., 0] |= ~mask.any(axis=-1)
    mask[..., 0, :] |= ~mask.any(axis=-2)
    return mask


AXES = dict(ATTENTION_AXES, attn_mask="n_q n_k")


def masked_attention_cases():
    def some(aspect, sizes, mask, seed, **more):
        n_q, n_k, d_k, d_v = sizes
        shapes = (n_q, d_k), (n_k, d_k), (n_k, d_v)
        return drawn(aspect, *shapes, seed=seed, behind=(mask,), **more)

    def tiny(aspect, query, key, value, mask):
        return given(aspect, query, key, value, np.array(mask, bool))

    dead = random_mask(5, 7, seed=11)
    dead[1], dead[3] = False, True
    square = dead[:, :5].copy()
    square[:, 2] = False  # a dead row of the transposed mask
    single = np.array([[True] * 3, [False] * 3])
    heads = [[[1, 0], [2, 1]], [[0, 3], [1, 1]]], [[[4], [8]], [[2], [-4]]]
    three = [[2], [1]], [[1], [0], [3]], [[4], [8], [-4]]
    return [
        tiny(PLAIN, *three, [[1, 1, 0], [0, 1, 1]]),
        some(PLAIN, (3, 5, 2, 7), np.ones((3, 5), bool), 7),
        tiny(SQUARE, [[1, 0], [2, 2]], [[0, 1], [1, 1]], [[1, 0], [3, 2]], [[1, 0], [1, 1]]),
        some(SQUARE, (5, 5, 3, 2), np.tri(5, dtype=bool), 10),
        tiny(BROADCAST, *three, [1, 0, 1]),
        tiny(BROADCAST, *three, [0, 1, 1]),  # the first key, and the last one, hidden from all
        tiny(BROADCAST, *three, [1, 1, 0]),
        some(BROADCAST, (5, 7, 3, 2), random_mask(1, 7), 13),
        some(BROADCAST, (5, 7, 3, 2), random_mask(5, 7, seed=2), 16, lead=(2,)),
        some(BROADCAST, (5, 3, 7, 2), random_mask(2, 1, 3), 19, lead=(2,)),
        some(BROADCAST, (3, 5, 7, 11), random_mask(2, 1, 1, 5), 22, lead=(2, 3)),
        tiny(LEADING, [[[1, 2]], [[3, 1]]], *heads, [[[1, 1]], [[1, 1]]]),
        tiny(DEAD, *three, [[1, 0, 1], [0, 0, 0]]),
        some(DEAD, (5, 7, 3, 2), dead, 31),
        tiny(DEAD, *three, [[0, 0, 0], [0, 0, 0]]),
        some(DEAD, (5, 5, 3, 2), square, 31),
        some(BROADCAST, (5, 3, 7, 2), np.array([[True], [False], [True], [True], [False]]), 40),
        some(DEAD, (5, 7, 3, 2), np.stack([dead, random_mask(5, 7, seed=3)]), 34, lead=(2,)),
        *(some(DEAD, (2, 3, 5, 7), single, 37, dtype=dtype) for dtype in (np.float32, np.float16)),
        *(
            tiny(HUGE, query, key, [[1], [3], [2]], mask)
            for query, key, mask in (
                ([[100], [0]], [[100], [99], [-100]], [[1, 1, 0], [1, 0, 1]]),
                ([[100], [0], [1]], [[100], [99], [0]], [[1, 1, 1], [0, 1, 1], [1, 0, 1]]),
                ([[-100], [0]], [[100], [101], [99]], [[1, 1, 0], [0, 1, 0]]),
                ([[100], [0]], [[-1], [-2], [100]], [[1, 1, 0], [1, 0, 1]]),
                ([[100], [0]], [[-100], [-99], [1]], [[1, 1, 1], [1, 0, 1]]),
                ([[100, 0], [1, 0]], [[0, 1], [0, 2], [0, 3]], [[1, 1, 1], [1, 0, 1]]),
                ([LONG_QUERY, [1] * 4], LONG_KEYS, [[1, 1, 1], [1, 0, 1]]),
                ([[-100], [1]], [[100], [100], [101]], [[0, 1, 1], [1, 1, 1]]),
                ([[100], [0]], [[100], [0], [-100]], [[1, 1, 1], [1, 0, 1]]),
                ([[-100], [0]], [[100], [101], [102]], [[1, 1, 1], [1, 0, 1]]),
            )
        ),
        tiny(HUGE, [[1000]], [[1]] * 10 + [[0]], [[n] for n in range(11)], [[True] * 11]),
        # scores of -5e9 and -5e29 beside a masked score of 0, a lower masked one, an allowed one
        *(
            tiny(HUGE, [[q], [0]], [[-q / 2], [key]], [[1, 2], [3, 2]], [[1, allowed], [1, 1]])
            for q in (1e5, 1e15)
            for key, allowed in ((0, 0), (-q, 0), (-q, 1))
        ),
        tiny(HUGE, [[100], [0]], [[0], [50]], [[1, 2], [3, 2]], [[1, 0], [1, 1]]),
        *inputs(
            AXES, make={"attn_mask": lambda shape, seed, dtype: random_mask(*shape, seed=seed)}
        ),
    ]


EXERCISE = written(
    masked_attention, place=2, axes=AXES, answer_axes="n_q d_v", cases=masked_attention_cases
)
