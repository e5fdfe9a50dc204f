"""What an exercise is: a reference made of named steps, inputs, hints, and known mistakes.

entries/README.md says how to write one.
"""

import ast
import contextlib
import functools
import itertools
import re
from dataclasses import dataclass, field, replace
from hashlib import sha256

import numpy as np

MOST_KEPT = 5000  # what is known in the middle of a reference, for how many hypotheses and cases
PLAIN = "ordinary input"
SQUARE = "equal sizes"
LEADING = "leading axes"
FLOAT32 = "float32"
FLOAT16 = "float16"
HUGE = "scores of ±10000"
NEG_INF = "scores of -inf"
SMALL = "tiny scores"

# what an answer is worth, from the best on; classroom/points.py says how much
RIGHT, NEARLY, ONE_MISTAKE, OTHERWISE = "right", "nearly_right", "one_mistake", "otherwise"

TOO_MANY = "too many for the interpreter"


@dataclass(frozen=True)
class Failure:
    """An exception from the learner's function, as text, so that it keeps no frame and no array
    alive."""

    kind: str  # the exception's class name
    text: str
    line_number: int = 0
    line: str = ""
    stub: bool = False  # the function itself raises it, in its own statement

    @property
    def family(self):
        return family(self.kind, self.text)[0]

    @property
    def cause(self):
        return family(self.kind, self.text)[1]

    @property
    def limit(self):
        """Whether it comes from a limit of the check rather than from a mistake."""
        return self.kind == "RuntimeError" and TOO_MANY in self.text


SHAPE_CAUSES = (
    ("features", ("same last axis",)),
    ("view", ("changing to a larger dtype", "changing the dtype of")),
    ("empty", ("need at least one array",)),
    ("join", ("all the input array", "all input arrays must", "sizes of tensors must match")),
    ("squeeze", ("to squeeze out",)),
    ("matmul", ("matmul", "not aligned", "core dimension", "mat1 and mat2", "batch2 tensor")),
    ("einsum", ("einsum", "einstein")),
    ("broadcast", ("broadcast", "must match the existing size", "size of tensor")),
    ("bmm", ("3d tensor",)),
    ("bounds", ("outside its tensors",)),
    ("unpack", ("to unpack",)),
    ("power", ("power of 2",)),
    ("axis", ("axis", "axes", "dimension out of range")),
    ("index", ("index", "indices")),
    ("reshape", ("reshape", "equal division")),
    ("shape", ("shape", "dimension", "size")),
)


@functools.cache
def family(kind, text):
    """(family, cause) of an exception: its family is shape, arithmetic, time or other."""
    if (
        kind in ("OverflowError", "ZeroDivisionError", "FloatingPointError")
        or "math domain" in text
    ):
        return "arithmetic", kind
    if kind == "TimeUp":
        return "time", kind
    if kind in ("ValueError", "IndexError", "AxisError", "RuntimeError", "LinAlgError"):
        lowered = text.lower()
        named = ("dimension out of range", "outside its tensors")
        if kind == "IndexError" and not any(words in lowered for words in named):
            return "shape", "index"
        for cause, words in SHAPE_CAUSES:
            if any(word in lowered for word in words):
                return "shape", cause
    return "other", kind


@dataclass(frozen=True, eq=False)
class Mistake:
    name: str
    does: str
    why: str
    ask: str
    change: dict | tuple = ()
    never_in_pairs: bool = False
    numbers: object = None

    @property
    def variants(self):
        return (self.change,) if isinstance(self.change, dict) else tuple(self.change)

    def with_numbers(self, numbers, steps):
        """The mistake with further variants of these steps, made with the numbers in a learner's
        code.
        """
        more = (
            [change for change in self.numbers(numbers) if set(change) <= steps]
            if self.numbers
            else []
        )
        return replace(self, change=(*self.variants, *more)) if more else self


class EachByItself(float):
    """A case's tolerance, relative to each number rather than to the largest number of its row."""


class BesidesRounding(float):
    """A case's tolerance that tells one rounding from several: an answer that a mistake makes
    grossly wrong is compared with its prediction by the dtype's own tolerance.
    """


@dataclass(frozen=True, eq=False)
class Case:
    aspect: str
    args: tuple
    extreme: bool = False
    torch_dtype: str = ""
    device: str = "cpu"
    relative: float = 0.0
    unless: object = None  # a function: True where this case cannot be tried here

    @functools.cached_property
    def dtype(self):
        """The name of the dtype that is asked for, or of the floating inputs' dtype; float64 if
        there is none.
        """
        if self.torch_dtype:
            return self.torch_dtype
        found = [np.dtype(arg) for arg in self.args if isinstance(arg, (type, np.dtype))]
        found = found or [arg.dtype for arg in arrays_of(self.args) if arg.dtype.kind == "f"]
        return str(np.result_type(*found).newbyteorder("=")) if found else "float64"

    @property
    def words(self):
        """The list of words among the arguments, or None."""
        return next((arg for arg in self.args if isinstance(arg, Words)), None)

    @property
    def left_out(self):
        """Whether this case cannot be tried here."""
        return bool(self.unless and self.unless())

    @property
    def size(self):
        """How much a reader has to read: numbers in all arguments."""
        return sum(arg.size for arg in arrays_of(self.args)) + len(self.args)


