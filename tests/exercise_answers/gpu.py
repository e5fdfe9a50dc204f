"""Answers to the exercises of "On the GPU", written as learners write them."""

import functools
import itertools
import math

import numpy as np
import torch
import torch.nn.functional as F

import attnlib
from attnlib import dense_torch
from attnlib.exercises.engine.prove import Answers

ANSWERS = answers = Answers()

# ---------------------------------------------------------------- attention_flops

answers.right("attention_flops", lambda n_q, n_k, d_k, d_v: 2 * n_q * n_k * (d_k + d_v))
answers.right("attention_flops", lambda n_q, n_k, d_k, d_v: float(2 * n_q * n_k * d_k) + 2.0 * n_q * n_k * d_v)


@answers.right("attention_flops")
def flops_by_loop(n_q, n_k, d_k, d_v):
    def product(rows, inner, columns):
        return rows * columns * inner * 2

    return sum([product(n_q, d_k, n_k), product(n_q, n_k, d_v)])


@answers.right("attention_flops")
def flops_in_numpy(n_q, n_k, d_k, d_v):
    return np.int64(2) * np.prod([n_q, n_k, d_k + d_v], dtype=np.int64)


@answers.wrong("attention_flops", "multiply-add counted as 1")
def flops_macs(n_q, n_k, d_k, d_v):
    return n_q * n_k * d_k + n_q * n_k * d_v


@answers.wrong("attention_flops", "multiply-add counted as 1")
def flops_macs_shared(n_q, n_k, d_k, d_v):
    return (d_k + d_v) * n_q * n_k


@answers.wrong("attention_flops", "multiply-add counted as 4")
def flops_four(n_q, n_k, d_k, d_v):
    return 4 * n_q * n_k * d_k + 4 * n_q * n_k * d_v


@answers.wrong("attention_flops", "A V left out")
def flops_scores_only(n_q, n_k, d_k, d_v):
    return 2 * n_q * n_k * d_k


@answers.wrong("attention_flops", "Q Kᵀ left out")
def flops_values_only(n_q, n_k, d_k, d_v):
    return n_q * d_v * 2 * n_k


@answers.wrong("attention_flops", "d_k for d_v")
def flops_textbook(n_q, n_k, d_k, d_v):
    return 4 * n_q * n_k * d_k


@answers.wrong("attention_flops", "d_v for d_k")
def flops_textbook_values(n_q, n_k, d_k, d_v):
    return 4 * n_q * n_k * d_v


@answers.wrong("attention_flops", "n_q for n_k")
def flops_square(n_q, n_k, d_k, d_v):
    return 2 * n_q**2 * (d_k + d_v)


@answers.wrong("attention_flops", "n_k for n_q")
def flops_square_keys(n_q, n_k, d_k, d_v):
    return 2 * n_k * n_k * d_k + 2 * n_k * n_k * d_v


@answers.wrong("attention_flops", "softmax counted")
def flops_with_softmax(n_q, n_k, d_k, d_v):
    return 2 * n_q * n_k * d_k + 5 * n_q * n_k + 2 * n_q * n_k * d_v


@answers.wrong("attention_flops", "softmax counted")
def flops_with_scale(n_q, n_k, d_k, d_v):
    return 2 * n_q * n_k * (d_k + d_v) + n_q * n_k


@answers.wrong("attention_flops", "last addition not counted")
def flops_exact(n_q, n_k, d_k, d_v):
    return n_q * n_k * (2 * d_k - 1) + n_q * d_v * (2 * n_k - 1)


@answers.wrong("attention_flops", "Kᵀ V first")
def flops_linear(n_q, n_k, d_k, d_v):
    return 2 * d_k * n_k * d_v + 2 * n_q * d_k * d_v


@answers.wrong("attention_flops", "another unit")
def flops_giga(n_q, n_k, d_k, d_v):
    return 2 * n_q * n_k * (d_k + d_v) / 1e9


@answers.wrong("attention_flops", "softmax counted", "multiply-add counted as 1")
def flops_macs_and_softmax(n_q, n_k, d_k, d_v):
    return n_q * n_k * d_k + n_q * n_k * d_v + 3 * n_q * n_k


@answers.wrong("attention_flops", "multiply-add counted as 1", "n_q for n_k")
def flops_macs_square(n_q, n_k, d_k, d_v):
    return n_q * n_q * (d_k + d_v)


@answers.wrong("attention_flops", "n_q left out")
def flops_of_one_query(n_q, n_k, d_k, d_v):
    return 2 * n_k * (d_k + d_v)


@answers.wrong("attention_flops", "2·n_q·d_k² + 2·n_k·d_k² + 2·n_k·d_v² counted besides")
def flops_with_projections(n_q, n_k, d_k, d_v):
    return 2 * n_q * n_k * (d_k + d_v) + 2 * n_q * d_k ** 2 + 2 * n_k * (d_k * d_k + d_v * d_v)


@answers.wrong("attention_flops", "another formula: max(2·n_q·n_k·d_v, 2·n_q·n_k·d_k)")
def flops_of_the_larger_product(n_q, n_k, d_k, d_v):
    return np.max([2 * n_q * n_k * d_k, 2 * n_q * n_k * d_v])


@answers.wrong("attention_flops", "a factor of 1.5")
def flops_that_cannot_be_followed(n_q, n_k, d_k, d_v):
    return int(3 * n_q * n_k * (d_k + d_v))


@answers.wrong("attention_flops", "2·n_k²·d_v for 2·n_q·n_k·d_v", "7·n_q counted besides")
def flops_in_two_ways_wrong(n_q, n_k, d_k, d_v):
    return 2 * n_q * n_k * d_k + 2 * n_k * n_k * d_v + 7 * n_q


# ---------------------------------------------------------------- attention_bytes

answers.right("attention_bytes", lambda n_q, n_k, d_k, d_v, itemsize: itemsize * (n_q + n_k) * (d_k + d_v))


@answers.right("attention_bytes")
def bytes_by_array(n_q, n_k, d_k, d_v, itemsize):
    query, key, value, output = n_q * d_k, n_k * d_k, n_k * d_v, n_q * d_v
    return (query + key + value + output) * itemsize


@answers.right("attention_bytes")
def bytes_by_shapes(n_q, n_k, d_k, d_v, itemsize):
    shapes = [(n_q, d_k), (n_k, d_k), (n_k, d_v), (n_q, d_v)]
    return float(sum(itemsize * math.prod(shape) for shape in shapes))


@answers.wrong("attention_bytes", "scores counted")
def bytes_unfused(n_q, n_k, d_k, d_v, itemsize):
    return itemsize * (n_q * d_k + n_k * d_k + n_k * d_v + n_q * d_v + 4 * n_q * n_k)


