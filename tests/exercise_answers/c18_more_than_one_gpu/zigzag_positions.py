"""Answers to the exercise zigzag_positions."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("zigzag_positions")


@answers.right()
def zigzag_by_two_ranges(rank, world, n):
    c = n // (2 * world)
    back = 2 * world - 1 - rank
    return np.concatenate(
        [np.arange(rank * c, (rank + 1) * c), np.arange(back * c, (back + 1) * c)]
    )


@answers.right()
def zigzag_from_both_ends(rank, world, n):
    c = n // world // 2
    front = np.arange(rank * c, rank * c + c)
    return np.append(front, (n - 1 - front)[::-1])


@answers.right()
def zigzag_by_a_table(rank, world, n):
    blocks = np.arange(n).reshape(2 * world, -1)
    return blocks[[rank, -1 - rank]].ravel()


@answers.right()
def zigzag_by_split(rank, world, n):
    blocks = np.array_split(np.arange(n), 2 * world)
    return np.r_[blocks[rank], blocks[2 * world - rank - 1]]


@answers.right()
def zigzag_by_a_loop(rank, world, n):
    c = n // (2 * world)
    return np.array([i for i in range(n) if i // c in (rank, 2 * world - 1 - rank)])


@answers.right()
def zigzag_by_a_mask(rank, world, n):
    block = np.arange(n) // (n // (2 * world))
    return np.flatnonzero(np.minimum(block, 2 * world - 1 - block) == rank)


@answers.wrong("contiguous part")
def zigzag_in_a_row(rank, world, n):
    return np.arange(rank * n // world, (rank + 1) * n // world)


@answers.wrong("every world-th position")
def zigzag_striped(rank, world, n):
    return np.arange(n)[rank::world]


@answers.wrong("back block counted from the middle")
def zigzag_parallel(rank, world, n):
    return np.arange(n).reshape(2 * world, -1)[[rank, world + rank]].ravel()


@answers.wrong("back block one too far")
def zigzag_off_by_one(rank, world, n):
    c = n // (2 * world)
    return np.concatenate(
        [
            np.arange(rank * c, (rank + 1) * c),
            np.arange((2 * world - rank) * c, (2 * world - rank + 1) * c),
        ]
    )


@answers.wrong("back block first")
def zigzag_back_first(rank, world, n):
    return np.arange(n).reshape(2 * world, -1)[[-1 - rank, rank]].ravel()


@answers.wrong("back block downwards")
def zigzag_mirrored(rank, world, n):
    front = np.arange(n // (2 * world)) + rank * (n // (2 * world))
    return np.concatenate([front, n - 1 - front])


@answers.wrong("world blocks instead of twice as many")
def zigzag_of_long_blocks(rank, world, n):
    blocks = np.split(np.arange(n), world)
    return np.concatenate([blocks[rank], blocks[world - 1 - rank]])


@answers.wrong("only the front block")
def zigzag_front(rank, world, n):
    c = n // (2 * world)
    return np.arange(rank * c, (rank + 1) * c)


@answers.wrong("two rows")
def zigzag_in_two_rows(rank, world, n):
    return np.arange(n).reshape(2 * world, -1)[[rank, -1 - rank]]


@answers.wrong("numbers of blocks instead of positions")
def zigzag_numbers(rank, world, n):
    return np.array([rank, 2 * world - 1 - rank])


@answers.wrong("positions as floating-point numbers")
def zigzag_of_floats(rank, world, n):
    c = n / (2 * world)
    return np.concatenate(
        [
            np.arange(rank * c, (rank + 1) * c),
            np.arange((2 * world - 1 - rank) * c, (2 * world - rank) * c),
        ]
    )


@answers.wrong("list instead of an array")
def zigzag_as_a_list(rank, world, n):
    return zigzag_by_a_loop(rank, world, n).tolist()


@answers.wrong("back block at index -rank")
def zigzag_by_a_negative_index(rank, world, n):
    blocks = np.arange(n).reshape(2 * world, -1)
    return np.concatenate([blocks[rank], blocks[-rank]])


@answers.wrong("two blocks from rank on")
def zigzag_of_neighbours(rank, world, n):
    return np.arange(n).reshape(2 * world, -1)[rank : rank + 2].ravel()


@answers.wrong("n // 2 * world instead of n // (2 * world)")
def zigzag_without_brackets(rank, world, n):
    size = n // 2 * world
    back = 2 * world - 1 - rank
    return np.concatenate(
        [np.arange(rank * size, (rank + 1) * size), np.arange(back * size, (back + 1) * size)]
    )


@answers.wrong("every world-th position")
def zigzag_striped_from_the_back(rank, world, n):
    return np.arange(world - 1 - rank, n, world)


@answers.wrong("a slice that ends at -0")
def zigzag_by_negative_slices(rank, world, n):
    p = np.arange(n)
    b = n // (2 * world)
    return np.concatenate([p[rank * b : (rank + 1) * b], p[-(rank + 1) * b : -rank * b]])


@answers.wrong("a slice that ends at -0")
def zigzag_by_a_negative_end(rank, world, n):
    b = n // (2 * world)
    rest = np.arange(n)[rank * b : -rank * b]
    return np.concatenate([rest[:b], rest[-b:]])


@answers.right()
def zigzag_by_negative_slices_with_none(rank, world, n):
    p = np.arange(n)
    b = n // (2 * world)
    return np.r_[p[rank * b : (rank + 1) * b], p[-(rank + 1) * b : -rank * b or None]]
