"""Answers to rms_norm, written as learners write them."""

import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("rms_norm")


@answers.right()
def rms_plain(x, gain, eps):
    wide = x.astype(np.float32) if x.dtype == np.float16 else x
    root = np.sqrt((wide * wide).mean(axis=-1, keepdims=True) + eps)
    return (wide / root * gain).astype(x.dtype)


@answers.right()
def rms_in_float64(x, gain, eps):
    x64 = np.asarray(x, dtype=np.float64)
    ms = np.mean(x64**2, axis=-1)[..., np.newaxis]
    return (gain * x64 / (ms + eps) ** 0.5).astype(x.dtype)


@answers.right()
def rms_einsum(x, gain, eps):
    y = x.astype(float)
    d = y.shape[-1]
    sums = np.einsum("...d,...d->...", y, y)
    return (y * (1 / np.sqrt(sums / d + eps))[..., None] * gain.astype(float)).astype(x.dtype)


@answers.right()
def rms_rows(x, gain, eps):
    rows = x.reshape(-1, x.shape[-1])
    out = np.empty(rows.shape, np.float64)
    for i, row in enumerate(rows):
        total = sum(float(v) ** 2 for v in row)
        out[i] = [
            float(v) / math.sqrt(total / len(row) + eps) * float(g) for v, g in zip(row, gain)
        ]
    return out.reshape(x.shape).astype(x.dtype)


@answers.right()
def rms_by_norm(x, gain, eps):
    y = x.astype(np.float64)
    length = np.linalg.norm(y, axis=-1, keepdims=True)
    return (y / np.sqrt(length**2 / y.shape[-1] + eps) * gain).astype(x.dtype)


@answers.wrong("mean subtracted")
def rms_layer_norm(x, gain, eps):
    y = x.astype(np.float64)
    y = y - y.mean(-1, keepdims=True)
    return (y / np.sqrt(y.var(-1, keepdims=True) + eps) * gain).astype(x.dtype)


@answers.wrong("mean subtracted")
def rms_with_variance(x, gain, eps):
    y = x.astype(np.float64)
    return (y / np.sqrt(y.var(-1, keepdims=True) + eps) * gain).astype(x.dtype)


@answers.wrong("no root")
def rms_no_root(x, gain, eps):
    y = x.astype(np.float64)
    return (y / ((y * y).mean(-1, keepdims=True) + eps) * gain).astype(x.dtype)


@answers.wrong("sum instead of the mean")
def rms_length(x, gain, eps):
    y = x.astype(np.float64)
    return (y / np.sqrt((y * y).sum(-1, keepdims=True) + eps) * gain).astype(x.dtype)


@answers.wrong("squared in float16", "rounded before the gain")
def rms_narrow(x, gain, eps):
    root = np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)
    return (x / root * gain).astype(x.dtype)


@answers.wrong("eps outside the root")
def rms_eps_outside(x, gain, eps):
    y = x.astype(np.float64)
    return (y / (np.sqrt((y * y).mean(-1, keepdims=True)) + eps) * gain).astype(x.dtype)


@answers.wrong("no eps")
def rms_without_eps(x, gain, eps):
    y = x.astype(np.float64)
    return (y / np.sqrt((y * y).mean(-1, keepdims=True)) * gain).astype(x.dtype)


@answers.wrong("gain left out")
def rms_without_gain(x, gain, eps):
    y = x.astype(np.float64)
    return (y / np.sqrt((y * y).mean(-1, keepdims=True) + eps)).astype(x.dtype)


@answers.wrong("1 added to the gain")
def rms_gemma(x, gain, eps):
    y = x.astype(np.float64)
    return (y / np.sqrt((y * y).mean(-1, keepdims=True) + eps) * (1 + gain)).astype(x.dtype)


@answers.wrong("gain before the norm")
def rms_gain_first(x, gain, eps):
    y = x.astype(np.float64) * gain
    return (y / np.sqrt((y * y).mean(-1, keepdims=True) + eps)).astype(x.dtype)


@answers.wrong("mean without keepdims")
def rms_no_keepdims(x, gain, eps):
    y = x.astype(np.float64)
    return (y / np.sqrt((y * y).mean(-1) + eps) * gain).astype(x.dtype)


@answers.wrong("over everything")
def rms_of_all(x, gain, eps):
    y = x.astype(np.float64)
    return (y / np.sqrt(np.mean(y**2) + eps) * gain).astype(x.dtype)


@answers.wrong("eps fixed in the code")
def rms_own_eps(x, gain, eps):
    y = x.astype(np.float64)
    return (y / np.sqrt((y * y).mean(-1, keepdims=True) + 1e-5) * gain).astype(x.dtype)


@answers.wrong("mean subtracted", "1 added to the gain")
def rms_two(x, gain, eps):
    y = x.astype(np.float64)
    y = y - y.mean(-1, keepdims=True)
    return (y / np.sqrt((y * y).mean(-1, keepdims=True) + eps) * (1 + gain)).astype(x.dtype)


@answers.wrong("float64 leaks out")
def rms_wide(x, gain, eps):
    y = x.astype(np.float64)
    return y / np.sqrt((y * y).mean(-1, keepdims=True) + eps) * gain


@answers.right()
def rms_in_float32(x, gain, eps):
    wide = x.astype(np.float32)
    root = np.sqrt((wide * wide).mean(axis=-1, keepdims=True) + np.float32(eps))
    return (wide / root * gain).astype(x.dtype)


@answers.wrong("rounded before the gain")
def rms_as_in_llama(x, gain, eps):
    wide = x.astype(np.float32)
    root = np.sqrt((wide * wide).mean(axis=-1, keepdims=True) + np.float32(eps))
    return (wide / root).astype(x.dtype) * gain


def wide(x):
    return x.astype(np.float64)


@answers.wrong("float64 leaks out")
def widened_elsewhere(x, gain, eps):
    y = wide(x)
    return y / np.sqrt((y**2).mean(axis=-1, keepdims=True) + eps) * gain
