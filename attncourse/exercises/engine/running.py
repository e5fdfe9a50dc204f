"""Calls a learner's function on one case, and records its values and the form that they come in."""

from dataclasses import replace

import numpy as np

from ..model import Once, Words
from ..sandbox.answer import Answer, Piece, without_words
from ..sandbox.call import call
from . import generic, message
from .explain import Seen, fit_shape


class IterOnce:
    """An iterator over blocks that notices a second reading: a loop begun after the end."""

    def __init__(self, items):
        self.items, self.given, self.ended, self.twice = items, list(items), False, False

    def __iter__(self):
        self.twice = self.twice or self.ended
        return self

    def __next__(self):
        if not self.items:
            self.ended = True
            raise StopIteration
        return self.items.pop(0)


IterOnce.__name__ = "iterator"  # as Python's messages call it


def learners_copy(exercise, case):
    """Fresh arguments for one call, as tensors where the exercise is about torch."""
    if exercise.library == "torch":
        return [_tensor(arg, case) for arg in case.args]
    return [_fresh(arg) for arg in case.args]


def _fresh(arg):
    if isinstance(arg, Once):
        return IterOnce([item.copy() for item in arg.items])
    if isinstance(arg, Words):
        return list(arg.items)
    if isinstance(arg, list):
        return [_fresh(item) for item in arg]
    return arg.copy(order="K") if isinstance(arg, np.ndarray) else arg


def _tensor(arg, case):
    if not isinstance(arg, np.ndarray):
        return arg
    import torch

    tensor = torch.from_numpy(arg.astype(arg.dtype.newbyteorder("=")))
    if arg.dtype.kind == "f" and case.torch_dtype:
        tensor = tensor.to(getattr(torch, case.torch_dtype))
    return tensor.to(case.device)


def plain(arg):
    """A tensor as a NumPy array; anything else as it is."""
    if hasattr(arg, "detach"):
        arg = arg.detach().cpu()
        arg = (arg.float() if str(arg.dtype) == "torch.bfloat16" else arg).numpy()
    return arg


def _unchanged(before, after):
    if isinstance(before, IterOnce):
        return all(map(_unchanged, before.given, after.given))
    if isinstance(before, list):
        return len(before) == len(after) and all(map(_unchanged, before, after))
    before, after = plain(before), plain(after)
    if not isinstance(before, np.ndarray):
        return True
    return (
        before.shape == after.shape
        and before.dtype == after.dtype
        and before.tobytes() == after.tobytes()
    )


def _same_arrays(before, after):
    return len(before) == len(after) and all(one is other for one, other in zip(before, after))


def run_case(exercise, function, case, index, clock, seed, caller=call, around=None):
    """Call the function on one case and say what was seen."""
    args = learners_copy(exercise, case)
    lists = [list(arg) for arg in args if isinstance(arg, list)]
    outcome = caller(function, args, clock, seed, around or exercise.around)
    seen = Seen(case, index, printed=outcome.printed, failure=outcome.failure)
    if outcome.raises:
        seen.mark(generic.RAISES)
    if not all(map(_same_arrays, lists, (arg for arg in args if isinstance(arg, list)))):
        seen.mark(generic.LIST_CHANGED)
        seen.after = {
            name: [plain(item) for item in arg]
            for name, arg in zip(exercise.parameters, args)
            if isinstance(arg, list)
        }
    elif not all(map(_unchanged, learners_copy(exercise, case), args)):
        seen.mark(generic.OVERWRITTEN)
        seen.after = {
            name: plain(arg)
            for name, arg in zip(exercise.parameters, args)
            if isinstance(plain(arg), np.ndarray)
        }
    if any(isinstance(arg, IterOnce) and arg.twice for arg in args):
        seen.mark(generic.READ_TWICE)
    if outcome.answer is not None:
        _take(exercise, seen, outcome.answer)
    return seen


