"""Writes what was found as plain text that can be read aloud."""

import ast
import itertools
import re
import textwrap

import numpy as np

from ..model import PLAIN, Once, Words, arrays_of, as_arrays, fresh_copy
from .changes import reference
from .explain import close_rows, fit_shape, tolerance
from .generic import ARRAY_OF_WORDS, DtypeMistake
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
            lines += textwrap.wrap(
                line,
                WIDTH,
                initial_indent=indent,
                subsequent_indent=indent,
                break_long_words=False,
                break_on_hyphens=False,
            ) or [""]
    return "\n".join(lines)


# ---------------------------------------------------------------- numbers


def number(x, digits=3, lowest=1e-14):
    """A number in as few characters as are readable; whole ones without a point, and 0 for one
    below `lowest`. A word is quoted.
    """
    if isinstance(x, str):
        return f'"{x}"'
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
        return "0" if digits == 3 and abs(x) < lowest else f"{x:.{digits}g}"
    if 1e-2 <= abs(x) < 1e6:
        places = max(digits - 1 - int(np.floor(np.log10(abs(x)))), 0) if abs(x) >= 1 else digits
        text = f"{x:.{places}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{x:.{digits}g}"


def rows(array, digits=3, lowest=1e-14):
    """An array as nested lists."""
    array = np.asarray(array)
    if array.ndim == 0:
        return number(array[()], digits, lowest)
    return "[" + ", ".join(rows(item, digits, lowest) for item in array) + "]"


def argument(name, value, about_dtype=False, digits=6, dtype="", most=READABLE):
    """One argument as text: its numbers if they are few, else its shape; also its dtype if that
    matters.

    `dtype` is that of a case's tensors, whose numbers are kept as float64.
    """
    if isinstance(value, Once):
        return f"{name} = {', '.join(rows(item, digits) for item in value.items)} (read one by one)"
    strings = isinstance(value, list) and value and isinstance(value[0], str)
    if isinstance(value, Words) or strings:
        return _words(name, getattr(value, "items", value), most)
    if isinstance(value, list):
        return _arguments(name, value, most, digits)
    if isinstance(value, type):
        return f"{name} = np.{value.__name__}"
    if isinstance(value, np.dtype):
        return f"{name} = np.dtype('{value}')"
    if not isinstance(value, np.ndarray):
        return f"{name} = {value}"
    dtype = dtype or str(value.dtype)
    told = value.dtype.kind == "f" and (about_dtype or dtype != "float64")
    dtype = f" ({dtype})" if told else ""
    view = (
        ""
        if value.flags.c_contiguous
        else ", not contiguous (its axes have another order in memory)"
    )
    if value.size > most:
        return f"{name} of shape {value.shape}{dtype}{view}"
    return f"{name} = {rows(value, digits)}{dtype}{view}"


def _arguments(name, arrays, most, digits):
    """An argument that is a list of arrays."""
    if sum(array.size for array in arrays) > most:
        return f"{name}, arrays of shapes {', '.join(str(array.shape) for array in arrays)}"
    return f"{name} = [{', '.join(rows(array, digits) for array in arrays)}]"


def _words(name, words, most):
    if len(words) > most:
        return f"{name}, a list of {len(words)} words"
    return f"{name} = {rows(words)}"


def in_words(case, values):
    """Numbers of words as the words themselves."""
    values = np.asarray(values)
    texts = np.empty(values.shape, dtype=object)
    for at in np.ndindex(*values.shape):
        texts[at] = case.words.text(values[at])
    return texts


