"""What readers of *Attention in twenty minutes* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "swapped_nouns",
        "The suitcase does not fit in the trophy because it is too big. What is too big? What does"
        " the model answer?",
        (
            Choice(
                "The trophy, as before: the adjective is the same.",
                "This assumes that the model has tied *big* to *trophy*. It has tied *big* to the"
                " thing that doesn't fit.",
            ),
            Choice(
                "The suitcase: now this is what doesn't fit.",
                "What counts is the noun's role in the sentence, and the suitcase has taken over"
                " the trophy's role.",
            ),
            Choice(
                "Something else: it has never seen such a sentence.",
                "This assumes that a model knows only what it has seen. It has learned what *too"
                " big* asks for, and that applies to new pairs as well.",
            ),
        ),
        right="b",
        shows="What is too big? The suitcase.",
    ),
    Question(
        "what_moved",
        "When big becomes small, what changes in the computation of the last word's scores for"
        " trophy and suitcase?",
        (
            Choice(
                "The query of the last *The*.",
                "This word comes after the adjective, so earlier layers could tell it which kind"
                " of adjective that was.",
            ),
            Choice(
                "The keys of *trophy* and *suitcase*.",
                "This assumes that a word knows what comes after it. Here a word sees only itself"
                " and the words before it, and the nouns come before the adjective.",
            ),
            Choice(
                "Both the query and the two keys.",
                "This assumes that every vector depends on every word. The nouns come before the"
                " adjective, so nothing about it can reach their keys.",
                last=True,
            ),
            Choice(
                "The matrices `w_q` and `w_k`.",
                "This assumes that the matrices are computed afresh for each text. Training has"
                " fixed them, and they are the same for every text.",
            ),
        ),
        right="a",
        shows="key of trophy:         0.0000000",
    ),
    Question(
        "without_the_head",
        "Head 1 of layer 2 gives 0.989 of its weight to trophy. We replace its output by zeros."
        " Which word does the model guess now?",
        (
            Choice(
                "Suitcase: the other noun is next.",
                "This assumes that the head decides between the nouns. That was decided earlier,"
                " when the query was computed.",
            ),
            Choice(
                "Any word: it can no longer see which noun was meant.",
                "This assumes that only this head looks at *trophy*. A large weight here doesn't"
                " mean that no other head does the same.",
            ),
            Choice(
                "Trophy, as before.",
                "The other three heads of this layer look at *trophy* too, so the answer doesn't"
                " depend on this one.",
            ),
        ),
        right="c",
        shows="without [1]: trophy",
    ),
)