def _take(exercise, seen, answer):
    """Put an answer's arrays, or a phrase for what came instead, into `seen`."""
    wanted = exercise.predict((), seen.index)
    answer = _in_numbers(seen, answer) if exercise.in_words else without_words(answer)
    if answer.nothing or answer.other:
        seen.other = answer.other or answer.nothing
        if exercise.outputs and answer.other == "a tuple that holds None":
            seen.mark(generic.NONE_AS_A_PART)
        return
    seen.arrays = answer.arrays
    answer = answer if exercise.in_list else _unwrapped(seen, answer, wanted)
    pieces = _pieces(exercise, seen, answer, wanted)
    seen.values = tuple(piece.values for piece in pieces)
    seen.dtypes = tuple(
        "" if piece.holder in ("list", "number", "tuple") else piece.dtype for piece in pieces
    )
    for piece, part in zip(pieces, wanted):
        _mark_holder(exercise, seen, piece, part)


def _in_numbers(seen, answer):
    """The answer with the numbers of its words, as the reference has them; an empty list has
    none.
    """
    if answer.other == "an empty list":
        return Answer(pieces=(Piece(np.zeros(0, np.int64), "int64", "list"),))
    if any(piece.values.dtype.kind == "U" and piece.values.ndim > 1 for piece in answer.pieces):
        return Answer(other="a list whose entries are lists or tuples rather than words")
    pieces = []
    for piece in answer.pieces:
        values = piece.values
        if answer.wrapped == "list" and not values.ndim:  # a list of one word of an array
            answer, values = replace(answer, wrapped=""), values[None]
            piece = replace(piece, holder="list")
        if values.dtype.kind == "U":
            seen.texts = values
            numbers = [seen.case.words.number(word) for word in values.flat]
            values = np.array(numbers, dtype=np.int64).reshape(values.shape)
        pieces.append(replace(piece, values=values))
    return replace(answer, pieces=tuple(pieces))


def _unwrapped(seen, answer, wanted):
    """The answer in its own tuple or list; [row] may be a table of one row, as a list."""
    if not answer.wrapped:
        return answer
    inner = (1, *answer.pieces[0].values.shape)
    if len(answer.pieces) == len(wanted) == 1 and inner == wanted[0].shape:
        piece = answer.pieces[0]
        return replace(
            answer, pieces=(replace(piece, values=piece.values[None], holder=answer.wrapped),)
        )
    seen.mark(generic.TRAILING_COMMA if answer.wrapped == "tuple" else generic.IN_A_LIST)
    return answer


def _pieces(exercise, seen, answer, wanted):
    pieces, count = answer.pieces, len(wanted)
    if count > 1:
        if len(pieces) > count:
            seen.mark(generic.EXTRA)
            return pieces[:count]
        if len(pieces) == 1 and pieces[0].values.shape == (count,) and wanted[0].ndim == 0:
            piece = pieces[0]  # the numbers in one list
            return [type(piece)(value, piece.dtype, "number") for value in piece.values]
        if len(pieces) < count:
            mistake = _too_few(exercise, answer)
            seen.mark(mistake)
            seen.other = f"{len(pieces)} value{'s'[: len(pieces) > 1]}"
            if exercise.in_list:
                seen.other = (
                    "one array" if mistake is generic.NO_LIST else f"a list of {len(pieces)}"
                )
            return _taken_apart(pieces, wanted) if exercise.in_list else ()
        return pieces
    if (
        exercise.dtype == "number" and wanted[0].ndim == 0 and not exercise.axes
    ):  # a number of numbers
        pieces = _numbers(seen, pieces)
        if len(pieces) > 1 and all(piece.values.ndim == 0 for piece in pieces):
            return _one_number(seen, pieces)
    if len(pieces) == 1 and not answer.holder:
        return pieces
    return _single(seen, answer, wanted[0])


def _numbers(seen, pieces):
    """A list of plain numbers as one piece for each of them."""
    if (
        pieces[0].holder not in ("list", "tuple")
        or pieces[0].values.ndim != 1
        or not pieces[0].values.size
    ):
        return pieces
    if pieces[0].values.size == 1:
        seen.mark(generic.IN_A_LIST)
    return tuple(
        replace(pieces[0], values=np.array(value), holder="number") for value in pieces[0].values
    )


