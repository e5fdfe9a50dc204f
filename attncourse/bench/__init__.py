"""Attention measured against other implementations, `python -m attncourse.bench`, and what the
chapters use of it.
"""

from attncourse.bench.interpreter import counted
from attncourse.bench.report import gpu_times, markdown, markdown_ladder, output_mib, recorded
from attncourse.bench.roofline import attention_bytes, attention_flops, roofline_seconds, traffic
from attncourse.bench.touched import touched

__all__ = [
    "attention_bytes",
    "attention_flops",
    "counted",
    "gpu_times",
    "markdown",
    "markdown_ladder",
    "output_mib",
    "recorded",
    "roofline_seconds",
    "touched",
    "traffic",
]
