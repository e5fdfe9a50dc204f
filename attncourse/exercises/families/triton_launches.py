"""Kernels that a learner's function launches: counted, kept inside their tensors, and empty tensors
marked.

torch and Triton are imported where they are used.
"""

import contextlib
import dataclasses
import functools
import importlib.util
import inspect
import os
import sys

import numpy

from ..model import TOO_MANY


def kernels_missing():
    """A sentence if Triton kernels cannot be run here, else ''."""
    if not (importlib.util.find_spec("torch") and importlib.util.find_spec("triton")):
        return (
            "It needs PyTorch and Triton, which are not both installed here (Triton exists for"
            " Linux): pip install torch triton, or open the chapter in Colab."
        )
    if interpreted() or has_cuda():
        return ""
    if asked_to_interpret():
        return (
            "TRITON_INTERPRET was set after Triton had been imported: restart the kernel, and set"
            " it in the first cell."
        )
    return (
        "It needs a CUDA device, or Triton's interpreter, which runs kernels on the CPU: restart"
        " the kernel, and begin with import os; os.environ[\"TRITON_INTERPRET\"] = \"1\" in the"
        " first cell, before Triton is imported."
    )


def asked_to_interpret():
    return os.environ.get("TRITON_INTERPRET", "0").lower() in ("1", "true", "yes", "on", "y")


def interpreted():
    """Whether kernels run in Triton's interpreter; that is decided when Triton is imported."""
    if "triton" not in sys.modules and not asked_to_interpret():
        return False
    import triton.language

    return type(triton.language.sum).__name__ == "InterpretedFunction"


def has_cuda():
    import torch

    return torch.cuda.is_available()


def kernel_device():
    """Where the tensors for Triton kernels are made."""
    return "cpu" if kernels_missing() or interpreted() else "cuda"


class Kernels:
    """How often kernels were launched, over all runs; the programs of each launch of the last run;
    and how often it loaded or stored, and how many places that were, masked or not. Only the
    interpreter counts programs, accesses and places; elsewhere they are 0.
    """

    launches = accesses = places = 0
    programs = ()


@contextlib.contextmanager
def kernels_watched():
    """While it lasts launches are counted, empty tensors are marked, and the interpreter keeps to
    the tensors.
    """
    Kernels.accesses = Kernels.places = 0
    Kernels.programs = ()
    undo = _interpreter_guarded() if interpreted() else _launches_counted()
    try:
        with _empty_marked():
            yield
    finally:
        for owner, name, value in undo:
            setattr(owner, name, value)


NEVER_WRITTEN = 768.0  # exact in every dtype


def _empty_marked():
    """A mode in which torch.empty and its kin give tensors of NEVER_WRITTEN, not of what was in
    memory.
    """
    from torch.utils._python_dispatch import TorchDispatchMode

    def mark(mode, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if "empty" in function.name() and result.is_floating_point():
            result.fill_(NEVER_WRITTEN)
        return result

    return type("Mark", (TorchDispatchMode,), {"__torch_dispatch__": mark})()


def _launches_counted():
    from triton.runtime.jit import JITFunction

    run = JITFunction.run

    def counted(self, *args, **kwargs):
        Kernels.launches += not kwargs.get("warmup")
        Kernels.programs += (0,) * (not kwargs.get("warmup"))  # uncounted
        return run(self, *args, **kwargs)

    JITFunction.run = counted
    return [(JITFunction, "run", run)]


# what Triton's compiler refuses in half precision, and its interpreter does not
WIDE = (
    "create_exp",
    "create_exp2",
    "create_log",
    "create_log2",
    "create_sqrt",
    "create_sin",
    "create_cos",
    "create_erf",
)

# what reads and writes memory, and which of its arguments is the mask
ACCESSES = {
    "create_masked_load": 1,
    "create_masked_store": 2,
    "create_atomic_rmw": 3,
    "create_atomic_cas": None,
}

MANY_PROGRAMS = 512


@functools.cache
def _builtins_of(package):
    from triton.language import core

    return [name for name, member in inspect.getmembers(package) if core.is_builtin(member)]


def quicker_interpreter():
    """[(owner, name, value)] that make the interpreter leave out what changes no result: a
    third to a half of its time.

    At each call of a kernel's helper it looks for builtins among all that Triton's modules hold;
    which names those are never changes. And for each sum and product of int32 it works out
    whether it overflows, then says so only to a kernel that is being debugged.
    """
    from triton.runtime import interpreter

    def patch_builtin(package, *others):  # the builder, and in newer versions a scope
        for name in _builtins_of(package):
            member = getattr(package, name)
            if interpreter.tl.core.is_builtin(member):
                interpreter._patch_attr(package, name, member, *others)

    found, builder = [], interpreter.interpreter_builder
    if hasattr(interpreter, "_patch_builtin") and hasattr(interpreter, "_patch_attr"):
        found.append((interpreter, "_patch_builtin", patch_builtin))
    options = getattr(builder, "options", None)
    if getattr(options, "sanitize_overflow", False) and not options.debug:
        options = dataclasses.replace(options, sanitize_overflow=False)
        found.append((builder, "options", options))
    return found


def _interpreter_guarded():
    """Make the interpreter as strict as a GPU: bounds and dtypes are checked; says how to undo
    it.
    """
    from triton.runtime import interpreter

    executor, builder = interpreter.GridExecutor, type(interpreter.interpreter_builder)
    ranges = []

    def arguments(self, args, kwargs):
        hosted = _init_args(self, args, kwargs)
        Kernels.launches += 1
        ranges[:] = [_range(tensor) for tensor in _pointed([*hosted[0], *hosted[1].values()])]
        return hosted

    def grid(self, x, y, z):
        if x * y * z > MANY_PROGRAMS:
            raise RuntimeError(f"{x * y * z} programs are started: {TOO_MANY} to run in time")
        Kernels.programs += (x * y * z,)
        return _set_grid(self, x, y, z)

    undo = [
        (builder, name, getattr(builder, name))
        for name in (*ACCESSES, *WIDE)
        if hasattr(builder, name)
    ]
    _init_args, _set_grid = executor._init_args_hst, builder.set_grid_dim
    executor._init_args_hst, builder.set_grid_dim = arguments, grid
    for owner, name, original in undo:
        setattr(
            owner, name, _wide_alone(original) if name in WIDE else _guarded(name, original, ranges)
        )
    undo += [(executor, "_init_args_hst", _init_args), (builder, "set_grid_dim", _set_grid)]
    for owner, name, value in quicker_interpreter():
        undo.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)
    return undo + _blocks_without_truth(interpreter)


