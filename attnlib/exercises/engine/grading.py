"""check, grade, hint and status: what a notebook calls."""

import ast
import contextlib
import difflib
import dis
import functools
import inspect
import textwrap
import types
from dataclasses import dataclass, replace

import numpy as np

from ..model import FLOAT16, FLOAT32, PLAIN, Once
from ..sandbox.call import Clock, call
from . import generic, message, ready
from .find import exercises
from .formula import by_formula, in_letters
from .numbers import numbers_in
from .explain import Finding, Matcher, Seen, close_rows, explain, fit_shape, shown_by, tolerance

# a narrower dtype, by its names in NumPy and torch; the rest are attributes or texts alone
NARROW, SHORTER = {"float16", "float32"}, {"half", "single", "float", "f2", "f4"}


@dataclass(frozen=True)
class Grade:
    """What is known about an answer: its status, the names of its mistakes, the message."""

    status: str  # "correct", "not attempted", "incorrect" or "error"
    mistakes: tuple
    message: str


# ---------------------------------------------------------------- running a function on the cases

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
    return before.shape == after.shape and before.dtype == after.dtype and before.tobytes() == after.tobytes()


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
    elif not all(map(_unchanged, learners_copy(exercise, case), args)):
        seen.mark(generic.OVERWRITTEN)
    if any(isinstance(arg, IterOnce) and arg.twice for arg in args):
        seen.mark(generic.READ_TWICE)
    if outcome.answer is not None:
        _take(exercise, seen, outcome.answer)
    return seen


def _take(exercise, seen, answer):
    """Put an answer's arrays, or a phrase for what came instead, into `seen`."""
    wanted = exercise.predict((), seen.index)
    if answer.nothing or answer.other:
        seen.other = answer.other or answer.nothing
        return
    seen.arrays = answer.arrays
    answer = answer if exercise.in_list else _unwrapped(seen, answer, wanted)
    pieces = _pieces(exercise, seen, answer, wanted)
    seen.values = tuple(piece.values for piece in pieces)
    seen.dtypes = tuple("" if piece.holder in ("list", "number", "tuple") else piece.dtype
                        for piece in pieces)
    for piece, part in zip(pieces, wanted):
        _mark_holder(exercise, seen, piece, part)


def _unwrapped(seen, answer, wanted):
    """The answer in a tuple or list of its own; [row] may be a table of one row, as a list."""
    if not answer.wrapped:
        return answer
    inner = (1, *answer.pieces[0].values.shape)
    if len(answer.pieces) == len(wanted) == 1 and inner == wanted[0].shape:
        piece = answer.pieces[0]
        return replace(answer, pieces=(replace(piece, values=piece.values[None], holder=answer.wrapped),))
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
            expected = f"a list of {count}" if exercise.in_list else f"({', '.join(exercise.outputs)})"
            seen.other = f"{len(pieces)} value{'s'[:len(pieces) > 1]} instead of {expected}"
            seen.mark(_too_few(exercise, answer))
            return _taken_apart(pieces, wanted) if exercise.in_list else ()
        return pieces
    if exercise.dtype == "number" and wanted[0].ndim == 0 and not exercise.axes:  # a number of numbers
        pieces = _numbers(seen, pieces)
        if len(pieces) > 1 and all(piece.values.ndim == 0 for piece in pieces):
            return _one_number(seen, pieces)
    if len(pieces) == 1 and not answer.holder:
        return pieces
    return _single(seen, answer, wanted[0])


def _numbers(seen, pieces):
    """A list of plain numbers as one piece for each of them."""
    if pieces[0].holder not in ("list", "tuple") or pieces[0].values.ndim != 1 or not pieces[0].values.size:
        return pieces
    if pieces[0].values.size == 1:
        seen.mark(generic.IN_A_LIST)
    return tuple(replace(pieces[0], values=np.array(value), holder="number") for value in pieces[0].values)


def _one_number(seen, pieces):
    """The first of several numbers; choose_terms knows more."""
    seen.mark(generic.EXTRA)
    seen.terms = tuple(piece.values for piece in pieces)
    seen.other = f"({', '.join(message.number(value[()]) for value in seen.terms)})"
    return pieces[:1]


def choose_terms(exercise, seen):
    """Of several numbers take the first or the last, if it is right in all cases; a formula's terms may be to be added."""
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
    return np.isclose(float(chosen(one.terms)), float(exercise.predict((), one.index)[0]), rtol=1e-9)


