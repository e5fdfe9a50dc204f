"""The exercise decode_mask."""

from dataclasses import replace

import numpy as np

from ...families.masks import (FEWER_KEYS, ONLY_MORE_KEYS, TRIANGLE_MISTAKES, TRIANGLE_STEPS, aligned_mask_answer,
    triangle_cases)
from ...model import Exercise, Mistake


def _up_to(key, query):
    """Row by row what row[:query + 1] holds, also for a negative end."""
    n_k = key.shape[-1]
    return key < np.where(query + 1 < 0, n_k + query + 1, query + 1)


def _swapped_before_the_offset(mistake):
    """The sizes may be swapped for the offset too."""
    if mistake.name != "n_q and n_k swapped":
        return mistake
    return replace(mistake, change=(mistake.change, {**mistake.change, "offset": lambda n_q, n_k: n_q - n_k}))


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
    mistakes=tuple(map(_swapped_before_the_offset, TRIANGLE_MISTAKES)) + (
        Mistake("aligned at the top left", change={"offset": lambda n_q, n_k: 0},
                does="Query 0 sees key 0 only, and the last query does not see the last keys.",
                why="Here the queries stand at the end of the keys: the last one sees every key.",
                ask="At which position does the last query stand?"),
        Mistake("only the last query moved",
                change={"offset": lambda n_q, n_k: 0, "form": lambda mask: np.vstack([mask[:-1], 0 * mask[-1:] + 1 > 0])},
                does="The last query sees every key; the others are aligned at the top left.",
                why="All queries stand at the end of the keys: each is moved by n_k - n_q.",
                ask="At which position does the last query but one stand?"),
        Mistake("another offset", alone=True,
                change=({"offset": lambda n_q, n_k: n_k // n_q}, {"offset": lambda n_q, n_k: (n_k - n_q) // 2},
                        {"offset": lambda n_q, n_k: n_q}, {"offset": lambda n_q, n_k: n_k % n_q}),
                does="The queries are moved, but not by n_k - n_q.",
                why="The last query, n_q - 1, must land on the last key, n_k - 1.",
                ask="Which number added to n_q - 1 gives n_k - 1?"),
        Mistake("offset the wrong way", change={"offset": lambda n_q, n_k: n_q - n_k},
                does="The queries are moved to before the keys instead of to their end.",
                why="The last query must land on the last key.",
                ask="Which number added to n_q - 1 gives n_k - 1?"),
        Mistake("negative end of a slice",
                change={"compare": lambda key, query: _up_to(key, query)},
                does="For n_q > n_k the first queries see keys, though they should see none.",
                why="Where n_k - n_q + i + 1 is negative a slice [:that] counts from the end, and holds keys. "
                    "A comparison, or a lower limit of 0, has no such trap.",
                ask="What does row[:-1] hold, and what should the row of a query before the first key hold?"),
        Mistake("offset never negative", change={"offset": lambda n_q, n_k: max(n_k - n_q, 0)},
                does="For n_q > n_k the mask is aligned at the top left.",
                why="The last query sees every key whichever is longer; then the first ones see none.",
                ask="What do the first queries see if there are more queries than keys?"),
        Mistake("distance instead of offset", change={"offset": lambda n_q, n_k: abs(n_k - n_q)},
                does="For n_q > n_k the queries are moved the wrong way.",
                why="The last query sees every key whichever is longer; then the first ones see none.",
                ask="What do the first queries see if there are more queries than keys?"),
    ),
)
