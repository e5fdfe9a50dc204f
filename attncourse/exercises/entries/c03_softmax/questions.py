"""What readers of *The softmax* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "share_of_scores",
        "Somebody divides each of the scores 1.0, 0.5, 2.5 and −0.1 by the sum of the four. Why"
        " aren't these valid weights?",
        (
            Choice(
                "They don't sum to 1.",
                "This overlooks what we divide by. Numbers that are divided by their own sum always"
                " sum to 1.",
            ),
            Choice(
                "One of them is negative.",
                "The score −0.1 gets a negative share, and the output would be pushed away from"
                " that value.",
            ),
            Choice(
                "They are in a different order from the scores.",
                "This assumes that division reverses the order. Only division by a negative sum"
                " does, and this sum is positive.",
            ),
            Choice(
                "They are valid weights.",
                "This asks only that weights sum to 1. But a share must not be negative either.",
            ),
        ),
        right="b",
        shows="-0.026",
    ),
    Question(
        "shifted_scores",
        "One row has the scores 1, 2 and 3, another has the scores 101, 102 and 103. Which row has"
        " the sharper weights?",
        (
            Choice(
                "The row 101, 102, 103: its scores are larger.",
                "This confuses the size of the scores with their differences. Large scores may all"
                " be equally large.",
            ),
            Choice(
                "The row 1, 2, 3: its last score is three times the first.",
                "This confuses the ratio of scores with the ratio of weights. The ratio of two"
                " weights depends on the difference of their scores.",
            ),
            Choice(
                "Neither: the weights are the same.",
                "All differences are the same, and so are all ratios of weights. Since both rows"
                " sum to 1, the weights are equal.",
            ),
        ),
        right="c",
        shows="101, 102, 103: [0.09  0.245 0.665]",
    ),
    Question(
        "ten_times",
        "Now the scores 1, 2 and 3 are multiplied by 10. What happens to the weights?",
        (
            Choice(
                "Nothing: 30 is still three times 10.",
                "This confuses the ratio of scores with the ratio of weights. The differences"
                " between the scores are now ten times as large.",
            ),
            Choice(
                "Nothing: the 10 cancels, as the shift did.",
                "This assumes that the exponential of 10 s is 10 times the exponential of s. It is"
                " the tenth power of that exponential.",
            ),
            Choice(
                "They become sharper: the last one is nearly 1.",
                "Each ratio of weights is raised to the tenth power, and the ratio of"
                " neighbouring weights was already 2.7.",
            ),
            Choice(
                "Each becomes ten times as large.",
                "This assumes that weights are proportional to scores. They would then sum to 10.",
            ),
        ),
        right="c",
        shows="10, 20, 30: [0. 0. 1.]",
    ),
    Question(
        "back_to_scores",
        "You are told the exact weights of a row, all of them positive, but not its scores. What"
        " do you know about the scores?",
        (
            Choice(
                "Everything.",
                "This assumes that different scores always have different weights. Shifted scores"
                " have the same weights.",
            ),
            Choice(
                "Everything except a number that may be added to all of them.",
                "The ratios of the weights determine all differences between the scores, and"
                " nothing more.",
            ),
            Choice(
                "Everything except a factor that may multiply all of them.",
                "This assumes that a factor is as harmless as a shift. A factor of 2 squares the"
                " ratios of the weights, and a factor of 1/2 takes their square roots.",
            ),
            Choice(
                "Only their order.",
                "This mistakes the softmax for a ranking. How much larger a weight is tells you how"
                " much higher its score is.",
            ),
        ),
        right="b",
        shows="scores minus those: [2.86 2.86 2.86 2.86]",
    ),
    Question(
        "a_thousand",
        "What are the weights of the scores 1000 and 999?",
        (
            Choice(
                "Nearly 1 and 0: the scores are so large.",
                "This mistakes large scores for certainty. Only their difference counts, and it"
                " is 1.",
            ),
            Choice(
                "Nearly 0.5 and 0.5: the scores differ by only a thousandth.",
                "This measures the difference relative to the scores. The weights depend only on"
                " the difference itself.",
            ),
            Choice(
                "0.731 and 0.269, like those of 1 and 0.",
                "Only the difference counts. It is 1, as it is for the scores 1 and 0.",
            ),
            Choice(
                "There are none: the exponential of 1000 is too large.",
                "This mistakes a limit of the computer for a limit of the softmax. The weights"
                " exist, and can be computed in another way.",
            ),
        ),
        right="c",
        shows="divided: [0.731 0.269]",
    ),
    Question(
        "ninety_nine",
        "There are two keys. The first has weight 0.9, because its score is 2.2 higher than the"
        " other one. How large must the difference be for a weight of 0.99?",
        (
            Choice(
                "About 2.4: a tenth more, like the weight.",
                "This assumes that the weight grows in proportion to the gap. At that rate, it"
                " would soon be more than 1.",
            ),
            Choice(
                "About 4.6.",
                "The ratio of the weights goes from 9 to 99. That is a factor of 11, so the gap"
                " grows by log 11 = 2.4.",
            ),
            Choice(
                "About 22: ten times as much, because the other weight falls to a tenth.",
                "This assumes that the gap grows like the ratio of the weights. It grows like the"
                " logarithm of that ratio.",
            ),
        ),
        right="b",
        shows="weight  0.99: gap 4.60",
    ),
    Question(
        "which_axis",
        "Scores have the shape (batch, heads, n_q, n_k). Along which axis do the weights sum to 1?",
        (
            Choice(
                "Axis 1, as in a matrix.",
                "This counts axes from the front. Because batch and heads come first, axis 1 is the"
                " axis of the heads.",
            ),
            Choice(
                "The axis of the queries.",
                "This lets queries compete for a key. A query shares out its attention, but any"
                " number of queries may read a key.",
            ),
            Choice(
                "The axis of the keys, the last one.",
                "The keys compete for a query's attention, and each query hands out weights that"
                " sum to 1.",
            ),
            Choice(
                "Over the last two axes together.",
                "This treats the whole table as one distribution. But each query has its own"
                " distribution.",
            ),
        ),
        right="c",
        shows="axis 3: all sums are 1? True",
    ),
    Question(
        "flat_at_random",
        "Queries and keys are random vectors of size 64, there are 1024 keys, and the scores are"
        " divided by the root of 64. How flat is a typical row of weights?",
        (
            Choice(
                "Sharp: one key has nearly all the weight.",
                "This mistakes the softmax for the maximum. How close it comes to the maximum"
                " depends on the spread of the scores.",
            ),
            Choice(
                "Halfway: its entropy is about half of the largest.",
                "This assumes that dividing by the square root balances the two extremes. It"
                " brings the spread of the scores to 1, and at that spread the weights are nearly"
                " flat.",
            ),
            Choice(
                "Nearly flat: its entropy is more than 0.9 of the largest.",
                "The scores have a spread of about 1, so no key stands out by much, and there are"
                " many keys.",
            ),
            Choice(
                "That depends on the size of a key.",
                "That's true without the square root. With it, the scores have a spread of about"
                " 1 at every size.",
            ),
        ),
        right="c",
        shows="1024   64  0.11 (0.00-0.29)  0.93 (0.90-0.95)",
    ),
)
