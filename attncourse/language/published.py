"""Sizes of attention in published models, and of their caches."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """One model. `window` is how many keys a query sees in `windowed` of the layers.

    `latent` counts the numbers that are cached for each position and layer, for all heads, instead
    of 2 * h_kv * d_k. `config` names the class of `transformers` whose defaults are these sizes.
    """

    name: str
    year: int
    n_layers: int
    h: int
    h_kv: int
    d_k: int
    positions: str
    more: str
    source: str
    window: int | None = None
    windowed: int = 0
    latent: int | None = None
    config: str | None = None

    @property
    def per_position(self) -> int:
        """Numbers that a layer caches for each position that it keeps."""
        return self.latent or 2 * self.h_kv * self.d_k

    def cache_bytes(self, n: int, itemsize: int = 2) -> int:
        """Bytes of the cache of one sequence of n positions; windowed layers drop what no query
        sees."""
        short = min(n, self.window) if self.window else n
        kept = self.windowed * short + (self.n_layers - self.windowed) * n
        return kept * self.per_position * itemsize


MODELS = (
    Published("GPT-2", 2019, 12, 12, 12, 64, "learned", "", "GPT2Config", config="GPT2Config"),
    Published("BLOOM", 2022, 70, 112, 112, 128, "ALiBi", "", "arXiv:2211.05100"),
    Published("Llama 7B", 2023, 32, 32, 32, 128, "RoPE", "", "LlamaConfig", config="LlamaConfig"),
    Published("Falcon 7B", 2023, 32, 71, 1, 64, "RoPE", "", "FalconConfig", config="FalconConfig"),
    Published(
        "Mistral 7B",
        2023,
        32,
        32,
        8,
        128,
        "RoPE",
        "",
        "MistralConfig",
        window=4096,
        windowed=32,
        config="MistralConfig",
    ),
    Published(
        "Gemma 2 2B",
        2024,
        26,
        8,
        4,
        256,
        "RoPE",
        "soft caps",
        "Gemma2Config",
        window=4096,
        windowed=13,
        config="Gemma2Config",
    ),
    Published("Llama 3.1 8B", 2024, 32, 32, 8, 128, "scaled RoPE", "", "arXiv:2407.21783"),
    Published(
        "DeepSeek-V3",
        2024,
        61,
        128,
        128,
        128,
        "RoPE, 64 features",
        "latent",
        "DeepseekV3Config",
        latent=512 + 64,
        config="DeepseekV3Config",
    ),
    Published("Qwen3 8B", 2025, 36, 32, 8, 128, "RoPE", "QK norm", "arXiv:2505.09388"),
    Published(
        "gpt-oss 120B",
        2025,
        36,
        64,
        8,
        64,
        "YaRN",
        "sinks",
        "GptOssConfig",
        window=128,
        windowed=18,
        config="GptOssConfig",
    ),
)
