"""The exercise streaming_backward."""

import math

import numpy as np

from ...families.attention import ATTENTION_AXES
from ...families.memory import keeps_all_scores, size_for_number
from ...families.scores import SCORE_STEPS, raw_scores_answer, softmax_of, swap, unscaled
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike, normal, ways


def streaming_backward_answer(do, query, key, value, output, lse, grad_output, block_size):
    grad_query, grad_key, grad_value = (np.zeros_like(array) for array in (query, key, value))
    delta = do.delta(do.delta_products(grad_output, output))
    for at in do.blocks(key.shape[-2], block_size):
        keys, values = key[..., at, :], value[..., at, :]
        weights = do.weights(do.rescale(raw_scores_answer(do, query, keys), query, values), lse)
        grad_weights = do.grad_weights(grad_output, values)
        grad_scores = do.times(weights, do.centre(grad_weights, delta, weights), grad_weights)
        grad_scores = do.rescale_grad(grad_scores, query, values)
        part = do.grad_query(do.scale_query(grad_scores, query, keys), keys, query)
        grad_query = do.add(grad_query, part)
        scaled = do.scale_key(grad_scores, query, keys)
        do.put(grad_key, at, do.grad_key(scaled, query, keys))
        do.put(grad_value, at, do.grad_value(weights, grad_output, values, output, grad_scores, scaled))
    return do.gradients(grad_query, grad_key, grad_value)


def _row_sum(products):
    return products.sum(axis=-1, keepdims=True)


def _slices(n_k, size):
    return [slice(at, min(at + size, n_k)) for at in range(0, n_k, size)]


def _put(gradient, at, part):
    gradient[..., at, :] += part


_scaled = SCORE_STEPS["scale"].run

BACKWARD_STEPS = {
    **SCORE_STEPS,
    "delta_products": Step(lambda grad, output: grad * output, "the products of grad_output and output"),
    "delta": Step(_row_sum, "delta", True),
    "blocks": _slices,
    "weights": Step(lambda scores, lse: np.exp(scores - lse[..., None]), "the block's weights"),
    "grad_weights": Step(lambda grad, value: grad @ swap(value), "the gradient of the block's weights"),
    "centre": lambda grad_weights, delta, weights: grad_weights - delta,
    "times": Step(lambda weights, centred, grad_weights: weights * centred, "the gradient of the block's scores"),
    "scale_query": _scaled,
    "scale_key": _scaled,
    "grad_query": lambda grad_scores, key, query: grad_scores @ key,
    "grad_key": lambda grad_scores, query, key: swap(grad_scores) @ query,
    "grad_value": lambda weights, grad, *others: swap(weights) @ grad,
    "rescale": lambda scores, query, value: scores,
    "rescale_grad": lambda grad_scores, query, value: grad_scores,
    "add": lambda so_far, part: so_far + part,
    "put": _put,
    "gradients": lambda *gradients: gradients,
}


def _weights(*functions):
    return ways("weights", *functions)


def _centre(*functions):
    return ways("centre", *functions)


def _by_d_k(scores, query, key):
    return scores / query.shape[-1]


def _in_gradients(function):
    """Variants: the scale of grad_query, of grad_key, or of both changed."""
    return tuple(dict.fromkeys(steps, function)
                 for steps in (("scale_query", "scale_key"), ("scale_query",), ("scale_key",)))


def _of_blocks(*functions):
    return ways("blocks", *(lambda *given, f=f: f(_slices(*given)) for f in functions))


def _over(*axes):
    """Variants of a sum over other axes, its shape kept."""
    return lambda products: products.sum(axis=axes or None, keepdims=True)


def _replaced(gradient, at, part):
    """What a new array in every block leaves: the last block's part alone."""
    gradient[...] = 0
    gradient[..., at, :] = part


