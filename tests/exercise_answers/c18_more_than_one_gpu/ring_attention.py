"""Answers to the exercise ring_attention."""

import functools
import math

import numpy as np

import attnlib
from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("ring_attention")


def partial(query, key, value):
    """(output, log-sum-exp) over one part of the keys."""
    scores = query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])
    highest = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - highest)
    total = powers.sum(axis=-1, keepdims=True)
    return powers @ value / total, (highest + np.log(total))[..., 0]


def merged(pair, new):
    (out, lse), (new_out, new_lse) = pair, new
    highest = np.maximum(lse, new_lse)
    weight, new_weight = np.exp(lse - highest), np.exp(new_lse - highest)
    total = weight + new_weight
    return (weight / total)[..., None] * out + (new_weight / total)[
        ..., None
    ] * new_out, highest + np.log(total)


def ring(
    query_parts,
    key_parts,
    value_parts,
    source=lambda rank, step, world: (rank - step) % world,
    merge=merged,
    steps=0,
):
    """Each rank on its own, with a step of the merge, the order or the number of steps that may be wrong."""
    world, outputs = len(query_parts), []
    for rank, query in enumerate(query_parts):
        pair = None
        for step in range(max(world + steps, 1)):
            part = source(rank, step, world)
            new = partial(query, key_parts[part], value_parts[part])
            pair = new if pair is None else merge(pair, new)
        outputs.append(pair[0])
    return outputs


@answers.right()
def ring_by_attnlib(query_parts, key_parts, value_parts):
    world, outputs = len(query_parts), []
    for rank in range(world):
        pair = None
        for step in range(world):
            source = (rank - step) % world
            new = attnlib.attention(
                query_parts[rank], key_parts[source], value_parts[source], return_lse=True
            )
            pair = new if pair is None else attnlib.merge_partials(*pair, *new)
        outputs.append(pair[0])
    return outputs


@answers.right()
def ring_that_passes_on(query_parts, key_parts, value_parts):
    held = list(zip(key_parts, value_parts))
    pairs = [partial(query, *part) for query, part in zip(query_parts, held)]
    for _ in range(len(query_parts) - 1):
        held = held[-1:] + held[:-1]
        pairs = [
            merged(pair, partial(query, *part))
            for pair, query, part in zip(pairs, query_parts, held)
        ]
    return [out for out, _ in pairs]


@answers.right()
def ring_that_turns_the_lists_back(query_parts, key_parts, value_parts):
    pairs = [None] * len(query_parts)
    for _ in query_parts:
        for rank, query in enumerate(query_parts):
            new = partial(query, key_parts[rank], value_parts[rank])
            pairs[rank] = new if pairs[rank] is None else merged(pairs[rank], new)
        for parts in (key_parts, value_parts):
            parts.insert(0, parts.pop())
    return [out for out, _ in pairs]


@answers.right()
def ring_with_running_sums(query_parts, key_parts, value_parts):
    outputs = []
    for query in query_parts:
        row_max = np.full((*query.shape[:-1], 1), -np.inf)
        row_sum, u = 0.0, 0.0
        for key, value in zip(key_parts, value_parts):
            scores = query.astype(float) @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])
            new_max = np.maximum(row_max, scores.max(axis=-1, keepdims=True))
            factor, powers = np.exp(row_max - new_max), np.exp(scores - new_max)
            row_sum = row_sum * factor + powers.sum(axis=-1, keepdims=True)
            u = u * factor + powers @ value
            row_max = new_max
        outputs.append((u / row_sum).astype(query.dtype))
    return outputs


@answers.right()
def ring_of_stacked_results(query_parts, key_parts, value_parts):
    outputs = []
    for query in query_parts:
        outs, lses = map(
            np.stack, zip(*(partial(query, *part) for part in zip(key_parts, value_parts)))
        )
        shares = np.exp(lses - lses.max(axis=0))
        outputs.append((shares[..., None] * outs).sum(axis=0) / shares.sum(axis=0)[..., None])
    return outputs


