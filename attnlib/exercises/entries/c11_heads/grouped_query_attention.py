"""The exercise grouped_query_attention."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from ...families.attention import ATTENTION_FITTED, ATTENTION_MISTAKES, ATTENTION_STEPS, attention_answer
from ...families.choose import first_variants, pick
from ...families.heads import HEAD_MISTAKES, joined, one_leading_axis, swap_heads
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike, normal, ways


def grouped_query_attention_answer(do, query, key, value):
    query = do.axes(do.query_heads(query, key), 3)
    matched = do.match_key(key, query), do.match_value(value, query)
    return do.heads_out(attention_answer(do, query, *matched), key)


def _repeated(array, query):
    return np.repeat(array, query.shape[-3] // array.shape[-3], axis=-3)


GROUPED_STEPS = {
    **ATTENTION_STEPS,
    "axes": lambda query, few: query,
    "query_heads": lambda query, key: query,
    "match_key": Step(_repeated, "the keys of each query head"),
    "match_value": Step(_repeated, "the values of each query head"),
    "heads_out": lambda heads, key: heads,
}


def _matched(*functions):
    """Variants: keys and values matched to the query heads in another way."""
    return tuple({"match_key": match, "match_value": match} for match in functions)


def _reading(*choices):
    """Variants: query head i reads the head that a function of (i, h, h_kv) names."""
    return _matched(*(lambda array, query, choose=choose: np.take(
        array, choose(np.arange(query.shape[-3]), query.shape[-3], array.shape[-3]), axis=-3) for choose in choices))


(TILED,) = _reading(lambda i, h, h_kv: i % h_kv)


def _repeat(times):
    """Each key head as often as a function of (h, h_kv) says."""
    return lambda array, query: np.repeat(array, times(query.shape[-3], array.shape[-3]), axis=-3)


def _repeated_positions(array, query):
    *batch, _, n_k, d = array.shape
    return np.repeat(array, query.shape[-3] // array.shape[-3], axis=-2).reshape(*batch, -1, n_k, d)


def _repeated_on_axis_1(array, query):
    return np.repeat(array, query.shape[1] // array.shape[1], axis=1)


# axis 1 of three runs over the positions, of which none may be left: attnlib's attention is 0 then
ON_AXIS_1 = {"match_key": _repeated_on_axis_1, "match_value": _repeated_on_axis_1}
NO_KEYS = {"shift": lambda scores, axis: scores - scores.max(axis=axis, keepdims=True, initial=-np.inf)}


def _joined_groups(*reductions, spread=False):
    """Variants: the query heads of a group reduced to one, which stands for all of them or alone."""
    def query_heads(query, key, reduce):
        *batch, h, n, d = query.shape
        h_kv = key.shape[-3]
        heads = reduce(query.reshape(*batch, h_kv, h // h_kv, n, d), axis=-3)
        return np.repeat(heads, h // h_kv, axis=-3) if spread else heads

    return ways("query_heads", *(lambda query, key, f=f: query_heads(query, key, f) for f in reductions))


def _first(array, axis):
    return np.take(array, 0, axis=axis)


def _plain_attention(query, key, value):
    return attention_answer(SimpleNamespace(**ATTENTION_STEPS), query, key, value)


def _with_each_head(query, key, value):
    return [_plain_attention(query, key[..., j, None, :, :], value[..., j, None, :, :]) for j in range(key.shape[-3])]


def _side_by_side(heads):
    """The keys of all heads in one row, for every query head."""
    return heads.reshape(*heads.shape[:-3], 1, -1, heads.shape[-1])


def _one_group(which):
    def heads_out(heads, key):
        size = heads.shape[-3] // key.shape[-3]
        found, part = np.zeros_like(heads), slice(0, size) if which == 0 else slice(-size, None)
        found[..., part, :, :] = heads[..., part, :, :]
        return found

    return heads_out


def _dealt(columns):
    """The heads dealt out into a table with a number of columns, and read column by column."""
    return lambda heads, key: np.take(
        heads, np.arange(heads.shape[-3]).reshape(-1, columns(heads, key)).T.ravel(), axis=-3)


def _groups_apart(heads, key):
    *batch, h, n, d = heads.shape
    return heads.reshape(*batch, key.shape[-3], h // key.shape[-3], n, d)


FOUR_HEADS = "With 4 query heads and 2 key heads, which key head and which value head does query head 1 read?"

GROUPED_MISTAKES = (
    *alike("Query heads that stand side by side share a key head and a value head, i // (h // h_kv). np.repeat makes "
           "0, 0, 1, 1 of 0, 1; np.tile and torch's repeat make 0, 1, 0, 1.",
           FOUR_HEADS,
           ("tiled instead of repeated", TILED, "Query head i reads key head i % h_kv."),
           ("only the keys tiled instead of repeated", {"match_key": TILED["match_key"]},
            "Query head i reads key head i % h_kv, and value head i // (h // h_kv)."),
           ("only the values tiled instead of repeated", {"match_value": TILED["match_value"]},
            "Query head i reads key head i // (h // h_kv), as it should, and value head i % h_kv."),
           ("query head i reads key head i", _reading(lambda i, h, h_kv: np.minimum(i, h_kv - 1)),
            "The first h_kv query heads read a key head each, and all others the last one."),
           ("i % (h // h_kv)", _reading(lambda i, h, h_kv: i % (h // h_kv),
                                        lambda i, h, h_kv: np.minimum(i % (h // h_kv), h_kv - 1)),
            "Query head i reads key head i % (h // h_kv), where that exists."),
           ("only one key head", (*_reading(lambda i, h, h_kv: 0 * i, lambda i, h, h_kv: 0 * i + h_kv - 1), *(
               {place: _reading(lambda i, h, h_kv: 0 * i)[0][place]} for place in ("match_key", "match_value"))),
            "All query heads read the same key head, or the same value head."),
           ("key heads averaged", _matched(lambda array, query: array.mean(axis=-3, keepdims=True)),
            "All query heads read the mean of the key heads."),
           ("every query head reads all key heads", ways(
               "answer", lambda *args: np.mean(_with_each_head(*args), axis=0),
               lambda *args: np.sum(_with_each_head(*args), axis=0),
               lambda query, key, value: _plain_attention(query, _side_by_side(key), _side_by_side(value))),
            "Each query head attends to the keys of all key heads, one after the other or all at once."),
           ("heads taken in reverse", (*_reading(lambda i, h, h_kv: (h - 1 - i) // (h // h_kv)),
                                       {"heads_out": lambda heads, key: heads[..., ::-1, :, :]}),
            "The first query heads read the last key head, or stand last in the answer."),
           ("key heads off by one", _reading(
               lambda i, h, h_kv: np.minimum((i + 1) // (h // h_kv), h_kv - 1),
               lambda i, h, h_kv: (i // (h // h_kv) + 1) % h_kv, lambda i, h, h_kv: np.maximum(i - 1, 0) // (h // h_kv),
               lambda i, h, h_kv: (i // (h // h_kv) - 1) % h_kv),
            "The groups begin one query head too early or too late, or read the key head beside their own.")),
    *alike("The number to divide by is the size of a group, h // h_kv: so many query heads share one key head, and so "
           "often each key head is repeated.",
           "How many query heads share one key head if there are 6 and 2?",
           ("i // h_kv", _reading(lambda i, h, h_kv: i // h_kv, lambda i, h, h_kv: np.minimum(i // h_kv, h_kv - 1),
                                  lambda i, h, h_kv: i // h_kv % h_kv),
            "Query head i reads key head i // h_kv, where that exists."),
           ("h_kv // h instead of h // h_kv", (
               *_matched(_repeat(lambda h, h_kv: h_kv // h)),
               *_reading(lambda i, h, h_kv: [int(own) // (h_kv // h) for own in i])),
            "h_kv // h is 0, unless there are as many key heads as query heads: then no key head is left."),
           ("repeated h_kv times", _matched(_repeat(lambda h, h_kv: h_kv)),
            "It works only where h is h_kv squared, or where h_kv is 1 and that one key head broadcasts."),
           ("size of a group fixed in the code", _reading(*(
               lambda i, h, h_kv, c=c, last=last: np.minimum(i // c, h_kv - 1) if last else i // c
               for last in (True, False) for c in (2, 4, 8))),
            "The same number of query heads share a key head whatever h and h_kv are.")),
    *alike("A matrix product needs as many key heads as query heads, or a single one: on the heads' axis, -3, each key "
           "head is repeated h // h_kv times.",
           "On which axis, and how often, must each key head be repeated?",
           ("key heads not matched to the query heads", _matched(lambda array, query: array),
            "It works only where h_kv is 1 or h. Otherwise h query heads meet h_kv key heads, as where keys are "
            "repeated along the positions and not along the heads."),
           ("keys repeated before they are cut into heads", _matched(_repeated_positions),
            "Each key is repeated on the spot, h // h_kv times, and the positions are cut into h heads afterwards: a query "
            "head reads only some of its keys.")),
    *alike("All h query heads attend, each with its own queries and its own output. Only keys and values are shared.",
           "How many heads must the answer have, and in what do two of one group differ?",
           ("only some query heads", {"query_heads": lambda query, key: query[..., :key.shape[-3], :, :]},
            "Only the first h_kv query heads attend; the answer has h_kv heads."),
           ("query heads merged within a group", _joined_groups(np.mean, np.sum, _first),
            "The answer has h_kv heads instead of h."),
           ("query heads averaged within a group", _joined_groups(np.mean, _first, spread=True),
            "All query heads of a group ask with the same query: their mean, or the first one's."),
           ("only the first group", ways("heads_out", _one_group(0), _one_group(-1)),
            "Only one group of query heads has an output; the others are 0."),
           ("query heads in another order", ways("heads_out", _dealt(lambda heads, key: key.shape[-3]),
                                                 _dealt(lambda heads, key: heads.shape[-3] // key.shape[-3])),
            "The outputs are those of the right heads, but the heads stand in another order."),
           ("groups left apart", ways("heads_out", _groups_apart, lambda heads, key: np.reshape(
               heads, (*heads.shape[:-3], key.shape[-3], -1, heads.shape[-1]))),
            "The answer has an axis for the groups: (..., h_kv, h // h_kv, n_q, d_v), or with a group's positions "
            "joined."),
           ("heads merged", {"heads_out": lambda heads, key: joined(swap_heads(heads))},
            "The answer has shape (..., n_q, h * d_v): the heads are merged, which is another step."),
           ("heads averaged",
            ways("heads_out", lambda heads, key: heads.mean(axis=-3), lambda heads, key: heads.sum(axis=-3)),
            "The heads' outputs are averaged or added.")),
    *(replace(mistake, change=(*ways("axes", one_leading_axis), ON_AXIS_1, {**ON_AXIS_1, **NO_KEYS}, *_matched(
        lambda array, query: np.repeat(array, query.shape[-3] // array.shape[-3], axis=1))))
      for mistake in pick(HEAD_MISTAKES, "only for one leading axis")),
    *pick(HEAD_MISTAKES, "sqrt(n_heads) instead of sqrt(d_k)", "d_model instead of the head's size",
          "softmax over the heads"),
    *first_variants(pick(ATTENTION_MISTAKES, "no scale", "d_k instead of sqrt(d_k)", "multiplied by sqrt(d_k)",
                         "sqrt(n_k) instead of sqrt(d_k)", "sqrt(n_q) instead of sqrt(d_k)",
                         "1/2 instead of a square root")),
    *pick(ATTENTION_MISTAKES,
          "sqrt(d_v) instead of sqrt(d_k)", "causal mask applied", "K Qᵀ instead of Q Kᵀ", "no transpose",
          "reshape instead of transpose", "cosine instead of dot product", "no maximum subtracted",
          "one maximum for the whole array", "minimum subtracted instead of maximum", "no exponential",
          "power of 2 instead of e", "argmax instead of softmax", "sign flipped", "not divided by the sum",
          "sum over the wrong axis", "softmax over the queries' axis", "softmax over everything", "softmax left out",
          "scale after the softmax", "sum without keepdims", "Aᵀ V instead of A V", "output transposed", "one key left out",
          "softmax of the weights", "rounded", "input added", "values instead of keys", "softmax of the output",
          "queries instead of values", "keys instead of values", "scores returned instead of the output",
          "values returned instead of the output", "softmax plus one", "weights returned instead of the output"),
)

ONE_KEY_HEAD, ALL_KEY_HEADS = "one key head", "as many key heads as query heads"


def grouped_cases():
    def some(aspect, heads, sizes, seed, batch=(), dtype=np.float64, order="C"):
        (h, h_kv), (n_q, n_k, d_k, d_v) = heads, sizes
        shapes = (h, n_q, d_k), (h_kv, n_k, d_k), (h_kv, n_k, d_v)
        return Case(aspect, tuple(np.asarray(normal(*batch, *shape, seed=seed + i, dtype=dtype), order=order)
                                  for i, shape in enumerate(shapes)))

    def tiny(aspect, query, key, value):
        return Case(aspect, tuple(np.array(array, float) for array in (query, key, value)), aspect == HUGE)

    two_heads = [[[1], [0]], [[0], [2]]], [[[4], [8]], [[-4], [0]]]
    return [
        tiny(PLAIN, [[[1]], [[2]], [[1]], [[2]]], *two_heads), some(PLAIN, (6, 2), (5, 7, 3, 2), 1),
        some(PLAIN, (6, 3), (3, 5, 7, 2), 4, order="F"), some(PLAIN, (4, 2), (2, 3, 5, 7), 7),
        some(PLAIN, (8, 2), (13, 17, 5, 7), 40),
        tiny(ONE_KEY_HEAD, [[[1]], [[2]]], [[[1], [0]]], [[[4], [8]]]), some(ONE_KEY_HEAD, (3, 1), (5, 2, 3, 7), 10),
        tiny(ALL_KEY_HEADS, [[[1]], [[2]]], *two_heads), some(ALL_KEY_HEADS, (3, 3), (5, 7, 2, 11), 13),
        some(SQUARE, (4, 2), (5, 5, 3, 3), 16), some(SQUARE, (6, 2), (3, 3, 3, 3), 19),
        some(SQUARE, (9, 3), (5, 5, 5, 5), 22),
        some(LEADING, (4, 2), (3, 5, 2, 7), 25, (2,)), some(LEADING, (6, 3), (2, 3, 5, 2), 28, (3,), order="F"),
        some(LEADING, (4, 2), (2, 3, 5, 2), 31, (3, 2)),
        tiny(HUGE, [[[100], [0]], [[100], [100]]], [[[100], [99], [0]]], [[[1], [3], [2]]]),
        tiny(HUGE, [[[100]], [[1]]], [[[100], [-100]], [[100], [99]]], [[[1], [3]], [[2], [4]]]),
        tiny(HUGE, [[[100]], [[0]]], [[[100], [100.01]]], [[[1], [3]]]),
        some(FLOAT32, (4, 2), (3, 5, 7, 2), 34, dtype=np.float32),
        some(FLOAT16, (4, 2), (2, 3, 5, 2), 43, dtype=np.float16),
    ]


EXERCISE = Exercise(
    name="grouped_query_attention", signature="(query, key, value)", place=4,
    axes=dict(query="h n_q d_k", key="h_kv n_k d_k", value="h_kv n_k d_v"), answer_axes="h n_q d_v",
    text="Attention with h query heads and h_kv key and value heads: query head i reads key head i // (h // h_kv). The "
         "answer has shape (..., h, n_q, d_v).",
    answer=grouped_query_attention_answer, steps=GROUPED_STEPS, cases=grouped_cases, fitted=ATTENTION_FITTED,
    hints=(
        "h // h_kv query heads that stand side by side share one key head and one value head.",
        "If each key head were there h // h_kv times in a row, it would be attention as you know it.",
        "np.repeat repeats each entry in a row; np.tile repeats the whole. The heads' axis is -3.",
        "np.repeat(key, query.shape[-3] // key.shape[-3], axis=-3), the same for value, and then attention.",
    ),
    mistakes=GROUPED_MISTAKES,
    aspects={LEADING: Mistake(
        "only for three axes",
        does="The function is right for (heads, positions, features), and not with leading (batch) axes.",
        why="There may be any number of axes in front; count axes from the end.",
        ask="Which index names the heads' axis however many axes stand before it?")},
)
