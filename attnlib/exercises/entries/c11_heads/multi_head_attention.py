"""The exercise multi_head_attention."""

import dataclasses
import itertools
import math
from types import SimpleNamespace

import numpy as np

from ...families.attention import (ATTENTION_FITTED, ATTENTION_MISTAKES, ATTENTION_SOFTMAX_MISTAKES, ATTENTION_STEPS,
    CAUSAL, attention_answer)
from ...families.choose import first_variants, pick
from ...families.heads import (D_MODEL_SCALE, HEADS_FIXED, HEADS_REVERSED, HEAD_STEPS, INTERLEAVED, INTERLEAVED_MERGE,
    MERGED_BY_RESHAPE, ONE_LEADING_AXIS, OVER_HEADS, SCALE_BY_HEADS, SPLIT_BY_RESHAPE, as_it_is)
from ...families.scores import PRODUCT_MISTAKES, SCALE_MISTAKES, softmax_of, swap
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, normal


def multi_head_attention_answer(do, x, w_q, w_k, w_v, w_o, n_heads):
    x = do.axes(x, 2)
    w_q, w_k, w_v, w_o = do.matrices(*do.oriented(w_q, w_k, w_v, w_o))
    split = (do.move(do.split(do.project(x, w, n_heads), n_heads)) for w in (w_q, w_k, w_v))
    heads = do.finish_heads(attention_answer(do, *split))
    return do.layer_out(do.project_out(do.join(do.bring(heads)), w_o), x)


def _plain_projection(x, w, n_heads):
    return x @ w


def _block_projection(x, w, n_heads):
    """Each head's features projected by that head's block of w alone."""
    head = np.arange(w.shape[-1]) // (w.shape[-1] // n_heads)
    return x @ np.where(head[:, None] == head, w, 0.0)


MULTI_HEAD_STEPS = {
    **ATTENTION_STEPS, **HEAD_STEPS,
    "oriented": lambda *matrices: matrices,
    "matrices": lambda *matrices: matrices,
    "project": Step(_plain_projection, "the projections"),
    "project_out": lambda x, w: x @ w,
    "layer_out": lambda output, x: output,
}


def _left_out(*places):
    """Changes that replace these of the four matrices by the identity."""
    def matrices(*given):
        return tuple(np.eye(len(w)) if i in places else w for i, w in enumerate(given))

    return {"matrices": matrices}


def _chosen(*places):
    """Changes that use these of the four matrices for queries, keys, values and output."""
    return {"matrices": lambda *given: tuple(given[place] for place in places)}


def _transposed(places):
    """A change that transposes these of the four matrices."""
    return {"oriented": lambda *given: tuple(w.T if i in places else w for i, w in enumerate(given))}


SOME_PLACES = tuple(places for size in (4, 3, 1, 2) for places in itertools.combinations(range(4), size))

OTHER_PLACES = (
    *(tuple(j if place == i else place for place in range(4)) for i in range(4) for j in range(4) if i != j),
    (0, 2, 1, 3), (2, 1, 0, 3), (0, 1, 3, 2), (3, 1, 2, 0), (0, 3, 2, 1), (1, 2, 0, 3), (2, 0, 1, 3), (3, 2, 1, 0),
    (1, 2, 3, 0), (3, 0, 1, 2), (0, 0, 0, 3), (1, 1, 1, 3), (2, 2, 2, 3), (0, 0, 0, 0))


def _head_mean(weights):
    return np.broadcast_to(weights.mean(axis=-3, keepdims=True), weights.shape)


def _one_head_scaled_as_many(x, w_q, w_k, w_v, w_o, n_heads):
    scores = x @ w_q @ swap(x @ w_k) / math.sqrt(x.shape[-1] / n_heads)
    return softmax_of(scores) @ x @ w_v @ w_o


def _multi_head(*args):
    return multi_head_attention_answer(SimpleNamespace(**MULTI_HEAD_STEPS), *args)


def _alone(place):
    def finish(heads):
        alone = np.zeros_like(heads)
        alone[..., place, :, :] = heads[..., place, :, :]
        return alone

    return {"finish_heads": finish}


