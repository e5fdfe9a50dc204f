"""Boolean masks, True where a query may attend: causal, padding, window."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnlib import checks


def causal_mask(n_q: int, n_k: int) -> np.ndarray:
    """Query i may attend to keys 0 to i: aligned at the top left, as in torch.

    Args:
        n_q: number of queries, 0 or more.
        n_k: number of keys, 0 or more; need not equal n_q.

    Returns:
        Boolean array `(n_q, n_k)`, True where key j <= query i.

    Raises:
        TypeError: a size is not a whole number.
        ValueError: a size is negative, or the mask would have more than 2**40 entries.

    Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.3, and the
    alignment of `torch.nn.functional.scaled_dot_product_attention(is_causal=True)`.

    >>> causal_mask(2, 3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0]])
    """
    return window_mask(n_q, n_k, None, 0)


def padding_mask(lengths: Sequence[int] | np.ndarray, n_k: int) -> np.ndarray:
    """Sequence b has lengths[b] real keys; the rest are padding.

    Args:
        lengths: `(batch,)` whole numbers from 0 to n_k.
        n_k: number of keys, padding included.

    Returns:
        Boolean array `(batch, 1, n_k)`, True for the first `lengths[b]` keys. It broadcasts
        over the queries of scores `(batch, n_q, n_k)`; with heads, `(batch, h, n_q, n_k)`,
        add their axis: `padding_mask(lengths, n_k)[:, None]`.

    Raises:
        TypeError: lengths or n_k are not whole numbers.
        ValueError: lengths is not one-dimensional, a length is below 0 or above n_k, or the
            mask would have more than 2**40 entries.

    Source: the key padding mask of batched sequence models; True = may attend, as in
    `torch.nn.functional.scaled_dot_product_attention`.

    >>> padding_mask([3, 1], 3).astype(int)
    array([[[1, 1, 1]],
    <BLANKLINE>
           [[1, 0, 0]]])
    """
    checks.check_count("n_k", n_k)
    counts = checks.check_lengths(lengths, n_k)
    return np.arange(n_k) < counts[:, None, None]


def window_mask(n_q: int, n_k: int, left: int | None, right: int | None) -> np.ndarray:
    """Query i may attend to keys i - left to i + right: aligned at the top left.

    Args:
        n_q, n_k: number of queries and of keys, 0 or more.
        left: how many keys before its own position a query sees; None for all.
        right: how many keys after it; None for all.

    Returns:
        Boolean array `(n_q, n_k)`, True where i - left <= j <= i + right.

    Raises:
        TypeError: an argument is not a whole number.
        ValueError: an argument is negative or above 2**62, or the mask would have more than
            2**40 entries.

    Source: Beltagy et al., "Longformer" (2020), section 3.1, sliding window attention.

    >>> window_mask(4, 4, 1, 0).astype(int)
    array([[1, 0, 0, 0],
           [1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    """
    for name, count in (("n_q", n_q), ("n_k", n_k), ("left", left), ("right", right)):
        if count is not None or name in ("n_q", "n_k"):
            checks.check_count(name, count)
    checks.check_mask_size(n_q, n_k)
    query_at, key_at = np.arange(n_q)[:, None], np.arange(n_k)
    mask = np.ones((n_q, n_k), dtype=bool)
    if left is not None:
        mask &= key_at >= query_at - left
    if right is not None:
        mask &= key_at <= query_at + right
    return mask


def limits(is_causal, window):
    """(left, right) of a window and a causal mask together; None on a side without a limit."""
    left, right = (None if count is None else int(count) for count in window or (None, None))
    return left, 0 if is_causal else right
