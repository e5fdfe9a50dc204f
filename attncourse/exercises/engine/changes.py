"""Mistakes that every exercise has without an entry: an argument, a step's result or the answer
changed in a plain way.

They are tried only if no known mistake explains everything. Each says what the answer does, which
is true however the code is written: "The last key does not count."
"""

import dataclasses
import functools
import inspect
import itertools
import math

import numpy as np

from ..model import PLAIN, Exercise, Mistake, Once
from ..reference import Line
from .plain_changes import (
    ELEMENTWISE,
    HIDDEN,
    MASKS,
    OTHER_AXES,
    PARTS,
    PLACED,
    ROWS,
    ROWWISE,
    cut,
    emptied,
    kept,
    mean,
    spread,
)

WORDS = {
    "n_q": ("query", "queries"),
    "n_k": ("key", "keys"),
    "n": ("position", "positions"),
    "new": ("new key", "new keys"),
    "h": ("query head", "query heads"),
    "h_kv": ("key head", "key heads"),
    "n_heads": ("head", "heads"),
    "d_k": ("feature", "features"),
    "d_v": ("feature", "features"),
    "d_model": ("feature", "features"),
    "d_head": ("feature", "features"),
    "d_x": ("feature", "features"),
    "d_memory": ("feature", "features"),
    "d": ("feature", "features"),
    "r": ("feature of the cache", "features of the cache"),
    "n_pages": ("page", "pages"),
    "page_size": ("row", "rows"),
    "n_blocks": ("block", "blocks"),
    "m": ("key", "keys"),
    "batch": ("sequence", "sequences"),
    "one": ("row", "rows"),
    "rows": ("row", "rows"),
    "columns": ("column", "columns"),
    "inner": ("term of the sums", "terms of the sums"),
}
ONE_LONG = ("new", "one")  # axes of length 1
COUNTED = (
    "Positions run from 0 to n - 1. A slice such as [1:] or [:-1], range(n - 1), a first "
    "position of 1, a return inside a loop, or = instead of += leaves something out."
)
POWERS = {"squared": "the square", "cubed": "the third power"}
ROLE = "Each argument has its own role in the definition."


def _combined(change):
    """Changes of the mask, in its full shape; dead rows are those of the mask as it is now, or as
    it was before.
    """
    given = {}

    def combine(mask, scores):
        given["mask"] = np.broadcast_to(mask, scores.shape)
        return change(given["mask"])

    def as_given(weights, mask, scores):
        return np.where(given["mask"].any(axis=-1, keepdims=True), weights, 0.0)

    return {"combine_mask": combine}, {"combine_mask": combine, "dead_rows": as_given}


def _masked(change):
    """The same for lines: the mask in the scores' shape, and the line "alive", the rows that are
    not dead.
    """
    given = {}

    def after(known):
        given["mask"] = np.broadcast_to(known["mask"], known["scores"].shape)
        return change(given["mask"])

    return {"mask after": after}, {
        "mask after": after,
        "alive": lambda known: given["mask"].any(axis=-1, keepdims=True),
    }


