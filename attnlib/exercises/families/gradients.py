"""Backward, one step of attention at a time: through the softmax, and through its two products."""

import math
from types import SimpleNamespace

import numpy as np

from ..model import Mistake, Step, alike, normal, ways
from .scores import swap, unscaled
from .weighted_sums import leading


def book_weights(*shape, seed=0, dtype=np.float64):
    """Weights as a softmax gives them."""
    powers = np.exp(normal(*shape, seed=seed))
    return (powers / powers.sum(axis=-1, keepdims=True)).astype(dtype)


SOFTMAX_OF_WEIGHTS = Mistake(
    "softmax of the weights", change={"weights_in": lambda w: np.exp(w) / np.exp(w).sum(axis=-1, keepdims=True)},
    does="The weights go through another softmax, and are nearly equal.",
    why="The argument holds weights already; the derivative needs nothing but them.",
    ask="What does a softmax do to numbers between 0 and 1?")

def _total(*sums, **more):
    """Another number a row in place of the sum of w * g."""
    return tuple({"total": total, **more} for total in sums)


def _times(*ways):
    """Another last line, of weights w, centred gradient c, gradient g and the row's sum."""
    return tuple({"times": way} for way in ways)


ALL_EQUAL = "What must the answer be if all gradients of a row are equal, and what does a row of it sum to?"

