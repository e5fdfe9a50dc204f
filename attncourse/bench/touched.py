"""Which places of each tensor the programs of a kernel read and write, also where they shouldn't.

torch is imported where it is used.
"""

import contextlib
import inspect
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from attncourse.bench.interpreter import counted

MARGIN = 1024  # numbers of free memory before and behind a tensor: what lies there is no other's


@dataclass(frozen=True)
class Touch:
    """Who read or wrote a tensor: {place: [program, ...]}, counted from its first number.

    Places below 0, or from the tensor's size on, lie outside.
    """

    name: str
    shape: tuple
    is_store: bool
    programs: dict = field(default_factory=dict)

    @property
    def size(self):
        return int(np.prod(self.shape))

    @property
    def outside(self):
        return sorted(place for place in self.programs if not 0 <= place < self.size)

    @property
    def missed(self):
        return [place for place in range(self.size) if place not in self.programs]

    @property
    def repeated(self):
        return [p for p in range(self.size) if len(self.programs.get(p, ())) > 1]

    def __str__(self):
        count = self.size - len(self.missed)
        said = [f"{self.name}, {'written' if self.is_store else 'read'}: {self._how_many(count)}"]
        times = {len(self.programs.get(place, ())) for place in range(self.size)}
        if count and len(times - {0}) == 1:
            said[0] += ", each once" if max(times) == 1 else f", each {max(times)} times"
        elif self.repeated:
            said.append(f"More than once: {self.listed(self.repeated)}")
        if count and self.missed:
            said.append(f"Missed: {self.listed(self.missed)}")
        if self.outside:
            said.append(f"Outside: {self.listed(self.outside)}")
        return ". ".join(said) + "."

    def _how_many(self, count):
        if count == self.size:
            return f"all {count} places" if count > 1 else "its only place"
        return f"{count} of {self.size} places" if count else "nothing"

    def listed(self, places, most=6):
        """The first of these places as text; those of a matrix as (row, column)."""
        names = [
            str(tuple(map(int, np.unravel_index(place, self.shape))))
            if len(self.shape) > 1 and 0 <= place < self.size
            else str(place)
            for place in places[:most]
        ]
        return ", ".join(names) + (
            f" and {len(places) - most:,} more" if len(places) > most else ""
        )


@dataclass(frozen=True)
class Touched:
    """What a function's kernels touched: a Touch for each tensor that is read or written."""

    touches: tuple
    failure: str = ""

    def __str__(self):
        return "\n".join([*map(str, self.touches), *filter(None, [self.failure])])


def touched(function, *args):
    """Run a function that launches kernels, and note what their programs read and write.

    It gets copies of its tensors, and what it makes with torch.empty and its kin has free memory
    around it, so that an address outside belongs to the tensor that was meant, and harms nothing.
    """
    import torch

    names = list(inspect.signature(function).parameters)
    rooms = _Rooms()
    args = [
        rooms.placed(arg, name) if isinstance(arg, torch.Tensor) else arg
        for name, arg in zip(names, args)
    ]
    failure, result = "", None
    try:
        with counted() as moved, rooms.around_new_tensors():
            moved.memory = rooms.ranges
            result = function(*args)
    except RuntimeError as error:
        if "TRITON_INTERPRET" not in str(error):
            failure = f"It stopped with {type(error).__name__}: {error}"
        else:
            return Touched((), "Kernels are compiled here, so nothing is seen of their addresses.")
    except Exception as error:
        failure = f"It stopped with {type(error).__name__}: {error}"
        if "'int' has no len()" in failure:  # Triton's own words for kernel[4](...)
            failure += ". Is the grid a tuple, as in kernel[(4,)](...)?"
    if not moved.trace:
        return Touched((), failure or "No kernel has read or written anything yet.")
    rooms.name_output(result)
    return Touched(tuple(rooms.touches(moved.trace)), failure)


class _Rooms:
    """Tensors with free memory around them: [name, tensor, whole storage, whether it is an output].

    Of a tensor that is made on the way, the last is None until the function has returned.
    """

    def __init__(self):
        self.known = []
        self.ranges = []  # (first, last) address of each storage, in bytes

    def placed(self, tensor, name=""):
        """A copy with free memory before and behind it."""
        storage = tensor.new_zeros(tensor.numel() + 2 * MARGIN)
        copy = storage[MARGIN : MARGIN + tensor.numel()].view(tensor.shape)
        copy.copy_(tensor)
        first = storage.data_ptr()
        self.known.append([name, copy, storage, False if name else None])
        self.ranges.append((first, first + storage.nbytes - 1))
        return copy

    @contextlib.contextmanager
    def around_new_tensors(self):
        from torch.utils._python_dispatch import TorchDispatchMode

        def place(mode, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            new = any(word in function.name() for word in ("empty", "zeros", "ones", "clone"))
            fits = new and result.numel() and result.is_contiguous()
            return self.placed(result) if fits else result

        with type("Place", (TorchDispatchMode,), {"__torch_dispatch__": place})():
            yield

    def name_output(self, result):
        results = result if isinstance(result, tuple) else (result,)
        for number, room in enumerate(self.known):
            if not room[0]:
                made = any(getattr(r, "data_ptr", int)() == room[1].data_ptr() for r in results)
                room[0] = "output" if made else f"tensor {number + 1}"
                room[3] = made

    def touches(self, trace):
        """A Touch for each tensor that was read or written; of an argument that was not, and of an
        output, one that says so.
        """
        found = defaultdict(lambda: defaultdict(list))
        for access in trace:
            addresses = access.addresses.ravel().tolist()
            number = self._owner(addresses) if addresses else None
            for address in addresses:
                place = (address - self.known[number][1].data_ptr()) // access.itemsize
                found[number, access.is_store][place].append(access.program)
        for number, (name, tensor, _, is_output) in enumerate(self.known):
            untouched = not any((number, is_store) in found for is_store in (False, True))
            for is_store in (False, True):
                programs = found.get((number, is_store), {})
                if programs or untouched and is_output is is_store:
                    yield Touch(name, tuple(tensor.shape), is_store, dict(programs))

    def _owner(self, addresses):
        """The number of the tensor that an access means: in whose memory most of its addresses lie,
        or the nearest one.
        """

        def distance(number):
            first, last = self.ranges[number]
            away = [max(first - address, address - last, 0) for address in addresses]
            return -away.count(0), min(away)

        return min(range(len(self.known)), key=distance)
