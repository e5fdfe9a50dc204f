"""The exercise decode_step."""

import dataclasses

import numpy as np

from ...families.attention import ATTENTION_MISTAKES, ATTENTION_STEPS, attention_answer
from ...families.choose import pick
from ...families.torch_attention import hooked
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, each, normal


def decode_step_answer(do, query, key_cache, value_cache, key_new, value_new):
    key_new, value_new = do.new(key_new, value_new, query)
    keys, values = do.append_key(key_cache, key_new), do.append_value(value_cache, value_new)
    seen = do.seen(keys, values, key_cache, value_cache, key_new, value_new)
    output = attention_answer(hooked(do, finish_scores=lambda scores: do.hide(do.finish_scores(scores))), query, *seen)
    return do.order(output, *do.kept(keys, values, key_cache, value_cache))


def _append(cache, new):
    return np.concatenate([cache, new], axis=-2)


def _in_front(cache, new):
    return np.concatenate([new, cache], axis=-2)


def _oldest_dropped(cache, new):
    return np.concatenate([cache[..., 1:, :], new], axis=-2)


def _last_overwritten(cache, new):
    return np.concatenate([cache[..., :-1, :], new], axis=-2)


def _first_overwritten(cache, new):
    return np.concatenate([new, cache[..., 1:, :]], axis=-2)


def _twice(cache, new):
    return np.concatenate([cache, new, new], axis=-2)


def _last_repeated(array):
    return _append(array, array[..., -1:, :])


def _joined(axis):
    return lambda cache, new: np.concatenate([cache, new], axis=axis)


def entries_added(cache, new):
    return cache + new


def _both(change):
    """A change of both caches, or of one of them."""
    return ({"append_key": change, "append_value": change}, {"append_key": change}, {"append_value": change})


def _visible(keep):
    """Scores with -inf where `keep`, a function of the number of keys, says no."""
    return lambda scores: np.where(keep(scores.shape[-1]), scores, -np.inf)


DECODE_STEPS = {
    **ATTENTION_STEPS,
    "new": lambda key_new, value_new, query: (key_new, value_new),
    "append_key": _append, "append_value": _append,
    "seen": lambda keys, values, key_cache, value_cache, key_new, value_new: (keys, values),
    "hide": lambda scores: scores,
    "kept": lambda keys, values, key_cache, value_cache: (keys, values),
    "order": lambda output, keys, values: (output, keys, values),
}

