"""Heads: how they are cut, what they cost, and what they learn to look at."""

import matplotlib.pyplot as plt
import numpy as np

from attncourse.plot.common import (
    COLORS,
    arrow,
    box,
    for_slides,
    grid,
    in_book_style,
    shades,
    side_by_side,
    subplots,
)


@in_book_style
def rows_of_weights(rows, titles, labels):
    """One bar chart for each row of weights `(n_k,)`, with a title each."""
    side_by_side(rows, titles, labels)


def numbered_cells(axes, numbers, corner, per_position):
    """A block of cells `(n, d)` with its upper left corner at (x, y), shaded by the position that a
    number belongs to.
    """
    shade = shades("query")
    for (i, j), number in np.ndenumerate(numbers):
        x, y = corner[0] + j, corner[1] + i
        axes.add_patch(
            plt.Rectangle(
                (x, y),
                1,
                1,
                facecolor=shade(0.06 + 0.17 * (number // per_position)),
                edgecolor="white",
                linewidth=1,
            )
        )
        axes.text(x + 0.5, y + 0.52, number, ha="center", va="center", fontsize=9.5)
    n, d = numbers.shape
    axes.add_patch(
        plt.Rectangle(corner, d, n, fill=False, edgecolor=COLORS["output"], linewidth=1.8)
    )


@in_book_style
def split_and_reshaped(numbers, n_heads):
    """`(n, d_model)` numbered entries, their heads as blocks of columns, and what only a reshape
    makes of them.
    """
    n, d_model = numbers.shape
    size = d_model // n_heads
    columns = np.stack([numbers[:, i * size : (i + 1) * size] for i in range(n_heads)])
    (axes,) = subplots(2.75, "a")
    left, right = d_model + 3.2, d_model + 2 * size + 5.4
    numbered_cells(axes, numbers, (0, n / 2 + 0.5), d_model)
    for i in range(n):
        axes.text(-0.3, n / 2 + 1 + i, f"position {i}", ha="right", va="center", fontsize=9)
    for x, heads, title in (
        (left, columns, "split: each head\nhas all positions"),
        (right, numbers.reshape(n_heads, n, size), "reshape alone: head 0\nhas positions 0 and 1"),
    ):
        axes.text(x + size / 2, -0.5, title, ha="center", va="bottom", fontsize=10)
        for i, head in enumerate(heads):
            numbered_cells(axes, head, (x, i * (n + 1)), d_model)
            axes.text(
                x - 0.25,
                i * (n + 1) + n / 2,
                f"head {i}",
                ha="right",
                va="center",
                fontsize=9,
                rotation=90,
            )
    axes.text(
        d_model / 2, n / 2, "x, in the order of memory", ha="center", va="bottom", fontsize=10
    )
    axes.plot([size, size], [n / 2 + 0.5, 1.5 * n + 0.5], color=COLORS["output"], linewidth=1.8)
    axes.set(xlim=(-3.6, right + size + 1.6), ylim=(n_heads * (n + 1) - 0.8, -2.6))
    axes.axis("off")


@in_book_style
def error_by_heads(n_heads, errors, width):
    """How much variance is left after training `(number of heads, seeds)`, against the number of
    heads of equal width.
    """
    (axes,) = subplots(2.8, "a")
    axes.axhline(0.5, color=COLORS["output"], linestyle="--", linewidth=1.2)
    axes.text(
        n_heads[1], 0.515, "with one row of weights, at least a half", fontsize=9.5, va="bottom"
    )
    axes.plot(n_heads, np.median(errors, axis=1), color=COLORS["weights"], linewidth=1.6)
    for count, row in zip(n_heads, errors):
        axes.plot(
            count * 1.04 ** (np.arange(len(row)) - len(row) / 2 + 0.5),
            row,
            "o",
            color=COLORS["weights"],
            markersize=4,
            markeredgecolor="white",
            markeredgewidth=0.5,
        )
    axes.set_xscale("log", base=2)
    axes.set_xticks(n_heads, [f"{count}\nof {width // count}" for count in n_heads])
    axes.minorticks_off()
    axes.set(
        ylim=(-0.03, 0.68),
        xlabel="heads, and features of each",
        ylabel="share left",
        title="Two look-ups, equal parameters",
    )


@in_book_style
def learned_rows(tables, titles, wanted, n_k):
    """The weights of one query in each head, in %, a grid `(heads, n_k)` for each model; `wanted`
    {key: name} are framed.
    """
    panels = subplots(0.7 + 0.27 * max(map(len, tables)), "abcde"[: len(tables)])
    for axes, table, title in zip(panels, tables, titles):
        grid(
            axes,
            np.round(100 * table),
            "weights",
            title,
            digits=0,
            outline=[(0, key, len(table), 1) for key in wanted],
        )
        axes.set_xticks(range(n_k), [wanted.get(key, "") for key in range(n_k)])
        axes.set_ylabel("head")
        axes.set_anchor("N")


@in_book_style
def removed_heads(lost, kinds):
    """The share of right answers that each head's removal costs, `(16, n_kinds)`: one row for each
    kind of text, one column for each head of four layers.
    """
    (axes,) = subplots(2.5, "a")
    grid(axes, 100 * lost.T, "output", "Answers lost without this head, in %", digits=0)
    heads = [f"{layer}.{head}" for layer in range(4) for head in range(4)]
    axes.set_xticks(range(16), heads, fontsize=9)
    axes.set_yticks(range(len(kinds)), kinds)
    axes.set(xlabel="layer and head", aspect="auto")
    for edge in (3.5, 7.5, 11.5):
        axes.axvline(edge, color="#444444", linewidth=0.8)


@in_book_style
def cache_per_position(names, kept, full):
    """KiB that one position leaves in the cache of each model, and what it would leave with a key
    head for each query head.
    """
    (axes,) = subplots(2.8, "a")
    places = np.arange(len(names))[::-1]
    axes.barh(places, full, height=0.7, color="white", edgecolor=COLORS["key"], linewidth=1.2)
    axes.barh(places, kept, height=0.7, color=COLORS["key"])
    for place, one, other in zip(places, kept, full):
        text = f"{one:,.0f}" if one == other else f"{one:,.0f}, in place of {other:,.0f}"
        axes.text(other * 1.12, place, text, va="center", fontsize=9.5)
    axes.set_xscale("log")
    axes.set(
        yticks=places,
        yticklabels=names,
        xlim=(4, 60_000),
        xlabel="KiB for each position, in 16 bits",
    )
    axes.set_xticks([10, 100, 1_000], ["10", "100", "1,000"])
    axes.minorticks_off()
    axes.tick_params(axis="y", length=0)


def map_cells(axes, weights, pattern, title, labels=()):
    """Weights `(n, n)` as shades, with a frame around each cell where the pattern is True."""
    axes.imshow(weights, cmap=shades("weights"), vmin=0, vmax=1)
    for i, j in zip(*np.nonzero(pattern)):
        axes.add_patch(
            plt.Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor="#1a1a1a", linewidth=0.9)
        )
    axes.set(
        xticks=range(len(labels)), yticks=range(len(labels)), xticklabels=labels, yticklabels=labels
    )
    axes.set_title(title, fontsize=10)
    axes.tick_params(length=0, labelsize=9)
    for spine in axes.spines.values():
        spine.set(visible=True, color="#b0b0b0", linewidth=0.8)


@in_book_style
def two_maps(pattern, weights, labels, titles):
    """The map known in advance beside a learned one: boolean and weights, both `(n, n)`."""
    for axes, shown, title in zip(subplots(2.9, "ab"), (pattern, weights), titles):
        map_cells(axes, shown, pattern, title, labels)
        axes.set(xlabel="key", ylabel="query")


@in_book_style
def emergence(steps, losses, shares, maps, pattern):
    """Loss and share of weight on right keys against the step, `(n_steps, n_seeds)` each; maps
    {step: `(n, n)`} below.

    The first seed, whose maps they are, is drawn thick.
    """
    left, right, *small = subplots(2.85, "aabb;cdef", height_ratios=[1.05, 1])
    for axes, lines, name, style, title in (
        (left, losses, "scores", "-", "Loss over the least possible"),
        (right, shares, "weights", "-", "Weight on right keys"),
    ):
        axes.plot(steps, lines[:, 1:], style, color=COLORS[name], linewidth=0.9, alpha=0.6)
        axes.plot(steps, lines[:, 0], style, color=COLORS[name], linewidth=2.4)
        for step in maps:
            axes.axvline(step, color="#444444", linestyle=":", linewidth=1)
        axes.set(title=title, xlabel="step", ylim=(0, 1))
    for axes, (step, weights) in zip(small, maps.items()):
        map_cells(axes, weights, pattern, f"step {step}")


@in_book_style
def looked_at_and_used(shares, lost, labels):
    """Each head's share of weight on right keys against the accuracy lost without the head: `(n,)`
    each.
    """
    (axes,) = subplots(2.7, "a")
    axes.plot(shares, lost, "o", color=COLORS["weights"], markersize=6)
    for share, loss, label in zip(shares, lost, labels):
        if label:
            axes.annotate(
                label,
                (share, loss),
                xytext=(-48, 24),
                textcoords="offset points",
                ha="right",
                fontsize=9.5,
                arrowprops={"arrowstyle": "-", "color": "#444444", "linewidth": 0.8, "shrinkB": 4},
            )
    axes.set(
        xlim=(-0.03, 1.03),
        ylim=(-0.05, 1),
        xlabel="share of the head's weight on right keys",
        ylabel="accuracy lost without it",
        title="What a head looks at, and what it is worth",
    )


@in_book_style
def learned_by_step(steps, shares, began):
    """The share of right answers against training steps, {kind: `(n,)`} for six kinds; a dotted
    line where the second stage of training began.
    """
    panels = subplots(2.9, "abc\ndef", sharex=True, sharey=True)
    for i, (axes, (kind, share)) in enumerate(zip(panels, shares.items())):
        axes.axvline(began, color="#444444", linestyle=":", linewidth=1)
        axes.plot(steps, share, color=COLORS["output"])
        axes.set(title=kind, xlim=(0, 1500), ylim=(-0.05, 1.05), yticks=(0, 0.5, 1))
        axes.set_xticks((0, 500, 1000))
        if i == 4:
            axes.set_xlabel("step")
        if i % 3 == 0:
            axes.set_ylabel("right")


@in_book_style
def by_seed(accuracies, line, label):
    """The accuracy of each seed as a dot, {design: `(n_seeds,)`}, one line for each design; a
    dashed line at `line`.
    """
    (axes,) = subplots(0.55 + 0.27 * len(accuracies), "a")
    for row, values in enumerate(accuracies.values()):
        axes.axhline(row, color="#e0e0e0", linewidth=0.8, zorder=0)
        axes.plot(
            np.sort(values),
            np.full(len(values), row),
            "o",
            color=COLORS["output"],
            alpha=0.55,
            markersize=6,
        )
    axes.axvline(line, color=COLORS["weights"], linestyle="--", linewidth=1.2)
    axes.annotate(
        label,
        (line, -0.75),
        xytext=(5, 0),
        textcoords="offset points",
        fontsize=9,
        va="center",
        color=COLORS["weights"],
    )
    axes.set(
        yticks=range(len(accuracies)),
        yticklabels=list(accuracies),
        xlim=(0, 1.04),
        xlabel="accuracy",
        ylim=(len(accuracies) - 0.5, -1.2),
    )
    axes.tick_params(axis="y", length=0)


@for_slides
def multi_head(n_heads=3, d_head=4):
    """Multi-head attention as boxes: the heads read the same words side by side, and a matrix mixes
    what they found.
    """
    (axes,) = subplots(0.68 * n_heads + 0.05, "a")
    middle = 0.34 * n_heads + 0.02
    axes.set(xlim=(0, 6), ylim=(0, 0.68 * n_heads + 0.05))
    axes.axis("off")
    size = n_heads * d_head
    box(axes, (0.02, middle - 0.28), "output", "x", f"{size} features")
    for head in range(n_heads):
        low = 0.68 * (n_heads - 1 - head) + 0.08
        box(axes, (1.28, low), "query", "Q, K, V", f"{d_head} features")
        box(axes, (2.54, low), "weights", f"head {head + 1}", "its own row")
        arrow(axes, (0.96, middle), (1.27, low + 0.28))
        arrow(axes, (2.22, low + 0.28), (2.53, low + 0.28))
        arrow(axes, (3.48, low + 0.28), (3.79, middle))
    box(axes, (3.8, middle - 0.28), "scores", "joined", f"{size} features")
    box(axes, (5.04, middle - 0.28), "output", "times W$_O$", "mixed")
    arrow(axes, (4.74, middle), (5.03, middle))
