"""The exercise attention_delta."""

import math

import numpy as np

from ...families.inputs import inputs
from ...families.memory import grows
from ...families.scores import softmax_of, swap
from ...families.weighted_sums import leading
from ...model import LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike, normal, ways

AXES = dict(output="n_q d_v", grad_output="n_q d_v")


def attention_delta_answer(do, output, grad_output):
    output, grad_output = do.output_in(output), do.grad_in(grad_output)
    return do.finish(do.total(do.products(output, grad_output)), output, grad_output)


STEPS = {
    "output_in": lambda output: output,
    "grad_in": lambda grad: grad,
    "products": Step(lambda output, grad: output * grad, "the products of output and gradient"),
    "total": Step(lambda products: products.sum(axis=-1), "the row sum", True),
    "finish": lambda delta, output, grad: delta,
}


def _norm(array):
    return np.sqrt((array * array).sum(axis=-1))


def _cases():
    def tiny(aspect, *arrays):
        return Case(aspect, tuple(np.array(array, float) for array in arrays))

    return [
        tiny(PLAIN, [[1, 2, 3]], [[4, 0, 5]]), tiny(PLAIN, [[1, 2, 3], [3, 0, 1]], [[4, 0, 5], [1, 7, 2]]),
        tiny(PLAIN, [[-1, 2]], [[3, -1]]), tiny("one feature", [[2], [3], [5]], [[1], [4], [2]]),
        tiny("one query", [[2, 3]], [[5, 7]]), tiny(SQUARE, [[1, 2], [3, 4]], [[5, 6], [7, 8]]),
        tiny(LEADING, [[[1, 2]], [[3, 4]]], [[[5, 6]], [[7, 8]]]), *inputs(AXES),
    ]


ALL_PAIRS = Mistake(
    "a product for each pair of queries",
    does="It makes an array of (n_q, n_q) numbers, of which only the diagonal belongs to the answer.",
    why="Each query needs its own product alone: n_q times d_v multiplications, and room for no more than the output takes.",
    ask="How many entries has your largest array, and how many of them are in the answer?")


ALL_FEATURES = Mistake(
    "a product for each pair of features",
    does="It makes an array of (d_v, d_v) numbers for each query, of which only the diagonal belongs to the answer.",
    why="Feature c of an output meets feature c of its gradient alone: n_q times d_v multiplications, and room for no more "
        "than the output takes.",
    ask="How many entries has your largest array, and how many of them are in the answer?")


def _holds_a_table(run, rows):
    """Whether the call holds as much as a table of n by n takes, with arguments of rows(n)."""
    small, large = ((normal(*rows(n)), normal(*rows(n), seed=1)) for n in (50, 2000))
    return grows(run, 0.7 * 8 * 2000**2, small, large)


def no_pairs(run):
    return ALL_PAIRS if _holds_a_table(run, lambda n: (n, 2)) else None


def no_pairs_of_features(run):
    return ALL_FEATURES if _holds_a_table(run, lambda n: (1, n)) else None