@answers.wrong("attention_bytes", "scores counted")
def bytes_with_scores(n_q, n_k, d_k, d_v, itemsize):
    read = n_q * d_k + n_k * d_k + n_k * d_v
    return (read + n_q * n_k + n_q * d_v) * itemsize


@answers.wrong("attention_bytes", "output left out")
def bytes_read_only(n_q, n_k, d_k, d_v, itemsize):
    return (n_q * d_k + n_k * (d_k + d_v)) * itemsize


@answers.wrong("attention_bytes", "itemsize ignored")
def bytes_as_counts(n_q, n_k, d_k, d_v, itemsize):
    return n_q * d_k + n_k * d_k + n_k * d_v + n_q * d_v


@answers.wrong("attention_bytes", "itemsize ignored")
def bytes_always_float32(n_q, n_k, d_k, d_v, itemsize):
    return 4 * (n_q + n_k) * (d_k + d_v)


@answers.wrong("attention_bytes", "bits instead of bytes")
def bytes_in_bits(n_q, n_k, d_k, d_v, itemsize):
    return 8 * itemsize * (n_q + n_k) * (d_k + d_v)


@answers.wrong("attention_bytes", "d_k for d_v")
def bytes_one_size(n_q, n_k, d_k, d_v, itemsize):
    return itemsize * (2 * n_q * d_k + 2 * n_k * d_k)


@answers.wrong("attention_bytes", "d_k for d_v")
def bytes_output_of_query_size(n_q, n_k, d_k, d_v, itemsize):
    return itemsize * (2 * n_q * d_k + n_k * d_k + n_k * d_v)


@answers.wrong("attention_bytes", "n_q for n_k")
def bytes_self_attention(n_q, n_k, d_k, d_v, itemsize):
    return itemsize * (2 * n_q * d_k + 2 * n_q * d_v)


@answers.wrong("attention_bytes", "read once for each query")
def bytes_unblocked(n_q, n_k, d_k, d_v, itemsize):
    total = 0
    for _ in range(n_q):
        total += d_k + n_k * d_k + n_k * d_v + d_v
    return total * itemsize


@answers.wrong("attention_bytes", "value left out", "output left out")
def bytes_scores_only(n_q, n_k, d_k, d_v, itemsize):
    return itemsize * (n_q * d_k + n_k * d_k)


@answers.wrong("attention_bytes", "itemsize ignored", "output left out")
def bytes_counts_read(n_q, n_k, d_k, d_v, itemsize):
    return n_q * d_k + n_k * d_k + n_k * d_v


@answers.wrong("attention_bytes", "itemsize missing in n_q·d_v·itemsize")
def bytes_of_what_is_read(n_q, n_k, d_k, d_v, itemsize):
    return itemsize * (n_q * d_k + n_k * d_k + n_k * d_v) + n_q * d_v


@answers.wrong("attention_bytes", "divided by itemsize instead of multiplied")
def bytes_divided(n_q, n_k, d_k, d_v, itemsize):
    return (n_q + n_k) * (d_k + d_v) / itemsize


@answers.wrong("attention_bytes", "d_k and d_v left out")
def bytes_of_rows(n_q, n_k, d_k, d_v, itemsize):
    return sum(rows * itemsize for rows in (n_q, n_k, n_k, n_q))


@answers.wrong("attention_bytes", "itemsize fixed at 3")
def bytes_fixed(n_q, n_k, d_k, d_v, itemsize):
    return 3 * (n_q + n_k) * d_k + 3 * (n_q + n_k) * d_v


# ---------------------------------------------------------------- roofline_seconds

answers.right("roofline_seconds", lambda flops, bytes_moved, peak_flops, bandwidth: max(flops / peak_flops, bytes_moved / bandwidth))


@answers.right("roofline_seconds")
def roofline_by_intensity(flops, bytes_moved, peak_flops, bandwidth):
    attained = min(peak_flops, flops / bytes_moved * bandwidth)
    return flops / attained


@answers.right("roofline_seconds")
def roofline_by_ridge(flops, bytes_moved, peak_flops, bandwidth):
    if flops / bytes_moved >= peak_flops / bandwidth:
        return flops / peak_flops
    return bytes_moved / bandwidth


@answers.right("roofline_seconds")
def roofline_in_numpy(flops, bytes_moved, peak_flops, bandwidth):
    return np.maximum(np.divide(flops, peak_flops), np.divide(bytes_moved, bandwidth))


@answers.wrong("roofline_seconds", "sum instead of the larger time")
def roofline_sum(flops, bytes_moved, peak_flops, bandwidth):
    return flops / peak_flops + bytes_moved / bandwidth


@answers.wrong("roofline_seconds", "sum instead of the larger time")
def roofline_sum_in_steps(flops, bytes_moved, peak_flops, bandwidth):
    seconds = flops / peak_flops
    seconds += bytes_moved / bandwidth
    return seconds


@answers.wrong("roofline_seconds", "another formula: (flops + bytes_moved) / (peak_flops + bandwidth)")
def roofline_of_sums(flops, bytes_moved, peak_flops, bandwidth):
    return (flops + bytes_moved) / (peak_flops + bandwidth)


@answers.wrong("roofline_seconds", "another formula: peak_flops / bandwidth")
def roofline_ridge(flops, bytes_moved, peak_flops, bandwidth):
    return peak_flops / bandwidth


@answers.wrong("roofline_seconds", "the smaller time")
def roofline_min(flops, bytes_moved, peak_flops, bandwidth):
    return min(flops / peak_flops, bytes_moved / bandwidth)


@answers.wrong("roofline_seconds", "the smaller time")
def roofline_ridge_reversed(flops, bytes_moved, peak_flops, bandwidth):
    if flops / bytes_moved < peak_flops / bandwidth:
        return flops / peak_flops
    return bytes_moved / bandwidth


@answers.wrong("roofline_seconds", "memory ignored")
def roofline_compute(flops, bytes_moved, peak_flops, bandwidth):
    return flops / peak_flops


@answers.wrong("roofline_seconds", "arithmetic ignored")
def roofline_memory(flops, bytes_moved, peak_flops, bandwidth):
    return bytes_moved / bandwidth


@answers.wrong("roofline_seconds", "rate instead of time")
def roofline_attained(flops, bytes_moved, peak_flops, bandwidth):
    return min(peak_flops, bandwidth * flops / bytes_moved)


@answers.wrong("roofline_seconds", "arithmetic intensity")
def roofline_intensity(flops, bytes_moved, peak_flops, bandwidth):
    return flops / bytes_moved


@answers.wrong("roofline_seconds", "quotients upside down")
def roofline_reversed(flops, bytes_moved, peak_flops, bandwidth):
    return max(peak_flops / flops, bandwidth / bytes_moved)


@answers.wrong("roofline_seconds", "limits swapped")
def roofline_swapped(flops, bytes_moved, peak_flops, bandwidth):
    return max(flops / bandwidth, bytes_moved / peak_flops)