def _taken_apart(pieces, wanted):
    """The arrays of a list, if they came as one, joined along the rows."""
    ends = np.cumsum([part.shape[-2] for part in wanted])
    if len(pieces) > 1 or pieces[0].values.shape != (*wanted[0].shape[:-2], ends[-1], wanted[0].shape[-1]):
        return ()
    return tuple(replace(pieces[0], values=part) for part in np.split(pieces[0].values, ends[:-1], axis=-2))


def _too_few(exercise, answer):
    """The mistake of an answer with fewer parts than it should have."""
    if not exercise.in_list:
        return generic.PARTS_MISSING
    return generic.ENTRIES_MISSING if answer.holder or answer.wrapped else generic.NO_LIST


def _single(seen, answer, wanted):
    """One piece from a tuple or list: the tuple is the array itself, or holds something more."""
    shapes = [piece.values.shape for piece in answer.pieces]
    fitting = [piece for piece in answer.pieces if fit_shape(piece.values, wanted.shape) is not None]
    equal = wanted.ndim and len(set(shapes)) == 1
    complete = len(shapes) * answer.pieces[0].values.size == wanted.size and not fitting
    if equal and (complete or (len(shapes),) + shapes[0] == wanted.shape or answer.holder == "list" and not fitting):
        seen.mark(generic.LIST)
        stacked = np.stack([piece.values for piece in answer.pieces])
        return (type(answer.pieces[0])(stacked, str(stacked.dtype), "list"),)
    seen.mark(generic.EXTRA)
    return ((fitting or list(answer.pieces))[0],)


def _mark_holder(exercise, seen, piece, wanted):
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


def source(function):
    """The learner's function as text, or '' where it cannot be read."""
    try:
        return inspect.getsource(function)
    except Exception:
        return ""


def narrows(function):
    """Whether a function's code names a narrower dtype, other than to compare one with it."""
    try:
        tree = ast.parse(textwrap.dedent(source(function)))
    except SyntaxError:  # a lambda in the middle of something
        return False
    aside = set()
    for node in ast.walk(tree):
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if docstring or isinstance(node, ast.Compare):
            aside.update(ast.walk(node))
        for notes in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            aside.update(ast.walk(notes) if notes else ())
    return any(_names_a_narrow_dtype(node) for node in ast.walk(tree) if node not in aside)


def _names_a_narrow_dtype(node):
    if isinstance(node, ast.Attribute):
        return node.attr in NARROW | SHORTER
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.lstrip("<>=|") in NARROW | SHORTER - {"float"}
    return isinstance(node, ast.Name) and node.id in NARROW


# ---------------------------------------------------------------- before anything is matched

def usable_name(name):
    """The exercise of this name, or a sentence."""
    known = exercises()
    if isinstance(name, str) and name in known:
        return known[name], ""
    if not isinstance(name, str):
        return None, ('The first argument is the name of an exercise, in quotes, as in '
                      'check("softmax", softmax).')
    close = difflib.get_close_matches(name, known, 3, 0.5)
    did = f" Did you mean {' or '.join(close)}?" if close else " status() lists all."
    return None, f'There is no exercise called "{name}".{did}'


NOT_GIVEN = object()


def unusable_function(exercise, function):
    """A sentence if this cannot be called as an answer, else ''."""
    usage = f'check("{exercise.name}", {exercise.name})'
    if function is NOT_GIVEN:
        return f"The second argument is missing: your function, as in {usage}."
    if str(type(function).__module__).startswith("triton."):
        return ("The second argument is a kernel itself. Pass the Python function that makes the output, "
                f"launches the kernel as kernel[grid](...), and returns the output: {usage}.")
    if callable(function):
        return ""
    kind = type(function).__name__
    if isinstance(function, str):
        return f"The second argument is your function itself, without quotes: {usage}."
    return (f"The second argument is an object of type {kind}. Pass the function itself, without "
            f"calling it: {usage}, with no brackets behind the second name.")


def binds(function, args):
    """Whether the function takes these arguments; True where its signature cannot be read."""
    try:
        inspect.signature(function).bind(*args)
    except TypeError:
        return False
    except Exception:
        return True
    return True


def wrong_parameters(exercise, function):
    try:
        yours = str(inspect.signature(function))
    except Exception:
        yours = "something else"
    return (f"The function must take {exercise.signature}; yours takes {yours}. "
            "It was not called.")


