"""Every figure of the book. Queries, keys, values, scores, weights keep one colour each.

Each public helper draws one figure and shows it; a chapter calls it with arrays it has
just computed. Colours are told apart by labels too, so that nothing is lost in greyscale.
Needs matplotlib (`pip install attnlib[plot]`).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

STYLE = Path(__file__).with_name("attnlib.mplstyle")
COLORS = {"query": "#0b5394", "key": "#c75000", "value": "#00805c",
          "scores": "#5f6368", "weights": "#96307f", "output": "#1a1a1a"}


def shades(name):
    """From white to the colour of one role, for heat maps."""
    return LinearSegmentedColormap.from_list(name, ["#ffffff", COLORS[name]])


def subplots(height, panels, **options):
    """Axes by letter, laid out as in `panels`, on a figure of the book's width; inches.

    All figures are 6 inches wide, so that their letters come out equally large, about as
    large as the text on a page and still legible on a phone.
    """
    figure, axes = plt.subplot_mosaic(panels, figsize=(6.0, height), **options)
    # A ground of the whole size: notebooks would crop empty margins, and enlarge the rest.
    figure.add_artist(plt.Rectangle((0, 0), 1, 1, color="white", transform=figure.transFigure, zorder=-1))
    return axes.values()


def show():
    """Show the figure; in a notebook with two pixels for one, so that it is sharp on a screen or wall of any kind."""
    if "inline" not in plt.get_backend():
        return plt.show()
    from IPython.core.pylabtools import retina_figure
    from IPython.display import display
    figure = plt.gcf()
    data, size = retina_figure(figure, base64=True, pil_kwargs={"optimize": True})
    display({"image/png": data, "text/plain": repr(figure)}, metadata={"image/png": size}, raw=True)
    plt.close(figure)


def in_book_style(draw):
    """Draw under the book's style and show the figure at the end."""
    def drawn(*args, **options):
        with plt.style.context(STYLE):
            draw(*args, **options)
            show()
    drawn.__doc__, drawn.__name__ = draw.__doc__, draw.__name__
    return drawn


def along(axes, words, y, bold, size=12):
    """Words of a sentence on one line of axes that count in points; returns each one's middle and its text."""
    fonts = [FontProperties(size=size, weight="bold" if i in bold else "normal") for i in range(len(words))]
    widths = [TextPath((0, 0), word, prop=font).get_extents().width for word, font in zip(words, fonts)]
    space = 0.48 * size
    left, found = (6 * 72 - sum(widths) - space * (len(words) - 1)) / 2, []
    for word, font, width in zip(words, fonts, widths):
        found.append((left + width / 2, axes.text(left + width / 2, y, word, ha="center", fontproperties=font)))
        left += width + space
    return found


@in_book_style
def references(sentences, word, meant):
    """Sentences, each a list of words, with an arc from `word` to the one that it means there; `meant` has those.

    The words in which the sentences differ, and those meant, are bold.
    """
    axes, = subplots(1.15 * len(sentences), "a")
    axes.set(xlim=(0, 6 * 72), ylim=(-84 * len(sentences) + 62, 62))
    axes.axis("off")
    for row, (words, target) in enumerate(zip(sentences, meant)):
        differ = {i for i in range(len(words)) if len({other[i] for other in sentences}) > 1}
        placed = along(axes, words, -84 * row, differ | {words.index(target)})
        start, stop = placed[words.index(word)], placed[words.index(target)]
        axes.plot(start[0], -84 * row + 16, "o", color=COLORS["weights"])
        axes.annotate("", (stop[0], -84 * row + 14), (start[0], -84 * row + 16), arrowprops={
            "arrowstyle": "-|>,head_width=0.3,head_length=0.6", "color": COLORS["weights"], "linewidth": 2,
            "connectionstyle": f"arc3,rad={72 / (start[0] - stop[0]) + 0.1:.3f}", "shrinkA": 0, "shrinkB": 0})
        stop[1].set_color(COLORS["weights"])


def box(axes, place, name, title, text):
    """A box of a flow chart at this place, in inches, in the colour of its role."""
    x, y = place
    axes.add_patch(plt.Rectangle((x, y), 0.94, 0.56, facecolor="white", edgecolor=COLORS[name], linewidth=2))
    axes.text(x + 0.47, y + 0.36, title, ha="center", va="center", fontsize=10.5, fontweight="bold", color=COLORS[name])
    axes.text(x + 0.47, y + 0.14, text, ha="center", va="center", fontsize=9)


def arrow(axes, start, stop):
    """From one place to another, in inches."""
    axes.annotate("", stop, start, arrowprops={"arrowstyle": "-|>", "color": "#444444", "linewidth": 1.4,
                                               "shrinkA": 0, "shrinkB": 0})


@in_book_style
def flow():
    """From words to outputs: queries, keys and values, scores, weights, output, with their shapes."""
    axes, = subplots(2.5, "a")
    axes.set(xlim=(0, 6), ylim=(0, 2.5))
    axes.axis("off")
    box(axes, (0.02, 0.97), "output", "words X", "(n, d)")
    for y, name, letter, size in ((1.85, "query", "Q", "k"), (0.97, "key", "K", "k"), (0.09, "value", "V", "v")):
        box(axes, (1.42, y), name, f"{letter} = X W$_{letter}$", f"(n, d$_{size}$)")
        arrow(axes, (0.98, 1.25), (1.4, y + 0.28))
    box(axes, (2.84, 1.41), "scores", "scores S", "(n, n)")
    box(axes, (4.0, 1.41), "weights", "weights A", "(n, n)")
    box(axes, (5.04, 0.09), "output", "outputs", "(n, d$_v$)")
    arrow(axes, (2.38, 2.13), (2.82, 1.79))
    arrow(axes, (2.38, 1.25), (2.82, 1.59))
    arrow(axes, (3.8, 1.69), (3.98, 1.69))
    arrow(axes, (4.6, 1.39), (5.3, 0.67))
    arrow(axes, (2.38, 0.37), (5.02, 0.37))
    axes.text(2.62, 2.1, "every query\nmeets every key", fontsize=9, va="bottom")
    axes.text(4.0, 2.05, "shares of 1", fontsize=9, va="bottom")
    axes.text(3.86, 0.44, "values, added\nup by weight", fontsize=9, va="bottom")


def bars(axes, heights, name, title, digits, labels):
    """One labelled bar for each key, its height written at its end."""
    positions = np.arange(len(heights))
    drawn = axes.bar(positions, heights, color=COLORS[name], width=0.7)
    axes.bar_label(drawn, [f"{height:.{digits}f}".replace("-", "−") for height in heights], padding=2)
    axes.axhline(0, color="#444444", linewidth=0.8)
    axes.set(title=title, xticks=positions, xticklabels=labels)
    axes.margins(y=0.15)


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


def side_by_side(rows, titles, labels):
    """One bar chart for each row of weights `(n_k,)`."""
    for axes, weights, title in zip(subplots(2.4, "abcde"[:len(rows)], sharey=True), rows, titles):
        bars(axes, weights, "weights", title, 2, labels)
        axes.set_ylim(0, 1.12)
        axes.tick_params(axis="x", labelsize=9)


@in_book_style
def weights_by_temperature(temperatures, rows, labels):
    """One bar chart for each temperature: `rows` are weights `(n_k,)`."""
    side_by_side(rows, [f"T = {temperature:g}" for temperature in temperatures], labels)


@in_book_style
def weight_against_gap(gaps, curves):
    """The first of two weights against the gap of their scores `(n,)`: {label: weights `(n,)`}; one curve has its 9s marked."""
    axes, = subplots(2.9, "a")
    for (label, weights), style in zip(curves.items(), ("-",) if len(curves) == 1 else (":", "-", "--")):
        axes.plot(gaps, weights, style, color=COLORS["weights"], label=label)
    if len(curves) > 1:
        axes.legend(loc="lower right")
    else:
        for weight in (0.5, 0.9, 0.99):
            gap = np.log(weight / (1 - weight))
            axes.plot(gap, weight, "o", color=COLORS["output"])
            axes.annotate(f"{weight:g} at {gap:.1f}", (gap, weight), xytext=(6, -14), textcoords="offset points")
    axes.set(title="Two keys", xlabel="gap: first score minus second", ylabel="weight of the first", ylim=(-0.03, 1.05))


@in_book_style
def running_sum(scores, stops, labels):
    """exp(score - maximum so far) for the first keys of a row `(n_k,)`: a bar chart for each of `stops`."""
    for axes, stop in zip(subplots(2.6, "abcde"[:len(stops)], sharey=True), stops):
        exps = np.exp(scores[:stop] - scores[:stop].max())
        bars(axes, exps, "weights", f"{stop} keys, maximum {scores[:stop].max():.1f}", 3, labels[:stop])
        axes.set(xlim=(-0.6, len(scores) - 0.4), xticks=range(len(scores)), xticklabels=labels, ylim=(0, 1.3))
        axes.text(len(scores) - 0.5, 1.2, f"sum {exps.sum():.3f}", ha="right", fontweight="bold")


@in_book_style
def in_blocks(scores, value, stops, labels):
    """What one query keeps while it reads its keys up to each of `stops`: maximum m, sum l and accumulator u.

    Scores `(n_k,)`, values `(n_k, 2)`; the last stop is n_k, and the output stands at the end.
    """
    axes, = subplots(2.5, "a")
    axes.set(xlim=(0, 6), ylim=(0, 2.5))
    axes.axis("off")
    step = 4.52 / len(stops)
    kept(axes, 0.02, "nothing read", -np.inf, 0, np.zeros(2))
    for i, (start, stop) in enumerate(zip((0, *stops), stops)):
        x, exps = 0.02 + step * (i + 1), np.exp(scores[:stop] - scores[:stop].max())
        axes.text(x + 0.72, 2.38, ", ".join(labels[start:stop]), ha="center", fontsize=10.5, fontweight="bold")
        read = "scores " + ", ".join(f"{score:.1f}" for score in scores[start:stop]).replace("-", "−")
        axes.text(x + 0.72, 2.14, read, ha="center", fontsize=10, color=COLORS["scores"])
        arrow(axes, (x + 0.72, 2.08), (x + 0.72, 1.66))
        factor = np.exp(scores[:start].max() - scores[:stop].max()) if start else 0
        axes.text(x - (step - 1.44) / 2, 1.1, f"× {factor:.3g}", ha="center", va="bottom", fontsize=10)
        arrow(axes, (x - step + 1.46, 1.0), (x - 0.02, 1.0))
        kept(axes, x, f"{stop} keys read", scores[:stop].max(), exps.sum(), exps @ value[:stop])
    arrow(axes, (x + 0.72, 0.36), (x + 0.72, 0.2))
    axes.text(x + 0.72, 0.03, "u / ℓ = ({:.3f}, {:.3f})".format(*exps @ value / exps.sum()), ha="center", fontsize=10.5,
              fontweight="bold")


def kept(axes, x, title, row_max, row_sum, u):
    """A box with what one query keeps."""
    axes.add_patch(plt.Rectangle((x, 0.4), 1.44, 1.22, facecolor="white", edgecolor=COLORS["weights"], linewidth=2))
    lines = [f"m = {row_max:.1f}", f"ℓ = {row_sum:.3f}", "u = ({:.2f}, {:.2f})".format(*u)]
    axes.text(x + 0.72, 1.42, title, ha="center", fontsize=9)
    for line, y in zip(lines, (1.13, 0.83, 0.53)):
        axes.text(x + 0.72, y, line.replace("-", "−").replace("inf", "∞"), ha="center", fontsize=10.5)


@in_book_style
def causal_blocks(n, *sizes):
    """Which blocks a causal mask leaves of n queries and n keys: dark whole, light with a mask, empty not at all.

    `sizes` are pairs (block_q, block_k), a panel each.
    """
    for axes, (block_q, block_k) in zip(subplots(2.5, "abcde"[:len(sizes)]), sizes):
        query, key = np.indices((n, n))
        first_query, first_key = query // block_q * block_q, key // block_k * block_k
        whole, partly = first_key + block_k - 1 <= first_query, first_key <= first_query + block_q - 1
        axes.imshow(np.where(whole, 1.0, 0.45 * partly), cmap=shades("weights"), vmin=0, vmax=1.3)
        axes.set(title=f"{block_q} queries × {block_k} keys", xticks=[], yticks=[], ylabel="queries",
                 xlabel=f"keys\n{partly.sum()} of {n * n} pairs")
        for edge in range(n):
            if edge % block_q == 0:
                axes.axhline(edge - 0.5, color="white", linewidth=1)
            if edge % block_k == 0:
                axes.axvline(edge - 0.5, color="white", linewidth=1)
        axes.plot([-0.5, n - 0.5], [-0.5, n - 0.5], color=COLORS["output"], linewidth=1)