NO_TRUTH = (
    "a block of {} entries stands where a single True or False is needed, as in Python's max, min,"
    " if, and, or, not, and in a chain such as a <= b < c"
)


def _blocks_without_truth(interpreter):
    """In the interpreter a block counts as True, so that max(x, 0) of a block x is one of the two
    as a whole, without a word.
    """
    patch = getattr(interpreter, "_patch_lang_tensor", None)
    if patch is None:
        return []

    def patched(tensor, *args):
        patch(tensor, *args)
        known = tensor.__bool__

        def truth(self):
            asked_by = sys._getframe(1).f_globals.get("__name__", "")
            if self.handle.data.size > 1 and asked_by.split(".")[0] != "triton":
                raise ValueError(NO_TRUTH.format(self.handle.data.size))
            return known(self)

        tensor.__bool__ = truth

    interpreter._patch_lang_tensor = patched
    return [(interpreter, "_patch_lang_tensor", patch)]


def _guarded(name, original, ranges):
    """An access to memory that has to stay inside these ranges of addresses."""
    mask_at = ACCESSES[name]

    def access(self, *args, **kwargs):
        pointers = args[name == "create_atomic_rmw"]
        mask = args[mask_at] if mask_at else None
        Kernels.accesses += 1
        Kernels.places += pointers.data.size
        _keep_inside(ranges, pointers, mask, "read" if name == "create_masked_load" else "write")
        return original(self, *args, **kwargs)

    return access


def _wide_alone(original):
    """A function that takes float32 and float64 alone."""

    def compute(self, value, *args):
        kind = str(value.dtype.scalar)
        if kind in ("fp16", "bf16"):
            raise ValueError(f"Expected dtype ['fp32', 'fp64'] but got {kind}")
        return original(self, value, *args)

    return compute


def _pointed(args):
    """The tensors among a kernel's arguments, and in its tuples and descriptors."""
    for arg in args:
        if hasattr(arg, "data_ptr"):
            yield getattr(arg, "base", arg)
        elif isinstance(arg, tuple):
            yield from _pointed(arg)
        elif hasattr(arg, "base"):
            yield arg.base


def _range(tensor):
    """(first, last) address of a tensor's entries."""
    spans = [(size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride())]
    first = tensor.data_ptr()
    return (
        (first, first - 1)
        if tensor.numel() == 0
        else (first, first + sum(spans) * tensor.element_size())
    )


def _keep_inside(ranges, pointers, mask, deed):
    """Raise IndexError before the interpreter would read or write outside, which can end the
    process.
    """
    addresses = pointers.data
    if mask is not None:
        mask = mask if isinstance(mask, numpy.ndarray) else mask.data
        addresses = addresses[numpy.broadcast_to(mask.astype(bool), addresses.shape)]
    if not addresses.size:
        return
    low, high = int(addresses.min()), int(addresses.max())
    if any(first <= low and high <= last for first, last in ranges):
        return
    inside = sum(((addresses >= first) & (addresses <= last)).astype(int) for first, last in ranges)
    outside = int((inside == 0).sum()) if len(ranges) else addresses.size
    if outside:
        raise IndexError(
            f"{outside} of the {addresses.size} entries that the kernel wants to {deed} "
            f"{'lies' if outside == 1 else 'lie'} outside its tensors"
        )