IDLE = {"RESUME", "NOP", "CACHE", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE", "STORE_FAST",
        "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "POP_TOP", "LOAD_SMALL_INT",
        "NOT_TAKEN", "MAKE_CELL", "COPY_FREE_VARS"}


def does_nothing(function):
    """Whether a function's code computes nothing: pass, ..., or names set to constants."""
    try:
        code = getattr(inspect.unwrap(function), "__code__", None)
    except Exception:  # an object of the learner's own class may do anything
        return False
    return isinstance(code, types.CodeType) and all(step.opname in IDLE for step in dis.get_instructions(code))


def not_attempted(function, seen):
    if seen.failure:
        return seen.failure.kind == "NotImplementedError" and seen.failure.stub
    if seen.other in ("Ellipsis", "NotImplemented"):
        return True
    return seen.other == "None" and does_nothing(function) and not seen.printed


# ---------------------------------------------------------------- a grade

def grade(name, function=NOT_GIVEN):
    """What check() prints, as data: .status, .mistakes and .message."""
    if callable(name) and isinstance(function, str):
        name, function = function, name
    exercise, problem = usable_name(name)
    if exercise is None:
        return Grade("error", (), message.wrap(problem))
    if function is None or function is Ellipsis:
        return _not_attempted(exercise)
    problem = unusable_function(exercise, function)
    if problem:
        return Grade("error", (), message.wrap(f"{exercise.name}: not checked. {problem}"))
    problem = exercise.missing()
    if problem:
        return Grade("not attempted", (), message.wrap(f"{exercise.name}: not checked. {problem}"))
    return grade_function(exercise, function)


def permutation(exercise, function):
    """The order of the function's parameters in the signature, if it has them in another one."""
    try:
        yours = tuple(inspect.signature(function).parameters)
    except Exception:
        return None
    wanted = exercise.parameters
    if yours == wanted or sorted(yours) != sorted(wanted):
        return None
    return [wanted.index(name) for name in yours]


def grade_function(exercise, function):
    """The grade of a callable."""
    order = permutation(exercise, function)
    if order:
        def by_name(*args):
            return function(*[args[i] for i in order])

        if _grade(exercise, by_name).status == "correct":
            return _grade(exercise, by_name, (generic.PARAMETER_ORDER,))
    return _grade(exercise, function)


def lacks_default(exercise, function):
    """Whether the function takes all arguments, and not without the optional one."""
    full = [case.args for case in exercise.all_cases() if len(case.args) == len(exercise.parameters)]
    return bool(exercise.optional) and binds(function, full[0]) and not binds(function, full[0][:-1])


def with_default(exercise, function):
    """The function with the signature's default; its text is still the learner's."""
    name, default = exercise.optional

    def filled(*args, **named):
        return function(*args, **named) if name in named else function(*args, *[default][len(args) - missing:])

    missing = len(exercise.parameters) - 1
    filled.__wrapped__ = function
    filled.__signature__ = inspect.Signature([inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)])
    return filled


def refuses_name(exercise, function, seen, clock):
    """Whether the optional argument is taken by position, and not by its name."""
    if not exercise.optional:
        return False
    one = next((s for s in seen if len(s.case.args) == len(exercise.parameters) and s.values), None)
    if one is None:
        return False

    def by_name(*args):
        return function(*args[:-1], **{exercise.optional[0]: args[-1]})

    failure = call(by_name, learners_copy(exercise, one.case), clock).failure
    return bool(failure) and failure.kind == "TypeError" and "argument" in failure.text


def _grade(exercise, function, also=()):
    cases = exercise.all_cases()
    if lacks_default(exercise, function):
        return _grade(exercise, with_default(exercise, function), (*also, generic.NO_DEFAULT))
    bound = [i for i, case in enumerate(cases) if binds(function, case.args)]
    if not bound:
        problem = wrong_parameters(exercise, function)
        return Grade("error", (), message.wrap(f"{exercise.name}: not yet. {problem}"))
    clock = Clock(exercise.seconds) if exercise.seconds else Clock()
    seen = []
    for i in bound:
        if cases[i].unless():
            continue
        seen.append(run_case(exercise, function, cases[i], i, clock, seed=len(seen)))
        if len(seen) == 1 and not_attempted(function, seen[0]):
            return _not_attempted(exercise)
        if clock.over or _hopeless(seen[-1]):
            break
    return judge(exercise, function, seen, len(bound), clock, also)