MISTAKES = (
    *alike("The log-sum-exp of the whole row is known from the forward pass: with it a block's weights are exp(score - lse), "
           "and need neither a maximum nor a sum.",
           "What must the weights of a query sum to over all blocks, and what do yours sum to?",
           ("softmax of each block", _weights(lambda scores, lse: softmax_of(scores)),
            "Each block's weights sum to 1 by themselves; lse is not used."),
           ("lse not subtracted", _weights(lambda scores, lse: np.exp(scores)),
            "The block's exponentials are used as weights: they are not divided by the sum over all keys."),
           ("block's maximum subtracted instead of lse", _weights(
               lambda scores, lse: np.exp(scores - scores.max(axis=-1, keepdims=True))),
            "Each block's exponentials are measured from the block's maximum, and sum to no fixed number."),
           ("divided by lse", _weights(
               lambda scores, lse: np.exp(scores) / lse[..., None],
               lambda scores, lse: np.exp(scores - scores.max(axis=-1, keepdims=True)) / lse[..., None]),
            "The exponentials are divided by the log-sum-exp, which is the logarithm of their sum."),
           ("lse added", _weights(lambda scores, lse: np.exp(scores + lse[..., None])),
            "The log-sum-exp is added to the scores."),
           ("softmax after lse", _weights(lambda scores, lse: softmax_of(np.exp(scores - lse[..., None]))),
            "The weights, once they are there, go through another softmax over the block."),
           ("lse along the keys", _weights(lambda scores, lse: np.exp(scores - lse), lambda scores, lse: np.exp(
               scores - lse[..., None, :])),
            "lse meets the scores along the keys: that fits only where a block has as many keys as there are queries.")),
    *alike("delta is one number a query, over all keys: the sum over the features of grad_output * output. It is made once, "
           "before the loop.",
           "Over which index does the sum in delta run, and which two arrays meet in it?",
           ("delta not subtracted", _centre(lambda grad, delta, weights: grad),
            "The gradient of the scores is the weights times their gradient; nothing is subtracted."),
           ("delta of the block alone", _centre(
               lambda grad, delta, weights: grad - _row_sum(weights * grad)),
            "What is subtracted is the sum of weights times gradients over one block, not over all keys."),
           ("delta added", _centre(lambda grad, delta, weights: grad + delta),
            "delta is added to the gradient of the weights."),
           ("delta not multiplied by the weights", ways(
               "times", lambda weights, centred, grad: weights * grad + centred - grad),
            "delta is subtracted from weights times gradient, outside of the bracket."),
           ("delta without the output", ways("delta_products", lambda grad, output: grad),
            "delta is the sum of grad_output alone."),
           ("delta from the output alone", ways("delta_products", lambda grad, output: output * output,
                                                lambda grad, output: output),
            "delta is made of the output, without grad_output."),
           ("delta as a mean", ways("delta", lambda products: products.mean(axis=-1, keepdims=True)),
            "The products are averaged over the features, not summed."),
           ("delta not summed", ways("delta", lambda products: products),
            "The products of grad_output and output are subtracted feature by feature: that fits only where the sizes "
            "happen to agree."),
           ("delta summed over the queries", ways("delta", _over(-2), _over()),
            "delta is summed over the queries, or over everything."),
           ("delta along the keys", ways("delta", lambda products: products.sum(axis=-1)),
            "delta has no last axis of size 1, and meets the gradient along the keys: that fits only where a block has as "
            "many keys as there are queries.")),
    *alike("Query i meets the keys of every block: its gradient is a sum over the blocks. The rows of a block of keys are met "
           "in that block only.",
           "After the second block, what should grad_query hold, and what should grad_key?",
           ("grad_query replaced in every block", ways("add", lambda so_far, part: part),
            "grad_query holds what the last block adds to it."),
           ("grad_key and grad_value of the last block alone", {"put": _replaced},
            "grad_key and grad_value are 0 but in the last block.")),
    *alike("Each key counts once: the blocks start at 0, block_size, 2 block_size and so on, the last may be shorter, and a "
           "slice ends by itself where the array ends.",
           "Which keys do your blocks hold for 7 keys and a block size of 3, each how often?",
           ("only the first block", _of_blocks(lambda blocks: blocks[:1]), "The keys after the first block do not count."),
           ("first block dropped", _of_blocks(lambda blocks: blocks[1:]), "The first block does not count."),
           ("last block dropped", _of_blocks(lambda blocks: blocks[:-1]),
            "The last block does not count, whether it is full or not."),
           ("shorter last block dropped", ways("blocks", lambda n_k, size: [
               at for at in _slices(n_k, size) if at.stop - at.start == size]),
            "The keys after the last full block do not count.")),
    *alike("The scores are Q Kᵀ / sqrt(d_k): the weights need that scale, and so do the derivatives for queries and keys, "
           "once each.",
           "Which factor stands before q · k in a score, and what does it become in the derivatives for Q, K and V?",
           ("no scale", dict.fromkeys(("scale", "scale_query", "scale_key"), unscaled),
            "The scale is missing in the scores and in the gradients."),
           ("no scale in the weights", {"scale": unscaled},
            "The scores are made again without the scale, and lse belongs to scaled ones."),
           ("no scale in grad_query", {"scale_query": unscaled}, "grad_query is sqrt(d_k) times too large."),
           ("no scale in grad_key", {"scale_key": unscaled}, "grad_key is sqrt(d_k) times too large."),
           ("no scale in the gradients", {"scale_query": unscaled, "scale_key": unscaled},
            "grad_query and grad_key are sqrt(d_k) times too large, though the weights are right."),
           ("scale twice in the gradients", _in_gradients(lambda *given: _scaled(_scaled(*given), *given[1:])),
            "grad_query or grad_key, or both, are divided by d_k instead of sqrt(d_k)."),
           ("d_k instead of sqrt(d_k) in the weights", (
               {"scale": _by_d_k}, dict.fromkeys(("scale", "scale_query", "scale_key"), _by_d_k)),
            "The scores are divided by d_k, the gradients too or not."),
           ("scale inverted in the gradients", _in_gradients(
               lambda scores, query, key: scores * math.sqrt(query.shape[-1])),
            "grad_query or grad_key, or both, are multiplied by sqrt(d_k) instead of divided.")),
    Mistake("sqrt(d_v) instead of sqrt(d_k)", change=tuple(
                dict.fromkeys(steps, lambda scores, query, value: scores * math.sqrt(query.shape[-1] / value.shape[-1]))
                for steps in (("rescale", "rescale_grad"), ("rescale_grad",), ("rescale",))),
            does="The scale of the scores, of the gradients or of both depends on the length of the values.",
            why="A score is a sum of d_k products, and the values have no part in it.",
            ask="Over which index does the sum in q · k run, and how long is it?"),
    Mistake("sqrt(block_size) instead of sqrt(d_k)",
            change=(*_in_gradients(lambda scores, query, key: scores / math.sqrt(key.shape[-2])),
                    {"scale": lambda scores, query, key: scores / math.sqrt(key.shape[-2])}),
            does="A scale depends on how many keys a block holds.",
            why="One score is a sum of d_k products; how many keys there are does not touch it.",
            ask="Over which index does the sum in q · k run, and how long is it?"),
    *alike("grad_value = Aᵀ dO, grad_query = dS K and grad_key = dSᵀ Q, the last two scaled; between them stands dS = A * "
           "(dA - delta).",
           "Which two arrays make each of the three gradients, and over which index does each sum run?",
           ("gradient of the scores instead of the weights in grad_value", ways(
               "grad_value", lambda weights, grad, value, output, grad_scores, scaled: swap(grad_scores) @ grad,
               lambda weights, grad, value, output, grad_scores, scaled: swap(scaled) @ grad),
            "grad_value is made with the gradient of the scores in place of the weights."),
           ("values instead of grad_output in grad_value", {
               "grad_value": lambda weights, grad, value, *others: swap(weights) @ value},
            "grad_value is made of the values, not of grad_output."),
           ("output instead of grad_output in grad_value", {
               "grad_value": lambda weights, grad, value, output, *others: swap(weights) @ output},
            "grad_value is made of the output, not of its gradient."),
           ("weights missing in front", ways("times", lambda weights, centred, grad: centred),
            "The centred gradient is not multiplied by the weights."),
           ("diagonal-only Jacobian", ways("times", lambda weights, centred, grad: weights * (1 - weights) * grad),
            "A weight's own score counts alone, with the derivative A (1 - A): no weight is taken to depend on another score."),
           ("softmax not differentiated", ways("times", lambda weights, centred, grad: grad),
            "The gradient of the weights is handed on as the gradient of the scores."),
           ("gradient of the weights left out", ways("times", lambda weights, centred, grad: weights),
            "grad_query and grad_key are made with the weights, and not with the gradient of the scores."),
           ("sign flipped", (*_centre(lambda grad, delta, weights: delta - grad), *ways(
               "gradients", lambda *gradients: tuple(map(np.negative, gradients)))),
            "Gradients have the wrong sign, as if they were steps downhill."),
           ("gradients in another order", tuple(
               {"gradients": lambda *gradients, places=places: tuple(gradients[place] for place in places)}
               for places in ((1, 0, 2), (2, 1, 0), (2, 0, 1), (0, 2, 1), (1, 2, 0))),
            "The three gradients are right, and come in another order.")),
)


