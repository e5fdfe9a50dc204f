"""The smallest translator of number words that works, in NumPy: one cross-attention.

The previous English word, with its place, asks. The German pieces answer: a key is made from a
piece that has read its neighbours by self-attention, a value from the piece itself. So what a word
takes from a place says something about this piece only, and the map can be read as an alignment.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

import attnlib
from attncourse.language import numerals

FILE = Path(__file__).with_name("numerals.npz")
D, D_K = 24, 16
LONGEST = 8, 7  # pieces and words of a number up to 9,999, with the full stop
SHAPES = {
    "words": (len(numerals.WORDS), D),
    "places_of_words": (LONGEST[1], D),
    "pieces": (len(numerals.PIECES), D),
    "places_of_pieces": (LONGEST[0], D),
    "w_q": (D, D_K),
    "w_k": (D, D_K),
    "w_v": (D, D),
    "unembed": (D, len(numerals.WORDS)),
    "own_w_q": (D, D_K),  # of the pieces' self-attention
    "own_w_k": (D, D_K),
    "own_w_v": (D, D),
}


class Translator:
    """`translator(pieces, previous)` gives logits and weights; w_q, w_k, w_v are cross-attention's.

    Args:
        parameters: an array for every name in SHAPES; computed with in float32.
    """

    def __init__(self, parameters: dict):
        for name, shape in SHAPES.items():
            if name not in parameters or parameters[name].shape != shape:
                found = parameters[name].shape if name in parameters else "nothing"
                raise ValueError(f"parameter {name} must have the shape {shape}; got {found}")
        self.parameters = {name: np.float32(parameters[name]) for name in SHAPES}
        p, nothing = self.parameters, np.zeros
        # The first half of the memory makes the keys, the second the values.
        self.w_q = p["w_q"]
        self.w_k = np.concatenate([p["w_k"], nothing((D, D_K), np.float32)])
        self.w_v = np.concatenate([nothing((D, D), np.float32), p["w_v"]])
        self.unembed = p["unembed"]

    def asking(self, previous) -> np.ndarray:
        """x `(..., n, d)`: the word before each word, and its place."""
        p, n = self.parameters, np.shape(previous)[-1]
        return p["words"][np.asarray(previous)] + p["places_of_words"][:n]

    def memory(self, pieces) -> np.ndarray:
        """`(..., m, 2 d)`: each piece after it has read the others, beside the piece by itself."""
        p, pieces = self.parameters, np.asarray(pieces)
        alone = p["pieces"][pieces]
        y = alone + p["places_of_pieces"][: pieces.shape[-1]]
        scores = attnlib.raw_scores(y @ p["own_w_q"], y @ p["own_w_k"])
        weights = attnlib.softmax(attnlib.mask_scores(scores, may_be_read(pieces)))
        read = attnlib.av_product(weights, y @ p["own_w_v"])
        return np.concatenate([y + read, alone], axis=-1)

    def __call__(self, pieces, previous, weights=None) -> tuple[np.ndarray, np.ndarray]:
        """Logits `(..., n, words)` of each English word, and the weights `(..., n, m)`.

        Args:
            pieces: `(..., m)` whole numbers, -1 where a text has ended.
            previous: `(..., n)`, the English words before.
            weights: `(..., n, m)`, to be used instead of the model's own.
        """
        x, memory = self.asking(previous), self.memory(pieces)
        if weights is None:
            scores = attnlib.raw_scores(x @ self.w_q, memory @ self.w_k)
            weights = attnlib.softmax(attnlib.mask_scores(scores, may_be_read(pieces)))
        weights = np.asarray(weights, dtype=np.float32)
        output = attnlib.av_product(weights, memory @ self.w_v)
        return output @ self.unembed, weights

    def translate(self, number: int) -> list[str]:
        """Its English words, one by one, each the most likely after those before it."""
        pieces, said = numerals.arrays([number])[0][0], [0]
        while len(said) <= LONGEST[1]:
            logits, _ = self(pieces, said)
            said.append(int(logits[-1].argmax()))
            if said[-1] == 0:
                break
        return [numerals.WORDS[word] for word in said[1:]]


def may_be_read(pieces):
    """`(..., 1, m)`, False where a text has ended."""
    return np.asarray(pieces)[..., None, :] >= 0


def measured(translator: Translator, chosen: Sequence[int], weights=None) -> dict[str, float]:
    """How many of these numbers are right in all words, and how well the map fits.

    `weights` `(batch, n, m)` replace the model's own. All words are right if and only if each is
    right after the right words before it, so the texts needn't be written one word at a time.

    Returns:
        accuracy: the share of numbers that are right.
        found: the share of words whose largest weight is on the piece that they translate.
        weight: the mean weight of this piece.
    """
    pieces, previous, words, alignment = numerals.arrays(chosen)
    logits, weights = translator(pieces, previous, weights)
    is_word = words >= 0
    right = (logits.argmax(axis=-1) == words) | ~is_word
    on_piece = np.take_along_axis(weights, np.maximum(alignment, 0)[..., None], axis=-1)[..., 0]
    return {
        "accuracy": float(right.all(axis=-1).mean()),
        "found": float((weights.argmax(axis=-1) == alignment)[is_word].mean()),
        "weight": float(on_piece[is_word].mean()),
    }


def save(translator: Translator, path=FILE) -> None:
    """The parameters in float16."""
    np.savez_compressed(path, **{n: a.astype(np.float16) for n, a in translator.parameters.items()})


def load(path=FILE) -> Translator:
    """The translator that was trained for this course."""
    with np.load(path) as arrays:
        return Translator({name: arrays[name] for name in arrays.files})


def rounded(translator: Translator) -> Translator:
    """With its parameters rounded to float16, as save() writes them."""
    return Translator({n: np.float16(array) for n, array in translator.parameters.items()})
