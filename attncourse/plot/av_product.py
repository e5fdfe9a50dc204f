"""The AV product: an output among its values."""

import numpy as np

from attncourse.plot.common import COLORS, bars, grid, in_book_style, spread_out, subplots


def hull_of_values(axes, value, weights, output, labels, between=": "):
    """Values `(n_k, 2)` as points with areas like their weights, their hull, the output `(2,)`."""
    centre = value.mean(0)
    order = np.argsort(np.arctan2(*(value - centre).T[::-1]))
    axes.fill(*value[order].T, color=COLORS["value"], alpha=0.12, linewidth=0)
    axes.scatter(*value.T, s=900 * weights, color=COLORS["value"], zorder=2)
    for point, weight, label in zip(value, weights, labels):
        outward = 1 if point[0] >= centre[0] else -1
        axes.annotate(
            f"{label}{between}{weight:.3f}",
            point,
            xytext=(outward * (5 + 15 * weight**0.5), 0),
            textcoords="offset points",
            va="center",
            ha="left" if outward > 0 else "right",
            fontsize=9.5,
            color=COLORS["value"],
        )
    axes.scatter(*output, marker="D", s=60, color=COLORS["output"], zorder=3)
    axes.annotate(
        "output",
        output,
        xytext=(-10, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        fontweight="bold",
    )
    axes.margins(0.65, 0.15)
    axes.set_aspect("equal")
    axes.set(xlabel="feature 0", ylabel="feature 1")


@in_book_style
def convex_combination(value, weights, output, labels):
    """Values `(n_k, 2)` in the plane, weights `(n_k,)`, and the output `(2,)` among them.

    The values are the corners of a convex polygon.
    """
    (axes,) = subplots(2.9, "a")
    hull_of_values(axes, value, weights, output, labels)


@in_book_style
def means_so_far(value, means, labels):
    """Values `(n, 2)` as points in a plane, and the path of the mean of the first 1, 2, ... n of
    them.
    """
    (axes,) = subplots(1.95, "a")
    axes.plot(*value.T, "o", color=COLORS["value"], markersize=9)
    for label, point in zip(labels, value):
        axes.annotate(
            label,
            point,
            xytext=(0, 8),
            textcoords="offset points",
            ha="center",
            color=COLORS["value"],
        )
    for start, stop in zip(means, means[1:]):
        axes.annotate(
            "",
            stop,
            start,
            arrowprops={"arrowstyle": "-|>", "color": COLORS["output"], "shrinkA": 5, "shrinkB": 6},
        )
    axes.plot(*means.T, "D", color=COLORS["output"], markersize=5)
    for count, (point, onwards) in enumerate(zip(means, np.diff(means[:, 1], append=np.inf)), 1):
        axes.annotate(
            f"mean of {count}",
            point,
            xytext=(8, -13 if onwards > 0 else 5),
            textcoords="offset points",
            fontweight="bold",
        )  # away from the arrow that leads on
    axes.set(xlabel="feature 0", ylabel="feature 1")
    axes.margins(0.12, 0.2)


@in_book_style
def one_query(scores, weights, value, output, labels):
    """The whole of attention for one query: scores, weights `(n_k,)`; values `(n_k, 2)`; output
    `(2,)`.
    """
    above, right, below = subplots(2.8, "ac;bc", width_ratios=[1, 1.3])
    bars(above, scores, "scores", "1. Raw scores", 1, labels)
    above.margins(y=0.4)
    bars(below, weights, "weights", "2. Weights", 3, labels)
    below.set_ylim(0, 1)
    hull_of_values(right, value, weights, output, labels, between="\n")
    right.margins(0.6, 0.25)
    right.set_title("3. Output among the values")


@in_book_style
def output_matrix(weights, value, output, row, column):
    """A `(n_q, n_k)`, V `(n_k, d_v)` and A V `(n_q, d_v)` as grids of numbers; query `row` and
    feature `column` are framed.
    """
    n_k, d_v = value.shape
    left, middle, right = subplots(2.6, "abc", width_ratios=[n_k, d_v + 0.7, d_v + 0.2])
    grid(left, weights, "weights", "A", digits=2, outline=[(row, 0, 1, n_k)])
    grid(middle, value, "value", "V", outline=[(0, column, n_k, 1)])
    grid(right, output, "output", "A V", digits=2, outline=[(row, column, 1, 1)])
    left.set(xlabel="key", ylabel="query")
    middle.set(xlabel="feature", ylabel="key")
    right.set(xlabel="feature", ylabel="query")


@in_book_style
def regression(key, value, query, truth, outputs):
    """Noisy points (key, value), the true curve, and attention's outputs {label: output}; all
    1-D.
    """
    (axes,) = subplots(2.3, "a")
    axes.plot(query, truth, color="#b0b0b0", linewidth=5, label="true curve")
    axes.scatter(key, value, s=14, color=COLORS["value"], label="keys and values")
    for (label, output), (style, width) in zip(
        outputs.items(), ((":", 1.5), ("-", 2.0), ("--", 1.5))
    ):
        axes.plot(
            query, output, color=COLORS["output"], linestyle=style, linewidth=width, label=label
        )
    axes.set(xlabel="position", ylabel="value", title="Attention as regression", yticks=[-1, 0, 1])
    axes.set_ylim(top=max(value) + 0.3)  # room for the legend
    axes.legend(loc="upper right", fontsize=9, ncols=2)


@in_book_style
def contributions(parts, labels):
    """What each key adds to one output: `parts` (n_k, 2) as arrows tip to tail, and the output from
    start to end.
    """
    (axes,) = subplots(1.5, "a")
    ends = np.concatenate([np.zeros((1, 2)), np.cumsum(parts, axis=0)])
    for start, end, label in zip(ends, ends[1:], labels):
        axes.annotate(
            "",
            end,
            start,
            arrowprops={
                "arrowstyle": "-|>",
                "color": COLORS["value"],
                "linewidth": 2,
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )
        side = np.sign(end - start)[
            1
        ]  # labels above flat arrows, left of rising and right of falling ones
        axes.annotate(
            label,
            (start + end) / 2,
            xytext=(-6 * side, 0) if side else (0, 9),
            textcoords="offset points",
            fontsize=9.5,
            ha={1: "right", -1: "left"}.get(side, "center"),
            va="center",
            color=COLORS["value"],
        )
    axes.annotate(
        "",
        ends[-1],
        (0, 0),
        arrowprops={
            "arrowstyle": "-|>",
            "color": COLORS["output"],
            "linewidth": 1.4,
            "linestyle": "--",
            "shrinkA": 0,
            "shrinkB": 0,
        },
    )
    axes.annotate(
        "output",
        ends[-1] / 2,
        xytext=(4, -8),
        textcoords="offset points",
        va="top",
        fontweight="bold",
    )
    axes.scatter(*ends.T, s=12, color=COLORS["output"], zorder=3)
    axes.margins(0.15, 0.25)
    axes.set_aspect("equal")
    axes.set(xlabel="feature 0", ylabel="feature 1", yticks=[0, 0.4])


def convex_hull(points):
    """The corners of the convex hull of points `(n, 2)`, in order: Andrew's monotone chain."""
    ordered, corners = sorted(map(tuple, points)), []
    for chain in (ordered, ordered[::-1]):
        side = []
        for x, y in chain:
            while len(side) > 1 and (
                (side[-1][0] - side[-2][0]) * (y - side[-2][1])
                <= (side[-1][1] - side[-2][1]) * (x - side[-2][0])
            ):
                side.pop()
            side.append((x, y))
        corners += side[:-1]
    return np.array(corners)


@in_book_style
def hulls_by_round(replaced, added, labels):
    """Words as points `(n, 2)` after each round, with their hulls: on the left the outputs replace
    the words, on the right they are added.
    """
    for axes, rounds, title in zip(
        subplots(2.3, "ab"), (replaced, added), ("Outputs replace the words", "Outputs are added")
    ):
        for i, (points, marker) in enumerate(zip(rounds, "osD^")):
            corners = convex_hull(points)
            axes.fill(*corners.T, color=COLORS["value"], alpha=0.12, linewidth=0)
            axes.fill(
                *corners.T,
                fill=False,
                edgecolor=COLORS["value"],
                linewidth=1,
                linestyle=("-", "--", ":", "-.")[i],
            )
            axes.scatter(
                *points.T,
                s=22,
                marker=marker,
                color=COLORS["output" if i else "value"],
                zorder=3,
                label=("the words", "once", "twice", "three times")[i],
            )
        axes.margins(0.3, 0.2)
        axes.locator_params(nbins=4)
        axes.set(title=title, xlabel="feature 0")
    for point, label in zip(replaced[0], labels):
        outward = 1 if point[0] >= replaced[0][:, 0].mean() else -1
        axes.figure.axes[0].annotate(
            label,
            point,
            xytext=(6 * outward, 0),
            textcoords="offset points",
            fontsize=9.5,
            va="center",
            ha="left" if outward > 0 else "right",
        )
    axes.legend(fontsize=9, loc="upper left", handletextpad=0.2)


@in_book_style
def losses_by_width(widths, losses, steps, step_losses, chosen):
    """Losses {label: `(n,)`} against the width; on these curves, training runs {label: (widths,
    losses)} and where they end.
    """
    (axes,) = subplots(2.3, "a")
    for (label, heights), (style, shade) in zip(
        losses.items(), (("-", "#1a1a1a"), ("--", "#5f6368"), (":", "#5f6368"))
    ):
        axes.plot(widths, heights, linestyle=style, color=shade, label=label)
    for (label, at), marker in zip(steps.items(), ">o"):
        axes.plot(
            at,
            step_losses[label],
            linestyle="",
            marker=marker,
            markersize=5,
            markerfacecolor="white",
            markeredgecolor=COLORS["weights"],
            label=label,
            zorder=3,
        )
    axes.axvline(chosen, color=COLORS["weights"], linewidth=1)
    axes.annotate(
        f"{chosen:.2f}",
        (chosen, 0.7 * max(map(max, losses.values()))),
        xytext=(4, 0),
        textcoords="offset points",
        fontsize=9.5,
        color=COLORS["weights"],
    )
    axes.set(
        xscale="log",
        xlabel="width",
        ylabel="mean squared error",
        ylim=(0, None),
        title="A width that is trained",
        yticks=[0, 0.1, 0.2, 0.3],
    )
    axes.set_xticks([0.05, 0.2, 0.5, 2])
    axes.xaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.legend(loc="upper left", fontsize=9)


@in_book_style
def moved_weight(value, output, moves, rows, labels):
    """Four values `(4, 2)` whose diagonals cross, the output, and the rows of weights `(m, 4)` that
    all have that output.
    """
    left, right = subplots(2.3, "ab", width_ratios=[1, 1.15])
    for pair, style in (([0, 2], "-"), ([1, 3], "--")):
        left.plot(*value[pair].T, linestyle=style, color=COLORS["value"], linewidth=1.2)
    left.scatter(*value.T, s=40, color=COLORS["value"], zorder=2)
    left.scatter(*output, marker="D", s=60, color=COLORS["output"], zorder=3)
    left.annotate(
        "output",
        output,
        xytext=(4, -22),
        textcoords="offset points",
        ha="center",
        fontweight="bold",
    )
    for point, label in zip(value, labels):
        above = 1 if point[1] >= value[:, 1].mean() - 0.6 else -1
        left.annotate(
            label,
            point,
            xytext=(0, 11 * above),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=9.5,
            color=COLORS["value"],
        )
    left.margins(0.25)
    left.set_aspect("equal")
    left.set(
        title="The values", xlabel="feature 0", ylabel="feature 1", xticks=[0, 3], yticks=[-1, 2]
    )
    for j, (heights, label, at) in enumerate(zip(rows.T, labels, spread_out(rows[-1], 0.07))):
        right.plot(
            moves,
            heights,
            color=COLORS["weights"],
            linestyle=("-", "--")[j % 2],
            linewidth=1.2 + 1.2 * (j == 2),
        )
        right.annotate(
            label,
            (moves[-1], at),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=9.5,
        )
    right.axvline(0, color="#444444", linewidth=0.8)
    right.margins(x=0.02)
    right.set_xlim(moves[0], moves[-1] + 0.28 * (moves[-1] - moves[0]))
    right.set(
        title="Weights with this output",
        xlabel="moved to Ada's and cat",
        ylim=(-0.04, 0.85),
        xticks=[-0.1, 0],
        yticks=[0, 0.4, 0.8],
    )
