"""The exercises' checker: right answers are accepted, wrong ones named, and nothing else
happens.
"""

import dataclasses
import math
import re
import types

import numpy as np
import pytest

import attnlib
from attncourse.exercises import grade
from attncourse.exercises.engine import catalogue, changes, generic, message, prove, usable
from attncourse.exercises.engine.find import exercises
from attncourse.exercises.engine.numbers import read_number
from attncourse.exercises.engine.prove import load_answers, problems, prove_pairs, prove_singles
from attncourse.exercises.model import FLOAT32, PARTS, PLAIN, Case, Failure, Mistake

ENTRIES = [entry for entries in load_answers().values() for entry in entries]
NAMES = list(exercises())


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.right], ids=lambda e: e.label)
def test_right_answer_is_accepted(entry):
    result = grade(entry.exercise, entry.function)
    assert result.status == "correct", result.message


@pytest.mark.parametrize("entry", [e for e in ENTRIES if not e.right], ids=lambda e: e.label)
def test_wrong_answer_is_named(entry):
    result = grade(entry.exercise, entry.function)
    assert result.status in ("incorrect", "error"), result.message
    assert set(result.mistakes) == set(entry.names), result.message
    assert all(name.count(" or ") <= 1 for name in result.mistakes), result.message
    lines = result.message.split("\n")
    assert all(len(line) <= 76 for line in lines) and len(lines) <= 25, result.message


@pytest.mark.parametrize("name", NAMES)
def test_enough_right_and_wrong_answers(name):
    if exercises()[name].cannot_check():
        pytest.skip(exercises()[name].cannot_check())
    right = [e for e in ENTRIES if e.exercise == name and e.right]
    assert len(right) >= 3
    assert len(exercises()[name].mistakes) >= 6
    assert len(exercises()[name].hints) >= 3


@pytest.mark.parametrize("name", NAMES)
def test_every_mistake_is_named_alone(name):
    found = prove_singles(exercises()[name])
    assert prove.counts(found, {})[:2] == prove.recorded()[name][:2]
    assert {mistake: said for mistake, said in found.items() if said != "exact"} == {}


def test_every_exercise_has_its_recorded_proof():
    proofs = prove.recorded()
    assert list(proofs) == NAMES
    right = {name: sum(e.right and e.exercise == name for e in ENTRIES) for name in NAMES}
    checked = [name for name in NAMES if not exercises()[name].cannot_check()]
    assert {name: proofs[name][6:] for name in checked} == {n: (right[n], 0) for n in checked}


@pytest.mark.parametrize("name", NAMES)
def test_entry_has_no_error_of_its_own(name):
    assert list(problems(exercises()[name])) == []


def test_table_reports_errors_of_an_entry(monkeypatch):
    misspelt = Mistake(
        "misspelt",
        change={"axis": lambda known: scroes},  # noqa: F821
        does="D.",
        why="W.",
        ask="A?",
    )
    broken = dataclasses.replace(exercises()["softmax"], axes={}, mistakes=(misspelt,))
    monkeypatch.setattr(prove, "exercises", lambda: {"softmax": broken})
    monkeypatch.setattr(prove, "load_answers", dict)
    found = prove.table()
    assert "softmax: error of the entry: scores has no axes" in found
    assert "softmax: error of the entry: misspelt: its change raises NameError" in found
    assert "blank" not in found


def test_a_number_is_positive_where_both_signs_fit():
    assert read_number(lambda number: abs(number**2 - 4)) == pytest.approx(2)
    assert read_number(lambda number: abs(number + 4)) == pytest.approx(-4)
    assert read_number(lambda number: abs(number + 4), negative=False) is None


def scores_by_torch_habits(query, key):
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])


@pytest.mark.parametrize(
    "name, function, said",
    [
        (
            "raw_scores",
            lambda query, key: query @ key.mT / math.sqrt(query.size(-1)),
            "x.shape[-1]",
        ),
        ("raw_scores", scores_by_torch_habits, "np.swapaxes(x, -1, -2)"),
        (
            "softmax",
            lambda scores, axis=-1: np.exp(scores).sum(axis, keepdim=True),
            "NumPy calls it keepdims",
        ),
        ("softmax", lambda scores, axis=-1: scores.max(dim=axis), "NumPy calls it axis"),
        ("softmax", lambda scores, axis=-1: scores.unsqueeze(0), "NumPy has x[..., None]"),
        ("causal_mask", lambda n_q, n_k: np.ones(n_q)[n_k + n_q] > 0, "one beyond the end"),
        (
            "merge_stats",
            lambda max_a, sum_a, max_b, sum_b: (max(max_a, max_b), sum_a + sum_b),
            "np.maximum and np.minimum",
        ),
    ],
)
def test_habits_of_torch_are_told_in_numpys_words(name, function, said):
    assert said in " ".join(grade(name, function).message.split())


def test_a_default_in_a_line_is_no_assignment_to_two_names():
    found = grade(
        "softmax", lambda scores, axis=-1: np.exp(scores - scores.max()) / np.exp(scores).sum(axis)
    )
    assert "argmax" not in found.message


def test_keepdims_is_not_mentioned_where_nothing_is_reduced():
    def causal_mask(n_q, n_k):
        return np.arange(n_q) >= np.arange(n_k)

    assert "keepdims" not in grade("causal_mask", causal_mask).message


def test_dtype_of_the_smallest_example_is_said_where_it_matters():
    found = grade(
        "softmax_row",
        lambda scores: (np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()).astype(
            np.float32
        ),
    ).message
    assert "(float64)" in found and "dtype float32" in found


def test_one_number_of_short_vectors_is_told_as_a_formula():
    def dot_score(query, key):
        total = 1.0
        for i in range(len(query) - 1):
            total += query[i] * key[i]
        return total

    assert "query[0]·key[0] + 1; it should be query[0]·key[0]" in " ".join(
        grade("dot_score", dot_score).message.split()
    )


@pytest.mark.parametrize("name", NAMES)
def test_pairs_are_named_as_pairs(name):
    found = prove_pairs(exercises()[name], limit=25)
    unnamed = [pair for pair, said in found.items() if said == "called ()"]
    misnamed = {
        pair: said
        for pair, said in found.items()
        if said not in ("exact", "either", "simpler", "blank") and pair not in unnamed
    }
    assert misnamed == {}
    assert len(unnamed) <= 1, unnamed
    exact = sum(said == "exact" for said in found.values())
    assert exact >= 0.6 * len(found), found


