"""The number words in two languages, and the translator trained on them."""

import doctest
import json

import numpy as np
import pytest
import torch

from attncourse.bench.report import RECORDED
from attncourse.language import __main__, numerals, translator, translator_torch

HELD_OUT = numerals.numbers(held_out=True)


@pytest.fixture(scope="module")
def trained():
    return translator.load()


# --- the words ---


@pytest.mark.parametrize(
    "number, german, english, alignment",
    [
        (1, "eins", "one", (0,)),
        (7, "sieben", "seven", (0,)),
        (12, "zwölf", "twelve", (0,)),
        (16, "sechzehn", "sixteen", (0,)),
        (20, "zwanzig", "twenty", (0,)),
        (21, "einundzwanzig", "twenty one", (2, 0)),
        (24, "vierundzwanzig", "twenty four", (2, 0)),
        (30, "dreißig", "thirty", (0,)),
        (76, "sechsundsiebzig", "seventy six", (2, 0)),
        (100, "einhundert", "one hundred", (0, 1)),
        (101, "einhunderteins", "one hundred one", (0, 1, 2)),
        (117, "einhundertsiebzehn", "one hundred seventeen", (0, 1, 2)),
        (1000, "eintausend", "one thousand", (0, 1)),
        (2010, "zweitausendzehn", "two thousand ten", (0, 1, 2)),
        (4324, "viertausenddreihundertvierundzwanzig", "four thousand three hundred twenty four",
         (0, 1, 2, 3, 6, 4)),
        (9999, "neuntausendneunhundertneunundneunzig", "nine thousand nine hundred ninety nine",
         (0, 1, 2, 3, 6, 4)),
    ],
)  # fmt: skip
def test_known_numbers(number, german, english, alignment):
    pair = numerals.write(number)
    assert numerals.german(number) == german
    assert " ".join(pair.words) == f"{english} ."
    assert pair.alignment == (*alignment, len(pair.pieces) - 1)
    assert pair.pieces[-1] == pair.words[-1] == "."


def value(words):
    """What English number words mean, by other means than numerals.write."""
    total = last = 0
    for word in words:
        if word == "thousand" or word == "hundred":
            total, last = total + last * (1000 if word == "thousand" else 100), 0
        elif word in numerals.TEN[2:]:
            last += 10 * numerals.TEN.index(word)
        else:
            last += numerals.ONE.index(word)
    return total + last


def test_each_number_means_itself_and_is_aligned_once():
    for number in range(1, numerals.LARGEST + 1):
        pair = numerals.write(number)
        assert value(pair.words[:-1]) == number
        unread = {*range(len(pair.pieces))} - {*pair.alignment}
        assert len({*pair.alignment}) == len(pair.words)
        assert [pair.pieces[place] for place in unread] == ["und"] * len(unread)


def test_a_piece_has_one_translation_wherever_it_is():
    found = {}
    for number in range(1, numerals.LARGEST + 1):
        pair = numerals.write(number)
        for word, place in zip(pair.words, pair.alignment):
            assert found.setdefault(pair.pieces[place], word) == word
    assert {*found} == {*numerals.PIECES} - {"und"} and {*found.values()} == {*numerals.WORDS}


@pytest.mark.parametrize("number", (0, -3, 10_000))
def test_other_numbers_are_errors(number):
    with pytest.raises(ValueError, match="from 1 to 9,999; got"):
        numerals.write(number)


def test_one_number_in_five_is_held_out():
    rest = numerals.numbers(held_out=False)
    assert sorted(HELD_OUT + rest) == list(range(1, numerals.LARGEST + 1))
    assert 0.18 < len(HELD_OUT) / numerals.LARGEST < 0.22


def test_arrays_say_what_the_pairs_say():
    pieces, previous, words, alignment = numerals.arrays([24, 324])
    assert [numerals.PIECES[piece] for piece in pieces[0, :4]] == ["vier", "und", "zwanzig", "."]
    assert pieces[0, 4:].tolist() == words[0, 3:].tolist() == [-1, -1]
    assert [numerals.WORDS[word] for word in previous[1]] == [
        ".", "three", "hundred", "twenty", "four",
    ]  # fmt: skip
    assert alignment[1].tolist() == [0, 1, 4, 2, 5]


def test_the_examples_of_the_docstrings():
    assert doctest.testmod(numerals).failed == 0 and doctest.testmod(numerals).attempted