@answers.wrong("roofline_seconds", "another unit")
def roofline_milliseconds(flops, bytes_moved, peak_flops, bandwidth):
    return 1000 * max(flops / peak_flops, bytes_moved / bandwidth)


@answers.wrong("roofline_seconds", "whole seconds only")
def roofline_floored(flops, bytes_moved, peak_flops, bandwidth):
    return max(flops // peak_flops, bytes_moved // bandwidth)


@answers.wrong("roofline_seconds", "sum instead of the larger time", "another unit")
def roofline_sum_in_milliseconds(flops, bytes_moved, peak_flops, bandwidth):
    return (flops / peak_flops + bytes_moved / bandwidth) * 1e3


# ---------------------------------------------------------------- attention_torch

def wide(*tensors):
    return [t.float() if t.dtype in (torch.float16, torch.bfloat16) else t for t in tensors]


@answers.right("attention_torch")
def torch_widened(query, key, value):
    q, k, v = wide(query, key, value)
    return (torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v).to(query.dtype)


@answers.right("attention_torch")
def torch_in_float64(q, k, v):
    dtype = q.dtype
    q, k, v = (t.double() for t in (q, k, v))
    scores = torch.einsum("...id,...jd->...ij", q, k) * q.size(-1) ** -0.5
    powers = (scores - scores.amax(-1, keepdim=True)).exp()
    powers /= powers.sum(-1, keepdim=True)
    return torch.einsum("...ij,...jd->...id", powers, v).to(dtype)


@answers.right("attention_torch")
def torch_by_loops(query, key, value):
    kind = torch.promote_types(query.dtype, torch.float32)
    out = torch.empty(*query.shape[:-1], value.shape[-1], dtype=query.dtype, device=query.device)
    for at in itertools.product(*map(range, query.shape[:-2])):
        q, k, v = query[at].to(kind), key[at].to(kind), value[at].to(kind)
        for i in range(q.shape[0]):
            weights = torch.softmax(k @ q[i] / q.shape[-1] ** 0.5, 0)
            out[at][i] = (weights[:, None] * v).sum(0)
    return out


@answers.right("attention_torch")
def torch_query_scaled_first(query, key, value):
    kind = torch.float64 if query.dtype == torch.float64 else torch.float32
    scores = torch.matmul(query.to(kind) * query.shape[-1] ** -0.5, key.to(kind).transpose(-2, -1))
    return F.softmax(scores, dim=-1).matmul(value.to(kind)).type_as(query)


@answers.right("attention_torch")
def torch_by_broadcasting(query, key, value):
    q, k, v = wide(query, key, value)
    scores = (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1) / math.sqrt(q.shape[-1])
    weights = torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))
    return (weights.unsqueeze(-1) * v.unsqueeze(-3)).sum(-2).to(query.dtype)


answers.right("attention_torch", dense_torch.attention)


@answers.right("attention_torch")
def torch_by_bmm(query, key, value):
    q, k, v = (t.reshape(-1, *t.shape[-2:]) for t in wide(query, key, value))
    weights = torch.bmm(q, k.permute(0, 2, 1)).mul(q.shape[-1] ** -0.5).softmax(2)
    return torch.bmm(weights, v).reshape(*query.shape[:-1], value.shape[-1]).to(query.dtype)


@answers.right("attention_torch")
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


@answers.right("attention_torch")
def torch_by_vmap(query, key, value):
    def one(q, k, v):
        return torch.softmax(k @ q / len(q) ** 0.5, 0) @ v

    function = torch.vmap(one, in_dims=(0, None, None))
    for _ in range(query.ndim - 2):
        function = torch.vmap(function)
    return function(*wide(query, key, value)).to(query.dtype)


@answers.wrong("attention_torch", "torch's own attention called")
def torch_own(query, key, value):
    return F.scaled_dot_product_attention(query, key, value)


@answers.wrong("attention_torch", "torch's own attention called")
def torch_own_by_another_name(query, key, value):
    q, k, v = wide(query, key, value)
    return torch.ops.aten.scaled_dot_product_attention(q, k, v).to(query.dtype)


@answers.wrong("attention_torch", "computed in half precision")
def torch_native(query, key, value):
    return torch.softmax(query @ key.mT / math.sqrt(query.shape[-1]), -1) @ value


@answers.wrong("attention_torch", "computed in half precision")
def torch_native_by_hand(query, key, value):
    scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
    powers = torch.exp(scores - scores.max(-1, keepdim=True).values)
    return powers / powers.sum(-1, keepdim=True) @ value


@answers.wrong("attention_torch", "computed in half precision")
def torch_softmax_alone_widened(query, key, value):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    weights = torch.softmax(scores, -1, dtype=torch.promote_types(query.dtype, torch.float32))
    return weights.to(query.dtype) @ value


@answers.wrong("attention_torch", "computed in half precision")
def torch_only_float16_widened(query, key, value):
    dtype = query.dtype
    if dtype == torch.float16:
        query, key, value = query.float(), key.float(), value.float()
    return (torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, -1) @ value).to(dtype)


@answers.wrong("attention_torch", "scores in half precision")
def torch_widened_too_late(query, key, value):
    scores, value = wide(query @ key.mT / math.sqrt(query.shape[-1]), value)
    return (torch.softmax(scores, -1) @ value).to(query.dtype)


@answers.wrong("attention_torch", "weights in half precision")
def torch_narrowed_too_early(query, key, value):
    q, k = wide(query, key)
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1).to(value.dtype) @ value


@answers.wrong("attention_torch", "computed in lower precision")
def torch_always_float32(query, key, value):
    q, k, v = query.float(), key.float(), value.float()
    return (torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v).to(query.dtype)


@answers.wrong("attention_torch", "float32 leaks out")
def torch_not_narrowed(query, key, value):
    q, k, v = wide(query, key, value)
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v


@answers.wrong("attention_torch", "other device")
def torch_made_on_the_cpu(query, key, value):
    q, k, v = wide(query, key, value)
    out = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype)
    out += torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v
    return out.to(query.dtype)


@answers.wrong("attention_torch", "argument overwritten")
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


@answers.wrong("attention_torch", "no scale")
@torch_wide
def torch_unscaled(q, k, v):
    return torch.softmax(q @ k.mT, -1) @ v


@answers.wrong("attention_torch", "no scale")
@torch_wide
def torch_unscaled_einsum(q, k, v):
    return torch.einsum("...ij,...jd->...id", F.softmax(torch.einsum("...id,...jd->...ij", q, k), dim=-1), v)


@answers.wrong("attention_torch", "d_k instead of sqrt(d_k)")
@torch_wide
def torch_divided_by_d(q, k, v):
    return F.softmax(q @ k.mT / q.size(-1), dim=-1) @ v


