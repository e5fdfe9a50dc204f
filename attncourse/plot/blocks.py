"""The rest of a transformer: its blocks, and what published models change in them."""

import numpy as np

from attncourse.plot.common import COLORS, arrow, box, in_book_style, subplots


@in_book_style
def residual_stream():
    """One layer of a decoder: the stream runs straight through, and two parts read it and add to
    it."""
    (axes,) = subplots(2.15, "a")
    axes.set(xlim=(0, 6), ylim=(0, 2.15))
    axes.axis("off")
    stream = 0.45
    axes.annotate(
        "",
        (5.95, stream),
        (0.05, stream),
        arrowprops={"arrowstyle": "-|>", "color": COLORS["output"], "linewidth": 3.5},
    )
    axes.text(0.1, 0.12, "residual stream: one vector for each position", fontsize=10)
    parts = ((0.45, "query", "attention", "all positions"), (3.3, "value", "MLP", "one position"))
    for left, role, name, text in parts:
        box(axes, (left, 1.3), "scores", "RMSNorm", "size 1")
        box(axes, (left + 1.35, 1.3), role, name, text)
        arrow(axes, (left + 0.47, stream), (left + 0.47, 1.28))
        arrow(axes, (left + 0.94, 1.58), (left + 1.35, 1.58))
        arrow(axes, (left + 1.82, 1.3), (left + 1.82, stream + 0.14))
        axes.plot(
            left + 1.82,
            stream,
            marker="o",
            markersize=15,
            color="white",
            markeredgecolor=COLORS["output"],
            markeredgewidth=1.6,
            zorder=3,
        )
        axes.text(left + 1.82, stream - 0.015, "+", ha="center", va="center", fontsize=13, zorder=4)


@in_book_style
def wavelengths(plain, scaled, trained):
    """How many positions each pair of features needs for one turn, (d/2,) before and after; a line
    at the length of training.
    """
    (axes,) = subplots(2.6, "a")
    pairs = np.arange(len(plain))
    axes.plot(pairs, scaled, "o-", color=COLORS["key"], markersize=3.5)
    axes.plot(pairs, plain, "o-", color=COLORS["query"], markersize=3.5)
    axes.axhline(trained, color=COLORS["scores"], linestyle="--", linewidth=1.2)
    axes.text(0, trained * 1.25, f"trained on {trained:,} positions", fontsize=10)
    last = pairs[-1] + 0.8
    axes.text(last, scaled[-1], "scaled", color=COLORS["key"], va="center", fontsize=10.5)
    axes.text(last, plain[-1], "plain", color=COLORS["query"], va="center", fontsize=10.5)
    axes.set(
        yscale="log",
        xlabel="pair of features",
        ylabel="positions per turn",
        xlim=(-1, pairs[-1] * 1.12),
    )


@in_book_style
def caches(names, mebibytes):
    """The size of each model's cache as a point on a logarithmic scale."""
    (axes,) = subplots(2.75, "a")
    places = np.arange(len(names))
    axes.hlines(places, 1, mebibytes, color=COLORS["scores"], linewidth=0.6, linestyle=":")
    axes.plot(mebibytes, places, "o", color=COLORS["key"], markersize=7)
    for place, size in zip(places, mebibytes):
        axes.text(size * 1.25, place, f"{size:,.0f}", va="center", fontsize=10)
    axes.set(
        xscale="log",
        xlabel="MiB for 32,768 positions",
        yticks=places,
        yticklabels=names,
        ylim=(len(names) - 0.5, -0.5),
        xlim=(min(mebibytes) / 2, max(mebibytes) * 6),
    )
    axes.tick_params(axis="y", length=0)
