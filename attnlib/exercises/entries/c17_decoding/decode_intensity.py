"""The exercise decode_intensity."""

import dataclasses

from ...families.counts import BITS, UNIT_NAMES, itemsize_ignored, number_cases, units
from ...model import SQUARE, Case, Exercise, Mistake, alike, ways

COUNTED = "Counted as moved are the keys and the values of the h_kv heads, and nothing else."
WHICH_BYTES = "Which arrays lie in the cache, and how many numbers has each of them?"


def decode_intensity_answer(do, n_k, d_k, d_v, h, h_kv, itemsize):
    one = do.multiply_add(1) * do.queries(n_k)
    flops = one * do.readers(h, h_kv) * (do.scores(n_k, d_k) + do.mixture(n_k, d_v))
    numbers = do.heads(h, h_kv) * (do.key(n_k, d_k) + do.value(n_k, d_v)) + do.extra(n_k, d_k, d_v, h)
    return do.unit(do.quotient(flops, numbers * do.itemsize(itemsize)))


def _cases():
    return number_cases((5, 3, 7, 6, 2, 4), (1, 1, 1, 1, 1, 1), (13, 5, 2, 12, 3, 2), (4096, 128, 64, 32, 8, 2),
                        (61, 17, 31, 10, 5, 8), (7, 2, 13, 3, 1, 1), (11, 7, 3, 5, 5, 8)) + [
        Case("as many key heads as query heads", (3, 2, 5, 4, 4, 2)), Case(SQUARE, (8, 8, 8, 8, 8, 8)),
        Case(SQUARE, (4, 4, 4, 4, 4, 4))]


