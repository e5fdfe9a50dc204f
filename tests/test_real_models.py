"""The NumPy decoder and its variations beside the classes of `transformers`.

Small configurations, random weights from seeds, nothing from a hub: float32, to 1e-5.
"""

import json
import re

import numpy as np
import pytest

from attncourse.bench.report import recorded
from attncourse.language import Decoder, decoder, transformers_models, variations
from attncourse.language.published import MODELS
from attncourse.language.transformers_models import PAIRS, largest_difference

TOLERANCE = 1e-5  # absolute: the largest logits are 3 to 5


@pytest.fixture
def theirs():
    return pytest.importorskip(
        "transformers",
        reason="transformers isn't installed here: requirements.txt lists it, "
        "and only the tests compare with it",
    )


@pytest.mark.parametrize("use_cache", [False, True], ids=["without a cache", "with a cache"])
@pytest.mark.parametrize("name", PAIRS)
def test_logits_are_those_of_the_class(theirs, name, use_cache):
    difference, largest = largest_difference(name, use_cache)
    assert difference < TOLERANCE
    assert 2 < largest < 6


# --- each change matters: without it, or a little off, the logits are others ---


def with_sizes(**changed):
    def change(model):
        sizes = type(model.sizes)(**(vars(model.sizes) | changed))
        return type(model)(sizes, model.parameters, model.functions)

    return change


def with_parameter(name, number):
    def change(model):
        parameters = model.parameters | {
            key: array * 0 + number if key.endswith(f".{name}") else array
            for key, array in model.parameters.items()
        }
        return type(model)(model.sizes, parameters, model.functions)

    return change


def as_llama(model):
    """The same parameters in the decoder without its change."""
    return Decoder(model.sizes, model.parameters, model.functions)


LEFT_OUT = {
    "Llama: another base": ("Llama", with_sizes(base=1001.0)),
    "Llama: every query head its neighbour's keys": (
        "Llama",
        lambda model: model.using(
            split_heads=lambda x, h: np.roll(decoder.split_heads(x, h), h == 6, axis=-3)
        ),
    ),
    "Llama 3: plain frequencies": ("Llama 3", lambda model: model.using(rotary=decoder.rotary)),
    "Llama 3: all frequencies divided": (
        "Llama 3",
        lambda model: model.using(
            rotary=lambda x, positions, base: decoder.rotary(x, positions / 8, base)
        ),
    ),
    "Qwen3: not normalised": ("Qwen3", as_llama),
    "Qwen3: no gain": ("Qwen3", with_parameter("norm_q", 1)),
    "Gemma 2: no cap": ("Gemma 2", with_sizes(cap=1e6)),
    "Gemma 2: no last cap": ("Gemma 2", with_sizes(last_cap=1e6)),
    "Gemma 2: a window one key longer": ("Gemma 2", with_sizes(window=6)),
    "gpt-oss: no sink": ("gpt-oss", with_parameter("sink", -1e4)),
    "gpt-oss: sinks of 0": ("gpt-oss", with_parameter("sink", 0)),
    "gpt-oss: a window one key shorter": ("gpt-oss", with_sizes(window=4)),
    "gpt-oss: no bias of the values": ("gpt-oss", with_parameter("b_v", 0)),
    "DeepSeek-V3: c not normalised by its gain": ("DeepSeek-V3", with_parameter("norm_c", 1)),
    "DeepSeek-V3: another base": ("DeepSeek-V3", with_sizes(base=1e4)),
}


@pytest.mark.parametrize("what", LEFT_OUT)
def test_logits_are_others_without_the_change(theirs, what):
    name, change = LEFT_OUT[what]
    difference, _ = largest_difference(name, change=change)
    assert difference > 100 * TOLERANCE


def test_deepseek_needs_pairs_of_neighbours(theirs, monkeypatch):
    monkeypatch.setattr(variations, "neighbours_to_halves", lambda x: x)
    difference, _ = largest_difference("DeepSeek-V3")
    assert difference > 100 * TOLERANCE


def test_every_model_has_another_cache_or_mask_in_its_layers(theirs):
    """Windows alternate in the classes as they do here: layers 0 and 2, not 1."""
    for name in ("Gemma 2", "gpt-oss"):
        kinds = PAIRS[name].theirs().config.layer_types
        assert kinds == ["sliding_attention", "full_attention", "sliding_attention"]


# --- what is recorded for the chapter ---


def test_the_record_has_every_model_its_class_and_the_versions():
    record = recorded("transformers")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", record["date"])
    assert {*record["machine"]["versions"]} == {"numpy", "torch", "transformers"}
    assert [*record["models"]] == [*PAIRS]
    for name, found in record["models"].items():
        assert found["class"] == f"{PAIRS[name].name}ForCausalLM"
        assert max(found["without_cache"], found["with_cache"]) < TOLERANCE


def test_the_record_is_what_the_command_finds(theirs):
    """Rounding differs between machines: the classes and sizes of logits don't."""
    record = recorded("transformers")["models"]
    found = json.loads(json.dumps(transformers_models.compared()))
    for name, facts in found.items():
        assert facts["class"] == record[name]["class"]
        assert facts["largest_logit"] == pytest.approx(record[name]["largest_logit"], abs=0.11)


