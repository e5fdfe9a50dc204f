"""Mistakes that every exercise shares: they are found apart from the values, and named together
with any other."""

import ast
import builtins
import textwrap
from dataclasses import dataclass, replace

from ..model import FLOAT16, FLOAT32, LEADING, SQUARE, Mistake


@dataclass(frozen=True, eq=False)
class DtypeMistake(Mistake):
    """A mistake in the answer's dtype: told in two sentences, after everything about its values."""


# what may have widened an answer, by the library and the dtype: a kind of step in the code, and
# what is said of it
NEW = (
    "zeros", "ones", "empty", "full", "eye", "identity", "linspace", "tri", "tensor"
)  # fmt: skip
OF_A_NUMBER = ("sqrt", "log", "log2", "exp", "power", "float64", "array", "asarray", "where")
WIDER = {
    ("numpy", "float64"): {
        "new": "a new array (np.{0} makes float64 if no dtype is given)",
        "integers": "integers (with float32 they make float64)",
        "number": "a NumPy number (np.{0} of a Python number is float64)",
        "chosen": "an array of Python numbers (np.{0} of two of them makes float64)",
        "conversion": "a conversion to float64",
        "list": "a list of Python numbers (np.{0} of it is float64 if no dtype is given)",
        "positions": "arithmetic with the integers that {0} gives",
    },
    ("numpy", "float32"): {
        "conversion": "a conversion to float32",
        "attnlib": "what attnlib.{0} gives back",
        "lse": "the log-sum-exp, which attnlib keeps in float32 or wider",
    },
    ("torch", "float32"): {
        "new": "a new tensor (torch.{0} makes float32 if no dtype is given)",
        "conversion": "a conversion to float32",
    },
    ("torch", "float64"): {"conversion": "a conversion to float64"},
}


def _steps(tree, dtype, library, scalars):
    """(kind, name) of the steps in the code that may make this dtype."""
    module = "torch" if library == "torch" else "np"
    numbers = _python_numbers(tree) | set(scalars)
    parameters = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    # what these give back are Python's numbers, which may end in a list
    names = [ast.unparse(one) for one in called]
    listed = any(one.startswith(("math.", "float")) or one.endswith(".item") for one in names)
    compared = {
        part for node in ast.walk(tree) if isinstance(node, ast.Compare) for part in ast.walk(node)
    }
    indices = {
        part
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        for part in ast.walk(node.slice)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name, owner = node.func.attr, ast.unparse(node.func.value)
            places = 2 + (name in ("full", "tensor"))  # where a dtype may stand without its name
            given = any(word.arg in ("dtype", None) for word in node.keywords)
            other = name in ("eye", "where")  # their second argument is something else
            given = given or library == "numpy" and len(node.args) >= places and not other
            if owner == module and name in NEW and not (given and name != "linspace"):
                yield "new", "full with a float" if (name, module) == ("full", "np") else name
            if name in ("arange", "indices", "argsort", "cumsum") and node not in compared:
                yield "integers", name
            if name in ("argmax", "argmin") and node not in indices:
                yield "positions", name
            chosen = node.args[1:] if name == "where" else node.args
            number = bool(chosen) and all(_is_number(arg, numbers) for arg in chosen)
            if owner == module and name in OF_A_NUMBER and number and not given:
                yield "chosen" if name == "where" else "number", name
            elif (
                name in ("array", "asarray")
                and owner == module
                and listed
                and not (given or node.args and ast.unparse(node.args[0]) in parameters)
            ):
                yield "list", name
            elif name in (dtype, {"float64": "double", "float32": "float"}[dtype]):
                yield "conversion", name
            if owner == "attnlib":
                yield "attnlib", name
        elif node in called or node in compared:
            continue
        elif isinstance(node, ast.Attribute) and node.attr in (dtype, "double"):
            yield "conversion", node.attr
        elif isinstance(node, ast.Constant) and node.value in (dtype, "f8", "f4"):
            yield "conversion", dtype
        elif isinstance(node, ast.Name) and node.id == "float" and dtype == "float64":
            yield "conversion", dtype
        elif isinstance(node, ast.arg) and node.arg == "lse":
            yield "lse", "lse"


def _assigned(node):
    """(target, value) of an assignment; of `a, b = c, d` one for each name."""
    for target in node.targets:
        if (
            isinstance(target, ast.Tuple)
            and isinstance(node.value, ast.Tuple)
            and len(target.elts) == len(node.value.elts)
        ):
            yield from zip(target.elts, node.value.elts)
        else:
            yield target, node.value


def _python_numbers(tree):
    """The names that hold Python numbers: lengths, and what is computed of them."""
    numbers, others = set(), set()
    for _ in range(2):  # a name may be made of an earlier one
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                for target, value in _assigned(node):
                    found = numbers if _is_number(value, numbers) else others
                    names = (n for n in ast.walk(target) if isinstance(n, ast.Name))
                    found.update(name.id for name in names)
        others -= numbers
    return numbers


def _is_number(node, numbers):
    """Whether an expression is made only of numbers and lengths."""
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float)
    if isinstance(node, ast.Name):
        return node.id in numbers
    if isinstance(node, ast.Attribute):
        return node.attr in ("shape", "size", "ndim", "inf", "pi", "e")
    if isinstance(node, ast.Subscript):
        return _is_number(node.value, numbers)
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func)
        return name in ("len", "int", "float") or name.startswith("math.")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        return _is_number(node.left, numbers)  # shape[-1] // n_heads
    parts = [getattr(node, name, None) for name in ("left", "right", "operand")]
    parts = [part for part in parts if part is not None]
    return bool(parts) and all(_is_number(part, numbers) for part in parts)


