"""The exercise cross_attention."""

import itertools
import math

import numpy as np

from ...families.attention import ATTENTION_FITTED, ATTENTION_MISTAKES, ATTENTION_STEPS, attention_answer
from ...families.choose import first_variants, pick
from ...families.torch_attention import hooked
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike, normal, ways


def cross_attention_answer(do, x, memory, w_q, w_k, w_v):
    matrices = do.matrices(*do.oriented(w_q, w_k, w_v))
    query, key, value = (do.project(source, w) for source, w in zip(do.sources(x, memory), matrices))

    def rescale(scores, query, value):
        return do.resize(do.rescale(scores, query, value), query, x, memory)

    return do.layer_out(attention_answer(hooked(do, rescale=rescale), query, key, value), x, memory)


CROSS_STEPS = {
    **ATTENTION_STEPS,
    "sources": lambda x, memory: (x, memory, memory),
    "oriented": lambda *matrices: matrices,
    "matrices": lambda *matrices: matrices,
    "project": Step(lambda source, w: source @ w, "the projections"),
    "resize": lambda scores, query, x, memory: scores,
    "layer_out": lambda output, x, memory: output,
}


def _some(change, *places):
    """A change of these of the three matrices."""
    return lambda *given: tuple(change(w) if i in places else w for i, w in enumerate(given))


def _for_width(width):
    """The root of another width in place of d_k's."""
    return lambda scores, query, x, memory: scores * math.sqrt(query.shape[-1] / width(x, memory))


def _one_behind_the_other(*arrays):
    return np.concatenate(arrays, axis=-2)


SOME = tuple(places for size in (3, 1, 2) for places in itertools.combinations(range(3), size))

CROSS_MISTAKES = (
    *alike("Who asks is x, and who is read is memory: there is one output for each position of x, and it is made of "
           "memory alone.",
           "How many outputs must there be, and of what are they mixtures?",
           ("x and memory swapped", {"sources": lambda x, memory: (memory, x, x)},
            "The queries come from memory, and keys and values from x: one output for each position of memory."),
           ("keys and values from x", {"sources": lambda x, memory: (x, x, x)},
            "It is self-attention of x, and memory is not read at all."),
           ("queries from memory", {"sources": lambda x, memory: (memory, memory, memory)},
            "It is self-attention of memory, and x does not ask."),
           ("x among the keys", {"sources": lambda x, memory: (x, *2 * (_one_behind_the_other(x, memory),))},
            "x and memory are put one behind the other, and the queries read both.")),
    *alike("A key and its value are two maps of one position of memory: where the key matches, its own value is read.",
           "From which of the two arrays do your keys come, and from which your values?",
           ("values from x", {"sources": lambda x, memory: (x, memory, x)},
            "The keys come from memory and the values from x; that fits only where both have as many positions."),
           ("keys from x", {"sources": lambda x, memory: (x, x, memory)},
            "The keys come from x and the values from memory; that fits only where both have as many positions.")),
    *alike("Each matrix belongs to one map: w_q makes queries of x, w_k keys and w_v values of memory. It stands on "
           "the right, as it is, once.",
           "Which matrix stands in which of your three products, and on which side?",
           ("projections mixed up", ways("matrices", *(
               lambda *given, places=places: tuple(given[i] for i in places)
               for places in ((1, 0, 2), (0, 2, 1), (2, 1, 0), (0, 1, 1), (0, 2, 2), (0, 0, 2), (1, 1, 2), (1, 2, 0),
                              (2, 0, 1), (0, 1, 0)))),
            "One of the matrices is used in place of another, where the shapes fit at all."),
           ("input not projected", ways("matrices", *(_some(lambda w: np.eye(len(w)), *places) for places in SOME)),
            "Queries, keys or values are x or memory itself, without their matrix."),
           ("x @ w.T instead of x @ w", ways("oriented", *(_some(np.transpose, *places) for places in SOME)),
            "One of the matrices is transposed, or several are, as torch.nn.Linear keeps them."),
           ("projected twice", ways("matrices", *(_some(lambda w: w @ w, *places) for places in SOME)),
            "One of the matrices is applied two times, or several are; that fits square ones alone.")),
    *alike("A score is a sum of d_k products, over the features of a query and a key. How wide the inputs were before "
           "their projection does not count.",
           "Over which index does the sum in q · k run, and how long is it?",
           ("sqrt(d_x) instead of sqrt(d_k)", {"resize": _for_width(lambda x, memory: x.shape[-1])},
            "The scale depends on the width of x."),
           ("sqrt(d_memory) instead of sqrt(d_k)", {"resize": _for_width(lambda x, memory: memory.shape[-1])},
            "The scale depends on the width of memory.")),
    Mistake("input added",
            change=ways("layer_out", lambda output, x, memory: output + x, lambda output, x, memory: x - output),
            does="x is added to the output, or the output subtracted from x, where the shapes fit.",
            why="A residual connection belongs to the layer around attention, not into it.",
            ask="Which of your lines is not part of attention?"),
    *first_variants(pick(ATTENTION_MISTAKES, "no scale", "d_k instead of sqrt(d_k)", "multiplied by sqrt(d_k)",
                         "sqrt(n_k) instead of sqrt(d_k)", "sqrt(n_q) instead of sqrt(d_k)",
                         "sqrt(d_v) instead of sqrt(d_k)", "1/2 instead of a square root")),
    *pick(ATTENTION_MISTAKES,
          "causal mask applied", "reshape instead of transpose", ".T on a batched array", "axes counted from the front",
          "no transpose", "K Qᵀ instead of Q Kᵀ", "cosine instead of dot product", "no maximum subtracted",
          "one maximum for the whole array", "minimum subtracted instead of maximum", "no exponential",
          "power of 2 instead of e", "argmax instead of softmax", "sign flipped", "not divided by the sum",
          "sum over the wrong axis", "sum without keepdims", "softmax over the queries' axis",
          "softmax over everything", "softmax left out", "scale after the softmax", "Aᵀ V instead of A V",
          "weights averaged over the batch", "output transposed", "one key left out", "softmax of the weights",
          "scores returned instead of the output", "weights returned instead of the output", "rounded"),
)


