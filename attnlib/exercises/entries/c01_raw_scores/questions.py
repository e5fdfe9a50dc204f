"""What readers of *Raw scores* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "fixed_weights",
        "Six names, each with a digit, and one of them is asked for. One fixed weight for each place is fitted to 2,000 "
        "such sentences. How far off is it on new ones?",
        (Choice("Hardly at all: 2,000 sentences are enough to learn from.",
                "This takes for granted that enough data mends any rule. A rule that cannot say what is right learns "
                "only its best average."),
         Choice("As far as the mean of the six digits.",
                "Each place is as likely to be asked for as any other, so the best weights are all about 1/6."),
         Choice("Not far where the names were seen before, far where they are new.",
                "This takes for granted that the rule looks at the names. A weight of a place never sees one.")),
        right="b",
        shows="the best fixed weights are off by 2.18 to 2.25",
    ),
    Question(
        "longer_key",
        "A key becomes ten times as long and points the same way. Its dot product with the query was 5. What is it now?",
        (Choice("5: the direction is the same.",
                "This takes the score for a cosine. A cosine is blind to lengths, a dot product is not."),
         Choice("50: it is ten times as large.",
                "Each product of two features has become ten times as large, and so has their sum."),
         Choice("About 16: it grows with the root of 10.",
                "This takes the root for one of lengths. The root that scores are divided by counts the features "
                "that are added up."),
         Choice("500: lengths are squared.",
                "This takes the product for that of a vector with itself. Here one of two vectors has changed.")),
        right="b",
        shows="dot product 50.00   cosine  0.91",
    ),
    Question(
        "transposed_product",
        "Somebody writes K Qᵀ for Q Kᵀ, with two queries and four keys. What comes out?",
        (Choice("An error: the shapes do not fit.",
                "This takes for granted that a wrong product does not run. Both sum over the features, so both run."),
         Choice("The same table: a dot product does not care which factor comes first.",
                "That is so for one pair, and this takes a table of pairs for one. Its rows and columns have changed "
                "places."),
         Choice("A table of shape (4, 2): its rows are keys.",
                "Entry [j, i] is key j with query i: the same numbers, turned over."),
         Choice("Other numbers: every pair is compared anew.",
                "This takes the transposed table for another comparison. Each pair is still the same two vectors.")),
        right="c",
        shows="K Qᵀ: (4, 2)",
    ),
    Question(
        "typical_size",
        "A query and a key have 256 features, all independent with mean 0 and variance 1. How far from 0 is a typical "
        "dot product?",
        (Choice("About 0: positive and negative products cancel.",
                "This takes the mean for the typical size. The mean is 0, and single dot products are not."),
         Choice("About 1, like each product.",
                "This takes for granted that a sum is as large as its terms, as a mean would be. Nothing has been "
                "divided yet."),
         Choice("About 16, the root of 256.",
                "Most of the 256 products cancel, and what is left grows with the root of their number."),
         Choice("About 256: there are so many products.",
                "This takes the variance for the spread, or adds up products as if all had one sign.")),
        right="c",
        shows="d_k = 256: standard deviation 16.0",
    ),
    Question(
        "which_transpose",
        "Keys have the shape (2, 3, 7, 4): batch, heads, keys, features. What is the shape of `key.T`?",
        (Choice("(2, 3, 4, 7).",
                "This takes .T for the transposition of each matrix. It is that for arrays of two axes alone."),
         Choice("(4, 7, 3, 2).",
                "NumPy turns all axes round: the batch ends up last, and nothing fits any more."),
         Choice("(3, 2, 7, 4).",
                "This takes the first two axes for the matrix. The matrices are in the last two, and .T swaps more "
                "than two."),
         Choice("An error: a matrix has two axes.",
                "This takes .T for a matter of matrices. NumPy gives it to every array.")),
        right="b",
        shows="key.T:  (4, 7, 3, 2)",
    ),
)
