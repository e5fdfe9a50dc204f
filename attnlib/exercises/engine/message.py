"""Writes what was found as plain text that can be read aloud."""

import itertools
import re
import textwrap

import numpy as np

from ..model import PLAIN, Once
from .explain import close_rows, fit_shape, tolerance
from .numbers import factor

WIDTH = 76
MOST_LINES = 25
READABLE = 16  # numbers of one array that a message shows


def wrap(text, indent=""):
    """Lines of at most 76 columns; lines that start with two spaces stay as they are."""
    lines = []
    for line in text.split("\n"):
        if line.startswith("  "):
            lines.append(line)
        else:
            lines += textwrap.wrap(line, WIDTH, initial_indent=indent, subsequent_indent=indent,
                                   break_long_words=False, break_on_hyphens=False) or [""]
    return "\n".join(lines)


# ---------------------------------------------------------------- numbers

def number(x, digits=3):
    """A number as short as it can be read; whole ones without a point."""
    if isinstance(x, (bool, np.bool_)):
        return str(bool(x))
    if isinstance(x, (int, np.integer)):
        return str(x)
    x = float(x)
    if not np.isfinite(x):
        return "NaN" if np.isnan(x) else ("inf" if x > 0 else "-inf")
    if x == int(x) and abs(x) < 1e7:
        return str(int(x))
    if abs(x) < 1e-14:
        return "0" if digits == 3 else f"{x:.{digits}g}"
    if 1e-3 <= abs(x) < 1e6:
        places = max(digits - 1 - int(np.floor(np.log10(abs(x)))), 0) if abs(x) >= 1 else digits
        text = f"{x:.{places}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{x:.{digits}g}"


def rows(array, digits=3):
    """An array as nested lists."""
    array = np.asarray(array)
    if array.ndim == 0:
        return number(array[()], digits)
    return "[" + ", ".join(rows(item, digits) for item in array) + "]"


def argument(name, value, about_dtype=False, digits=6):
    """One argument as text: its numbers if they are few, else its shape; its dtype where that matters."""
    if isinstance(value, Once):
        return f"{name} = {', '.join(rows(item, 6) for item in value.items)} (read one by one)"
    if isinstance(value, list):
        return _arguments(name, value)
    if isinstance(value, type):
        return f"{name} = np.{value.__name__}"
    if not isinstance(value, np.ndarray):
        return f"{name} = {value}"
    told = value.dtype.kind == "f" and (about_dtype or value.dtype != np.float64)
    dtype = f" ({value.dtype})" if told else ""
    view = "" if value.flags.c_contiguous else ", not contiguous: the axes lie in another order in memory"
    if value.size > READABLE:
        return f"{name} of shape {value.shape}{dtype}{view}"
    return f"{name} = {rows(value, digits)}{dtype}{view}"


def _arguments(name, arrays):
    """An argument that is a list of arrays."""
    if sum(array.size for array in arrays) > READABLE:
        return f"{name}, arrays of shapes {', '.join(str(array.shape) for array in arrays)}"
    return f"{name} = [{', '.join(rows(array, 6) for array in arrays)}]"


def indented(line):
    """A line of numbers, broken between rows if it is too long."""
    if len(line) + 2 <= WIDTH:
        return "  " + line
    return "\n".join(textwrap.wrap(line, WIDTH, initial_indent="  ", subsequent_indent="    ",
                                   break_long_words=False, break_on_hyphens=False))


# ---------------------------------------------------------------- the smallest input that shows it

def smallest(exercise, seen, wrong):
    """The lines that show the smallest wrong case: input, what was returned, what was expected."""
    if not wrong:
        return ""
    one = first_to_show(seen, wrong)
    case = seen[one].case
    about_dtype = exercise.dtype == "input" and any(dtype not in ("", case.dtype) for dtype in seen[one].dtypes)
    digits = 10 if _alike(case.args) else 6
    arguments = [argument(name, value, about_dtype, digits) for name, value in zip(exercise.parameters, case.args)]
    lines = ["Smallest input that shows it:"] + [indented(line) for line in arguments]
    wanted = exercise.predict((), seen[one].index)
    return "\n".join(lines + _difference(exercise, seen[one], wanted))


