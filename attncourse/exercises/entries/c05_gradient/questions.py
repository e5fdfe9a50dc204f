"""What readers of *The gradient of the softmax* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "one_score_up",
        "The weights of a row are 0.156, 0.094, 0.698 and 0.052. The third score grows a little,"
        " and the other three scores stay. What happens to the other three weights?",
        (
            Choice(
                "Nothing: their scores haven't moved.",
                "This treats each weight as a function of its own score only. But a weight is a"
                " quotient, and its denominator has grown.",
            ),
            Choice(
                "All three lose the same amount.",
                "This shares out the loss equally. A weight of 0.052 would soon fall below 0.",
            ),
            Choice(
                "All three shrink by the same factor.",
                "For them, only the denominator has changed, and it is the same for all three. So"
                " the ratios between them stay the same.",
            ),
            Choice(
                "The largest of the three loses all of it.",
                "This treats the keys as rivals in pairs. But they all share one denominator.",
            ),
        ),
        right="c",
        shows="relative to the weight: [-0.698 -0.698  0.302 -0.698]",
    ),
    Question(
        "smaller_step",
        "The slope of x³ at x = 1 is 3. We compute it as a central difference in float64. As the"
        " step shrinks from 1e-1 to 1e-13, what does the error do?",
        (
            Choice(
                "It falls all the way.",
                "That's true on paper. On a computer, the two values agree in more and more"
                " digits, and their difference keeps only the few that are left.",
            ),
            Choice(
                "It falls, and then it grows.",
                "First the error caused by the curve's bend gets smaller. Then the rounding error"
                " is divided by an ever smaller step.",
            ),
            Choice(
                "It falls, and then it stays: float64 can't do better.",
                "This treats rounding as a fixed error. It's roughly fixed in the difference, but"
                " the difference is divided by the step.",
            ),
            Choice(
                "It stays: a central difference is exact for a smooth curve.",
                "It's exact for a parabola. But for x³, the error is the square of the step.",
            ),
        ),
        right="b",
        shows="step 1e-13: error 7e-04",
    ),
    Question(
        "largest_jacobian",
        "The Jacobian's norm says how far the weights can move when the scores move a little."
        " With three keys, at which weights is it largest?",
        (
            Choice(
                "At 1, 0, 0: one key has all the weight.",
                "A large weight isn't a sensitive one. There, a small change in the scores"
                " changes nothing.",
            ),
            Choice(
                "At a third each: everything is still open.",
                "This is the most common answer. But there, whatever one key gains is taken from"
                " two others.",
            ),
            Choice(
                "At a half, a half, 0: two keys tie, and the third is out.",
                "There, everything that one key gains comes from a single other key, and both"
                " react as strongly as possible.",
            ),
            Choice(
                "Nowhere: it's the same everywhere.",
                "That would be true of a linear function, but the softmax isn't linear.",
            ),
        ),
        right="c",
        shows="half, half, 0: 0.500",
    ),
    Question(
        "equal_gradients",
        "A loss has the same derivative, 5, with respect to each of the four weights. What is its"
        " derivative with respect to the scores?",
        (
            Choice(
                "0 for each score.",
                "Whatever the scores do, the weights sum to 1. What one weight gains, the others"
                " lose, and this loss values them all the same.",
            ),
            Choice("5 for each score.", "This passes the gradient through the softmax unchanged."),
            Choice(
                "5 times the weight: 3.49 for the third score.",
                "This stops after the first of two terms. Do all four weights really grow when"
                " one score grows?",
            ),
        ),
        right="a",
        shows="gradient of the scores: [0. 0. 0. 0.]",
    ),
    Question(
        "bias_on_keys",
        "Some models add the same vector, a learned bias, to all keys, and then take dot"
        " products. What effect does it have?",
        (
            Choice(
                "Scores and weights change: queries that point in its direction attend more.",
                "More to which key? All keys have become more similar to such a query, by the"
                " same amount.",
            ),
            Choice(
                "The scores change, but the weights stay.",
                "All scores of a query change by the same number, and shifting a row changes no"
                " weight.",
            ),
            Choice(
                "Nothing changes, not even the scores.",
                "The dot product of a query and the bias is added to each of that query's scores.",
            ),
        ),
        right="b",
        shows="scores changed: True, weights changed: False",
    ),
    Question(
        "which_score_pushed",
        "The weights are 0.156, 0.094, 0.698 and 0.052, and the right word was *old*, the second."
        " The loss is minus the logarithm of its weight. Which score has the largest derivative,"
        " ignoring signs?",
        (
            Choice(
                "The third: its weight is the most wrong.",
                "Its derivative is the second largest, 0.698. But the loss is about the weight of"
                " *old*.",
            ),
            Choice(
                "The second: the right word's own score.",
                "Its derivative is -0.906, as large as the other three together, with the"
                " opposite sign.",
            ),
            Choice(
                "None: all four have the same.",
                "The four derivatives sum to 0, but that doesn't make them equal.",
            ),
            Choice(
                "The second, and the other three are 0.",
                "This forgets the denominator: a higher score for any other word lowers the"
                " weight of *old*.",
            ),
        ),
        right="b",
        shows="[ 0.156 -0.906  0.698  0.052]",
    ),
)
