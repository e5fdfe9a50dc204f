"""The exercise ring_attention."""

import sys

import numpy as np

from ...families.choose import pick
from ...families.scores import SCALE_MISTAKES
from ...model import FLOAT16, FLOAT32, HUGE, LEADING, PLAIN, SQUARE, Case, Exercise, Mistake, Step, alike, normal, ways

UNEVEN = "parts of unequal length"


def ring_attention_answer(do, query_parts, key_parts, value_parts):
    world, found = len(query_parts), []
    for rank, query in enumerate(query_parts):
        parts = []
        for step, source in enumerate(do.sources(rank, world)):
            key, value = key_parts[source], value_parts[do.value_source(source, rank, step, world)]
            scores = do.scores(do.scale(query @ np.swapaxes(key, -1, -2), query, key))
            highest = do.highest(scores)
            powers = np.exp(scores - highest)
            total = do.total(powers)
            parts.append((do.output(powers, total, value), do.lse(highest, total), value.shape[-2]))
        found.append(do.merge(parts, do.shares))
    return do.arrange(tuple(found))


def _round(rank, world):
    return [(rank - step) % world for step in range(world)]


def _shares(lses):
    """A share for each part, from the log-sum-exps of all, (world, ..., n, 1)."""
    powers = np.exp(lses - lses.max(axis=0))
    return powers / powers.sum(axis=0)


def _merge(parts, shares):
    outs, lses, lengths = zip(*parts)
    return (shares(np.stack(lses)) * np.stack(outs)).sum(axis=0)


def _one_by_one(lse_of, share_of=lambda lse, new: 1 / (1 + np.exp(new - lse))):
    """Partial results merged one after the other, with a log-sum-exp that goes on as `lse_of` says."""
    def merge(parts, shares):
        out, lse, _ = parts[0]
        for new_out, new_lse, _ in parts[1:]:
            share = share_of(lse, new_lse)
            out, lse = share * out + (1 - share) * new_out, lse_of(lse, new_lse)
        return out

    return merge


def _merges(*functions):
    return ways("merge", *functions)


def _from_zero(parts, shares):
    out, lse, _ = parts[0]
    return _merge([(0 * out, 0 * lse, 0), *parts], shares)


def _causal(scores):
    return np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)


def _by_length(parts, shares):
    return sum(n * out for out, _, n in parts) / sum(n for *_, n in parts)


def _best(parts, shares):
    best = np.argmax([lse for _, lse, _ in parts], axis=0)
    return np.take_along_axis(np.stack([out for out, *_ in parts]), best[None], axis=0)[0]


def _sources(*functions):
    return ways("sources", *functions)


def _over_queries(lses):
    powers = np.exp(lses - lses.max(axis=(0, -2), keepdims=True))
    return powers / powers.sum(axis=(0, -2), keepdims=True)


def _rolled(by):
    return lambda found: (*found[-by:], *found[:-by]) if len(found) > 1 else found