def _hopeless(seen):
    """Nothing that more cases could add to."""
    ends = ("TimeUp", "Blocked", "SystemExit", "KeyboardInterrupt", "NameError", "UnboundLocalError",
            "RecursionError", "MemoryError")
    return bool(seen.failure and seen.failure.kind in ends) or bool(seen.other and not seen.values)


def judge(exercise, function, seen, n_bound, clock, also):
    """The grade for what was seen, with the mistakes that are known before."""
    cases = exercise.all_cases()
    if _hopeless(seen[-1]):
        return _hopeless_grade(exercise, seen)
    first = next((s for s in seen if s.index == exercise.screen()), seen[0])
    again, makers = run_again(exercise, function, first, clock)
    if _differ(first, again):
        finding = Finding([], generic={generic.RANDOM.name: generic.RANDOM})
        return Grade("incorrect", message.names(finding), _message(exercise, seen, finding, show=False))
    choose_terms(exercise, seen)
    finding = explain(exercise, seen, (
        functools.partial(_by_numbers, function), functools.partial(by_formula, function, clock)))
    if generic.INEXACT in finding.generic.values() and narrows(function):
        finding.generic["imprecise"] = generic.IMPRECISE
    finding.generic.update((mistake.name, mistake) for mistake in also)
    if makers and makes_the_answer(exercise, function, first, clock):
        right = all(matches(exercise, one) and not one.marks for one in seen if one.case.dtype == "float64")
        if right:
            finding = Finding([], generic={"ready-made": ready.ready_made(makers[0], True)}, explained=True)
            return Grade("incorrect", message.names(finding), _message(exercise, seen, finding, show=False))
        finding.generic["ready-made"] = ready.ready_made(makers[0], False)
    elif any(isinstance(arg, np.ndarray) for arg in first.case.args) and any(
            np.shares_memory(a, b) for a, b in zip(first.arrays, again.arrays)):
        finding.generic[generic.ONE_BUFFER.name] = generic.ONE_BUFFER
    if n_bound < len(cases):
        finding.generic[generic.NO_AXIS.name] = generic.NO_AXIS
    elif refuses_name(exercise, function, seen, clock):
        finding.generic[generic.RENAMED.name] = generic.RENAMED
    for audit in exercise.audits:
        found = audit(lambda *args: call(function, list(args), clock, around=exercise.around, silent=True))
        if found:
            finding.generic[found.name] = found
    if finding.correct and not finding.generic:
        return _correct(exercise, cases)
    screen = exercise.screen()
    failed = any(s.failure for s in seen if s.index == screen)
    status = "error" if failed else "incorrect"
    letters = "" if finding.explained or finding.sets else in_letters(exercise, function, clock)
    return Grade(status, message.names(finding), _message(exercise, seen, finding, letters=letters))


def _by_numbers(function, exercise, seen, finding):
    """(matcher, finding) if the numbers in the learner's code explain more than those of the entries."""
    numbers = numbers_in(function)
    if not numbers or not any(mistake.numbers for mistake in exercise.mistakes):
        return None
    matcher = Matcher(exercise.with_numbers(numbers), seen)
    second = matcher.finding()
    better = second.explained or bool(second.sets) and len(second.leftover) < len(finding.leftover)
    return (matcher, second) if better else None


def run_again(exercise, function, first, clock, changed=False):
    """(what is seen of a second call, the ready-made functions that may have made its answer)."""
    watch = ready.Watch(exercise, changed)

    @contextlib.contextmanager
    def around():
        with exercise.around(), watch.around(function):
            yield

    again = run_case(exercise, watch.of(function), first.case, first.index, clock, seed=1000, around=around)
    return again, watch.makers(exercise, learners_copy(exercise, first.case), first.values)


def makes_the_answer(exercise, function, first, clock):
    """Whether the answer changes with what a ready-made function gives back."""
    again, _ = run_again(exercise, function, first, clock, changed=True)
    return not again.failure and _differ(first, again)


def _differ(first, again):
    """Whether two calls with the same input gave something else."""
    if not first.values or len(again.values) != len(first.values):
        return bool(first.values) != bool(again.values)
    return not all(a.shape == b.shape and close_rows(a, b, tolerance(first.case, d, False)).all()
                   for a, b, d in zip(again.values, first.values, first.dtypes))


