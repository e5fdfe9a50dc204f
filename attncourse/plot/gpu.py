"""Kernels on one GPU: memories, tiles, rooflines, programs."""

import matplotlib.pyplot as plt
import numpy as np

from attncourse.plot.common import (
    COLORS,
    HALF,
    arrow,
    cells,
    grid,
    in_book_style,
    line_style,
    shades,
    subplots,
)


@in_book_style
def memories(gpu, cable):
    """The host, and a GPU from its memory to the registers of one processor; bandwidths in GB/s,
    sizes of NVIDIA's Hopper.
    """
    (axes,) = subplots(2.6, "a")
    axes.set(xlim=(0, 6), ylim=(0, 2.6))
    axes.axis("off")
    for left, bottom, width, height, title in (
        (0.03, 0.1, 0.98, 2.2, "host"),
        (1.72, 0.1, 4.25, 2.2, "GPU"),
        (4.2, 0.2, 1.68, 1.7, "1 of 132 processors"),
    ):
        axes.add_patch(
            plt.Rectangle((left, bottom), width, height, facecolor="#f3f4f5", edgecolor="#9aa0a6")
        )
        axes.text(left + 0.04, bottom + height + 0.05, title, fontsize=10, fontweight="bold")
    for start, stop, middle, width, speed in (
        (0.94, 1.82, 1.36, 1, cable),
        (2.64, 3.2, 2.92, 12, gpu),
        (3.98, 4.3, 0, 12, 0),
    ):
        axes.plot(
            [start, stop],
            [0.6, 0.6],
            color=COLORS["scores"],
            linewidth=width,
            solid_capstyle="butt",
        )
        if speed:
            axes.text(
                middle,
                0.73,
                f"{speed:,}\nGB/s",
                ha="center",
                va="bottom",
                fontsize=9.5,
                fontweight="bold",
            )
    axes.plot(
        [5.04, 5.04], [0.83, 1.27], color=COLORS["scores"], linewidth=12, solid_capstyle="butt"
    )
    for x, y, width, height, text in (
        (0.1, 1.4, 0.84, 0.6, "Python\nruns here"),
        (0.1, 0.3, 0.84, 0.6, "memory"),
        (1.82, 0.3, 0.82, 0.6, "memory\n141 GB"),
        (3.2, 0.3, 0.78, 0.6, "cache\n50 MB"),
        (4.3, 0.3, 1.48, 0.5, "shared memory\n228 KiB"),
        (4.3, 1.3, 1.48, 0.5, "registers\n256 KiB"),
    ):
        axes.add_patch(
            plt.Rectangle(
                (x, y), width, height, facecolor="white", edgecolor=COLORS["output"], linewidth=2
            )
        )
        axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=9.5)


@in_book_style
def queue_of_jobs(jobs=3):
    """What Python and the GPU do while Python launches jobs: it has asked for all of them before
    the first is done.
    """
    (axes,) = subplots(1.9, "a")
    for i in range(jobs):
        for row, start, length, text in (
            (1, 0.36 * i, 0.3, "ask"),
            (0, 0.36 + 1.5 * i, 1.44, f"job {i + 1}"),
        ):
            axes.add_patch(
                plt.Rectangle(
                    (start, row),
                    length,
                    0.56,
                    facecolor="#f3f4f5",
                    edgecolor=COLORS["output"],
                    linewidth=2,
                )
            )
            axes.text(start + length / 2, row + 0.28, text, ha="center", va="center", fontsize=9)
    asked, done = 0.36 * jobs - 0.03, 0.33 + 1.5 * jobs
    axes.set(
        xlim=(-0.05, done + 0.7),
        ylim=(-0.25, 2.15),
        yticks=(0.28, 1.28),
        yticklabels=("GPU", "Python"),
        xticks=[],
        xlabel="time",
    )
    for x, text in ((asked, "the clock stops here: all is asked"), (done, "all is done")):
        axes.axvline(x, color=COLORS["output"], linestyle=":", linewidth=1.2)
        axes.text(
            x + (0.06 if x < done else -0.06),
            1.86,
            text,
            fontsize=9,
            ha="left" if x < done else "right",
        )
    axes.tick_params(length=0)