def test_mistakes_are_written_as_sentences():
    for exercise in exercises().values():
        for mistake in exercise.mistakes:
            where = exercise.name, mistake.name
            assert mistake.does.endswith("."), where
            assert mistake.why.endswith("."), where
            assert mistake.ask[0].isupper() and mistake.ask.endswith("?"), where
            assert " or " not in mistake.name and " with " not in mistake.name, where
        names = [mistake.name for mistake in exercise.mistakes]
        assert len(names) == len(set(names)), exercise.name


@pytest.mark.parametrize("part", PARTS)
def test_catalogue_names_every_mistake_where_the_book_puts_it(part, request):
    from book import editions

    root, seen = request.config.rootpath, []
    name = catalogue.file_of(part)
    source = [(root / "chapters" / "mistakes" / name).read_text(encoding="utf-8")]
    app = types.SimpleNamespace(
        srcdir=str(root), env=types.SimpleNamespace(note_dependency=seen.append)
    )
    editions.put_catalogue(app, f"chapters/mistakes/{name.removesuffix('.md')}", source)
    (built,) = source
    assert built.startswith(f"# Mistakes: {part[0].lower() + part[1:]}\n\n{catalogue.INTRODUCTION}")
    assert "<!--" not in built and any(path.endswith("softmax_row.md") for path in seen)
    for exercise in exercises().values():
        if exercise.part == part:
            assert f"`{exercise.name}{exercise.signature}`" in built
            assert all(
                catalogue.escaped(mistake.name) in built for mistake in catalogue.mistakes(exercise)
            )


def test_of_two_mistakes_each_is_told_as_it_would_be_alone():
    def dot_score(query, key):
        return np.array([[query @ key / np.sqrt(len(query))]])

    found = grade("dot_score", dot_score)
    assert found.mistakes == ("scaled already", "axis kept")
    said = "What the second mistake does on its own: The answer has 2 axes of length 1 too many."
    assert said in " ".join(found.message.split())
    assert "What it does:" not in found.message


def test_rows_of_cosines_are_not_said_to_sum_to_1():
    def cosine_scores(query, key):
        lengths = np.linalg.norm(query) * np.linalg.norm(key)
        return (query @ key.mT / (lengths or 1)).astype(query.dtype)

    found = grade("cosine_scores", cosine_scores)
    assert found.mistakes == ("one length for all",)
    assert "sum to 1" not in " ".join(found.message.split())


def test_numbers_that_nearly_agree_are_shown_apart():
    def ulp_error(computed, exact):
        return (computed - exact) / np.spacing(np.abs(exact.astype(np.float32))).astype(np.float64)

    found = grade("ulp_error", ulp_error).message
    assert (
        "computed = [1.5, 3.250000238, 4.999999046] (float32)" in found
        and "exact = [1.5, 3.25, 5.0000001]" in found
    )


def nearest_of_rounded(query, key):
    return np.argmax(np.round(query @ np.swapaxes(key, -1, -2), 3), axis=-1)


def test_an_input_is_shown_so_that_what_is_expected_follows():
    shown = "key = [[1, 0], [1.000000001, 0]] returned [0] expected [1]"
    assert shown in in_one_line("nearest_key", nearest_of_rounded)


@pytest.mark.parametrize("largest, needed", [(1 + 1e-4, 6), (1 + 1e-9, 10), (1 + 1e-13, 15)])
def test_numbers_that_decide_are_shown_apart_in_lists_of_arrays_too(largest, needed):
    parts = [np.array([[1.0, largest]])]
    exercise = types.SimpleNamespace(
        in_words=False, steps={}, answer=lambda changes, dtype, parts: parts[0].argmax(axis=-1)
    )
    seen = types.SimpleNamespace(
        case=Case(PLAIN, (parts,)), values=(np.array([0]),), dtypes=("int64",)
    )
    assert message._digits_needed(exercise, seen, (np.array([1]),)) == needed
    assert message.argument("parts", parts, digits=needed) == f"parts = [[[1, {largest:.15g}]]]"


def test_of_a_large_answer_the_entry_that_differs_is_shown_apart():
    def softmax_half(scores):
        wide = scores.astype(np.float32)
        powers = np.exp(wide - wide.max(axis=-1, keepdims=True))
        inverse = (1 / powers.sum(axis=-1, keepdims=True)).astype(np.float16)
        return powers.astype(np.float16) * inverse

    found = grade("softmax_half", softmax_half).message
    returned, expected = (
        re.search(rf"^  {word} (.*)", found, re.MULTILINE)[1] for word in ("returned", "expected")
    )
    assert returned != expected


def test_what_is_so_for_one_input_is_said_of_that_input():
    def cross_entropy_backward(scores, target):
        hot = np.arange(scores.shape[-1]) == target[..., None]
        logs = attnlib.log_softmax(scores)
        loss = -np.take_along_axis(logs, target[..., None], axis=-1)
        return loss * (attnlib.softmax(scores) - hot)

    text = " ".join(grade("cross_entropy_backward", cross_entropy_backward).message.split())
    assert "returned [[1.47, -2.36, 0.89]]" in text  # 2.55 times, and another factor elsewhere
    assert "Every entry" not in text


def test_rounding_errors_alone_prove_no_mistake():
    def query_gradient(query, key, grad_weights):
        weights = attnlib.softmax(query @ key.mT / math.sqrt(query.shape[-1]))
        grad = weights * (grad_weights - (weights * grad_weights).sum(axis=-1, keepdims=True))
        return grad.sum(axis=-1, keepdims=True) * query

    found = grade("query_gradient", query_gradient)
    assert found.mistakes == ()
    assert "What it does: The shape is right, but not all numbers are." in found.message


@pytest.mark.parametrize(
    "name, function, said",
    [
        (
            "kv_cache_bytes",
            lambda batch, n, n_layers, h_kv, d_head, itemsize: batch * n * h_kv * d_head * itemsize,
            (
                "What the first mistake does on its own: Only one array is counted, so the answer"
                " is half"
            ),
        ),
        (
            "attention_flops",
            lambda n_q, n_k, d_k, d_v: n_q * n_k * d_k * d_v,
            (
                "The mistake: either multiply-add counted as 1 with d_k times d_v, or products"
                " multiplied with brackets missing around d_k + d_v"
            ),
        ),
    ],
)
def test_what_is_half_is_said_of_that_mistake_alone(name, function, said):
    text = " ".join(grade(name, function).message.split())
    assert said in text and "What it does: The answer is half" not in text


def test_of_many_mistakes_the_first_is_said():
    def av_product(weights, value):
        output = np.zeros(value.shape[-1])
        for j in range(len(value)):
            for c in range(value.shape[-1]):
                output[c] = weights[0, j] * value[j, c]
        return output

    found = grade("av_product", av_product)
    assert len(found.mistakes) > 3
    assert "second mistake" not in found.message and "Fix the first mistake first" in found.message


