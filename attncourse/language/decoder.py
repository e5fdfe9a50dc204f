"""The decoder in NumPy: every step in the open, on attnlib's functions.

A decoder as it is common today: RMSNorm before each part, rotary positions, query heads in groups
that share a key head, a SwiGLU. Its twin is decoder_torch.py, which is only there to be trained.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

import attnlib

FILE = Path(__file__).with_name("model.npz")
Edit = Callable[[int, str, np.ndarray], "np.ndarray | None"]


@dataclass(frozen=True)
class Sizes:
    """The sizes of a decoder. d_model is the width of the residual stream, d_hidden of the MLP."""

    n_words: int
    d_model: int = 64
    n_layers: int = 4
    h: int = 4
    h_kv: int = 2
    d_k: int = 16
    d_hidden: int = 160
    base: float = 1000.0


def shapes(sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """The name and shape of every parameter. Matrices are (in, out): x @ w."""
    d, d_q, d_kv = sizes.d_model, sizes.h * sizes.d_k, sizes.h_kv * sizes.d_k
    layer = {
        "norm_1": (d,),
        "w_q": (d, d_q),
        "w_k": (d, d_kv),
        "w_v": (d, d_kv),
        "w_o": (d_q, d),
        "norm_2": (d,),
        "w_gate": (d, sizes.d_hidden),
        "w_up": (d, sizes.d_hidden),
        "w_down": (sizes.d_hidden, d),
    }
    layers = {f"{i}.{name}": shape for i in range(sizes.n_layers) for name, shape in layer.items()}
    return {"embed": (sizes.n_words, d), **layers, "norm": (d,), "unembed": (d, sizes.n_words)}


# --- the parts ---


def rms_norm(x, gain, eps=1e-5):
    """x / root mean square of its last axis, times a learned gain."""
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) * gain


def swiglu(x, w_gate, w_up, w_down):
    """(silu(x W_gate) * x W_up) W_down, where silu(z) = z / (1 + exp(-z))."""
    gate = x @ w_gate
    return (gate / (1 + np.exp(-gate)) * (x @ w_up)) @ w_down


def frequencies(d, base):
    """(d/2,), the radians per position by which each pair of features is rotated."""
    return base ** (-2 * np.arange(d // 2) / d)


def rotated(x, angles):
    """Each pair of features (i, i + d/2) of x (..., n, d) rotated by its angle, (n, d/2)."""
    cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    first, second = np.split(x, 2, axis=-1)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


def rotary(x, positions, base):
    """Each pair of features (i, i + d/2) of x (..., n, d) rotated by position * base^(-2i/d)."""
    return rotated(x, np.asarray(positions)[:, None] * frequencies(x.shape[-1], base))


def split_heads(x, h):
    """(..., n, h * d) -> (..., h, n, d)."""
    *batch, n, width = x.shape
    return x.reshape(*batch, n, h, width // h).swapaxes(-2, -3)


def merge_heads(x):
    """(..., h, n, d) -> (..., n, h * d)."""
    *batch, h, n, d = x.shape
    return x.swapaxes(-2, -3).reshape(*batch, n, h * d)


def seen_keys(n_q, n_k):
    """(n_q, n_k), True where a query may attend: the queries are the last n_q of n_k positions."""
    return np.arange(n_k) <= np.arange(n_k - n_q, n_k)[:, None]


@dataclass(frozen=True)
class Functions:
    """The functions that a decoder is made of. Any of them can be replaced by one of your own."""

    rms_norm: Callable = rms_norm
    rotary: Callable = rotary
    split_heads: Callable = split_heads
    raw_scores: Callable = attnlib.raw_scores
    seen_keys: Callable = seen_keys
    mask_scores: Callable = attnlib.mask_scores
    softmax: Callable = attnlib.softmax
    av_product: Callable = attnlib.av_product
    merge_heads: Callable = merge_heads
    swiglu: Callable = swiglu


class LayerCache:
    """The keys and values of one layer so far: (..., h_kv, n, d_k) each, or None at first."""

    def __init__(self):
        self.key = self.value = None

    def __len__(self):
        return 0 if self.key is None else self.key.shape[-2]

    def append(self, key, value):
        """Keep the new positions, and give all of them: (key, value)."""
        if self.key is not None:
            key = np.concatenate([self.key, key], axis=-2)
            value = np.concatenate([self.value, value], axis=-2)
        self.key, self.value = key, value
        return key, value

    def keep(self, length):
        """Forget all positions from `length` on."""
        self.key, self.value = self.key[..., :length, :], self.value[..., :length, :]

    @property
    def nbytes(self):
        return 0 if self.key is None else self.key.nbytes + self.value.nbytes


@dataclass(frozen=True)
class Layer:
    """What one layer computed for n positions. With a cache, there are n_k >= n keys.

    before, after: `(..., n, d_model)`, the residual stream.
    query: `(..., h, n, d_k)`; key, value: `(..., h_kv, n_k, d_k)`; query and key are rotated.
    scores, weights: `(..., h, n, n_k)`, the scores before the mask.
    output: `(..., h, n, d_k)`, of each head, before W_O.
    """

    before: np.ndarray
    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    scores: np.ndarray
    weights: np.ndarray
    output: np.ndarray
    after: np.ndarray


@dataclass(frozen=True)
class Run:
    """What a decoder computed: logits `(..., n, n_words)`, and each of its layers."""

    logits: np.ndarray
    layers: tuple[Layer, ...]

    @property
    def weights(self) -> np.ndarray:
        """All weights, `(..., n_layers, h, n, n_k)`."""
        return np.stack([layer.weights for layer in self.layers], axis=-4)


class Decoder:
    """A decoder with its parameters: `decoder(tokens).logits`.

    Args:
        sizes: its sizes.
        parameters: an array for every name in `shapes(sizes)`; computed with in float32.
        functions: what it is made of.
    """

    def __init__(self, sizes: Sizes, parameters: dict, functions: Functions = Functions()):  # noqa: B008
        self.sizes = sizes
        for name, shape in self.shapes().items():
            if name not in parameters or parameters[name].shape != shape:
                found = parameters[name].shape if name in parameters else "nothing"
                raise ValueError(f"parameter {name} must have the shape {shape}; got {found}")
        self.functions = functions
        self.parameters = {name: np.float32(parameters[name]) for name in self.shapes()}

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The name and shape of every parameter."""
        return shapes(self.sizes)

    def using(self, **functions: Callable) -> Decoder:
        """The same decoder with other functions, for example `using(softmax=my_softmax)`."""
        return type(self)(self.sizes, self.parameters, replace(self.functions, **functions))

    def of_layer(self, i: int) -> dict[str, np.ndarray]:
        """The parameters of layer i: w_q, w_k, w_v, w_o and the others."""
        prefix = f"{i}."
        return {
            name.removeprefix(prefix): array
            for name, array in self.parameters.items()
            if name.startswith(prefix)
        }

    def new_cache(self, kind: Callable = LayerCache) -> list[LayerCache]:
        """An empty cache of this kind for each layer."""
        return [kind() for _ in range(self.sizes.n_layers)]

    def __call__(
        self, tokens, cache: list[LayerCache] | None = None, edits: Sequence[Edit] = ()
    ) -> Run:
        """Logits for the word after each position.

        Args:
            tokens: `(..., n)` whole numbers; with a cache, only those that are not in it yet.
            cache: of `new_cache()`; the new keys and values are appended to it.
            edits: functions of (layer, name, array) that are shown the query, key, value, scores,
                weights and output of every layer, and may return another array in its place.
        """
        x, layers = self.parameters["embed"][np.asarray(tokens)], []
        for i in range(self.sizes.n_layers):
            layers.append(self.layer(i, x, cache and cache[i], edits))
            x = layers[-1].after
        x = self.functions.rms_norm(x, self.parameters["norm"])
        return Run(self.logits(x), tuple(layers))

    def logits(self, x):
        """One number for each word, from the last normalised stream `(..., n, d_model)`."""
        return x @ self.parameters["unembed"]

    def generate(
        self, tokens, count: int = 40, use_cache: bool = True, cache: list[LayerCache] | None = None
    ) -> list[int]:
        """Up to `count` further tokens, each the one with the largest logit; the start ends them.

        tokens: `(n,)` whole numbers. Without a cache, every step reads all of them again.
        cache: an empty one of another kind, see caches.py.
        """
        cache = (cache or self.new_cache()) if use_cache else None
        read, given = list(tokens), []
        while len(given) < count:
            logits = self(read, cache).logits
            given.append(int(logits[-1].argmax()))
            if given[-1] == 0:  # the number of the start
                return given[:-1]
            read = given[-1:] if use_cache else [*read, given[-1]]
        return given

    def layer(self, i: int, before, cache: LayerCache | None = None, edits=()) -> Layer:
        """Layer i, from one residual stream `(..., n, d_model)` to the next."""
        f, w = self.functions, self.of_layer(i)

        def edited(name, array):
            for edit in edits:
                changed = edit(i, name, array)
                array = array if changed is None else changed
            return array

        part = self.attend(i, w, f.rms_norm(before, w["norm_1"]), cache, edited)
        middle = before + self.mixed(w, part["output"])
        after = middle + self.mlp(w, f.rms_norm(middle, w["norm_2"]))
        return Layer(before=before, after=after, **part)

    def attend(self, i, w, x, cache, edited) -> dict[str, np.ndarray]:
        """The attention of layer i, each head by itself: x `(..., n, d_model)` is normalised."""
        f, sizes = self.functions, self.sizes
        start = len(cache) if cache is not None else 0
        positions = np.arange(start, start + x.shape[-2])
        query, key, value = self.heads(w, x)
        query = edited("query", f.rotary(query, positions, sizes.base))
        key = edited("key", f.rotary(key, positions, sizes.base))
        value = edited("value", value)
        if cache is not None:
            key, value = cache.append(key, value)

        group = sizes.h // sizes.h_kv  # query head j reads key head j // group
        scores = edited("scores", f.raw_scores(query, np.repeat(key, group, axis=-3)))
        seen = f.seen_keys(query.shape[-2], key.shape[-2])
        weights = edited("weights", self.weigh(i, w, scores, seen))
        output = edited("output", f.av_product(weights, np.repeat(value, group, axis=-3)))
        return dict(
            query=query, key=key, value=value, scores=scores, weights=weights, output=output
        )

    # Four short steps of a layer, which published models change: variations.py.

    def heads(self, w, x):
        """Queries `(..., h, n, d_k)`, keys and values `(..., h_kv, n, d_k)`, not yet rotated."""
        f, sizes = self.functions, self.sizes
        names = {"w_q": sizes.h, "w_k": sizes.h_kv, "w_v": sizes.h_kv}
        return tuple(f.split_heads(x @ w[name], h) for name, h in names.items())

    def weigh(self, i, w, scores, seen):
        """The weights of layer i, of the scores' shape; seen is True where a query may attend."""
        return self.functions.softmax(self.functions.mask_scores(scores, seen))

    def mixed(self, w, output):
        """What attention adds to the residual stream, from the output of each head."""
        return self.functions.merge_heads(output) @ w["w_o"]

    def mlp(self, w, x):
        """What the second part adds to the residual stream."""
        return self.functions.swiglu(x, w["w_gate"], w["w_up"], w["w_down"])


