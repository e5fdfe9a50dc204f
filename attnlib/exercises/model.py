"""What an exercise is: a reference made of named steps, inputs, hints, and its known mistakes.

How to write one
----------------
The reference is a function of `do` and the arguments. Each thing a learner can get wrong is a
step, called as `do.step(...)`; the steps' right versions stand in a dict:

    def raw_scores_answer(do, query, key):
        product = do.product(query, do.transpose(key))
        return do.scale(product, query, key)

    STEPS = {
        "transpose": lambda key: np.swapaxes(key, -1, -2),
        "product": lambda query, key_t: query @ key_t,
        "scale": lambda scores, query, key: scores / math.sqrt(query.shape[-1]),
    }

A mistake changes one step or several, each by a function with the step's own parameters:

    Mistake(
        "no scale",
        change={"scale": lambda scores, query, key: scores},
        does="The scores are Q Kᵀ itself: sqrt(d_k) times too large.",
        why="A dot product of d_k terms grows like sqrt(d_k), and the softmax then saturates.",
        ask="How does the standard deviation of q · k grow with d_k, and what brings it back to 1?",
    )

- `name` is a short phrase as a lecturer says it. It is what `grade(...).mistakes` holds.
- `written` is a piece of text that the learner's function must hold (".T") where an exception is
  all that speaks for the mistake: others raise there too. It also decides between mistakes that
  predict the same.
- `does` says what the answer does, in terms of the subject; `why` why that is a mistake; `ask`
  is the question that leads out, not the solution. Plain Unicode text, whole sentences.
- A mistake that learners write in several ways that differ in value (an epsilon of 1e-6 or 1e-9)
  has several variants: `change=({...}, {...})`. They share the name.
- A number that a learner may choose freely (an epsilon, a limit, a tile) stands in the learner's code:
  `numbers` is a function from all numbers found there to further variants; `each(change, suits)` makes
  one of a change of a single number. What stands nowhere in the code is read from the answer: see
  `fitted` below. Both are in constants.py.
- `alone` is for a rare mistake with many variants: it is looked for by itself, and in no pair.
- What no entry explains is held against plain changes (operators.py): each argument, each step that
  has a name in the table STEPS there, and the answer, squared, shifted, without its last key and so on;
  then against factors and offsets that the answer itself tells. Such mistakes need no entry. A new
  exercise only needs its arguments' axes in AXES, and those of its answer in ANSWERS. An entry is
  better where the mistake is a common one: it says why it is one, and it makes pairs.
- Two mistakes whose changes touch different steps make a pair without another word. So keep the
  steps fine. A step that does nothing in the reference (`"after": lambda weights, ...: weights`)
  is a hook for mistakes of the kind "... afterwards".
- A change of the step "answer" replaces the whole reference: a function of the arguments.
- Steps run in float64 on copies of the inputs, with warnings off; on extreme cases of a
  narrower dtype also in that dtype, and either may be what the learner's function returns.
  They may raise: a mistake that raises predicts "raises". They know nothing of dtypes, except
  through `do.dtype`, the case's.
- What an answer's dtype, shape (an axis kept or dropped), type (list, tuple, tensor) and its
  effect on the arguments tell is found by the engine for every exercise (see generic.py): never
  write entries for "float64 leaks out", "a list instead of an array", "argument overwritten",
  "an axis kept", "only for two axes", "no return", "random", "computed in float32".

Cases are what the function is called with. `Case(aspect, args, extreme=False)`:

- `aspect` is the phrase that a sentence can hold: "right for {aspect}". Use the constants below
  where they fit; a phrase of your own for what is particular to the exercise.
- The first cases should be tiny with easy integers: messages show the smallest case that fails,
  so give each aspect a tiny case. Then cases with distinct primes as sizes, by `normal(...)`.
- PLAIN needs at least one case of good size: hypotheses are screened on the largest PLAIN case.
  Also give one where sizes that could be confused are equal (aspect SQUARE): a missing
  transposition raises everywhere else, and shows its values only there.
- `extreme=True` where learners' variants of one mistake may differ in NaN, inf or exception. A
  row that the mistake spoils then only has to be spoiled, in whatever way; other rows must match.
- `unless` is a function that is asked before the case is run, and leaves it out if it says True.
- An argument `Once([...])` is given as an iterator that may be read once.

`Exercise(name, signature, part, text, answer, steps, cases, hints, mistakes, ...)`:

- `signature` is the contract's, as text; `text` is one or two sentences for the catalogue.
- `dtype` is "input" (the floating inputs' width), "bool", or "number" (not looked at).
- `outputs` are the names of the answer's parts when it is a tuple, else empty.
- `hints` are three or more sentences, the last just short of the solution.
- `cases` is a function without parameters that returns the list.
- `audits` are functions for what values cannot show (memory, an iterable that is kept): each
  gets `run`, where run(*args) calls the learner's function, and returns a Mistake or None.
- `library` is "numpy" or "torch". For "torch" arrays are handed over as tensors of the case's
  `torch_dtype` (default: the array's) on the case's `device`; the steps stay NumPy.
- `aspects` maps an aspect to a Mistake to be named when that aspect alone goes unexplained. Such a
  Mistake has no `change`; its `holds(*parts, *wanted parts)`, if there is one, is asked about each of
  the aspect's answers, and says whether it shows that mistake and no other.
- `fitted` holds functions of one number that give a Mistake: where nothing else explains an answer,
  the number (what masked scores are lowered by, a limit, an exponent) is read from it, and stands in
  the mistake's name.
- `missing` is a function that says in a sentence what is not there to check the exercise with
  (a library, a device), or ''. `around` gives a context manager in which each call is made.
  `seconds` is the time for all calls of one check, if it has to be longer; a Case's `relative` is a tolerance of its own.
- `formula`, (why, ask), is for an answer that is one number, computed from numbers: any wrong formula is then
  read from the learner's function itself (see formula.py).

`python3 -m attnlib.exercises table NAME` proves an exercise: which mistakes are recognised alone
and in pairs, and which cannot be told apart. Then add answers to tests/exercise_answers/.
"""

