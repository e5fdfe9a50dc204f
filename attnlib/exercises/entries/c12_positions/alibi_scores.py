"""The exercise alibi_scores."""

import numpy as np

from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike, normal, ways

MORE_QUERIES, ONE_QUERY = "more queries than keys", "one query"


def alibi_scores_answer(do, scores, slopes):
    n_q, n_k = scores.shape[-2:]
    distance = do.distance(do.apart(do.query_positions(n_q, n_k), np.arange(n_k)))
    return do.finish(do.lower(scores, do.bias(do.slopes(slopes), distance)))


def _heads_first(slopes, distance):
    return slopes[:, None, None] * distance


def _cases():
    def tiny(aspect, scores, slopes, dtype=float):
        return Case(aspect, (np.array(scores, dtype), np.array(slopes, dtype)))

    def case(aspect, *shape, seed=0, dtype=np.float64, scale=1.0):
        slopes = 2.0 ** -(8 * np.arange(1, shape[-3] + 1) / shape[-3])
        return Case(aspect, (normal(*shape, seed=seed, dtype=dtype, scale=scale), slopes.astype(dtype)))

    return [
        tiny(PLAIN, [[[0, 0, 0], [0, 0, 0]], [[1, 2, 3], [4, 5, 6]]], [1, 0.5]), tiny(PLAIN, [[[1, 2, 3, 4]] * 2], [0.25]),
        case(PLAIN, 2, 5, 7, seed=1), case(PLAIN, 3, 7, 11, seed=2),
        Case(PLAIN, (normal(5, 13, 17, seed=3), np.array([0.7, 0.1, 0.03, 2.0, 0.3]))),
        tiny(SQUARE, [[[0, 0, 0]] * 3], [0.5]), case(SQUARE, 3, 3, 3, seed=4), case(SQUARE, 5, 5, 5, seed=5),
        case(SQUARE, 2, 7, 7, seed=6), tiny(ONE_QUERY, [[[1, 2, 3, 4]], [[0, 0, 0, 0]]], [0.5, 0.25]),
        tiny(MORE_QUERIES, [[[0, 0], [0, 0], [0, 0]]], [0.5]), case(MORE_QUERIES, 2, 11, 5, seed=7),
        case(LEADING, 2, 3, 5, 7, seed=8), case(LEADING, 3, 2, 2, 7, 5, seed=9), case(HUGE, 2, 3, 5, seed=10, scale=1e4),
        case(FLOAT32, 2, 5, 7, seed=11, dtype=np.float32), tiny(FLOAT32, [[[0, 1]] * 2], [0.5], np.float32),
        case(FLOAT16, 3, 7, 5, seed=12, dtype=np.float16), tiny(FLOAT16, [[[0, 1]] * 2], [0.5], np.float16),
    ]


