"""Gradients: of the softmax, of attention whole, and in training."""

import numpy as np
from matplotlib.colors import LinearSegmentedColormap

from attnlib.plot.common import COLORS, band, bars, grid, in_book_style, shades, subplots


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
def read_by_all(weights, changes, key):
    """A `(n_q, n_k)` with the weights for one key framed, and what each output `(n_q, d_v)` changes by, for each unit of its value."""
    left, right = subplots(2.6, "ab", width_ratios=[weights.shape[1], changes.shape[1] + 1.5])
    grid(left, weights, "weights", "A", digits=2, outline=[(0, key, len(weights), 1)])
    grid(right, changes, "output", "change of the output", digits=2, outline=[(0, 0, len(changes), 1)])
    left.set(xlabel="key", ylabel="query")
    right.set(xlabel="feature", ylabel="query")


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
