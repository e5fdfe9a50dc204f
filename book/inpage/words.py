"""What the trained model looks at in sentences that a reader puts together, computed by NumPy when
the book is built, so that a page only has to show it.
"""

import functools

import numpy as np

from attncourse import language

NOUNS = ("trophy", "guitar", "box", "suitcase", "drawer")
ADJECTIVES = ("big", "long", "bulky", "small", "narrow", "shallow")
TEXT = (
    "The {first} does not fit in the {second} because it is too {adjective}."
    " What is too {adjective}? The"
)
LAYER, HEAD = 2, 1  # as in the chapter
LEAST = 0.0005  # a smaller weight is shown as 0.000 and left out


@functools.cache
def table():
    """{"first second adjective": what is shown for it}, with the possible choices."""
    model = language.load()
    pairs = [(first, second) for first in NOUNS for second in NOUNS if first != second]
    looks = {
        f"{first} {second} {adjective}": look(model, first, second, adjective)
        for first, second in pairs
        for adjective in ADJECTIVES
    }
    return {**choices(), "looks": looks}


def choices():
    """The possible choices."""
    return {"nouns": NOUNS, "adjectives": ADJECTIVES}


def look(model, first, second, adjective):
    """{position: weight of the last word} of the weights that are not 0.000, and the answer with
    its probability.
    """
    text = TEXT.format(first=first, second=second, adjective=adjective)
    run = model(language.encode(text))
    row, logits = run.weights[LAYER, HEAD, -1], run.logits[-1].astype(np.float64)
    powers = np.exp(logits - logits.max())
    best = int(powers.argmax())
    return {
        "weights": {int(j): round(float(row[j]), 3) for j in np.flatnonzero(row >= LEAST)},
        "answer": language.words([best])[0],
        "probability": round(float(powers[best] / powers.sum()), 3),
    }
