"""The exercise kv_cache_bytes."""

from ...families.counts import BITS, KILOBYTES, itemsize_ignored, number_cases
from ...model import SQUARE, Case, Exercise, Mistake, alike, ways


def kv_cache_bytes_answer(do, batch, n, n_layers, h_kv, d_head, itemsize):
    one = do.positions(n) * do.features(h_kv, d_head)
    count = do.batch(batch) * do.layers(n_layers) * do.arrays(one)
    return do.unit(do.extra(count, n, n_layers, h_kv, d_head) * do.itemsize(itemsize))


def _cache_cases():
    return number_cases((3, 5, 7, 2, 11, 4), (1, 1, 1, 1, 1, 1), (1, 13, 3, 5, 2, 2), (2, 4096, 32, 8, 128, 2),
                        (5, 17, 61, 31, 64, 8), (1, 7, 2, 3, 5, 1), (7, 2, 13, 1, 3, 2)) + [
        Case(SQUARE, (8, 8, 8, 8, 8, 8)), Case(SQUARE, (1, 4, 4, 4, 4, 4))]


EXERCISE = Exercise(
    name="kv_cache_bytes", signature="(batch, n, n_layers, h_kv, d_head, itemsize)", place=5,
    text="The bytes of the cached keys and values of a model: for each of batch sequences of n positions and each of n_layers "
         "layers, h_kv heads of d_head features, in numbers of itemsize bytes.",
    answer=kv_cache_bytes_answer,
    steps={
        "positions": lambda n: n,
        "features": lambda h_kv, d_head: h_kv * d_head,
        "batch": lambda batch: batch,
        "layers": lambda n_layers: n_layers,
        "arrays": lambda one: 2 * one,
        "extra": lambda count, n, n_layers, h_kv, d_head: count,
        "itemsize": lambda itemsize: itemsize,
        "unit": lambda count: count,
    },
    cases=_cache_cases, dtype="number",
    formula=("Each of batch sequences keeps, in each layer, keys and values of n positions: h_kv heads of d_head numbers each, "
             "and a number takes itemsize bytes.",
             "How many numbers does one position of one sequence leave behind in one layer?"),
    hints=(
        "What does one position of one sequence leave behind in one layer? Count the numbers, and then the bytes.",
        "A position leaves a key and a value for each of the h_kv heads, each of d_head numbers, in every layer.",
        "All sizes are multiplied: batch, n, n_layers, h_kv, d_head and itemsize. Only one factor is not among the arguments: "
        "keys and values are two arrays.",
    ),
    mistakes=(
        *alike("The next query needs the keys for its scores and the values for its output: both are kept.",
               "Which two arrays does the next query read, and how large is each of them?",
               ("only keys counted", {"arrays": lambda one: one}, "One array is counted: the answer is half of what it should be."),
               ("queries counted too", {"arrays": lambda one: 3 * one},
                "Three arrays are counted: the answer is one and a half times too large."),
               ("everything counted twice", {"arrays": lambda one: 4 * one}, "Four arrays are counted: the answer is doubled.")),
        *alike("Every layer has projections of its own, so it has keys and values of its own to keep.",
               "Can a layer use the keys of another one?",
               ("one layer only", {"layers": lambda n_layers: 1}, "The answer does not depend on the number of layers."),
               ("layers squared", {"layers": lambda n_layers: n_layers ** 2}, "The number of layers is counted twice.")),
        *alike("Sequences of a batch are different texts: each has its own keys and values.",
               "Whose keys does the second sequence of a batch read?",
               ("one sequence only", {"batch": lambda batch: 1}, "The answer does not depend on the batch."),
               ("batch squared", {"batch": lambda batch: batch ** 2}, "The batch is counted twice.")),
        *alike("Kept are keys and values, n positions of each. Scores and weights pair positions, and they are made anew for "
               "every query.",
               "Which of the arrays of attention has n rows, and which has n rows and n columns?",
               ("scores counted", ways("positions", lambda n: n * n, lambda n: n * (n + 1) / 2),
                "The number of positions is counted squared, or nearly so."),
               ("scores counted besides", {"extra": lambda count, n, n_layers, h_kv, d_head: count + n * n},
                "A table of n times n numbers is added.")),
        Mistake("one position only", change={"positions": lambda n: 1},
                does="The answer does not depend on the number of positions.",
                why="The cache grows with every position that has been read; none of them may be forgotten.",
                ask="How many keys does the query of position n read?"),
        Mistake("a position too many", change=ways("positions", lambda n: n + 1, lambda n: n - 1),
                does="One position is counted too many, or one too few.",
                why="n is the number of positions that are in the cache.",
                ask="How large is the cache of a single position, n = 1?"),
        *alike("A position keeps one key and one value for each of the h_kv heads, and d_head numbers in each of them.",
               "How many numbers are the keys of one position, over all heads?",
               ("one head only", {"features": lambda h_kv, d_head: d_head}, "The answer does not depend on the number of heads."),
               ("features of a head left out", {"features": lambda h_kv, d_head: h_kv}, "The answer does not depend on d_head."),
               ("features squared", {"features": lambda h_kv, d_head: h_kv * d_head ** 2}, "d_head is counted twice."),
               ("heads squared", {"features": lambda h_kv, d_head: h_kv ** 2 * d_head}, "h_kv is counted twice."),
               ("heads and features added", {"features": lambda h_kv, d_head: h_kv + d_head}, "h_kv and d_head are added.")),
        itemsize_ignored("A float32 takes four bytes, a bfloat16 two: half the width, half the cache."),
        BITS,
        Mistake("divided by itemsize", change={"itemsize": lambda size: 1 / size},
                does="The number of numbers is divided by the bytes of one.",
                why="A number of twice the width takes twice the bytes.",
                ask="Does a cache of float32 take more bytes than one of bfloat16, or fewer?"),
        KILOBYTES,
    ),
)
