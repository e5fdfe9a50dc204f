"""Figures of counts and measurements: bars with their numbers, curves with their spread, rows
before and after.
"""

import re

import numpy as np

from attncourse.plot.common import COLORS, bars, in_book_style, spread_out, subplots


@in_book_style
def amounts(panels, form=",.3g", name="scores", one_scale=False, level=None):
    """Bars with their numbers in this form, {title: {label: number}}: a panel for each title, with
    its own scale or one for all.

    `name` is the role of all panels, or a tuple with one for each. `level` is a pair (number,
    text): a dashed line across the bars.
    """
    names = (name,) * len(panels) if isinstance(name, str) else name
    labels = list(next(iter(panels.values())))
    height = min(0.75 + 0.32 * len(labels), 2.75)  # more would be made smaller on a slide
    for axes, (title, numbers), role in zip(
        subplots(height, "abc"[: len(panels)], sharey=True, sharex=one_scale), panels.items(), names
    ):
        drawn = axes.barh(
            range(len(labels)),
            [numbers[label] for label in labels],
            color=COLORS[role],
            height=0.62,
        )
        written = [format(numbers[label], form).replace("-", "−") for label in labels]
        axes.bar_label(drawn, written, padding=3, fontsize=10)
        axes.axvline(0, color="#444444", linewidth=0.8)
        if level:
            axes.axvline(level[0], color=COLORS["output"], linestyle="--", linewidth=1.2)
            axes.annotate(
                level[1],
                (level[0], -0.42),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize=9.5,
            )
        axes.margins(x=0.45 if min(numbers.values()) < 0 else 0.3)
        axes.set(
            title=title,
            xticks=[],
            yticks=range(len(labels)),
            yticklabels=labels,
            ylim=(len(labels) - 0.5, -0.5),
        )
        axes.tick_params(axis="y", length=0)
        axes.spines[["left", "bottom"]].set_visible(False)


@in_book_style
def spread_against(
    x, curves, across, up, log="", level=None, names=("output", "weights", "key", "query")
):
    """Curves over x, {label: `(n,)`, or low, middle and high `(3, n)`}, named at their ends; `log`
    is "", "x", "y" or "xy".

    If x falls, so does its axis. `level` is a pair (height, text): a dashed line to compare
    with. `names` are the roles of the curves.
    """
    (axes,) = subplots(2.75, "a")
    looks, ends = (("-", "o"), ("--", "s"), (":", "^"), ("-.", "D")), []
    for (label, numbers), (style, marker), color in zip(
        curves.items(), looks, map(COLORS.get, names)
    ):
        low, middle, high = numbers if np.ndim(numbers) == 2 else (numbers,) * 3
        axes.fill_between(x, low, high, color=color, alpha=0.16, linewidth=0)
        axes.plot(
            x, middle, style, marker=marker if len(x) < 12 else "", markersize=4.5, color=color
        )
        ends.append((label, middle[-1], color))
    if level:
        axes.axhline(level[0], color=COLORS["scores"], linestyle="--", linewidth=1)
        middles = np.array([line.get_ydata() for line in axes.lines[:-1]])
        left, right = (abs(half - level[0]).min() for half in np.array_split(middles, 2, axis=1))
        side, place = ("left", 0.02) if left >= right else ("right", 0.98)  # where no curve is near
        axes.annotate(
            level[1],
            (place, level[0]),
            xycoords=("axes fraction", "data"),
            xytext=(0, 3),
            ha=side,
            textcoords="offset points",
            fontsize=9,
        )
    axes.set(xlabel=across, ylabel=up)
    on_ticks(axes, x, log)
    if x[0] > x[-1]:  # a step that shrinks does so to the right
        axes.invert_xaxis()
    name_ends(axes, x[-1], ends)


def on_ticks(axes, x, log):
    """The scales; if there are few x, each is a tick on a logarithmic scale."""
    if "x" in log and min(x) > 0:
        axes.set_xscale("log")
    elif "x" in log:
        axes.set_xscale("symlog", linthresh=1)
        axes.set_xlim(min(x) - 0.2, 1.2 * max(x))
    if "y" in log:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:,g}")
    if len(x) < 12:
        axes.set_xticks(x, [f"{place:,g}" for place in x])
    axes.minorticks_off()