class Once:
    """An argument that is an iterable to be read once and not kept."""

    def __init__(self, items):
        self.items = [np.asarray(item) for item in items]


class Words:
    """An argument that is a list of words; a right answer consists of some of them too.

    Internally, words are numbers from -n to -1 in alphabetical order, the same for equal words. So
    a position in the list, which is 0 or more, is never taken for a word.
    """

    OTHER = -1_000_000  # any word that is not in the list

    def __init__(self, items):
        self.items = tuple(items)
        self.known = {word: i - len(set(items)) for i, word in enumerate(sorted(set(items)))}

    @property
    def numbers(self):
        return np.array([self.known[word] for word in self.items])

    def number(self, word):
        return self.known.get(str(word), self.OTHER)

    def text(self, number):
        """The word of a number; anything else stays as it is."""
        return next((word for word, own in self.known.items() if own == number), number)


def arrays_of(args):
    for arg in args:
        if isinstance(arg, np.ndarray):
            yield arg
        elif isinstance(arg, Once):
            yield from arg.items
        elif isinstance(arg, list):
            yield from arg


def normal(*shape, seed=0, dtype=np.float64, scale=1.0):
    """Seeded normal numbers, rounded so that float16 and float32 start from the same ones."""
    numbers = np.random.default_rng([seed, *shape]).normal(size=shape)
    return (scale * numbers).round(2).astype(dtype)


@dataclass(frozen=True)
class Step:
    """A step of a reference that has a name for what it makes, as a sentence says it: "the
    scores".
    """

    run: object
    makes: str
    one_a_row: bool = False  # a maximum or a sum

    def __call__(self, *args):
        return self.run(*args)


# the parts of the book, each with its first chapter; chapter 0, before the first part, is in it
PARTS = {
    "Raw scores": 0,
    "The softmax": 3,
    "The AV product": 8,
    "On the GPU": 15,
    "Beyond this attention": 19,
}


