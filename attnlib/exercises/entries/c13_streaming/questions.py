"""What readers of *Never storing A* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "memory_of_weights",
        "Attention with 8 heads of 64 features, 65,536 queries and as many keys, in float32. How much memory do the "
        "weights take?",
        (Choice("Half a GiB.",
                "This takes the weights to be as large as what goes in and comes out: queries, keys, values and output "
                "are half a GiB together. Those grow with n, the weights with n²."),
         Choice("16 GiB.",
                "This takes one table of weights for all heads. Each of the 8 heads has its own."),
         Choice("128 GiB.",
                "8 heads, 65,536 times 65,536 pairs, 4 bytes each."),
         Choice("8 TiB.",
                "This takes a weight for each feature. A pair has one weight in each head, whatever the number of "
                "features.")),
        right="c",
        shows="weights 128.000 GiB",
    ),
    Question(
        "a_larger_score",
        "Of the scores so far, the maximum is 2, and the sum of exp(score - 2) is 3. A score of 5 comes. The sum is to be "
        "measured from the new maximum, 5. What is it now?",
        (Choice("4: the new maximum adds exp(0), which is 1.",
                "This leaves the old terms as they were, measured from 2. They count e³ times too much then, about 20 "
                "times."),
         Choice("1: the old terms are measured from the wrong maximum.",
                "This throws the old keys away. They can be repaired, and need not even be known."),
         Choice("About 1.15: the old terms become smaller.",
                "Each old term is multiplied by exp(2 - 5), which is about 0.05, and so is their sum: 0.15. The new one "
                "is 1."),
         Choice("About 61: the old terms become larger.",
                "This repairs the wrong way round, by exp(5 - 2). Measured from a larger maximum a term is smaller.")),
        right="c",
        shows="exponentials: [0.05 0.05 0.05 1.  ]  sum: 1.15",
    ),
    Question(
        "factor_left_out",
        "Somebody moves the maximum and forgets to multiply the old sum by the factor. When does nobody notice?",
        (Choice("Never: the sum is wrong each time.",
                "This takes for granted that the factor always differs from 1. It is 1 whenever the maximum stays."),
         Choice("Where the first block holds the largest score.",
                "Then the maximum never moves, and every factor that was left out is 1."),
         Choice("Where the last block holds the largest score.",
                "This takes the last maximum for the one that all terms have. The earlier terms were measured from "
                "smaller ones and count too much: that is the worst case."),
         Choice("Where all blocks are equally long.",
                "This takes the factor for a matter of how many keys a block has. It is one of how large their scores "
                "are.")),
        right="b",
        shows="blocks exchanged: own maximum 2.681  no factor 1.433",
    ),
    Question(
        "after_two_keys",
        "Two of four keys have been read. What is u divided by the sum at this moment?",
        (Choice("Half of the output.",
                "This takes the output for something that grows key by key. It is a mean, and u and the sum grow "
                "together."),
         Choice("The output of attention over these two keys.",
                "Both sums are complete for the keys read so far. The maximum cancels."),
         Choice("Nothing yet: no weight is known before the last key.",
                "This looks for the weights over all four keys. Those over two are known, and they sum to 1.")),
        right="b",
        shows="softmax of two:  [0.755 1.378]",
    ),
    Question(
        "same_result",
        "Streaming attention and the dense function get the same inputs in float64. How far apart are their outputs?",
        (Choice("Not at all: all bits are equal.",
                "This takes the machine's numbers for those on paper. Terms that are shifted and added in another way "
                "are rounded in other places."),
         Choice("In the last digits only.",
                "On paper it is the same number. On a machine the rounding differs, and nothing else."),
         Choice("In the third or fourth digit: streaming is an approximation.",
                "This mixes it up with sparse or linear attention, which leave something out. Here every key is read "
                "and counts with its exact weight.")),
        right="b",
        shows="streamed close? True  all bits equal? False",
    ),
    Question(
        "causal_share",
        "Queries and keys are cut into 8 blocks each. How many of the 64 pairs of blocks must be computed under a causal "
        "mask?",
        (Choice("64: what is hidden is masked afterwards.",
                "This takes the mask for a step after the scores. Where it hides a whole block, no score of it is needed."),
         Choice("36.",
                "1 for the first block of queries, 2 for the second, and so on up to 8."),
         Choice("32: a causal mask hides half.",
                "This forgets that the blocks on the diagonal are half hidden and half needed. They have to be computed."),
         Choice("28: those that lie wholly in the past.",
                "This leaves out the blocks on the diagonal. In each of them every query sees at least itself.")),
        right="b",
        shows="8 x   8 blocks:    36 are read",
    ),
    Question(
        "two_halves",
        "One person has the output over the first half of the keys, another that over the second. What gives the output "
        "over all keys?",
        (Choice("Their mean.",
                "This takes for granted that both halves have the same weight. A half with a large score has more."),
         Choice("Their mean, weighted by the numbers of keys.",
                "This counts keys and not what they weigh. For two halves it is the plain mean again."),
         Choice("Their mean, weighted by each half's sum of exponentials.",
                "That sum is the denominator of the half. Multiplied by it, an output is its sum of vectors again."),
         Choice("Nothing: the scores of all keys are needed once more.",
                "This takes for granted that a softmax cannot be taken apart. Of the other half it needs one number, its "
                "sum.")),
        right="c",
        shows="weighted by their sums: [2.335 0.293]",
    ),
    Question(
        "slower_in_pieces",
        "Streaming makes the same products as the dense function, and the repairs as well. How fast is it beside the "
        "dense one, on a CPU?",
        (Choice("Slower for every length: it does more.",
                "This takes arithmetic for what costs time. The dense function writes and reads a table that does not "
                "fit into the cache."),
         Choice("As fast: the products are the same.",
                "This takes the products for nearly all of the time. The softmax between them takes its share, most of "
                "all where its table is large."),
         Choice("Slower for short inputs, faster for long ones.",
                "Each block has a cost of its own, which short inputs do not earn back. Long ones save far more in memory "
                "traffic."),
         Choice("Faster for every length: it needs less memory.",
                "This takes a small memory for speed at any size. A short table fits into the cache anyway.")),
        right="c",
        shows="n =   16: 0.17 times as fast",
    ),
)
