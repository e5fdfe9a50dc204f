"""The exercise roofline_seconds."""

import numpy as np

from ...families.counts import UNIT_NAMES, number_cases, units
from ...model import Case, Exercise, Mistake


def roofline_answer(do, flops, bytes_moved, peak_flops, bandwidth):
    peak_flops, bandwidth = do.limits(peak_flops, bandwidth)
    compute, memory = do.compute(flops, peak_flops), do.memory(bytes_moved, bandwidth)
    return do.unit(do.join(compute, memory))


def _roofline_cases():
    return number_cases((12.0, 2.0, 3.0, 1.0), (6.0, 10.0, 3.0, 2.0), (7e9, 3e9, 2e12, 5e11),
                         (4e12, 1.1e9, 9e14, 3.3e12), (2e6, 6.7e7, 9e14, 3.3e12), (5.0, 3.0, 7.0, 11.0),
                         (100.0, 7.0, 3.0, 13.0)) + [
        Case("both limits equal", (6.0, 4.0, 3.0, 2.0))]


EXERCISE = Exercise(
    name="roofline_seconds", signature="(flops, bytes_moved, peak_flops, bandwidth)", place=3,
    text="The least time that the arithmetic (peak_flops operations a second) and the memory "
         "(bandwidth bytes a second) allow for this much work.",
    answer=roofline_answer,
    steps={
        "limits": lambda peak_flops, bandwidth: (peak_flops, bandwidth),
        "compute": lambda flops, peak: flops / peak,
        "memory": lambda count, bandwidth: count / bandwidth,
        "join": lambda compute, memory: max(compute, memory),
        "unit": lambda seconds: seconds,
    },
    cases=_roofline_cases, dtype="number",
    formula=("Each of the two times is an amount of work divided by a speed, and the slower one decides.",
             "Which unit has your answer, and what does it depend on?"),
    hints=(
        "How long does the arithmetic take if it runs at its peak, and memory is free?",
        "How long does the memory take if it runs at its peak, and arithmetic is free?",
        "Both work at the same time, and the slower one decides: the larger of flops / peak_flops "
        "and bytes_moved / bandwidth.",
    ),
    mistakes=(
        Mistake("sum instead of the larger time", change={"join": lambda compute, memory: compute + memory},
                does="The two times are added.",
                why="Arithmetic and memory work at the same time; the least time is that of the slower one.",
                ask="How long do two workers take who start together?"),
        Mistake("the smaller time", change={"join": lambda compute, memory: min(compute, memory)},
                does="The answer is the smaller of the two times.",
                why="The work is done when both are done: the slower one decides.",
                ask="Which of two workers who start together decides when the job is done?"),
        Mistake("mean of the two times", change={"join": lambda compute, memory: (compute + memory) / 2},
                does="The answer is the mean of the two times.",
                why="The slower one decides, however fast the other is.",
                ask="When is the job done if one takes 1 second and the other 9?"),
        Mistake("memory ignored", change={"join": lambda compute, memory: compute},
                does="The answer depends on the arithmetic alone.",
                why="Work with few operations for each byte waits for memory.",
                ask="How long does a copy take, which has no arithmetic at all?"),
        Mistake("arithmetic ignored", change={"join": lambda compute, memory: memory},
                does="The answer depends on the memory alone.",
                why="Work with many operations for each byte waits for the arithmetic.",
                ask="What limits a large matrix product?"),
        Mistake("limits swapped", change={"limits": lambda peak_flops, bandwidth: (bandwidth, peak_flops)},
                does="Operations are divided by bytes a second, and bytes by operations a second.",
                why="Seconds come out if like is divided by like.",
                ask="Which unit has flops / bandwidth?"),
        Mistake("quotients upside down",
                change={"compute": lambda flops, peak: peak / flops, "memory": lambda count, width: width / count},
                does="More work takes less time.",
                why="Time is work divided by speed.",
                ask="What becomes of the time if the work doubles?"),
        Mistake("rate instead of time",
                change=({"join": lambda compute, memory: 1 / max(compute, memory)},
                        {"compute": lambda flops, peak: (flops, peak), "memory": lambda count, width: (count, width),
                         "join": lambda a, b: min(a[1], a[0] / b[0] * b[1])}),
                does="The answer is a speed: operations, or runs, a second.",
                why="Seconds are asked for: the work divided by that speed.",
                ask="Which unit has your answer?"),
        Mistake("flops and bytes compared",
                change={"compute": lambda flops, peak: (flops, flops / peak),
                        "memory": lambda count, width: (count, count / width), "join": lambda a, b: max(a, b)[1]},
                does="The time of the larger amount is taken: of the arithmetic if flops is more than bytes_moved.",
                why="Operations and bytes are different things; what can be compared are the two times.",
                ask="Which two numbers in your function have the same unit?"),
        Mistake("arithmetic intensity",
                change={"compute": lambda flops, peak: flops, "memory": lambda count, width: count,
                        "join": lambda flops, count: flops / count},
                does="The answer is operations for each byte.",
                why="That tells which limit counts, compared with peak_flops / bandwidth; it is no time.",
                ask="Which unit has your answer?"),
        Mistake("products instead of quotients",
                change={"compute": lambda flops, peak: flops * peak, "memory": lambda count, width: count * width},
                does="A faster machine takes longer.",
                why="Time is work divided by speed.",
                ask="What becomes of the time if the machine is twice as fast?"),
        Mistake("whole seconds only",
                change=({"compute": lambda flops, peak: flops // peak, "memory": lambda count, width: count // width},
                        *({"unit": cut} for cut in (np.round, np.ceil, np.floor))),
                does="Fractions of a second are lost.",
                why="A kernel takes microseconds: // and round leave nothing of them.",
                ask="Which operator divides without cutting anything off?"),
        Mistake("times multiplied", change={"join": lambda compute, memory: compute * memory},
                does="The two times are multiplied.",
                why="The product of two times is no time; the slower one decides.",
                ask="Which unit has your answer?"),
        Mistake("multiply-add counted twice",
                change=tuple({"compute": lambda flops, peak, f=f: f * flops / peak} for f in (2, 0.5)),
                does="The arithmetic's time is twice as long, or half as long, as it is.",
                why="flops counts operations already, and so does peak_flops.",
                ask="In which unit are flops and peak_flops given?"),
        Mistake("bits instead of bytes",
                change=tuple({"memory": lambda count, width, f=f: f * count / width} for f in (8, 0.125)),
                does="The memory's time is 8 times too long or too short.",
                why="bytes_moved and bandwidth are both given in bytes.",
                ask="In which unit are bytes_moved and bandwidth given?"),
        Mistake(UNIT_NAMES, change=units(1e3, 1e6, 1e9),
                does="The answer is in milliseconds, or in something smaller.",
                why="Seconds are asked for.",
                ask="Where does your function multiply by a power of 10?"),
    ),
)