SOFTMAX_BACKWARD_MISTAKES = (
    *alike("Every weight depends on every score, through the sum in the denominator: that subtracts the row's mean "
           "gradient.",
           "What happens to weight i when another score grows, and what must the gradient of a row sum to?",
           ("row sum not subtracted", {"centre": lambda grad, total: grad},
            "The scores' gradient is weights * grad_weights: only the diagonal term of the Jacobian."),
           ("diagonal-only Jacobian",
            {"total": lambda products: products, "times": lambda weights, centred, grad, total: weights * centred},
            "The scores' gradient is w (1 - w) g, as if each weight depended on its own score alone.")),
    *alike("(diag(w) - w wᵀ) g is w * g less w times the row's sum: one weight stands in front of the whole bracket of g "
           "and the sum.",
           "What stands in front of the bracket if (diag(w) - w wᵀ) g is multiplied out, and where does the bracket "
           "open?",
           ("row sum not multiplied by the weights", _times(lambda w, c, g, total: w * g - total),
            "The row's sum is subtracted from weights * grad_weights as it is."),
           ("weights missing in the first term", _times(lambda w, c, g, total: g - w * total),
            "The gradient stands where w * g belongs: only the row's sum is multiplied by the weights."),
           ("weights missing in front", _times(lambda w, c, g, total: c),
            "The gradient is centred, but not multiplied by the weights."),
           ("w (1 - w) in front",
            _times(lambda w, c, g, total: w * (1 - w) * c, lambda w, c, g, total: w * (1 - w) * (g - w * g)),
            "w (1 - w) stands in front of the bracket, where w belongs."),
           ("only the second term", _times(lambda w, c, g, total: -w * total, lambda w, c, g, total: w * total),
            "The term w * g is missing: only w times the row's sum is there."),
           ("gradient divided by the weights", _times(lambda w, c, g, total: c / w),
            "The centred gradient is divided by the weights."),
           ("weights squared",
            (*_times(lambda w, c, g, total: w ** 2 * c), {"products": lambda weights, grad: weights ** 2 * grad}),
            "The weights are multiplied in once too often."),
           ("weights and gradient swapped", {"answer": lambda weights, grad: grad * (
               weights - (weights * grad).sum(axis=-1, keepdims=True))},
            "The gradient stands in front of the bracket, and the weights in it."),
           ("gradient handed on", {"answer": lambda weights, grad: grad}, "The answer is grad_weights itself.")),
    *alike("What is subtracted is the mean of the gradients under the weights, the sum of w * g, which is a mean "
           "already as the "
           "weights sum to 1.",
           ALL_EQUAL,
           ("weights missing in the row sum", {"products": lambda weights, grad: grad},
            "The plain sum of the gradients is subtracted."),
           ("plain mean instead of the weighted one",
            _total(lambda products: products.mean(axis=-1, keepdims=True), products=lambda weights, grad: grad),
            "The plain mean of the gradients is subtracted."),
           ("gradient missing in the row sum",
            ({"products": lambda weights, grad: weights}, {"products": lambda weights, grad: weights ** 2}),
            "The sum runs over the weights, or their squares, without the gradient."),
           ("mean instead of sum", _total(lambda products: products.mean(axis=-1, keepdims=True)),
            "The row sum is divided by n before it is subtracted."),
           ("largest product instead of the sum", _total(lambda products: products.max(axis=-1, keepdims=True)),
            "The largest of the products w * g is subtracted, not their sum."),
           ("largest gradient instead of the sum",
            ({"centre": lambda grad, total: grad - grad.max(axis=-1, keepdims=True)},
             {"centre": lambda grad, total: grad - grad.max()}),
            "The largest entry of the gradient is subtracted, not the sum of w * g.")),
    *alike("A weight grows with its own score, and the others shrink: the first term is positive, the second is "
           "subtracted.",
           ALL_EQUAL,
           ("row sum added", {"centre": lambda grad, total: grad + total},
            "The row sum is added instead of subtracted."),
           ("sign flipped", {"centre": lambda grad, total: total - grad}, "Every entry has the wrong sign.")),
    *alike("The weights of one query depend on the scores of that query alone: each row has a sum of its own, over its "
           "keys.",
           "Over which entries does the sum run, and what is the shape of the sums beside that of the gradient?",
           ("sum over the wrong axis",
            _total(*(lambda products, axis=axis: products.sum(axis=axis(products.ndim), keepdims=True) for axis in (
                lambda n: -2, lambda n: 0, lambda n: 1, lambda n: max(-2, -n), lambda n: min(1, n - 1),
                lambda n: tuple(range(1, n)) or 0))),
            "The products are summed over another axis than the last."),
           ("one sum for the whole array", _total(np.sum),
            "One number is subtracted everywhere, the sum over the whole array."),
           ("sum without keepdims", _total(lambda products: products.sum(axis=-1)),
            "Row i's sum is subtracted from column i instead of row i, where the shapes fit at all."),
           ("matrix product instead of a row sum",
            _total(lambda products: products, products=np.matmul)
            + _total(lambda products: products, products=lambda weights, grad: weights @ np.swapaxes(grad, -1, -2))
            + _total(lambda products: products, products=lambda weights, grad: weights @ grad.T),
            "weights @ grad_weights is one number for one axis; with more axes it is a matrix product.")),
    Mistake("backward of the log-softmax",
            change={"products": lambda weights, grad: grad,
                    "times": lambda weights, centred, grad, total: grad - weights * total},
            does="The answer is g - w times the sum of g.",
            why="That is the gradient through the logarithm of the weights. Here the gradient with "
                "respect to the weights themselves is given.",
            ask="Of which quantity is grad_weights the derivative?"),
    Mistake("divided by n", change={"finish": lambda grad_scores: grad_scores / grad_scores.shape[-1]},
            does="The gradient is n times too small.",
            why="Nothing is averaged: the gradient of a sum of losses has no 1/n.",
            ask="What divides by n in your function?"),
    SOFTMAX_OF_WEIGHTS,
)

SOFTMAX_BACKWARD_STEPS = {
    "weights_in": Step(lambda weights: weights, "the weights"),
    "grad_in": Step(lambda grad: grad, "grad_output"),
    "products": Step(lambda weights, grad: weights * grad, "the products of weights and their gradient"),
    "total": Step(lambda products: products.sum(axis=-1, keepdims=True), "the row sum", True),
    "centre": Step(lambda grad, total: grad - total, "the centred gradient"),
    "times": lambda weights, centred, grad, total: weights * centred,
    "finish": lambda grad_scores: grad_scores,
}


