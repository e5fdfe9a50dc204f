"""German number words and their English translation, from 1 to 9,999, with the right alignment.

>>> pair = write(324)
>>> " ".join(pair.pieces)
'drei hundert vier und zwanzig .'
>>> " ".join(pair.words)
'three hundred twenty four .'
>>> pair.alignment  # which piece each word translates
(0, 1, 4, 2, 5)
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LARGEST = 9_999
START = END = "."
EIN = "_ ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn"
EIN = f"{EIN} sechzehn siebzehn achtzehn neunzehn".split()
ONE = "_ one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
ONE = f"{ONE} sixteen seventeen eighteen nineteen".split()
ZEHN = "_ zehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
TEN = "_ ten twenty thirty forty fifty sixty seventy eighty ninety".split()
PIECES = (END, *EIN[1:], "eins", *ZEHN[2:], "und", "hundert", "tausend")
WORDS = (END, *ONE[1:], *TEN[2:], "hundred", "thousand")


@dataclass(frozen=True)
class Pair:
    """A number in both languages. Word i translates piece `alignment[i]`; *und* has no word."""

    pieces: tuple[str, ...]
    words: tuple[str, ...]
    alignment: tuple[int, ...]


def write(number: int) -> Pair:
    """A number from 1 to 9,999 in both languages, each with a full stop at its end."""
    if not 1 <= number <= LARGEST:
        raise ValueError(f"a number must be from 1 to {LARGEST:,}; got {number}")
    thousands, hundreds, rest = number // 1000, number // 100 % 10, number % 100
    pieces, translated = [], []  # translated: (word, the place of its piece)
    for digit, piece, word in (
        (thousands, "tausend", "thousand"),
        (hundreds, "hundert", "hundred"),
    ):
        if digit:
            translated += [(ONE[digit], len(pieces)), (word, len(pieces) + 1)]
            pieces += [EIN[digit], piece]
    tens, ones = divmod(rest, 10)
    if tens > 1 and ones:  # four-and-twenty: here the order differs
        translated += [(TEN[tens], len(pieces) + 2), (ONE[ones], len(pieces))]
        pieces += [EIN[ones], "und", ZEHN[tens]]
    elif rest:
        translated.append((TEN[tens] if tens > 1 else ONE[rest], len(pieces)))
        pieces.append(ZEHN[tens] if tens > 1 else "eins" if rest == 1 else EIN[rest])
    translated.append((END, len(pieces)))
    words, alignment = zip(*translated)
    return Pair((*pieces, END), words, alignment)


def german(number: int) -> str:
    """Written as one word: vierundzwanzig."""
    return "".join(write(number).pieces[:-1])


def is_held_out(number: int) -> bool:
    """One number in five never occurs in training."""
    return zlib.crc32(str(number).encode()) % 5 == 0


@functools.cache
def numbers(held_out: bool) -> tuple[int, ...]:
    return tuple(n for n in range(1, LARGEST + 1) if is_held_out(n) == held_out)


def arrays(chosen: Sequence[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Numbers as arrays of whole numbers, -1 where a text has ended.

    Returns:
        pieces: `(batch, m)`, the German pieces.
        previous: `(batch, n)`, the English word before each one; before the first, the start.
        words: `(batch, n)`, the English words.
        alignment: `(batch, n)`, the piece that each word translates.
    """
    pairs = [write(int(number)) for number in chosen]
    pieces = filled([[PIECES.index(piece) for piece in pair.pieces] for pair in pairs])
    words = filled([[WORDS.index(word) for word in pair.words] for pair in pairs])
    previous = np.where(words < 0, -1, np.roll(words, 1, axis=1))
    previous[:, 0] = WORDS.index(START)
    return pieces, previous, words, filled([pair.alignment for pair in pairs])


def filled(rows):
    longest = max(map(len, rows))
    return np.array([[*row, *[-1] * (longest - len(row))] for row in rows])
