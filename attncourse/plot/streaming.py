"""A block of keys at a time: what is kept, and what it costs compared with other
implementations."""

import matplotlib.pyplot as plt
import numpy as np

from attncourse.plot.common import (
    COLORS,
    arrow,
    in_book_style,
    line_style,
    shades,
    spread_out,
    subplots,
)


@in_book_style
def in_blocks(scores, value, stops, labels):
    """What one query keeps while it reads its keys up to each of `stops`: maximum m, sum l and
    accumulator u.

    Scores `(n_k,)`, values `(n_k, 2)`; the last stop is n_k, and the output stands at the end.
    """
    (axes,) = subplots(2.5, "a")
    axes.set(xlim=(0, 6), ylim=(0, 2.5))
    axes.axis("off")
    step = 4.52 / len(stops)
    kept(axes, 0.02, "nothing read", -np.inf, 0, np.zeros(2))
    for i, (start, stop) in enumerate(zip((0, *stops), stops)):
        x, exps = 0.02 + step * (i + 1), np.exp(scores[:stop] - scores[:stop].max())
        axes.text(
            x + 0.72,
            2.38,
            ", ".join(labels[start:stop]),
            ha="center",
            fontsize=10.5,
            fontweight="bold",
        )
        read = "scores " + ", ".join(f"{score:.1f}" for score in scores[start:stop]).replace(
            "-", "−"
        )
        axes.text(x + 0.72, 2.14, read, ha="center", fontsize=10, color=COLORS["scores"])
        arrow(axes, (x + 0.72, 2.08), (x + 0.72, 1.66))
        factor = np.exp(scores[:start].max() - scores[:stop].max()) if start else 0
        axes.text(
            x - (step - 1.44) / 2, 1.1, f"× {factor:.3g}", ha="center", va="bottom", fontsize=10
        )
        arrow(axes, (x - step + 1.46, 1.0), (x - 0.02, 1.0))
        kept(axes, x, f"{stop} keys read", scores[:stop].max(), exps.sum(), exps @ value[:stop])
    arrow(axes, (x + 0.72, 0.36), (x + 0.72, 0.2))
    axes.text(
        x + 0.72,
        0.03,
        "u / ℓ = ({:.3f}, {:.3f})".format(*exps @ value / exps.sum()),
        ha="center",
        fontsize=10.5,
        fontweight="bold",
    )


def kept(axes, x, title, row_max, row_sum, u):
    """A box with what one query keeps."""
    axes.add_patch(
        plt.Rectangle(
            (x, 0.4), 1.44, 1.22, facecolor="white", edgecolor=COLORS["weights"], linewidth=2
        )
    )
    lines = [f"m = {row_max:.1f}", f"ℓ = {row_sum:.3f}", "u = ({:.2f}, {:.2f})".format(*u)]
    axes.text(x + 0.72, 1.42, title, ha="center", fontsize=9)
    for line, y in zip(lines, (1.13, 0.83, 0.53)):
        axes.text(
            x + 0.72, y, line.replace("-", "−").replace("inf", "∞"), ha="center", fontsize=10.5
        )


@in_book_style
def causal_blocks(n, *sizes):
    """Which blocks of n queries and n keys remain under a causal mask: dark ones whole, light ones
    with a mask, empty ones not. `sizes` are pairs (block_q, block_k), one panel per pair.
    """
    for axes, (block_q, block_k) in zip(subplots(2.5, "abcde"[: len(sizes)]), sizes):
        query, key = np.indices((n, n))
        first_query, first_key = query // block_q * block_q, key // block_k * block_k
        whole, partly = (
            first_key + block_k - 1 <= first_query,
            first_key <= first_query + block_q - 1,
        )
        axes.imshow(np.where(whole, 1.0, 0.45 * partly), cmap=shades("weights"), vmin=0, vmax=1.3)
        axes.set(
            title=f"{block_q} queries × {block_k} keys",
            xticks=[],
            yticks=[],
            ylabel="queries",
            xlabel=f"keys\n{partly.sum()} of {n * n} pairs",
        )
        for edge in range(n):
            if edge % block_q == 0:
                axes.axhline(edge - 0.5, color="white", linewidth=1)
            if edge % block_k == 0:
                axes.axvline(edge - 0.5, color="white", linewidth=1)
        axes.plot([-0.5, n - 0.5], [-0.5, n - 0.5], color=COLORS["output"], linewidth=1)


