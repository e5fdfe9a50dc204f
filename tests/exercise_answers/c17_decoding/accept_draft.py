"""Answers to accept_draft, written as learners write them."""

import random

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("accept_draft")


@answers.right()
def draft_plain(target, draft, token, u):
    accepted = u < target[token] / draft[token]
    rest = np.maximum(target - draft, 0)
    if rest.sum() == 0:
        return accepted, target
    return accepted, rest / rest.sum()


@answers.right()
def draft_with_a_minimum(target, draft, token, u):
    missing = np.clip(target - draft, 0, None)
    total = missing.sum()
    rest = missing / total if total > 0 else target.copy()
    return bool(u < min(1, target[token] / draft[token])), rest


@answers.right()
def draft_word_by_word(target, draft, token, u):
    missing = [max(float(p) - float(q), 0.0) for p, q in zip(target, draft)]
    rest = [m / sum(missing) for m in missing] if any(missing) else target
    return u < float(target[token]) / float(draft[token]), np.array(rest, dtype=target.dtype)


@answers.right()
def draft_without_a_quotient(target, draft, token, u):
    wide, proposed = target.astype(np.float64), draft.astype(np.float64)
    common = np.minimum(wide, proposed)
    rest = wide if (common == wide).all() else (wide - common) / (wide - common).sum()
    return np.array(u * proposed[token] < wide[token]), rest.astype(target.dtype)


def with_rest(make):
    """The decision as it should be, and this rest."""

    def function(target, draft, token, u):
        return u < target[token] / draft[token], make(target, draft, token)

    return function


def with_decision(decide):
    """This decision, and the rest as it should be."""

    def function(target, draft, token, u):
        return decide(target, draft, token, u), draft_plain(target, draft, token, u)[1]

    return function


def normalised(missing):
    with np.errstate(all="ignore"):
        return missing / missing.sum()


answers.wrong("quotient upside down", function=with_decision(lambda t, d, i, u: u < d[i] / t[i]))
answers.wrong("only the target's probability", function=with_decision(lambda t, d, i, u: u < t[i]))
answers.wrong(
    "product instead of quotient", function=with_decision(lambda t, d, i, u: u < t[i] * d[i])
)
answers.wrong(
    "difference instead of quotient", function=with_decision(lambda t, d, i, u: u < t[i] - d[i])
)
answers.wrong(
    "comparison the wrong way round", function=with_decision(lambda t, d, i, u: u > t[i] / d[i])
)
answers.wrong("equality accepted", function=with_decision(lambda t, d, i, u: u <= t[i] / d[i]))
answers.wrong("u ignored", function=with_decision(lambda t, d, i, u: t[i] >= d[i]))
answers.wrong("u ignored", function=with_decision(lambda t, d, i, u: t[i] / d[i] > 0.3))
answers.wrong(
    "only the target's most likely word", function=with_decision(lambda t, d, i, u: i == t.argmax())
)
answers.wrong(
    "the probability instead of the decision",
    function=with_decision(lambda t, d, i, u: min(1, t[i] / d[i])),
)
answers.wrong(
    "the whole distributions compared", function=with_decision(lambda t, d, i, u: u < t / d)
)
answers.wrong("target drawn from again", function=with_rest(lambda t, d, i: t))
answers.wrong("draft drawn from again", function=with_rest(lambda t, d, i: d))


@answers.wrong("only the rejected word left out")
def draft_word_left_out(target, draft, token, u):
    rest = target.copy()
    rest[token] = 0
    return u < target[token] / draft[token], rest / rest.sum()


@answers.wrong("not normalised")
def draft_not_normalised(target, draft, token, u):
    rest = np.maximum(target - draft, 0)
    return u < target[token] / draft[token], rest if rest.any() else target


@answers.wrong("absolute differences")
def draft_absolute(target, draft, token, u):
    rest = np.abs(target - draft)
    return u < target[token] / draft[token], rest / rest.sum() if rest.any() else target


@answers.wrong("draft minus target")
def draft_too_many(target, draft, token, u):
    rest = np.maximum(draft - target, 0)
    return u < target[token] / draft[token], rest / rest.sum() if rest.any() else target


answers.wrong("negative differences kept", function=with_rest(lambda t, d, i: normalised(t - d)))
answers.wrong(
    "NaN for equal distributions",
    function=with_rest(lambda t, d, i: normalised(np.maximum(t - d, 0))),
)


@answers.wrong("zeros for equal distributions")
def draft_tiny_epsilon(target, draft, token, u):
    rest = np.maximum(target - draft, 0)
    return u < target[token] / draft[token], rest / (rest.sum() + 1e-12)


@answers.wrong("epsilon added to the sum")
def draft_epsilon(target, draft, token, u):
    rest = np.maximum(target - draft, 0)
    return u < target[token] / draft[token], rest / (rest.sum() + 1e-6)


@answers.wrong("uniform for equal distributions")
def draft_uniform(target, draft, token, u):
    rest = np.maximum(target - draft, 0)
    even = np.full_like(target, 1 / len(target))
    return u < target[token] / draft[token], rest / rest.sum() if rest.any() else even


@answers.wrong("another rest after acceptance")
def draft_rest_only_after_a_rejection(target, draft, token, u):
    if u < target[token] / draft[token]:
        return True, target
    return False, draft_plain(target, draft, token, u)[1]


@answers.wrong("parts in another order")
def draft_swapped(target, draft, token, u):
    return draft_plain(target, draft, token, u)[::-1]


@answers.wrong("softmax of the differences")
def draft_softmax(target, draft, token, u):
    powers = np.exp(np.maximum(target - draft, 0))
    rest = powers / powers.sum()
    return u < target[token] / draft[token], rest if (target != draft).any() else target


@answers.wrong("another answer each time")
def draft_draws_again(target, draft, token, u):
    accepted = random.random() < target[token] / draft[token]
    return accepted, draft_plain(target, draft, token, u)[1] * random.random()


@answers.wrong("float64 leaks out")
def draft_wide(target, draft, token, u):
    accepted, rest = draft_plain(target, draft, token, u)
    return accepted, rest.astype(np.float64)


@answers.wrong("quotient upside down")
def accept_by_the_inverse(target, draft, token, u):
    rest = np.maximum(target - draft, 0)
    total = rest.sum()
    accepted = bool(u < draft[token] / target[token]) if target[token] > 0 else False
    return accepted, rest / total if total > 0 else target.copy()


@answers.wrong("None as a part")
def draft_without_rest(target, draft, token, u):
    if u < target[token] / draft[token]:
        return True, None
    return draft_plain(target, draft, token, u)


@answers.wrong("only the rejected word left out")
def draft_without_the_token(target, draft, token, u):
    rest = target.copy()
    rest[token] = 0
    total = rest.sum()
    return u < target[token] / draft[token], rest / total if total > 0 else target


@answers.wrong("nearly equal taken for equal")
def equal_up_to_a_hundredth(target, draft, token, u):
    missing = np.maximum(target - draft, 0)
    rest = missing / missing.sum() if missing.sum() > 0.01 else target
    return u < target[token] / draft[token], rest


@answers.wrong("nearly equal taken for equal")
def equal_by_allclose(target, draft, token, u):
    missing = np.maximum(target - draft, 0)
    rest = target if np.allclose(target, draft) else missing / missing.sum()
    return u < target[token] / draft[token], rest