@in_book_style
def roofline(peak_flops, bandwidth, intensities, height=2.7):
    """The most operations per second that a device allows, against operations per byte moved.

    peak_flops in operations per second, bandwidth in bytes per second; `intensities` {name:

    operations
    for each byte} are marked where they meet the roof: limits, not measurements.
    """
    (axes,) = subplots(height, "a")
    ridge = peak_flops / bandwidth
    intensity = np.array([0.3, ridge, 30 * ridge])
    axes.loglog(
        intensity, np.minimum(peak_flops, intensity * bandwidth) / 1e12, color=COLORS["scores"]
    )
    axes.axvline(ridge, color=COLORS["scores"], linestyle=":", linewidth=1)
    for name, x in intensities.items():
        y = min(peak_flops, x * bandwidth) / 1e12
        axes.plot(x, y, "o", color=COLORS["output"])
        is_flat = x > 0.9 * ridge
        axes.annotate(
            name,
            (x, y),
            xytext=(0, 9) if is_flat else (-8, 4),
            textcoords="offset points",
            fontsize=9,
            ha="center" if is_flat else "right",
            va="bottom",
        )
    axes.annotate(
        "memory is the limit", (ridge / 1.2, 0.5), ha="right", fontsize=9, color=COLORS["scores"]
    )
    axes.annotate("arithmetic is", (ridge * 1.2, 0.5), fontsize=9, color=COLORS["scores"])
    axes.set(
        xlabel="operations for each byte",
        ylabel="TFLOP/s",
        ylim=(0.35, (3 if height > 2.5 else 20) * peak_flops / 1e12),
        title="The most that the device allows",
    )
    axes.minorticks_off()


@in_book_style
def kernel_blocks(loaded, weights):
    """What each program of a row kernel loads and stores, both `(rows, block)`; NaN where nothing
    is stored.
    """
    left, right = subplots(2.1, "ab")
    grid(left, loaded, "scores", "What the programs load")
    grid(right, np.where(np.isnan(weights), 0, weights), "weights", "What they store", digits=2)
    for text in right.texts:
        column, row = map(round, text.get_position())
        if np.isnan(weights[row, column]):
            text.set_text("")
            right.add_patch(
                plt.Rectangle(
                    (column - 0.5, row - 0.5),
                    1,
                    1,
                    facecolor="white",
                    hatch="///",
                    edgecolor="#dddddd",
                    linewidth=0,
                )
            )
    for axes in (left, right):
        axes.set(xlabel="column of the block", ylabel="program")


@in_book_style
def three_limits(titles, limits):
    """For each title the shortest times in microseconds that memory, products and exponentials
    allow; the longest of them is dark.
    """
    names = ("memory", "products", "exponentials")
    longest = max(map(max, limits))
    for axes, title, times in zip(subplots(1.9, "abc"[: len(titles)], sharey=True), titles, limits):
        for i, time in enumerate(times):
            strong = time > 0.98 * max(times)
            axes.barh(i, time, color=COLORS["scores"], alpha=1 if strong else 0.35, height=0.62)
            axes.text(
                time + 0.03 * longest,
                i,
                f"{time:.1f}",
                va="center",
                fontsize=9.5,
                fontweight="bold" if strong else "normal",
            )
        axes.set(
            title=title,
            xlim=(0, 1.3 * longest),
            ylim=(2.6, -0.6),
            xlabel="microseconds",
            yticks=range(3),
            yticklabels=names,
        )
        axes.tick_params(axis="y", length=0)


