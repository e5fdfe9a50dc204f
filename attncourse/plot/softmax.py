"""The softmax: its weights, its rounding, and one pass over a row."""

import matplotlib.pyplot as plt
import numpy as np

from attncourse.plot.common import COLORS, HALF, bars, in_book_style, side_by_side, subplots


@in_book_style
def scores_and_weights(scores, exps, weights, labels):
    """Bar charts of one row: raw scores, their exponentials and the weights, each `(n_k,)`."""
    left, middle, right = subplots(2.4, "abc")
    bars(left, scores, "scores", "Raw scores", 1, labels)
    bars(middle, exps, "weights", "Exponentials", 2, labels)
    bars(right, weights, "weights", "Weights", 2, labels)
    right.set_ylim(0, 1)
    for axes in (left, middle, right):
        axes.tick_params(axis="x", labelsize=9)


@in_book_style
def weights_by_temperature(temperatures, rows, labels):
    """One bar chart for each temperature: `rows` are weights `(n_k,)`."""
    side_by_side(rows, [f"T = {temperature:g}" for temperature in temperatures], labels)


@in_book_style
def weight_against_gap(gaps, curves):
    """The first of two weights against the gap of their scores `(n,)`: {label: weights `(n,)`}; one
    curve has its 9s marked.
    """
    (axes,) = subplots(2.9, "a")
    for (label, weights), style in zip(
        curves.items(), ("-",) if len(curves) == 1 else (":", "-", "--")
    ):
        axes.plot(gaps, weights, style, color=COLORS["weights"], label=label)
    if len(curves) > 1:
        axes.legend(loc="lower right")
    else:
        for weight in (0.5, 0.9, 0.99):
            gap = np.log(weight / (1 - weight))
            axes.plot(gap, weight, "o", color=COLORS["output"])
            axes.annotate(
                f"{weight:g} at {gap:.1f}",
                (gap, weight),
                xytext=(6, -14),
                textcoords="offset points",
            )
    axes.set(
        title="Two keys",
        xlabel="gap: first score minus second",
        ylabel="weight of the first",
        ylim=(-0.03, 1.05),
    )


@in_book_style
def calibration(sure, right, counts):
    """The share of right answers against how sure they were, `(n,)` each, with their counts."""
    (axes,) = subplots(3, "a", HALF)
    axes.plot((0, 1), (0, 1), "--", color=COLORS["scores"])
    axes.plot(sure, right, "o-", color=COLORS["weights"])
    for x, y, count in zip(sure, right, counts):
        axes.annotate(f"{count}", (x, y), xytext=(6, -12), textcoords="offset points", fontsize=9)
    axes.set(xlabel="how sure", ylabel="share of right answers", xlim=(0.2, 1.05))
    axes.set_ylim(-0.05, 1.05)