DECODE_MISTAKES = (
    Mistake("new key not attended to",
            change=({"seen": lambda keys, values, key_cache, value_cache, *new: (key_cache, value_cache)},
                    {"hide": _visible(lambda n: np.arange(n) < n - 1)}),
            does="The output mixes the old values only; the new key and value come too late.",
            why="A position attends to itself too: append first, then attend.",
            ask="Which keys may the new query attend to?"),
    Mistake("one key left out",
            change=({"hide": _visible(lambda n: np.arange(n) > 0)}, {"hide": _visible(lambda n: np.arange(n) != n - 2)}),
            does="The first key or the last one of the cache does not count.",
            why="Every position of the cache counts, from 0 to n - 1, and the new one beside them.",
            ask="Which positions does your slice or your loop run over?"),
    Mistake("one cache not extended",
            change=({"append_value": lambda cache, new: cache}, {"append_key": lambda cache, new: cache}),
            does="One cache gets the new position, and the other stays as it was: the weights are for one key more, "
                 "or one fewer, than there are values.",
            why="Keys and values come in pairs: both caches grow by one position with each step.",
            ask="How many positions have your keys and your values when they are used?"),
    Mistake("only the last keys attended to",
            change=tuple({"hide": _visible(lambda n, k=k: np.arange(n) >= n - k)} for k in (2, 3)),
            numbers=each(lambda k: {"hide": _visible(lambda n: np.arange(n) >= n - k)}, lambda k: k in range(4, 20)),
            does="The query sees the last few positions, and none before them.",
            why="Every position of the cache counts, however long ago it was.",
            ask="Which positions of the cache does your slice hold?"),
    Mistake("only the new key attended to",
            change={"seen": lambda keys, values, key_cache, value_cache, *new: new},
            does="The output is the new value.",
            why="The cache is there so that the new query can attend to all earlier positions.",
            ask="What are the keys in the cache for?"),
    Mistake("cache not extended",
            change=({"kept": lambda keys, values, key_cache, value_cache: (key_cache, value_cache)},
                    {"kept": lambda keys, values, key_cache, value_cache: (key_cache, values)},
                    {"kept": lambda keys, values, key_cache, value_cache: (keys, value_cache)}),
            does="A cache is returned as it came, without the new position.",
            why="The next step would not know this position: concatenate makes a new array, and this "
                "one has to be returned.",
            ask="How many positions must the returned caches have?"),
    Mistake("only the new position kept",
            change={"kept": lambda keys, values, *caches: (keys[..., -1:, :], values[..., -1:, :])},
            does="The returned caches hold the new position alone.",
            why="The next step needs all positions so far.",
            ask="How many positions must the returned caches have?"),
    Mistake("new value added to the output",
            change=tuple({"seen": lambda keys, values, key_cache, value_cache, *new: (key_cache, value_cache),
                          "order": lambda output, keys, values, part=part: (
                              part * (output + values[..., -1:, :]), keys, values)} for part in (1, 0.5)),
            does="The old positions are attended to by themselves, and the new value is added to their output, "
                 "or averaged with it.",
            why="The new position competes with the others: its weight comes out of the same softmax.",
            ask="Which score belongs to the new position, and what does it do to the weights of the others?"),
    Mistake("new position in front", change=_both(_in_front),
            does="The new key or value stands at position 0 of its cache.",
            why="Positions are in the order of time: the newest stands last. Attention alone would not "
                "mind, but a mask or a window would.",
            ask="At which position does the newest key belong?"),
    Mistake("last position overwritten", change=_both(_last_overwritten)[0],
            does="The new key or value replaces the last one in the cache.",
            why="The cache grows by one position with each step.",
            ask="How many positions are there before and after your function?"),
    Mistake("oldest position dropped", change=(_both(_oldest_dropped)[0], _both(_first_overwritten)[0],
                                                  {"kept": lambda keys, values, *caches: (keys[..., 1:, :], values[..., 1:, :])}),
            does="The cache keeps its length: the oldest position is lost.",
            why="That is a sliding window. Here every earlier position stays visible.",
            ask="How many positions are there before and after your function?"),
    Mistake("appended twice",
            change=(_both(_twice)[0],
                    {"kept": lambda keys, values, *caches: (_last_repeated(keys), _last_repeated(values))},
                    {"seen": lambda keys, values, *others: (_last_repeated(keys), _last_repeated(values))}),
            does="The new position stands in the cache twice, or counts twice.",
            why="Every step adds one position.",
            ask="How many positions are there before and after your function?"),
    Mistake("added instead of appended", change=_both(entries_added)[0],
            does="The new key or value is added to every position of the cache.",
            why="+ adds numbers; a cache gets a new row.",
            ask="Which function joins two arrays along an axis?"),
    Mistake("appended along the features", change=_both(_joined(-1))[0],
            does="The new position is joined to the features, where the shapes fit at all.",
            why="Positions run along the last axis but one.",
            ask="Which axis of the cache grows by one?"),
    Mistake("appended along the first axis", change=_both(_joined(0))[0],
            does="It is right for two axes. With leading axes the new position becomes another sequence, "
                 "where the shapes fit at all.",
            why="Positions run along the last axis but one, which is the first only if there are two.",
            ask="Which index counts from the end, and names the positions' axis always?"),
    Mistake("appended along the second axis", change=_both(_joined(1))[0],
            does="It is right for three axes, and for no other number.",
            why="Positions run along the last axis but one: axis=-2.",
            ask="Which index counts from the end, and names the positions' axis always?"),
    Mistake("np.append without axis", change=_both(np.append)[0],
            does="The cache becomes one long row of numbers.",
            why="Without axis np.append flattens both arrays.",
            ask="Along which axis are the two arrays to be joined?"),
    Mistake("key and value swapped", change={"new": lambda key_new, value_new, query: (value_new, key_new)},
            does="The new key goes to the values and the new value to the keys, where the sizes fit at all.",
            why="Each has its own cache: keys are compared with the query, values are mixed.",
            ask="Which cache does each of the two belong to?"),
    Mistake("new key appended to both caches", change={"new": lambda key_new, value_new, query: (key_new, key_new)},
            does="The new key stands in the cache of values too, where its length fits.",
            why="Each cache has a new vector of its own: keys are compared with the query, values are mixed.",
            ask="Which of the new vectors will be mixed into later outputs?"),
    Mistake("stacked instead of joined", change=_both(lambda cache, new: np.stack([cache, new], axis=-2))[0],
            does="Cache and new position are put on an axis of their own, where the shapes fit at all.",
            why="np.stack makes a new axis; np.concatenate makes an axis longer.",
            ask="How many axes should the cache have after your function?"),
    Mistake("query appended instead of the key",
            change={"new": lambda key_new, value_new, query: (query, value_new)},
            does="The query stands in the cache of keys.",
            why="Later queries are compared with keys. A query is used once, and then forgotten.",
            ask="Which of the three new vectors will later steps need?"),
    Mistake("aligned at the top left", change=(
                {"hide": _visible(lambda n: np.arange(n) < 1)}, {"hide": np.tril}),
            does="The new query sees the oldest key alone, or the scores of all others are 0.",
            why="np.tril on one row, or is_causal at the top left, takes the query for position 0. It "
                "stands at the end, and sees every key: no mask is needed.",
            ask="At which position does the new query stand?"),
    Mistake("parts in another order",
            change=({"order": lambda output, keys, values: (keys, values, output)},
                    {"order": lambda output, keys, values: (output, values, keys)},
                    {"order": lambda output, keys, values: (values, keys, output)}),
            does="Output, keys and values come back in another order.",
            why="Who calls the function takes the output first, then the keys, then the values.",
            ask="In which order does the caller unpack your answer?"),
)

