"""Which inputs a problem takes: its page lists the arguments, and a sentence says what is wrong
with an input that doesn't fit.

An item of the list is one of

    `scores`: numbers (n_q, n_k), at most 10000 in size
    `attn_mask`: True and False (n_q, n_k), with a True in each row
    `order`: whole numbers (n, 2), from 0 to 5
    `block_size`: a whole number from 1 to 8
    `seconds`: a number from 0 to 1000

An axis that is a number has this length, and axes with one name are equally long.
"""

import difflib
import re
from dataclasses import dataclass

import numpy as np

MOST = 1000  # numbers of an argument, because the problem asks for a small input
ARRAY = re.compile(
    r"`(?P<name>\w+)`: (?P<kind>numbers|whole numbers|True and False) \((?P<axes>[\w, ]+?),?\)"
    r"(?:, at most (?P<limit>\d+) in size)?(?P<alive>, with a True in each row)?"
    r"(?:, from (?P<low>\d+) to (?P<high>\d+))?"
)
WHOLE = re.compile(r"`(?P<name>\w+)`: a (?P<kind>whole )?number from (?P<low>\d+) to (?P<high>\d+)")
COUNTED = ("no axes", "one axis", "two axes", "three axes")


class Illegal(ValueError):
    """An input that a problem doesn't take; the text is a sentence that says why."""


@dataclass(frozen=True)
class Argument:
    name: str
    kind: str  # "numbers", "whole numbers" or "True and False"; of no axes: "number" or "whole"
    axes: tuple = ()
    limit: float = np.inf
    low: int = 0
    high: int = 0
    alive: bool = False  # each row holds a True

    @property
    def shape(self):
        return f"({', '.join(self.axes)}{',' * (len(self.axes) == 1)})"

    def __str__(self):
        if not self.axes:
            kind = "whole number" if self.kind == "whole" else "number"
            return f"{self.name}: a {kind} from {self.low:,} to {self.high:,}"
        limit = f", from -{self.limit:,.0f} to {self.limit:,.0f}" if np.isfinite(self.limit) else ""
        if self.kind == "whole numbers":
            limit = f", from {self.low:,} to {self.high:,}"
        alive = ", with a True in each row" * self.alive
        return f"{self.name}: {self.kind} of shape {self.shape}{limit}{alive}"

    def made_of(self, value):
        """The value as the problem's functions take it."""
        return _array(self, value) if self.axes else _number(self, value)


def arguments(items):
    """The arguments of a page's list."""
    return tuple(map(_argument, items))


def _argument(item):
    if match := WHOLE.fullmatch(item):
        kind = "whole" if match["kind"] else "number"
        return Argument(match["name"], kind, low=int(match["low"]), high=int(match["high"]))
    match = ARRAY.fullmatch(item)
    if match is None:
        raise ValueError(f"no argument is written like this: {item}")
    axes = tuple(match["axes"].split(", "))
    limit = float(match["limit"] or np.inf)
    low, high = (int(match[end] or 0) for end in ("low", "high"))
    return Argument(match["name"], match["kind"], axes, limit, low, high, bool(match["alive"]))


def read(wanted, args, named):
    """{name: value} of a legal input; Illegal otherwise."""
    names = [argument.name for argument in wanted]
    given = _by_name(names, args, named)
    found = {argument.name: argument.made_of(given[argument.name]) for argument in wanted}
    sizes = {}
    for argument in wanted:
        for axis, size in zip(argument.axes, np.shape(found[argument.name])):
            if axis.isdigit() and size != int(axis):
                raise Illegal(
                    f"{argument.name} must have the shape {argument.shape}; the shape of yours is"
                    f" {np.shape(found[argument.name])}."
                )
            other, expected = sizes.setdefault(axis, (argument.name, size))
            if size != expected and other == argument.name:
                raise Illegal(
                    f"{other} must have as many rows as columns; got {expected} and {size}."
                )
            if size != expected:
                raise Illegal(
                    f"{other} and {argument.name} must have equally many positions on the axis"
                    f" {axis}; got {expected} and {size}."
                )
    return found