def _alike(args):
    """Whether two arrays of numbers differ somewhere by less than six digits show."""
    arrays = [arg for arg in args if isinstance(arg, np.ndarray) and arg.dtype.kind == "f"]
    return any(a.shape == b.shape and ((a != b) & np.isclose(a, b, rtol=1e-6, atol=0)).any()
               for a, b in itertools.combinations(arrays, 2))


def first_to_show(seen, wrong):
    """The number of the smallest wrong case; an ordinary input is read first, unless it is too large to read."""
    return min(wrong, key=lambda k: (seen[k].case.size > 2 * READABLE, seen[k].case.aspect != PLAIN,
                                     seen[k].case.size, k))


def _difference(exercise, seen, wanted):
    if seen.failure:
        return [indented(f"stopped with {seen.failure.kind}")] + _expected(exercise, wanted)
    if not seen.values:
        return [indented(f"returned {seen.other}")] + _expected(exercise, wanted)
    if seen.terms or seen.other and all(close_rows(*pair, tolerance(seen.case, "", False)).all() for pair in zip(seen.values, wanted)):
        return [indented(f"returned {seen.other}")] + _expected(exercise, wanted)  # right but for what holds it
    names = exercise.part_names(wanted)
    lines = []
    for name, values, part, dtype in zip(names, seen.values, wanted, seen.dtypes):
        relative = tolerance(seen.case, dtype, seen.case.extreme)
        same = values.shape == part.shape and close_rows(values, part, relative).all()
        if not same or len(names) == 1:
            lines += _two(f" {name} =" if name else "", values, part, dtype, exercise, seen.case, same)
    return lines


def _two(name, values, wanted, dtype, exercise, case, same):
    if same:
        want = "bool" if wanted.dtype == bool else case.dtype
        if dtype and dtype != want and exercise.dtype != "number":
            return [indented(f"returned{name} {_short(values)}, dtype {dtype}"),
                    indented(f"expected{name} the same, dtype {want}")]
        return [indented(f"returned{name} {_short(values)}")]
    if values.size > READABLE or wanted.size > READABLE:
        return _large(name, values, wanted, case, dtype)
    for digits in (3, 6, 9, 12, 15):
        returned, expected = rows(values, digits), rows(wanted, digits)
        if returned != expected:
            break
    shapes = (f", shape {values.shape}", f", shape {wanted.shape}") if values.shape != wanted.shape else ("", "")
    told = exercise.dtype == "input" and dtype not in ("", case.dtype)
    dtypes = (f", dtype {dtype}", f", dtype {case.dtype}") if told else ("", "")
    return [indented(f"returned{name} {returned}{shapes[0]}{dtypes[0]}"),
            indented(f"expected{name} {expected}{shapes[1]}{dtypes[1]}")]


def _short(values):
    return rows(values) if values.size <= READABLE else f"shape {values.shape}"


def _large(name, values, wanted, case, dtype):
    if values.shape != wanted.shape:
        return [indented(f"returned{name} shape {values.shape}"),
                indented(f"expected{name} shape {wanted.shape}")]
    relative = tolerance(case, dtype, case.extreme)
    wrong = ~close_rows(values[..., None], wanted[..., None], relative)
    first = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.any() else (0,) * wrong.ndim
    return [indented(f"{int(wrong.sum())} of {wrong.size} entries differ; the first, at {list(first)}:"),
            indented(f"returned{name} {number(values[first])}"),
            indented(f"expected{name} {number(wanted[first])}")]


def _expected(exercise, wanted):
    names = exercise.part_names(wanted)
    return [indented(f"expected{f' {n} =' if n else ''} {_short(w)}") for n, w in zip(names, wanted)]


# ---------------------------------------------------------------- an answer nobody foresaw

def _right_or_not(values, wanted, relative):
    right = values.shape == wanted.shape and close_rows(values, wanted, relative).all()
    if right:
        return ["right."]
    return ["it is another number." if values.ndim == 0 else "the shape is right, the numbers are not."]


def properties(seen, wanted, names=()):
    """Sentences about an answer that no known mistake explains."""
    if seen.failure:
        return [f"It stops with {seen.failure.kind}."]
    if not seen.values:
        return [f"It returns {seen.other}."]
    found = []
    for name, values, part, dtype in zip(names or [""] * len(wanted), seen.values, wanted, seen.dtypes):
        relative = tolerance(seen.case, dtype, seen.case.extreme)
        found += [f"{name}: {text}" if name else text for text in _part_properties(values, part, relative) or
                  _right_or_not(values, part, relative) * bool(name)]
    alone = len(wanted) == 1 and wanted[0].ndim == 0
    return found[:4] or ["It is another number." if alone else "The shape is right, the numbers are not."]


