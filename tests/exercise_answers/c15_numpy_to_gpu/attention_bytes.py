"""Answers to attention_bytes, written as learners write them."""

import math

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("attention_bytes")


answers.right(lambda n_q, n_k, d_k, d_v, itemsize: itemsize * (n_q + n_k) * (d_k + d_v))


@answers.right()
def bytes_by_array(n_q, n_k, d_k, d_v, itemsize):
    query, key, value, output = n_q * d_k, n_k * d_k, n_k * d_v, n_q * d_v
    return (query + key + value + output) * itemsize


@answers.right()
def bytes_by_shapes(n_q, n_k, d_k, d_v, itemsize):
    shapes = [(n_q, d_k), (n_k, d_k), (n_k, d_v), (n_q, d_v)]
    return float(sum(itemsize * math.prod(shape) for shape in shapes))


@answers.wrong("scores counted")
def bytes_unfused(n_q, n_k, d_k, d_v, itemsize):
    return itemsize * (n_q * d_k + n_k * d_k + n_k * d_v + n_q * d_v + 4 * n_q * n_k)


@answers.wrong("scores counted")
def bytes_with_scores(n_q, n_k, d_k, d_v, itemsize):
    read = n_q * d_k + n_k * d_k + n_k * d_v
    return (read + n_q * n_k + n_q * d_v) * itemsize


@answers.wrong("output left out")
def bytes_read_only(n_q, n_k, d_k, d_v, itemsize):
    return (n_q * d_k + n_k * (d_k + d_v)) * itemsize


@answers.wrong("itemsize ignored")
def bytes_as_counts(n_q, n_k, d_k, d_v, itemsize):
    return n_q * d_k + n_k * d_k + n_k * d_v + n_q * d_v


@answers.wrong("itemsize ignored")
def bytes_always_float32(n_q, n_k, d_k, d_v, itemsize):
    return 4 * (n_q + n_k) * (d_k + d_v)


@answers.wrong("bits instead of bytes")
def bytes_in_bits(n_q, n_k, d_k, d_v, itemsize):
    return 8 * itemsize * (n_q + n_k) * (d_k + d_v)


@answers.wrong("d_k for d_v")
def bytes_one_size(n_q, n_k, d_k, d_v, itemsize):
    return itemsize * (2 * n_q * d_k + 2 * n_k * d_k)


@answers.wrong("d_k for d_v")
def bytes_output_of_query_size(n_q, n_k, d_k, d_v, itemsize):
    return itemsize * (2 * n_q * d_k + n_k * d_k + n_k * d_v)


@answers.wrong("n_q for n_k")
def bytes_self_attention(n_q, n_k, d_k, d_v, itemsize):
    return itemsize * (2 * n_q * d_k + 2 * n_q * d_v)


@answers.wrong("read once for each query")
def bytes_unblocked(n_q, n_k, d_k, d_v, itemsize):
    total = 0
    for _ in range(n_q):
        total += d_k + n_k * d_k + n_k * d_v + d_v
    return total * itemsize


@answers.wrong("value left out", "output left out")
def bytes_scores_only(n_q, n_k, d_k, d_v, itemsize):
    return itemsize * (n_q * d_k + n_k * d_k)


@answers.wrong("itemsize ignored", "output left out")
def bytes_counts_read(n_q, n_k, d_k, d_v, itemsize):
    return n_q * d_k + n_k * d_k + n_k * d_v


@answers.wrong("itemsize missing in n_q·d_v·itemsize")
def bytes_of_what_is_read(n_q, n_k, d_k, d_v, itemsize):
    return itemsize * (n_q * d_k + n_k * d_k + n_k * d_v) + n_q * d_v


@answers.wrong("divided by itemsize instead of multiplied")
def bytes_divided(n_q, n_k, d_k, d_v, itemsize):
    return (n_q + n_k) * (d_k + d_v) / itemsize


@answers.wrong("d_k and d_v left out")
def bytes_of_rows(n_q, n_k, d_k, d_v, itemsize):
    return sum(rows * itemsize for rows in (n_q, n_k, n_k, n_q))


@answers.wrong("itemsize fixed at 3")
def bytes_fixed(n_q, n_k, d_k, d_v, itemsize):
    return 3 * (n_q + n_k) * d_k + 3 * (n_q + n_k) * d_v