RING_MISTAKES = (
    *pick(SCALE_MISTAKES, "no scale", "d_k instead of sqrt(d_k)", "multiplied by sqrt(d_k)"),
    *alike("Each rank's queries attend to the keys of all ranks, and to each of them once: world parts, its own included.",
           "With 3 ranks, the keys of which ranks has rank 0 read when it is done?",
           ("own keys only", _sources(lambda rank, world: [rank]),
            "Each part attends to its own keys, as if it were a sequence of its own."),
           ("own keys left out", _sources(lambda rank, world: _round(rank, world)[1:] or [rank]),
            "Each part attends to the keys of the others, and not to its own."),
           ("one step too few", _sources(lambda rank, world: _round(rank, world)[:-1] or [rank],
                                         lambda rank, world: [(rank + step) % world for step in range(max(world - 1, 1))]),
            "One part of the keys does not come by: there are world - 1 steps of computing, and world are needed."),
           ("one step too many", _sources(lambda rank, world: [*_round(rank, world), rank] if world > 1 else [rank]),
            "The part that a rank begins with comes by once more at the end, and counts twice."),
           ("later parts left out", _sources(lambda rank, world: range(rank + 1)),
            "A rank reads its own keys and those of the ranks before it, as under a causal mask. Here there is none."),
           ("earlier parts left out", _sources(lambda rank, world: range(rank, world)),
            "A rank reads its own keys and those of the ranks behind it."),
           ("neighbours only", _sources(lambda rank, world: sorted({(rank - 1) % world, rank}),
                                        lambda rank, world: sorted({rank, (rank + 1) % world}),
                                        lambda rank, world: sorted({(rank - 1) % world, rank, (rank + 1) % world})),
            "A rank reads its own keys and those of one neighbour or two.")),
    *alike("A value belongs to its key: whatever travels, the two travel together.",
           "When a rank computes scores with the keys of rank 2, whose values are weighted with them?",
           ("values stay at home", {"value_source": lambda source, rank, step, world: rank},
            "The keys go round, and each rank weights its own values with all of them."),
           ("values the other way round", {"value_source": lambda source, rank, step, world: (rank + step) % world},
            "Keys and values go round in opposite directions: they meet again after some steps only."),
           ("values one step behind", {"value_source": lambda source, rank, step, world: (source + 1) % world},
            "The values are passed on one time less than the keys.")),
    *alike("A part's output is divided by its own sum of exponentials already. Its share in the whole is that sum, exp(lse), over "
           "those of all parts.",
           "Which part should count more if its scores are much larger, and what must the shares of all parts sum to?",
           ("partial results averaged", (*_merges(_one_by_one(lambda lse, new: lse, lambda lse, new: 0.5)),
                                         {"shares": lambda lses: np.full_like(lses, 1 / len(lses))}),
            "The output is the mean of the parts' outputs, or of the one so far and the next, whatever their log-sum-exps are."),
           ("partial results added", {"shares": np.ones_like}, "The outputs of the parts are added."),
           ("weighted by the numbers of keys", _merges(_by_length),
            "Each part counts as many times as it has keys, whatever their scores are."),
           ("only the heaviest part", _merges(_best),
            "The output is that of the part with the largest log-sum-exp."),
           ("shares in proportion to the log-sum-exps", {"shares": lambda lses: lses / lses.sum(axis=0)},
            "The log-sum-exps themselves are taken for weights, without exp."),
           ("shares of the maxima", {"lse": lambda highest, total: highest},
            "Each part counts by its largest score alone, as if its sum of exponentials were 1."),
           ("shares of the sums without the maxima", {"lse": lambda highest, total: np.log(total)},
            "Each part counts by its sum of exp(score - maximum): what the maxima differ by is lost."),
           ("shares of the negative log-sum-exps", {"shares": lambda lses: _shares(-lses)},
            "The part with the smaller log-sum-exp gets the larger share."),
           ("only the last part", _merges(lambda parts, shares: parts[-1][0]),
            "Each part's output replaces the one before.")),
    *alike("After a merge the log-sum-exp is that of all keys read so far: log(exp(a) + exp(b)).",
           "Three parts have the sums of exponentials 1, 1 and 1. What is the share of the first two together?",
           ("log-sum-exp not carried on", _merges(_one_by_one(lambda lse, new: lse)),
            "Two parts come out right. For a third the log-sum-exp is still that of the first part."),
           ("log-sum-exp of the last part", _merges(_one_by_one(lambda lse, new: new)),
            "Two parts come out right. For a third the log-sum-exp is that of the part before alone."),
           ("larger log-sum-exp kept", _merges(_one_by_one(np.maximum)),
            "Two parts come out right. For a third the log-sum-exp is the larger of the first two."),
           ("log-sum-exps added", _merges(_one_by_one(np.add)),
            "Two parts come out right. For a third the log-sum-exp is the sum of the first two.")),
    *alike("Each query has a softmax of its own over the keys of all parts.",
           "Which numbers of one query must sum to 1?",
           ("shares over the queries", {"shares": _over_queries},
            "The shares of all queries together sum to 1."),
           ("softmax over the queries", ways("total", lambda powers: powers.sum(axis=-2, keepdims=True)),
            "The exponentials are divided by their sum over the queries of the part."),
           ("not divided by the sum", {"output": lambda powers, total, value: powers @ value},
            "Each part's output is the sum before the division, and is then merged as if it had been divided.")),
    *alike("Entry i of the list holds the queries of part i, which have stayed where they were.",
           "Whose queries does rank 0 hold after the last step?",
           ("outputs passed on", {"arrange": _rolled(1)}, "The list begins with the output of the last part: all are one place on."),
           ("outputs passed back", {"arrange": _rolled(-1)}, "The list begins with the output of the second part."),
           ("outputs in reverse order", {"arrange": lambda found: found[::-1]},
            "The list begins with the output of the last part, and ends with that of the first.")),
    Mistake("log-sum-exp 0 for an empty pair", change=_merges(_from_zero),
            does="The output is as if there were one more key, with a score of 0 and a value of 0.",
            why="A part without keys has the log-sum-exp -inf, the logarithm of an empty sum: only then it has no share.",
            ask="With which log-sum-exp does your pair begin, and how large is exp of it?"),
    Mistake("causal within each part", change=({"scores": _causal},),
            does="Of each part a query reads the keys up to its own number, as under a causal mask.",
            why="Nothing is masked here: each query reads all the keys of all parts.",
            ask="Which keys of a part does the first query read in your function?"),
    Mistake("no maximum subtracted", change=(
        {"highest": lambda scores: 0 * scores[..., :1]}, {"shares": lambda lses: np.exp(lses) / np.exp(lses).sum(axis=0)},
        {"highest": lambda scores: 0 * scores[..., :1], "shares": lambda lses: np.exp(lses) / np.exp(lses).sum(axis=0)}),
        does="For small scores it is right. For large ones, or for the log-sum-exps of large ones, exp overflows, and inf / inf is "
             "NaN.", why="Only differences count: the row's maximum is subtracted before exp in each part, and the largest "
                         "log-sum-exp of a query, or the larger of two, where parts are merged.",
        ask="Which number may be subtracted from all scores of a query, and which from its log-sum-exps?"),
)


