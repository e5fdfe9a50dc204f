"""Answers to the exercise ring_source."""

import math
from collections import deque

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("ring_source")


@answers.right()
def source_by_remainder(rank, step, world):
    return (rank - step) % world


@answers.right()
def source_by_passing_on(rank, step, world):
    held = list(range(world))
    for _ in range(step):
        held = held[-1:] + held[:-1]
    return held[rank]


@answers.right()
def source_by_a_deque(rank, step, world):
    held = deque(range(world))
    held.rotate(step)
    return held[rank]


@answers.right()
def source_by_a_case(rank, step, world):
    return rank - step if step <= rank else rank - step + world


@answers.right()
def source_by_a_negative_index(rank, step, world):
    return list(range(world))[rank - step]


@answers.wrong("towards the next rank")
def source_of_the_others_view(rank, step, world):
    return (rank + step) % world


@answers.wrong("not wrapped around")
def source_below_zero(rank, step, world):
    return rank - step


@answers.wrong("not wrapped around")
def source_by_the_remainder_of_c(rank, step, world):
    return int(math.fmod(rank - step, world))


@answers.wrong("one step too early")
def source_after_the_step(rank, step, world):
    return (rank - step - 1) % world


@answers.wrong("the rank before, at every step")
def source_is_the_sender(rank, step, world):
    return (rank - 1) % world


@answers.wrong("sign dropped")
def source_by_distance(rank, step, world):
    return abs(rank - step)


@answers.wrong("stopped at rank 0")
def source_on_a_line(rank, step, world):
    return max(rank - step, 0)


@answers.wrong("always a whole round added")
def source_without_remainder(rank, step, world):
    return rank - step + world


@answers.wrong("ranks counted from 1")
def source_from_one(rank, step, world):
    return (rank - step) % world + 1


@answers.wrong("step minus rank")
def source_the_other_way(rank, step, world):
    return (step - rank) % world


@answers.wrong("the step itself")
def source_is_the_step(rank, step, world):
    return step


@answers.wrong("one step back at most")
def source_is_the_sender_after_the_start(rank, step, world):
    return (rank - 1) % world if step else rank


@answers.wrong("rank left out where it wraps")
def source_from_the_last_rank(rank, step, world):
    return rank - step if rank >= step else world - step


@answers.wrong("one too few where it wraps")
def source_from_the_last_number(rank, step, world):
    return rank - step if rank >= step else world - 1 - (step - rank)


@answers.wrong("wrapped where rank and step are equal")
def source_by_a_strict_comparison(rank, step, world):
    return rank - step if rank > step else rank - step + world


@answers.wrong("towards the next rank, beyond the last one")
def source_by_a_sum(rank, step, world):
    return rank + step


@answers.wrong("towards the next rank", "one step too early")
def source_ahead_and_early(rank, step, world):
    return (rank + step + 1) % world


@answers.wrong("rank as a floating-point number")
def source_as_a_float(rank, step, world):
    return float((rank - step) % world)


@answers.wrong("extra value returned")
def sources_so_far(rank, step, world):
    return [(rank - earlier) % world for earlier in range(step + 1)]


@answers.wrong("list around the answer")
def source_in_a_list(rank, step, world):
    return [(rank - step) % world]


@answers.wrong("the rank after, at every step")
def source_is_where_it_sends(rank, step, world):
    return (rank + 1) % world


@answers.wrong("the last rank where it wraps")
def source_wrapped_to_the_last(rank, step, world):
    return rank - step if rank >= step else world - 1


@answers.wrong("quotient instead of the remainder")
def whole_division(rank, step, world):
    return (rank - step) // world


@answers.wrong("this rank counted from the end")
def back_from_the_other_end(rank, step, world):
    return (world - 1 - rank - step) % world