@dataclass(eq=False)
class Exercise:
    name: str
    signature: str
    text: str
    answer: object
    steps: dict
    cases: object
    hints: tuple
    mistakes: tuple
    place: int = 0
    chapter: int = 0  # its folder's number
    axes: dict = field(default_factory=dict)
    answer_axes: str = ""
    dtype: str = "input"
    outputs: tuple = ()
    part_dtypes: tuple = ()  # of the outputs, if they are not all `dtype`: also "int8" and so on
    in_list: bool = False  # the answer is a list of arrays, as many as the case asks for
    in_words: bool = False  # the answer is a list of words
    library: str = "numpy"
    audits: tuple = ()
    aspects: dict = field(default_factory=dict)
    fitted: tuple = ()
    missing: object = None  # a function: a sentence on what is not installed here, or ""
    around: object = contextlib.nullcontext
    seconds: float | None = None
    formula: tuple = ()
    costs: object = None
    wide_inside: bool = False  # the statement asks for float64 inside

    def __post_init__(self):
        self._alike, self._shown = functools.cache(self._alike), functools.cache(self._shown)
        self._place, self.screen = functools.cache(self._place), functools.cache(self.screen)
        self.forget()
        for mistake in (
            self.mistakes if isinstance(self.mistakes, tuple) else ()
        ):  # a page's are checked when it is read
            for change in mistake.variants:
                unknown = set(change) - set(self.steps) - {"answer"}
                if unknown:
                    raise ValueError(f"{self.name}, {mistake.name!r}: no step called {unknown}")

    def forget(self):
        """Drop what was computed for its cases; it is computed again when it is needed."""
        self._cases, self._predictions, self._hypotheses, self._groups = None, {}, {}, {}
        self._alike_parts, self._known = {}, {}
        self._alike.cache_clear()
        self._shown.cache_clear()

    def with_numbers(self, numbers):
        """The exercise with the variants that numbers of a learner's code add to its mistakes."""
        wider = replace(
            self,
            mistakes=tuple(
                mistake.with_numbers(numbers, set(self.steps)) for mistake in self.mistakes
            ),
        )
        wider._cases, wider._predictions = self._cases, dict(self._predictions)
        wider._alike_parts = dict(self._alike_parts)
        return wider

    def cannot_check(self):
        """A sentence that says what is missing here for checking an answer, or ""."""
        return self.missing() if self.missing else ""

    @property
    def part(self):
        """The part of the book that its chapter stands in."""
        return [name for name, first in PARTS.items() if self.chapter >= first][-1]

    def labels(self, name):
        """What the last axes of an argument run over."""
        return self.axes.get(name, "").split()

    def makes(self):
        """{step: what it makes} of the steps that have a name for it."""
        return {name: step.makes for name, step in self.steps.items() if isinstance(step, Step)}

    def dtype_of(self, part):
        """The dtype that is asked for in this part of the answer."""
        return self.part_dtypes[part] if self.part_dtypes else self.dtype

    @property
    def parameters(self):
        """The names in the signature, without defaults."""
        return tuple(re.findall(r"(\w+)(?:=[^,)]*)?[,)]", self.signature))

    @property
    def optional(self):
        """(name, default) of the last parameter, if the signature gives it a default."""
        found = re.search(r"(\w+)=([^,)]+)\)", self.signature)
        return (found[1], ast.literal_eval(found[2])) if found else None

    def part_names(self, wanted):
        """What a sentence calls the parts of an answer; "" if there is only one."""
        if self.in_list:
            return tuple(f"entry {i} of the list" for i in range(len(wanted)))
        return self.outputs or ("",)

    def all_cases(self):
        if self._cases is None:
            self._cases = list(self.cases())
        return self._cases

    def screen(self):
        """The index of the case that tells most hypotheses apart: the largest ordinary one."""
        cases = self.all_cases()
        plain = [i for i, case in enumerate(cases) if case.aspect == PLAIN] or range(len(cases))
        return max(plain, key=lambda i: cases[i].size)

    def hypotheses(self, size):
        """All sets of `size` mistakes that compose, each a tuple of (mistake, variant) numbers."""
        if size not in self._hypotheses:
            self._hypotheses[size] = list(self._composed(size))
        return self._hypotheses[size]

    def groups(self, size):
        """{hypothesis: the hypotheses of the same mistakes, in variants that look alike when each
        is alone}."""
        if size not in self._groups:
            found = self._groups[size] = {}
            for hypothesis in self.hypotheses(size) if size else [()]:
                alike = tuple(map(self._alike, hypothesis)) if size > 1 else hypothesis
                found.setdefault(alike if self.composes(alike) else hypothesis, []).append(
                    hypothesis
                )
        return self._groups[size]

    def _alike(self, member):
        """The first variant of the same mistake that predicts the same on the screen, and of
        numbers on all ordinary input.
        """
        mistake, variant = member
        wanted = self._shown(member)
        return next((mistake, i) for i in range(variant + 1) if self._shown((mistake, i)) == wanted)

    def _shown(self, member):
        """What a mistake alone makes of the screen, for comparison; if answers are single numbers,
        one case says too little.
        """
        cases = [self.screen()]
        if self.dtype == "number":
            cases = [i for i, case in enumerate(self.all_cases()) if case.aspect == PLAIN] or cases
        predicted = [self.predict((member,), i) for i in cases]
        return [
            p if isinstance(p, Failure) else [(part.shape, part.tobytes()) for part in p]
            for p in predicted
        ]

    def _composed(self, size):
        numbers = [
            i for i, mistake in enumerate(self.mistakes) if size == 1 or not mistake.never_in_pairs
        ]
        for chosen in itertools.combinations(numbers, size):
            variants = [range(len(self.mistakes[i].variants)) for i in chosen]
            for picked in itertools.product(*variants):
                hypothesis = tuple(zip(chosen, picked))
                if self.composes(hypothesis):
                    yield hypothesis

    def composes(self, hypothesis):
        changed = [step for i, j in hypothesis for step in self.mistakes[i].variants[j]]
        return len(changed) == len(set(changed)) and ("answer" not in changed or len(changed) == 1)

    def predict(self, hypothesis, index, wide=True):
        """What the reference, changed by these mistakes, makes of a case: arrays or a Failure.

        `wide` computes in float64; otherwise in the inputs' own dtype, where exp overflows sooner.
        """
        found = self._predictions.get((hypothesis, index, wide))
        if found is None:
            found = self._predict(hypothesis, index, wide)
            self._predictions[hypothesis, index, wide] = found
        return found

    def _predict(self, hypothesis, index, wide):
        case = self.all_cases()[index]
        try:
            with np.errstate(all="ignore"):
                parts = as_arrays(self._computed(hypothesis, index, wide))
                return self._once(tuple(self._narrow(part, case) for part in parts))
        except Exception as error:
            failure = Failure(type(error).__name__, str(error))
            return self._alike_parts.setdefault(failure, failure)

    def _once(self, parts):
        """The same parts, kept once for all hypotheses that predict them."""
        if any(part.dtype.hasobject for part in parts):
            return parts
        said = tuple(
            (part.dtype.str, part.shape, sha256(part.tobytes()).digest()) for part in parts
        )
        return self._alike_parts.setdefault(said, parts)

    def _narrow(self, part, case):
        """The prediction as the case's dtype can hold it: -1e9 is -inf in float16."""
        if (
            self.dtype != "input"
            or part.dtype.kind != "f"
            or case.dtype not in ("float16", "float32")
        ):
            return part
        return part.astype(case.dtype).astype(np.float64)

    def apply(self, hypothesis, case, args):
        """Run the changed reference on the arguments as they are."""
        changes = self._changes(hypothesis)
        if "answer" in changes:
            return changes["answer"](*args)
        return self.answer(changes, case.dtype, *args)

    def _changes(self, hypothesis):
        """{step: function} of the steps that these mistakes replace."""
        return {
            step: run for i, j in hypothesis for step, run in self.mistakes[i].variants[j].items()
        }

    def _computed(self, hypothesis, index, wide):
        """What the changed reference returns for a case. It goes on where the first of the mistakes
        changes something; on the screen, which all hypotheses meet, where the last of them does.
        """
        places = [*map(self._place, hypothesis)]
        place = (max if index == self.screen() else min)(places, default=0)
        if place:
            others = tuple(member for member, at in zip(hypothesis, places) if at < place)
            known = self._known_before(place, others, index, wide)
            if known is not None:
                try:
                    return self._reference.go_on(place, self._changes(hypothesis), known)
                except ValueError as error:  # it writes into what others still need
                    if "read-only" not in str(error):
                        raise
        case = self.all_cases()[index]
        return self.apply(hypothesis, case, fresh_copy(case.args, wide))

    @property
    def _reference(self):
        """The Reference whose method `answer` is; None if it's a function of its own."""
        return getattr(self.answer, "__self__", None)

    def _place(self, member):
        """The statement of the reference that a mistake changes first."""
        return self._reference.place(self._changes([member])) if self._reference else 0

    def _known_before(self, place, hypothesis, index, wide):
        key = place, hypothesis, index, wide
        if key not in self._known:
            if len(self._known) >= MOST_KEPT:
                self._known.clear()
            case = self.all_cases()[index]
            self._known[key] = self._reference.known_before(
                place, self._changes(hypothesis), case.dtype, *fresh_copy(case.args, wide)
            )
        return self._known[key]