def grid(axes, matrix, name, title, digits=1, outline=()):
    """A matrix as cells, darker for larger numbers, with the numbers in them.

    Cells of -inf are hatched, an exact 0 is written 0; `outline` is a list of slices
    (rows, columns) to draw a frame around.
    """
    finite = np.where(np.isfinite(matrix), matrix, np.nan)
    low, high = np.nanmin(finite), np.nanmax(finite)
    axes.imshow(finite, cmap=shades(name), vmin=low, vmax=high + 0.8 * max(high - low, 1e-9))
    for (i, j), number in np.ndenumerate(matrix):
        label = "−∞" if not np.isfinite(number) else "0" if number == 0 else f"{round(number, digits) + 0.0:.{digits}f}"
        axes.text(j, i, label.replace("-", "−"), ha="center", va="center", fontsize=9)
        if not np.isfinite(number):
            axes.add_patch(plt.Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, hatch="///",
                                         edgecolor="#dddddd", linewidth=0))
    for row, column, height, width in outline:
        axes.add_patch(plt.Rectangle((column - 0.48, row - 0.48), width - 0.04, height - 0.04,
                                     fill=False, edgecolor=COLORS[name], linewidth=2.5))
    axes.set(title=title, xticks=range(matrix.shape[1]), yticks=range(matrix.shape[0]))
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


@in_book_style
def score_matrix(query, key, products, row, column):
    """Q `(n_q, d_k)`, Kᵀ and Q Kᵀ `(n_q, n_k)` as grids of numbers; one pair is framed.

    The pair is query `row` and key `column`: its row of Q, its column of Kᵀ, their product.
    """
    n_q, d_k = query.shape
    left, middle, right = subplots(2.4, "abc", width_ratios=[d_k, len(key), len(key)])
    grid(left, query, "query", "Q", outline=[(row, 0, 1, d_k)])
    grid(middle, key.T, "key", "Kᵀ", outline=[(0, column, d_k, 1)])
    grid(right, products, "scores", "Q Kᵀ", outline=[(row, column, 1, 1)])
    left.set(xlabel="feature", ylabel="query")
    middle.set(xlabel="key", ylabel="feature")
    right.set(xlabel="key", ylabel="query")


@in_book_style
def output_matrix(weights, value, output, row, column):
    """A `(n_q, n_k)`, V `(n_k, d_v)` and A V `(n_q, d_v)` as grids of numbers; query `row` and feature `column` are framed."""
    n_k, d_v = value.shape
    left, middle, right = subplots(2.6, "abc", width_ratios=[n_k, d_v + 0.7, d_v + 0.2])
    grid(left, weights, "weights", "A", digits=2, outline=[(row, 0, 1, n_k)])
    grid(middle, value, "value", "V", outline=[(0, column, n_k, 1)])
    grid(right, output, "output", "A V", digits=2, outline=[(row, column, 1, 1)])
    left.set(xlabel="key", ylabel="query")
    middle.set(xlabel="feature", ylabel="key")
    right.set(xlabel="feature", ylabel="query")


@in_book_style
def scores_to_weights(scores, weights, keys, queries=None):
    """Scores and their weights, both `(n_q, n_k)`, as grids of numbers.

    Without `queries` these are the same positions as the keys, and called so too.
    """
    left, right = subplots(2.8 if queries is None else 2.0, "ab")
    grid(left, scores, "scores", "Scores" if np.isfinite(scores).all() else "Masked scores", digits=2 if queries else 1)
    grid(right, weights, "weights", "Weights", digits=2)
    for axes in (left, right):
        axes.set(xlabel="key", ylabel="query", xticklabels=keys, yticklabels=queries or keys)
    for row, total in enumerate(weights.sum(axis=-1)):
        right.text(len(keys) - 0.4, row, f"sum {total:.0f}", va="center", fontsize=9)


@in_book_style
def masked_scores(scores, masked, queries, keys):
    """Raw scores `(n_q, n_k)` and the same behind a mask, as grids of numbers; queries and keys by their words."""
    for axes, matrix, title in zip(subplots(2.0, "ab"), (scores, masked), ("Raw scores", "Masked scores")):
        grid(axes, matrix, "scores", title, digits=2)
        axes.set(xlabel="key", xticklabels=keys, yticklabels=queries)


@in_book_style
def score_spread(scores_by_size, scaled_by_size):
    """Histograms of scores, {d_k: sample}: unscaled on the left, scaled on the right."""
    left, right = subplots(2.7, "ab")
    for axes, samples, title, reach in ((left, scores_by_size, "Dot products", 50),
                                        (right, scaled_by_size, "Divided by $\\sqrt{d_k}$", 5)):
        edges = np.linspace(-reach, reach, 101)
        for (size, sample), (style, shade) in zip(samples.items(), (("-", "#9aa0a6"), ("--", "#5f6368"), (":", "#202124"))):
            density, _ = np.histogram(sample, edges, density=True)
            axes.plot((edges[1:] + edges[:-1]) / 2, density, style, color=shade, label=f"$d_k$ = {size}")
        axes.set(title=title, xlabel="dot product" if axes is left else "score", ylim=(0, None))
    left.set_ylabel("density")
    left.legend(loc="upper right", borderpad=0, handlelength=1.5, fontsize=9)


@in_book_style
def smooth_maximum(gaps, maxima, lse):
    """The maximum and the log-sum-exp of the pair (0, gap), against the gap `(n,)`."""
    axes, = subplots(2.9, "a")
    axes.plot(gaps, maxima, color=COLORS["scores"], linestyle="--")
    axes.plot(gaps, lse, color=COLORS["output"])
    middle = len(gaps) // 2
    axes.annotate("", (0, 0), (0, lse[middle]), arrowprops={"arrowstyle": "<->", "shrinkA": 0, "shrinkB": 0})
    axes.annotate("log 2", (0, lse[middle] / 2), xytext=(-6, -3), textcoords="offset points", ha="right",
                  fontsize=9)
    axes.annotate("log-sum-exp", (gaps[middle], lse[middle]), xytext=(-10, 12),
                  textcoords="offset points", ha="right", color=COLORS["output"])
    axes.annotate("maximum", (gaps[-middle // 2], maxima[-middle // 2]), xytext=(14, -10),
                  textcoords="offset points", color=COLORS["scores"])
    axes.set(title="The scores 0 and x: maximum and log-sum-exp", xlabel="x")


def hull_of_values(axes, value, weights, output, labels, between=": "):
    """Values `(n_k, 2)` as points with areas like their weights, their hull, the output `(2,)`."""
    centre = value.mean(0)
    order = np.argsort(np.arctan2(*(value - centre).T[::-1]))
    axes.fill(*value[order].T, color=COLORS["value"], alpha=0.12, linewidth=0)
    axes.scatter(*value.T, s=900 * weights, color=COLORS["value"], zorder=2)
    for point, weight, label in zip(value, weights, labels):
        outward = 1 if point[0] >= centre[0] else -1
        axes.annotate(f"{label}{between}{weight:.3f}", point, xytext=(outward * (5 + 15 * weight**0.5), 0),
                      textcoords="offset points", va="center", ha="left" if outward > 0 else "right",
                      fontsize=9.5, color=COLORS["value"])
    axes.scatter(*output, marker="D", s=60, color=COLORS["output"], zorder=3)
    axes.annotate("output", output, xytext=(-10, 0), textcoords="offset points", ha="right",
                  va="center", fontweight="bold")
    axes.margins(0.65, 0.15)
    axes.set_aspect("equal")
    axes.set(xlabel="feature 0", ylabel="feature 1")


@in_book_style
def convex_combination(value, weights, output, labels):
    """Values `(n_k, 2)` in the plane, weights `(n_k,)`, and the output `(2,)` among them.

    The values are the corners of a convex polygon.
    """
    axes, = subplots(2.9, "a")
    hull_of_values(axes, value, weights, output, labels)


@in_book_style
def one_query(scores, weights, value, output, labels):
    """The whole of attention for one query: scores, weights `(n_k,)`; values `(n_k, 2)`; output `(2,)`."""
    above, right, below = subplots(2.8, "ac;bc", width_ratios=[1, 1.3])
    bars(above, scores, "scores", "1. Raw scores", 1, labels)
    above.margins(y=0.4)
    bars(below, weights, "weights", "2. Weights", 3, labels)
    below.set_ylim(0, 1)
    hull_of_values(right, value, weights, output, labels, between="\n")
    right.margins(0.6, 0.25)
    right.set_title("3. Output among the values")


@in_book_style
def regression(key, value, query, truth, outputs):
    """Noisy points (key, value), the true curve, and attention's outputs {label: output}; all 1-D."""
    axes, = subplots(2.3, "a")
    axes.plot(query, truth, color="#b0b0b0", linewidth=5, label="true curve")
    axes.scatter(key, value, s=14, color=COLORS["value"], label="keys and values")
    for (label, output), (style, width) in zip(outputs.items(), ((":", 1.5), ("-", 2.0), ("--", 1.5))):
        axes.plot(query, output, color=COLORS["output"], linestyle=style, linewidth=width, label=label)
    axes.set(xlabel="position", ylabel="value", title="Attention as regression", yticks=[-1, 0, 1])
    axes.set_ylim(top=max(value) + 0.3)  # room for the legend
    axes.legend(loc="upper right", fontsize=9, ncols=2)


def spread_out(heights, gap):
    """The same heights, moved apart by at least `gap`, their order kept."""
    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(len(heights))
    lifted = np.maximum.accumulate(np.asarray(heights)[order] - steps)
    lowered = np.minimum.accumulate((np.asarray(heights)[order] - steps)[::-1])[::-1]
    moved = np.empty(len(heights))
    moved[order] = (lifted + lowered) / 2 + steps
    return moved


def line_style(i, label):
    """The i-th line of a figure: greys told apart by dashes and markers; attnlib's is the bold one."""
    if label.startswith("attnlib"):
        return {"color": COLORS["output"], "marker": "o", "markersize": 6, "linewidth": 3, "zorder": 3}
    return {"color": ("#767676", "#5f6368", "#3c4043")[i % 3], "linestyle": ("-", "--", ":")[i % 3],
            "marker": "sv^DPX*<"[i % 8], "markersize": 4.5, "linewidth": 1.2}


def lines_against_n(axes, lines, title, unit):
    """{label: {n: number}} on log axes, each line named beside its end."""
    ends = {label: (max(points), points[max(points)]) for label, points in lines.items()}
    numbers = [number for points in lines.values() for number in points.values()]
    heights = spread_out([np.log(height) for _, height in ends.values()], np.log(max(numbers) / min(numbers)) / 14)
    sizes = sorted({n for points in lines.values() for n in points})
    for i, ((label, points), height) in enumerate(zip(lines.items(), np.exp(heights))):
        axes.plot(*zip(*sorted(points.items())), **line_style(i, label))
        axes.annotate(label, ends[label], xytext=(sizes[-1] * 1.25, height), va="center", fontsize=9,
                      fontweight="bold" if label.startswith("attnlib") else "normal", annotation_clip=False,
                      arrowprops={"arrowstyle": "-", "color": "#9aa0a6", "linewidth": 0.6, "relpos": (0, 0.5),
                                  "shrinkA": 1, "shrinkB": 4})
    axes.set(xscale="log", yscale="log", title=title, xlabel="n, queries and keys", ylabel=unit)
    axes.set_xticks(sizes, [str(n) for n in sizes])
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.grid(axis="y", color="#e0e0e0", linewidth=0.8)


@in_book_style
def time_against_n(record, is_causal=False):
    """Milliseconds of one call against n for every contender; `record` is the JSON of attnlib.bench."""
    lines = {}
    for row in record["times"]:
        if row["is_causal"] == is_causal and row["factor"] == 1:
            for name, got in row["contenders"].items():
                lines.setdefault(name, {})[row["n"]] = got["ms"]["median"]
    axes, = subplots(2.9, "a")
    lines_against_n(axes, lines, "Time" + (", causal" if is_causal else ""), "milliseconds")


@in_book_style
def memory_against_n(record):
    """Peak extra memory of one call in MiB against n, and the output's own; `record` as in time_against_n."""
    from attnlib import bench
    lines, least = {}, 0.1  # pages of 4 KiB are counted in lumps
    for row in record["memory"]:
        if row["MiB"] is not None and row["contender"] != "products alone":
            lines.setdefault(row["contender"], {})[row["n"]] = max(row["MiB"], least)
    lines["the output alone"] = {n: bench.output_mib(n) for points in [*lines.values()] for n in points}
    axes, = subplots(2.9, "a")
    lines_against_n(axes, lines, "Memory beyond the arguments", "MiB")


@in_book_style
def memories(gpu, cable):
    """The host, and a GPU from its memory to the registers of one processor; bandwidths in GB/s, sizes of NVIDIA's Hopper."""
    axes, = subplots(2.6, "a")
    axes.set(xlim=(0, 6), ylim=(0, 2.6))
    axes.axis("off")
    for left, bottom, width, height, title in ((0.03, 0.1, 0.98, 2.2, "host"), (1.72, 0.1, 4.25, 2.2, "GPU"),
                                               (4.2, 0.2, 1.68, 1.7, "1 of 132 processors")):
        axes.add_patch(plt.Rectangle((left, bottom), width, height, facecolor="#f3f4f5", edgecolor="#9aa0a6"))
        axes.text(left + 0.04, bottom + height + 0.05, title, fontsize=10, fontweight="bold")
    for start, stop, middle, width, speed in ((0.94, 1.82, 1.36, 1, cable), (2.64, 3.2, 2.92, 12, gpu), (3.98, 4.3, 0, 12, 0)):
        axes.plot([start, stop], [0.6, 0.6], color=COLORS["scores"], linewidth=width, solid_capstyle="butt")
        if speed:
            axes.text(middle, 0.73, f"{speed:,}\nGB/s", ha="center", va="bottom", fontsize=9.5, fontweight="bold")
    axes.plot([5.04, 5.04], [0.83, 1.27], color=COLORS["scores"], linewidth=12, solid_capstyle="butt")
    for x, y, width, height, text in (
            (0.1, 1.4, 0.84, 0.6, "Python\nruns here"), (0.1, 0.3, 0.84, 0.6, "memory"), (1.82, 0.3, 0.82, 0.6, "memory\n141 GB"),
            (3.2, 0.3, 0.78, 0.6, "cache\n50 MB"), (4.3, 0.3, 1.48, 0.5, "shared memory\n228 KiB"),
            (4.3, 1.3, 1.48, 0.5, "registers\n256 KiB")):
        axes.add_patch(plt.Rectangle((x, y), width, height, facecolor="white", edgecolor=COLORS["output"], linewidth=2))
        axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=9.5)


@in_book_style
def queue_of_jobs(jobs=3):
    """What Python and the GPU do while Python launches jobs: it has asked for all of them before the first is done."""
    axes, = subplots(1.9, "a")
    for i in range(jobs):
        for row, start, length, text in ((1, 0.36 * i, 0.3, "ask"), (0, 0.36 + 1.5 * i, 1.44, f"job {i + 1}")):
            axes.add_patch(plt.Rectangle((start, row), length, 0.56, facecolor="#f3f4f5", edgecolor=COLORS["output"],
                                         linewidth=2))
            axes.text(start + length / 2, row + 0.28, text, ha="center", va="center", fontsize=9)
    asked, done = 0.36 * jobs - 0.03, 0.33 + 1.5 * jobs
    axes.set(xlim=(-0.05, done + 0.7), ylim=(-0.25, 2.15), yticks=(0.28, 1.28), yticklabels=("GPU", "Python"), xticks=[],
             xlabel="time")
    for x, text in ((asked, "the clock stops here: all is asked"), (done, "all is done")):
        axes.axvline(x, color=COLORS["output"], linestyle=":", linewidth=1.2)
        axes.text(x + (0.06 if x < done else -0.06), 1.86, text, fontsize=9, ha="left" if x < done else "right")
    axes.tick_params(length=0)


@in_book_style
def roofline(peak_flops, bandwidth, intensities):
    """The most operations a second that a device allows, against operations for each byte moved.

    peak_flops in operations a second, bandwidth in bytes a second; `intensities` {name: operations
    for each byte} are marked where they meet the roof: limits, not measurements.
    """
    axes, = subplots(2.7, "a")
    ridge = peak_flops / bandwidth
    intensity = np.array([0.3, ridge, 30 * ridge])
    axes.loglog(intensity, np.minimum(peak_flops, intensity * bandwidth) / 1e12, color=COLORS["scores"])
    axes.axvline(ridge, color=COLORS["scores"], linestyle=":", linewidth=1)
    for name, x in intensities.items():
        y = min(peak_flops, x * bandwidth) / 1e12
        axes.plot(x, y, "o", color=COLORS["output"])
        is_flat = x > 0.9 * ridge
        axes.annotate(name, (x, y), xytext=(0, 9) if is_flat else (-8, 4), textcoords="offset points", fontsize=9,
                      ha="center" if is_flat else "right", va="bottom")
    axes.annotate("memory is the limit", (ridge / 1.2, 0.5), ha="right", fontsize=9, color=COLORS["scores"])
    axes.annotate("arithmetic is", (ridge * 1.2, 0.5), fontsize=9, color=COLORS["scores"])
    axes.set(xlabel="operations for each byte", ylabel="TFLOP/s", ylim=(0.35, 3 * peak_flops / 1e12),
             title="The most that the device allows")
    axes.minorticks_off()


@in_book_style
def kernel_blocks(loaded, weights):
    """What each program of a row kernel loads and stores, both `(rows, block)`; NaN where nothing is stored."""
    left, right = subplots(2.1, "ab")
    grid(left, loaded, "scores", "What the programs load")
    grid(right, np.where(np.isnan(weights), 0, weights), "weights", "What they store", digits=2)
    for text in right.texts:
        column, row = map(round, text.get_position())
        if np.isnan(weights[row, column]):
            text.set_text("")
            right.add_patch(plt.Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor="white", hatch="///",
                                          edgecolor="#dddddd", linewidth=0))
    for axes in (left, right):
        axes.set(xlabel="column of the block", ylabel="program")


