"""Answers to flash_attention_triton, written as learners write them."""

import math
import os

import torch
import torch.nn.functional as F

from attncourse.exercises.engine.prove import Answers

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # before Triton is imported

import triton  # noqa: E402
import triton.language as tl  # noqa: E402

ANSWERS = answers = Answers("flash_attention_triton")


INF = float("inf")


@triton.jit
def row_kernel(x_ptr, out_ptr, x_stride, out_stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * x_stride + columns, mask=mask, other=-float("inf")).to(tl.float32)
    powers = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * out_stride + columns, powers / tl.sum(powers, axis=0), mask=mask)


def one_program_a_row(scores):
    scores = scores.contiguous()
    rows, n = scores.shape
    out = torch.empty_like(scores)
    row_kernel[(rows,)](
        scores, out, scores.stride(0), out.stride(0), n, BLOCK=triton.next_power_of_2(n)
    )
    return out


@triton.jit
def flash_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    sb,
    sh,
    sn,
    heads,
    n,
    scale,
    D: tl.constexpr,
    CAUSAL: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    SUM: tl.constexpr = tl.float32,
    OUTPUT: tl.constexpr = tl.float32,
):
    block, head = tl.program_id(0), tl.program_id(1)
    base = (head // heads) * sb + (head % heads) * sh
    rows = block * BM + tl.arange(0, BM)
    features = tl.arange(0, D)
    inside = rows[:, None] < n
    q = tl.load(q_ptr + base + rows[:, None] * sn + features[None, :], mask=inside, other=0.0).to(
        tl.float32
    )
    highest = tl.full([BM], -float("inf"), tl.float32)
    total = tl.zeros([BM], SUM)
    output = tl.zeros([BM, D], OUTPUT)
    end = n
    if CAUSAL:
        end = tl.minimum(n, (block + 1) * BM)
    for start in range(0, end, BN):
        columns = start + tl.arange(0, BN)
        known = columns[:, None] < n
        k = tl.load(
            k_ptr + base + columns[:, None] * sn + features[None, :], mask=known, other=0.0
        ).to(tl.float32)
        v = tl.load(
            v_ptr + base + columns[:, None] * sn + features[None, :], mask=known, other=0.0
        ).to(tl.float32)
        scores = tl.dot(q, tl.trans(k)) * scale
        seen = columns[None, :] < n
        if CAUSAL:
            seen = seen & (columns[None, :] <= rows[:, None])
        scores = tl.where(seen, scores, -float("inf"))
        new = tl.maximum(highest, tl.max(scores, 1))
        factor = tl.exp(highest - new)
        powers = tl.exp(scores - new[:, None])
        total = (total * factor + tl.sum(powers, 1)).to(SUM)
        output = (output * factor[:, None] + tl.dot(powers, v)).to(OUTPUT)
        highest = new
    tl.store(
        o_ptr + base + rows[:, None] * sn + features[None, :],
        output / total[:, None].to(tl.float32),
        mask=inside,
    )


@answers.right()
def flash_in_blocks(query, key, value, is_causal):
    return in_blocks(query, key, value, is_causal)


def in_blocks(query, key, value, is_causal, rows=32, columns=16, **dtypes):
    batch, heads, n, d = query.shape
    query, key, value = query.contiguous(), key.contiguous(), value.contiguous()
    out = torch.empty_like(query)
    flash_kernel[(triton.cdiv(n, rows), batch * heads)](
        query,
        key,
        value,
        out,
        *query.stride()[:3],
        heads,
        n,
        1 / math.sqrt(d),
        D=d,
        CAUSAL=is_causal,
        BM=rows,
        BN=columns,
        **dtypes,
    )
    return out


def with_narrow_sums(rows, columns, *names):
    """A kernel that keeps these in the inputs' dtype."""

    def flash(query, key, value, is_causal):
        kind = {torch.float16: tl.float16}.get(query.dtype, tl.float32)
        return in_blocks(query, key, value, is_causal, rows, columns, **dict.fromkeys(names, kind))

    return flash


for size, *names in ((16, "SUM"), (64, "SUM"), (64, "OUTPUT"), (128, "SUM", "OUTPUT")):
    answers.wrong("running sums in float16", function=with_narrow_sums(size, size, *names))


@triton.jit
def one_query_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, n, scale, D: tl.constexpr, CAUSAL: tl.constexpr, BLOCK: tl.constexpr
):
    row, head = tl.program_id(0), tl.program_id(1)
    features = tl.arange(0, D)
    columns = tl.arange(0, BLOCK)
    q = tl.load(q_ptr + (head * n + row) * D + features).to(tl.float32)
    at = (head * n + columns)[:, None] * D + features[None, :]
    k = tl.load(k_ptr + at, mask=columns[:, None] < n, other=0.0).to(tl.float32)
    scores = tl.sum(k * q[None, :], axis=1) * scale
    last = n - 1
    if CAUSAL:
        last = row
    scores = tl.where(columns <= last, scores, -float("inf"))
    powers = tl.exp(scores - tl.max(scores, axis=0))
    v = tl.load(v_ptr + at, mask=columns[:, None] < n, other=0.0).to(tl.float32)
    tl.store(
        o_ptr + (head * n + row) * D + features,
        tl.sum(powers[:, None] * v, axis=0) / tl.sum(powers, axis=0),
    )