def _by_name(names, args, named):
    listed = " and ".join([", ".join(names[:-1])] * (len(names) > 1) + names[-1:])
    if len(args) > len(names):
        raise Illegal(f"The input consists of {listed}; got {len(args)} arguments.")
    given = dict(zip(names, args))
    for name, value in named.items():
        if name not in names:
            close = difflib.get_close_matches(name, names, 1, 0.4)
            did = f" Did you mean {close[0]}?" if close else ""
            raise Illegal(f"There is no argument called {name}: the input is {listed}.{did}")
        if name in given:
            raise Illegal(f"{name} is given twice.")
        given[name] = value
    missing = [name for name in names if name not in given]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise Illegal(f"{' and '.join(missing)} {verb} missing: the input is {listed}.")
    return given


def _number(argument, value):
    is_whole = argument.kind == "whole"
    kinds = (int, np.integer) if is_whole else (int, float, np.integer, np.floating)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, kinds):
        kind = "whole number" if is_whole else "number"
        raise Illegal(f"{argument.name} must be a {kind}; got {value!r}.")
    if not argument.low <= value <= argument.high:
        raise Illegal(
            f"{argument.name} must lie between {argument.low} and {argument.high}; got {value}."
        )
    return int(value) if is_whole else float(value)


def _array(argument, value):
    try:
        array = np.array(value)
    except ValueError:
        raise Illegal(f"The rows of {argument.name} must all have the same length.") from None
    except Exception:
        raise Illegal(f"NumPy can't make an array of {argument.name}.") from None
    _look_at_kind(argument, array)
    _look_at_shape(argument, array)
    if argument.kind == "numbers":
        return _in_range(argument, array.astype(np.float64))
    if argument.kind == "whole numbers":
        return _in_steps(argument, array)
    if argument.alive and not array.any(axis=-1).all():
        row = np.argwhere(~array.any(axis=-1))[0]
        raise Illegal(
            f"Row {', '.join(map(str, row))} of {argument.name} is False throughout. This problem"
            " leaves such rows out, so each needs a True."
        )
    return array


def _look_at_kind(argument, array):
    wanted = "b" if argument.kind == "True and False" else "iuf"
    if array.dtype.kind not in wanted and array.size:
        kinds = {
            "b": "True and False",
            "U": "text",
            "c": "complex numbers",
            "O": "something that isn't a number",
        }
        got = (
            "numbers" if array.dtype.kind in "iuf" else kinds.get(array.dtype.kind, "other things")
        )
        what = "True and False" if wanted == "b" else "numbers"
        raise Illegal(f"{argument.name} must hold {what}; yours holds {got}.")


def _look_at_shape(argument, array):
    if array.ndim != len(argument.axes):
        nested = " Put it into another pair of brackets." * (array.ndim == len(argument.axes) - 1)
        raise Illegal(
            f"{argument.name} must have {COUNTED[len(argument.axes)]}, {argument.shape};"
            f" the shape of yours is {array.shape}.{nested}"
        )
    if not array.size:
        raise Illegal(f"{argument.name} is empty. No axis may have length 0.")
    if array.size > MOST:
        raise Illegal(
            f"{argument.name} holds {array.size:,} numbers. Give a small input: at most"
            f" {MOST:,} are read, and far fewer are enough."
        )


def _in_range(argument, array):
    if not np.isfinite(array).all():
        raise Illegal(f"{argument.name} must be finite: this problem takes no NaN and no infinity.")
    if np.abs(array).max() > argument.limit:
        raise Illegal(
            f"The numbers of {argument.name} may be at most {argument.limit:,.0f} in size; yours"
            f" go up to {np.abs(array).max():,.6g}."
        )
    return array


def _in_steps(argument, array):
    if (array != np.floor(array)).any():
        raise Illegal(f"{argument.name} must hold whole numbers.")
    outside = array[(array < argument.low) | (array > argument.high)]
    if outside.size:
        raise Illegal(
            f"The numbers of {argument.name} must lie between {argument.low} and {argument.high};"
            f" one of yours is {outside[0]:,.6g}."
        )
    return array.astype(np.int64)
