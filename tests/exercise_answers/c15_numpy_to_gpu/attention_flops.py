"""Answers to attention_flops, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("attention_flops")


answers.right(lambda n_q, n_k, d_k, d_v: 2 * n_q * n_k * (d_k + d_v))
answers.right(lambda n_q, n_k, d_k, d_v: float(2 * n_q * n_k * d_k) + 2.0 * n_q * n_k * d_v)


@answers.right()
def flops_by_loop(n_q, n_k, d_k, d_v):
    def product(rows, inner, columns):
        return rows * columns * inner * 2

    return sum([product(n_q, d_k, n_k), product(n_q, n_k, d_v)])


@answers.right()
def flops_in_numpy(n_q, n_k, d_k, d_v):
    return np.int64(2) * np.prod([n_q, n_k, d_k + d_v], dtype=np.int64)


@answers.wrong("multiply-add counted as 1")
def flops_macs(n_q, n_k, d_k, d_v):
    return n_q * n_k * d_k + n_q * n_k * d_v


@answers.wrong("multiply-add counted as 1")
def flops_macs_shared(n_q, n_k, d_k, d_v):
    return (d_k + d_v) * n_q * n_k


@answers.wrong("multiply-add counted as 4")
def flops_four(n_q, n_k, d_k, d_v):
    return 4 * n_q * n_k * d_k + 4 * n_q * n_k * d_v


@answers.wrong("A V left out")
def flops_scores_only(n_q, n_k, d_k, d_v):
    return 2 * n_q * n_k * d_k


@answers.wrong("Q Kᵀ left out")
def flops_values_only(n_q, n_k, d_k, d_v):
    return n_q * d_v * 2 * n_k


@answers.wrong("d_k for d_v")
def flops_textbook(n_q, n_k, d_k, d_v):
    return 4 * n_q * n_k * d_k


@answers.wrong("d_v for d_k")
def flops_textbook_values(n_q, n_k, d_k, d_v):
    return 4 * n_q * n_k * d_v


@answers.wrong("n_q for n_k")
def flops_square(n_q, n_k, d_k, d_v):
    return 2 * n_q**2 * (d_k + d_v)


@answers.wrong("n_k for n_q")
def flops_square_keys(n_q, n_k, d_k, d_v):
    return 2 * n_k * n_k * d_k + 2 * n_k * n_k * d_v


@answers.wrong("more than the products counted")
def flops_with_softmax(n_q, n_k, d_k, d_v):
    return 2 * n_q * n_k * d_k + 5 * n_q * n_k + 2 * n_q * n_k * d_v


@answers.wrong("more than the products counted")
def flops_with_scale(n_q, n_k, d_k, d_v):
    return 2 * n_q * n_k * (d_k + d_v) + n_q * n_k


@answers.wrong("one addition of each sum not counted")
def flops_exact(n_q, n_k, d_k, d_v):
    return n_q * n_k * (2 * d_k - 1) + n_q * d_v * (2 * n_k - 1)


@answers.wrong("Kᵀ V first")
def flops_linear(n_q, n_k, d_k, d_v):
    return 2 * d_k * n_k * d_v + 2 * n_q * d_k * d_v


@answers.wrong("another unit")
def flops_giga(n_q, n_k, d_k, d_v):
    return 2 * n_q * n_k * (d_k + d_v) / 1e9


@answers.wrong("more than the products counted", "multiply-add counted as 1")
def flops_macs_and_softmax(n_q, n_k, d_k, d_v):
    return n_q * n_k * d_k + n_q * n_k * d_v + 3 * n_q * n_k


@answers.wrong("multiply-add counted as 1", "n_q for n_k")
def flops_macs_square(n_q, n_k, d_k, d_v):
    return n_q * n_q * (d_k + d_v)


@answers.wrong("n_q left out")
def flops_of_one_query(n_q, n_k, d_k, d_v):
    return 2 * n_k * (d_k + d_v)


@answers.wrong("2·n_q·d_k² + 2·n_k·d_k² + 2·n_k·d_v² counted besides")
def flops_with_projections(n_q, n_k, d_k, d_v):
    return 2 * n_q * n_k * (d_k + d_v) + 2 * n_q * d_k**2 + 2 * n_k * (d_k * d_k + d_v * d_v)


@answers.wrong("another formula: max(2·n_q·n_k·d_v, 2·n_q·n_k·d_k)")
def flops_of_the_larger_product(n_q, n_k, d_k, d_v):
    return np.max([2 * n_q * n_k * d_k, 2 * n_q * n_k * d_v])


@answers.wrong("a factor of 1.5")
def flops_that_cannot_be_followed(n_q, n_k, d_k, d_v):
    return int(3 * n_q * n_k * (d_k + d_v))


@answers.wrong("2·n_k²·d_v for 2·n_q·n_k·d_v", "7·n_q counted besides")
def flops_in_two_ways_wrong(n_q, n_k, d_k, d_v):
    return 2 * n_q * n_k * d_k + 2 * n_k * n_k * d_v + 7 * n_q


@answers.wrong("a number of features left out")
def flops_without_d_v(n_q, n_k, d_k, d_v):
    return 2 * n_q * n_k * d_k + 2 * n_q * n_k