def _with_forward(query, key, value, grad_output, block_size):
    """The arguments, with what the forward pass leaves."""
    scores = query.astype(float) @ swap(key.astype(float)) / math.sqrt(query.shape[-1])
    highest = scores.max(axis=-1, keepdims=True)
    lse = np.log(_row_sum(np.exp(scores - highest))) + highest
    output = np.exp(scores - lse) @ value.astype(float)
    return query, key, value, output.astype(query.dtype), lse[..., 0].astype(query.dtype), grad_output, block_size


def backward_cases():
    def some(aspect, block_size, sizes, seed, batch=(), dtype=np.float64, order="C"):
        n_q, n_k, d_k, d_v = sizes
        shapes = (n_q, d_k), (n_k, d_k), (n_k, d_v), (n_q, d_v)
        arrays = (normal(*batch, *shape, seed=seed + i, dtype=dtype) for i, shape in enumerate(shapes))
        return Case(aspect, _with_forward(*(np.asarray(array, order=order) for array in arrays), block_size),
                    aspect == LONG_BLOCK)

    def tiny(aspect, block_size, *arrays):
        return Case(aspect, _with_forward(*(np.array(array, float) for array in arrays), block_size),
                    aspect in (HUGE, LONG_BLOCK))

    return [
        tiny(PLAIN, 1, [[2, 0, 0, 0]], [[1, 0, 0, 0], [1, 4, 0, 0]], [[4], [0]], [[1]]),
        tiny(PLAIN, 2, [[0, 2, 0, 0]], [[1, 0, 2, 0], [1, 0, 0, 4], [1, 0, 2, 2], [2, 0, 1, 1]], [[4], [0], [8], [2]], [[1]]),
        some(PLAIN, 5, (7, 15, 3, 2), 1), some(PLAIN, 3, (5, 15, 2, 7), 5, order="F"), some(PLAIN, 13, (11, 52, 3, 5), 9),
        some(SHORTER_BLOCK, 3, (5, 7, 2, 11), 13), some(SHORTER_BLOCK, 5, (3, 13, 7, 2), 17, order="F"),
        tiny(SHORTER_BLOCK, 2, [[2, 0, 0, 0]], [[1, 0, 0, 0], [1, 4, 0, 0], [1, 0, 2, 0]], [[4], [0], [8]], [[1]]),
        some("blocks of one key", 1, (3, 7, 5, 2), 21), some(ONE_BLOCK, 7, (5, 7, 3, 2), 25),
        some(LONG_BLOCK, 11, (5, 7, 3, 2), 29),
        some(SQUARE, 3, (3, 9, 3, 3), 33), some(SQUARE, 5, (5, 5, 5, 5), 37), some(SQUARE, 2, (4, 4, 2, 2), 41),
        some(LEADING, 5, (3, 10, 7, 2), 45, (2,)), some(LEADING, 3, (5, 7, 2, 11), 49, (2, 3), order="F"),
        tiny(HUGE, 2, [[100, 0], [1, 2]], [[100, 0], [100, 8], [0, 1]], [[4, 1], [0, 2], [1, 5]], [[1, 3], [2, 1]]),
        tiny(HUGE, 1, [[-100, 0], [1, 2]], [[100, 0], [100, 8], [101, 1]], [[4, 1], [0, 2], [1, 5]], [[1, 3], [2, 1]]),
        some(FLOAT32, 3, (5, 7, 3, 2), 53, dtype=np.float32), some(FLOAT16, 2, (3, 5, 2, 7), 57, dtype=np.float16),
    ]


