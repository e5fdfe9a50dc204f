"""What readers of *A model made of your answers* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "undivided_answers",
        "A softmax takes the exponentials and forgets to divide by their sum. Which share of the"
        " 120 texts does the model answer rightly with it?",
        (
            Choice(
                "All of them: the largest weight is still the largest.",
                "The order of the weights stays. But the output is a sum of values, and rows that"
                " sum to 2 or 3 make it two or three times as long as the next layers expect.",
            ),
            Choice(
                "Nearly none of them.",
                "Rows of many similar scores have the largest sums, so the outputs that should be"
                " faint are the loudest, in all layers.",
            ),
            Choice(
                "About half of them.",
                "That's what guessing between two nouns or two names would give. But the model"
                " doesn't guess between them any more: it often names something else.",
            ),
        ),
        right="b",
        shows="right answers: 0.04",
    ),
    Question(
        "leaky_answers",
        "A causal mask is one key too wide: each word also sees the word after it. The model was"
        " trained with the right mask. Which share of the 120 texts does it answer rightly?",
        (
            Choice(
                "All of them, as before.",
                "A question's last word has no word after it, so it sees no more than before. The"
                " words before it do, but the heads still find the right noun, name or place.",
            ),
            Choice(
                "Nearly none of them: it was never trained with such a mask.",
                "It's true that every word but the last now reads something that it didn't read in"
                " training. But that isn't enough to lead the heads astray.",
            ),
            Choice(
                "About half of them.",
                "That would be right if the answers rested on the words right before them. They"
                " rest on facts further back.",
            ),
        ),
        right="a",
        shows="right answers: 1.00",
    ),
    Question(
        "other_sign",
        "A function rotates queries and keys the other way, by minus the angle. Both turn by the"
        " same rule, so a score still depends only on the distance of the two words. What does the"
        " trained model do?",
        (
            Choice(
                "It answers as before: only the distance counts.",
                "The distance has a sign. A key three words back now looks like one three words"
                " ahead.",
            ),
            Choice(
                "It answers as before, except where the order of two words matters.",
                "The sign matters for every score in which the order has any part, and in this"
                " model these are nearly all of them.",
            ),
            Choice(
                "It fails: its matrices were trained with the other sign.",
                "A model trained with this sign would be as good. But these matrices look back, and"
                " with the other sign they look ahead, where the mask hides everything.",
            ),
        ),
        right="c",
        shows="right answers: 0.03",
    ),
)