def overview(path):
    """Write the figure of the README and of the first page: the book's row, from scores to output."""
    from attnlib import softmax
    scores = np.array([1.0, 0.5, 2.5, -0.1])
    value = np.array([[0.0, 1.0], [2.0, 2.0], [3.0, 0.0], [1.0, -1.0]])
    labels = ["Ada's", "old", "cat", "sleeps"]
    one_query(scores, softmax(scores), value, softmax(scores) @ value, labels)
    plt.gcf().savefig(path, metadata={"Software": None})
    plt.close()


def card(path, overview_path):
    """Write the picture that a shared link shows: the book's name and its figure, 1200 by 630 pixels."""
    figure = plt.figure(figsize=(12, 6.3), dpi=100, facecolor="white")
    figure.text(0.5, 0.84, "Attention, from Scores to Kernels", ha="center", fontsize=38, fontweight="bold")
    figure.text(0.5, 0.74, "a course that builds it, and says which mistake it is", ha="center", fontsize=22)
    axes = figure.add_axes((0.06, 0.04, 0.88, 0.62))
    axes.imshow(plt.imread(overview_path), interpolation="antialiased")
    axes.axis("off")
    figure.savefig(path, metadata={"Software": None})
    plt.close(figure)


@in_book_style
def mask_gallery():
    """Eight masks for eight keys: a filled cell may be attended to."""
    i, j = np.arange(8)[:, None], np.arange(8)
    text = np.array([0, 0, 0, 1, 1, 1, 1, 2])
    by_title = {
        "causal": j <= i, "window, 2 back": (j <= i) & (j >= i - 2), "padding after 5": (j < 5) & (i >= 0),
        "causal, padding": (j <= i) & (j < 5), "packed texts": (j <= i) & (text[:, None] == text),
        "prefix of 3": (j <= i) | (j < 3), "bottom right": (j <= i + 4)[:4], "cross-attention": np.ones((4, 8), bool),
    }
    panels = list(subplots(2.9, "abcd\nefgh"))
    for axes, (title, mask) in zip(panels, by_title.items()):
        axes.imshow(mask, cmap=shades("weights"), vmin=0, vmax=1.4)
        for (i, j), seen in np.ndenumerate(mask):
            axes.add_patch(plt.Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor="#bbbbbb", linewidth=0.6))
        axes.set_title(title, fontsize=9)
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
    panels[4].set(xlabel="keys", ylabel="queries")


@in_book_style
def two_tables(by_title, name, labels, across, down):
    """Two tables {title: `(n, n)`} side by side in the colour of a role; `across` and `down` say what its axes are."""
    panels = list(subplots(2.8, "ab"))
    for axes, (title, matrix) in zip(panels, by_title.items()):
        grid(axes, matrix, name, title, digits=2)
        axes.set(xticklabels=labels, yticklabels=labels, xlabel=across)
        axes.tick_params(labelsize=9)
    panels[0].set_ylabel(down)


@in_book_style
def running_pair(scores, maxima, sums, lse):
    """Along one row `(n_k,)`: scores, running maximum and log-sum-exp on the left, the running sum on the right."""
    left, right = subplots(2.7, "ab")
    keys = np.arange(1, len(scores) + 1)
    left.plot(keys, scores, "o", markersize=3, color="#9aa0a6")
    left.step(keys, maxima, where="post", color=COLORS["scores"])
    left.plot(keys, lse, color=COLORS["output"], linestyle="--")
    left.annotate("maximum so far", (keys[-1], maxima[-1]), xytext=(0, 5), textcoords="offset points", ha="right", fontsize=9,
                  color=COLORS["scores"])
    left.annotate("log-sum-exp so far", (keys[-1], lse[-1]), xytext=(0, 5), textcoords="offset points", ha="right",
                  fontsize=9)
    left.set(title="Maximum and log-sum-exp", xlabel="keys read", ylim=(None, lse.max() + 0.8))
    right.step(keys, sums, where="post", color=COLORS["weights"])
    right.set(title="Sum, shifted by the maximum", xlabel="keys read", ylim=(0, None))


def merge_tree(axes, scores, tree, left, width):
    """Draw how `tree`, keys in nested tuples, merges the pairs of a row; returns the keys below, the height and place."""
    if not isinstance(tree, tuple):
        keys, level, x = [tree], 0, left + width * tree
    else:
        below = [merge_tree(axes, scores, part, left, width) for part in tree]
        keys = [key for part in below for key in part[0]]
        level, x = 1 + max(part[1] for part in below), np.mean([part[2] for part in below])
        for _, under, at in below:
            axes.plot([at, x], [-0.62 * under, -0.62 * level], color="#767676", linewidth=1.2, zorder=1)
    row_max = scores[keys].max()
    axes.add_patch(plt.Rectangle((x - 0.22, -0.62 * level - 0.19), 0.44, 0.38, facecolor="white", zorder=2,
                                 edgecolor=COLORS["output"], linewidth=2.5 if len(keys) == len(scores) else 1))
    for y, number, digits, name in ((0.085, row_max, 1, "scores"),
                                    (-0.09, np.exp(scores[keys] - row_max).sum(), 3, "weights")):
        axes.text(x, -0.62 * level + y, f"{number:.{digits}f}".replace("-", "−"), ha="center", va="center",
                  fontsize=9, color=COLORS[name], fontweight="bold" if name == "scores" else "normal")
    return keys, level, x


@in_book_style
def merge_trees(scores, trees, labels):
    """Orders in which the pairs (maximum, sum) of a row of four are merged: `trees` {title: keys in nested tuples}."""
    axes, = subplots(2.9, "a")
    axes.set(xlim=(0, 6), ylim=(-2.22, 0.68))
    axes.axis("off")
    for i, (title, tree) in enumerate(trees.items()):
        axes.text(0.04 + 2.03 * i, 0.55, title, fontsize=10.5, fontweight="bold", va="center")
        for key, label in enumerate(labels):
            axes.text(0.25 + 2.03 * i + 0.475 * key, 0.27, label, fontsize=9, ha="center", va="center")
        merge_tree(axes, scores, tree, 0.25 + 2.03 * i, 0.475)


@in_book_style
def error_by_blocks(errors, unit):
    """{label: {number of blocks: (low, median, high)}}: the median as a line, the spread as thin bars, on log axes."""
    axes, = subplots(2.8, "a")
    styles = (("-", "o", COLORS["output"]), ("--", "s", COLORS["scores"]), (":", "^", COLORS["weights"]))
    for (label, by_blocks), (line, marker, color), aside in zip(errors.items(), styles, (1, 1.13, 0.885)):
        blocks = list(by_blocks)
        low, median, high = np.transpose(list(by_blocks.values()))
        places = np.multiply(blocks, aside)  # side by side, where they would hide each other
        axes.vlines(places, low, high, color=color, linewidth=1)
        axes.plot(places, median, line, marker=marker, markersize=5, linewidth=1.6, color=color, label=label)
    axes.set(xscale="log", yscale="log", title="Error of the sum against the number of blocks", xlabel="blocks", ylabel=unit)
    axes.set_xticks(blocks, [f"{count:,}" for count in blocks])
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.legend(loc="upper center", fontsize=9, borderpad=0)


def band(axes, x, samples, color, style, label):
    """Median and middle 90 % of samples `(len(x), m)` against x, named in the legend."""
    low, middle, high = np.quantile(samples, (0.05, 0.5, 0.95), axis=-1)
    axes.fill_between(x, low, high, color=color, alpha=0.18, linewidth=0)
    axes.plot(x, middle, style, color=color, marker="o" if len(x) < 10 else "", markersize=4, label=label)


@in_book_style
def slopes_by_spread(spreads, slopes_by_n, marks):
    """The size of the softmax's Jacobian against the spread of the scores, {n: `(n_spreads, m)`}; marks {spread: label}."""
    axes, = subplots(2.7, "a")
    for (n, slopes), (name, style) in zip(slopes_by_n.items(), (("scores", "--"), ("weights", "-"))):
        band(axes, spreads, slopes, COLORS[name], style, f"{n:,} keys")
    for spread, label in marks.items():
        axes.axvline(spread, color="#444444", linestyle=":", linewidth=1)
        axes.annotate(label, (spread, 1), xycoords=("data", "axes fraction"), xytext=(4, -2), textcoords="offset points",
                      va="top", fontsize=9)
    axes.set(xscale="log", xlabel="standard deviation of the scores", ylabel="size of the Jacobian", ylim=(0, 0.68),
             title="The slopes of the softmax")
    axes.set_xticks([0.1, 1, 10], ["0.1", "1", "10"])
    axes.legend(loc="upper left", fontsize=9)


