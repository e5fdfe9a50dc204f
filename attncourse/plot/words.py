"""Words of a text, and how much one word looks at each of the others, or a translation at its
source."""

import matplotlib.pyplot as plt
import numpy as np

from attncourse.plot.common import COLORS, in_book_style, shades, subplots
from attncourse.plot.raw_scores import along

HIGH = 98  # points of one text


@in_book_style
def looked_at(texts, rows, breaks):
    """Texts, each a list of words, and the last word's weights `(n,)` for each; the first line of a
    text has `breaks` words.

    The larger a word's weight, the darker its background; arrows lead to words with weights of at
    least 0.1. Words in which the texts differ are bold, and so is the last one.
    """
    (axes,) = subplots(HIGH * len(texts) / 72, "a")
    axes.set(xlim=(0, 6 * 72), ylim=(-HIGH * len(texts), 0))
    axes.axis("off")
    bold = {i for i, words in enumerate(zip(*texts)) if len(set(words)) > 1}
    for number, (words, weights) in enumerate(zip(texts, rows)):
        top = -HIGH * number - 33
        placed = in_two_lines(axes, words, breaks, top, bold | {len(words) - 1})
        for (x, y, text), weight in zip(placed, weights):
            shade(text, weight)
            if weight >= 0.1:
                look(axes, placed[-1], (x, y), weight)


def in_two_lines(axes, words, breaks, top, bold):
    """(x, y, text) of each word."""
    lines = ((words[:breaks], top, bold), (words[breaks:], top - 48, {i - breaks for i in bold}))
    return [
        (x, y, text) for line, y, bold in lines for x, text in along(axes, line, y, bold, size=14)
    ]


def shade(text, weight):
    ground = {"boxstyle": "round,pad=0.15", "facecolor": COLORS["weights"], "linewidth": 0}
    text.set_bbox({**ground, "alpha": float(weight)})
    if weight > 0.5:
        text.set_color("white")


def look(axes, start, stop, weight):
    """An arrow through the space between two lines, or over the words of one line."""
    (x, y, _), (to_x, to_y) = start, stop
    is_above = to_y > y
    axes.annotate(
        "",
        (to_x, to_y - 8 if is_above else to_y + 14),
        (x, y + 14),
        arrowprops={
            "arrowstyle": "-|>,head_width=0.3,head_length=0.6",
            "color": COLORS["weights"],
            "linewidth": 0.5 + 1.7 * float(weight),
            "connectionstyle": f"arc3,rad={0.06 if is_above else 0.3}",
            "shrinkA": 0,
            "shrinkB": 0,
        },
    )
    axes.plot(x, y + 14, "o", color=COLORS["weights"], markersize=4)
    axes.text(to_x, to_y + 17, f"{weight:.3f}", ha="center", fontsize=11, color=COLORS["weights"])


@in_book_style
def alignment_maps(maps):
    """A translation's words down and their source's pieces across: (pieces, words, alignment,
    weights `(n, m)`) for each map. Weights are shades with their numbers from 0.05 on; a frame is
    around the piece that a word translates.
    """
    shares = [len(pieces) + 1.2 for pieces, *_ in maps]
    height = 0.75 + 0.31 * max(len(words) for _, words, *_ in maps)
    panels = subplots(height, "abcd"[: len(maps)], width_ratios=shares)
    for axes, (pieces, words, alignment, weights) in zip(panels, maps):
        axes.imshow(weights, cmap=shades("weights"), vmin=0, vmax=1, aspect="auto")
        for (i, j), weight in np.ndenumerate(weights):
            if weight >= 0.05:
                color = "white" if weight > 0.5 else COLORS["output"]
                axes.text(j, i, f"{weight:.2f}", ha="center", va="center", fontsize=9, color=color)
        for i, j in enumerate(alignment):
            frame = plt.Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, linewidth=1.8)
            frame.set(edgecolor=COLORS["output"], zorder=3, clip_on=False)
            axes.add_patch(frame)
        axes.set_xticks(range(len(pieces)), pieces, fontsize=9)
        axes.set_yticks(range(len(words)), words, fontsize=9)
        axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        for spine in axes.spines.values():
            spine.set(visible=True, color="#b0b0b0", linewidth=0.8)