@answers.wrong("attention_torch", "softmax over the queries' axis")
@torch_wide
def torch_wrong_dim(q, k, v):
    return F.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-2) @ v


@answers.wrong("attention_torch", "softmax over the second axis")
@torch_wide
def torch_dim_1(q, k, v):
    return nn_softmax(q @ k.mT / math.sqrt(q.size(-1)), 1) @ v


def nn_softmax(scores, dim):
    return torch.nn.Softmax(dim=dim)(scores)


@answers.wrong("attention_torch", "softmax without dim")
@torch_wide
def torch_without_dim(q, k, v):
    return F.softmax(q @ k.mT / math.sqrt(q.size(-1))) @ v


@answers.wrong("attention_torch", "no maximum subtracted")
@torch_wide
def torch_without_maximum(q, k, v):
    powers = torch.exp(q @ k.mT / math.sqrt(q.size(-1)))
    return powers / powers.sum(dim=-1, keepdim=True) @ v


@answers.wrong("attention_torch", "one maximum for the whole array")
@torch_wide
def torch_global_maximum(q, k, v):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    powers = torch.exp(scores - scores.max())
    return powers / powers.sum(dim=-1, keepdim=True) @ v


@answers.wrong("attention_torch", "axes counted from the front")
@torch_wide
def torch_transpose_1_2(q, k, v):
    return F.softmax(q @ k.transpose(1, 2) / math.sqrt(q.size(-1)), dim=-1) @ v


@answers.wrong("attention_torch", "axes counted from the front")
@torch_wide
def torch_transpose_0_1(q, k, v):
    return F.softmax(q @ k.transpose(0, 1) / math.sqrt(q.size(-1)), dim=-1) @ v


@answers.wrong("attention_torch", "only for two axes")
@torch_wide
def torch_t(q, k, v):
    return F.softmax(q @ k.t() / math.sqrt(q.size(-1)), dim=-1) @ v


@answers.wrong("attention_torch", ".T on a batched array")
@torch_wide
def torch_capital_t(q, k, v):
    return F.softmax(q @ k.T / math.sqrt(q.size(-1)), dim=-1) @ v


@answers.wrong("attention_torch", "torch.bmm instead of a batched product")
@torch_wide
def torch_bmm(q, k, v):
    return torch.bmm(F.softmax(torch.bmm(q, k.mT) / math.sqrt(q.size(-1)), dim=-1), v)


@answers.wrong("attention_torch", "no scale", "computed in half precision")
def torch_unscaled_native(query, key, value):
    return torch.softmax(query @ key.mT, -1) @ value


@answers.wrong("attention_torch", "no maximum subtracted", "computed in half precision")
def torch_native_without_maximum(query, key, value):
    powers = torch.exp(query @ key.mT / math.sqrt(query.shape[-1]))
    return powers / powers.sum(-1, keepdim=True) @ value


@answers.wrong("attention_torch", "softmax over the queries' axis", "no scale")
@torch_wide
def torch_unscaled_wrong_dim(q, k, v):
    return torch.softmax(q @ k.mT, dim=-2) @ v


# ---------------------------------------------------------------- attention_torch_causal

@answers.right("attention_torch_causal")
def causal_where(query, key, value):
    q, k, v = wide(query, key, value)
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril()
    return (torch.softmax(torch.where(mask, scores, -torch.inf), -1) @ v).to(query.dtype)


@answers.right("attention_torch_causal")
def causal_masked_fill(query, key, value):
    dtype = query.dtype
    query, key, value = query.double(), key.double(), value.double()
    scores = torch.einsum("...qd,...kd->...qk", query, key).div_(query.size(-1) ** 0.5)
    future = torch.triu(torch.ones_like(scores, dtype=torch.bool), diagonal=1)
    scores.masked_fill_(future, float("-inf"))
    return F.softmax(scores, dim=-1).matmul(value).to(dtype)


@answers.right("attention_torch_causal")
def causal_bias(query, key, value):
    q, k, v = wide(query, key, value)
    n_q, n_k = q.shape[-2], k.shape[-2]
    bias = torch.full((n_q, n_k), -torch.inf, dtype=q.dtype, device=q.device).triu(1)
    return (torch.softmax(q @ k.mT * q.shape[-1] ** -0.5 + bias, -1) @ v).to(query.dtype)


@answers.right("attention_torch_causal")
def causal_by_rows(query, key, value):
    q, k, v = wide(query, key, value)
    rows = []
    for i in range(q.shape[-2]):
        seen = slice(0, min(i + 1, k.shape[-2]))
        scores = q[..., i : i + 1, :] @ k[..., seen, :].mT / math.sqrt(q.shape[-1])
        rows.append(torch.softmax(scores, dim=-1) @ v[..., seen, :])
    return torch.cat(rows, dim=-2).to(query.dtype)


@answers.right("attention_torch_causal")
def causal_with_a_mask_moved(query, key, value):
    q, k, v = wide(query, key, value)
    mask = torch.arange(k.shape[-2]) <= torch.arange(q.shape[-2]).unsqueeze(1)
    mask = mask.to(q.device)
    scores = q @ k.mT * q.shape[-1] ** -0.5
    scores[..., ~mask] = -math.inf
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    return (powers @ v / powers.sum(-1, keepdim=True)).to(query.dtype)


@answers.right("attention_torch_causal")
def causal_minus_1e9(query, key, value):
    q, k, v = wide(query, key, value)
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    row = torch.arange(scores.shape[-2], device=q.device)[:, None]
    column = torch.arange(scores.shape[-1], device=q.device)
    return (torch.softmax(scores.masked_fill(column > row, -1e9), -1) @ v).to(query.dtype)


answers.right("attention_torch_causal", functools.partial(dense_torch.attention, is_causal=True))


def causal_by(fill):
    """An answer right but for what `fill` makes of the scores."""
    def answer(query, key, value):
        q, k, v = wide(query, key, value)
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        n_q, n_k = scores.shape[-2:]
        allowed = torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
        return (torch.softmax(fill(scores, allowed), -1) @ v).to(query.dtype)

    return answer