# ---------------------------------------------------------------- what a message claims


def told(name, function):
    """(grade, its message on one line)."""
    found = grade(name, function)
    return found, " ".join(found.message.split())


def half_softmax_wrong(scores):
    powers = np.exp(scores.astype(np.float64) - scores.max())
    return powers / powers.sum(-1)[0]


def mean_of_products(weights, value):
    output = np.zeros((weights.shape[-2], value.shape[-1]))
    for i in range(weights.shape[-2]):
        for j in range(weights.shape[-1]):
            output[i] += weights[i, j] * value[j] + 0.1 * i
    return output


@pytest.mark.parametrize(
    "name, function",
    [
        ("softmax_half", half_softmax_wrong),
        ("weighted_mean", mean_of_products),
        ("dot_score", lambda query, key: np.array([[query @ key / np.sqrt(len(query))]])),
        ("raw_scores", lambda query, key: np.float64(2) * (query @ key.mT)),
    ],
)
def test_the_dtype_is_said_last_and_in_two_sentences(name, function):
    found, text = told(name, function)
    if any(mistake.endswith("leaks out") for mistake in found.mistakes):
        assert found.mistakes[-1].endswith("leaks out")
        dtype = text.index("The dtype: float64 leaks out.")
        assert text.index("What") < text.index("returned") < dtype
        remark, _, question = text[dtype:].partition("Ask yourself")
        assert bool(question) == (len(found.mistakes) > 1)  # only of what is known
        assert remark.count(". ") <= 3, remark


