"""The least that has to be done, and how long it takes: operations, and bytes moved.

The chapters count with these functions; the benchmarks measure.
"""


def attention_flops(n_q, n_k, d_k, d_v):
    """Operations of the two matrix products, a multiply-add counted as 2."""
    return 2 * n_q * n_k * d_k + 2 * n_q * n_k * d_v


def attention_bytes(n_q, n_k, d_k, d_v, itemsize):
    """Bytes that a fused kernel must move: query, key and value read once, the output written
    once.
    """
    return itemsize * (n_q * d_k + n_k * d_k + n_k * d_v + n_q * d_v)


def roofline_seconds(flops, bytes_moved, peak_flops, bandwidth):
    """The least time that the arithmetic and the memory allow, working at the same time.

    Source: Williams, Waterman and Patterson, "Roofline" (2009).
    """
    return max(flops / peak_flops, bytes_moved / bandwidth)


def traffic(call):
    """(name, bytes) of each operation of torch in call(): its arguments, read once, and what it
    writes.

    What a view shares with another tensor doesn't move. Caches, and what an operation does
    internally, are ignored.
    """
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    moved = []

    def note(mode, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        read, written = (
            [leaf for leaf in tree_leaves(tree) if hasattr(leaf, "untyped_storage")]
            for tree in ((args, kwargs), result)
        )
        stored = {tensor.untyped_storage().data_ptr() for tensor in read}
        if operation._schema.is_mutable or any(
            t.untyped_storage().data_ptr() not in stored for t in written
        ):
            moved.append(
                (operation.name().removeprefix("aten::"), sum(map(size_in_memory, read + written)))
            )
        return result

    with type("Meter", (TorchDispatchMode,), {"__torch_dispatch__": note})():
        call()
    return moved


def size_in_memory(tensor):
    """Bytes; an expanded axis counts once."""
    return min(tensor.nbytes, tensor.untyped_storage().nbytes())
