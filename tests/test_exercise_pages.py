"""Exercises written as a function and a page: what a page's lines mean, and what is said of a page
that is wrong.
"""

import importlib.util
import itertools
import tomllib
from collections import Counter

import numpy as np
import pytest

from attncourse.exercises import pages
from attncourse.exercises.engine import changes
from attncourse.exercises.engine.find import exercises
from attncourse.exercises.engine.problem_pages import pages as problem_pages
from attncourse.exercises.engine.prove import pairs_of
from attncourse.exercises.model import as_arrays, fresh_copy
from attncourse.exercises.reference import Wrong
from book.inpage.bundle import sources

CODE = '''
import numpy as np

from attncourse.exercises.model import PLAIN, Case
from attncourse.exercises.pages import written


def shares(x, power=1):
    raised = x ** power  #: the powers
    total, count = start(x)
    for entry in raised:
        total = total + entry
        count += 1
    return raised / total  #: the shares


def start(x):
    return 0.0, 0


def by_the_largest(x):
    return x / x.max()


def looks(run):
    return "seen" if run() else None


SIZES = (2.0, 4.0)
EXERCISE = written(shares, cases=lambda: [Case(PLAIN, (np.array([1.0, 3.0]),))], audits=(looks,))
'''
PAGE = """# shares

The shares
of x.

## Hints

1. Add up.
1. Divide.

## Mistakes

A reason. *A question?*

"""
numbers = itertools.count()


@pytest.fixture
def exercise(tmp_path):
    """Makes the exercise of these items, or of this page."""

    def make(*items, page=None, code=CODE):
        (tmp_path / "shares.md").write_text(
            page or PAGE + "\n".join(items) + "\n", encoding="utf-8"
        )
        (tmp_path / "shares.py").write_text(code, encoding="utf-8")
        pages.blocks.cache_clear()
        spec = importlib.util.spec_from_file_location(
            f"shares_{next(numbers)}", tmp_path / "shares.py"
        )
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.EXERCISE

    return make


def answers(exercise):
    """What each variant of each mistake makes of 1, 3."""
    return [
        [exercise.predict(((i, j),), 0)[0].tolist() for j in range(len(mistake.variants))]
        for i, mistake in enumerate(exercise.mistakes)
    ]


def test_page_and_function_are_an_exercise(exercise):
    found = exercise("- **a**: `raised = x`: It does.")
    assert (found.name, found.signature, found.text) == (
        "shares",
        "(x, power=1)",
        "The shares of x.",
    )
    assert found.hints == ("Add up.", "Divide.")
    assert found.makes() == {"raised": "the powers", "return": "the shares"}
    (mistake,) = found.mistakes
    assert (mistake.name, mistake.does, mistake.why, mistake.ask) == (
        "a",
        "It does.",
        "A reason.",
        "A question?",
    )
    assert found.predict((), 0)[0].tolist() == [0.25, 0.75]


@pytest.mark.parametrize(
    "line, expected",
    [
        ("raised = x ** 2", [[0.1, 0.9]]),
        ("raised = raised + 1", [[2 / 6, 4 / 6]]),  # after the line
        ("x = x[::-1]", [[0.75, 0.25]]),
        ("x, power = x + 1, 2", [[0.2, 0.8]]),
        ("power, x = x, power + 1", [[0.2, 0.8]]),  # both of what was given: 2 ** 1, 2 ** 3
        ("total, count = 4.0, 0", [[0.125, 0.375]]),
        ("total = total + 1", [[0.5, 1.5]]),  # a running sum: the value before the line
        ("count += 2; return raised / count", [[0.25, 0.75]]),  # in each turn of the loop
        ("return raised", [[1.0, 3.0]]),
        ("return raised / total * 2", [[0.5, 1.5]]),
        ("raised = total = x; return x * 2", [[2.0, 6.0]]),
        ("answer = by_the_largest(x)", [[1 / 3, 1.0]]),
        ("answer = x * power", [[1.0, 3.0]]),  # with the default
        ("return raised * c for c in SIZES", [[2.0, 6.0], [4.0, 12.0]]),
        ("return raised * a + b for a, b in ((1, 0), (0, 1))", [[1.0, 3.0], [1.0, 1.0]]),
        (
            "return raised * a + b for a in (1, 2) for b in (0, a)",
            [[1.0, 3.0], [2.0, 4.0], [2.0, 6.0], [4.0, 8.0]],
        ),
        ("return sum(n for n in raised) * raised", [[4.0, 12.0]]),
        ("return np.array([n * dtype.count('64') for n in x])", [[1.0, 3.0]]),
    ],
)
def test_what_a_line_means(exercise, line, expected):
    (found,) = answers(exercise(f"- **a**: `{line}`: It does."))
    np.testing.assert_allclose(found, expected)


