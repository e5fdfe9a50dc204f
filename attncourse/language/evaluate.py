"""How many answers are right, kind by kind, on texts that training never showed."""

from __future__ import annotations

from random import Random

import numpy as np

from attncourse.language.decoder import Decoder
from attncourse.language.grammar import KINDS, VERBS, Text, write
from attncourse.language.tokens import numbers

OTHER_VERB = {**VERBS, **{many: one for one, many in VERBS.items()}}


def pack(texts: list[Text]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Texts as arrays: tokens `(batch, n + 1)`, and booleans `(batch, n)` for the words that follow
    each position: whether it belongs to the text, and whether it is an answer.

    The start follows the last word of a text, and fills what is left of its row.
    """
    n = max(len(each.words) for each in texts)
    tokens = np.zeros((len(texts), n + 1), dtype=np.int64)  # the start has the number 0
    belongs, is_answer = np.zeros((2, len(texts), n), dtype=bool)
    for row, each in enumerate(texts):
        length = len(each.words)
        tokens[row, :length] = [numbers()[word] for word in each.words]
        belongs[row, :length] = True
        is_answer[row, : length - 1] = each.is_answer[1:]
    return tokens, belongs, is_answer


def all_right(decoder: Decoder, texts: list[Text]) -> np.ndarray:
    """Booleans, one for each text: every word of every answer has the largest logit.

    The verb after "the keys to the cabinet" could be another preposition, or in another tense. So
    the right form is compared with the wrong one.
    """
    tokens, _, is_answer = pack(texts)
    logits = decoder(tokens[:, :-1]).logits
    following = tokens[:, 1:]
    rivals = logits.max(axis=-1)
    if texts[0].kind == "agree":
        other = np.arange(logits.shape[-1])
        for verb, wrong in OTHER_VERB.items():
            other[numbers()[verb]] = numbers()[wrong]
        rivals = np.take_along_axis(logits, other[following][..., None], axis=-1)[..., 0]
    found = np.take_along_axis(logits, following[..., None], axis=-1)[..., 0]
    # The right word is its own rival if it has the largest logit.
    wins = found > rivals if texts[0].kind == "agree" else found == rivals
    return (wins | ~is_answer).all(axis=-1)


def answered(decoder: Decoder, texts: list[Text]) -> np.ndarray:
    """Booleans, one for each text: read up to its last answer, the decoder goes on with that
    answer's first word.

    The answer isn't in what it reads, so a decoder with a leaking mask can't copy it.
    """
    groups: dict[int, list[int]] = {}
    for row, each in enumerate(texts):
        begins = max(i for i, (a, b) in enumerate(zip(each.is_answer, each.is_answer[1:])) if b > a)
        groups.setdefault(begins + 1, []).append(row)
    found = np.zeros(len(texts), dtype=bool)
    for length, rows in groups.items():
        tokens = np.array([[numbers()[word] for word in texts[row].words[:length]] for row in rows])
        answer = [numbers()[texts[row].words[length]] for row in rows]
        found[rows] = decoder(tokens).logits[:, -1].argmax(axis=-1) == answer
    return found


def accuracy(decoder: Decoder, count: int = 200, held_out: bool = True, seed: int = 1) -> dict:
    """For each kind, the share of `count` texts with every answer right."""
    shares = {}
    for kind in KINDS:
        random = Random(f"{kind} {seed}")
        texts = [write(kind, random, held_out) for _ in range(count)]
        shares[kind] = float(all_right(decoder, texts).mean())
    return shares
