"""Positions: waves, rotations, and what lies beyond training."""

import numpy as np
from matplotlib.colors import LinearSegmentedColormap

from attncourse.plot.common import COLORS, in_book_style, shades, spread_out, subplots


@in_book_style
def counter_and_waves(digits, sines, cosines):
    """Positions as rows of binary digits `(n, bits)`, and as rows of sines and cosines `(n,
    pairs)`, pair by pair.
    """
    waves = np.stack([sines, cosines], axis=-1).reshape(len(sines), -1)
    left, right = subplots(2.4, "ab", width_ratios=[digits.shape[1], waves.shape[1]])
    left.imshow(digits, cmap=shades("key"), vmin=0, vmax=1.6, aspect="auto")
    both = LinearSegmentedColormap.from_list("signed", [COLORS["scores"], "#ffffff", COLORS["key"]])
    right.imshow(waves, cmap=both, vmin=-1.6, vmax=1.6, aspect="auto")
    for (p, i), digit in np.ndenumerate(digits):
        left.text(i, p, int(digit), ha="center", va="center", fontsize=9)
    for (p, i), number in np.ndenumerate(waves):
        label = f"{number:.1f}".replace("-0.0", "0.0").replace("-", "−")
        right.text(
            i,
            p,
            label,
            ha="center",
            va="center",
            fontsize=9,
            style="italic" if number < 0 else "normal",
        )
    left.set(
        title="Digits",
        ylabel="position",
        yticks=range(0, len(digits), 2),
        xticks=range(digits.shape[1]),
        xticklabels=[f"{2**i}" for i in range(digits.shape[1])],
        xlabel="worth",
    )
    names = [name for i in range(waves.shape[1] // 2) for name in (f"sin {i}", f"cos {i}")]
    right.set(
        title="Pairs of waves",
        yticks=[],
        xticks=range(waves.shape[1]),
        xticklabels=names,
        xlabel="wave and pair",
    )
    for axes in (left, right):
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, labelsize=9)


@in_book_style
def dials(hands):
    """One pair of features as the plane: {title: (angle of the query, angle of the key)} in
    radians, with the arc between.
    """
    for axes, (title, (query, key)) in zip(subplots(2.2, "abcd"[: len(hands)]), hands.items()):
        around = np.linspace(0, 2 * np.pi, 100)
        axes.plot(np.cos(around), np.sin(around), color="#9aa0a6", linewidth=1)
        between = np.linspace(query, key, 50)
        axes.plot(
            0.45 * np.cos(between), 0.45 * np.sin(between), color=COLORS["scores"], linewidth=3
        )
        for angle, role, length in ((query, "query", 0.95), (key, "key", 0.8)):
            axes.annotate(
                "",
                (length * np.cos(angle), length * np.sin(angle)),
                (0, 0),
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": COLORS[role],
                    "linewidth": 2,
                    "shrinkA": 0,
                    "shrinkB": 0,
                },
            )
            axes.text(
                1.3 * np.cos(angle),
                1.2 * np.sin(angle),
                role[0],
                color=COLORS[role],
                ha="center",
                va="center",
                fontweight="bold",
            )
        axes.set_title(title, loc="center")
        axes.set(xlim=(-1.45, 1.45), ylim=(-1.35, 1.35), aspect="equal")
        axes.axis("off")


@in_book_style
def arcs_seen(seen, asked):
    """Circles, one per pair: the angles up to `seen` {label: radians} as a thick arc, those up to
    `asked` {label: radians} as a thin one.
    """
    for axes, label in zip(subplots(1.4, "abcdef"[: len(seen)]), seen):
        around = np.linspace(0, 2 * np.pi, 100)
        axes.plot(np.cos(around), np.sin(around), color="#dadce0", linewidth=1)
        for stop, width, radius, color in (
            (asked[label], 1.2, 1.18, COLORS["weights"]),
            (seen[label], 5, 1, COLORS["key"]),
        ):
            arc = np.linspace(0, min(stop, 2 * np.pi), 200)
            axes.plot(
                radius * np.cos(arc),
                radius * np.sin(arc),
                color=color,
                linewidth=width,
                solid_capstyle="butt",
            )
        share = min(1, seen[label] / (2 * np.pi))
        axes.text(
            0,
            0,
            f"{share:.0%}" if share >= 0.01 else f"{share:.1%}",
            ha="center",
            va="center",
            fontsize=9.5,
        )
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
    left.text(
        len(scores),
        peak,
        "highest in training",
        ha="right",
        va="bottom",
        fontsize=9,
        color=COLORS["weights"],
    )
    left.set(
        title="Turned: the scores",
        xlabel="distance of the key",
        ylabel="score",
        xlim=(0, len(scores)),
    )
    ends = spread_out([np.median(samples, axis=0)[-1] for samples, _ in weights.values()], 0.11)
    styles = ((COLORS["key"], "-"), (COLORS["query"], "--"), (COLORS["output"], ":"))
    for (label, (samples, places)), (color, style), end in zip(weights.items(), styles, ends):
        right.fill_between(
            places, samples.min(axis=0), samples.max(axis=0), color=color, alpha=0.2, linewidth=0
        )
        right.plot(places, np.median(samples, axis=0), style, color=color)
        right.annotate(
            label,
            (places[-1], end),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=9.5,
            color=color,
            fontweight="bold",
            annotation_clip=False,
        )
    right.set(
        title="Weight on the right key",
        xlabel="position of the query",
        ylim=(-0.03, 1.05),
        xlim=(0, places[-1]),
    )


@in_book_style
def angle_errors(positions, errors):
    """The largest error of an angle, in radians, against the position: {dtype: errors}."""
    (axes,) = subplots(2.7, "a")
    for (label, line), (color, style) in zip(
        errors.items(), ((COLORS["weights"], "-"), (COLORS["key"], "--"), (COLORS["query"], "-."))
    ):
        axes.plot(positions, line, style, color=color)
        axes.annotate(
            label,
            (positions[-1], line[-1]),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=9.5,
            color=color,
            fontweight="bold",
            annotation_clip=False,
        )
    axes.axhline(np.pi, color=COLORS["scores"], linewidth=1)
    axes.text(positions[0], np.pi * 1.2, "half a turn", fontsize=9, color=COLORS["scores"])
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="position",
        ylabel="radians",
        title="The largest error of an angle",
    )
    axes.xaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
