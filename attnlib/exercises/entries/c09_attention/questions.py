"""What readers of *Scaled dot-product attention* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "all_doubled",
        "In self-attention one array serves as queries, keys and values, and it is doubled. What happens to the output?",
        (Choice("It doubles: attention is a product of matrices.",
                "This takes attention for a linear map. It is one of the values alone; queries and keys go through an "
                "exponential."),
         Choice("Nothing: the weights sum to 1, whatever comes in.",
                "The weights do. But what they mix has doubled."),
         Choice("Its numbers change by different factors.",
                "The values double, and the scores become four times as large, so that other weights mix them."),
         Choice("It is eight times as large: three factors of 2.",
                "This leaves out the softmax between the products. The weights cannot grow: they sum to 1.")),
        right="c",
        shows="all three       doubled: output times",
    ),
    Question(
        "where_is_x",
        "In cross-attention x asks and a memory is read. How does x come into the output?",
        (Choice("It is added to what was read.",
                "That is a residual connection, which a layer has around attention. There is none inside."),
         Choice("In two ways: through the weights, and as one of the values.",
                "This takes it for self-attention. Here all values come from the memory."),
         Choice("Through the weights alone.",
                "x decides how much of each value is taken. What is taken comes from the memory."),
         Choice("Not at all: the output is made of the memory.",
                "Its values are. But how much each of them counts is up to the queries, which are made of x.")),
        right="c",
        shows="outputs from",
    ),
    Question(
        "row_after_dropout",
        "Each weight of a row is dropped with probability 0.25, and those that stay are divided by 0.75. "
        "What do the weights of a row sum to then?",
        (Choice("1: that is what the division is for.",
                "This takes the division by 1 − p for one by the sum. It is the same number in every draw."),
         Choice("0.75: a quarter is lost.",
                "This forgets the division, and takes every draw for the average one."),
         Choice("Now more, now less: 1 on average.",
                "It depends on which weights were dropped, and the division makes the mean right.")),
        right="c",
        shows="[0.21 0.13 0.93 0.07]  sum: 1.33",
    ),
    Question(
        "gradient_of_a_dead_row",
        "One query sees nothing. Its mask of 0 and -inf is added to the scores, and behind the softmax its weights, which are nan, "
        "are replaced by 0: the output is right. Where is the gradient nan?",
        (Choice("Nowhere: what was replaced by 0 has a gradient of 0.",
                "The gradient that comes to the weights is 0. Through the softmax it is multiplied with the weights as they "
                "were, and 0 times nan is nan."),
         Choice("In the row of that query alone.",
                "This forgets the keys. Each key's gradient is a sum over all queries, and one nan spoils a sum."),
         Choice("In the row of that query, and in all keys.",
                "The nan arises in the row's scores, and a score hands its gradient to its query and to its key."),
         Choice("In queries, keys and values.",
                "The values get their gradient through the weights as they are after the replacement, and those are numbers.")),
        right="c",
        shows="added,  mended: weights  nan in the gradient of Q K",
    ),
    Question(
        "hidden_large_key",
        "float32, one feature. A hidden key holds 3e38, which is a finite number. The queries are 2, -2 and 0.5. For which of "
        "them does torch's function give nan?",
        (Choice("For none: the key is hidden.",
                "It is hidden by adding -inf to its score. That hides every score but one that is +inf, or nan, already."),
         Choice("For the first.",
                "Its score overflows to +inf, and inf - inf is nan. The second has -inf there, and the third a finite score."),
         Choice("For the first and the second: both scores overflow.",
                "They do. But the second one's is -inf, and stays so when -inf is added."),
         Choice("For all three: 0 times so large a number is nan.",
                "0 times a finite number is 0, however large it is. And it is the key that is so large here, not the value.")),
        right="b",
        shows="torch:   [nan, 5.0, 5.0]",
    ),
    Question(
        "usual_test",
        "A usual test: random numbers, 2 by 3 heads, all sizes 8, no mask, the output compared with torch's. How many of the "
        "seventeen wrong implementations pass it?",
        (Choice("None: a wrong function gives wrong numbers.",
                "It gives them for some inputs. On these most of the wrong ones compute exactly what is right."),
         Choice("Half of them, about.",
                "This takes random inputs for various ones. They are all of one kind: moderate numbers, one size, nothing hidden."),
         Choice("Fifteen.",
                "Only the missing scale and the axes counted from the front show. The rest need a mask, a large score, a "
                "given scale, another dtype, a gradient, or a look at the arguments afterwards.")),
        right="c",
        shows="15 of 17 pass",
    ),
)