@answers.right()
def flash_a_query_at_a_time(query, key, value, is_causal):
    query, key, value = query.contiguous(), key.contiguous(), value.contiguous()
    b, h, n, d = query.shape
    out = torch.zeros_like(query)
    one_query_kernel[(n, b * h)](
        query, key, value, out, n, d**-0.5, D=d, CAUSAL=is_causal, BLOCK=triton.next_power_of_2(n)
    )
    return out


@triton.jit
def half_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, n, scale, is_causal, D: tl.constexpr, BLOCK: tl.constexpr
):
    head = tl.program_id(1)
    shape_base = head * n * D
    q_block = tl.make_block_ptr(
        q_ptr + shape_base, (n, D), (D, 1), (tl.program_id(0) * BLOCK, 0), (BLOCK, D), (1, 0)
    )
    k_block = tl.make_block_ptr(k_ptr + shape_base, (D, n), (1, D), (0, 0), (D, BLOCK), (0, 1))
    v_block = tl.make_block_ptr(v_ptr + shape_base, (n, D), (D, 1), (0, 0), (BLOCK, D), (1, 0))
    o_block = tl.make_block_ptr(
        o_ptr + shape_base, (n, D), (D, 1), (tl.program_id(0) * BLOCK, 0), (BLOCK, D), (1, 0)
    )
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    q = tl.load(q_block, boundary_check=(0,), padding_option="zero")
    m = tl.zeros([BLOCK], tl.float32) - 1e30
    l = tl.zeros([BLOCK], tl.float32)
    acc = tl.zeros([BLOCK, D], tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        k = tl.load(k_block, boundary_check=(1,), padding_option="zero")
        s = tl.dot(q, k).to(tl.float32) * (scale * 1.44269504)
        hidden = (columns[None, :] >= n) | ((columns[None, :] > rows[:, None]) & (is_causal != 0))
        s = tl.where(hidden, -1e30, s)
        m_new = tl.maximum(m, tl.max(s, 1))
        p = tl.exp2(s - m_new[:, None])
        alpha = tl.exp2(m - m_new)
        l = l * alpha + tl.sum(p, 1)
        v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v).to(tl.float32)
        m = m_new
        k_block = tl.advance(k_block, (0, BLOCK))
        v_block = tl.advance(v_block, (BLOCK, 0))
    tl.store(o_block, (acc / l[:, None]).to(o_ptr.dtype.element_ty), boundary_check=(0,))


@answers.right()
def flash_by_block_pointers(query, key, value, is_causal):
    query, key, value = query.contiguous(), key.contiguous(), value.contiguous()
    b, h, n, d = query.shape
    out = torch.empty_like(query)
    half_kernel[(triton.cdiv(n, 64), b * h)](
        query, key, value, out, n, d**-0.5, int(is_causal), D=d, BLOCK=64
    )
    return out


