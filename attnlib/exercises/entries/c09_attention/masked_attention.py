"""The exercise masked_attention."""

from dataclasses import replace

import numpy as np

from ...families.attention import ATTENTION_AXES, ATTENTION_FITTED, ATTENTION_MISTAKES, CAUSAL, KEYS_LEFT_OUT
from ...families.choose import also, pick
from ...families.inputs import inputs
from ...families.masked_attention import (MASKED_STEPS, MASKING_MISTAKES, no_fill, numbers_only, only_allowed,
    with_dead_rows)
from ...families.masks import BROADCAST, FITTED_FILLS, MASK_ASPECTS
from ...families.scores import raw_scores_answer
from ...families.softmax import SOFTMAX_STEPS, beside_dead_rows, no_shift
from ...families.weighted_sums import av_product_answer
from ...model import HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, normal


def masked_attention_answer(do, query, key, value, attn_mask):
    key, value = do.keys(key, value)
    scores = do.rescale(raw_scores_answer(do, query, key), query, value)
    mask = do.combine_mask(do.mask_in(do.sense(attn_mask)), scores)
    masked = do.scores_in(do.fill(scores, mask, do.dtype))
    axis = do.axis(-1, masked)
    powers = do.mask_powers(do.exponential(do.shift(masked, axis), axis), mask)
    weights = do.weights_out(do.divide(powers, do.total(powers, axis)))
    weights = do.fill_weights(do.mask_weights(weights, mask), mask, do.dtype)
    weights = do.dead_rows(weights, mask, scores)
    output = av_product_answer(do, do.scale_weights(weights, query), do.choose_values(query, key, value))
    return do.answer_out(do.residual(output, query, value), weights, scores)


def _with(variants, more):
    return tuple({**change, **also} for change in variants for also in more)


def _fitted_fill(make):
    """A mistake of mask_scores with a number in it, with the dead rows handled or left alone."""
    return lambda number: replace(make(number), change=with_dead_rows(make(number).change["fill"]))


def _renormalised(epsilon):
    def renormalise(weights, mask):
        kept = np.where(mask, weights, 0.0)
        return kept / (kept.sum(axis=-1, keepdims=True) + epsilon)

    return renormalise


def _under_a_mask():
    """Mistakes of attention that take other forms under a mask."""
    unmasked = {"fill": no_fill, "shift": no_shift}
    (no_maximum, left_out, epsilon) = pick(ATTENTION_MISTAKES, "no maximum subtracted", "one key left out",
                                           "epsilon in the denominator")
    yield also(no_maximum, {**unmasked, "mask_powers": lambda powers, mask: powers * mask},
               {**unmasked, "mask_powers": only_allowed})
    yield also(replace(left_out, change=left_out.variants[:2]), *(  # the mask is cut with the keys
        {**cut, "mask_in": lambda mask, part=part: mask[..., part] if mask.shape[-1] > 1 else mask}
        for cut, part in zip(KEYS_LEFT_OUT, (slice(-1), slice(1, None)))))
    yield replace(beside_dead_rows(epsilon), change=(*epsilon.variants[2:], *(
        {"fill": no_fill, "mask_weights": _renormalised(e), "divide": SOFTMAX_STEPS["divide"],
         "total": SOFTMAX_STEPS["total"]} for e in (1e-6, 1e-8, 1e-9))))
    yield replace(
        CAUSAL,
        change=(*CAUSAL.variants, {"combine_mask": lambda mask, scores: mask & np.tri(*scores.shape[-2:], dtype=bool)},
                        {**CAUSAL.variants[0], "dead_rows": numbers_only}),
        does="Keys after the query are hidden, or their scores or weights set to 0, whatever the mask says of them.",
        why="Who may attend to whom is said by attn_mask alone: it may be causal, or anything else.",
        ask="Which of the two masks in your function was given to it?")
    # the dead rows found by the mask, or by the NaN in the weights
    for mistake in pick(ATTENTION_MISTAKES, "sum over the wrong axis", "sum without keepdims",
                        "softmax over the queries' axis", "softmax over the first axis", "softmax over the second axis",
                        "softmax over everything", "K Qᵀ instead of Q Kᵀ"):
        yield replace(mistake, change=_with(mistake.variants, ({}, {"dead_rows": numbers_only})))


DEAD = "a query that may attend to nothing"