def factors(seen, wanted):
    """A sentence if all these answers are wrong by a factor, another one from case to case."""
    found = [factor(one.values[0], right[0]) for one, right in zip(seen, wanted)
             if len(one.values) == 1 and one.values[0].size]
    if not any(one.values and one.values[0].size > 1 for one in seen):
        return ""
    if len(found) < 2 or len(found) < len(seen) or None in found or np.allclose(found, found[0]):
        return ""
    some = ", ".join(dict.fromkeys(number(x) for x in found[:3]))
    return f"All entries of an answer are wrong by one factor, and it changes from input to input: {some}."


def _part_properties(values, wanted, relative):
    fitted = fit_shape(values, wanted.shape)
    if fitted is None:
        swapped = values.ndim > 1 and np.swapaxes(values, -1, -2)
        if values.ndim > 1 and swapped.shape == wanted.shape and close_rows(swapped, wanted, 1e-4).all():
            return ["The answer is the expected one with its last two axes swapped."]
        return [f"The answer has shape {values.shape}; expected {wanted.shape}."]
    a, b = fitted.astype(float), wanted.astype(float)
    return [sentence for rule in RULES for sentence in [rule(a, b)] if sentence] + _which_rows(a, b, relative)


def _not_finite(a, b):
    bad = np.isnan(a) & ~np.isnan(b)
    infinite = np.isinf(a) & ~np.isinf(b)
    if a.size == 1:
        return "It is NaN." if bad.any() else "It is infinite." if infinite.any() else ""
    parts = [f"{int(found.sum())} of {found.size} entries are {word}"
             for found, word in ((bad, "NaN"), (infinite, "infinite")) if found.any()]
    return " and ".join(parts) + "." if parts else ""


def _all_the_same(a, b):
    if a.size > 1 and np.isfinite(a).all() and np.ptp(a) == 0 and np.ptp(np.where(np.isfinite(b), b, 0)):
        return f"Every entry is {number(a.flat[0])}."
    return ""


def _factor(a, b):
    found = factor(a, b) if a.size > 1 else None
    if found is None or np.isclose(found, 1):
        return ""
    if np.isclose(found, -1):
        return "Every entry has the wrong sign."
    if number(found) == "1":  # nearly: nothing that a reader could see
        return ""
    return f"Every entry is {number(found)} times the expected one."


def _shifted(a, b):
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return ""
    difference = (a - b).ravel()
    if difference.size > 1 and np.allclose(difference, difference[0], rtol=1e-6) and abs(difference[0]) > 1e-6:
        way = "more" if difference[0] > 0 else "less"
        return f"Every entry is {number(abs(difference[0]))} {way} than the expected one."
    return ""


def _row_factor(a, b):
    if a.ndim < 1 or a.shape[-1] < 2 or not (np.isfinite(a).all() and np.isfinite(b).all()) or (b == 0).any():
        return ""
    ratio = a / b
    if np.allclose(ratio, ratio[..., :1], rtol=1e-6) and not np.allclose(ratio, ratio.flat[0], rtol=1e-6):
        return "Each row is right up to a factor of its own."
    return ""


def _sums(a, b):
    whole = np.isclose(b, np.rint(b), rtol=0)  # positions, or cosines of vectors at right angles
    are_weights = b.ndim > 0 and ((b >= 0) & (b <= 1)).all() and not whole.all()
    if not are_weights or not np.isfinite(a).all() or not np.allclose(b.sum(axis=-1), 1):
        return ""
    if np.allclose(a.sum(axis=-1), 1):
        return "Each row sums to 1, as it should."
    if np.allclose(a.sum(), 1):
        return "All entries together sum to 1; each row should."
    if a.ndim > 1 and np.allclose(a.sum(axis=-2), 1):
        return "Each column sums to 1; each row should."
    sums = a.sum(axis=-1).ravel()
    return f"The first row sums to {number(sums[0])}; each row should sum to 1."