AXES = dict(x="n d_x", memory="m d_memory", w_q="d_x d_k", w_k="d_memory d_k", w_v="d_memory d_v")

ONE_WIDTH = "inputs of one width"


def cross_attention_cases():
    def some(aspect, sizes, seed, batch=(), dtype=np.float64, order="C"):
        sizes = dict(zip(("n", "m", "d_x", "d_memory", "d_k", "d_v"), sizes))
        shapes = [(*(batch if name in ("x", "memory") else ()), *(sizes[label] for label in labels.split()))
                  for name, labels in AXES.items()]
        return Case(aspect, tuple(np.asarray(normal(*shape, seed=seed + i, dtype=dtype, scale=0.7), order=order)
                                  for i, shape in enumerate(shapes)))

    def tiny(aspect, *arrays):
        return Case(aspect, tuple(np.array(array, float) for array in arrays), aspect == HUGE)

    def huge(x, memory):
        return tiny(HUGE, x, memory, [[100]], [[100]], [[1]])

    swap, shear = [[0, 1], [1, 0]], [[1, 1], [0, 2]]
    return [
        tiny(PLAIN, [[1], [2]], [[1, 0], [0, 1], [1, 1]], [[2, 0, 0, 0]], [[1, 0, 0, 0], [0, 1, 0, 0]], [[4], [0]]),
        some(PLAIN, (5, 7, 3, 11, 2, 13), 10), some(PLAIN, (7, 5, 11, 3, 13, 2), 20, order="F"),
        some(PLAIN, (3, 2, 2, 5, 7, 3), 30), some(PLAIN, (23, 29, 13, 17, 11, 7), 40),
        tiny(ONE_WIDTH, [[1, 0]], [[1, 2], [0, 1]], swap, shear, [[3, 0], [1, 2]]),
        some(ONE_WIDTH, (5, 7, 3, 3, 3, 3), 50), some(ONE_WIDTH, (5, 3, 4, 4, 4, 2), 55),
        some(ONE_WIDTH, (2, 5, 6, 6, 3, 3), 58), some("one query", (1, 5, 3, 2, 4, 3), 60),
        tiny(SQUARE, [[1, 0], [0, 2]], [[1, 1], [2, 0]], swap, shear, [[1, 2], [0, 1]]),
        some(SQUARE, (3,) * 6, 65), some(SQUARE, (5,) * 6, 70), some(SQUARE, (6, 6, 2, 3, 5, 4), 75),
        some(SQUARE, (4, 4, 3, 3, 5, 2), 80),
        some(LEADING, (5, 7, 3, 11, 2, 13), 85, (2,)), some(LEADING, (3, 5, 7, 2, 3, 2), 90, (2, 3), order="F"),
        some(LEADING, (3, 5, 7, 2, 3, 2), 92, (3,)), some(LEADING, (3,) * 6, 94, (3,)),
        huge([[1], [0]], [[1], [0.99], [0]]), huge([[-1], [0]], [[1], [1.01], [1.02]]),
        huge([[1], [0.01]], [[1], [0.99], [0]]),
        *(some(aspect, (5, 3, 2, 7, 4, 3), 96, dtype=dtype) for aspect, dtype in (
            (FLOAT32, np.float32), (FLOAT16, np.float16))),
        *(some(aspect, (2, 2, 2, 2, 2, 2), 98, dtype=dtype) for aspect, dtype in (
            (FLOAT32, np.float32), (FLOAT16, np.float16))),
    ]


EXERCISE = Exercise(
    name="cross_attention", signature="(x, memory, w_q, w_k, w_v)", place=3, axes=AXES, answer_axes="n d_v",
    text="Cross-attention: queries x @ w_q from x, (..., n, d_x), keys memory @ w_k and values memory @ w_v from "
         "memory, (..., m, d_memory). The output has shape (..., n, d_v).",
    answer=cross_attention_answer, steps=CROSS_STEPS, cases=cross_attention_cases, fitted=ATTENTION_FITTED,
    hints=(
        "Four arrays first: which of queries, keys and values are made of x, and which of memory?",
        "The one who asks is x: query = x @ w_q. What is read is memory, through two matrices.",
        "Now it is attention as before. Its scale is that of the projected queries: the last axis of query, and "
        "neither that of x nor that of memory.",
        "With your earlier function: attention(x @ w_q, memory @ w_k, memory @ w_v).",
    ),
    mistakes=CROSS_MISTAKES,
)