def test_an_argument_may_be_called_dtype(exercise):
    """In other references this name is the case's."""
    code = CODE.replace("power=1", "dtype").replace("x ** power", "x.astype(dtype)")
    code = code.replace("3.0]),)", "3.0]), np.float32)")
    found = exercise(
        "- **a**: `dtype = np.int64`: It does.",
        "- **b**: `raised = dtype(x + 1)`: It does.",
        code=code,
    )
    assert found.predict((), 0)[0].tolist() == [0.25, 0.75]
    np.testing.assert_allclose(answers(found), [[[0.25, 0.75]], [[2 / 6, 4 / 6]]])
    assert changes.reference(found, found.all_cases()[0].args).tolist() == [0.25, 0.75]


def test_variants_marks_and_numbers(exercise):
    found = exercise(
        "- **a** (never in pairs): `return raised`, `return x * c for c in SIZES`, again with `x ="
        " x + 1`: It does,",
        "  on a second line.",
        "- **b**: `return raised + c for any c if c > 2`: It does.",
        "- **{c} added, {'above' if c > 0 else 'below'}**: `return raised + c for any c`: It adds"
        " {abs(c)}.",
        "- **c**: at *small numbers*: Wrong there.",
        "- **d**: an audit: It was seen.",
        "- **e**: at *large numbers*, `return 3 * raised`: It is wrong there, and elsewhere.",
    )
    a, b, e = found.mistakes
    assert (e.name, len(e.variants), found.aspects["large numbers"].name) == ("e", 1, "e")
    assert a.never_in_pairs and a.does == "It does, on a second line." and not b.never_in_pairs
    np.testing.assert_allclose(
        answers(found)[0], [[1, 3], [2, 6], [4, 12], [2, 4], [4, 8], [8, 16]]
    )
    wide = found.with_numbers([1, 3, 5.0])
    np.testing.assert_allclose(answers(wide)[1], [[4, 6], [6, 8]])
    (made,) = found.fitted
    assert made(-2.5).name == "-2.5 added, below" and made(-2.5).does == "It adds 2.5."
    assert found.aspects["small numbers"].name == "c"
    assert found.audits[0](lambda: True) == "seen" and found.audits[0].mistakes[0].name == "d"


def test_families_are_taken_by_name(exercise, tmp_path, monkeypatch):
    family = (
        "# own\n\n## Mistakes\n\nTheirs. *Which?*\n\n- **a**: `return raised + half(x)`: A does.\n"
        "- **b * c**: `raised = x`, `return x`: B does.\n- **d**: `return raised`: D does.\n"
    )
    (tmp_path / "own.md").write_text(family, encoding="utf-8")
    monkeypatch.setattr(pages, "FAMILIES", tmp_path)
    monkeypatch.setattr(
        pages.importlib,
        "import_module",
        lambda name: type("", (), {"half": staticmethod(lambda x: x / 2)}),
    )
    pages.family_items.cache_clear()
    try:
        everything = exercise("- all of own.")
        assert [m.name for m in everything.mistakes] == ["a", "b * c", "d"] and everything.mistakes[
            0
        ].why == "Theirs."
        np.testing.assert_allclose(answers(everything)[0], [[1.5, 4.5]])  # with the family's helper
        assert [m.name for m in exercise("- all of own except *a*, *b * c*.").mistakes] == ["d"]
        chosen = exercise(
            "- from own (never in pairs): *b * c* also `return 2 * by_the_largest(x)`, *a*."
        )
        assert [(m.name, len(m.variants), m.never_in_pairs) for m in chosen.mistakes] == [
            ("b * c", 3, True),
            ("a", 1, True),
        ]
        np.testing.assert_allclose(answers(chosen)[0][2], [2 / 3, 2])
        assert len(exercise("- from own (first variants): *b * c*").mistakes[0].variants) == 1
        doubled = exercise("- from own (again with `x = x + 1`): *b * c*.")
        np.testing.assert_allclose(answers(doubled)[0][3], [2, 4])
        other = exercise("- **d**: as in own, `return x`: In other words.").mistakes[0]
        assert (len(other.variants), other.why, other.does) == (2, "A reason.", "In other words.")
        for words, said in (
            ("- from own: *e*", 'families/own.md has no mistake called "e"'),
            ("- from own: *a*, b", 'b" is left over'),
            ("- all of others", "no page families/others.md"),
            ("- all of own except *e*", 'no mistake called "e"'),
            ("- all of own\n- from own: *a*", '"a" stands there twice'),
        ):
            with pytest.raises(Wrong, match=said):
                list(exercise(words).mistakes)
    finally:
        pages.family_items.cache_clear()