def indented(line):
    """A line of numbers, broken between rows if it is too long."""
    if len(line) + 2 <= WIDTH:
        return "  " + line
    return "\n".join(
        textwrap.wrap(
            line,
            WIDTH,
            initial_indent="  ",
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


# ------------------------------------------------------------------- a small input that shows it


def smallest(exercise, seen, wrong, parts=None):
    """The lines that show the smallest wrong case tried: the input, what was returned and what was
    expected, for as many wrong parts of the answer.
    """
    if not wrong:
        return ""
    one = first_to_show(seen, wrong)
    case = seen[one].case
    about_dtype = any(
        dtype not in ("", case.dtype) and exercise.dtype_of(i) == "input"
        for i, dtype in enumerate(seen[one].dtypes)
    )
    wanted = exercise.predict((), seen[one].index)
    digits = _digits_needed(exercise, seen[one], wanted)
    arguments = [
        argument(name, value, about_dtype, digits, case.torch_dtype)
        for name, value in zip(exercise.parameters, case.args)
    ]
    lines = ["A small input that shows it:"] + [indented(line) for line in arguments]
    return "\n".join(
        lines
        + _changed_arguments(exercise, seen[one])
        + _difference(exercise, seen[one], wanted, parts)
    )


def shapes(exercise, case):
    """An input that is too large to be shown, as the shapes of its arrays."""
    named = zip(exercise.parameters, case.args)
    return [
        indented(argument(name, value, dtype=case.torch_dtype, most=1)) for name, value in named
    ]


def _changed_arguments(exercise, seen):
    """The arguments that the call changed, as they are afterwards."""
    named = zip(exercise.parameters, seen.case.args)
    return [
        indented(f"{argument(name, seen.after[name])} after the call")
        for name, before in named
        if name in seen.after and _changed(before, seen.after[name])
    ]


def _changed(before, after):
    if isinstance(before, Words):
        return list(before.items) != after
    if isinstance(before, list):
        return len(before) != len(after) or any(map(_changed, before, after))
    return not np.array_equal(before, after, equal_nan=True)


def _digits_needed(exercise, seen, wanted):
    """How many digits of an input have to be shown: it must tell its numbers apart, and what was
    expected must follow from it.
    """
    return next(
        (
            n
            for n in (6, 10)
            if _tells_apart(seen.case.args, n) and _follows(exercise, seen, wanted, n)
        ),
        15,
    )


def _tells_apart(args, digits):
    """Whether numbers that differ look different, in one array and in the same place of two."""
    arrays = [arg for arg in arrays_of(args) if arg.dtype.kind == "f" and arg.size <= READABLE]
    ordered = [np.sort(array, axis=None) for array in arrays]
    neighbours = [(array[1:], array[:-1]) for array in ordered]
    places = [pair for pair in itertools.combinations(arrays, 2) if pair[0].shape == pair[1].shape]
    return all(
        number(x, digits) != number(y, digits)
        for pair in neighbours + places
        for x, y in zip(*map(np.ravel, pair))
        if x != y and np.isclose(x, y, rtol=1e-5, atol=0) and abs(x - y) > 1e-14 * abs(x)
    )


def _follows(exercise, seen, wanted, digits):
    """Whether the input with these digits leads to what was expected, and not as far from it as
    what was returned.
    """
    if exercise.in_words:
        return True
    args = fresh_copy(seen.case.args, True, lambda array: _as_shown(array, digits))
    try:
        with np.errstate(all="ignore"):
            parts = as_arrays(reference(exercise, args))
    except Exception:  # with so few digits it is no input that is allowed
        return False
    compared = zip(parts, wanted, seen.values, seen.dtypes)
    return all(
        values.shape != right.shape
        or close_rows(values, right, tolerance(seen.case, dtype, seen.case.extreme)).all()
        or _gap(part, right) <= 0.1 * _gap(values, right)
        for part, right, values, dtype in compared
    )


def differences(a, b):
    """Of two arrays of one shape, entry by entry; NaN if only one of the two is."""
    with np.errstate(invalid="ignore"):
        return np.where((a == b) | np.isnan(a) & np.isnan(b), 0.0, np.abs(a - b))


def _gap(a, b):
    """The largest difference of two arrays."""
    if a.shape != b.shape:
        return np.inf
    gaps = differences(a.astype(float), b.astype(float))
    return np.nan_to_num(gaps, nan=np.inf).max(initial=0)


def _as_shown(array, digits):
    """An array with the digits that are shown."""
    if array.dtype.kind != "f" or array.size > READABLE:
        return array
    shown = [float(number(x, digits)) for x in array.ravel()]
    return np.array(shown).reshape(array.shape).astype(array.dtype)


def first_to_show(seen, wrong):
    """The number of the smallest wrong case; an ordinary input comes first, unless it is too large
    to read.
    """
    return min(wrong, key=lambda k: reading_order(seen, k))


def readable(case):
    return case.size <= 2 * READABLE


def reading_order(seen, k):
    case = seen[k].case
    numbers = sum(abs(arg) for arg in case.args if type(arg) in (int, float))
    return not readable(case), case.aspect != PLAIN, case.size, numbers, k


def _difference(exercise, seen, wanted, parts=None):
    if exercise.in_words:
        return _two_lists(seen, wanted[0])
    if seen.failure:
        return [indented(f"stopped with {seen.failure.kind}")] + _expected(exercise, wanted)
    if not seen.values:
        return [indented(f"returned {seen.other}")] + _expected(exercise, wanted)
    if (
        seen.terms
        or seen.other
        and all(
            close_rows(*pair, tolerance(seen.case, "", False)).all()
            for pair in zip(seen.values, wanted)
        )
    ):
        return [indented(f"returned {seen.other}")] + _expected(
            exercise, wanted
        )  # right except for what holds it
    names = exercise.part_names(wanted)
    found = []
    for i, (name, values, part, dtype) in enumerate(zip(names, seen.values, wanted, seen.dtypes)):
        relative = tolerance(seen.case, dtype, seen.case.extreme)
        same = values.shape == part.shape and close_rows(values, part, relative).all()
        want = _wanted_dtype(exercise, i, part, seen.case)
        other_dtype = dtype not in ("", want) and exercise.dtype_of(i) not in ("bool", "number")
        if not same or other_dtype or len(names) == 1:
            said = f" {name} =" if name else ""
            found.append(_two(said, values, part, dtype, exercise, i, seen.case, same))
    more = [indented("(Another part of the answer is wrong, too.)")] * (
        len(found[:parts]) < len(found)
    )
    return [line for lines in found[:parts] for line in lines] + more


def _two_lists(seen, wanted):
    """What was returned and what was expected, as words."""
    values = seen.values[0] if seen.values else None
    expected = rows(in_words(seen.case, wanted))
    if seen.failure:
        returned = f"stopped with {seen.failure.kind}"
    elif values is None:
        returned = f"returned {seen.other}"
    elif values.size > READABLE:
        returned = f"returned {values.size} entries"
    else:
        came = seen.texts if seen.texts is not None else in_words(seen.case, values)
        held = "np.array({})" if ARRAY_OF_WORDS.name in seen.marks else "{}"
        returned = f"returned {held.format(rows(came))}"
    return [indented(returned), indented(f"expected {expected}")]


def _wanted_dtype(exercise, i, wanted, case):
    """The dtype of this part of a right answer."""
    asked = exercise.dtype_of(i)
    if asked not in ("input", "bool", "number"):
        return asked
    return "bool" if wanted.dtype == bool else case.dtype


def _two(name, values, wanted, dtype, exercise, i, case, same):
    want = _wanted_dtype(exercise, i, wanted, case)
    if same:
        if dtype and dtype != want and exercise.dtype_of(i) != "number":
            return [
                indented(f"returned{name} {_short(values)}, dtype {dtype}"),
                indented(f"expected{name} the same, dtype {want}"),
            ]
        return [indented(f"returned{name} {_short(values)}")]
    if values.size > READABLE or wanted.size > READABLE:
        return _large(name, values, wanted, case, dtype)
    returned, expected = _told_apart(values, wanted, tolerance(case, dtype, case.extreme))
    shapes = (
        (f", shape {values.shape}", f", shape {wanted.shape}")
        if values.shape != wanted.shape
        else ("", "")
    )
    told = exercise.dtype_of(i) not in ("bool", "number") and dtype not in ("", want)
    dtypes = (f", dtype {dtype}", f", dtype {want}") if told else ("", "")
    return [
        indented(f"returned{name} {returned}{shapes[0]}{dtypes[0]}"),
        indented(f"expected{name} {expected}{shapes[1]}{dtypes[1]}"),
    ]


def _told_apart(values, wanted, relative):
    """Both as text, with as many digits as it takes to see that they differ. Entries that agree up
    to rounding are shown as the same, and those that should be 0 as 0.
    """
    values, wanted = np.asarray(values), np.asarray(wanted)
    rounded = values
    if values.dtype.kind == wanted.dtype.kind == "f":
        largest = np.abs(wanted[np.isfinite(wanted)]).max(initial=0)
        wanted = np.where(np.abs(wanted) < 1e-14 * largest, 0.0, wanted)
        if values.shape == wanted.shape and values.ndim:
            alike = close_rows(values[..., None], wanted[..., None], min(relative, 1e-5))
            rounded = values if alike.all() else np.where(alike, wanted, values)
    for digits in (3, 6, 9, 12, 15):
        shown = rounded if digits <= 6 else values  # beyond, each digit is the answer's own
        texts = rows(shown, digits, 0), rows(wanted, digits, 0)
        if texts[0] != texts[1]:
            break
    return texts


def _short(values):
    return rows(values) if values.size <= READABLE else f"shape {values.shape}"


def _large(name, values, wanted, case, dtype):
    if values.shape != wanted.shape:
        return [
            indented(f"returned{name} shape {values.shape}"),
            indented(f"expected{name} shape {wanted.shape}"),
        ]
    relative = tolerance(case, dtype, case.extreme)
    wrong = ~close_rows(values[..., None], wanted[..., None], relative)
    first = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.any() else (0,) * wrong.ndim
    returned, expected = _told_apart(values[first], wanted[first], relative)
    return [
        indented(
            f"{int(wrong.sum())} of {wrong.size} entries"
            f" {'differs' if wrong.sum() == 1 else 'differ'} by more than the tolerance;"
            f" the first, at {list(first)}:"
        ),
        indented(f"returned{name} {returned}"),
        indented(f"expected{name} {expected}"),
    ]


def _expected(exercise, wanted):
    names = exercise.part_names(wanted)
    return [
        indented(f"expected{f' {n} =' if n else ''} {_short(w)}") for n, w in zip(names, wanted)
    ]


# ---------------------------------------------------------------- an answer nobody foresaw


def _right_or_not(values, wanted, relative, everywhere):
    right = values.shape == wanted.shape and close_rows(values, wanted, relative).all()
    if right:
        return ["right." if everywhere else "right here."]
    return [
        (
            "the number is wrong."
            if values.ndim == 0
            else "the shape is right, but not all numbers are."
        )
    ]


def properties(seen, wanted, names=(), everywhere=(), others=()):
    """Sentences about an answer that no known mistake explains.

    `everywhere` are the names of the parts that are right in all cases, and `others` are what came
    and what was expected in the other cases: only what holds there too is said.
    """
    if seen.failure:
        return [f"It stops with {seen.failure.kind}."]
    if not seen.values:
        return [f"It returns {seen.other}."]
    if seen.case.words:
        return _of_words(seen.values[0], wanted[0])
    found = []
    for i, (name, values, part, dtype) in enumerate(
        zip(names or [""] * len(wanted), seen.values, wanted, seen.dtypes)
    ):
        relative = tolerance(seen.case, dtype, seen.case.extreme)
        elsewhere = [(a[i], b[i]) for a, b in others if len(b) > i < len(a)]
        found += [
            f"{name}: {text[0].lower()}{text[1:]}" if name else text
            for text in _part_properties(values, part, relative, elsewhere)
            or _right_or_not(values, part, relative, name in everywhere) * bool(name)
        ]
    alone = len(wanted) == 1 and wanted[0].ndim == 0
    if found:
        return found[:4]
    if alone:
        return ["The number is wrong."]
    what = "entries" if wanted[0].dtype == bool else "numbers"
    return [f"The shape is right, but not all {what} are."]


def _of_words(values, wanted):
    if values.shape != wanted.shape:
        return [f"The answer has {values.size} entries, but it should have {wanted.size}."]
    if np.array_equal(np.sort(values), np.sort(wanted)):
        return ["The words are right, but not their order."]
    return ["The number of words is right, but the words aren't."]


def tells_more(sentences):
    """Whether the sentences of `properties` say more than which part is wrong."""
    return not all(text.endswith(("is wrong.", " are.", ": right.")) for text in sentences)


def factors(seen, wanted):
    """A sentence if all these answers are wrong by a factor that differs from case to case."""
    found = [
        factor(one.values[0], right[0])
        for one, right in zip(seen, wanted)
        if len(one.values) == 1 and one.values[0].size
    ]
    if not any(one.values and one.values[0].size > 1 for one in seen):
        return ""
    if len(found) < 2 or len(found) < len(seen) or None in found or np.allclose(found, found[0]):
        return ""
    some = ", ".join(dict.fromkeys(number(x) for x in found[:3]))
    return (
        "In each answer all entries are wrong by the same factor, but it changes from input to"
        f" input: {some}."
    )


def _part_properties(values, wanted, relative, elsewhere=()):
    fitted = fit_shape(values, wanted.shape)
    if fitted is None:
        swapped = values.ndim > 1 and np.swapaxes(values, -1, -2)
        if (
            values.ndim > 1
            and swapped.shape == wanted.shape
            and close_rows(swapped, wanted, 1e-4).all()
        ):
            return ["The answer is the expected one with its last two axes swapped."]
        return [_other_shape(values, wanted)]
    a, b = fitted.astype(float), wanted.astype(float)
    found = [
        sentence
        for rule in RULES
        for sentence in [rule(a, b)]
        if sentence and (rule in OF_ONE_INPUT or _holds(rule, sentence, elsewhere))
    ] + _which_rows(a, b, relative)
    return found or [_other_shape(values, wanted)] * (values.shape != wanted.shape)


def _other_shape(values, wanted):
    return f"The answer has shape {values.shape}, but it should have shape {wanted.shape}."


def _holds(rule, sentence, elsewhere):
    """Whether what a small input shows is also so in the other ones: it may be a coincidence."""
    return all(
        rule(a.astype(float), b.astype(float)) == sentence
        for a, b in elsewhere
        if a.shape == b.shape and a.size > 2 and not np.allclose(a, b, rtol=1e-4, equal_nan=True)
    )


def _not_finite(a, b):
    bad = np.isnan(a) & ~np.isnan(b)
    infinite = np.isinf(a) & ~np.isinf(b)
    if a.size == 1:
        return "It is NaN." if bad.any() else "It is infinite." if infinite.any() else ""
    parts = [
        f"{int(found.sum())} of {found.size} entries {'is' if found.sum() == 1 else 'are'} {word}"
        for found, word in ((bad, "NaN"), (infinite, "infinite"))
        if found.any()
    ]
    also_right = infinite.any() and np.isinf(b).any()  # others are infinite, as they should be
    return " and ".join(parts) + (" but shouldn't be." if also_right else ".") if parts else ""


def _all_the_same(a, b):
    if (
        a.size > 1
        and np.isfinite(a).all()
        and np.ptp(a) == 0
        and np.ptp(np.where(np.isfinite(b), b, 0))
    ):
        return f"Every entry is {number(a.flat[0])}."
    return ""


def _nothing_left(a, b):
    """What is nearly 0 may be a rounding error, but a large divisor makes it, too."""
    largest = np.abs(np.where(np.isfinite(b), b, 0)).max(initial=0)
    if a.any() and np.abs(a).max() <= 1e-6 * largest and factor(a, b) is None:
        return "Every entry is nearly 0."
    return ""


def _factor(a, b):
    found = factor(a, b) if np.count_nonzero(b) > 1 else None
    if found is None or np.isclose(found, 1):
        return ""
    if np.isclose(found, -1):
        return "The answer is minus the expected one."
    if number(found) == "1":  # nearly: a reader couldn't see the difference
        return ""
    return f"Every entry is {number(found)} times the expected one."


def _shifted(a, b):
    if not (np.isfinite(a).all() and np.isfinite(b).all()) or _factor(a, b):
        return ""
    difference = (a - b).ravel()
    if (
        difference.size > 1
        and np.allclose(difference, difference[0], rtol=1e-6)
        and abs(difference[0]) > 1e-6
    ):
        way = "more" if difference[0] > 0 else "less"
        return f"Every entry is {number(abs(difference[0]))} {way} than the expected one."
    return ""


def _row_factor(a, b):
    if (
        a.ndim < 1
        or a.shape[-1] < 2
        or not (np.isfinite(a).all() and np.isfinite(b).all())
        or (b == 0).any()
    ):
        return ""
    ratio = a / b
    rows_agree = np.allclose(ratio, ratio[..., :1], rtol=1e-6)
    some_right = np.isclose(ratio[..., 0], 1, rtol=1e-4).any()  # those are told by their numbers
    if rows_agree and not some_right and not np.allclose(ratio, ratio.flat[0], rtol=1e-6):
        return "Each row is right except for a factor, which differs from row to row."
    return ""


def _sums(a, b):
    whole = np.isclose(b, np.rint(b), rtol=0)  # positions, or cosines of vectors at right angles
    are_weights = b.ndim > 0 and ((b >= 0) & (b <= 1)).all() and not whole.all()
    if not are_weights or not np.isfinite(a).all() or not np.allclose(b.sum(axis=-1), 1):
        return ""
    if np.allclose(a.sum(axis=-1), 1):
        return "Each row sums to 1, as it should."
    if np.allclose(a.sum(), 1):
        return "All entries together sum to 1, although each row should."
    if a.ndim > 1 and np.allclose(a.sum(axis=-2), 1):
        return "Each column sums to 1, although each row should."
    return ""


def _first_sum(a, b):
    """The sum of the first row, where no rule for all rows holds."""
    if b.ndim == 0 or not ((b >= 0) & (b <= 1)).all() or np.isclose(b, np.rint(b), rtol=0).all():
        return ""
    if not np.isfinite(a).all() or not np.allclose(b.sum(axis=-1), 1) or _sums(a, b):
        return ""
    first = a.sum(axis=-1).flat[0]
    if np.isclose(first, 1):
        return ""
    return f"The first row sums to {number(first)}, although each row should sum to 1."


def _tempered(a, b):
    """Whether the weights belong to scores multiplied by a number."""
    if b.ndim < 1 or b.shape[-1] < 2 or not (a > 0).all() or not (b > 0).all():
        return ""
    if not (np.allclose(a.sum(axis=-1), 1) and np.allclose(b.sum(axis=-1), 1)):
        return ""
    found = factor(np.diff(np.log(a)), np.diff(np.log(b)))
    if found is None or np.isclose(found, 1):
        return ""
    way = "more even" if abs(found) < 1 else "more uneven"
    return (
        f"The weights are {way} than they should be: they belong to scores multiplied by"
        f" {number(found)}."
    )


def _signs(a, b):
    negative = (a < 0) & np.isfinite(a)  # -inf is reported as such
    said = "Some entries are negative." if a.ndim else "The number is negative."
    return said if negative.any() and not (b < 0).any() else ""


def _moved(a, b):
    if a.size > 2 and np.isfinite(a).all() and np.isfinite(b).all() and not np.allclose(a, b):
        if np.allclose(np.sort(a.ravel()), np.sort(b.ravel())):
            return "The right numbers are in the wrong places."
    return ""


def _nearly(a, b):
    """How near the numbers come, where an inexact step may be all that's wrong."""
    if not (np.isfinite(a).all() and np.isfinite(b).all()) or not (a != np.rint(a)).any():
        return ""
    largest = np.abs(b).max(initial=0)
    error = np.abs(a - b).max(initial=0) / largest if largest else 0
    if not 1e-6 < error < 0.01:
        return ""
    if a.size == 1:
        return f"The number is nearly right: it's off by {number(100 * error)} %."
    return (
        "The numbers are nearly right: the largest error is"
        f" {number(100 * error)} % of the largest number expected."
    )


RULES = (
    _not_finite,
    _all_the_same,
    _nothing_left,
    _factor,
    _shifted,
    _row_factor,
    _tempered,
    _sums,
    _first_sum,
    _signs,
    _moved,
    _nearly,
)


OF_ONE_INPUT = (_not_finite, _first_sum, _nearly)  # rules about the input that is shown


def _which_rows(a, b, relative):
    if a.ndim != 2:
        return []
    right, nearly = close_rows(a, b, relative), close_rows(a, b, 1e-4)
    if (nearly != right).any():  # small errors: no row is plainly wrong
        return []
    if right.any() and not right.all():
        return [f"Wrong in {_listed('row', np.flatnonzero(~right))}, while the rest is right."]
    columns = close_rows(a.T, b.T, relative)
    if columns.any() and not columns.all():
        return [f"Wrong in {_listed('column', np.flatnonzero(~columns))}, while the rest is right."]
    return []


def _listed(axis, numbers, most=6):
    """The numbers of rows or columns as a phrase: "rows 0, 2, 5", and how many more there are."""
    more = f" and {len(numbers) - most} more" if len(numbers) > most else ""
    return f"{axis}{'s'[: len(numbers) > 1]} {', '.join(map(str, numbers[:most]))}{more}"


# ---------------------------------------------------------------- errors

CAUSES = {
    "NameError": (
        "Python doesn't know this name: it is misspelt, or it hasn't been imported or defined yet. "
        "If a cell above defines it, run that cell first."
    ),
    "UnboundLocalError": (
        "A name that is assigned anywhere in a function is local to it, and this one is used "
        "before it has a value."
    ),
    "AxisError": (
        "The array doesn't have this axis. The number of axes isn't always the same, so count from "
        "the end, with -1 and -2."
    ),
    "unpack": (
        "Unpacking needs as many names as there are items. If this is a shape, the number of axes"
        " isn't always the same: take the sizes from the end, as in shape[-1] or *batch, n, d ="
        " x.shape, or go through all places with np.ndindex(*x.shape)."
    ),
    "matmul": (
        "In a matrix product the last axis of the left array must be as long as the second to last"
        " axis of the right one. Perhaps the last two axes of one of them have to be swapped."
    ),
    "bmm": (
        "torch.bmm takes only tensors with exactly three axes; @ and torch.matmul treat all axes"
        " before the last two as a batch."
    ),
    "bounds": (
        "A kernel doesn't know where its tensors end. Each address must lie inside its tensor, and "
        "each load or store of a block that may "
        "reach beyond the end needs a mask that is False there, as in mask=columns < n."
    ),
    "power": (
        "A block's length must be a power of 2: use triton.next_power_of_2(n), and a mask for what"
        " lies beyond n."
    ),
    "view": (
        "x.view(dtype) reads the same bytes as numbers of another dtype; x.astype(dtype) converts"
        " the numbers."
    ),
    "empty": (
        "The list of arrays is empty: the loop that fills it has no step for this input, or never"
        " appends."
    ),
    "join": (
        "Arrays that are joined must have the same shape, except for the axis along which"
        " np.concatenate joins them; np.stack makes a new axis, and needs equal shapes."
    ),
    "squeeze": "squeeze removes only axes of length 1, and this one is longer.",
    "broadcast": (
        "The shapes of two arrays don't match: axes are aligned from the end, and each pair must be"
        " equal, or one of them 1."
    ),
    "axis": (
        "The array doesn't have this axis, or its axes don't match. Count axes from the end, with"
        " -1 and -2."
    ),
    "index": (
        "An index doesn't match the array: there are too many indices, one lies beyond one of"
        " its ends, or two are swapped."
    ),
    "reshape": "A reshape must keep the number of entries, including leading axes.",
    "einsum": (
        "The subscripts of the einsum don't fit the arrays' axes. Three dots stand for any leading"
        " axes, for each array and behind the arrow, as in '...id,...jd->...ij'."
    ),
    "RecursionError": (
        "The function calls itself without end, perhaps through another function of the same name."
    ),
    "MemoryError": "An array was requested that is far larger than the answer.",
    "ZeroDivisionError": "Something is divided by zero.",
    "OverflowError": (
        "A number became too large for a Python float: math.exp, for example, overflows from 710"
        " on."
    ),
}


# habits of torch, and what NumPy has for them: by the method that an array does not have, or by
# what stands in the line
METHODS = {
    "unsqueeze": "x[..., None] or np.expand_dims",
    "masked_fill": "np.where(mask, value, x)",
    "permute": "x.transpose(...)",
    "softmax": "np.exp and a sum",
    "exp": "np.exp(x)",
    "log": "np.log(x)",
    "sqrt": "np.sqrt(x)",
    "abs": "np.abs(x)",
    "matmul": "x @ y",
    "mm": "x @ y",
    "bmm": "x @ y",
    "float": "x.astype(...)",
    "to": "x.astype(...)",
    "half": "x.astype(...)",
    "tril": "np.tril(x)",
    "triu": "np.triu(x)",
    "logsumexp": "np.log, np.exp and a sum",
    "amax": "x.max(...)",
    "norm": "np.linalg.norm(x)",
    "dim": "x.ndim",
    "numel": "x.size",
    "expand": "np.broadcast_to",
    "values": "the maxima themselves",
}
HABITS = (
    (
        r"\.size\(",
        "In NumPy x.size is the number of all entries. The length of an axis is x.shape[-1].",
    ),
    (
        r"\.transpose\(-",
        (
            "NumPy's transpose takes the order of all axes. np.swapaxes(x, -1, -2) swaps two of"
            " them, as torch's transpose does."
        ),
    ),
    (
        r"\bdim\s*=.*\bkeepdim\s*=",
        "NumPy calls them axis and keepdims: x.sum(axis=-1, keepdims=True).",
    ),
    (r"keepdim\s*=", "NumPy calls it keepdims: x.sum(axis=-1, keepdims=True)."),
    (r"\bdim\s*=", "NumPy calls it axis: x.sum(axis=-1)."),
    (
        r"^\s*\w+\s*,\s*\w+\s*=[^=].*\b(max|min|sort)\(",
        "NumPy's max gives only the largest values; np.argmax gives their positions.",
    ),
)
LAUNCH = re.compile(r"\w\s*\[.+\]\s*\(")  # kernel[grid](
REDUCED = re.compile(r"\b(sum|max|min|mean|amax|amin|median|norm|reduce)\(")


def habit(failure):
    """NumPy's counterpart of what the learner took from torch, or ''."""
    missing = re.search(r"numpy.* has no attribute '(\w+)'", failure.text)
    if missing:
        return (
            f"A NumPy array has no {missing[1]}; NumPy has {METHODS[missing[1]]} instead."
            if missing[1] in METHODS
            else ""
        )
    if "torch" in failure.text or failure.kind not in ("TypeError", "ValueError", "AxisError"):
        return ""
    return next((said for written, said in HABITS if re.search(written, failure.line)), "")


def cause(failure, exercise, case=None):
    """One sentence on why this exception occurs in this case, if that is known."""
    text, kind = failure.text, failure.kind
    if kind == "AxisError" and re.search(r"axis -\d", text):
        return (
            "The array has fewer axes here than this line assumes. If it should be broadcast,"
            " np.broadcast_to(x, shape) gives it all of them."
        )
    if habit(failure):
        return habit(failure)
    if (
        failure.cause == "broadcast"
        and REDUCED.search(failure.line)
        and "keepdim" not in failure.line
    ):
        keep = "keepdim" if exercise.library == "torch" else "keepdims"
        return (
            f"{CAUSES['broadcast']} After a sum, a mean or a maximum over an axis, {keep}=True"
            " keeps that axis, with length 1."
        )
    if "truth value of an array" in text or "bitwise_" in text:
        if joined_inside(failure.line):
            return JOINED
        if chained(failure.line):
            return CHAINED
    if "boolean index did not match" in text:
        return (
            "A boolean index must have the same length as the array along each axis that it stands"
            " for: an axis of length 1 isn't broadcast."
        )
    if kind == "TypeError" and "'iterator'" in text:
        names = [
            name
            for name, arg in zip(exercise.parameters, exercise.all_cases()[0].args)
            if isinstance(arg, Once)
        ]
        if names:
            return (
                f"{names[0]} is an iterator, which yields its items one by one. It has no length"
                " and no index: read it with a for loop."
            )
    if kind == "TypeError" and "only integer scalar arrays" in text:
        return (
            "An array stands where Python needs a single whole number. A list and the ends of a"
            " slice take one number at a time; only an array can be indexed with many positions."
        )
    if kind == "TypeError" and ("interpreted as an integer" in text or "must be integers" in text):
        return (
            "Sizes and indices must be integers: / gives a float even without a remainder, whereas"
            " // gives an integer."
        )
    if kind == "TypeError" and "NoneType" in text:
        return (
            "Something here is None: an argument that may be None, or the result of a function"
            " without a return."
        )
    if kind == "TypeError" and "dtype" in text and "not callable" in text:
        return (
            "A dtype isn't a function: x.astype(dtype) converts an array, np.dtype(dtype).type(x) a"
            " number."
        )
    if kind == "TypeError" and "not callable" in text:
        return (
            "Something that isn't a function is followed by round brackets. Indexing takes square"
            " brackets, and a product takes @ or *."
        )
    if kind == "TypeError" and "only length-1" in text or "only 0-dimensional" in text:
        return (
            "The math module and float() take single numbers. For arrays NumPy has functions of the"
            " same names."
        )
    if kind == "ValueError" and "truth value of an array" in text:
        return (
            "An if, an and, or Python's max and min need a single True or False, but an array has"
            " many. To work entry by entry, use np.where, & and |, np.maximum and np.minimum."
        )
    if "torch.return_types" in text:
        return (
            "Along a dim, torch's max and min return values and positions: take .values, or use"
            " torch.amax or torch.amin."
        )
    if kind == "TypeError" and "must be Tensor, not" in text:
        return (
            "torch's functions take tensors. For a Python number such as shape[-1] the math module"
            " has functions of the same names, or write ** 0.5."
        )
    if "could not broadcast input array" in text:
        return (
            "What is assigned must fit into its place: aligned from the end, each axis must be as"
            " long as the axis of the place, or have length 1."
        )
    if "remapped shapes" in text:
        return (
            "In a matrix product, the axes before the last two are aligned from the end, and each"
            " pair of them must be equal, or one of them 1."
        )
    if "to have the same dtype" in text:
        return (
            "Two tensors of different dtypes can't be multiplied. A tensor that torch makes of"
            " Python numbers, as in torch.full or torch.zeros, is float32 unless you name a dtype."
        )
    if "without overflow" in text:
        return (
            "This number is too large for the tensor's dtype: float16 ends at 65504. -inf fits into"
            " every floating-point dtype."
        )
    if "CUDA" in text and "cuda" in failure.line:
        return (
            "This line asks for a GPU, wherever the inputs are. A new tensor belongs on their"
            f" device: device={exercise.parameters[0]}.device."
        )
    if kind == "TypeError" and "keepdims" in text and exercise.library == "torch":
        return "keepdims belongs to NumPy's functions; torch calls it keepdim."
    if kind == "TypeError" and LAUNCH.search(failure.line):
        if "has no len()" in text:
            return (
                "Triton takes a tuple as the grid, with the number of programs along each axis:"
                " kernel[(4,)](...) starts four, and kernel[4](...) is an error."
            )
        if 'can only concatenate list (not "tuple")' in text:
            return (
                "Triton's interpreter takes the grid only as a tuple, with round brackets:"
                " kernel[(4, 2)](...) rather than kernel[[4, 2]](...)."
            )
    if "stands where a single True or False is needed" in text:
        return (
            "Entry by entry, a kernel uses tl.maximum, tl.minimum and tl.where, and joins masks by"
            " & and |."
        )
    outside = re.match(r"(\d+) of the (\d+) entries that the kernel wants", text)
    if outside and outside[1] == outside[2]:
        return (
            "Not one of these entries exists, so it isn't only a mask that is missing: the program"
            " has no work there, or its block begins at a wrong place. Perhaps the grid has too"
            " many programs, the offset counts something twice, or axes of the grid are swapped."
        )
    if "active drivers" in text:
        return (
            "Triton looks for a GPU. In its interpreter, @triton.autotune works with only one"
            " configuration, and kernels must be defined after TRITON_INTERPRET is set."
        )
    if "illegal memory access" in text:
        return (
            "A Triton kernel has read or written outside its tensors, so CUDA can't be used any"
            " more in this session. Restart the notebook's kernel, and give every load and store a"
            " mask."
        )
    if kind == "AttributeError" and "ndarray" in text:
        return "A NumPy array has no such method. It may be one of torch's, or a function of np."
    if (
        re.search(r"\.T\b", failure.line)
        and failure.cause in ("matmul", "broadcast", "shape")
        and (case is None or any(arg.ndim > 2 for arg in arrays_of(case.args)))
    ):
        return (
            "On an array with leading axes .T reverses all of them, the batch included. Swap only"
            " the last two axes."
        )
    return CAUSES.get(kind) or CAUSES.get(failure.cause, "")


JOINED = (
    "In Python & and | bind more tightly than comparisons, so that a >= b & c <= d means a >= (b &"
    " c) <= d. Put each comparison in brackets: (a >= b) & (c <= d)."
)


CHAINED = (
    "A chain such as a <= b <= c joins its two comparisons by an and, which needs a single True or"
    " False, but an array has many. Entry by entry it is (a <= b) & (b <= c)."
)


def joined_inside(line):
    """Whether a comparison of this line has a & b or a | b, without brackets, as one of its
    sides.
    """
    try:
        tree = ast.parse(line)
    except SyntaxError:  # a part of a longer statement
        return bool(re.search(r"[<>=]=?[^()&|]*[&|][^()&|]*[<>=]=?", line))
    return any(
        isinstance(side, ast.BinOp)
        and isinstance(side.op, (ast.BitAnd, ast.BitOr))
        and not _bracketed(line, side)
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for side in (node.left, *node.comparators)
    )


def chained(line):
    """Whether a line has a chain of comparisons, a <= b <= c."""
    try:
        nodes = list(ast.walk(ast.parse(line)))
    except SyntaxError:  # a part of a longer statement
        parts = re.split(r"\b(?:and|or)\b", line)
        return any(re.search(r"[<>]=?[^()&|<>=]+[<>]=?", part) for part in parts)
    return any(isinstance(node, ast.Compare) and len(node.ops) > 1 for node in nodes)


def _bracketed(line, node):
    before = line.encode()[: node.col_offset].rstrip()
    after = line.encode()[node.end_col_offset :].lstrip()
    return before.endswith(b"(") and after.startswith(b")")


def error_lines(failure, exercise, explained=False, lead="It stops with an error.", case=None):
    if failure.kind == "TimeUp":
        where = f" Line {failure.line_number}: {failure.line}" if failure.line else ""
        return [
            f"It didn't finish within {failure.text}.{where}",
            "Is there a loop whose condition never changes, or work that grows too fast?",
        ]
    if failure.kind == "Blocked":
        return [
            f"It calls {failure.text}(), which an answer must not do: it should only compute "
            "something and return it."
        ]
    if failure.kind == "SystemExit":
        return [
            "It ends the program with sys.exit or exit. An answer should only compute something and"
            " return it."
        ]
    lines = [f"{lead} {failure.kind}: {failure.text}".rstrip(": ")]
    if failure.line_number:
        lines.append(indented(f"line {failure.line_number}: {failure.line}".rstrip(": ")))
    return lines + [
        line for line in [habit(failure) if explained else cause(failure, exercise, case)] if line
    ]


# ---------------------------------------------------------------- the message

ORDER = ("first", "second", "third", "fourth", "fifth")


def mistake_lines(finding, first=False, brief=False):
    """Paragraphs on the named mistakes, or only on the first: what the answer does, the name, why
    it is a mistake; without the why if that leaves no room for an example. What is only wrong with
    the dtype is left to dtype_lines, unless nothing else is wrong.
    """
    sure, either = common(finding.sets)
    texts = [(m.does, f"{m.name}. {m.why}") for m in sure]
    if either:
        own = [[m.does for m in other if m not in sure] for other in finding.sets[:2]]
        single = all(len(does) == 1 for does in own)
        does = (
            ""
            if not single
            else (
                own[0][0]
                if own[0] == own[-1]
                else (f"It is one of two things. {own[0][0]} Or: {own[-1][0]}")
            )
        )
        texts.append(
            (does, f"either {', or '.join(either)}. The returned values don't tell which.")
        )
    rest = [m for m in finding.generic.values() if not isinstance(m, DtypeMistake)]
    if not texts and not rest and finding.explained:
        rest = finding.generic.values()
    texts += [(m.does, f"{m.name}. {m.why}") for m in rest]
    also = [m.name for m in finding.generic.values() if m not in rest]
    lines = []
    for place, (does, name) in enumerate(texts):
        order = ORDER[min(place, 4)]
        which = f"The {order} mistake" if len(texts) > 1 else "The mistake"
        what = f"What the {order} mistake does on its own" if len(texts) > 1 else "What it does"
        name, _, why = name.partition(". ")
        if first and len(texts) == 1:  # no line further down names the dtype
            name = ", and ".join([name, *also])
        name = f"{name}. {why}" if why and not brief else f"{name.rstrip('.')}."
        lines += [f"{what}: {does}"] * bool(does) + [f"{which}: {name}", ""]
        if first and len(texts) > 1:
            named = "; ".join([name.partition(". ")[0] for _, name in texts[1:]] + also)
            besides = (
                f"There is more: {named}"
                if len(texts) + len(also) < 4
                else "There are more mistakes"
            )
            return [*lines, f"{besides}. Fix the first mistake first, then check again.", ""]
    return lines


def dtype_lines(finding, seen=()):
    """What is wrong with the dtype, in two sentences, if something else is wrong too."""
    sure, either = common(finding.sets)
    found = [m for m in finding.generic.values() if isinstance(m, DtypeMistake)]
    if finding.explained and not sure and not either and len(found) == len(finding.generic):
        return []
    return [
        line for m in found for line in (f"The dtype: {m.name}. {_dtype_does(m, seen)} {m.why}", "")
    ]


def _dtype_does(mistake, seen):
    """What a mistake of the dtype does, by an input that shows it: the example may be another."""
    marked = {one.case.dtype for one in seen if mistake.name in one.marks}
    if not mistake.name.endswith("leaks out"):
        return _in_its_dtypes(mistake, seen)
    if not marked:
        return mistake.does
    narrow = "float32" if "float32" in marked else sorted(marked)[0]
    came = [one.dtypes for one in seen if mistake.name in one.marks and one.case.dtype == narrow]
    answer = "part of the answer" if any(len(set(dtypes)) > 1 for dtypes in came) else "the answer"
    asked = any(isinstance(arg, (type, np.dtype)) for one in seen for arg in one.case.args)
    given = f"dtype={narrow}" if asked else f"{narrow} input"
    return f"For {given} {answer} is {mistake.name.split()[0]}."


def _in_its_dtypes(mistake, seen):
    """What a mistake of one part's dtype does, with all the dtypes in which that part came."""
    said = [one.marks[mistake.name].does for one in seen if mistake.name in one.marks]
    came = dict.fromkeys(does.partition(" as ")[2].partition(", but")[0] for does in said)
    before, come_as, after = mistake.does.partition(" as ")
    if len(came) < 2 or not come_as:
        return mistake.does
    *some, last = came
    return f"{before}{come_as}{', '.join(some)} or {last}, but{after.partition(', but')[2]}"


def questions(finding, most=2):
    sure, _ = common(finding.sets)
    found = finding.generic.values()
    named = [*sure, *(m for m in found if not isinstance(m, DtypeMistake))]
    named = named or [*(finding.sets[0] if finding.sets else ())] or list(found)
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
    generic = sorted(finding.generic.values(), key=lambda m: isinstance(m, DtypeMistake))
    return tuple(found + [m.name for m in generic])


def aspects_text(aspects):
    return ", ".join(aspects)


def printed_lines(text):
    if not text.strip():
        return []
    lines = text.strip("\n").split("\n")
    shown = [("  " + line)[:WIDTH] for line in lines[:3]]
    return ["", "It printed:"] + shown + (["  ..."] if len(lines) > 3 else [])
