"""Answers to kv_cache_bytes, written as learners write them."""

import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("kv_cache_bytes")


answers.right(
    lambda batch, n, n_layers, h_kv, d_head, itemsize: (
        2 * batch * n * n_layers * h_kv * d_head * itemsize
    )
)


@answers.right()
def cache_by_shapes(batch, n, n_layers, h_kv, d_head, itemsize):
    key = value = (batch, n_layers, h_kv, n, d_head)
    return itemsize * (math.prod(key) + math.prod(value))


@answers.right()
def cache_layer_by_layer(batch, n, n_layers, h_kv, d_head, itemsize):
    total = 0
    for _ in range(n_layers):
        total += batch * n * h_kv * (d_head + d_head)
    return total * itemsize


@answers.right()
def cache_as_array(*sizes):
    return 2 * np.prod([float(size) for size in sizes])


@answers.wrong("only one array counted")
def cache_of_keys(batch, n, n_layers, h_kv, d_head, itemsize):
    return batch * n * n_layers * h_kv * d_head * itemsize


@answers.wrong("three arrays counted")
def cache_of_three(batch, n, n_layers, h_kv, d_head, itemsize):
    query = key = value = batch * n * n_layers * h_kv * d_head
    return (query + key + value) * itemsize


@answers.wrong("one layer only")
def cache_of_a_layer(batch, n, n_layers, h_kv, d_head, itemsize):
    return 2 * batch * n * h_kv * d_head * itemsize


@answers.wrong("one sequence only")
def cache_of_a_sequence(batch, n, n_layers, h_kv, d_head, itemsize):
    return 2 * n * n_layers * h_kv * d_head * itemsize


@answers.wrong("scores counted")
def cache_of_pairs(batch, n, n_layers, h_kv, d_head, itemsize):
    return 2 * batch * n**2 * n_layers * h_kv * d_head * itemsize


@answers.wrong("one head only")
def cache_of_a_head(batch, n, n_layers, h_kv, d_head, itemsize):
    return 2 * batch * n * n_layers * d_head * itemsize


@answers.wrong("itemsize ignored")
def cache_in_bfloat16(batch, n, n_layers, h_kv, d_head, itemsize):
    return 2 * 2 * batch * n * n_layers * h_kv * d_head


@answers.wrong("bits instead of bytes")
def cache_in_bits(batch, n, n_layers, h_kv, d_head, itemsize):
    return 2 * batch * n * n_layers * h_kv * d_head * itemsize * 8


@answers.wrong("bits instead of bytes")
def cache_of_bits(batch, n, n_layers, h_kv, d_head, itemsize):
    return 2 * batch * n * n_layers * h_kv * d_head * itemsize // 8


@answers.wrong("divided by itemsize")
def cache_divided(batch, n, n_layers, h_kv, d_head, itemsize):
    return 2 * batch * n * n_layers * h_kv * d_head / itemsize


@answers.wrong("another unit")
def cache_in_gib(batch, n, n_layers, h_kv, d_head, itemsize):
    return 2 * batch * n * n_layers * h_kv * d_head * itemsize / 1024**3


@answers.wrong("heads and features added")
def cache_of_a_sum(batch, n, n_layers, h_kv, d_head, itemsize):
    return 2 * batch * n * n_layers * (h_kv + d_head) * itemsize


@answers.wrong("only one array counted", "one layer only")
def cache_of_keys_in_a_layer(batch, n, n_layers, h_kv, d_head, itemsize):
    return batch * n * h_kv * d_head * itemsize


@answers.wrong("parts not added")
def cache_bytes_of_keys_and_values(batch, n, n_layers, h_kv, d_head, itemsize):
    keys = values = batch * n * n_layers * h_kv * d_head * itemsize
    return keys, values


@answers.wrong("a position too few")
def cache_without_the_newest(batch, n, n_layers, h_kv, d_head, itemsize):
    return 2 * batch * (n - 1) * n_layers * h_kv * d_head * itemsize


@answers.wrong("32 bits overflow")
def cache_in_32_bits(batch, n, n_layers, h_kv, d_head, itemsize):
    sizes = [2, batch, n, n_layers, h_kv, d_head, itemsize]
    return int(np.prod(sizes, dtype=np.int32))


@answers.wrong()
def cache_with_a_power(batch, n, n_layers, h_kv, d_head, itemsize):
    return 2 * batch * n**n_layers * h_kv * d_head * itemsize  # beyond 64 bits
