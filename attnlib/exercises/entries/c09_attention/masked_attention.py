"""The exercise masked_attention."""

import dataclasses

import numpy as np

from ...families.attention import ATTENTION_FITTED, ATTENTION_MISTAKES, CAUSAL, KEYS_LEFT_OUT
from ...families.choose import also
from ...families.masked_attention import MASKED_STEPS, MASKING_MISTAKES, numbers_only, only_allowed, without_dead_rows
from ...families.masks import BROADCAST, FITTED_FILLS, MASK_ASPECTS
from ...families.scores import raw_scores_answer
from ...families.softmax import NO_MAXIMUM, SOFTMAX_STEPS, beside_dead_rows, no_shift
from ...families.weighted_sums import av_product_answer
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, normal


def masked_attention_answer(do, query, key, value, attn_mask):
    key, value = do.keys(key, value)
    scores = do.rescale(raw_scores_answer(do, query, key), query, value)
    mask = do.combine_mask(do.mask_in(do.sense(attn_mask)), scores)
    masked = do.scores_in(do.fill(scores, mask, do.dtype))
    axis = do.axis(-1, masked)
    powers = do.mask_powers(do.exponential(do.shift(masked, axis), axis), mask)
    weights = do.weights_out(do.divide(powers, do.total(powers, axis)))
    weights = do.dead_rows(do.mask_weights(weights, mask), mask, scores)
    output = av_product_answer(do, do.scale_weights(weights, query), do.choose_values(query, key, value))
    return do.answer_out(do.residual(output, query, value), weights, scores)


def _fitted_fill(make):
    """A mistake of mask_scores with a number in it, with the dead rows handled or left alone."""
    def masked(number):
        mistake = make(number)
        return dataclasses.replace(mistake, change=without_dead_rows(mistake.change))

    return masked


def with_numbers_only(mistake):
    """The mistake, with the dead rows found by the mask or by the NaN in the weights."""
    changes = [{**change, **more} for change in mistake.variants for more in ({}, {"dead_rows": numbers_only})]
    return dataclasses.replace(mistake, change=tuple(changes))


def _renormalised(epsilon):
    def renormalise(weights, mask):
        kept = np.where(mask, weights, 0.0)
        return kept / (kept.sum(axis=-1, keepdims=True) + epsilon)

    return renormalise


NEEDS_NUMBERS = ("sum over the wrong axis", "sum without keepdims", "softmax over the queries' axis",
                 "softmax over the first axis", "softmax over the second axis", "softmax over everything",
                 "K Qᵀ instead of Q Kᵀ")


def _under_the_triangle(mask, scores):
    return mask & np.tri(*scores.shape[-2:], dtype=bool)


# the mask is cut with the keys, or joined to the causal one
MASK_CUT = ({**KEYS_LEFT_OUT[0], "mask_in": lambda mask: mask[..., :-1] if mask.shape[-1] > 1 else mask},
            {**KEYS_LEFT_OUT[1], "mask_in": lambda mask: mask[..., 1:] if mask.shape[-1] > 1 else mask})

CAUSAL_TOO = ({"combine_mask": _under_the_triangle}, {**CAUSAL.variants[0], "dead_rows": numbers_only})


def _masked_variants(mistake):
    """A mistake of attention as it shows under a mask."""
    if mistake.name == "one key left out":
        return dataclasses.replace(mistake, change=mistake.variants[:2] + MASK_CUT)
    if mistake is CAUSAL:
        return dataclasses.replace(
            also(mistake, *CAUSAL_TOO),
            does="Keys after the query are hidden, or their scores or weights set to 0, whatever the mask says of them.",
            why="Who may attend to whom is said by attn_mask alone: it may be causal, or anything else.",
            ask="Which of the two masks in your function was given to it?")
    if mistake is NO_MAXIMUM:
        late = {"fill": lambda scores, mask, dtype: scores, "shift": no_shift}
        return dataclasses.replace(mistake, change=(
            mistake.change, {**late, "mask_powers": lambda powers, mask: powers * mask},
            {**late, "mask_powers": only_allowed}))
    if mistake.name == "epsilon in the denominator":
        return dataclasses.replace(beside_dead_rows(mistake), change=mistake.variants[2:] + tuple(
            {"fill": lambda scores, mask, dtype: scores, "mask_weights": _renormalised(e),
             "divide": SOFTMAX_STEPS["divide"], "total": SOFTMAX_STEPS["total"]} for e in (1e-6, 1e-8, 1e-9)))
    return with_numbers_only(mistake) if mistake.name in NEEDS_NUMBERS else mistake