@pytest.mark.parametrize(
    "item, said",
    [
        (
            "- **a**: `missing = x`: It does.",
            'shares.md:15: a: shares has no line that makes "missing"; it makes x, power, raised',
        ),
        (
            "- **a**: `raised = helper(x)`: It does.",
            '"helper" is not known where shares makes "raised"',
        ),
        (
            "- **a**: `raised = x * total`: It does.",
            '"total" is not known yet where shares makes "raised"',
        ),
        ("- **a**: `raised = = x`: It does.", '"raised = = x" is no Python'),
        ("- **a**: `raised[0] = 1`: It does.", "is neither"),
        ("- **a**: `raised = x; raised = 2 * x`: It does.", "changes raised twice"),
        ("- **a**: `raised = x`", "does not say what the answer does"),
        ("- **a** `raised = x`: It does.", "an item reads"),
        (
            "- **a**: `raised = x`: It does.\nAnother reason. *Another?*",
            "shares.md:16: a reason stands after an empty line",
        ),
        ("- **a**: `raised = x`: It does.\n\nNo question.", "a reason ends with its question"),
        (
            "- **a**: `raised = x`: It does.\n- **a**: `raised = 1`: It does.",
            '"a" stands there twice',
        ),
    ],
)
def test_what_is_wrong_with_a_page_is_said(exercise, item, said):
    with pytest.raises(Wrong) as caught:
        list(exercise(item).mistakes)
    assert said in str(caught.value) and "shares.md" in str(caught.value)


def test_item_without_a_reason(exercise):
    with pytest.raises(Wrong, match="no reason above it"):
        exercise(
            page=PAGE.replace("A reason. *A question?*\n", "- **a**: `raised = x`: It does.\n")
        )


def test_a_name_that_two_lines_make_is_refused(exercise):
    with pytest.raises(Wrong, match="shares.py:14: raised is made twice"):
        exercise(
            code=CODE.replace("    return raised", "    raised = 2 * raised\n    return raised")
        )


def test_every_page_belongs_to_an_exercise_or_a_problem():
    folder = pages.FAMILIES.parent / "entries"
    kinds = ("achieve", "break", "order", "repair")
    problems = {page.path for kind in kinds for page in problem_pages(kind).values()}
    for page in {*folder.glob("*/*.md")} - problems:
        assert page.stem in exercises() and page.with_suffix(".py").exists(), page


def test_pages_ship_to_the_browser_and_in_the_distribution(request):
    root = request.config.rootpath
    here = {
        path.relative_to(root).as_posix()
        for path in (root / "attncourse" / "exercises").glob("*/**/*.md")
    }
    here -= {"attncourse/exercises/entries/README.md"}
    assert here == {path.relative_to(root).as_posix() for path in sources() if path.suffix == ".md"}
    package = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "setuptools"
    ]["package-data"]
    shipped = {
        path for pattern in package["attncourse"] for path in (root / "attncourse").glob(pattern)
    }
    assert here <= {path.relative_to(root).as_posix() for path in shipped}


def test_all_pages_can_be_read():
    for exercise in exercises().values():
        assert len(list(exercise.mistakes)) >= 6, exercise.name


def test_steps_are_called_in_the_function_itself():
    """The reference in steps gives what the function as it is written gives."""
    for exercise in exercises().values():
        written = getattr(exercise.answer, "__self__", None)
        if written is None:
            continue
        function = written.globals[written.tree.name]
        for case in exercise.all_cases()[:3]:
            args = fresh_copy(case.args, wide=False)  # what is read once comes as a list
            with np.errstate(all="ignore"):
                expected = function(*args)
            found = exercise.apply((), case, args)
            for part, wanted in zip(as_arrays(found), as_arrays(expected), strict=True):
                np.testing.assert_array_equal(part, wanted, exercise.name)


def test_a_prediction_is_the_same_wherever_it_begins():
    """What mistakes make of a case doesn't change if the lines before them are computed once for
    all.
    """
    for exercise in exercises().values():
        if exercise.cannot_check():
            continue
        made = Counter(name for step in exercise.steps for name in step.split(", "))
        after = {f"{name} after" for name, times in made.items() if times > 1}
        twice = [pair for pair in pairs_of(exercise) if after & {*exercise._changes(pair)}]
        hypotheses = [*list(exercise.hypotheses(1))[::4], *pairs_of(exercise, 12), *twice[::5]]
        for hypothesis, index in itertools.product(hypotheses, {0, exercise.screen()}):
            found = exercise.predict(hypothesis, index)
            case = exercise.all_cases()[index]
            try:
                with np.errstate(all="ignore"):
                    whole = exercise.apply(hypothesis, case, fresh_copy(case.args, wide=True))
            except Exception as error:
                assert found.text == str(error), (exercise.name, hypothesis)
                continue
            for part, wanted in zip(found, as_arrays(whole), strict=True):
                wanted = exercise._narrow(wanted, case)
                assert part.dtype == wanted.dtype and part.shape == wanted.shape
                np.testing.assert_array_equal(part, wanted, exercise.name)
