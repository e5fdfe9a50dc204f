"""The exercise split_kv_attention."""

import dataclasses
import operator
from types import SimpleNamespace

import numpy as np

from ...families.attention import ATTENTION_MISTAKES, ATTENTION_STEPS, attention_answer, attention_cases
from ...families.choose import pick
from ...families.scores import softmax_of
from ...families.torch_attention import hooked
from ...model import HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, normal


def split_kv_answer(do, query, key, value, n_splits):
    parts = []
    for start, stop in do.split(key.shape[-2], n_splits):
        if stop <= start:
            raise ValueError("zero-size array to reduction operation")
        seen = {}

        def keep(scores, seen=seen):
            seen["scores"] = do.finish_scores(scores)
            return seen["scores"]

        here = slice(start, stop)
        out = attention_answer(hooked(do, finish_scores=keep), query, key[..., here, :], value[..., here, :])
        highest = seen["scores"].max(axis=-1, keepdims=True)
        total = np.exp(seen["scores"] - highest).sum(axis=-1, keepdims=True)
        parts.append(SimpleNamespace(out=out, lse=do.lse(highest, total), highest=highest, total=total,
                                     n_keys=stop - start))
    return do.merge(parts, do.merge_weights)


def _even_split(n_k, n_splits):
    edges = [n_k * i // n_splits for i in range(n_splits + 1)]
    return list(zip(edges, edges[1:]))


def _floor_split(n_k, n_splits):
    size = n_k // n_splits
    return [(i * size, (i + 1) * size) for i in range(n_splits)]


def _ceil_split(n_k, n_splits):
    size = -(-n_k // n_splits)
    return [(i * size, min((i + 1) * size, n_k)) for i in range(n_splits)]


def _long_first(n_k, n_splits):
    return [(part[0], part[-1] + 1) for part in np.array_split(np.arange(n_k), n_splits)]


def _either_way(change):
    """A merge that depends on the parts' order, with the longer parts last and first."""
    return change, {**change, "split": _long_first}


def _overlapping(n_k, n_splits):
    return [(start, min(stop + 1, n_k)) for start, stop in _even_split(n_k, n_splits)]


def _gaps(n_k, n_splits):
    return [(start, stop if stop == n_k else stop - 1) for start, stop in _even_split(n_k, n_splits)]


def _stacked(parts, name):
    return np.stack([getattr(part, name) for part in parts])


def _merge(parts, weights_of):
    weights = weights_of(_stacked(parts, "lse"))
    return (weights * _stacked(parts, "out")).sum(axis=0) / weights.sum(axis=0)


def _merge_undivided(parts, weights_of):
    return (weights_of(_stacked(parts, "lse")) * _stacked(parts, "out")).sum(axis=0)


def _partial_weights(lses):
    return np.exp(lses - lses.max(axis=0))


def _running(lse_of):
    """Partial results merged one after the other, with a log-sum-exp that goes on as `lse_of` says."""
    def merge(parts, weights_of):
        out, lse = parts[0].out, parts[0].lse
        for part in parts[1:]:
            share = 1 / (1 + np.exp(part.lse - lse))
            out, lse = share * out + (1 - share) * part.out, lse_of(lse, part.lse)
        return out

    return merge


def _updated_too_early(parts, weights_of):
    out, lse = parts[0].out, parts[0].lse
    for part in parts[1:]:
        lse = np.logaddexp(lse, part.lse)
        out = out + np.exp(part.lse - lse) * part.out
    return out


def _pairwise_mean(parts, weights_of):
    out = parts[0].out
    for part in parts[1:]:
        out = (out + part.out) / 2
    return out


def _by_length(parts, weights_of):
    return sum(part.n_keys * part.out for part in parts) / sum(part.n_keys for part in parts)


def _along_the_first_axis(query, key, value, n_splits):
    def part(key, value):
        scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(query.shape[-1])
        return softmax_of(scores) @ value, np.logaddexp.reduce(scores, axis=-1, keepdims=True)

    outs, lses = map(np.stack, zip(*map(part, np.array_split(key, n_splits), np.array_split(value, n_splits))))
    shares = _partial_weights(lses)
    return (shares * outs).sum(axis=0) / shares.sum(axis=0)


def _rescaled(numerator, denominator):
    """Accumulators and sums added up, each rescaled to the common maximum or not."""
    def merge(parts, weights_of):
        highest, total = _stacked(parts, "highest"), _stacked(parts, "total")
        scale = np.exp(highest - highest.max(axis=0))
        above, below = (scale if rescale else np.ones_like(scale) for rescale in (numerator, denominator))
        return (above * total * _stacked(parts, "out")).sum(axis=0) / (below * total).sum(axis=0)

    return merge


def _running_sums(old_output=True, old_sum=True, new_output=True, new_sum=True):
    """Accumulator and sum go on from part to part; what is not rescaled stays on an old scale."""
    def merge(parts, weights_of):
        highest, output, total = -np.inf, 0.0, 0.0
        for part in parts:
            top = np.maximum(highest, part.highest)
            old, new = np.exp(highest - top), np.exp(part.highest - top)
            output = output * (old if old_output else 1) + part.total * part.out * (new if new_output else 1)
            total = total * (old if old_sum else 1) + part.total * (new if new_sum else 1)
            highest = top
        return output / total

    return {"merge": merge}


def _shared_over_the_queries(parts, weights_of):
    weights = weights_of(_stacked(parts, "lse"))
    return (weights / weights.sum(axis=-2, keepdims=True) * _stacked(parts, "out")).sum(axis=0)


def _lse_of_all(highest, total):
    top = highest.max(axis=-2, keepdims=True)
    return top + np.log((total * np.exp(highest - top)).sum(axis=-2, keepdims=True))


def _best_part(parts, weights_of):
    best = _stacked(parts, "lse").argmax(axis=0)
    return np.take_along_axis(_stacked(parts, "out"), best[None], axis=0)[0]


IN_PARTS = (
    "no scale", "d_k instead of sqrt(d_k)", "multiplied by sqrt(d_k)", "sqrt(n_k) instead of sqrt(d_k)",
    "sqrt(n_q) instead of sqrt(d_k)", "1/2 instead of a square root", "d_k read from the first axis",
    "d_k read from the second axis", "d_k fixed in the code", "scale rounded to an integer", "K Qᵀ instead of Q Kᵀ",
    "no transpose", "reshape instead of transpose", ".T on a batched array", "elementwise product",
    "cosine instead of dot product", "features multiplied instead of summed", "largest feature instead of the sum",
    "half of the features", "sum instead of product", "smaller entry instead of product",
    "axes counted from the front", "distance instead of dot product", "no maximum subtracted",
    "one maximum for the whole array", "minimum subtracted instead of maximum", "mean subtracted instead of maximum",
    "maximum of absolute values", "divided by the maximum", "scores clipped", "maximum without keepdims",
    "maximum over the wrong axis", "no exponential", "absolute values instead of exponentials",
    "squares instead of exponentials", "power of 2 instead of e", "power of 10 instead of e",
    "1 subtracted from the exponentials", "sigmoid instead of softmax", "argmax instead of softmax", "sign flipped",
    "not divided by the sum", "sum over the wrong axis", "epsilon in the denominator", "divided by the mean",
    "divided by the Euclidean length", "logarithm of the softmax", "sum without keepdims",
    "softmax over the queries' axis", "softmax over the first axis", "softmax over all axes but the first",
    "softmax over everything", "softmax after the values", "softmax left out", "softmax of the output",
    "temperature applied", "scale after the softmax", "sqrt(d_v) instead of sqrt(d_k)", "exponential of the sum",
    "ReLU instead of the exponential", "Aᵀ V instead of A V", "not summed", "outputs summed over the queries",
    "outputs averaged over the queries", "rounded", "one query left out", "only the first query", "weights ignored",
    "only the largest weight", "every second key left out", "n_q keys instead of n_k",
    "only some of the largest weights", "small weights set to 0", "keys in reverse order", "keys shifted by one",
    "divided by the number of features", "largest product instead of the sum", "median of the values",
    "mean of the values added", "mean of the values subtracted", "minimum of weight and value",
    "weights added to the values", "output transposed", "summed over the features instead of the keys",
    "summed over the queries instead of the keys", "key and value swapped", "values instead of keys",
    "queries instead of values", "keys instead of values", "weights returned instead of the output", "input added",
)

SPLIT_STEPS = {
    **ATTENTION_STEPS,
    "split": _even_split,
    "lse": lambda highest, total: highest + np.log(total),
    "merge_weights": _partial_weights,
    "merge": _merge,
}

MERGE_MISTAKES = (
    Mistake("partial results averaged", change={"merge": lambda parts, w: _stacked(parts, "out").mean(axis=0)},
            does="Every part of the keys counts the same.",
            why="A part with a high score holds nearly all the weight, another nearly none: its share "
                "is exp of its log-sum-exp.",
            ask="How much of the whole softmax's sum belongs to each part?"),
    Mistake("partial results added", change={"merge": lambda parts, w: _stacked(parts, "out").sum(axis=0)},
            does="The parts' outputs are added up.",
            why="Each part's weights sum to 1 by themselves, so together they sum to n_splits.",
            ask="What must the weights of all keys sum to?"),
    Mistake("weighted by the number of keys", change={"merge": _by_length},
            does="A part counts as much as it has keys.",
            why="It counts as much as its scores make it: exp of its log-sum-exp.",
            ask="How much of the whole softmax's sum belongs to each part?"),
    Mistake("averaged one after the other",
            change=_either_way({"merge": _pairwise_mean}),
            does="The last part counts half, the one before a quarter, and so on.",
            why="A part's share does not depend on when it comes: it is exp of its log-sum-exp.",
            ask="What becomes of your answer if the parts come in another order?"),
    Mistake("only one part used",
            change=_either_way({"merge": lambda parts, w: parts[-1].out})
                   + _either_way({"merge": lambda parts, w: parts[0].out}),
            does="The answer is the output of the first or of the last part.",
            why="All parts together hold the keys; each has its share.",
            ask="What happens in your loop to the parts before?"),
    Mistake("the larger part alone", change={"merge": _best_part},
            does="The part with the largest log-sum-exp is taken alone.",
            why="The other parts hold weight too.",
            ask="How much of the whole softmax's sum belongs to each part?"),
    Mistake("shares over the queries instead of the parts",
            change=({"merge": lambda parts, w: (softmax_of(_stacked(parts, "lse").swapaxes(-1, -2)).swapaxes(
                -1, -2) * _stacked(parts, "out")).sum(axis=0)}, {"merge": _shared_over_the_queries}),
            does="The softmax of the log-sum-exps runs over the queries: a query's shares do not sum to 1.",
            why="The parts compete for each query, so the shares sum to 1 over the parts.",
            ask="Which axis of your log-sum-exps counts the parts?"),
    Mistake("one log-sum-exp for all queries",
            change=({"lse": lambda highest, total: np.broadcast_to(_lse_of_all(highest, total), highest.shape)},
                    {"lse": lambda highest, total: np.full_like(highest, (highest + np.log(total)).mean())}),
            does="A part has the same share for every query.",
            why="Each query has scores of its own, and so a log-sum-exp of its own in every part.",
            ask="How many log-sum-exps has one part if there are 5 queries?"),
    Mistake("shares of the partial results swapped",
            change=_either_way({"merge_weights": lambda lses: _partial_weights(lses)[::-1]}),
            does="The first part gets the share of the last one, and the other way round.",
            why="A part's share in the whole is exp of its own log-sum-exp.",
            ask="Which part should count more, the one with the larger or the smaller log-sum-exp?"),
    Mistake("one part left out",
            change=tuple(variant for some in (slice(0, -1), slice(1, None)) for variant in _either_way(
                {"merge": lambda parts, weights_of, some=some: _merge(parts[some] or parts, weights_of)})),
            does="The first or the last part does not count, unless it is the only one.",
            why="There are n_splits parts, from 0 to n_splits - 1; range(n) ends at n - 1.",
            ask="Which parts does your loop run over?"),
    Mistake("log-sum-exps as weights", change={"merge_weights": lambda lses: lses},
            does="The parts are weighted by their log-sum-exps themselves.",
            why="A log-sum-exp may be negative; the share of a part is exp of it.",
            ask="Which function undoes the logarithm?"),
    Mistake("weights not divided by their sum",
            change={"merge": _merge_undivided},
            does="The parts are weighted by exp of their log-sum-exps, and together weigh more than 1.",
            why="Shares sum to 1: the weighted sum is to be divided by the sum of the weights.",
            ask="What do the weights of all parts sum to?"),
    Mistake("maximum instead of log-sum-exp", change={"lse": lambda highest, total: highest},
            does="A part counts as much as its best key.",
            why="The sum of the exponentials belongs to it too: ten good keys count more than one.",
            ask="What is the log-sum-exp of a part with ten equal scores?"),
    Mistake("maximum not added back", change={"lse": lambda highest, total: np.log(total)},
            does="The parts are added by sums of exp(score - maximum), each with a maximum of its own.",
            why="Sums from which different maxima were taken are not on one scale. Add the maximum to "
                "the logarithm, or multiply by exp(maximum of the part - common maximum).",
            ask="How does log-sum-exp change if 5 is subtracted from all scores?"),
    Mistake("no logarithm", change={"lse": lambda highest, total: highest + total},
            does="The sum of the exponentials is added to the maximum as it is.",
            why="exp(maximum) * sum is exp(maximum + log(sum)).",
            ask="How is a product written as one power of e?"),
    Mistake("sign of the maximum flipped", change={"lse": lambda highest, total: np.log(total) - highest},
            does="Parts with low scores count most.",
            why="The maximum was subtracted before exp; afterwards it is added back.",
            ask="Which sign undoes the subtraction?"),
    Mistake("sign of the logarithm flipped", change={"lse": lambda highest, total: highest - np.log(total)},
            does="A part with many good keys counts less than one with a single good key.",
            why="exp(maximum) * sum is exp(maximum + log(sum)).",
            ask="How is a product written as one power of e?"),
    Mistake("sign of the log-sum-exp flipped", change={"merge_weights": lambda lses: np.exp(lses.min(axis=0) - lses)},
            does="The part with the lowest log-sum-exp counts most.",
            why="A part's share in the whole is exp of its log-sum-exp, not of its opposite.",
            ask="Which part should count more, the one with the larger or the smaller log-sum-exp?"),
    Mistake("output not rescaled",
            change=({"merge": _rescaled(False, True)}, *_either_way(_running_sums(old_output=False)),
                    *_either_way(_running_sums(new_output=False))),
            does="The parts' sums are brought to the common maximum, their weighted values are not.",
            why="Numerator and denominator must be on one scale: exp(maximum of the part - common maximum).",
            ask="By which factor does a part's numerator change if another maximum is subtracted?"),
    Mistake("sum not rescaled",
            change=({"merge": _rescaled(True, False)}, *_either_way(_running_sums(old_sum=False)),
                    *_either_way(_running_sums(new_sum=False))),
            does="The parts' weighted values are brought to the common maximum, their sums are not.",
            why="Numerator and denominator must be on one scale: exp(maximum of the part - common maximum).",
            ask="By which factor does a part's sum change if another maximum is subtracted?"),
    Mistake("earlier parts not rescaled", change=_either_way(_running_sums(old_output=False, old_sum=False)),
            does="When a later part has a larger maximum, sum and weighted values so far stay too large.",
            why="When the maximum grows from m to m', both must be multiplied by exp(m - m').",
            ask="By which factor do the earlier exponentials change when a larger maximum comes?"),
    Mistake("new part not rescaled", change=_either_way(_running_sums(new_output=False, new_sum=False)),
            does="A part whose maximum is lower than the one before counts too much.",
            why="Its sum and weighted values belong to its own maximum: multiply both by "
                "exp(maximum of the part - common maximum).",
            ask="Which number was subtracted from the scores of the new part?"),
    Mistake("logarithm to base 2", change={"lse": lambda highest, total: highest + np.log2(total)},
            does="The parts' log-sum-exps mix two bases.",
            why="exp undoes the natural logarithm; a power of 2 undoes log2.",
            ask="Which base has your logarithm, and which your exponential?"),
    Mistake("log-sum-exp updated too early", change=_either_way({"merge": _updated_too_early}),
            does="What came before keeps its full weight when a part is merged, and the part's share comes on top.",
            why="The share of what came before is exp(old log-sum-exp - new log-sum-exp). With the new one in both places "
                "it is 1.",
            ask="What does your log-sum-exp hold when the old output is weighted with it?"),
    Mistake("log-sum-exp not updated",
            change=tuple(variant for kept in (lambda lse, new: lse, lambda lse, new: new, np.maximum)
                         for variant in _either_way({"merge": _running(kept)})),
            does="Two parts merge rightly, and the third is weighed against one of them only.",
            why="After a merge the log-sum-exp is that of both parts: log(exp(a) + exp(b)).",
            ask="How much does the result of the first merge weigh in the second?"),
    Mistake("shares from doubled exponents",
            change=tuple({"merge_weights": lambda lses, p=p: _partial_weights(lses) ** p} for p in (2, 0.5)),
            does="The parts are weighted by the squares, or the square roots, of exp of their log-sum-exps.",
            why="A part's share in the whole is exp of its log-sum-exp, with the exponent as it is.",
            ask="By which factor does a part's share change if its log-sum-exp grows by 1?"),
    Mistake("logarithm to base 10", change={"lse": lambda highest, total: highest + np.log10(total)},
            does="The parts' log-sum-exps mix two bases.",
            why="exp undoes the natural logarithm, and not one to base 10.",
            ask="Which base has your logarithm, and which your exponential?"),
    Mistake("one maximum for all queries in the merge",
            change={"merge_weights": lambda lses: np.exp(lses - lses.max())},
            does="A query whose scores lie far below another's underflows to a sum of 0.",
            why="Each query has a largest log-sum-exp of its own.",
            ask="Over which axis is the maximum of the log-sum-exps to be taken?"),
    Mistake("power of 2 in the merge", change={"merge_weights": lambda lses: np.exp2(lses - lses.max(axis=0))},
            does="The parts are weighted by powers of 2 of natural logarithms.",
            why="exp undoes the natural logarithm; a power of 2 undoes log2.",
            ask="Which base has your logarithm, and which your exponential?"),
    Mistake("split along the first axis", change={"answer": _along_the_first_axis},
            does="It is right for two axes. With leading axes the sequences are dealt out, and not their keys.",
            why="np.array_split and np.split cut along axis 0 where no axis is named. Keys run along the last axis but one.",
            ask="Which axis counts the keys, however many axes there are in front?"),
    Mistake("remainder dropped", change={"split": _floor_split},
            does="It is right if n_splits divides n_k. Otherwise the last keys are not read.",
            why="n_k // n_splits keys a part leave up to n_splits - 1 keys over.",
            ask="Where does the last part end if 7 keys are split into 3?"),
    Mistake("empty part", change={"split": _ceil_split},
            does="Rounding up gives the first parts too many keys, and the last may get none.",
            why="An empty part has no maximum. Either no part is empty, or an empty one has output 0 and "
                "log-sum-exp -inf.",
            ask="How many keys get the parts if 5 keys are split into 4 and each takes 2?"),
    Mistake("parts overlap", change={"split": _overlapping},
            does="A key at the border counts in two parts.",
            why="A slice ends before its second number: the next part begins there.",
            ask="Which keys does the slice 0:3 hold, and where must the next part begin?"),
    Mistake("gaps between the parts", change={"split": _gaps},
            does="A key at each border is in no part.",
            why="A slice ends before its second number already: no 1 has to be subtracted.",
            ask="Which keys does the slice 0:3 hold, and where must the next part begin?"),
)


def _naive_lse(highest, total):
    return np.log(np.exp(highest) * total)


def _in_parts(mistake):
    """The maximum may be missing in the parts, in the merge, or in both."""
    if mistake.name != "no maximum subtracted":
        return mistake
    parts, merge = {**mistake.variants[0], "lse": _naive_lse}, {"merge_weights": np.exp}
    return dataclasses.replace(
        mistake, change=(parts, merge, {**parts, **merge}, mistake.variants[0], {"lse": _naive_lse}),
        does="For small scores it is right. A score, or a part's log-sum-exp, above 709 (above 88 in float32, above "
             "11 in float16) overflows in exp, and where all lie far below 0 their sum underflows to 0.",
        why="Only differences count: the row's maximum is subtracted before exp in each part, and the "
            "query's largest log-sum-exp in the merge.",
        ask="Which number may be subtracted from all log-sum-exps of a query, and which from a part's scores?")


SPLITS_IGNORED = Mistake(
    "n_splits ignored",
    does="The function attends to all keys at once: its answer does not need n_splits.",
    why="Parts of the keys can be read by different processors at the same time; here you write how "
        "their partial results come together.",
    ask="Where does your function use its parameter n_splits?")


class _Unusable:
    """A number of parts that may be looked at, as 3, and passes for True, but is no use in making parts.

    What is added to all scores has no effect on a softmax, so that adding it is no use either.
    """

    __array_ufunc__ = None

    def _refuse(self, *unused):
        raise TypeError("n_splits was used")

    def _added(self, other):
        return other + 3 if getattr(other, "ndim", 0) > 1 else self._refuse()

    __index__ = __int__ = __float__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = _refuse
    __truediv__ = __rtruediv__ = __mod__ = __rmod__ = __neg__ = __hash__ = _refuse
    __add__ = __radd__ = _added

    def __bool__(self):
        return True

    __eq__, __lt__, __le__, __gt__, __ge__ = (
        lambda self, other, compare=compare: compare(3, other) for compare in (
            operator.eq, operator.lt, operator.le, operator.gt, operator.ge))


def ignores_splits(run):
    """The Mistake if the answer comes though n_splits cannot be used."""
    outcome = run(normal(3, 2, seed=91), normal(5, 2, seed=92), normal(5, 3, seed=93), _Unusable())
    return SPLITS_IGNORED if outcome.answer and outcome.answer.pieces else None


class _Listening(np.ndarray):
    """An array that notes the shapes of which exp is taken, in all that is computed of it."""

    shapes = []

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        inputs = [np.asarray(item) if isinstance(item, _Listening) else item for item in inputs]
        if out:
            options["out"] = tuple(np.asarray(item) for item in out)
        result = getattr(ufunc, method)(*inputs, **options)
        if ufunc in (np.exp, np.exp2):
            self.shapes.append(np.shape(result))
        return out[0] if out else result.view(_Listening) if isinstance(result, np.ndarray) else result


QUERIES_SPLIT = Mistake(
    "queries split instead of keys",
    does="The queries are dealt out in n_splits parts, and each part sees all keys.",
    why="Then nothing has to be merged: queries do not depend on each other. In decoding there is one query "
        "and many keys, and only the keys can be dealt out.",
    ask="What can be split if there is one query?")

QUERIES_TOO = Mistake(
    "queries split too",
    does="Queries and keys are both dealt out, and each part of the queries sees one part of the keys.",
    why="Every query attends to all keys: each part of the keys meets all queries, and their results are merged.",
    ask="How many of 12 keys does the first query see for n_splits = 2?")

BLOCK_LENGTH = Mistake(
    "n_splits taken for a part's length",
    does="Each part has n_splits keys.",
    why="n_splits says how many parts there are: about n_k / n_splits keys in each.",
    ask="How many parts should 12 keys make for n_splits = 2?")


def splits_something_else(run):
    """The Mistake if exp is taken of the wrong pieces of the scores of 5 queries and 12 keys."""
    _Listening.shapes.clear()
    run(*(normal(n, 3, seed=n).view(_Listening) for n in (5, 12, 12)), 2)
    shapes = [shape for shape in _Listening.shapes if len(shape) > 1]
    lengths = [shape[-1] for shape in shapes]
    if lengths.count(2) >= 6 and not {6, 12} & set(lengths):
        return BLOCK_LENGTH
    if sorted(shape[-2:] for shape in shapes) in ([(2, 6), (3, 6)], [(2, 1), (2, 6), (3, 1), (3, 6)]):
        return QUERIES_TOO
    rows = [shape[-2] for shape in shapes if shape[-1] == 12]
    return QUERIES_SPLIT if len(rows) == 2 and sum(rows) == 5 and 6 not in lengths else None


UNEVEN = "parts of unequal length"


def split_kv_cases():
    """Cases that any way of making the parts answers alike.

    In parts of unequal length the longer ones may come first or last: there the keys read the same
    from both ends.
    """
    found = []
    for case in attention_cases():
        n_k = case.args[1].shape[-2]
        if case.aspect != PLAIN:
            found += [Case(case.aspect, (*case.args, n), case.extreme) for n in {1, n_k}]

    def arrays(n_q, n_k, d_k, d_v, seed):
        return (normal(n_q, d_k, seed=seed, scale=3.0), normal(n_k, d_k, seed=seed + 1),
                normal(n_k, d_v, seed=seed + 2))

    def mirrored(query, key, value):
        return query, *(np.concatenate([array, array[-2::-1]]) for array in (key, value))

    edge = (np.array([[1.0]]), np.array([[709.0], [709.3]]), np.array([[2.0], [3.0]]))  # exp fits, their sum does not
    tiny = (np.array([[2.0]]), np.array([[0.0], [1.0], [2.0], [0.0]]), np.array([[4.0], [8.0], [-4.0], [2.0]]))
    return [Case(PLAIN, (*tiny, 2)), Case(PLAIN, (*arrays(5, 6, 3, 2, 1), 3)),
            Case(PLAIN, (*arrays(7, 10, 11, 3, 4), 2)), Case(PLAIN, (*arrays(3, 12, 5, 7, 7), 4)),
            Case("one part", (*arrays(5, 7, 3, 2, 10), 1)),
            Case("a part for each key", (*arrays(5, 7, 3, 2, 13), 7)),
            Case(UNEVEN, (*mirrored(tiny[0], tiny[1][:2], tiny[2][:2]), 2)),
            Case(UNEVEN, (*mirrored(*arrays(5, 4, 3, 2, 16)), 2)),
            Case(UNEVEN, (*mirrored(*arrays(2, 3, 5, 7, 19)), 4)),
            Case(SQUARE, (*arrays(4, 4, 4, 4, 22), 2)),
            Case(LEADING, (*map(np.stack, zip(arrays(5, 6, 3, 2, 25), arrays(5, 6, 3, 2, 28))), 2)),
            Case(HUGE, (*edge, 2), True)] + found


EXERCISE = Exercise(
    name="split_kv_attention", signature="(query, key, value, n_splits)", place=3,
    axes=dict(query="n_q d_k", key="n_k d_k", value="n_k d_v"), answer_axes="n_q d_v",
    text="Attention from partial results over n_splits parts of the keys, merged by their "
         "log-sum-exps. n_splits need not divide the number of keys.",
    answer=split_kv_answer, steps=SPLIT_STEPS, cases=split_kv_cases,
    hints=(
        "Each part of the keys with its values gives an output of its own, as if there were no other "
        "keys. What is missing to put the outputs together?",
        "The share of a part is its sum of exp(score) in the sum over all keys. Its log-sum-exp, the "
        "logarithm of that sum, tells it; subtract the row's maximum before exp and add it back after log.",
        "With the log-sum-exps of all parts on a new axis, subtract the largest of each query, take "
        "exp, and divide by their sum: these are the shares.",
        "np.array_split(key, n_splits, axis=-2) makes the parts. Collect output and log-sum-exp of "
        "each; the shares are the softmax of the log-sum-exps over the parts, and the answer is the "
        "sum of share * output.",
    ),
    mistakes=(*map(_in_parts, pick(ATTENTION_MISTAKES, *IN_PARTS)), *MERGE_MISTAKES),
    audits=(ignores_splits, splits_something_else),
    aspects={UNEVEN: Mistake(
        "only for equal parts",
        does="The function is right if n_splits divides the number of keys, and not otherwise.",
        why="7 keys in 3 parts make parts of 3, 2 and 2. np.split and a reshape need equal ones; "
            "np.array_split does not.",
        ask="How long are the parts if 7 keys are split into 3?")},
)