class Operators:
    """The operators of one exercise, each a Mistake that replaces the whole answer."""

    def __init__(self, exercise):
        self.exercise, self.found = exercise, []
        args = exercise.all_cases()[0].args
        self.streamed = any(
            isinstance(arg, Once) for arg in args
        )  # its answers and steps are single numbers
        self.names = exercise.parameters[: len(args)]
        kinds = [_kind(arg) for arg in args]
        self.arrays = [i for i, kind in enumerate(kinds) if kind == "f"]
        self.masks = [i for i, kind in enumerate(kinds) if kind == "b"]
        self.numbers = [i for i, kind in enumerate(kinds) if kind == "number"]
        self.labels = [exercise.labels(name) for name in self.names]
        self.answer = exercise.answer_axes.split()

    def add(self, name, does, why, ask, *changes):
        self.found.append(Mistake(name, change=changes, does=does, why=why, ask=ask))

    # ------------------------------------------------------------ the two kinds of change

    def given(self, change):
        """The answer for changed arguments."""
        return {"answer": lambda *args: reference(self.exercise, change(list(args)))}

    def each(self, places, change):
        """The answer for these arguments changed."""
        return self.given(
            lambda args: [change(arg) if i in places else arg for i, arg in enumerate(args)]
        )

    def after(self, change, place=None):
        """The answer changed: all its parts, or the one in this place."""

        def answer(*args):
            parts = reference(self.exercise, list(args))
            if not isinstance(parts, tuple):
                return change(np.asarray(parts))
            return tuple(
                change(part) if place in (None, i) else part for i, part in enumerate(parts)
            )

        return {"answer": answer}

    # ------------------------------------------------------------ what is tried

    def all(self):
        self._answers()
        for label in dict.fromkeys(itertools.chain(*self.labels)):
            if label not in ONE_LONG:
                self._left_out(label)
        for i in self.arrays + self.masks:
            self._misread(i)
        for i in self.arrays:
            self._changed(self.names[i], lambda change, i=i: (self.each((i,), change),), "d")
        for i in self.masks:
            self._misread_mask(i)
        for i, j in itertools.permutations(self.arrays, 2):
            self._mistaken(i, j)
        self._steps()
        for i in self.numbers:
            self._misread_number(i)
        found = {}
        for (
            mistake
        ) in self.found:  # the same statement about an argument and about the answer is one mistake
            known = found.get(mistake.name, dataclasses.replace(mistake, change=()))
            found[mistake.name] = dataclasses.replace(
                known, change=known.variants + mistake.variants
            )
        return tuple(found.values())

    def _places(self, label):
        """[(argument, axis)] of a label."""
        return [
            (i, axis) for i in self.arrays + self.masks for axis in _axes_of(self.labels[i], label)
        ]

    def _left_out(self, label):
        one, many = WORDS[label]
        places = self._places(label)

        def change(act, part):
            def changed(args):
                for i, axis in places:
                    args[i] = act(args[i], axis, part)
                return args

            return self.given(changed)

        for name, does, parts in PARTS:
            self.add(
                name.format(one=one),
                does.format(one=one),
                COUNTED,
                f"Which {many} do your slices and loops go through?",
                *(change(act, part) for part in parts for act in (kept, cut)),
            )

    def _misread(self, i):
        """The entries of one argument in other places along an axis."""
        for label in dict.fromkeys(self.labels[i]):
            one, many = WORDS[label]
            mine = self.names[i]
            for axis in _axes_of(self.labels[i], label)[:1]:
                along = (
                    f"Each {one} of {mine} belongs to the entries at the same place in the other "
                    "arguments."
                )
                ask = f"Which of the {many} of {mine} does your function use first, and with what?"
                self.add(
                    f"{mine} in reverse order of its {many}",
                    f"The {many} of {mine} are taken from the last to the first.",
                    along,
                    ask,
                    self.each((i,), lambda a, axis=axis: np.flip(a, axis)),
                )
                self.add(
                    f"{mine} shifted by one of its {many}",
                    f"The {many} of {mine} are shifted by one place.",
                    along,
                    ask,
                    *(
                        self.each((i,), lambda a, axis=axis, n=n: np.roll(a, n, axis))
                        for n in (1, -1)
                    ),
                )
                self.add(
                    f"one {one} of {mine} for all",
                    f"The first {one} of {mine} is used for all of them, or the last one is.",
                    f"Each {one} has its own entries.",
                    f"Which of the {many} of {mine} do you read?",
                    *(
                        self.each(
                            (i,),
                            lambda a, axis=axis, part=part: spread(
                                a, axis, lambda a, axis: cut(a, axis, part)
                            ),
                        )
                        for part in (slice(0, 1), slice(-1, None))
                    ),
                )
                if i in self.arrays:
                    self.add(
                        f"{mine} averaged over its {many}",
                        f"The mean over the {many} of {mine} is used for each of them.",
                        f"Each {one} has its own entries.",
                        f"Over which axis of {mine} do you average?",
                        self.each((i,), lambda a, axis=axis: spread(a, axis, mean)),
                    )
        self._leading(
            [self.names[i]], lambda change: (self.each((i,), change),), len(self.labels[i])
        )

    def _leading(self, names, changes, few):
        """The first sequence for all, or their mean, where there are leading axes."""
        name = " and ".join(names)

        def only(change):
            return changes(lambda a: change(a) if a.ndim > few else a)

        why = "Leading axes stay apart: each sequence and each head has its own entries."
        ask = "Which index runs over the sequences in your function?"
        self.add(
            f"the first sequence's {name} for all",
            "With leading axes, every sequence gets the first "
            f"sequence's {name}, or the last one's.",
            why,
            ask,
            *only(lambda a: np.broadcast_to(a[:1], a.shape)),
            *only(lambda a: np.broadcast_to(a[-1:], a.shape)),
        )
        self.add(
            f"{name} averaged over the batch",
            f"With leading axes, every sequence gets the mean of {name} over all of them.",
            why,
            ask,
            *only(lambda a: np.broadcast_to(a.mean(axis=0, keepdims=True), a.shape)),
            *only(
                lambda a: np.broadcast_to(
                    a.mean(axis=tuple(range(a.ndim - few)), keepdims=True), a.shape
                )
            ),
        )
        self.add(
            f"sequences of {name} in another order",
            f"With leading axes, the sequences of {name} are in another order.",
            why,
            ask,
            *only(lambda a: a[::-1]),
            *only(lambda a: np.roll(a, 1, 0)),
            *only(lambda a: np.roll(a, -1, 0)),
        )

    def _changed(self, name, changes, kind, single=False):
        """An argument, a step's result or the answer, changed entry by entry, by rows, or in its
        places.
        """
        why = (
            f"The definition takes {name} as given."
            if kind == "d"
            else "The exercise doesn't ask for that."
        )
        for text, change, said in (
            (*ELEMENTWISE, *ROWS)
            if single or self.streamed
            else (*ELEMENTWISE, *ROWWISE, *ROWS, *PLACED)
        ):
            does = {
                "d": f"The answer is the right one for {name} {said}.",
                "a": f"The answer is the right one, {said}.",
                "p": f"The part {name} is the right one, {said}.",
                "s": f"One step uses {name} {said}.",
            }[kind]
            called = f"{name} {text}"
            if text in POWERS and "sum of" in name:  # "the sum of x squared" is the sum of squares
                called = f"{POWERS[text]} of {name}"
                does = does.replace(f"{name} {said}", called)
            self.add(
                called,
                upper(does),
                why,
                f"Which of your lines changes {name} in that way, or has the same effect?",
                *changes(change),
            )

    def _mistaken(self, i, j):
        mine, other = self.names[i], self.names[j]
        self.add(
            f"{other} in place of {mine}",
            f"The answer uses {other} where it should use {mine}.",
            ROLE,
            f"Where does your function use {mine}?",
            self.given(lambda args: [args[j] if k == i else arg for k, arg in enumerate(args)]),
        )
        if i < j:
            self.add(
                f"{mine} and {other} swapped",
                f"The answer uses {mine} where it should use {other}, and vice versa.",
                ROLE,
                f"What is {mine} for, and what is {other} for?",
                self.given(lambda args: [args[{i: j, j: i}.get(k, k)] for k in range(len(args))]),
            )
            self.add(
                f"{mine} and {other} added",
                f"The answer uses the sum of {mine} and {other} where it should use one of them.",
                ROLE,
                f"What is {mine} for, and what is {other} for?",
                *(
                    self.given(
                        lambda args, at=at: [
                            args[i] + args[j] if k in at else arg for k, arg in enumerate(args)
                        ]
                    )
                    for at in ((i,), (j,), (i, j))
                ),
            )

    def _misread_mask(self, i):
        mine = self.names[i]
        ask = f"What does True mean in {mine}, and for which entry?"
        for text, does, change in (
            ("inverted", f"True and False are swapped in {mine}.", np.logical_not),
            (
                "ignored",
                f"The answer is the right one for {mine} that is True everywhere.",
                np.ones_like,
            ),
            (
                "transposed",
                f"The answer is the right one for {mine} with the last two axes swapped.",
                lambda a: np.swapaxes(a, -1, -2),
            ),
            (
                "joined to a causal one",
                f"Keys after the query's own position are hidden, whatever {mine} says.",
                np.tril,
            ),
        ):
            self.add(
                f"{mine} {text}",
                does,
                f"The definition takes {mine} as given.",
                ask,
                self.each((i,), change),
            )

    def _misread_number(self, i):
        mine = self.names[i]
        for text, does, *changes in (
            (
                "ignored",
                f"The answer doesn't depend on {mine}: it is the right one for {mine} = 1.",
                lambda n: 1,
            ),
            (
                "taken as 0",
                f"The answer doesn't depend on {mine}: it is the right one for {mine} = 0.",
                lambda n: 0,
            ),
            ("squared", f"The answer is the one for the square of {mine}.", lambda n: n**2),
            (
                "under a square root",
                f"The answer is the one for the square root of {mine} instead of {mine}.",
                lambda n: math.sqrt(n),
            ),
            (
                "doubled",
                f"The answer is the one for twice {mine} instead of {mine}.",
                lambda n: 2 * n,
            ),
            (
                "halved",
                f"The answer is the one for half of {mine} instead of {mine}.",
                lambda n: n / 2,
                lambda n: n // 2,
            ),
            (
                "inverted",
                f"The answer is the one for 1 / {mine} instead of {mine}.",
                lambda n: 1 / n,
            ),
            (
                "one too large",
                f"The answer is the one for {mine} + 1 instead of {mine}.",
                lambda n: n + 1,
            ),
            (
                "one too small",
                f"The answer is the one for {mine} - 1 instead of {mine}.",
                lambda n: n - 1,
            ),
            (
                "taken from 1",
                f"The answer is the one for 1 - {mine} instead of {mine}.",
                lambda n: 1 - n,
            ),
        ):
            self.add(
                f"{mine} {text}",
                does,
                f"The definition takes {mine} as given.",
                f"Where does your function use {mine}?",
                *(self.each((i,), change) for change in changes),
            )
        for j in self.numbers:
            if j != i:
                other = self.names[j]
                self.add(
                    f"{other} in place of {mine}",
                    f"The answer uses {other} where it should use {mine}.",
                    ROLE,
                    f"Where does your function use {mine}?",
                    self.given(
                        lambda args, j=j: [args[j] if k == i else arg for k, arg in enumerate(args)]
                    ),
                )

    def _answers(self):
        if self.exercise.dtype == "bool":
            self._mask_answers()
        for k, label in enumerate(self.answer):
            self._answer_axis(label, k - len(self.answer))
        if self.exercise.dtype != "bool":
            parts = self.exercise.outputs
            self._changed(
                "all of the answer" if parts else "the answer",
                lambda change: (self.after(change),),
                "a",
            )
            for place, part in enumerate(parts):
                self._changed(part, lambda change, place=place: (self.after(change, place),), "p")
            for i in self.arrays:
                self._joined(i)
        parts = self.exercise.outputs
        if parts:
            self._parts(parts)
        elif self.exercise.dtype == "input":
            self._leading(
                ["answer"], lambda change: (self.after(change),), max(len(self.answer), 1)
            )
            self._flat()

    def _steps(self):
        """The answers of the reference's own steps, changed."""
        hidden = [
            (step, fill)
            for step, fill in (("scores", -np.inf), ("weights", 0.0))
            if self._line(step)
        ]
        if self._line("scores") or "finish_scores" in self.exercise.steps:
            for text, does, where in HIDDEN:
                self.add(
                    f"the scores {text}",
                    does,
                    "Nothing is hidden here: every query may attend to every key.",
                    "Which keys may a query attend to if the exercise names no mask?",
                    *(
                        self.inside(
                            step, lambda a, where=where, fill=fill: np.where(where(a), fill, a)
                        )
                        for step, fill in (
                            ("finish_scores", -np.inf),
                            ("weights_out", 0.0),
                            *hidden,
                        )
                        if step in self.exercise.steps
                    ),
                )
        for step, name in reversed(
            self.exercise.makes().items()
        ):  # of steps that look alike the last is the plainest
            alone = self.exercise.steps[step].one_a_row
            self._changed(name, lambda change, step=step: (self.inside(step, change),), "s", alone)
            self._along(step, name)
        if "exponential" in self.exercise.steps:
            own = self.exercise.steps["total"]
            self._changed(
                "the terms of the sum",
                lambda change: ({"total": lambda powers, *more: own(change(powers), *more)},),
                "s",
                True,
            )
        if self._line("powers") and self._line("total") and "powers" in self._line("total").reads:
            line = self._line("total")
            self._changed(
                "the terms of the sum",
                lambda change: ({"total": line.reading(powers=change)},),
                "s",
                True,
            )
        if "alive" in self.exercise.steps:
            self._mask_changes(_masked, "n_q n_k".split())
        if "combine_mask" in self.exercise.steps:
            self._mask_changes(_combined, "n_q n_k".split())

    def _along(self, step, name):
        """A step that runs along an axis, along another one."""
        own, line = self.exercise.steps[step], self._line(step)
        given = next((name for name in ("axis", "along") if line and name in line.reads), None)
        if not given and (line or "axis" not in inspect.signature(own.run).parameters):
            return
        for text, axis in OTHER_AXES:

            def along(*args, axis=axis):
                if not line:
                    return own(*args[:-1], axis(np.ndim(args[0])))
                array = next(args[0][name] for name in line.reads if name != given)
                return line({**args[0], given: axis(np.ndim(array))})

            self.add(
                f"{name} over {text}",
                f"One step uses {name} over {text}, while the other steps use the right axis.",
                "All steps of one softmax run along the same axis.",
                f"Along which axis do you compute {name}?",
                {step: along},
            )

    def _line(self, step):
        """The line of a reference that makes this, if it has a name for it; the names that mean
        something: README.md.
        """
        run = getattr(self.exercise.steps.get(step), "run", None)
        return run if isinstance(run, Line) else None

    def inside(self, step, change):
        """The answer with what one step makes changed."""
        own = self.exercise.steps[step]
        return {step: lambda *args: change(own(*args))}

    def _joined(self, i):
        mine = self.names[i]
        for text, how in (
            ("added to", np.add),
            ("subtracted from", lambda a, b: a - b),
            ("multiplied with", np.multiply),
        ):

            def answer(*args, how=how):
                return how(np.asarray(reference(self.exercise, list(args))), args[i])

            if not self.exercise.outputs:
                self.add(
                    f"{mine} {text} the answer",
                    f"The answer is the right one with {mine} {text} it.",
                    "Nothing comes after the last step of the definition.",
                    f"What does your last line do with {mine}?",
                    {"answer": answer},
                )

    def _mask_answers(self):
        self._mask_changes(lambda change: (self.after(change),), self.answer)

    def _mask_changes(self, make, axes):
        for k, label in enumerate(axes):
            one, many = WORDS[label]
            for which, part in (("first", slice(0, 1)), ("last", slice(-1, None))):
                for value in (False, True):
                    word = "seen" if value else "hidden"
                    self.add(
                        (
                            f"the {which} {one} always {word}"
                            if label == "n_k"
                            else f"the {which} {one}'s row {value}"
                        ),
                        f"The mask is always {value} for the {which} {one}.",
                        "Each entry of the mask follows from its own row and column.",
                        f"What does your function do with the {which} {one}?",
                        *make(
                            functools.partial(emptied, axis=k - len(axes), part=part, fill=value)
                        ),
                    )
        for text, does, change in MASKS:
            self.add(
                f"the mask {text}",
                does,
                "Row i of the mask belongs to query i, and column j to key j.",
                "What should the first row of the mask be, and what is it in your answer?",
                *make(change),
            )

    def _answer_axis(self, label, axis):
        one, many = WORDS[label]
        ask = f"Which entries of your answer belong to the first {one}?"
        own = f"Each {one} has its own entries in the answer, in the order of the input."
        self.add(
            f"{many} in reverse order",
            f"In the answer, the {many} are in reverse order.",
            own,
            ask,
            self.after(lambda a: np.flip(a, axis)),
        )
        self.add(
            f"{many} shifted by one",
            f"In the answer, the {many} are shifted by one place.",
            own,
            ask,
            *(self.after(lambda a, n=n: np.roll(a, n, axis)) for n in (1, -1)),
        )
        for which, part in (("first", slice(0, 1)), ("last", slice(-1, None))):
            self.add(
                f"only the {which} {one}",
                f"Only the {which} {one} has the right entries: the others are missing, 0, or"
                " copies of it.",
                own,
                ask,
                *self._where_fitting(axis, lambda a, part=part: cut(a, axis, part)),
                *self._where_fitting(axis, lambda a, part=part: cut(a, axis, part.start)),
                *self._where_fitting(axis, lambda a, part=part: kept(a, axis, part)),
                *self._where_fitting(
                    axis, lambda a, part=part: np.broadcast_to(cut(a, axis, part), a.shape)
                ),
            )
        for text, part in (
            ("the first {one} left out", slice(1, None)),
            ("the last {one} left out", slice(None, -1)),
            ("every second {one} left out", slice(0, None, 2)),
        ):
            self.add(
                text.format(one=one),
                "In the answer, " + text.format(one=one).replace(" left", " is left") + ", or 0.",
                COUNTED,
                f"Which {many} do your slices and loops go through?",
                *self._where_fitting(axis, lambda a, part=part: cut(a, axis, part)),
                *self._where_fitting(axis, lambda a, part=part: kept(a, axis, part)),
            )
        if self.exercise.dtype == "bool":
            return
        for text, reduce in (("summed", np.sum), ("averaged", np.mean)):
            self.add(
                f"{text} over the {many}",
                f"The answer is the right one, {text} over the {many}.",
                own,
                ask,
                *self._where_fitting(axis, lambda a, reduce=reduce: reduce(a, axis=axis)),
                *self._where_fitting(
                    axis,
                    lambda a, reduce=reduce: np.broadcast_to(
                        reduce(a, axis=axis, keepdims=True), a.shape
                    ),
                ),
            )
        self.add(
            f"running sum over the {many}",
            f"The answer is a running sum of the right one along the {many}.",
            own,
            ask,
            self.after(lambda a: np.cumsum(a, axis)),
        )

    def _where_fitting(self, axis, change):
        return (self.after(lambda a: change(a) if a.ndim >= -axis else a),)

    def _parts(self, parts):
        places = range(len(parts))
        zero = [self.after(np.zeros_like, place) for place in places]
        for place, change in zip(places, zero):
            self.add(
                f"{parts[place]} left at 0",
                f"{parts[place]} is 0 everywhere.",
                "The exercise asks for every part of the answer.",
                f"Where do you compute {parts[place]}?",
                change,
            )
        for one, two in itertools.permutations(places, 2):

            def answer(*args, one=one, two=two):
                found = reference(self.exercise, list(args))
                return tuple(found[two] if k == one else part for k, part in enumerate(found))

            self.add(
                f"{parts[two]} in place of {parts[one]}",
                f"The answer holds {parts[two]} twice, and {parts[one]} is missing.",
                "The exercise asks for every part of the answer.",
                f"Which array do you return as {parts[one]}?",
                {"answer": answer},
            )

    def _flat(self):
        self.add(
            "flattened",
            "The answer holds the right numbers, but on a single axis.",
            "Each axis of the answer has its own meaning.",
            "What shape should the answer have?",
            self.after(np.ravel),
        )
        self.add(
            "leading axes joined",
            "All leading axes have become one.",
            "Leading axes stay as they are.",
            "What shape should the answer have?",
            self.after(
                lambda a: a.reshape(-1, *a.shape[-max(len(self.answer), 1) :]) if a.ndim > 3 else a
            ),
        )
        self.add(
            "leading axes joined to the rows",
            "The rows of all sequences are on one axis.",
            "Leading axes stay as they are.",
            "What shape should the answer have?",
            self.after(lambda a: a.reshape(-1, a.shape[-1]) if a.ndim > 2 else a),
        )