def random_mask(*shape, seed=0):
    """A random mask in which every query may attend to a key, and every key is attended to."""
    mask = np.random.default_rng([seed, *shape]).random(shape) < 0.6
    mask[..., 0] |= ~mask.any(axis=-1)
    mask[..., 0, :] |= ~mask.any(axis=-2)
    return mask


AXES = dict(ATTENTION_AXES, attn_mask="n_q n_k")


def masked_attention_cases():
    def some(aspect, sizes, mask, seed, dtype=np.float64, batch=()):
        n_q, n_k, d_k, d_v = sizes
        shapes = (n_q, d_k), (n_k, d_k), (n_k, d_v)
        return Case(aspect,
                    (*(normal(*batch, *shape, seed=seed + i, dtype=dtype) for i, shape in enumerate(shapes)), mask))

    def tiny(aspect, query, key, value, mask):
        return Case(aspect, (*(np.array(array, float) for array in (query, key, value)), np.array(mask, bool)),
                    aspect == HUGE)

    dead = random_mask(5, 7, seed=11)
    dead[1], dead[3] = False, True
    square = dead[:, :5].copy()
    square[:, 2] = False  # a dead row of the transposed mask
    single = np.array([[True] * 3, [False] * 3])
    three = [[2], [1]], [[1], [0], [3]], [[4], [8], [-4]]
    return [
        tiny(PLAIN, *three, [[1, 1, 0], [0, 1, 1]]), some(PLAIN, (3, 5, 2, 7), np.ones((3, 5), bool), 7),
        tiny(SQUARE, [[1, 0], [2, 2]], [[0, 1], [1, 1]], [[1, 0], [3, 2]], [[1, 0], [1, 1]]),
        some(SQUARE, (5, 5, 3, 2), np.tri(5, dtype=bool), 10),
        tiny(BROADCAST, *three, [1, 0, 1]), some(BROADCAST, (5, 7, 3, 2), random_mask(1, 7), 13),
        some(BROADCAST, (5, 7, 3, 2), random_mask(5, 7, seed=2), 16, batch=(2,)),
        some(BROADCAST, (5, 3, 7, 2), random_mask(2, 1, 3), 19, batch=(2,)),
        some(BROADCAST, (3, 5, 7, 11), random_mask(2, 1, 1, 5), 22, batch=(2, 3)),
        tiny(LEADING, [[[1, 2]], [[3, 1]]], [[[1, 0], [2, 1]], [[0, 3], [1, 1]]], [[[4], [8]], [[2], [-4]]],
             [[[1, 1]], [[1, 1]]]),
        tiny(DEAD, *three, [[1, 0, 1], [0, 0, 0]]), some(DEAD, (5, 7, 3, 2), dead, 31),
        some(DEAD, (5, 5, 3, 2), square, 31),
        some(BROADCAST, (5, 3, 7, 2), np.array([[True], [False], [True], [True], [False]]), 40),
        some(DEAD, (5, 7, 3, 2), np.stack([dead, random_mask(5, 7, seed=3)]), 34, batch=(2,)),
        *(some(DEAD, (2, 3, 5, 7), single, 37, dtype=dtype) for dtype in (np.float32, np.float16)),
        *(tiny(HUGE, query, key, [[1], [3], [2]], mask) for query, key, mask in (
            ([[100], [0]], [[100], [99], [-100]], [[1, 1, 0], [1, 0, 1]]),
            ([[100], [0], [1]], [[100], [99], [0]], [[1, 1, 1], [0, 1, 1], [1, 0, 1]]),
            ([[-100], [0]], [[100], [101], [99]], [[1, 1, 0], [0, 1, 0]]),
            ([[100], [0]], [[-1], [-2], [100]], [[1, 1, 0], [1, 0, 1]]),
            ([[100, 0], [1, 0]], [[0, 1], [0, 2], [0, 3]], [[1, 1, 1], [1, 0, 1]]),
            ([[-100], [1]], [[100], [100], [101]], [[0, 1, 1], [1, 1, 1]]),
            ([[100], [0]], [[100], [0], [-100]], [[1, 1, 1], [1, 0, 1]]),
            ([[-100], [0]], [[100], [101], [102]], [[1, 1, 1], [1, 0, 1]]))),
        tiny(HUGE, [[1000]], [[1]] * 10 + [[0]], [[n] for n in range(11)], [[True] * 11]),
        *inputs(AXES, make={"attn_mask": lambda shape, seed, dtype: random_mask(*shape, seed=seed)}),
    ]


