"""Attention on torch tensors: dtypes, devices, and what goes wrong with them."""

import numpy as np

from ..model import LEADING, Case, normal
from .attention import ATTENTION_AXES, attention_cases
from .torch_calls import Listener, torch_missing

HALF = ("float16", "bfloat16")

BFLOAT16 = "bfloat16"

IN_FLOAT16 = "float16 computed in float32"

IN_BFLOAT16 = "bfloat16 computed in float32"


def rounded(array, dtype, only=HALF):
    """The array as half precision holds it; unchanged in any other dtype."""
    if dtype not in only:
        return array
    if dtype == "float16":
        return array.astype(np.float16).astype(np.float64)
    bits = array.astype(np.float32).view(np.uint32)
    bits = bits + 0x7FFF + ((bits >> 16) & 1) & np.uint32(
        0xFFFF0000
    )  # to the nearest, ties to even
    return np.where(np.isfinite(array), bits.view(np.float32), array).astype(np.float64)


# both dtypes of half precision, or one of them alone
SOME_HALF = (HALF, HALF[1:], HALF[:1])


def only_3d(name, query, key_t):
    if query.ndim != 3:
        raise ValueError(f"{name} must be a 3D tensor")
    return query @ key_t


def half_cases():
    """Cases on which half precision inside shows, whichever way it is rounded.

    Scores near 8192 whose differences are below the spacing of both dtypes become equal; so do
    scores near 8, small enough for exp. Weights of nearly 1/2 become 1/2. Large opposite values
    then cancel where they should not.
    """

    def near_8192(*leading):
        key = np.zeros((3, 4))
        key[:, 0], key[:, 1] = 128, (0, 4, 7.5)
        query = np.array([[128.0, 1, 0, 0], [128, -1, 0, 0], [128, 0.5, 0, 0], [0, 0.25, 0, 0]])
        value = np.array([[8.0, 1], [0, 3], [2, -5]])
        return tuple(np.tile(array, (*leading, 1, 1)) for array in (query, key, value))

    def two_keys(mean, difference, large):
        query = np.array([[0.0, -40, 0, 0], [0, -40, 0, 0], [2, 0, 1, 0]])
        key = np.array([[-20, 0, 0, 0], [mean, 1, 0, 0], [mean, 1, 2 * difference, 0]])
        return (
            query,
            key,
            np.array([[64], [-large], [large]]),
        )  # the first two queries see the first key alone

    def five_features(first, second, factor):
        """Two numbers beside each other whose quotients by the root of 5 are rounded to the same
        one: as query or as key, a vector that is scaled in half precision loses their difference.
        """
        query, key = np.zeros((3, 5)), np.zeros((3, 5))
        query[1, :3], query[2, 3:] = (first, second, -first), factor
        key[0], key[1] = (factor, 0, factor, first, -first), (0, factor, factor, second, -first)
        return query, key, np.array([[8.0, 1], [0, 3], [1, 0]])

    cases = [
        (IN_FLOAT16, five_features(80.75, 80.8125, 32), "float16"),
        (IN_BFLOAT16, five_features(87.5, 88, 4), "bfloat16"),
        (IN_FLOAT16, near_8192(), "float16"),
        (LEADING, near_8192(2), "float16"),
        (IN_FLOAT16, two_keys(0, 7 * 2.0**-15, 2.0**15), "float16"),
        (IN_FLOAT16, two_keys(8, 7 * 2.0**-12, 2.0**13), "float16"),
        (IN_BFLOAT16, near_8192(), "bfloat16"),
        (LEADING, near_8192(2), "bfloat16"),
        (IN_BFLOAT16, two_keys(0, 7 * 2.0**-12, 2.0**12), "bfloat16"),
        (IN_BFLOAT16, two_keys(8, 7 * 2.0**-8, 2.0**9), "bfloat16"),
    ]
    return [Case(aspect, args, torch_dtype=dtype) for aspect, args, dtype in cases]


def bfloat16_case(query_shape, key_shape, d_v):
    """Small numbers that bfloat16 holds exactly."""
    shapes = query_shape, key_shape, (*key_shape[:-1], d_v)
    eighths = (
        np.clip(np.round(normal(*shape, seed=41 + i) * 8) / 8, -7, 7)
        for i, shape in enumerate(shapes)
    )
    return Case(BFLOAT16, tuple(eighths), torch_dtype="bfloat16")


def attention_torch_cases():
    return attention_cases() + [bfloat16_case((3, 5), (7, 5), 11), *half_cases()]


OWN_NAMES = ("scaled_dot_product", "multi_head_attention", "flex_attention")


def heard(run):
    import torch

    return Listener().hear(run, *(torch.from_numpy(normal(2, n, 16, seed=n)) for n in (5, 7, 7)))


def calls_own_attention(run):
    """An audit: whether torch's attention is called, by whichever of its names."""
    return "torch's own attention called" if heard(run).heard(*OWN_NAMES) else None


def leaves_torch(run):
    """An audit: whether a tensor that may be on a GPU is read by NumPy."""
    return "NumPy in between" if heard(run).numpy_met else None


def stays_on_the_cpu(run):
    """An audit: whether a tensor made inside is not on the inputs' device."""
    return "other device" if heard(run).two_devices else None


# what the exercises on attention of torch tensors have in common, whatever the mask
ON_TORCH = dict(
    axes=ATTENTION_AXES,
    answer_axes="n_q d_v",
    library="torch",
    missing=torch_missing,
    aspects={BFLOAT16: None},
    audits=(calls_own_attention, leaves_torch, stays_on_the_cpu),
    seconds=6.0,  # torch takes its time to start on a busy machine
)