def _suspects(dtype, library, code, scalars):
    """A sentence on what in the code may have widened the answer; `scalars` are the parameters that
    are single numbers.
    """
    known, found = WIDER.get((library, dtype), {}), {}
    try:
        tree = ast.parse(textwrap.dedent(code))
    except SyntaxError:  # a lambda in the middle of something
        tree = ast.Module([], [])
    for kind, name in _steps(tree, dtype, library, scalars):
        found.setdefault(kind, known.get(kind, "").format(name))
    said = [found[kind] for kind in known if kind in found]
    if said:
        return f"That may come from {', or from '.join(said[:2])}."
    nodes = list(ast.walk(tree))
    elsewhere = any(  # a function of the learner's own, whose lines aren't here
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and not hasattr(builtins, node.func.id)
        for node in nodes
    )
    if library == "numpy" and not elsewhere and any(isinstance(node, ast.Div) for node in nodes):
        return "That may come from arithmetic with integers or booleans, such as a division."
    return f"Something in your function is {dtype}, and a result is as wide as the widest."


def leaks(dtype, library="numpy", code="", scalars=(), wide_inside=False, part=False):
    kind = "tensor" if library == "torch" else "array"
    why = _suspects(dtype, library, code, scalars)
    ask = f"Which {kind} or number in your function is {dtype}?"
    if wide_inside:
        why = (
            "The exercise computes in a wider dtype inside, so the answer has to be converted at"
            " the end."
        )
        ask = "Which line of your function gives the answer the dtype of the inputs?"
    answer = "Part of the answer" if part else "The answer"
    does = f"{answer} is {dtype}, which is wider than it should be."
    return DtypeMistake(f"{dtype} leaks out", does=does, why=why, ask=ask)


def narrower(dtype, want):
    return DtypeMistake(
        "narrower dtype",
        does=f"The answer is {dtype}, but it should be {want}.",
        why=f"Digits that {want} holds are lost.",
        ask="Which of your lines fixes a dtype, and which dtype should the answer have?",
    )


def fixed_dtype(dtype):
    return DtypeMistake(
        "fixed dtype",
        does=f"A result is always {dtype}, but its dtype should follow the arguments.",
        why="A wider dtype is narrowed that way, and a narrower one is widened.",
        ask="Where does your function fix a dtype instead of taking one from its arguments?",
    )


def integer(dtype, want):
    name, limit = "integer dtype", "can't hold fractions"
    if dtype == "bool":
        name, limit = "boolean dtype", "holds only two values"
    return DtypeMistake(
        name,
        does=f"The answer is {dtype}, which {limit}.",
        why=f"It should be {want}.",
        ask="Which array did you create, and what dtype did it get?",
    )