@in_book_style
def gradients_by_size(sizes, unscaled_by_n, scaled_by_n):
    """The size of a query's gradient against d_k without and with the scale, {n: `(n_sizes, m)`} each."""
    panels = list(subplots(2.7, "abc"[:len(unscaled_by_n)], sharey=True))
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
def broadcast(column, row):
    """A column `(n, 1)` and a row `(1, m)` stretched to tables `(n, m)`, and their product: what broadcasting pairs."""
    table = column * row
    panels = subplots(1.9, "abc")
    for axes, part, name, title in zip(panels, (column, row, table), ("query", "key", "scores"),
                                       (f"column {column.shape}", f"row {row.shape}", f"product {table.shape}")):
        grid(axes, np.broadcast_to(part, table.shape), name, title, digits=2)
        for i, j in np.ndindex(*table.shape):
            if i >= part.shape[0] or j >= part.shape[1]:  # stretched, not there
                axes.add_patch(plt.Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor="white", alpha=0.6, hatch="...",
                                             edgecolor="#bbbbbb", linewidth=0))
        axes.set(xticks=[], yticks=[])


@in_book_style
def stalled_sums(sums):
    """Running sums of ones in several kinds of numbers, {kind: `(n,)`}, against the number of terms."""
    axes, = subplots(2.9, "a")
    order = sorted(sums, key=lambda kind: -sums[kind][-1])
    for kind, shade, style in zip(order, ("#1a1a1a", "#5f6368", "#8a8f94"), ("-", "--", "-.")):
        n = len(sums[kind])
        axes.plot(np.arange(1, n + 1), sums[kind], style, color=shade, linewidth=2.5)
        axes.annotate(f"{kind}: {sums[kind][-1]:,.0f}", (n, sums[kind][-1]), xytext=(4, 0), textcoords="offset points",
                      va="center", fontsize=10, annotation_clip=False)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    ticks = 4.0 ** np.arange(0, 9)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(ticks, [f"{tick:,.0f}" for tick in ticks], fontsize=9)
    axes.minorticks_off()
    axes.set(title="1 + 1 + 1 + …, rounded after every step", xlabel="terms", ylabel="sum")


@in_book_style
def rounded_scores(sizes, errors, bounds):
    """Relative errors of weights from rounded scores: errors {kind: `(sizes, rows)`}, bounds {kind: `(sizes,)`}."""
    axes, = subplots(2.8, "a")
    order = sorted(bounds, key=lambda kind: -bounds[kind][-1])
    for kind, marker in zip(order, "so^"):
        low, middle, high = np.quantile(errors[kind], [0, 0.5, 1], axis=1)
        axes.fill_between(sizes, low, high, color=COLORS["weights"], alpha=0.25, linewidth=0)
        axes.plot(sizes, middle, marker=marker, markersize=5, linewidth=1.2, color=COLORS["weights"])
        axes.plot(sizes, bounds[kind], "--", color=COLORS["output"], linewidth=1.2)
        axes.annotate(kind, (sizes[-1], middle[-1]), xytext=(8, -3), textcoords="offset points", annotation_clip=False)
    axes.axhline(0.01, color="#9aa0a6", linewidth=0.8)
    axes.annotate("1 %", (sizes[0], 0.01), xytext=(-2, 3), textcoords="offset points", fontsize=9)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
    axes.minorticks_off()
    axes.set(title="Error of the worst weight; dashed, the bound", xlabel="largest score of the row", ylabel="relative error")


@in_book_style
def softmax_forms(lengths, measured, title):
    """Errors of four forms of the softmax beside their bounds, in units of u, against the number of keys.

    measured {kind: `(lengths, rows, 6)`}: quotient, exp(s - lse), s - lse, (s - m) - log sum, the bound of the first,
    the bound of the next two. Points are medians, thin lines the middle 80 % of the rows.
    """
    panels = list(subplots(2.9, "abc", sharey=True))
    forms = (("quotient", "-", "o", COLORS["weights"]), ("exp(s − lse)", "--", "s", COLORS["weights"]),
             ("s − lse", "none", "x", COLORS["output"]), ("(s − m) − log sum", ":", "^", COLORS["scores"]))
    for axes, (kind, rows) in zip(panels, measured.items()):
        for i, style, name in ((4, "-", "bound, quotient"), (5, "--", "bound, s − lse")):
            axes.plot(lengths, np.median(rows[..., i], axis=1), style, color="#9aa0a6", linewidth=3, zorder=0, label=name)
        for i, (name, style, marker, color) in enumerate(forms):
            low, middle, high = np.quantile(rows[..., i], [0.1, 0.5, 0.9], axis=1)
            beside = np.array(lengths) * 1.12 ** (i - 1.5)
            axes.vlines(beside, low, high, color=color, linewidth=0.8)
            axes.plot(beside, middle, linestyle=style, marker=marker, markersize=4.5, linewidth=1.2, color=color, label=name)
        axes.set_title(f"{kind}", fontsize=10)
        axes.set(xscale="log", yscale="log", ylim=(0.7, 250))
        axes.set_xticks([10, 1_000, 100_000], ["10", "1,000", "100,000"], fontsize=9)
        axes.set_yticks([1, 10, 100], ["1", "10", "100"])
        axes.minorticks_off()
        axes.grid(axis="y", color="#e0e0e0", linewidth=0.8)
    panels[0].set_ylabel("error in units of u")
    panels[1].set_xlabel(f"keys, {title}")
    axes.figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)


@in_book_style
def step_errors(measured, expected):
    """Relative errors of a difference quotient against its step: {name: (steps, 10 %, median, 90 %)}.

    `expected` has the two theoretical lines of each, {name: (bend, rounding)}: dashed, each where it is the larger.
    """
    axes, = subplots(2.9, "a")
    for (name, (steps, low, middle, high)), grey in zip(measured.items(), ("#80868b", "#5f6368", "#1a1a1a")):
        axes.fill_between(steps, low, high, color=grey, alpha=0.25, linewidth=0)
        axes.plot(steps, middle, color=grey, marker="o", markersize=3, linewidth=1.4)
        axes.annotate(name, (steps[-1], middle[-1]), xytext=(-7, 2), textcoords="offset points", ha="right",
                      fontsize=9.5, fontweight="bold", color="#1a1a1a")
        bend, rounding = expected[name]
        for line, other in ((bend, rounding), (rounding, bend)):
            shown = (line > other / 8) & (line < 1)
            axes.plot(steps[shown], line[shown], "--", color=COLORS["weights"], linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="step", ylabel="relative error", xlim=(5e-19, 2), ylim=(1e-13, 3),
             title="The slope of x³ by central differences")
    axes.text(1e-12, 2e-2, "rounding:\nslope −1", fontsize=9, color=COLORS["weights"], ha="left", va="top")
    axes.text(1, 1e-8, "bend of\nthe curve:\nslope 2", fontsize=9, color=COLORS["weights"], ha="right", va="top")
    axes.minorticks_off()


def signed_grid(axes, matrix, title, labels):
    """A matrix as cells with their numbers: positive ones in the weights' colour, negative ones grey and in italics."""
    both = LinearSegmentedColormap.from_list("signed", [COLORS["scores"], "#ffffff", COLORS["weights"]])
    axes.imshow(np.sign(matrix) * abs(matrix)**0.5, cmap=both, vmin=-1.5, vmax=1.5)  # the root lifts the small ones
    for (i, j), number in np.ndenumerate(matrix):
        label = f"{number:.3f}".replace("0.", ".").replace("-", "−") if number else "0"
        axes.text(j, i, label, ha="center", va="center", fontsize=9, style="italic" if number < 0 else "normal")
    axes.set(title=title, xlabel="score", xticks=range(len(labels)), yticks=range(len(labels)), yticklabels=labels)
    axes.set_xticklabels(labels, rotation=90)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelsize=9)


@in_book_style
def jacobian(diagonal, products, labels):
    """The softmax's Jacobian `(n, n)` as the difference of its two terms, each a grid of numbers below 1."""
    left, *others = subplots(2.5, "abc")
    signed_grid(left, diagonal, "diag(a)", labels)
    left.set_ylabel("weight")
    for axes, matrix, title in zip(others, (products, diagonal - products), ("less a aᵀ", "is J")):
        signed_grid(axes, matrix, title, labels)
        axes.set_yticklabels([])


@in_book_style
def norm_over_triangle(weights, norms, path, temperatures, along_path, labels):
    """The Jacobian's norm at each point of the triangle of three weights: `weights` (m, 3), `norms` (m,).

    `path` (t, 3) are the weights of one row at each of `temperatures` (t,), and `along_path` (t,) the norms there.
    """
    left, right = subplots(2.9, "ab", width_ratios=[1.15, 1])
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.75**0.5]])
    levels = np.arange(0, 0.51, 0.05)
    ground = left.tricontourf(*(weights @ corners).T, norms, levels=levels, cmap=shades("weights"), vmin=0, vmax=0.62)
    left.tricontour(*(weights @ corners).T, norms, levels=levels, colors="white", linewidths=0.6)
    left.fill(*corners.T, fill=False, edgecolor="#444444", linewidth=1)
    left.plot(*(path @ corners).T, color="#1a1a1a", linewidth=2)
    one, most = np.argmin(abs(np.log(temperatures))), np.argmax(along_path)
    for axes, points in ((left, path @ corners), (right, np.stack([temperatures, along_path], axis=-1))):
        axes.plot(*points[one], "o", color="#1a1a1a", markeredgecolor="white", markersize=8, zorder=3)
        axes.plot(*points[most], "D", color="#1a1a1a", markeredgecolor="white", markersize=8, zorder=3)
    for corner, label, place in zip(corners, labels, ((0, -14), (0, -14), (0, 5))):
        left.annotate(label, corner, xytext=place, textcoords="offset points", ha="center")
    for middle, text, place in ((corners[:2], "1/2", (0, -13)), (corners[1:], "1/2", (13, 0)), (corners[::2], "1/2", (-13, 0)),
                                (corners, "1/3", (13, -11))):
        left.annotate(text, middle.mean(axis=0), xytext=place, textcoords="offset points", ha="center", fontsize=9)
    left.set_aspect("equal")
    left.axis("off")
    left.margins(0.06, 0.1)
    left.set_title("The norm of J", pad=20)
    left.figure.colorbar(ground, ax=left, location="left", shrink=0.8, ticks=[0, 0.1, 0.2, 0.3, 0.4, 0.5])
    right.plot(temperatures, along_path, color="#1a1a1a")
    right.axhline(0.5, color=COLORS["weights"], linestyle="--", linewidth=1)
    right.set(xscale="log", ylim=(0, 0.56), xlabel="temperature")
    right.set_title("Along the thick line", pad=20)
    right.annotate("T = 1", (temperatures[one], along_path[one]), xytext=(-9, 3), textcoords="offset points",
                   ha="right", fontsize=9)
    right.text(temperatures[0], 0.51, "never above a half", fontsize=9, color=COLORS["weights"])
    right.xaxis.set_major_formatter("{x:g}")
    right.minorticks_off()


@in_book_style
def pulls(value, output, grad_scores, labels):
    """One feature of the values `(n_k,)`, the output as a line, and the output's gradient by the scores `(n_k,)`."""
    left, right = subplots(2.6, "ab")
    bars(left, value, "value", "Values, and the output", 1, labels)
    left.axhline(output, color=COLORS["output"], linestyle="--", linewidth=1.5)
    left.annotate(f"output {output:.3f}", (-0.5, output), xytext=(0, 3), textcoords="offset points", fontsize=9)
    bars(right, grad_scores, "scores", "Gradient of the scores", 3, labels)


@in_book_style
def merged_outputs(value, parts, outputs, shares, output, labels):
    """Values `(n_k, 2)`; two lists of keys, `parts`, with attention's outputs `(2, 2)`, shares `(2,)` and the merged `(2,)`."""
    axes, = subplots(2.8, "a")
    for part, own, share, style, side in zip(parts, outputs, shares, ("--", ":"), (-1, 1)):
        axes.plot(*value[part].T, color=COLORS["value"], linestyle=style, linewidth=1.5, zorder=1)
        axes.scatter(*own, marker="D", s=40, facecolor="white", edgecolor=COLORS["output"], linewidth=1.5, zorder=3)
        axes.annotate(f"share {share:.3f}", own, xytext=(8 * side, -12 * side), textcoords="offset points",
                      ha="right" if side < 0 else "left", va="center")
    axes.plot(*np.transpose(outputs), color=COLORS["output"], linewidth=2, zorder=2)
    axes.scatter(*value.T, s=60, color=COLORS["value"], zorder=2)
    for point, label in zip(value, labels):
        axes.annotate(label, point, xytext=(8, -5), textcoords="offset points", va="center", color=COLORS["value"])
    axes.scatter(*output, marker="D", s=70, color=COLORS["output"], zorder=4)
    axes.annotate("merged", output, xytext=(9, 5), textcoords="offset points", fontweight="bold")
    axes.set_aspect("equal")
    axes.margins(0.5, 0.12)
    axes.set(xlabel="feature 0", ylabel="feature 1", title="Each output lies between those that it merges")


