"""What readers of *The backward pass* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "one_value_grows",
        "Three queries, *old*, *cat* and *sleeps*, read four values of two features. The first feature of the value of *cat* "
        "grows a little. Which of the six numbers of the output change?",
        (Choice("The two features of the output of *cat*.",
                "This takes a value for something that belongs to one query. Every query reads every value."),
         Choice("The first features of all three outputs.",
                "Each query adds this number to its first feature, times its own weight for *cat*."),
         Choice("All six: everything is mixed.",
                "This mixes features as well. The sum runs over the keys, and feature c of the output takes feature c alone."),
         Choice("The first feature of that output alone which has the largest weight for *cat*.",
                "This takes attention for a choice. A small weight is a small factor, and not none.")),
        right="b",
        shows="[[0.366 0.   ]",
    ),
    Question(
        "which_score_rises",
        "*Ada's*, *old*, *cat* and *sleeps* have the weights 0.156, 0.094, 0.698, 0.052 and the values (0, 1), (2, 2), (3, 0), "
        "(1, −1). The output (2.3, 0.3) should have been the value of *old*. Which score does training raise most?",
        (Choice("That of *old*: it is the target.",
                "This looks at the values alone. A score moves its weight in proportion to the weight that is there, and *old* "
                "has less of it than *Ada's*."),
         Choice("That of *Ada's*.",
                "Its value is on the right side of the output, and its weight is larger than that of *old*."),
         Choice("That of *cat*: it has the largest weight.",
                "It has the largest weight and is moved most, but down: its value lies on the wrong side of the output."),
         Choice("That of *sleeps*: it has the smallest weight, and so the most to gain.",
                "A small weight reacts least to its score, and the value of *sleeps* lies on the wrong side.")),
        right="b",
        shows="of the scores:   [-0.31  -0.286  0.504  0.091]",
    ),
    Question(
        "values_shifted",
        "The same vector is added to all four values, and the gradient of the output stays as it is. What happens to the "
        "gradient of the scores?",
        (Choice("It grows: larger values make larger gradients.",
                "That is so for the gradients of the weights. All of them move by the same number, and their mean with them."),
         Choice("Nothing.",
                "The output moves with the values, and only the way from the output to each value counts."),
         Choice("Every score gets the same number more.",
                "This forgets that the mean is subtracted. And a row of gradients of scores always sums to 0.")),
        right="b",
        shows="of the scores:  [-0.31  -0.286  0.504  0.091]",
    ),
    Question(
        "one_key_dominates",
        "One key has 0.9999 of a query's weight, and the output is far from where it should be. How large is the gradient of "
        "the query?",
        (Choice("Large: the error is large.",
                "The error is one factor. The other is how much the output follows the query, and here it does not."),
         Choice("As large as the key that dominates: the query is drawn to it or pushed away.",
                "A query is told by differences between keys, weighted. With one key left there is nothing to compare."),
         Choice("Nearly 0.",
                "Whatever the query does, a little of it changes no weight, and the output stays at that key's value.")),
        right="c",
        shows="weight of cat 0.999",
    ),
    Question(
        "random_step",
        "Instead of the gradient of queries, keys and values somebody takes random numbers, and makes one very small step. How "
        "often does the loss go down?",
        (Choice("Practically never: there are 96 numbers, and all would have to be right.",
                "This takes the loss for a lock. It adds up what all the numbers do, and only the sign of the sum counts."),
         Choice("In half of the cases.",
                "For a small step the change is the gradient times the step, and a random direction has either sign equally "
                "often."),
         Choice("Always, if the step is small enough.",
                "That is so against the gradient. A direction that goes uphill does so for small steps, too.")),
        right="b",
        shows="the loss falls: ",
    ),
    Question(
        "fifth_product",
        "The weights are not kept, and the scores are multiplied a second time on the way back. By how much does that raise the "
        "operations of the matrix products, there and back together?",
        (Choice("By a sixth.",
                "Two products go there and four go back: six, and now seven."),
         Choice("By a quarter.",
                "This counts the way back alone: five products instead of four."),
         Choice("By a half.",
                "This takes the new product for one of two. It is one of two on the way there, but six are made in all."),
         Choice("They double.",
                "This repeats the whole of attention. One of its products is enough: the output is kept.")),
        right="a",
        shows="more operations: 17% in all",
    ),
)
