"""The exercise head_scores."""

import math

import numpy as np

from ...model import FLOAT16, FLOAT32, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike, normal, ways


def head_scores_answer(do, x, w_q, w_k, n_heads):
    w_q, w_k = do.roles(w_q, w_k)
    w_q, w_k = do.used(w_q, w_k)
    query, key = (do.move(do.split(do.project(x, w), n_heads)) for w in (w_q, w_k))
    return do.finish(do.scale(do.product(query, key), do.size(x), n_heads))


def _swap(array, one=-1, two=-2):
    return np.swapaxes(array, one, two)


def _blocks(x, n_heads):
    return x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads)


def _every_nth(x, n_heads):
    return _swap(x.reshape(*x.shape[:-1], x.shape[-1] // n_heads, n_heads))


def _cases():
    def case(aspect, n_heads, *shape, seed=0, dtype=np.float64):
        d = shape[-1]
        return Case(aspect, (normal(*shape, seed=seed, dtype=dtype), normal(d, d, seed=seed + 1, dtype=dtype, scale=d ** -0.5),
                             normal(d, d, seed=seed + 2, dtype=dtype, scale=d ** -0.5), n_heads))

    def tiny(aspect, x, w_q, w_k, n_heads):
        return Case(aspect, tuple(np.array(a, float) for a in (x, w_q, w_k)) + (n_heads,))

    return [
        tiny(PLAIN, [[1, 2]], [[1, 0], [0, 1]], [[2, 0], [0, 3]], 2), tiny(PLAIN, [[1, 0], [0, 1]], [[1, 2], [0, 1]], [[0, 1], [1, 0]], 1),
        case(PLAIN, 2, 5, 6, seed=1), case(PLAIN, 3, 7, 12, seed=4), case(PLAIN, 5, 3, 10, seed=7), case(PLAIN, 2, 23, 22, seed=10),
        case("one head", 1, 5, 3, seed=13), case("as many heads as features", 5, 3, 5, seed=16), case(SQUARE, 2, 4, 4, seed=19),
        case(SQUARE, 3, 9, 9, seed=20), case(LEADING, 2, 3, 5, 6, seed=22), case(LEADING, 3, 2, 2, 5, 12, seed=25),
        case(FLOAT32, 2, 5, 6, seed=28, dtype=np.float32), case(FLOAT16, 2, 3, 4, seed=31, dtype=np.float16),
    ]


EXERCISE = Exercise(
    name="head_scores", signature="(x, w_q, w_k, n_heads)", place=3,
    axes=dict(x="n d_model", w_q="d_model d_model", w_k="d_model d_model"), answer_axes="n_heads n_q n_k",
    text="The raw scores of each head in self-attention, (..., n_heads, n, n), for x (..., n, d_model) and two projections "
         "(d_model, d_model); head i owns the i-th block of consecutive features of x @ w.",
    answer=head_scores_answer,
    steps={
        "size": lambda x: x.shape[-1],
        "roles": lambda w_q, w_k: (w_q, w_k),
        "used": lambda w_q, w_k: (w_q, w_k),
        "project": Step(lambda x, w: x @ w, "the projections"),
        "split": _blocks,
        "move": lambda heads: _swap(heads, -2, -3),
        "product": Step(lambda query, key: query @ _swap(key), "the product of queries and keys"),
        "scale": Step(lambda scores, d_model, n_heads: scores / math.sqrt(d_model // n_heads), "the scaled scores"),
        "finish": lambda scores: scores,
    },
    cases=_cases,
    hints=(
        "Project first: x @ w_q and x @ w_k have shape (..., n, d_model). Their features belong to the heads in blocks.",
        "reshape(*x.shape[:-1], n_heads, d_head) cuts the features into blocks; np.swapaxes(..., -2, -3) brings the heads "
        "in front of the positions.",
        "Then it is raw_scores for each head. Its d_k is the size of one head, d_model // n_heads.",
    ),
    mistakes=(
        *alike("A head's score is a sum of d_head = d_model / n_heads products, and its spread grows with sqrt(d_head).",
               "How many products are added in one score of one head, and how does its spread grow with them?",
               ("the model's width instead of the head's", {"scale": lambda s, d, h: s / math.sqrt(d)},
                "The scores are divided by sqrt(d_model): sqrt(n_heads) times too small."),
               ("no scale", {"scale": lambda s, d, h: s}, "The scores are not divided."),
               ("number of positions instead of the head's size", {"size": lambda x: x.shape[-2], "scale": lambda s, n, h: s / math.sqrt(n)},
                "The scores are divided by sqrt(n), the root of how many positions there are."),
               ("number of heads instead of their size", {"scale": lambda s, d, h: s / math.sqrt(h)},
                "The scores are divided by sqrt(n_heads)."),
               ("the head's size instead of its root", {"scale": lambda s, d, h: s / (d // h)},
                "The scores are divided by d_head, not by its root."),
               ("scaled three times", {"scale": lambda s, d, h: s / (d // h) ** 1.5},
                "The scores are divided by sqrt(d_head) three times."),
               ("multiplied by the root", {"scale": lambda s, d, h: s * math.sqrt(d // h)},
                "The scores are multiplied by sqrt(d_head).")),
        *alike("Head i owns the features i * d_head to (i + 1) * d_head - 1, of every position.",
               "Which features of x @ w belong to head 0?",
               ("every n-th feature for a head", {"split": _every_nth}, "Head i gets the features i, i + n_heads and so on."),
               ("reshaped without moving the heads", {"split": lambda x, h: x.reshape(*x.shape[:-2], h, x.shape[-2], x.shape[-1] // h),
                                                      "move": lambda heads: heads},
                "The numbers are dealt out anew: a head holds features of different positions."),
               ("heads in reverse order", {"split": lambda x, h: _blocks(x, h)[..., ::-1, :]}, "The last head comes first.")),
        Mistake("heads of one position compared", change={"move": lambda heads: heads},
                does="The scores compare the heads of one position with each other: shape (..., n, n_heads, n_heads).",
                why="The scores of a head compare positions: they are its rows and its columns.",
                ask="What do the last two axes of your queries run over before the product?"),
        Mistake("x cut before the projection", change=ways(
            "answer", lambda *arguments: _cut_first(*arguments, lambda own: own),
            lambda *arguments: _cut_first(*arguments, lambda own: slice(None))),
                does="Each head sees its own block of the features of x alone.",
                why="Each feature of x @ w is a sum over all features of x: every head sees the whole of x.",
                ask="On how many features of x does the first feature of x @ w_q depend?"),
        *alike("Rows belong to queries, made with w_q; columns to keys, made with w_k.", "Which matrix makes the rows of your scores?",
               ("w_q and w_k swapped", {"roles": lambda w_q, w_k: (w_k, w_q)}, "The scores are transposed: rows belong to keys."),
               ("w_q for both", {"roles": lambda w_q, w_k: (w_q, w_q)}, "The keys are made with w_q too."),
               ("w_k for both", {"roles": lambda w_q, w_k: (w_k, w_k)}, "The queries are made with w_k too.")),
        *alike("The queries are x @ w_q and the keys x @ w_k.", "With which axis of w_q are the features of x multiplied?",
               ("projections transposed", {"project": lambda x, w: x @ w.T}, "x is multiplied with the transposed matrices."),
               ("no projection", {"project": lambda x, w: x}, "x itself is compared with itself."),
               ("only one projection", ways("used", lambda w_q, w_k: (w_q, np.eye(len(w_k))), lambda w_q, w_k: (np.eye(len(w_q)), w_k)),
                "The queries, or the keys, are x itself.")),
        Mistake("heads last", change={"finish": lambda scores: np.moveaxis(scores, -3, -1)},
                does="The heads are the last axis: shape (..., n, n, n_heads).",
                why="What comes next takes the last two axes of every head: they must be positions.",
                ask="Which axis of your answer counts the heads?"),
        Mistake("causal mask besides", change={"finish": lambda scores: np.where(np.tri(scores.shape[-1], dtype=bool), scores, -np.inf)},
                does="Scores of later keys are -inf.", why="Raw scores are asked for; a mask comes after them.",
                ask="What does the score of query 0 with key 1 say?"),
        Mistake("heads added up", change={"finish": lambda scores: scores.sum(axis=-3)},
                does="The scores of all heads are added.", why="Each head keeps its own table of scores.",
                ask="Which shape should the answer have?"),
        Mistake("heads averaged", change={"finish": lambda scores: scores.mean(axis=-3)},
                does="The scores of all heads are averaged.", why="Each head keeps its own table of scores.",
                ask="Which shape should the answer have?"),
    ),
)


def _cut_first(x, w_q, w_k, n_heads, outputs):
    """Each head from its block of x, times its block of rows of the matrices and the `outputs(own)` of their columns."""
    size = x.shape[-1] // n_heads
    owns = [slice(i * size, (i + 1) * size) for i in range(n_heads)]
    pairs = [[x[..., own] @ w[own, outputs(own)] for w in (w_q, w_k)] for own in owns]
    return np.stack([query @ _swap(key) / math.sqrt(query.shape[-1]) for query, key in pairs], axis=-3)