@in_book_style
def fast_steps(passes, record):
    """Passes over the scores {step: number}, counted, beside the recorded milliseconds of the same steps.

    `record` as in time_against_n; a thin line holds the middle half of the rounds.
    """
    (row,) = record["ladder"]
    left, right = subplots(2.6, "ab", sharey=True)
    for place, (counted, step) in enumerate(zip(passes.values(), row["steps"].values())):
        left.barh(place, counted, color=COLORS["scores"], height=0.6)
        left.annotate(f"{counted:.3g}", (counted, place), xytext=(4, 0), textcoords="offset points", va="center")
        middle, low, high = (step["ms"][what] for what in ("median", "low", "high"))
        right.barh(place, middle, color="#9aa0a6", height=0.6)
        right.plot([low, high], [place, place], color=COLORS["output"], marker="|", linewidth=1.2)
        right.annotate(f"{middle:.0f}", (max(middle, high), place), xytext=(6, 0), textcoords="offset points", va="center")
    left.set(yticks=range(len(passes)), yticklabels=list(passes), title="Counted", xlabel="numbers read and written a score")
    right.set(title=f"Recorded, n = {row['n']}", xlabel="milliseconds")
    left.invert_yaxis()
    for axes in (left, right):
        axes.margins(x=0.2)


@in_book_style
def rows_of_weights(rows, titles, labels):
    """One bar chart for each row of weights `(n_k,)`, with a title each."""
    side_by_side(rows, titles, labels)


def numbered_cells(axes, numbers, corner, per_position):
    """A block of cells `(n, d)` whose upper left corner is at (x, y), shaded by the position that a number belongs to."""
    shade = shades("query")
    for (i, j), number in np.ndenumerate(numbers):
        x, y = corner[0] + j, corner[1] + i
        axes.add_patch(plt.Rectangle((x, y), 1, 1, facecolor=shade(0.06 + 0.17 * (number // per_position)),
                                     edgecolor="white", linewidth=1))
        axes.text(x + 0.5, y + 0.52, number, ha="center", va="center", fontsize=9.5)
    n, d = numbers.shape
    axes.add_patch(plt.Rectangle(corner, d, n, fill=False, edgecolor=COLORS["output"], linewidth=1.8))


@in_book_style
def split_and_reshaped(numbers, n_heads):
    """`(n, d_model)` numbered entries, their heads as blocks of columns, and what a reshape alone makes of them."""
    n, d_model = numbers.shape
    size = d_model // n_heads
    columns = np.stack([numbers[:, i * size:(i + 1) * size] for i in range(n_heads)])
    axes, = subplots(2.75, "a")
    left, right = d_model + 3.2, d_model + 2 * size + 5.4
    numbered_cells(axes, numbers, (0, n / 2 + 0.5), d_model)
    for i in range(n):
        axes.text(-0.3, n / 2 + 1 + i, f"position {i}", ha="right", va="center", fontsize=9)
    for x, heads, title in ((left, columns, "split: each head\nhas all positions"),
                            (right, numbers.reshape(n_heads, n, size), "reshape alone: head 0\nhas positions 0 and 1")):
        axes.text(x + size / 2, -0.5, title, ha="center", va="bottom", fontsize=10)
        for i, head in enumerate(heads):
            numbered_cells(axes, head, (x, i * (n + 1)), d_model)
            axes.text(x - 0.25, i * (n + 1) + n / 2, f"head {i}", ha="right", va="center", fontsize=9, rotation=90)
    axes.text(d_model / 2, n / 2, "x, in the order of memory", ha="center", va="bottom", fontsize=10)
    axes.plot([size, size], [n / 2 + 0.5, 1.5 * n + 0.5], color=COLORS["output"], linewidth=1.8)
    axes.set(xlim=(-3.6, right + size + 1.6), ylim=(n_heads * (n + 1) - 0.8, -2.6))
    axes.axis("off")


@in_book_style
def error_by_heads(n_heads, errors, width):
    """What is left of the variance after training `(number of heads, seeds)`, against the number of heads of equal width."""
    axes, = subplots(2.8, "a")
    axes.axhline(0.5, color=COLORS["output"], linestyle="--", linewidth=1.2)
    axes.text(n_heads[1], 0.515, "with one row of weights, at least a half", fontsize=9.5, va="bottom")
    axes.plot(n_heads, np.median(errors, axis=1), color=COLORS["weights"], linewidth=1.6)
    for count, row in zip(n_heads, errors):
        axes.plot(count * 1.04 ** (np.arange(len(row)) - len(row) / 2 + 0.5), row, "o", color=COLORS["weights"], markersize=4,
                  markeredgecolor="white", markeredgewidth=0.5)
    axes.set_xscale("log", base=2)
    axes.set_xticks(n_heads, [f"{count}\nof {width // count}" for count in n_heads])
    axes.minorticks_off()
    axes.set(ylim=(-0.03, 0.68), xlabel="heads, and features of each", ylabel="share left", title="Two look-ups, equal parameters")


@in_book_style
def learned_rows(tables, titles, wanted, n_k):
    """The weights of one query in each head, in %, a grid `(heads, n_k)` for each model; `wanted` {key: name} are framed."""
    panels = subplots(0.7 + 0.27 * max(map(len, tables)), "abcde"[:len(tables)])
    for axes, table, title in zip(panels, tables, titles):
        grid(axes, np.round(100 * table), "weights", title, digits=0, outline=[(0, key, len(table), 1) for key in wanted])
        axes.set_xticks(range(n_k), [wanted.get(key, "") for key in range(n_k)])
        axes.set_ylabel("head")
        axes.set_anchor("N")


@in_book_style
def cache_per_position(names, kept, full):
    """KiB that one position leaves in the cache of each model, and what it would leave with a key head for each query head."""
    axes, = subplots(2.8, "a")
    places = np.arange(len(names))[::-1]
    axes.barh(places, full, height=0.7, color="white", edgecolor=COLORS["key"], linewidth=1.2)
    axes.barh(places, kept, height=0.7, color=COLORS["key"])
    for place, one, other in zip(places, kept, full):
        text = f"{one:,.0f}" if one == other else f"{one:,.0f}, in place of {other:,.0f}"
        axes.text(other * 1.12, place, text, va="center", fontsize=9.5)
    axes.set_xscale("log")
    axes.set(yticks=places, yticklabels=names, xlim=(4, 60_000), xlabel="KiB for each position, in 16 bits")
    axes.set_xticks([10, 100, 1_000], ["10", "100", "1,000"])
    axes.minorticks_off()
    axes.tick_params(axis="y", length=0)


def cells(axes, corner, shape, name, title, rows=(), columns=()):
    """A matrix as empty cells with its upper left corner there; whole `rows` and `columns` are filled."""
    (x, y), (height, width) = corner, shape
    for i, j in np.ndindex(shape):
        strong = i in rows or j in columns
        axes.add_patch(plt.Rectangle((x + j, y - i - 1), 1, 1, facecolor=COLORS[name], alpha=0.75 if strong else 0.1, linewidth=0))
        axes.add_patch(plt.Rectangle((x + j, y - i - 1), 1, 1, fill=False, edgecolor=COLORS[name], linewidth=0.8))
    axes.text(x + width / 2, y + 0.25, title, ha="center", va="bottom", fontweight="bold", color=COLORS[name])


def extent(axes, start, stop, text):
    """The name of a size beside the edge that has it; upright where the edge is."""
    (x, y), upright = np.add(start, stop) / 2, start[0] == stop[0]
    axes.annotate("", stop, start, arrowprops={"arrowstyle": "|-|,widthA=0.2,widthB=0.2", "color": "#444444", "linewidth": 0.8,
                                               "shrinkA": 0, "shrinkB": 0})
    axes.text(x - 0.2 * upright, y - 0.15 * (not upright), text, ha="right" if upright else "center",
              va="center" if upright else "top", fontsize=10)


@in_book_style
def attention_shapes():
    """All of attention as matrices, each size as long as it stands: 3 queries of size 2, 5 keys, values of size 4."""
    axes, = subplots(2.8, "a")
    axes.set(xlim=(-1.2, 24.2), ylim=(-4.4, 7.0), aspect="equal")
    axes.axis("off")
    cells(axes, (0, 0), (3, 2), "query", "Q", rows=[1])
    cells(axes, (3.2, 3.6), (2, 5), "key", "Kᵀ", columns=[3])
    cells(axes, (3.2, 0), (3, 5), "scores", "S", rows=[1])
    cells(axes, (12.4, 0), (3, 5), "weights", "A", rows=[1])
    cells(axes, (18.4, 6.2), (5, 4), "value", "V")
    cells(axes, (18.4, 0), (3, 4), "output", "O", rows=[1])
    axes.annotate("", (12.1, -1.5), (8.5, -1.5), arrowprops={"arrowstyle": "-|>", "color": "#444444", "linewidth": 1.4})
    axes.text(10.3, -1.1, "scale, mask,\nsoftmax of\neach row", ha="center", va="bottom", fontsize=9)
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
    """Which of the rules each implementation keeps: `kept` (rules, columns) of booleans; the first two columns are right ones."""
    axes, = subplots(0.4 + 0.145 * len(rules), "a")
    for (i, j), holds in np.ndenumerate(kept):
        place = j + (0.6 if j > 1 else 0)
        own = j > 1 and i == j - 2
        axes.add_patch(plt.Rectangle((place - 0.5, i - 0.5), 1, 1, linewidth=1, edgecolor="#bbbbbb", snap=True,
                                     facecolor="white" if holds else COLORS["weights"] if own else "#e8b58f"))
        if not holds:
            axes.text(place, i, "×", ha="center", va="center", color="white" if own else "#1a1a1a")
    axes.set(xlim=(-0.55, kept.shape[1] + 0.15), ylim=(len(rules) - 0.45, -0.55), yticks=range(len(rules)),
             xticks=[j + (0.6 if j > 1 else 0) for j in range(len(columns))])
    axes.set_yticklabels([f"{text}  {i}" for i, text in enumerate(rules, 1)], fontsize=9)
    axes.xaxis.tick_top()
    for label, rotation in zip(axes.set_xticklabels(columns, fontsize=9), (90, 90)):
        label.set_rotation(rotation)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


@in_book_style
def nan_on_the_way(ways, steps, bad):
    """Where nan is met: `bad` (ways, steps) of booleans. The first step is the output, the others are gradients on the way back."""
    axes, = subplots(0.75 + 0.27 * len(ways), "a")
    for (i, j), is_nan in np.ndenumerate(bad):
        place = j + (0.3 if j else 0)
        axes.add_patch(plt.Rectangle((place - 0.5, i - 0.5), 1, 1, facecolor=COLORS["weights"] if is_nan else "white",
                                     edgecolor="#bbbbbb", linewidth=0.8))
        axes.text(place, i, "nan" if is_nan else "", ha="center", va="center", color="white", fontsize=9.5)
    axes.set(xlim=(-0.55, len(steps) - 0.15), ylim=(len(ways) - 0.45, -0.55), yticks=range(len(ways)), yticklabels=ways,
             xticks=[j + (0.3 if j else 0) for j in range(len(steps))])
    axes.xaxis.tick_top()
    axes.set_xticklabels(steps, fontsize=9.5)
    axes.text((1.8 + len(steps) - 0.2) / 2 - 0.5, -1.75, "gradients, on the way back", ha="center", va="bottom", fontsize=10, style="italic")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


@in_book_style
def contributions(parts, labels):
    """What each key adds to one output: `parts` (n_k, 2) as arrows tip to tail, and the output from start to end."""
    axes, = subplots(1.5, "a")
    ends = np.concatenate([np.zeros((1, 2)), np.cumsum(parts, axis=0)])
    for start, end, label in zip(ends, ends[1:], labels):
        axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": COLORS["value"], "linewidth": 2,
                                                  "shrinkA": 0, "shrinkB": 0})
        side = np.sign(end - start)[1]  # labels above flat arrows, left of rising and right of falling ones
        axes.annotate(label, (start + end) / 2, xytext=(-6 * side, 0) if side else (0, 9), textcoords="offset points", fontsize=9.5,
                      ha={1: "right", -1: "left"}.get(side, "center"), va="center", color=COLORS["value"])
    axes.annotate("", ends[-1], (0, 0), arrowprops={"arrowstyle": "-|>", "color": COLORS["output"], "linewidth": 1.4,
                                                    "linestyle": "--", "shrinkA": 0, "shrinkB": 0})
    axes.annotate("output", ends[-1] / 2, xytext=(4, -8), textcoords="offset points", va="top", fontweight="bold")
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
            while len(side) > 1 and ((side[-1][0] - side[-2][0]) * (y - side[-2][1])
                                     <= (side[-1][1] - side[-2][1]) * (x - side[-2][0])):
                side.pop()
            side.append((x, y))
        corners += side[:-1]
    return np.array(corners)


@in_book_style
def hulls_by_round(replaced, added, labels):
    """Words as points `(n, 2)` after each round, with their hulls: outputs in their place on the left, added on the right."""
    for axes, rounds, title in zip(subplots(2.3, "ab"), (replaced, added), ("Outputs replace the words", "Outputs are added")):
        for i, (points, marker) in enumerate(zip(rounds, "osD^")):
            corners = convex_hull(points)
            axes.fill(*corners.T, color=COLORS["value"], alpha=0.12, linewidth=0)
            axes.fill(*corners.T, fill=False, edgecolor=COLORS["value"], linewidth=1, linestyle=("-", "--", ":", "-.")[i])
            axes.scatter(*points.T, s=22, marker=marker, color=COLORS["output" if i else "value"], zorder=3,
                         label=("the words", "once", "twice", "three times")[i])
        axes.margins(0.3, 0.2)
        axes.locator_params(nbins=4)
        axes.set(title=title, xlabel="feature 0")
    for point, label in zip(replaced[0], labels):
        outward = 1 if point[0] >= replaced[0][:, 0].mean() else -1
        axes.figure.axes[0].annotate(label, point, xytext=(6 * outward, 0), textcoords="offset points", fontsize=9.5,
                                     va="center", ha="left" if outward > 0 else "right")
    axes.legend(fontsize=9, loc="upper left", handletextpad=0.2)


