"""Which head reads the trophy if it is too big, and the suitcase if it is too small."""

from __future__ import annotations

from random import Random

import numpy as np

from attncourse.language.decoder import Decoder
from attncourse.language.grammar import BOTH, CONTAINERS, THINGS, TOO_BIG, TOO_SMALL, is_held_out
from attncourse.language.tokens import encode

SENTENCE = (
    "The {thing} does not fit in the {container} because it is too {adjective}."
    " What is too {adjective}? The"
)
THING, CONTAINER = 2, 8  # their positions, after the start


def weights_at_the_end(model: Decoder, thing: str, container: str, adjective: str) -> np.ndarray:
    """The last word's weights: `(n_layers, h, n)`."""
    text = SENTENCE.format(thing=thing, container=container, adjective=adjective)
    return model(encode(text)).weights[:, :, -1]


def best(model: Decoder, count: int = 100, seed: int = 3) -> dict:
    """The head that gives most weight to the right noun, with its weights.

    Its mean over `count` held-out pairs of thing and container, for a "big" and a "small" adjective
    each, and the weights in the two sentences about the trophy and the suitcase.
    """
    random, big, small = Random(f"heads {seed}"), [], []
    while len(big) < count:
        thing, container = random.choice(THINGS), random.choice(BOTH + CONTAINERS)
        if is_held_out((thing, container)):
            big.append(weights_at_the_end(model, thing, container, random.choice(TOO_BIG)))
            small.append(weights_at_the_end(model, thing, container, random.choice(TOO_SMALL)))
    on_thing, on_container = np.mean(big, axis=0), np.mean(small, axis=0)
    worse = np.minimum(on_thing[:, :, THING], on_container[:, :, CONTAINER])
    layer, head = map(int, np.unravel_index(worse.argmax(), worse.shape))
    facts = {"layer": layer, "head": head, "pairs": count, "held out": {}, "trophy, suitcase": {}}
    for kind, adjective, mean in (("big", "big", on_thing), ("small", "small", on_container)):
        example = weights_at_the_end(model, "trophy", "suitcase", adjective)
        for name, weights in (("held out", mean), ("trophy, suitcase", example)):
            facts[name][kind] = {
                "thing": round(float(weights[layer, head, THING]), 3),
                "container": round(float(weights[layer, head, CONTAINER]), 3),
            }
    return facts
