"""What the figures share: colours, style, size, and pieces that several of them use."""

import base64
import functools
import io
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import font_manager
from matplotlib.colors import LinearSegmentedColormap

STYLE = Path(__file__).with_name("attnlib.mplstyle")
FONTS = Path(__file__).with_name("fonts")
COLORS = {
    "query": "#0b5394",
    "key": "#c75000",
    "value": "#00805c",
    "scores": "#5f6368",
    "weights": "#96307f",
    "output": "#1a1a1a",
}


def shades(name):
    """From white to the colour of one role, for heat maps."""
    return LinearSegmentedColormap.from_list(name, ["#ffffff", COLORS[name]])


WIDTH, HALF = 6.0, 3.2  # inches: of the page, and of one column of a slide


def subplots(height, panels, width=WIDTH, **options):
    """Axes by letter, laid out as in `panels`, on a figure of the book's width, in inches.

    All figures are 6 inches wide, so that their letters come out equally large, about as large as
    the text on a page and still legible on a phone. One that stands beside a formula on a slide is
    `HALF` as wide.
    """
    figure, axes = plt.subplot_mosaic(panels, figsize=(width, height), **options)
    # A background over the whole size: otherwise notebooks crop empty margins and enlarge the rest.
    figure.add_artist(
        plt.Rectangle((0, 0), 1, 1, color="white", transform=figure.transFigure, zorder=-1)
    )
    return axes.values()


def show(colors=256):
    """Show the figure; in a notebook with two pixels for one, so that it is sharp on any screen or
    wall.
    """
    if "inline" not in plt.get_backend():
        return plt.show()
    from IPython.core.pylabtools import retina_figure
    from IPython.display import display

    figure = plt.gcf()
    data, size = retina_figure(figure)
    if figure.get_figwidth() < WIDTH:  # a page makes the others about as much smaller
        size = {side: round(0.75 * length) for side, length in size.items()}
    small = base64.b64encode(in_few_colours(data, colors)).decode("ascii")
    display(
        {"image/png": small, "text/plain": repr(figure)}, metadata={"image/png": size}, raw=True
    )
    plt.close(figure)


def in_few_colours(png, colors=256):
    """The picture with a palette of so many colours: with 256 the difference can't be seen, and a
    page of figures loads less than half as much.
    """
    from PIL import Image

    smaller = io.BytesIO()
    options = {"dither": Image.Dither.NONE}
    if colors < 256:  # chosen with more care
        options |= {"method": Image.Quantize.MAXCOVERAGE, "kmeans": 2}
    picture = Image.open(io.BytesIO(png)).convert("RGB").quantize(colors, **options)
    picture.save(smaller, "png", optimize=True)
    return smaller.getvalue()


@functools.cache
def typeface(folder=FONTS):
    """The settings for the typeface that pages and slides have too, in formulas as well; none where
    its files can't be read: then matplotlib's own stays.
    """
    try:
        for style in ("Regular", "Italic", "Bold"):
            font_manager.fontManager.addfont(folder / f"FiraSans-{style}.ttf")
    except (OSError, RuntimeError):
        return {}
    family = "Fira Sans"
    return {
        "font.family": [family, "DejaVu Sans"],  # for the few signs that it lacks
        "mathtext.fontset": "custom",
        "mathtext.fallback": "stixsans",
        **{f"mathtext.{name}": family for name in ("rm", "sf", "cal", "tt")},
        "mathtext.it": f"{family}:italic",
        "mathtext.bf": f"{family}:bold",
        "mathtext.bfit": f"{family}:bold",
    }


def in_book_style(draw, colors=256, **style):
    """Draw under the book's style and show the figure at the end."""

    def drawn(*args, **options):
        with plt.style.context([STYLE, typeface(), style]):
            draw(*args, **options)
            show(colors)

    drawn.__doc__, drawn.__name__ = draw.__doc__, draw.__name__
    return drawn


def for_slides(draw):
    """Draw a figure that stands on no page: as many pixels as a slide needs, and a third fewer
    bytes."""
    return in_book_style(draw, colors=64, **{"figure.dpi": 131})


def box(axes, place, name, title, text):
    """A box of a flow chart at this place, in inches, in the colour of its role."""
    x, y = place
    axes.add_patch(
        plt.Rectangle((x, y), 0.94, 0.56, facecolor="white", edgecolor=COLORS[name], linewidth=2)
    )
    axes.text(
        x + 0.47,
        y + 0.36,
        title,
        ha="center",
        va="center",
        fontsize=10.5,
        fontweight="bold",
        color=COLORS[name],
    )
    axes.text(x + 0.47, y + 0.14, text, ha="center", va="center", fontsize=9)


def arrow(axes, start, stop):
    """From one place to another, in inches."""
    axes.annotate(
        "",
        stop,
        start,
        arrowprops={
            "arrowstyle": "-|>",
            "color": "#444444",
            "linewidth": 1.4,
            "shrinkA": 0,
            "shrinkB": 0,
        },
    )