FOR_ONE_QUERY = (
    "no scale", "d_k instead of sqrt(d_k)", "multiplied by sqrt(d_k)", "sqrt(n_k) instead of sqrt(d_k)",
    "1/2 instead of a square root", "d_k read from the first axis", "d_k read from the second axis",
    "d_k fixed in the code", "scale rounded to an integer", "square root of the scores", "no transpose",
    "reshape instead of transpose", ".T on a batched array", "elementwise product", "cosine instead of dot product",
    "features multiplied instead of summed", "largest feature instead of the sum", "half of the features",
    "sum instead of product", "smaller entry instead of product", "axes counted from the front",
    "distance instead of dot product", "no maximum subtracted", "minimum subtracted instead of maximum",
    "mean subtracted instead of maximum", "maximum of absolute values", "divided by the maximum", "scores clipped",
    "maximum without keepdims", "no exponential", "absolute values instead of exponentials",
    "squares instead of exponentials", "power of 2 instead of e", "power of 10 instead of e",
    "1 subtracted from the exponentials", "sigmoid instead of softmax", "argmax instead of softmax", "sign flipped",
    "not divided by the sum", "sum over the wrong axis", "epsilon in the denominator", "divided by the mean",
    "divided by the Euclidean length", "logarithm of the softmax", "sum without keepdims",
    "softmax over the queries' axis", "softmax over the first axis", "softmax over all axes but the first",
    "softmax over the second axis", "softmax over everything", "softmax after the values", "softmax left out",
    "softmax of the output", "temperature applied", "scale after the softmax", "sqrt(d_v) instead of sqrt(d_k)",
    "exponential of the sum", "ReLU instead of the exponential", "softmax plus one", "V A instead of A V",
    "transposed values", "A * V instead of A @ V", "not summed", "reshaped values", "rounded",
    "weights averaged over the batch", "outputs summed over the batch", "np.dot of batched weights",
    "weights ignored", "only the largest weight", "every second key left out", "n_q keys instead of n_k",
    "only some of the largest weights", "small weights set to 0", "keys in reverse order", "keys shifted by one",
    "softmax of the weights", "divided by the number of features", "largest product instead of the sum",
    "median of the values", "mean of the values added", "mean of the values subtracted",
    "minimum of weight and value", "weights added to the values", "output transposed",
    "summed over the features instead of the keys", "features summed", "values instead of keys",
    "keys instead of values", "scores returned instead of the output", "weights returned instead of the output",
    "values returned instead of the output",
)