def scaled_by_numpy(query, key, value):
    scores = query @ key.mT / np.sqrt(query.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ value


def test_right_values_of_another_dtype_are_told_by_the_dtype_alone():
    found, text = told("attention", scaled_by_numpy)
    assert found.mistakes == ("float64 leaks out",)
    assert "What it does: The answer is float64" in text and "np.sqrt of a Python number" in text


def by_the_root_of_a_length(query, key, value):
    n, d_k = query.shape[-2:][0], query.shape[-1]
    scores = query @ key.mT / np.sqrt(d_k)
    powers = np.exp(np.where(np.arange(n)[:, None] >= 0, scores, -np.inf))
    return powers / powers.sum(axis=-1, keepdims=True) @ value


def alibi_with_integers(scores, slopes):
    i, j = np.arange(scores.shape[-2])[:, None], np.arange(scores.shape[-1])
    return scores - slopes[:, None, None] * abs(i - j)


def parts_merged_by_attnlibs_lse(query, key, value, n_splits):
    outputs, lses = [], []
    for keys, values in zip(np.array_split(key, n_splits, -2), np.array_split(value, n_splits, -2)):
        output, lse = attnlib.attention(query, keys, values, return_lse=True)
        outputs.append(output), lses.append(lse)
    shares = np.exp(np.stack(lses) - np.max(lses, axis=0))
    shares = shares / shares.sum(axis=0)
    return sum(share[..., None] * output for share, output in zip(shares, outputs))


@pytest.mark.parametrize(
    "name, function, said",
    [
        ("alibi_scores", alibi_with_integers, "integers"),
        ("attention", by_the_root_of_a_length, "(np.sqrt of a Python number is float64)."),
        ("split_kv_attention", parts_merged_by_attnlibs_lse, "attnlib"),
    ],
)
def test_no_new_array_is_blamed_for_a_width_that_comes_from_elsewhere(name, function, said):
    _, text = told(name, function)
    assert "leaks out" in text and said in text
    assert "np.zeros" not in text


def test_a_mask_that_does_not_fit_is_no_matrix_product():
    torch = pytest.importorskip("torch")

    def attention_torch_causal(query, key, value):
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        hidden = torch.ones(query.shape[-2], query.shape[-2], dtype=torch.bool).triu(1)
        return torch.softmax(scores.masked_fill(hidden[:, 1:], -torch.inf), -1) @ value

    _, text = told("attention_torch_causal", attention_torch_causal)
    assert (
        "must match the size" in text
        and "matrix product" not in text
        and "aligned from the end" in text
    )


@pytest.mark.parametrize(
    "kind, text, cause",
    [
        (
            "RuntimeError",
            (
                "The size of tensor a (37) must match the size of tensor b (41) at non-singleton"
                " dimension 1"
            ),
            "broadcast",
        ),
        ("RuntimeError", "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)", "matmul"),
        (
            "RuntimeError",
            (
                "Expected size for first two dimensions of batch2 tensor to be: [6, 8] but got:"
                " [6, 7]."
            ),
            "matmul",
        ),
        ("ValueError", "matmul: Input operand 1 has a mismatch in its core dimension 0", "matmul"),
    ],
)
def test_shape_errors_have_their_cause(kind, text, cause):
    assert Failure(kind, text).cause == cause


def window_without_brackets(n_q, n_k, left, right):
    i, j = np.arange(n_q)[:, None], np.arange(n_k)
    left, right = (n_q + n_k if limit is None else limit for limit in (left, right))
    return j >= i - left & j <= i + right


def window_over_lines(n_q, n_k, left, right):
    i, j = np.arange(n_q)[:, None], np.arange(n_k)
    left, right = (n_q + n_k if limit is None else limit for limit in (left, right))
    # fmt: off
    return (
        j >= i - left
        & j <= i + right
    )
    # fmt: on


def window_by_and(n_q, n_k, left, right):
    i, j = np.arange(n_q)[:, None], np.arange(n_k)
    return j >= i - 1 and j <= i + 1


def window_by_a_chain(n_q, n_k, left, right):
    i, j = np.arange(n_q)[:, None], np.arange(n_k)
    return i - 1 <= j <= i + 1


def test_comparisons_joined_without_brackets_are_told_as_such():
    _, text = told("window_mask", window_without_brackets)
    assert "bind more tightly than comparisons" in text and "an and" not in text
    _, text = told("window_mask", window_by_a_chain)
    assert "bind more tightly" not in text and "a <= b <= c" in text
    _, text = told("window_mask", window_over_lines)
    assert "j >= i - left & j <= i + right In Python & and | bind more tightly" in text
    _, text = told("window_mask", window_by_and)
    assert "An if, an and" in text and "A chain" not in text


@pytest.mark.parametrize(
    "line, joined",
    [
        ("return j >= i - left & j <= i + right", True),
        ("return (j >= i) & (j <= i)", False),
        ("mask = a == (b & c)", False),
        ("keep = a & b == c", True),
        ("if j >= i and (a & b) == c:", False),
        ("j >= i - left & j <= i +", True),
        ("(j >= i) & (j <=", False),
    ],
)
def test_what_is_joined_inside_a_comparison(line, joined):
    assert message.joined_inside(line) == joined


def test_what_is_described_is_what_is_shown():
    _, text = told(
        "temperature_softmax", lambda scores, temperature: scores / temperature * 0 + 0.7
    )
    assert "Every entry is 0.7." in text and "returned [[0.7, 0.7]]" in text


def test_an_overwritten_argument_is_shown_as_it_is_afterwards():
    def softmax(scores, axis=-1):
        scores -= scores.max(axis, keepdims=True)
        return np.exp(scores) / np.exp(scores).sum(axis, keepdims=True)

    found, text = told("softmax", softmax)
    assert found.mistakes == ("argument overwritten",)
    assert "scores = [[-3, -1]] scores = [[-2, 0]] after the call" in text


def test_an_answer_that_fails_on_two_axes_is_not_said_to_be_right_there():
    def weighted_mean(weights, value):
        return weights @ value / weights.sum(axis=1, keepdims=True)

    found, text = told("weighted_mean", weighted_mean)
    assert "leading axes forgotten" in found.mistakes
    assert "only for two axes" not in text
    assert "right for two axes" not in text and "correct for two axes" not in text


def test_blocks_of_queries_are_not_said_to_hold_all_scores():
    def streaming_attention(query, key, value, block_size):
        output = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
        for first in range(0, query.shape[-2], block_size):
            rows = slice(first, first + block_size)
            scores = query[..., rows, :] @ key.mT / math.sqrt(query.shape[-1])
            powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
            output[..., rows, :] = powers / powers.sum(axis=-1, keepdims=True) @ value
        return output

    found, text = told("streaming_attention", streaming_attention)
    assert found.mistakes == ("blocks of queries instead of keys",)
    assert "n_q times n_k" not in text


def test_a_boolean_mask_made_of_minus_infinity_is_told_as_that():
    def causal_mask(n_q, n_k):
        mask = np.zeros((n_q, n_k), bool)
        mask[np.triu_indices(n_q, 1, n_k)] = -np.inf
        return mask

    found, _ = told("causal_mask", causal_mask)
    assert found.mistakes == ("mask inverted", "additive mask in a boolean array")


def test_a_right_answer_that_sweeps_up_every_nan_is_told_so():
    def safe_softmax(scores):
        with np.errstate(invalid="ignore"):
            powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return np.nan_to_num(powers / powers.sum(axis=-1, keepdims=True))

    swept, named = (
        grade("safe_softmax", safe_softmax),
        grade(
            "softmax",
            lambda scores, axis=-1: np.exp(
                scores - np.logaddexp.reduce(scores, axis=axis, keepdims=True)
            ),
        ),
    )
    assert swept.status == named.status == "correct"
    assert "A remark: nan_to_num doesn't tell" in swept.message
    assert "A remark" not in named.message

    def without_a_sweep(scores):
        # nan_to_num would hide bugs
        top = scores.max(axis=-1, keepdims=True)
        powers = np.exp(scores - np.where(np.isneginf(top), 0, top).astype(scores.dtype))
        total = powers.sum(axis=-1, keepdims=True)
        return powers / np.where(total == 0, 1, total).astype(scores.dtype)

    def swept_by_index(scores):
        with np.errstate(invalid="ignore"):
            powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = powers / powers.sum(axis=-1, keepdims=True)
        weights[np.isnan(weights)] = 0
        return weights

    assert "A remark" not in grade("safe_softmax", without_a_sweep).message
    assert "A remark: isnan doesn't tell" in grade("safe_softmax", swept_by_index).message


def test_beside_another_mistake_nothing_is_said_of_everything_else():
    def av_product(weights, value):
        return (value.T @ weights.T).T * 1.5

    found, text = told("av_product", av_product)
    assert found.mistakes == ("the answer times 1.5", "only for two axes")
    assert "verything" not in text


def no_scale_and_delta_without_keepdims(query, key, value, grad_output):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    w = np.exp(scores - scores.max(axis=-1, keepdims=True))
    w = w / w.sum(axis=-1, keepdims=True)
    dw = grad_output @ value.mT
    ds = w * (dw - (w * dw).sum(axis=-1))
    return ds @ key, ds.mT @ query, w.mT @ grad_output


def no_scale_and_parts_exchanged(query, key_cache, value_cache, key_new, value_new):
    keys = np.concatenate([key_cache, key_new], axis=-2)
    values = np.concatenate([value_cache, value_new], axis=-2)
    scores = query @ keys.mT
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ values, values, keys


def queries_of_the_first_matrix(weights, pattern):
    counted = pattern.any(axis=-1)
    chosen = counted.reshape(-1, counted.shape[-1])[0]
    return (weights * pattern).sum(axis=-1)[..., chosen].mean(axis=-1)


def features_in_parts(query, key, value, n_splits):
    parts = zip(np.array_split(query, n_splits, -1), np.array_split(key, n_splits, -1))
    found = [attnlib.attention(q, k, value) for q, k in parts]
    return np.mean(found, axis=0)


def whole_as_rounded(first, last, n_k, block_k, left, right):
    low, high = (0 if left is None else max(0, i - left) for i in (first, last))
    end, stop = (n_k if right is None else min(n_k, i + right + 1) for i in (last, first))
    return low // block_k * block_k, -(-high // block_k) * block_k, stop // block_k * block_k, end


def slopes_of_the_queries(scores, slopes):
    i, j = np.arange(scores.shape[-2])[:, None], np.arange(scores.shape[-1])
    return scores - slopes[:, None] * np.abs(i - j).astype(scores.dtype)


def backward_by_numpys_root(query, key, grad_scores):
    grad = grad_scores / np.sqrt(key.shape[-1])
    return grad @ key, grad.mT @ query


def one_maximum_in_float64(scores):
    top = scores.max()
    powers = np.exp(scores.astype(np.float64) - (0 if np.isneginf(top) else top))
    total = powers.sum(axis=-1, keepdims=True)
    total[total == 0] = 1
    return powers / total


def blockwise_in_new_arrays(scores, block_size):
    top, total = np.full(scores.shape[:-1], -np.inf), np.zeros(scores.shape[:-1])
    for start in range(0, scores.shape[-1], block_size):
        block = scores[..., start : start + block_size]
        new = np.maximum(top, block.max(-1))
        safe = np.where(np.isneginf(new), 0.0, new)
        total = total * np.exp(top - safe) + np.exp(block - safe[..., None]).sum(-1)
        top = new
    with np.errstate(divide="ignore"):
        return top + np.log(total)


def stats_read_twice(blocks):
    top = max(block.max() for block in blocks)
    return top, sum(np.exp(block - top).sum() for block in blocks)


def jacobian_in_place(weights):
    jacobian = -np.outer(weights, weights)
    return np.fill_diagonal(jacobian, weights * (1 - weights))


def half_by_a_view(scores):
    wide = np.ascontiguousarray(scores).view(np.float32)
    powers = np.exp(wide - wide.max(axis=-1, keepdims=True))
    return (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float16)


def window_from_minus_infinity(n_q, n_k, left, right):
    i, j = np.ogrid[:n_q, :n_k]
    lower = -math.inf if left is None else -left
    upper = math.inf if right is None else right
    return (j - i > lower) & (j - i <= upper)


def item_bytes_of_one_array(n_q, n_k, d_k, d_v, itemsize):
    return n_q * d_k + n_k * d_k + n_k * d_v + n_q * d_v * itemsize


def infinite_beside_minus_infinity(scores, axis=-1):
    top = scores.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):
        found = np.log(np.exp(scores - top).sum(axis=axis)) + np.squeeze(top, axis)
    return np.where(np.isneginf(scores).any(axis=axis), -np.inf, found).astype(scores.dtype)


