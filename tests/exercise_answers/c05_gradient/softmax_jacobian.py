"""Answers to softmax_jacobian, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("softmax_jacobian")


def softmax_plain(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@answers.right()
def jacobian_plain(weights):
    return np.diag(weights) - np.outer(weights, weights)


@answers.right()
def jacobian_by_loop(weights):
    n = len(weights)
    jacobian = np.zeros((n, n), dtype=weights.dtype)
    for i in range(n):
        for j in range(n):
            jacobian[i, j] = weights[i] * ((i == j) - weights[j])
    return jacobian


@answers.right()
def jacobian_factored(weights):
    w = weights.astype(np.float64)
    return (w[:, None] * (np.eye(w.size) - w)).astype(weights.dtype)


@answers.right()
def jacobian_filled(weights):
    jacobian = -np.einsum("i,j->ij", weights, weights)
    np.fill_diagonal(jacobian, weights * (1 - weights))
    return jacobian


@answers.wrong("diagonal-only Jacobian")
def jacobian_diagonal(weights):
    return np.diag(weights * (1 - weights))


@answers.wrong("diagonal-only Jacobian")
def jacobian_like_sigmoid(weights):
    return weights * (1 - weights)


@answers.wrong("outer product missing")
def jacobian_first_term(weights):
    return np.diag(weights)


@answers.wrong("diagonal term missing")
def jacobian_second_term(weights):
    return -weights[:, None] * weights[None, :]


@answers.wrong("diagonal term missing")
def jacobian_products(weights):
    return np.outer(weights, weights)


@answers.wrong("sign flipped")
def jacobian_flipped(weights):
    return np.outer(weights, weights) - np.diag(weights)


@answers.wrong("sum instead of difference")
def jacobian_sum(weights):
    return np.diag(weights) + weights[:, None] @ weights[None, :]


@answers.wrong("sign flipped off the diagonal")
def jacobian_positive(weights):
    jacobian = np.outer(weights, weights)
    for i, w in enumerate(weights):
        jacobian[i, i] = w * (1 - w)
    return jacobian


@answers.wrong("identity instead of diag(weights)")
def jacobian_identity(weights):
    return np.eye(len(weights), dtype=weights.dtype) - np.outer(weights, weights)


@answers.wrong("1 instead of the Kronecker delta")
def jacobian_no_delta(weights):
    return weights[:, None] * (1 - weights[None, :])


@answers.wrong("squares instead of the outer product")
def jacobian_squares(weights):
    return np.diag(weights) - weights * weights


@answers.wrong("squares instead of the outer product", "float64 leaks out")
def jacobian_without_a_column(weights):
    return weights * (np.eye(len(weights)) - weights)


@answers.wrong("weights instead of the outer product")
def jacobian_minus_weights(weights):
    return np.diag(weights) - weights


@answers.wrong("inner product instead of outer")
def jacobian_inner(weights):
    return np.diag(weights) - weights @ weights.T


@answers.wrong("Jacobian of the log-softmax", "float64 leaks out")
def jacobian_of_the_log(weights):
    return np.eye(weights.size) - weights[None, :]


@answers.wrong("softmax of the weights")
def jacobian_of_scores(weights):
    w = softmax_plain(weights)
    return np.diag(w) - np.outer(w, w)


@answers.wrong("float64 leaks out")
def jacobian_zeros(weights):
    jacobian = np.zeros((weights.size, weights.size))
    jacobian += np.diag(weights) - np.outer(weights, weights)
    return jacobian


@answers.wrong("diagonal-only Jacobian", "softmax of the weights")
def jacobian_diagonal_of_scores(weights):
    w = softmax_plain(weights)
    return np.diag(w * (1 - w))


@answers.wrong("zeros on the diagonal")
def jacobian_off_diagonal(weights):
    jacobian = -np.outer(weights, weights)
    np.fill_diagonal(jacobian, 0)
    return jacobian


@answers.wrong("weight missing on the diagonal")
def jacobian_one_minus_weight(weights):
    jacobian = -np.outer(weights, weights)
    np.fill_diagonal(jacobian, 1 - weights)
    return jacobian


@answers.wrong("weight not subtracted on the diagonal")
def jacobian_weight_on_the_diagonal(weights):
    jacobian = -np.outer(weights, weights)
    np.fill_diagonal(jacobian, weights)
    return jacobian


@answers.wrong("only one triangle")
def jacobian_upper_half(weights):
    return np.triu(jacobian_plain(weights))


@answers.wrong("sign flipped on the diagonal")
def jacobian_of_another_sign(weights):
    jacobian = -np.outer(weights, weights)
    jacobian[np.diag_indices(len(weights))] = weights**2 - weights
    return jacobian


@answers.wrong("wrong entries beside the diagonal")
def jacobian_of_sums(weights):
    jacobian = -(weights[:, None] + weights)
    np.fill_diagonal(jacobian, weights * (1 - weights))
    return jacobian