@in_book_style
def tile_in_memory(matrix, tile, strides):
    """A matrix of addresses with the entries of a tile filled, and below it the memory as one row;
    both hold addresses.
    """
    rows, columns = matrix.shape
    inside, end = np.isin(matrix, tile), rows * strides[0]
    (axes,) = subplots(2.5, "a")
    left = (end - 2.4 * columns) / 2
    for (i, j), address in np.ndenumerate(matrix):
        axes.add_patch(
            plt.Rectangle(
                (left + 2.4 * j, -1.5 * i),
                2.4,
                1.5,
                edgecolor="white",
                linewidth=1.2,
                facecolor=COLORS["query"] if inside[i, j] else "#e8eaed",
            )
        )
        axes.text(
            left + 2.4 * j + 1.2,
            -1.5 * i + 0.72,
            address,
            ha="center",
            va="center",
            fontsize=9.5,
            color="white" if inside[i, j] else "#444444",
        )
    below = -1.5 * rows - 1.6
    for address in range(end):
        used = address in matrix
        axes.add_patch(
            plt.Rectangle(
                (address, below),
                1,
                1.5,
                edgecolor="white" if used else "#dddddd",
                linewidth=0.8,
                facecolor=COLORS["query"] if address in tile else "#e8eaed" if used else "white",
            )
        )
    for address in range(0, end, strides[0]):
        axes.text(address + 0.5, below - 0.3, address, ha="center", va="top", fontsize=9.5)
    axes.text(left - 0.5, 0.72, "the matrix", ha="right", va="center", fontsize=10)
    axes.text(0, below + 1.75, "the memory", ha="left", va="bottom", fontsize=10)
    axes.set(xlim=(-0.5, end + 0.5), ylim=(below - 1.7, 1.8))
    axes.axis("off")


@in_book_style
def product_tiles(tiles, place):
    """Which tiles one program reads and writes: `tiles` of (m, k, n), and the place (I, J) of its
    tile in the output.
    """
    m, k, n = tiles
    (axes,) = subplots(2.8, "a")
    right = k + 1.6
    cells(axes, (0, m), (m, k), "query", "A", rows=[place[0]])
    cells(axes, (right, m + k + 1.3), (k, n), "key", "B", columns=[place[1]])
    cells(axes, (right, m), (m, n), "output", "C")
    axes.add_patch(
        plt.Rectangle(
            (right + place[1], m - place[0] - 1), 1, 1, facecolor=COLORS["output"], alpha=0.75
        )
    )
    for step in range(k):
        for x, y, name in (
            (step, m - place[0] - 1, "query"),
            (right + place[1], m + k + 0.3 - step, "key"),
        ):
            axes.add_patch(plt.Rectangle((x + 0.06, y + 0.06), 0.88, 0.88, facecolor=COLORS[name]))
            axes.text(x + 0.5, y + 0.5, step, ha="center", va="center", color="white", fontsize=10)
    axes.text(
        right + n + 0.3, m - place[0] - 0.5, "one program's\ntile of C", va="center", fontsize=9.5
    )
    axes.text(
        right + n + 0.3, m + k + 0.3, "numbers: the steps\nof its loop", va="center", fontsize=9.5
    )
    axes.text(
        k / 2, -0.25, "tiles of BLOCK rows\nand BLOCK columns", ha="center", va="top", fontsize=9.5
    )
    axes.set(xlim=(-3.5, right + n + 5.5), ylim=(-1.6, m + k + 2.3), aspect="equal")
    axes.axis("off")


ROW = 0.27  # inches: a row of cells in `touched`
MOST = 4  # outside places that are drawn, in a row below the tensor


def touched(seen):
    """Say what each program of a kernel read and wrote, as `bench.touched` saw it, and draw it if
    there is something to see.
    """
    print(seen)
    if seen.touches:
        touched_places(seen.touches)


