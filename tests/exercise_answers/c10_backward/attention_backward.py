"""Answers to attention_backward, written as learners write them."""

import math
from collections import namedtuple

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("attention_backward")


Gradients = namedtuple("Gradients", "query key value")


def soft(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def turn(array):
    return np.swapaxes(array, -1, -2)


answers.wrong("ready-made function", function=attnlib.attention_backward)


@answers.right()
def backward_by_formula(query, key, value, grad_output):
    scale = 1 / math.sqrt(query.shape[-1])
    weights = soft(query @ turn(key) * scale)
    grad_weights = grad_output @ turn(value)
    grad_scores = weights * (grad_weights - (weights * grad_weights).sum(-1, keepdims=True))
    return grad_scores @ key * scale, turn(grad_scores) @ query * scale, turn(weights) @ grad_output


@answers.right()
def backward_by_output(query, key, value, grad_output):
    scores = np.einsum("...id,...jd->...ij", query, key) * query.shape[-1] ** -0.5
    highest = scores.max(-1, keepdims=True)
    lse = highest + np.log(np.exp(scores - highest).sum(-1, keepdims=True))
    weights = np.exp(scores - lse)
    delta = np.einsum("...id,...id->...i", grad_output, weights @ value)[..., None]
    grad_scores = weights * (grad_output @ value.mT - delta) * query.shape[-1] ** -0.5
    return [grad_scores @ key, grad_scores.mT @ query, weights.mT @ grad_output]


@answers.right()
def backward_by_jacobian(query, key, value, grad_output):
    q, k, v, g = (array.astype(np.float64) for array in (query, key, value, grad_output))
    root = np.sqrt(q.shape[-1])
    a = soft(q @ k.mT / root)
    jacobian = a[..., :, None] * np.eye(a.shape[-1]) - a[..., :, None] * a[..., None, :]
    grad_scores = (jacobian @ (g @ v.mT)[..., None])[..., 0] / root
    return tuple(
        part.astype(query.dtype) for part in (grad_scores @ k, grad_scores.mT @ q, a.mT @ g)
    )


@answers.right()
def backward_row_by_row(query, key, value, grad_output):
    grads = Gradients(np.zeros_like(query), np.zeros_like(key), np.zeros_like(value))
    scale = 1 / math.sqrt(query.shape[-1])
    for b in np.ndindex(*query.shape[:-2]):
        for i in range(query.shape[-2]):
            a = soft(key[b] @ query[b][i] * scale)
            da = value[b] @ grad_output[b][i]
            ds = a * (da - a @ da)
            grads.query[b][i] = ds @ key[b] * scale
            grads.key[b][...] += np.outer(ds, query[b][i]) * scale
            grads.value[b][...] += np.outer(a, grad_output[b][i])
    return grads


def backward(
    query, key, value, grad_output, forward=True, for_query=1, for_key=1, soft=soft, through=None
):
    """A learner's function, with what may be wrong in it."""
    scale = 1 / math.sqrt(query.shape[-1])
    a = soft(query @ turn(key) * (scale if forward else 1))
    da = grad_output @ turn(value)
    ds = through(a, da) if through else a * (da - (a * da).sum(-1, keepdims=True))
    return ds @ key * scale**for_query, turn(ds) @ query * scale**for_key, turn(a) @ grad_output


def wrong(*names, **how):
    answers.wrong(
        *names,
        function=lambda query, key, value, grad_output: backward(
            query, key, value, grad_output, **how
        ),
    )


wrong("no scale in grad_query", for_query=0)
wrong("no scale in grad_key", for_key=0)
wrong("no scale in the gradients", for_query=0, for_key=0)
wrong("no scale", forward=False, for_query=0, for_key=0)
wrong("no scale in the forward pass", forward=False)
wrong("scale twice in the gradients", for_query=2, for_key=2)
wrong("scale inverted in the gradients", for_query=-1, for_key=-1)
wrong("diagonal-only Jacobian", through=lambda a, da: a * (1 - a) * da)
wrong("row sum not subtracted", through=lambda a, da: a * da)
wrong("softmax not differentiated", through=lambda a, da: da)
wrong("weights missing in front", through=lambda a, da: da - (da * a).sum(-1, keepdims=True))
wrong("weights missing in the row sum", through=lambda a, da: a * (da - da.sum(-1, keepdims=True)))
wrong(
    "plain mean instead of the weighted one",
    through=lambda a, da: a * (da - da.mean(-1, keepdims=True)),
)
wrong(
    "row sum not multiplied by the weights",
    through=lambda a, da: a * da - (a * da).sum(-1, keepdims=True),
)
wrong("sum over the wrong axis", through=lambda a, da: a * (da - (a * da).sum(-2, keepdims=True)))
wrong("sum without keepdims", through=lambda a, da: a * (da - (a * da).sum(-1)))
wrong("row sum added", through=lambda a, da: a * (da + (a * da).sum(-1, keepdims=True)))
wrong("one sum for the whole array", through=lambda a, da: a * (da - (a * da).sum()))
wrong("backward of the log-softmax", through=lambda a, da: da - a * da.sum(-1, keepdims=True))
wrong("no maximum subtracted", soft=lambda s: np.exp(s) / np.exp(s).sum(-1, keepdims=True))
wrong("softmax over the queries' axis", soft=lambda s: soft(s, -2))
wrong(
    "no scale",
    "diagonal-only Jacobian",
    forward=False,
    for_query=0,
    for_key=0,
    through=lambda a, da: a * (1 - a) * da,
)
wrong(
    "no scale in the gradients",
    "row sum not subtracted",
    for_query=0,
    for_key=0,
    through=lambda a, da: a * da,
)


@answers.wrong("grad_query times 1.00005")
def query_gradient_a_little_too_large(query, key, value, grad_output):
    grad_query, grad_key, grad_value = backward(query, key, value, grad_output)
    return grad_query * 1.00005, grad_key, grad_value


@answers.wrong("no scale in grad_query")
def backward_scaled_query(query, key, value, grad_output):
    query = query / math.sqrt(query.shape[-1])
    weights = soft(query @ key.mT)
    grad_weights = grad_output @ value.mT
    grad_scores = weights * (grad_weights - (weights * grad_weights).sum(-1, keepdims=True))
    return grad_scores @ key, grad_scores.mT @ query, weights.mT @ grad_output


@answers.wrong("diagonal-only Jacobian")
def backward_like_a_sigmoid(query, key, value, grad_output):
    root = math.sqrt(query.shape[-1])
    a = soft(np.einsum("...id,...jd->...ij", query, key) / root)
    ds = np.einsum("...id,...jd->...ij", grad_output, value) * (a - a**2)
    return ds @ key / root, ds.mT @ query / root, a.mT @ grad_output


@answers.wrong("values instead of the output in the row sum")
def backward_delta_of_the_values(query, key, value, grad_output):
    scale = query.shape[-1] ** -0.5
    weights = soft(query @ key.mT * scale)
    delta = np.einsum("...id,...id->...i", grad_output, value)[..., None]
    grad_scores = weights * (grad_output @ value.mT - delta) * scale
    return grad_scores @ key, grad_scores.mT @ query, weights.mT @ grad_output


@answers.wrong("A instead of Aᵀ in grad_value")
def backward_value_untransposed(query, key, value, grad_output):
    grad_query, grad_key, _ = backward(query, key, value, grad_output)
    return grad_query, grad_key, soft(query @ key.mT / math.sqrt(query.shape[-1])) @ grad_output


@answers.wrong("dS instead of dSᵀ in grad_key", "no scale in the gradients")
def backward_key_untransposed(query, key, value, grad_output):
    a = soft(query @ key.mT / math.sqrt(query.shape[-1]))
    da = grad_output @ value.mT
    ds = a * (da - (a * da).sum(-1, keepdims=True))
    return ds @ key, ds @ query, a.mT @ grad_output


@answers.wrong("query and key swapped in the products")
def backward_factors_swapped(query, key, value, grad_output):
    root = math.sqrt(query.shape[-1])
    a = soft(query @ key.mT / root)
    da = grad_output @ value.mT
    ds = a * (da - (a * da).sum(-1, keepdims=True)) / root
    return ds @ query, ds.mT @ key, a.mT @ grad_output


@answers.wrong("gradients in another order")
def backward_value_first(query, key, value, grad_output):
    grad_query, grad_key, grad_value = backward(query, key, value, grad_output)
    return grad_value, grad_query, grad_key


@answers.wrong("gradients in another order", "no scale in grad_query")
def backward_value_first_unscaled(query, key, value, grad_output):
    return backward(query, key, value, grad_output, for_query=0)[::-1]


@answers.wrong("gradients in another order", "a gradient transposed")
def backward_value_first_transposed(query, key, value, grad_output):
    grad_query, grad_key, grad_value = backward(query, key, value, grad_output)
    return np.swapaxes(grad_value, -1, -2), grad_query, grad_key


@answers.wrong("grad_output ignored")
def backward_of_the_sum(query, key, value, grad_output):
    return backward(query, key, value, np.ones_like(grad_output))


@answers.wrong("gradient divided by a size")
def backward_of_the_mean(query, key, value, grad_output):
    return tuple(part / query.shape[-2] for part in backward(query, key, value, grad_output))


@answers.wrong("sign flipped")
def backward_downhill(query, key, value, grad_output):
    return tuple(-part for part in backward(query, key, value, grad_output))


@answers.wrong("reduced over the batch")
def backward_batch_sum(query, key, value, grad_output):
    grads = backward(query, key, value, grad_output)
    return tuple(part.sum(axis=tuple(range(part.ndim - 2))) for part in grads)


@answers.wrong("only for two axes")
def backward_of_two(query, key, value, grad_output):
    root = math.sqrt(query.shape[-1])
    a = soft(query @ key.T / root)
    da = grad_output @ value.T
    ds = a * (da - (a * da).sum(-1, keepdims=True)) / root
    return ds @ key, ds.T @ query, a.T @ grad_output


@answers.wrong("extra value returned")
def backward_and_weights(query, key, value, grad_output):
    return (
        *backward(query, key, value, grad_output),
        soft(query @ key.mT / math.sqrt(query.shape[-1])),
    )


@answers.wrong("float64 leaks out")
def backward_wide(query, key, value, grad_output):
    scale = 1 / np.sqrt(query.shape[-1])
    a = soft(query @ key.mT * scale)
    da = grad_output @ value.mT
    ds = a * (da - (a * da).sum(-1, keepdims=True)) * scale
    return ds @ key, ds.mT @ query, a.mT @ grad_output


def by_rows(
    add=lambda array, place, more: array.__setitem__(place, array[place] + more), swapped=False
):
    """A learner's loop over queries and keys, with what may be wrong in it."""

    def attention_backward(query, key, value, grad_output):
        grad_query, grad_key, grad_value = (
            np.zeros_like(query),
            np.zeros_like(key),
            np.zeros_like(value),
        )
        scale = 1 / math.sqrt(query.shape[-1])
        a = soft(query @ turn(key) * scale)
        da = grad_output @ turn(value)
        ds = a * (da - (a * da).sum(-1, keepdims=True)) * scale
        for place in np.ndindex(*ds.shape):
            *batch, i, j = place
            row, column = (*batch, i), (*batch, j)
            grad_query[row] += ds[place] * (query[row] if swapped else key[column])
            add(grad_key, column, ds[place] * (key[column] if swapped else query[row]))
            add(grad_value, column, a[place] * grad_output[row])
        return grad_query, grad_key, grad_value

    return attention_backward


answers.right(by_rows())
answers.wrong(
    "assigned instead of added",
    function=by_rows(add=lambda array, place, more: array.__setitem__(place, more)),
)
answers.wrong("query and key swapped in the products", function=by_rows(swapped=True))
wrong(
    "w_i instead of w_j in the row sum",
    through=lambda a, da: a * (da - a * da.sum(-1, keepdims=True)),
)


def with_row_sum(query, key, value, grad_output, row_sum=None, width=None, meets=None):
    weights = attnlib.softmax(attnlib.raw_scores(query, key))
    grad_weights = grad_output @ value.mT
    if row_sum is None:
        row_sum = (weights * grad_weights).sum(-1, keepdims=True)
    ds = weights * (grad_weights - row_sum) / math.sqrt(width or query.shape[-1])
    return ds @ key, ds.mT @ query, weights.mT @ (grad_output if meets is None else meets(weights))


@answers.wrong("grad_output alone in the row sum")
def row_sum_of_the_gradient(query, key, value, grad_output):
    return with_row_sum(query, key, value, grad_output, grad_output.sum(-1, keepdims=True))


@answers.wrong("another size under the root in the gradients")
def scale_of_the_values(query, key, value, grad_output):
    return with_row_sum(query, key, value, grad_output, width=value.shape[-1])


@answers.wrong("output instead of grad_output")
def weights_times_the_output(query, key, value, grad_output):
    return with_row_sum(query, key, value, grad_output, meets=lambda weights: weights @ value)


@answers.wrong("query overwritten")
def query_used_for_its_gradient(query, key, value, grad_output):
    weights = attnlib.softmax(attnlib.raw_scores(query, key))
    grad_weights = grad_output @ value.mT
    ds = weights * (grad_weights - (weights * grad_weights).sum(-1, keepdims=True))
    ds = ds / math.sqrt(query.shape[-1])
    query = ds @ key
    return query, ds.mT @ query, weights.mT @ grad_output


@answers.wrong("scores instead of the weights in grad_value")
def value_gradient_from_scores(query, key, value, grad_output):
    scale = query.shape[-1] ** -0.5
    scores = query @ np.swapaxes(key, -1, -2) * scale
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    of_weights = grad_output @ np.swapaxes(value, -1, -2)
    of_scores = weights * (of_weights - (weights * of_weights).sum(axis=-1, keepdims=True)) * scale
    return (
        of_scores @ key,
        np.swapaxes(of_scores, -1, -2) @ query,
        np.swapaxes(scores, -1, -2) @ grad_output,
    )


@answers.wrong("delta as a mean")
def backward_by_a_mean_over_features(query, key, value, grad_output):
    scale = query.shape[-1] ** -0.5
    scores = query @ np.swapaxes(key, -1, -2) * scale
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    w = powers / powers.sum(axis=-1, keepdims=True)
    delta = (w @ value * grad_output).mean(axis=-1, keepdims=True)
    grad_scores = scale * w * (grad_output @ np.swapaxes(value, -1, -2) - delta)
    return (
        grad_scores @ key,
        np.swapaxes(grad_scores, -1, -2) @ query,
        np.swapaxes(w, -1, -2) @ grad_output,
    )
