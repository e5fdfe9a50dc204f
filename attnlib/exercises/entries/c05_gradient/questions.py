"""What readers of *The gradient* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "one_score_up",
        "The weights of a row are 0.156, 0.094, 0.698 and 0.052. The third score grows a little, the other three stay. "
        "What happens to the other three weights?",
        (Choice("Nothing: their scores have not moved.",
                "This takes each weight for a function of its own score. It is a quotient, and the sum below the line has "
                "grown."),
         Choice("All three lose the same amount.",
                "This shares the loss out equally. A weight of 0.052 would soon be below 0."),
         Choice("All three lose the same share of themselves.",
                "Only the sum has changed for them, and it divides all three: their ratios stay."),
         Choice("The largest of the three loses all of it.",
                "This takes the keys for rivals in pairs. They share one denominator.")),
        right="c",
        shows="share of itself: [-0.698 -0.698  0.302 -0.698]",
    ),
    Question(
        "smaller_step",
        "The slope of x³ at x = 1 is 3. It is computed as a central difference, in float64. As the step shrinks from 1e-1 "
        "to 1e-13, what does the error do?",
        (Choice("It falls all the way.",
                "That is so on paper. On a machine the two values agree in more and more digits, and their difference keeps "
                "the few that are left."),
         Choice("It falls, and then it grows.",
                "First the bend of the curve gets smaller, then what rounding leaves is divided by an ever smaller step."),
         Choice("It falls, and then it stays: float64 cannot do better.",
                "This takes rounding for a fixed error. It is fixed in the difference, and the difference is divided by the "
                "step."),
         Choice("It stays: a central difference is exact for a smooth curve.",
                "It is exact for a parabola. The cube bends further.")),
        right="b",
        shows="step 1e-13: error 7e-04",
    ),
    Question(
        "largest_jacobian",
        "The Jacobian's norm says how far the weights can move for a small move of the scores. For three keys, at which "
        "weights is it largest?",
        (Choice("At 1, 0, 0: one key has everything.",
                "This takes a large weight for a sensitive one. There a small change of scores changes nothing."),
         Choice("At a third each: everything is still open.",
                "This is the common answer. But the weight that moves from one key to another is shared with the third."),
         Choice("At a half, a half, 0: two keys tie, and the third is out.",
                "Then a little more for one score is a little less for just one other weight."),
         Choice("Nowhere: it is the same everywhere.",
                "This takes the softmax for a linear function.")),
        right="c",
        shows="half, half, 0: 0.500",
    ),
    Question(
        "equal_gradients",
        "A loss has the same derivative, 5, with respect to each of the four weights. What is its derivative with respect "
        "to the scores?",
        (Choice("0 for each score.",
                "Whatever the scores do, the weights sum to 1: what one gains the others lose, and for this loss all are "
                "worth the same."),
         Choice("5 for each score.",
                "This hands the gradient through the softmax unchanged."),
         Choice("5 times the weight: 3.49 for the third score.",
                "This stops after the first of two terms. Do all four really gain when one score grows?")),
        right="a",
        shows="gradient of the scores: [0. 0. 0. 0.]",
    ),
    Question(
        "bias_on_keys",
        "Some models add one vector, a learned bias, to all keys alike. What does attention do with it?",
        (Choice("Scores and weights change: queries that point its way attend more.",
                "More to whom? All keys have become more like such a query, by the same amount."),
         Choice("Scores change, and the weights stay.",
                "Each query's scores all change by the same number, and a shift of a row changes no weight."),
         Choice("Nothing changes, not even the scores.",
                "The dot product of a query and the bias is added to each of its scores.")),
        right="b",
        shows="scores changed: True, weights changed: False",
    ),
    Question(
        "which_score_pushed",
        "The weights are 0.156, 0.094, 0.698 and 0.052, and the right word was *old*, the second. The loss is minus the "
        "logarithm of its weight. Which score has the largest derivative, its sign left aside?",
        (Choice("The third: its weight is the most wrong.",
                "It has the second largest, 0.698. But the loss names the second weight alone."),
         Choice("The second: the right word's own.",
                "Its derivative is -0.906: as much as the other three have together, with the other sign."),
         Choice("None: all four have the same.",
                "This mixes it up with a sum: the four derivatives sum to 0."),
         Choice("The second, and the other three have 0.",
                "This forgets the denominator: a higher score of any other word lowers the weight of *old*.")),
        right="b",
        shows="[ 0.156 -0.906  0.698  0.052]",
    ),
)
