"""What readers of *The AV product: weighted sums of values* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "mean_as_scores",
        "Which scores does a softmax need to give the weights 1/3, 1/3, 1/3 and 0?",
        (
            Choice(
                "1/3, 1/3, 1/3 and 0.",
                "This confuses scores with weights. The exponential of 0 is 1, so no weight here"
                " comes near 0.",
            ),
            Choice(
                "1, 1, 1 and 0.",
                "A score of 0 still counts. The fourth key's exponential is e⁰ = 1, while each of"
                " the other three is e.",
            ),
            Choice(
                "0, 0, 0 and −∞.",
                "Equal scores have equal exponentials, and the exponential of −∞ is exactly 0.",
            ),
        ),
        right="c",
        shows="[0, 0, 0, -inf] gives [0.333 0.333 0.333 0.   ]",
    ),
    Question(
        "larger_feature",
        "The first features of four values are 0, 2, 3 and 1. Can the first feature of the output"
        " be larger than 3?",
        (
            Choice(
                "Yes: it is a sum of all four.",
                "This forgets that each term is multiplied by a weight. The weights sum to 1, so"
                " the sum is a mean.",
            ),
            Choice(
                "Yes, if the largest value has a weight near 1.",
                "With a weight near 1, the output comes close to 3, but never beyond it.",
            ),
            Choice(
                "No: it is a weighted mean of the four.",
                "The weights aren't negative and sum to 1, so the output stays between the"
                " smallest value and the largest.",
            ),
        ),
        right="c",
        shows="any output beyond the values? False",
    ),
    Question(
        "output_shape",
        "There are 5 queries with 8 features, 7 keys with 8 features, and 7 values with 11"
        " features. What is the output?",
        (
            Choice(
                "An error: values must be as long as keys.",
                "Keys are only compared with queries. The values are added up, and they are never"
                " compared with anything.",
            ),
            Choice(
                "A table of shape (5, 8).",
                "There is one output for each query, but it has as many features as a value, not"
                " as many as a query.",
            ),
            Choice(
                "A table of shape (5, 11).",
                "There is one output for each query, and each is a mixture of values.",
            ),
            Choice(
                "A table of shape (7, 11).",
                "This is the shape of the values. The sum over the keys is still to come.",
            ),
        ),
        right="c",
        shows="output (5, 11)",
    ),
    Question(
        "longer_part",
        "The weights of *Ada's* and *old* are 0.156 and 0.094, their values (0, 1) and (2, 2)."
        " Which of the two adds the longer vector to the output?",
        (
            Choice(
                "*Ada's*: it has more weight.",
                "This looks at only one of two factors. What is added is weight times value.",
            ),
            Choice(
                "*Old*: its value is much longer.",
                "Its value is nearly three times as long, and its weight more than half as large.",
            ),
            Choice(
                "Neither: what a key adds is as long as its weight is large.",
                "This would be true if all values had length 1.",
            ),
        ),
        right="b",
        shows="old     0.094 * [2. 2.] = [0.189 0.189], length 0.267",
    ),
    Question(
        "words_replaced",
        "Four words attend to each other, and each is replaced by its output, again and again."
        " What happens to them?",
        (
            Choice(
                "Four different words, each of which knows the others better and better.",
                "This counts what a word gains and forgets what it loses: its own vector is only"
                " one of the four that are mixed.",
            ),
            Choice(
                "They grow without end: sums of sums of sums.",
                "These aren't plain sums. The weights sum to 1, so no feature leaves its range.",
            ),
            Choice(
                "They all become alike.",
                "Each round takes means of the words of the previous round, and means lie closer"
                " together than the words they are taken from.",
            ),
            Choice(
                "Each becomes the word that it attends to most.",
                "This treats the largest weight as the only one.",
            ),
        ),
        right="c",
        shows="after 3: features range over [0.02 0.04]",
    ),
    Question(
        "shuffled_pairs",
        "We put the keys into another order, and their values into the same order. What happens"
        " to the outputs?",
        (
            Choice(
                "They come in that new order.",
                "This confuses keys with queries. There is one output for each query, and the"
                " queries stay where they were.",
            ),
            Choice(
                "Nothing: they are the same.",
                "Each output is a sum over the keys, and the order of its terms doesn't matter.",
            ),
            Choice(
                "They are other numbers: words in another order mean something else.",
                "This assumes that the sum depends on the order. It depends only on which keys"
                " there are, not on where they are.",
            ),
        ),
        right="b",
        shows="keys and values shuffled, same? True",
    ),
    Question(
        "trained_on_itself",
        "Each of sixty noisy points is estimated as a mean of all sixty, itself included, and the"
        " width is trained for the smallest squared error. Which width does training find?",
        (
            Choice(
                "About 0.3: that is what fits the curve.",
                "A small error on the points doesn't mean a small error on the curve, because the"
                " noise of the points is fitted too.",
            ),
            Choice(
                "A wide one: it averages the noise away.",
                "That would be good for the curve. On the points themselves, a wide mean is far"
                " off.",
            ),
            Choice(
                "The narrowest that is allowed.",
                "As the width goes to 0, each point becomes its own estimate, and the error goes"
                " to 0.",
            ),
        ),
        right="c",
        shows="width 0.001: loss with itself 0.000",
    ),
    Question(
        "seventy_percent",
        "The word *cat* has weight 0.698. How much of the output comes from it?",
        (
            Choice(
                "About 70 per cent.",
                "This confuses shares of the weight with shares of the output. The values may"
                " have any length.",
            ),
            Choice(
                "More than from any other word, at least.",
                "This assumes that all values are equally long. A large weight on a small value"
                " adds little.",
            ),
            Choice(
                "That depends on its value, and it may be nothing.",
                "What is added is weight times value, and a value may be zero.",
            ),
        ),
        right="c",
        shows="cat     0.698 * [0. 0.]  adds [0. 0.]",
    ),
    Question(
        "same_output",
        "The values are again (0, 1), (2, 2), (3, 0) and (1, −1), four different points. Is there"
        " another row of weights with the same output?",
        (
            Choice(
                "No: if all values differ, the output determines how they were mixed.",
                "That's true for three points that aren't on a line. With four, there is one"
                " weight more than there are equations.",
            ),
            Choice(
                "Yes, but some of its weights are negative.",
                "That could be so if a weight were 0 already. Here all are positive, so each of"
                " them can change a little without becoming negative.",
            ),
            Choice(
                "Yes, and it is an ordinary row of weights.",
                "Two features and the sum of 1 give three equations, and there are four weights.",
            ),
        ),
        right="c",
        shows="weights [0.    0.25  0.542 0.208]  output [2.335 0.293]",
    ),
    Question(
        "removed_head",
        "At the last word of *What is too big? The*, layer 2, head 1 gives 0.99 of its weight to"
        " the trophy. What does the model answer if this head is removed?",
        (
            Choice(
                "The suitcase: nothing tells it about the trophy any more.",
                "This assumes that only one head passes the trophy on. Other heads of the layer"
                " look at the trophy too.",
            ),
            Choice(
                "The trophy.",
                "The other three heads of the layer look at the trophy as well, and they are"
                " enough.",
            ),
            Choice(
                "Some other word: without its most important head the model breaks down.",
                "This mistakes a large weight for importance. A large weight shows where the head"
                " looks, but not that the answer needs this head.",
            ),
        ),
        right="b",
        shows="without layer 2 head 1: trophy",
    ),
)
