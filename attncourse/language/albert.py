"""An ALBERT encoder in NumPy, and the weights of RXNMapper for it.

The weights come from the wheel `rxnmapper` 0.4.3 (MIT licence), which is fetched once, into the
user's cache: Schwaller et al., Science Advances 7 (2021), eabe4166. The package isn't installed.
"""

from __future__ import annotations

import io
import math
import tempfile
import zipfile
from pathlib import Path

import numpy as np

import attnlib
from attncourse import fetched
from attncourse.language.decoder import merge_heads, split_heads

WHEEL = "rxnmapper==0.4.3"
SHA256 = "27876a4286881aafd286fd6f24a6a56a4ca6ba22d68e035a0ea120106c541ba5"
INSIDE = "rxnmapper/models/transformers/albert_heads_8_uspto_all_1310k/"
NAMES = {
    "words": "embeddings.word_embeddings.weight",
    "positions": "embeddings.position_embeddings.weight",
    "kinds": "embeddings.token_type_embeddings.weight",
    "norm_0": "embeddings.LayerNorm",
    "widen": "encoder.embedding_hidden_mapping_in",
    "q": "attention.query",
    "k": "attention.key",
    "v": "attention.value",
    "o": "attention.dense",
    "norm_1": "attention.LayerNorm",
    "up": "ffn",
    "down": "ffn_output",
    "norm_2": "full_layer_layer_norm",
}  # from "q" on, of the one layer that all layers share
SHARED = "encoder.albert_layer_groups.0.albert_layers.0."
erf = np.vectorize(math.erf, otypes=[np.float32])


class Encoder:
    """`Encoder(parameters)(tokens)` gives all weights, (n_layers, h, n, n).

    Every layer has the same parameters: `p["q"]` is a matrix and its bias, and so on.
    """

    def __init__(self, parameters: dict, h: int = 8, n_layers: int = 12):
        self.p, self.h, self.n_layers = parameters, h, n_layers

    def __call__(self, tokens, without=()) -> np.ndarray:
        """tokens: (n,) whole numbers; without: heads to remove, as pairs (layer, head)."""
        p, found = self.p, []
        x = p["words"][tokens] + p["positions"][: len(tokens)] + p["kinds"][0]
        x = linear(layer_norm(x, *p["norm_0"]), *p["widen"])
        for i in range(self.n_layers):
            output, weights = self.attend(x)
            output[[head for layer, head in without if layer == i]] = 0
            x = layer_norm(x + linear(merge_heads(output), *p["o"]), *p["norm_1"])
            x = layer_norm(x + self.mlp(x), *p["norm_2"])
            found.append(weights)
        return np.stack(found)

    def attend(self, x):
        """Every position sees every other: the output (h, n, d_k) and the weights (h, n, n)."""
        query, key, value = (split_heads(linear(x, *self.p[name]), self.h) for name in "qkv")
        weights = attnlib.softmax(attnlib.raw_scores(query, key))
        return attnlib.av_product(weights, value), weights

    def mlp(self, x):
        return linear(gelu(linear(x, *self.p["up"])), *self.p["down"])


def linear(x, w, b):
    return x @ w + b


def layer_norm(x, gain, bias, eps=1e-12):
    """Minus the mean, divided by the standard deviation, times a gain, plus a bias."""
    x = x - x.mean(axis=-1, keepdims=True)
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) * gain + bias


def gelu(z):
    """z times the share of a standard normal distribution below z."""
    return z * (1 + erf(z / np.sqrt(2))) / 2


# --- the published weights ---


def parameters(theirs: dict) -> dict:
    """Ours from theirs by name, whose matrices are (out, in)."""
    found = {}
    for ours, name in NAMES.items():
        name = name if name.startswith(("embeddings", "encoder")) else SHARED + name
        if name in theirs:
            found[ours] = theirs[name]
        else:
            found[ours] = (theirs[f"{name}.weight"].T, theirs[f"{name}.bias"])
    return found


def wheel() -> Path:
    """The wheel in the user's cache, fetched if it isn't there; OSError if it can't be had."""
    folder = fetched.cache("rxnmapper-0.4.3")
    file = folder / "rxnmapper-0.4.3-py3-none-any.whl"
    if not file.is_file() or fetched.digest(file.read_bytes()) != SHA256:
        with tempfile.TemporaryDirectory() as place:
            content = fetched.download_wheel(WHEEL, place).read_bytes()
        if fetched.digest(content) != SHA256:
            raise OSError(f"the wheel of {WHEEL} has other bytes than the pinned ones")
        folder.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return file


def load() -> tuple[Encoder, list[str]]:
    """RXNMapper's encoder, and its vocabulary. Needs torch to read the file of weights."""
    import torch

    with zipfile.ZipFile(wheel()) as archive:
        vocabulary = archive.read(INSIDE + "vocab.txt").decode("utf-8").splitlines()
        content = io.BytesIO(archive.read(INSIDE + "pytorch_model.bin"))
    theirs = torch.load(content, map_location="cpu", weights_only=True)
    named = {
        name.removeprefix("albert."): array.numpy()
        for name, array in theirs.items()
        if name.startswith("albert.")
    }
    return Encoder(parameters(named)), vocabulary
