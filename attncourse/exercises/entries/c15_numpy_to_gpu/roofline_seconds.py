from ...families.counts import number_cases
from ...model import Case
from ...pages import written


def roofline_seconds(flops, bytes_moved, peak_flops, bandwidth):
    compute = flops / peak_flops
    memory = bytes_moved / bandwidth
    seconds = max(compute, memory)
    return seconds


def _cases():
    return [
        *number_cases((12.0, 2.0, 3.0, 1.0), (6.0, 10.0, 3.0, 2.0), (7e9, 3e9, 2e12, 5e11)),
        *number_cases((4e12, 1.1e9, 9e14, 3.3e12), (2e6, 6.7e7, 9e14, 3.3e12)),
        *number_cases((5.0, 3.0, 7.0, 11.0), (100.0, 7.0, 3.0, 13.0)),
        Case("both limits equal", (6.0, 4.0, 3.0, 2.0)),
    ]


EXERCISE = written(
    roofline_seconds,
    place=3,
    dtype="number",
    cases=_cases,
    formula=(
        (
            "Each of the two times is an amount of work divided by a speed, and the slower one"
            " decides."
        ),
        "What is the unit of your answer, and what does it depend on?",
    ),
)