EXERCISE = Exercise(
    name="decode_intensity", signature="(n_k, d_k, d_v, h, h_kv, itemsize)", place=2,
    text="The operations for each byte when one query position, in all h heads, meets a cache of n_k keys and values in h_kv heads: "
         "two products, a multiply-add counted as 2, over the bytes of the keys and values.",
    answer=decode_intensity_answer,
    steps={
        "multiply_add": lambda count: 2 * count,
        "queries": lambda n_k: 1,
        "readers": lambda h, h_kv: h,
        "scores": lambda n_k, d_k: n_k * d_k,
        "mixture": lambda n_k, d_v: n_k * d_v,
        "heads": lambda h, h_kv: h_kv,
        "key": lambda n_k, d_k: n_k * d_k,
        "value": lambda n_k, d_v: n_k * d_v,
        "extra": lambda n_k, d_k, d_v, h: 0,
        "itemsize": lambda itemsize: itemsize,
        "quotient": lambda flops, moved: flops / moved,
        "unit": lambda count: count,
    },
    cases=_cases, dtype="number",
    formula=("Over the line: h heads, each with two products of n_k times d_k and n_k times d_v multiply-adds, each of 2 operations. "
             "Under it: the keys and the values of h_kv heads, itemsize bytes a number.",
             "Which sizes stand both over the line and under it?"),
    hints=(
        "Write the operations of all h heads over the bytes of the keys and values of h_kv heads. Then look for what cancels.",
        "For one head the products q · K and a · V take n_k * d_k and n_k * d_v multiply-adds, and its keys and values are "
        "n_k * d_k and n_k * d_v numbers.",
        "Over the line 2 * h * n_k * (d_k + d_v), under it h_kv * n_k * (d_k + d_v) * itemsize. Divide with /.",
    ),
    mistakes=(
        *alike("A multiplication and the addition that follows it count as 2.",
               "How many operations is one step of a dot product?",
               ("multiply-add counted as 1", {"multiply_add": lambda count: count}, "The answer is half of what it should be: a multiply-add counts as 1, or each byte twice."),
               ("multiply-add counted as 4", {"multiply_add": lambda count: 4 * count}, "The answer is twice what it should be: a multiply-add counts as 4, or each byte as a half.")),
        *alike("Attention has two products: the query with the keys, and the weights with the values.",
               "Which two products does a query take part in?",
               ("A V left out", {"mixture": lambda n_k, d_v: 0}, "Only the scores are counted over the line."),
               ("scores left out", {"scores": lambda n_k, d_k: 0}, "Only the product with the values is counted over the line.")),
        Mistake("d_k and d_v mixed up",
                change=({"mixture": lambda n_k, d_v: 0, "scores": lambda n_k, d_k: 2 * n_k * d_k},
                        {"mixture": lambda n_k, d_v: 2 * n_k * d_v, "scores": lambda n_k, d_k: 0}),
                does="The operations are right only where d_k and d_v are equal.",
                why="Keys have d_k features and values d_v: one product takes n_k * d_k multiply-adds, the other n_k * d_v.",
                ask="How many features has a key, and how many has a value?"),
        *alike(COUNTED, WHICH_BYTES,
               ("only keys moved", {"value": lambda n_k, d_v: 0}, "The bytes of the values are missing."),
               ("only values moved", {"key": lambda n_k, d_k: 0}, "The bytes of the keys are missing."),
               ("queries and output moved too", ways("extra", lambda n_k, d_k, d_v, h: h * (d_k + d_v),
                                                     lambda n_k, d_k, d_v, h: h * d_k, lambda n_k, d_k, d_v, h: h * d_v,
                                                     lambda n_k, d_k, d_v, h: d_k + d_v, lambda n_k, d_k, d_v, h: 2 * h * d_k),
                "The query, the output, or both count as moved."),
               ("scores moved too", ways("extra", *(lambda n_k, d_k, d_v, h, c=c: c * h * n_k for c in (1, 2, 4))),
                "The scores count as moved. They stay on the chip.")),
        *alike("All h heads compute, and h_kv heads' keys and values are read, once for the whole group.",
               "How many heads compute, and how many heads' keys and values lie in the cache?",
               ("groups ignored", ({"heads": lambda h, h_kv: h}, {"readers": lambda h, h_kv: h_kv}),
                "The answer depends on neither h nor h_kv, as if each query head had keys of its own."),
               ("h and h_kv exchanged", {"heads": lambda h, h_kv: h, "readers": lambda h, h_kv: h_kv},
                "The answer falls when more query heads share a key head."),
               ("one query head only", {"readers": lambda h, h_kv: 1}, "The operations of a single query head are counted."),
               ("one key head only", {"heads": lambda h, h_kv: 1}, "The bytes of a single key head are counted.")),
        Mistake("as many queries as keys", change={"queries": lambda n_k: n_k},
                does="The answer grows with the length of the cache.",
                why="One query position is asked for: each key is used once in each head.",
                ask="How many queries meet the cache in one step of decoding?"),
        Mistake("bytes over operations", change={"quotient": lambda flops, moved: moved / flops},
                does="The answer is the quotient upside down.",
                why="The intensity says how many operations there are for each byte.",
                ask="What stands over the line in operations for each byte?"),
        Mistake("operations alone", change={"quotient": lambda flops, moved: flops},
                does="The operations are not divided by the bytes.", why="An intensity is operations for each byte.",
                ask="How many bytes do these operations share?"),
        Mistake("bytes alone", change={"quotient": lambda flops, moved: moved},
                does="The bytes of the cache are returned.", why="An intensity is operations for each byte.",
                ask="How many operations does each of these bytes get?"),
        Mistake("quotient rounded down", change=ways("quotient", lambda flops, moved: flops // moved, lambda flops, moved: 2 * (flops // 2 // moved)),
                does="What stands behind the point is lost.",
                why="// drops the remainder: 1 operation for 2 bytes becomes 0.",
                ask="What is 1 // 2?"),
        itemsize_ignored("A number of half the width is half the traffic for the same operations."),
        dataclasses.replace(BITS, why="itemsize is in bytes already."),
        Mistake("multiplied by itemsize", change={"itemsize": lambda size: 1 / size},
                does="The answer grows with the width of a number.", why="Wider numbers mean more bytes for the same operations.",
                ask="Does a cache of float32 take more bytes than one of float16, or fewer?"),
        Mistake(UNIT_NAMES, change=units(1e-3, 1e3, 1e-6, 1e-9, 1 / 1024),
                does="The answer is a thousand, a million or more times too large or too small.",
                why="Operations for each byte are asked for, no kilobytes and no billions.",
                ask="Where does your function use a power of 10 or of 1024?"),
    ),
)
