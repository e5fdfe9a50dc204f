"""What slides show beside a formula or instead of a printout: grids of numbers, ranges, tiles,
boxes in a row, matrices by their sizes.

They are small so that their letters come out at 20 px on a slide of 1280 x 720.
"""

import re

import matplotlib.pyplot as plt
import numpy as np

from attncourse.plot.common import COLORS, arrow, for_slides, shades, subplots

BAD = "#e8b58f"  # of a number that shouldn't be there


def written(number, digits):
    """A cell's text: numbers in this many digits, words as they are, nothing for a boolean."""
    if isinstance(number, (bool, np.bool_)):
        return ""
    if isinstance(number, str):
        return number
    if not np.isfinite(number):
        return "nan" if np.isnan(number) else "∞" if number > 0 else "−∞"
    if number == 0 or float(number).is_integer() and (digits == 0 or abs(number) >= 1000):
        return f"{number:,.0f}".replace("-", "−")
    return f"{round(number, digits) + 0.0:,.{digits}f}".replace("-", "−")


def cell_colors(matrix, name):
    """Larger numbers are darker; words are white, and nan and infinity have their own colour."""
    numbers = np.array(
        [np.nan if isinstance(x, str) else float(x) for x in matrix.flat], float
    ).reshape(matrix.shape)
    finite = numbers[np.isfinite(numbers)]
    low, high = (finite.min(), finite.max()) if finite.size else (0, 1)
    inside = np.where(np.isfinite(numbers), numbers, low)
    share = 0.55 * (inside - low) / (high - low) if high > low else np.full(numbers.shape, 0.25)
    for place, number in np.ndenumerate(matrix):
        if isinstance(number, str) or number == -np.inf:
            color = "#ffffff"
        elif not np.isfinite(number):
            color = BAD
        else:
            color = shades(name)(share[place])
        yield place, color


@for_slides
def grids(panels, name="scores", digits=1, rows=(), columns=(), lit=(), height=None):
    """Matrices as cells with their numbers, {title: `(rows, columns)`}; cells of -inf are hatched,
    those of nan and inf stand out, and a boolean fills its cell or leaves it empty.

    `rows` and `columns` name the rows and columns of all panels. `name` and `digits` may be tuples
    with one for each panel. `lit` are places (row, column) with a frame.
    """
    panels = {title: np.atleast_2d(matrix) for title, matrix in panels.items()}
    names = (name,) * len(panels) if isinstance(name, str) else name
    digits = (digits,) * len(panels) if isinstance(digits, int) else digits
    tall = max(len(matrix) for matrix in panels.values())
    roomy = 0.42 + min(0.46, 2.0 / tall) * tall + 0.24 * (len(columns) > 0)
    ratios = [max(matrix.shape[1], 2) for matrix in panels.values()]
    drawn = subplots(
        height or min(roomy, 2.7),
        [list("abcdef"[: len(panels)])],
        gridspec_kw={"width_ratios": ratios},
    )
    for place, (axes, (title, matrix), role) in enumerate(zip(drawn, panels.items(), names)):
        for (i, j), color in cell_colors(matrix, role):
            is_hidden = not isinstance(matrix[i, j], str) and matrix[i, j] == -np.inf
            axes.add_patch(
                plt.Rectangle(
                    (j - 0.5, i - 0.5),
                    1,
                    1,
                    facecolor=color,
                    edgecolor="#b5b8bc",
                    linewidth=0.8,
                    hatch="///" if is_hidden else None,
                )
            )
            text = written(matrix[i, j], digits[place])
            axes.text(j, i, text, ha="center", va="center", fontsize=9 if len(text) > 6 else 10)
        n, m = matrix.shape
        for i, j in lit:
            if i >= n or j >= m:
                continue  # a place of a larger panel
            axes.add_patch(
                plt.Rectangle(
                    (j - 0.48, i - 0.46), 0.96, 0.92, fill=False, edgecolor="#1a1a1a", linewidth=2
                )
            )
        axes.set(title=title, xlim=(-0.52, m - 0.48), ylim=(n - 0.48, -0.52))
        axes.set(xticks=range(len(columns)), yticks=range(len(rows) if not place else 0))
        axes.set_xticklabels(columns, fontsize=10)
        axes.set_yticklabels(rows if not place else (), fontsize=10)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)


