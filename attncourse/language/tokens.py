"""Between text and numbers: every word and mark is a token, and a new name is split into syllables.

Zemira becomes the tokens Ze, -mi and -ra. The capital letter at the beginning of a sentence is not
part of a token; it is put back when tokens become text.
"""

from __future__ import annotations

import functools
import re

from attncourse.language.grammar import START, SYLLABLES, vocabulary


@functools.cache
def numbers() -> dict[str, int]:
    """The number of every word."""
    return {word: number for number, word in enumerate(vocabulary())}


def split(text: str) -> list[str]:
    """The words of a text, without the start.

    >>> split("The cat is called Zemira.")
    ['the', 'cat', 'is', 'called', 'Ze', '-mi', '-ra', '.']
    """
    return [part for word in re.findall(r"\w+|[^\w\s]", text) for part in parts(word)]


def parts(word):
    for form in (word, word.lower()):
        if form in numbers():
            return [form]
    syllables = [word[i : i + 2].lower() for i in range(0, len(word), 2)]
    unknown = [syllable for syllable in syllables if syllable not in SYLLABLES]
    if unknown or len(syllables) < 2:
        raise ValueError(
            f"the language has no word {word!r}; new names are made of the syllables "
            f"{', '.join(SYLLABLES)}"
        )
    return [syllables[0].capitalize(), *("-" + syllable for syllable in syllables[1:])]


def encode(text: str) -> list[int]:
    """The tokens of a text, the start first: `(n,)` whole numbers."""
    return [numbers()[word] for word in [START, *split(text)]]


def words(tokens) -> list[str]:
    """The word of each token, for the labels of a picture."""
    return [vocabulary()[token] for token in tokens]


def decode(tokens) -> str:
    """The text of tokens: new names are joined, words (but not marks) get a space before them, and
    capitals come back."""
    text, opens = "", True
    for word in words(tokens):
        if word == START:
            continue
        joined = word.startswith("-") or word in (".", "?", ":")
        text += ("" if joined or not text else " ") + (
            word[1:] if word.startswith("-") else word.capitalize() if opens else word
        )
        opens = word in (".", "?")
    return text
