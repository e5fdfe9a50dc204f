"""What readers of *Why the root of dₖ* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "twice_as_long",
        "With 1,024 keys and scores of spread 1, the entropy of the weights is 0.93 of log n. Now"
        " all queries become twice as long. What is the entropy, as a share of log n?",
        (
            Choice(
                "0.93, as before: a common factor cancels.",
                "This mistakes a factor for a shift. A number added to all scores would cancel,"
                " but a factor of 2 doubles all differences.",
            ),
            Choice(
                "0.86: its distance from 1 doubles.",
                "This assumes that the spread itself costs entropy. But it is the variance that"
                " does, and it is four times as large.",
            ),
            Choice(
                "About 0.7: its distance from 1 is four times as large.",
                "The spread is 2, and half its square is 2. The entropy is roughly log n, which"
                " is 6.93, minus 2.",
            ),
            Choice(
                "Nearly 0: exponentials make any factor extreme.",
                "A large spread does make one key win. But among 1,024 keys, a spread of 2 isn't"
                " large yet.",
            ),
        ),
        right="c",
        shows="spread   2: 0.73 (0.64 to 0.79)",
    ),
    Question(
        "unscaled_slopes",
        "Take the slopes of the weights at the start, with d_k = 64 and 1,024 keys. If we leave"
        " out the scale, what happens to their typical size?",
        (
            Choice(
                "They become smaller: the softmax saturates.",
                "The slopes are small at two extremes, and saturation is only one of them. With"
                " 1,024 keys, the scaled weights are near the other one.",
            ),
            Choice(
                "They stay as they are: a factor on all scores cancels.",
                "This mistakes a factor for a shift. A shift cancels, but a factor above 1 makes"
                " the weights differ more.",
            ),
            Choice(
                "They become larger.",
                "With the scale, each key has about a thousandth of the weight and hardly any"
                " slope. Without it, a few keys share the weight, and those do react.",
            ),
        ),
        right="c",
        shows="1024 keys:  scaled 0.05",
    ),
    Question(
        "unscaled_gradient",
        "Take 16 keys and d_k = 64. Without the scale, the typical slopes are about a third as"
        " large as with it. How large is the typical gradient of a query then, compared with the"
        " gradient with the scale?",
        (
            Choice(
                "About a third as large, too.",
                "This counts the scale only once. It is also a factor in front of the gradient,"
                " and leaving that out makes the gradient 8 times as large.",
            ),
            Choice(
                "About a twenty-fourth: a third of an eighth.",
                "This applies the factor the wrong way round. Without the scale, nothing divides"
                " the gradient by 8.",
            ),
            Choice(
                "About three times as large.",
                "The slopes are about a third as large, but the gradient is no longer divided by"
                " 8, the square root of 64. A third times 8 is nearly 3.",
            ),
            Choice(
                "Practically 0: it vanishes.",
                "This is the usual story. At this size it holds for some of the queries, but not"
                " for the typical one.",
            ),
        ),
        right="c",
        shows="16   64  0.31 (0.27 to 0.35)   0.97",
    ),
    Question(
        "largest_tenth",
        "Without the scale, take d_k = 256 and 16 keys, and add up the squared gradients of all"
        " queries. What part of the sum comes from the tenth of the queries with the largest"
        " gradients?",
        (
            Choice(
                "About a tenth.",
                "This assumes that all queries have gradients of the same size. With the scale,"
                " that is nearly true.",
            ),
            Choice(
                "About a third.",
                "At d_k = 64, it is a little more than that. At 256, the gradients differ even"
                " more in size.",
            ),
            Choice(
                "Two thirds.",
                "For a few queries, the two best keys nearly tie, and the slopes are large there."
                " About half of all queries have next to no gradient.",
            ),
            Choice(
                "None: all gradients have vanished.",
                "This judges by the median. The typical gradient is small here, but the mean is"
                " larger than with the scale.",
            ),
        ),
        right="c",
        shows="tenth 63% to 69%",
    ),
    Question(
        "models_width",
        "A model of width 384 has 6 heads of 64 features. Its scores are divided by the root of"
        " 384. What is the consequence at the start?",
        (
            Choice(
                "An error: the shapes don't fit.",
                "This assumes that a wrong number has a wrong shape. But a scale is a single"
                " number, which fits any shape.",
            ),
            Choice(
                "The weights are sharper.",
                "This gets the division the wrong way round. A larger number under the square"
                " root makes the scores smaller.",
            ),
            Choice(
                "The weights are flatter.",
                "The scores are too small by a factor of the square root of 6: their spread is"
                " 0.41.",
            ),
            Choice(
                "The weights are the same: the softmax ignores a common factor.",
                "This mistakes a factor for a shift. A number added to all scores would cancel.",
            ),
        ),
        right="c",
        shows="model's width: spread 0.41",
    ),
    Question(
        "cosine_weight",
        "The scores are cosines, not divided by anything, and there are 1,024 keys. What is the"
        " largest"
        " weight that training can give to one key?",
        (
            Choice(
                "Nearly 1: a cosine of 1 is the best match there is.",
                "The largest possible score needn't be a large one. What counts is the difference"
                " from the other scores, and it is at most 2.",
            ),
            Choice(
                "About 0.88: the logistic function of 2.",
                "That's true for two keys. Here, however, there are 1,023 other keys.",
            ),
            Choice(
                "Less than 0.01.",
                "The largest difference is 2, so one key gets at most 7.4 times the weight of"
                " each of the 1,023 others.",
            ),
        ),
        right="c",
        shows="T =     1: at most 0.0072",
    ),
)
