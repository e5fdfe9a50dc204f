"""The exercise causal_blocks."""

import math

from ...families.counts import number_cases
from ...model import SQUARE, Case, Exercise, Step, alike, ways


def causal_blocks_answer(do, n, block_q, block_k):
    n, block_q, block_k = do.sizes(n, block_q, block_k)
    rows = do.query_blocks(n, block_q)
    counts = [do.one_row(do.seen(first, last), n, block_k) for first, last in rows]
    return do.total(sum(counts), len(rows), n, block_k)


def _query_blocks(n, block_q):
    """(first, last) query of each block."""
    return [(first, min(first + block_q, n) - 1) for first in range(0, n, block_q)]


def _up(count, size):
    return -(-count // size)


def _whole_blocks(seen, n, block_k):
    """The key blocks of which all keys are seen; the last one may be shorter."""
    return _up(seen, block_k) if seen == n else seen // block_k


def _masked_in_part(whole):
    return lambda n, block_q, block_k: sum(
        _up(last + 1, block_k) - whole(first + 1, n, block_k) for first, last in _query_blocks(n, block_q))


def _square(side):
    """The formula for as many key blocks as query blocks."""
    return side * (side + 1) // 2


def _total(*functions):
    return ways("total", *functions)


def _answer(*functions):
    return ways("answer", *functions)


WHICH_BLOCKS = ("With n = 5, block_q = 2 and block_k = 3, which keys does the last query of each block see, and in how many "
                "blocks do they lie?")

CAUSAL_BLOCKS_MISTAKES = (
    *alike("A pair of blocks counts if one of its queries may see one of its keys. The last query of a block sees the "
           "most keys: those up to itself.",
           WHICH_BLOCKS,
           ("first query instead of the last", {"seen": lambda first, last: first + 1},
            "A pair counts only if the first query of its block sees a key there."),
           ("only blocks without a hidden pair", tuple(
               {"seen": lambda first, last: first + 1, "one_row": whole_blocks} for whole_blocks in (
                   lambda seen, n, block_k: seen // block_k, _whole_blocks)),
            "A pair of blocks counts only if all queries in it see all of its keys; those on the diagonal are left out."),
           ("only blocks that the last query sees whole", (
               *ways("one_row", lambda seen, n, block_k: seen // block_k, _whole_blocks),
               *_answer(lambda n, block_q, block_k: sum(
                   min((i + 1) * block_q // block_k, _up(n, block_k)) for i in range(_up(n, block_q))))),
            "A block of keys counts only if the last query sees all of it: the number of blocks is rounded down."),
           ("blocks not rounded up", ways("one_row", lambda seen, n, block_k: seen / block_k,
                                          lambda seen, n, block_k: round(seen / block_k)),
            "The number of key blocks is left a fraction, or rounded to the nearest whole number. A block that is needed in "
            "part is read."),
           ("only one block of queries", ways("query_blocks", lambda *sizes: _query_blocks(*sizes)[:1],
                                              lambda *sizes: _query_blocks(*sizes)[-1:]),
            "What the first or the last block of queries needs is the answer, and not the sum over all of them."),
           ("diagonal excluded", {"seen": lambda first, last: last},
            "A query is taken not to see its own key."),
           ("one block too many for each block of queries", ways(
               "one_row", lambda seen, n, block_k: seen // block_k + 1,
               lambda seen, n, block_k: min(seen // block_k + 1, _up(n, block_k)),
               lambda seen, n, block_k: _up(seen, block_k) + 1),
            "A block of keys is counted beyond those that hold an allowed pair: for each block of queries, or where "
            "the keys that it sees end with a block.")),
    *alike("Half of the pairs of positions are hidden, but blocks on the diagonal are hidden in part only, and count.",
           "For 2 blocks a side, how many of the 4 pairs have nothing allowed in them?",
           ("all pairs of blocks", {"seen": lambda first, last: 10**9, "one_row": lambda seen, n, block_k: _up(n, block_k)},
            "Every block of queries is taken to need every block of keys, as without a mask."),
           ("half of all pairs", _total(
               *(lambda count, rows, n, block_k, half=half: half(rows * _up(n, block_k))
                 for half in (lambda pairs: pairs // 2, lambda pairs: pairs / 2, lambda pairs: _up(pairs, 2)))),
            "The answer is half of all pairs of blocks."),
           ("skipped pairs counted", _total(lambda count, rows, n, block_k: rows * _up(n, block_k) - count),
            "The answer is how many pairs need not be read."),
           ("only blocks that need a mask", _answer(
               _masked_in_part(_whole_blocks), _masked_in_part(lambda seen, n, block_k: seen // block_k)),
            "Only the blocks that are hidden in part are counted; those that are allowed whole are computed as well."),
           ("share instead of a number", _total(
               lambda count, rows, n, block_k: count / (rows * _up(n, block_k)), lambda count, rows, n, block_k: count / rows),
            "The answer is divided by a number of blocks or of pairs.")),
    *alike("The blocks may have two sizes: a row of the table belongs to block_q queries, a column to block_k keys.",
           "How many blocks of queries are there, and how many of keys?",
           ("as many key blocks as query blocks", _answer(
               lambda n, block_q, block_k: _square(_up(n, block_q)), lambda n, block_q, block_k: _square(_up(n, block_k)),
               lambda n, block_q, block_k: _square(n // block_q), lambda n, block_q, block_k: _square(n // block_k),
               *(lambda n, block_q, block_k, side=side, half=half: half(
                   _up(n, block_q) * _up(n, block_k) + side(_up(n, block_q), _up(n, block_k)))
                 for side in (min, max, lambda rows, columns: rows, lambda rows, columns: columns)
                 for half in (lambda pairs: pairs // 2, lambda pairs: pairs / 2))),
            "The answer is half of the table with its diagonal, such as N (N + 1) / 2, which is so for N blocks of one size "
            "on both sides."),
           ("the formula for sizes that divide each other", _answer(
               *(lambda n, block_q, block_k, pairs=pairs, whole=whole, larger=larger: whole(
                   pairs(n, block_q, block_k) * (1 / 2 + larger(block_q, block_k) / (2 * n)))
                 for larger in (max, lambda q, k: q + k - math.gcd(q, k))
                 for pairs in (lambda n, block_q, block_k: _up(n, block_q) * _up(n, block_k),
                               lambda n, block_q, block_k: n * n / (block_q * block_k))
                 for whole in (float, int, round, math.ceil))),
            "The share 1/2 + max(block_q, block_k) / 2n is taken of all pairs of blocks, or the one for sizes that do not "
            "divide each other. Neither is exact unless both sizes divide n."),
           ("blocks compared by their numbers", _answer(
               *(lambda n, block_q, block_k, cut=cut, more=more: sum(
                   min(i + more, cut(n, block_k)) for i in range(cut(n, block_q)))
                 for cut in (_up, lambda n, size: n // size) for more in (1, 0))),
            "The number of the key block is compared with the number of the query block, whatever their sizes are."),
           ("block_q and block_k swapped", {"sizes": lambda n, block_q, block_k: (n, block_k, block_q)},
            "Queries are cut into blocks of block_k, and keys into blocks of block_q; or the keys before a query are hidden, "
            "not those after it, which makes the same number."),
           ("pairs of positions counted", _answer(
               lambda n, block_q, block_k: _square(n), lambda n, block_q, block_k: _square(n) / (block_q * block_k),
               lambda n, block_q, block_k: _up(_square(n), block_q * block_k),
               lambda n, block_q, block_k: _square(n) // (block_q * block_k)),
            "The answer is the number of allowed pairs of a query and a key, or that over the size of a block.")),
    *alike("The last block may be shorter: it ends at n, and it counts.",
           "How many blocks of 2 are there for n = 5, and what is the position of the last query?",
           ("shorter last query block dropped", {"query_blocks": lambda n, block_q: [
               (first, last) for first, last in _query_blocks(n, block_q) if last - first + 1 == block_q]},
            "The queries after the last full block do not count."),
           ("shorter last key block dropped", {"one_row": lambda seen, n, block_k: min(_up(seen, block_k), n // block_k)},
            "The keys after the last full block do not count."),
           ("last query block taken for a full one", ways(
               "query_blocks",
               lambda n, block_q: [(first, first + block_q - 1) for first in range(0, n, block_q)],
               lambda n, block_q: [(first, min(first + block_q - 1, n)) for first in range(0, n, block_q)]),
            "The last block of queries is taken to go on beyond n, and to see keys that do not exist.")),
)


def causal_blocks_cases():
    return [*number_cases((5, 2, 3), (7, 2, 3), (7, 3, 2), (13, 5, 2), (13, 4, 7), (12, 2, 3), (12, 6, 2), (29, 3, 11), (29, 8, 3),
                          (101, 16, 7), (1024, 128, 64), (1000, 64, 128), (31, 7, 30)),
            *(Case(SQUARE, args) for args in ((4, 2, 2), (7, 3, 3), (64, 8, 8), (5, 1, 1))),
            *(Case("blocks of one position", args) for args in ((5, 1, 2), (5, 3, 1))),
            *(Case("a block larger than n", args) for args in ((3, 5, 2), (3, 2, 5), (3, 7, 5), (1, 4, 2)))]


EXERCISE = Exercise(
    name="causal_blocks", signature="(n, block_q, block_k)", place=2,
    text="Causal attention over n queries and n keys, cut into blocks of block_q queries and block_k keys (the last may be "
         "shorter): how many pairs of a query block and a key block hold an allowed pair.",
    answer=causal_blocks_answer,
    steps={
        "sizes": lambda n, block_q, block_k: (n, block_q, block_k),
        "query_blocks": _query_blocks,
        "seen": Step(lambda first, last: last + 1, "the number of keys that a block sees", True),
        "one_row": lambda seen, n, block_k: _up(seen, block_k),
        "total": lambda count, rows, n, block_k: count,
    },
    cases=causal_blocks_cases, dtype="number",
    hints=(
        "Draw n = 5 with blocks of 2 queries and 3 keys: a table of three rows and two columns. Tick the cells that hold a "
        "pair j <= i.",
        "Go through the blocks of queries. The last query of a block sees the most: which is it, also in a shorter last "
        "block?",
        "The block that starts at query first ends before stop = min(first + block_q, n). It sees stop keys, which lie in "
        "stop / block_k blocks, rounded up: -(-stop // block_k). Add these up.",
    ),
    mistakes=CAUSAL_BLOCKS_MISTAKES,
)
