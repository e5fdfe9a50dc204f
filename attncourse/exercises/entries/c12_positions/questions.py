"""What readers of *Positions: sinusoidal, RoPE, ALiBi* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "dog_bites_man",
        "*dog bites man* and *man bites dog* go through self-attention without a mask. Nothing is"
        " done about positions. How do the two outputs of *bites* compare?",
        (
            Choice(
                "They differ: the words are in another order.",
                "You know the order. Attention gets three vectors and adds up three terms.",
            ),
            Choice(
                "They are equal.",
                "There are the same three keys and the same three values, added up in another"
                " order.",
            ),
            Choice(
                "The weights are the same, but the outputs differ.",
                "This separates the weights from their values. Each value moves with its key, and"
                " so does its weight.",
            ),
        ),
        right="b",
        shows="outputs of bites equal: True",
    ),
    Question(
        "past_in_layers",
        "There is one causal layer and no positions. The first two of five words swap places."
        " What happens to"
        " the output of the last word?",
        (
            Choice(
                "It changes: the causal mask knows what came first.",
                "The mask hides what comes later. It hides nothing of what comes before the last"
                " word, and doesn't order it.",
            ),
            Choice(
                "It stays.",
                "The last query sees all five keys, and the order in which it adds"
                " them up doesn't matter.",
            ),
            Choice(
                "It changes, but only a little: the two are far away.",
                "Nothing in the layer knows what is far away.",
            ),
        ),
        right="b",
        shows="1 layer:  0.0",
    ),
    Question(
        "added_then_projected",
        "Sinusoidal positions are added to word vectors, and matrices compute query and key from"
        " the sums. The same two words are at positions 2 and 5, then at 12 and 15. Are the two"
        " scores equal?",
        (
            Choice(
                "Yes: the product of two sinusoidal positions depends only on their difference.",
                "That's true of the positions themselves. But now two matrices stand between"
                " them, and the words are added.",
            ),
            Choice(
                "No: the projections and the words spoil it.",
                "A shift turns both positions, but not the matrices between them.",
            ),
            Choice(
                "Yes, if the two words are the same word.",
                "Then the words' own term is the same in both scores, as it is for any two words."
                " The three terms with positions aren't.",
            ),
        ),
        right="b",
        shows="added:  1.42 and 2.46",
    ),
    Question(
        "turn_the_values",
        "Queries and keys are rotated by their positions. What if we rotate the values by their"
        " own positions, too?",
        (
            Choice(
                "Nothing changes: only differences of positions count anyway.",
                "In a score, a rotated query meets a rotated key, and the common part cancels."
                " But what would a rotated value meet?",
            ),
            Choice(
                "The output depends on where the text begins.",
                "If the text moves by 100 positions, every value is rotated by 100 more steps,"
                " and so is their sum.",
            ),
            Choice("The weights change.", "The weights come only from queries and keys."),
        ),
        right="b",
        shows="values rotated, too: 1.4",
    ),
    Question(
        "mixed_layouts",
        "A model was trained with neighbours as pairs, but the code that runs it rotates halves."
        " Which scores are still right?",
        (
            Choice("None.", "Nearly none. But there is one distance at which no angle matters."),
            Choice(
                "Those of a query and a key at the same position.",
                "Both are rotated in the same way, whatever the pairs are, and a common rotation"
                " changes no dot product.",
            ),
            Choice(
                "Those of far keys, where the slow pairs decide.",
                "The slow pairs now consist of other features.",
            ),
            Choice(
                "All: a sum over pairs doesn't care which pairs they are.",
                "That would be right if query and key had been trained for these pairs. They were"
                " trained for the others.",
            ),
        ),
        right="b",
        shows="distance   0: 0.00",
    ),
    Question(
        "three_back",
        "A query is trained to look at the key three places back, in texts of 32 positions. Then"
        " a query is at position 255. In which scheme does it still look three places back?",
        (
            Choice(
                "In all of them: three back is three back.",
                "It is for us. But a table has a row for every position, and the rows from 32 on"
                " were never trained.",
            ),
            Choice(
                "In none of them: no scheme was shown position 255.",
                "A scheme that sees only differences was shown the difference 3 at every position.",
            ),
            Choice(
                "Mostly if queries and keys are rotated, hardly if positions are added.",
                "Training showed the difference 3. It didn't show the differences from 32 on,"
                " which now compete.",
            ),
        ),
        right="c",
        shows="turned   0.99 0.99 0.99 0.99 0.96 0.91",
    ),
    Question(
        "four_times_the_base",
        "The trained model never saw more than 49 words. In texts of 79 words, half of its answers"
        " are right. Now we change only the base of its rotary positions, from 1,000 to 4,000, and"
        " train nothing. What happens to these answers?",
        (
            Choice(
                "Hardly any is right: the angles aren't those of training.",
                "The fast pairs hardly change, and the slow ones turn at 79 words as far as they"
                " did within 49 in training.",
            ),
            Choice(
                "Nothing: the base counts only in training.",
                "The base is in every angle, so every score changes, except at distance 0.",
            ),
            Choice(
                "Nearly all are right.",
                "With the larger base, no pair meets an angle at 79 words that it hadn't met"
                " within 49.",
            ),
        ),
        right="c",
        shows="4 × base        1.00 0.98 0.99 0.97 0.99 0.94",
    ),
    Question(
        "positions_in_bfloat16",
        "The positions 0 to 1,023 are rounded to bfloat16. How many different numbers are left?",
        (
            Choice(
                "1,024: whole numbers are exact.",
                "Whole numbers are exact only as long as there are enough digits, and bfloat16"
                " has 8 binary digits.",
            ),
            Choice(
                "513.",
                "From 0 to 256 all 257 exist, then every second one, and from 512 on every"
                " fourth, which adds 128 each.",
            ),
            Choice(
                "257: it has 8 digits.",
                "That's how many there are up to 256. Each further power of 2 adds 128.",
            ),
        ),
        right="b",
        shows="bfloat16: 513",
    ),
)