@in_book_style
def losses_by_width(widths, losses, steps, step_losses, chosen):
    """Losses {label: `(n,)`} against the width, {label: (widths, losses)} of training runs upon them, and where they end."""
    axes, = subplots(2.3, "a")
    for (label, heights), (style, shade) in zip(losses.items(), (("-", "#1a1a1a"), ("--", "#5f6368"), (":", "#5f6368"))):
        axes.plot(widths, heights, linestyle=style, color=shade, label=label)
    for (label, at), marker in zip(steps.items(), ">o"):
        axes.plot(at, step_losses[label], linestyle="", marker=marker, markersize=5, markerfacecolor="white",
                  markeredgecolor=COLORS["weights"], label=label, zorder=3)
    axes.axvline(chosen, color=COLORS["weights"], linewidth=1)
    axes.annotate(f"{chosen:.2f}", (chosen, 0.7 * max(map(max, losses.values()))), xytext=(4, 0), textcoords="offset points",
                  fontsize=9.5, color=COLORS["weights"])
    axes.set(xscale="log", xlabel="width", ylabel="mean squared error", ylim=(0, None), title="A width that is trained",
             yticks=[0, 0.1, 0.2, 0.3])
    axes.set_xticks([0.05, 0.2, 0.5, 2])
    axes.xaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.legend(loc="upper left", fontsize=9)


@in_book_style
def moved_weight(value, output, moves, rows, labels):
    """Four values `(4, 2)` whose diagonals cross, the output, and the rows of weights `(m, 4)` that all have that output."""
    left, right = subplots(2.3, "ab", width_ratios=[1, 1.15])
    for pair, style in (([0, 2], "-"), ([1, 3], "--")):
        left.plot(*value[pair].T, linestyle=style, color=COLORS["value"], linewidth=1.2)
    left.scatter(*value.T, s=40, color=COLORS["value"], zorder=2)
    left.scatter(*output, marker="D", s=60, color=COLORS["output"], zorder=3)
    left.annotate("output", output, xytext=(4, -22), textcoords="offset points", ha="center", fontweight="bold")
    for point, label in zip(value, labels):
        above = 1 if point[1] >= value[:, 1].mean() - 0.6 else -1
        left.annotate(label, point, xytext=(0, 11 * above), textcoords="offset points", ha="center", va="center", fontsize=9.5,
                      color=COLORS["value"])
    left.margins(0.25)
    left.set_aspect("equal")
    left.set(title="The values", xlabel="feature 0", ylabel="feature 1", xticks=[0, 3], yticks=[-1, 2])
    for j, (heights, label, at) in enumerate(zip(rows.T, labels, spread_out(rows[-1], 0.07))):
        right.plot(moves, heights, color=COLORS["weights"], linestyle=("-", "--")[j % 2], linewidth=1.2 + 1.2 * (j == 2))
        right.annotate(label, (moves[-1], at), xytext=(4, 0), textcoords="offset points", va="center", fontsize=9.5)
    right.axvline(0, color="#444444", linewidth=0.8)
    right.margins(x=0.02)
    right.set_xlim(moves[0], moves[-1] + 0.28 * (moves[-1] - moves[0]))
    right.set(title="Weights with this output", xlabel="moved to Ada's and cat", ylim=(-0.04, 0.85), xticks=[-0.1, 0],
              yticks=[0, 0.4, 0.8])


@in_book_style
def product_backward(weights, grad_output, grad_value, key, column):
    """Aᵀ `(n_k, n_q)`, dO `(n_q, d_v)` and their product dV `(n_k, d_v)` as grids; one entry of dV is framed."""
    n_q, n_k = weights.shape
    d_v = grad_output.shape[1]
    left, middle, right = subplots(2.6, "abc", width_ratios=[n_q, d_v + 0.4, d_v + 0.4])
    grid(left, weights.T, "weights", "Aᵀ", digits=2, outline=[(key, 0, 1, n_q)])
    grid(middle, grad_output, "output", "dO", digits=2, outline=[(0, column, n_q, 1)])
    grid(right, grad_value, "value", "dV = Aᵀ dO", digits=2, outline=[(key, column, 1, 1)])
    for axes, across, down in ((left, "query", "key"), (middle, "feature", "query"), (right, "feature", "key")):
        axes.set(xlabel=across, ylabel=down)


@in_book_style
def pushes(value, weights, output, target, grad_scores, labels):
    """Values `(n_k, 2)` in the plane, with the line through the output at right angles to its gradient, and the gradient
    of the scores `(n_k,)`: keys on the target's side of the line have negative bars.
    """
    left, right = subplots(2.8, "ab", width_ratios=[1.05, 1])
    across = np.array([target[1] - output[1], output[0] - target[0]])
    ends = output + np.outer([-9, 9], across / np.linalg.norm(across))
    left.scatter(*value.T, s=700 * weights, color=COLORS["value"], zorder=2)
    for point, label, grad in zip(value, labels, grad_scores):
        place, ha, va = ((-8, 0), "right", "center") if np.allclose(point, target) else ((0, -12), "center", "top")
        left.annotate(f"{label} {'up' if grad < 0 else 'down'}", point, xytext=place, textcoords="offset points",
                      ha=ha, va=va, fontsize=9.5, color=COLORS["value"])
    left.plot(*ends.T, "--", color=COLORS["scores"], linewidth=1.2)
    left.annotate("", target, output, arrowprops={"arrowstyle": "->", "color": COLORS["output"], "linewidth": 1.8}, zorder=4)
    left.scatter(*output, marker="D", s=50, color=COLORS["output"], zorder=3)
    left.annotate("output", output, xytext=(-8, 1), textcoords="offset points", ha="right", va="bottom",
                  fontweight="bold")
    left.annotate("target", target, xytext=(8, 4), textcoords="offset points", fontweight="bold")
    left.set(xlim=(-1, 4.2), ylim=(-1.9, 2.8), aspect="equal", xlabel="feature 0", ylabel="feature 1", title="Who is on which side?")
    bars(right, grad_scores, "scores", "Gradient of the scores", 3, labels)


@in_book_style
def turning_query(angles, weights, sizes_by_length, labels):
    """Weights `(n, n_k)` and the size of ∂o/∂q, {length: `(n,)`}, while the query turns through `angles` in degrees."""
    upper, lower = subplots(2.6, "a;b", sharex=True, height_ratios=[1, 1.25])
    for column, label, style in zip(weights.T, labels, ("-", "--", "-.", ":")):
        upper.plot(angles, column, style, color=COLORS["weights"], linewidth=1.5)
        middle = np.median(angles[column > 0.5 * column.max()])
        upper.annotate(label, (middle, 1.04), ha="center", fontsize=9.5, color=COLORS["weights"])
    upper.set(ylabel="weights", ylim=(0, 1.25), yticks=[0, 1])
    for (length, sizes), (style, color) in zip(sizes_by_length.items(), (("--", COLORS["scores"]), ("-", COLORS["query"]),
                                                                       (":", COLORS["output"]))):
        lower.plot(angles, sizes, style, color=color, linewidth=1.6, label=f"length {length}")
    highest = max(sizes.max() for sizes in sizes_by_length.values())
    lower.set(ylabel="size of ∂o/∂q", xlabel="direction of the query, in degrees", xlim=(angles[0], angles[-1]),
              ylim=(0, 1.35 * highest), xticks=range(0, 361, 60))
    lower.legend(loc="upper right", ncols=3, fontsize=9, borderpad=0)


@in_book_style
def gradient_check(steps, errors):
    """What is left between a gradient and a difference quotient, against the step: {label: `(steps, directions)`}."""
    axes, = subplots(2.7, "a")
    looks = (("-", COLORS["output"]), ("--", COLORS["weights"]), (":", COLORS["key"]), ("-.", COLORS["scores"]))
    for (label, sample), (style, color) in zip(errors.items(), looks):
        low, middle, high = np.quantile(sample, (0.05, 0.5, 0.95), axis=-1)
        axes.fill_between(steps, low, high, color=color, alpha=0.15, linewidth=0)
        axes.plot(steps, middle, style, color=color, linewidth=1.8, label=label)
    axes.set(xscale="log", yscale="log", xlabel="step", ylabel="difference", title="Gradient against difference quotient")
    axes.minorticks_off()
    axes.legend(loc="lower left", fontsize=9, bbox_to_anchor=(0, 0))


@in_book_style
def losses(panels):
    """Losses in training as a share of the first one, {title: {label: `(steps, seeds)`}}, a panel each, on one log axis."""
    drawn = list(subplots(2.5, "abc"[:len(panels)], sharey=True))
    looks = (("-", COLORS["output"]), ("--", COLORS["weights"]), (":", COLORS["key"]))
    for axes, (title, curves) in zip(drawn, panels.items()):
        for (label, sample), (style, color) in zip(curves.items(), looks):
            band(axes, range(len(sample)), sample, color, style, label)
        axes.set(yscale="log", title=title, xlabel="step of training")
        axes.minorticks_off()
        axes.grid(axis="y", color="#e0e0e0", linewidth=0.8)
    drawn[0].set_ylabel("loss, as a share of the first")
    drawn[-1].legend(loc="lower left", fontsize=9)


@in_book_style
def three_limits(titles, limits):
    """For each title the least times in microseconds that memory, products and exponentials allow; the longest is dark."""
    names = ("memory", "products", "exponentials")
    longest = max(map(max, limits))
    for axes, title, times in zip(subplots(1.9, "abc"[:len(titles)], sharey=True), titles, limits):
        for i, time in enumerate(times):
            strong = time > 0.98 * max(times)
            axes.barh(i, time, color=COLORS["scores"], alpha=1 if strong else 0.35, height=0.62)
            axes.text(time + 0.03 * longest, i, f"{time:.1f}", va="center", fontsize=9.5, fontweight="bold" if strong else "normal")
        axes.set(title=title, xlim=(0, 1.3 * longest), ylim=(2.6, -0.6), xlabel="microseconds", yticks=range(3), yticklabels=names)
        axes.tick_params(axis="y", length=0)


@in_book_style
def tile_in_memory(matrix, tile, strides):
    """A matrix of addresses with the entries of a tile filled, and below it the memory as one row; both hold addresses."""
    rows, columns = matrix.shape
    inside, end = np.isin(matrix, tile), rows * strides[0]
    axes, = subplots(2.5, "a")
    left = (end - 2.4 * columns) / 2
    for (i, j), address in np.ndenumerate(matrix):
        axes.add_patch(plt.Rectangle((left + 2.4 * j, -1.5 * i), 2.4, 1.5, edgecolor="white", linewidth=1.2,
                                     facecolor=COLORS["query"] if inside[i, j] else "#e8eaed"))
        axes.text(left + 2.4 * j + 1.2, -1.5 * i + 0.72, address, ha="center", va="center", fontsize=9.5,
                  color="white" if inside[i, j] else "#444444")
    below = -1.5 * rows - 1.6
    for address in range(end):
        used = address in matrix
        axes.add_patch(plt.Rectangle((address, below), 1, 1.5, edgecolor="white" if used else "#dddddd", linewidth=0.8,
                                     facecolor=COLORS["query"] if address in tile else "#e8eaed" if used else "white"))
    for address in range(0, end, strides[0]):
        axes.text(address + 0.5, below - 0.3, address, ha="center", va="top", fontsize=9.5)
    axes.text(left - 0.5, 0.72, "the matrix", ha="right", va="center", fontsize=10)
    axes.text(0, below + 1.75, "the memory", ha="left", va="bottom", fontsize=10)
    axes.set(xlim=(-0.5, end + 0.5), ylim=(below - 1.7, 1.8))
    axes.axis("off")


@in_book_style
def product_tiles(tiles, place):
    """Which tiles one program reads and writes: `tiles` of (m, k, n), and the place (I, J) of its tile in the output."""
    m, k, n = tiles
    axes, = subplots(2.8, "a")
    right = k + 1.6
    cells(axes, (0, m), (m, k), "query", "A", rows=[place[0]])
    cells(axes, (right, m + k + 1.3), (k, n), "key", "B", columns=[place[1]])
    cells(axes, (right, m), (m, n), "output", "C")
    axes.add_patch(plt.Rectangle((right + place[1], m - place[0] - 1), 1, 1, facecolor=COLORS["output"], alpha=0.75))
    for step in range(k):
        for x, y, name in ((step, m - place[0] - 1, "query"), (right + place[1], m + k + 0.3 - step, "key")):
            axes.add_patch(plt.Rectangle((x + 0.06, y + 0.06), 0.88, 0.88, facecolor=COLORS[name]))
            axes.text(x + 0.5, y + 0.5, step, ha="center", va="center", color="white", fontsize=10)
    axes.text(right + n + 0.3, m - place[0] - 0.5, "one program's\ntile of C", va="center", fontsize=9.5)
    axes.text(right + n + 0.3, m + k + 0.3, "numbers: the steps\nof its loop", va="center", fontsize=9.5)
    axes.text(k / 2, -0.25, "tiles of BLOCK rows\nand BLOCK columns", ha="center", va="top", fontsize=9.5)
    axes.set(xlim=(-3.5, right + n + 5.5), ylim=(-1.6, m + k + 2.3), aspect="equal")
    axes.axis("off")


