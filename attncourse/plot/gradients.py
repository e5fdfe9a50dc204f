"""Gradients: of the softmax, of the whole of attention, and in training."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap

from attncourse.plot.common import COLORS, HALF, band, bars, grid, in_book_style, shades, subplots


@in_book_style
def step_errors(measured, expected):
    """Relative errors of a difference quotient against its step: {name: (steps, 10 %, median, 90
    %)}.

    `expected` has the two theoretical lines of each, {name: (bend, rounding)}: dashed, each where
    it is the larger.
    """
    (axes,) = subplots(2.1, "a")
    for (name, (steps, low, middle, high)), grey in zip(
        measured.items(), ("#80868b", "#5f6368", "#1a1a1a")
    ):
        axes.fill_between(steps, low, high, color=grey, alpha=0.25, linewidth=0)
        axes.plot(steps, middle, color=grey, marker="o", markersize=3, linewidth=1.4)
        axes.annotate(
            name,
            (steps[-1], middle[-1]),
            xytext=(-7, 2),
            textcoords="offset points",
            ha="right",
            fontsize=9.5,
            fontweight="bold",
            color="#1a1a1a",
        )
        bend, rounding = expected[name]
        for line, other in ((bend, rounding), (rounding, bend)):
            shown = (line > other / 8) & (line < 1)
            axes.plot(steps[shown], line[shown], "--", color=COLORS["weights"], linewidth=1)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="step",
        ylabel="relative error",
        xlim=(5e-19, 2),
        ylim=(1e-13, 3),
        title="The slope of x³ by central differences",
    )
    axes.text(
        1e-12, 2e-2, "rounding:\nslope −1", fontsize=9, color=COLORS["weights"], ha="left", va="top"
    )
    axes.text(
        1,
        1e-8,
        "bend of\nthe curve:\nslope 2",
        fontsize=9,
        color=COLORS["weights"],
        ha="right",
        va="top",
    )
    axes.minorticks_off()


def signed_grid(axes, matrix, title, labels):
    """A matrix as cells with their numbers: positive ones in the weights' colour, negative ones
    grey and in italics.
    """
    both = LinearSegmentedColormap.from_list(
        "signed", [COLORS["scores"], "#ffffff", COLORS["weights"]]
    )
    axes.imshow(
        np.sign(matrix) * abs(matrix) ** 0.5, cmap=both, vmin=-1.5, vmax=1.5
    )  # the root lifts the small ones
    for (i, j), number in np.ndenumerate(matrix):
        label = f"{number:.3f}".replace("0.", ".").replace("-", "−") if number else "0"
        axes.text(
            j,
            i,
            label,
            ha="center",
            va="center",
            fontsize=9,
            style="italic" if number < 0 else "normal",
        )
    axes.set(
        title=title,
        xlabel="score",
        xticks=range(len(labels)),
        yticks=range(len(labels)),
        yticklabels=labels,
    )
    axes.set_xticklabels(labels, rotation=90)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelsize=9)


@in_book_style
def jacobian(diagonal, products, labels):
    """The softmax's Jacobian `(n, n)` as the difference of its two terms, each a grid of numbers
    below 1.
    """
    left, *others = subplots(2.15, "abc")
    signed_grid(left, diagonal, "diag(a)", labels)
    left.set_ylabel("weight")
    for axes, matrix, title in zip(others, (products, diagonal - products), ("minus a aᵀ", "is J")):
        signed_grid(axes, matrix, title, labels)
        axes.set_yticklabels([])
    for axes in (left, *others):
        axes.set_aspect("auto")


@in_book_style
def norm_over_triangle(weights, norms, path, temperatures, along_path, labels):
    """The Jacobian's norm at each point of the triangle of three weights: `weights` (m, 3), `norms`
    (m,).

    `path` (t, 3) are the weights of one row at each of `temperatures` (t,), and `along_path` (t,)
    the norms there.
    """
    left, right = subplots(2.9, "ab", width_ratios=[1.15, 1])
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.75**0.5]])
    levels = np.arange(0, 0.51, 0.05)
    ground = left.tricontourf(
        *(weights @ corners).T, norms, levels=levels, cmap=shades("weights"), vmin=0, vmax=0.62
    )
    left.tricontour(*(weights @ corners).T, norms, levels=levels, colors="white", linewidths=0.6)
    left.fill(*corners.T, fill=False, edgecolor="#444444", linewidth=1)
    left.plot(*(path @ corners).T, color="#1a1a1a", linewidth=2)
    one, most = np.argmin(abs(np.log(temperatures))), np.argmax(along_path)
    for axes, points in (
        (left, path @ corners),
        (right, np.stack([temperatures, along_path], axis=-1)),
    ):
        axes.plot(
            *points[one], "o", color="#1a1a1a", markeredgecolor="white", markersize=8, zorder=3
        )
        axes.plot(
            *points[most], "D", color="#1a1a1a", markeredgecolor="white", markersize=8, zorder=3
        )
    for corner, label, place in zip(corners, labels, ((0, -14), (0, -14), (0, 5))):
        left.annotate(label, corner, xytext=place, textcoords="offset points", ha="center")
    for middle, text, place in (
        (corners[:2], "1/2", (0, -13)),
        (corners[1:], "1/2", (13, 0)),
        (corners[::2], "1/2", (-13, 0)),
        (corners, "1/3", (13, -11)),
    ):
        left.annotate(
            text,
            middle.mean(axis=0),
            xytext=place,
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    left.set_aspect("equal")
    left.axis("off")
    left.margins(0.06, 0.1)
    left.set_title("The norm of J", pad=20)
    left.figure.colorbar(
        ground, ax=left, location="left", shrink=0.8, ticks=[0, 0.1, 0.2, 0.3, 0.4, 0.5]
    )
    right.plot(temperatures, along_path, color="#1a1a1a")
    right.axhline(0.5, color=COLORS["weights"], linestyle="--", linewidth=1)
    right.set(xscale="log", ylim=(0, 0.56), xlabel="temperature")
    right.set_title("Along the thick line", pad=20)
    right.annotate(
        "T = 1",
        (temperatures[one], along_path[one]),
        xytext=(-9, 3),
        textcoords="offset points",
        ha="right",
        fontsize=9,
    )
    right.text(temperatures[0], 0.51, "never above a half", fontsize=9, color=COLORS["weights"])
    right.xaxis.set_major_formatter("{x:g}")
    right.minorticks_off()


@in_book_style
def pulls(value, output, grad_scores, labels):
    """One feature of the values `(n_k,)`, the output as a line, and the output's gradient with
    respect to the scores `(n_k,)`.
    """
    left, right = subplots(2.1, "ab")
    bars(left, value, "value", "Values, and the output", 1, labels)
    left.axhline(output, color=COLORS["output"], linestyle="--", linewidth=1.5)
    left.annotate(
        f"output\n{output:.3f}",
        (-0.5, output),
        xytext=(3, 3),
        textcoords="offset points",
        fontsize=9,
    )
    bars(right, grad_scores, "scores", "Gradient of the scores", 3, labels)


@in_book_style
def chords(function, x, step):
    """A curve near x with its tangent, and the chord of each of the two difference quotients."""
    places = np.linspace(x - 1.5 * step, x + 1.5 * step, 61)
    slope = (function(x + 1e-6) - function(x - 1e-6)) / 2e-6
    panels = (
        ("Forward: from $x$ to $x + h$", (0, step)),
        ("Central: from $x - h$ to $x + h$", (-step, step)),
    )
    for axes, (title, (back, ahead)) in zip(subplots(1.95, "ab", sharey=True), panels):
        axes.plot(places, function(places), color=COLORS["output"], linewidth=2.2)
        axes.plot(
            places, function(x) + slope * (places - x), "--", color=COLORS["scores"], linewidth=1.4
        )
        ends = np.array([x + back, x + ahead])
        axes.plot(ends, function(ends), "-o", color=COLORS["weights"], linewidth=2.4, markersize=6)
        axes.set(title=title, yticks=[], ylim=(function(x) - 1.8, function(places[-1])))
        axes.set_xticks([x - step, x, x + step], ["$x - h$", "$x$", "$x + h$"], fontsize=10)
        axes.spines["left"].set_visible(False)
        axes.annotate(
            "tangent at $x$",
            (places[-1], function(x) + slope * 1.5 * step),
            xytext=(4, -24),
            textcoords="offset points",
            ha="right",
            va="top",
            color=COLORS["scores"],
            fontsize=9.5,
        )


@in_book_style
def one_jacobian(matrix, labels, column=None, sums=False):
    """The Jacobian `(n, n)` for one column of a slide: one of its columns framed, or the sums of
    all of them at the edges.
    """
    n = len(labels)
    (axes,) = subplots(2.75 if sums else 2.5, "a", width=HALF)
    signed_grid(axes, matrix, "", labels)
    axes.set_ylabel("weight")
    if column is not None:
        axes.add_patch(
            plt.Rectangle(
                (column - 0.48, -0.48), 0.96, n - 0.04, fill=False, edgecolor="#1a1a1a", linewidth=2
            )
        )
    if sums:
        for place in range(n):
            for x, y in ((n, place), (place, n)):
                axes.text(x, y, "0", ha="center", va="center", fontweight="bold", fontsize=11)
        axes.set(xlim=(-0.5, n + 0.5), ylim=(n + 0.5, -0.5))
        axes.set_xticks([*range(n), n], [*labels, "sum"], rotation=90)
        axes.set_yticks([*range(n), n], [*labels, "sum"])


@in_book_style
def score_in_fractions(labels, key):
    """The weights as fractions; the term of one score is filled wherever it stands."""
    (axes,) = subplots(1.3, "a")
    n = len(labels)
    axes.set(xlim=(-0.75, 6 * n - 0.2), ylim=(-1.35, 2.0))
    axes.axis("off")

    def term(x, y, j):
        is_key = j == key
        axes.add_patch(
            plt.Rectangle(
                (x - 0.57, y - 0.42),
                1.14,
                0.84,
                facecolor=COLORS["scores"] if is_key else "white",
                edgecolor=COLORS["scores"],
                linewidth=0.8,
            )
        )
        axes.text(
            x,
            y - 0.02,
            f"$e^{{s_{j}}}$",
            ha="center",
            va="center",
            fontsize=10,
            color="white" if is_key else "#222222",
        )

    for i, label in enumerate(labels):
        left = 6 * i
        axes.text(left + 2.2, 1.62, label, ha="center", fontsize=10, color=COLORS["weights"])
        term(left + 2.2, 0.72, i)
        axes.plot([left - 0.4, left + 4.8], [0.1, 0.1], color="#444444", linewidth=1.4)
        for j in range(n):
            term(left + 0.25 + 1.3 * j, -0.55, j)


@in_book_style
def weighted_points(x, weights, labels):
    """Numbers on a line, their size showing their weights, with their weighted mean and one
    standard deviation on each side.
    """
    (axes,) = subplots(1.75, "a")
    mean = weights @ x
    deviation = np.sqrt(weights @ (x - mean) ** 2)
    axes.axvspan(mean - deviation, mean + deviation, color="#e8eaed", linewidth=0)
    axes.axvline(mean, color=COLORS["output"], linewidth=1.8)
    axes.text(mean, 1.24, "mean", ha="center", fontsize=9.5, fontweight="bold")
    axes.annotate(
        "one standard deviation",
        (mean + deviation, 0.92),
        xytext=(-4, 0),
        textcoords="offset points",
        ha="right",
        fontsize=9,
    )
    axes.axhline(0, color="#444444", linewidth=0.8)
    heights = {}
    for place, weight, label in zip(x, weights, labels):
        lifted = heights.setdefault(place, 0)
        axes.plot(place, 0, "o", markersize=40 * weight**0.5, color=COLORS["weights"], alpha=0.55)
        axes.text(place, 0.42 + lifted, f"{label} {weight:.3f}", ha="center", fontsize=9.5)
        heights[place] += 0.26
    axes.set(ylim=(-0.75, 1.45), xlim=(min(x) - 0.7, max(x) + 0.7), yticks=[], xlabel="$x_i$")
    axes.spines["left"].set_visible(False)


@in_book_style
def paths_to_loss(slopes, labels, key):
    """From one score over every weight to the loss: arrows as wide as the Jacobian's entries are
    large, dashed where they are negative.
    """
    n = len(labels)
    (axes,) = subplots(1.95, "a")
    axes.set(xlim=(0, 6), ylim=(-0.45, n - 0.35))
    axes.axis("off")
    middle = (n - 1) / 2
    for i, (label, slope) in enumerate(zip(labels, slopes)):
        y = n - 1 - i
        for start, stop, width, text, aside in (
            ((1.1, middle), (2.43, y), 1 + 14 * abs(slope), f"$J_{{{i}{key}}}$", 0.62),
            ((3.71, y), (5.05, middle), 1.4, f"$g_{i}$", 0.4),
        ):
            axes.annotate(
                "",
                stop,
                start,
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": COLORS["weights"] if start[0] < 2 else "#444444",
                    "linewidth": width,
                    "linestyle": "-" if slope > 0 or start[0] > 2 else (0, (2, 1)),
                    "shrinkA": 0,
                    "shrinkB": 0,
                },
            )
            axes.text(
                start[0] + aside * (stop[0] - start[0]),
                start[1] + aside * (stop[1] - start[1]) + 0.14,
                text,
                ha="center",
                va="bottom",
                fontsize=10,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85},
            )
        role_box(axes, (3.08, y), f"weight of {label}", "weights", 1.26, 0.56)
    role_box(axes, (0.55, middle), f"score of {labels[key]}", "scores", 1.06, 0.6)
    role_box(axes, (5.42, middle), "loss $f$", "output", 0.7, 0.6)


def role_box(axes, middle, text, name, width, height):
    """A box with one line, in the colour of its role."""
    axes.add_patch(
        plt.Rectangle(
            (middle[0] - width / 2, middle[1] - height / 2),
            width,
            height,
            facecolor="white",
            edgecolor=COLORS[name],
            linewidth=1.8,
            zorder=3,
        )
    )
    axes.text(*middle, text, ha="center", va="center", fontsize=9, color=COLORS[name], zorder=4)


@in_book_style
def sums_of_rows(matrix, title, down, across):
    """A matrix as a grid of signed numbers, and beside it what each row sums to."""
    n_rows, n_columns = matrix.shape
    (axes,) = subplots(1.75, "a")
    grid(axes, matrix, "scores", title, digits=2)
    for row, total in enumerate(abs(matrix.sum(axis=1).round(9))):
        axes.text(n_columns + 0.1, row, f"= {total:g}", ha="left", va="center", fontsize=11)
    axes.set(xlim=(-0.5, n_columns + 0.7), ylabel=down, xlabel=across, aspect="auto")


@in_book_style
def shifted_rows(plain, biased, weights):
    """Scores without and with a bias on the keys, and the weights that both give, as grids
    `(n_q, n_k)`.
    """
    for axes, matrix, name, title in zip(
        subplots(1.95, "abc"),
        (plain, biased, weights),
        ("scores", "scores", "weights"),
        ("Scores", "With the bias", "Weights of both"),
    ):
        grid(axes, matrix, name, title, digits=2 if name == "weights" else 1)
        axes.set(xlabel="key", xticks=range(matrix.shape[1]), aspect="auto")
    axes.figure.axes[0].set_ylabel("query")


@in_book_style
def scores_by_length(scores):
    """Histograms of the scores of queries, {length: scores `(n_k,)`}, each with its standard
    deviation as a line to both sides.
    """
    panels = list(subplots(1.9, "abcd"[: len(scores)], sharex=True, sharey=True))
    widest = max(abs(row).max() for row in scores.values())
    for axes, (length, row) in zip(panels, scores.items()):
        axes.hist(row, bins=np.linspace(-widest, widest, 50), density=True, color="#bdc1c6")
        spread = row.std()
        axes.annotate(
            "",
            (spread, 0.07),
            (-spread, 0.07),
            arrowprops={"arrowstyle": "<|-|>", "color": "#1a1a1a", "shrinkA": 0, "shrinkB": 0},
        )
        axes.set(
            title=f"$\\Vert q \\Vert$ = {length:g}, $\\gamma$ = 1/8",
            xlabel=f"score: $\\sigma$ = {spread:.2f}",
            yticks=[],
        )
        axes.spines["left"].set_visible(False)


@in_book_style
def tilted(spread):
    """Where the keys are among normal scores of this spread, and where the weight is: moved by the
    spread squared.
    """
    (axes,) = subplots(2.0, "a")
    s = np.linspace(-3.5 * spread, spread**2 + 3.5 * spread, 300)
    for middle, name, text in ((0, "scores", "the keys"), (spread**2, "weights", "the weight")):
        density = np.exp(-((s - middle) ** 2) / (2 * spread**2))
        axes.fill_between(s, density, color=COLORS[name], alpha=0.25, linewidth=0)
        axes.plot(s, density, color=COLORS[name])
        side = 1 if middle else -1
        axes.annotate(
            text,
            (middle + side * spread, np.exp(-0.5)),
            xytext=(8 * side, 4),
            textcoords="offset points",
            ha="left" if middle else "right",
            color=COLORS[name],
            fontweight="bold",
        )
    axes.annotate(
        "",
        (spread**2, 1.1),
        (0, 1.1),
        arrowprops={"arrowstyle": "-|>", "color": "#1a1a1a", "shrinkA": 0, "shrinkB": 0},
    )
    axes.text(spread**2 / 2, 1.14, "$\\sigma^2$", ha="center", va="bottom", fontsize=11)
    axes.set(ylim=(0, 1.4), yticks=[], xlabel="score")
    axes.set_xticks([0, spread**2], ["0", "$\\sigma^2$"], fontsize=11)
    axes.spines["left"].set_visible(False)


@in_book_style
def slopes_at_both_ends():
    """The Jacobian's Frobenius norm for two keys against a weight, and for equal weights against
    the number of keys.
    """
    left, right = subplots(2.0, "ab")
    p = np.linspace(0, 1, 101)
    left.plot(p, 2 * p * (1 - p), color=COLORS["weights"])
    left.set(title="Two keys: $2p\\,(1 - p)$", xlabel="weight $p$ of one", ylim=(0, 0.6))
    left.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    n = np.array([2, 4, 16, 64, 256, 1024])
    right.plot(n, np.sqrt(n - 1) / n, "-o", color=COLORS["weights"], markersize=5)
    right.annotate(
        f"{np.sqrt(1023) / 1024:.2f}",
        (1024, np.sqrt(1023) / 1024),
        xytext=(0, 7),
        textcoords="offset points",
        ha="center",
    )
    right.set(
        title="$n$ equal weights: $\\sqrt{n - 1}\\,/\\,n$",
        xlabel="number of keys $n$",
        xscale="log",
        ylim=(0, 0.6),
    )
    right.set_xticks([2, 16, 128, 1024], ["2", "16", "128", "1,024"])
    right.minorticks_off()


@in_book_style
def there_and_back():
    """From a query to the loss, and the factors of its gradient in the backward pass; the two
    places where the scale enters are marked.
    """
    (axes,) = subplots(2.1, "a")
    axes.set(xlim=(0, 6), ylim=(0, 2.1))
    axes.axis("off")
    places = (
        (0.55, "query $q$", "query"),
        (2.15, "scores $s$", "scores"),
        (3.85, "weights $a$", "weights"),
        (5.45, "loss $L$", "output"),
    )
    forward = ("$\\times\\,\\gamma K^\\top$", "softmax", "")
    back = ("$\\gamma\\,K^\\top$", "$J$", "$b$")
    for (x, text, name), (to, _, _), ahead, behind in zip(places, places[1:], forward, back):
        for start, stop, y, label, shift, color in (
            (x + 0.45, to - 0.45, 1.2, ahead, 0.12, "#444444"),
            (to - 0.45, x + 0.45, 0.9, behind, -0.14, COLORS["weights"]),
        ):
            axes.annotate(
                "",
                (stop, y),
                (start, y),
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": color,
                    "linewidth": 1.6,
                    "shrinkA": 0,
                    "shrinkB": 0,
                },
            )
            axes.text(
                (start + stop) / 2,
                y + shift,
                label,
                ha="center",
                va="bottom" if shift > 0 else "top",
                fontsize=9.5 if shift > 0 else 13,
                color=color,
            )
        role_box(axes, (x, 1.05), text, name, 0.88, 0.56)
    role_box(axes, (places[-1][0], 1.05), places[-1][1], "output", 0.88, 0.56)
    axes.text(0.05, 1.85, "forward", fontsize=10, fontweight="bold", color="#444444")
    axes.text(0.05, 0.12, "back", fontsize=10, fontweight="bold", color=COLORS["weights"])
    for x, end, text in (
        (1.35, 1.35, "the scale, as a factor"),
        (3.0, 3.7, "the scale again: it made the weights in $J$"),
    ):
        axes.annotate(
            text,
            (x, 0.5),
            (end, 0.05),
            ha="center",
            fontsize=9.5,
            arrowprops={"arrowstyle": "-", "color": "#444444"},
        )


@in_book_style
def pulls_in_plane(key, weights, labels):
    """Keys `(n, 2)` with their weighted mean, and from there an arrow for each: how the key pulls
    at the query, its weight times its distance.
    """
    (axes,) = subplots(2.05, "a")
    mean = weights @ key
    axes.scatter(*key.T, s=40 + 500 * weights, color=COLORS["key"], alpha=0.55, zorder=2)
    for place, weight, label in zip(key, weights, labels):
        axes.plot(*np.stack([mean, place]).T, ":", color=COLORS["scores"], linewidth=1)
        axes.annotate(
            "",
            mean + weight * (place - mean),
            mean,
            arrowprops={
                "arrowstyle": "-|>",
                "color": COLORS["weights"],
                "linewidth": 2.2,
                "shrinkA": 0,
                "shrinkB": 0,
            },
            zorder=4,
        )
        axes.annotate(
            f"{label}: {weight:.2f}",
            place,
            xytext=(12, 0),
            textcoords="offset points",
            va="center",
            fontsize=9.5,
        )
    axes.plot(*mean, "o", color=COLORS["output"], markersize=6, zorder=5)
    axes.annotate(
        "weighted mean $\\bar k$",
        mean,
        xytext=(-10, -4),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=9.5,
    )
    axes.set(xlabel="feature 0 of the keys", ylabel="feature 1", aspect="equal")
    axes.margins(0.25, 0.15)


@in_book_style
def heads_of_width(d_model, n_heads, head=0):
    """The features of a model as a row of cells, cut into heads; the score of one head has only its
    own terms.
    """
    (axes,) = subplots(1.9, "a")
    d_k = d_model // n_heads
    axes.set(xlim=(-0.05, 6.05), ylim=(-0.05, 1.9))
    axes.axis("off")
    for y, name, text in ((1.3, "query", "$q$"), (0.78, "key", "$k$")):
        axes.text(-0.02, y + 0.15, text, ha="right", va="center", color=COLORS[name], fontsize=12)
        for i in range(n_heads):
            x = 0.1 + i * 5.9 / n_heads
            axes.add_patch(
                plt.Rectangle(
                    (x, y),
                    5.9 / n_heads - 0.06,
                    0.32,
                    facecolor=COLORS[name],
                    alpha=0.85 if i == head else 0.18,
                    linewidth=0,
                )
            )
    for i in range(n_heads):
        axes.text(
            0.1 + (i + 0.5) * 5.9 / n_heads,
            1.68,
            f"head {i}",
            ha="center",
            va="bottom",
            fontsize=9.5,
        )
    middle = 0.1 + (head + 0.5) * 5.9 / n_heads - 0.03
    axes.annotate(
        "",
        (middle, 0.42),
        (middle, 0.76),
        arrowprops={"arrowstyle": "-|>", "color": "#444444", "shrinkA": 0, "shrinkB": 0},
    )
    axes.text(
        0.1,
        0.33,
        f"one score of head {head}: a sum of {d_k} products",
        va="top",
        fontsize=10.5,
        fontweight="bold",
        color=COLORS["scores"],
    )
    axes.text(
        0.1, 0.12, f"all {n_heads} heads together: {d_model} features", va="top", fontsize=10.5
    )


@in_book_style
def slopes_by_spread(spreads, slopes_by_n, marks):
    """The size of the softmax's Jacobian against the spread of the scores, {n: `(n_spreads, m)`};
    marks {spread: label}.
    """
    (axes,) = subplots(2.7, "a")
    for (n, slopes), (name, style) in zip(
        slopes_by_n.items(), (("scores", "--"), ("weights", "-"))
    ):
        band(axes, spreads, slopes, COLORS[name], style, f"{n:,} keys")
    for spread, label in marks.items():
        axes.axvline(spread, color="#444444", linestyle=":", linewidth=1)
        axes.annotate(
            label,
            (spread, 1),
            xycoords=("data", "axes fraction"),
            xytext=(4, -2),
            textcoords="offset points",
            va="top",
            fontsize=9,
        )
    axes.set(
        xscale="log",
        xlabel="standard deviation of the scores",
        ylabel="size of the Jacobian",
        ylim=(0, 0.68),
        title="The slopes of the softmax",
    )
    axes.set_xticks([0.1, 1, 10], ["0.1", "1", "10"])
    axes.legend(loc="upper left", fontsize=9)


@in_book_style
def gradients_by_size(sizes, unscaled_by_n, scaled_by_n):
    """The size of a query's gradient against d_k without and with the scale, {n: `(n_sizes, m)`}
    each.
    """
    panels = list(subplots(2.7, "abc"[: len(unscaled_by_n)], sharey=True))
    for axes, (n, unscaled) in zip(panels, unscaled_by_n.items()):
        band(axes, sizes, unscaled, COLORS["scores"], "--", "unscaled")
        band(axes, sizes, scaled_by_n[n], COLORS["query"], "-", "scaled")
        axes.set(xscale="log", yscale="log", title=f"{n:,} keys", xlabel="$d_k$")
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.minorticks_off()
        axes.grid(axis="y", color="#e0e0e0", linewidth=0.8)
    panels[0].set_ylabel("size of the gradient")
    panels[0].legend(loc="lower left", fontsize=9)


@in_book_style
def read_by_all(weights, changes, key):
    """A `(n_q, n_k)` with the weights for one key framed, and by how much each output `(n_q, d_v)`
    changes per unit of the key's value.
    """
    left, right = subplots(2.6, "ab", width_ratios=[weights.shape[1], changes.shape[1] + 1.5])
    grid(left, weights, "weights", "A", digits=2, outline=[(0, key, len(weights), 1)])
    grid(
        right,
        changes,
        "output",
        "change of the output",
        digits=2,
        outline=[(0, 0, len(changes), 1)],
    )
    left.set(xlabel="key", ylabel="query")
    right.set(xlabel="feature", ylabel="query")


@in_book_style
def product_backward(weights, grad_output, grad_value, key, column):
    """Aᵀ `(n_k, n_q)`, dO `(n_q, d_v)` and their product dV `(n_k, d_v)` as grids; one entry of dV
    is framed.
    """
    n_q, n_k = weights.shape
    d_v = grad_output.shape[1]
    left, middle, right = subplots(2.6, "abc", width_ratios=[n_q, d_v + 0.4, d_v + 0.4])
    grid(left, weights.T, "weights", "Aᵀ", digits=2, outline=[(key, 0, 1, n_q)])
    grid(middle, grad_output, "output", "dO", digits=2, outline=[(0, column, n_q, 1)])
    grid(right, grad_value, "value", "dV = Aᵀ dO", digits=2, outline=[(key, column, 1, 1)])
    for axes, across, down in (
        (left, "query", "key"),
        (middle, "feature", "query"),
        (right, "feature", "key"),
    ):
        axes.set(xlabel=across, ylabel=down)


@in_book_style
def pushes(value, weights, output, target, grad_scores, labels):
    """Values `(n_k, 2)` in the plane, with the line through the output at right angles to its
    gradient, and the gradient of the scores `(n_k,)`: keys on the target's side of the line have
    negative bars.
    """
    left, right = subplots(2.8, "ab", width_ratios=[1.05, 1])
    across = np.array([target[1] - output[1], output[0] - target[0]])
    ends = output + np.outer([-9, 9], across / np.linalg.norm(across))
    left.scatter(*value.T, s=700 * weights, color=COLORS["value"], zorder=2)
    for point, label, grad in zip(value, labels, grad_scores):
        place, ha, va = (
            ((-8, 0), "right", "center")
            if np.allclose(point, target)
            else ((0, -12), "center", "top")
        )
        left.annotate(
            f"{label} {'up' if grad < 0 else 'down'}",
            point,
            xytext=place,
            textcoords="offset points",
            ha=ha,
            va=va,
            fontsize=9.5,
            color=COLORS["value"],
        )
    left.plot(*ends.T, "--", color=COLORS["scores"], linewidth=1.2)
    left.annotate(
        "",
        target,
        output,
        arrowprops={"arrowstyle": "->", "color": COLORS["output"], "linewidth": 1.8},
        zorder=4,
    )
    left.scatter(*output, marker="D", s=50, color=COLORS["output"], zorder=3)
    left.annotate(
        "output",
        output,
        xytext=(-8, 1),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontweight="bold",
    )
    left.annotate("target", target, xytext=(8, 4), textcoords="offset points", fontweight="bold")
    left.set(
        xlim=(-1, 4.2),
        ylim=(-1.9, 2.8),
        aspect="equal",
        xlabel="feature 0",
        ylabel="feature 1",
        title="Who is on which side?",
    )
    bars(right, grad_scores, "scores", "Gradient of the scores", 3, labels)


@in_book_style
def turning_query(angles, weights, sizes_by_length, labels):
    """Weights `(n, n_k)` and the size of ∂o/∂q, {length: `(n,)`}, while the query turns through
    `angles` in degrees.
    """
    upper, lower = subplots(2.6, "a;b", sharex=True, height_ratios=[1, 1.25])
    for column, label, style in zip(weights.T, labels, ("-", "--", "-.", ":")):
        upper.plot(angles, column, style, color=COLORS["weights"], linewidth=1.5)
        middle = np.median(angles[column > 0.5 * column.max()])
        upper.annotate(label, (middle, 1.04), ha="center", fontsize=9.5, color=COLORS["weights"])
    upper.set(ylabel="weights", ylim=(0, 1.25), yticks=[0, 1])
    for (length, sizes), (style, color) in zip(
        sizes_by_length.items(),
        (("--", COLORS["scores"]), ("-", COLORS["query"]), (":", COLORS["output"])),
    ):
        lower.plot(angles, sizes, style, color=color, linewidth=1.6, label=f"length {length}")
    highest = max(sizes.max() for sizes in sizes_by_length.values())
    lower.set(
        ylabel="size of ∂o/∂q",
        xlabel="direction of the query, in degrees",
        xlim=(angles[0], angles[-1]),
        ylim=(0, 1.35 * highest),
        xticks=range(0, 361, 60),
    )
    lower.legend(loc="upper right", ncols=3, fontsize=9, borderpad=0)


@in_book_style
def gradient_check(steps, errors):
    """What is left between a gradient and a difference quotient, against the step: {label: `(steps,
    directions)`}.
    """
    (axes,) = subplots(2.7, "a")
    looks = (
        ("-", COLORS["output"]),
        ("--", COLORS["weights"]),
        (":", COLORS["key"]),
        ("-.", COLORS["scores"]),
    )
    for (label, sample), (style, color) in zip(errors.items(), looks):
        low, middle, high = np.quantile(sample, (0.05, 0.5, 0.95), axis=-1)
        axes.fill_between(steps, low, high, color=color, alpha=0.15, linewidth=0)
        axes.plot(steps, middle, style, color=color, linewidth=1.8, label=label)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="step",
        ylabel="difference",
        title="Gradient against difference quotient",
    )
    axes.minorticks_off()
    axes.legend(loc="lower left", fontsize=9, bbox_to_anchor=(0, 0))


@in_book_style
def losses(panels):
    """Losses in training as a share of the first one, {title: {label: `(steps, seeds)`}}, one panel
    per title, on one log axis.
    """
    drawn = list(subplots(2.5, "abc"[: len(panels)], sharey=True))
    looks = (("-", COLORS["output"]), ("--", COLORS["weights"]), (":", COLORS["key"]))
    for axes, (title, curves) in zip(drawn, panels.items()):
        for (label, sample), (style, color) in zip(curves.items(), looks):
            band(axes, range(len(sample)), sample, color, style, label)
        axes.set(yscale="log", title=title, xlabel="step of training")
        axes.minorticks_off()
        axes.grid(axis="y", color="#e0e0e0", linewidth=0.8)
    drawn[0].set_ylabel("loss, as a share of the first")
    drawn[-1].legend(loc="lower left", fontsize=9)
