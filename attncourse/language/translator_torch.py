"""The translator of translator.py in torch, for training: its parameters have the same names."""

from __future__ import annotations

import math

import torch
from torch.nn import functional as F

import attnlib
from attncourse.language import numerals
from attncourse.language.training import rate_at, torch_threads
from attncourse.language.translator import SHAPES, Translator

STEPS, BATCH, RATE = 900, 128, 0.01


def new_parameters(seed: int) -> dict[str, torch.Tensor]:
    """Normal numbers, with deviation 1 for what represents words and places, else 1/sqrt(in)."""
    generator = torch.Generator().manual_seed(seed)
    parameters = {}
    for name, shape in SHAPES.items():
        deviation = 1 if name in EMBEDDINGS else 1 / math.sqrt(shape[0])
        parameters[name] = (torch.randn(shape, generator=generator) * deviation).requires_grad_()
    return parameters


EMBEDDINGS = ("words", "places_of_words", "pieces", "places_of_pieces")


def outputs(p, pieces, previous, free_values=False, sharpness=1.0):
    """Logits `(batch, n, words)` and weights `(batch, n, m)`, as Translator.__call__ gives them.

    The scores of cross-attention are multiplied by `sharpness`. With `free_values`, values are
    made from pieces that have read the others, as keys are.
    """
    may_be_read = (pieces >= 0)[:, None]
    x = p["words"][previous] + p["places_of_words"][: previous.shape[1]]
    alone = p["pieces"][pieces]
    y = alone + p["places_of_pieces"][: pieces.shape[1]]
    y = y + attend(y @ p["own_w_q"], y @ p["own_w_k"], y @ p["own_w_v"], may_be_read)[0]
    value = (y if free_values else alone) @ p["w_v"]
    output, weights = attend(sharpness * x @ p["w_q"], y @ p["w_k"], value, may_be_read)
    return output @ p["unembed"], weights


def attend(query, key, value, may_be_read):
    scores = attnlib.mask_scores(attnlib.raw_scores(query, key), may_be_read)
    weights = attnlib.softmax(scores)
    return attnlib.av_product(weights, value), weights


def train(seed: int, steps: int = STEPS, threads: int | None = None, free_values: bool = False):
    """Trained parameters, and the loss of every step.

    At first all weights are equal, so that the values learn which word belongs to which piece; then
    the scores come in. Otherwise some seeds get stuck with a map that reads wrong places. Half of a
    batch lacks thousands and half lacks hundreds; what comes after is nothing in a quarter of it
    and less than twenty in a quarter, so that short numbers are seen as often as long ones. Numbers
    that are held out never occur.
    """
    chosen = numerals.numbers(held_out=False)
    pieces, previous, words, _ = map(torch.from_numpy, numerals.arrays(chosen))
    likely = torch.tensor([share(number) for number in chosen])
    generator, losses = torch.Generator().manual_seed(seed), []
    with torch_threads(threads):
        parameters = new_parameters(seed)
        optimizer = torch.optim.Adam(parameters.values(), RATE)
        for step in range(steps):
            at = torch.multinomial(likely, BATCH, True, generator=generator)
            sharpness = sharpness_at(step / steps)
            logits, _ = outputs(parameters, pieces[at], previous[at], free_values, sharpness)
            loss = F.cross_entropy(logits.flatten(0, 1), words[at].flatten(), ignore_index=-1)
            optimizer.param_groups[0]["lr"] = RATE * min(1, (step + 1) / 20) * rate_at(step / steps)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return parameters, losses


def sharpness_at(part: float) -> float:
    """The factor on the scores: 0 in the first tenth of training, 1 in its second half."""
    return min(1.0, max(0.0, (part - 0.1) / 0.4))


def share(number):
    """How likely a number is in a batch, up to a factor."""
    thousands, hundreds, rest = number // 1000, number // 100 % 10, number % 100
    part = 1 / 4 if rest == 0 else 1 / 4 / 19 if rest < 20 else 1 / 2 / 80
    return part / (9 if thousands else 1) / (9 if hundreds else 1)


@torch.no_grad()
def measured(parameters, chosen, free_values=False) -> dict[str, float]:
    """Like translator.measured, but also for free values."""
    pieces, previous, words, alignment = map(torch.from_numpy, numerals.arrays(chosen))
    logits, weights = outputs(parameters, pieces, previous, free_values)
    is_word = words >= 0
    right = (logits.argmax(dim=-1) == words) | ~is_word
    on_piece = weights.gather(-1, alignment.clamp(min=0)[..., None])[..., 0]
    return {
        "accuracy": right.all(dim=-1).double().mean().item(),
        "found": (weights.argmax(dim=-1) == alignment)[is_word].double().mean().item(),
        "weight": on_piece[is_word].double().mean().item(),
    }


def as_numpy(parameters) -> Translator:
    return Translator({name: array.detach().numpy().copy() for name, array in parameters.items()})


def as_torch(translator: Translator) -> dict[str, torch.Tensor]:
    return {name: torch.tensor(array) for name, array in translator.parameters.items()}