def not_boolean(dtype):
    return DtypeMistake(
        "not boolean",
        does=f"The mask holds numbers, as {dtype}, instead of True and False.",
        why="Only a boolean mask selects entries, and only there is ~mask the opposite mask.",
        ask="Which expression gives True and False directly?",
    )


def another_dtype(part, dtype, want):
    """One part of the answer has its own dtype."""
    return DtypeMistake(
        f"{part} of another dtype",
        does=f"Your {part} come as {dtype}, but they should be {want}.",
        why="The exercise fixes the dtype of this part, whatever the arguments are.",
        ask=f"Which of your lines converts to {want}, and what does it convert?",
    )


BOOLEAN_BIAS = Mistake(
    "additive mask in a boolean array",
    does="Your code names -inf, but it returns a boolean array, which stores -inf as True.",
    why="A boolean array can't hold -inf, and a mask that says who may attend doesn't need it.",
    ask="What is the dtype of the array that you write -inf into?",
)


def axes_kept(number):
    """The answer has this many axes of length 1 too many."""
    does = f"The answer has {number} axes of length 1 too many."
    return AXIS_KEPT if number == 1 else replace(AXIS_KEPT, does=does)


AXIS_KEPT = Mistake(
    "axis kept",
    does="The answer has an axis of length 1 too many.",
    why="An axis of length 1 broadcasts later on, where nobody expects it.",
    ask="Which of your lines adds an axis of length 1, or keeps one that should go?",
)

AXIS_DROPPED = Mistake(
    "axis dropped",
    does="An axis of length 1 is missing from the answer.",
    why="Without it the answer no longer lines up with the arrays it is used with.",
    ask="Which axes should the answer have, and which of them has length 1?",
)

LIST = Mistake(
    "list instead of an array",
    does="The numbers come in a list or a tuple instead of an array.",
    why="A list has no shape, no dtype and no arithmetic.",
    ask="Which NumPy function turns it into an array?",
)

MATRIX = Mistake(
    "np.matrix instead of an array",
    does="The answer is an np.matrix.",
    why=(
        "An np.matrix always has two axes, and its * is a matrix product. NumPy keeps it only for"
        " old code."
    ),
    ask="Which line makes a matrix, and what would an array do there?",
)

TRAILING_COMMA = Mistake(
    "trailing comma",
    does="The answer comes inside a tuple.",
    why=(
        "In Python a comma makes a tuple, even at the end of a return line: return x, is return"
        " (x,)."
    ),
    ask="What is at the very end of your return line?",
)

IN_A_LIST = Mistake(
    "list around the answer",
    does="The answer comes inside a list.",
    why="Square brackets make a list. To return the value itself, leave them out.",
    ask="Which brackets are there around what you return?",
)

TENSOR = Mistake(
    "torch tensor instead of an array",
    does="The answer is a torch tensor.",
    why="The input is a NumPy array, so the answer must be one too.",
    ask="Which library made your result?",
)

ARRAY = Mistake(
    "NumPy array instead of a tensor",
    does="The answer is a NumPy array.",
    why="The input is a torch tensor, so the answer must be one too, on the same device.",
    ask="Where does your function leave torch?",
)

DEVICE = Mistake(
    "other device",
    does="The answer is on another device than the input.",
    why="A tensor on another device can't be combined with the input's.",
    ask="Which tensor did you create without naming a device?",
)

EXTRA = Mistake(
    "extra value returned",
    does="The function returns something else along with the answer.",
    why="The code that calls the function expects only the answer.",
    ask="What comes after your return?",
)

ARRAY_OF_WORDS = Mistake(
    "NumPy array instead of a list",
    does="The words come in a NumPy array.",
    why="The exercise asks for a list, like the one that the words came in.",
    ask="Which type does your function return, and which method of an array makes a list of it?",
)

NOT_ADDED = Mistake(
    "parts not added",
    does="The function returns several numbers, and their sum is what the exercise asks for.",
    why="The code that calls the function expects one number.",
    ask="Which sign turns these parts into one number?",
)

