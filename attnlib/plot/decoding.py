"""Decoding: few queries, many keys, and where a cache lies in memory."""

import matplotlib.pyplot as plt
import numpy as np

from attnlib.plot.common import COLORS, in_book_style, shades, subplots


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