def scaled(scores, query, key):
    return scores / math.sqrt(query.shape[-1])


AV_BACKWARD_STEPS = {
    "grad_weights": Step(lambda grad, value: grad @ swap(value), "the gradient of the weights"),
    "grad_value": lambda weights, grad, value: swap(weights) @ grad,
}

SCORES_BACKWARD_STEPS = {
    "scale_query": scaled,
    "scale_key": scaled,
    "grad_query": lambda grad_scores, key, query: grad_scores @ key,
    "grad_key": lambda grad_scores, query, key: swap(grad_scores) @ query,
}


def every_gradient(*functions):
    """Variants: the same change of all gradients."""
    return ways("gradients", *(lambda *gradients, f=f: tuple(map(f, gradients)) for f in functions))


def one_gradient(change, places):
    """Variants: one of the gradients changed."""
    return ways("gradients", *(lambda *gradients, i=i: tuple(
        change(gradient) if place == i else gradient for place, gradient in enumerate(gradients)) for i in places))


def ordered(*places):
    return {"order": lambda gradients: tuple(gradients[place] for place in places)}


def over_the_batch(reduce):
    return lambda gradient: reduce(gradient, axis=leading(gradient)) if gradient.ndim > 2 else gradient


def misplaced(second):
    """Two gradients in another order or shape; `second` says what the second one belongs to."""
    return alike(
        "The two gradients are each of the shape of their array, and come in the order of the arguments.",
        "What shape has each of the two arguments, and which of your two arrays is its gradient?",
        ("gradients in another order", ordered(1, 0), f"The gradient of the {second} comes first."),
        ("a gradient transposed", (*one_gradient(swap, range(2)), *every_gradient(swap)),
         "A gradient has its last two axes swapped."),
        ("a gradient left at 0", one_gradient(lambda gradient: 0 * gradient, range(2)),
         "One of the two gradients is 0 throughout."),
        ("summed over the batch", every_gradient(over_the_batch(np.sum), over_the_batch(np.mean)),
         "Leading axes disappear: the gradients of all sequences are added or averaged."))


SIGN_FLIPPED = (*every_gradient(np.negative), *one_gradient(np.negative, range(2)))


def steps_taken(answer, steps):
    """Variants: the first arguments after a step, down or up, in place of their gradients."""
    def after(step):
        return {"answer": lambda *given: tuple(map(step, answer(SimpleNamespace(**steps), *given), given))}

    return after(lambda gradient, own: own - gradient), after(np.add)


def _last(array, axis=-2):
    """The last row alone, and zeros: what = leaves where += belongs."""
    found = np.zeros_like(array)
    part = (..., slice(-1, None), slice(None)) if axis == -2 else (..., slice(-1, None))
    found[part] = array[part]
    return found


# what a loop leaves that assigns: of all queries, or keys, the last one's part
LAST_QUERY_FOR_KEYS = {"grad_key": lambda grad_scores, query, key: swap(_last(grad_scores)) @ query}
LAST_QUERY_FOR_VALUES = {"grad_value": lambda weights, grad, value: swap(_last(weights)) @ grad}
LAST_KEY = {"grad_query": lambda grad_scores, key, query: _last(grad_scores, -1) @ key}


def _row_times(step, axis):
    """The gradient of the scores summed over an axis, times the row of that argument."""
    return {step: lambda grad_scores, other, own: grad_scores.sum(axis=axis)[..., None] * own}


def _sum_times_sum(step, axis):
    return {step: lambda grad_scores, other, own: (
        grad_scores.sum(axis=axis)[..., None] * other.sum(axis=-2, keepdims=True))}


def _in_gradients(*functions):
    """Variants: the scale of grad_query, of grad_key, or of both changed."""
    return tuple(dict.fromkeys(steps, function) for function in functions
                 for steps in (("scale_query", "scale_key"), ("scale_query",), ("scale_key",)))