# with so many mistakes of the mask, pairs of those that are rare take too long
RARE_UNDER_A_MASK = {
    "distance instead of dot product", "rounded", "d_k fixed in the code", "scale rounded to an integer",
    "square root of the scores", "temperature applied", "divided by the Euclidean length", "1 subtracted from the exponentials",
    "power of 10 instead of e", "squares instead of exponentials", "absolute values instead of exponentials",
    "only the largest weight", "every second key left out", "keys in reverse order", "largest product instead of the sum",
    "divided by the number of features", "outputs summed over the queries",
    "outputs averaged over the queries", "one query left out", "scores clipped",
    "divided by the maximum", "maximum of absolute values", "outputs summed over the batch", "input added"}

MASKED_SOFTMAX_MISTAKES = tuple(
    dataclasses.replace(mistake, alone=mistake.alone or mistake.name in RARE_UNDER_A_MASK)
    for mistake in map(_masked_variants, ATTENTION_MISTAKES))

DEAD = "a query that may attend to nothing"


def random_mask(*shape, seed=0):
    """A random mask in which every query may attend to a key, and every key is attended to."""
    mask = np.random.default_rng([seed, *shape]).random(shape) < 0.6
    mask[..., 0] |= ~mask.any(axis=-1)
    mask[..., 0, :] |= ~mask.any(axis=-2)
    return mask