def _of_projection(word):
    """(name, what is done, change) of what may be done to the projected queries, keys or values of each head."""
    def change(act):
        if word == "queries":
            return {"roles": lambda query, key: (act(query), key)}
        if word == "keys":
            return {"roles": lambda query, key: (query, act(key))}
        return {"choose_values": lambda query, key, value: act(value)}

    def unit(array):
        return array / np.linalg.norm(array, axis=-1, keepdims=True)

    def standard(array):
        return (array - array.mean(axis=-1, keepdims=True)) / array.std(axis=-1, keepdims=True)

    return (("through a ReLU", "put through a ReLU", change(lambda a: np.maximum(a, 0.0))),
            ("squared", "squared", change(np.square)), ("through a tanh", "put through a tanh", change(np.tanh)),
            ("normalised", "divided by their lengths, or standardised", (change(unit), change(standard))),
            ("through a softmax", "put through a softmax", change(softmax_of)))


MULTI_HEAD_MISTAKES = (
    D_MODEL_SCALE, SCALE_BY_HEADS,
    SPLIT_BY_RESHAPE,
    MERGED_BY_RESHAPE,
    dataclasses.replace(INTERLEAVED, change=(
        INTERLEAVED.change, {**INTERLEAVED.change, **INTERLEAVED_MERGE.change}, INTERLEAVED_MERGE.change)),
    Mistake("attention between heads instead of positions", change={"move": as_it_is, "bring": as_it_is},
            does="At each position the heads attend to each other, and no position sees another one.",
            why="The heads' axis has to stand in front of the positions, so that each head is an "
                "attention over all positions.",
            ask="What shape have your weights, and which axis are they summed over?"),
    Mistake("n_heads ignored",
            change=({"split": lambda x, n_heads: x[..., None, :]}, {"answer": _one_head_scaled_as_many}),
            does="It is attention with one head of size d_model.",
            why="Each head has scores and weights of its own, from its part of the features.",
            ask="How many tables of weights does your function make?"),
    Mistake("input not projected",
            change=(_left_out(0, 1, 2), _left_out(0), _left_out(1), _left_out(2), _left_out(0, 1), _left_out(0, 2),
                    _left_out(1, 2), _left_out(0, 1, 2, 3)),
            does="Queries, keys or values are x itself, without their matrix.",
            why="Each of the three is a projection of its own: x @ w_q, x @ w_k, x @ w_v.",
            ask="Which of the four matrices does your function not use?"),
    Mistake("queries and keys swapped", change={"roles": lambda query, key: (key, query)},
            does="Queries and keys have changed places: w_q and w_k are swapped, or the scores are K Qᵀ.",
            why="A row of the scores belongs to a query, and the softmax runs along it, over the keys.",
            ask="Which matrix makes the queries, and what does one row of your scores belong to?"),
    HEADS_REVERSED,
    Mistake("output projection before attention",
            change={"matrices": lambda w_q, w_k, w_v, w_o: (w_q, w_k, w_v @ w_o, np.eye(len(w_o)))},
            does="w_o is applied to the values before the heads have attended.",
            why="w_o mixes what all heads found: it comes last, after the heads are merged.",
            ask="Which of your products comes after the merge?"),
    Mistake("no output projection", change={"project_out": lambda x, w: x},
            does="The heads' outputs come back as they are, without w_o.",
            why="w_o mixes what the heads found.",
            ask="What happens after the heads are merged?"),
    Mistake("x @ w.T instead of x @ w", change=tuple(map(_transposed, SOME_PLACES)),
            does="One of the matrices is transposed, or several are.",
            why="Here the projection is x @ w. torch.nn.Linear keeps its weight transposed, and computes "
                "x @ weight.T.",
            ask="Which axis of w belongs to the input features?"),
    dataclasses.replace(HEADS_FIXED, change=HEADS_FIXED.change[:5]),
    Mistake("output subtracted from the input", alone=True, change={"layer_out": lambda output, x: x - output},
            does="The answer is x minus the output.",
            why="A residual connection belongs to the layer around attention, not into it.",
            ask="Which of your lines is not part of attention?"),
    Mistake("input projected once more", alone=True,
            change=tuple({"answer": lambda *args, at=at: _multi_head(args[0] @ args[at], *args[1:])} for at in (1, 2, 3, 4)),
            does="x is multiplied with one of the matrices before all three projections.",
            why="Queries, keys and values are three projections of x itself.",
            ask="Which array stands before w_q in your product?"),
    *(Mistake(f"{word} {text}", alone=True, change=change,
              does=f"The projected {word} are {said} before attention.",
              why="Between a projection and the scores nothing happens but the split into heads.",
              ask=f"What do you do with x @ w_{word[0]}?")
      for word in ("queries", "keys", "values") for text, said, change in _of_projection(word)),
    Mistake("projected twice", alone=True, change=tuple({"matrices": lambda *given, places=places: tuple(
                w @ w if i in places else w for i, w in enumerate(given))} for places in SOME_PLACES),
            does="One of the matrices is applied two times, or several are.",
            why="Queries, keys, values and output are each projected once.",
            ask="How often does each matrix stand in your products?"),
    Mistake("output projection of the input added",
            change=({"answer": lambda *args: _multi_head(*args) + args[0] @ args[4]},),
            does="x @ w_o is added to the output.",
            why="w_o projects what the heads found, and nothing else.",
            ask="Which array do you multiply with w_o?"),
    Mistake("the first head's weights for all", change=(
                {"weights_in": lambda w: np.broadcast_to(w[..., :1, :, :], w.shape)},
                {"weights_in": lambda w: np.broadcast_to(w[..., -1:, :, :], w.shape)}),
            does="All heads use the weights of the first head, or of the last.",
            why="Each head attends in its own way; that is what several heads are for.",
            ask="From which queries and keys do the weights of head 1 come?"),
    Mistake("one head's keys for all", alone=True, change=tuple(
                {"keys": lambda key, value, at=at, which=which: (
                    np.broadcast_to(key[..., at, None, :, :], key.shape) if which != "value" else key,
                    np.broadcast_to(value[..., at, None, :, :], value.shape) if which != "key" else value)}
                for at in (0, -1) for which in ("both", "key", "value")),
            does="All heads read the keys, or the values, of one head.",
            why="Each head has queries, keys and values of its own. Sharing them is multi-query attention.",
            ask="Which keys does head 1 read?"),
    Mistake("heads added instead of joined",
            change={"finish_heads": lambda heads: np.broadcast_to(heads.sum(axis=-3, keepdims=True), heads.shape)},
            does="The heads' outputs are added up before they are merged: all blocks of features are the same.",
            why="Each head keeps features of its own. They are put behind one another, and w_o mixes them.",
            ask="In what do the blocks of your merged array differ?"),
    Mistake("projections mixed up",
            change=tuple(_chosen(*places) for places in OTHER_PLACES),
            does="One of the matrices is used in place of another, or they have changed places.",
            why="w_q makes the queries, w_k the keys, w_v the values, and w_o the output.",
            ask="Which matrix stands in which of your four products?"),
    Mistake("input split before the projection", change={"project": _block_projection},
            does="Each head is projected by one block of the matrices, and sees only its own features of x.",
            why="Every head sees all features of x: project first, with the whole matrix, then split.",
            ask="From how many features of x does head 0 make its queries?"),
    Mistake("input added", change={"layer_out": lambda output, x: output + x},
            does="x is added to the output.",
            why="A residual connection belongs to the layer around attention, not into it.",
            ask="Which of your lines is not part of attention?"),
    ONE_LEADING_AXIS,
    OVER_HEADS,
    Mistake("only one head", change=(_alone(-1), _alone(0)),
            does="The output holds what one head found, and the others are lost.",
            why="In a loop over the heads their outputs have to be collected or added up; = replaces "
                "the one before.",
            ask="What is left of head 0 when the loop is over?"),
    Mistake("heads averaged", change={"finish_heads": _head_mean},
            does="The heads' outputs are averaged before they are merged: all blocks of features are the same.",
            why="Each head keeps features of its own. They are put behind one another, and w_o mixes them.",
            ask="In what do the blocks of your merged array differ?"),
    Mistake("weights averaged over the heads", change={"weights_in": _head_mean},
            does="All heads use the same weights: their mean.",
            why="Each head attends in its own way; that is what several heads are for.",
            ask="Which indices of the weights may the sum touch?"),
    *first_variants(pick(SCALE_MISTAKES, "no scale", "d_k instead of sqrt(d_k)", "multiplied by sqrt(d_k)",
                         "sqrt(n_k) instead of sqrt(d_k)", "1/2 instead of a square root")),
    CAUSAL,
    *pick(PRODUCT_MISTAKES, "reshape instead of transpose", "cosine instead of dot product"),
    *pick(ATTENTION_SOFTMAX_MISTAKES, "no maximum subtracted", "one maximum for the whole array",
          "minimum subtracted instead of maximum", "no exponential", "power of 2 instead of e",
          "argmax instead of softmax", "sign flipped", "not divided by the sum", "sum over the wrong axis",
          "sum without keepdims", "softmax over the queries' axis", "softmax over everything", "softmax left out",
          "scale after the softmax"),
    *pick(ATTENTION_MISTAKES, "Aᵀ V instead of A V", "weights averaged over the batch", "one key left out",
          "softmax of the weights", "rounded"),
)


