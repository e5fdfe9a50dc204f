"""The decoder of decoder.py in torch, for training: the same parameters under the same names."""

from __future__ import annotations

import math

import torch
from torch.nn import functional as F

from attncourse.language.decoder import Decoder, Sizes, shapes


def new_parameters(sizes: Sizes, seed: int) -> dict[str, torch.Tensor]:
    """Normal numbers, of standard deviation 1/sqrt(in); gains are 1."""
    generator = torch.Generator().manual_seed(seed)
    parameters = {}
    for name, shape in shapes(sizes).items():
        if len(shape) == 1:
            array = torch.ones(shape)
        else:
            array = torch.randn(shape, generator=generator) * deviation(name, shape, sizes)
        parameters[name] = array.requires_grad_()
    return parameters


def deviation(name, shape, sizes):
    if name == "embed":
        return 0.5
    if name == "unembed":
        return 0.3 / math.sqrt(shape[0])  # at first, every word is about as likely
    # What adds to the residual stream adds up over two parts in every layer.
    parts = 2 * sizes.n_layers if name.endswith(("w_o", "w_down")) else 1
    return 1 / math.sqrt(shape[0] * parts)


def rms_norm(x, gain, eps=1e-5):
    return F.rms_norm(x, gain.shape, gain, eps)


def turned(x, cos, sin):
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


def split_heads(x, h):
    return x.unflatten(-1, (h, -1)).transpose(-2, -3)


def logits(sizes: Sizes, parameters: dict[str, torch.Tensor], tokens: torch.Tensor):
    """Logits `(batch, n, n_words)` for the word after each of the tokens `(batch, n)`."""
    batch, n = tokens.shape
    frequencies = sizes.base ** (-2 * torch.arange(sizes.d_k // 2, dtype=torch.float64) / sizes.d_k)
    angles = torch.arange(n)[:, None] * frequencies
    cos, sin = angles.cos().float(), angles.sin().float()
    group = sizes.h // sizes.h_kv
    x = parameters["embed"][tokens]
    for i in range(sizes.n_layers):
        w = {name: parameters[f"{i}.{name}"] for name in LAYER}
        y = rms_norm(x, w["norm_1"])
        query = turned(split_heads(y @ w["w_q"], sizes.h), cos, sin)
        key = turned(split_heads(y @ w["w_k"], sizes.h_kv), cos, sin).repeat_interleave(group, 1)
        value = split_heads(y @ w["w_v"], sizes.h_kv).repeat_interleave(group, 1)
        output = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + output.transpose(1, 2).flatten(2) @ w["w_o"]
        y = rms_norm(x, w["norm_2"])
        x = x + (F.silu(y @ w["w_gate"]) * (y @ w["w_up"])) @ w["w_down"]
    return rms_norm(x, parameters["norm"]) @ parameters["unembed"]


LAYER = ("norm_1", "w_q", "w_k", "w_v", "w_o", "norm_2", "w_gate", "w_up", "w_down")


def as_numpy(sizes: Sizes, parameters: dict[str, torch.Tensor]) -> Decoder:
    """The NumPy decoder with these parameters."""
    arrays = {name: array.detach().numpy().copy() for name, array in parameters.items()}
    return Decoder(sizes, arrays)


def as_torch(decoder: Decoder) -> dict[str, torch.Tensor]:
    """The parameters of a NumPy decoder."""
    return {name: torch.tensor(array) for name, array in decoder.parameters.items()}