def fresh_copy(args, wide, change=np.asarray):
    """Fresh copies of arguments, with `change` of each array. They are in float64 if wide:
    predictions must not suffer from the inputs' width.
    """

    def fresh(arg):
        if isinstance(arg, Words):
            return arg.numbers
        if isinstance(arg, (Once, list)):
            return [*map(fresh, arg.items if isinstance(arg, Once) else arg)]
        if not isinstance(arg, np.ndarray):
            return arg
        array = change(arg)
        return array.astype(np.float64) if wide and array.dtype.kind == "f" else array.copy()

    return [*map(fresh, args)]


def as_arrays(result):
    """A tuple of arrays, whether the answer has one part or several."""
    parts = result if isinstance(result, tuple) else (result,)
    return tuple(np.asarray(part) for part in parts)


@dataclass(frozen=True)
class Choice:
    """An answer that a question offers, and why it is right, or what it takes for granted.

    A choice that refers to the others ("Both.", "None of these") is `last`: it stays below them.
    """

    text: str
    because: str
    last: bool = False


@dataclass(frozen=True)
class Question:
    """What readers predict before a cell answers it.

    `name` is what predict() is called with, right before that cell; `choices` are three or four;
    `right` is the letter of the right one, counting them as they are written, a to d; `shows` is
    what the cell's output then holds, a piece of its text. Plain Unicode; `code` and *emphasis* as
    in Markdown.

    Authors have a favourite place for the right choice, so readers see the choices in another
    order, which depends only on the name. `lettered` and `right_letter` are what readers see: use
    these wherever a question is shown.
    """

    name: str
    text: str
    choices: tuple
    right: str
    shows: str

    @property
    def lettered(self):
        """{letter: choice}."""
        shown = sorted(enumerate(self.choices), key=self._place)
        return dict(zip("abcd", (choice for _, choice in shown)))

    def _place(self, written):
        number, choice = written
        if choice.last:
            return number, ""
        # A digest stays the same in every version of Python; random.shuffle doesn't promise that.
        return -1, sha256(f"{self.name} {number}".encode()).hexdigest()

    @property
    def right_letter(self):
        """The letter of the right choice, as readers see it."""
        right = self.choices["abcd".index(self.right)]
        return next(letter for letter, choice in self.lettered.items() if choice is right)
