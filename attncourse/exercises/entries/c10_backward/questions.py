"""What readers of *The backward pass* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "one_value_grows",
        "The three queries of *old*, *cat* and *sleeps* read four values of two features. The"
        " first feature of the value of *cat* grows a little. Which of the six numbers of the"
        " output change?",
        (
            Choice(
                "The two features of the output of *cat*.",
                "A value doesn't belong to a single query. Every query reads every value.",
            ),
            Choice(
                "The first features of all three outputs.",
                "Each query adds this number, times its own weight for *cat*, to the first"
                " feature of its output.",
            ),
            Choice(
                "All six: everything is mixed.",
                "This mixes features as well. But the sum runs over the keys, and feature c of"
                " the output reads only feature c of the values.",
            ),
            Choice(
                "Only the first feature of the output that has the largest weight for *cat*.",
                "This confuses attention with choosing a single value. A small weight is a small"
                " factor, but it isn't 0.",
            ),
        ),
        right="b",
        shows="[[0.366 0.   ]",
    ),
    Question(
        "which_score_rises",
        "*Ada's*, *old*, *cat* and *sleeps* have the weights 0.156, 0.094, 0.698, 0.052 and the"
        " values (0, 1), (2, 2), (3, 0), (1, −1). The output is (2.3, 0.3), but it should have"
        " been the value of *old*. Which score does training raise most?",
        (
            Choice(
                "The score of *old*, because it is the target.",
                "This looks only at the values. A score moves its weight in proportion to the"
                " weight that is there already, and *old* has less weight than *Ada's*.",
            ),
            Choice(
                "The score of *Ada's*.",
                "Its value is on the correct side of the output, and its weight is larger than"
                " the weight of *old*.",
            ),
            Choice(
                "The score of *cat*, because it has the largest weight.",
                "It does have the largest weight, and its score moves most, but down, because its"
                " value lies on the wrong side of the output.",
            ),
            Choice(
                "The score of *sleeps*, because it has the smallest weight, and so the most to"
                " gain.",
                "A small weight hardly reacts to its score, and the value of *sleeps* lies on the"
                " wrong side of the output.",
            ),
        ),
        right="b",
        shows="gradient of the scores:  [-0.31  -0.286  0.504  0.091]",
    ),
    Question(
        "values_shifted",
        "We add the same vector to all four values, but keep the gradient of the output as it is."
        " What happens to the gradient of the scores?",
        (
            Choice(
                "It grows, because larger values make larger gradients.",
                "The gradients of the weights do change, but all of them by the same number, and"
                " so does their mean, which is subtracted.",
            ),
            Choice(
                "Nothing.",
                "The output moves with the values, and only the vector from the output to each"
                " value counts.",
            ),
            Choice(
                "The same number is added to each entry.",
                "This forgets that the mean is subtracted. Besides, the gradients of a row of"
                " scores always sum to 0.",
            ),
        ),
        right="b",
        shows="of the scores:  [-0.31  -0.286  0.504  0.091]",
    ),
    Question(
        "one_key_dominates",
        "One key has 0.9999 of a query's weight, and the output is far from where it should be. How"
        " large is the gradient of the query?",
        (
            Choice(
                "Large: the error is large.",
                "The error is only one of two factors. The other is how much the output follows"
                " the query, and here it hardly does.",
            ),
            Choice(
                "As large as the key that dominates, because the query is drawn to it or pushed"
                " away from it.",
                "A query's gradient is made of weighted differences between keys. With only one"
                " key left, there is nothing to compare.",
            ),
            Choice(
                "Nearly 0.",
                "A small change of the query hardly changes any weight, so the output stays at"
                " that key's value.",
            ),
        ),
        right="c",
        shows="weight of cat 0.999",
    ),
    Question(
        "random_step",
        "Instead of the gradient of queries, keys and values, we take random numbers, and make"
        " one very small step. How often does the loss go down?",
        (
            Choice(
                "Practically never, because there are 96 numbers, and all would have to be right.",
                "The loss isn't a combination lock. It adds up what all the numbers do, and only"
                " the sign of the sum counts.",
            ),
            Choice(
                "In half of the cases.",
                "For a small step, the change is the dot product of gradient and step, and for a"
                " random direction either sign is equally likely.",
            ),
            Choice(
                "Always, if the step is small enough.",
                "That's true of a step against the gradient. But a direction that goes uphill"
                " goes uphill for small steps too.",
            ),
        ),
        right="b",
        shows="the loss falls: ",
    ),
    Question(
        "fifth_product",
        "Suppose that the weights aren't kept, so that the backward pass computes the scores"
        " again. Let d_k = d_v. By how much does this raise the operations of the matrix products,"
        " forward and backward together?",
        (
            Choice(
                "By a sixth.",
                "The forward pass has two products and the backward pass four. That makes six, and"
                " now seven.",
            ),
            Choice(
                "By a quarter.",
                "This counts only the backward pass: five products instead of four.",
            ),
            Choice(
                "By a half.",
                "The forward pass has only two products, and this is one of them. But forward and"
                " backward together have six.",
            ),
            Choice(
                "They double.",
                "This would repeat everything. One product is enough, because the output is kept.",
            ),
        ),
        right="a",
        shows="more operations: 17% in all",
    ),
)