FIRST_VARIANT = ("weights ignored", "argmax instead of softmax", "weights averaged over the batch")


def _for_one_query(mistake):
    """Equal weights of 1 are those of a softmax over the one query, and a column may be taken for its row."""
    if mistake.name in FIRST_VARIANT:
        return dataclasses.replace(mistake, change=mistake.variants[0])
    if mistake.name == "softmax over everything":
        return dataclasses.replace(mistake, change=mistake.variants[:2])
    if mistake.name == "temperature applied":
        return dataclasses.replace(mistake, change=mistake.variants[:-1])
    return mistake


def decode_cases():
    def case(aspect, n, d, d_v, batch=(), dtype=np.float64, seed=60):
        shapes = (1, d), (n, d), (n, d_v), (1, d), (1, d_v)
        return Case(aspect, tuple(normal(*batch, *shape, seed=seed + i, dtype=dtype) for i, shape in enumerate(shapes)))

    def tiny(aspect, *arrays, dtype=np.float64, extreme=False):
        return Case(aspect, tuple(np.array(array, dtype) for array in arrays), extreme)

    def huge(query, *keys):
        column = np.array(keys, float)[:, None]
        values = np.arange(1.0, len(keys) + 1)[:, None]
        return tiny(HUGE, [[query]], column[:-1], values[:-1], column[-1:], values[-1:], extreme=True)

    return [
        tiny(PLAIN, [[2.0]], [[1.0], [0.0]], [[4.0], [8.0]], [[0.5]], [[-4.0]]),
        case(PLAIN, 7, 3, 5), case(PLAIN, 5, 11, 2, seed=70), case(PLAIN, 2, 5, 7, seed=80),
        tiny(ONE_POSITION, [[1.0, 1.0]], [[1.0, 0.0]], [[2.0, 5.0, 1.0]], [[1.0, 2.0]], [[4.0, 3.0, 0.0]]),
        case(ONE_POSITION, 1, 5, 3), case(ONE_POSITION, 1, 3, 3, (2,)),
        tiny(SQUARE, [[1.0, 0.0]], [[1.0, 2.0]], [[4.0, 8.0]], [[3.0, 1.0]], [[-4.0, 0.0]]),
        case(SQUARE, 5, 5, 5), case(SQUARE, 4, 5, 5), case(SQUARE, 3, 2, 3, (3,)),
        case(LEADING, 1, 2, 1, (2,)), case(LEADING, 5, 3, 7, (2,)), case(LEADING, 7, 5, 11, (2, 3)),
        case(LEADING, 3, 3, 3, (3,)), case(LEADING, 3, 2, 5, (2, 1)),
        huge(100.0, 100, 99, 0), huge(-100.0, 100, 101, 102), huge(1000.0, *[1] * 10, 0),
        case(FLOAT32, 2, 1, 1, dtype=np.float32), case(FLOAT32, 5, 7, 3, (2,), np.float32),
        case(FLOAT16, 5, 3, 2, dtype=np.float16),
    ]


ONE_POSITION = "one position in the cache"

EXERCISE = Exercise(
    name="decode_step", signature="(query, key_cache, value_cache, key_new, value_new)", place=1,
    axes=dict(query="n_q d_k", key_cache="n_k d_k", value_cache="n_k d_v", key_new="new d_k", value_new="new d_v"),
    text="One step of decoding: the new key and value are appended to their caches, and the one new "
         "query attends to all of them. Returns (output, key_cache, value_cache).",
    answer=decode_step_answer, steps=DECODE_STEPS, cases=decode_cases,
    outputs=("output", "key_cache", "value_cache"),
    hints=(
        "First make the caches longer by one position each, then attend: the new query sees the new "
        "key too.",
        "Positions run along the last axis but one. np.concatenate joins a list of arrays along an axis.",
        "No mask is needed: the new query stands at the end and may see every key.",
        "np.concatenate([key_cache, key_new], axis=-2) is the new cache of keys, and likewise for the "
        "values. Then attention of query, keys and values; return it with both caches.",
    ),
    mistakes=(*map(_for_one_query, pick(ATTENTION_MISTAKES, *FOR_ONE_QUERY)), *DECODE_MISTAKES),
)