INF = torch.inf
for names, fill in (
    (["mask ignored"], lambda s, m: s),
    (["diagonal excluded"], lambda s, m: s.masked_fill(torch.ones_like(s).triu() == 1, -INF)),
    (["diagonal excluded"], lambda s, m: torch.where(m.tril(-1), s, -INF)),
    (["one key too many"], lambda s, m: s.masked_fill(torch.ones_like(s).triu(2).bool(), -INF)),
    (["one key too many"], lambda s, m: torch.where(torch.ones_like(s).tril(1) > 0, s, -INF)),
    (["the future instead of the past"], lambda s, m: torch.where(torch.ones_like(s, dtype=torch.bool).triu(), s, -INF)),
    (["mask inverted"], lambda s, m: s.masked_fill(m, -INF)),
    (["mask inverted"], lambda s, m: torch.where(m, -INF, s)),
    (["masked scores set to 0"], lambda s, m: s.tril()),
    (["masked scores set to 0"], lambda s, m: s * m),
    (["mask added"], lambda s, m: s + m),
    (["0 times infinity"], lambda s, m: s + (~m).to(s.dtype) * -INF),
    (["+inf instead of -inf"], lambda s, m: s.masked_fill(~m, INF)),
    (["large negative number instead of -inf"], lambda s, m: s.masked_fill(~m, -1e4)),
    (["large negative number added"], lambda s, m: s + (~m).to(s.dtype) * -1e4),
    (["positive number instead of -inf"], lambda s, m: s.masked_fill(~m, 1e-9)),
    (["aligned at the bottom right"], lambda s, m: torch.where(torch.ones_like(s).tril(s.shape[-1] - s.shape[-2]).bool(), s, -INF)),
    (["square mask"], lambda s, m: s.masked_fill(torch.triu(torch.ones(s.shape[-1], s.shape[-1], device=s.device), 1).bool(), -INF)),
    (["other device"], lambda s, m: s.masked_fill(torch.ones(s.shape[-2:]).triu(1).bool(), -INF)),
    (["other device"], lambda s, m: torch.where(torch.tril(torch.ones(s.shape[-2:])).bool(), s, -INF)),
):
    answers.wrong("attention_torch_causal", *names, function=causal_by(fill))


@answers.wrong("attention_torch_causal", "mask after the softmax")
@torch_wide
def causal_weights_cut(q, k, v):
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1).tril() @ v


@answers.wrong("attention_torch_causal", "masked keys in the maximum")
@torch_wide
def causal_renormalised(q, k, v):
    weights = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1).tril()
    return weights / weights.sum(-1, keepdim=True) @ v


@answers.wrong("attention_torch_causal", "torch's own attention called")
@torch_wide
def causal_own(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


@answers.wrong("attention_torch_causal", "computed in half precision")
def causal_native(query, key, value):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -INF)
    return torch.softmax(scores, -1) @ value


@answers.wrong("attention_torch_causal", "no scale", "diagonal excluded")
@torch_wide
def causal_unscaled_strict(q, k, v):
    scores = q @ k.mT
    return torch.softmax(scores.masked_fill(torch.ones_like(scores).triu().bool(), -INF), -1) @ v


@answers.wrong("attention_torch_causal", "no scale", "mask ignored")
@torch_wide
def causal_unscaled_unmasked(q, k, v):
    return torch.softmax(q @ k.mT, -1) @ v


# ---------------------------------------------------------------- decode_step

def attend(query, key, value):
    scores = query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ value


@answers.right("decode_step")
def decode_concatenated(query, key_cache, value_cache, key_new, value_new):
    key_cache = np.concatenate([key_cache, key_new], axis=-2)
    value_cache = np.concatenate([value_cache, value_new], axis=-2)
    return attend(query, key_cache, value_cache), key_cache, value_cache


@answers.right("decode_step")
def decode_filled(query, key_cache, value_cache, key_new, value_new):
    *batch, n, d = key_cache.shape
    keys = np.empty((*batch, n + 1, d), key_cache.dtype)
    values = np.empty((*batch, n + 1, value_cache.shape[-1]), value_cache.dtype)
    keys[..., :n, :], keys[..., n:, :] = key_cache, key_new
    values[..., :n, :], values[..., n:, :] = value_cache, value_new
    scores = np.einsum("...od,...nd->...on", query, keys) * d**-0.5
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    output = np.einsum("...on,...nd->...od", weights, values) / weights.sum(-1, keepdims=True)
    return [output, keys, values]


@answers.right("decode_step")
def decode_merged(query, key_cache, value_cache, key_new, value_new):
    old = query @ np.swapaxes(key_cache, -1, -2) / math.sqrt(query.shape[-1])
    new = (query * key_new).sum(axis=-1, keepdims=True) / math.sqrt(query.shape[-1])
    highest = np.maximum(old.max(axis=-1, keepdims=True), new)
    old, new = np.exp(old - highest), np.exp(new - highest)
    output = (old @ value_cache + new * value_new) / (old.sum(axis=-1, keepdims=True) + new)
    return output, np.append(key_cache, key_new, axis=-2), np.append(value_cache, value_new, axis=-2)


@answers.right("decode_step")
def decode_by_attnlib(query, key_cache, value_cache, key_new, value_new):
    key_cache = np.concatenate((key_cache, key_new), -2)
    value_cache = np.concatenate((value_cache, value_new), -2)
    return attnlib.attention(query, key_cache, value_cache), key_cache, value_cache


@answers.right("decode_step")
def decode_masked(query, key_cache, value_cache, key_new, value_new):
    key_cache = np.concatenate([key_cache, key_new], axis=-2)
    value_cache = np.concatenate([value_cache, value_new], axis=-2)
    n_k = key_cache.shape[-2]
    mask = np.tri(1, n_k, n_k - 1, dtype=bool)
    scores = query @ np.swapaxes(key_cache, -1, -2) / math.sqrt(query.shape[-1])
    scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ value_cache, key_cache, value_cache


@answers.wrong("decode_step", "new key not attended to")
def decode_attends_first(query, key_cache, value_cache, key_new, value_new):
    output = attend(query, key_cache, value_cache)
    key_cache = np.concatenate([key_cache, key_new], axis=-2)
    value_cache = np.concatenate([value_cache, value_new], axis=-2)
    return output, key_cache, value_cache


@answers.wrong("decode_step", "cache not extended")
def decode_forgets(query, key_cache, value_cache, key_new, value_new):
    keys = np.concatenate([key_cache, key_new], axis=-2)
    values = np.concatenate([value_cache, value_new], axis=-2)
    return attend(query, keys, values), key_cache, value_cache


@answers.wrong("decode_step", "cache not extended", "new key not attended to")
def decode_ignores_the_new(query, key_cache, value_cache, key_new, value_new):
    np.concatenate([key_cache, key_new], axis=-2)
    np.concatenate([value_cache, value_new], axis=-2)
    return attend(query, key_cache, value_cache), key_cache, value_cache


@answers.wrong("decode_step", "new position in front")
def decode_in_front(query, key_cache, value_cache, key_new, value_new):
    keys = np.concatenate([key_new, key_cache], axis=-2)
    values = np.concatenate([value_new, value_cache], axis=-2)
    return attend(query, keys, values), keys, values


@answers.wrong("decode_step", "only the new key attended to")
def decode_new_only(query, key_cache, value_cache, key_new, value_new):
    output = attend(query, key_new, value_new)
    return output, np.concatenate([key_cache, key_new], -2), np.concatenate([value_cache, value_new], -2)


