"""What readers of *Why the root of d_k* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "twice_as_long",
        "With 1,024 keys and scores of spread 1, the entropy of the weights is 0.93 of log n. All queries become twice as long. "
        "What is it now?",
        (Choice("0.93, as before: a common factor cancels.",
                "This takes a factor for a shift. A common summand would cancel; a factor doubles all differences."),
         Choice("0.86: what is missing to 1 doubles.",
                "This takes the spread itself for what costs entropy. It is the variance, and that is four times as large."),
         Choice("About 0.7: what is missing to 1 is four times as large.",
                "The spread is 2, and half its square is 2. That is missing to log n, which is 6.93."),
         Choice("Nearly 0: exponentials make any factor extreme.",
                "This knows that a large spread makes one key win. A spread of 2 is not large yet among so many keys.")),
        right="c",
        shows="spread   2: 0.73 (0.64 to 0.79)",
    ),
    Question(
        "unscaled_slopes",
        "The slopes of the weights, at the start, with d_k = 64 and 1,024 keys. The scale is left out. What happens to their "
        "typical size?",
        (Choice("They become smaller: the softmax saturates.",
                "This knows one of two flat ends. With 1,024 keys the scaled weights are near the other one."),
         Choice("They stay as they are: a factor on all scores cancels.",
                "This takes a factor for a shift. A shift cancels; a factor makes all ratios of weights larger."),
         Choice("They become larger.",
                "Scaled, each key has about a thousandth of the weight and hardly any slope. Unscaled, a few keys share the "
                "weight, and those react.")),
        right="c",
        shows="1024 keys:  scaled 0.05",
    ),
    Question(
        "unscaled_gradient",
        "With 16 keys and d_k = 64, the typical slopes without the scale are about a third of those with it. And the typical "
        "gradient of a query?",
        (Choice("About a third, too.",
                "This counts the scale once. It also stands in front of the gradient, where leaving it out brings a factor "
                "of 8."),
         Choice("About a twenty-fourth: a third of an eighth.",
                "This lets the factor work the wrong way. Without the scale, nothing divides the gradient by 8."),
         Choice("About three times as large.",
                "A third of the slopes, times 8, the root of 64, which nothing takes away."),
         Choice("Practically 0: it vanishes.",
                "This is what is told most often. It is so for some of the queries, not for the typical one at this size.")),
        right="c",
        shows="16   64  0.31 (0.27 to 0.35)   0.97",
    ),
    Question(
        "largest_tenth",
        "Unscaled, with d_k = 256 and 16 keys, the tenth of the queries with the largest gradients has which part of the sum "
        "of all squared gradients?",
        (Choice("About a tenth.",
                "This takes for granted that all queries have gradients of one size. With the scale that is nearly so."),
         Choice("About a third.",
                "It is a little more than that at d_k = 64. Here the gradients lie even further apart."),
         Choice("Two thirds.",
                "A few queries stand near a tie of their best keys, where the slopes are large. About half of "
                "all have next to no gradient."),
         Choice("None: all gradients have vanished.",
                "This takes the median for all. The typical gradient is small here, and the mean is larger than with the "
                "scale.")),
        right="c",
        shows="tenth 63% to 69%",
    ),
    Question(
        "models_width",
        "A model of width 384 has 6 heads of 64 features. Its scores are divided by the root of 384. What comes of it?",
        (Choice("An error: the shapes do not fit.",
                "This takes for granted that a wrong number has a wrong shape. A scale is one number and fits everything."),
         Choice("Weights that are sharper.",
                "This turns the division over. A larger number under the root makes smaller scores."),
         Choice("Weights that are flatter.",
                "The scores are too small by the root of 6: their spread is 0.41."),
         Choice("The same weights: the softmax ignores a common factor.",
                "This takes a factor for a shift. A common summand would cancel.")),
        right="c",
        shows="model's width: spread 0.41",
    ),
    Question(
        "cosine_weight",
        "Scores are cosines, not divided by anything, and there are 1,024 keys. What is the largest weight that training can "
        "give to one key?",
        (Choice("Nearly 1: a cosine of 1 is the best match there is.",
                "This takes the largest score for a large one. What counts is the difference to the others, and that is at "
                "most 2."),
         Choice("About 0.88: the logistic function of 2.",
                "That is so for two keys. Here 1,023 others share the rest."),
         Choice("Less than 0.01.",
                "The best difference is 2, so one key weighs 7.4 times as much as each of 1,023 others.")),
        right="c",
        shows="T =     1: at most 0.0072",
    ),
)
