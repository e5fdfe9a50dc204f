"""Atoms of a reaction, and the heads that find them again."""

import numpy as np

from attncourse.plot.common import COLORS, in_book_style, shades, subplots


@in_book_style
def atom_maps(panels):
    """A map of atoms for each reaction, {title: (tokens before, tokens after, found, right)}.

    The reactants' tokens stand above the product's; a line leads from each atom of the product to
    the atom `found` for it. Lines that aren't `right` are dashed.
    """
    drawn = subplots(1.4 * len(panels), [[letter] for letter in "abcd"[: len(panels)]])
    for axes, (title, (before, after, found, right)) in zip(drawn, panels.items()):
        above = written(axes, before, 1.0, "bottom")
        below = written(axes, after, 0.0, "top")
        for i, (j, is_right) in enumerate(zip(found, right)):
            axes.plot(
                (below[i], above[j]),
                (0.05, 0.95),
                color=COLORS["weights" if is_right else "key"],
                linestyle="-" if is_right else "--",
                linewidth=1.3 if is_right else 2.4,
            )
        axes.set(xlim=(-0.5, 20.5), ylim=(-0.45, 1.45))
        axes.set_title(title, loc="left")
        axes.axis("off")


def written(axes, tokens, y, side):
    """Write the tokens in one line, atoms in bold, and return the atoms' places."""
    places = []
    for x, token in enumerate(tokens):
        is_atom = token[0].isalpha() or token[0] == "["
        places += [x] if is_atom else []
        axes.text(
            x,
            y,
            token,
            ha="center",
            va=side,
            fontsize=12,
            fontweight="bold" if is_atom else "normal",
            color=COLORS["output" if is_atom else "scores"],
        )
    return places


@in_book_style
def right_by_head(counts, total, chosen):
    """How many of `total` atoms each head finds, `(n_layers, h)`: a column for each layer, and a
    frame around the head (layer, head) that is `chosen`."""
    counts = np.asarray(counts).T
    (axes,) = subplots(2.75, "a")
    axes.imshow(counts, cmap=shades("weights"), vmin=0, vmax=total, aspect="auto")
    for (head, layer), count in np.ndenumerate(counts):
        color = "white" if count > 0.77 * total else "#1a1a1a"
        axes.text(layer, head, count, ha="center", va="center", fontsize=9.5, color=color)
    axes.plot(
        *(np.array(chosen)[:, None] + np.array([[-1, 1, 1, -1, -1], [-1, -1, 1, 1, -1]]) * 0.47),
        color="#1a1a1a",
        linewidth=2.5,
    )
    axes.set(
        xlabel="layer", ylabel="head", xticks=range(counts.shape[1]), yticks=range(counts.shape[0])
    )
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
