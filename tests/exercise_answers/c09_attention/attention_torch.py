"""Answers to attention_torch, written as learners write them."""

import functools
import itertools
import math

import numpy as np
import torch
import torch.nn.functional as F

import attnlib
from attncourse.exercises.engine.prove import Answers
from attnlib import dense_torch

ANSWERS = answers = Answers("attention_torch")


def wide(*tensors):
    return [t.float() if t.dtype in (torch.float16, torch.bfloat16) else t for t in tensors]


@answers.right()
def torch_widened(query, key, value):
    q, k, v = wide(query, key, value)
    return (torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v).to(query.dtype)


@answers.right()
def torch_in_float64(q, k, v):
    dtype = q.dtype
    q, k, v = (t.double() for t in (q, k, v))
    scores = torch.einsum("...id,...jd->...ij", q, k) * q.size(-1) ** -0.5
    powers = (scores - scores.amax(-1, keepdim=True)).exp()
    powers /= powers.sum(-1, keepdim=True)
    return torch.einsum("...ij,...jd->...id", powers, v).to(dtype)


@answers.right()
def torch_by_loops(query, key, value):
    kind = torch.promote_types(query.dtype, torch.float32)
    out = torch.empty(*query.shape[:-1], value.shape[-1], dtype=query.dtype, device=query.device)
    for at in itertools.product(*map(range, query.shape[:-2])):
        q, k, v = query[at].to(kind), key[at].to(kind), value[at].to(kind)
        for i in range(q.shape[0]):
            weights = torch.softmax(k @ q[i] / q.shape[-1] ** 0.5, 0)
            out[at][i] = (weights[:, None] * v).sum(0)
    return out


@answers.right()
def torch_query_scaled_first(query, key, value):
    kind = torch.float64 if query.dtype == torch.float64 else torch.float32
    scores = torch.matmul(query.to(kind) * query.shape[-1] ** -0.5, key.to(kind).transpose(-2, -1))
    return F.softmax(scores, dim=-1).matmul(value.to(kind)).type_as(query)


@answers.right()
def torch_by_broadcasting(query, key, value):
    q, k, v = wide(query, key, value)
    scores = (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1) / math.sqrt(q.shape[-1])
    weights = torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))
    return (weights.unsqueeze(-1) * v.unsqueeze(-3)).sum(-2).to(query.dtype)


answers.wrong("ready-made function", function=dense_torch.attention)


@answers.right()
def torch_by_bmm(query, key, value):
    q, k, v = (t.reshape(-1, *t.shape[-2:]) for t in wide(query, key, value))
    weights = torch.bmm(q, k.permute(0, 2, 1)).mul(q.shape[-1] ** -0.5).softmax(2)
    return torch.bmm(weights, v).reshape(*query.shape[:-1], value.shape[-1]).to(query.dtype)


@answers.right()
def torch_a_key_at_a_time(query, key, value):
    q, k, v = wide(query, key, value)
    highest = torch.full(q.shape[:-1], -math.inf, dtype=q.dtype, device=q.device)
    total = torch.zeros_like(highest)
    out = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype, device=q.device)
    for j in range(k.shape[-2]):
        score = (q * k[..., j : j + 1, :]).sum(-1) / math.sqrt(q.shape[-1])
        new = torch.maximum(highest, score)
        factor, power = torch.exp(highest - new), torch.exp(score - new)
        total = total * factor + power
        out = out * factor[..., None] + power[..., None] * v[..., j : j + 1, :]
        highest = new
    return (out / total[..., None]).to(query.dtype)


@answers.right()
def torch_by_vmap(query, key, value):
    def one(q, k, v):
        return torch.softmax(k @ q / len(q) ** 0.5, 0) @ v

    function = torch.vmap(one, in_dims=(0, None, None))
    for _ in range(query.ndim - 2):
        function = torch.vmap(function)
    return function(*wide(query, key, value)).to(query.dtype)


