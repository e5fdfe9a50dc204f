"""The exercise padding_mask."""

from dataclasses import replace

import numpy as np

from ...families.choose import named
from ...families.masks import ADDITIVE, INVERTED, NOTHING_ALLOWED, TRIANGLE_MISTAKES
from ...model import PLAIN, Case, Exercise, Mistake, Step


def padding_mask_answer(do, lengths, n_k):
    positions = do.positions(n_k, lengths)
    mask = do.compare(positions[None, :], do.limits(lengths)[:, None])
    return do.form(do.axes(do.sense(mask)))


def _padding_cases():
    def case(aspect, lengths, n_k, dtype=np.int64):
        return Case(aspect, (np.array(lengths, dtype), n_k))

    return [case(PLAIN, [1, 2], 3), case(PLAIN, [2, 5, 1], 7), case(PLAIN, [3, 1, 4, 2, 5], 11),
            case("one sequence", [2], 3), case("lengths of n_k", [3, 3], 3), case("lengths of n_k", [5, 2, 4], 5),
            case("a length of 0", [0, 2], 3), case("int32 lengths", [1, 4, 2], 5, np.int32)]


EXERCISE = Exercise(
    name="padding_mask", signature="(lengths, n_k)", place=4,
    axes=dict(lengths="batch"), answer_axes="batch one n_k",
    text="A boolean mask of shape (batch, 1, n_k), True for the first lengths[b] keys.",
    answer=padding_mask_answer,
    steps={
        "positions": lambda n_k, lengths: np.arange(n_k),
        "limits": Step(lambda lengths: lengths, "lengths"),
        "compare": lambda position, limit: position < limit,
        "sense": lambda mask: mask,
        "axes": lambda mask: mask[:, None, :],
        "form": lambda mask: mask,
    },
    cases=_padding_cases, dtype="bool",
    hints=(
        "Key j of sequence b is real if j is among the first lengths[b] positions.",
        "Compare np.arange(n_k) with the lengths as a column: the result has shape (batch, n_k).",
        "The scores have shape (batch, n_q, n_k), and all queries share the mask: an axis of "
        "length 1 belongs in the middle, as in lengths[:, None, None].",
    ),
    mistakes=(
        INVERTED,
        Mistake("one key too many", change={"compare": lambda position, limit: position <= limit},
                does="Each sequence lets one padded key through.",
                why="Positions count from 0: the first lengths[b] keys are 0 to lengths[b] - 1.",
                ask="What is the position of the last real key of a sequence of length 1?"),
        Mistake("one key too few", change={"compare": lambda position, limit: position < limit - 1},
                does="The last real key of each sequence is hidden.",
                why="Positions count from 0: the first lengths[b] keys are 0 to lengths[b] - 1.",
                ask="What is the position of the last real key of a sequence of length 1?"),
        Mistake("only the last real key", change={"compare": lambda position, limit: position == limit - 1},
                does="One key a sequence is True, the last real one.",
                why="All keys up to the length may be attended to.",
                ask="Which comparison holds for all positions before the length?"),
        Mistake("two keys too many", alone=True, change=({"compare": lambda position, limit: position < limit + 2},
                                             {"compare": lambda position, limit: position < limit - 2}),
                does="The edge of each row is off by two keys.",
                why="Positions count from 0: the first lengths[b] keys are 0 to lengths[b] - 1.",
                ask="What is the position of the last real key of a sequence of length 1?"),
        Mistake("half of the length", alone=True,
                change=({"limits": lambda lengths: lengths // 2}, {"limits": lambda lengths: 2 * lengths},
                                              {"limits": lambda lengths: lengths / 2}),
                does="Each row has half as many keys as it should, or twice as many.",
                why="The first lengths[b] keys are real.",
                ask="How many entries of a row must be True for a sequence of length 4?"),
        Mistake("causal mask joined", alone=True,
                change=({"form": lambda mask: mask & np.tri(mask.shape[-1], dtype=bool)},
                        {"form": lambda mask: mask | np.tri(mask.shape[-1], dtype=bool)}),
                does="The answer has shape (batch, n_k, n_k): the future is hidden besides.",
                why="The mask hides padding, for any number of queries. What is causal is another mask.",
                ask="How many queries will the scores have?"),
        Mistake("n_k fixed in the code", alone=True,
                change=tuple({"positions": lambda n_k, lengths, n=n: np.arange(n)}
                                                      for n in (512, 128, 64, 10, 1024, 32, 16, 8, 100)),
                does="The mask is as wide as a number that stands in the code.",
                why="The keys' axis has n_k positions.",
                ask="Which axis of the scores does the mask's last axis line up with?"),
        Mistake("lengths added up", alone=True, change=({"limits": np.cumsum},),
                does="The lengths are taken as ends in one long row: each is added to those before.",
                why="Each sequence has a row of its own, which starts at key 0.",
                ask="At which key does the second sequence start?"),
        Mistake("only the key behind the last one", alone=True,
                change={"compare": lambda position, limit: position == limit},
                does="One key a sequence is True, the first padded one.",
                why="All keys before the length may be attended to.",
                ask="Which comparison holds for all positions before the length?"),
        Mistake("padding at the front", change={"positions": lambda n_k, lengths: np.arange(n_k)[::-1]},
                does="The last lengths[b] keys are True.",
                why="The real keys stand at the front, the padding behind them.",
                ask="Where does the padding stand?"),
        Mistake("queries padded instead of keys", change={"axes": lambda mask: mask[:, :, None]},
                does="The answer has shape (batch, n_k, 1): it masks rows of the scores.",
                why="Rows belong to queries, columns to keys. Hiding a padded query leaves the padded "
                    "keys in every sum.",
                ask="Along which axis of the scores do the keys run?"),
        Mistake("axis of the queries in front", change={"axes": lambda mask: mask[None, :, :]},
                does="The answer has shape (1, batch, n_k).",
                why="The scores have shape (batch, n_q, n_k): the batch stands in front.",
                ask="Which axis of the scores does each axis of the mask line up with?"),
        Mistake("queries padded too",
                change=({"axes": lambda mask: mask[:, :, None] & mask[:, None, :]},
                        {"axes": lambda mask: mask[:, :, None] | mask[:, None, :]}),
                does="The answer has shape (batch, n_k, n_k): rows of padded positions are masked, too.",
                why="The mask hides keys, for any number of queries. A query without any key gives NaN or zeros; "
                    "what a padded query computes is simply not used.",
                ask="How many queries will the scores have?"),
        replace(named("everything allowed", TRIANGLE_MISTAKES),
                does="Every key may be attended to, padding too.",
                why="The padding behind a sequence holds no key of it.",
                ask="Which keys of a sequence of length 1 are padding?"),
        NOTHING_ALLOWED,
        Mistake("a row for each key", change={"axes": lambda mask: np.repeat(mask[:, None, :], mask.shape[-1], axis=1)},
                does="The answer has shape (batch, n_k, n_k).",
                why="The mask does not know how many queries there are; an axis of length 1 fits any number.",
                ask="How many queries will the scores have?"),
        Mistake("n_k ignored", change={"positions": lambda n_k, lengths: np.arange(lengths.max())},
                does="The mask is as wide as the longest sequence.",
                why="The keys' axis has n_k positions, even if no sequence is that long.",
                ask="Which axis of the scores does the mask's last axis line up with?"),
        Mistake("one length for all", change=({"limits": lambda lengths: np.full_like(lengths, lengths[0])},
                                              {"limits": lambda lengths: np.full_like(lengths, lengths.max())},
                                              {"limits": lambda lengths: np.full_like(lengths, lengths.min())},
                                              {"limits": lambda lengths: np.full_like(lengths, lengths[-1])},
                                              {"limits": lambda lengths: np.full(lengths.shape, lengths.mean())},
                                              {"limits": lambda lengths: np.full_like(lengths, lengths.sum())}),
                does="All sequences of the batch get the same mask.",
                why="Each sequence has a length of its own.",
                ask="Which of your numbers depends on b?"),
        ADDITIVE,
    ),
)