@answers.right()
def ring_of_logaddexp(query_parts, key_parts, value_parts):
    def merge(pair, new):
        lse = np.logaddexp(pair[1], new[1])
        return (
            np.exp(pair[1] - lse)[..., None] * pair[0] + np.exp(new[1] - lse)[..., None] * new[0],
            lse,
        )

    return ring(query_parts, key_parts, value_parts, merge=merge)


@answers.right()
def ring_of_scores_in_a_list(query_parts, key_parts, value_parts):
    outputs = []
    for query in query_parts:
        scores = [
            query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1]) for key in key_parts
        ]
        highest = np.max([part.max(axis=-1) for part in scores], axis=0)[..., None]
        powers = [np.exp(part - highest) for part in scores]
        total = sum(part.sum(axis=-1, keepdims=True) for part in powers)
        outputs.append(sum(part @ value for part, value in zip(powers, value_parts)) / total)
    return outputs


@answers.wrong("an array over the keys of two parts")
def ring_by_all_gather(query_parts, key_parts, value_parts):
    key, value = np.concatenate(key_parts, axis=-2), np.concatenate(value_parts, axis=-2)
    return [partial(query, key, value)[0] for query in query_parts]


@answers.wrong("an array over the keys of two parts")
def ring_of_joined_scores(query_parts, key_parts, value_parts):
    outputs = []
    for query in query_parts:
        scores = np.concatenate(
            [query @ key.mT / math.sqrt(query.shape[-1]) for key in key_parts], axis=-1
        )
        weights = attnlib.softmax(scores)
        ends = np.cumsum([key.shape[-2] for key in key_parts])[:-1]
        outputs.append(sum(a @ v for a, v in zip(np.split(weights, ends, axis=-1), value_parts)))
    return outputs


@answers.wrong("an array over the keys of two parts")
def ring_into_a_table(query_parts, key_parts, value_parts):
    ends = np.cumsum([0, *(key.shape[-2] for key in key_parts)])
    outputs = []
    for query in query_parts:
        table = np.empty((*query.shape[:-1], ends[-1]), dtype=query.dtype)
        for start, stop, key in zip(ends, ends[1:], key_parts):
            table[..., start:stop] = query @ key.mT / math.sqrt(query.shape[-1])
        table = np.exp(table - table.max(axis=-1, keepdims=True))
        table /= table.sum(axis=-1, keepdims=True)
        outputs.append(
            sum(
                table[..., start:stop] @ value
                for start, stop, value in zip(ends, ends[1:], value_parts)
            )
        )
    return outputs


@answers.wrong("own keys only")
def ring_without_a_ring(query_parts, key_parts, value_parts):
    return [partial(*parts)[0] for parts in zip(query_parts, key_parts, value_parts)]


@answers.wrong("one step too few")
def ring_that_ends_early(query_parts, key_parts, value_parts):
    return ring(query_parts, key_parts, value_parts, steps=-1)


@answers.wrong("one step too many")
def ring_that_goes_on(query_parts, key_parts, value_parts):
    if len(query_parts) == 1:
        return ring(query_parts, key_parts, value_parts)
    return ring(query_parts, key_parts, value_parts, steps=1)


@answers.wrong("partial results averaged")
def ring_of_means(query_parts, key_parts, value_parts):
    return [
        sum(partial(query, key, value)[0] for key, value in zip(key_parts, value_parts))
        / len(key_parts)
        for query in query_parts
    ]


@answers.wrong("partial results added")
def ring_of_sums(query_parts, key_parts, value_parts):
    return [
        sum(partial(query, key, value)[0] for key, value in zip(key_parts, value_parts))
        for query in query_parts
    ]


@answers.wrong("weighted by the number of keys")
def ring_by_length(query_parts, key_parts, value_parts):
    n = sum(key.shape[-2] for key in key_parts)
    return [
        sum(
            key.shape[-2] / n * partial(query, key, value)[0]
            for key, value in zip(key_parts, value_parts)
        )
        for query in query_parts
    ]


@answers.wrong("log-sum-exp of one part kept")
def ring_that_forgets(query_parts, key_parts, value_parts):
    return ring(
        query_parts, key_parts, value_parts, merge=lambda pair, new: (merged(pair, new)[0], pair[1])
    )


