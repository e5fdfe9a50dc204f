"""The exercise tile_bytes."""

from ...families.counts import ARRAY_STEPS, BITS, UNIT_NAMES, itemsize_ignored, number_cases, units
from ...model import SQUARE, Case, Exercise, Mistake, alike


def tile_bytes_answer(do, block_q, block_k, d_k, d_v, itemsize):
    sizes = do.sizes(block_q, block_k, d_k, d_v)
    count = do.query(*sizes) + do.key(*sizes) + do.value(*sizes) + do.extra(*sizes)
    return do.unit(count * do.itemsize(itemsize))


def _cases():
    return number_cases((2, 3, 5, 7, 4), (1, 1, 1, 1, 8), (16, 32, 64, 128, 2), (13, 11, 5, 3, 2), (128, 16, 64, 32, 4),
                         (31, 17, 64, 61, 1), (64, 128, 256, 16, 2)) + [
        Case(SQUARE, (64, 64, 128, 128, 2)), Case(SQUARE, (3, 3, 2, 2, 4))]


def _extra(*functions):
    return tuple({"extra": function} for function in functions)


EXERCISE = Exercise(
    name="tile_bytes", signature="(block_q, block_k, d_k, d_v, itemsize)", place=1,
    text="The bytes of one tile each of queries, keys and values, for block_q queries and block_k keys.",
    answer=tile_bytes_answer, steps=ARRAY_STEPS, cases=_cases, dtype="number",
    formula=("Three tiles, each with as many numbers as it has entries, each of itemsize bytes.",
             "How many rows and how many columns has each of the three tiles?"),
    hints=(
        "A tile is a block of rows with all their features. Write down the shape of each of the three.",
        "Queries have block_q rows of d_k numbers. Keys and values have block_k rows each, but not the same columns.",
        "Add block_q * d_k, block_k * d_k and block_k * d_v, and multiply by the bytes of one number.",
    ),
    mistakes=(
        *alike("Asked for are the tiles of queries, keys and values. Scores, weights and output are made on the chip, and "
               "are counted by themselves.",
               "Which three arrays does a program load from?",
               ("scores counted", _extra(*(lambda q, k, d_k, d_v, c=c: c * q * k for c in (1, 2))),
                "The block of scores or of weights is counted too."),
               ("output counted", _extra(lambda q, k, d_k, d_v: q * d_v), "The tile of the output is counted too."),
               ("scores and output counted", _extra(*(lambda q, k, d_k, d_v, c=c: c * q * k + q * d_v for c in (1, 2))),
                "The block of scores and the tile of the output are counted too.")),
        *alike("One tile each of queries, keys and values has to have room.",
               "Which three arrays does a program load from?",
               ("query tile left out", {"query": lambda *sizes: 0}, "The queries are not counted."),
               ("key tile left out", {"key": lambda *sizes: 0}, "The keys are not counted."),
               ("value tile left out", {"value": lambda *sizes: 0}, "The values are not counted.")),
        itemsize_ignored("A float32 takes four bytes, a float16 two: half the width, half the room."),
        BITS,
        *(Mistake(f"{name} for {other}", change=change, does=f"A tile is counted with {name} {lines} that has {other}.",
                  why=why, ask=f"How many {lines} does each of the three tiles have?")
          for lines, why, mixed in (
              ("columns", "Queries and keys have d_k features, values d_v.", (
                  ("d_k", "d_v", {"value": lambda q, k, d_k, d_v: k * d_k}),
                  ("d_v", "d_k", ({"sizes": lambda q, k, d_k, d_v: (q, k, d_v, d_v)}, {"query": lambda q, k, d_k, d_v: q * d_v},
                                  {"key": lambda q, k, d_k, d_v: k * d_v})))),
              ("rows", "The tile of queries has block_q rows, those of keys and values block_k.", (
                  ("block_q", "block_k", ({"sizes": lambda q, k, d_k, d_v: (q, q, d_k, d_v)},
                                          {"value": lambda q, k, d_k, d_v: q * d_v}, {"key": lambda q, k, d_k, d_v: q * d_k})),
                  ("block_k", "block_q", {"query": lambda q, k, d_k, d_v: k * d_k}),)))
          for name, other, change in mixed),
        Mistake("areas of the blocks", change=({"answer": lambda q, k, d_k, d_v, size: q * k * (d_k + d_v) * size},
                                               {"answer": lambda q, k, d_k, d_v, size: 2 * q * k * (d_k + d_v)}),
                does="The sizes of all axes are multiplied with each other, as for operations.",
                why="A tile of block_q queries holds block_q * d_k numbers, however many keys it meets.",
                ask="How many numbers does the tile of queries hold?"),
        Mistake("two tiles of keys and values", change={"key": lambda q, k, d_k, d_v: 2 * k * d_k,
                                                        "value": lambda q, k, d_k, d_v: 2 * k * d_v},
                does="Keys and values are counted twice, as for two stages.",
                why="One tile of each is asked for. A second one, which is on its way, comes on top.",
                ask="How many tiles of keys does the question speak of?"),
        Mistake("divided by itemsize", change=({"itemsize": lambda size: 1 / size}, {"answer": (
                    lambda q, k, d_k, d_v, size: (q * d_k + k * d_k + k * d_v) // size)}),
                does="The numbers of the tiles are divided by itemsize.",
                why="Each number takes itemsize bytes, so there are more bytes than numbers.",
                ask="How many bytes do ten numbers of 4 bytes take?"),
        Mistake(UNIT_NAMES, change=units(1e-3, 1e-6, 1e-9, 1 / 1024, 1 / 1024 ** 2) + tuple(
                    {"unit": lambda count, size=size: count // size} for size in (1000, 1024)),
                does="The answer is a thousand times too small, and more.",
                why="Bytes are asked for, not kilobytes.",
                ask="Where does your function divide by a power of 10 or of 1024?"),
    ),
)
