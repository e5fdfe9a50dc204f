"""Attention over several GPUs: who holds which part, and what is sent."""

import matplotlib.pyplot as plt
import numpy as np

from attncourse.plot.common import COLORS, in_book_style, shades, subplots


@in_book_style
def ring_steps(loads, titles):
    """Squares of rank by step of a ring, with the share of a part that is computed, `(ranks,
    steps)`, and whose keys the rank holds.
    """
    for axes, load, title in zip(subplots(2.8, "ab"), loads, titles):
        size = len(load)
        axes.imshow(load, cmap=shades("scores"), vmin=0, vmax=1.25)
        for (rank, step), share in np.ndenumerate(load):
            axes.text(
                step,
                rank,
                (rank - step) % size,
                ha="center",
                va="center",
                fontsize=9,
                color="white" if share > 0.75 else "#1a1a1a",
            )
        axes.set(title=title, xlabel="step", ylabel="rank", xticks=range(size), yticks=range(size))
        axes.set_xticks(np.arange(size + 1) - 0.5, minor=True)
        axes.set_yticks(np.arange(size + 1) - 0.5, minor=True)
        axes.grid(which="minor", color="#777777", linewidth=0.6)
        axes.tick_params(which="both", length=0)


@in_book_style
def hidden_sending(compute, send, titles, steps=4):
    """The first steps of one rank for several `(compute, send)` times: it goes on when both are
    done; one panel per pair.
    """
    panels = list(
        subplots(0.5 + 0.85 * len(titles), [[letter] for letter in "abcd"[: len(titles)]])
    )
    for axes, computing, sending, title in zip(panels, compute, send, titles):
        for step in range(steps):
            start = step * max(computing, sending)
            axes.add_patch(
                plt.Rectangle(
                    (start, 1.05), computing, 0.8, facecolor=COLORS["weights"], edgecolor="white"
                )
            )
            axes.text(
                start + computing / 2,
                1.45,
                step,
                ha="center",
                va="center",
                color="white",
                fontsize=9,
            )
            if step < steps - 1:
                axes.add_patch(
                    plt.Rectangle(
                        (start, 0.1),
                        sending,
                        0.8,
                        facecolor="white",
                        edgecolor=COLORS["key"],
                        hatch="///",
                    )
                )
                axes.text(
                    start + sending / 2,
                    0.5,
                    step,
                    ha="center",
                    va="center",
                    fontsize=9,
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
                )
        axes.set(ylim=(0, 2), xlim=(0, steps * max(computing, sending)), xticks=[])
        axes.set_yticks([1.45, 0.5], ["compute", "send"])
        axes.tick_params(length=0)
        axes.set_title(title, loc="left", fontsize=10)
        axes.spines[["top", "right", "left"]].set_visible(False)
    panels[-1].set_xlabel("time, in each panel on a scale of its own")


@in_book_style
def heads_for_positions(owners, titles):
    """Which rank holds which head of which block of positions: `(heads, blocks)` numbers of ranks,
    one panel per way of splitting.
    """
    for axes, owner, title in zip(subplots(1.9, "ab"), owners, titles):
        for (head, block), rank in np.ndenumerate(owner):
            axes.add_patch(
                plt.Rectangle(
                    (block - 0.5, head - 0.5),
                    1,
                    1,
                    edgecolor="white",
                    linewidth=1.5,
                    facecolor=plt.get_cmap("Greys")(0.12 + 0.2 * rank),
                )
            )
            axes.text(
                block,
                head,
                rank,
                ha="center",
                va="center",
                color="white" if rank > 1 else "#1a1a1a",
                fontweight="bold",
            )
        axes.set(
            title=title,
            xlim=(-0.5, owner.shape[1] - 0.5),
            ylim=(owner.shape[0] - 0.5, -0.5),
            ylabel="head",
            xlabel="block of positions",
            xticks=range(owner.shape[1]),
            yticks=range(owner.shape[0]),
        )
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)


@in_book_style
def error_by_ranks(ranks, errors, predicted):
    """Errors {way: `(ranks, seeds)`} of merged parts against the number of ranks, with what theory
    predicts {way: `(ranks,)`}.
    """
    (axes,) = subplots(2.6, "a")
    styles = zip(("-", "--", ":"), "os^", (COLORS["output"], COLORS["scores"], COLORS["weights"]))
    for (way, found), (style, marker, color) in zip(errors.items(), styles):
        axes.plot(ranks, predicted[way], linestyle=style, color=color, linewidth=1.2)
        axes.vlines(
            ranks, found.min(axis=-1), found.max(axis=-1), color=color, linewidth=3, alpha=0.4
        )
        axes.plot(ranks, np.median(found, axis=-1), linestyle="", marker=marker, color=color)
        axes.annotate(
            way,
            (ranks[-1], np.median(found[-1])),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            fontsize=9.5,
            color=color,
        )
    axes.set(
        xscale="log",
        xlabel="ranks",
        ylabel="relative error",
        ylim=(0, None),
        xlim=(ranks[0] * 0.9, ranks[-1] * 3.6),
    )
    axes.set_xticks(ranks, [str(n) for n in ranks])
    axes.minorticks_off()