def neighbour_above(computed, exact):
    rounded = exact.astype(np.float32)
    gap = np.nextafter(rounded, np.float32(np.inf)).astype(np.float64) - rounded
    return np.abs(computed.astype(np.float64) - exact) / gap


def weights_times_and_mean(weights, value, grad_output):
    mean = np.broadcast_to(grad_output.mean(axis=-2, keepdims=True), grad_output.shape)
    return weights * (grad_output @ value.mT), weights.mT @ mean


def distances_of_unsigned_numbers(scores, slopes):
    n_q, n_k = scores.shape[-2:]
    apart = np.arange(n_q, dtype=np.uint8)[:, None] - np.arange(n_k, dtype=np.uint8)
    return scores - slopes[:, None, None] * np.abs(apart).astype(scores.dtype)


def only_keys_repeated(query, key, value):
    shared = query.shape[-3] // key.shape[-3]
    return attnlib.attention(query, np.repeat(key, shared, axis=-3), value)


def maximum_as_a_pair(query, key, value):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    powers = (scores - scores.max(dim=-1, keepdim=True)).exp()
    return powers / powers.sum(dim=-1, keepdim=True) @ value


def mask_on_a_gpu(query, key, value):
    import torch

    scores = query @ key.mT / math.sqrt(query.shape[-1])
    past = torch.ones(scores.shape[-2:], device="cuda").tril() > 0
    return torch.softmax(scores.masked_fill(~past, -torch.inf), dim=-1) @ value


def mask_by_the_dtype_itself(attn_mask, dtype):
    return np.where(attn_mask, dtype(0), dtype(-np.inf))


def product_rounded(query, key):
    return round(float(query @ key), 2)


def masked_by_a_number_for_each_dtype(scores, attn_mask):
    low = -1e4 if scores.dtype == np.float16 else -1e9
    return np.where(attn_mask, scores, scores.dtype.type(low))


def negative_scores_masked_too(scores, attn_mask):
    return np.where(attn_mask & (scores > 0), scores, -np.inf)


def mask_inverted_in_float64(attn_mask, dtype):
    return np.where(attn_mask, -np.inf, 0.0)


def mask_of_float32(attn_mask, dtype):
    return np.where(attn_mask, 0, -1e9).astype(np.float32)


def causal_with_axes_of_heads(n_q, n_k):
    return np.tri(n_q, n_k, dtype=bool)[None, None]


def strictly_causal_for_real_queries(lengths, n):
    real = np.arange(n) < lengths[:, None, None, None]
    return np.tri(n, k=-1, dtype=bool) & real & np.swapaxes(real, -1, -2)


def last_rows_of_a_square(n_q, n_k):
    return np.tri(n_k, n_k, dtype=bool)[-n_q:]


def softmax_of_a_list(scores):
    powers = [math.exp(float(score) - float(max(scores))) for score in scores]
    return np.array([power / sum(powers) for power in powers])


def entropy_of_clipped_weights(weights):
    weights = np.clip(weights, 1e-2, 1)
    return -(weights * np.log(weights)).sum(axis=-1)


def softmax_of_the_transposed(scores, axis=-1):
    powers = np.exp(scores.T - scores.max(axis=axis))
    return (powers / powers.sum(axis=0)).T


def top_p_from_below(scores, p):
    order = np.argsort(scores, axis=-1)
    left_out = np.cumsum(attnlib.softmax(np.take_along_axis(scores, order, -1)), -1) <= 1 - p
    left_out[..., -1] = False
    found = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(found, order, left_out, axis=-1)
    return np.where(found, -np.inf, scores)


def small_losses_twice(scores, target):
    s = scores - scores.max(axis=-1, keepdims=True)
    loss = np.log(np.exp(s).sum(-1)) - np.take_along_axis(s, target[..., None], -1)[..., 0]
    return np.where((loss > 0) & (loss < 1e-9), 2 * loss, loss).astype(scores.dtype)


def test_an_answer_with_all_its_digits_is_not_called_imprecise():
    found = grade("cross_entropy", small_losses_twice)
    assert found.status == "incorrect" and found.mistakes == (), found.message


def rotated_at_the_highest_so_far(x, positions, base):
    half = x.shape[-1] // 2
    far = np.maximum.accumulate(positions)
    angles = far[:, None] * float(base) ** (-np.arange(half) / half)
    first, second = x[..., :half].astype(float), x[..., half:].astype(float)
    cos, sin = np.cos(angles), np.sin(angles)
    turned = np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)
    return turned.astype(x.dtype)


def top_p_beyond_an_exact_sum(scores, p):
    order = np.argsort(-scores, axis=-1, kind="stable")
    ranked = np.take_along_axis(attnlib.softmax(scores), order, -1)
    kept = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(kept, order, np.cumsum(ranked, -1) - ranked <= p, axis=-1)
    return np.where(kept, scores, -np.inf)


def softcap_with_the_cap_as_fill(scores, cap, attn_mask):
    return np.where(attn_mask, cap * np.tanh(scores / cap), -cap).astype(scores.dtype)


def rest_unless_accepted(target, draft, token, u):
    if u < target[token] / draft[token]:
        return True, None
    missing = np.maximum(target - draft, 0)
    return False, missing / missing.sum()


def source_by_fmod(rank, step, world):
    return int(math.fmod(rank - step, world))


def sink_without_a_maximum(scores, sink):
    powers = np.exp(scores)
    return powers / (powers.sum(axis=-1, keepdims=True) + np.exp(sink)[:, None, None])