OVERWRITTEN = Mistake(
    "argument overwritten",
    does="The function changes an array that it was given.",
    why=(
        "The caller's own array changes without anybody noticing. +=, *=, out= and assignments "
        "to x[...] write into the array itself, even through a second name (y = x copies nothing)."
    ),
    ask="Which line writes into an array that your function didn't make?",
)

LIST_CHANGED = Mistake(
    "list overwritten",
    does=(
        "A list that the function was given holds other entries afterwards, or the same ones in"
        " another order."
    ),
    why=(
        "The caller's own list changes without anybody noticing: pop, append, insert and "
        "assignments to x[i] write into the list itself."
    ),
    ask="Which line writes into a list that your function didn't make?",
)

RAISES = Mistake(
    "floating-point errors raised",
    does=(
        "The function makes NumPy raise exceptions for floating-point errors, with np.errstate or "
        "np.seterr. It was tried without that."
    ),
    why=(
        "An exponential that underflows to 0 is right, but it would end the function. Besides, "
        "NumPy raises nothing on a machine without floating-point flags, such as a browser."
    ),
    ask=(
        "What should your function return where NumPy would raise an exception, and which line does"
        " that?"
    ),
)

RANDOM = Mistake(
    "another answer each time",
    does="Called twice with the same input, the function returned two different answers.",
    why="The answer must depend only on the arguments.",
    ask="Does the function draw random numbers, or keep something from the previous call?",
)

ONE_BUFFER = Mistake(
    "one array for all answers",
    does="Every call returns the same memory, so the next call changes the previous answer.",
    why=(
        "If you call the function twice, you want two answers, but you would find the second one in"
        " both places."
    ),
    ask="Where do you create the array that you return, and how often?",
)

PARTS_MISSING = Mistake(
    "parts missing",
    does="The answer has fewer parts than it should.",
    why="The code that calls the function unpacks all of them, in order.",
    ask="Which arrays must come after your return?",
)

NONE_AS_A_PART = Mistake(
    "None as a part",
    does="One of the parts is None.",
    why="Every part is asked for in every case, whatever the other parts are.",
    ask="Which line of your function makes None a part, and what should that part be?",
)

NO_LIST = Mistake(
    "one array instead of a list",
    does="The function returns one array rather than a list of arrays.",
    why=(
        "The parts may differ in length, and each belongs to its own rank, so each is an array in"
        " the list."
    ),
    ask="How many arrays should the answer hold, and what is the shape of each?",
)

ENTRIES_MISSING = Mistake(
    "entries missing",
    does="The list has fewer entries than there are parts.",
    why="Each part has its own answer, at the same place in the list as in the arguments.",
    ask="How many entries must the list have, and which line puts them there?",
)

NO_RETURN = Mistake(
    "no return",
    does="The function returns None.",
    why="Without a return statement, a function's result is None, whatever it has computed.",
    ask="What is the last line of your function?",
)

NONE_RETURNED = Mistake(
    "None returned",
    does="The function returns None, although it has a return line.",
    why=(
        "Functions that work in place, such as np.fill_diagonal, np.put_along_axis, list.append"
        " and a list's or an array's sort, return None."
    ),
    ask="What does the expression after your return give back, and which array did it change?",
)

PRINTED = Mistake(
    "printed instead of returned",
    does="The function prints something and returns None.",
    why="print shows a value to a reader, but only return hands it to the program.",
    ask="What is the last line of your function?",
)

IMPRECISE = Mistake(
    "computed in lower precision",
    does="The answer is right to 7 digits at best, although float64 has 16.",
    why="A step in float32 loses the digits for good, even if the result is widened again.",
    ask="Where does your function fix a dtype instead of taking the input's?",
)

INEXACT = Mistake(
    "right to some digits only",
    does="The answer is right to 7 digits at best, although float64 has 16.",
    why=(
        "Something along the way isn't exact: for example an epsilon, a constant with few digits, "
        "a difference quotient, or a step in a narrower dtype."
    ),
    ask="Which number or step in your function isn't exact?",
)

