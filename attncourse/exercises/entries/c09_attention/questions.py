"""What readers of *Scaled dot-product attention* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "all_doubled",
        "In self-attention, one array serves as queries, keys and values. We double it. What"
        " happens to the output?",
        (
            Choice(
                "It doubles: attention is a product of matrices.",
                "Attention is linear only in the values. Queries and keys go through an"
                " exponential.",
            ),
            Choice(
                "Nothing: the weights sum to 1, whatever the input is.",
                "They do, but the values that they mix have doubled.",
            ),
            Choice(
                "Its numbers change by different factors.",
                "The values double, and the scores become four times as large, so that the values"
                " are mixed with different weights.",
            ),
            Choice(
                "It is eight times as large: three factors of 2.",
                "This leaves out the softmax between the products. The weights can't grow,"
                " because they sum to 1.",
            ),
        ),
        right="c",
        shows="all three       doubled: output times",
    ),
    Question(
        "where_is_x",
        "In cross-attention, the queries are made from x, and what is read comes from a memory. How"
        " does x enter the output?",
        (
            Choice(
                "It is added to what was read.",
                "That would be a residual connection, which a layer has around attention, not"
                " inside it.",
            ),
            Choice(
                "In two ways: through the weights, and as one of the values.",
                "That would be true of self-attention. Here, all values come from the memory.",
            ),
            Choice(
                "Only through the weights.",
                "x decides how much of each value is taken. What is taken comes from the memory.",
            ),
            Choice(
                "Not at all: the output consists of the memory's values.",
                "It does, but how much each value counts depends on the queries, which are"
                " computed from x.",
            ),
        ),
        right="c",
        shows="outputs from",
    ),
    Question(
        "borrowed_map",
        "The translator reads *neununddreißig*, nine-and-thirty, but with the weights that it"
        " computed for *vierundzwanzig*, four-and-twenty. What does it say?",
        (
            Choice(
                "*thirty nine*, as with its own weights.",
                "The weights only say which places to read from, and these places are the same."
                " The values come from the number that is read now.",
            ),
            Choice(
                "*twenty four*: the weights belong to that number.",
                "This mistakes the weights for the content. What is read is the values, which are"
                " made from the pieces of the new number.",
            ),
            Choice(
                "*nine thirty*: it follows the German order.",
                "The German order would put the weights on the diagonal, but the borrowed weights"
                " cross: the first word reads the third piece.",
            ),
            Choice(
                "Nothing that makes sense: weights fit only the text they were computed from.",
                "They are a table of shares, one row for each word. They can be used to read any"
                " number that has the same numbers of pieces and of words.",
            ),
        ),
        right="a",
        shows="the weights of 24:",
    ),
    Question(
        "row_after_dropout",
        "Each weight of a row is dropped with probability 0.25, and those that stay are divided by"
        " 0.75. What does a row sum to then?",
        (
            Choice(
                "1: that is what the division is for.",
                "This confuses dividing by 1 − p with dividing by the sum. The divisor is the"
                " same in every draw.",
            ),
            Choice(
                "0.75: a quarter is lost.",
                "This forgets the division, and treats every draw like the average one.",
            ),
            Choice(
                "It differs from draw to draw, and is 1 on average.",
                "The sum depends on which weights were dropped, and the division makes its mean 1.",
            ),
        ),
        right="c",
        shows="[0.21 0.13 0.93 0.07]  sum: 1.33",
    ),
    Question(
        "gradient_of_a_dead_row",
        "One query sees nothing. Its mask of 0 and -inf is added to the scores, and after the"
        " softmax its weights, which are nan, are replaced by 0: the output is right. Where is the"
        " gradient nan?",
        (
            Choice(
                "Nowhere: weights that were replaced by 0 have a gradient of 0.",
                "The gradient that reaches the weights is indeed 0. But in the softmax it is"
                " multiplied by the weights as they were, and 0 times nan is nan.",
            ),
            Choice(
                "Only in the row of that query.",
                "This forgets the keys. Each key's gradient is a sum over all queries, and a"
                " single nan spoils it.",
            ),
            Choice(
                "In the row of that query, and in all keys.",
                "The nan arises in the row's scores, and a score passes its gradient on to its"
                " query and to its key.",
            ),
            Choice(
                "In queries, keys and values.",
                "The values get their gradient through the weights after the replacement, and"
                " none of those is nan.",
            ),
        ),
        right="c",
        shows="added,  fixed: weights  nan in the gradient of Q K",
    ),
    Question(
        "hidden_large_key",
        "In float32, with one feature, a hidden key holds 3e38, which is a finite number. The"
        " queries are"
        " 2, -2 and 0.5. For which of them does torch's function give nan?",
        (
            Choice(
                "For none: the key is hidden.",
                "It is hidden by adding -inf to its score. That hides every score except one that"
                " is already +inf or nan.",
            ),
            Choice(
                "For the first.",
                "Its score overflows to +inf, and inf - inf is nan. The second query's score is"
                " -inf, and the third query's score is finite.",
            ),
            Choice(
                "For the first and the second: both scores overflow.",
                "They do, but the second score is -inf, and stays -inf when -inf is added.",
            ),
            Choice(
                "For all three: 0 times such a large number is nan.",
                "0 times a finite number is 0, however large it is. And it is the key that is so"
                " large here, not the value.",
            ),
        ),
        right="b",
        shows="torch:   [nan, 5.0, 5.0]",
    ),
    Question(
        "usual_test",
        "The usual test takes random numbers, 2 by 3 heads, all sizes 8 and no mask, and compares"
        " the output with torch's. How many of the seventeen wrong implementations pass it?",
        (
            Choice(
                "None: a wrong function gives wrong numbers.",
                "It does for some inputs. On these inputs, most of the wrong functions compute"
                " exactly the right numbers.",
            ),
            Choice(
                "About half of them.",
                "Random inputs aren't varied inputs. These are all of one kind: moderate numbers,"
                " one size, nothing hidden.",
            ),
            Choice(
                "Fifteen.",
                "Only two mistakes show: the missing scale and the axes counted from the front."
                " The rest need a mask, a large score, a given scale, another dtype, a gradient,"
                " or a look at the arguments afterwards.",
            ),
        ),
        right="c",
        shows="15 of 17 pass",
    ),
)