def dropped_by_its_own_draw(weights, keep, p):
    drawn = np.random.default_rng(0).random(weights.shape) >= p
    return (weights * drawn / (1 - p)).astype(weights.dtype)


def padding_before_the_last_keys(lengths, n_k):
    mask = np.zeros((len(lengths), 1, n_k), dtype=bool)
    for row, length in zip(mask, lengths):
        row[0, : -(n_k - length)] = True
    return mask


def log_softmax_of_other_sums(scores, axis=-1):
    shifted = scores - scores.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


@pytest.mark.parametrize(
    "name, function, said, unsaid",
    [
        (
            "sink_softmax",
            sink_without_a_maximum,
            "a row and its sink all lie far below 0 ... scores = [[[-9999, -9998]]]",
            "second mistake",
        ),
        (
            "dropout_weights",
            dropped_by_its_own_draw,
            "without looking at keep. ... for the input below: Wrong in column 2",
            "with ordinary input",
        ),
        (
            "rotary",
            rotated_at_the_highest_so_far,
            "begin at 0, leading axes ... Tried and wrong: positions out of order.",
            "Tried and wrong: positions that",
        ),
        (
            "top_p_scores",
            top_p_beyond_an_exact_sum,
            "once the sum of the kept weights has reached p, nothing more is needed",
            "sum to less than p",
        ),
        ("softcap_scores", softcap_with_the_cap_as_fill, "rather than -inf, as happens", "raised"),
        ("accept_draft", rest_unless_accepted, "holds None ... asked for in every", "NoneType"),
        ("ring_source", source_by_fmod, "is never negative, whereas", "remainder"),
        (
            "ring_source",
            lambda rank, step, world: abs(rank - step),
            "so the answer is step - rank, which is correct only if it happens to be half of world",
            "is another rank",
        ),
        (
            "padding_mask",
            padding_before_the_last_keys,
            "everything and [:-0] selects nothing",
            "[0:]",
        ),
        ("log_softmax", log_softmax_of_other_sums, "the sums still run over the last", "divided"),
        ("top_p_scores", top_p_from_below, "the later ones ... even for p = 1", "reaches 1"),
        (
            "attention_backward",
            no_scale_and_delta_without_keepdims,
            "shapes (2,3) (2,) ... A small input that shows it: query = [[",
            "37",
        ),
        (
            "decode_step",
            no_scale_and_parts_exchanged,
            "A small input ... returned output ... expected value_cache",
            "A dot product of",
        ),
        (
            "alibi_scores",
            slopes_of_the_queries,
            (
                "returned [[ ... For other sizes it stops with an error. ValueError: ... scores of"
                " shape (5, 13, 17) slopes of shape (5,)"
            ),
            "It stops with",
        ),
        (
            "raw_scores_backward",
            backward_by_numpys_root,
            "returned grad_query = ... dtype float64 expected grad_query = the same, dtype float32",
            "conversion",
        ),
        (
            "safe_softmax",
            one_maximum_in_float64,
            "For float32 input the answer is float64. ... a conversion to float64.",
            "of a Python number",
        ),
        (
            "blockwise_logsumexp",
            blockwise_in_new_arrays,
            "np.full with a float makes",
            "of a Python number",
        ),
        ("online_softmax_stats", stats_read_twice, "iterable read twice", "besides"),
        (
            "softmax_jacobian",
            jacobian_in_place,
            "although it has a return line. ... np.fill_diagonal",
            "Without a return",
        ),
        ("softmax_half", half_by_a_view, "x.astype(dtype) converts", "have this axis"),
        ("window_mask", window_from_minus_infinity, "left end excluded", "-inf"),
        (
            "attention_bytes",
            item_bytes_of_one_array,
            "brackets missing: itemsize multiplies only n_q·d_v",
            "on its own",
        ),
        ("logsumexp", infinite_beside_minus_infinity, "single -inf among its scores", "negative"),
        ("ulp_error", neighbour_above, "half as large as it should be", "more than"),
        (
            "av_product_backward",
            weights_times_and_mean,
            "grad_weights: the shape is right, but ... grad_value: right here.",
            "right. ",
        ),
        (  # 3 less in each entry of the smallest input, and in no other one
            "av_product_backward",
            weights_times_and_mean,
            "returned grad_weights = [[1, 9]] expected grad_weights = [[4, 12]]",
            "every entry",
        ),
        ("alibi_scores", distances_of_unsigned_numbers, "not all numbers are.", "negative"),
        (
            "grouped_query_attention",
            only_keys_repeated,
            "return attnlib.attention(query, np.repeat(key",
            "raise ValueError",
        ),
        ("attention_torch", maximum_as_a_pair, "take .values", "np."),
        ("attention_torch_causal", mask_on_a_gpu, "device=query.device", "It returns"),
        ("weight_on_pattern", queries_of_the_first_matrix, "in the first matrix.", "factor"),
        ("split_kv_attention", features_in_parts, "attnlib.attention(q, k, value)", "raise "),
        ("key_ranges", whole_as_rounded, "keep their rounded values", "comes out larger"),
        ("additive_mask", mask_by_the_dtype_itself, "dtype = np.dtype('float32')", "= float32"),
        ("dot_score", product_rounded, "rounded to 2 digits", "besides"),
        ("mask_scores", masked_by_a_number_for_each_dtype, "large negative number", "besides"),
        ("mask_scores", negative_scores_masked_too, "1 of 6 entries is infinite but", "infinite."),
        ("additive_mask", mask_inverted_in_float64, "For dtype=float32 the answer", " input the"),
        ("additive_mask", mask_of_float32, "is always float32", "besides"),
        (
            "causal_mask",
            causal_with_axes_of_heads,
            "has 2 axes of length 1 too many",
            "has an axis",
        ),
        (
            "causal_padding_mask",
            strictly_causal_for_real_queries,
            "diagonal excluded with padded queries hidden too",
            "on its own",
        ),
        ("decode_mask", last_rows_of_a_square, "exactly for those with n_q <= n_k", "besides"),
        ("softmax_row", softmax_of_a_list, "a list of Python numbers (np.array", "integers"),
        (
            "attention_entropy",
            entropy_of_clipped_weights,
            "every weight below a small number is replaced",
            "Every",
        ),
        ("projection_std", lambda d_model: 0.02, "The answer is 0.02 whatever", "is wrong"),
        ("softmax", softmax_of_the_transposed, "leading axes forgotten", "for leading axes:"),
    ],
)
def test_what_a_message_claims_holds_for_this_answer(name, function, said, unsaid):
    _, text = told(name, function)
    place = 0
    for part in said.split(" ... "):
        assert part in text[place:], (part, text)
        place += text[place:].index(part)
    assert unsaid not in text, text


