"""What torch is asked to do while a learner's function runs: its values cannot show that.

torch is imported where it is used.
"""

import importlib.util


def torch_missing():
    """A sentence if torch exercises cannot be checked here, else ''."""
    if importlib.util.find_spec("torch"):
        return ""
    return "It needs PyTorch, which is not installed here: pip install torch."


class Listener:
    """Listens to torch: which functions are called, and whether tensors of two devices would meet.

    Without a second device, a tensor made without saying on which device is called loose, and so
    is what is computed of loose tensors alone. Where it meets another, or comes back as the answer,
    the function would fail on a GPU. A loose number, a tensor without axes, may meet anything.
    """

    def __init__(self):
        self.names, self.loose, self.met, self.last, self.numpy_met = [], {}, False, False, False

    def hear(self, run, *args):
        from torch.overrides import TorchFunctionMode

        def listen(mode, function, types, args=(), kwargs=None):
            name = getattr(function, "__name__", "")
            self.names.append(name)
            result = function(*args, **(kwargs or {}))
            self._note(name, args, kwargs or {}, result)
            return result

        with type("Listen", (TorchFunctionMode,), {"__torch_function__": listen})():
            self.outcome = run(*args)
        return self

    def heard(self, *words):
        return any(word in name for word in words for name in self.names)

    @property
    def two_devices(self):
        return self.met or bool(self.last and self.outcome.answer)

    def _note(self, name, args, kwargs, result):
        used = list(_tensors([*args, *kwargs.values()]))
        loose = [id(tensor) in self.loose for tensor in used]
        self.numpy_met |= name in ("numpy", "__array__") and not all(loose)
        if name == "detach":  # the last one is the checker's own, of the answer
            self.last = any(loose)
        if name in (
            "__getitem__",
            "__setitem__",
            "copy_",
            "index_put_",
        ):  # these may join two devices
            used, loose = used[:1], loose[:1]
        if _is_placed(name, args[1:], kwargs):
            for tensor in _tensors([result]):
                self.loose.pop(id(tensor), None)
            return
        if not all(loose) and any(own and tensor.ndim for own, tensor in zip(loose, used)):
            self.met = True
        if all(loose) or name == "cpu":
            self.loose.update((id(tensor), tensor) for tensor in _tensors([result]))


def _is_placed(name, others, kwargs):
    """Whether a call says on which device its result is to be."""
    kinds = {type(other).__name__ for other in others}
    moves = name in ("to", "type_as") and kinds & {"device", "Tensor", "str"}
    return bool(moves) or name == "cuda" or kwargs.get("device") is not None


def _tensors(items):
    """The tensors among these items, and in lists and tuples among them."""
    for item in items:
        if hasattr(item, "detach"):
            yield item
        elif isinstance(item, (list, tuple)):
            yield from _tensors(item)


def tables_made(run, n, *args):
    """Whether torch makes a tensor with n or more entries along two axes, or n * n along one, in a
    run.
    """
    from torch.utils._python_dispatch import TorchDispatchMode

    found = []

    def look(mode, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for tensor in _tensors([result]):
            flat = tensor.ndim == 1 and tensor.numel() >= n * n and tensor.is_floating_point()
            is_table = flat or sum(size >= n for size in tensor.shape) > 1
            found.append(is_table and tensor.untyped_storage().nbytes() >= n * n)
        return result

    with type("Look", (TorchDispatchMode,), {"__torch_dispatch__": look})():
        run(*args)
    return any(found)
