"""The decoder as published models change it, each in a few lines; decoder.py itself is Llama.

attncourse/language/transformers_models.py compares each of them with its class in `transformers`.

Parameters are (in, out): x @ w. What a class stores in another form is converted there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attncourse.language import decoder
from attncourse.language.decoder import Decoder, Sizes, rms_norm, rotary, split_heads
from attnlib.dense_numpy import cap_scores

# --- Llama 3: rotary frequencies, scaled for a longer context ---


def scaled_frequencies(d, base, factor=8.0, low=1.0, high=4.0, trained=8192):
    """The frequencies (d/2,), divided by `factor` where a pair turns less than `low` times within
    the `trained` positions, left where it turns more than `high` times, mixed in between.
    """
    speed = decoder.frequencies(d, base)
    turns = trained * speed / (2 * np.pi)
    kept = np.clip((turns - low) / (high - low), 0, 1)
    return kept * speed + (1 - kept) * speed / factor


def llama3_rotary(**scaling):
    """A rotary function with these scaled frequencies, for `Decoder.using(rotary=...)`."""

    def scaled_rotary(x, positions, base):
        speed = scaled_frequencies(x.shape[-1], base, **scaling)
        return decoder.rotated(x, np.asarray(positions)[:, None] * speed)

    return scaled_rotary


# --- Qwen3: normalised queries and keys ---


class Qwen3(Decoder):
    """Each query and each key is normalised before it is rotated."""

    def shapes(self):
        d_k, layers = self.sizes.d_k, range(self.sizes.n_layers)
        gains = {f"{i}.{name}": (d_k,) for i in layers for name in ("norm_q", "norm_k")}
        return {**super().shapes(), **gains}

    def heads(self, w, x):
        query, key, value = super().heads(w, x)
        return rms_norm(query, w["norm_q"]), rms_norm(key, w["norm_k"]), value


# --- Gemma 2: soft-capped scores and alternating windows ---


@dataclass(frozen=True)
class CappedSizes(Sizes):
    """Two caps, and how many keys a query of every other layer sees, including its own."""

    cap: float = 50.0
    last_cap: float = 30.0
    window: int = 4096


def in_window(seen, window):
    """The mask (n_q, n_k) without the keys that lie `window` positions back or more."""
    n_q, n_k = seen.shape
    return seen & (np.arange(n_k) > np.arange(n_k - n_q, n_k)[:, None] - window)


def geglu(x, w_gate, w_up, w_down):
    """SwiGLU with another curve instead of silu: GELU, by its approximation with tanh."""
    gate = x @ w_gate
    curve = 1 + np.tanh(np.sqrt(2 / np.pi, dtype=x.dtype) * (gate + 0.044715 * gate**3))
    return (gate / 2 * curve * (x @ w_up)) @ w_down


class Gemma2(Decoder):
    """Capped scores; a window in layers 0, 2, 4, ...; each part normalised before and after."""

    def shapes(self):
        d, layers = self.sizes.d_model, range(self.sizes.n_layers)
        gains = {f"{i}.{name}": (d,) for i in layers for name in ("norm_3", "norm_4")}
        return {**super().shapes(), **gains}

    def weigh(self, i, w, scores, seen):
        if i % 2 == 0:
            seen = in_window(seen, self.sizes.window)
        return super().weigh(i, w, cap_scores(scores, self.sizes.cap), seen)

    def mixed(self, w, output):
        return rms_norm(super().mixed(w, output), w["norm_3"])

    def mlp(self, w, x):
        return rms_norm(geglu(x, w["w_gate"], w["w_up"], w["w_down"]), w["norm_4"])

    def logits(self, x):
        return cap_scores(super().logits(x), self.sizes.last_cap)


# --- gpt-oss: a learned sink in the denominator ---


@dataclass(frozen=True)
class SinkSizes(Sizes):
    """How many keys a query of every other layer sees, and the limit inside the MLP."""

    window: int = 128
    limit: float = 7.0


def sink_softmax(scores, sink):
    """The softmax of scores (..., h, n_q, n_k) with one more score per head, (h,), which has no
    key.

    Weights of a row sum to less than 1.
    """
    sink = sink[:, None, None]
    row_max = np.maximum(scores.max(axis=-1, keepdims=True), sink)
    powers = np.exp(scores - row_max)
    return powers / (powers.sum(axis=-1, keepdims=True) + np.exp(sink - row_max))


class GptOss(Decoder):
    """A sink for each head; a window in layers 0, 2, 4, ...; biases; one expert in its MLP."""

    def shapes(self):
        sizes = self.sizes
        d_q, d_kv, d = sizes.h * sizes.d_k, sizes.h_kv * sizes.d_k, sizes.d_model
        biases = {"b_q": d_q, "b_k": d_kv, "b_v": d_kv, "b_o": d, "sink": sizes.h}
        biases |= {"b_gate": sizes.d_hidden, "b_up": sizes.d_hidden, "b_down": d}
        layers = range(sizes.n_layers)
        more = {f"{i}.{name}": (width,) for i in layers for name, width in biases.items()}
        return {**super().shapes(), **more}

    def heads(self, w, x):
        widths = self.sizes.h, self.sizes.h_kv, self.sizes.h_kv
        biases = (split_heads(w[b][None], h) for b, h in zip(("b_q", "b_k", "b_v"), widths))
        return tuple(head + bias for head, bias in zip(super().heads(w, x), biases))

    def weigh(self, i, w, scores, seen):
        if i % 2 == 0:
            seen = in_window(seen, self.sizes.window)
        return sink_softmax(self.functions.mask_scores(scores, seen), w["sink"])

    def mixed(self, w, output):
        return super().mixed(w, output) + w["b_o"]

    def mlp(self, w, x):
        limit = self.sizes.limit
        gate = np.minimum(x @ w["w_gate"] + w["b_gate"], limit)
        up = np.clip(x @ w["w_up"] + w["b_up"], -limit, limit)
        return (gate / (1 + np.exp(-1.702 * gate)) * (up + 1)) @ w["w_down"] + w["b_down"]


# --- DeepSeek: latent attention ---


@dataclass(frozen=True)
class LatentSizes(Sizes):
    """d_k counts the features of a key without a position, d_turned those that are rotated.

    r is the width of what is cached for all heads, r_query the width of what queries are made of.
    """

    d_turned: int = 64
    d_v: int = 128
    r: int = 512
    r_query: int = 1536


class DeepseekV3(Decoder):
    """Keys and values of all heads are maps of one narrow vector c, which is all that is cached,
    beside a rotated key that the heads share. No key and no value of a single head is made.
    """

    def shapes(self):
        sizes = self.sizes
        d, h, d_k, d_turned = sizes.d_model, sizes.h, sizes.d_k, sizes.d_turned
        latent = {
            "w_q_down": (d, sizes.r_query),
            "norm_q": (sizes.r_query,),
            "w_q_up": (sizes.r_query, h * (d_k + d_turned)),
            "w_kv_down": (d, sizes.r + d_turned),
            "norm_c": (sizes.r,),
            "w_up_k": (h, sizes.r, d_k),
            "w_up_v": (h, sizes.r, sizes.d_v),
            "w_o": (h * sizes.d_v, d),
        }
        found = super().shapes()
        for i in range(sizes.n_layers):
            for name in ("w_q", "w_k", "w_v"):
                del found[f"{i}.{name}"]
            found |= {f"{i}.{name}": shape for name, shape in latent.items()}
        return found

    def attend(self, i, w, x, cache, edited):
        f, sizes = self.functions, self.sizes
        start = len(cache) if cache is not None else 0
        positions = np.arange(start, start + x.shape[-2])
        query = rms_norm(x @ w["w_q_down"], w["norm_q"], 1e-6) @ w["w_q_up"]
        query, turned = np.split(f.split_heads(query, sizes.h), [sizes.d_k], axis=-1)
        c, key = np.split(x @ w["w_kv_down"], [sizes.r], axis=-1)
        c = rms_norm(c, w["norm_c"], 1e-6)
        turned = rotary(neighbours_to_halves(turned), positions, sizes.base)
        key = rotary(neighbours_to_halves(key), positions, sizes.base)
        if cache is not None:
            key, c = cache.append(key, c)

        # q · (c W) = (q Wᵀ) · c, and a (c W) = (a c) W for a row a of weights.
        narrow = query @ w["w_up_k"].swapaxes(-1, -2)
        c, key = c[..., None, :, :], key[..., None, :, :]  # one for all heads
        scores = narrow @ c.swapaxes(-1, -2) + turned @ key.swapaxes(-1, -2)
        scores = edited("scores", scores / np.float32(np.sqrt(sizes.d_k + sizes.d_turned)))
        seen = f.seen_keys(x.shape[-2], c.shape[-2])
        weights = edited("weights", self.weigh(i, w, scores, seen))
        output = edited("output", weights @ c @ w["w_up_v"])
        return dict(query=narrow, key=key, value=c, scores=scores, weights=weights, output=output)


def neighbours_to_halves(x):
    """Features 0, 2, 4, ... before 1, 3, 5, ...: pairs of neighbours become those of halves."""
    return np.concatenate([x[..., 0::2], x[..., 1::2]], axis=-1)
