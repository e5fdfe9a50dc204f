"""A small language and a decoder that was trained on it: README.md says what it can do.

>>> from attncourse import language
>>> model = language.load()
>>> prompt = language.encode("The cup belongs to Ada. Ada gives the cup to Ben. Who has the cup?")
>>> language.decode(model.generate(prompt))
'Ben.'
>>> run = model(prompt)
>>> run.weights.shape  # layers, heads, queries, keys
(4, 4, 19, 19)
"""

from attncourse.language.caches import Int8Cache, PagedCache, Pages
from attncourse.language.decoder import (
    Decoder,
    Functions,
    LayerCache,
    Run,
    Sizes,
    load,
    with_head,
    without_head,
)
from attncourse.language.drafts import generate_with_drafts, pair_table, seen_before
from attncourse.language.evaluate import accuracy
from attncourse.language.grammar import KINDS, Text, is_held_out, vocabulary, write
from attncourse.language.sampling import nucleus, sample
from attncourse.language.tokens import decode, encode, words

__all__ = [
    "KINDS",
    "Decoder",
    "Functions",
    "Int8Cache",
    "LayerCache",
    "PagedCache",
    "Pages",
    "Run",
    "Sizes",
    "Text",
    "accuracy",
    "decode",
    "encode",
    "generate_with_drafts",
    "is_held_out",
    "load",
    "nucleus",
    "pair_table",
    "sample",
    "seen_before",
    "vocabulary",
    "with_head",
    "without_head",
    "words",
    "write",
]
