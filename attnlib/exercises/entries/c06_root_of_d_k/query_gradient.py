"""The exercise query_gradient."""

import math

import numpy as np

from ...families.inputs import inputs
from ...model import FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike, ways

AXES = dict(query="n_q d_k", key="n_k d_k", grad_weights="n_q n_k")


def query_gradient_answer(do, query, key, grad_weights):
    d_k = do.size(query, key)
    weights = do.softmax(do.scale(do.product(query, key), d_k))
    mean = do.mean(weights, grad_weights)
    grad_scores = do.slope(weights, do.centre(grad_weights, mean), mean)
    return do.finish(do.scale_back(do.back(grad_scores, key, query), d_k), query)


def _swap(array):
    return np.swapaxes(array, -1, -2)


def _softmax(scores, shift=True, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True) if shift else scores)
    return powers / powers.sum(axis=axis, keepdims=True)


def _mean_of_queries(weights, grad):
    return (weights * grad).sum(axis=-2, keepdims=True)


def _cases():
    def case(aspect, query, key, grad_weights, dtype=float, extreme=False):
        return Case(aspect, tuple(np.array(array, dtype) for array in (query, key, grad_weights)), extreme)

    return [
        case(PLAIN, [[1.0]], [[1], [0], [3]], [[0, 1, 0]]), case(PLAIN, [[1, 0, 0, 0]], [[2, 1, 0, 0], [0, 0, 1, 2]], [[1, 0]]),
        case(PLAIN, [[1, 2, 0, 1]], [[1, 0.5, 0, 0], [0, 0, 1, 1], [1, 2, 0, 0], [0, -0.1, 1, 0]], [[0, 0, 1, 0]]),
        case("one key", [[1, 2]], [[3, 4]], [[5]]), case("equal gradients", [[0, 0]], [[3, 4], [1, 0]], [[2, 2]]),
        case(SQUARE, [[1, 0], [0, 2]], [[1, 1], [0, 1]], [[1, 0], [2, 0]]),
        case(LEADING, [[[1.0]], [[2.0]]], [[[1], [0]], [[0], [2]]], [[[1, 0]], [[1, 3]]]),
        case(HUGE, [[100.0]], [[100], [99.99], [-100]], [[1, 2, 3]], extreme=True),
        case(FLOAT32, [[1.0]], [[1], [0], [3]], [[0, 1, 0]], np.float32),
        *inputs(AXES),
    ]