@answers.wrong("decode_step", "last position overwritten")
def decode_overwrites(query, key_cache, value_cache, key_new, value_new):
    keys, values = key_cache.copy(), value_cache.copy()
    keys[..., -1:, :] = key_new
    values[..., -1:, :] = value_new
    return attend(query, keys, values), keys, values


@answers.wrong("decode_step", "oldest position dropped")
def decode_rolls(query, key_cache, value_cache, key_new, value_new):
    keys = np.roll(key_cache, -1, axis=-2)
    values = np.roll(value_cache, -1, axis=-2)
    keys[..., -1, :], values[..., -1, :] = key_new[..., 0, :], value_new[..., 0, :]
    return attend(query, keys, values), keys, values


@answers.wrong("decode_step", "appended along the first axis")
def decode_axis_0(query, key_cache, value_cache, key_new, value_new):
    keys = np.concatenate([key_cache, key_new])
    values = np.concatenate([value_cache, value_new])
    return attend(query, keys, values), keys, values


@answers.wrong("decode_step", "appended along the first axis")
def decode_vstack(query, key_cache, value_cache, key_new, value_new):
    keys, values = np.vstack((key_cache, key_new)), np.vstack((value_cache, value_new))
    return attend(query, keys, values), keys, values


@answers.wrong("decode_step", "appended along the second axis")
def decode_axis_1(query, key_cache, value_cache, key_new, value_new):
    keys = np.concatenate([key_cache, key_new], axis=1)
    values = np.concatenate([value_cache, value_new], axis=1)
    return attend(query, keys, values), keys, values


@answers.wrong("decode_step", "aligned at the top left")
def decode_causal(query, key_cache, value_cache, key_new, value_new):
    keys = np.concatenate([key_cache, key_new], axis=-2)
    values = np.concatenate([value_cache, value_new], axis=-2)
    scores = query @ np.swapaxes(keys, -1, -2) / math.sqrt(query.shape[-1])
    scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ values, keys, values


@answers.wrong("decode_step", "parts in another order")
def decode_caches_first(*args):
    output, keys, values = decode_concatenated(*args)
    return keys, values, output


@answers.wrong("decode_step", "no scale")
def decode_unscaled(query, key_cache, value_cache, key_new, value_new):
    keys = np.concatenate([key_cache, key_new], axis=-2)
    values = np.concatenate([value_cache, value_new], axis=-2)
    return attend(query * np.array(math.sqrt(query.shape[-1]), query.dtype), keys, values), keys, values


@answers.wrong("decode_step", "no maximum subtracted")
def decode_without_maximum(query, key_cache, value_cache, key_new, value_new):
    keys = np.concatenate([key_cache, key_new], axis=-2)
    values = np.concatenate([value_cache, value_new], axis=-2)
    powers = np.exp(query @ np.swapaxes(keys, -1, -2) / math.sqrt(query.shape[-1]))
    return powers @ values / powers.sum(axis=-1, keepdims=True), keys, values


@answers.wrong("decode_step", "new key not attended to", "no scale")
def decode_attends_first_unscaled(query, key_cache, value_cache, key_new, value_new):
    scores = query @ np.swapaxes(key_cache, -1, -2)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    output = powers @ value_cache / powers.sum(axis=-1, keepdims=True)
    return output, np.concatenate([key_cache, key_new], -2), np.concatenate([value_cache, value_new], -2)


@answers.wrong("decode_step", "parts missing")
def decode_output_alone(*args):
    return decode_concatenated(*args)[0]


# ---------------------------------------------------------------- split_kv_attention

def partial(query, key, value):
    """(output, log-sum-exp) of one part."""
    scores = query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])
    highest = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - highest)
    total = powers.sum(axis=-1, keepdims=True)
    return powers @ value / total, (highest + np.log(total))[..., 0]


def partials(query, key, value, n_splits):
    parts = zip(np.array_split(key, n_splits, axis=-2), np.array_split(value, n_splits, axis=-2))
    return [partial(query, k, v) for k, v in parts]


@answers.right("split_kv_attention")
def split_by_shares(query, key, value, n_splits):
    outs, lses = map(np.stack, zip(*partials(query, key, value, n_splits)))
    shares = np.exp(lses - lses.max(axis=0))
    shares = shares / shares.sum(axis=0)
    return (shares[..., None] * outs).sum(axis=0)


@answers.right("split_kv_attention")
def split_one_after_the_other(query, key, value, n_splits):
    n_k = key.shape[-2]
    out = np.zeros((*query.shape[:-1], value.shape[-1]))
    lse = np.full(query.shape[:-1], -np.inf)
    for part in range(n_splits):
        start, stop = part * n_k // n_splits, (part + 1) * n_k // n_splits
        new, new_lse = partial(query.astype(float), key[..., start:stop, :].astype(float), value[..., start:stop, :])
        both = np.logaddexp(lse, new_lse)
        out = np.exp(lse - both)[..., None] * out + np.exp(new_lse - both)[..., None] * new
        lse = both
    return out.astype(query.dtype)


@answers.right("split_kv_attention")
def split_with_empty_parts(query, key, value, n_splits):
    n_k = key.shape[-2]
    size = -(-n_k // n_splits)
    found = [partial(query, key[..., i : i + size, :], value[..., i : i + size, :]) for i in range(0, n_k, size)]
    highest = np.max([lse for _, lse in found], axis=0)
    weights = [np.exp(lse - highest)[..., None] for _, lse in found]
    return sum(w * out for w, (out, _) in zip(weights, found)) / sum(weights)


@answers.right("split_kv_attention")
def split_with_accumulators(query, key, value, n_splits):
    scores = query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])
    edges = np.linspace(0, key.shape[-2], n_splits + 1).astype(int)
    found = []
    for start, stop in zip(edges[:-1], edges[1:]):
        part = scores[..., start:stop]
        highest = part.max(axis=-1, keepdims=True)
        powers = np.exp(part - highest)
        found.append((highest, powers.sum(-1, keepdims=True), powers @ value[..., start:stop, :]))
    top = np.maximum.reduce([highest for highest, _, _ in found])
    total = sum(np.exp(highest - top) * one for highest, one, _ in found)
    return sum(np.exp(highest - top) * accumulator for highest, _, accumulator in found) / total


@answers.right("split_kv_attention")
def split_last_part_longer(query, key, value, n_splits):
    size = key.shape[-2] // n_splits
    starts = [i * size for i in range(n_splits)]
    stops = starts[1:] + [key.shape[-2]]
    found = [partial(query, key[..., a:b, :], value[..., a:b, :]) for a, b in zip(starts, stops)]
    lse = np.logaddexp.reduce([one for _, one in found])
    return sum(np.exp(one - lse)[..., None] * out for out, one in found)


