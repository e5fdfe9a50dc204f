"""Attention whole: its shapes, its contract, and where nan comes from."""

import re

import matplotlib.pyplot as plt
import numpy as np

from attncourse.plot.common import COLORS, cells, grid, in_book_style, subplots


@in_book_style
def scores_to_weights(scores, weights, keys, queries=None):
    """Scores and their weights, both `(n_q, n_k)`, as grids of numbers.

    Without `queries`, the queries are the same positions as the keys and have their names.
    """
    left, right = subplots(2.8 if queries is None else 2.0, "ab")
    grid(
        left,
        scores,
        "scores",
        "Scores" if np.isfinite(scores).all() else "Masked scores",
        digits=2 if queries else 1,
    )
    grid(right, weights, "weights", "Weights", digits=2)
    for axes in (left, right):
        axes.set(xlabel="key", ylabel="query", xticklabels=keys, yticklabels=queries or keys)
    for row, total in enumerate(weights.sum(axis=-1)):
        right.text(len(keys) - 0.4, row, f"sum {total:.0f}", va="center", fontsize=9)


def extent(axes, start, stop, text):
    """The name of a size beside the edge that has it; upright where the edge is."""
    (x, y), upright = np.add(start, stop) / 2, start[0] == stop[0]
    axes.annotate(
        "",
        stop,
        start,
        arrowprops={
            "arrowstyle": "|-|,widthA=0.2,widthB=0.2",
            "color": "#444444",
            "linewidth": 0.8,
            "shrinkA": 0,
            "shrinkB": 0,
        },
    )
    axes.text(
        x - 0.2 * upright,
        y - 0.15 * (not upright),
        text,
        ha="right" if upright else "center",
        va="center" if upright else "top",
        fontsize=10,
    )


@in_book_style
def attention_shapes():
    """Attention as matrices, drawn to scale: 3 queries of size 2, 5 keys, values of size 4."""
    (axes,) = subplots(2.8, "a")
    axes.set(xlim=(-1.2, 24.2), ylim=(-4.4, 7.0), aspect="equal")
    axes.axis("off")
    cells(axes, (0, 0), (3, 2), "query", "Q", rows=[1])
    cells(axes, (3.2, 3.6), (2, 5), "key", "Kᵀ", columns=[3])
    cells(axes, (3.2, 0), (3, 5), "scores", "S", rows=[1])
    cells(axes, (12.4, 0), (3, 5), "weights", "A", rows=[1])
    cells(axes, (18.4, 6.2), (5, 4), "value", "V")
    cells(axes, (18.4, 0), (3, 4), "output", "O", rows=[1])
    axes.annotate(
        "",
        (12.1, -1.5),
        (8.5, -1.5),
        arrowprops={"arrowstyle": "-|>", "color": "#444444", "linewidth": 1.4},
    )
    axes.text(
        10.3, -1.1, "scale, mask,\nsoftmax of\neach row", ha="center", va="bottom", fontsize=9
    )
    extent(axes, (-0.25, -3), (-0.25, 0), "n$_q$")
    extent(axes, (0, -3.3), (2, -3.3), "d$_k$")
    extent(axes, (3.2, -3.3), (8.2, -3.3), "n$_k$")
    extent(axes, (2.95, 1.6), (2.95, 3.6), "d$_k$")
    extent(axes, (12.4, -3.3), (17.4, -3.3), "n$_k$")
    extent(axes, (18.15, 1.2), (18.15, 6.2), "n$_k$")
    extent(axes, (18.4, -3.3), (22.4, -3.3), "d$_v$")
    extent(axes, (23.9, -3), (23.9, 0), "n$_q$")


@in_book_style
def contract(rules, columns, kept):
    """Which of the rules each implementation keeps: `kept` (rules, columns) of booleans; the first
    two columns are correct.
    """
    (axes,) = subplots(0.4 + 0.145 * len(rules), "a")
    for (i, j), holds in np.ndenumerate(kept):
        place = j + (0.6 if j > 1 else 0)
        own = j > 1 and i == j - 2
        axes.add_patch(
            plt.Rectangle(
                (place - 0.5, i - 0.5),
                1,
                1,
                linewidth=1,
                edgecolor="#bbbbbb",
                snap=True,
                facecolor="white" if holds else COLORS["weights"] if own else "#e8b58f",
            )
        )
        if not holds:
            axes.text(place, i, "×", ha="center", va="center", color="white" if own else "#1a1a1a")
    axes.set(
        xlim=(-0.55, kept.shape[1] + 0.15),
        ylim=(len(rules) - 0.45, -0.55),
        yticks=range(len(rules)),
        xticks=[j + (0.6 if j > 1 else 0) for j in range(len(columns))],
    )
    rules = [re.sub(r"\b([a-z])_([a-z])\b", r"$\1_\2$", text) for text in rules]  # d_k as a symbol
    axes.set_yticklabels([f"{text}  {i}" for i, text in enumerate(rules, 1)], fontsize=9)
    axes.xaxis.tick_top()
    for label, rotation in zip(axes.set_xticklabels(columns, fontsize=9), (90, 90)):
        label.set_rotation(rotation)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


@in_book_style
def nan_on_the_way(ways, steps, bad):
    """Where nan occurs: `bad` (ways, steps) of booleans. The first step is the output, the others
    are gradients of the backward pass.
    """
    (axes,) = subplots(0.75 + 0.27 * len(ways), "a")
    for (i, j), is_nan in np.ndenumerate(bad):
        place = j + (0.3 if j else 0)
        axes.add_patch(
            plt.Rectangle(
                (place - 0.5, i - 0.5),
                1,
                1,
                facecolor=COLORS["weights"] if is_nan else "white",
                edgecolor="#bbbbbb",
                linewidth=0.8,
            )
        )
        axes.text(
            place, i, "nan" if is_nan else "", ha="center", va="center", color="white", fontsize=9.5
        )
    axes.set(
        xlim=(-0.55, len(steps) - 0.15),
        ylim=(len(ways) - 0.45, -0.55),
        yticks=range(len(ways)),
        yticklabels=ways,
        xticks=[j + (0.3 if j else 0) for j in range(len(steps))],
    )
    axes.xaxis.tick_top()
    axes.set_xticklabels(steps, fontsize=9.5)
    axes.text(
        (1.8 + len(steps) - 0.2) / 2 - 0.5,
        -1.75,
        "gradients, on the way back",
        ha="center",
        va="bottom",
        fontsize=10,
        style="italic",
    )
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