@in_book_style
def bytes_through_cache(sizes, moved, least):
    """KiB that come from memory and go there against the cache's size in KiB; `moved` {order of the programs: KiB}."""
    axes, = subplots(2.5, "a")
    for i, (label, amounts) in enumerate(moved.items()):
        axes.plot(sizes, amounts, label=label, **line_style(i, label))
    axes.axhline(least, color=COLORS["scores"], linestyle=":", linewidth=1)
    axes.text(sizes[0], least, "each matrix once ", fontsize=9, va="bottom", color=COLORS["scores"])
    axes.set(xlabel="size of the cache, KiB", ylabel="moved, KiB", ylim=(0, 1.12 * max(map(max, moved.values()))))
    axes.legend(fontsize=9, loc="upper right")


@in_book_style
def counter_and_waves(digits, sines, cosines):
    """Positions as rows of binary digits `(n, bits)`, and as rows of sines and cosines `(n, pairs)`, pair by pair."""
    waves = np.stack([sines, cosines], axis=-1).reshape(len(sines), -1)
    left, right = subplots(2.4, "ab", width_ratios=[digits.shape[1], waves.shape[1]])
    left.imshow(digits, cmap=shades("key"), vmin=0, vmax=1.6, aspect="auto")
    both = LinearSegmentedColormap.from_list("signed", [COLORS["scores"], "#ffffff", COLORS["key"]])
    right.imshow(waves, cmap=both, vmin=-1.6, vmax=1.6, aspect="auto")
    for (p, i), digit in np.ndenumerate(digits):
        left.text(i, p, int(digit), ha="center", va="center", fontsize=9)
    for (p, i), number in np.ndenumerate(waves):
        label = f"{number:.1f}".replace("-0.0", "0.0").replace("-", "−")
        right.text(i, p, label, ha="center", va="center", fontsize=9, style="italic" if number < 0 else "normal")
    left.set(title="Digits", ylabel="position", yticks=range(0, len(digits), 2),
             xticks=range(digits.shape[1]), xticklabels=[f"{2 ** i}" for i in range(digits.shape[1])], xlabel="worth")
    names = [name for i in range(waves.shape[1] // 2) for name in (f"sin {i}", f"cos {i}")]
    right.set(title="Pairs of waves", yticks=[], xticks=range(waves.shape[1]), xticklabels=names, xlabel="wave and pair")
    for axes in (left, right):
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, labelsize=9)


@in_book_style
def dials(hands):
    """One pair of features as the plane: {title: (angle of the query, angle of the key)} in radians, with the arc between."""
    for axes, (title, (query, key)) in zip(subplots(2.2, "abcd"[:len(hands)]), hands.items()):
        around = np.linspace(0, 2 * np.pi, 100)
        axes.plot(np.cos(around), np.sin(around), color="#9aa0a6", linewidth=1)
        between = np.linspace(query, key, 50)
        axes.plot(0.45 * np.cos(between), 0.45 * np.sin(between), color=COLORS["scores"], linewidth=3)
        for angle, role, length in ((query, "query", 0.95), (key, "key", 0.8)):
            axes.annotate("", (length * np.cos(angle), length * np.sin(angle)), (0, 0), arrowprops={
                "arrowstyle": "-|>", "color": COLORS[role], "linewidth": 2, "shrinkA": 0, "shrinkB": 0})
            axes.text(1.3 * np.cos(angle), 1.2 * np.sin(angle), role[0], color=COLORS[role], ha="center", va="center",
                      fontweight="bold")
        axes.set_title(title, loc="center")
        axes.set(xlim=(-1.45, 1.45), ylim=(-1.35, 1.35), aspect="equal")
        axes.axis("off")


@in_book_style
def arcs_seen(seen, asked):
    """Circles, one a pair: the angles up to `seen` {label: radians} as a thick arc, those up to `asked` {label: radians} thin."""
    for axes, label in zip(subplots(1.4, "abcdef"[:len(seen)]), seen):
        around = np.linspace(0, 2 * np.pi, 100)
        axes.plot(np.cos(around), np.sin(around), color="#dadce0", linewidth=1)
        for stop, width, radius, color in ((asked[label], 1.2, 1.18, COLORS["weights"]), (seen[label], 5, 1, COLORS["key"])):
            arc = np.linspace(0, min(stop, 2 * np.pi), 200)
            axes.plot(radius * np.cos(arc), radius * np.sin(arc), color=color, linewidth=width, solid_capstyle="butt")
        share = min(1, seen[label] / (2 * np.pi))
        axes.text(0, 0, f"{share:.0%}" if share >= 0.01 else f"{share:.1%}", ha="center", va="center", fontsize=9.5)
        axes.set_title(label, loc="center")
        axes.set(xlim=(-1.35, 1.35), ylim=(-1.35, 1.35), aspect="equal")
        axes.axis("off")


@in_book_style
def beyond_training(scores, weights, n):
    """Scores by distance `(m,)`, and {scheme: weights `(starts, places)`, places} on the right key.

    `n` positions were seen in training: they are shaded.
    """
    left, right = subplots(2.8, "ab")
    for axes in (left, right):
        axes.axvspan(0, n - 0.5, color="#e8eaed", linewidth=0)
    left.plot(scores, color=COLORS["scores"], linewidth=0.8)
    peak = scores.max()
    left.axhline(peak, color=COLORS["weights"], linestyle="--", linewidth=1)
    left.text(len(scores), peak, "highest in training", ha="right", va="bottom", fontsize=9, color=COLORS["weights"])
    left.set(title="Turned: the scores", xlabel="distance of the key", ylabel="score", xlim=(0, len(scores)))
    ends = spread_out([np.median(samples, axis=0)[-1] for samples, _ in weights.values()], 0.11)
    styles = ((COLORS["key"], "-"), (COLORS["query"], "--"), (COLORS["output"], ":"))
    for (label, (samples, places)), (color, style), end in zip(weights.items(), styles, ends):
        right.fill_between(places, samples.min(axis=0), samples.max(axis=0), color=color, alpha=0.2, linewidth=0)
        right.plot(places, np.median(samples, axis=0), style, color=color)
        right.annotate(label, (places[-1], end), xytext=(4, 0), textcoords="offset points", va="center", fontsize=9.5,
                       color=color, fontweight="bold", annotation_clip=False)
    right.set(title="Weight on the right key", xlabel="position of the query", ylim=(-0.03, 1.05), xlim=(0, places[-1]))


@in_book_style
def angle_errors(positions, errors):
    """The largest error of an angle, in radians, against the position: {dtype: errors}."""
    axes, = subplots(2.7, "a")
    for (label, line), (color, style) in zip(errors.items(), ((COLORS["weights"], "-"), (COLORS["key"], "--"),
                                                              (COLORS["query"], "-."))):
        axes.plot(positions, line, style, color=color)
        axes.annotate(label, (positions[-1], line[-1]), xytext=(4, 0), textcoords="offset points", va="center", fontsize=9.5,
                      color=color, fontweight="bold", annotation_clip=False)
    axes.axhline(np.pi, color=COLORS["scores"], linewidth=1)
    axes.text(positions[0], np.pi * 1.2, "half a turn", fontsize=9, color=COLORS["scores"])
    axes.set(xscale="log", yscale="log", xlabel="position", ylabel="radians", title="The largest error of an angle")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()


def map_cells(axes, weights, pattern, title, labels=()):
    """Weights `(n, n)` as shades, with a frame around each cell where the pattern is True."""
    axes.imshow(weights, cmap=shades("weights"), vmin=0, vmax=1)
    for i, j in zip(*np.nonzero(pattern)):
        axes.add_patch(plt.Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor="#1a1a1a", linewidth=0.9))
    axes.set(xticks=range(len(labels)), yticks=range(len(labels)), xticklabels=labels, yticklabels=labels)
    axes.set_title(title, fontsize=10)
    axes.tick_params(length=0, labelsize=9)
    for spine in axes.spines.values():
        spine.set(visible=True, color="#b0b0b0", linewidth=0.8)


@in_book_style
def two_maps(pattern, weights, labels, titles):
    """The map that is known beforehand beside one that was learned: boolean and weights, both `(n, n)`."""
    for axes, shown, title in zip(subplots(2.9, "ab"), (pattern, weights), titles):
        map_cells(axes, shown, pattern, title, labels)
        axes.set(xlabel="key", ylabel="query")


@in_book_style
def emergence(steps, losses, shares, maps, pattern):
    """Loss and share of weight on right keys against the step, `(n_steps, n_seeds)` each; maps {step: `(n, n)`} below.

    The first seed, whose maps they are, is drawn thick.
    """
    left, right, *small = subplots(2.85, "aabb;cdef", height_ratios=[1.05, 1])
    for axes, lines, name, style, title in ((left, losses, "scores", "-", "Loss over the least possible"),
                                            (right, shares, "weights", "-", "Weight on right keys")):
        axes.plot(steps, lines[:, 1:], style, color=COLORS[name], linewidth=0.9, alpha=0.6)
        axes.plot(steps, lines[:, 0], style, color=COLORS[name], linewidth=2.4)
        for step in maps:
            axes.axvline(step, color="#444444", linestyle=":", linewidth=1)
        axes.set(title=title, xlabel="step", ylim=(0, 1))
    for axes, (step, weights) in zip(small, maps.items()):
        map_cells(axes, weights, pattern, f"step {step}")


@in_book_style
def looked_at_and_used(shares, lost, labels):
    """Each head's share of weight on right keys against the accuracy that is lost without it: `(n,)` each."""
    axes, = subplots(2.7, "a")
    axes.plot(shares, lost, "o", color=COLORS["weights"], markersize=6)
    for share, loss, label in zip(shares, lost, labels):
        if label:
            axes.annotate(label, (share, loss), xytext=(-48, 24), textcoords="offset points", ha="right", fontsize=9.5,
                          arrowprops={"arrowstyle": "-", "color": "#444444", "linewidth": 0.8, "shrinkB": 4})
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.05, 1), xlabel="share of the head's weight on right keys",
             ylabel="accuracy lost without it", title="What a head looks at, and what it is worth")


@in_book_style
def by_seed(accuracies, line, label):
    """The accuracy of each seed as a dot, {design: `(n_seeds,)`}, one line for each design; a dashed line at `line`."""
    axes, = subplots(0.55 + 0.27 * len(accuracies), "a")
    for row, values in enumerate(accuracies.values()):
        axes.axhline(row, color="#e0e0e0", linewidth=0.8, zorder=0)
        axes.plot(np.sort(values), np.full(len(values), row), "o", color=COLORS["output"], alpha=0.55, markersize=6)
    axes.axvline(line, color=COLORS["weights"], linestyle="--", linewidth=1.2)
    axes.annotate(label, (line, -0.75), xytext=(5, 0), textcoords="offset points", fontsize=9, va="center",
                  color=COLORS["weights"])
    axes.set(yticks=range(len(accuracies)), yticklabels=list(accuracies), xlim=(0, 1.04), xlabel="accuracy",
             ylim=(len(accuracies) - 0.5, -1.2))
    axes.tick_params(axis="y", length=0)


@in_book_style
def time_by_queries(queries, times, bends):
    """Times in units of one query's against the number of queries: {label: `(n,)`}; {label: where the line bends}."""
    axes, = subplots(2.8, "a")
    for (label, line), style in zip(times.items(), ("-", "--", ":")):
        axes.plot(queries, line, style, color=COLORS["query"], linewidth=2)
        axes.plot(bends[label], 1, "o", color=COLORS["query"], markeredgecolor="white")
        axes.annotate(f"{bends[label]:.0f}", (bends[label], 1), xytext=(0, -14), textcoords="offset points", ha="center")
        axes.annotate(label, (queries[-1], line[-1]), xytext=(5, 0), textcoords="offset points", va="center", fontsize=9.5)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xticks(queries, [f"{n:,}" for n in queries])
    ticks = 2.0 ** np.arange(0, 1 + np.log2(max(line[-1] for line in times.values())), 2)
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set(xlim=(queries[0] * 0.8, queries[-1] * 7), ylim=(0.25, ticks[-1] * 2), xlabel="queries at once",
             ylabel="time of one query", title="The least time of a step")