@triton.jit
def wrong_flash_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    n,
    scale,
    D: tl.constexpr,
    CAUSAL: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    HOW: tl.constexpr,
):
    block = tl.program_id(0)
    base = tl.program_id(1) * n * D
    read = base
    if HOW == "no head offset" or HOW == "no head offset in loads":
        read = 0
    write = base
    if HOW == "no head offset":
        write = 0
    rows = block * BM + tl.arange(0, BM)
    features = tl.arange(0, D)
    inside = rows[:, None] < n
    q = tl.load(q_ptr + read + rows[:, None] * D + features[None, :], mask=inside, other=0.0).to(
        tl.float32
    )
    highest = tl.full([BM], -float("inf"), tl.float32)
    if HOW == "from 0":
        highest = tl.zeros([BM], tl.float32)
    total = tl.zeros([BM], tl.float32)
    output = tl.zeros([BM, D], tl.float32)
    end = n
    if HOW == "floor" or HOW == "sum, floor":
        end = n // BN * BN
    if HOW == "diagonal" and CAUSAL:
        end = block * BM
    if HOW == "one block, diagonal" and CAUSAL:
        end = tl.maximum(block * BM, 1)
    for start in range(0, end, BN):
        columns = start + tl.arange(0, BN)
        known = columns[:, None] < n
        if HOW == "no mask":
            k = tl.load(k_ptr + read + columns[:, None] * D + features[None, :]).to(tl.float32)
        else:
            k = tl.load(
                k_ptr + read + columns[:, None] * D + features[None, :], mask=known, other=0.0
            ).to(tl.float32)
        v = tl.load(
            v_ptr + read + columns[:, None] * D + features[None, :], mask=known, other=0.0
        ).to(tl.float32)
        scores = tl.dot(q, tl.trans(k)) * scale
        if CAUSAL and HOW == "strict":
            scores = tl.where(columns[None, :] < rows[:, None], scores, -float("inf"))
        elif CAUSAL and HOW == "zeros":
            scores = tl.where(columns[None, :] <= rows[:, None], scores, 0.0)
        elif CAUSAL and HOW == "inverted":
            scores = tl.where(columns[None, :] <= rows[:, None], -float("inf"), scores)
        elif CAUSAL and HOW == "future":
            scores = tl.where(columns[None, :] >= rows[:, None], scores, -float("inf"))
        elif CAUSAL and HOW == "inside":
            scores = tl.where(
                tl.arange(0, BN)[None, :] <= tl.arange(0, BM)[:, None], scores, -float("inf")
            )
        elif CAUSAL and HOW != "not causal":
            scores = tl.where(columns[None, :] <= rows[:, None], scores, -float("inf"))
        if HOW != "zero padding":
            scores = tl.where(columns[None, :] < n, scores, -float("inf"))
        new = tl.maximum(highest, tl.max(scores, 1))
        if HOW == "tile maximum":
            new = tl.max(scores, 1)
        if HOW == "no maximum":
            new = tl.zeros([BM], tl.float32)
        factor = tl.exp(highest - new)
        if HOW == "upside down":
            factor = tl.exp(new - highest)
        if HOW == "tile maximum" or HOW == "no maximum":
            factor = tl.full([BM], 1.0, tl.float32)
        powers = tl.exp(scores - new[:, None])
        if HOW == "own maximum":
            powers = tl.exp(scores - tl.maximum(tl.max(scores, 1), -1e30)[:, None])
        if HOW == "sum" or HOW == "sum, floor":
            total = total + tl.sum(powers, 1)
        else:
            total = total * factor + tl.sum(powers, 1)
        if HOW == "accumulator":
            output = output + tl.dot(powers, v)
        elif HOW == "last block":
            output = tl.dot(powers, v)
            total = tl.sum(powers, 1)
        else:
            output = output * factor[:, None] + tl.dot(powers, v)
        highest = new
    if HOW != "no division":
        output = output / total[:, None]
    tl.store(o_ptr + write + rows[:, None] * D + features[None, :], output, mask=inside)


def flash(
    how="",
    bm=16,
    bn=16,
    scale=lambda d, n: d**-0.5,
    grid=triton.cdiv,
    out=torch.empty_like,
    order=lambda q, k, v: (q, k, v),
    entries=lambda b: b,
):
    def answer(query, key, value, is_causal):
        query, key, value = query.contiguous(), key.contiguous(), value.contiguous()
        b, h, n, d = query.shape
        result = out(query)
        wrong_flash_kernel[(grid(n, bm), entries(b) * h)](
            *order(query, key, value),
            result,
            n,
            scale(d, n),
            D=d,
            CAUSAL=is_causal,
            BM=bm,
            BN=bn,
            HOW=how,
        )
        return result

    return answer


