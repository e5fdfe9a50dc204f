"""The exercise zigzag_positions."""

import numpy as np

from ...families.counts import number_cases
from ...model import Case, Exercise, Mistake, alike, ways


def zigzag_answer(do, rank, world, n):
    size = do.size(world, n)
    front, back = do.blocks(do.rank(rank, world), world)
    return do.finish(np.concatenate(do.order(do.first(front, size), do.second(back, size))), rank, world, n)


def _block(number, size):
    return np.arange(number * size, (number + 1) * size)


def _positions(*functions):
    """Variants: the whole answer as another function of rank, world and n."""
    return ways("answer", *functions)


def _dealt(rank, world, n, first):
    """Single positions dealt out, in rounds of 2 * world."""
    return np.flatnonzero(np.isin(np.arange(n) % (2 * world), (rank, first(rank, world))))


def _mask(positions, n):
    mask = np.zeros(n, dtype=bool)
    mask[positions] = True
    return mask


ZIGZAG_MISTAKES = (
    *alike("Under a causal mask late queries read more keys than early ones. A rank gets its fair share if it owns a block from "
           "the front and the one that lies as far from the end.",
           "With 2 ranks and 4 blocks, which two blocks does each rank own?",
           ("contiguous part", {"blocks": lambda rank, world: (2 * rank, 2 * rank + 1)},
            "The rank owns n / world positions in a row: the last rank has nearly all the work of a causal mask."),
           ("two blocks from rank on", {"blocks": lambda rank, world: (rank, rank + 1)},
            "The rank owns block rank and the next one: two ranks own the same block, and nobody owns the last ones."),
           ("every world-th position", _positions(lambda rank, world, n: np.arange(rank, n, world)),
            "The rank owns single positions, world apart. That is fair, too, but it is the striped order."),
           ("single positions instead of blocks", _positions(
               lambda rank, world, n: _dealt(rank, world, n, lambda rank, world: 2 * world - 1 - rank)),
            "Positions are dealt out one by one, to and fro. That is fair, too, but here a rank owns two whole blocks."),
           ("back block counted from the middle", {"blocks": lambda rank, world: (rank, world + rank)},
            "The second block is the rank-th of the second half, from its front: early ranks own early blocks of both halves."),
           ("ranks in reverse order", {"rank": lambda rank, world: world - 1 - rank},
            "Rank 0 owns the blocks in the middle, and the last rank those at both ends.")),
    *alike("A rank owns two blocks: one of the first half, and one of the second.",
           "How many positions must the answer have, for n = 8 and world = 2?",
           ("only the front block", {"order": lambda front, back: (front,)}, "The block from the back is missing."),
           ("only the back block", {"order": lambda front, back: (back,)}, "The block from the front is missing."),
           ("front block twice", {"blocks": lambda rank, world: (rank, rank)},
            "The block from the front is there twice, and none from the back.")),
    *alike("The last of 2 * world blocks has the number 2 * world - 1, and it belongs to rank 0.",
           "Which number has the last of 4 blocks, and where does it end?",
           ("back block one too far", {"blocks": lambda rank, world: (rank, 2 * world - rank)},
            "The block from the back is one too far behind; that of rank 0 lies beyond the sequence."),
           ("back block one too early", {"blocks": lambda rank, world: (rank, 2 * world - 2 - rank)},
            "The block from the back is one too far in front; the last block belongs to nobody."),
           ("back block at index -rank", {"blocks": lambda rank, world: (rank, -rank % (2 * world))},
            "The block from the back is that at index -rank. For rank 0 that is block 0 once more, else one too far behind."),
           ("blocks counted from 1", {"blocks": lambda rank, world: (rank + 1, 2 * world - 1 - rank)},
            "The block from the front is the next one: block 0 belongs to nobody."),
           ("world blocks instead of twice as many", {"size": lambda world, n: n // world,
                                                      "blocks": lambda rank, world: (rank, world - 1 - rank)},
            "The sequence is cut into world blocks, so that two ranks own the same ones, and twice as many positions."),
           ("world blocks on each side", {"blocks": lambda rank, world: (rank, world - 1 - rank)},
            "The blocks are half as long as a rank's part, but both are counted in the first half of the sequence.")),
    *alike("The positions stand in the order of the sequence: the front block first, each block upwards.",
           "Which of a rank's positions is the smallest, and where does it stand in your answer?",
           ("back block first", {"order": lambda front, back: (back, front)}, "The positions of the back block come first."),
           ("back block downwards", {"second": lambda back, size: _block(back, size)[::-1]},
            "The positions of the back block run downwards."),
           ("all positions downwards", {"finish": lambda positions, rank, world, n: positions[::-1]},
            "The positions run downwards."),
           ("blocks interleaved", {"finish": lambda positions, rank, world, n: positions.reshape(2, -1).T.ravel()},
            "A position of the front block and one of the back block stand in turn.")),
    *alike("The answer is the positions themselves, n / world whole numbers on one axis: they pick a rank's rows from an array.",
           "What do you get from x[..., positions, :] with your answer?",
           ("a mask instead of positions", {"finish": lambda positions, rank, world, n: _mask(positions, n)},
            "The answer has an entry for each position of the sequence: whether the rank owns it."),
           ("numbers of blocks instead of positions", _positions(lambda rank, world, n: np.array([rank, 2 * world - 1 - rank])),
            "The answer is the numbers of the two blocks, and not the positions in them."),
           ("only where the blocks begin", _positions(
               lambda rank, world, n: np.array([rank, 2 * world - 1 - rank]) * (n // (2 * world))),
            "The answer is the first position of each of the two blocks."),
           ("two rows", {"finish": lambda positions, rank, world, n: positions.reshape(2, -1)},
            "The two blocks stand in two rows, on an axis of their own."),
           ("positions counted from 1", {"finish": lambda positions, rank, world, n: positions + 1},
            "All positions are larger by 1; the last one lies beyond the sequence.")),
    *alike("A block runs from its number times the length up to, and without, where the next one begins.",
           "Which positions are in block 1 of length 3?",
           ("front block one too long", {"first": lambda front, size: np.arange(front * size, (front + 1) * size + 1)},
            "The block from the front holds the first position of the next one as well."),
           ("back block one too short", {"second": lambda back, size: _block(back, size)[:-1]},
            "The last position of the block from the back is missing."),
           ("both blocks one too short", {"first": lambda front, size: _block(front, size)[:-1],
                                          "second": lambda back, size: _block(back, size)[:-1]},
            "The last position of each block is missing.")),
)

FLOATS = Mistake(
    "positions as floating-point numbers",
    does="The positions are floating-point numbers.",
    why="Positions pick rows, and NumPy takes whole numbers as indices and no others.",
    ask="Which of your operations makes a floating-point number of whole ones: / or //?")


def gives_floats(run):
    outcome = run(1, 2, 12)
    pieces = outcome.answer.pieces if outcome.answer else ()
    return FLOATS if len(pieces) == 1 and pieces[0].values.dtype.kind == "f" else None


def zigzag_cases():
    return [*number_cases((0, 2, 8), (1, 2, 8), (1, 2, 12), (0, 3, 12), (2, 3, 18), (1, 3, 30), (3, 4, 40), (1, 4, 24), (2, 5, 60),
                          (6, 8, 80), (0, 7, 42)),
            *(Case("blocks of one position", args) for args in ((0, 2, 4), (1, 3, 6), (3, 4, 8))),
            *(Case("one rank", args) for args in ((0, 1, 2), (0, 1, 6)))]


EXERCISE = Exercise(
    name="zigzag_positions", signature="(rank, world, n)", place=3,
    text="The positions that a rank owns, ascending: the sequence of n positions is cut into 2 * world equal blocks, and the rank "
         "owns the rank-th from the front and the rank-th from the back.",
    answer=zigzag_answer,
    steps={
        "rank": lambda rank, world: rank,
        "size": lambda world, n: n // (2 * world),
        "blocks": lambda rank, world: (rank, 2 * world - 1 - rank),
        "first": _block,
        "second": _block,
        "order": lambda front, back: (front, back),
        "finish": lambda positions, rank, world, n: positions,
    },
    cases=zigzag_cases, dtype="number", audits=(gives_floats,),
    hints=(
        "Take n = 12 and world = 2: four blocks of three positions. Rank 0 owns the first block and the last one, rank 1 the two "
        "between them.",
        "How long is a block, and which numbers have the two blocks of a rank? The last block has the number 2 * world - 1.",
        "Block b of length c holds the positions np.arange(b * c, (b + 1) * c). np.concatenate joins the two, for b = rank and "
        "b = 2 * world - 1 - rank.",
    ),
    mistakes=ZIGZAG_MISTAKES,
)