@for_slides
def ranges(rows, across, form=".4g", marks=(), name="scores", linear=None):
    """A bar from low to high in each row, {label: (low, high)}, with both numbers at its ends.

    `marks` are pairs (place, text): dashed lines across all rows. Where the ends are of different
    sizes, the axis is linear only up to `linear`.
    """
    labels, ends = list(rows), np.array(list(rows.values()), dtype=float)
    height = min(0.8 + 0.36 * len(labels) + 0.2 * bool(marks), 2.7)
    (axes,) = subplots(height, "a")
    if linear:
        axes.set_xscale("symlog", linthresh=linear)
    axes.barh(
        range(len(labels)), ends[:, 1] - ends[:, 0], left=ends[:, 0], height=0.5, color=COLORS[name]
    )
    for row, pair in enumerate(ends):
        is_point = np.isclose(*pair)
        axes.plot(pair[1], row, "o" * int(is_point), color=COLORS[name], markersize=7)
        for end, side, shift in list(zip(pair, ("right", "left"), (-5, 5)))[int(is_point) :]:
            axes.annotate(
                format(end, form).replace("-", "−"),
                (end, row),
                xytext=(shift, 0),
                textcoords="offset points",
                ha=side,
                va="center",
                fontsize=10,
            )
    for place, text in marks:
        axes.axvline(place, color=COLORS["output"], linestyle="--", linewidth=1.2)
        axes.annotate(
            text,
            (place, -0.72),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=9.5,
        )
    axes.use_sticky_edges = False
    axes.margins(x=0.22)
    axes.set(
        xlabel=across,
        yticks=range(len(labels)),
        yticklabels=labels,
        ylim=(len(labels) - 0.4, -0.6 - 0.4 * bool(marks)),
    )
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


@for_slides
def neighbours(panels, form=".6g"):
    """Where a number goes when it is rounded, {title: (number, below, above, kept)}: the line
    between its neighbours, and an arrow to the one that is kept.
    """
    titles = list(panels)
    (axes,) = subplots(0.35 + 0.58 * len(titles), "a")
    for row, numbers in enumerate(panels.values()):
        number, below, above, kept = map(float, numbers)  # differences in float16 would vanish
        wide = (above - below) or 1

        def across(x, below=below, wide=wide):
            return (x - below) / wide

        axes.plot((0, 1), (row, row), color=COLORS["scores"], linewidth=1.5)
        axes.plot((0, 1), (row, row), "|", color=COLORS["scores"], markersize=14)
        for end, side, place in ((below, "right", -0.03), (above, "left", 1.03)):
            is_kept = end == kept
            axes.text(
                place,
                row,
                format(end, form).replace("-", "−"),
                ha=side,
                va="center",
                fontsize=10.5,
                fontweight="bold" if is_kept else "normal",
            )
        if number != kept:
            arrow(axes, (across(number), row), (across(kept), row))
        axes.plot(across(number), row, "o", color=COLORS["weights"], markersize=8)
        axes.text(
            across(number),
            row - 0.3,
            format(number, form).replace("-", "−"),
            ha="center",
            va="center",
            fontsize=10,
            color=COLORS["weights"],
        )
    axes.set(
        xlim=(-0.45, 1.45), ylim=(len(titles) - 0.7, -0.65), yticks=range(len(titles)), xticks=[]
    )
    axes.set_yticklabels(titles, fontsize=10.5)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


@for_slides
def tiles(rows, name="value"):
    """How many pass out of all, {label: (passed, all)}: one tile each, filled if it passed."""
    most = max(count for _, count in rows.values())
    height = min(0.35 + 0.42 * len(rows), 2.6)
    (axes,) = subplots(height, "a")
    for row, (passed, count) in enumerate(rows.values()):
        for place in range(count):
            axes.add_patch(
                plt.Rectangle(
                    (place + 0.08, row - 0.4),
                    0.84,
                    0.8,
                    facecolor=COLORS[name] if place < passed else "#ffffff",
                    edgecolor=COLORS[name],
                    linewidth=1.2,
                )
            )
        axes.text(count + 0.25, row, f"{passed} of {count}", va="center", fontsize=11)
    axes.set(
        xlim=(0, 1.25 * most + 1),
        ylim=(len(rows) - 0.45, -0.55),
        yticks=range(len(rows)),
        xticks=[],
    )
    axes.set_yticklabels(list(rows), fontsize=10.5)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


