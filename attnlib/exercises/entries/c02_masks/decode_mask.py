"""The exercise decode_mask."""

from dataclasses import replace

import numpy as np

from ...families.choose import named, pick
from ...families.masks import (FEWER_KEYS, ONLY_MORE_KEYS, TRIANGLE_MISTAKES, TRIANGLE_STEPS, aligned_mask_answer,
    triangle_cases)
from ...model import Exercise, Mistake, alike


def _offset(of, **more):
    return {"offset": of, **more}


def _up_to(key, query):
    """Row by row what row[:query + 1] holds, also for a negative end."""
    return key < np.where(query + 1 < 0, key.shape[-1] + query + 1, query + 1)


SWAPPED = named("n_q and n_k swapped", TRIANGLE_MISTAKES)

EXERCISE = Exercise(
    name="decode_mask", signature="(n_q, n_k)", place=2,
    answer_axes="n_q n_k",
    text="A boolean causal mask of shape (n_q, n_k), aligned at the bottom right: the last query "
         "sees every key. With n_q > n_k the first queries see none.",
    answer=aligned_mask_answer, steps={**TRIANGLE_STEPS, "offset": lambda n_q, n_k: n_k - n_q},
    cases=triangle_cases, dtype="bool", aspects={FEWER_KEYS: ONLY_MORE_KEYS},
    hints=(
        "The last query stands at the last key's position. Where does query 0 stand then?",
        "Query i stands at position i + n_k - n_q; that is negative for some if n_q > n_k.",
        "Compare np.arange(n_k) with the column np.arange(n_q)[:, None] moved by n_k - n_q.",
    ),
    mistakes=(
        # the sizes may be swapped for the offset too
        replace(SWAPPED, change=(SWAPPED.change, _offset(lambda n_q, n_k: n_q - n_k, **SWAPPED.change))),
        *pick(TRIANGLE_MISTAKES, "mask inverted", "additive mask instead of boolean", "nothing allowed",
              "positions compared one by one", "diagonal excluded", "one key too many",
              "the future instead of the past",
              "everything allowed", "only the diagonal", "sliding window instead of the whole past",
              "blocks of positions",
              "only the key before", "window around the diagonal", "itself not seen", "edge off by two",
              "positions compared as shares", "square mask", "transposed", "turned upside down", "one column too many"),
        *alike("All queries stand at the end of the keys, each moved by n_k - n_q: the last one sees every key, "
               "whichever is "
               "longer.",
               "At which position does the last query stand, and at which the first if there are more queries than "
               "keys?",
               ("aligned at the top left", _offset(lambda n_q, n_k: 0),
                "Query 0 sees key 0 only, whatever n_q and n_k are."),
               ("only the last query moved",
                _offset(lambda n_q, n_k: 0, form=lambda mask: np.vstack([mask[:-1], mask[-1:] | True])),
                "The last query sees every key; the others are aligned at the top left."),
               ("offset the wrong way", _offset(lambda n_q, n_k: n_q - n_k), "The queries are moved by n_q - n_k."),
               ("offset never negative", _offset(lambda n_q, n_k: max(n_k - n_q, 0)),
                "For n_q > n_k the mask is aligned at the top left."),
               ("distance instead of offset", _offset(lambda n_q, n_k: abs(n_k - n_q)),
                "For n_q > n_k the queries are moved the wrong way.")),
        Mistake("another offset", alone=True,
                change=tuple(map(_offset,
                                 (lambda n_q, n_k: n_k // n_q, lambda n_q, n_k: (n_k - n_q) // 2, lambda n_q, n_k: n_q,
                                           lambda n_q, n_k: n_k % n_q))),
                does="The queries are moved, but not by n_k - n_q.",
                why="The last query, n_q - 1, must land on the last key, n_k - 1.",
                ask="Which number added to n_q - 1 gives n_k - 1?"),
        Mistake("negative end of a slice", change={"compare": _up_to},
                does="For n_q > n_k the first queries see keys, though they should see none.",
                why="Where n_k - n_q + i + 1 is negative a slice [:that] counts from the end, and holds keys. "
                    "A comparison, or a lower limit of 0, has no such trap.",
                ask="What does row[:-1] hold, and what should the row of a query before the first key hold?"),
    ),
)
