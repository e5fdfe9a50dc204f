"""Whether an answer comes from a ready-made function: attnlib's own, or a library's.

Stand-ins replace these functions while a learner's function runs. What they return is compared with
the answer, and changed once: if the answer changes too, it was made from it.
"""

import contextlib
import functools
import sys
import types

import numpy as np

import attnlib

from ..model import Mistake

PACKAGES = ("attncourse", "attnlib")
REFERENCE = "the reference in attncourse.exercises"
NAMES = ("softmax", "log_softmax", "logsumexp", "scaled_dot_product_attention")


def _libraries():
    """(its name in a sentence, module or class) of those that are imported."""
    for name in ("scipy.special", "torch", "torch.special", "torch.nn.functional"):
        if name in sys.modules:
            yield name, sys.modules[name]
    if "torch" in sys.modules:
        yield "torch.Tensor", sys.modules["torch"].Tensor


def ready_made(name, right):
    return Mistake(
        "ready-made function",
        does=f"The answer {'is right, but it ' if right else ''}comes from a call of {name}.",
        why=(
            "Writing this function step by step is the exercise, so a call of a ready-made one "
            "doesn't count as an answer."
        ),
        ask="Which steps does the ready-made function do for you?",
    )


def _places(exercise):
    """(module, name, the function, its name in a sentence) of all ready-made functions."""
    for module_name, module in list(sys.modules.items()):
        package = module_name.partition(".")[0]
        if package in PACKAGES and not module_name.startswith("attncourse.exercises"):
            for name in {*attnlib.__all__, exercise.name}:
                if isinstance(getattr(module, name, None), types.FunctionType):
                    yield module, name, getattr(module, name), f"{package}.{name}"
    # an exercise about torch says itself which of torch's functions may be called
    for where, module in _libraries() if exercise.library == "numpy" else ():
        for name in NAMES:
            if hasattr(module, name):
                yield module, name, getattr(module, name), f"{where}.{name}"


class Watch:
    """Stand-ins for the ready-made functions, which record arguments and results of each call."""

    def __init__(self, exercise, changed=False):
        self.changed, self.inside, self.calls = changed, False, []
        self.reference, self.seen_reference = set(_reference(exercise)), False
        self.places = list(_places(exercise))
        self.stand_ins = {
            id(found): self._stand_in(found, name) for _, _, found, name in self.places
        }

    def _stand_in(self, original, name):
        @functools.wraps(original)
        def stand_in(*args, **kwargs):
            if self.inside:
                return original(*args, **kwargs)
            self.inside = True
            try:
                result = original(*args, **kwargs)
            finally:
                self.inside = False
            self.calls.append((name, [*args, *kwargs.values()], result))
            return _other(result) if self.changed else result

        return stand_in

    def of(self, function):
        """The function, or its stand-in."""
        if isinstance(function, functools.partial):
            return functools.partial(self.of(function.func), *function.args, **function.keywords)
        return self.stand_ins.get(id(function), function)

    @contextlib.contextmanager
    def around(self, function):
        """The stand-ins in their modules, and under the names that the learner's own module gives
        them.
        """
        names = getattr(getattr(function, "func", function), "__globals__", {})
        named = [(name, found) for name, found in names.items() if id(found) in self.stand_ins]
        inherited = [
            (module, name) for module, name, _, _ in self.places if name not in vars(module)
        ]
        for module, name, found, _ in self.places:
            setattr(module, name, self.stand_ins[id(found)])
        names.update((name, self.stand_ins[id(found)]) for name, found in named)
        before = sys.getprofile()
        sys.setprofile(self._profile)
        try:
            yield
        finally:
            sys.setprofile(before)
            names.update(named)
            for module, name, found, _ in self.places:
                setattr(module, name, found)
            for module, name in inherited:
                delattr(module, name)

    def _profile(self, frame, event, unused):
        if event == "call" and _place(frame.f_code) in self.reference:
            self.seen_reference = True

    def makers(self, exercise, args, answer):
        """The names of the functions that may have made an answer from these arguments.

        attnlib's own function of the exercise's name counts with any arguments. Any other function
        counts only if it got the arguments as they came: one that does a part of the work, such as
        the softmax in attention, doesn't count.
        """
        given = [_plain(arg) for arg in args if hasattr(arg, "shape")]
        return [
            name
            for name, used, result in self.calls
            if _gives(result, answer)
            and (
                name in [f"{package}.{exercise.name}" for package in PACKAGES]
                or all(any(_are_equal(arg, _plain(other)) for other in used) for arg in given)
            )
        ]


def _reference(exercise):
    """Where the code of an exercise's reference and its steps is: there may be two copies of the
    package.
    """
    for function in (exercise.answer, *exercise.steps.values()):
        code = getattr(getattr(function, "run", function), "__code__", None)
        if code:
            yield _place(code)


def _place(code):
    return code.co_filename, code.co_firstlineno


def _parts(result):
    return result if isinstance(result, tuple) else (result,)


def _plain(item):
    """An array or a tensor as a NumPy array, so that it can be compared."""
    if hasattr(item, "detach"):
        item = item.detach().cpu()
        item = item.float() if str(item.dtype) == "torch.bfloat16" else item
    return np.asarray(item) if hasattr(item, "shape") else item


def _are_equal(arg, used):
    """Whether an argument was passed on as it came, or with further axes of length 1."""
    return np.array_equal(np.squeeze(arg), np.squeeze(used))


def _gives(result, answer):
    """Whether each part of an answer is one of the result's, whatever the axes and the width."""
    found = [_plain(part) for part in _parts(result)]
    return all(
        any(
            part.size == own.size
            and np.allclose(part.ravel(), own.ravel(), 1e-2, 1e-2, equal_nan=True)
            for own in found
            if hasattr(own, "shape")
        )
        for part in answer
    )


def _other(result):
    """Another result of the same shapes and dtypes."""
    if isinstance(result, tuple):
        return tuple(map(_other, result))
    return ~result if str(result.dtype).endswith("bool") else result + 1
