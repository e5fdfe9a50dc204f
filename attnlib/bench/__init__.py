"""Attention measured beside other implementations, `python -m attnlib.bench`; and what chapters take from it."""

from attnlib.bench.interpreter import counted
from attnlib.bench.report import gpu_times, markdown, markdown_ladder, output_mib, recorded
from attnlib.bench.roofline import attention_bytes, attention_flops, roofline_seconds, traffic

__all__ = ["attention_bytes", "attention_flops", "counted", "gpu_times", "markdown", "markdown_ladder", "output_mib", "recorded",
           "roofline_seconds", "traffic"]
