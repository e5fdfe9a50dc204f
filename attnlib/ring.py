"""Attention over several devices: keys and values travel around a ring of ranks.

Each of the P ranks of torch.distributed holds n / P positions, and no rank ever holds more than
two such parts of the keys and values. The steps that lead here:

    Step 1, split: a rank keeps its own queries; only keys and values travel.
    Step 2, ring: in P steps the keys of all ranks pass by, because each rank sends to the next one.
    Step 3, merge: what a rank has read so far and what it reads now are merged by log-sum-exp.
    Step 4, overlap: the next keys travel while these are being used.
    Step 5, zigzag: chunks from both ends of the sequence, so that a causal mask leaves all ranks
            the same work. In order, the last rank would have nearly all of it.
    Step 6, backward: the gradients of keys and values travel along with them, and end on their own
    rank.

flash_triton.py computes with one part of the keys, for CUDA tensors that it takes, otherwise
online_torch.py. It has not run on several GPUs yet: the tests check results on the CPU, over gloo.

    torchrun --nproc-per-node 2 -m attnlib.ring

compares all this with dense attention, on GPUs (NCCL) if there is one for each process, otherwise
on the CPU (gloo). Source: Liu, Zaharia and Abbeel, "Ring Attention" (2023); the zigzag order: the
repository zhuzilin/ring-flash-attention (2024).
"""

import contextlib
import datetime
import math
import os
import sys

import torch
import torch.distributed as dist

from attnlib import api, online_torch
from attnlib.dense_torch import widen
from attnlib.masks import limits

COMMAND = "torchrun --nproc-per-node 2 -m attnlib.ring"


def attention(
    query,
    key,
    value,
    *,
    is_causal=False,
    scale=None,
    softcap=None,
    enable_gqa=False,
    return_lse=False,
    group=None,
):
    """attnlib.attention over a sequence that is split over the ranks as shard() does it.

    Every rank of the group calls this with its own part, and calls backward() too if one does.
    Gradients are those of the sum of all ranks' losses.

    Args:
        query: `(..., n_q / P, d_k)`, this rank's positions, on its device.
        key, value: `(..., n_k / P, d_k)` and `(..., n_k / P, d_v)`, of equal shapes on all ranks.
        is_causal: positions are those of the whole sequence; n_q must equal n_k, and the parts
            must be those of shard().
        scale, softcap, enable_gqa, return_lse: as for attnlib.attention.
        group: the process group; None for all processes.

    Returns:
        The output `(..., n_q / P, d_v)` of this rank's queries; with return_lse the pair with
        their log-sum-exp `(..., n_q / P)`.

    Raises:
        TypeError, ValueError: as for attnlib.attention, and if the parts do not fit together.
        RuntimeError: a rank has died, or sent nothing within the timeout that was given to
            dist.init_process_group. (With NCCL, torch itself ends the process after that time.)
    """
    kind, _ = api.checked_attention(
        query, key, value, None, is_causal, None, scale, softcap, enable_gqa
    )
    if kind != "torch":
        raise TypeError("ring attention takes torch tensors; got NumPy arrays")
    check_parts(query, key, value, is_causal, group)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    softcap = None if softcap is None else float(softcap)
    options = scale, softcap, query.shape[-3] if enable_gqa else None
    output, lse = Ring.apply(query, key, value, is_causal, options, group)
    output = output.to(query.dtype)
    return (output, lse) if return_lse else output


class Ring(torch.autograd.Function):
    """Keeps this rank's arrays for the backward pass; the other ranks' arrays travel a second
    time."""

    @staticmethod
    def forward(query, key, value, is_causal, options, group):
        return forward(query, key, value, is_causal, options, group)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs[:3], *output)
        ctx.options = inputs[3:]

    @staticmethod
    def backward(ctx, grad_output, grad_lse):
        grads = online_torch.once(backward, *ctx.saved_tensors, grad_output, grad_lse, *ctx.options)
        return *grads, None, None, None


# --- who holds which positions ---


def shard(array, rank, size):
    """The positions that a rank holds: chunks `rank` and `2 size - 1 - rank` of `2 size` chunks.

    `(..., n, d)` becomes `(..., n / size, d)`, for queries, keys, values, and whatever belongs to
    their positions.

    >>> shard(torch.arange(8)[:, None], rank=0, size=2).ravel().tolist()
    [0, 1, 6, 7]
    """
    if array.shape[-2] % (2 * size):
        raise ValueError(
            f"the number of positions must be a multiple of {2 * size}, 2 chunks for each of "
            f"{size} ranks; got {array.shape[-2]}. Fill the sequence up, and ignore what is added"
        )
    chunks = array.chunk(2 * size, dim=-2)
    return torch.cat([chunks[rank], chunks[2 * size - 1 - rank]], dim=-2)


