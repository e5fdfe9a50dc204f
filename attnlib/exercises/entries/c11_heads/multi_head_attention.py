"""The exercise multi_head_attention."""

import itertools
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from ...families.attention import ATTENTION_FITTED, ATTENTION_MISTAKES, ATTENTION_STEPS, attention_answer
from ...families.choose import first_variants, pick
from ...families.heads import HEADS_FIXED, HEAD_MISTAKES, HEAD_STEPS, INTERLEAVED_MERGE, as_it_is
from ...families.scores import softmax_of, swap
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike, normal, ways


def multi_head_attention_answer(do, x, w_q, w_k, w_v, w_o, n_heads):
    x = do.axes(x, 2)
    w_q, w_k, w_v, w_o = do.matrices(*do.oriented(w_q, w_k, w_v, w_o))
    query, key, value = (do.move(do.split(do.project(x, w, n_heads), n_heads)) for w in (w_q, w_k, w_v))
    heads = do.finish_heads(attention_answer(do, do.queries(query), do.keys_in(key), value))
    return do.layer_out(do.project_out(do.join(do.bring(heads)), w_o), x)


def _block_projection(x, w, n_heads):
    """Each head's features projected by that head's block of w alone."""
    head = np.arange(w.shape[-1]) // (w.shape[-1] // n_heads)
    return x @ np.where(head[:, None] == head, w, 0.0)


def _reshaped_projection(x, w, n_heads):
    """The features of heads whose matrices are w reshaped to (n_heads, d_model, d_head), side by side."""
    return np.concatenate([x @ block for block in w.reshape(n_heads, len(w), -1)], axis=-1)


MULTI_HEAD_STEPS = {
    **ATTENTION_STEPS, **HEAD_STEPS,
    "oriented": lambda *matrices: matrices,
    "matrices": lambda *matrices: matrices,
    "project": Step(lambda x, w, n_heads: x @ w, "the projections"),
    "queries": Step(lambda query: query, "the queries"),
    "keys_in": Step(lambda key: key, "the keys"),
    "project_out": lambda x, w: x @ w,
    "layer_out": lambda output, x: output,
}


def _some(change, *places):
    """A change of these of the four matrices."""
    return lambda *given: tuple(change(w) if i in places else w for i, w in enumerate(given))


def _chosen(*places):
    """These of the four matrices for queries, keys, values and output."""
    return lambda *given: tuple(given[place] for place in places)


SOME_PLACES = tuple(places for size in (4, 3, 1, 2) for places in itertools.combinations(range(4), size))

OTHER_PLACES = (
    *(tuple(j if place == i else place for place in range(4)) for i in range(4) for j in range(4) if i != j),
    (0, 2, 1, 3), (2, 1, 0, 3), (0, 1, 3, 2), (3, 1, 2, 0), (0, 3, 2, 1), (1, 2, 0, 3), (2, 0, 1, 3), (3, 2, 1, 0),
    (1, 2, 3, 0), (3, 0, 1, 2), (0, 0, 0, 3), (1, 1, 1, 3), (2, 2, 2, 3), (0, 0, 0, 0))


def _spread(array, reduce):
    """One head's array, or a mean or a sum, in place of all heads'."""
    return np.broadcast_to(reduce(array, axis=-3, keepdims=True), array.shape)


def _first(array, axis, keepdims):
    return np.take(array, [0], axis)


def _last(array, axis, keepdims):
    return np.take(array, [-1], axis)


def _one_head_scaled_as_many(x, w_q, w_k, w_v, w_o, n_heads):
    scores = x @ w_q @ swap(x @ w_k) / math.sqrt(x.shape[-1] / n_heads)
    return softmax_of(scores) @ x @ w_v @ w_o


def _multi_head(*args):
    return multi_head_attention_answer(SimpleNamespace(**MULTI_HEAD_STEPS), *args)


def _head_alone(place):
    def finish(heads):
        alone = np.zeros_like(heads)
        alone[..., place, :, :] = heads[..., place, :, :]
        return alone

    return finish


