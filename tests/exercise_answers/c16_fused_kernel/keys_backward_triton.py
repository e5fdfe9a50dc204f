"""Answers to keys_backward_triton, written as learners write them."""

import math
import os

import torch

from attncourse.exercises.engine.prove import Answers

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # before Triton is imported

import triton  # noqa: E402
import triton.language as tl  # noqa: E402

ANSWERS = answers = Answers("keys_backward_triton")

LOG2_E = 1.4426950408889634


@triton.jit
def tile(pointer, at, n, D: tl.constexpr):
    place = at[:, None] * D + tl.arange(0, D)[None, :]
    return tl.load(pointer + place, mask=at[:, None] < n, other=0.0)


@triton.jit
def keys_kernel(
    query,
    key,
    value,
    grad_output,
    lse,
    delta,
    grad_key,
    grad_value,
    scale,
    n,
    D: tl.constexpr,
    BLOCK: tl.constexpr,
    HOW: tl.constexpr,
):
    head = tl.program_id(1) * n
    at = tl.program_id(0) * BLOCK
    j = at + tl.arange(0, BLOCK)
    k, v = tile(key + head * D, j, n, D), tile(value + head * D, j, n, D)
    grad_k = tl.zeros((BLOCK, D), tl.float32)
    grad_v = tl.zeros((BLOCK, D), tl.float32)
    begin, end = at, n
    if HOW == "ends at the diagonal":
        begin, end = 0, at + BLOCK
    if HOW == "after the diagonal":
        begin = at + BLOCK
    if HOW == "floor":
        end = n // BLOCK * BLOCK
    if HOW == "no mask, all":
        begin = 0
    for start in range(begin, end, BLOCK):
        i = start + tl.arange(0, BLOCK)
        q = tile(query + head * D, i, n, D)
        grad_out = tile(grad_output + head * D, i, n, D)
        fill = 0.0
        if HOW == "minus infinity":
            fill = -float("inf")
        rows = head
        if HOW == "lse of head 0":
            rows = 0
        sums = tl.load(lse + rows + i, mask=i < n, other=fill)
        row_delta = tl.load(delta + head + i, mask=i < n, other=0.0)
        scores = tl.dot(q, tl.trans(k)).to(tl.float32)
        if HOW != "no scale":
            scores = scores * scale
        if HOW == "scores 0":
            scores = tl.where(j[None, :] <= i[:, None], scores, 0.0)
        if HOW == "no lse":
            a = tl.exp(scores)
        elif HOW == "divided":
            a = tl.exp(scores) / tl.exp(sums)[:, None]
        elif HOW == "exp2":
            a = tl.exp2(scores - sums[:, None])
        elif HOW == "natural lse":
            a = tl.exp2(scores * 1.4426950408889634 - sums[:, None])
        elif HOW == "lse along the keys":
            a = tl.exp(scores - sums[None, :])
        else:
            a = tl.exp(scores - sums[:, None])
        if HOW == "inside":
            a = tl.where(tl.arange(0, BLOCK)[None, :] <= tl.arange(0, BLOCK)[:, None], a, 0.0)
        elif HOW == "multiplied":
            a = a * (j[None, :] <= i[:, None])
        elif HOW == "strict":
            a = tl.where(j[None, :] < i[:, None], a, 0.0)
        elif HOW == "turned round":
            a = tl.where(j[None, :] >= i[:, None], a, 0.0)
        elif HOW != "no mask" and HOW != "no mask, all" and HOW != "scores 0":
            a = tl.where(j[None, :] <= i[:, None], a, 0.0)
        narrow = a.to(v.dtype)
        if HOW == "wide":
            narrow = a
        if HOW == "a untransposed":
            part_v = tl.dot(narrow, grad_out)
        elif HOW == "values":
            part_v = tl.dot(tl.trans(narrow), v)
        else:
            part_v = tl.dot(tl.trans(narrow), grad_out)
        grad_a = tl.dot(grad_out, tl.trans(v)).to(tl.float32)
        if HOW == "no delta":
            grad_s = a * grad_a
        elif HOW == "delta outside":
            grad_s = a * grad_a - row_delta[:, None]
        elif HOW == "delta along the keys":
            grad_s = a * (grad_a - row_delta[None, :])
        elif HOW == "weights missing":
            grad_s = grad_a - row_delta[:, None]
        elif HOW == "delta of the block":
            grad_s = a * (grad_a - tl.sum(a * grad_a, axis=1)[:, None])
        else:
            grad_s = a * (grad_a - row_delta[:, None])
        grad_s = grad_s.to(q.dtype)
        if HOW == "ds untransposed":
            part_k = tl.dot(grad_s, q)
        elif HOW == "keys":
            part_k = tl.dot(tl.trans(grad_s), k)
        elif HOW == "weights for keys":
            part_k = tl.dot(tl.trans(narrow), q)
        else:
            part_k = tl.dot(tl.trans(grad_s), q)
        if HOW == "overwritten":
            grad_k, grad_v = part_k.to(tl.float32), part_v.to(tl.float32)
        elif HOW == "grad_k overwritten":
            grad_k, grad_v = part_k.to(tl.float32), grad_v + part_v
        elif HOW == "float16":
            grad_k = (grad_k + part_k).to(tl.float16).to(tl.float32)
            grad_v = (grad_v + part_v).to(tl.float16).to(tl.float32)
        else:
            grad_k += part_k
            grad_v += part_v
    if HOW != "no scale in grad_key" and HOW != "no scale":
        grad_k = grad_k * scale
    if HOW == "unit":
        grad_k = grad_k * 1.4426950408889634
    if HOW == "grad_value scaled":
        grad_v = grad_v * scale
    place = j[:, None] * D + tl.arange(0, D)[None, :]
    exists = j[:, None] < n
    if HOW == "no store mask":
        exists = j[:, None] >= 0
    if HOW != "stored in head 0":
        place += head * D
    tl.store(grad_key + place, grad_k, mask=exists)
    tl.store(grad_value + place, grad_v, mask=exists)


