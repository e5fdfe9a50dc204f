"""From the gradient of the weights to that of the scores: steps and mistakes."""

import numpy as np

from ..model import Mistake, Step, alike, normal


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
