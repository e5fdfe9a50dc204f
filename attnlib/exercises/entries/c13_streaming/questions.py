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
        "which_size_counts",
        "Blocks of 64 queries and 256 keys compute 62.5 % of a causal square of 1,024 positions. What share do blocks of 256 "
        "queries and 64 keys compute?",
        (Choice("Less: a finer cut along the keys follows the diagonal more closely.",
                "It follows the end of the block of queries, and that is a high step: most of its queries end before it."),
         Choice("The same.",
                "Each query computes half a block too much on average, of whichever blocks are the larger."),
         Choice("More: 256 queries all read as far as the last of them.",
                "They do. But with 256 keys in a block every query reads to the end of such a block, which is as much."),
         Choice("50 %: blocks of 64 keys hide nearly all that is hidden.",
                "This leaves the queries out. What a block of 256 queries computes for its last one, it computes for its "
                "first.")),
        right="b",
        shows="256 queries x  64 keys: 62.50% of the square",
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
        "lse_against_the_pair",
        "Backward, the weights are made again in float32, once from the log-sum-exp and once from the maximum and the sum, for "
        "scores near 10,000. How do their largest relative errors compare?",
        (Choice("They are equal: on paper it is the same number.",
                "This takes the machine's numbers for those on paper. The two are rounded in other places."),
         Choice("The log-sum-exp is better: one number is rounded once.",
                "It is rounded once, to the distance of numbers near 10,000. That is an error of the exponent, and so a "
                "relative error of every weight."),
         Choice("The pair is better by a factor of ten or so.",
                "This has the side right, and not the size: near 10,000 numbers lie 8,192 times as far apart as just "
                "above 1."),
         Choice("The pair is better, by a factor of hundreds or more.",
                "The maximum is a score and is not rounded, and the sum is small. Only the log-sum-exp is a large rounded "
                "number.")),
        right="d",
        shows="near 1e+04: off by 5e-04 with the lse, below 2e-06 with the pair",
    ),
    Question(
        "finished_gradients",
        "Output and log-sum-exp of all rows are known from the forward pass. Backward, the first of three blocks of keys has "
        "been read. Which gradients are finished?",
        (Choice("None: the softmax ties all keys together.",
                "It does, through the sum of each row. That sum is in the log-sum-exp and in delta, and both are known."),
         Choice("Those of the block's own keys and values.",
                "They meet all queries in this block, and no other block's scores depend on them."),
         Choice("That of the queries.",
                "A query meets the keys of every block. Its gradient gets a term from each."),
         Choice("All three, for this block.",
                "This takes the queries to belong to a block of keys. Every query meets all of them.")),
        right="b",
        shows="key 5 has a part in the scores of blocks   [0]",
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
                "Each head and each block has a cost of its own, which short inputs do not earn back. Long ones save far more in "
                "memory traffic."),
         Choice("Faster for every length: it needs less memory.",
                "This takes a small memory for speed at any size. A short table fits into the cache anyway.")),
        right="c",
        shows="n =   16: 0.17 times as fast",
    ),
)