# --- the translator ---


def test_the_committed_translator_knows_numbers_that_it_never_saw(trained):
    found = translator.measured(trained, HELD_OUT)
    (run,) = (run for run in runs(free=False) if run["seed"] == 0)
    for name, off in (("accuracy", 0.002), ("found", 0.005), ("weight", 0.005)):
        assert found[name] == pytest.approx(run[name], abs=off), name  # rounded to float16
    assert found["accuracy"] > 0.99
    assert translator.FILE.stat().st_size < 150_000


def runs(free):
    record = json.loads((RECORDED / "numerals.json").read_text(encoding="utf-8"))
    return [run for run in record["runs"] if run["free values"] == free]


def test_five_seeds_are_recorded():
    assert [run["seed"] for run in runs(False)] == [run["seed"] for run in runs(True)]
    assert len(runs(False)) == 5
    assert all(run["processor seconds"] < 40 for run in runs(False) + runs(True))


def test_it_writes_word_after_word_what_is_measured_at_once(trained):
    some = HELD_OUT[::40]
    said = [trained.translate(number) == list(numerals.write(number).words) for number in some]
    assert np.mean(said) == pytest.approx(translator.measured(trained, some)["accuracy"])


def test_one_number_is_read_as_among_longer_ones(trained):
    pieces, previous, words, _ = numerals.arrays([24, 4324])
    together, weights = trained(pieces, previous)
    alone, own = trained(*(part[0] for part in numerals.arrays([24])[:2]))
    np.testing.assert_allclose(together[0, :3], alone, rtol=0, atol=1e-4)
    np.testing.assert_allclose(weights[0, :3, :4], own, rtol=0, atol=1e-5)
    assert not weights[0, :, 4:].any()


def test_other_weights_give_another_answer(trained):
    pieces, previous, words, _ = numerals.arrays([24])
    swapped = np.eye(4)[[[0, 2, 3]]]
    said = trained(pieces, previous, swapped)[0][0].argmax(axis=-1)
    assert [numerals.WORDS[word] for word in said] == ["four", "twenty", "."]


def test_a_missing_parameter_is_named(trained):
    with pytest.raises(ValueError, match=r"w_q must have the shape \(24, 16\); got nothing"):
        translator.Translator({n: a for n, a in trained.parameters.items() if n != "w_q"})


# --- its twin and the training ---


def test_twin_in_torch(trained):
    pieces, previous, *_ = numerals.arrays([3, 24, 517, 4324, 9000])
    logits, weights = translator_torch.outputs(
        translator_torch.as_torch(trained), torch.from_numpy(pieces), torch.from_numpy(previous)
    )
    ours, map_ = trained(pieces, previous)
    is_word = previous >= 0
    np.testing.assert_allclose(logits.numpy()[is_word], ours[is_word], rtol=0, atol=2e-3)
    np.testing.assert_allclose(weights.numpy()[is_word], map_[is_word], rtol=0, atol=1e-4)


def test_twins_measure_the_same(trained):
    twin = translator_torch.measured(translator_torch.as_torch(trained), HELD_OUT[:500])
    assert twin == pytest.approx(translator.measured(trained, HELD_OUT[:500]), abs=1e-5)


def test_a_short_training_lowers_the_loss_and_repeats_itself(tmp_path):
    parameters, losses = translator_torch.train(3, steps=30, threads=1)
    again, _ = translator_torch.train(3, steps=30, threads=1)
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) - 0.5
    for name, array in translator_torch.as_numpy(parameters).parameters.items():
        assert (array == translator_torch.as_numpy(again).parameters[name]).all()
    translator.save(translator_torch.as_numpy(parameters), tmp_path / "t.npz")
    rounded = translator.rounded(translator_torch.as_numpy(parameters))
    for name, array in translator.load(tmp_path / "t.npz").parameters.items():
        assert (array == rounded.parameters[name]).all()


def test_the_command_writes_weights_and_record(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(translator_torch.train, "__defaults__", (5, None, False))
    __main__.main(["numerals", "--seeds", "1", "--to", str(tmp_path)])
    record = json.loads((tmp_path / "numerals.json").read_text(encoding="utf-8"))
    assert [run["free values"] for run in record["runs"]] == [False, True]
    assert record["held-out numbers"] == len(HELD_OUT)
    assert translator.load(tmp_path / "numerals.npz").w_q.shape == (24, 16)
