"""What readers of *A model made of your answers* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "undivided_answers",
        "A softmax takes the exponentials, but forgets to divide by their sum. If the model uses"
        " it, what share of the 120 texts does it get right?",
        (
            Choice(
                "All of them: the largest weight is still the largest.",
                "The order of the weights stays the same. But the output is a weighted sum of"
                " values, so if a row sums to 2 or 3, the output is two or three times as long"
                " as the next layers expect.",
            ),
            Choice(
                "Nearly none of them.",
                "Rows with many similar scores have the largest sums, so in all layers, the"
                " outputs that should be faint are the loudest.",
            ),
            Choice(
                "About half of them.",
                "That's what guessing between two nouns or two names would give. But the model"
                " doesn't even guess between them: it often names something else.",
            ),
        ),
        right="b",
        shows="right answers: 0.04",
    ),
    Question(
        "leaky_answers",
        "A causal mask is one key too wide: each word also sees the word after it. The model was"
        " trained with the right mask. What share of the 120 texts does it get right?",
        (
            Choice(
                "All of them, as before.",
                "A question's last word has no word after it, so it sees no more than before."
                " The earlier words do, but the heads still find the right noun, name or place.",
            ),
            Choice(
                "Nearly none of them: it was never trained with such a mask.",
                "It's true that every word except the last now reads something that it didn't"
                " read in training. But that isn't enough to lead the heads astray.",
            ),
            Choice(
                "About half of them.",
                "That would be right if the answers depended on the words right before them. But"
                " they depend on facts further back.",
            ),
        ),
        right="a",
        shows="right answers: 1.00",
    ),
    Question(
        "other_sign",
        "A function rotates queries and keys the other way, by minus the angle. Both follow the"
        " same rule, so a score still depends only on the distance between the two words. What"
        " does the trained model do?",
        (
            Choice(
                "It answers as before: only the distance counts.",
                "But the distance has a sign. A key three words back now looks like a key three"
                " words ahead.",
            ),
            Choice(
                "It answers as before, except where the order of two words matters.",
                "The sign matters for every score in which the order plays a part, and in this"
                " model that means nearly all scores.",
            ),
            Choice(
                "It fails: its matrices were trained with the other sign.",
                "A model trained with this sign would be just as good. But these matrices have"
                " learned to look back, and with the other sign they look ahead, where the mask"
                " hides everything.",
            ),
        ),
        right="c",
        shows="right answers: 0.03",
    ),
)