def test_a_first_row_that_sums_to_1_is_no_fault():
    wanted = np.array([[0.25, 0.75], [0.5, 0.5]])
    found = wanted * [[1], [2]]
    assert message._first_sum(found, wanted) == ""
    assert "sums to 2," in message._first_sum(found[::-1], wanted)


def test_right_numbers_in_another_shape_are_told_by_the_shape():
    square = np.arange(4.0).reshape(2, 2)
    said = message._part_properties(square[None], square, 1e-9)
    assert said == ["The answer has shape (1, 2, 2), but it should have shape (2, 2)."]


def one_maximum_and_axis_kept(scores, axis=-1):
    top = scores.max()
    top = 0 if np.isneginf(top) else top
    with np.errstate(divide="ignore"):
        return top + np.log(np.exp(scores - top).sum(axis=axis, keepdims=True))


def gradient_turned_and_no_maximum(scores, target):
    with np.errstate(all="ignore"):
        powers = np.exp(scores)
        weights = powers / powers.sum(axis=-1, keepdims=True)
    return np.eye(scores.shape[-1], dtype=scores.dtype)[target] - weights


@pytest.mark.parametrize(
    "name, function, first, shown",
    [
        (
            "logsumexp",
            one_maximum_and_axis_kept,
            "one maximum for the whole array",
            "scores = [[10000, 9999], [",
        ),
        (
            "cross_entropy_backward",
            gradient_turned_and_no_maximum,
            "sign flipped",
            "target = [0, 0] returned [[1, NaN]",
        ),
    ],
)
def test_the_example_shows_the_first_mistake(name, function, first, shown):
    found, text = told(name, function)
    assert found.mistakes[0] == first
    assert shown in text, text


def all_scores_of_one_matrix(query, key, value, block_size):
    scores = query @ key.T / np.sqrt(query.shape[1])
    row_max, output = scores.max(axis=1, keepdims=True), np.zeros((len(query), value.shape[1]))
    row_sum = np.zeros_like(row_max)
    for start in range(0, len(key), block_size):
        powers = np.exp(scores[:, start : start + block_size] - row_max)
        row_sum = row_sum + powers.sum(axis=1, keepdims=True)
        output = output + powers @ value[start : start + block_size]
    return output / row_sum


def scaled_by_the_block(query, key, value, block_size):
    row_max, row_sum = np.full((len(query), 1), -np.inf), np.zeros((len(query), 1))
    output = np.zeros((len(query), value.shape[1]))
    for start in range(0, len(key), block_size):
        block = slice(start, start + block_size)
        scores = query @ key[block].T / np.sqrt(3 + block_size**1.5)
        new_max = np.maximum(row_max, scores.max(axis=1, keepdims=True))
        powers, factor = np.exp(scores - new_max), np.exp(row_max - new_max)
        row_sum = row_sum * factor + powers.sum(axis=1, keepdims=True)
        row_max, output = new_max, output * factor + powers @ value[block]
    return output / row_sum


def a_matrix_for_a_number(d_model):
    while d_model > 100:
        pass
    return np.random.default_rng(0).normal(size=(d_model, d_model)) / np.sqrt(d_model)


def test_of_a_mistake_and_a_wider_dtype_the_example_shows_the_mistake():
    found, text = told("streaming_attention", all_scores_of_one_matrix)
    assert found.mistakes[0] == "only for two axes"
    assert "query = [[[1, 2]], [[3, 1]]]" in text and "expected the same" not in text


def test_a_right_shape_is_not_claimed_of_inputs_that_stop_with_an_error():
    _, text = told("streaming_attention", scaled_by_the_block)
    assert "What it does for the input below: The shape is right, but not all numbers are." in text


def test_no_question_is_about_the_dtype_while_what_is_wrong_with_the_numbers_is_unknown():
    found, text = told("streaming_attention", scaled_by_the_block)
    assert "float64 leaks out" in found.mistakes and "Ask yourself" not in text


def test_the_dtypes_of_a_part_are_all_told():
    def quantize_cache(x):
        top = np.abs(x).max(axis=-1, keepdims=True)
        scale = np.where(top == 0, 1, top / 127).astype(x.dtype)
        return np.round(x / scale), scale

    _, text = told("quantize_cache", quantize_cache)
    assert "Your codes come as float64, float32 or float16, but they should be int8." in text


def test_a_dtype_that_only_part_of_the_answer_has_is_not_said_of_all_of_it():
    mistake = generic.leaks("float64", "numpy")
    seen = types.SimpleNamespace(
        marks={mistake.name: mistake},
        dtypes=("float64", "float32"),
        case=Case(FLOAT32, (np.ones(2, np.float32),)),
    )
    assert "part of the answer is float64" in message._dtype_does(mistake, [seen])
    seen.dtypes = ("float64", "float64")
    assert "input the answer is float64" in message._dtype_does(mistake, [seen])


def test_of_several_arrays_one_that_is_too_wide_is_called_part_of_the_answer():
    def av_product_backward(weights, value, grad_output):
        grad_value = np.zeros(value.shape)
        grad_value += weights.mT @ grad_output
        return grad_output @ value.mT, grad_value

    _, text = told("av_product_backward", av_product_backward)
    assert "What it does: Part of the answer is float64" in text


def test_of_an_answer_that_takes_too_long_the_wrong_shape_is_said_too():
    found, text = told("projection_std", a_matrix_for_a_number)
    assert found.mistakes == ("endless loop",)
    assert "The answer has shape (4, 4), but it should have shape ()." in text


def test_a_number_added_to_a_factor_is_no_missing_bracket():
    found = grade("attention_flops", lambda n_q, n_k, d_k, d_v: n_q * (n_k + 1) * (d_k + d_v))
    assert "brackets" not in found.message and len(found.mistakes) == 3


@pytest.mark.parametrize(
    "places, said",
    [([0], "1 of 32 entries differs by more"), ([0, 5], "2 of 32 entries differ by more")],
)
def test_entries_of_a_large_answer_are_counted(places, said):
    case = exercises()["softmax"].all_cases()[0]
    wanted = np.zeros(32)
    values = wanted.copy()
    values[places] = 1
    assert said in " ".join(message._large("", values, wanted, case, "float64"))


def test_entries_of_a_large_answer_are_told_apart():
    case = exercises()["softmax"].all_cases()[0]
    wanted = np.full(32, 0.0203)
    *_, returned, expected = message._large("", wanted + 4e-5, wanted, case, "float64")
    assert returned.split()[1] != expected.split()[1]


