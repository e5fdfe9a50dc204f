"""Models of `transformers`, small and with random weights, beside the decoders of this package.

Nothing is downloaded. `python -m attncourse.language transformers` compares all of them, and writes
the results to transformers.json. `transformers` is imported only here, when it's needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attncourse.language import decoder, variations
from attncourse.language.decoder import Decoder, Sizes

SIZES = dict(
    n_words=53, d_model=24, n_layers=3, h=6, h_kv=3, d_k=8, d_hidden=40, base=1000.0
)  # three layers: two of one kind where they alternate
WINDOW, N = 5, 17  # most queries lie beyond the window
SCALING = dict(factor=8.0, low=1.0, high=4.0, trained=64)  # pairs of all three kinds at base 1000
COMMON = dict(
    vocab_size=SIZES["n_words"],
    hidden_size=SIZES["d_model"],
    intermediate_size=SIZES["d_hidden"],
    num_hidden_layers=SIZES["n_layers"],
    num_attention_heads=SIZES["h"],
    num_key_value_heads=SIZES["h_kv"],
    head_dim=SIZES["d_k"],
    rms_norm_eps=1e-5,
    max_position_embeddings=256,
    attn_implementation="eager",
    tie_word_embeddings=False,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
)
ROTARY = dict(rope_theta=SIZES["base"], rope_type="default")
LATENT = dict(d_turned=4, d_v=10, r=12, r_query=14)


@dataclass(frozen=True)
class Pair:
    """A class of `transformers`, its small configuration, and our decoder for it."""

    name: str
    options: dict
    ours: object  # of the class's parameters by name, as arrays, our decoder

    def theirs(self, seed=0):
        """The model, on a CPU, with random weights that make attention far from uniform."""
        import torch
        import transformers

        options = COMMON | {"rope_parameters": ROTARY} | self.options
        config = getattr(transformers, f"{self.name}Config")(**options)
        model = getattr(transformers, f"{self.name}ForCausalLM")(config).eval()
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.copy_(_random(name, parameter, generator))
        return model


def _random(name, parameter, generator):
    import torch

    noise = torch.randn(parameter.shape, generator=generator)
    if name.endswith("norm.weight"):  # gains: Gemma 2 adds the 1 itself
        return noise / 4 + (0.0 if parameter.abs().max() == 0 else 1.0)
    if parameter.ndim == 1 or name.endswith("bias"):
        return noise / 2  # biases and sinks
    return noise * 1.2 / parameter.shape[-1] ** 0.5


# --- their parameters in our form: matrices are (out, in) there, (in, out) here ---


LAYER = {
    "norm_1": "input_layernorm",
    "w_q": "self_attn.q_proj",
    "w_k": "self_attn.k_proj",
    "w_v": "self_attn.v_proj",
    "w_o": "self_attn.o_proj",
    "norm_2": "post_attention_layernorm",
    "w_gate": "mlp.gate_proj",
    "w_up": "mlp.up_proj",
    "w_down": "mlp.down_proj",
}


def _ours(theirs, layer=None):
    """The parameters that a class shares with Llama, and also those of `layer`."""
    names = LAYER | (layer or {})
    found = {
        "embed": theirs["model.embed_tokens.weight"],
        "norm": theirs["model.norm.weight"],
        "unembed": theirs["lm_head.weight"].T,
    }
    for i in range(SIZES["n_layers"]):
        for ours, name in names.items():
            key = f"model.layers.{i}.{name}"
            array = theirs.get(f"{key}.weight", theirs.get(key))
            if array is not None:
                found[f"{i}.{ours}"] = array.T
    return found


def llama(theirs):
    return Decoder(Sizes(**SIZES), _ours(theirs))


def llama3(theirs):
    return llama(theirs).using(rotary=variations.llama3_rotary(**SCALING))


def qwen3(theirs):
    gains = {"norm_q": "self_attn.q_norm", "norm_k": "self_attn.k_norm"}
    return variations.Qwen3(Sizes(**SIZES), _ours(theirs, gains))


def gemma2(theirs):
    """Its gains are stored minus 1, and its words are too small by a factor of sqrt(d_model)."""
    norms = {
        "norm_2": "pre_feedforward_layernorm",
        "norm_3": "post_attention_layernorm",
        "norm_4": "post_feedforward_layernorm",
    }
    found = _ours(theirs, norms)
    for name in found:
        if "norm" in name:
            found[name] = 1 + found[name]
    found["embed"] = found["embed"] * np.float32(SIZES["d_model"] ** 0.5)
    sizes = variations.CappedSizes(**SIZES, cap=2.0, last_cap=3.0, window=WINDOW)
    return variations.Gemma2(sizes, found)


def gpt_oss(theirs):
    """Its expert's matrices are already (in, out); gate and up alternate in one of them."""
    names = {"sink": "self_attn.sinks"}
    names |= {f"b_{a}": f"self_attn.{a}_proj.bias" for a in "qkvo"}
    found = _ours(theirs, names)
    for i in range(SIZES["n_layers"]):
        expert = f"model.layers.{i}.mlp.experts."
        both, bias = theirs[f"{expert}gate_up_proj"][0], theirs[f"{expert}gate_up_proj_bias"][0]
        found[f"{i}.w_gate"], found[f"{i}.w_up"] = both[:, 0::2], both[:, 1::2]
        found[f"{i}.b_gate"], found[f"{i}.b_up"] = bias[0::2], bias[1::2]
        found[f"{i}.w_down"] = theirs[f"{expert}down_proj"][0]
        found[f"{i}.b_down"] = theirs[f"{expert}down_proj_bias"][0]
    sizes = variations.SinkSizes(**SIZES, window=WINDOW, limit=1.5)
    return variations.GptOss(sizes, found)