MULTI_HEAD_MISTAKES = (
    *pick(HEAD_MISTAKES, "d_model instead of the head's size", "sqrt(n_heads) instead of sqrt(d_k)",
          "heads split by a reshape alone", "heads merged by a reshape alone", "heads in reverse order",
          "only for one leading axis", "softmax over the heads"),
    *(replace(mistake,
              change=(mistake.change, {**mistake.change, **INTERLEAVED_MERGE.change}, INTERLEAVED_MERGE.change))
      for mistake in pick(HEAD_MISTAKES, "features dealt out in turn")),
    *alike("Queries, keys and values are three projections of x: x @ w_q, x @ w_k and x @ w_v. w_o comes last, when "
           "the heads are merged. Each matrix stands on the right, as it is, once.",
           "Which matrix stands in which of your four products, and on which side?",
           ("input not projected", ways("matrices", *(_some(lambda w: np.eye(len(w)), *places) for places in (
               (0, 1, 2), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2, 3)))),
            "Queries, keys or values are x itself, without their matrix."),
           ("x @ w.T instead of x @ w", ways("oriented", *(_some(np.transpose, *places) for places in SOME_PLACES)),
            "One of the matrices is transposed, or several are, as torch.nn.Linear keeps them."),
           ("projections mixed up", ways("matrices", *(_chosen(*places) for places in OTHER_PLACES)),
            "One of the matrices is used in place of another, or they have changed places."),
           ("output projection before attention", {
               "matrices": lambda w_q, w_k, w_v, w_o: (w_q, w_k, w_v @ w_o, np.eye(len(w_o)))},
            "w_o is applied to the values before the heads have attended."),
           ("no output projection", {"project_out": lambda x, w: x},
            "The heads' outputs come back as they are, without w_o."),
           ("output projection of the input added", {"answer": lambda *args: _multi_head(*args) + args[0] @ args[4]},
            "x @ w_o is added to the output."),
           ("input split before the projection", {"project": _block_projection},
            "Each head is projected by one block of the matrices, and sees only its own features of x.")),
    Mistake("matrices split by a reshape alone", change={"project": _reshaped_projection},
            does="A matrix of (d_model, d_model) numbers is reshaped into n_heads matrices (d_model, d_head).",
            why="Head i owns a block of columns of w. A reshape keeps the order of memory, row by row, and so gives it rows of w, "
                "cut up.",
            ask="Which columns of w make the features of head 0, and which numbers of w stand in your first block?"),
    *alike("Queries, keys and values are three projections of x itself, and each matrix stands in one product.",
           "How often does each matrix stand in your products?",
           ("input projected once more", ways("answer", *(
               lambda *args, at=at: _multi_head(args[0] @ args[at], *args[1:]) for at in (1, 2, 3, 4))),
            "x is multiplied with one of the matrices before all three projections."),
           ("projected twice", ways("matrices", *(_some(lambda w: w @ w, *places) for places in SOME_PLACES)),
            "One of the matrices is applied two times, or several are."), alone=True),
    *alike("A residual connection belongs to the layer around attention, not into it.",
           "Which of your lines is not part of attention?",
           ("input added", {"layer_out": lambda output, x: output + x}, "x is added to the output."),
           ("output subtracted from the input", {"layer_out": lambda output, x: x - output},
            "The answer is x minus the output.")),
    *alike("Each head is an attention over all positions, from its own features of x @ w: the heads stand in front of "
           "the positions, and a row of the scores belongs to a query.",
           "How many tables of weights does your function make, of which shape, and what is one row of them?",
           ("attention between heads instead of positions", {"move": as_it_is, "bring": as_it_is},
            "At each position the heads attend to each other, and no position sees another one."),
           ("n_heads ignored", ({"split": lambda x, n_heads: x[..., None, :]}, {"answer": _one_head_scaled_as_many}),
            "It is attention with one head of size d_model."),
           ("queries and keys swapped", {"roles": lambda query, key: (key, query)},
            "Queries and keys have changed places: w_q and w_k are swapped, or the scores are K Qᵀ.")),
    *alike("Each head attends in its own way, with queries, keys and values of its own.",
           "From which queries and keys do the weights of head 1 come, and which values does it mix?",
           ("the first head's weights for all", ways("weights_in", *(
               lambda w, reduce=reduce: _spread(w, reduce) for reduce in (_first, _last))),
            "All heads use the weights of the first head, or of the last."),
           ("weights averaged over the heads", {"weights_in": lambda w: _spread(w, np.mean)},
            "All heads use the same weights: their mean."),
           ("one head's keys for all", ways("keys", *(
               lambda key, value, reduce=reduce, only=only: (
                   key if only == "value" else _spread(key, reduce), value if only == "key" else _spread(value, reduce))
               for reduce in (_first, _last) for only in ("", "key", "value"))),
            "All heads read the keys, or the values, of one head.")),
    *alike("Each head keeps features of its own. They are put behind one another, and w_o mixes them: a loop over the "
           "heads has to collect them.",
           "In what do the blocks of your merged array differ, and what is left of head 0 when a loop is over?",
           ("heads added instead of joined", {"finish_heads": lambda heads: _spread(heads, np.sum)},
            "The heads' outputs are added up before they are merged: all blocks of features are the same."),
           ("heads averaged", {"finish_heads": lambda heads: _spread(heads, np.mean)},
            "The heads' outputs are averaged before they are merged: all blocks of features are the same."),
           ("only one head", ways("finish_heads", _head_alone(-1), _head_alone(0)),
            "The output holds what one head found, and the others are lost.")),
    *alike("n_heads says how many heads there are, and each has d_model // n_heads features.",
           "Where does n_heads stand in your function?",
           ("number of heads fixed in the code", HEADS_FIXED[:5],
            "The number of heads is the same whatever n_heads is; where it does not divide d_model it stops."),
           alone=True),
    *first_variants(pick(ATTENTION_MISTAKES, "no scale", "d_k instead of sqrt(d_k)", "multiplied by sqrt(d_k)",
                         "sqrt(n_k) instead of sqrt(d_k)", "1/2 instead of a square root")),
    *pick(ATTENTION_MISTAKES,
          "causal mask applied", "reshape instead of transpose", "cosine instead of dot product",
          "no maximum subtracted", "one maximum for the whole array", "minimum subtracted instead of maximum",
          "no exponential", "power of 2 instead of e", "argmax instead of softmax", "sign flipped",
          "not divided by the sum", "sum over the wrong axis", "sum without keepdims",
          "softmax over the queries' axis", "softmax over everything", "softmax left out", "scale after the softmax",
          "Aᵀ V instead of A V", "weights averaged over the batch", "one key left out", "softmax of the weights",
          "rounded"),
)


