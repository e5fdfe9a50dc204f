"""The exercise grouped_query_attention."""

import dataclasses
from types import SimpleNamespace

import numpy as np

from ...families.attention import (ATTENTION_FITTED, ATTENTION_MISTAKES, ATTENTION_STEPS, CAUSAL,
    VALUE_MISTAKES, attention_answer)
from ...families.choose import first_variants, pick
from ...families.heads import D_MODEL_SCALE, ONE_LEADING_AXIS, OVER_HEADS, SCALE_BY_HEADS, joined, swap_heads
from ...families.scores import SCALE_MISTAKES
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, normal


def grouped_query_attention_answer(do, query, key, value):
    query = do.axes(do.query_heads(query, key), 3)
    matched = do.match_key(key, query), do.match_value(value, query)
    return do.heads_out(attention_answer(do, query, *matched), key)


def _repeated(array, query):
    return np.repeat(array, query.shape[-3] // array.shape[-3], axis=-3)


def _indexed(choose):
    """Changes: query head i reads the head that this function of (i, h, h_kv) names."""
    def match(array, query):
        h, h_kv = query.shape[-3], array.shape[-3]
        return np.take(array, choose(np.arange(h), h, h_kv), axis=-3)

    return {"match_key": match, "match_value": match}


def _unmatched(array, query):
    return array


def _grouped(reduce):
    def query_heads(query, key):
        *batch, h, n, d = query.shape
        h_kv = key.shape[-3]
        return reduce(query.reshape(*batch, h_kv, h // h_kv, n, d), axis=-3)

    return {"query_heads": query_heads}


def _first_of_group(array, axis):
    return np.take(array, 0, axis=axis)


GROUPED_STEPS = {
    **ATTENTION_STEPS,
    "axes": lambda query, few: query,
    "query_heads": lambda query, key: query,
    "match_key": Step(_repeated, "the keys of each query head"),
    "match_value": Step(_repeated, "the values of each query head"),
    "heads_out": lambda heads, key: heads,
}

TILED = _indexed(lambda i, h, h_kv: i % h_kv)


def _plain_attention(query, key, value):
    return attention_answer(SimpleNamespace(**ATTENTION_STEPS), query, key, value)


def _with_each_head(query, key, value):
    return [_plain_attention(query, key[..., j, None, :, :], value[..., j, None, :, :]) for j in range(key.shape[-3])]


def _side_by_side(heads):
    """The keys of all heads in one row, for every query head."""
    return heads.reshape(*heads.shape[:-3], 1, -1, heads.shape[-1])


def _one_group(heads, key, which):
    size = heads.shape[-3] // key.shape[-3]
    found, part = np.zeros_like(heads), slice(0, size) if which == 0 else slice(-size, None)
    found[..., part, :, :] = heads[..., part, :, :]
    return found


def _dealt(heads, columns):
    """The heads dealt out into a table of that many columns, and read column by column."""
    h = heads.shape[-3]
    return np.take(heads, np.arange(h).reshape(-1, columns).T.ravel(), axis=-3)


def _merged(heads, key):
    return joined(swap_heads(heads))


def _groups_apart(heads, key):
    *batch, h, n, d = heads.shape
    h_kv = key.shape[-3]
    return heads.reshape(*batch, h_kv, h // h_kv, n, d)


def _matched(match):
    return {"match_key": match, "match_value": match}


GROUPED_MISTAKES = (
    Mistake("tiled instead of repeated",
            change=TILED,
            does="Query head i reads key head i % h_kv.",
            why="Query heads that stand side by side share a key head: i // (h // h_kv). np.repeat makes "
                "0, 0, 1, 1 of 0, 1; np.tile and torch's repeat make 0, 1, 0, 1.",
            ask="With 4 query heads and 2 key heads, which key head does query head 1 read?"),
    Mistake("only the keys tiled instead of repeated", change={"match_key": TILED["match_key"]},
            does="Query head i reads key head i % h_kv, and value head i // (h // h_kv).",
            why="Key head and value head of a query have the same number, i // (h // h_kv): both are repeated as by "
                "np.repeat, which makes 0, 0, 1, 1 of 0, 1.",
            ask="Which key head and which value head does query head 1 of 4 read, if there are 2 of each?"),
    Mistake("only the values tiled instead of repeated", change={"match_value": TILED["match_value"]},
            does="Query head i reads key head i // (h // h_kv), as it should, and value head i % h_kv.",
            why="Key head and value head of a query have the same number, i // (h // h_kv): both are repeated as by "
                "np.repeat, which makes 0, 0, 1, 1 of 0, 1.",
            ask="Which key head and which value head does query head 1 of 4 read, if there are 2 of each?"),
    Mistake("only some query heads",
            change=({"query_heads": lambda query, key: query[..., :key.shape[-3], :, :]},),
            does="Only the first h_kv query heads attend; the answer has h_kv heads.",
            why="All h query heads attend: h // h_kv of them share one key head.",
            ask="How many heads must the answer have?"),
    Mistake("size of a group fixed in the code", alone=True,
            change=tuple(_indexed(lambda i, h, h_kv, c=c: np.minimum(i // c, h_kv - 1)) for c in (2, 4, 8))
            + tuple(_indexed(lambda i, h, h_kv, c=c: i // c) for c in (2, 4, 8)),
            does="The same number of query heads share a key head whatever h and h_kv are.",
            why="A group holds h // h_kv query heads.",
            ask="How many query heads share one key head?"),
    Mistake("key heads off by one", alone=True,
            change=(_indexed(lambda i, h, h_kv: np.minimum((i + 1) // (h // h_kv), h_kv - 1)),
                    _indexed(lambda i, h, h_kv: (i // (h // h_kv) + 1) % h_kv),
                    _indexed(lambda i, h, h_kv: np.maximum(i - 1, 0) // (h // h_kv)),
                    _indexed(lambda i, h, h_kv: (i // (h // h_kv) - 1) % h_kv)),
            does="The groups begin one query head too early or too late, or read the key head beside their own.",
            why="Query head i reads key head i // (h // h_kv), both counted from 0.",
            ask="Which key head do query heads 0 and 1 of 4 read, if there are 2?"),
    Mistake("query heads averaged within a group", alone=True,
            change=({"query_heads": lambda query, key: np.repeat(_grouped(np.mean)["query_heads"](query, key),
                                                                 query.shape[-3] // key.shape[-3], axis=-3)},
                    {"query_heads": lambda query, key: np.repeat(_grouped(_first_of_group)["query_heads"](query, key),
                                                                 query.shape[-3] // key.shape[-3], axis=-3)}),
            does="All query heads of a group ask with the same query: their mean, or the first one's.",
            why="Every query head keeps its own queries. It is the keys and values that are shared.",
            ask="In what do the outputs of two query heads of one group differ?"),
    Mistake("only the first group", alone=True, change=({"heads_out": lambda heads, key: _one_group(heads, key, 0)},
                    {"heads_out": lambda heads, key: _one_group(heads, key, -1)}),
            does="Only one group of query heads has an output; the others are 0.",
            why="All h query heads attend.",
            ask="Which groups does your loop run over?"),
    Mistake("query head i reads key head i",
            change=(_indexed(lambda i, h, h_kv: np.minimum(i, h_kv - 1)),),
            does="The first h_kv query heads read a key head each, and all others the last one.",
            why="Query heads that stand side by side share a key head: i // (h // h_kv).",
            ask="With 4 query heads and 2 key heads, which key head does query head 1 read?"),
    Mistake("every query head reads all key heads",
            change=({"answer": lambda *args: np.mean(_with_each_head(*args), axis=0)},
                    {"answer": lambda *args: np.sum(_with_each_head(*args), axis=0)},
                    {"answer": lambda query, key, value: _plain_attention(query, _side_by_side(key), _side_by_side(value))}),
            does="Each query head attends to the keys of all key heads, one after the other or all at once.",
            why="Each query head reads exactly one key head, i // (h // h_kv).",
            ask="Which key head does query head 0 read, and which does it not?"),
    Mistake("query heads in another order", alone=True,
            change=({"heads_out": lambda heads, key: _dealt(heads, key.shape[-3])},
                    {"heads_out": lambda heads, key: _dealt(heads, heads.shape[-3] // key.shape[-3])}),
            does="The outputs are those of the right heads, but the heads stand in another order.",
            why="Output i belongs to query head i. Groups that are stacked have to be put back one after the other.",
            ask="Where does the output of query head 1 stand in your answer?"),
    Mistake("i // h_kv", change=(_indexed(lambda i, h, h_kv: i // h_kv),
                                 _indexed(lambda i, h, h_kv: np.minimum(i // h_kv, h_kv - 1)),
                                 _indexed(lambda i, h, h_kv: i // h_kv % h_kv)),
            does="Query head i reads key head i // h_kv, where that exists.",
            why="The number to divide by is the size of a group, h // h_kv, and not the number of groups.",
            ask="How many query heads share one key head?"),
    Mistake("i % (h // h_kv)", change=(_indexed(lambda i, h, h_kv: i % (h // h_kv)),
                                       _indexed(lambda i, h, h_kv: np.minimum(i % (h // h_kv), h_kv - 1))),
            does="Query head i reads key head i % (h // h_kv), where that exists.",
            why="Query heads that stand side by side share a key head: the quotient names it, not the remainder.",
            ask="With 4 query heads and 2 key heads, which key head does query head 1 read?"),
    Mistake("repeated h_kv times", change=_matched(lambda a, query: np.repeat(a, a.shape[-3], axis=-3)),
            does="It works only where h is h_kv squared, or h_kv is 1.",
            why="Each key head serves a group of h // h_kv query heads.",
            ask="How many query heads share one key head?"),
    Mistake("only one key head",
            change=(_indexed(lambda i, h, h_kv: 0 * i), _indexed(lambda i, h, h_kv: 0 * i + h_kv - 1),
                    *({place: _indexed(lambda i, h, h_kv: 0 * i)[place]} for place in ("match_key", "match_value"))),
            does="All query heads read the same key head, or the same value head.",
            why="That is multi-query attention. With h_kv key heads each serves a group of h // h_kv.",
            ask="Which key head does the last query head read?"),
    Mistake("key heads averaged",
            change={"match_key": lambda a, query: a.mean(axis=-3, keepdims=True),
                    "match_value": lambda a, query: a.mean(axis=-3, keepdims=True)},
            does="All query heads read the mean of the key heads.",
            why="Key heads are shared, not mixed: each query head reads exactly one.",
            ask="Which key head does query head 0 read?"),
    Mistake("query heads merged within a group",
            change=(_grouped(np.mean), _grouped(np.sum), _grouped(_first_of_group)),
            does="The answer has h_kv heads instead of h.",
            why="Every query head keeps an output of its own. It is the keys and values that are repeated.",
            ask="How many heads must the answer have?"),
    Mistake("key heads not matched to the query heads", change=_matched(_unmatched),
            does="It works only where h_kv is 1 or h. Otherwise h query heads meet h_kv key heads.",
            why="A matrix product needs as many key heads as query heads, or a single one.",
            ask="On which axis, and how often, must each key head be repeated?"),
    Mistake("heads taken in reverse",
            change=(_indexed(lambda i, h, h_kv: (h - 1 - i) // (h // h_kv)),
                    {"heads_out": lambda heads, key: heads[..., ::-1, :, :]}),
            does="The first query heads read the last key head, or stand last in the answer.",
            why="Query head 0 reads key head 0, and stands first.",
            ask="Which key head does query head 0 read?"),
    dataclasses.replace(
        ONE_LEADING_AXIS,
        change=(ONE_LEADING_AXIS.change,
                _matched(lambda a, query: np.repeat(a, query.shape[1] // a.shape[1], axis=1)),
                _matched(lambda a, query: np.repeat(a, query.shape[-3] // a.shape[-3], axis=1))),
        why="There may be any number of leading axes. Unpacking a shape into a fixed number of names, or "
            "axes counted from the front (axis=1), fits one number only.",
        ask="Which index names the heads' axis however many axes stand before it?"),
    SCALE_BY_HEADS,
    dataclasses.replace(D_MODEL_SCALE, does="The scores are divided by sqrt(h * d_k) and not by sqrt(d_k).",
                        why="Within a head a score is a sum of d_k products, and the scale makes up for their number."),
    Mistake("groups left apart", change=({"heads_out": _groups_apart}, {"heads_out": lambda heads, key: np.reshape(
                heads, (*heads.shape[:-3], key.shape[-3], -1, heads.shape[-1]))}),
            does="The answer has an axis for the groups: (..., h_kv, h // h_kv, n_q, d_v), or with a group's "
                 "positions joined.",
            why="The query heads stand on one axis, as they came.",
            ask="Which axes should the answer have?"),
    Mistake("heads merged", change={"heads_out": _merged},
            does="The answer has shape (..., n_q, h * d_v): the heads are merged.",
            why="The heads stay apart here; merging them is another step.",
            ask="Which axes should the answer have?"),
    Mistake("heads averaged", change=({"heads_out": lambda heads, key: heads.mean(axis=-3)},
                                      {"heads_out": lambda heads, key: heads.sum(axis=-3)}),
            does="The heads' outputs are averaged or added.",
            why="Each query head has an output of its own.",
            ask="Which axes should the answer have?"),
    OVER_HEADS,
    *first_variants(pick(SCALE_MISTAKES, "no scale", "d_k instead of sqrt(d_k)", "multiplied by sqrt(d_k)",
                         "sqrt(n_k) instead of sqrt(d_k)", "sqrt(n_q) instead of sqrt(d_k)",
                         "1/2 instead of a square root")),
    *pick(ATTENTION_MISTAKES, "sqrt(d_v) instead of sqrt(d_k)"), CAUSAL,
    *pick(ATTENTION_MISTAKES, "K Qᵀ instead of Q Kᵀ", "no transpose", "reshape instead of transpose",
          "cosine instead of dot product", "no maximum subtracted", "one maximum for the whole array",
          "minimum subtracted instead of maximum", "no exponential", "power of 2 instead of e",
          "argmax instead of softmax", "sign flipped", "not divided by the sum", "sum over the wrong axis",
          "softmax over the queries' axis", "softmax over everything", "softmax left out", "scale after the softmax",
          "sum without keepdims", "Aᵀ V instead of A V", "one key left out", "softmax of the weights", "rounded"),
    *VALUE_MISTAKES,
)

ONE_KEY_HEAD, ALL_KEY_HEADS = "one key head", "as many key heads as query heads"


def _grouped_cases():
    f4, f2 = np.float32, np.float16

    def case(aspect, heads, sizes, seed, batch=(), dtype=np.float64):
        h, h_kv = heads
        n_q, n_k, d_k, d_v = sizes
        shapes = (h, n_q, d_k), (h_kv, n_k, d_k), (h_kv, n_k, d_v)
        return Case(aspect, tuple(normal(*batch, *shape, seed=seed + i, dtype=dtype)
                                  for i, shape in enumerate(shapes)))

    def tiny(aspect, query, key, value, extreme=False):
        return Case(aspect, tuple(np.array(array, float) for array in (query, key, value)), extreme)

    return [
        tiny(PLAIN, [[[1]], [[2]], [[1]], [[2]]], [[[1], [0]], [[0], [2]]], [[[4], [8]], [[-4], [0]]]),
        case(PLAIN, (6, 2), (5, 7, 3, 2), 1), case(PLAIN, (6, 3), (3, 5, 7, 2), 4),
        case(PLAIN, (4, 2), (2, 3, 5, 7), 7),
        tiny(ONE_KEY_HEAD, [[[1]], [[2]]], [[[1], [0]]], [[[4], [8]]]), case(ONE_KEY_HEAD, (3, 1), (5, 2, 3, 7), 10),
        tiny(ALL_KEY_HEADS, [[[1]], [[2]]], [[[1], [0]], [[0], [2]]], [[[4], [8]], [[-4], [0]]]),
        case(ALL_KEY_HEADS, (3, 3), (5, 7, 2, 11), 13),
        case(SQUARE, (4, 2), (5, 5, 3, 3), 16), case(SQUARE, (6, 2), (3, 3, 3, 3), 19),
        case(SQUARE, (9, 3), (5, 5, 5, 5), 22),
        case(LEADING, (4, 2), (3, 5, 2, 7), 25, (2,)), case(LEADING, (6, 3), (2, 3, 5, 2), 28, (3,)),
        case(LEADING, (4, 2), (2, 3, 5, 2), 31, (3, 2)),
        tiny(HUGE, [[[100], [0]], [[100], [100]]], [[[100], [99], [0]]], [[[1], [3], [2]]], True),
        tiny(HUGE, [[[100]], [[1]]], [[[100], [-100]], [[100], [99]]], [[[1], [3]], [[2], [4]]], True),
        tiny(HUGE, [[[100]], [[0]]], [[[100], [100.01]]], [[[1], [3]]], True),
        case(FLOAT32, (4, 2), (3, 5, 7, 2), 34, dtype=f4), case(FLOAT16, (4, 2), (2, 3, 5, 2), 37, dtype=f2),
    ]


EXERCISE = Exercise(
    name="grouped_query_attention", signature="(query, key, value)", place=4,
    axes=dict(query="h n_q d_k", key="h_kv n_k d_k", value="h_kv n_k d_v"), answer_axes="h n_q d_v",
    text="Attention with h query heads and h_kv key and value heads: query head i reads key head "
         "i // (h // h_kv). The answer has shape (..., h, n_q, d_v).",
    answer=grouped_query_attention_answer, steps=GROUPED_STEPS, cases=_grouped_cases, fitted=ATTENTION_FITTED,
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
