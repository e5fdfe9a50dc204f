"""What readers of *Raw scores* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "fixed_weights",
        "Six names each have a digit, and one of the names is asked for. A fixed weight for each"
        " position is fitted to 2,000 such sentences. How far off is this rule on new ones?",
        (
            Choice(
                "Hardly at all: 2,000 sentences are enough to learn from.",
                "This assumes that enough data makes any rule work. A rule that can't express the"
                " right answer can at best learn an average.",
            ),
            Choice(
                "About as far as the mean of the six digits.",
                "Each position is as likely to be asked for as any other, so the best weights are"
                " all about 1/6.",
            ),
            Choice(
                "Not far for names that it has seen, but far for new ones.",
                "This assumes that the rule looks at the names. The weight of a position never"
                " depends on the name at that position.",
            ),
        ),
        right="b",
        shows="the best fixed weights are off by 2.18 to 2.25",
    ),
    Question(
        "most_alike",
        "The text ends with *What is too big? The*, and the answer has to be the trophy. Which"
        " vector is the most similar to the vector of this last *the*, as it enters the layer?",
        (
            Choice(
                "The vector of *trophy*, which is the answer.",
                "This assumes that a word looks for words that are similar to it. The cosine with"
                " *trophy* is almost 0.",
            ),
            Choice(
                "The vector of *big*, which decides the answer.",
                "This mistakes dependence for similarity. The answer depends on *big*, but the"
                " cosine with *big* is almost 0 too.",
            ),
            Choice(
                "The vector of another *the*.",
                "Both words entered the model with the same vector, and two layers have changed"
                " each of them only partly.",
            ),
        ),
        right="c",
        shows="position  7, 'the': cosine 0.49",
    ),
    Question(
        "longer_key",
        "A key becomes ten times as long, but keeps its direction. Its dot product with the query"
        " was 5. What is it now?",
        (
            Choice(
                "5: the direction is the same.",
                "This confuses the score with a cosine. A cosine ignores lengths, but a dot product"
                " doesn't.",
            ),
            Choice(
                "50: it is ten times as large.",
                "Each product of two features becomes ten times as large, and so does their sum.",
            ),
            Choice(
                "About 16: it grows with the root of 10.",
                "This borrows the square root from another formula. The square root that scores"
                " are divided by comes from the number of features, not from a length.",
            ),
            Choice(
                "500: lengths are squared.",
                "This treats the score as the dot product of a vector with itself. Here only one of"
                " the two vectors has changed.",
            ),
        ),
        right="b",
        shows="dot product 50.00   cosine  0.91",
    ),
    Question(
        "transposed_product",
        "Somebody writes K Qᵀ instead of Q Kᵀ, with two queries and four keys. What is the result?",
        (
            Choice(
                "An error: the shapes don't fit.",
                "This assumes that a wrong product causes an error. Both products sum over the"
                " features, so both run.",
            ),
            Choice(
                "The same table: a dot product doesn't depend on the order of its factors.",
                "That's true of each single pair, but not of a table of pairs: its rows and columns"
                " have changed places.",
            ),
            Choice(
                "A table of shape (4, 2): its rows belong to keys.",
                "Entry [j, i] compares key j with query i. These are the same numbers, transposed.",
            ),
            Choice(
                "Different numbers: every pair is compared anew.",
                "This assumes that the transposed product compares different vectors. Each pair"
                " still consists of the same two vectors.",
            ),
        ),
        right="c",
        shows="K Qᵀ: (4, 2)",
    ),
    Question(
        "typical_size",
        "A query and a key have 256 features, all independent with mean 0 and variance 1. How far"
        " from 0 is a typical dot product?",
        (
            Choice(
                "About 0: positive and negative products cancel.",
                "This confuses the mean with the typical size. The mean is 0, but individual dot"
                " products aren't.",
            ),
            Choice(
                "About 1, like each product.",
                "This confuses the sum with its terms: 256 of them have been added up, and nothing"
                " has been divided yet.",
            ),
            Choice(
                "About 16, the root of 256.",
                "Most of the 256 products cancel, and what is left grows with the square root of"
                " their number.",
            ),
            Choice(
                "About 256: there are that many products.",
                "This confuses the variance with the standard deviation, or adds up the products as"
                " if they all had the same sign.",
            ),
        ),
        right="c",
        shows="d_k = 256: standard deviation 16.0",
    ),
    Question(
        "which_transpose",
        "Keys have the shape (2, 3, 7, 4): batch, heads, keys, features. What is the shape of"
        " `key.T`?",
        (
            Choice(
                "(2, 3, 4, 7).",
                "This expects .T to transpose each matrix. It does that only for arrays with two"
                " axes.",
            ),
            Choice(
                "(4, 7, 3, 2).",
                "NumPy reverses all axes: the batch ends up last, and nothing fits any more.",
            ),
            Choice(
                "(3, 2, 7, 4).",
                "This assumes that each matrix is in the first two axes. The matrices are in the"
                " last two, and .T reverses all axes rather than swapping two.",
            ),
            Choice(
                "An error: a matrix has two axes.",
                "This assumes that .T is only for matrices. In NumPy, every array has it.",
            ),
        ),
        right="b",
        shows="key.T:  (4, 7, 3, 2)",
    ),
)