# --- edits ---


def with_head(layer: int, head: int, name: str, array) -> Edit:
    """An edit: this head's query, scores, weights or output become `array`, which may be 0.

    For key and value, `head` counts key heads. `with_head(2, 1, "output", 0)` removes a head.
    """

    def edit(at, what, found):
        if (at, what) != (layer, name):
            return None
        changed = found.copy()
        changed[..., head, :, :] = array
        return changed

    return edit


def without_head(layer: int, head: int) -> Edit:
    """An edit: this head's output becomes 0."""
    return with_head(layer, head, "output", 0)


# --- on disk ---


def rounded(decoder: Decoder) -> Decoder:
    """The decoder with its parameters rounded to float16, as save() writes them."""
    return type(decoder)(decoder.sizes, _halves(decoder), decoder.functions)


def save(decoder: Decoder, path=FILE, **facts) -> None:
    """Sizes, facts and parameters, rounded to float16, as one file."""
    note = json.dumps({"sizes": asdict(decoder.sizes), **facts})
    np.savez_compressed(path, note=np.array(note), **_halves(decoder))


def _halves(decoder):
    return {name: array.astype(np.float16) for name, array in decoder.parameters.items()}


def load(path=FILE) -> Decoder:
    """The decoder that was trained for this course."""
    with np.load(path) as arrays:
        parameters = {name: arrays[name] for name in arrays.files}
    note = json.loads(str(parameters.pop("note")))
    return Decoder(Sizes(**note["sizes"]), parameters)
