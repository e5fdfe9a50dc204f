"""Raw scores and their masks."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from attncourse.plot.common import COLORS, arrow, box, grid, in_book_style, shades, subplots


def along(axes, words, y, bold, size=12):
    """Words of a sentence on one line of axes in points; returns the middle and the text of each
    word.
    """
    fonts = [
        FontProperties(size=size, weight="bold" if i in bold else "normal")
        for i in range(len(words))
    ]
    widths = [
        TextPath((0, 0), word, prop=font).get_extents().width for word, font in zip(words, fonts)
    ]
    space = 0.48 * size
    left, found = (6 * 72 - sum(widths) - space * (len(words) - 1)) / 2, []
    for word, font, width in zip(words, fonts, widths):
        found.append(
            (
                left + width / 2,
                axes.text(left + width / 2, y, word, ha="center", fontproperties=font),
            )
        )
        left += width + space
    return found


@in_book_style
def references(sentences, word, meant):
    """Sentences, each a list of words, with an arc from `word` to the word in `meant` that it
    refers to there.

    The words in which the sentences differ, and those meant, are bold.
    """
    (axes,) = subplots(1.15 * len(sentences), "a")
    axes.set(xlim=(0, 6 * 72), ylim=(-84 * len(sentences) + 62, 62))
    axes.axis("off")
    for row, (words, target) in enumerate(zip(sentences, meant)):
        differ = {i for i in range(len(words)) if len({other[i] for other in sentences}) > 1}
        placed = along(axes, words, -84 * row, differ | {words.index(target)})
        start, stop = placed[words.index(word)], placed[words.index(target)]
        axes.plot(start[0], -84 * row + 16, "o", color=COLORS["weights"])
        axes.annotate(
            "",
            (stop[0], -84 * row + 14),
            (start[0], -84 * row + 16),
            arrowprops={
                "arrowstyle": "-|>,head_width=0.3,head_length=0.6",
                "color": COLORS["weights"],
                "linewidth": 2,
                "connectionstyle": f"arc3,rad={72 / (start[0] - stop[0]) + 0.1:.3f}",
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )
        stop[1].set_color(COLORS["weights"])


@in_book_style
def alike_and_found(words, cosines, weights):
    """How the last word of a text relates to each word before it: two rows of bars, `(n,)` each,
    the highest with its number.
    """
    rows = (
        ("Cosine with the last word's vector", cosines, "output"),
        ("Weight of the last word's query", weights, "weights"),
    )
    before = words[:-1]
    for axes, (title, heights, name) in zip(subplots(2.75, "a\nb", sharex=True), rows):
        heights = np.asarray(heights)[:-1]
        drawn = axes.bar(range(len(before)), heights, color=COLORS[name], width=0.7)
        axes.bar_label(
            drawn,
            [f"{height:.2f}" if height == heights.max() else "" for height in heights],
            fontsize=9,
            padding=2,
        )
        axes.axhline(0, color="#444444", linewidth=0.8)
        axes.set(title=title, xticks=range(len(before)), yticks=[])
        axes.set_xticklabels(before, rotation=60, ha="right", rotation_mode="anchor", fontsize=9)
        axes.tick_params(axis="x", length=0)
        axes.spines[["left", "bottom"]].set_visible(False)
        axes.margins(y=0.3, x=0.01)


@in_book_style
def flow():
    """From words to outputs: queries, keys and values, scores, weights, output, with their
    shapes.
    """
    (axes,) = subplots(2.5, "a")
    axes.set(xlim=(0, 6), ylim=(0, 2.5))
    axes.axis("off")
    box(axes, (0.02, 0.97), "output", "words X", "(n, d)")
    for y, name, letter, size in (
        (1.85, "query", "Q", "k"),
        (0.97, "key", "K", "k"),
        (0.09, "value", "V", "v"),
    ):
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
def score_spread(scores_by_size, scaled_by_size):
    """Histograms of scores, {d_k: sample}: unscaled on the left, scaled on the right."""
    left, right = subplots(2.7, "ab")
    for axes, samples, title, reach in (
        (left, scores_by_size, "Dot products", 50),
        (right, scaled_by_size, "Divided by $\\sqrt{d_k}$", 5),
    ):
        edges = np.linspace(-reach, reach, 101)
        for (size, sample), (style, shade) in zip(
            samples.items(), (("-", "#9aa0a6"), ("--", "#5f6368"), (":", "#202124"))
        ):
            density, _ = np.histogram(sample, edges, density=True)
            axes.plot(
                (edges[1:] + edges[:-1]) / 2, density, style, color=shade, label=f"$d_k$ = {size}"
            )
        axes.set(title=title, xlabel="dot product" if axes is left else "score", ylim=(0, None))
    left.set_ylabel("density")
    left.legend(loc="upper right", borderpad=0, handlelength=1.5, fontsize=9)


@in_book_style
def broadcast(column, row):
    """A column `(n, 1)` and a row `(1, m)` stretched to tables `(n, m)`, and their product: what
    broadcasting pairs.
    """
    table = column * row
    panels = subplots(1.9, "abc")
    for axes, part, name, title in zip(
        panels,
        (column, row, table),
        ("query", "key", "scores"),
        (f"column {column.shape}", f"row {row.shape}", f"product {table.shape}"),
    ):
        grid(axes, np.broadcast_to(part, table.shape), name, title, digits=2)
        for i, j in np.ndindex(*table.shape):
            if i >= part.shape[0] or j >= part.shape[1]:  # stretched, not in memory
                axes.add_patch(
                    plt.Rectangle(
                        (j - 0.5, i - 0.5),
                        1,
                        1,
                        facecolor="white",
                        alpha=0.6,
                        hatch="...",
                        edgecolor="#bbbbbb",
                        linewidth=0,
                    )
                )
        axes.set(xticks=[], yticks=[])


@in_book_style
def masked_scores(scores, masked, queries, keys):
    """Raw scores `(n_q, n_k)` before and after a mask, as grids of numbers; queries and keys by
    their words.
    """
    for axes, matrix, title in zip(
        subplots(2.0, "ab"), (scores, masked), ("Raw scores", "Masked scores")
    ):
        grid(axes, matrix, "scores", title, digits=2)
        axes.set(xlabel="key", xticklabels=keys, yticklabels=queries)


@in_book_style
def mask_gallery():
    """Eight masks for eight keys: a filled cell may be attended to."""
    i, j = np.arange(8)[:, None], np.arange(8)
    text = np.array([0, 0, 0, 1, 1, 1, 1, 2])
    by_title = {
        "causal": j <= i,
        "window, 2 back": (j <= i) & (j >= i - 2),
        "padding after 5": (j < 5) & (i >= 0),
        "causal, padding": (j <= i) & (j < 5),
        "packed texts": (j <= i) & (text[:, None] == text),
        "prefix of 3": (j <= i) | (j < 3),
        "bottom right": (j <= i + 4)[:4],
        "cross-attention": np.ones((4, 8), bool),
    }
    panels = list(subplots(2.9, "abcd\nefgh"))
    for axes, (title, mask) in zip(panels, by_title.items()):
        axes.imshow(mask, cmap=shades("weights"), vmin=0, vmax=1.4)
        for i, j in np.ndindex(mask.shape):
            axes.add_patch(
                plt.Rectangle(
                    (j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor="#bbbbbb", linewidth=0.6
                )
            )
        axes.set_title(title, fontsize=9)
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
    panels[4].set(xlabel="keys", ylabel="queries")


@in_book_style
def two_tables(by_title, name, labels, across, down):
    """Two tables {title: `(n, n)`} side by side in the colour of a role; `across` and `down` say
    what its axes are.
    """
    panels = list(subplots(2.8, "ab"))
    for axes, (title, matrix) in zip(panels, by_title.items()):
        grid(axes, matrix, name, title, digits=2)
        axes.set(xticklabels=labels, yticklabels=labels, xlabel=across)
        axes.tick_params(labelsize=9)
    panels[0].set_ylabel(down)


@in_book_style
def rotated_query(vectors, angles, weights, labels, shown):
    """Keys `(n_k, 2)` as arrows, and the query, which is the last of them rotated by the angles in
    `shown`; beside them the weights `(n, n_k)` against all `angles`, in degrees.
    """
    plane, lines = subplots(2.6, "ab", width_ratios=[1, 1.5])
    plane.plot(0, 0, "o", color=COLORS["output"], markersize=3)
    for vector, label in zip(vectors, labels):
        ray(plane, vector, "key")
        plane.text(*(1.32 * vector), label, ha="center", va="center", fontsize=9.5)
    x, y = vectors[-1]
    for degrees in shown:
        cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        query = np.array([x * cos - y * sin, x * sin + y * cos])
        ray(plane, 0.75 * query, "query")
        beside = 0.4 * query + 0.5 * np.array([query[1], -query[0]]) / np.hypot(x, y)
        plane.text(*beside, f"{degrees}°", ha="center", va="center", fontsize=9)
    plane.set(xlim=(-3.1, 3.1), ylim=(-2.9, 2.9), xticks=[], yticks=[], aspect="equal")
    plane.set_title("Keys, and two queries")
    for column, label, style in zip(weights.T, labels, ("-", "--", "-.", ":")):
        lines.plot(angles, column, style, color=COLORS["weights"], linewidth=1.6)
        top = column.argmax()
        at = np.clip(angles[top], angles[0] + 22, angles[-1] - 22)
        lines.text(at, column[top] + 0.04, label, ha="center", fontsize=9.5)
    lines.set(
        title="Weights",
        xlabel="rotation by $W_Q$, in degrees",
        xlim=(angles[0], angles[-1]),
        ylim=(0, 1.15),
        xticks=range(0, 361, 60),
        yticks=(0, 0.5, 1),
    )


def ray(axes, to, name):
    """An arrow from the origin."""
    axes.annotate(
        "",
        to,
        (0, 0),
        arrowprops={"arrowstyle": "-|>", "color": COLORS[name], "linewidth": 1.8, "shrinkB": 0},
    )
