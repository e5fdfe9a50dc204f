"""The exercise attention_bytes."""

from ...families.counts import ARRAY_STEPS, BITS, KILOBYTES, itemsize_ignored, number_cases
from ...model import SQUARE, Case, Exercise, Mistake


def attention_bytes_answer(do, n_q, n_k, d_k, d_v, itemsize):
    sizes = do.sizes(n_q, n_k, d_k, d_v)
    count = do.query(*sizes) + do.key(*sizes) + do.value(*sizes) + do.output(*sizes) + do.extra(*sizes)
    return do.unit(count * do.itemsize(itemsize))


def _bytes_cases():
    return number_cases((2, 3, 5, 7, 4), (1, 1, 1, 1, 8), (13, 11, 5, 3, 2), (1, 4096, 128, 64, 2),
                         (31, 17, 64, 61, 4), (3, 2, 5, 7, 1)) + [
        Case(SQUARE, (4096, 4096, 128, 128, 2)), Case(SQUARE, (3, 3, 2, 2, 4))]


EXERCISE = Exercise(
    name="attention_bytes", signature="(n_q, n_k, d_k, d_v, itemsize)", place=2,
    text="The bytes that a fused attention kernel must move: queries, keys and values read once, the "
         "output written once.",
    answer=attention_bytes_answer, steps={**ARRAY_STEPS, "output": lambda n_q, n_k, d_k, d_v: n_q * d_v},
    cases=_bytes_cases, dtype="number",
    formula=("Four arrays travel, each once: as many numbers as it has entries, each of itemsize bytes.",
             "How many entries does each of the four arrays have?"),
    hints=(
        "Which arrays must a kernel read from memory at least once, and which must it write?",
        "Count the entries of the queries, keys, values and output; their shapes have n_q or n_k "
        "rows and d_k or d_v columns.",
        "The scores stay on the chip. Add n_q * d_k, n_k * d_k, n_k * d_v and n_q * d_v, and multiply "
        "by the bytes of one number.",
    ),
    mistakes=(
        Mistake("scores counted", change=tuple(
                    {"extra": lambda n_q, n_k, d_k, d_v, c=c: c * n_q * n_k} for c in (1, 2, 3, 4, 5, 6)),
                does="The scores or the weights are counted as moved to memory or back.",
                why="A fused kernel keeps them on the chip. That is what makes it fast: n_q * n_k "
                    "numbers never travel.",
                ask="Which arrays does the caller hand over, and which come back?"),
        Mistake("output left out", change={"output": lambda n_q, n_k, d_k, d_v: 0},
                does="Only what is read is counted.",
                why="Writing the output takes as much bandwidth as reading the same number of bytes.",
                ask="What does the kernel have to leave in memory?"),
        Mistake("query left out", change={"query": lambda n_q, n_k, d_k, d_v: 0},
                does="The queries are not counted.",
                why="They have to be read once as well.",
                ask="Which three arrays does the kernel read?"),
        Mistake("key left out", change={"key": lambda n_q, n_k, d_k, d_v: 0},
                does="The keys are not counted.",
                why="They have to be read once as well.",
                ask="Which three arrays does the kernel read?"),
        Mistake("value left out", change={"value": lambda n_q, n_k, d_k, d_v: 0},
                does="The values are not counted.",
                why="They have to be read once as well.",
                ask="Which three arrays does the kernel read?"),
        itemsize_ignored("A float32 takes four bytes, a bfloat16 two: half the width, half the traffic."),
        BITS,
        *(Mistake(f"{name} for {other}", change=change,
                  does=f"An array is counted with {name} {lines} that has {other}.",
                  why=why, ask=f"How many {lines} does each of the four arrays have?")
          for lines, why, mixed in (
              ("columns", "Queries and keys have d_k features, values and output d_v.", (
                  ("d_k", "d_v", ({"sizes": lambda n_q, n_k, d_k, d_v: (n_q, n_k, d_k, d_k)},
                                  {"output": lambda n_q, n_k, d_k, d_v: n_q * d_k},
                                  {"value": lambda n_q, n_k, d_k, d_v: n_k * d_k})),
                  ("d_v", "d_k", ({"sizes": lambda n_q, n_k, d_k, d_v: (n_q, n_k, d_v, d_v)},
                                  {"query": lambda n_q, n_k, d_k, d_v: n_q * d_v},
                                  {"key": lambda n_q, n_k, d_k, d_v: n_k * d_v})))),
              ("rows", "Queries and output have n_q rows, keys and values n_k.", (
                  ("n_q", "n_k", ({"sizes": lambda n_q, n_k, d_k, d_v: (n_q, n_q, d_k, d_v)},
                                  {"value": lambda n_q, n_k, d_k, d_v: n_q * d_v},
                                  {"key": lambda n_q, n_k, d_k, d_v: n_q * d_k})),
                  ("n_k", "n_q", ({"sizes": lambda n_q, n_k, d_k, d_v: (n_k, n_k, d_k, d_v)},
                                  {"output": lambda n_q, n_k, d_k, d_v: n_k * d_v},
                                  {"query": lambda n_q, n_k, d_k, d_v: n_k * d_k})))))
          for name, other, change in mixed),
        Mistake("read once for each query",
                change={"key": lambda n_q, n_k, d_k, d_v: n_q * n_k * d_k,
                        "value": lambda n_q, n_k, d_k, d_v: n_q * n_k * d_v},
                does="Keys and values are counted as read again for every query.",
                why="The least is asked for: a kernel that holds all queries on the chip reads each key once.",
                ask="How often must a key be read if all queries are there when it comes?"),
        Mistake("everything counted twice", change={"unit": lambda count: 2 * count},
                does="The answer is twice the number of bytes.",
                why="Each array is either read or written, and that once.",
                ask="Which array is both read and written?"),
        Mistake("output counted twice", change={"output": lambda n_q, n_k, d_k, d_v: 2 * n_q * d_v},
                does="The output is counted as read and written.",
                why="A fused kernel keeps its unfinished output on the chip, and writes it once.",
                ask="Where does the output stand while the keys go by?"),
        Mistake("operations instead of bytes",
                change={"query": lambda n_q, n_k, d_k, d_v: n_q * n_k * d_k,
                        "key": lambda n_q, n_k, d_k, d_v: n_q * n_k * d_v,
                        "value": lambda n_q, n_k, d_k, d_v: n_q * n_k * d_k,
                        "output": lambda n_q, n_k, d_k, d_v: n_q * n_k * d_v, "itemsize": lambda size: 1},
                does="The answer is the number of operations.",
                why="An array of n rows and d columns takes n * d numbers, however often each is used.",
                ask="How many numbers does the query array hold?"),
        KILOBYTES,
    ),
)