SAME_FOR_ALL = Mistake(
    "same number for all arguments",
    does="The answer doesn't depend on the arguments.",
    why="The right answer isn't the same for all arguments.",
    ask="How should the answer change if one of the arguments becomes twice as large?",
)

ESTIMATED = Mistake(
    "estimated from random numbers",
    does="The answer is measured on random numbers, so it's near the right one at best.",
    why="However many numbers are drawn, an estimate is off by a little.",
    ask="Which formula gives the exact value?",
)

READ_TWICE = Mistake(
    "iterable read twice",
    does="The function goes through its iterable a second time, and finds it empty.",
    why="An iterator yields each block once, and a stream can't be rewound.",
    ask="What do you need to remember about the earlier blocks when the next one comes?",
)

PARAMETER_ORDER = Mistake(
    "parameters in another order",
    does=(
        "Called with named arguments, the function is right. Called by position, it takes one "
        "argument for another."
    ),
    why="The arguments are passed by position, in the order of the exercise's signature.",
    ask="In which order does the exercise's signature list the parameters?",
)

RENAMED = Mistake(
    "optional parameter renamed",
    does=(
        "The last argument can be passed by position, but not by the name that the signature"
        " gives it."
    ),
    why="A parameter with a default is usually passed by name, as in axis=0.",
    ask="What is the last parameter called in the exercise's signature, and in yours?",
)

NO_DEFAULT = Mistake(
    "no default",
    does="The function can't be called without its last argument.",
    why="The signature gives that parameter a default, the value after the equals sign.",
    ask="How does the exercise's signature write its last parameter?",
)

NO_AXIS = Mistake(
    "axis missing",
    does="The function can't be called with an axis.",
    why="The signature has a second parameter, the axis to work along.",
    ask="Which numbers in your function should depend on the axis?",
)

TWO_AXES = Mistake(
    "only for two axes",
    does="The numbers are right for two axes, but not with leading (batch, head) axes.",
    why=(
        "Attention runs on whole batches of heads at once: the last two axes are the "
        "matrix, and all others are carried along."
    ),
    ask="Which of your lines count the axes from the front, or expect exactly two?",
)

NO_LEADING_AXES = replace(
    TWO_AXES,
    name="only without leading axes",
    does="The numbers are right without leading axes in front, but not with them.",
    why="There may be any number of leading axes, or none, and they are all carried along.",
    ask="Which of your lines count the axes from the front, or expect a fixed number of them?",
)

TWO_AXES_BESIDES = replace(
    TWO_AXES, does="With leading (batch, head) axes the answer is wrong in another way."
)

THREE_AXES = Mistake(
    "only for three axes",
    does=(
        "For three axes the function works, but for any other number of axes it stops with an"
        " error."
    ),
    why=(
        "There may be any number of leading (batch, head) axes, or none: the last two are the"
        " matrix."
    ),
    ask="Which of your lines count the axes from the front, or expect exactly three?",
)

LEADING_FORGOTTEN = Mistake(
    "leading axes forgotten",
    does="With leading (batch, head) axes the function stops, or returns another shape.",
    why=TWO_AXES.why,
    ask=TWO_AXES.ask,
)

ONLY_SQUARE = Mistake(
    "only for equal sizes",
    does=(
        "The numbers are right if the sizes are equal, but on ordinary input it stops or returns"
        " another shape."
    ),
    why="Sizes that happen to be equal in one input differ in another.",
    ask="Which two sizes does your function mix up?",
)


def only_where(condition):
    """Right for some sizes only."""
    return Mistake(
        f"only for {condition}",
        does=(
            "Of all inputs that were tried, the function is right exactly for those with"
            f" {condition}."
        ),
        why="It has to be right for all sizes that the signature allows.",
        ask="Which of your lines assumes something about the sizes?",
    )


ASPECTS = {LEADING: TWO_AXES, FLOAT32: None, FLOAT16: None, SQUARE: None}


def aspects_of(exercise):
    """{aspect: the mistake of an answer that is wrong only there, or None}."""
    most = max((len(labels.split()) for labels in exercise.axes.values()), default=2)
    leading = {} if most == 2 else {LEADING: NO_LEADING_AXES}
    return {**ASPECTS, **leading, **exercise.aspects}