def bars(axes, heights, name, title, digits, labels):
    """One labelled bar for each key, its height written at its end."""
    positions = np.arange(len(heights))
    drawn = axes.bar(positions, heights, color=COLORS[name], width=0.7)
    axes.bar_label(
        drawn, [f"{height:.{digits}f}".replace("-", "−") for height in heights], padding=2
    )
    axes.axhline(0, color="#444444", linewidth=0.8)
    axes.set(title=title, xticks=positions, xticklabels=labels)
    axes.margins(y=0.15)


def side_by_side(rows, titles, labels):
    """One bar chart for each row of weights `(n_k,)`."""
    for axes, weights, title in zip(subplots(2.4, "abcde"[: len(rows)], sharey=True), rows, titles):
        bars(axes, weights, "weights", title, 2, labels)
        axes.set_ylim(0, 1.12)
        axes.tick_params(axis="x", labelsize=9)


def grid(axes, matrix, name, title, digits=1, outline=()):
    """A matrix as cells, darker for larger numbers, with the numbers in them.

    Cells of -inf are hatched, an exact 0 is written 0; `outline` is a list of slices
    (rows, columns) to draw a frame around.
    """
    finite = np.where(np.isfinite(matrix), matrix, np.nan)
    low, high = np.nanmin(finite), np.nanmax(finite)
    axes.imshow(finite, cmap=shades(name), vmin=low, vmax=high + 0.8 * max(high - low, 1e-9))
    for (i, j), number in np.ndenumerate(matrix):
        label = (
            "−∞"
            if not np.isfinite(number)
            else "0"
            if number == 0
            else f"{round(number, digits) + 0.0:.{digits}f}"
        )
        axes.text(j, i, label.replace("-", "−"), ha="center", va="center", fontsize=9)
        if not np.isfinite(number):
            axes.add_patch(
                plt.Rectangle(
                    (j - 0.5, i - 0.5),
                    1,
                    1,
                    fill=False,
                    hatch="///",
                    edgecolor="#dddddd",
                    linewidth=0,
                )
            )
    for row, column, height, width in outline:
        axes.add_patch(
            plt.Rectangle(
                (column - 0.48, row - 0.48),
                width - 0.04,
                height - 0.04,
                fill=False,
                edgecolor=COLORS[name],
                linewidth=2.5,
            )
        )
    axes.set(title=title, xticks=range(matrix.shape[1]), yticks=range(matrix.shape[0]))
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def cells(axes, corner, shape, name, title, rows=(), columns=()):
    """A matrix as empty cells with its upper left corner at this place; whole `rows` and `columns`
    are filled.
    """
    (x, y), (_, width) = corner, shape
    for i, j in np.ndindex(shape):
        strong = i in rows or j in columns
        axes.add_patch(
            plt.Rectangle(
                (x + j, y - i - 1),
                1,
                1,
                facecolor=COLORS[name],
                alpha=0.75 if strong else 0.1,
                linewidth=0,
            )
        )
        axes.add_patch(
            plt.Rectangle(
                (x + j, y - i - 1), 1, 1, fill=False, edgecolor=COLORS[name], linewidth=0.8
            )
        )
    axes.text(
        x + width / 2,
        y + 0.25,
        title,
        ha="center",
        va="bottom",
        fontweight="bold",
        color=COLORS[name],
    )


def band(axes, x, samples, color, style, label):
    """Median and middle 90 % of samples `(len(x), m)` against x, named in the legend."""
    low, middle, high = np.quantile(samples, (0.05, 0.5, 0.95), axis=-1)
    axes.fill_between(x, low, high, color=color, alpha=0.18, linewidth=0)
    axes.plot(
        x, middle, style, color=color, marker="o" if len(x) < 10 else "", markersize=4, label=label
    )


def spread_out(heights, gap):
    """The same heights in the same order, moved at least `gap` apart."""
    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(len(heights))
    lifted = np.maximum.accumulate(np.asarray(heights)[order] - steps)
    lowered = np.minimum.accumulate((np.asarray(heights)[order] - steps)[::-1])[::-1]
    moved = np.empty(len(heights))
    moved[order] = (lifted + lowered) / 2 + steps
    return moved


def line_style(i, label):
    """The i-th line of a figure: greys told apart by dashes and markers; attnlib's is the bold
    one.
    """
    if label.startswith("attnlib"):
        return {
            "color": COLORS["output"],
            "marker": "o",
            "markersize": 6,
            "linewidth": 3,
            "zorder": 3,
        }
    return {
        "color": ("#767676", "#5f6368", "#3c4043")[i % 3],
        "linestyle": ("-", "--", ":")[i % 3],
        "marker": "sv^DPX*<"[i % 8],
        "markersize": 4.5,
        "linewidth": 1.2,
    }