def _tempered(a, b):
    """Whether the weights are those of scores multiplied by a number."""
    if b.ndim < 1 or b.shape[-1] < 2 or not (a > 0).all() or not (b > 0).all():
        return ""
    if not (np.allclose(a.sum(axis=-1), 1) and np.allclose(b.sum(axis=-1), 1)):
        return ""
    found = factor(np.diff(np.log(a)), np.diff(np.log(b)))
    if found is None or np.isclose(found, 1):
        return ""
    way = "more even" if abs(found) < 1 else "more uneven"
    return f"The weights are {way} than they should be: those of scores multiplied by {number(found)}."


def _signs(a, b):
    return "Some entries are negative." if (a < 0).any() and not (b < 0).any() else ""


def _moved(a, b):
    if a.size > 2 and np.isfinite(a).all() and np.isfinite(b).all() and not np.allclose(a, b):
        if np.allclose(np.sort(a.ravel()), np.sort(b.ravel())):
            return "The numbers are the right ones, but in other places."
    return ""


RULES = (_not_finite, _all_the_same, _factor, _shifted, _row_factor, _tempered, _sums, _signs, _moved)


def _which_rows(a, b, relative):
    if a.ndim != 2:
        return []
    right, nearly = close_rows(a, b, relative), close_rows(a, b, 1e-4)
    if (nearly != right).any():  # small errors: no row is plainly wrong
        return []
    if right.any() and not right.all():
        return [f"Wrong in {_listed('row', np.flatnonzero(~right))}; the other rows are right."]
    columns = close_rows(a.T, b.T, relative)
    if columns.any() and not columns.all():
        return [f"Wrong in {_listed('column', np.flatnonzero(~columns))}; the other columns are right."]
    return []


def _listed(axis, numbers, most=6):
    """The numbers of rows or columns as a phrase: "rows 0, 2, 5", and how many more there are."""
    more = f" and {len(numbers) - most} more" if len(numbers) > most else ""
    return f"{axis}{'s'[:len(numbers) > 1]} {', '.join(map(str, numbers[:most]))}{more}"


# ---------------------------------------------------------------- errors

CAUSES = {
    "NameError": "A name that Python does not know: misspelt, or not imported or defined yet in "
                 "a cell above (run that cell first).",
    "UnboundLocalError": "A name is assigned inside the function, so it is local there, and it is "
                         "used before it has a value.",
    "AxisError": "An axis is named that the array does not have. The number of axes is not always "
                 "the same: count from the end, with -1 and -2.",
    "unpack": "A shape is unpacked into a fixed number of names. Leading axes come along: take "
              "the sizes from the end, as in shape[-1] and shape[-2], or *batch, n, d = x.shape.",
    "matmul": "A matrix product needs the last axis of the left array to be as long as the last "
              "but one of the right array. A transposition of the last two axes may be missing.",
    "bmm": "torch.bmm takes tensors of exactly three axes; @ and torch.matmul treat all axes before "
           "the last two as a batch.",
    "bounds": "A kernel does not know where its tensors end. Each load and store of a block that may "
              "reach beyond needs a mask that is False there, as in mask=columns < n.",
    "power": "A block's length must be a power of 2: triton.next_power_of_2(n), with a mask for what lies "
             "beyond.",
    "broadcast": "Two arrays do not line up: axes are aligned from the end, and must be equal there or 1.",
    "axis": "An axis is named that the array does not have, or the axes do not fit the array. "
            "Count axes from the end, with -1 and -2.",
    "index": "An index does not fit the array: too many indices, one beyond the end, or two in each other's place.",
    "reshape": "A reshape must keep the number of entries, leading axes included.",
    "einsum": "The letters of the einsum do not fit the arrays' axes. Three dots at the front, as "
              "in '...id,...jd->...ij', stand for any leading axes.",
    "RecursionError": "The function calls itself without end, or calls another of the same name.",
    "MemoryError": "An array was asked for that is far larger than the answer.",
    "ZeroDivisionError": "Something is divided by zero.",
    "OverflowError": "A number became too large for a Python float: math.exp overflows above 709.",
}


