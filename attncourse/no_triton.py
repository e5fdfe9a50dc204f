"""The part of Triton that the chapters use, for machines without Triton: macOS, Windows.

It runs a kernel's programs one after another on the CPU, on torch tensors. It isn't a compiler, and
it doesn't test a kernel: Triton's own interpreter (TRITON_INTERPRET=1) is far closer to a GPU.

    try:
        import triton
        import triton.language as tl
    except ImportError:
        from attncourse import no_triton as triton
        tl = triton
"""

import builtins
import inspect
import math

import torch

float32, float16, bfloat16 = torch.float32, torch.float16, torch.bfloat16
constexpr = int
program = [0, 0, 0]  # which one is running


class Pointer:
    """Where a tensor's numbers are in memory, and which positions are meant."""

    def __init__(self, numbers, at=0):
        self.numbers, self.at = numbers, at

    def __add__(self, steps):
        return Pointer(self.numbers, self.at + steps)


def pointer_to(argument):
    if not isinstance(argument, torch.Tensor):
        return argument
    used = 1 + builtins.sum(
        (size - 1) * stride for size, stride in zip(argument.shape, argument.stride())
    )
    return Pointer(argument.as_strided((used,), (1,)))


def jit(kernel):
    """kernel[grid](...) runs it once for each program of the grid; other kernels may call it."""

    def sizes_of(grid, args, constants):
        """Triton takes a tuple, or a function that makes one from the kernel's arguments."""
        if callable(grid):
            grid = grid(inspect.signature(kernel).bind(*args, **constants).arguments)
        if not isinstance(grid, (tuple, list)):
            raise TypeError(
                f"a grid is a tuple, as in kernel[({grid},)](...), but this is {grid!r}"
            )
        return grid

    def launcher(grid):
        def launch(*args, num_warps=None, num_stages=None, **constants):
            sizes = (*sizes_of(grid, args, constants), 1, 1)[:3]
            for number in range(math.prod(sizes)):
                program[:] = (
                    number % sizes[0],
                    number // sizes[0] % sizes[1],
                    number // sizes[0] // sizes[1],
                )
                kernel(
                    *map(pointer_to, args),
                    **{name: pointer_to(value) for name, value in constants.items()},
                )

        return launch

    return type(
        "Kernel",
        (),
        {
            "__getitem__": lambda self, grid: launcher(grid),
            "fn": staticmethod(kernel),
            "__call__": staticmethod(kernel),
        },
    )()


def program_id(axis):
    return program[axis]


def arange(start, end):
    return torch.arange(start, end)


def load(pointer, mask=True, other=0):
    at, mask = torch.broadcast_tensors(torch.as_tensor(pointer.at), torch.as_tensor(mask))
    return torch.where(mask, pointer.numbers[torch.where(mask, at, 0)], other)


def store(pointer, value, mask=True):
    at, mask, value = torch.broadcast_tensors(*map(torch.as_tensor, (pointer.at, mask, value)))
    pointer.numbers[at[mask]] = value[mask].to(pointer.numbers.dtype)


def atomic_add(pointer, value):
    store(pointer, load(pointer) + value)


def trans(x):
    return x.mT


def full(shape, value, dtype):
    return torch.full(shape, value, dtype=dtype)


def zeros(shape, dtype):
    return torch.zeros(shape, dtype=dtype)


def dot(x, y, acc=0, input_precision=None):
    """Half precision is summed in float32 too."""
    return x.to(torch.float32) @ y.to(torch.float32) + acc


def max(x, axis):
    return x.amax(axis)


def sum(x, axis):
    return x.sum(axis)


def maximum(x, y):
    return torch.maximum(torch.as_tensor(x), torch.as_tensor(y))


exp, exp2, log, log2, where = torch.exp, torch.exp2, torch.log, torch.log2, torch.where


def cdiv(n, block):
    return -(-n // block)


def next_power_of_2(n):
    return 1 << (n - 1).bit_length()