@in_book_style
def merged_outputs(value, parts, outputs, shares, output, labels):
    """Values `(n_k, 2)`; two lists of keys, `parts`, with attention's outputs `(2, 2)`, shares
    `(2,)` and the merged `(2,)`.
    """
    (axes,) = subplots(2.8, "a")
    for part, own, share, style, side in zip(parts, outputs, shares, ("--", ":"), (-1, 1)):
        axes.plot(*value[part].T, color=COLORS["value"], linestyle=style, linewidth=1.5, zorder=1)
        axes.scatter(
            *own,
            marker="D",
            s=40,
            facecolor="white",
            edgecolor=COLORS["output"],
            linewidth=1.5,
            zorder=3,
        )
        axes.annotate(
            f"share {share:.3f}",
            own,
            xytext=(8 * side, -12 * side),
            textcoords="offset points",
            ha="right" if side < 0 else "left",
            va="center",
        )
    axes.plot(*np.transpose(outputs), color=COLORS["output"], linewidth=2, zorder=2)
    axes.scatter(*value.T, s=60, color=COLORS["value"], zorder=2)
    for point, label in zip(value, labels):
        axes.annotate(
            label,
            point,
            xytext=(8, -5),
            textcoords="offset points",
            va="center",
            color=COLORS["value"],
        )
    axes.scatter(*output, marker="D", s=70, color=COLORS["output"], zorder=4)
    axes.annotate("merged", output, xytext=(9, 5), textcoords="offset points", fontweight="bold")
    axes.set_aspect("equal")
    axes.margins(0.5, 0.12)
    axes.set(
        xlabel="feature 0",
        ylabel="feature 1",
        title="Each output lies between those that it merges",
    )


def lines_against_n(axes, lines, title, unit):
    """{label: {n: number}} on log axes, each line named beside its end."""
    ends = {label: (max(points), points[max(points)]) for label, points in lines.items()}
    numbers = [number for points in lines.values() for number in points.values()]
    heights = spread_out(
        [np.log(height) for _, height in ends.values()], np.log(max(numbers) / min(numbers)) / 14
    )
    sizes = sorted({n for points in lines.values() for n in points})
    for i, ((label, points), height) in enumerate(zip(lines.items(), np.exp(heights))):
        axes.plot(*zip(*sorted(points.items())), **line_style(i, label))
        axes.annotate(
            label,
            ends[label],
            xytext=(sizes[-1] * 1.25, height),
            va="center",
            fontsize=9,
            fontweight="bold" if label.startswith("attnlib") else "normal",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": "#9aa0a6",
                "linewidth": 0.6,
                "relpos": (0, 0.5),
                "shrinkA": 1,
                "shrinkB": 4,
            },
        )
    axes.set(xscale="log", yscale="log", title=title, xlabel="n, queries and keys", ylabel=unit)
    axes.set_xticks(sizes, [str(n) for n in sizes])
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.grid(axis="y", color="#e0e0e0", linewidth=0.8)


@in_book_style
def time_against_n(record):
    """Milliseconds of one call without a mask against n for every contender; `record` is the JSON
    of attncourse.bench.
    """
    lines = {}
    for row in record["times"]:
        if not row["is_causal"] and row["factor"] == 1:
            for name, got in row["contenders"].items():
                lines.setdefault(name, {})[row["n"]] = got["ms"]["median"]
    (axes,) = subplots(2.9, "a")
    lines_against_n(axes, lines, "Time of one call", "milliseconds")


@in_book_style
def memory_against_n(record):
    """Peak extra memory of one call in MiB against n, and the output's own; `record` is the JSON of
    attncourse.bench.
    """
    from attncourse import bench

    lines, least = {}, 0.1  # pages of 4 KiB are counted in lumps
    for row in record["memory"]:
        if row["MiB"] is not None and row["contender"] != "products alone":
            lines.setdefault(row["contender"], {})[row["n"]] = max(row["MiB"], least)
    lines["the output alone"] = {
        n: bench.output_mib(n) for points in [*lines.values()] for n in points
    }
    (axes,) = subplots(2.9, "a")
    lines_against_n(axes, lines, "Memory beyond the arguments", "MiB")


@in_book_style
def fast_steps(passes, record):
    """Counted passes over the scores {step: number}, beside the recorded milliseconds of the same
    steps.

    `record` as in memory_against_n; a thin line holds the middle half of the rounds.
    """
    (row,) = record["ladder"]
    left, right = subplots(2.6, "ab", sharey=True)
    for place, (counted, step) in enumerate(zip(passes.values(), row["steps"].values())):
        left.barh(place, counted, color=COLORS["scores"], height=0.6)
        left.annotate(
            f"{counted:.3g}",
            (counted, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
        )
        middle, low, high = (step["ms"][what] for what in ("median", "low", "high"))
        right.barh(place, middle, color="#9aa0a6", height=0.6)
        right.plot([low, high], [place, place], color=COLORS["output"], marker="|", linewidth=1.2)
        right.annotate(
            f"{middle:.0f}",
            (max(middle, high), place),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
        )
    left.set(
        yticks=range(len(passes)),
        yticklabels=list(passes),
        title="Counted",
        xlabel="numbers read and written per score",
    )
    right.set(title=f"Recorded, n = {row['n']}", xlabel="milliseconds")
    left.invert_yaxis()
    for axes in (left, right):
        axes.margins(x=0.2)