EXERCISE = Exercise(
    name="attention_delta", signature="(output, grad_output)", place=2, axes=AXES, answer_axes="n_q",
    text="For each query the sum over the keys of weight times gradient of the weight, (..., n_q), from attention's output "
         "and its gradient alone, with no array larger than these.",
    answer=attention_delta_answer, steps=STEPS, cases=_cases, audits=(no_pairs, no_pairs_of_features),
    hints=(
        "Put the gradient of a weight in: that of weight (i, l) is the sum over the features c of grad_output[i, c] times "
        "V[l, c]. Now there are two sums, over l and over c.",
        "Change the order of the two sums. The inner one, over the keys l, has a name that you know: it is weight times value, "
        "added up.",
        "What is left is one sum over the features, of two numbers with the same indices i and c. Multiply the two arrays entry "
        "by entry, and add up along the last axis.",
    ),
    mistakes=(
        *alike("The sum runs over the features: each query keeps one number, and each sequence its own queries.",
               "Which index is summed over at the end, and which ones must stand in the answer?",
               ("not summed", {"total": lambda products: products}, "The answer has shape (..., n_q, d_v): it holds the products."),
               ("summed over the queries instead of the features", {"total": lambda products: products.sum(axis=-2)},
                "The answer has shape (..., d_v): the products are summed over the queries."),
               ("one sum for the whole array", {"total": np.sum}, "The answer is one number for all queries."),
               ("one sum for each table", {"total": lambda products: products.sum(axis=(-2, -1))},
                "All queries of a sequence are added up to one number."),
               ("summed over the batch", ways("total", *(
                   lambda products, f=f: f(products.sum(axis=-1), axis=leading(products)) for f in (np.sum, np.mean))),
                "Leading axes disappear: the numbers of all sequences are added or averaged."),
               ("axes counted from the front", {"total": lambda products: products.sum(axis=1)},
                "The sum runs over the second axis, which is the last one only without leading axes.")),
        *alike("In the sum over the keys of A * dA, the sum of A * V is the output: one factor is the output, the other its "
               "gradient.",
               "What is left of the two sums, over keys and features, if the one over the keys is carried out first?",
               ("output squared", {"products": lambda output, grad: output * output}, "The answer is the square of the output's length."),
               ("gradient squared", {"products": lambda output, grad: grad * grad},
                "The answer is the square of the length of grad_output."),
               ("output left out", {"products": lambda output, grad: grad}, "The features of grad_output are added up."),
               ("gradient left out", {"products": lambda output, grad: output}, "The features of the output are added up."),
               ("sum instead of product", {"products": np.add}, "Output and gradient are added, not multiplied."),
               ("difference instead of product", ways("products", lambda output, grad: output - grad, lambda output, grad: grad - output),
                "One of output and gradient is subtracted from the other."),
               ("quotient instead of product", ways("products", np.divide, lambda output, grad: grad / output),
                "One of output and gradient is divided by the other."),
               ("each summed alone", {"finish": lambda delta, output, grad: output.sum(axis=-1) * grad.sum(axis=-1)},
                "The sum of the output's features is multiplied by that of the gradient's.")),
        *alike("The sum over the keys is the dot product of output and gradient as it is: nothing divides it, and it may be "
               "negative.",
               "What should the answer be if grad_output is doubled, and if it is turned round?",
               ("mean instead of sum", {"total": lambda products: products.mean(axis=-1)}, "The sum is divided by d_v."),
               ("divided by sqrt(d_v)", {"finish": lambda delta, output, grad: delta / math.sqrt(output.shape[-1])},
                "The sum is divided by sqrt(d_v)."),
               ("cosine", {"finish": lambda delta, output, grad: delta / (_norm(output) * _norm(grad))},
                "The sum is divided by the lengths of output and gradient."),
               ("divided by one length", ways("finish", lambda delta, output, grad: delta / _norm(output),
                                              lambda delta, output, grad: delta / _norm(grad)),
                "The sum is divided by the length of the output, or of its gradient."),
               ("absolute values", ({"products": lambda output, grad: np.abs(output * grad)}, {"finish": lambda delta, *_: np.abs(delta)}),
                "Negative products or sums lose their sign."),
               ("sign flipped", {"finish": lambda delta, output, grad: -delta}, "The sum has the wrong sign."),
               ("root of the sum", {"finish": lambda delta, output, grad: np.sqrt(delta)},
                "The root of the sum is taken, as for a length.")),
        *alike("All features count: the gradient of a weight is a sum over all of them.",
               "How many products does your sum hold for each query?",
               ("largest product instead of the sum", {"total": lambda products: products.max(axis=-1)},
                "Of each row only the largest product counts."),
               ("one feature alone", ways("total", lambda products: products[..., -1], lambda products: products[..., 0]),
                "Only the first or the last feature counts, as where = stands for += in a loop."),
               ("one feature left out", ways("total", lambda products: products[..., :-1].sum(axis=-1),
                                             lambda products: products[..., 1:].sum(axis=-1)),
                "The first or the last feature is missing from the sum.")),
        Mistake("each output times all gradients", change=ways(
                    "finish", lambda delta, output, grad: (output @ swap(grad)).sum(axis=-1),
                    lambda delta, output, grad: (output @ swap(grad)).sum(axis=-2)),
                does="Each output is multiplied with the gradients of all outputs, and these products are added up.",
                why="Output i meets its own gradient alone: the weights of one query are not in the outputs of the others.",
                ask="Which gradients does one entry of your answer depend on?"),
        Mistake("a whole table returned", change={"answer": lambda output, grad: output @ swap(grad)},
                does="The answer holds a product for each pair of queries: (..., n_q, n_q).",
                why="Output i meets its own gradient alone; the other pairs mean nothing.",
                ask="Which entries of your table do you need?"),
        Mistake("softmax of the output", change={"output_in": softmax_of}, does="The output goes through a softmax first.",
                why="The output holds no scores; its softmax was taken before the values were added up.",
                ask="Which of the forward steps has the softmax in it?"),
    ),
)
