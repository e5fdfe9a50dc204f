"""Answers to attention_torch_causal, written as learners write them."""

import functools
import math

import torch
import torch.nn.functional as F

from attncourse.exercises.engine.prove import Answers
from attnlib import dense_torch

ANSWERS = answers = Answers("attention_torch_causal")


def wide(*tensors):
    return [t.float() if t.dtype in (torch.float16, torch.bfloat16) else t for t in tensors]


def torch_wide(function):
    """A wrong answer whose widths are right."""

    @functools.wraps(function)
    def answer(query, key, value):
        return function(*wide(query, key, value)).to(query.dtype)

    return answer


@answers.right()
def causal_where(query, key, value):
    q, k, v = wide(query, key, value)
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril()
    return (torch.softmax(torch.where(mask, scores, -torch.inf), -1) @ v).to(query.dtype)


@answers.right()
def causal_masked_fill(query, key, value):
    dtype = query.dtype
    query, key, value = query.double(), key.double(), value.double()
    scores = torch.einsum("...qd,...kd->...qk", query, key).div_(query.size(-1) ** 0.5)
    future = torch.triu(torch.ones_like(scores, dtype=torch.bool), diagonal=1)
    scores.masked_fill_(future, float("-inf"))
    return F.softmax(scores, dim=-1).matmul(value).to(dtype)


@answers.right()
def causal_bias(query, key, value):
    q, k, v = wide(query, key, value)
    n_q, n_k = q.shape[-2], k.shape[-2]
    bias = torch.full((n_q, n_k), -torch.inf, dtype=q.dtype, device=q.device).triu(1)
    return (torch.softmax(q @ k.mT * q.shape[-1] ** -0.5 + bias, -1) @ v).to(query.dtype)


@answers.right()
def causal_by_rows(query, key, value):
    q, k, v = wide(query, key, value)
    rows = []
    for i in range(q.shape[-2]):
        seen = slice(0, min(i + 1, k.shape[-2]))
        scores = q[..., i : i + 1, :] @ k[..., seen, :].mT / math.sqrt(q.shape[-1])
        rows.append(torch.softmax(scores, dim=-1) @ v[..., seen, :])
    return torch.cat(rows, dim=-2).to(query.dtype)


@answers.right()
def causal_with_a_mask_moved(query, key, value):
    q, k, v = wide(query, key, value)
    mask = torch.arange(k.shape[-2]) <= torch.arange(q.shape[-2]).unsqueeze(1)
    mask = mask.to(q.device)
    scores = q @ k.mT * q.shape[-1] ** -0.5
    scores[..., ~mask] = -math.inf
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    return (powers @ v / powers.sum(-1, keepdim=True)).to(query.dtype)


@answers.wrong("negative number instead of -inf")
def causal_minus_1e9(query, key, value):
    q, k, v = wide(query, key, value)
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    row = torch.arange(scores.shape[-2], device=q.device)[:, None]
    column = torch.arange(scores.shape[-1], device=q.device)
    return (torch.softmax(scores.masked_fill(column > row, -1e9), -1) @ v).to(query.dtype)