def in_blocks(how="", block=16, grid=triton.cdiv, new=torch.empty, swapped=False, dtype=None):
    def answer(query, key, value, grad_output, lse, delta):
        heads, n, d = key.shape
        made = dict(dtype=dtype or torch.float32, device=key.device)
        grad_key, grad_value = new(key.shape, **made), new(value.shape, **made)
        keys_kernel[(grid(n, block), heads)](
            query,
            key,
            value,
            grad_output,
            lse,
            delta,
            grad_key,
            grad_value,
            1 / math.sqrt(d),
            n,
            D=d,
            BLOCK=block,
            HOW=how,
        )
        return (grad_value, grad_key) if swapped else (grad_key, grad_value)

    return answer


for size in (16, 64):
    one = in_blocks(block=size)
    one.__name__ = f"keys_in_blocks_of_{size}"
    answers.right(one)


@triton.jit
def exponents_of_2_kernel(
    q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr, n, D: tl.constexpr,
    unit, scale, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(0)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    features = tl.arange(0, D)
    at = head * n * D + cols[:, None] * D + features[None, :]
    # the block of keys is loaded transposed, and every number is made float32
    kt = tl.load(k_ptr + tl.trans(at), mask=cols[None, :] < n, other=0.0).to(tl.float32)
    vt = tl.load(v_ptr + tl.trans(at), mask=cols[None, :] < n, other=0.0).to(tl.float32)
    dk = tl.zeros((BN, D), dtype=tl.float32)
    dv = tl.zeros((BN, D), dtype=tl.float32)
    for start in range(0, n, BM):  # all queries, the hidden ones too
        rows = start + tl.arange(0, BM)
        there = rows[:, None] < n
        qs = head * n * D + rows[:, None] * D + features[None, :]
        q = tl.load(q_ptr + qs, mask=there, other=0.0).to(tl.float32)
        do = tl.load(do_ptr + qs, mask=there, other=0.0).to(tl.float32)
        power = tl.load(lse_ptr + head * n + rows, mask=rows < n, other=float("inf"))
        power = power * 1.4426950408889634
        s = tl.dot(q, kt) * unit
        s = tl.where(cols[None, :] <= rows[:, None], s, -float("inf"))
        p = tl.exp2(s - power[:, None])
        dv += tl.dot(tl.trans(p), do)
        dp = tl.dot(do, vt)
        d = tl.load(delta_ptr + head * n + rows, mask=rows < n, other=0.0)
        dk += tl.dot(tl.trans(p * (dp - d[:, None]) * scale), q)
    tl.store(dk_ptr + at, dk, mask=cols[:, None] < n)
    tl.store(dv_ptr + at, dv, mask=cols[:, None] < n)


@answers.right()
def keys_by_exponents_of_2(query, key, value, grad_output, lse, delta):
    heads, n, d = query.shape
    dk = torch.zeros(key.shape, dtype=torch.float32, device=key.device)
    dv = torch.zeros_like(dk)
    exponents_of_2_kernel[(heads, triton.cdiv(n, 32))](
        query, key, value, grad_output, lse, delta, dk, dv, n, d,
        LOG2_E * d**-0.5, d**-0.5, BM=16, BN=32,
    )  # fmt: skip
    return dk, dv


@triton.jit
def one_key_kernel(
    q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr, n, scale,
    D: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    j, head = tl.program_id(0), tl.program_id(1)
    features, i = tl.arange(0, D), tl.arange(0, BLOCK)
    own = (head * n + j) * D + features
    k, v = tl.load(k_ptr + own).to(tl.float32), tl.load(v_ptr + own).to(tl.float32)
    sees = (i >= j) & (i < n)
    at = (head * n + i)[:, None] * D + features[None, :]
    q = tl.load(q_ptr + at, mask=sees[:, None], other=0.0).to(tl.float32)
    do = tl.load(do_ptr + at, mask=sees[:, None], other=0.0).to(tl.float32)
    sums = tl.load(lse_ptr + head * n + i, mask=sees, other=0.0)
    a = tl.where(sees, tl.exp(tl.sum(q * k[None, :], axis=1) * scale - sums), 0.0)
    ds = a * (
        tl.sum(do * v[None, :], axis=1) - tl.load(delta_ptr + head * n + i, mask=sees, other=0.0)
    )
    tl.store(dk_ptr + own, tl.sum(ds[:, None] * q, axis=0) * scale)
    tl.store(dv_ptr + own, tl.sum(a[:, None] * do, axis=0))


@answers.right()
def a_key_at_a_time(query, key, value, grad_output, lse, delta):
    heads, n, d = query.shape
    dk, dv = (torch.empty(key.shape, dtype=torch.float32, device=key.device) for _ in range(2))
    one_key_kernel[(n, heads)](
        query, key, value, grad_output, lse, delta, dk, dv, n, d**-0.5,
        D=d, BLOCK=triton.next_power_of_2(n),
    )  # fmt: skip
    return dk, dv


for number, (name, function) in enumerate(
    (
        ("lse not subtracted", in_blocks("no lse")),
        ("lse along the keys", in_blocks("lse along the keys")),
        ("lse along the keys", in_blocks("lse along the keys", 64)),
        ("divided by exp(lse)", in_blocks("divided")),
        ("power of 2 instead of e", in_blocks("exp2")),
        ("lse not multiplied by log2(e)", in_blocks("natural lse")),
        ("no scale in grad_key", in_blocks("no scale in grad_key")),
        ("log2(e) left in grad_key", in_blocks("unit")),
        ("grad_value scaled", in_blocks("grad_value scaled")),
        ("delta not subtracted", in_blocks("no delta")),
        ("delta outside the bracket", in_blocks("delta outside")),
        ("delta along the keys", in_blocks("delta along the keys", 32)),
        ("delta of one block", in_blocks("delta of the block")),
        ("weights missing in front", in_blocks("weights missing", 32)),
        ("no causal mask", in_blocks("no mask")),
        ("no causal mask", in_blocks("no mask, all", 32)),
        ("diagonal excluded", in_blocks("strict")),
        ("mask turned round", in_blocks("turned round", 64)),
        ("mask multiplied", in_blocks("multiplied")),
        ("masked scores set to 0", in_blocks("scores 0")),
        ("positions counted inside the block", in_blocks("inside", 32)),
        ("loop ends at the diagonal", in_blocks("ends at the diagonal")),
        ("diagonal block skipped", in_blocks("after the diagonal", 32)),
        ("tail queries dropped", in_blocks("floor")),
        ("sums overwritten", in_blocks("overwritten", 32)),
        ("sums overwritten", in_blocks("grad_k overwritten")),
        ("A instead of Aᵀ in grad_value", in_blocks("a untransposed", 32)),
        ("dS instead of dSᵀ in grad_key", in_blocks("ds untransposed")),
        ("keys instead of queries in grad_key", in_blocks("keys", 32)),
        ("values instead of grad_output in grad_value", in_blocks("values")),
        ("weights in grad_key", in_blocks("weights for keys")),
        ("gradients swapped", in_blocks(swapped=True)),
        ("running sums in float16", in_blocks("float16", 32)),
        ("only for float32", in_blocks("wide")),
        ("NaN from queries beyond the end", in_blocks("minus infinity", 32)),
        ("edge not masked", in_blocks("no store mask")),
        ("only the first block of keys", in_blocks(grid=lambda n, block: 1)),
        ("last keys not stored", in_blocks(grid=lambda n, block: n // block, new=torch.zeros)),
        ("offset of the head missing", in_blocks("stored in head 0")),
        ("heads mixed up", in_blocks("lse of head 0")),
        ("narrower dtype", in_blocks(dtype=torch.float16)),
    )
):
    function.__name__ = f"keys_backward_{number}"
    answers.wrong(name, function=function)

no_scale = in_blocks("no scale")
no_scale.__name__ = "keys_backward_without_a_scale"
answers.wrong("no scale in the weights", "no scale in grad_key", function=no_scale)


@answers.wrong("no Triton kernel launched", "an (n, n) tensor made")
def keys_backward_by_torch(query, key, value, grad_output, lse, delta):
    q, k, v, grad = (x.float() for x in (query, key, value, grad_output))
    scale = q.shape[-1] ** -0.5
    a = torch.exp((q @ k.mT * scale).tril() - lse[..., None]).tril()
    grad_scores = a * (grad @ v.mT - delta[..., None])
    return grad_scores.mT @ q * scale, a.mT @ grad


# --- where the blocks begin, and which program takes which ---


@triton.jit
def offsets_kernel(
    query, key, value, grad_output, lse, delta, grad_key, grad_value, scale, n,
    D: tl.constexpr, BLOCK: tl.constexpr, HOW: tl.constexpr,
):  # fmt: skip
    at, head = tl.program_id(0) * BLOCK, tl.program_id(1) * n
    j = at + tl.arange(0, BLOCK)
    first = head + j
    if HOW == "doubled":
        first = head + at + j
    own = first[:, None] * D + tl.arange(0, D)[None, :]
    k = tl.load(key + own, mask=j[:, None] < n, other=0.0)
    v = tl.load(value + own, mask=j[:, None] < n, other=0.0)
    grad_k = tl.zeros((BLOCK, D), tl.float32)
    grad_v = tl.zeros((BLOCK, D), tl.float32)
    for start in range(at, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        q, grad_out = (tile(query, head + i, head + n, D), tile(grad_output, head + i, head + n, D))
        sums = tl.load(lse + head + i, mask=i < n, other=0.0)
        row_delta = tl.load(delta + head + i, mask=i < n, other=0.0)
        logits = tl.dot(q, tl.trans(k)) * scale - sums[:, None]
        if HOW == "max":
            logits = max(logits, -100.0)
        a = tl.where(j[None, :] <= i[:, None], tl.exp(logits), 0.0)
        grad_v += tl.dot(tl.trans(a).to(v.dtype), grad_out)
        grad_s = a * (tl.dot(grad_out, tl.trans(v)) - row_delta[:, None])
        grad_k += tl.dot(tl.trans(grad_s).to(q.dtype), q)
    place = (head + j)[:, None] * D + tl.arange(0, D)[None, :]
    tl.store(grad_key + place, grad_k * scale, mask=j[:, None] < n)
    tl.store(grad_value + place, grad_v, mask=j[:, None] < n)


def on_a_grid(grid, how="", block=16):
    def answer(query, key, value, grad_output, lse, delta):
        heads, n, d = key.shape
        grad_key = torch.empty(key.shape, dtype=torch.float32, device=key.device)
        grad_value = torch.empty_like(grad_key)
        offsets_kernel[grid(triton.cdiv(n, block), heads)](
            query, key, value, grad_output, lse, delta, grad_key, grad_value, d**-0.5, n,
            D=d, BLOCK=block, HOW=how,
        )  # fmt: skip
        return grad_key, grad_value

    return answer


for label, name, function in (
    ("turned", "grid's axes swapped", on_a_grid(lambda blocks, heads: (heads, blocks))),
    ("without_heads", "only the first head", on_a_grid(lambda blocks, heads: (blocks,))),
    ("without_blocks", "only the first block of keys", on_a_grid(lambda blocks, heads: (1, heads))),
):
    function.__name__ = f"keys_backward_grid_{label}"
    answers.wrong(name, function=function)

if not torch.cuda.is_available():
    # on a GPU an address outside may hold anything, and the compiler takes max for tl.maximum

    @answers.wrong()
    def keys_backward_by_doubled_offsets(*args):
        return on_a_grid(lambda blocks, heads: (blocks, heads), "doubled")(*args)

    @answers.wrong()
    def keys_backward_by_pythons_max(*args):
        return on_a_grid(lambda blocks, heads: (blocks, heads), "max")(*args)
