"""Partial results over parts of the keys, and what goes wrong in merging them."""

import numpy as np


def columns(parts):
    return tuple(map(np.stack, zip(*parts)))


def weighted(outs, shares):
    return (shares * outs).sum(axis=0) / shares.sum(axis=0)


# ---------------------------------------------------------------- what partials.md uses


def two_shares(lse, new):
    share = 1 / (1 + np.exp(new - lse))
    return share, 1 - share


def too_early(lse, new):
    return 1, two_shares(lse, new)[1]


KEPT = (lambda lse, new: lse, lambda lse, new: new, np.maximum)


def one_by_one(outs, lses, shares_of=two_shares, go_on=np.logaddexp):
    """Partial results merged one after the other; `go_on` makes the next log-sum-exp."""
    merged, lse = outs[0], lses[0]
    for out, new in zip(outs[1:], lses[1:]):
        old_share, share = shares_of(lse, new)
        merged, lse = old_share * merged + share * out, go_on(lse, new)
    return merged


def best_part(outs, lses):
    return np.take_along_axis(outs, lses.argmax(axis=0)[None], axis=0)[0]


STARTS = (0.0, -100.0, -500.0, -999.0, -1000.0, -5000.0, -9999.0, -10000.0)


def never_below(number, tops, sums, outs):
    """The parts merged as relative to a running maximum that starts at a number."""
    powers = sums * np.exp(tops - np.maximum(tops.max(axis=0), number))
    return weighted(outs, powers)


def rescaled(outs, tops, sums, *kept):
    """Accumulators and sums added up, each rescaled to the common maximum unless it is `kept`."""
    scale = np.exp(tops - tops.max(axis=0))
    above, below = (1 if name in kept else scale for name in ("output", "sum"))
    return (above * sums * outs).sum(axis=0) / (below * sums).sum(axis=0)


def running_sums(outs, tops, sums, *kept):
    """Accumulator and sum go on from part to part; what is `kept` stays on an old scale."""
    highest, output, total = -np.inf, 0.0, 0.0
    for out, own, part in zip(outs, tops, sums):
        top = np.maximum(highest, own)
        scales = {"old": np.exp(highest - top), "new": np.exp(own - top)}
        old_output, new_output, old_sum, new_sum = (
            1 if f"{when} {what}" in kept else scales[when]
            for what in ("output", "sum")
            for when in ("old", "new")
        )
        output = output * old_output + part * out * new_output
        total = total * old_sum + part * new_sum
        highest = top
    return output / total
