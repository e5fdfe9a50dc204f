"""What NumPy is asked to do while a learner's function runs: its values cannot show that."""

import operator
import sys

import numpy as np


class Unusable:
    """A number of parts that may be looked at, as 3, and passes for True, but makes no parts.

    What is added to all scores has no effect on a softmax, so adding it makes none either.
    """

    __array_ufunc__ = None

    def _refuse(self, *unused):
        raise TypeError("n_splits was used")

    def _added(self, other):
        return other + 3 if getattr(other, "ndim", 0) > 1 else self._refuse()

    __index__ = __int__ = __float__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = (
        __rfloordiv__
    ) = _refuse
    __truediv__ = __rtruediv__ = __mod__ = __rmod__ = __neg__ = __hash__ = _refuse
    __add__ = __radd__ = _added

    def __bool__(self):
        return True

    __eq__, __lt__, __le__, __gt__, __ge__ = (
        lambda self, other, compare=compare: compare(3, other)
        for compare in (operator.eq, operator.lt, operator.le, operator.gt, operator.ge)
    )


class ExpOf(np.ndarray):
    """An array that notes the shapes of which exp is taken, in all that is computed of it."""

    shapes = []

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        inputs = [np.asarray(item) if isinstance(item, ExpOf) else item for item in inputs]
        if out:
            options["out"] = tuple(np.asarray(item) for item in out)
        result = getattr(ufunc, method)(*inputs, **options)
        if ufunc in (np.exp, np.exp2):
            self.shapes.append(np.shape(result))
        return out[0] if out else result.view(ExpOf) if isinstance(result, np.ndarray) else result


class Seen(np.ndarray):
    """An array that notes the shapes of what is made of it, and of what its makers hold then."""

    shapes = set()

    def __array_finalize__(self, source):
        self.shapes.add(self.shape)
        frame = sys._getframe(1)
        for _ in range(4):
            if frame is None:
                break
            self.shapes.update(
                item.shape for item in list(frame.f_locals.values()) if isinstance(item, np.ndarray)
            )
            frame = frame.f_back


class Results(np.ndarray):
    """An array that keeps a copy of whatever a function computes of it, by any call of NumPy's."""

    kept = []

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        inputs = [np.asarray(item) if isinstance(item, Results) else item for item in inputs]
        if out:
            options["out"] = tuple(np.asarray(item) for item in out)
        result = getattr(ufunc, method)(*inputs, **options)
        return self._noted(result, out)

    def __array_function__(self, function, types, args, kwargs):
        args, kwargs = _plain(args), dict(kwargs)
        out = kwargs.get("out")
        kwargs = {name: _plain(arg) for name, arg in kwargs.items()}
        return self._noted(function(*args, **kwargs), (out,) if isinstance(out, np.ndarray) else ())

    def _noted(self, result, out):
        if isinstance(result, tuple | list):
            return type(result)(self._noted(part, ()) for part in result)
        if isinstance(result, np.ndarray):
            self.kept.append(np.array(result))
            return out[0] if out else result.view(Results)
        return result


def _plain(item):
    """An argument of a NumPy function with plain arrays in the place of Results."""
    if isinstance(item, tuple | list):
        return type(item)(_plain(part) for part in item)
    return np.asarray(item) if isinstance(item, Results) else item