@in_book_style
def processors_at_work(loads, titles):
    """How many programs each processor gets, `(processors,)`, a panel a plan: white none, light one, dark two."""
    for axes, load, title in zip(subplots(2.75, "abcde"[:len(loads)]), loads, titles):
        columns = 11
        for i, count in enumerate(load):
            axes.add_patch(plt.Rectangle((i % columns + 0.06, i // columns + 0.06), 0.88, 0.88, edgecolor=COLORS["scores"],
                                         facecolor=shades("key")((0.0, 0.35, 1.0)[min(count, 2)]), linewidth=0.6))
        axes.set(xlim=(0, columns), ylim=(-(-len(load) // columns), 0), title=title, aspect="equal")
        axes.axis("off")


@in_book_style
def rungs(names, bytes_read, times):
    """Two bar charts, a bar for each rung: bytes read in units of the cache, and the least time in units of the best."""
    left, right = subplots(0.9 + 0.36 * len(names), "ab", sharey=True)
    for axes, lengths, name, title in ((left, bytes_read, "key", "Bytes, in caches"), (right, times, "scores", "Time predicted")):
        axes.barh(range(len(names)), lengths, color=COLORS[name], height=0.6)
        for place, length in enumerate(lengths):
            axes.annotate(f"{length:.3g}", (length, place), xytext=(4, 0), textcoords="offset points", va="center")
        axes.set(title=title, yticks=range(len(names)), yticklabels=names)
        axes.margins(x=0.22)
        axes.tick_params(axis="y", length=0)
    left.set_xlabel("times the cache")
    right.set_xlabel("times the least")
    left.invert_yaxis()


@in_book_style
def pages_in_memory(tables, lengths, page_size, n_pages):
    """Sequences as rows of blocks, {name: its pages}, and the memory's pages below; {name: positions} fill them."""
    axes, = subplots(2.3, "a")
    colors = dict(zip(tables, ("key", "query", "value")))
    owners = {}
    for row, (name, table) in enumerate(tables.items()):
        y = 1.3 * (len(tables) - row)
        axes.text(-0.25, y + 0.35, f"text {name}", ha="right", va="center", fontweight="bold", color=COLORS[colors[name]])
        for block, page in enumerate(table):
            filled = min(page_size, lengths[name] - block * page_size)
            page_box(axes, 1.25 * block, y, page_size, [(filled, colors[name])])
            axes.text(1.25 * block + 0.5, y - 0.08, f"{name}{block} on {page}", ha="center", va="top", fontsize=9)
            owners.setdefault(page, []).append((f"{name}{block}", filled, colors[name]))
    axes.text(-0.25, -0.05, "memory", ha="right", va="center", fontweight="bold")
    for page in range(n_pages):
        owner = owners.get(page, [("free", 0, "scores")])
        page_box(axes, 1.25 * page, -0.4, page_size, [part[1:] for part in owner])
        said = ", ".join(part[0] for part in owner)
        axes.text(1.25 * page + 0.5, -0.48, f"{page}\n{said}", ha="center", va="top", fontsize=9)
    axes.set(xlim=(-1.6, 1.25 * n_pages), ylim=(-1.35, 1.3 * len(tables) + 0.85))
    axes.axis("off")


def page_box(axes, x, y, page_size, owners):
    """A page at this place, a cell for each position; `owners` are pairs (positions filled, role), one below the other."""
    height = 0.7 / len(owners)
    for k, (filled, name) in enumerate(owners):
        for i in range(page_size):
            axes.add_patch(plt.Rectangle((x + i / page_size, y + 0.7 - (k + 1) * height), 1 / page_size, height, linewidth=0.8,
                                         edgecolor=COLORS[name], facecolor=shades(name)(0.55 if i < filled else 0.0)))
    axes.add_patch(plt.Rectangle((x, y), 1, 0.7, fill=False, edgecolor=COLORS["output"], linewidth=1.4))


@in_book_style
def ring_steps(loads, titles):
    """Squares of rank by step of a ring, `(ranks, steps)` shares of a part that is computed; in each, whose keys it holds."""
    for axes, load, title in zip(subplots(2.8, "ab"), loads, titles):
        size = len(load)
        axes.imshow(load, cmap=shades("scores"), vmin=0, vmax=1.25)
        for (rank, step), share in np.ndenumerate(load):
            axes.text(step, rank, (rank - step) % size, ha="center", va="center", fontsize=9,
                      color="white" if share > 0.75 else "#1a1a1a")
        axes.set(title=title, xlabel="step", ylabel="rank", xticks=range(size), yticks=range(size))
        axes.set_xticks(np.arange(size + 1) - 0.5, minor=True)
        axes.set_yticks(np.arange(size + 1) - 0.5, minor=True)
        axes.grid(which="minor", color="#777777", linewidth=0.6)
        axes.tick_params(which="both", length=0)


@in_book_style
def hidden_sending(compute, send, titles, steps=4):
    """The first steps of one rank for several `(compute, send)` times: it goes on when both are done; a panel each."""
    panels = list(subplots(0.5 + 0.85 * len(titles), [[letter] for letter in "abcd"[:len(titles)]]))
    for axes, computing, sending, title in zip(panels, compute, send, titles):
        for step in range(steps):
            start = step * max(computing, sending)
            axes.add_patch(plt.Rectangle((start, 1.05), computing, 0.8, facecolor=COLORS["weights"], edgecolor="white"))
            axes.text(start + computing / 2, 1.45, step, ha="center", va="center", color="white", fontsize=9)
            if step < steps - 1:
                axes.add_patch(plt.Rectangle((start, 0.1), sending, 0.8, facecolor="white", edgecolor=COLORS["key"], hatch="///"))
                axes.text(start + sending / 2, 0.5, step, ha="center", va="center", fontsize=9,
                          bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})
        axes.set(ylim=(0, 2), xlim=(0, steps * max(computing, sending)), xticks=[])
        axes.set_yticks([1.45, 0.5], ["compute", "send"])
        axes.tick_params(length=0)
        axes.set_title(title, loc="left", fontsize=10)
        axes.spines[["top", "right", "left"]].set_visible(False)
    panels[-1].set_xlabel("time, in each panel on a scale of its own")


@in_book_style
def heads_for_positions(owners, titles):
    """Which rank holds which head of which block of positions: `(heads, blocks)` numbers of ranks, a panel for each way."""
    for axes, owner, title in zip(subplots(1.9, "ab"), owners, titles):
        for (head, block), rank in np.ndenumerate(owner):
            axes.add_patch(plt.Rectangle((block - 0.5, head - 0.5), 1, 1, edgecolor="white", linewidth=1.5,
                                         facecolor=plt.get_cmap("Greys")(0.12 + 0.2 * rank)))
            axes.text(block, head, rank, ha="center", va="center", color="white" if rank > 1 else "#1a1a1a", fontweight="bold")
        axes.set(title=title, xlim=(-0.5, owner.shape[1] - 0.5), ylim=(owner.shape[0] - 0.5, -0.5), ylabel="head",
                 xlabel="block of positions", xticks=range(owner.shape[1]), yticks=range(owner.shape[0]))
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)


@in_book_style
def error_by_ranks(ranks, errors, predicted):
    """Errors {way: `(ranks, seeds)`} of merged parts against the number of ranks, with what theory predicts {way: `(ranks,)`}."""
    axes, = subplots(2.6, "a")
    styles = zip(("-", "--", ":"), "os^", (COLORS["output"], COLORS["scores"], COLORS["weights"]))
    for (way, found), (style, marker, color) in zip(errors.items(), styles):
        axes.plot(ranks, predicted[way], linestyle=style, color=color, linewidth=1.2)
        axes.vlines(ranks, found.min(axis=-1), found.max(axis=-1), color=color, linewidth=3, alpha=0.4)
        axes.plot(ranks, np.median(found, axis=-1), linestyle="", marker=marker, color=color)
        axes.annotate(way, (ranks[-1], np.median(found[-1])), xytext=(8, 0), textcoords="offset points", va="center", fontsize=9.5,
                      color=color)
    axes.set(xscale="log", xlabel="ranks", ylabel="relative error", ylim=(0, None), xlim=(ranks[0] * 0.9, ranks[-1] * 3.6))
    axes.set_xticks(ranks, [str(n) for n in ranks])
    axes.minorticks_off()


@in_book_style
def on_the_chip(block_q, block_k, d, itemsize):
    """What one program of a fused kernel holds, with its bytes: what stays, what comes and goes, what is made and dropped."""
    axes, = subplots(2.75, "a")
    axes.set(xlim=(0, 6), ylim=(0, 2.75))
    axes.axis("off")
    axes.add_patch(plt.Rectangle((2.3, 0.06), 3.66, 2.36, facecolor="#f4f4f4", edgecolor="#444444"))
    axes.text(0.85, 2.53, "memory", ha="center", fontsize=11, fontweight="bold")
    axes.text(4.05, 2.53, "one processor", ha="center", fontsize=11, fontweight="bold")
    for y, name, letter, rows, stays in ((1.78, "query", "Q", block_q, True), (0.99, "key", "K", block_k, False),
                                         (0.2, "value", "V", block_k, False)):
        axes.add_patch(plt.Rectangle((0.5, y), 0.7, 0.56, facecolor="white", edgecolor=COLORS[name], linewidth=1.5))
        for at in (0.37,) if stays else (0.37, 0.19, 0.01):
            axes.add_patch(plt.Rectangle((0.5, y + at), 0.7, 0.17, facecolor=COLORS[name], alpha=0.85 if at == 0.37 else 0.25,
                                         linewidth=0))
        axes.text(0.3, y + 0.28, letter, ha="center", va="center", fontsize=11, color=COLORS[name], fontweight="bold")
        arrow(axes, (1.25, y + 0.45), (2.42, y + 0.4))
        axes.text(1.75, y + 0.53, "once" if stays else "block by block", ha="center", va="bottom", fontsize=9)
        tile(axes, (2.44, y + 0.05), name, f"{rows} × {d}", rows * d * itemsize, "stays" if stays else "replaced")
    tile(axes, (4.26, 1.3), "scores", f"scores {block_q} × {block_k}", block_q * block_k * 4, "used, gone")
    tile(axes, (4.26, 0.42), "output", f"output {block_q} × {d}", block_q * d * 4, "added to")
    arrow(axes, (3.86, 2.08), (4.24, 1.75))
    arrow(axes, (3.86, 1.3), (4.24, 1.55))
    arrow(axes, (3.86, 0.48), (4.24, 0.62))
    arrow(axes, (5.0, 1.28), (5.0, 0.94))


def tile(axes, place, name, title, nbytes, fate):
    """A tile on the chip: its shape, its bytes and what becomes of it."""
    x, y = place
    axes.add_patch(plt.Rectangle((x, y), 1.4 if x < 4 else 1.6, 0.5, facecolor="white", edgecolor=COLORS[name], linewidth=2))
    axes.text(x + 0.08, y + 0.34, title, va="center", fontsize=9.5, fontweight="bold", color=COLORS[name])
    axes.text(x + 0.08, y + 0.14, f"{nbytes / 1024:.0f} KiB, {fate}", va="center", fontsize=9)


@in_book_style
def block_kinds(kinds, titles):
    """Blocks of queries down, blocks of keys across, in a panel each: 0 not read, 1 read with a mask, 2 read without one."""
    for axes, kind, title in zip(subplots(2.35, "abcde"[:len(kinds)]), kinds, titles):
        axes.imshow(np.choose(kind, [0.0, 0.45, 1.0]), cmap=shades("weights"), vmin=0, vmax=1.3)
        for (i, j), code in np.ndenumerate(kind):
            axes.add_patch(plt.Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor="white" if code else "#dddddd", linewidth=1))
            if code == 1:
                axes.text(j, i, "m", ha="center", va="center", fontsize=9)
        axes.set(title=title, xticks=[], yticks=[], ylabel="blocks of queries",
                 xlabel=f"blocks of keys\n{(kind == 2).sum()} whole, {(kind == 1).sum()} masked")
        axes.spines[:].set_visible(False)


@in_book_style
def instructions(rungs):
    """{name: instructions of a thread for one block of keys} as bars, in the order of the ladder."""
    axes, = subplots(0.5 + 0.28 * len(rungs), "a")
    axes.barh(range(len(rungs)), rungs.values(), color=COLORS["scores"], height=0.68)
    for i, (name, count) in enumerate(rungs.items()):
        axes.text(count + 6, i, str(count), va="center", fontsize=9.5)
    axes.set(yticks=range(len(rungs)), xticks=[], xlim=(0, 1.1 * max(rungs.values())), ylim=(len(rungs) - 0.5, -0.5),
             title="Instructions of a thread for one block of keys")
    axes.set_yticklabels(rungs, fontsize=9.5)
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    axes.tick_params(length=0)


@in_book_style
def schedules(by_title, even):
    """Which processor does what and when: {title: [(processor, start, length)]}; a line where all work shared out evenly ends."""
    panels = list(subplots(2.6, "ab"[:len(by_title)], sharey=True))
    longest = max(length for pieces in by_title.values() for _, _, length in pieces)
    latest = max(start + length for pieces in by_title.values() for _, start, length in pieces)
    for axes, (title, pieces) in zip(panels, by_title.items()):
        for processor, start, length in pieces:
            axes.add_patch(plt.Rectangle((start, processor - 0.42), length, 0.84, edgecolor="white", linewidth=0.8,
                                         facecolor=shades("weights")(0.15 + 0.7 * length / longest)))
        axes.axvline(even, color=COLORS["output"], linestyle=":", linewidth=1.2)
        end = max(start + length for _, start, length in pieces)
        axes.set(title=title, xlim=(0, 1.02 * latest), ylim=(max(piece[0] for piece in pieces) + 0.6, -0.6), yticks=[],
                 xlabel=f"time: done at {end:g}, at best {even:g}")
        axes.xaxis.get_major_locator().set_params(integer=True)
    panels[0].set(ylabel="processors")


if __name__ == "__main__":  # python -m attnlib.plot FOLDER
    overview(sys.argv[1] + "/overview.png")
    card(sys.argv[1] + "/card.png", sys.argv[1] + "/overview.png")