import ast
import contextlib
import functools
import itertools
import re
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np

PLAIN = "ordinary input"
SQUARE = "equal sizes"
LEADING = "leading axes"
FLOAT32 = "float32"
FLOAT16 = "float16"
HUGE = "scores of ±10000"
NEG_INF = "scores of -inf"
SMALL = "tiny scores"


@dataclass(frozen=True)
class Failure:
    """An exception of the learner's function, as text: it keeps no frame and no array alive."""

    kind: str  # the exception's class name
    text: str
    line_number: int = 0
    line: str = ""
    stub: bool = False  # the function itself raises it, in a statement of its own

    @property
    def family(self):
        return family(self.kind, self.text)[0]

    @property
    def cause(self):
        return family(self.kind, self.text)[1]


SHAPE_CAUSES = (
    ("matmul", ("matmul", "not aligned", "core dimension", "mat1 and mat2", "must match the size")),
    ("broadcast", ("broadcast", "must match the existing size", "size of tensor")),
    ("bmm", ("3d tensor",)),
    ("bounds", ("outside its tensors",)),
    ("unpack", ("to unpack",)),
    ("power", ("power of 2",)),
    ("axis", ("axis", "axes", "dimension out of range")),
    ("index", ("index", "indices")),
    ("reshape", ("reshape",)),
    ("einsum", ("einsum", "einstein")),
    ("shape", ("shape", "dimension", "size")),
)


@functools.cache
def family(kind, text):
    """(family, cause) of an exception: its family is shape, arithmetic, time or other."""
    if kind in ("OverflowError", "ZeroDivisionError", "FloatingPointError") or "math domain" in text:
        return "arithmetic", kind
    if kind == "TimeUp":
        return "time", kind
    if kind in ("ValueError", "IndexError", "AxisError", "RuntimeError", "LinAlgError"):
        lowered = text.lower()
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
    written: str = ""
    holds: object = None
    alone: bool = False
    numbers: object = None

    @property
    def variants(self):
        return (self.change,) if isinstance(self.change, dict) else tuple(self.change)

    def with_numbers(self, numbers, steps):
        """The mistake with further variants of these steps, made of the numbers in a learner's code."""
        more = [change for change in self.numbers(numbers) if set(change) <= steps] if self.numbers else []
        return replace(self, change=(*self.variants, *more)) if more else self


@dataclass(frozen=True, eq=False)
class Case:
    aspect: str
    args: tuple
    extreme: bool = False
    torch_dtype: str = ""
    device: str = "cpu"
    relative: float = 0.0
    unless: object = bool

    @functools.cached_property
    def dtype(self):
        """The name of the floating inputs' dtype; float64 where there is none."""
        if self.torch_dtype:
            return self.torch_dtype
        found = [arg.dtype for arg in _arrays(self.args) if arg.dtype.kind == "f"]
        return str(np.result_type(*found).newbyteorder("=")) if found else "float64"

    @property
    def size(self):
        """How much a reader has to read: numbers in all arguments."""
        return sum(arg.size for arg in _arrays(self.args)) + len(self.args)


class Once:
    """An argument that is an iterable to be read once and not kept."""

    def __init__(self, items):
        self.items = [np.asarray(item) for item in items]


def _arrays(args):
    for arg in args:
        if isinstance(arg, np.ndarray):
            yield arg
        elif isinstance(arg, Once):
            yield from arg.items


def each(change, suits=lambda number: True):
    """A mistake's `numbers`: one variant for each number that suits."""
    return lambda numbers: [change(number) for number in numbers if suits(number)]