@in_book_style
def touched_places(touches):
    """The places of each tensor, with the number of the program that touched them.

    A place that was touched more than once shows how often, a missed one is hatched, and places
    outside are below the tensor.
    """
    programs = sorted({p for touch in touches for who in touch.programs.values() for p in who})
    n_axes = max([1, *(1 + axis for axis in range(3) for p in programs if p[axis])])
    order = {p: i / max(1, len(programs) - 1) for i, p in enumerate(programs)}
    grids = [_rows_of_cells(touch) for touch in touches]
    widest = max(8, *(len(row) for rows in grids for row in rows))
    total = sum(len(rows) + 1.2 for rows in grids)
    (axes,) = subplots(ROW * total + 0.15, "a")
    top = 0.0
    for touch, rows in zip(touches, grids):
        title = f"{touch.name}, {'written' if touch.is_store else 'read'} by program"
        axes.text(0, top + 0.6, title, va="center", fontsize=10)
        for i, row in enumerate(rows):
            for j, place in enumerate(row):
                _cell(axes, (j, top + 1 + i), touch, place, order, n_axes)
        if touch.outside:
            said = f"outside: {touch.listed(touch.outside, MOST)}"
            axes.text(len(rows[-1]) + 0.15, top + len(rows) + 0.5, said, va="center", fontsize=9.5)
        top += len(rows) + 1.2
    axes.set(xlim=(-0.05, widest + 0.05), ylim=(total - 0.1, 0))
    axes.axis("off")


def _rows_of_cells(touch):
    """The places of a tensor row by row, and those outside in a row of their own."""
    places = np.arange(touch.size).reshape(-1, touch.shape[-1] if touch.shape else 1)
    outside = touch.outside
    return [*places.tolist(), *([outside[:MOST]] if outside else [])]


def _cell(axes, corner, touch, place, order, n_axes):
    who = touch.programs.get(place, [])
    inside = 0 <= place < touch.size
    shade = 0.12 + 0.6 * order[who[0]] if len(set(who)) == 1 else 0.0
    x, y = corner
    axes.add_patch(
        plt.Rectangle(
            (x + 0.03, y + 0.04),
            0.94,
            0.92,
            facecolor=shades("query")(shade) if who else "white",
            edgecolor=COLORS["key"] if not inside else "#9aa0a6",
            linewidth=1.8 if not inside else 0.8,
            linestyle="-" if inside else "--",
            hatch=None if who else "////",
        )
    )
    text = ",".join(map(str, who[0][:n_axes])) if len(who) == 1 else f"{len(who)}×" if who else ""
    axes.text(
        x + 0.5,
        y + 0.5,
        text,
        ha="center",
        va="center",
        fontsize=9.5,
        fontweight="bold" if len(who) > 1 else "normal",
        color="white" if shade > 0.5 else "#1a1a1a",
    )


@in_book_style
def bytes_through_cache(sizes, moved, least):
    """KiB read from memory and written to it, against the cache's size in KiB; `moved` {order of
    the programs: KiB}.
    """
    (axes,) = subplots(2.5, "a")
    for i, (label, amounts) in enumerate(moved.items()):
        axes.plot(sizes, amounts, label=label, **line_style(i, label))
    axes.axhline(least, color=COLORS["scores"], linestyle=":", linewidth=1)
    axes.text(sizes[0], least, "each matrix once ", fontsize=9, va="bottom", color=COLORS["scores"])
    axes.set(
        xlabel="size of the cache, KiB",
        ylabel="moved, KiB",
        ylim=(0, 1.12 * max(map(max, moved.values()))),
    )
    axes.legend(fontsize=9, loc="upper right")


