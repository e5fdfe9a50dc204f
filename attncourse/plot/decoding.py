"""Decoding: few queries, many keys, and where the cache is in memory."""

import matplotlib.pyplot as plt
import numpy as np

from attncourse.plot.common import COLORS, in_book_style, shades, subplots


@in_book_style
def time_by_queries(queries, times, bends):
    """Times, in units of the time for one query, against the number of queries: {label: `(n,)`};
    {label: where the line bends}.
    """
    (axes,) = subplots(2.8, "a")
    for (label, line), style in zip(times.items(), ("-", "--", ":")):
        axes.plot(queries, line, style, color=COLORS["query"], linewidth=2)
        axes.plot(bends[label], 1, "o", color=COLORS["query"], markeredgecolor="white")
        axes.annotate(
            f"{bends[label]:.0f}",
            (bends[label], 1),
            xytext=(0, -14),
            textcoords="offset points",
            ha="center",
        )
        axes.annotate(
            label,
            (queries[-1], line[-1]),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=9.5,
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xticks(queries, [f"{n:,}" for n in queries])
    ticks = 2.0 ** np.arange(0, 1 + np.log2(max(line[-1] for line in times.values())), 2)
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set(
        xlim=(queries[0] * 0.8, queries[-1] * 7),
        ylim=(0.25, ticks[-1] * 2),
        xlabel="queries at once",
        ylabel="time of one query",
        title="The least time of a step",
    )


@in_book_style
def processors_at_work(loads, titles):
    """How many programs each processor gets, `(processors,)`, one panel per plan: white none, light
    one, dark two.
    """
    for axes, load, title in zip(subplots(2.75, "abcde"[: len(loads)]), loads, titles):
        columns = 11
        for i, count in enumerate(load):
            axes.add_patch(
                plt.Rectangle(
                    (i % columns + 0.06, i // columns + 0.06),
                    0.88,
                    0.88,
                    edgecolor=COLORS["scores"],
                    facecolor=shades("key")((0.0, 0.35, 1.0)[min(count, 2)]),
                    linewidth=0.6,
                )
            )
        axes.set(xlim=(0, columns), ylim=(-(-len(load) // columns), 0), title=title, aspect="equal")
        axes.axis("off")


@in_book_style
def rungs(names, bytes_read, times):
    """Two bar charts, a bar for each rung: bytes read in units of the cache, and the least possible
    time in units of the best one.
    """
    left, right = subplots(0.9 + 0.36 * len(names), "ab", sharey=True)
    for axes, lengths, name, title in (
        (left, bytes_read, "key", "Bytes, in caches"),
        (right, times, "scores", "Time predicted"),
    ):
        axes.barh(range(len(names)), lengths, color=COLORS[name], height=0.6)
        for place, length in enumerate(lengths):
            axes.annotate(
                f"{length:.3g}",
                (length, place),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
            )
        axes.set(title=title, yticks=range(len(names)), yticklabels=names)
        axes.margins(x=0.22)
        axes.tick_params(axis="y", length=0)
    left.set_xlabel("times the cache")
    right.set_xlabel("times the least")
    left.invert_yaxis()


@in_book_style
def pages_in_memory(tables, lengths, page_size, n_pages):
    """Sequences as rows of blocks, {name: its pages}, and the memory's pages below; {name:
    positions} fill them.
    """
    (axes,) = subplots(2.3, "a")
    colors = dict(zip(tables, ("key", "query", "value")))
    owners = {}
    for row, (name, table) in enumerate(tables.items()):
        y = 1.3 * (len(tables) - row)
        axes.text(
            -0.25,
            y + 0.35,
            f"text {name}",
            ha="right",
            va="center",
            fontweight="bold",
            color=COLORS[colors[name]],
        )
        for block, page in enumerate(table):
            filled = min(page_size, lengths[name] - block * page_size)
            page_box(axes, 1.25 * block, y, page_size, [(filled, colors[name])])
            axes.text(
                1.25 * block + 0.5,
                y - 0.08,
                f"{name}{block} on {page}",
                ha="center",
                va="top",
                fontsize=9,
            )
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
    """A page at this place, a cell for each position; `owners` are pairs (positions filled, role),
    one below another.
    """
    height = 0.7 / len(owners)
    for k, (filled, name) in enumerate(owners):
        for i in range(page_size):
            axes.add_patch(
                plt.Rectangle(
                    (x + i / page_size, y + 0.7 - (k + 1) * height),
                    1 / page_size,
                    height,
                    linewidth=0.8,
                    edgecolor=COLORS[name],
                    facecolor=shades(name)(0.55 if i < filled else 0.0),
                )
            )
    axes.add_patch(
        plt.Rectangle((x, y), 1, 0.7, fill=False, edgecolor=COLORS["output"], linewidth=1.4)
    )


@in_book_style
def next_words(panels, most=18):
    """The largest weights of the next word, a panel for each text, {title: (weights from the
    largest on, how many are kept)}: kept ones dark, the others light.
    """
    for axes, (title, (weights, kept)) in zip(subplots(2.0, "abcd"[: len(panels)]), panels.items()):
        shown = np.asarray(weights)[:most]
        tones = [shades("weights")(0.95 if i < kept else 0.25) for i in range(len(shown))]
        axes.bar(range(len(shown)), shown, color=tones, width=0.8)
        axes.set(title=title, xticks=[], ylim=(0, 1.18 * shown[0]))
        axes.set_xlabel(f"{kept} word{'s' if kept > 1 else ''} kept", fontsize=10)
        axes.bar_label(
            axes.containers[0], [f"{shown[0]:.2f}"] + [""] * (len(shown) - 1), padding=2, fontsize=9
        )
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)


@in_book_style
def draft_and_target(labels, target, draft):
    """What a draft proposes and what of it is accepted; what is accepted, and what is missing."""
    accepted = np.minimum(target, draft)
    left, right = subplots(2.2, "ab", sharey=True)
    for axes, above, title, color, said in (
        (left, draft - accepted, "Proposed", "scores", "rejected"),
        (right, target - accepted, "Drawn in the end", "query", "drawn instead"),
    ):
        axes.bar(labels, accepted, color=COLORS["weights"], width=0.62, label="accepted")
        some = above > 0  # an empty bar would still have an edge
        axes.bar(
            np.arange(len(labels))[some],
            above[some],
            bottom=accepted[some],
            width=0.62,
            color=shades(color)(0.25),
            edgecolor=COLORS[color],
            hatch="//",
            label=said,
        )
        for place, whole in enumerate(accepted + above):
            axes.annotate(
                f"{whole:.2f}",
                (place, whole),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
                fontsize=9.5,
            )
        axes.set(title=title, ylim=(0, 1.15 * max(target.max(), draft.max())), yticks=[])
        axes.spines["left"].set_visible(False)
        axes.legend(loc="upper left", frameon=False, fontsize=9)


@in_book_style
def below_the_bound(bounds, errors, groups, across, up):
    """Measured errors against their bounds, both logarithmic, a marker for each group; a line where
    the two are equal.
    """
    (axes,) = subplots(2.75, "a")
    low, high = 0.7 * errors.min(), 1.5 * bounds.max()
    axes.plot([low, high], [low, high], color=COLORS["scores"], linestyle="--", linewidth=1)
    axes.annotate(
        "the bound",
        (high / 2.2, high / 2.2),
        xytext=(-6, 4),
        textcoords="offset points",
        ha="right",
        fontsize=9.5,
    )
    for label, marker, role in zip(
        dict.fromkeys(groups), "osD^v", ("query", "key", "value", "weights", "output")
    ):
        of = np.array(groups) == label
        axes.plot(bounds[of], errors[of], marker, color=COLORS[role], markersize=6, label=label)
    axes.set(xscale="log", yscale="log", xlabel=across, ylabel=up)
    axes.set(xlim=(0.8 * bounds.min(), high), ylim=(low, high))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(plt.FixedLocator([0.01, 0.03, 0.1, 0.3, 1]))
        axis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9.5)


@in_book_style
def latency_and_throughput(texts, milliseconds, words):
    """Total words per second against the time of one step, a point for each number of texts."""
    (axes,) = subplots(2.6, "a")
    axes.plot(milliseconds, words, "-o", color=COLORS["query"], markersize=5)
    for count, x, y in zip(texts, milliseconds, words):
        axes.annotate(
            f"{count} text{'s' if count > 1 else ''}",
            (x, y),
            xytext=(8, -2),
            textcoords="offset points",
            va="center",
            fontsize=9.5,
        )
    axes.set(
        xlabel="milliseconds per step: what each text waits for its next word",
        ylabel="words per second, in all",
        xlim=(0, 1.3 * max(milliseconds)),
        ylim=(0, 1.1 * max(words)),
    )
    axes.yaxis.set_major_formatter("{x:,.0f}")
