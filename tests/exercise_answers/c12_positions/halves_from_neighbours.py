"""Answers to halves_from_neighbours, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("halves_from_neighbours")


@answers.right()
def halves_by_blocks(w, n_heads):
    blocks = w.reshape(len(w), n_heads, -1)
    return np.concatenate([blocks[..., 0::2], blocks[..., 1::2]], axis=-1).reshape(w.shape)


@answers.right()
def halves_by_a_transpose(w, n_heads):
    return w.reshape(len(w), n_heads, -1, 2).swapaxes(-1, -2).reshape(w.shape)


@answers.right()
def halves_by_an_order(w, n_heads):
    d_head, order = w.shape[1] // n_heads, []
    for head in range(n_heads):
        first = head * d_head
        order += [*range(first, first + d_head, 2), *range(first + 1, first + d_head, 2)]
    return w[:, order]


@answers.right()
def halves_by_a_permutation_matrix(w, n_heads):
    d_head = w.shape[1] // n_heads
    order = np.r_[0:d_head:2, 1:d_head:2]
    return w @ np.kron(np.eye(n_heads), np.eye(d_head)[:, order]).astype(w.dtype)


def reordered(w, n_heads, order):
    blocks = w.reshape(len(w), n_heads, -1)
    return blocks[..., order(blocks.shape[-1])].reshape(w.shape)


def even_odd(d):
    return np.r_[0:d:2, 1:d:2]


answers.wrong(
    "heads ignored", function=lambda w, n_heads: np.concatenate([w[:, 0::2], w[:, 1::2]], axis=1)
)
answers.wrong(
    "rows instead of columns", function=lambda w, n_heads: reordered(w.T, n_heads, even_odd).T
)
answers.wrong(
    "from halves to neighbours",
    function=lambda w, n_heads: w.reshape(len(w), n_heads, 2, -1).swapaxes(-1, -2).reshape(w.shape),
)
answers.wrong(
    "odd columns first",
    function=lambda w, n_heads: reordered(w, n_heads, lambda d: np.r_[1:d:2, 0:d:2]),
)
answers.wrong(
    "halves exchanged",
    function=lambda w, n_heads: reordered(w, n_heads, lambda d: np.r_[d // 2 : d, 0 : d // 2]),
)
answers.wrong("transposed", function=lambda w, n_heads: reordered(w, n_heads, even_odd).T)
answers.wrong("nothing reordered", function=lambda w, n_heads: w.copy())
answers.wrong(
    "heads ignored", "transposed", function=lambda w, n_heads: w[:, even_odd(w.shape[1])].T
)


@answers.wrong("heads reordered")
def halves_of_the_heads(w, n_heads):
    blocks = w.reshape(len(w), n_heads, -1)
    return blocks[:, even_odd(n_heads)].reshape(w.shape)


answers.wrong(
    "n_heads and d_head swapped",
    function=lambda w, n_heads: w.reshape(len(w), -1, n_heads)[
        ..., np.r_[0:n_heads:2, 1:n_heads:2]
    ].reshape(w.shape),
)
answers.wrong(
    "heads left apart",
    function=lambda w, n_heads: np.concatenate(
        [w.reshape(len(w), n_heads, -1)[..., start::2] for start in (0, 1)], axis=-1
    ),
)
answers.wrong(
    "from halves to neighbours",
    "rows instead of columns",
    function=lambda w, n_heads: w.reshape(n_heads, 2, -1, len(w)).swapaxes(1, 2).reshape(w.shape),
)
answers.wrong(
    "from halves to neighbours",
    "heads ignored",
    function=lambda w, n_heads: w.reshape(len(w), 2, -1).swapaxes(1, 2).reshape(w.shape),
)
answers.wrong(
    "only the first head's columns",
    function=lambda w, n_heads: w[:, np.tile(even_odd(w.shape[1] // n_heads), n_heads)],
)
answers.wrong(
    "even columns twice",
    function=lambda w, n_heads: reordered(w, n_heads, lambda d: np.r_[0:d:2, 0:d:2]),
)


@answers.wrong("columns interleaved across heads")
def halves_of_every_nth_column(w, n_heads):
    made = np.empty_like(w)
    for head in range(n_heads):
        block = w[:, head::n_heads]
        made[:, head::n_heads] = np.concatenate([block[:, ::2], block[:, 1::2]], axis=1)
    return made


@answers.wrong("columns interleaved across heads")
def halves_of_every_nth_column_side_by_side(w, n_heads):
    blocks = [w[:, head::n_heads] for head in range(n_heads)]
    return np.concatenate([block[:, even_odd(block.shape[1])] for block in blocks], axis=1)


@answers.wrong("only the first head reordered")
def halves_of_one_head(w, n_heads):
    made, d_head = w.copy(), w.shape[1] // n_heads
    made[:, :d_head] = np.concatenate([w[:, 0:d_head:2], w[:, 1:d_head:2]], axis=1)
    return made


@answers.wrong("last head not reordered")
def halves_of_all_but_the_last_head(w, n_heads):
    out = w.copy()
    d = w.shape[1] // n_heads
    for h in range(n_heads - 1):
        block = w[:, h * d : (h + 1) * d]
        out[:, h * d : (h + 1) * d] = np.hstack([block[:, ::2], block[:, 1::2]])
    return out


def halves_of(blocks):
    return [np.hstack([block[:, ::2], block[:, 1::2]]) for block in blocks]


answers.wrong(
    "heads in reverse order",
    function=lambda w, n_heads: np.hstack(halves_of(np.split(w, n_heads, axis=1)[::-1])),
)
answers.wrong(
    "heads left apart",
    function=lambda w, n_heads: np.stack(halves_of(np.split(w, n_heads, axis=1))),
)
answers.wrong(
    "odd columns backwards",
    function=lambda w, n_heads: np.hstack(
        [np.hstack([block[:, ::2], block[:, ::-2]]) for block in np.split(w, n_heads, axis=1)]
    ),
)
answers.wrong(
    "w left out",
    function=lambda w, n_heads: np.hstack(
        halves_of(np.split(np.eye(len(w), dtype=w.dtype), n_heads, axis=1))
    ),
)


@answers.wrong("blocks that overlap")
def halves_of_neighbouring_slices(w, n_heads):
    d = w.shape[1] // n_heads
    return np.hstack(halves_of([w[:, h : h + d] for h in range(n_heads)]))


def written_from(start, again):
    """Each head written where it was read, if head h begins at column h."""

    def halves(w, n_heads):
        d = w.shape[1] // n_heads
        out = start(w)
        for h in range(n_heads):
            block = (out if again else w)[:, h : h + d]
            out[:, h : h + d] = np.concatenate([block[:, ::2], block[:, 1::2]], axis=1)
        return out

    return halves


for how in ((np.zeros_like, False), (np.copy, False), (np.copy, True)):
    answers.wrong("blocks that overlap", function=written_from(*how))
