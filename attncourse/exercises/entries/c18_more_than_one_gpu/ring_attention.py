import math

import numpy as np

from ...families.inputs import LONG_KEYS, LONG_QUERY
from ...families.numpy_calls import Seen
from ...families.partials import KEPT, columns, never_below, one_by_one, weighted  # noqa: F401, for the page
from ...families.scores import only_the_past, swap  # noqa: F401, for the page
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, normal
from ...pages import written

AXES = dict(query_parts="n_q d_k", key_parts="n_k d_k", value_parts="n_k d_v")
UNEVEN = "parts of unequal length"


def ring_attention(query_parts, key_parts, value_parts):
    world, found = len(query_parts), []
    for rank, query in enumerate(query_parts):
        parts = []
        sources = a_round(rank, world)
        for step, source in enumerate(sources):  # noqa: B007, step is for the page
            value_source = source
            key, value = key_parts[source], value_parts[value_source]
            q = query
            products = q @ swap(key)
            scores = products / math.sqrt(q.shape[-1])  #: the scores
            highest = scores.max(axis=-1, keepdims=True)  #: the maximum (one per row)
            powers = np.exp(scores - highest)
            total = powers.sum(axis=-1, keepdims=True)  #: the sum of the exponentials (one per row)
            out = powers @ value / total
            below = total
            lse = highest + np.log(below)  #: the parts' log-sum-exps (one per row)
            parts.append((out, lse, highest, below, value.shape[-2]))
        outs, lses, tops, sums, lengths = columns(parts)
        shares = np.exp(lses - lses.max(axis=0))  #: the shares before the division
        merged = weighted(outs, shares)
        found.append(merged)
    return tuple(found)


def a_round(rank, world):
    return [(rank - step) % world for step in range(world)]


def weights_over(lses, axes):
    return np.exp(lses - lses.max(axis=axes, keepdims=True))


LENGTHS = (101, 211, 307)  # of the parts' keys; no sum of two is a size of anything else


def makes_all_keys(run):
    Seen.shapes.clear()
    sides = ((5, 7, 11), 3), (LENGTHS, 3), (LENGTHS, 2)
    run(*([normal(n, d, seed=n + d).view(Seen) for n in sizes] for sizes, d in sides))
    joined = {sum(LENGTHS)} | {sum(LENGTHS) - n for n in LENGTHS}
    found = any(joined & set(shape) for shape in Seen.shapes)
    return "an array over the keys of two parts" if found else None


def stops_in_half(run):
    def stops(dtype):
        return run(*([normal(n, 2, seed=n, dtype=dtype) for n in (2, 3)] for _ in range(3))).failure

    return "fails in 16 bits" if stops(np.float16) and not stops(np.float32) else None


def ring_attention_cases():
    def case(aspect, n_q, n_k, d_k, d_v, seed, lead=(), dtype=np.float64):
        def parts(lengths, d, seed, scale=1.0):
            sizes = enumerate(lengths, seed)
            return [normal(*lead, n, d, seed=at, dtype=dtype, scale=scale) for at, n in sizes]

        sides = parts(n_q, d_k, seed, 1.5), parts(n_k, d_k, seed + 20), parts(n_k, d_v, seed + 40)
        return Case(aspect, sides)

    def numbers(aspect, *sides):
        """One number, or one vector, in each part of the queries, the keys and the values."""
        parts = tuple([np.array(number, float, ndmin=2) for number in side] for side in sides)
        return Case(aspect, parts, aspect == HUGE)

    return [
        numbers(PLAIN, (1, 2), (0, 1), (4, 8)),
        case(PLAIN, (2, 2), (3, 3), 3, 2, 100),
        case(PLAIN, (3,) * 3, (5,) * 3, 2, 1, 200),
        case(PLAIN, (3,) * 4, (4,) * 4, 5, 2, 300),
        case(PLAIN, (5,) * 5, (3,) * 5, 4, 7, 400),
        case(SQUARE, (3,) * 3, (3,) * 3, 3, 3, 500),
        case("one rank", (4,), (5,), 3, 2, 600),
        case(UNEVEN, (1, 2), (2, 1), 1, 1, 650),
        case(UNEVEN, (2, 3, 1), (3, 2, 4), 2, 3, 700),
        case(UNEVEN, (5, 2, 3, 7), (1, 7, 5, 2), 3, 2, 750),
        case(LEADING, (3,) * 3, (5,) * 3, 2, 7, 800, (2,)),
        case(LEADING, (2,) * 2, (3,) * 2, 5, 4, 850, (2, 3)),
        numbers(HUGE, (100, -100), (100, 99.98), (1, 2)),
        numbers(HUGE, (100, 1), (100, -100), (1, 2)),
        numbers(HUGE, (1, 0), (709, 709.3), (1, 1.5)),  # only the sum of both overflows
        numbers(HUGE, (LONG_QUERY, LONG_QUERY), LONG_KEYS[:2], (1, 2)),
        numbers(HUGE, (100, 1), (-110, -110.01), (1, 2)),  # exp(score + 10000) is 0 here
        case(FLOAT32, (2, 2, 2), (3, 3, 3), 2, 1, 900, dtype=np.float32),
        case(FLOAT32, (1, 1), (2, 2), 2, 1, 920, dtype=np.float32),
        case(FLOAT16, (2, 2, 2), (3, 3, 3), 2, 1, 950, dtype=np.float16),
        case(FLOAT16, (1, 1), (2, 2), 2, 1, 970, dtype=np.float16),
        *(numbers(HUGE, (1, 1), (low, 1.5 * low), (1, 2)) for low in (-2e9, -2e38)),
    ]


EXERCISE = written(
    ring_attention,
    place=2,
    in_list=True,
    axes=AXES,
    answer_axes="n_q d_v",
    cases=ring_attention_cases,
    audits=(makes_all_keys, stops_in_half),
)