@answers.wrong("torch's own attention called")
def torch_own(query, key, value):
    return F.scaled_dot_product_attention(query, key, value)


@answers.wrong("torch's own attention called")
def torch_own_by_another_name(query, key, value):
    q, k, v = wide(query, key, value)
    return torch.ops.aten.scaled_dot_product_attention(q, k, v).to(query.dtype)


@answers.wrong("computed in half precision")
def torch_native(query, key, value):
    return torch.softmax(query @ key.mT / math.sqrt(query.shape[-1]), -1) @ value


@answers.wrong("computed in half precision")
def torch_native_by_hand(query, key, value):
    scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
    powers = torch.exp(scores - scores.max(-1, keepdim=True).values)
    return powers / powers.sum(-1, keepdim=True) @ value


@answers.wrong("computed in half precision")
def torch_softmax_alone_widened(query, key, value):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    weights = torch.softmax(scores, -1, dtype=torch.promote_types(query.dtype, torch.float32))
    return weights.to(query.dtype) @ value


@answers.wrong("computed in half precision")
def torch_only_float16_widened(query, key, value):
    dtype = query.dtype
    if dtype == torch.float16:
        query, key, value = query.float(), key.float(), value.float()
    return (torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, -1) @ value).to(dtype)


@answers.wrong("scores in half precision")
def torch_widened_too_late(query, key, value):
    scores, value = wide(query @ key.mT / math.sqrt(query.shape[-1]), value)
    return (torch.softmax(scores, -1) @ value).to(query.dtype)


@answers.wrong("weights in half precision")
def torch_narrowed_too_early(query, key, value):
    q, k = wide(query, key)
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1).to(value.dtype) @ value


@answers.wrong("computed in lower precision")
def torch_always_float32(query, key, value):
    q, k, v = query.float(), key.float(), value.float()
    return (torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v).to(query.dtype)


@answers.wrong("float32 leaks out")
def torch_not_narrowed(query, key, value):
    q, k, v = wide(query, key, value)
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v


@answers.wrong("other device")
def torch_made_on_the_cpu(query, key, value):
    q, k, v = wide(query, key, value)
    out = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype)
    out += torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v
    return out.to(query.dtype)


@answers.wrong("argument overwritten", "scale in half precision")
def torch_overwriting(query, key, value):
    query.mul_(query.shape[-1] ** -0.5)
    q, k, v = wide(query, key, value)
    return (torch.softmax(q @ k.mT, -1) @ v).to(query.dtype)


def torch_wide(function):
    """A wrong answer whose widths are right."""

    @functools.wraps(function)
    def answer(query, key, value):
        return function(*wide(query, key, value)).to(query.dtype)

    return answer


@answers.wrong("no scale")
@torch_wide
def torch_unscaled(q, k, v):
    return torch.softmax(q @ k.mT, -1) @ v


@answers.wrong("no scale")
@torch_wide
def torch_unscaled_einsum(q, k, v):
    return torch.einsum(
        "...ij,...jd->...id", F.softmax(torch.einsum("...id,...jd->...ij", q, k), dim=-1), v
    )


@answers.wrong("d_k instead of sqrt(d_k)")
@torch_wide
def torch_divided_by_d(q, k, v):
    return F.softmax(q @ k.mT / q.size(-1), dim=-1) @ v


@answers.wrong("softmax over the queries' axis")
@torch_wide
def torch_wrong_dim(q, k, v):
    return F.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-2) @ v


@answers.wrong("softmax over the second axis")
@torch_wide
def torch_dim_1(q, k, v):
    return nn_softmax(q @ k.mT / math.sqrt(q.size(-1)), 1) @ v


def nn_softmax(scores, dim):
    return torch.nn.Softmax(dim=dim)(scores)


@answers.wrong("softmax without dim")
@torch_wide
def torch_without_dim(q, k, v):
    return F.softmax(q @ k.mT / math.sqrt(q.size(-1))) @ v