# --- without transformers ---


def small(kind, sizes, **more):
    shape = kind.__new__(kind)
    shape.sizes = sizes
    rng = np.random.default_rng(3)
    parameters = {name: rng.normal(size=s) / 2 for name, s in shape.shapes().items()}
    return kind(sizes, parameters | more)


ALL = {
    variations.Qwen3: decoder.Sizes(**transformers_models.SIZES),
    variations.Gemma2: variations.CappedSizes(**transformers_models.SIZES, window=5),
    variations.GptOss: variations.SinkSizes(**transformers_models.SIZES, window=5),
    variations.DeepseekV3: variations.LatentSizes(
        **transformers_models.SIZES, **transformers_models.LATENT
    ),
}


@pytest.mark.parametrize("kind", ALL)
def test_a_cache_changes_nothing(kind):
    model, words = small(kind, ALL[kind]), transformers_models.tokens()
    without = transformers_models.our_logits(model, words)
    with_one = transformers_models.our_logits(model, words, use_cache=True)
    assert np.allclose(without, with_one, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ALL)
def test_a_variation_stays_itself(kind):
    model = small(kind, ALL[kind])
    assert type(model.using(softmax=lambda scores: scores)) is kind
    assert type(decoder.rounded(model)) is kind


def test_a_sink_takes_part_of_every_row():
    model = small(variations.GptOss, ALL[variations.GptOss])
    for layer in model(transformers_models.tokens()).layers:
        sums = layer.weights.sum(axis=-1)
        assert (sums < 1).all() and (sums > 0).all()


def test_a_latent_cache_has_r_and_the_rotated_features_for_all_heads():
    kind = variations.DeepseekV3
    model, words = small(kind, ALL[kind]), transformers_models.tokens()
    cache = model.new_cache()
    model(words, cache)
    sizes, n = ALL[kind], words.shape[-1]
    assert cache[0].key.shape == (2, n, sizes.d_turned)
    assert cache[0].value.shape == (2, n, sizes.r)


def test_scaled_frequencies_meet_their_ends():
    plain = decoder.frequencies(16, 1e3)
    scaled = variations.scaled_frequencies(16, 1e3, factor=8.0, low=1.0, high=4.0, trained=64)
    turns = 64 * plain / (2 * np.pi)
    assert np.array_equal(scaled[turns > 4], plain[turns > 4]) and (turns > 4).any()
    assert np.array_equal(scaled[turns < 1], plain[turns < 1] / 8) and (turns < 1).any()
    between = (turns > 1) & (turns < 4)
    assert ((plain / 8 < scaled) & (scaled < plain))[between].all() and between.any()
    assert (np.diff(scaled) < 0).all()


def test_capped_scores_stay_below_the_cap_and_in_order():
    scores = np.linspace(-200, 200, 41)
    capped = variations.cap_scores(scores, 50.0)
    assert (abs(capped) < 50).all() and (np.diff(capped) > 0).all()
    assert variations.cap_scores(np.array([1e-3]), 50.0) == pytest.approx(1e-3)


def test_a_window_has_so_many_keys_with_the_query_s_own():
    seen = variations.in_window(decoder.seen_keys(2, 7), 3)
    assert seen.astype(int).tolist() == [[0, 0, 0, 1, 1, 1, 0], [0, 0, 0, 0, 1, 1, 1]]


# --- the table of published models ---


OF_CONFIGS = [model for model in MODELS if model.config]


@pytest.mark.parametrize("model", OF_CONFIGS, ids=lambda model: model.name)
def test_sizes_are_the_defaults_of_the_class(theirs, model):
    config = getattr(theirs, model.config)()
    found = config.to_dict()

    def of(*names):
        return next(found[name] for name in names if found.get(name) is not None)

    assert of("num_hidden_layers", "n_layer") == model.n_layers
    h = of("num_attention_heads", "n_head")
    assert h == model.h
    if model.config == "DeepseekV3Config":
        assert found["kv_lora_rank"] + found["qk_rope_head_dim"] == model.latent
        assert (found["qk_nope_head_dim"], found["v_head_dim"]) == (model.d_k, model.d_k)
        return
    keys = 1 if found.get("multi_query") else found.get("num_key_value_heads", h)
    assert (keys, found.get("head_dim") or of("hidden_size", "n_embd") // h) == (
        model.h_kv,
        model.d_k,
    )
    assert found.get("sliding_window") == model.window
    kinds = found.get("layer_types") or ["sliding_attention"] * model.n_layers
    if model.window:
        assert kinds.count("sliding_attention") == model.windowed


def test_a_cache_counts_keys_values_and_windows():
    by_name = {model.name: model for model in MODELS}
    assert by_name["Llama 7B"].cache_bytes(1) == 32 * 2 * 32 * 128 * 2
    assert by_name["Mistral 7B"].cache_bytes(4096) == by_name["Mistral 7B"].cache_bytes(10**6)
    assert by_name["gpt-oss 120B"].cache_bytes(1000) == 2 * 2 * 8 * 64 * (18 * 128 + 18 * 1000)
    assert by_name["DeepSeek-V3"].cache_bytes(1) == 61 * 576 * 2
