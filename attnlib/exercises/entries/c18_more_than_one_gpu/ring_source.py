"""The exercise ring_source."""

from ...families.counts import number_cases
from ...model import Case, Exercise, Mistake, Step, alike, ways


def ring_source_answer(do, rank, step, world):
    return do.finish(do.wrap(do.back(rank, do.passed(step)), world), world)


def _wrap(*functions):
    return ways("wrap", *functions)


def _answer(*functions):
    return ways("answer", *functions)


RING_SOURCE_MISTAKES = (
    *alike("What a rank holds has come from the ranks before it: after each step it holds what rank - 1 held until then.",
           "With 4 ranks, from whom does rank 2 receive after step 0, and whose keys are these?",
           ("towards the next rank", {"back": lambda rank, step: rank + step},
            "The sources go up: this is where the rank's own keys have gone, not whose keys it holds."),
           ("towards the next rank, beyond the last one", {"back": lambda rank, step: rank + step,
                                                           "wrap": lambda source, world: source},
            "The answer is rank + step: the sources go up where they should go down, and beyond the last rank."),
           ("step minus rank", {"back": lambda rank, step: step - rank},
            "Rank and step have changed places in the difference."),
           ("the rank before, at every step", {"back": lambda rank, step: rank - 1},
            "The answer is always the rank from which this one receives, whatever the step is."),
           ("one step back at most", {"back": lambda rank, step: rank - min(step, 1)},
            "From step 1 on the answer is the rank from which this one receives, however often the parts were passed on."),
           ("half of the steps backwards", _answer(
               lambda rank, step, world: (rank + (step + 1) // 2 * (-1) ** step) % world,
               lambda rank, step, world: (rank - (step + 1) // 2 * (-1) ** step) % world),
            "The sources lie before the rank and behind it in turn, as if keys came from both sides.")),
    *alike("At step 0 a rank holds its own keys and values, and nothing has been sent.",
           "What is the answer for step 0, and what for step 1?",
           ("one step too early", {"passed": lambda step: step + 1},
            "What arrives after a step counts for that step already: at step 0 it is the part of the rank before."),
           ("one step too late", {"passed": lambda step: step - 1},
            "The part is the one that was held a step before.")),
    *alike("Two numbers decide: where the rank stands, and how many steps the parts have travelled.",
           "For 4 ranks, which two ranks hold different parts at step 1?",
           ("rank left out", {"back": lambda rank, step: -step},
            "The answer is the same for all ranks: it is that of rank 0."),
           ("step left out", {"back": lambda rank, step: rank},
            "The answer is the rank itself, as if nothing were passed on."),
           ("the step itself", {"back": lambda rank, step: step, "wrap": lambda source, world: source},
            "The answer is the number of the step, for every rank."),
           ("rank and step multiplied", {"back": lambda rank, step: rank * step}, "Rank and step are multiplied.")),
    *alike("The ranks stand in a ring: before rank 0 comes the last one, world - 1.",
           "From whom does rank 0 receive, and what is (0 - 1) % 4 in Python?",
           ("not wrapped round", _wrap(lambda source, world: source,
                                       lambda source, world: source - world if source < 0 else source),
            "Where the step is larger than the rank the answer is negative: no rank has that number."),
           ("sign dropped", _wrap(lambda source, world: abs(source), lambda source, world: abs(source) % world),
            "Where the step is larger than the rank the minus sign is dropped, and the answer is another rank."),
           ("stopped at rank 0", _wrap(lambda source, world: max(source, 0)),
            "Where the step is larger than the rank the answer is 0, as if rank 0 were the end of a line."),
           ("rank left out where it wraps", _answer(lambda rank, step, world: rank - step if rank >= step else world - step),
            "Where the step is larger than the rank the answer is world - step, whoever asks."),
           ("one too few where it wraps", _wrap(lambda source, world: source if source >= 0 else source + world - 1),
            "Where the step is larger than the rank the answer is too small by 1: world is to be added, and not world - 1."),
           ("wrapped where rank and step are equal", _wrap(lambda source, world: source if source > 0 else source + world),
            "Where rank and step are equal the answer is world: no rank has that number, and rank 0 is meant."),
           ("always a whole round added", _wrap(lambda source, world: source + world),
            "world is added for every rank and step: where the difference is not negative, the answer is no rank."),
           ("remainder of another number", _wrap(lambda source, world: source % (world - 1) if world > 1 else 0,
                                                 lambda source, world: source % (world + 1)),
            "The remainder is that of a division by one less, or one more, than the number of ranks.")),
    *alike("Ranks and steps are counted from 0, as in torch.distributed.",
           "Which numbers do 4 ranks have?",
           ("ranks counted from 1", {"finish": lambda source, world: source + 1},
            "The answer is larger by 1: it runs from 1 to world."),
           ("ranks counted from the end", {"finish": lambda source, world: world - 1 - source},
            "The answer is world - 1 less the rank that is meant.")),
)


FLOAT = Mistake(
    "rank as a floating-point number",
    does="The answer is a floating-point number.",
    why="A rank picks a part from a list, and Python takes whole numbers as indices and no others.",
    ask="Which of your operations makes a floating-point number of whole ones?")


def gives_a_float(run):
    outcome = run(2, 1, 4)
    pieces = outcome.answer.pieces if outcome.answer else ()
    return FLOAT if pieces and pieces[0].values.dtype.kind == "f" else None


def ring_source_cases():
    return [*number_cases((0, 1, 4), (1, 3, 4), (2, 1, 4), (3, 2, 5), (1, 4, 7), (6, 2, 7), (0, 5, 8), (5, 7, 8), (3, 6, 11),
                          (10, 4, 11), (7, 31, 32), (20, 9, 32), (2, 5, 6), (4, 1, 6), (3, 4, 5), (3, 0, 5)),
            *(Case("the first step", args) for args in ((2, 0, 4), (0, 0, 3), (7, 0, 8))),
            *(Case("two ranks", args) for args in ((0, 1, 2), (1, 1, 2))), Case("one rank", (0, 0, 1))]


EXERCISE = Exercise(
    name="ring_source", signature="(rank, step, world)", place=1,
    text="Whose keys and values a rank holds at a step of a ring: each rank begins with its own at step 0, and passes what it "
         "holds on to rank + 1, the last one to the first, after every step.",
    answer=ring_source_answer,
    steps={
        "passed": lambda step: step,
        "back": Step(lambda rank, step: rank - step, "the difference", True),
        "wrap": lambda source, world: source % world,
        "finish": lambda source, world: source,
    },
    cases=ring_source_cases, dtype="number", audits=(gives_a_float,),
    hints=(
        "Draw four ranks in a circle, and write into each the number of the part that it holds. Pass all parts on once, and "
        "then again.",
        "After one step a rank holds the part of the rank before it; after two, that of the rank before that one. And before "
        "rank 0 stands the last rank.",
        "Count back from rank by step. Where that falls below 0 it goes on at world: Python's remainder, %, does just this, as "
        "-1 % 4 is 3.",
    ),
    mistakes=RING_SOURCE_MISTAKES,
)