@answers.wrong("log-sum-exp of one part kept")
def ring_that_replaces(query_parts, key_parts, value_parts):
    return ring(
        query_parts, key_parts, value_parts, merge=lambda pair, new: (merged(pair, new)[0], new[1])
    )


@answers.wrong("no scale")
def ring_unscaled(query_parts, key_parts, value_parts):
    return ring(
        [query * math.sqrt(query.shape[-1]) for query in query_parts], key_parts, value_parts
    )


@answers.wrong("values not passed on")
def ring_of_keys(query_parts, key_parts, value_parts):
    outputs = []
    for query, value in zip(query_parts, value_parts):
        pairs = [partial(query, key, value) for key in key_parts]
        pair = pairs[0]
        for new in pairs[1:]:
            pair = merged(pair, new)
        outputs.append(pair[0])
    return outputs


@answers.wrong("outputs passed on")
def ring_that_sends_outputs(query_parts, key_parts, value_parts):
    outputs = ring(query_parts, key_parts, value_parts)
    return outputs[-1:] + outputs[:-1]


@answers.wrong("list overwritten")
def ring_that_pops(query_parts, key_parts, value_parts):
    outputs = []
    while query_parts:
        outputs.append(ring([query_parts.pop(0)] + key_parts[1:], key_parts, value_parts)[0])
    return outputs


@answers.wrong("only for parts of equal length")
def ring_of_stacks(query_parts, key_parts, value_parts):
    query, key, value = map(np.array, (query_parts, key_parts, value_parts))
    pair = partial(query, key, value)
    for step in range(1, len(query)):
        pair = merged(
            pair, partial(query, np.roll(key, step, axis=0), np.roll(value, step, axis=0))
        )
    return list(pair[0])


@answers.wrong("no maximum subtracted in the merge")
def ring_that_overflows(query_parts, key_parts, value_parts):
    outputs = []
    for query in query_parts:
        over, under = 0.0, 0.0
        for key, value in zip(key_parts, value_parts):
            powers = np.exp(query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1]))
            over, under = over + powers @ value, under + powers.sum(axis=-1, keepdims=True)
        outputs.append(over / under)
    return outputs


@answers.wrong("one array instead of a list")
def ring_in_one_array(query_parts, key_parts, value_parts):
    return np.array(ring(query_parts, key_parts, value_parts))


@answers.wrong("entries missing")
def ring_returned_too_early(query_parts, key_parts, value_parts):
    for query in query_parts:
        return ring([query], key_parts[:1], value_parts[:1])


@answers.wrong("log-sum-exp 0 for an empty pair")
def ring_from_nothing(query_parts, key_parts, value_parts):
    outputs = []
    for query in query_parts:
        pair = (0.0, np.zeros(query.shape[:-1]))
        for key, value in zip(key_parts, value_parts):
            pair = merged(pair, partial(query, key, value))
        outputs.append(pair[0].astype(query.dtype))
    return outputs


@answers.wrong("causal within each part")
def ring_of_causal_parts(query_parts, key_parts, value_parts):
    outputs = []
    for query in query_parts:
        pairs = [
            attnlib.attention(query, key, value, is_causal=True, return_lse=True)
            for key, value in zip(key_parts, value_parts)
        ]
        outputs.append(
            functools.reduce(lambda pair, new: attnlib.merge_partials(*pair, *new), pairs)[0]
        )
    return outputs


@answers.wrong("one step too few", "one array instead of a list")
def ring_of_one_array(query_parts, key_parts, value_parts):
    return np.concatenate(ring(query_parts, key_parts, value_parts, steps=-1), axis=-2)


@answers.wrong("fails in 16 bits")
def ring_from_an_empty_pair(query_parts, key_parts, value_parts):
    outputs = []
    for query in query_parts:
        out = np.zeros((*query.shape[:-1], value_parts[0].shape[-1]), query.dtype)
        lse = np.full(query.shape[:-1], -np.inf, query.dtype)
        for key, value in zip(key_parts, value_parts):
            out, lse = attnlib.merge_partials(
                out, lse, *attnlib.attention(query, key, value, return_lse=True)
            )
        outputs.append(out)
    return outputs


