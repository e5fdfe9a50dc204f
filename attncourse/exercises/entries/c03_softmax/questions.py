"""What readers of *The softmax* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "share_of_scores",
        "Somebody divides each of the scores 1.0, 0.5, 2.5 and −0.1 by the sum of the four. Why are"
        " the results no weights?",
        (
            Choice(
                "They do not sum to 1.",
                "This has not looked at what the division is by. Whatever is divided by its own sum"
                " then sums to 1.",
            ),
            Choice(
                "One of them is negative.",
                "The score −0.1 gets a negative share, and the output would be pushed away from"
                " that value.",
            ),
            Choice(
                "Their order is not that of the scores.",
                "This takes for granted that a division turns the order round. Only a negative sum"
                " does, and this one is positive.",
            ),
            Choice(
                "They are weights.",
                "This asks of weights only that they sum to 1. A share must not be negative"
                " either.",
            ),
        ),
        right="b",
        shows="-0.026",
    ),
    Question(
        "shifted_scores",
        "One row has the scores 1, 2 and 3, another the scores 101, 102 and 103. Whose weights are"
        " sharper?",
        (
            Choice(
                "Those of 101, 102, 103: the scores are larger.",
                "This takes the size of scores for their differences. Large scores may all be"
                " equally large.",
            ),
            Choice(
                "Those of 1, 2, 3: there the last score is three times the first.",
                "This takes the ratio of scores for the ratio of weights. The weights' ratio comes"
                " from a difference.",
            ),
            Choice(
                "Neither: the weights are the same.",
                "All differences are the same, so all ratios of weights are, and both rows sum"
                " to 1.",
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
                "This takes the ratio of scores for the ratio of weights. The differences are ten"
                " times as large.",
            ),
            Choice(
                "Nothing: the 10 cancels, as the shift did.",
                "This takes the exponential of 10 s for 10 times that of s. It is the tenth power"
                " of it.",
            ),
            Choice(
                "They become sharper: nearly all is on the last.",
                "Each ratio is raised to the tenth power, and the ratio of neighbours was 2.7"
                " already.",
            ),
            Choice(
                "Each becomes ten times as large.",
                "This takes weights to be proportional to scores. They would sum to 10.",
            ),
        ),
        right="c",
        shows="10, 20, 30: [0. 0. 1.]",
    ),
    Question(
        "back_to_scores",
        "You are told the weights of a row exactly, all of them positive, and not its scores. What"
        " do you know about the scores?",
        (
            Choice(
                "All of them.",
                "This takes for granted that different scores have different weights. Shifted"
                " scores do not.",
            ),
            Choice(
                "All but one number, which may be added to all.",
                "Ratios of weights tell all differences of scores, and no more than those.",
            ),
            Choice(
                "All but one factor, which may multiply all.",
                "This takes a factor for as harmless as a shift. It squares ratios, or takes their"
                " roots.",
            ),
            Choice(
                "Only their order.",
                "This takes the softmax for a ranking. How much larger a weight is tells how much"
                " higher its score is.",
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
                "1 and 0, nearly: the scores are so large.",
                "This takes large scores for certainty. Only the difference counts, and it is 1.",
            ),
            Choice(
                "0.5 and 0.5, nearly: the scores differ by a thousandth.",
                "This measures the difference against the scores. Weights do not know how large the"
                " scores are.",
            ),
            Choice(
                "0.731 and 0.269, like those of 1 and 0.",
                "The difference is 1, as it is for 1 and 0.",
            ),
            Choice(
                "There are none: the exponential of 1000 is too large a number.",
                "This takes a machine's limit for one of the softmax. The weights exist, and are"
                " computed in another way.",
            ),
        ),
        right="c",
        shows="divided: [0.731 0.269]",
    ),
    Question(
        "ninety_nine",
        "Two keys: the first has weight 0.9, because its score is larger than the other one by 2.2."
        " By how much must it be larger for a weight of 0.99?",
        (
            Choice(
                "About 2.4: a tenth more, as the weight is.",
                "This takes weights to grow in proportion to gaps. At that pace the weight would"
                " soon be more than 1.",
            ),
            Choice(
                "About 4.6.",
                "The ratio of the weights goes from 9 to 99. That is a factor of 11 for them, and"
                " log 11 = 2.4 more for the gap.",
            ),
            Choice(
                "About 22: ten times, since the other weight is a tenth.",
                "This makes the gap grow like the ratio of the weights. It grows like the logarithm"
                " of it.",
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
                "This counts axes from the front. With batch and heads there, axis 1 is that of the"
                " heads.",
            ),
            Choice(
                "The axis of the queries.",
                "This lets queries compete for a key. A query shares out its attention; a key may"
                " be read by all.",
            ),
            Choice(
                "The axis of the keys, the last one.",
                "The keys compete for a query, and each query hands out 1.",
            ),
            Choice(
                "Over the last two axes together.",
                "This takes the table for one distribution. Each query has a distribution of its"
                " own.",
            ),
        ),
        right="c",
        shows="axis 3: all sums are 1? True",
    ),
    Question(
        "flat_at_random",
        "Random queries and keys of size 64, 1024 keys, and scores divided by the root of 64. How"
        " flat is a typical row of weights?",
        (
            Choice(
                "Sharp: one key has nearly all the weight.",
                "This takes the softmax for the maximum. How near to that it comes depends on the"
                " spread of the scores.",
            ),
            Choice(
                "Halfway: its entropy is about half of the largest.",
                "This takes for granted that the root balances the two extremes. It brings the"
                " spread of the scores to 1, and that is near one of them.",
            ),
            Choice(
                "Nearly flat: its entropy is more than 0.9 of the largest.",
                "The scores spread by about 1, so no key stands out by much, and there are many of"
                " them.",
            ),
            Choice(
                "That depends on the size of a key.",
                "That is so without the root. With it the scores spread by about 1 at every size.",
            ),
        ),
        right="c",
        shows="1024   64  0.11 (0.00-0.29)  0.93 (0.90-0.95)",
    ),
)