# ---------------------------------------------------------------- messages

def _not_attempted(exercise):
    text = (f"{exercise.name}: not attempted yet. Replace the ... in the cell above; "
            f'hint("{exercise.name}") gives a first step.')
    return Grade("not attempted", (), message.wrap(text))


def _correct(exercise, cases):
    aspects = message.aspects_text(dict.fromkeys(case.aspect for case in cases))
    return Grade("correct", (), message.wrap(f"{exercise.name}: correct. Tried: {aspects}."))


def _hopeless_grade(exercise, seen):
    last = seen[-1]
    lines = [f"{exercise.name}: not yet."]
    if last.failure:
        lines += ["", *message.error_lines(last.failure, exercise), *message.printed_lines(last.printed)]
        ended = {"TimeUp": ("endless loop",)}.get(last.failure.kind, ())
        return Grade("error", ended, message.wrap("\n".join(lines)))
    if last.other == "None":
        mistake = generic.PRINTED if last.printed.strip() else generic.NO_RETURN
        lines += ["", f"What it does: {mistake.does}", f"The mistake: {mistake.name}. {mistake.why}",
                  "", f"Ask yourself: {mistake.ask}"]
        return Grade("incorrect", (mistake.name,), message.wrap("\n".join(lines)))
    expected = f"({', '.join(exercise.outputs)})" if exercise.outputs else "one array or number"
    expected = "a list of arrays" if exercise.in_list else expected
    lines += ["", f"It returns {last.other}; expected {expected}.", *message.printed_lines(last.printed)]
    known = [mistake for mistake in last.marks.values()
             if mistake in (generic.PARTS_MISSING, generic.ENTRIES_MISSING, generic.NO_LIST)]
    lines += [line for m in known for line in (f"The mistake: {m.name}. {m.why}", "", f"Ask yourself: {m.ask}")]
    return Grade("incorrect", tuple(m.name for m in known), message.wrap("\n".join(lines)))


def _message(exercise, seen, finding, show=True, letters=""):
    """The message; only the first mistake is said where there are more than two, or too many lines."""
    named = len(message.common(finding.sets)[0]) + len(finding.generic)
    text = _text(exercise, seen, finding, show, letters, first=named > 2)
    if text.count("\n") >= message.MOST_LINES:
        text = _text(exercise, seen, finding, show, letters, first=True)
    if text.count("\n") >= message.MOST_LINES:
        text = _text(exercise, seen, finding, False, letters, first=True)
    return text


def _text(exercise, seen, finding, show, letters, first):
    lines = [f"{exercise.name}: not yet.", ""]
    wrong = _wrong(exercise, seen)
    screen = next((s for s in seen if s.index == exercise.screen()), seen[0])
    named = bool(finding.sets and finding.sets[0]) or bool(finding.generic)
    failed = [s for s in seen if s.failure]
    shown = screen.failure or (failed[0].failure if failed and not named else None)
    telling = _telling(exercise, seen, finding, wrong)
    if shown and show and telling:  # the shapes in its text are those of the input that is shown
        shown = seen[message.first_to_show(seen, telling)].failure or shown
    if shown:
        lines += [*message.error_lines(shown, exercise, named), ""]
    lines += message.mistake_lines(finding, first)
    if letters:
        lines += [f"What it does: {letters}", ""]
    elif not (first and named):
        lines += _unexplained(exercise, seen, finding, wrong, shown)
    if show:
        text = message.smallest(exercise, seen, telling)
        lines += [text, ""] if text else []
    lines += message.questions(finding, 1 if first else 2)
    lines += message.printed_lines(seen[0].printed)
    return message.wrap("\n".join(lines).strip("\n"))


def _telling(exercise, seen, finding, wrong):
    """The wrong cases that show what is named: every named mistake if one case can."""
    chosen = finding.sets[0] if finding.sets else ()
    numbers = [exercise.mistakes.index(mistake) for mistake in chosen if mistake in exercise.mistakes]

    def shows(k):
        return all(any(shown_by(exercise, ((i, j),), seen[k])
                       for j in range(len(exercise.mistakes[i].variants))) for i in numbers)

    explained = [k for k in wrong if seen[k].case.aspect not in finding.leftover]
    return [k for k in explained if shows(k)] or explained or wrong


