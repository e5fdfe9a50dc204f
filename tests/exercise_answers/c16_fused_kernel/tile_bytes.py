"""Answers to tile_bytes, written as learners write them."""

import math

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("tile_bytes")


answers.right(
    lambda block_q, block_k, d_k, d_v, itemsize: itemsize * (block_q * d_k + block_k * (d_k + d_v))
)


@answers.right()
def bytes_by_tile(block_q, block_k, d_k, d_v, itemsize):
    query, key, value = block_q * d_k, block_k * d_k, block_k * d_v
    return (query + key + value) * itemsize


@answers.right()
def bytes_by_shapes(block_q, block_k, d_k, d_v, itemsize):
    shapes = [(block_q, d_k), (block_k, d_k), (block_k, d_v)]
    return float(sum(itemsize * math.prod(shape) for shape in shapes))


@answers.right()
def bytes_by_rows(block_q, block_k, d_k, d_v, itemsize):
    total = 0
    for _ in range(block_q):
        total += d_k * itemsize
    for _ in range(block_k):
        total += (d_k + d_v) * itemsize
    return total


@answers.wrong("scores counted")
def bytes_with_scores(block_q, block_k, d_k, d_v, itemsize):
    return itemsize * (block_q * d_k + block_k * d_k + block_k * d_v + block_q * block_k)


@answers.wrong("output counted")
def bytes_with_output(block_q, block_k, d_k, d_v, itemsize):
    return itemsize * (block_q + block_k) * (d_k + d_v)


@answers.wrong("scores and output counted")
def bytes_of_all(block_q, block_k, d_k, d_v, itemsize):
    return itemsize * (
        block_q * d_k + block_k * d_k + block_k * d_v + block_q * d_v + block_q * block_k
    )


@answers.wrong("itemsize ignored")
def bytes_as_counts(block_q, block_k, d_k, d_v, itemsize):
    return block_q * d_k + block_k * d_k + block_k * d_v


@answers.wrong("itemsize ignored")
def bytes_of_float16(block_q, block_k, d_k, d_v, itemsize):
    return 2 * (block_q * d_k + block_k * d_k + block_k * d_v)


@answers.wrong("bits instead of bytes")
def bytes_in_bits(block_q, block_k, d_k, d_v, itemsize):
    return 8 * itemsize * (block_q * d_k + block_k * (d_k + d_v))


@answers.wrong("d_k for d_v")
def bytes_of_one_width(block_q, block_k, d_k, d_v, itemsize):
    return itemsize * d_k * (block_q + 2 * block_k)


@answers.wrong("block_q for block_k")
def bytes_of_one_length(block_q, block_k, d_k, d_v, itemsize):
    return itemsize * block_q * (2 * d_k + d_v)


@answers.wrong("value tile left out")
def bytes_for_the_scores(block_q, block_k, d_k, d_v, itemsize):
    return itemsize * d_k * (block_q + block_k)


@answers.wrong("two tiles of keys and values")
def bytes_of_two_stages(block_q, block_k, d_k, d_v, itemsize):
    return itemsize * (block_q * d_k + 2 * block_k * (d_k + d_v))


@answers.wrong("areas of the blocks")
def bytes_like_operations(block_q, block_k, d_k, d_v, itemsize):
    return 2 * block_q * block_k * (d_k + d_v)


@answers.wrong("another unit")
def bytes_in_kib(block_q, block_k, d_k, d_v, itemsize):
    return itemsize * (block_q * d_k + block_k * d_k + block_k * d_v) / 1024


@answers.wrong("another unit")
def bytes_in_whole_kib(block_q, block_k, d_k, d_v, itemsize):
    return (block_q * d_k + block_k * d_k + block_k * d_v) * itemsize // 1024


@answers.wrong("divided by itemsize")
def bytes_by_division(block_q, block_k, d_k, d_v, itemsize):
    return (block_q * d_k + block_k * d_k + block_k * d_v) // itemsize


@answers.wrong("parts not added")
def bytes_of_each_tile(block_q, block_k, d_k, d_v, itemsize):
    return block_q * d_k * itemsize, block_k * d_k * itemsize, block_k * d_v * itemsize


@answers.wrong("parts not added")
def bytes_of_each_tile_in_a_list(block_q, block_k, d_k, d_v, itemsize):
    return [
        rows * columns * itemsize
        for rows, columns in ((block_q, d_k), (block_k, d_k), (block_k, d_v))
    ]


@answers.wrong("parts not added", "itemsize ignored")
def numbers_of_each_tile(block_q, block_k, d_k, d_v, itemsize):
    return block_q * d_k, block_k * d_k, block_k * d_v