def unshard(parts):
    """The whole array from the parts of all ranks, in the order of the ranks.

    >>> whole = torch.arange(8.0)[:, None]
    >>> unshard([shard(whole, rank, 2) for rank in range(2)]).equal(whole)
    True
    """
    first, second = zip(*(part.chunk(2, dim=-2) for part in parts))
    return torch.cat([*first, *reversed(second)], dim=-2)


def meeting(rank, source, n_q, n_k, is_causal):
    """Which of this rank's queries meet which of another rank's keys, and whether the mask cuts
    through them.

    Chunks come in the order r, then 2P - 1 - r. For a rank before this one, the first chunk of its
    keys comes before all queries here, and the second after them. For a rank after this one, the
    first chunk of queries comes before all of its keys, and the second after them. So every pair of
    ranks costs n_q n_k / 2 scores.
    """
    if not is_causal or source == rank:  # r is before 2P - 1 - r: the usual mask, for its own keys
        return slice(None), slice(None), is_causal
    if source < rank:
        return slice(None), slice(n_k // 2), False
    return slice(n_q // 2, None), slice(None), False


def check_parts(query, key, value, is_causal, group):
    """All ranks must make the same call: gloo would accept a message that is too short without an
    error."""
    own = tuple(key.shape), tuple(value.shape), str(key.dtype), is_causal
    calls = [None] * dist.get_world_size(group)
    with explained(group):
        dist.all_gather_object(calls, own, group=group)
    if len(set(calls)) > 1:
        raise ValueError(
            "key, value, their dtype and is_causal must be alike on all ranks; got "
            + ", ".join(f"{call} on rank {rank}" for rank, call in enumerate(calls))
        )
    n_q, n_k = query.shape[-2], key.shape[-2]
    if is_causal and (n_q != n_k or n_q % 2):
        raise ValueError(
            "with is_causal each rank holds two chunks, which shard() gives, of queries and of "
            f"keys, all equally long; got {n_q} queries and {n_k} keys"
        )


# --- the ring ---


def round_the_ring(arrays, group):
    """(rank, its arrays) for each rank in turn, beginning with this one; the next are already
    travelling."""
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    for step in range(size):
        coming = pass_on(arrays, group) if step < size - 1 else None
        yield (rank - step) % size, arrays
        arrays = coming and arrived(coming, group)


def pass_on(arrays, group):
    """Start sending to the next rank and receiving from the one before; returns what arrived()
    waits for.
    """
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    if size == 1:
        return [], arrays
    following, previous = (
        dist.get_global_rank(group or dist.group.WORLD, (rank + step) % size) for step in (1, -1)
    )
    arrays = [array.contiguous() for array in arrays]
    coming = [torch.empty_like(array) for array in arrays]
    messages = [dist.P2POp(dist.isend, array, following, group) for array in arrays]
    messages += [dist.P2POp(dist.irecv, array, previous, group) for array in coming]
    with explained(group):
        return dist.batch_isend_irecv(messages), coming


def arrived(under_way, group):
    """The arrays that pass_on() began to receive. What it sent has left, so it may be written
    to."""
    requests, arrays = under_way
    with explained(group):
        for request in requests:
            request.wait()
    return arrays


@contextlib.contextmanager
def explained(group):
    """Says which rank did not answer, instead of the network's own message."""
    try:
        yield
    except RuntimeError as error:
        rank, size = dist.get_rank(group), dist.get_world_size(group)
        raise RuntimeError(
            f"rank {rank} of {size} waited in vain for rank {(rank - 1) % size}: a rank has died,"
            " or sent nothing within the timeout. Look for the first error of any rank, and start"
            " all of them again"
        ) from error


# --- one part of the keys, on this rank ---


def kernels_for(query, key, value):
    """attnlib.flash_triton where its kernels take these tensors, else None."""
    alike = (
        query.ndim == key.ndim == value.ndim == 4
        and len({array.shape[0] for array in (query, key, value)}) == 1
    )
    if not (query.is_cuda and alike and api.HAS_TRITON):
        return None
    from attnlib import flash_triton

    return flash_triton if flash_triton.unsupported(query, key, value, None) is None else None


def attend(query, key, value, is_causal, scale, softcap, h):
    """The output, in float32 or wider, and the log-sum-exp."""
    kernels = kernels_for(query, key, value)
    if kernels is None:
        return online_torch.forward(
            query, key, value, None, limits(is_causal, None), scale, softcap, h
        )
    return kernels.forward(
        query, key, value, None, *limits(is_causal, None), scale, softcap, in_float32=True
    )


def gradients(query, key, value, output, lse, grad_output, grad_lse, is_causal, scale, softcap, h):
    """The gradients of query, key and value, in float32 or wider, given output and log-sum-exp over
    the keys of all ranks.
    """
    kernels = kernels_for(query, key, value)
    if kernels is None:
        return online_torch.backward_blocks(
            *map(widen, (query, key, value)),
            None,
            output,
            lse,
            grad_output,
            grad_lse,
            False,
            limits(is_causal, None),
            scale,
            softcap,
            h,
        )
    return kernels.backward(
        grad_output,
        grad_lse,
        query,
        key,
        value,
        None,
        output,
        lse.contiguous(),
        *limits(is_causal, None),
        scale,
        softcap,
        in_float32=True,
    )


# --- forward and backward ---


def forward(query, key, value, is_causal, options, group):
    """The output, in float32 or wider, and the log-sum-exp of this rank's queries."""
    rank, output, lse = dist.get_rank(group), None, None
    for source, (key, value) in round_the_ring([key, value], group):
        rows, keys, is_cut = meeting(rank, source, query.shape[-2], key.shape[-2], is_causal)
        part = attend(query[..., rows, :], key[..., keys, :], value[..., keys, :], is_cut, *options)
        if output is None:  # its own keys come first, and all its queries read them
            output, lse = part
        else:
            merged = online_torch.merge_partials(output[..., rows, :], lse[..., rows], *part)
            output[..., rows, :], lse[..., rows] = merged
    return output, lse


def backward(query, key, value, output, lse, grad_output, grad_lse, is_causal, options, group):
    """Gradients of query, key and value.

    The gradients of the keys travel one rank behind the keys: a rank adds its own share to the sum
    that came from the rank before it, and sends it on while it computes the next share.
    """
    rank, coming, grad_query = dist.get_rank(group), None, torch.zeros_like(widen(query))
    for source, (key, value) in round_the_ring([key, value], group):
        rows, keys, is_cut = meeting(rank, source, query.shape[-2], key.shape[-2], is_causal)
        own = gradients(
            query[..., rows, :],
            key[..., keys, :],
            value[..., keys, :],
            output[..., rows, :],
            lse[..., rows],
            grad_output[..., rows, :],
            grad_lse[..., rows],
            is_cut,
            *options,
        )
        grad_query[..., rows, :] += own[0]
        sums = (
            arrived(coming, group)
            if coming
            else [torch.zeros_like(widen(array)) for array in (key, value)]
        )
        for total, share in zip(sums, own[1:]):
            total[..., keys, :] += share
        coming = pass_on(sums, group)  # after the last step: home
    return [grad.to(query.dtype) for grad in (grad_query, *arrived(coming, group))]


# --- the command ---


def main():
    if "RANK" not in os.environ:
        sys.exit(f"attnlib.ring runs in several processes; start them with\n    {COMMAND}")
    device = join()
    try:
        worst = torch.tensor(
            max(largest_difference(is_causal, device) for is_causal in (False, True)), device=device
        )
        dist.all_reduce(worst, dist.ReduceOp.MAX)
        report(worst.item(), device)
    finally:
        dist.destroy_process_group()


def join(timeout=60):
    """Join the processes that torchrun has started; this one's device. `timeout` in seconds."""
    on_gpus = torch.cuda.device_count() >= int(os.environ["LOCAL_WORLD_SIZE"])
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if on_gpus else torch.device("cpu")
    if on_gpus:
        torch.cuda.set_device(device)
    dist.init_process_group(
        "nccl" if on_gpus else "gloo", timeout=datetime.timedelta(seconds=timeout)
    )
    return device


def largest_difference(is_causal, device, n=256, dtype=torch.float32):
    """What dense attention in float64 gives for this rank's positions: output, log-sum-exp and
    gradients.
    """
    rank, size = dist.get_rank(), dist.get_world_size()
    generator = torch.Generator().manual_seed(0)
    query, key, value, grad = (
        torch.randn(heads, n * size, d, generator=generator, dtype=dtype).to(device)
        for heads, d in ((4, 32), (2, 32), (2, 48), (4, 48))
    )

    def run(attend, arrays, grad):
        arrays = [array.detach().requires_grad_() for array in arrays]
        output, lse = attend(*arrays, is_causal=is_causal, enable_gqa=True, return_lse=True)
        return (
            output,
            lse[..., None],
            *torch.autograd.grad((output, lse), arrays, (grad, grad[..., 0])),
        )

    dense = run(api.attention, [array.double() for array in (query, key, value)], grad.double())
    ours = run(
        attention,
        [shard(array, rank, size) for array in (query, key, value)],
        shard(grad, rank, size),
    )
    return max(
        (shard(whole, rank, size) - part).abs().max().item() for whole, part in zip(dense, ours)
    )


def report(worst, device):
    """Rank 0 prints one line; all exit with code 1 if the difference is more than rounding."""
    equal = worst < 1e-4
    if dist.get_rank() == 0:
        print(
            f"ring attention in {dist.get_world_size()} processes on {device.type}, causal and not:"
            f" output, log-sum-exp and gradients {'equal' if equal else 'DIFFER FROM'} those of"
            f" dense attention (largest difference {worst:.0e}, float32)"
        )
    if not equal:
        sys.exit(1)


if __name__ == "__main__":
    main()
