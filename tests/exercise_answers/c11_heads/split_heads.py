"""Answers to split_heads, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("split_heads")


def split(x, n_heads):
    return np.swapaxes(x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads), -2, -3)


answers.right(split)
answers.right(lambda x, n_heads: np.stack(np.split(x, n_heads, axis=-1), axis=-3))
answers.right(
    lambda x, n_heads: np.einsum(
        "...nhd->...hnd", x.reshape(x.shape[:-1] + (n_heads, x.shape[-1] // n_heads))
    )
)
answers.right(
    lambda x, n_heads: x.mT.reshape(*x.shape[:-2], n_heads, x.shape[-1] // n_heads, x.shape[-2]).mT
)


@answers.right()
def split_loop(x, n_heads):
    *batch, n, d_model = x.shape
    size = d_model // n_heads
    heads = np.empty((*batch, n_heads, n, size), x.dtype)
    for i in range(n_heads):
        heads[..., i, :, :] = x[..., i * size : (i + 1) * size]
    return heads


@answers.wrong("heads split by a reshape alone")
def split_reshape(x, n_heads):
    return x.reshape(*x.shape[:-2], n_heads, x.shape[-2], x.shape[-1] // n_heads)


@answers.wrong("heads split by a reshape alone")
def split_flat(x, n_heads):
    *batch, n, d_model = x.shape
    return np.resize(x.ravel(), (*batch, n_heads, n, d_model // n_heads))


@answers.wrong("heads split by a reshape alone", "only for one leading axis")
def split_reshape_of_three(x, n_heads):
    b, n, d = x.shape
    return x.reshape(b, n_heads, n, d // n_heads)


@answers.wrong("only for one leading axis")
def split_of_three(x, n_heads):
    b, n, d = x.shape
    return x.reshape(b, n, n_heads, d // n_heads).transpose(0, 2, 1, 3)


@answers.wrong("only for one leading axis")
def split_axes_from_the_front(x, n_heads):
    return np.swapaxes(x.reshape(*x.shape[:-1], n_heads, -1), 1, 2)


@answers.wrong("only for one leading axis")
def split_first_sizes(x, n_heads):
    return x.reshape(x.shape[0], x.shape[1], n_heads, -1).transpose(0, 2, 1, 3)


@answers.wrong("only for two axes")
def split_of_two(x, n_heads):
    n, d = x.shape
    return x.reshape(n, n_heads, d // n_heads).transpose(1, 0, 2)


@answers.wrong("heads before the batch")
def split_list(x, n_heads):
    return np.array(np.split(x, n_heads, axis=-1))


@answers.wrong("heads left after the positions")
def split_unmoved(x, n_heads):
    return x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads)


@answers.wrong("features dealt out in turn")
def split_strided(x, n_heads):
    return np.stack([x[..., i::n_heads] for i in range(n_heads)], axis=-3)


@answers.wrong("features dealt out in turn")
def split_last_two_swapped(x, n_heads):
    return np.moveaxis(x.reshape(*x.shape[:-1], -1, n_heads), -1, -3)


@answers.wrong("wrong axes swapped")
def split_wrong_axes(x, n_heads):
    return np.moveaxis(x.reshape(*x.shape[:-1], n_heads, -1), -1, -3)


@answers.wrong("d_model not divided by n_heads")
def split_undivided(x, n_heads):
    return np.swapaxes(x.reshape(*x.shape[:-1], n_heads, x.shape[-1]), -2, -3)


@answers.wrong("batch and positions merged")
def split_everything(x, n_heads):
    return x.reshape(-1, n_heads, x.shape[-1] // n_heads).swapaxes(0, 1)


@answers.wrong("blocks that overlap")
def split_overlapping(x, n_heads):
    return np.stack([x[..., i : i + x.shape[-1] // n_heads] for i in range(n_heads)], axis=-3)


for number, (name, function) in enumerate(
    (
        ("heads not split", lambda x, n_heads: x),
        ("heads in reverse order", lambda x, n_heads: split(x, n_heads)[..., ::-1, :, :]),
        (
            "only for one leading axis",
            lambda x, n_heads: x.reshape(-1, x.shape[-2], n_heads, x.shape[-1] // n_heads).swapaxes(
                1, 2
            ),
        ),
    )
):
    function.__name__ = f"split_{number}"
    answers.wrong(name, function=function)

answers.wrong("number of heads fixed in the code", function=lambda x, n_heads: split(x, 8))
answers.wrong(
    "wrong axes swapped", function=lambda x, n_heads: x.reshape(*x.shape[:-1], n_heads, -1).T
)
answers.wrong(
    "positions in reverse order", function=lambda x, n_heads: split(x, n_heads)[..., ::-1, :]
)

answers.wrong(
    "positions split instead of features",
    function=lambda x, n_heads: np.stack(np.split(x, n_heads, axis=-2), axis=-3),
)


@answers.wrong("axes counted from the front")
def split_with_or_without_a_batch(x, n_heads):
    parts = x.reshape(*x.shape[:-1], n_heads, -1)
    return parts.swapaxes(1, 2) if parts.ndim > 3 else parts.swapaxes(0, 1)
