"""How small an input is, and the search for the smallest one for which something holds.

An input is {name: value}: arrays of numbers, arrays of True and False, whole numbers. A smaller one
has fewer numbers; of equally many, whole ones come before fractions, then the smaller largest one,
then the smaller sum of sizes. True and False count as numbers of no size.
"""

import itertools
import math

import numpy as np

RUNGS = (0, 1, 2, 4, 10, 100, 1000, 10000)  # closer where a mistake may show on one size only


def size(inputs):
    """(how many numbers, how many of them fractions, the largest size, the sum of sizes)."""
    count = sum(np.size(value) for value in inputs.values())
    sizes = np.abs(_numbers(inputs))
    return count, int((sizes % 1 != 0).sum()), float(sizes.max(initial=0)), float(sizes.sum())


def _numbers(inputs):
    counted = [np.ravel(value) for value in inputs.values() if np.asarray(value).dtype != bool]
    return np.concatenate([np.zeros(0), *counted])


def smallest(holds, arguments, most):
    """The smallest input for which `holds(inputs)`, or None.

    Tries all sizes of axes up to `most`, {axis: size}, those with the fewest numbers first. On each
    it tries 0 and one size of numbers with both signs, and lowers that size as far as it goes; then
    it lowers single numbers.
    """
    axes = list(dict.fromkeys(axis for argument in arguments for axis in argument.axes))
    shapes = [
        dict(zip(axes, sizes))
        for sizes in itertools.product(*(_lengths(axis, most) for axis in axes))
    ]
    shapes.sort(key=lambda sizes: _count(arguments, sizes))
    for _, alike in itertools.groupby(shapes, key=lambda sizes: _count(arguments, sizes)):
        found = [one for sizes in alike if (one := _of_shape(holds, arguments, sizes))]
        if found:
            return min(found, key=size)
    return None


def _lengths(axis, most):
    return (int(axis),) if axis.isdigit() else range(1, most[axis] + 1)


def _count(arguments, sizes):
    return sum(math.prod(sizes[axis] for axis in argument.axes) for argument in arguments)


def _of_shape(holds, arguments, sizes):
    """The smallest input of one shape."""

    def found_at(rung):
        return (one for one in _candidates(arguments, sizes, rung) if holds(one))

    def is_enough(rung):
        return next(found_at(rung), None) is not None

    limit = max((a.limit for a in arguments if a.kind == "numbers"), default=0)
    high = next((rung for rung in RUNGS if rung <= limit and is_enough(rung)), None)
    if high is None:
        return None
    low = max((rung for rung in RUNGS if rung < high), default=-1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    if high <= 1:  # lowering a 1 gives a 0, which is among the candidates
        return min(found_at(high), key=size)
    return min((_lowered(holds, one) for one in found_at(high)), key=size)


def _candidates(arguments, sizes, rung):
    """The inputs of a shape whose numbers are 0, rung and -rung."""
    choices = [list(_values(argument, sizes, rung)) for argument in arguments]
    for values in itertools.product(*choices):
        yield dict(zip([argument.name for argument in arguments], values))


def _values(argument, sizes, rung):
    if argument.kind == "whole":
        yield from range(argument.low, argument.high + 1)
        return
    shape = [sizes[axis] for axis in argument.axes]
    entries = {
        "numbers": dict.fromkeys((0, rung, -rung)),
        "whole numbers": range(argument.low, argument.high + 1),
    }.get(argument.kind, (True, False))
    for chosen in itertools.product(entries, repeat=math.prod(shape)):
        array = np.array(chosen).reshape(shape)
        if argument.kind == "numbers":
            yield array.astype(float)
        elif not argument.alive or array.any(axis=-1).all():
            yield array


def _lowered(holds, inputs):
    """The input with each number as near to 0 as it can be with the others as they are."""
    for name, value in inputs.items():
        if not isinstance(value, np.ndarray) or value.dtype != float:
            continue  # of the rest, all values were tried
        for at in np.ndindex(*value.shape):
            inputs = _nearest_to_zero(holds, inputs, name, at)
    return inputs


def _nearest_to_zero(holds, inputs, name, at):
    sign, far = math.copysign(1, inputs[name][at]), int(abs(inputs[name][at]))

    def moved(distance):
        array = inputs[name].copy()
        array[at] = sign * distance
        return {**inputs, name: array}

    low, high = -1, far
    while high - low > 1:
        middle = 0 if low < 0 else (low + high) // 2
        low, high = (low, middle) if holds(moved(middle)) else (middle, high)
    return moved(high) if high < far else inputs
