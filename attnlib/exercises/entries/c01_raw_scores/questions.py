"""What readers of *Raw scores* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "longer_key",
        "A key becomes ten times as long and points the same way. Its dot product with the query was 5. What is it now?",
        (Choice("5: the direction is the same.",
                "This takes the score for a cosine. A cosine is blind to lengths, a dot product is not."),
         Choice("50: it is ten times as large.",
                "Each product of two features has become ten times as large, and so has their sum."),
         Choice("About 16: it grows with the root of 10.",
                "This has the root in mind that is under the scale. That one is about how many features are added up, "
                "not about how long a vector is."),
         Choice("100 times as large, 500: lengths are squared.",
                "Only the product of a vector with itself has its length squared. Here one of two vectors has changed.")),
        right="b",
        shows="dot product 50.00",
    ),
)