def _multi_head_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, n_heads, n, d_model, seed, batch=(), dtype=np.float64):
        x = normal(*batch, n, d_model, seed=seed, dtype=dtype)
        matrices = (normal(d_model, d_model, seed=seed + i, dtype=dtype, scale=0.5) for i in range(1, 5))
        return Case(aspect, (x, *matrices, n_heads))

    def huge(x, scale):
        eye = np.eye(len(x[0]))
        return Case(HUGE, (np.array(x, float), scale * eye, scale * eye, scale * eye, eye, 2), True)

    w_q, w_k, w_v = ([[1.0, 0.0], [1.0, 1.0]], [[0.0, 1.0], [2.0, 0.0]], [[1.0, 2.0], [0.0, 1.0]])
    tiny = [np.array(w) for w in (w_q, w_k, w_v, [[1.0, 1.0], [0.0, 2.0]])]
    return [
        Case(PLAIN, (np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), *tiny, 2)),
        case(PLAIN, 2, 5, 6, 1), case(PLAIN, 3, 7, 6, 6), case(PLAIN, 2, 3, 10, 11), case(PLAIN, 6, 2, 24, 56),
        Case("one head", (np.array([[1.0, 0.0], [0.0, 2.0]]), *tiny, 1)), case("one head", 1, 3, 5, 16),
        case(SQUARE, 3, 3, 9, 21), case(SQUARE, 2, 4, 4, 26), case(SQUARE, 6, 6, 6, 31),
        case(LEADING, 2, 3, 6, 36, (2,)), case(LEADING, 3, 5, 6, 41, (2, 3)),
        huge([[1.0, -1.0], [0.99, 0.5], [0.0, 0.25]], 100.0), huge([[1.0, 0.0], [-1.0, 0.01]], 50.0),
        huge([[1.0, 1.0], [1.0001, 0.9999]], 100.0),  # all scores are huge, and near each other
        case(FLOAT32, 2, 3, 10, 46, dtype=f4), case(FLOAT16, 3, 2, 6, 51, dtype=f2),
    ]


EXERCISE = Exercise(
    name="multi_head_attention", signature="(x, w_q, w_k, w_v, w_o, n_heads)", place=3,
    axes=dict(x="n d_model", w_q="d_model d_model", w_k="d_model d_model", w_v="d_model d_model", w_o="d_model d_model"), answer_axes="n d_model",
    text="Self-attention with several heads: x of shape (..., n, d_model) is projected by x @ w_q, x @ w_k "
         "and x @ w_v, split into heads, attended, merged, and projected by w_o.",
    answer=multi_head_attention_answer, steps=MULTI_HEAD_STEPS, cases=_multi_head_cases, fitted=ATTENTION_FITTED,
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