def deepseek_v3(theirs):
    """Its two up-projections lie in one matrix, head by head."""
    names = {
        "w_q_down": "self_attn.q_a_proj",
        "norm_q": "self_attn.q_a_layernorm",
        "w_q_up": "self_attn.q_b_proj",
        "w_kv_down": "self_attn.kv_a_proj_with_mqa",
        "norm_c": "self_attn.kv_a_layernorm",
        "both_up": "self_attn.kv_b_proj",
    }
    found, h, d_k = _ours(theirs, names), SIZES["h"], SIZES["d_k"]
    for i in range(SIZES["n_layers"]):
        both = decoder.split_heads(found.pop(f"{i}.both_up"), h)  # (h, r, d_k + d_v)
        found[f"{i}.w_up_k"], found[f"{i}.w_up_v"] = np.split(both, [d_k], axis=-1)
    return variations.DeepseekV3(variations.LatentSizes(**SIZES, **LATENT), found)


WINDOWS = dict(sliding_window=WINDOW)
PAIRS = {
    "Llama": Pair("Llama", {}, llama),
    "Llama 3": Pair(
        "Llama",
        dict(
            rope_parameters=dict(
                rope_theta=SIZES["base"],
                rope_type="llama3",
                factor=SCALING["factor"],
                low_freq_factor=SCALING["low"],
                high_freq_factor=SCALING["high"],
                original_max_position_embeddings=SCALING["trained"],
            )
        ),
        llama3,
    ),
    "Qwen3": Pair("Qwen3", {}, qwen3),
    "Gemma 2": Pair(
        "Gemma2",
        dict(
            attn_logit_softcapping=2.0,
            final_logit_softcapping=3.0,
            query_pre_attn_scalar=SIZES["d_k"],
            **WINDOWS,
        ),
        gemma2,
    ),
    "gpt-oss": Pair(
        "GptOss",
        dict(num_local_experts=1, num_experts_per_tok=1, swiglu_limit=1.5, **WINDOWS),
        gpt_oss,
    ),
    "DeepSeek-V3": Pair(
        "DeepseekV3",
        dict(
            first_k_dense_replace=SIZES["n_layers"],
            kv_lora_rank=LATENT["r"],
            q_lora_rank=LATENT["r_query"],
            qk_nope_head_dim=SIZES["d_k"],
            qk_rope_head_dim=LATENT["d_turned"],
            v_head_dim=LATENT["d_v"],
            num_key_value_heads=SIZES["h"],
            head_dim=LATENT["d_turned"],  # here it means the rotated features
        ),
        deepseek_v3,
    ),
}


# --- the comparison ---


def arrays(model):
    """A model's parameters by name, as arrays."""
    return {name: array.detach().numpy() for name, array in model.state_dict().items()}


def tokens(seed=0):
    """Two sequences of N random words."""
    return np.random.default_rng(seed).integers(3, SIZES["n_words"], size=(2, N))


def their_logits(model, words, use_cache=False):
    """(2, N, n_words). With a cache, half of the words come at once, and the rest one by one."""
    import torch

    words, found, cache = torch.tensor(words), [], None
    with torch.no_grad():
        if not use_cache:
            return model(words, use_cache=False).logits.numpy()
        for part in torch.tensor_split(words, steps(), dim=1):
            answer = model(part, past_key_values=cache, use_cache=True)
            cache = answer.past_key_values
            found.append(answer.logits)
    return torch.cat(found, dim=1).numpy()


def our_logits(model, words, use_cache=False):
    if not use_cache:
        return model(words).logits
    cache = model.new_cache()
    parts = np.split(words, steps(), axis=1)
    return np.concatenate([model(part, cache).logits for part in parts], axis=1)


def steps():
    return list(range(N // 2, N))


def largest_difference(name, use_cache=False, change=lambda model: model):
    """(the largest difference of two logits, the largest logit) of a pair."""
    theirs, words = PAIRS[name].theirs(), tokens()
    ours = change(PAIRS[name].ours(arrays(theirs)))
    wanted = their_logits(theirs, words, use_cache)
    found = our_logits(ours, words, use_cache)
    return float(abs(found - wanted).max()), float(abs(wanted).max())


def compared():
    """{name: {class, without and with a cache: the largest difference, largest logit}}."""
    found = {}
    for name, pair in PAIRS.items():
        without, largest = largest_difference(name)
        found[name] = {
            "class": f"{pair.name}ForCausalLM",
            "without_cache": float(f"{without:.1e}"),
            "with_cache": float(f"{largest_difference(name, True)[0]:.1e}"),
            "largest_logit": round(largest, 1),
        }
    return found
