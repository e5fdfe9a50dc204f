"""Attention problems that every implementation has to solve: shapes, masks and options.

name: (shapes of query, key and value; kind and shape of the mask, or None; options)
"""

import numpy as np
from helpers import BATCH, D_K, D_V, HEADS, N_K, N_Q, draws, random_mask

PLAIN = ((N_Q, D_K), (N_K, D_K), (N_K, D_V))
WIDE = tuple((BATCH, HEADS, *shape) for shape in PLAIN)
TALL = ((N_K, D_K), (N_Q, D_K), (N_Q, D_V))
SCORES = (BATCH, HEADS, N_Q, N_K)
CAUSAL = {"is_causal": True}
GROUPED = {"enable_gqa": True}

CASES = {
    "no leading axes": (PLAIN, None, {}),
    "two leading axes": (WIDE, None, {}),
    "causal, more keys": (PLAIN, None, CAUSAL),
    "causal, more queries": (TALL, None, CAUSAL),
    "boolean mask": (WIDE, ("boolean", SCORES), {}),
    "floating mask": (WIDE, ("floating", SCORES), {}),
    "boolean mask and causal": (WIDE, ("boolean", (BATCH, 1, N_Q, N_K)), CAUSAL),
    "floating mask and causal": (WIDE, ("floating", (N_Q, N_K)), CAUSAL),
    "window": (WIDE, None, {"window": (1, 2)}),
    "window of its own position": (TALL, None, {"window": (0, 0)}),
    "window without end, and a boolean mask": (WIDE, ("boolean", SCORES), {"window": (None, 1)}),
    "window and causal": (TALL, None, {"window": [2, 3], **CAUSAL}),
    "window that hides all keys of the last queries": (
        ((19, D_K), *PLAIN[1:]),
        ("floating", (N_K,)),
        {"window": (4, 1)},
    ),
    "window, softcap and grouped heads": (
        ((4, N_K, D_K), (2, N_Q, D_K), (2, N_Q, D_V)),
        None,
        {"window": (np.int64(3), None), "softcap": 0.5, **GROUPED},
    ),
    "window wider than any": (PLAIN, None, {"window": (2**62, 2**62)}),
    "scale": (PLAIN, None, {"scale": 0.7}),
    "scale 0": (PLAIN, None, {"scale": 0}),
    "scale below 0": (PLAIN, None, {"scale": -0.3}),
    "scale of NumPy": (PLAIN, None, {"scale": np.float64(0.7), "softcap": np.float32(0.5)}),
    "softcap": (WIDE, None, {"softcap": 0.5, "scale": 0.7}),
    "softcap and floating mask": (PLAIN, ("floating", (N_Q, N_K)), {"softcap": 2}),
    "softcap, mask and causal": (TALL, ("boolean", (N_Q,)), {"softcap": 0.5, **CAUSAL}),
    "tiny scores": (PLAIN, None, {"scale": 1e-30}),
    "huge scores": (PLAIN, None, {"scale": 1e4}),
    "key broadcast over heads": (
        ((BATCH, HEADS, N_Q, D_K), (BATCH, 1, N_K, D_K), (N_K, D_V)),
        None,
        CAUSAL,
    ),
    "query broadcast over batch": ((PLAIN[0], *WIDE[1:]), ("floating", SCORES), {}),
    "axes of value alone": ((*PLAIN[:2], WIDE[2]), ("boolean", (HEADS, 1, N_K)), CAUSAL),
    "three leading axes": (
        ((BATCH, 1, 1, N_Q, D_K), (HEADS, 1, N_K, D_K), (17, N_K, D_V)),
        None,
        {},
    ),
    "grouped heads": (
        ((BATCH, 9, N_Q, D_K), (BATCH, 3, N_K, D_K), (BATCH, 3, N_K, D_V)),
        ("boolean", (9, 1, N_K)),
        GROUPED,
    ),
    "grouped heads, h_kv of key and value": (
        ((6, N_Q, D_K), (3, N_K, D_K), (2, N_K, D_V)),
        ("floating", (6, N_Q, 1)),
        {**GROUPED, **CAUSAL},
    ),
    "grouped heads, one of key": (
        ((6, N_Q, D_K), (1, N_K, D_K), (BATCH, 6, N_K, D_V)),
        None,
        GROUPED,
    ),
    "grouped heads, softcap": (
        ((4, N_Q, D_K), (2, N_K, D_K), (2, N_K, D_V)),
        None,
        {**GROUPED, "softcap": 0.5},
    ),
    "sizes of 1": (((1, 1, 1), (1, 1, 1), (1, 1, 1)), None, CAUSAL),
    "one query": (((1, D_K), *PLAIN[1:]), None, CAUSAL),
    "one key": ((PLAIN[0], (1, D_K), (1, D_V)), None, {}),
    "no queries": (((HEADS, 0, D_K), (HEADS, N_K, D_K), (N_K, D_V)), ("boolean", (N_K,)), CAUSAL),
    "no keys": (
        ((HEADS, N_Q, D_K), (HEADS, 0, D_K), (HEADS, 0, D_V)),
        ("floating", (N_Q, 1)),
        CAUSAL,
    ),
    "no keys, softcap": ((PLAIN[0], (0, D_K), (0, D_V)), None, {"softcap": 0.5}),
    "no queries and no keys": (((0, D_K), (0, D_K), (0, D_V)), None, {}),
    "no batch": (((0, HEADS, N_Q, D_K), (1, HEADS, N_K, D_K), (HEADS, N_K, D_V)), None, CAUSAL),
    "no heads of query": (((0, N_Q, D_K), (2, N_K, D_K), (2, N_K, D_V)), None, GROUPED),
    "no heads": (((0, N_Q, D_K), (0, N_K, D_K), (0, N_K, D_V)), None, GROUPED),
    "no features of value": ((*PLAIN[:2], (N_K, 0)), None, CAUSAL),
}


def problem(name):
    """Query, key and value, the mask or None, and the options: NumPy, float64."""
    shapes, mask, options = CASES[name]
    return draws(*shapes), mask and random_mask(*mask), options