class _Seen(np.ndarray):
    """An array that notes the shapes of what is made of it, and of the arrays that its makers hold then."""

    shapes = set()

    def __array_finalize__(self, source):
        self.shapes.add(self.shape)
        frame = sys._getframe(1)
        for _ in range(4):
            if frame is None:
                break
            self.shapes.update(item.shape for item in list(frame.f_locals.values()) if isinstance(item, np.ndarray))
            frame = frame.f_back


LENGTHS = (101, 211, 307)  # of the parts' keys; no sum of two is a size of anything else
ALL_KEYS = Mistake(
    "an array over the keys of two parts",
    does="While it runs it makes an array over the keys of two parts or more: of keys, values, scores or weights.",
    why="The parts lie on different devices because they do not fit on one. A rank holds its own part and the one that comes by, "
        "and of what it has read before only output and log-sum-exp.",
    ask="Which of your arrays becomes longer when there are more parts?")


def makes_all_keys(run):
    _Seen.shapes.clear()
    parts = [[normal(n, d, seed=n + d).view(_Seen) for n in sizes] for sizes, d in (((5, 7, 11), 3), (LENGTHS, 3), (LENGTHS, 2))]
    run(*parts)
    joined = {sum(LENGTHS)} | {sum(LENGTHS) - n for n in LENGTHS}
    return ALL_KEYS if any(joined & set(shape) for shape in _Seen.shapes) else None


STOPS_IN_HALF = Mistake(
    "stops for 16 bits",
    does="For arrays of 16 bits the function stops, and for wider ones it does not.",
    why="For 16 bits the log-sum-exp of attnlib.attention is float32, and both sides of a merge must have one dtype.",
    ask="Which dtypes have the output and the log-sum-exp that you begin with?")


def stops_in_half(run):
    def stops(dtype):
        return run(*([normal(n, 2, seed=n, dtype=dtype) for n in (2, 3)] for _ in range(3))).failure

    return STOPS_IN_HALF if stops(np.float16) and not stops(np.float32) else None


