"""Answers to the exercise causal_blocks."""

import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("causal_blocks")


@answers.right()
def blocks_by_loop(n, block_q, block_k):
    count = 0
    for first in range(0, n, block_q):
        stop = min(first + block_q, n)
        count += -(-stop // block_k)
    return count


@answers.right()
def blocks_by_both_loops(n, block_q, block_k):
    count = 0
    for first_query in range(0, n, block_q):
        last_query = min(first_query + block_q, n) - 1
        for first_key in range(0, n, block_k):
            if first_key <= last_query:
                count += 1
    return count


@answers.right()
def blocks_from_the_mask(n, block_q, block_k):
    mask = np.tri(n, dtype=bool)
    return sum(
        mask[i : i + block_q, j : j + block_k].any()
        for i in range(0, n, block_q)
        for j in range(0, n, block_k)
    )


@answers.right()
def blocks_by_arrays(n, block_q, block_k):
    stops = np.minimum(np.arange(0, n, block_q) + block_q, n)
    return np.ceil(stops / block_k).sum()


@answers.right()
def blocks_by_pairs(n, block_q, block_k):
    return len({(i // block_q, j // block_k) for i in range(n) for j in range(i + 1)})


@answers.wrong("all pairs of blocks")
def blocks_without_a_mask(n, block_q, block_k):
    return math.ceil(n / block_q) * math.ceil(n / block_k)


@answers.wrong("half of all pairs")
def blocks_halved(n, block_q, block_k):
    return math.ceil(n / block_q) * math.ceil(n / block_k) // 2


@answers.wrong("as many key blocks as query blocks")
def blocks_of_one_size(n, block_q, block_k):
    side = math.ceil(n / block_q)
    return side * (side + 1) // 2


@answers.wrong("first query instead of the last")
def blocks_by_the_first_query(n, block_q, block_k):
    return sum(math.ceil((first + 1) / block_k) for first in range(0, n, block_q))


@answers.wrong("only blocks without a hidden pair")
def blocks_wholly_allowed(n, block_q, block_k):
    mask = np.tri(n, dtype=bool)
    return sum(
        mask[i : i + block_q, j : j + block_k].all() and j + block_k <= n
        for i in range(0, n, block_q)
        for j in range(0, n, block_k)
    )


@answers.wrong("only blocks that the last query sees whole")
def blocks_rounded_down(n, block_q, block_k):
    return sum(min(first + block_q, n) // block_k for first in range(0, n, block_q))


@answers.wrong("blocks not rounded up")
def blocks_as_fractions(n, block_q, block_k):
    return sum(min(first + block_q, n) / block_k for first in range(0, n, block_q))


@answers.wrong("diagonal excluded")
def blocks_without_the_diagonal(n, block_q, block_k):
    mask = np.tri(n, k=-1, dtype=bool)
    return sum(
        mask[i : i + block_q, j : j + block_k].any()
        for i in range(0, n, block_q)
        for j in range(0, n, block_k)
    )


@answers.wrong("last query block too long")
def blocks_beyond_the_end(n, block_q, block_k):
    return sum(-(-(first + block_q) // block_k) for first in range(0, n, block_q))


@answers.wrong("shorter last query block dropped")
def blocks_of_full_queries(n, block_q, block_k):
    return sum(-(-(i + 1) * block_q // block_k) for i in range(n // block_q))


@answers.wrong("block_q and block_k swapped")
def blocks_swapped(n, block_q, block_k):
    return sum(-(-min(first + block_k, n) // block_q) for first in range(0, n, block_k))


@answers.wrong("divided by a number of blocks")
def blocks_as_a_share(n, block_q, block_k):
    return blocks_by_loop(n, block_q, block_k) / (math.ceil(n / block_q) * math.ceil(n / block_k))


@answers.wrong("skipped pairs counted")
def blocks_skipped(n, block_q, block_k):
    return math.ceil(n / block_q) * math.ceil(n / block_k) - blocks_by_loop(n, block_q, block_k)


@answers.wrong("a block of keys too many")
def blocks_one_too_many(n, block_q, block_k):
    return sum(min(first + block_q, n) // block_k + 1 for first in range(0, n, block_q))


@answers.wrong("blocks compared by their numbers")
def blocks_by_their_numbers(n, block_q, block_k):
    return sum(j <= i for i in range(math.ceil(n / block_q)) for j in range(math.ceil(n / block_k)))


@answers.wrong("only blocks that the last query sees whole")
def blocks_that_end_in_time(n, block_q, block_k):
    return sum(
        (j + 1) * block_k <= (i + 1) * block_q
        for i in range(math.ceil(n / block_q))
        for j in range(math.ceil(n / block_k))
    )


@answers.wrong("half of the table and its diagonal")
def blocks_of_half_the_table(n, block_q, block_k):
    rows, columns = math.ceil(n / block_q), math.ceil(n / block_k)
    return (rows * columns + min(rows, columns)) // 2


@answers.wrong("blocks not rounded up")
def blocks_to_the_nearest(n, block_q, block_k):
    return sum(round(min(first + block_q, n) / block_k) for first in range(0, n, block_q))


@answers.wrong("only one block of queries")
def blocks_returned_too_early(n, block_q, block_k):
    for first in range(0, n, block_q):
        return -(-min(first + block_q, n) // block_k)


@answers.wrong("half of the table and its diagonal")
def blocks_of_rows_with_a_diagonal(n, block_q, block_k):
    return math.ceil(n / block_q) * (math.ceil(n / block_k) + 1) // 2


@answers.wrong("the formula for sizes that divide n")
def blocks_by_the_share(n, block_q, block_k):
    pairs = math.ceil(n / block_q) * math.ceil(n / block_k)
    return round(pairs * (0.5 + max(block_q, block_k) / (2 * n)))


@answers.wrong("last query block too long")
def blocks_cut_at_n(n, block_q, block_k):
    return sum(min(first + block_q - 1, n) // block_k + 1 for first in range(0, n, block_q))


def blocks_where(condition):
    """Pairs by a condition on their first and last positions, which end at n."""

    def answer(n, block_q, block_k):
        return sum(
            condition(i, min(i + block_q, n) - 1, j, min(j + block_k, n) - 1)
            for i in range(0, n, block_q)
            for j in range(0, n, block_k)
        )

    return answer


answers.wrong(
    "only blocks without a hidden pair",
    function=blocks_where(
        lambda first_query, last_query, first_key, last_key: last_key <= first_query
    ),
)
answers.wrong(
    "only blocks that end before the queries",
    function=blocks_where(
        lambda first_query, last_query, first_key, last_key: last_key < first_query
    ),
)
answers.wrong(
    "only blocks that begin before the queries",
    function=blocks_where(
        lambda first_query, last_query, first_key, last_key: first_key < first_query
    ),
)
answers.wrong(
    "only blocks that the last query sees whole",
    function=blocks_where(
        lambda first_query, last_query, first_key, last_key: last_key <= last_query
    ),
)
answers.wrong(
    "only blocks that need a mask",
    function=blocks_where(
        lambda first_query, last_query, first_key, last_key: (
            first_key <= last_query and last_key > first_query
        )
    ),
)
answers.wrong(
    "block_q and block_k swapped",
    function=blocks_where(
        lambda first_query, last_query, first_key, last_key: last_key >= first_query
    ),
)


@answers.wrong("the formula for sizes that divide n")
def blocks_by_the_other_share(n, block_q, block_k):
    wide = block_q + block_k - math.gcd(block_q, block_k)
    return round(n * n / (block_q * block_k) * (1 / 2 + wide / (2 * n)))


@answers.wrong("blocks in the past left out")
def pairs_that_overlap(n, block_q, block_k):
    return sum(
        key + block_k - 1 >= first and key <= min(first + block_q, n) - 1
        for first in range(0, n, block_q)
        for key in range(0, n, block_k)
    )


@answers.wrong("the future instead of the past")
def pairs_that_begin_later(n, block_q, block_k):
    return sum(key >= first for first in range(0, n, block_q) for key in range(0, n, block_k))


@answers.wrong("the future instead of the past")
def pairs_that_end_later(n, block_q, block_k):
    return sum(
        min(key + block_k, n) >= first
        for first in range(0, n, block_q)
        for key in range(0, n, block_k)
    )


@answers.wrong("n // block + 1 blocks")
def one_block_more_where_they_fit(n, block_q, block_k):
    count = 0
    for i in range(n // block_q + 1):
        for j in range(n // block_k + 1):
            count += j * block_k <= i * block_q + block_q - 1
    return count
