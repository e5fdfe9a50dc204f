"""Attention without the softmax: which pairs go through a table, and which through the state."""

import numpy as np

from attncourse.plot.common import COLORS, in_book_style, shades, subplots


@in_book_style
def through_the_state(n, *chunks):
    """Causal pairs of n positions, a panel for each size of chunks: dark ones are in a small table,
    light ones come through the state.
    """
    for axes, chunk in zip(subplots(2.6, "abcde"[: len(chunks)]), chunks):
        query, key = np.indices((n, n))
        same, past = query // chunk == key // chunk, key <= query
        axes.imshow(
            np.where(past, np.where(same, 1.0, 0.35), 0.0), cmap=shades("weights"), vmin=0, vmax=1.3
        )
        steps = -(-n // chunk)
        axes.set(
            title="whole table" if chunk >= n else f"chunks of {chunk}",
            xticks=[],
            yticks=[],
            ylabel="queries",
            xlabel=f"keys\n{steps} step{'s' * (steps > 1)} in turn",
        )
        for edge in range(0, n, chunk):
            axes.axhline(edge - 0.5, color="white", linewidth=1)
            axes.axvline(edge - 0.5, color="white", linewidth=1)
        axes.plot([-0.5, n - 0.5], [-0.5, n - 0.5], color=COLORS["output"], linewidth=1)