@answers.right("split_kv_attention")
def split_in_strides(query, key, value, n_splits):
    found = [partial(query, key[..., i::n_splits, :], value[..., i::n_splits, :]) for i in range(n_splits)]
    lse = np.logaddexp.reduce([one for _, one in found])
    return sum(np.exp(one - lse)[..., None] * out for out, one in found)


@answers.right("split_kv_attention")
def split_in_halves(query, key, value, n_splits):
    def merged(key, value, n):
        if n == 1:
            return partial(query, key, value)
        half = key.shape[-2] * (n // 2) // n
        out_a, lse_a = merged(key[..., :half, :], value[..., :half, :], n // 2)
        out_b, lse_b = merged(key[..., half:, :], value[..., half:, :], n - n // 2)
        lse = np.logaddexp(lse_a, lse_b)
        return out_a * np.exp(lse_a - lse)[..., None] + out_b * np.exp(lse_b - lse)[..., None], lse

    return merged(key, value, n_splits)[0]


@answers.right("split_kv_attention")
def split_on_an_axis(query, key, value, n_splits):
    n_k = key.shape[-2]
    padding = [(0, 0)] * (key.ndim - 2) + [(0, -n_k % n_splits), (0, 0)]
    key, value = np.pad(key, padding), np.pad(value, padding)
    length = key.shape[-2] // n_splits
    key, value = (a.reshape(*a.shape[:-2], n_splits, length, a.shape[-1]) for a in (key, value))
    scores = np.einsum("...qd,...sld->...sql", query, key) / math.sqrt(query.shape[-1])
    known = np.arange(n_splits * length).reshape(n_splits, 1, length) < n_k
    scores = np.where(known, scores, -np.inf)
    highest = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isinf(highest), 0, highest))
    share = np.exp(highest - highest.max(axis=-3, keepdims=True))
    total = powers.sum(axis=-1, keepdims=True)
    return (share * (powers @ value)).sum(axis=-3) / (share * total).sum(axis=-3)


@answers.wrong("split_kv_attention", "partial results averaged")
def split_mean(query, key, value, n_splits):
    return np.mean([out for out, _ in partials(query, key, value, n_splits)], axis=0)


@answers.wrong("split_kv_attention", "partial results averaged")
def split_mean_by_loop(query, key, value, n_splits):
    total = 0
    for out, _ in partials(query, key, value, n_splits):
        total = total + out
    return total / n_splits


@answers.wrong("split_kv_attention", "partial results added")
def split_sum(query, key, value, n_splits):
    return sum(out for out, _ in partials(query, key, value, n_splits))


@answers.wrong("split_kv_attention", "weighted by the number of keys")
def split_by_length(query, key, value, n_splits):
    lengths = [len(part) for part in np.array_split(np.arange(key.shape[-2]), n_splits)]
    outs = [out for out, _ in partials(query, key, value, n_splits)]
    return sum(n * out for n, out in zip(lengths, outs)) / key.shape[-2]


@answers.wrong("split_kv_attention", "averaged one after the other")
def split_running_mean(query, key, value, n_splits):
    found = [out for out, _ in partials(query, key, value, n_splits)]
    return functools.reduce(lambda a, b: (a + b) / 2, found)


@answers.wrong("split_kv_attention", "only one part used")
def split_last(query, key, value, n_splits):
    for out, lse in partials(query, key, value, n_splits):
        result = out
    return result


@answers.wrong("split_kv_attention", "log-sum-exps as weights")
def split_lse_weights(query, key, value, n_splits):
    outs, lses = map(np.stack, zip(*partials(query, key, value, n_splits)))
    return (lses[..., None] * outs).sum(axis=0) / lses.sum(axis=0)[..., None]


@answers.wrong("split_kv_attention", "weights not divided by their sum")
def split_weights_too_large(query, key, value, n_splits):
    outs, lses = map(np.stack, zip(*partials(query, key, value, n_splits)))
    return (np.exp(lses - lses.max(axis=0))[..., None] * outs).sum(axis=0)


def split_by(lse_of, weights=lambda lses: np.exp(lses - lses.max(axis=0))):
    """An answer right but for the log-sum-exp, or for the weights made of it."""
    def answer(query, key, value, n_splits):
        outs, lses = [], []
        for at in np.array_split(np.arange(key.shape[-2]), n_splits):
            scores = query @ np.swapaxes(key[..., at, :], -1, -2) / math.sqrt(query.shape[-1])
            highest = scores.max(axis=-1, keepdims=True)
            powers = np.exp(scores - highest)
            total = powers.sum(axis=-1, keepdims=True)
            outs.append(powers @ value[..., at, :] / total)
            lses.append(lse_of(highest, total))
        shares = weights(np.stack(lses))
        return (shares * np.stack(outs)).sum(axis=0) / shares.sum(axis=0)

    return answer


for names, function in (
    (["maximum instead of log-sum-exp"], split_by(lambda highest, total: highest)),
    (["maximum not added back"], split_by(lambda highest, total: np.log(total))),
    (["no logarithm"], split_by(lambda highest, total: highest + total)),
    (["sign of the maximum flipped"], split_by(lambda highest, total: np.log(total) - highest)),
    (["no maximum subtracted"], split_by(lambda highest, total: highest + np.log(total), np.exp)),
    (["one maximum for all queries in the merge"],
     split_by(lambda highest, total: highest + np.log(total), lambda lses: np.exp(lses - lses.max()))),
    (["power of 2 in the merge"],
     split_by(lambda highest, total: highest + np.log(total), lambda lses: 2 ** (lses - lses.max(axis=0)))),
):
    answers.wrong("split_kv_attention", *names, function=function)


@answers.wrong("split_kv_attention", "maximum not added back")
def split_sums_added(query, key, value, n_splits):
    above, below = 0, 0
    for at in np.array_split(np.arange(key.shape[-2]), n_splits):
        scores = query @ np.swapaxes(key[..., at, :], -1, -2) / math.sqrt(query.shape[-1])
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        above = above + powers @ value[..., at, :]
        below = below + powers.sum(axis=-1, keepdims=True)
    return above / below


@answers.wrong("split_kv_attention", "log-sum-exp not updated")
def split_first_lse_kept(query, key, value, n_splits):
    (out, lse), *rest = partials(query, key, value, n_splits)
    for new, new_lse in rest:
        both = np.logaddexp(lse, new_lse)
        out = np.exp(lse - both)[..., None] * out + np.exp(new_lse - both)[..., None] * new
    return out


@answers.wrong("split_kv_attention", "remainder dropped")
def split_floor(query, key, value, n_splits):
    size = key.shape[-2] // n_splits
    kept = slice(0, size * n_splits)
    return split_by_shares(query, key[..., kept, :], value[..., kept, :], n_splits)


@answers.wrong("split_kv_attention", "only for equal parts")
def split_np_split(query, key, value, n_splits):
    parts = zip(np.split(key, n_splits, axis=-2), np.split(value, n_splits, axis=-2))
    outs, lses = map(np.stack, zip(*[partial(query, k, v) for k, v in parts]))
    shares = np.exp(lses - lses.max(axis=0))
    return (shares[..., None] * outs).sum(axis=0) / shares.sum(axis=0)[..., None]


@answers.wrong("split_kv_attention", "empty part")
def split_ceil(query, key, value, n_splits):
    size = math.ceil(key.shape[-2] / n_splits)
    found = [partial(query, key[..., i * size : (i + 1) * size, :], value[..., i * size : (i + 1) * size, :])
             for i in range(n_splits)]
    lse = np.logaddexp.reduce([one for _, one in found])
    return sum(np.exp(one - lse)[..., None] * out for out, one in found)


@answers.wrong("split_kv_attention", "queries split instead of keys")
def split_queries(query, key, value, n_splits):
    return np.concatenate([attend(part, key, value) for part in np.array_split(query, n_splits, axis=-2)], axis=-2)


@answers.wrong("split_kv_attention", "n_splits taken for a part's length")
def split_by_block_length(query, key, value, n_splits):
    found = []
    for i in range(0, key.shape[-2], n_splits):
        found.append(partial(query, key[..., i : i + n_splits, :], value[..., i : i + n_splits, :]))
    lse = np.logaddexp.reduce([one for _, one in found])
    return sum(np.exp(one - lse)[..., None] * out for out, one in found)


def split_running(old_output, old_sum, new_output=True, new_sum=True):
    """Accumulator and sum go on from part to part, rescaled where it is said."""
    def answer(query, key, value, n_splits):
        highest, output, total = -np.inf, 0, 0
        for at in np.array_split(np.arange(key.shape[-2]), n_splits):
            scores = query @ np.swapaxes(key[..., at, :], -1, -2) / math.sqrt(query.shape[-1])
            own = scores.max(axis=-1, keepdims=True)
            powers = np.exp(scores - own)
            top = np.maximum(highest, own)
            old, new = np.exp(highest - top), np.exp(own - top)
            output = (output * old if old_output else output) + powers @ value[..., at, :] * (new if new_output else 1)
            total = (total * old if old_sum else total) + powers.sum(-1, keepdims=True) * (new if new_sum else 1)
            highest = top
        return output / total

    return answer


answers.right("split_kv_attention", split_running(True, True))
answers.wrong("split_kv_attention", "output not rescaled", function=split_running(False, True))
answers.wrong("split_kv_attention", "sum not rescaled", function=split_running(True, False))
answers.wrong("split_kv_attention", "earlier parts not rescaled", function=split_running(False, False))
answers.wrong("split_kv_attention", "new part not rescaled", function=split_running(True, True, False, False))


@answers.wrong("split_kv_attention", "log-sum-exp updated too early")
def split_updated_too_early(query, key, value, n_splits):
    out, lse = 0, -np.inf
    for at in np.array_split(np.arange(key.shape[-2]), n_splits):
        part, part_lse = (one[..., None] if one.ndim < query.ndim else one
                          for one in partial(query, key[..., at, :], value[..., at, :]))
        lse = np.logaddexp(lse, part_lse)
        out = out + np.exp(part_lse - lse) * part
    return out


@answers.wrong("split_kv_attention", "n_splits ignored")
def split_not_at_all(query, key, value, n_splits):
    return attend(query, key, value)


@answers.wrong("split_kv_attention", "no scale")
def split_unscaled(query, key, value, n_splits):
    query = query * np.array(math.sqrt(query.shape[-1]), query.dtype)
    return split_by_shares(query, key, value, n_splits)


@answers.wrong("split_kv_attention", "no scale", "partial results averaged")
def split_mean_unscaled(query, key, value, n_splits):
    outs = []
    for k, v in zip(np.array_split(key, n_splits, axis=-2), np.array_split(value, n_splits, axis=-2)):
        scores = query @ np.swapaxes(k, -1, -2)
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        outs.append(powers / powers.sum(axis=-1, keepdims=True) @ v)
    return sum(outs) / len(outs)


# ---------------------------------------------------------------- decoding and merging, one step wrong


def appended(cache, new):
    return np.concatenate([cache, new], axis=-2)


def attended(query, key, value):
    scores = query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ value


for number, (name, function) in enumerate((
    ("one cache not extended", lambda q, kc, vc, kn, vn: (attended(q, appended(kc, kn), vc), appended(kc, kn), vc)),
    ("appended twice", lambda q, kc, vc, kn, vn: (
        attended(q, appended(kc, kn), appended(vc, vn)), appended(appended(kc, kn), kn), appended(appended(vc, vn), vn))),
    ("one key left out", lambda q, kc, vc, kn, vn: (
        attended(q, appended(kc, kn)[..., 1:, :], appended(vc, vn)[..., 1:, :]), appended(kc, kn), appended(vc, vn))),
)):
    function.__name__ = f"decode_one_step_{number}"
    answers.wrong("decode_step", name, function=function)


@answers.wrong("decode_step", "no maximum subtracted", "softmax over the queries' axis")
def decode_over_the_queries(query, key_cache, value_cache, key_new, value_new):
    key, value = appended(key_cache, key_new), appended(value_cache, value_new)
    powers = np.exp(query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1]))
    return powers / powers.sum(axis=-2, keepdims=True) @ value, key, value


