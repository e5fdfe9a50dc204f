"""Drawing the next word instead of taking the most likely one."""

from __future__ import annotations

import numpy as np

import attnlib
from attncourse.language.decoder import Decoder


def nucleus(weights, p: float):
    """True for the smallest set of most likely words whose weights `(n,)` sum to at least p."""
    order = np.argsort(-weights, kind="stable")
    count = len(weights) if p >= 1 else 1 + np.searchsorted(np.cumsum(weights[order]), p)
    kept = np.zeros(len(weights), dtype=bool)
    kept[order[:count]] = True
    return kept


def sample(
    model: Decoder, tokens, random: np.random.Generator, p: float = 1.0, count: int = 40
) -> list[int]:
    """Up to `count` further tokens, each drawn from the nucleus of p; the start ends them."""
    cache, read, given = model.new_cache(), list(tokens), []
    while len(given) < count:
        weights = attnlib.softmax(model(read, cache).logits[-1].astype(np.float64))
        weights = np.where(nucleus(weights, p), weights, 0)
        given.append(int(random.choice(len(weights), p=weights / weights.sum())))
        if given[-1] == 0:
            return given[:-1]
        read = given[-1:]
    return given
