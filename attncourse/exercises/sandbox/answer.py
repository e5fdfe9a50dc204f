"""Turns whatever a learner's function returned into plain arrays, and records what it was."""

from dataclasses import dataclass, replace

import numpy as np

WIDTHS = {
    "float16": 16,
    "bfloat16": 16,
    "float32": 32,
    "float64": 64,
    "longdouble": 128,
    "float128": 128,
}


@dataclass(frozen=True)
class Piece:
    """One array of an answer: its values, the dtype it came with, and what held it."""

    values: np.ndarray
    dtype: str
    holder: str  # "array", "number", "list", "tensor", or the name of another type
    device: str = ""


@dataclass(frozen=True)
class Answer:
    """An answer: its pieces (several if a tuple came), or what came instead of arrays."""

    pieces: tuple = ()
    holder: str = ""  # "tuple" or "list" when the pieces came in one
    other: str = ""  # a phrase for something that isn't an array
    wrapped: str = ""  # "tuple" or "list" if the answer came alone in one: (y,) or [y]
    nothing: str = ""  # "None", "Ellipsis", "NotImplemented"
    arrays: tuple = ()  # its own NumPy arrays themselves, not copied


NOTHING = (type(None), type(Ellipsis), type(NotImplemented))


def read_answer(result):
    """The Answer for a result. Runs inside the guard: a result's own methods may do anything."""
    if isinstance(result, NOTHING):
        return Answer(
            nothing=type(result).__name__.removesuffix("Type").replace("ellipsis", "Ellipsis")
        )
    if type(result) in (tuple, list) or _is_named_tuple(result):
        arrays = tuple(item for item in result if type(item) is np.ndarray)
        return replace(_read_sequence(result), arrays=arrays)
    piece = _read_piece(result)
    arrays = (result,) if type(result) is np.ndarray else ()
    return (
        Answer(pieces=(piece,), arrays=arrays) if isinstance(piece, Piece) else Answer(other=piece)
    )


def _is_named_tuple(result):
    return isinstance(result, tuple) and hasattr(type(result), "_fields")


def _read_sequence(result):
    holder = "list" if type(result) is list else "tuple"
    if not result:
        return Answer(other=f"an empty {holder}")
    if len(result) == 1 and (holder == "tuple" or _is_value(result[0])):
        return replace(read_answer(result[0]), wrapped=holder)
    if holder == "tuple" or any(
        isinstance(item, np.ndarray) or _is_tensor(item) for item in result
    ):
        pieces = tuple(_read_piece(item) for item in result)
        if all(isinstance(piece, Piece) for piece in pieces):
            return Answer(pieces=pieces, holder=holder)
        if holder == "tuple":
            wrong = next(piece for piece in pieces if not isinstance(piece, Piece))
            return Answer(other=f"a tuple that holds {wrong}")
    piece = _read_piece(result)
    return Answer(pieces=(piece,)) if isinstance(piece, Piece) else Answer(other=piece)


def _is_value(item):
    return isinstance(item, (np.ndarray, np.generic)) or _is_tensor(item)


def _is_tensor(item):
    return type(item).__module__.split(".")[0] == "torch" and hasattr(item, "detach")


def _read_piece(item):
    """A Piece, or a phrase that says what came instead."""
    if item is None:
        return "None"
    if _is_tensor(item):
        return _read_tensor(item)
    if type(item) in (bool, int, float) or isinstance(item, (np.generic, np.bool_)):
        values = np.array(item)
        return _from_array(_as_float(item) if values.dtype == object else values, "number")
    if isinstance(item, np.ma.MaskedArray):
        return "a masked array"
    if isinstance(item, np.matrix):
        return _from_array(np.array(item), "matrix")
    if isinstance(item, np.ndarray):
        return _from_array(np.array(item, copy=True), "array")
    if type(item) in (list, tuple):
        return _read_list(item)
    return _read_other(item)


def _as_float(number):
    """A whole number beyond 64 bits, to about 16 digits."""
    try:
        return np.array(float(number))
    except OverflowError:
        return np.array(np.inf if number > 0 else -np.inf)


def _read_tensor(tensor):
    dtype, device = str(tensor.dtype).removeprefix("torch."), tensor.device.type
    plain = tensor.detach().cpu()
    values = (plain.float() if dtype == "bfloat16" else plain).numpy().copy()
    return Piece(values, dtype, "tensor", device)


def _read_list(items):
    try:
        values = np.array(items)
    except ValueError:
        tuples = all(type(item) is tuple for item in items)
        return "a list of tuples" if tuples else "a list whose rows have different lengths"
    return _from_array(values, type(items).__name__)


def _read_other(item):
    kind = type(item)
    if kind.__name__ in ("generator", "map", "filter", "zip", "range", "coroutine"):
        if kind.__name__ == "coroutine":
            item.close()
        return f"a {kind.__name__}" if kind.__name__ != "map" else "a map object"
    if kind is str:
        return "a string"
    if callable(item):
        return "a function"
    if hasattr(kind, "__array__"):
        try:
            return _from_array(np.array(item), kind.__name__)
        except (TypeError, ValueError):
            return f"an object of type {kind.__name__} that NumPy can't read"
    return f"an object of type {kind.__name__}"


def _from_array(values, holder):
    if values.dtype.kind == "U":
        return Piece(values, str(values.dtype), holder)
    if values.dtype.kind not in "biuf":
        return {"O": "an array of Python objects", "c": "an array of complex numbers"}.get(
            values.dtype.kind, f"an array of dtype {values.dtype}"
        )
    native = values.dtype.newbyteorder("=")  # float64 has one name, whatever the order of its bytes
    return Piece(values.astype(native), str(native), holder)


def without_words(answer):
    """The answer to an exercise that doesn't ask for words: there, an array of words doesn't count
    as an array."""
    kinds = [piece for piece in answer.pieces if piece.values.dtype.kind == "U"]
    if not kinds:
        return answer
    within = f"a {answer.holder} that holds " * bool(answer.holder)
    return Answer(other=f"{within}an array of dtype {kinds[0].dtype}")