@in_book_style
def on_the_chip(block_q, block_k, d, itemsize):
    """What one program of a fused kernel holds, with its bytes: what stays, what comes and goes,
    what is made and dropped.
    """
    (axes,) = subplots(2.75, "a")
    axes.set(xlim=(0, 6), ylim=(0, 2.75))
    axes.axis("off")
    axes.add_patch(plt.Rectangle((2.3, 0.06), 3.66, 2.36, facecolor="#f4f4f4", edgecolor="#444444"))
    axes.text(0.85, 2.53, "memory", ha="center", fontsize=11, fontweight="bold")
    axes.text(4.05, 2.53, "one processor", ha="center", fontsize=11, fontweight="bold")
    for y, name, letter, rows, stays in (
        (1.78, "query", "Q", block_q, True),
        (0.99, "key", "K", block_k, False),
        (0.2, "value", "V", block_k, False),
    ):
        axes.add_patch(
            plt.Rectangle(
                (0.5, y), 0.7, 0.56, facecolor="white", edgecolor=COLORS[name], linewidth=1.5
            )
        )
        for at in (0.37,) if stays else (0.37, 0.19, 0.01):
            axes.add_patch(
                plt.Rectangle(
                    (0.5, y + at),
                    0.7,
                    0.17,
                    facecolor=COLORS[name],
                    alpha=0.85 if at == 0.37 else 0.25,
                    linewidth=0,
                )
            )
        axes.text(
            0.3,
            y + 0.28,
            letter,
            ha="center",
            va="center",
            fontsize=11,
            color=COLORS[name],
            fontweight="bold",
        )
        arrow(axes, (1.25, y + 0.45), (2.42, y + 0.4))
        axes.text(
            1.75,
            y + 0.53,
            "once" if stays else "block by block",
            ha="center",
            va="bottom",
            fontsize=9,
        )
        tile(
            axes,
            (2.44, y + 0.05),
            name,
            f"{rows} × {d}",
            rows * d * itemsize,
            "stays" if stays else "replaced",
        )
    tile(
        axes,
        (4.26, 1.3),
        "scores",
        f"scores {block_q} × {block_k}",
        block_q * block_k * 4,
        "used, gone",
    )
    tile(axes, (4.26, 0.42), "output", f"output {block_q} × {d}", block_q * d * 4, "added to")
    arrow(axes, (3.86, 2.08), (4.24, 1.75))
    arrow(axes, (3.86, 1.3), (4.24, 1.55))
    arrow(axes, (3.86, 0.48), (4.24, 0.62))
    arrow(axes, (5.0, 1.28), (5.0, 0.94))


def tile(axes, place, name, title, nbytes, fate):
    """A tile on the chip: its shape, its bytes and what becomes of it."""
    x, y = place
    axes.add_patch(
        plt.Rectangle(
            (x, y),
            1.4 if x < 4 else 1.6,
            0.5,
            facecolor="white",
            edgecolor=COLORS[name],
            linewidth=2,
        )
    )
    axes.text(
        x + 0.08, y + 0.34, title, va="center", fontsize=9.5, fontweight="bold", color=COLORS[name]
    )
    axes.text(x + 0.08, y + 0.14, f"{nbytes / 1024:.0f} KiB, {fate}", va="center", fontsize=9)


@in_book_style
def block_kinds(kinds, titles):
    """Panels with blocks of queries down and blocks of keys across: 0 not read, 1 read with a mask,
    2 read without one.
    """
    for axes, kind, title in zip(subplots(2.35, "abcde"[: len(kinds)]), kinds, titles):
        axes.imshow(np.choose(kind, [0.0, 0.45, 1.0]), cmap=shades("weights"), vmin=0, vmax=1.3)
        for (i, j), code in np.ndenumerate(kind):
            axes.add_patch(
                plt.Rectangle(
                    (j - 0.5, i - 0.5),
                    1,
                    1,
                    fill=False,
                    edgecolor="white" if code else "#dddddd",
                    linewidth=1,
                )
            )
            if code == 1:
                axes.text(j, i, "m", ha="center", va="center", fontsize=9)
        axes.set(
            title=title, xticks=[], yticks=[], ylabel="blocks of queries", xlabel="blocks of keys"
        )
        axes.spines[:].set_visible(False)


