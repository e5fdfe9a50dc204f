"""What readers of *Multi-head and grouped-query attention* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "both_in_one_query",
        "One question gives the weights 0.156, 0.094, 0.698 and 0.052, and another one gives"
        " 0.083, 0.610, 0.083 and 0.225. Which weights does the sum of the two queries give?",
        (
            Choice(
                "Their mean: about 0.12, 0.35, 0.39 and 0.14.",
                "This would be right if the softmax were linear. But it's the scores that are"
                " added, in the exponent.",
            ),
            Choice(
                "Their products, divided by the sum of the products.",
                "Scores add up, and the exponential of a sum is a product. One question prefers"
                " cat to old as strongly as the other prefers old to cat, so they tie.",
            ),
            Choice(
                "The weights of the sharper question, the first one.",
                "This expects the larger maximum to win. But the second question favours *old*"
                " over *cat* just as strongly.",
            ),
            Choice(
                "For each key the larger of its two weights, divided by the sum of these.",
                "This would let both favourites keep their weights. But a key that one question"
                " favours is pulled down by the other question.",
            ),
        ),
        right="b",
        shows="[0.092 0.412 0.412 0.083]",
    ),
    Question(
        "reshape_alone",
        "x has 4 positions with 6 features each. x.reshape(2, 4, 3) has the shape of two heads"
        " with 4 positions and 3 features each. What does head 0 hold?",
        (
            Choice(
                "The first three features of all four positions.",
                "This is what a head should hold. But a reshape keeps the order in memory, where"
                " all of position 0 comes first.",
            ),
            Choice(
                "All six features of positions 0 and 1.",
                "The first twelve numbers in memory are the first two rows. The shape is right,"
                " but the content is wrong.",
            ),
            Choice(
                "Every other feature of all four positions.",
                "This would deal the features out in turn. But a reshape doesn't move any numbers.",
            ),
            Choice(
                "Nothing: the reshape raises an error.",
                "Not every mistake raises an error. The 24 numbers fit the new shape.",
            ),
        ),
        right="b",
        shows="from positions [0, 1]",
    ),
    Question(
        "rank_of_where",
        "A model with 12 features has three heads of 4 features each. The scores of head 0 come"
        " from the 12 × 12 matrix M = W_Q W_Kᵀ of that head. What is its rank?",
        (
            Choice(
                "12, because it is a 12 × 12 matrix of random numbers.",
                "This looks only at the shape of the product, not at its factors. The entries"
                " are random, but they aren't independent.",
            ),
            Choice(
                "4.",
                "Each of its rows is a weighted sum of the 4 rows of W_Kᵀ. So at most 4 of its"
                " rows can be independent.",
            ),
            Choice("3: one for each head.", "This confuses the number of heads with their size."),
            Choice(
                "1: one head, one direction.",
                "A head with one feature would have rank 1. This head has 4 features.",
            ),
        ),
        right="b",
        shows="where, each head: [4, 4, 4]",
    ),
    Question(
        "rank_of_weights",
        "A head has 2 features, so the scores of 12 words are a 12 × 12 matrix of rank 2. What is"
        " the rank of their weights?",
        (
            Choice(
                "Also 2.",
                "This would be right for a linear map. But the softmax takes the exponential of"
                " each entry.",
            ),
            Choice(
                "1, because all rows of the weights sum to 1.",
                "Rows with equal sums needn't be equal, or multiples of each other.",
            ),
            Choice(
                "3, because the division by the row's sum adds one.",
                "That's the rank of the logarithms. The exponential comes after that.",
            ),
            Choice(
                "12.",
                "The exponential of a sum of two products isn't a sum of a few products. Here the"
                " weights have full rank, and only their logarithms show that the scores had rank"
                " 2.",
            ),
        ),
        right="d",
        shows="rank of the weights:              12",
    ),
    Question(
        "one_wide_head",
        "Each word wants the contents of two words. We train one head of 32 features, and two"
        " heads of 16, with the same number of parameters. How do they compare?",
        (
            Choice(
                "They are equal, because they have the same number of parameters.",
                "The number of parameters isn't all that counts. One head has only one row of"
                " weights.",
            ),
            Choice(
                "One head is better, because it has twice the rank.",
                "Rank helps a head find a name, but it doesn't help a single row of weights"
                " keep two contents apart.",
            ),
            Choice(
                "One head fails, and two succeed.",
                "A single row can only mix the two contents. With two rows, each row can fetch"
                " one of them.",
            ),
            Choice(
                "One head learns it too, only more slowly.",
                "This assumes that a solution exists. But with a single head, no matrices can"
                " do it.",
            ),
        ),
        right="c",
        shows="heads  1 of 32, key heads  1: left 0.50",
    ),
    Question(
        "shared_gradient",
        "Two query heads read the same key head. How does the gradient of the shared keys compare"
        " with the gradients that two separate copies would have?",
        (
            Choice(
                "It is their mean.",
                "Gradients aren't opinions to be averaged. If a shared key moves, it changes the"
                " loss through both heads at once.",
            ),
            Choice(
                "It is their sum.",
                "If the shared key changes, both copies change, and the two changes in the loss"
                " add up.",
            ),
            Choice(
                "It is the gradient of the copy whose head attends more.",
                "This expects one of the two uses to win. But derivatives along two paths add up.",
            ),
            Choice(
                "It is their product.",
                "The chain rule multiplies along a path, but it adds over paths.",
            ),
        ),
        right="b",
        shows="equal to the sum of the copies: True",
    ),
    Question(
        "cache_of_a_position",
        "Llama 3 70B has 80 layers, 64 query heads, and 8 heads of keys and values with 128"
        " features each, in 16 bits. How much does one position of a text add to its cache?",
        (
            Choice(
                "2 KiB.",
                "That's 8 heads of 128 numbers with 2 bytes each, so it counts only the keys of"
                " a single layer.",
            ),
            Choice(
                "4 KiB.",
                "That's one layer. Each of the 80 layers has its own projections, and keeps its"
                " own keys and values.",
            ),
            Choice(
                "320 KiB.",
                "Multiply them all: 2 for keys and values, 80 layers, 8 heads, 128 features and"
                " 2 bytes.",
            ),
            Choice(
                "2,560 KiB.",
                "This counts a key head for each of the 64 query heads. But eight query heads"
                " share one key head.",
            ),
        ),
        right="c",
        shows="Llama 3 70B       80   64/8",
    ),
    Question(
        "sixteen_heads",
        "A model with four layers of four heads answers six kinds of questions, and all its"
        " answers are right. If you remove its heads one at a time, for how many of the 16 do"
        " all answers stay right?",
        (
            Choice(
                "None: training found a use for each of them.",
                "This assumes that training leaves no head to spare. But if several heads do the"
                " same thing, you can remove any one of them.",
            ),
            Choice(
                "More than half of them.",
                "A head isn't needed if other heads do the same thing, or if these answers don't"
                " depend on what it does.",
            ),
            Choice(
                "All of them: with 15 others, a single head can't matter.",
                "This treats all heads as copies of each other. But some heads do something that"
                " no other head does.",
            ),
        ),
        right="b",
        shows="heads without which all answers stay right: 10 of 16",
    ),
)