def _wrong(exercise, seen):
    """The numbers of the cases whose answer is not the expected one, in any respect."""
    return [k for k, one in enumerate(seen) if one.marks or not matches(exercise, one)]


def matches(exercise, one):
    """Whether the values of one case are the expected ones."""
    return bool(one.values) and all(
        a.shape == b.shape and close_rows(a, b, tolerance(one.case, d, one.case.extreme)).all()
        for a, b, d in zip(one.values, exercise.predict((), one.index), one.dtypes))


def _unexplained(exercise, seen, finding, wrong, shown):
    """What can be said of what no known mistake explains."""
    if finding.explained:
        return []
    left = [k for k in wrong if seen[k].case.aspect in finding.leftover]
    covered = {m.name for m in finding.generic.values()}
    known = {**generic.ASPECTS, **exercise.aspects}
    left = [k for k in left if getattr(known.get(seen[k].case.aspect), "name", None) not in covered]
    if not left:
        return []
    one = max(left, key=lambda k: (seen[k].index == exercise.screen(), -k))
    right = [s.case.aspect for k, s in enumerate(seen) if k not in wrong]
    right = [a for a in dict.fromkeys(right)
             if a not in {seen[k].case.aspect for k in wrong} and a not in (FLOAT16, FLOAT32)]
    wrong_aspects = message.aspects_text(dict.fromkeys(seen[k].case.aspect for k in left))
    lines = [] if finding.sets and finding.sets[0] else [
        f"Right for: {', '.join(right)}. Wrong for: {wrong_aspects}."] if right else []
    lead = f"What it does, for {seen[one].case.aspect}:" if finding.sets else "What it does:"
    plain_cases = [seen[k] for k in left if seen[k].case.aspect == PLAIN]
    same_kind = message.factors(plain_cases, [exercise.predict((), s.index) for s in plain_cases])
    wanted = exercise.predict((), seen[one].index)
    said = [same_kind] if same_kind else message.properties(seen[one], wanted, exercise.part_names(wanted))
    if said and not (shown and seen[one].failure):
        lines.append(f"{lead} {' '.join(said)}")
    return lines + [""] if lines else []


# ---------------------------------------------------------------- the session

_hints_given = {}
_done = set()


def check(name, function=NOT_GIVEN):
    """Print what is right or wrong about an answer, which mistake it is, and what a right kernel would cost."""
    result = grade(name, function)
    print(result.message)
    if result.status == "correct":
        name, function = (function, name) if isinstance(function, str) else (name, function)
        _done.add(name)
        text = costs(exercises()[name], function)
        if text:
            print(f"\n{text}")


def costs(exercise, function):
    """What a right answer would cost on a chip, as text; it stays right whatever becomes of that."""
    if exercise.costs is None:
        return ""
    clock = Clock(exercise.seconds)
    try:
        text = exercise.costs(lambda *args: call(function, list(args), clock, around=exercise.around, silent=True))
    except Exception as error:
        text = f"What it would cost on a chip could not be found out. {type(error).__name__}: {error}"
    return message.wrap(text)


def hint(name):
    """Print the next hint of an exercise; the last one stays."""
    exercise, problem = usable_name(name)
    if exercise is None:
        print(message.wrap(problem))
        return
    given = min(_hints_given.get(name, 0) + 1, len(exercise.hints))
    _hints_given[name] = given
    print(hint_text(exercise, given))


def hint_text(exercise, number):
    """What hint() prints for the hint of this number, counted from 1."""
    last = ", the last" if number == len(exercise.hints) else ""
    return message.wrap(f"{exercise.name}, hint {number} of {len(exercise.hints)}{last}: "
                        f"{exercise.hints[number - 1]}")


def status(part=None):
    """Print which exercises are done in this session, of one part of the book or of all."""
    known = exercises().values()
    parts = dict.fromkeys(exercise.part for exercise in known)
    if part is not None and part not in parts:
        print(message.wrap(f'There is no part called "{part}". The parts are: {"; ".join(parts)}.'))
        return
    chosen = [exercise for exercise in known if part in (None, exercise.part)]
    width = max(len(exercise.name) for exercise in chosen)
    for name in dict.fromkeys(exercise.part for exercise in chosen):
        print(name)
        for exercise in (e for e in chosen if e.part == name):
            print(f"  {exercise.name:{width}}  {'done' if exercise.name in _done else 'not done'}")
    print(f"{sum(e.name in _done for e in chosen)} of {len(chosen)} done.")