SHORTER_BLOCK, ONE_BLOCK, LONG_BLOCK = "a shorter last block", "one block", "block_size larger than n_k"


def _long_input(n_q, n_k):
    arrays = (normal(n, 1, seed=60 + i) for i, n in enumerate((n_q, n_k, n_k, n_q)))
    return _with_forward(*arrays, 0)[:-1]


EXERCISE = Exercise(
    name="streaming_backward", signature="(query, key, value, output, lse, grad_output, block_size)", place=4,
    axes=dict(ATTENTION_AXES, output="n_q d_v", lse="n_q", grad_output="n_q d_v"),
    text="The gradients of attention from its output and log-sum-exp, with the keys and values read block_size at a time: "
         "(grad_query, grad_key, grad_value), and no array of shape (n_q, n_k) is ever made.",
    answer=streaming_backward_answer, steps=BACKWARD_STEPS, cases=backward_cases,
    outputs=("grad_query", "grad_key", "grad_value"), audits=(
        lambda run: keeps_all_scores(run, _long_input), lambda run: size_for_number(run, _long_input)),
    aspects={SHORTER_BLOCK: Mistake(
        "only for full blocks",
        does="The function is right where block_size divides n_k, and not where the last block is shorter.",
        why="n_k need not be a multiple of block_size. range(0, n_k, block_size) has a start for the last block too, "
            "and a slice ends by itself where the array ends.",
        ask="How many blocks are there for 7 keys and a block size of 3, and how long is the last?")},
    hints=(
        "Before the loop: three arrays of zeros for the gradients, and delta, one number for each query. Which of the "
        "arguments is it made of?",
        "In the loop, for one block of keys: its scores once more, and from them and lse its weights. No maximum has to move: "
        "lse is that of the whole row.",
        "With a block's weights A: dA = dO Vᵀ with the block's values, and dS = A * (dA - delta). Here delta needs a last axis "
        "of size 1.",
        "grad_value and grad_key of the block's rows are Aᵀ dO and dSᵀ Q / sqrt(d_k): put them into these rows. grad_query is "
        "a sum over all blocks: add dS K / sqrt(d_k), with the block's keys.",
    ),
    mistakes=MISTAKES,
)