@in_book_style
def smooth_maximum(gaps, maxima, lse):
    """The maximum and the log-sum-exp of the pair (0, gap), against the gap `(n,)`."""
    (axes,) = subplots(2.9, "a")
    axes.plot(gaps, maxima, color=COLORS["scores"], linestyle="--")
    axes.plot(gaps, lse, color=COLORS["output"])
    middle = len(gaps) // 2
    axes.annotate(
        "", (0, 0), (0, lse[middle]), arrowprops={"arrowstyle": "<->", "shrinkA": 0, "shrinkB": 0}
    )
    axes.annotate(
        "log 2",
        (0, lse[middle] / 2),
        xytext=(-6, -3),
        textcoords="offset points",
        ha="right",
        fontsize=9,
    )
    axes.annotate(
        "log-sum-exp",
        (gaps[middle], lse[middle]),
        xytext=(-10, 12),
        textcoords="offset points",
        ha="right",
        color=COLORS["output"],
    )
    axes.annotate(
        "maximum",
        (gaps[-middle // 2], maxima[-middle // 2]),
        xytext=(14, -10),
        textcoords="offset points",
        color=COLORS["scores"],
    )
    axes.set(title="The scores 0 and x: maximum and log-sum-exp", xlabel="x")


@in_book_style
def stalled_sums(sums):
    """Running sums of ones in several kinds of numbers, {kind: `(n,)`}, against the number of
    terms.
    """
    (axes,) = subplots(2.9, "a")
    order = sorted(sums, key=lambda kind: -sums[kind][-1])
    for kind, shade, style in zip(order, ("#1a1a1a", "#5f6368", "#8a8f94"), ("-", "--", "-.")):
        n = len(sums[kind])
        axes.plot(np.arange(1, n + 1), sums[kind], style, color=shade, linewidth=2.5)
        axes.annotate(
            f"{kind}: {sums[kind][-1]:,.0f}",
            (n, sums[kind][-1]),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=10,
            annotation_clip=False,
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    ticks = 4.0 ** np.arange(0, 9)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(ticks, [f"{tick:,.0f}" for tick in ticks], fontsize=9)
    axes.minorticks_off()
    axes.set(title="1 + 1 + 1 + …, rounded after every step", xlabel="terms", ylabel="sum")


@in_book_style
def rounded_scores(sizes, errors, bounds):
    """Relative errors of weights from rounded scores: errors {kind: `(sizes, rows)`}, bounds {kind:
    `(sizes,)`}.
    """
    (axes,) = subplots(2.8, "a")
    order = sorted(bounds, key=lambda kind: -bounds[kind][-1])
    for kind, marker in zip(order, "so^"):
        low, middle, high = np.quantile(errors[kind], [0, 0.5, 1], axis=1)
        axes.fill_between(sizes, low, high, color=COLORS["weights"], alpha=0.25, linewidth=0)
        axes.plot(
            sizes, middle, marker=marker, markersize=5, linewidth=1.2, color=COLORS["weights"]
        )
        axes.plot(sizes, bounds[kind], "--", color=COLORS["output"], linewidth=1.2)
        axes.annotate(
            kind,
            (sizes[-1], middle[-1]),
            xytext=(8, -3),
            textcoords="offset points",
            annotation_clip=False,
        )
    axes.axhline(0.01, color="#9aa0a6", linewidth=0.8)
    axes.annotate("1 %", (sizes[0], 0.01), xytext=(-2, 3), textcoords="offset points", fontsize=9)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
    axes.minorticks_off()
    axes.set(
        title="Error of the worst weight; dashed, the bound",
        xlabel="largest score of the row",
        ylabel="relative error",
    )


@in_book_style
def softmax_forms(lengths, measured, title):
    """Errors of four forms of the softmax beside their bounds, in units of u, against the number of
    keys.

    measured {kind: `(lengths, rows, 6)`}: quotient, exp(s - lse), s - lse, (s - m) - log sum, the
    bound of the first, the bound of the next two. Points are medians, thin lines the middle 80 % of
    the rows.
    """
    panels = list(subplots(2.9, "abc", sharey=True))
    forms = (
        ("quotient", "-", "o", COLORS["weights"]),
        ("exp(s − lse)", "--", "s", COLORS["weights"]),
        ("s − lse", "none", "x", COLORS["output"]),
        ("(s − m) − log sum", ":", "^", COLORS["scores"]),
    )
    for axes, (kind, rows) in zip(panels, measured.items()):
        for i, style, name in ((4, "-", "bound, quotient"), (5, "--", "bound, s − lse")):
            axes.plot(
                lengths,
                np.median(rows[..., i], axis=1),
                style,
                color="#9aa0a6",
                linewidth=3,
                zorder=0,
                label=name,
            )
        for i, (name, style, marker, color) in enumerate(forms):
            low, middle, high = np.quantile(rows[..., i], [0.1, 0.5, 0.9], axis=1)
            beside = np.array(lengths) * 1.12 ** (i - 1.5)
            axes.vlines(beside, low, high, color=color, linewidth=0.8)
            axes.plot(
                beside,
                middle,
                linestyle=style,
                marker=marker,
                markersize=4.5,
                linewidth=1.2,
                color=color,
                label=name,
            )
        axes.set_title(f"{kind}", fontsize=10)
        axes.set(xscale="log", yscale="log", ylim=(0.7, 250))
        axes.set_xticks([10, 1_000, 100_000], ["10", "1,000", "100,000"], fontsize=9)
        axes.set_yticks([1, 10, 100], ["1", "10", "100"])
        axes.minorticks_off()
        axes.grid(axis="y", color="#e0e0e0", linewidth=0.8)
    panels[0].set_ylabel("error in units of u")
    panels[1].set_xlabel(f"keys, {title}")
    axes.figure.legend(
        *axes.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9
    )


@in_book_style
def running_sum(scores, stops, labels):
    """exp(score - maximum so far) for the first keys of a row `(n_k,)`: a bar chart for each of
    `stops`.
    """
    for axes, stop in zip(subplots(2.6, "abcde"[: len(stops)], sharey=True), stops):
        exps = np.exp(scores[:stop] - scores[:stop].max())
        bars(
            axes,
            exps,
            "weights",
            f"{stop} keys, maximum {scores[:stop].max():.1f}",
            3,
            labels[:stop],
        )
        axes.set(
            xlim=(-0.6, len(scores) - 0.4),
            xticks=range(len(scores)),
            xticklabels=labels,
            ylim=(0, 1.3),
        )
        axes.text(len(scores) - 0.5, 1.2, f"sum {exps.sum():.3f}", ha="right", fontweight="bold")


@in_book_style
def running_pair(scores, maxima, sums, lse):
    """Along one row `(n_k,)`: scores, running maximum and log-sum-exp on the left, and the running
    sum on the right.
    """
    left, right = subplots(2.7, "ab")
    keys = np.arange(1, len(scores) + 1)
    left.plot(keys, scores, "o", markersize=3, color="#9aa0a6")
    left.step(keys, maxima, where="post", color=COLORS["scores"])
    left.plot(keys, lse, color=COLORS["output"], linestyle="--")
    left.annotate(
        "maximum so far",
        (keys[-1], maxima[-1]),
        xytext=(0, 5),
        textcoords="offset points",
        ha="right",
        fontsize=9,
        color=COLORS["scores"],
    )
    left.annotate(
        "log-sum-exp so far",
        (keys[-1], lse[-1]),
        xytext=(0, 5),
        textcoords="offset points",
        ha="right",
        fontsize=9,
    )
    left.set(title="Maximum and log-sum-exp", xlabel="keys read", ylim=(None, lse.max() + 0.8))
    right.step(keys, sums, where="post", color=COLORS["weights"])
    right.set(title="Sum, shifted by the maximum", xlabel="keys read", ylim=(0, None))


def merge_tree(axes, scores, tree, left, width):
    """Draw how `tree`, keys in nested tuples, merges the pairs of a row; returns the keys below,
    the height and place.
    """
    if not isinstance(tree, tuple):
        keys, level, x = [tree], 0, left + width * tree
    else:
        below = [merge_tree(axes, scores, part, left, width) for part in tree]
        keys = [key for part in below for key in part[0]]
        level, x = 1 + max(part[1] for part in below), np.mean([part[2] for part in below])
        for _, under, at in below:
            axes.plot(
                [at, x], [-0.62 * under, -0.62 * level], color="#767676", linewidth=1.2, zorder=1
            )
    row_max = scores[keys].max()
    axes.add_patch(
        plt.Rectangle(
            (x - 0.22, -0.62 * level - 0.19),
            0.44,
            0.38,
            facecolor="white",
            zorder=2,
            edgecolor=COLORS["output"],
            linewidth=2.5 if len(keys) == len(scores) else 1,
        )
    )
    for y, number, digits, name in (
        (0.085, row_max, 1, "scores"),
        (-0.09, np.exp(scores[keys] - row_max).sum(), 3, "weights"),
    ):
        axes.text(
            x,
            -0.62 * level + y,
            f"{number:.{digits}f}".replace("-", "−"),
            ha="center",
            va="center",
            fontsize=9,
            color=COLORS[name],
            fontweight="bold" if name == "scores" else "normal",
        )
    return keys, level, x


@in_book_style
def merge_trees(scores, trees, labels):
    """Orders in which the pairs (maximum, sum) of a row of four are merged: `trees` {title: keys in
    nested tuples}.
    """
    (axes,) = subplots(2.9, "a")
    axes.set(xlim=(0, 6), ylim=(-2.22, 0.68))
    axes.axis("off")
    for i, (title, tree) in enumerate(trees.items()):
        axes.text(0.04 + 2.03 * i, 0.55, title, fontsize=10.5, fontweight="bold", va="center")
        for key, label in enumerate(labels):
            axes.text(
                0.25 + 2.03 * i + 0.475 * key, 0.27, label, fontsize=9, ha="center", va="center"
            )
        merge_tree(axes, scores, tree, 0.25 + 2.03 * i, 0.475)


@in_book_style
def error_by_blocks(errors, unit):
    """{label: {number of blocks: (low, median, high)}}: the median as a line, the spread as thin
    bars, on log axes.
    """
    (axes,) = subplots(2.8, "a")
    styles = (
        ("-", "o", COLORS["output"]),
        ("--", "s", COLORS["scores"]),
        (":", "^", COLORS["weights"]),
    )
    for (label, by_blocks), (line, marker, color), aside in zip(
        errors.items(), styles, (1, 1.13, 0.885)
    ):
        blocks = list(by_blocks)
        low, median, high = np.transpose(list(by_blocks.values()))
        places = np.multiply(blocks, aside)  # side by side, so that they don't hide each other
        axes.vlines(places, low, high, color=color, linewidth=1)
        axes.plot(
            places,
            median,
            line,
            marker=marker,
            markersize=5,
            linewidth=1.6,
            color=color,
            label=label,
        )
    axes.set(
        xscale="log",
        yscale="log",
        title="Error of the sum against the number of blocks",
        xlabel="blocks",
        ylabel=unit,
    )
    axes.set_xticks(blocks, [f"{count:,}" for count in blocks])
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.legend(loc="upper center", fontsize=9, borderpad=0)