def test_zeros_behind_the_answer_are_no_mixed_up_sizes():
    def padded(pages, table, length):
        rows = pages[table].reshape(-1, pages.shape[-1])
        return np.where(np.arange(len(rows))[:, None] < length, rows, -1)

    found = grade("gather_pages", padded)
    assert "only for equal sizes" not in found.mistakes, found.message


def test_one_array_for_a_list_is_told_once():
    def ring_attention(query_parts, key_parts, value_parts):
        keys, values = np.concatenate(key_parts, axis=-2), np.concatenate(value_parts, axis=-2)
        return np.stack([attnlib.attention(query, keys, values) for query in query_parts])

    _, text = told("ring_attention", ring_attention)
    assert "It returns one array, but it should return a list of 2 arrays." in text


def test_a_changed_list_is_shown_as_it_is_afterwards():
    def ring_attention(query_parts, key_parts, value_parts):
        keys, values = np.concatenate(key_parts, axis=-2), np.concatenate(value_parts, axis=-2)
        key_parts.reverse()
        return [attnlib.attention(query, keys, values) for query in query_parts]

    _, text = told("ring_attention", ring_attention)
    assert "key_parts = [[[0]], [[1]]]" in text
    assert "key_parts = [[[1]], [[0]]] after the call" in text


@pytest.mark.parametrize(
    "code, named",
    [
        ("mask[j > i] = -np.inf", True),
        ("fill = float('-inf')\nmask = np.where(seen, 0, fill)", True),
        ("lower = -np.inf\nmask = j > lower", False),
        ("return x > -math.inf", False),
    ],
)
def test_minus_infinity_as_a_bound_is_not_written_into_a_mask(code, named):
    assert usable.writes_inf(code) is named


WORN = (
    "comes in ",
    "of its own",
    "those of",
    "Which shape has",
    "Nothing of the kind",
    "where the shapes fit at all",
    "is no answer",
    "But for",
    "Mend ",
    " behind your ",
    "in the place of",
)


def test_the_engines_own_sentences_read_well():
    said = [
        text
        for exercise in (
            exercises()[name] for name in ("raw_scores", "alibi_scores", "attention_backward")
        )
        for mistake in changes.operators(exercise).mistakes
        for text in (mistake.does, mistake.why, mistake.ask)
    ]
    said += [
        text
        for mistake in vars(generic).values()
        if isinstance(mistake, Mistake)
        for text in (mistake.does, mistake.why, mistake.ask)
    ]
    said += message.CAUSES.values()
    assert len(said) > 300
    assert [text for text in said if any(worn in text for worn in WORN)] == []
    plural = [
        text
        for text in said
        if re.search(r"(?<!of )\b(scores|slopes|weights) (comes|is|stands|enters|has)\b", text)
    ]
    assert plural == []


def in_one_line(name, function):
    return " ".join(grade(name, function).message.split())


def test_a_formula_that_depends_on_the_signs_is_not_told():
    def dot_score(query, key):
        return np.abs(query @ key) / np.sqrt(len(query))

    assert "entries it is" not in in_one_line("dot_score", dot_score)


def test_entries_that_agree_but_for_rounding_are_shown_as_the_same():
    def cosine_scores(query, key):
        q = np.linalg.norm(query, axis=-1)[..., :, None]
        k = np.linalg.norm(key, axis=-1)[..., None, :]
        return query @ np.swapaxes(key, -1, -2) / (q * k + 1e-8)

    said = in_one_line("cosine_scores", cosine_scores)
    assert "returned [[0.9999999998, 0, -0.9999999996]] expected [[1, 0, -1]]" in said


def test_what_a_large_divisor_makes_is_not_called_rounding():
    seen = types.SimpleNamespace(
        failure=None,
        values=(np.array([[2.5e-19, 3e-8]]),),
        dtypes=("float64",),
        case=Case("short vectors", (np.ones((1, 2)),)),
    )
    assert message.properties(seen, (np.array([[1.0, 0.6]]),)) == ["Every entry is nearly 0."]


def test_a_single_small_number_is_not_shown_as_0():
    def ulp_error(computed, exact):
        gap = np.abs(np.spacing(exact.astype(np.float32))).astype(np.float64)
        return np.abs(computed - exact) * gap

    assert "returned 6.39e-15 expected 1.8" in in_one_line("ulp_error", ulp_error)


def test_a_boolean_index_is_not_said_to_be_one_too_many():
    def mask_scores(scores, attn_mask):
        out = scores.copy()
        out[..., ~attn_mask] = -np.inf
        return out

    said = in_one_line("mask_scores", mask_scores)
    assert "an axis of length 1 isn't broadcast" in said and "too many indices" not in said


def test_of_inputs_of_plain_numbers_the_smallest_is_shown():
    said = in_one_line("projection_std", lambda d_model: 1 / np.log2(d_model) if d_model > 1 else 1)
    assert "d_model = 2 returned 1 " in said


def test_the_mistake_of_the_line_that_stops_comes_first():
    def temperature_softmax(scores, temperature):
        s = scores / temperature
        e = np.exp(s - s.max(axis=-1))
        return e / e.sum(axis=-1)

    said = in_one_line("temperature_softmax", temperature_softmax)
    assert "The first mistake: maximum without keepdims." in said


def test_leading_axes_are_not_mentioned_where_there_are_none():
    def query_gradient(query, key, grad_weights):
        w = attnlib.softmax(attnlib.raw_scores(query, key))
        g = w * (grad_weights - (w * grad_weights).sum(axis=-1, keepdims=True))
        return g @ key.T / math.sqrt(query.shape[-1])

    assert "reverses all of them" not in in_one_line("query_gradient", query_gradient)


def test_positions_are_named_where_they_widen_the_answer():
    def softmax_row(scores):
        e = np.exp(scores - np.argmax(scores))
        return e / e.sum()

    said = in_one_line("softmax_row", softmax_row)
    assert "arithmetic with the integers that argmax gives" in said


def test_an_answer_of_another_shape_is_shown_as_it_was_returned():
    for values, text in ((np.array(24.0), "24"), (np.ones((2, 2, 1)), "[[[1], [1]], [[1], [1]]]")):
        shown, _ = message._told_apart(values, np.zeros((4, 1, 1)), 1e-5)
        assert shown == text


def test_many_digits_are_the_answers_own():
    wanted = np.array([7.01492941e-07, 7.99999877])
    shown, _ = message._told_apart(np.array([7.01492638e-07, 7.99999905]), wanted, 1e-9)
    assert shown == "[7.01492638e-07, 7.99999905]"