EXERCISE = Exercise(
    name="query_gradient", signature="(query, key, grad_weights)", place=2,
    axes=AXES, answer_axes="n_q d_k",
    text="The gradient of a loss with respect to the queries, (..., n_q, d_k), where grad_weights (..., n_q, n_k) is its "
         "gradient with respect to the weights, the softmax of Q Kᵀ / sqrt(d_k).",
    answer=query_gradient_answer,
    steps={
        "size": lambda query, key: query.shape[-1],
        "product": Step(lambda query, key: query @ _swap(key), "the product of queries and keys"),
        "scale": Step(lambda product, d_k: product / math.sqrt(d_k), "the scaled scores"),
        "softmax": Step(_softmax, "the weights"),
        "mean": Step(lambda weights, grad: (weights * grad).sum(axis=-1, keepdims=True), "the weighted mean", True),
        "centre": lambda grad, mean: grad - mean,
        "slope": Step(lambda weights, centred, mean: weights * centred, "the gradient with respect to the scores"),
        "back": Step(lambda grad_scores, key, query: grad_scores @ key, "the sum over the keys"),
        "scale_back": lambda grad, d_k: grad / math.sqrt(d_k),
        "finish": lambda grad, query: grad,
    },
    cases=_cases,
    hints=(
        "Go forwards first: scaled scores and their weights. Then backwards through the same two steps.",
        "Through the softmax, with J = diag(a) - a aᵀ: J b is a * (b - (a * b).sum()), row by row. So no matrix J is needed.",
        "Score j is scale * q · k_j. Its derivative with respect to q is scale * k_j, and the contributions of all keys are added.",
        "grad_scores = weights * (grad_weights - mean), with mean = (weights * grad_weights).sum(axis=-1, keepdims=True); "
        "then one product with the keys, and the scale once more.",
    ),
    mistakes=(
        *alike("The scale stands between queries and scores, so a change of a query reaches the scores scaled: the chain rule "
               "brings the factor a second time, on the way back.",
               "What is the derivative of scale * q · k with respect to q?",
               ("scale forgotten on the way back", {"scale_back": lambda grad, d_k: grad},
                "The gradient is sqrt(d_k) times too large."),
               ("scaled twice on the way back", {"scale_back": lambda grad, d_k: grad / d_k},
                "The gradient is divided by d_k, not by its root."),
               ("multiplied by the root on the way back", {"scale_back": lambda grad, d_k: grad * math.sqrt(d_k)},
                "The gradient is multiplied by sqrt(d_k).")),
        *alike("The weights are the softmax of Q Kᵀ / sqrt(d_k).",
               "By what are the dot products divided, in all, before your softmax?",
               ("scale forgotten on the way there", {"scale": lambda product, d_k: product},
                "The weights are those of unscaled scores."),
               ("another size under the root", ways("size", lambda query, key: key.shape[-2], lambda query, key: query.shape[-2],
                                                    lambda query, key: query.shape[0]),
                "The root is that of how many keys there are, or queries, not of d_k."),
               ("scores divided by d_k", {"scale": lambda product, d_k: product / d_k},
                "The weights are those of scores that were divided by d_k, not by its root.")),
        *alike("The softmax hands back a * (b - weighted mean of b): what one key wins, the others lose, so that the gradient "
               "with respect to the scores sums to 0.",
               "What does each row of your gradient with respect to the scores sum to?",
               ("mean not subtracted", {"centre": lambda grad, mean: grad}, "Of the Jacobian diag(a) - a aᵀ only diag(a) is there."),
               ("plain mean instead of the weighted one",
                {"mean": lambda weights, grad: grad.mean(axis=-1, keepdims=True)},
                "Every key counts the same in the mean that is subtracted."),
               ("sum instead of the weighted mean", {"mean": lambda weights, grad: grad.sum(axis=-1, keepdims=True)},
                "The sum of all entries is subtracted, without the weights."),
               ("weights missing in the first term", {"slope": lambda weights, centred, mean: centred + mean - weights * mean},
                "b stands where a * b belongs: only the mean is multiplied by the weights."),
               ("mean added", {"centre": lambda grad, mean: grad + mean}, "The weighted mean is added."),
               ("mean subtracted without the weights", {"slope": lambda weights, centred, mean: weights * (centred + mean) - mean},
                "The mean is subtracted from a * b, so that it is not multiplied by the weights."),
               ("not multiplied by the weights", {"slope": lambda weights, centred, mean: centred},
                "The differences from the mean are not multiplied by the weights."),
               ("each key by itself", {"mean": lambda weights, grad: weights * grad},
                "The slope is a * (1 - a), as if every key had a logistic function of its own.")),
        Mistake("softmax left out on the way back", change={"slope": lambda weights, centred, mean: centred, "centre": lambda grad, mean: grad},
                does="grad_weights goes to the keys as it is.", why="It is the gradient with respect to the weights, and the keys "
                "meet the scores: the softmax lies between.",
                ask="With respect to what is grad_weights a gradient, and what do you multiply the keys with?"),
        Mistake("weights instead of the gradient of the scores", change={"slope": lambda weights, centred, mean: weights},
                does="The keys are multiplied by the weights: grad_weights plays no part.",
                why="That is a weighted mean of the keys, whatever the loss is. Along a query the loss changes as the scores' "
                    "gradient says.",
                ask="What should the answer be where grad_weights is 0?"),
        Mistake("softmax over the queries", change=({"softmax": lambda scores: _softmax(scores, axis=-2)},
                                                    {"softmax": lambda scores: _softmax(scores, axis=-2), "mean": _mean_of_queries}),
                does="Each column of the weights sums to 1.", why="The keys compete for one query: each row sums to 1.",
                ask="Along which axis do the weights sum to 1?"),
        Mistake("mean over the queries", change={"mean": _mean_of_queries},
                does="The weighted mean runs over the queries.", why="Each query has its own row of weights, and its own mean.",
                ask="Which axis belongs to the keys?"),
        Mistake("one sum for all queries", change=ways("mean", lambda weights, grad: (weights * grad).sum(),
                                                       lambda weights, grad: (weights * grad).sum(axis=(-2, -1), keepdims=True)),
                does="The sum that is subtracted runs over all queries.", why="Each query has its own row of weights, and its own mean.",
                ask="Over which axes does your sum run?"),
        Mistake("stopped at the scores", change={"back": lambda grad_scores, key, query: grad_scores},
                does="The answer has a number for each key, as the scores have.",
                why="A query has d_k features: the gradient with respect to the scores must still go through the keys.",
                ask="Which shape does the gradient of a query have?"),
        Mistake("the keys' gradient", change={"back": lambda grad_scores, key, query: _swap(grad_scores) @ query},
                does="The answer is the gradient with respect to the keys.",
                why="The derivative of scale * q · k with respect to q is scale * k, and it is summed over the keys.",
                ask="Which array does your last product take: the queries, or the keys?"),
        Mistake("no maximum subtracted", change={"softmax": lambda scores: _softmax(scores, shift=False)},
                does="exp overflows for large scores.", why="A shift by the maximum of the row changes no weight.",
                ask="What is exp(1000)?"),
        Mistake("step downhill", change={"finish": lambda grad, query: -grad},
                does="The sign is turned.", why="The gradient points uphill; whoever trains subtracts it.",
                ask="In which direction does a loss grow?"),
        Mistake("step taken", alone=True, change=({"finish": lambda grad, query: query - grad}, {"finish": lambda grad, query: query + grad}),
                does="The answer is the query after a step.", why="The gradient alone is asked for.",
                ask="What should the answer be where the gradient is 0?"),
    ),
)