AV_BACKWARD_MISTAKES = (
    *alike("Value j goes into every output i with weight (i, j): its gradient is the sum over the queries i of weight "
           "(i, j) times grad_output i.",
           "What does output i change by if value j changes by 1, and which index is summed over?",
           ("A instead of Aᵀ in grad_value", {"grad_value": lambda weights, grad, value: weights @ grad},
            "grad_value is A times grad_output, which fits only for n_q = n_k."),
           ("values instead of grad_output in grad_value", ways(
               "grad_value", lambda weights, grad, value: swap(weights) @ value,
               lambda weights, grad, value: weights @ value),
            "grad_value is made of the values, not of grad_output.")),
    Mistake("value not transposed in grad_weights", change={"grad_weights": lambda grad, value: grad @ value},
            does="grad_output is multiplied by the values as they are, which fits only for n_k = d_v.",
            why="The gradient of weight (i, j) is grad_output i times value j, summed over the features.",
            ask="Which two arrays make the gradient of the weights, and over which index does the sum run?"),
)

SCORES_BACKWARD_MISTAKES = (
    *alike("The scores are Q Kᵀ / sqrt(d_k): the factor stands in their derivatives, too, once in that for Q and once in "
           "that for K.",
           "Which factor stands before q · k in a score, and what does it become in the derivatives for Q and K?",
           ("no scale in grad_query", {"scale_query": unscaled}, "grad_query is sqrt(d_k) times too large."),
           ("no scale in grad_key", {"scale_key": unscaled}, "grad_key is sqrt(d_k) times too large."),
           ("no scale in the gradients", {"scale_query": unscaled, "scale_key": unscaled},
            "grad_query and grad_key are sqrt(d_k) times too large, though the scores are scaled."),
           ("scale twice in the gradients", _in_gradients(lambda *given: scaled(scaled(*given), *given[1:])),
            "grad_query or grad_key, or both, are divided by d_k instead of sqrt(d_k)."),
           ("scale inverted in the gradients",
            _in_gradients(lambda scores, query, key: scores * math.sqrt(query.shape[-1])),
            "grad_query or grad_key, or both, are multiplied by sqrt(d_k) instead of divided."),
           ("another size under the root in the gradients", _in_gradients(*(
               lambda scores, query, key, size=size: scores / math.sqrt(size(query, key))
               for size in (lambda q, k: k.shape[-2], lambda q, k: q.shape[-2], lambda q, k: q.shape[0]))),
            "grad_query or grad_key, or both, are divided by the root of another axis's length.")),
    *alike("Query i and key j meet in score (i, j): with dS, its gradient, that of Q is dS K and that of K is dSᵀ Q.",
           "What is the derivative of q · k with respect to q, and over which index does the sum run for query i?",
           ("dS instead of dSᵀ in grad_key", {"grad_key": lambda grad_scores, query, key: grad_scores @ query},
            "The gradient of the scores is not transposed for grad_key, which fits only for n_q = n_k."),
           ("dSᵀ instead of dS in grad_query", {"grad_query": lambda grad_scores, key, query: swap(grad_scores) @ key},
            "The gradient of the scores is transposed for grad_query, which fits only for n_q = n_k."),
           ("query and key swapped in the products", (
               {"grad_query": lambda grad_scores, key, query: grad_scores @ query,
                "grad_key": lambda grad_scores, query, key: swap(grad_scores) @ key},
               {"grad_query": lambda grad_scores, key, query: grad_scores @ query},
               {"grad_key": lambda grad_scores, query, key: swap(grad_scores) @ key},
               {**_row_times("grad_query", -1), **_row_times("grad_key", -2)},
               _row_times("grad_key", -2)),
            "grad_query is made of the queries, or grad_key of the keys."),
           ("gradient of the scores summed before the product", (
               _sum_times_sum("grad_key", -2),
               {**_sum_times_sum("grad_query", -1), **_sum_times_sum("grad_key", -2)}),
            "grad_query or grad_key is made of sums of the scores' gradient, times a sum of rows.")),
)