EXERCISE = Exercise(
    name="alibi_scores", signature="(scores, slopes)", place=4,
    axes=dict(scores="h n_q n_k", slopes="h"), answer_axes="h n_q n_k",
    text="The scores (..., h, n_q, n_k) less slope times the distance of query position i and key position j, both counted from "
         "the front; each head has its own slope.",
    answer=alibi_scores_answer,
    steps={
        "query_positions": lambda n_q, n_k: np.arange(n_q),
        "apart": Step(lambda i, j: i[:, None] - j, "the table i - j"),
        "distance": Step(np.abs, "the distances"),
        "slopes": lambda slopes: slopes,
        "bias": Step(_heads_first, "slope times distance"),
        "lower": lambda scores, bias: scores - bias,
        "finish": lambda scores: scores,
    },
    cases=_cases,
    hints=(
        "First one table of distances, (n_q, n_k), from np.arange(n_q)[:, None] and np.arange(n_k).",
        "Each head multiplies that table with its own number. slopes[:, None, None] has shape (h, 1, 1), so that the product "
        "is (h, n_q, n_k).",
        "Subtract the product from the scores. It has float64's width where the distances are integers and the slopes "
        "float32: .astype(scores.dtype) brings the answer back.",
    ),
    mistakes=(
        *alike("A key that is farther away gets a lower score.", "Which key loses most in row 0, and which loses nothing?",
               ("added instead of subtracted", {"lower": lambda scores, bias: scores + bias},
                "Keys that are farther away get higher scores."),
               ("multiplied instead of subtracted", {"lower": lambda scores, bias: scores * bias},
                "The scores are multiplied with slope times distance: what is lowered depends on the score's sign."),
               ("scores multiplied by a decay", {"lower": lambda scores, bias: scores * np.exp(-bias)},
                "The scores are multiplied with exp(-slope times distance): those far away come near 0, from above or below."),
               ("scores left out", {"lower": lambda scores, bias: 0 * scores - bias}, "The answer is the bias alone.")),
        *alike("The distance is |i - j|, on both sides of the query.", "How far is key 2 from query 0?",
               ("no absolute value", {"distance": lambda apart: apart},
                "Keys before the query lose slope times distance, those after it gain as much."),
               ("sign turned round", {"distance": lambda apart: -apart},
                "Keys before the query gain slope times distance, those after it lose as much."),
               ("later keys not lowered", {"distance": lambda apart: np.maximum(apart, 0)},
                "Only keys before the query lose anything."),
               ("earlier keys not lowered", {"distance": lambda apart: np.maximum(-apart, 0)},
                "Only keys after the query lose anything.")),
        *alike("What a key loses grows by one slope with every position.", "How much does a key lose at distance 4, in slopes?",
               ("distance squared", {"distance": lambda apart: apart ** 2}, "A key loses slope times the square of its distance."),
               ("root of the distance", {"distance": lambda apart: np.sqrt(np.abs(apart))},
                "A key loses slope times the root of its distance."),
               ("logarithm of the distance", ways("distance", *(
                   lambda apart, log=log: log(1 + np.abs(apart)) for log in (np.log, np.log10, np.log2))),
                "A key loses slope times a logarithm of 1 plus its distance."),
               ("distance as a share of the keys", {"distance": lambda apart: np.abs(apart) / apart.shape[-1]},
                "The distances are divided by the number of keys."),
               ("own position at distance 1", {"distance": lambda apart: np.abs(apart) + 1},
                "Every distance is one too large."),
               ("distance 0 throughout the past", {"distance": lambda apart: (apart != 0) * 1.0},
                "Every key but the query's own loses one slope, however far it is.")),
        *alike("Query i and key i stand at the same position, counted from the front.", "At which position does query 0 stand?",
               ("queries counted from the back", {"query_positions": lambda n_q, n_k: np.arange(n_q) + n_k - n_q},
                "The last query is taken to stand beside the last key."),
               ("keys alone counted", {"apart": lambda i, j: 0 * i[:, None] - j},
                "The bias is slope times the key's position, whichever query asks."),
               ("queries alone counted", {"apart": lambda i, j: i[:, None] - 0 * j},
                "The bias is slope times the query's position, the same for all keys."),
               ("positions added", {"apart": lambda i, j: i[:, None] + j},
                "The two positions are added, where their difference is asked for."),
               ("counted back from the last key", {"apart": lambda i, j: 0 * i[:, None] + j[-1] - j},
                "The bias is slope times the distance from the last key, whichever query asks.")),
        Mistake("the shortcut of causal attention", change={"apart": lambda i, j: 0 * i[:, None] - j, "distance": lambda apart: apart},
                does="Every key's column is raised by slope times the key's position, whichever query asks.",
                why="Under a causal mask that makes the same weights, and not the same scores. Here the scores are asked for, "
                    "and there is no mask: keys after the query must lose as well.",
                ask="What should row 0 lose at key 2, and what does it lose in your function?"),
        *alike("slopes[k] belongs to head k, the third axis from the end, and to all its rows and columns.",
               "Which axis of the scores has as many entries as there are slopes?",
               ("slopes along the keys", {"bias": lambda slopes, distance: slopes * distance},
                "The slopes are lined up with the last axis, the keys."),
               ("slopes along the queries", {"bias": lambda slopes, distance: slopes[:, None] * distance},
                "The slopes are lined up with the queries.")),
        *alike("A key at distance 1 loses slopes[k] in head k, at distance 2 twice that: the argument says it, for each head.",
               "How much does a key at distance 1 lose in each head, by the argument and in your function?",
               ("first slope for all heads", {"slopes": lambda slopes: slopes[:1]}, "Every head uses the first slope."),
               ("slopes in reverse order", {"slopes": lambda slopes: slopes[::-1]}, "The last head uses the first slope."),
               ("slopes ignored", {"slopes": lambda slopes: np.ones_like(slopes)}, "Every head loses the plain distance."),
               ("slopes made anew", {"slopes": lambda slopes: 2.0 ** -(8 * np.arange(1, len(slopes) + 1) / len(slopes))},
                "The slopes are the powers of 2 from the paper, whatever the argument says."),
               ("divided by the slope", {"bias": lambda slopes, distance: distance / slopes[:, None, None]},
                "A key loses its distance divided by the slope.")),
        Mistake("causal mask besides", change=ways("finish", *(
                    lambda scores, hidden=hidden: np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, hidden)
                    for hidden in (-np.inf, -1e9, -1e4))),
                does="The keys after the query are hidden.",
                why="This function lowers scores. Which keys are hidden is another step's matter.",
                ask="Which scores should be -inf here, if any?"),
        Mistake("softmax besides", change={"finish": lambda scores: np.exp(scores - scores.max(axis=-1, keepdims=True)) / np.exp(
                    scores - scores.max(axis=-1, keepdims=True)).sum(axis=-1, keepdims=True)},
                does="The answer holds weights.", why="The scores are asked for; the softmax comes after them.",
                ask="What should the entries of a row sum to?"),
    ),
)
