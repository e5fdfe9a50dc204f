"""Writing with drafts: guesses of the next words, checked in one step of the model."""

from __future__ import annotations

from random import Random

import numpy as np

from attncourse.language.decoder import Decoder
from attncourse.language.grammar import KINDS, write
from attncourse.language.tokens import numbers


def seen_before(tokens, length):
    """What followed the last token at its most recent occurrence: up to `length` tokens.

    This draft needs no model and costs nothing, and it's right where a text repeats itself.
    """
    for place in range(len(tokens) - 2, -1, -1):
        if tokens[place] == tokens[-1]:
            return tokens[place + 1 : place + 1 + length]
    return []


def generate_with_drafts(
    model: Decoder, tokens, count: int = 40, length: int = 3, draft=seen_before, cache=None
) -> tuple[list[int], int]:
    """(the tokens that `model.generate` gives, the number of steps that it took).

    draft: a function of the tokens so far and of `length` that guesses up to `length` more.
    """
    cache = cache or model.new_cache()
    read, guesses, given, steps = list(tokens), [], [], 0
    while len(given) < count:
        logits = model([*read, *guesses], cache).logits
        best = logits[len(read) - 1 :].argmax(axis=-1).tolist()
        steps += 1
        right = 0  # guesses before the first wrong one
        while right < len(guesses) and guesses[right] == best[right]:
            right += 1
        given += best[: right + 1]  # the last of them is the model's own
        for layer in cache:  # what came after it was computed from a wrong word
            layer.keep(len(layer) - len(guesses) + right)
        if 0 in best[: right + 1]:  # the number of the start
            return given[: given.index(0)][:count], steps
        read = given[-1:]
        guesses = draft([*tokens, *given], length)
    return given[:count], steps


def pair_table(count: int = 500, seed: int = 0) -> np.ndarray:
    """How likely each word is after each, `(n_words, n_words)`, in `count` texts of each kind.

    This is as small as a draft model can be. One occurrence is added everywhere, so that every word
    can be drawn.
    """
    n = len(numbers())
    table = np.ones((n, n))
    random = Random(seed)
    for kind in KINDS:
        for _ in range(count):
            tokens = [numbers()[word] for word in write(kind, random, held_out=False).words]
            np.add.at(table, (tokens, [*tokens[1:], 0]), 1)
    return table / table.sum(axis=1, keepdims=True)