# habits of torch, and what NumPy has for them: by the method that an array does not have, or by what stands in the line
METHODS = {
    "unsqueeze": "x[..., None] or np.expand_dims", "masked_fill": "np.where(mask, value, x)", "permute": "x.transpose(...)",
    "softmax": "np.exp and a sum", "exp": "np.exp(x)", "log": "np.log(x)", "sqrt": "np.sqrt(x)", "abs": "np.abs(x)",
    "matmul": "x @ y", "mm": "x @ y", "bmm": "x @ y", "float": "x.astype(...)", "to": "x.astype(...)", "half": "x.astype(...)",
    "tril": "np.tril(x)", "triu": "np.triu(x)", "logsumexp": "np.log, np.exp and a sum", "amax": "x.max(...)", "norm":
    "np.linalg.norm(x)", "dim": "x.ndim", "numel": "x.size", "expand": "np.broadcast_to", "values": "the maxima themselves",
}
HABITS = (
    (r"\.size\(", "In NumPy x.size is a number, that of all entries; the length of an axis is x.shape[-1]."),
    (r"\.transpose\(-", "NumPy's transpose takes the order of all axes. np.swapaxes(x, -1, -2) swaps two of them, as torch's "
                        "transpose does."),
    (r"\bdim\s*=.*\bkeepdim\s*=", "NumPy calls them axis and keepdims: x.sum(axis=-1, keepdims=True)."),
    (r"keepdim\s*=", "NumPy calls it keepdims: x.sum(axis=-1, keepdims=True)."),
    (r"\bdim\s*=", "NumPy calls it axis: x.sum(axis=-1)."),
    (r"\w\s*,\s*\w+\s*=.*\b(max|min|sort)\(", "NumPy's max gives the largest values alone; their positions come from "
                                              "np.argmax."),
)
REDUCED = re.compile(r"\b(sum|max|min|mean|amax|amin|median|norm|reduce)\(")


def habit(failure):
    """What NumPy has where the learner wrote what torch has, or ''."""
    missing = re.search(r"numpy.* has no attribute '(\w+)'", failure.text)
    if missing:
        return f"A NumPy array has no {missing[1]}; NumPy has {METHODS[missing[1]]}." if missing[1] in METHODS else ""
    if "torch" in failure.text or failure.kind not in ("TypeError", "ValueError", "AxisError"):
        return ""
    return next((said for written, said in HABITS if re.search(written, failure.line)), "")


def cause(failure, exercise):
    """One sentence on why this exception comes, where that is known."""
    text, kind = failure.text, failure.kind
    if habit(failure):
        return habit(failure)
    if failure.cause == "broadcast" and REDUCED.search(failure.line):
        return CAUSES["broadcast"] + " After a sum or a maximum over an axis, keepdims=True keeps that axis, with length 1."
    if kind == "TypeError" and "'iterator'" in text:
        names = [name for name, arg in zip(exercise.parameters, exercise.all_cases()[0].args) if isinstance(arg, Once)]
        if names:
            return (f"{names[0]} is an iterator, which gives its items one by one: it has no length and no index, and "
                    "it is read by a for loop.")
    if kind == "TypeError" and ("interpreted as an integer" in text or "must be integers" in text):
        return "Sizes and indices are integers: / gives a float even where nothing is left over, // an integer."
    if kind == "TypeError" and "NoneType" in text:
        return "One of the two is None: an argument that may be None, or what a function without a return gave back."
    if kind == "TypeError" and "dtype" in text and "not callable" in text:
        return "A dtype is not called: x.astype(dtype) makes an array of it, np.dtype(dtype).type(x) a number."
    if kind == "TypeError" and "not callable" in text:
        return "An array is followed by round brackets; indexing takes square ones, a product @ or *."
    if kind == "TypeError" and "only length-1" in text or "only 0-dimensional" in text:
        return "The math module works on single numbers; for arrays NumPy has the same functions."
    if kind == "ValueError" and "truth value of an array" in text:
        return ("An if, an and, or Python's max and min want a single True or False, and an array has many. Entry by entry "
                "there are np.where, & and |, np.maximum and np.minimum.")
    if kind == "TypeError" and "keepdims" in text and exercise.library == "torch":
        return "keepdims belongs to NumPy's functions; in torch it is keepdim."
    if "active drivers" in text:
        return ("Triton looks for a GPU. In its interpreter @triton.autotune works with one configuration "
                "only, and kernels must be defined after TRITON_INTERPRET is set.")
    if "illegal memory access" in text:
        return ("A kernel has read or written outside its tensors. CUDA cannot be used any more in this "
                "session: restart the kernel, and give every load and store a mask.")
    if kind == "AttributeError" and "ndarray" in text:
        return "A NumPy array has no such method; it may be torch's, or a function of np."
    if re.search(r"\.T\b", failure.line) and failure.cause in ("matmul", "broadcast", "shape"):
        return ("On an array with leading axes .T reverses all axes, the batch too. Only the last "
                "two may be swapped.")
    return CAUSES.get(kind) or CAUSES.get(failure.cause, "")