@for_slides
def stacked(rows, form=",.3g", across="", most=None, height=None):
    """Bars made of parts, {label: [(text, number, role), ...]}, one after another; the sum is
    written at the end unless `form` is empty. A part too narrow for its text has the text above it.
    `most` ends the axis. A role that ends in "?" is drawn empty.
    """
    height = height or min(0.45 + 0.5 * len(rows) + 0.25 * bool(across), 2.7)
    (axes,) = subplots(height, "a")
    totals = [sum(number for _, number, _ in parts) for parts in rows.values()]
    for row, parts in enumerate(rows.values()):
        left = 0
        for text, number, role in parts:
            color = COLORS[role.rstrip("?")]
            is_empty = role.endswith("?")
            axes.barh(
                row,
                number,
                left=left,
                height=0.66,
                facecolor="#ffffff" if is_empty else color,
                edgecolor=color if is_empty else "#ffffff",
                linestyle="--" if is_empty else "-",
                linewidth=1.2,
            )
            is_narrow = number / (most or 1.13 * max(totals)) * 4.6 < (0.085 * len(text))
            axes.text(
                left + number / 2,
                row - 0.44 * is_narrow,
                text,
                ha="center",
                va="center",
                fontsize=9.5,
                color=color if is_empty or is_narrow else "#ffffff",
            )
            left += number
        if form:
            axes.annotate(
                format(left, form),
                (left, row),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize=10.5,
            )
    axes.set(
        xlim=(0, most or 1.13 * max(totals)),
        ylim=(len(rows) - 0.5, -0.6),
        yticks=range(len(rows)),
        xlabel=across,
    )
    axes.set_yticklabels(list(rows), fontsize=10.5)
    axes.set_xticks([] if not across else axes.get_xticks())
    axes.set_xlim(0, most or 1.13 * max(totals))
    axes.tick_params(axis="y", length=0)
    axes.spines[["left"] + ["bottom"] * (not across)].set_visible(False)


@for_slides
def stages(rows, height=None):
    """Boxes in a row with arrows from each to the next, {name of the row: [(role, title, text),
    ...]}; a text may have two lines. A role with "!" at its end is filled.
    """
    most = max(len(boxes) for boxes in rows.values())
    height = height or min(0.15 + 0.95 * len(rows), 2.7)
    (axes,) = subplots(height, "a")
    named = 0.22 * max(len(name) for name in rows) ** 0.75 if any(rows) else 0
    pitch = (6 - named) / most
    wide = min(pitch - 0.28, 1.55)
    for row, (name, boxes) in enumerate(rows.items()):
        y = (len(rows) - row - 0.5) * height / len(rows)
        tall = min(height / len(rows) - 0.16, 0.85)
        axes.text(0.02, y, name, va="center", fontsize=10)
        for place, (role, title, text) in enumerate(boxes):
            is_filled, role = role.endswith("!"), role.rstrip("!")
            x = named + place * pitch + 0.05
            axes.add_patch(
                plt.Rectangle(
                    (x, y - tall / 2),
                    wide,
                    tall,
                    facecolor=shades(role)(0.22) if is_filled else "white",
                    edgecolor=COLORS[role],
                    linewidth=2,
                )
            )
            up = 0.1 + 0.06 * text.count("\n") if text else 0
            axes.text(
                x + wide / 2,
                y + up,
                title,
                ha="center",
                va="center",
                fontsize=10,
                fontweight="bold",
                color=COLORS[role],
            )
            axes.text(
                x + wide / 2,
                y + up - 0.1 if text else y,
                re.sub(r"-(?=\d)", "−", text),
                ha="center",
                va="top",
                fontsize=9,
                linespacing=1.1,
            )
            if place:
                arrow(axes, (x - (pitch - wide), y), (x - 0.02, y))
    axes.set(xlim=(0, 6), ylim=(0, height))
    axes.axis("off")


@for_slides
def sizes(parts, height=1.9):
    """Matrices as rectangles with sides to scale: [(role, name, (text, rows), (text,
    columns)) or a sign between two, ...].
    """
    wide = sum(0.9 if isinstance(part, str) else part[3][1] + 1.3 for part in parts)
    tall = max(part[2][1] for part in parts if not isinstance(part, str))
    (axes,) = subplots(height, "a")
    x = 0
    for part in parts:
        if isinstance(part, str):
            axes.text(x + 0.45, 0, part, ha="center", va="center", fontsize=15)
            x += 0.9
            continue
        role, name, (down, n), (along, m) = part
        x += 0.9
        axes.add_patch(
            plt.Rectangle(
                (x, -n / 2), m, n, facecolor=shades(role)(0.2), edgecolor=COLORS[role], linewidth=2
            )
        )
        axes.text(
            x + m / 2,
            0,
            name,
            ha="center",
            va="center",
            fontsize=12,
            fontweight="bold",
            color=COLORS[role],
        )
        axes.text(x - 0.12, 0, down, ha="right", va="center", fontsize=10.5)
        axes.text(x + m / 2, -n / 2 - 0.12, along, ha="center", va="top", fontsize=10.5)
        x += m + 0.4
    axes.set(xlim=(0, wide), ylim=(-tall / 2 - 0.9, tall / 2 + 0.15), aspect="equal")
    axes.axis("off")