def normal(*shape, seed=0, dtype=np.float64, scale=1.0):
    """Seeded normal numbers, rounded so that float16 and float32 start from the same ones."""
    numbers = np.random.default_rng([seed, *shape]).normal(size=shape)
    return (scale * numbers).round(2).astype(dtype)


@dataclass(eq=False)
class Exercise:
    name: str
    signature: str
    part: str
    text: str
    answer: object
    steps: dict
    cases: object
    hints: tuple
    mistakes: tuple
    dtype: str = "input"
    outputs: tuple = ()
    library: str = "numpy"
    audits: tuple = ()
    aspects: dict = field(default_factory=dict)
    fitted: tuple = ()
    missing: object = str
    around: object = contextlib.nullcontext
    seconds: float | None = None
    formula: tuple = ()

    def __post_init__(self):
        self._cases, self._predictions, self._hypotheses, self._groups = None, {}, {}, {}
        self._alike, self._shown = functools.cache(self._alike), functools.cache(self._shown)
        for mistake in self.mistakes:
            for change in mistake.variants:
                unknown = set(change) - set(self.steps) - {"answer"}
                if unknown:
                    raise ValueError(f"{self.name}, {mistake.name!r}: no step called {unknown}")

    def with_numbers(self, numbers):
        """The exercise with the variants that numbers of a learner's code add to its mistakes."""
        wider = replace(self, mistakes=tuple(mistake.with_numbers(numbers, set(self.steps)) for mistake in self.mistakes))
        wider._cases, wider._predictions = self._cases, dict(self._predictions)
        return wider

    @property
    def parameters(self):
        """The names in the signature, without defaults."""
        return tuple(re.findall(r"(\w+)(?:=[^,)]*)?[,)]", self.signature))

    @property
    def optional(self):
        """(name, default) of the last parameter, if the signature gives it a default."""
        found = re.search(r"(\w+)=([^,)]+)\)", self.signature)
        return (found[1], ast.literal_eval(found[2])) if found else None

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
        """{hypothesis: those of the same mistakes in variants that, each alone, show alike on the screen}."""
        if size not in self._groups:
            found = self._groups[size] = {}
            for hypothesis in self.hypotheses(size) if size else [()]:
                alike = tuple(map(self._alike, hypothesis)) if size > 1 else hypothesis
                found.setdefault(alike if self.composes(alike) else hypothesis, []).append(hypothesis)
        return self._groups[size]

    def _alike(self, member):
        """The first variant of the same mistake that predicts the same on the screen."""
        mistake, variant = member
        wanted = self._shown(member)
        return next((mistake, i) for i in range(variant + 1) if self._shown((mistake, i)) == wanted)

    def _shown(self, member):
        """What a mistake alone makes of the screen, to be compared."""
        predicted = self.predict((member,), self.screen())
        return predicted if isinstance(predicted, Failure) else [(p.shape, p.tobytes()) for p in predicted]

    def _composed(self, size):
        numbers = [i for i, mistake in enumerate(self.mistakes) if size == 1 or not mistake.alone]
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
            found = self._predict(hypothesis, self.all_cases()[index], wide)
            self._predictions[hypothesis, index, wide] = found
        return found

    def _predict(self, hypothesis, case, wide):
        try:
            with np.errstate(all="ignore"):
                parts = as_arrays(self.apply(hypothesis, case, fresh_copy(case.args, wide)))
                return tuple(self._narrow(part, case) for part in parts)
        except Exception as error:
            return Failure(type(error).__name__, str(error))

    def _narrow(self, part, case):
        """The prediction as the case's dtype can hold it: -1e9 is -inf in float16."""
        if self.dtype != "input" or part.dtype.kind != "f" or case.dtype not in ("float16", "float32"):
            return part
        return part.astype(case.dtype).astype(np.float64)

    def apply(self, hypothesis, case, args):
        """Run the changed reference on the arguments as they are."""
        steps = dict(self.steps, dtype=case.dtype)
        for i, j in hypothesis:
            steps.update(self.mistakes[i].variants[j])
        if "answer" in steps:
            return steps["answer"](*args)
        return self.answer(SimpleNamespace(**steps), *args)


def fresh_copy(args, wide):
    """Fresh copies, in float64 if wide: predictions must not suffer from the inputs' width."""
    return [_fresh(arg, wide) for arg in args]


def _fresh(arg, wide):
    if isinstance(arg, Once):
        return [_fresh(item, wide) for item in arg.items]
    if isinstance(arg, np.ndarray):
        return arg.astype(np.float64) if wide and arg.dtype.kind == "f" else arg.copy()
    return arg


def as_arrays(result):
    """A tuple of arrays, whether the answer has one part or several."""
    parts = result if isinstance(result, tuple) else (result,)
    return tuple(np.asarray(part) for part in parts)
