"""The exercise padding_mask."""

from dataclasses import replace

import numpy as np

from ...families.choose import named
from ...families.masks import ADDITIVE, INVERTED, NOTHING_ALLOWED, TRIANGLE_MISTAKES, as_it_is
from ...model import PLAIN, Case, Exercise, Mistake, Step, alike


def padding_mask_answer(do, lengths, n_k):
    positions = do.positions(n_k, lengths)
    mask = do.compare(positions[None, :], do.limits(lengths)[:, None])
    return do.form(do.axes(do.sense(mask)))


def _cases():
    def case(aspect, lengths, n_k, dtype=np.int64):
        return Case(aspect, (np.array(lengths, dtype), n_k))

    many = np.random.default_rng(0).integers(0, 71, 37)
    return [case(PLAIN, [1, 2], 3), case(PLAIN, [2, 5, 1], 7), case(PLAIN, [3, 1, 4, 2, 5], 11), case(PLAIN, many, 70),
            case("one sequence", [2], 3), case("lengths of n_k", [3, 3], 3), case("lengths of n_k", [5, 2, 4], 5),
            case("a length of 0", [0, 2], 3), case("int32 lengths", [1, 4, 2], 5, np.int32)]


def _compared(*comparisons):
    return tuple({"compare": compare} for compare in comparisons)


def _limits(*limits):
    return tuple({"limits": limit} for limit in limits)


def _one_for_all(of):
    return {"limits": lambda lengths: np.full(lengths.shape, of(lengths))}


EXERCISE = Exercise(
    name="padding_mask", signature="(lengths, n_k)", place=4,
    axes=dict(lengths="batch"), answer_axes="batch one n_k",
    text="A boolean mask of shape (batch, 1, n_k), True for the first lengths[b] keys.",
    answer=padding_mask_answer,
    steps={
        "positions": lambda n_k, lengths: np.arange(n_k),
        "limits": Step(lambda lengths: lengths, "lengths"),
        "compare": lambda position, limit: position < limit,
        "sense": as_it_is,
        "axes": lambda mask: mask[:, None, :],
        "form": as_it_is,
    },
    cases=_cases, dtype="bool",
    hints=(
        "Key j of sequence b is real if j is among the first lengths[b] positions.",
        "Compare np.arange(n_k) with the lengths as a column: the result has shape (batch, n_k).",
        "The scores have shape (batch, n_q, n_k), and all queries share the mask: an axis of "
        "length 1 belongs in the middle, as in lengths[:, None, None].",
    ),
    mistakes=(
        INVERTED, ADDITIVE, NOTHING_ALLOWED,
        *alike("Positions count from 0: the first lengths[b] keys are 0 to lengths[b] - 1, and all of them are real.",
               "At which positions do the real keys of a sequence of length 1 stand, and at which those of one of "
               "length 4?",
               ("one key too many", _compared(lambda position, limit: position <= limit),
                "Each sequence lets one padded key through."),
               ("one key too few", _compared(lambda position, limit: position < limit - 1),
                "The last real key of each sequence is hidden."),
               ("only the last real key", _compared(lambda position, limit: position == limit - 1),
                "One key a sequence is True, the last real one."),
               ("padding at the front", {"positions": lambda n_k, lengths: np.arange(n_k)[::-1]},
                "The last lengths[b] keys are True.")),
        *(replace(mistake, alone=True) for mistake in alike(
            "The first lengths[b] keys are real, each sequence's from its own key 0 on.",
            "How many entries of a row must be True for a sequence of length 4, and where does the second sequence "
            "start?",
            ("two keys too many",
             _compared(lambda position, limit: position < limit + 2, lambda position, limit: position < limit - 2),
             "The edge of each row is off by two keys."),
            ("half of the length",
             _limits(lambda lengths: lengths // 2, lambda lengths: 2 * lengths, lambda lengths: lengths / 2),
             "Each row has half as many keys as it should, or twice as many."),
            ("lengths added up", _limits(np.cumsum),
             "The lengths are taken as ends in one long row: each is added to those before."),
            ("only the key behind the last one", _compared(lambda position, limit: position == limit),
             "One key a sequence is True, the first padded one."))),
        Mistake("causal mask joined", alone=True,
                change=({"form": lambda mask: mask & np.tri(mask.shape[-1], dtype=bool)},
                        {"form": lambda mask: mask | np.tri(mask.shape[-1], dtype=bool)}),
                does="The answer has shape (batch, n_k, n_k): a causal mask is joined to it.",
                why="The mask hides padding, for any number of queries. What is causal is another mask.",
                ask="How many queries will the scores have?"),
        *alike("The scores have shape (batch, n_q, n_k): the batch stands in front, columns belong to keys, and an "
               "axis of "
               "length 1 serves any number of queries.",
               "Which axis of the scores does each axis of the mask line up with?",
               ("queries padded instead of keys", {"axes": lambda mask: mask[:, :, None]},
                "The answer has shape (batch, n_k, 1): it masks rows of the scores."),
               ("axis of the queries in front", {"axes": lambda mask: mask[None, :, :]},
                "The answer has shape (1, batch, n_k)."),
               ("queries padded too", ({"axes": lambda mask: mask[:, :, None] & mask[:, None, :]},
                                       {"axes": lambda mask: mask[:, :, None] | mask[:, None, :]}),
                "The answer has shape (batch, n_k, n_k): rows of padded positions are masked, too."),
               ("a row for each key", {"axes": lambda mask: np.repeat(mask[:, None, :], mask.shape[-1], axis=1)},
                "The answer has shape (batch, n_k, n_k).")),
        replace(named("everything allowed", TRIANGLE_MISTAKES),
                does="Every key may be attended to, padding too.",
                why="The padding behind a sequence holds no key of it.",
                ask="Which keys of a sequence of length 1 are padding?"),
        *alike("The keys' axis has n_k positions, even if no sequence is that long.",
               "Which axis of the scores does the mask's last axis line up with?",
               ("n_k ignored", {"positions": lambda n_k, lengths: np.arange(lengths.max())},
                "The mask is as wide as the longest sequence."),
               ("n_k fixed in the code", tuple({"positions": lambda n_k, lengths, n=n: np.arange(n)}
                                               for n in (512, 128, 64, 10, 1024, 32, 16, 8, 100)),
                "The mask is as wide as a number that stands in the code.")),
        Mistake("one length for all",
                change=tuple(map(_one_for_all, (lambda n: n[0], np.max, np.min, lambda n: n[-1], np.mean, np.sum))),
                does="All sequences of the batch get the same mask.",
                why="Each sequence has a length of its own.", ask="Which of your numbers depends on b?"),
    ),
)