def masked_attention_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, sizes, mask, seed, dtype=np.float64, batch=()):
        n_q, n_k, d_k, d_v = sizes
        shapes = (n_q, d_k), (n_k, d_k), (n_k, d_v)
        arrays = (normal(*batch, *shape, seed=seed + i, dtype=dtype) for i, shape in enumerate(shapes))
        return Case(aspect, (*arrays, mask))

    def tiny(aspect, query, key, value, mask, extreme=False, dtype=np.float64):
        arrays = (np.array(array, dtype) for array in (query, key, value))
        return Case(aspect, (*arrays, np.array(mask, bool)), extreme)

    dead = random_mask(5, 7, seed=11)
    dead[1], dead[3] = False, True
    square = dead[:, :5].copy()
    square[:, 2] = False  # a dead row of the transposed mask
    single = np.array([[True] * 3, [False] * 3])
    column = np.array([[True], [False], [True], [True], [False]])
    alone = case(DEAD, (5, 3, 7, 2), column, 40)
    return [
        tiny(PLAIN, [[2.0], [1.0]], [[1.0], [0.0], [3.0]], [[4.0], [8.0], [-4.0]], [[1, 1, 0], [0, 1, 1]]),
        case(PLAIN, (5, 7, 3, 2), random_mask(5, 7), 1),
        case(PLAIN, (7, 5, 11, 13), random_mask(7, 5), 4),
        case(PLAIN, (3, 5, 2, 7), np.ones((3, 5), bool), 7),
        tiny(SQUARE, [[1.0, 0.0], [2.0, 2.0]], [[0.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [3.0, 2.0]], [[1, 0], [1, 1]]),
        case(SQUARE, (5, 5, 5, 5), random_mask(5, 5, seed=1), 10),
        case(SQUARE, (5, 5, 3, 2), np.tri(5, dtype=bool), 10),
        tiny(BROADCAST, [[2.0], [1.0]], [[1.0], [0.0], [3.0]], [[4.0], [8.0], [-4.0]], [1, 0, 1]),
        case(BROADCAST, (5, 7, 3, 2), random_mask(1, 7), 13),
        case(BROADCAST, (5, 7, 3, 2), random_mask(5, 7, seed=2), 16, batch=(2,)),
        case(BROADCAST, (5, 3, 7, 2), random_mask(2, 1, 3), 19, batch=(2,)),
        case(BROADCAST, (3, 5, 7, 11), random_mask(2, 1, 1, 5), 22, batch=(2, 3)),
        tiny(LEADING, [[[1.0, 2.0]], [[3.0, 1.0]]], [[[1.0, 0.0], [2.0, 1.0]], [[0.0, 3.0], [1.0, 1.0]]],
             [[[4.0], [8.0]], [[2.0], [-4.0]]], [[[1, 1]], [[1, 1]]]),
        case(LEADING, (5, 7, 3, 2), random_mask(2, 5, 7), 25, batch=(2,)),
        case(LEADING, (5, 7, 3, 11), random_mask(2, 3, 5, 7), 28, batch=(2, 3)),
        tiny(DEAD, [[2.0], [1.0]], [[1.0], [0.0], [3.0]], [[4.0], [8.0], [-4.0]], [[1, 0, 1], [0, 0, 0]]),
        case(DEAD, (5, 7, 3, 2), dead, 31), case(DEAD, (5, 5, 3, 2), square, 31), alone,
        case(DEAD, (5, 7, 3, 2), np.stack([dead, random_mask(5, 7, seed=3)]), 34, batch=(2,)),
        case(DEAD, (2, 3, 5, 7), single, 37, dtype=f4),
        case(DEAD, (2, 3, 5, 7), single, 37, dtype=f2),
        *(tiny(HUGE, query, key, [[1.0], [3.0], [2.0]], mask, True) for query, key, mask in (
            ([[100], [0]], [[100], [99], [-100]], [[1, 1, 0], [1, 0, 1]]),
            ([[100], [0], [1]], [[100], [99], [0]], [[1, 1, 1], [0, 1, 1], [1, 0, 1]]),
            ([[-100], [0]], [[100], [101], [99]], [[1, 1, 0], [0, 1, 0]]),
            ([[100], [0]], [[-1], [-2], [100]], [[1, 1, 0], [1, 0, 1]]),
            ([[100, 0], [1, 0]], [[0, 1], [0, 2], [0, 3]], [[1, 1, 1], [1, 0, 1]]),
            ([[-100], [1]], [[100], [100], [101]], [[0, 1, 1], [1, 1, 1]]),
            ([[100], [0]], [[100], [0], [-100]], [[1, 1, 1], [1, 0, 1]]),
            ([[-100], [0]], [[100], [101], [102]], [[1, 1, 1], [1, 0, 1]]))),
        Case(HUGE, (np.array([[1000.0]]), np.array([[1.0]] * 10 + [[0.0]]), np.arange(11.0)[:, None],
                    np.ones(11, bool)), True),
        case(FLOAT32, (5, 3, 7, 2), random_mask(5, 3), 43, dtype=f4),
        case(FLOAT16, (3, 2, 5, 7), random_mask(3, 2), 46, dtype=f2),
    ]


EXERCISE = Exercise(
    name="masked_attention", signature="(query, key, value, attn_mask)", place=2,
    axes=dict(query="n_q d_k", key="n_k d_k", value="n_k d_v", attn_mask="n_q n_k"), answer_axes="n_q d_v",
    text="Attention under a boolean mask (True: may attend) that broadcasts to the scores' shape. A "
         "query that may attend to nothing gets zeros.",
    answer=masked_attention_answer, steps=MASKED_STEPS, cases=masked_attention_cases,
    hints=(
        "It is attention with one more step. Between which two of its steps does the mask belong?",
        "Before the softmax a masked score becomes -inf: np.where(attn_mask, scores, -np.inf). The "
        "softmax then gives it the weight 0, and the others sum to 1.",
        "In a row in which every score is -inf the maximum is -inf too, and -inf - -inf is NaN. Which "
        "rows are these? attn_mask.any(axis=-1, keepdims=True) tells.",
        "Set the weights of those rows to 0 with np.where before the product with the values; or "
        "subtract 0 instead of a maximum of -inf, and divide by 1 instead of a sum of 0.",
    ),
    mistakes=(*MASKING_MISTAKES, *MASKED_SOFTMAX_MISTAKES),
    fitted=(*map(_fitted_fill, FITTED_FILLS), *ATTENTION_FITTED),
    aspects={**MASK_ASPECTS, DEAD: Mistake(
        "dead rows not zero",
        does="A query that may attend to nothing gets something else than zeros.",
        why="By definition its output is 0: there is nothing to mix.",
        ask="What are the weights of a row in which every key is masked?")},
)
