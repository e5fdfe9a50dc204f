"""Other ways to keep keys and values: on pages that texts share, and in 8 bits.

Each does what LayerCache does, so a decoder can use any of them.
"""

from __future__ import annotations

import numpy as np

from attncourse.language.decoder import LayerCache, Sizes


class Pages:
    """A memory of pages for the keys and values of many texts, in all layers.

    A page has a number, and page_size slots in each layer. Slots that were never written are NaN.
    """

    def __init__(self, sizes: Sizes, n_pages: int, page_size: int = 4, seed: int = 0):
        self.sizes, self.page_size = sizes, page_size
        shape = (2, sizes.n_layers, sizes.h_kv, n_pages * page_size, sizes.d_k)
        self.key, self.value = np.full(shape, np.nan, dtype=np.float32)
        # Pages come back in any order once texts have ended, so they are handed out in any order.
        self.free = np.random.default_rng(seed).permutation(n_pages).tolist()

    def new_cache(self) -> list[PagedCache]:
        """The cache of a new text: its layers share one table."""
        table = []
        return [PagedCache(self, i, table) for i in range(self.sizes.n_layers)]


class PagedCache(LayerCache):
    """One layer of one text on pages: table[i] is the page of its i-th block."""

    def __init__(self, pages: Pages, layer: int, table: list[int]):
        self.pages, self.layer, self.table, self.length = pages, layer, table, 0

    def __len__(self):
        return self.length

    def slots(self, positions):
        """Where these positions are: the number of the page times page_size, plus the row."""
        block, row = np.divmod(positions, self.pages.page_size)
        return np.array(self.table)[block] * self.pages.page_size + row

    def append(self, key, value):
        """Write the new positions, `(h_kv, n, d_k)`, to their slots, and gather all of them."""
        first, self.length = self.length, self.length + key.shape[-2]
        while len(self.table) * self.pages.page_size < self.length:
            if not self.pages.free:
                raise MemoryError("no page is free")
            self.table.append(self.pages.free.pop())
        slots = self.slots(np.arange(self.length))
        keys, values = self.pages.key[self.layer], self.pages.value[self.layer]
        keys[:, slots[first:]], values[:, slots[first:]] = key, value
        return keys[:, slots], values[:, slots]

    def keep(self, length):
        """Forget all positions from `length` on. Their pages stay with the text."""
        self.length = min(self.length, length)


class Int8Cache(LayerCache):
    """Codes in 8 bits and a scale for each position: slightly more than a quarter of the bytes."""

    def append(self, key, value):
        """Keep the new positions in 8 bits, and give all of them back in float32."""
        found = []
        for name, new in (("key", key), ("value", value)):
            old, parts = getattr(self, name), in_8_bits(new)
            if old is not None:
                parts = tuple(np.concatenate(pair, axis=-2) for pair in zip(old, parts))
            setattr(self, name, parts)
            codes, scale = parts
            found.append(codes * scale)  # int8 times float32 is float32
        return tuple(found)

    def __len__(self):
        return 0 if self.key is None else self.key[0].shape[-2]

    def keep(self, length):
        """Forget all positions from `length` on."""
        self.key, self.value = (
            tuple(array[..., :length, :] for array in parts) for parts in (self.key, self.value)
        )

    @property
    def nbytes(self):
        return sum(array.nbytes for parts in (self.key, self.value) for array in parts)


def in_8_bits(x):
    """(codes, scale) of rows of float32: x is codes * scale, up to half a scale."""
    scale = np.abs(x).max(axis=-1, keepdims=True) / np.float32(127)
    scale[scale == 0] = 1
    return np.rint(x / scale).astype(np.int8), scale
