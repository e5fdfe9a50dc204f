"""What a Triton kernel reads and writes, counted while Triton's interpreter runs it: no GPU and no
guess is needed.
"""

import contextlib
import inspect
import sys
from collections import OrderedDict
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Access:
    """One load or store of one program: the addresses that its mask lets through, in bytes."""

    program: tuple
    addresses: np.ndarray
    itemsize: int
    is_store: bool

    @property
    def nbytes(self):
        return self.addresses.size * self.itemsize


@dataclass
class Moved:
    """The accesses of the kernels that ran, in their order; the interpreter runs one program after
    another.

    Where `memory` names ranges of addresses, (first, last) in bytes, accesses outside are noted and
    left out, so that they can't end the process.
    """

    trace: list = field(default_factory=list)
    memory: list | None = None

    @property
    def read(self):
        return sum(access.nbytes for access in self.trace if not access.is_store)

    @property
    def written(self):
        return sum(access.nbytes for access in self.trace if access.is_store)

    @property
    def bytes(self):
        return self.read + self.written

    def of(self, tensor):
        """The accesses that begin inside one tensor's memory."""
        storage = tensor.untyped_storage()
        first, last = storage.data_ptr(), storage.data_ptr() + storage.nbytes()
        return Moved(
            [
                access
                for access in self.trace
                if access.addresses.size and first <= access.addresses.flat[0] < last
            ]
        )

    def through_cache(self, size, line=128):
        """Bytes read from memory and written to it if a cache of `size` bytes keeps the lines that
        were used last.

        A line that is read and not in the cache is fetched whole; one that was written is written
        back when it leaves. This is a model rather than a measurement: a GPU runs many programs at
        a time, and this trace has one after another.
        """
        kept, moved = OrderedDict(), 0
        for access in self.trace:
            for number in np.unique(access.addresses // line).tolist():
                moved += line * (number not in kept and not access.is_store)
                kept[number] = kept.pop(number, False) or access.is_store
                if len(kept) > size // line:
                    moved += line * kept.popitem(last=False)[1]
        return moved + line * sum(kept.values())


@contextlib.contextmanager
def counted():
    """Records the accesses of all kernels inside the block.

    >>> with counted() as moved:        # doctest: +SKIP
    ...     kernel[grid](x, y, n, BLOCK=16)
    >>> moved.read, moved.written       # doctest: +SKIP

    Raises:
        RuntimeError: kernels are compiled here, so their accesses can't be seen.
    """
    moved = Moved()
    undo = _watch_stand_in(moved) + _watch_interpreter(moved)
    try:
        yield moved
    finally:
        for owner, name, original in undo:
            setattr(owner, name, original)


def _watch_interpreter(moved):
    try:
        import triton.language
        from triton.runtime import interpreter
    except ImportError:
        return []  # without Triton the stand-in runs the kernels
    if type(triton.language.sum).__name__ != "InterpretedFunction":
        raise RuntimeError(
            "accesses are counted in Triton's interpreter: set TRITON_INTERPRET=1 before Triton is"
            " imported"
        )
    builder = type(interpreter.interpreter_builder)
    masks = {"create_masked_load": 1, "create_masked_store": 2, "create_atomic_rmw": 3}
    undo = [(builder, name, getattr(builder, name)) for name in masks]
    for _, name, original in undo:
        setattr(builder, name, _noting(name, original, masks[name], moved))
    return undo


def _noting(name, original, mask_at, moved):
    is_atomic = name == "create_atomic_rmw"

    def access(self, *args, **kwargs):
        pointers, mask = args[is_atomic], args[mask_at]
        allowed = (
            mask if isinstance(mask, np.ndarray) else mask.data
        )  # an array if a block pointer made it
        allowed = np.broadcast_to(allowed.astype(bool), pointers.data.shape)
        addresses = pointers.data[allowed]
        itemsize = max(1, pointers.get_element_ty().primitive_bitwidth // 8)
        for is_store in (False, True) if is_atomic else (name == "create_masked_store",):
            moved.trace.append(
                Access(tuple(self.grid_idx), addresses.astype(np.int64), itemsize, is_store)
            )
        if moved.memory is not None:
            kept = allowed & _inside(pointers.data, moved.memory)
            handle = kept if isinstance(mask, np.ndarray) else type(mask)(kept, mask.dtype)
            args = (*args[:mask_at], handle, *args[mask_at + 1 :])
        return original(self, *args, **kwargs)

    return access


def _inside(addresses, ranges):
    """Which addresses lie in one of these ranges."""
    found = np.zeros(addresses.shape, bool)
    for first, last in ranges:
        found |= (first <= addresses) & (addresses <= last)
    return found


def _watch_stand_in(moved):
    stand_in = sys.modules.get("attncourse.no_triton")
    if stand_in is None:
        return []
    import torch

    def noting(original, is_store):
        def access(*args, **kwargs):
            given = inspect.signature(original).bind(*args, **kwargs)
            given.apply_defaults()
            pointer, mask = given.arguments["pointer"], given.arguments["mask"]
            at, allowed = torch.broadcast_tensors(
                torch.as_tensor(pointer.at), torch.as_tensor(mask)
            )
            itemsize = pointer.numbers.element_size()
            addresses = pointer.numbers.data_ptr() + at[allowed].numpy() * itemsize
            moved.trace.append(Access(tuple(stand_in.program), addresses, itemsize, is_store))
            if moved.memory is not None:
                given.arguments["mask"] = allowed & (at >= 0) & (at < len(pointer.numbers))
            return original(*given.args, **given.kwargs)

        return access

    undo = [(stand_in, name, getattr(stand_in, name)) for name in ("load", "store")]
    for _, name, original in undo:
        setattr(stand_in, name, noting(original, name == "store"))
    return undo
