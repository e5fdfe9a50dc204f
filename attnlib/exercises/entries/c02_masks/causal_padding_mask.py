"""The exercise causal_padding_mask."""

import numpy as np

from ...families.masks import ADDITIVE, INVERTED
from ...model import PLAIN, Case, Exercise, Mistake, Step, alike


def causal_padding_mask_answer(do, lengths, n):
    query, key = np.arange(n)[:, None], np.arange(n)[None, :]
    real = do.real(key[None], do.limits(lengths)[:, None, None])
    mask = do.join(np.broadcast_to(do.order(key, query), (len(lengths), n, n)), np.broadcast_to(real, (len(lengths), n, n)))
    return do.form(do.sense(mask)[:, None])


def _cases():
    def case(aspect, lengths, n, dtype=np.int64):
        return Case(aspect, (np.array(lengths, dtype), n))

    return [case(PLAIN, [1, 2], 3), case(PLAIN, [2, 5, 1], 7), case(PLAIN, [3, 1, 4, 2, 5], 11), case(PLAIN, [7, 3], 13),
            case("one sequence", [2], 3), case("one sequence", [4], 5), case("lengths of n", [3, 3], 3),
            case("lengths of n", [5, 2, 4], 5), case("as many sequences as positions", [1, 3, 2], 3),
            case("a length of 0", [0, 2], 3), case("int32 lengths", [1, 4, 2], 5, np.int32)]


EXERCISE = Exercise(
    name="causal_padding_mask", signature="(lengths, n)", place=5,
    axes=dict(lengths="batch"), answer_axes="batch one n_q n_k",
    text="A boolean mask of shape (batch, 1, n, n), True where key j <= query i and j < lengths[b].",
    answer=causal_padding_mask_answer,
    steps={
        "limits": Step(lambda lengths: lengths, "lengths"),
        "real": lambda key, limit: key < limit,
        "order": lambda key, query: key <= query,
        "join": lambda order, real: order & real,
        "sense": lambda mask: mask,
        "form": lambda mask: mask,
    },
    cases=_cases, dtype="bool",
    hints=(
        "Two masks joined by &: a causal one of shape (n, n), the same for all sequences, and one that hides padded keys.",
        "The lengths have shape (batch,). As lengths[:, None, None, None] they meet np.arange(n) in the shape (batch, 1, 1, n).",
        "(batch, 1, 1, n) & (n, n) broadcasts to (batch, 1, n, n): axes are aligned from the end.",
    ),
    mistakes=(
        INVERTED, ADDITIVE,
        *alike("Both conditions hold for each allowed pair: the key is not later than the query, and it is not padding.",
               "Which pairs satisfy your condition, and which satisfy only half of it?",
               ("causal mask forgotten", ({"join": lambda order, real: real}, {"join": lambda order, real: real[:, :1]}),
                "Padding is hidden, and the future is not."),
               ("padding forgotten", ({"join": lambda order, real: order},
                                      {"answer": lambda lengths, n: np.tri(n, dtype=bool)}), "The future is hidden, and padding is not."),
               ("either condition suffices", {"join": lambda order, real: order | real},
                "A key is seen if it is not later, or if it is not padding."),
               ("exactly one condition", {"join": lambda order, real: order ^ real},
                "A key is seen if it is not later, or if it is not padding, and hidden where both hold.")),
        *alike("Positions count from 0: the first lengths[b] keys are 0 to lengths[b] - 1.",
               "What is the position of the last real key of a sequence of length 1?",
               ("one padded key seen", {"real": lambda key, limit: key <= limit}, "Each sequence lets one padded key through."),
               ("last real key hidden", {"real": lambda key, limit: key < limit - 1},
                "The last real key of each sequence is hidden.")),
        *alike("Query i sees key i and what comes before it.", "What is the last key that query 0 may see?",
               ("diagonal excluded", {"order": lambda key, query: key < query},
                "A query does not see the key at its own position."),
               ("one key too many", {"order": lambda key, query: key <= query + 1}, "Each query sees one key of its future."),
               ("the future instead of the past", {"order": lambda key, query: key >= query},
                "Each query sees itself and what comes after it.")),
        Mistake("padded queries hidden too",
                change={"sense": lambda mask: mask & np.diagonal(mask, axis1=-2, axis2=-1)[..., None]},
                does="Rows of padded queries are False throughout.",
                why="The mask hides keys. What a padded query computes is simply not used; a row without any key is "
                    "NaN where nobody guards against it.",
                ask="Which rows of the mask are False throughout, and which should be?"),
        Mistake("heads' axis at the end", change={"form": lambda mask: mask[:, 0, :, :, None]},
                does="The answer has shape (batch, n, n, 1).",
                why="The scores have shape (batch, heads, n, n), and all heads share the mask.",
                ask="Which axis of the scores does each axis of your mask line up with?"),
        Mistake("heads' axis in front", change={"form": lambda mask: mask[:, 0][None]},
                does="The answer has shape (1, batch, n, n).",
                why="The scores have shape (batch, heads, n, n), and all heads share the mask.",
                ask="Which axis of the scores does each axis of your mask line up with?"),
        Mistake("transposed", change={"form": lambda mask: np.swapaxes(mask, -1, -2)},
                does="Rows and columns of the mask have changed places.",
                why="Rows belong to queries, columns to keys, as in the scores.",
                ask="What does row 0 of the mask say, and about which query?"),
        Mistake("one length for all",
                change=tuple({"limits": lambda lengths, take=take: np.full_like(lengths, take(lengths))}
                             for take in (np.max, np.min, lambda lengths: lengths[0], lambda lengths: lengths[-1])),
                does="All sequences of the batch get the same mask.",
                why="Each sequence has a length of its own.",
                ask="Which of your numbers depends on b?"),
        Mistake("padding at the front", change={"real": lambda key, limit: key >= key.size - limit},
                does="The last lengths[b] keys count as real.",
                why="The real keys stand at the front, the padding behind them.",
                ask="Where does the padding stand?"),
    ),
)