def ring_attention_cases():
    def parts(lead, lengths, d, seed, dtype=np.float64, scale=1.0):
        return [normal(*lead, n, d, seed=seed + i, dtype=dtype, scale=scale) for i, n in enumerate(lengths)]

    def case(aspect, n_q, n_k, d_k, d_v, seed, lead=(), dtype=np.float64, scale=1.5):
        return Case(aspect, (parts(lead, n_q, d_k, seed, dtype, scale), parts(lead, n_k, d_k, seed + 20, dtype),
                             parts(lead, n_k, d_v, seed + 40, dtype)))

    tiny = Case(PLAIN, tuple([np.array(part, dtype=float) for part in parts] for parts in (
        ([[1]], [[2]]), ([[0]], [[1]]), ([[4]], [[8]]))))
    large = Case(HUGE, tuple([np.array(part, dtype=float) for part in parts] for parts in (
        ([[100.0]], [[-100.0]]), ([[100.0]], [[99.98]]), ([[1.0]], [[2.0]]))), True)
    far = Case(HUGE, tuple([np.array(part, dtype=float) for part in parts] for parts in (
        ([[100.0]], [[1.0]]), ([[100.0]], [[-100.0]]), ([[1.0]], [[2.0]]))), True)
    return [tiny, case(PLAIN, (2, 2), (3, 3), 3, 2, 100), case(PLAIN, (3,) * 3, (5,) * 3, 2, 1, 200),
            case(PLAIN, (3,) * 4, (4,) * 4, 5, 2, 300), case(PLAIN, (5,) * 5, (3,) * 5, 4, 7, 400),
            case(SQUARE, (3,) * 3, (3,) * 3, 3, 3, 500), case("one rank", (4,), (5,), 3, 2, 600),
            case(UNEVEN, (1, 2), (2, 1), 1, 1, 650), case(UNEVEN, (2, 3, 1), (3, 2, 4), 2, 3, 700),
            case(UNEVEN, (5, 2, 3, 7), (1, 7, 5, 2), 3, 2, 750),
            case(LEADING, (3,) * 3, (5,) * 3, 2, 7, 800, (2,)), case(LEADING, (2,) * 2, (3,) * 2, 5, 4, 850, (2, 3)),
            large, far, case(FLOAT32, (2, 2, 2), (3, 3, 3), 2, 1, 900, dtype=np.float32),
            case(FLOAT32, (1, 1), (2, 2), 2, 1, 920, dtype=np.float32),
            case(FLOAT16, (2, 2, 2), (3, 3, 3), 2, 1, 950, dtype=np.float16),
            case(FLOAT16, (1, 1), (2, 2), 2, 1, 970, dtype=np.float16)]


EXERCISE = Exercise(
    name="ring_attention", signature="(query_parts, key_parts, value_parts)", place=2, in_list=True,
    axes=dict(query_parts="n_q d_k", key_parts="n_k d_k", value_parts="n_k d_v"), answer_axes="n_q d_v",
    text="Attention over a sequence in parts: three lists of as many arrays, (..., n_i, d_k), (..., m_i, d_k) and (..., m_i, d_v); "
         "the answer is the list of outputs, each part's queries over the keys of all parts. No array over the keys of two parts "
         "is made, and the lists stay as they are.",
    answer=ring_attention_answer,
    steps={
        "sources": _round,
        "value_source": lambda source, rank, step, world: source,
        "scale": lambda scores, query, key: scores / np.sqrt(query.shape[-1]),
        "scores": Step(lambda scores: scores, "the scores"),
        "highest": Step(lambda scores: scores.max(axis=-1, keepdims=True), "the maximum", True),
        "total": Step(lambda powers: powers.sum(axis=-1, keepdims=True), "the sum of the exponentials", True),
        "output": lambda powers, total, value: powers @ value / total,
        "lse": Step(lambda highest, total: highest + np.log(total), "the parts' log-sum-exps", True),
        "shares": Step(_shares, "the shares"),
        "merge": _merge,
        "arrange": lambda found: found,
    },
    cases=ring_attention_cases, audits=(makes_all_keys, stops_in_half),
    hints=(
        "Take one rank. Over its own keys alone you can compute an output and a log-sum-exp; over the keys of the next part as "
        "well. How are two such pairs merged?",
        "The pair so far, and a loop over the parts: compute the output and the log-sum-exp over one part, merge, go on. The order "
        "of the parts does not matter, and the merge needs nothing else.",
        "attnlib.attention(query, key, value, return_lse=True) gives a pair, and attnlib.merge_partials(out, lse, new_out, new_lse) "
        "merges two. Begin with the rank's own part, then go through the other world - 1, and keep only the merged pair. Do so "
        "for each rank, and collect the outputs in a list.",
    ),
    mistakes=RING_MISTAKES,
    aspects={UNEVEN: Mistake(
        "only for parts of equal length",
        does="The function is right if all parts have as many positions, and not otherwise.",
        why="The parts may differ in length, and a part's keys may be more or fewer than its queries.",
        ask="Which line takes for granted that all parts have one shape?")},
)