answers.wrong(
    "ready-made function", function=functools.partial(dense_torch.attention, is_causal=True)
)


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
    (
        ["the future instead of the past"],
        lambda s, m: torch.where(torch.ones_like(s, dtype=torch.bool).triu(), s, -INF),
    ),
    (["mask inverted"], lambda s, m: s.masked_fill(m, -INF)),
    (["mask inverted"], lambda s, m: torch.where(m, -INF, s)),
    (["masked scores set to 0"], lambda s, m: s.tril()),
    (["masked scores set to 0"], lambda s, m: s * m),
    (["mask added"], lambda s, m: s + m),
    (["0 times infinity"], lambda s, m: s + (~m).to(s.dtype) * -INF),
    (["+inf instead of -inf"], lambda s, m: s.masked_fill(~m, INF)),
    (["negative number instead of -inf"], lambda s, m: s.masked_fill(~m, -1e4)),
    (["negative number added"], lambda s, m: s + (~m).to(s.dtype) * -1e4),
    (["negative number instead of -inf"], lambda s, m: s.masked_fill(~m, -1e20)),
    (["negative number instead of -inf"], lambda s, m: s.masked_fill(~m, -1e30)),
    (["negative number instead of -inf"], lambda s, m: torch.where(m, s, -1e38)),
    (["negative number added"], lambda s, m: s + (~m).to(s.dtype) * -1e30),
    (["positive number instead of -inf"], lambda s, m: s.masked_fill(~m, 1e-9)),
    (
        ["aligned at the bottom right"],
        lambda s, m: torch.where(
            torch.ones_like(s).tril(s.shape[-1] - s.shape[-2]).bool(), s, -INF
        ),
    ),
    (
        ["square mask"],
        lambda s, m: s.masked_fill(
            torch.triu(torch.ones(s.shape[-1], s.shape[-1], device=s.device), 1).bool(), -INF
        ),
    ),
    (["other device"], lambda s, m: s.masked_fill(torch.ones(s.shape[-2:]).triu(1).bool(), -INF)),
    (
        ["other device"],
        lambda s, m: torch.where(torch.tril(torch.ones(s.shape[-2:])).bool(), s, -INF),
    ),
):
    answers.wrong(*names, function=causal_by(fill))


@answers.wrong("mask after the softmax")
@torch_wide
def causal_weights_cut(q, k, v):
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1).tril() @ v


@answers.wrong("masked keys in the maximum")
@torch_wide
def causal_renormalised(q, k, v):
    weights = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1).tril()
    return weights / weights.sum(-1, keepdim=True) @ v


@answers.wrong("torch's own attention called")
@torch_wide
def causal_own(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


@answers.wrong("computed in half precision")
def causal_native(query, key, value):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -INF)
    return torch.softmax(scores, -1) @ value


@answers.wrong("no scale", "diagonal excluded")
@torch_wide
def causal_unscaled_strict(q, k, v):
    scores = q @ k.mT
    return torch.softmax(scores.masked_fill(torch.ones_like(scores).triu().bool(), -INF), -1) @ v


@answers.wrong("no scale", "mask ignored")
@torch_wide
def causal_unscaled_unmasked(q, k, v):
    return torch.softmax(q @ k.mT, -1) @ v


@answers.wrong("scores of 0 hidden too")
def causal_by_zeros(query, key, value):
    wide = [x if x.dtype == torch.float64 else x.float() for x in (query, key, value)]
    scores = wide[0] @ wide[1].mT / query.shape[-1] ** 0.5
    scores = scores.masked_fill(scores.tril() == 0, -torch.inf)
    return (torch.softmax(scores, -1) @ wide[2]).to(query.dtype)


@answers.wrong("the future instead of the past", "float32 leaks out")
def causal_the_other_way_round(query, key, value):
    wide_dtype = torch.promote_types(query.dtype, torch.float32)
    q, k, v = query.to(wide_dtype), key.to(wide_dtype), value.to(wide_dtype)
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    i = torch.arange(q.shape[-2], device=q.device)[:, None]
    j = torch.arange(k.shape[-2], device=q.device)
    scores = scores.masked_fill((j < i) & (j < k.shape[-2] - 1), -torch.inf)
    return scores.softmax(-1) @ v


@answers.wrong("negative number instead of -inf")
def causal_minus_1e4(query, key, value):
    q, k, v = wide(query, key, value)
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    seen = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril()
    return (torch.softmax(scores.masked_fill(~seen, -1e4), -1) @ v).to(query.dtype)


@answers.wrong("scale in half precision")
def causal_scaled_in_half(query, key, value):
    wider = torch.promote_types(query.dtype, torch.float32)
    q = (query / math.sqrt(query.shape[-1])).to(wider)
    k, v = key.to(wider), value.to(wider)
    s = q @ k.mT
    seen = torch.ones(s.shape[-2:], dtype=torch.bool, device=s.device).tril()
    return (torch.softmax(s.masked_fill(~seen, float("-inf")), dim=-1) @ v).to(query.dtype)


answers.right(causal_by(lambda s, m: s.masked_fill(~m, torch.finfo(s.dtype).min)))