def _kind(arg):
    if isinstance(arg, np.ndarray):
        return {"f": "f", "b": "b"}.get(arg.dtype.kind, "other")
    return "number" if isinstance(arg, (int, float)) and not isinstance(arg, bool) else "other"


def _axes_of(labels, label):
    return [k - len(labels) for k, own in enumerate(labels) if own == label]


def upper(text):
    return text if "_" in text else text[0].upper() + text[1:]


def reference(exercise, args):
    return exercise.answer({}, "float64", *args)


class Changed(Exercise):
    """An exercise whose mistakes are operators: the screen is an ordinary case of moderate size."""

    def screen(self):
        cases = self.all_cases()
        plain = [i for i, case in enumerate(cases) if case.aspect == PLAIN]
        return min(plain, key=lambda i: (cases[i].size < 40, abs(cases[i].size - 40)))


@functools.cache
def operators(exercise):
    """The exercise with the operators as its mistakes."""
    return changed(exercise, Operators(exercise).all())


def changed(exercise, mistakes):
    own = {field.name: getattr(exercise, field.name) for field in dataclasses.fields(exercise)}
    return Changed(**{**own, "mistakes": tuple(mistakes), "aspects": {}})


def sizes(exercise, case):
    """The sizes of a case by their names, and its numbers."""
    found = {}
    for name, arg in zip(exercise.parameters, case.args):
        if isinstance(arg, np.ndarray):
            found.update(zip(reversed(exercise.labels(name)), reversed(arg.shape)))
        elif _kind(arg) == "number" and arg > 0:
            found[name] = arg
            if arg < 1:
                found[f"(1 - {name})"] = 1 - arg
    return found


def conditions(exercise, cases):
    """[(text, [whether it holds for each case])] of the conditions that an answer may take for
    granted.
    """
    known = [sizes(exercise, case) for case in cases]
    names = [
        name
        for name in known[0]
        if name.isidentifier() and all(isinstance(own.get(name), int) for own in known)
    ]
    for one, two in itertools.combinations(names, 2):
        yield f"{one} = {two}", [own[one] == own[two] for own in known]
        for a, b in ((one, two), (two, one)):
            yield f"{a} <= {b}", [own[a] <= own[b] for own in known]
            yield f"{a} < {b}", [own[a] < own[b] for own in known]
            yield f"{b} a multiple of {a}", [own[b] % own[a] == 0 for own in known]
    for name in names:
        for number in (1, 2):
            yield f"{name} = {number}", [own[name] == number for own in known]
        yield f"even {name}", [own[name] % 2 == 0 for own in known]
        yield f"{name} above 1", [own[name] > 1 for own in known]
