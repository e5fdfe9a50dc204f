"""What readers of *Attention without storing the weights* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "memory_of_weights",
        "Take attention with 8 heads of 64 features, 65,536 queries and 65,536 keys, in float32."
        " How much memory do the weights take?",
        (
            Choice(
                "Half a GiB.",
                "That's the size of the queries, keys, values and output together. They grow with"
                " n, but the weights grow with n².",
            ),
            Choice(
                "16 GiB.",
                "This assumes that all heads share one table of weights, but each of the 8 heads"
                " has its own.",
            ),
            Choice(
                "128 GiB.",
                "Each of the 8 heads has 65,536 times 65,536 weights, and each weight takes 4"
                " bytes.",
            ),
            Choice(
                "8 TiB.",
                "This counts one weight per feature. But a query and a key have one weight in"
                " each head, however many features there are.",
            ),
        ),
        right="c",
        shows="weights 128.000 GiB",
    ),
    Question(
        "after_two_keys",
        "Two of the four keys have been read so far. What do you get if you divide u by the sum"
        " now?",
        (
            Choice(
                "Half of the output.",
                "This assumes that the output grows key by key. It's a mean: u and the sum grow"
                " together.",
            ),
            Choice(
                "The output of attention over these two keys.",
                "Both sums are complete for the keys read so far. The maximum cancels.",
            ),
            Choice(
                "Nothing meaningful yet: no weight is known before the last key.",
                "The weights over all four keys aren't known yet. But the weights over the first"
                " two are, and they sum to 1.",
            ),
        ),
        right="b",
        shows="softmax of two:  [0.755 1.378]",
    ),
    Question(
        "same_result",
        "Streaming attention and the dense function get the same inputs in float64. How far apart"
        " are their outputs?",
        (
            Choice(
                "Not at all: all bits are equal.",
                "That's true on paper. On a machine, shifting and adding the terms differently"
                " also rounds them differently.",
            ),
            Choice(
                "Only in the last digits.",
                "On paper it's the same number. On a machine, only the rounding differs.",
            ),
            Choice(
                "In the third or fourth digit: streaming is an approximation.",
                "This confuses it with sparse or linear attention, which leave something out."
                " Here every key is read, and counts with its exact weight.",
            ),
        ),
        right="b",
        shows="streamed close? True  all bits equal? False",
    ),
    Question(
        "causal_share",
        "Queries and keys are cut into 8 blocks each. How many of the 64 pairs of blocks must be"
        " computed under a causal mask?",
        (
            Choice(
                "64: what is hidden is masked afterwards.",
                "This assumes that the mask always comes after the scores. If it hides a whole"
                " block, none of the block's scores is needed.",
            ),
            Choice(
                "36.",
                "That's 1 for the first block of queries, 2 for the second, and so on, up to 8"
                " for the last.",
            ),
            Choice(
                "32: a causal mask hides half.",
                "This forgets that the blocks on the diagonal are only partly hidden, so they"
                " have to be computed.",
            ),
            Choice(
                "28: only the blocks that lie entirely in the past.",
                "This leaves out the blocks on the diagonal. In each of them, every query sees at"
                " least itself.",
            ),
        ),
        right="b",
        shows="8 x   8 blocks:    36 are read",
    ),
    Question(
        "which_size_counts",
        "Blocks of 64 queries and 256 keys compute 62.5 % of a causal square of 1,024 positions."
        " What share do blocks of 256 queries and 64 keys compute?",
        (
            Choice(
                "Less: a finer cut along the keys follows the diagonal more closely.",
                "Each block of 256 queries reads as far as its last query needs, and most of"
                " its queries could stop well before that.",
            ),
            Choice(
                "The same.",
                "On average, about half a block too much is computed for each query, and it's"
                " half of whichever block is larger.",
            ),
            Choice(
                "More: all 256 queries read as far as the last of them.",
                "They do. But with 256 keys in a block, every query reads to the end of such a"
                " block, which is just as much.",
            ),
            Choice(
                "50 %: with blocks of 64 keys, nearly everything hidden is skipped.",
                "This forgets the queries. Whatever is computed for the last query of a block of"
                " 256 is computed for its first query as well.",
            ),
        ),
        right="b",
        shows="256 queries x  64 keys: 62.50% of the square",
    ),
    Question(
        "two_halves",
        "One person has the output over the first half of the keys, another has the output over"
        " the second half. How do they get the output over all keys?",
        (
            Choice(
                "Their mean.",
                "This assumes that both halves have the same weight. But a half that contains a"
                " large score has more weight.",
            ),
            Choice(
                "Their mean, weighted by the numbers of keys.",
                "This counts the keys rather than their weights. For two halves, it's the plain"
                " mean again.",
            ),
            Choice(
                "Their mean, weighted by each half's sum of exponentials.",
                "That sum is the half's denominator. Multiplying the output by it turns the"
                " mean back into a sum.",
            ),
            Choice(
                "They can't: the scores of all keys are needed once more.",
                "This assumes that a softmax can't be split. Besides the other half's output, one"
                " number is enough: its sum of exponentials.",
            ),
        ),
        right="c",
        shows="weighted by their sums: [2.335 0.293]",
    ),
    Question(
        "lse_against_the_pair",
        "In the backward pass, the weights are computed again in float32, once from the"
        " log-sum-exp and once from the maximum and the sum, for scores near 10,000. How do their"
        " largest relative errors"
        " compare?",
        (
            Choice(
                "They're equal: on paper it's the same number.",
                "That's true on paper. On a machine, the two are rounded at different points.",
            ),
            Choice(
                "The log-sum-exp is better: one number is rounded once.",
                "It's rounded only once, but coarsely, like every number near 10,000. That's an"
                " error in the exponent, so it becomes a relative error of every weight.",
            ),
            Choice(
                "The pair is better, by a factor of about ten.",
                "The pair is better, but by more: near 10,000, neighbouring numbers are 8,192"
                " times as far apart as they are just above 1.",
            ),
            Choice(
                "The pair is better, by a factor of hundreds or more.",
                "The maximum is one of the scores, so it isn't rounded, and the sum is small."
                " Only the log-sum-exp is both large and rounded.",
            ),
        ),
        right="d",
        shows="near 1e+04: off by 5e-04 with the lse, below 2e-06 with the pair",
    ),
    Question(
        "finished_gradients",
        "The forward pass has saved the output and the log-sum-exp of all rows. The backward"
        " pass has read the first of three blocks of keys. Which gradients are finished?",
        (
            Choice(
                "None: the softmax ties all keys together.",
                "It does, through sums over whole rows. But these sums are contained in the"
                " log-sum-exp and in delta, which are both known.",
            ),
            Choice(
                "The gradients of the block's own keys and values.",
                "All queries use these keys and values in this block, and no other block"
                " depends on them.",
            ),
            Choice(
                "The gradient of the queries.",
                "A query is multiplied by the keys of every block, so each block adds a term to"
                " its gradient.",
            ),
            Choice(
                "All three, for this block.",
                "This assumes that queries belong to a block of keys. But every query attends"
                " to the keys of all blocks.",
                last=True,
            ),
        ),
        right="b",
        shows="key 5 has a part in the scores of blocks   [0]",
    ),
    Question(
        "slower_in_pieces",
        "Streaming computes the same products as the dense function, plus the repairs. How do"
        " their speeds compare on a CPU?",
        (
            Choice(
                "Streaming is slower for every length: it does more.",
                "This assumes that only arithmetic takes time. For long inputs, the dense"
                " function writes and reads a table that doesn't fit into the cache.",
            ),
            Choice(
                "Equally fast: the products are the same.",
                "This assumes that the products take nearly all of the time. The softmax"
                " between them takes time too, especially if its table is large.",
            ),
            Choice(
                "Streaming is slower for short inputs, but faster for long ones.",
                "Each head and each block has its own fixed cost, which doesn't pay off for"
                " short inputs. For long ones, the savings in memory traffic are far larger.",
            ),
            Choice(
                "Streaming is faster for every length: it needs less memory.",
                "Less memory doesn't mean more speed at every size: a small table fits into the"
                " cache anyway.",
            ),
        ),
        right="c",
        shows="n =   16: 0.17 times as fast",
    ),
)