def error_lines(failure, exercise, explained=False):
    if failure.kind == "TimeUp":
        where = f" Line {failure.line_number}: {failure.line}" if failure.line else ""
        return [f"It did not finish within {failure.text}.{where}",
                "Is there a loop whose condition never changes, or work that grows too fast?"]
    if failure.kind == "Blocked":
        return [f"It calls {failure.text}(), which an answer must not do: it only computes, "
                "and returns."]
    if failure.kind == "SystemExit":
        return ["It ends the program (sys.exit or exit). An answer only computes, and returns."]
    lines = [f"It stops with an error. {failure.kind}: {failure.text}".rstrip(": ")]
    if failure.line_number:
        lines.append(indented(f"line {failure.line_number}: {failure.line}".rstrip(": ")))
    return lines + [line for line in [habit(failure) if explained else cause(failure, exercise)] if line]


# ---------------------------------------------------------------- the message

ORDER = ("first", "second", "third", "fourth", "fifth")


def mistake_lines(finding, first=False):
    """Paragraphs on the named mistakes, or the first alone: what the answer does, the name, why it is one."""
    sure, either = common(finding.sets)
    texts = [(m.does, f"{m.name}. {m.why}") for m in sure]
    if either:
        own = [effect([m.does for m in other if m not in sure]) for other in finding.sets[:2]]
        does = own[0] if own[0] == own[-1] else f"One of two: {own[0]} Or: {own[-1]}"
        texts.append((does, f"either {', or '.join(either)}. What came back does not tell which."))
    texts += [(m.does, f"{m.name}. {m.why}") for m in finding.generic.values()]
    lines = []
    for place, (does, name) in enumerate(texts):
        which = f"The {ORDER[min(place, 4)]} mistake" if len(texts) > 1 else "The mistake"
        what = f"What the {ORDER[min(place, 4)]} does alone" if len(texts) > 1 else "What it does"
        lines += [f"{what}: {does}", f"{which}: {name}", ""]
        if first and len(texts) > 1:
            named = "; ".join(name.partition(". ")[0] for _, name in texts[1:])
            rest = f"Besides: {named}" if len(texts) < 4 else "More is wrong besides"
            return [*lines, f"{rest}. Mend the first mistake first, and check again.", ""]
    return lines


def effect(does):
    """What the first of the mistakes does; beside others it need not be seen."""
    return f"Of {len(does)} mistakes, the first alone: {does[0]}" if len(does) > 1 else "".join(does)


def questions(finding, most=2):
    sure, _ = common(finding.sets)
    named = list(sure) + list(finding.generic.values())
    if not named and finding.sets:
        named = list(finding.sets[0])
    return list(dict.fromkeys(f"Ask yourself: {mistake.ask}" for mistake in named[:most]))


def common(sets):
    """(mistakes that all alternatives share, the names of what they differ in)."""
    if not sets:
        return (), ()
    sure = tuple(m for m in sets[0] if all(m in other for other in sets))
    either = [" with ".join(m.name for m in other if m not in sure) for other in sets]
    return sure, tuple(dict.fromkeys(name for name in either if name))


def names(finding):
    """The mistakes as grade(...).mistakes gives them."""
    sure, either = common(finding.sets)
    found = [m.name for m in sure] + ([" or ".join(either)] if either else [])
    return tuple(found + [m.name for m in finding.generic.values()])


def aspects_text(aspects):
    return ", ".join(aspects)


def printed_lines(text):
    if not text.strip():
        return []
    lines = text.strip("\n").split("\n")
    shown = [("  " + line)[:WIDTH] for line in lines[:3]]
    return ["", "It printed:"] + shown + (["  ..."] if len(lines) > 3 else [])
