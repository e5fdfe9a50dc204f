"""Answers to attention_entropy, written as learners write them."""

import numpy as np

from attnlib.exercises.engine.prove import Answers

ANSWERS = answers = Answers("attention_entropy")


@answers.right()
def entropy_by_where(weights):
    logs = np.log(np.where(weights > 0, weights, 1))
    return -(weights * logs).sum(axis=-1).astype(weights.dtype)


@answers.right()
def entropy_by_log_out(weights):
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    return -np.einsum("...j,...j->...", weights, logs)


@answers.right()
def entropy_by_loops(weights):
    found = np.zeros(weights.shape[:-1])
    for at in np.ndindex(*found.shape):
        found[at] = -sum(w * np.log(w) for w in weights[at].astype(np.float64) if w > 0)
    return found.astype(weights.dtype)


answers.wrong("0 times log 0", function=lambda weights: -(weights * np.log(weights)).sum(axis=-1))
answers.wrong("epsilon in the logarithm", function=lambda weights: -(weights * np.log(weights + 1e-9)).sum(axis=-1))
answers.wrong("sign forgotten", function=lambda weights: -entropy_by_where(weights))
answers.wrong("weights forgotten", function=lambda weights: -np.log(np.where(weights > 0, weights, 1)).sum(axis=-1))
answers.wrong("in bits", function=lambda weights: -(weights * np.log2(np.where(weights > 0, weights, 1))).sum(axis=-1))
answers.wrong("mean instead of sum", function=lambda weights: entropy_by_where(weights) / weights.shape[-1])
answers.wrong("number of keys that count", function=lambda weights: np.exp(entropy_by_where(weights)))
answers.wrong("0 times log 0", "sign forgotten", function=lambda weights: (weights * np.log(weights)).sum(axis=-1))
answers.wrong("axis kept", function=lambda weights: entropy_by_where(weights)[..., None])


@answers.wrong("one number for all rows")
def entropy_of_all(weights):
    return -(weights * np.log(np.where(weights > 0, weights, 1))).sum()


answers.wrong("small weights cut off", function=lambda weights: -(weights * np.log(np.clip(weights, 1e-10, None))).sum(axis=-1))