@in_book_style
def blocks_read(seen, block):
    """A panel for each title of `seen`: the programs of a kernel down, the blocks of keys across;
    a filled block was read. Each value is a `bench.Touch` of the keys.
    """
    for axes, (title, touch) in zip(subplots(2.35, "abcde"[: len(seen)]), seen.items()):
        *_, n, d = touch.shape
        read = np.zeros((1 + max(p[0] for who in touch.programs.values() for p in who), n // block))
        for place, who in touch.programs.items():
            read[[p[0] for p in who], place // d // block] = 1
        axes.imshow(read, cmap=shades("key"), vmin=0, vmax=1.5)
        edges = [np.arange(size + 1) - 0.5 for size in read.shape]
        axes.hlines(edges[0], -0.5, read.shape[1] - 0.5, color="#dddddd", linewidth=1)
        axes.vlines(edges[1], -0.5, read.shape[0] - 0.5, color="#dddddd", linewidth=1)
        axes.set(
            title=title,
            xticks=range(read.shape[1]),
            yticks=range(read.shape[0]),
            xlabel="block of keys",
            ylabel="program",
        )
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)


@in_book_style
def instructions(rungs):
    """{name: instructions of a thread for one block of keys} as bars, in the order of the
    ladder.
    """
    (axes,) = subplots(0.5 + 0.28 * len(rungs), "a")
    axes.barh(range(len(rungs)), rungs.values(), color=COLORS["scores"], height=0.68)
    for i, count in enumerate(rungs.values()):
        axes.text(count + 6, i, str(count), va="center", fontsize=9.5)
    axes.set(
        yticks=range(len(rungs)),
        xticks=[],
        xlim=(0, 1.1 * max(rungs.values())),
        ylim=(len(rungs) - 0.5, -0.5),
        title="Instructions of a thread for one block of keys",
    )
    axes.set_yticklabels(rungs, fontsize=9.5)
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    axes.tick_params(length=0)


@in_book_style
def schedules(by_title, even):
    """Which processor does what and when: {title: [(processor, start, length)]}; a line where
    evenly shared work would end.
    """
    panels = list(subplots(2.6, "ab"[: len(by_title)], sharey=True))
    longest = max(length for pieces in by_title.values() for _, _, length in pieces)
    latest = max(start + length for pieces in by_title.values() for _, start, length in pieces)
    for axes, (title, pieces) in zip(panels, by_title.items()):
        for processor, start, length in pieces:
            axes.add_patch(
                plt.Rectangle(
                    (start, processor - 0.42),
                    length,
                    0.84,
                    edgecolor="white",
                    linewidth=0.8,
                    facecolor=shades("weights")(0.15 + 0.7 * length / longest),
                )
            )
        axes.axvline(even, color=COLORS["output"], linestyle=":", linewidth=1.2)
        end = max(start + length for _, start, length in pieces)
        axes.set(
            title=title,
            xlim=(0, 1.02 * latest),
            ylim=(max(piece[0] for piece in pieces) + 0.6, -0.6),
            yticks=[],
            xlabel=f"time: done at {end:g}, at best {even:g}",
        )
        axes.xaxis.get_major_locator().set_params(integer=True)
    panels[0].set(ylabel="processors")


@in_book_style
def three_kernels():
    """What three kernels read from memory and write to it: thick arrows for arrays of all scores,
    thin ones for the others.
    """
    (axes,) = subplots(2.45, "a")
    axes.set(xlim=(0, 6), ylim=(0, 2.45))
    axes.axis("off")
    axes.add_patch(
        plt.Rectangle((0.02, 1.85), 5.96, 0.55, facecolor="#f3f4f5", edgecolor="#9aa0a6")
    )
    axes.text(0.14, 2.12, "memory", va="center", fontsize=11, fontweight="bold")
    traffic = (
        (1.15, "scores", "$S = Q K^\\top\\,/\\,\\sqrt{d_k}$", ("$Q, K$",), "$S$"),
        (3.1, "softmax", "$A$ = softmax($S$)", ("$S$",), "$A$"),
        (5.05, "product", "$O = A\\,V$", ("$A$", "$V$"), "$O$"),
    )
    for x, title, formula, reads, writes in traffic:
        axes.add_patch(
            plt.Rectangle(
                (x - 0.82, 0.12), 1.64, 0.72, facecolor="white", edgecolor="#1a1a1a", linewidth=2
            )
        )
        axes.text(x, 0.62, f"kernel: {title}", ha="center", va="center", fontweight="bold")
        axes.text(x, 0.33, formula, ha="center", va="center", fontsize=10)
        for i, (text, is_up) in enumerate([(text, False) for text in reads] + [(writes, True)]):
            at = x - 0.55 + i * 1.1 / len(reads)
            is_square = text in ("$S$", "$A$")
            axes.annotate(
                "",
                (at, 1.83 if is_up else 0.86),
                (at, 0.86 if is_up else 1.83),
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": COLORS["weights"] if is_square else "#444444",
                    "linewidth": 5 if is_square else 1.4,
                    "mutation_scale": 16 if is_square else 10,
                    "shrinkA": 0,
                    "shrinkB": 0,
                },
            )
            axes.text(at + 0.1, 1.4, text, fontsize=10.5, va="center")
            if is_square:
                axes.text(at + 0.1, 1.17, "$n \\times n$", fontsize=9.5, va="center")


@in_book_style
def work_of_blocks(blocks):
    """How many blocks of keys each block of queries reads under a causal mask, for one column of a
    slide.
    """
    (axes,) = subplots(2.5, "a", width=HALF)
    counts = np.arange(1, blocks + 1)
    drawn = axes.barh(
        counts, counts, color=[shades("weights")(0.15 + 0.7 * c / blocks) for c in counts]
    )
    axes.bar_label(drawn, counts, padding=3, fontsize=9.5)
    axes.set(xlabel="blocks of keys to read", ylabel="block of queries", xticks=[], yticks=counts)
    axes.invert_yaxis()
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(length=0)


@in_book_style
def block_of_keys_backward(blocks, mine):
    """The weights with the block column of one program filled, the queries that pass by, and the
    two gradients that it finishes.
    """
    (axes,) = subplots(1.95, "a")
    gap = 1.5
    cells(axes, (0, blocks), (blocks, 1), "query", "$Q$")
    cells(axes, (1 + gap, blocks), (blocks, 1), "output", "$dO$")
    left = 2 + 2 * gap
    cells(axes, (left, blocks), (blocks, blocks), "weights", "$A$", columns=[mine])
    right = left + blocks + gap + 0.6
    cells(axes, (right, blocks), (blocks, 1), "key", "$dK$", rows=[mine])
    cells(axes, (right + 1 + gap, blocks), (blocks, 1), "value", "$dV$", rows=[mine])
    axes.annotate(
        "",
        (-0.7, 0),
        (-0.7, blocks),
        arrowprops={"arrowstyle": "-|>", "color": "#444444", "linewidth": 1.4},
    )
    axes.text(-1.0, blocks / 2, "pass by", rotation=90, ha="right", va="center", fontsize=9.5)
    axes.text(left + blocks / 2, -0.3, "one block of keys", ha="center", va="top", fontsize=9.5)
    axes.text(right + 1 + gap / 2, -0.3, "finished", ha="center", va="top", fontsize=9.5)
    axes.set(xlim=(-3.5, right + 5.5), ylim=(-1.4, blocks + 1.3), aspect="equal")
    axes.axis("off")


@in_book_style
def kept_bits(differ):
    """A matrix of sums, `(rows, columns)`: filled where the order of the additions changes the
    bits, empty where it doesn't.
    """
    (axes,) = subplots(2.2, "a")
    axes.imshow(differ, cmap=shades("scores"), vmin=0, vmax=1.4, aspect="auto")
    axes.set(
        title=f"{differ.sum():,} of {differ.size:,} numbers don't always keep their bits",
        xlabel="position",
        ylabel="feature",
        xticks=[],
        yticks=[],
    )