def _one_number(seen, pieces):
    """The first of several numbers; choose_terms knows more."""
    seen.mark(generic.EXTRA)
    seen.terms = tuple(piece.values for piece in pieces)
    seen.other = f"({', '.join(message.number(value[()]) for value in seen.terms)})"
    return pieces[:1]


def choose_terms(exercise, seen):
    """Of several numbers take the first or the last, if it is right in all cases; a formula's terms
    may be to be added.
    """
    terms = [one for one in seen if one.terms]
    for chosen in (lambda numbers: numbers[0], lambda numbers: numbers[-1]):
        if terms and all(_is_answer(exercise, one, chosen) for one in terms):
            for one in terms:
                one.values = (chosen(one.terms),)
            return
    if exercise.formula and any(_is_answer(exercise, one, sum) for one in terms):
        for one in terms:
            one.values = (np.array(sum(one.terms)),)
            one.marks.pop(generic.EXTRA.name)
            one.mark(generic.NOT_ADDED)


def _is_answer(exercise, one, chosen):
    return np.isclose(
        float(chosen(one.terms)), float(exercise.predict((), one.index)[0]), rtol=1e-9
    )


def _taken_apart(pieces, wanted):
    """The arrays of a list, if they came as one, joined along the rows."""
    ends = np.cumsum([part.shape[-2] for part in wanted])
    if len(pieces) > 1 or pieces[0].values.shape != (
        *wanted[0].shape[:-2],
        ends[-1],
        wanted[0].shape[-1],
    ):
        return ()
    return tuple(
        replace(pieces[0], values=part) for part in np.split(pieces[0].values, ends[:-1], axis=-2)
    )


def _too_few(exercise, answer):
    """The mistake of an answer with fewer parts than it should have."""
    if not exercise.in_list:
        return generic.PARTS_MISSING
    return generic.ENTRIES_MISSING if answer.holder or answer.wrapped else generic.NO_LIST


def _single(seen, answer, wanted):
    """One piece from a tuple or list: the tuple is the array itself, or holds something else
    too."""
    shapes = [piece.values.shape for piece in answer.pieces]
    fitting = [
        piece for piece in answer.pieces if fit_shape(piece.values, wanted.shape) is not None
    ]
    equal = wanted.ndim and len(set(shapes)) == 1
    complete = len(shapes) * answer.pieces[0].values.size == wanted.size and not fitting
    if equal and (
        complete
        or (len(shapes),) + shapes[0] == wanted.shape
        or answer.holder == "list"
        and not fitting
    ):
        seen.mark(generic.LIST)
        stacked = np.stack([piece.values for piece in answer.pieces])
        return (type(answer.pieces[0])(stacked, str(stacked.dtype), "list"),)
    seen.mark(generic.EXTRA)
    return ((fitting or list(answer.pieces))[0],)


def _mark_holder(exercise, seen, piece, wanted):
    if exercise.in_words:
        if piece.holder == "array" and seen.texts is not None:
            seen.mark(generic.ARRAY_OF_WORDS)
        return
    want = "tensor" if exercise.library == "torch" else "array"
    if exercise.dtype == "number" and piece.holder in ("number", "array"):
        return
    if piece.holder == "matrix":
        seen.mark(generic.MATRIX)
    elif piece.holder in ("list", "tuple"):
        if piece.values.ndim:
            seen.mark(generic.LIST)
    elif piece.holder == "tensor" and want == "array":
        seen.mark(generic.TENSOR)
    elif piece.holder == "array" and want == "tensor":
        seen.mark(generic.ARRAY)
    elif piece.holder == "tensor" and piece.device != seen.case.device:
        seen.mark(generic.DEVICE)
    elif piece.holder not in ("array", "number", "tensor"):
        seen.other = f"an object of type {piece.holder}"
        seen.values = seen.dtypes = ()