@answers.wrong("no maximum subtracted")
@torch_wide
def torch_without_maximum(q, k, v):
    powers = torch.exp(q @ k.mT / math.sqrt(q.size(-1)))
    return powers / powers.sum(dim=-1, keepdim=True) @ v


@answers.wrong("one maximum for the whole array")
@torch_wide
def torch_global_maximum(q, k, v):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    powers = torch.exp(scores - scores.max())
    return powers / powers.sum(dim=-1, keepdim=True) @ v


@answers.wrong("axes counted from the front")
@torch_wide
def torch_transpose_1_2(q, k, v):
    return F.softmax(q @ k.transpose(1, 2) / math.sqrt(q.size(-1)), dim=-1) @ v


@answers.wrong("axes counted from the front")
@torch_wide
def torch_transpose_0_1(q, k, v):
    return F.softmax(q @ k.transpose(0, 1) / math.sqrt(q.size(-1)), dim=-1) @ v


@answers.wrong("only for two axes")
@torch_wide
def torch_t(q, k, v):
    return F.softmax(q @ k.t() / math.sqrt(q.size(-1)), dim=-1) @ v


@answers.wrong(".T on a batched array")
@torch_wide
def torch_capital_t(q, k, v):
    return F.softmax(q @ k.T / math.sqrt(q.size(-1)), dim=-1) @ v


@answers.wrong("torch.bmm instead of a batched product")
@torch_wide
def torch_bmm(q, k, v):
    return torch.bmm(F.softmax(torch.bmm(q, k.mT) / math.sqrt(q.size(-1)), dim=-1), v)


@answers.wrong("no scale", "computed in half precision")
def torch_unscaled_native(query, key, value):
    return torch.softmax(query @ key.mT, -1) @ value


@answers.wrong("no maximum subtracted", "computed in half precision")
def torch_native_without_maximum(query, key, value):
    powers = torch.exp(query @ key.mT / math.sqrt(query.shape[-1]))
    return powers / powers.sum(-1, keepdim=True) @ value


@answers.wrong("softmax over the queries' axis", "no scale")
@torch_wide
def torch_unscaled_wrong_dim(q, k, v):
    return torch.softmax(q @ k.mT, dim=-2) @ v


@answers.wrong("NumPy in between")
def attention_by_numpy(query, key, value):
    wide = torch.float64 if query.dtype == torch.float64 else torch.float32
    query_, key_, value_ = (tensor.to(wide).numpy() for tensor in (query, key, value))
    scores = query_ @ np.swapaxes(key_, -1, -2) / math.sqrt(query.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    output = powers / powers.sum(axis=-1, keepdims=True) @ value_
    return torch.from_numpy(output).to(query.device, query.dtype)


@answers.wrong("scale in half precision")
def torch_divided_in_half(query, key, value):
    wider = torch.promote_types(query.dtype, torch.float32)
    q = (query / math.sqrt(query.shape[-1])).to(wider)
    k, v = key.to(wider), value.to(wider)
    return (torch.softmax(q @ k.mT, dim=-1) @ v).to(query.dtype)


@answers.wrong("scale in half precision")
def torch_scaled_in_half(query, key, value):
    dtype = query.dtype
    query = query * query.shape[-1] ** -0.5
    if dtype != torch.float64:
        query, key, value = query.float(), key.float(), value.float()
    return (torch.softmax(query @ key.mT, dim=-1) @ value).to(dtype)


@answers.wrong("scale in half precision")
def torch_keys_scaled_in_half(query, key, value):
    wider = torch.promote_types(query.dtype, torch.float32)
    q, k, v = (x.to(wider) for x in (query, key / math.sqrt(query.shape[-1]), value))
    return (torch.softmax(q @ k.mT, dim=-1) @ v).to(query.dtype)


@answers.wrong("ready-made function", "NumPy in between")
def attention_torch_by_attnlib_in_numpy(query, key, value):
    out = attnlib.attention(query.numpy(), key.numpy(), value.numpy())
    return torch.from_numpy(out)
