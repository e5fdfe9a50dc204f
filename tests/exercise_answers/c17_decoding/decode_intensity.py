"""Answers to decode_intensity, written as learners write them."""

from fractions import Fraction

import numpy as np

from attncourse import bench
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("decode_intensity")

answers.right(lambda n_k, d_k, d_v, h, h_kv, itemsize: 2 * h / (h_kv * itemsize))
answers.right(lambda n_k, d_k, d_v, h, h_kv, itemsize: 2 * (h // h_kv) / itemsize)


@answers.right()
def intensity_written_out(n_k, d_k, d_v, h, h_kv, itemsize):
    flops = 2 * h * n_k * d_k + 2 * h * n_k * d_v
    moved = itemsize * h_kv * (n_k * d_k + n_k * d_v)
    return flops / moved


@answers.right()
def intensity_by_bench(n_k, d_k, d_v, h, h_kv, itemsize):
    flops = h * bench.attention_flops(1, n_k, d_k, d_v)
    return flops / (h_kv * bench.attention_bytes(0, n_k, d_k, d_v, itemsize))


@answers.right()
def intensity_as_a_loop(n_k, d_k, d_v, h, h_kv, itemsize):
    flops = sum(2 * d_k + 2 * d_v for _ in range(h) for _ in range(min(n_k, 3)))
    return float(Fraction(flops, h_kv * min(n_k, 3) * (d_k + d_v) * itemsize))


@answers.right()
def intensity_of_arrays(n_k, d_k, d_v, h, h_kv, itemsize):
    sizes = np.array([n_k * d_k, n_k * d_v], dtype=float)
    return 2 * (h * sizes).sum() / (h_kv * sizes * itemsize).sum()


@answers.wrong("multiply-add counted as 1")
def intensity_of_products(n_k, d_k, d_v, h, h_kv, itemsize):
    return h * n_k * (d_k + d_v) / (h_kv * n_k * (d_k + d_v) * itemsize)


@answers.wrong("groups ignored")
def intensity_of_own_keys(n_k, d_k, d_v, h, h_kv, itemsize):
    return 2 * h * n_k * (d_k + d_v) / (h * n_k * (d_k + d_v) * itemsize)


@answers.wrong("A V left out")
def intensity_of_scores(n_k, d_k, d_v, h, h_kv, itemsize):
    return 2 * h * n_k * d_k / (h_kv * n_k * (d_k + d_v) * itemsize)


@answers.wrong("only keys moved")
def intensity_over_keys(n_k, d_k, d_v, h, h_kv, itemsize):
    return 2 * h * n_k * (d_k + d_v) / (h_kv * n_k * d_k * itemsize)


@answers.wrong("queries and output moved too")
def intensity_over_all(n_k, d_k, d_v, h, h_kv, itemsize):
    moved = h_kv * n_k * (d_k + d_v) + h * d_k + h * d_v
    return 2 * h * n_k * (d_k + d_v) / (moved * itemsize)


@answers.wrong("scores moved too")
def intensity_with_scores(n_k, d_k, d_v, h, h_kv, itemsize):
    return 2 * h * n_k * (d_k + d_v) / ((h_kv * n_k * (d_k + d_v) + h * n_k) * itemsize)


@answers.wrong("bytes over operations")
def intensity_upside_down(n_k, d_k, d_v, h, h_kv, itemsize):
    return h_kv * itemsize / (2 * h)


@answers.wrong("quotient rounded down")
def intensity_rounded(n_k, d_k, d_v, h, h_kv, itemsize):
    return 2 * h * n_k * (d_k + d_v) // (h_kv * n_k * (d_k + d_v) * itemsize)


@answers.wrong("itemsize ignored")
def intensity_in_halves(n_k, d_k, d_v, h, h_kv, itemsize):
    return 2 * h / (h_kv * 2)


@answers.wrong("h and h_kv exchanged")
def intensity_exchanged(n_k, d_k, d_v, h, h_kv, itemsize):
    return 2 * h_kv / (h * itemsize)


@answers.wrong("as many queries as keys")
def intensity_of_a_prompt(n_k, d_k, d_v, h, h_kv, itemsize):
    return 2 * h * n_k * n_k * (d_k + d_v) / (h_kv * n_k * (d_k + d_v) * itemsize)


@answers.wrong("one query head only")
def intensity_of_one_head(n_k, d_k, d_v, h, h_kv, itemsize):
    return 2 / (h_kv * itemsize)


@answers.wrong("bits instead of bytes")
def intensity_per_bit(n_k, d_k, d_v, h, h_kv, itemsize):
    return 2 * h / (h_kv * itemsize * 8)


@answers.wrong("multiplied by itemsize")
def intensity_multiplied(n_k, d_k, d_v, h, h_kv, itemsize):
    return 2 * h / h_kv * itemsize


@answers.wrong("d_k and d_v mixed up")  # half of the operations and only the keys make the same
def intensity_half_and_keys(n_k, d_k, d_v, h, h_kv, itemsize):
    return h * (d_k + d_v) / (h_kv * d_k * itemsize)


@answers.wrong("d_k and d_v mixed up")
def intensity_of_equal_products(n_k, d_k, d_v, h, h_kv, itemsize):
    return 4 * h * n_k * d_k / (h_kv * n_k * (d_k + d_v) * itemsize)


@answers.wrong("d_k and d_v mixed up")
def values_as_wide_as_keys(n_k, d_k, d_v, h, h_kv, itemsize):
    return 2 * h * n_k * (d_k + d_v) / (2 * h_kv * n_k * d_k * itemsize)


@answers.wrong("brackets missing in the denominator")
def intensity_without_brackets(n_k, d_k, d_v, h, h_kv, itemsize):
    return 2 * h * n_k * (d_k + d_v) / h_kv * n_k * (d_k + d_v) * itemsize