EXERCISE = Exercise(
    name="masked_attention", signature="(query, key, value, attn_mask)", place=2,
    axes=AXES, answer_axes="n_q d_v",
    text="Attention under a boolean mask (True: may attend) that broadcasts to the scores' shape. A "
         "query that may attend to nothing gets zeros.",
    answer=masked_attention_answer, steps=MASKED_STEPS, cases=masked_attention_cases,
    hints=(
        "It is attention with one more step. Between which two of its steps does the mask belong?",
        "Before the softmax a masked score becomes -inf: np.where(attn_mask, scores, -np.inf). The "
        "softmax then gives it the weight 0, and the others sum to 1.",
        "In a row in which every score is -inf the maximum is -inf too, and -inf - -inf is NaN. Which "
        "rows are these? attn_mask.any(axis=-1, keepdims=True) tells.",
        "Set the weights of those rows to 0 with np.where before the product with the values; or subtract 0 instead of "
        "a maximum of -inf, and divide by 1 instead of a sum of 0.",
    ),
    mistakes=(
        *_under_a_mask(),
        *pick(MASKING_MISTAKES,
              "mask inverted", "mask ignored", "mask only in dead rows", "masked scores set to 0", "mask added",
              "+inf instead of -inf", "0 times infinity", "positive number instead of -inf",
              "the lowest score instead of -inf", "large negative number instead of -inf",
              "large negative number added", "only below the lowest score", "mask after the softmax",
              "-inf after the softmax", "masked keys in the maximum", "mask transposed",
              "the first row of the mask for all", "hidden for all queries", "equal weights for all allowed keys",
              "dead rows NaN", "dead rows uniform", "dead rows not masked", "dead rows not divided",
              "dead rows attend to one key", "every row that holds a masked key set to 0",
              "rows that hold a masked key uniform", "everything 0 if one query may attend to nothing"),
        # rare under a mask: looked for by themselves
        *(replace(mistake, alone=True) for mistake in pick(
            ATTENTION_MISTAKES,
            "d_k fixed in the code", "scale rounded to an integer", "square root of the scores",
            "distance instead of dot product", "half of the features", "maximum of absolute values",
            "divided by the maximum", "scores clipped", "absolute values instead of exponentials",
            "squares instead of exponentials", "ReLU instead of the exponential", "weights ignored",
            "only some of the largest weights", "small weights set to 0", "keys shifted by one",
            "n_q keys instead of n_k")),
        *pick(ATTENTION_MISTAKES,
              "d_k instead of sqrt(d_k)", "no scale", "multiplied by sqrt(d_k)", "sqrt(n_k) instead of sqrt(d_k)",
              "sqrt(n_q) instead of sqrt(d_k)", "1/2 instead of a square root", "d_k read from the first axis",
              "d_k read from the second axis", "sqrt(d_v) instead of sqrt(d_k)", "temperature applied",
              "scale after the softmax", "no transpose", "reshape instead of transpose", ".T on a batched array",
              "elementwise product", "cosine instead of dot product", "np.dot on batches",
              "axes counted from the front", "one maximum for the whole array",
              "minimum subtracted instead of maximum", "mean subtracted instead of maximum",
              "maximum without keepdims", "no exponential", "power of 2 instead of e", "sigmoid instead of softmax",
              "argmax instead of softmax", "sign flipped", "not divided by the sum", "divided by the mean",
              "softmax over all axes but the first", "softmax after the values", "softmax left out",
              "softmax of the output", "softmax plus one", "Aᵀ V instead of A V", "V A instead of A V",
              "A * V instead of A @ V", "transposed values", "reshaped values", "np.dot of batched weights",
              "outputs summed over the batch", "output transposed", "weights averaged over the batch", "one key alone",
              "softmax of the weights", "divided by the number of features", "rounded", "key and value swapped",
              "values instead of keys", "queries instead of values", "keys instead of values",
              "scores returned instead of the output", "weights returned instead of the output",
              "values returned instead of the output", "input added")),
    fitted=(*map(_fitted_fill, FITTED_FILLS), *ATTENTION_FITTED),
    aspects={**MASK_ASPECTS, DEAD: Mistake(
        "dead rows not zero",
        does="A query that may attend to nothing gets something else than zeros.",
        why="By definition its output is 0: there is nothing to mix.",
        ask="What are the weights of a row in which every key is masked?")},
)
