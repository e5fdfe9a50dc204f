"""Answers to merge_heads, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("merge_heads")


def merge(heads):
    heads = np.swapaxes(heads, -2, -3)
    return heads.reshape(*heads.shape[:-2], -1)


answers.right(merge)
answers.right(lambda x: np.concatenate([x[..., i, :, :] for i in range(x.shape[-3])], axis=-1))
answers.right(lambda x: np.block([x[..., i, :, :] for i in range(x.shape[-3])]))
answers.right(
    lambda x: np.einsum("...hnd->...nhd", x).reshape(
        x.shape[:-3] + (x.shape[-2], x.shape[-3] * x.shape[-1])
    )
)


@answers.right()
def merge_loop(x):
    *batch, h, n, d = x.shape
    output = np.zeros((*batch, n, h * d), dtype=x.dtype)
    for i in range(h):
        output[..., i * d : (i + 1) * d] = x[..., i, :, :]
    return output


answers.wrong(
    "heads merged by a reshape alone", function=lambda x: x.reshape(*x.shape[:-3], x.shape[-2], -1)
)
answers.wrong("heads merged by a reshape alone", function=lambda x: x.reshape(*x.shape[:-2], -1))
answers.wrong("only for three axes", function=np.hstack)
answers.wrong("only for three axes", function=lambda x: np.concatenate(x, axis=-1))
answers.wrong("heads reduced to one", function=lambda x: x.sum(-3))
answers.wrong("heads reduced to one", function=lambda x: np.mean(x, axis=-3))
answers.wrong(
    "heads stacked as rows",
    function=lambda x: np.concatenate([x[..., i, :, :] for i in range(x.shape[-3])], axis=-2),
)
answers.wrong(
    "features dealt out in turn",
    function=lambda x: np.moveaxis(x, -3, -1).reshape(*x.shape[:-3], x.shape[-2], -1),
)
answers.wrong("heads not joined", function=lambda x: np.swapaxes(x, -3, -2))
answers.wrong("wrong axes swapped", function=lambda x: x.T.reshape(x.shape[-2], -1))
answers.wrong(
    "wrong axes swapped",
    function=lambda x: np.swapaxes(x, -1, -2).reshape(*x.shape[:-3], x.shape[-2], -1),
)
answers.wrong(
    "batch among the features", function=lambda x: np.swapaxes(x, -3, -2).reshape(x.shape[-2], -1)
)
answers.wrong(
    "batch and positions merged",
    function=lambda x: np.swapaxes(x, -3, -2).reshape(-1, x.shape[-3] * x.shape[-1]),
)


@answers.wrong("only for one leading axis")
def merge_of_four(x):
    b, h, n, d = x.shape
    return x.transpose(0, 2, 1, 3).reshape(b, n, h * d)


@answers.wrong("only for one leading axis")
def merge_axes_from_the_front(x):
    return np.swapaxes(x, 1, 2).reshape(x.shape[0], x.shape[2], -1)


for number, (name, function) in enumerate(
    (
        ("heads not joined", lambda x: x),
        (
            "heads merged by a reshape alone",
            lambda x: x.reshape(-1, x.shape[-2], x.shape[-3] * x.shape[-1]),
        ),
        ("everything on one axis", lambda x: x.reshape(-1)),
        (
            "heads stacked as rows",
            lambda x: np.swapaxes(x, -2, -3).reshape(*x.shape[:-3], -1, x.shape[-1]),
        ),
    )
):
    function.__name__ = f"merge_{number}"
    answers.wrong(name, function=function)

answers.wrong("the last position left out", function=lambda x: merge(x)[..., :-1, :])

answers.wrong(
    "only for one leading axis",
    function=lambda x: np.concatenate([x[:, i] for i in range(x.shape[1])], axis=-1),
)
answers.wrong(
    "only for one leading axis",
    function=lambda x: np.swapaxes(x, -3, -2).reshape(x.shape[0], x.shape[-2], -1),
)


@answers.wrong("only for one leading axis")
def merge_with_axes_1_and_2(x):
    *lead, h, n, d = x.shape
    return x.swapaxes(1, 2).reshape(*lead, n, h * d)


answers.wrong("axis dropped", function=lambda x: np.squeeze(merge(x)))
answers.wrong(
    "everything on one axis", function=lambda x: np.swapaxes(x, -3, -2).reshape(*x.shape[:-3], -1)
)
