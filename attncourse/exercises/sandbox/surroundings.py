"""Replaces, during a call, what would end or hang a notebook, and restores the session afterwards.
In a notebook the learner isn't an attacker, because any cell may do what an answer may. So this is
for accidents: what an answer changes without meaning to, and the next cell would trip over.
"""

import builtins
import contextlib
import decimal
import inspect
import itertools
import os
import random
import sys
import types
import warnings

import numpy as np

DEEPEST = 5000  # recursion limit a learner may ask for; more can overflow the C stack
MEMORY = 2 << 30  # bytes that a learner's function may take in addition to what is taken
_set_recursion_limit = sys.setrecursionlimit


class Blocked(BaseException):
    """The learner's function called something that would end the process or wait forever."""


def _blocked(name):
    def stand_in(*args, **kwargs):
        raise Blocked(name)

    return stand_in


def _stepping(kind):
    """The same endless iterator in Python's own steps: a signal gets into
    sum(itertools.count()).
    """
    return type(kind.__name__, (kind,), {"__next__": lambda self: kind.__next__(self)})


STAND_INS = [
    *((builtins, name, _blocked(name)) for name in ("input", "exit", "quit", "breakpoint")),
    (os, "_exit", _blocked("_exit")),
    *(
        (itertools, name, _stepping(getattr(itertools, name)))
        for name in ("count", "cycle", "repeat")
    ),
    (sys, "setrecursionlimit", lambda depth: _set_recursion_limit(min(depth, DEEPEST))),
]


@contextlib.contextmanager
def replaced(function, raises, silent=False):
    """Use the stand-ins inside the block, even where `function` finds them under its own names.

    Gives the function to call, which is another one if it is decorated with np.errstate. `raises`
    is called when floating-point errors are made exceptions; `silent` has print do nothing.
    """
    errstate, seterr, ignoring = _without_exceptions(raises)
    instead = [
        (vars(module), name, stand_in)
        for module, name, stand_in in STAND_INS
        if hasattr(module, name)
    ]
    instead += [(vars(np), "errstate", errstate), (vars(np), "seterr", seterr)]
    if silent:
        instead.append((vars(builtins), "print", lambda *args, **kwargs: None))
    known = {id(names[name]): stand_in for names, name, stand_in in instead}
    instead += list(_by_own_names(function, known, ignoring))
    function = ignoring(function)
    before = [(names, name, names[name]) for names, name, _ in instead]
    for names, name, stand_in in instead:
        names[name] = stand_in
    try:
        yield function
    finally:
        for names, name, value in before:
            names[name] = value


def _by_own_names(function, known, ignoring):
    """(names, name, stand-in) of what a module has imported by name; IPython has its own exit."""
    names = getattr(inspect.unwrap(function), "__globals__", {})
    for name, value in list(names.items()):
        if id(value) in known:
            yield names, name, known[id(value)]
        elif name in ("exit", "quit") and hasattr(value, "_ip"):
            yield names, name, _blocked(name)
        elif (other := ignoring(value)) is not value:
            yield names, name, other


def _without_exceptions(raises):
    """np.errstate and np.seterr with "ignore" instead of "raise", and a version of what was made
    with them earlier.

    Where a machine keeps no floating-point flags, as in a browser, NumPy raises nothing: an answer
    is to be judged alike there and here.
    """
    real_errstate, real_seterr = np.errstate, np.seterr
    decorated = real_errstate()(raises).__code__  # all functions that it decorates share their code

    def ignored(modes):
        if "raise" in modes.values():
            raises()
        return {kind: "ignore" if mode == "raise" else mode for kind, mode in modes.items()}

    class errstate(real_errstate):
        def __init__(self, **modes):
            super().__init__(**ignored(modes))

    def seterr(*given, **modes):
        names = "all", "divide", "over", "under", "invalid"
        return real_seterr(**ignored(dict(zip(names, given)) | modes))

    def ignoring(value):
        """A state, or a function decorated with one, made anew with the stand-in; any other value
        as it is.
        """
        if type(value) is real_errstate:
            return errstate(call=value(np.geterrcall)(), **value(np.geterr)())
        if type(value) is types.FunctionType and value.__code__ is decorated:
            state = next(
                cell.cell_contents
                for cell in value.__closure__
                if type(cell.cell_contents) is real_errstate
            )
            return ignoring(state)(value.__wrapped__)
        return value

    return errstate, seterr, ignoring


@contextlib.contextmanager
def as_before():
    """Put back what belongs to the session: random state, printing, modes of NumPy and torch, the
    directory.
    """
    numpys, pythons, directory = np.random.get_state(legacy=False), random.getstate(), _directory()
    recursion, profile, torchs = sys.getrecursionlimit(), sys.getprofile(), _torch_state()
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        np.printoptions(),
        decimal.localcontext(),
    ):
        try:
            yield
        finally:
            np.random.set_state(numpys)
            random.setstate(pythons)
            if _directory() != directory is not None:
                os.chdir(directory)
            sys.setrecursionlimit(recursion)
            sys.setprofile(profile)
            _restore_torch(torchs)


def _directory():
    try:
        return os.getcwd()
    except OSError:
        return None


def _torch_state():
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "get_rng_state"):  # it is being imported
        return None
    return (
        torch.get_rng_state(),
        torch.get_default_dtype(),
        torch.get_num_threads(),
        torch.is_grad_enabled(),
    )


def _restore_torch(state):
    if state is None:
        return
    torch, (numbers, dtype, threads, grad) = sys.modules["torch"], state
    torch.set_rng_state(numbers)
    torch.set_default_dtype(dtype)
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
    torch.set_grad_enabled(grad)


@contextlib.contextmanager
def little_memory():
    """On Linux, an endless list ends in a MemoryError before it takes the whole machine.

    Not if there is a GPU, whose driver maps amounts of host memory that have nothing to do with
    use.
    """
    if not sys.platform.startswith("linux") or _has_gpu():
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    with open("/proc/self/statm") as file:
        taken = int(file.read().split()[5]) * resource.getpagesize()
    most = taken + MEMORY
    if before[0] == resource.RLIM_INFINITY or before[0] > most:
        resource.setrlimit(resource.RLIMIT_DATA, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _has_gpu():
    torch = sys.modules.get("torch")
    return torch is not None and torch.cuda.is_available()