def name_ends(axes, x, ends):
    """Each curve's name beside its end, moved apart where two would overlap."""
    to_points, back = axes.transData.transform, axes.transData.inverted().transform
    heights = [to_points((x, height))[1] for _, height, _ in ends]
    tall = axes.transAxes.transform((0, 1))[1] - axes.transAxes.transform((0, 0))[1]
    for (label, height, color), moved in zip(ends, spread_out(heights, tall / 12)):
        place = back((to_points((x, height))[0], moved))[1]
        axes.annotate(
            label,
            (x, place),
            xytext=(9, 0),
            textcoords="offset points",
            va="center",
            color=color,
            fontsize=9.5,
            annotation_clip=False,
        )


@in_book_style
def before_and_after(rows, labels, names):
    """Weights `(n_k,)` before and after a change, {title: (before, after)}, as pairs of bars;
    `names` are those of the two. In a title, 2^s has its exponent above the line.
    """
    panels = list(subplots(2.6, "abcd"[: len(rows)], sharey=True))
    for axes, (title, pair) in zip(panels, rows.items()):
        for shift, row, look, name in zip(
            (-0.2, 0.2),
            pair,
            (
                {"color": COLORS["weights"]},
                {"facecolor": "white", "edgecolor": COLORS["weights"], "hatch": "////"},
            ),
            names,
        ):
            axes.bar(np.arange(len(row)) + shift, row, width=0.38, label=name, **look)
        title = re.sub(r"(\w)\^(\w)", r"$\\mathregular{\1^{\2}}$", title)
        axes.set(title=title, xticks=range(len(labels)), ylim=(0, 1))
        axes.set_xticklabels(labels, rotation=45, ha="right", rotation_mode="anchor", fontsize=9)
    panels[0].set_ylabel("weight")
    panels[-1].legend(loc="upper right", fontsize=9, borderpad=0, handlelength=1.2)


@in_book_style
def bar_panels(panels, labels, names, digits=3, shared=True):
    """Rows of numbers `(n,)` over the same labels, {title: row}: a panel of bars each, in the
    colours of the roles `names`.
    """
    drawn = list(subplots(2.1, "abcd"[: len(panels)], sharey=shared))
    for axes, (title, row), name in zip(drawn, panels.items(), names):
        whole = np.array_equal(row, np.round(row))
        bars(axes, row, name, title, 0 if whole else digits, labels)
        axes.tick_params(axis="x", labelsize=9)
    for axes in drawn if shared else ():
        axes.margins(y=0.22)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)


@in_book_style
def quantile_dots(series, across, log=None, digits=2, marks=None, between=(0.05, 0.95)):
    """Samples as dots at their medians, on lines between these quantiles, {series: {label:
    sample}}; one row per label.

    `marks` {label: number} are crosses to compare with, named by the key "name". `log` is where a
    logarithmic axis begins.
    """
    labels = list(next(iter(series.values())))
    marks = dict(marks or {})
    named = marks.pop("name", "")
    gap = 0.19 * (len(series) - 1)
    (axes,) = subplots(min(0.8 + (0.3 + gap) * len(labels), 2.6), "a")
    looks = (("o", COLORS["query"]), ("s", COLORS["scores"]), ("^", COLORS["weights"]))
    for (name, samples), (marker, color), shift in zip(
        series.items(), looks, np.linspace(-gap, gap, len(series)) if gap else (0,)
    ):
        rows = np.arange(len(labels)) + shift
        low, middle, high = np.transpose(
            [np.quantile(samples[label], (between[0], 0.5, between[1])) for label in labels]
        )
        axes.hlines(rows, low, high, color=color, linewidth=3, alpha=0.4)
        axes.plot(middle, rows, marker, color=color, markersize=7, label=name)
        for row, place, end in zip(rows, middle, high):
            text = f"{place:.{digits}f}".replace("-", "−")
            axes.annotate(
                text,
                (end, row),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                fontsize=9.5,
                color=color,
            )
    if marks:
        axes.plot(
            list(marks.values()),
            [labels.index(label) for label in marks],
            "x",
            color=COLORS["output"],
            markersize=8,
            markeredgewidth=2,
            label=named,
        )
    axes.set(
        xlabel=across,
        yticks=range(len(labels)),
        yticklabels=labels,
        ylim=(len(labels) - 0.4, -0.6),
        xscale="log" if log else "linear",
    )
    axes.margins(x=0.1)
    if log:
        axes.set_xlim(left=log)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.minorticks_off()
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color="#e0e0e0", linewidth=0.8)
    if len(series) > 1 or named:
        count = len(series) + bool(named)
        axes.legend(
            loc="lower left", bbox_to_anchor=(0, 1.0), ncols=count, fontsize=9.5, borderaxespad=0
        )