def ring_from(lowest):
    """A running maximum over the parts, which begins at a number."""

    def over_parts(query, key_parts, value_parts):
        scale = query.dtype.type(math.sqrt(query.shape[-1]))
        row_max = np.full((*query.shape[:-1], 1), lowest, query.dtype)
        row_sum = np.zeros_like(row_max)
        output = np.zeros((*query.shape[:-1], value_parts[0].shape[-1]), query.dtype)
        for key, value in zip(key_parts, value_parts):
            scores = query @ np.swapaxes(key, -1, -2) / scale
            new_max = np.maximum(row_max, scores.max(axis=-1, keepdims=True))
            powers, factor = np.exp(scores - new_max), np.exp(row_max - new_max)
            row_sum = row_sum * factor + powers.sum(axis=-1, keepdims=True)
            output = output * factor + powers @ value
            row_max = new_max
        return output / row_sum

    return lambda query_parts, key_parts, value_parts: [
        over_parts(query, key_parts, value_parts) for query in query_parts
    ]


answers.right(function=ring_from(-np.inf))
answers.wrong("maximum starts too high", function=ring_from(0.0))
answers.wrong("maximum starts too high", function=ring_from(-1e3))
answers.wrong("maximum starts too high", function=ring_from(-1e4))
answers.wrong("maximum starts too high", function=ring_from(-1e9))
answers.wrong("maximum starts too high", function=ring_from(-1e30))


def ring_in_order(go_on):
    """Parts merged from the first to the last; `go_on` makes the log-sum-exp for the next merge."""

    def over_parts(query, key_parts, value_parts):
        output = None
        for key, value in zip(key_parts, value_parts):
            out, new = attnlib.attention(query, key, value, return_lse=True)
            out = out.astype(new.dtype)
            if output is None:
                output, lse = out, new
            else:
                output, merged = attnlib.merge_partials(output, lse, out, new)
                lse = go_on(lse, new, merged)
        return output.astype(query.dtype)

    return lambda query_parts, key_parts, value_parts: [
        over_parts(query, key_parts, value_parts) for query in query_parts
    ]


answers.right(function=ring_in_order(lambda lse, new, merged: merged))
answers.wrong("log-sum-exp of one part kept", function=ring_in_order(lambda lse, new, merged: lse))
answers.wrong("log-sum-exp of one part kept", function=ring_in_order(lambda lse, new, merged: new))
answers.wrong(
    "log-sum-exp of one part kept",
    function=ring_in_order(lambda lse, new, merged: np.maximum(lse, new)),
)


def in_the_order_of_the_list(key_part=None, rescaled=True):
    def ring(query_parts, key_parts, value_parts):
        found = []
        for query in query_parts:
            highest, total, output = -np.inf, 0.0, 0.0
            for key, value in zip(key_parts, value_parts):
                size = (key_part or (lambda key: key.shape[-1]))(key)
                scores = query @ np.swapaxes(key, -1, -2) * size**-0.5
                new = np.maximum(highest, scores.max(axis=-1, keepdims=True))
                factor = np.exp(highest - new) if rescaled or np.ndim(highest) == 0 else 1
                powers = np.exp(scores - new)
                total = total * factor + powers.sum(axis=-1, keepdims=True)
                output = output * factor + powers @ value
                highest = new
            found.append((output / total).astype(query.dtype))
        return found

    return ring


answers.right(in_the_order_of_the_list())
answers.wrong(
    "sqrt(n_k) instead of sqrt(d_k)", function=in_the_order_of_the_list(lambda key: key.shape[-2])
)
answers.wrong("earlier parts not rescaled", function=in_the_order_of_the_list(rescaled=False))


@answers.wrong("never divided")
def values_on_one_scale(query_parts, key_parts, value_parts):
    found = []
    for query in query_parts:
        highest, output = -np.inf, 0
        for key, value in zip(key_parts, value_parts):
            scores = query @ key.mT / np.sqrt(query.shape[-1]).astype(query.dtype)
            higher = np.maximum(highest, scores.max(axis=-1, keepdims=True))
            output = output * np.exp(highest - higher) + np.exp(scores - higher) @ value
            highest = higher
        found.append(output.astype(query.dtype))
    return found