for number, (names, function) in enumerate(
    (
        (["no scale"], flash(scale=lambda d, n: 1.0)),
        (["no scale"], flash(scale=lambda d, n: 1.0, bm=64, bn=32)),
        (["d_k instead of sqrt(d_k)"], flash(scale=lambda d, n: 1 / d)),
        (["sqrt(n_k) instead of sqrt(d_k)"], flash(scale=lambda d, n: n**-0.5)),
        (["d_k fixed in the code"], flash(scale=lambda d, n: 0.125)),
        (["keys instead of values"], flash(order=lambda q, k, v: (q, k, k))),
        (["no causal mask"], flash("not causal")),
        (["no causal mask"], flash("not causal", bm=64, bn=64)),
        (["diagonal excluded"], flash("strict")),
        (["masked scores set to 0"], flash("zeros")),
        (["the future instead of the past"], flash("future")),
        (["the future instead of the past"], flash("future", bm=64, bn=64)),
        (["mask inverted"], flash("inverted", bm=32, bn=32)),
        (["diagonal block skipped"], flash("diagonal")),
        (["diagonal block skipped"], flash("diagonal", bm=32, bn=32)),
        (["diagonal block skipped"], flash("one block, diagonal")),
        (["padding counted as zeros"], flash("zero padding")),
        (["padding counted as zeros"], flash("zero padding", bm=64, bn=64)),
        (["tail block dropped"], flash("floor", bm=32, bn=32, out=torch.zeros_like)),
        (["last queries not computed"], flash(grid=lambda n, block: n // block)),
        (
            ["last queries not computed"],
            flash(grid=lambda n, block: n // block, bm=32, out=torch.zeros_like),
        ),
        (["only the first block of queries"], flash(grid=lambda n, block: 1)),
        (["only the first batch entry"], flash(entries=lambda b: 1)),
        (["heads mixed up"], flash("no head offset")),
        (["heads mixed up"], flash("no head offset in loads")),
        (["output not rescaled"], flash("accumulator")),
        (["output not rescaled"], flash("accumulator", bm=32, bn=64)),
        (["sum not rescaled"], flash("sum")),
        (["sum not rescaled"], flash("sum", bm=32, bn=32)),
        (["block measured from its own maximum"], flash("tile maximum")),
        (["block measured from its own maximum"], flash("tile maximum", bm=32, bn=64)),
        (["block measured from its own maximum"], flash("own maximum", bm=32)),
        (["positions counted inside the block"], flash("inside", bm=32, bn=32)),
        (
            ["tail block dropped", "sum not rescaled"],
            flash("sum, floor", bn=64, out=torch.zeros_like),
        ),
        (["only the last block"], flash("last block")),
        (["no maximum subtracted"], flash("no maximum")),
        (["not divided by the sum"], flash("no division")),
        (["float32 leaks out"], flash(out=lambda q: torch.empty(q.shape, device=q.device))),
        (["argument overwritten"], flash(out=lambda q: q)),
        (["edge not masked"], flash("no mask")),
        (["maximum begins at 0"], flash("from 0")),
        (["maximum begins at 0"], flash("from 0", bm=32, bn=64)),
        (["NaN from the first block on"], flash("upside down")),
        (["no scale", "no causal mask"], flash("not causal", scale=lambda d, n: 1.0)),
        (["no scale", "padding counted as zeros"], flash("zero padding", scale=lambda d, n: 1.0)),
    )
):
    function.__name__ = f"flash_{number}"
    answers.wrong(*names, function=function)


@answers.wrong("no Triton kernel launched")
def flash_of_torch(query, key, value, is_causal):
    return F.scaled_dot_product_attention(query, key, value, is_causal=is_causal)


@answers.wrong("no Triton kernel launched", "an (n, n) tensor made")
def flash_by_hand(query, key, value, is_causal):
    scores = query.float() @ key.float().mT / math.sqrt(query.shape[-1])
    if is_causal:
        scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -INF)
    return (torch.softmax(scores, -1) @ value.float()).to(query.dtype)


@answers.wrong("an (n, n) tensor made")
def flash_with_softmax_kernel(query, key, value, is_causal):
    scores = query.float() @ key.float().mT / math.sqrt(query.shape[-1])
    n = query.shape[2]
    if is_causal:
        scores = scores.masked_fill(
            torch.ones(n, n, dtype=torch.bool, device=query.device).triu(1), -INF
        )
    weights = one_program_a_row(scores.reshape(-1, n)).view_as(scores)
    return (weights @ value.float()).to(query.dtype)


@answers.wrong("torch's own attention called")
def flash_with_a_dummy(query, key, value, is_causal):
    one_program_a_row(query.reshape(-1, query.shape[-1]))
    return F.scaled_dot_product_attention(query, key, value, is_causal=is_causal)


@triton.jit
def short_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    n,
    scale,
    D: tl.constexpr,
    CAUSAL: tl.constexpr,
    HOW: tl.constexpr,
    LOW: tl.constexpr,
    BEYOND: tl.constexpr,
    FIRST: tl.constexpr,
    B: tl.constexpr = 16,
):
    rows, features = tl.program_id(0) * B + tl.arange(0, B), tl.arange(0, D)
    base = tl.program_id(1) * n * D
    at = base + rows[:, None] * D + features[None, :]
    q = tl.load(q_ptr + at, mask=rows[:, None] < n, other=0.0)
    highest = tl.full([B], FIRST, tl.float32)
    total = tl.zeros([B], tl.float32)
    output = tl.zeros([B, D], tl.float32)
    for start in range(0, n, B):
        columns = start + tl.arange(0, B)
        place = base + columns[:, None] * D + features[None, :]
        k = tl.load(k_ptr + place, mask=columns[:, None] < n, other=0.0)
        v = tl.load(v_ptr + place, mask=columns[:, None] < n, other=0.0)
        scores = tl.dot(q, tl.trans(k)) * scale
        if HOW != "keys of zeros":
            scores = tl.where(columns[None, :] < n, scores, BEYOND)
        if CAUSAL and HOW == "earlier keys":
            scores = tl.where(columns[None, :] < rows[:, None], scores, LOW)
        elif CAUSAL and HOW == "later keys":
            scores = tl.where(columns[None, :] > rows[:, None], scores, LOW)
        elif CAUSAL:
            scores = tl.where(columns[None, :] <= rows[:, None], scores, LOW)
        new = tl.maximum(highest, tl.max(scores, 1))
        factor, powers = tl.exp(highest - new), tl.exp(scores - new[:, None])
        total = total * factor + tl.sum(powers, 1)
        output = output * factor[:, None] + tl.dot(powers.to(v.dtype), v)
        if HOW == "in every block":
            output = output / total[:, None]
        highest = new
    if HOW != "never" and HOW != "in every block":
        output = output / total[:, None]
    tl.store(o_ptr + at, output, mask=rows[:, None] < n)


LOWEST = torch.finfo(torch.float32).min


def divided(how, low=-float("inf"), beyond=None, first=-float("inf")):
    """A kernel whose weights are as narrow as the values, and whose sums aren't; hidden scores are
    low, those beyond the last key perhaps otherwise.
    """
    beyond = low if beyond is None else beyond

    def flash(query, key, value, is_causal):
        query, key, value = query.contiguous(), key.contiguous(), value.contiguous()
        (batch, heads, n, d), out = query.shape, torch.empty_like(query)
        short_kernel[(triton.cdiv(n, 16), batch * heads)](
            query,
            key,
            value,
            out,
            n,
            d**-0.5,
            D=d,
            CAUSAL=is_causal,
            HOW=how,
            LOW=low,
            BEYOND=beyond,
            FIRST=first,
        )
        return out

    return flash


answers.right(divided("at the end"))
answers.right(divided("at the end", low=LOWEST, first=LOWEST))
for low in (-1e4, -1e9):
    answers.wrong("maximum starts too high", function=divided("at the end", first=low))
    answers.wrong("negative number instead of -inf", function=divided("at the end", low))
    answers.wrong("negative number instead of -inf", function=divided("at the end", low, first=low))
    answers.wrong("negative number beyond the last key", function=divided("at the end", beyond=low))
answers.wrong("not divided by the sum", function=divided("never"))
answers.wrong("padding counted as zeros", function=divided("keys of zeros"))
answers.wrong("divided in every block", function=divided("in every block"))
answers.wrong("diagonal excluded", function=divided("earlier keys", -1.0e30))
answers.wrong("mask inverted", function=divided("later keys", -1.0e30))