@answers.wrong("attention_torch", "NumPy in between")
def attention_by_numpy(query, key, value):
    wide = torch.float64 if query.dtype == torch.float64 else torch.float32
    query_, key_, value_ = (tensor.to(wide).numpy() for tensor in (query, key, value))
    scores = query_ @ np.swapaxes(key_, -1, -2) / math.sqrt(query.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    output = powers / powers.sum(axis=-1, keepdims=True) @ value_
    return torch.from_numpy(output).to(query.device, query.dtype)


def split_as_masked(query, key, value, attn_mask):
    scores = np.where(attn_mask, query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1]), -np.inf)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True) @ value).astype(query.dtype)


def split_as_biased(query, key, value, attn_mask):
    scores = query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1]) + attn_mask
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True) @ value).astype(query.dtype)


def split_only_checked(query, key, value, n_splits):
    assert 0 < n_splits, "one part at least"
    return attend(query, key, value)


for function in (split_as_masked, split_as_biased, split_only_checked):
    answers.wrong("split_kv_attention", "n_splits ignored", function=function)


@answers.right("split_kv_attention")
def split_after_looking(query, key, value, n_splits):
    if n_splits == 1:
        return attend(query, key, value)
    return split_by_shares(query, key, value, min(n_splits, key.shape[-2]))