def multi_head_cases():
    def some(aspect, n_heads, n, d_model, seed, batch=(), dtype=np.float64, order="C"):
        x = normal(*batch, n, d_model, seed=seed, dtype=dtype)
        matrices = (normal(d_model, d_model, seed=seed + i, dtype=dtype, scale=0.5) for i in range(1, 5))
        return Case(aspect, (*(np.asarray(array, order=order) for array in (x, *matrices)), n_heads))

    def huge(x, scale):
        eye = np.eye(len(x[0]))
        return Case(HUGE, (np.array(x, float), scale * eye, scale * eye, scale * eye, eye, 2), True)

    tiny = [np.array(w, float) for w in ([[1, 0], [1, 1]], [[0, 1], [2, 0]], [[1, 2], [0, 1]], [[1, 1], [0, 2]])]
    return [
        Case(PLAIN, (np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), *tiny, 2)),
        some(PLAIN, 2, 5, 6, 1), some(PLAIN, 3, 7, 6, 6, order="F"), some(PLAIN, 2, 3, 10, 11),
        some(PLAIN, 6, 2, 24, 56),
        Case("one head", (np.array([[1.0, 0.0], [0.0, 2.0]]), *tiny, 1)), some("one head", 1, 3, 5, 16),
        some(SQUARE, 3, 3, 9, 21), some(SQUARE, 2, 4, 4, 26), some(SQUARE, 6, 6, 6, 31),
        some(LEADING, 2, 3, 6, 36, (2,)), some(LEADING, 3, 5, 6, 41, (2, 3)),
        some(LEADING, 2, 5, 6, 61, (3, 2), order="F"),
        huge([[1.0, -1.0], [0.99, 0.5], [0.0, 0.25]], 100.0), huge([[1.0, 0.0], [-1.0, 0.01]], 50.0),
        huge([[1.0, 1.0], [1.0001, 0.9999]], 100.0),  # all scores are huge, and near each other
        some(FLOAT32, 2, 3, 10, 46, dtype=np.float32), some(FLOAT16, 3, 2, 6, 51, dtype=np.float16),
    ]


EXERCISE = Exercise(
    name="multi_head_attention", signature="(x, w_q, w_k, w_v, w_o, n_heads)", place=3,
    axes=dict(x="n d_model", **dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), "d_model d_model")), answer_axes="n d_model",
    text="Self-attention with several heads: x of shape (..., n, d_model) is projected by x @ w_q, x @ w_k "
         "and x @ w_v, split into heads, attended, merged, and projected by w_o.",
    answer=multi_head_attention_answer, steps=MULTI_HEAD_STEPS, cases=multi_head_cases, fitted=ATTENTION_FITTED,
    hints=(
        "Five steps: project, split into heads, attend, merge the heads, project once more.",
        "x @ w_q, x @ w_k and x @ w_v are the queries, keys and values of all heads side by side.",
        "split_heads puts the heads in front of the positions; then attention treats them as a batch, and "
        "scales by the square root of d_head by itself.",
        "With your earlier functions: merge_heads(attention(...)) @ w_o, where each of the three arguments "
        "is split_heads(x @ w, n_heads).",
    ),
    mistakes=MULTI_HEAD_MISTAKES,
)
