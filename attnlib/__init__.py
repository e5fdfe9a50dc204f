"""Scaled dot-product attention, built to be read: see attnlib.attention."""

from attnlib.api import (
    attention,
    attention_backward,
    av_product,
    log_softmax,
    logsumexp,
    mask_scores,
    merge_partials,
    raw_scores,
    softmax,
)
from attnlib.masks import causal_mask, padding_mask, window_mask

__all__ = [
    "attention",
    "attention_backward",
    "av_product",
    "causal_mask",
    "log_softmax",
    "logsumexp",
    "mask_scores",
    "merge_partials",
    "padding_mask",
    "raw_scores",
    "softmax",
    "window_mask",
]
