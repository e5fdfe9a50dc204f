"""What readers of *Positions: sinusoidal, RoPE, ALiBi* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "dog_bites_man",
        "*dog bites man* and *man bites dog* go through self-attention without a mask, and"
        " nothing tells it about positions. How do the two outputs of *bites* compare?",
        (
            Choice(
                "They differ: the words are in a different order.",
                "You know the order. But attention only gets three vectors and adds up three"
                " terms.",
            ),
            Choice(
                "They are equal.",
                "The same three keys and the same three values are used. Only the order in"
                " which they are added up differs.",
            ),
            Choice(
                "The weights are the same, but the outputs differ.",
                "This separates the weights from the values. But each value moves together with"
                " its key, and so does its weight.",
            ),
        ),
        right="b",
        shows="outputs of bites equal: True",
    ),
    Question(
        "past_in_layers",
        "A causal layer gets no information about positions. If the first two of five words swap"
        " places, what happens to the last word's output?",
        (
            Choice(
                "It changes: the causal mask knows what came first.",
                "The mask hides what comes later. But it hides nothing that comes before the"
                " last word, and it doesn't reveal the order of these words.",
            ),
            Choice(
                "It stays the same.",
                "The last query sees all five keys, and the order in which it adds"
                " them up doesn't matter.",
            ),
            Choice(
                "It changes, but only a little: the two words are far away.",
                "Nothing in the layer knows which words are far away.",
            ),
        ),
        right="b",
        shows="1 layer:  0.0",
    ),
    Question(
        "added_then_projected",
        "Sinusoidal positions are added to word vectors, and matrices compute queries and keys"
        " from the sums. The same two words are first at positions 2 and 5, and then at 12 and"
        " 15. Are the two scores equal?",
        (
            Choice(
                "Yes: the product of two sinusoidal positions depends only on their difference.",
                "That's true of the positions themselves. But now two matrices stand between"
                " them, and the words are added.",
            ),
            Choice(
                "No: the projections and the words spoil it.",
                "A shift rotates both positions, but not the matrices between them.",
            ),
            Choice(
                "Yes, if the two words are the same word.",
                "One of the four terms depends only on the words, and it's the same in both"
                " scores for any two words. The three terms with positions aren't the same.",
            ),
        ),
        right="b",
        shows="added:  1.42 and 2.46",
    ),
    Question(
        "turn_the_values",
        "Queries and keys are rotated according to their positions. What happens if we also"
        " rotate each value according to its position?",
        (
            Choice(
                "Nothing changes: only differences of positions count anyway.",
                "In a score, a rotated query is multiplied by a rotated key, and the common"
                " part of the rotations cancels. But what could cancel the rotation of a value?",
            ),
            Choice(
                "The output depends on where the text begins.",
                "If the text moves by 100 positions, every value is rotated by 100 more steps,"
                " and so is their sum.",
            ),
            Choice("The weights change.", "The weights depend only on queries and keys."),
        ),
        right="b",
        shows="values rotated, too: 1.4",
    ),
    Question(
        "mixed_layouts",
        "A model was trained with neighbours as pairs, but the code that runs it rotates halves."
        " Which scores are still right?",
        (
            Choice(
                "None.",
                "Nearly none of them are. But there is one distance at which the angles don't"
                " matter.",
            ),
            Choice(
                "Only the scores of a query and a key at the same position.",
                "Both are rotated in the same way, whatever the pairs are, and rotating both in"
                " the same way doesn't change their dot product.",
            ),
            Choice(
                "Only the scores of distant keys, where the slow pairs decide.",
                "But the slow pairs now consist of different features.",
            ),
            Choice(
                "All of them: a sum over pairs doesn't care which pairs they are.",
                "That would be right if the queries and keys had been trained for these pairs."
                " But they were trained for the others.",
            ),
        ),
        right="b",
        shows="distance   0: 0.00",
    ),
    Question(
        "three_back",
        "Queries are trained to look at the key three places back, in texts of 32 positions."
        " Then a query comes at position 255. With which schemes does it still look three places"
        " back?",
        (
            Choice(
                "With all of them: three back is three back.",
                "For us it is. But a table has a row for every position, and the rows from 32 on"
                " were never trained.",
            ),
            Choice(
                "With none of them: no scheme has ever been shown position 255.",
                "A scheme that sees only differences was shown the difference 3 at every position.",
            ),
            Choice(
                "It mostly does if queries and keys are rotated, but hardly ever if positions"
                " are added.",
                "Training did include the difference 3. But it didn't include differences of 32"
                " or more, and keys at these distances now compete.",
            ),
        ),
        right="c",
        shows="turned   0.99 0.99 0.99 0.99 0.96 0.91",
    ),
    Question(
        "four_times_the_base",
        "The trained model never saw more than 49 words. In texts of 79 words, half of its"
        " answers are right. Now we change only the base of its rotary positions, from 1,000 to"
        " 4,000, without any further training. What happens to the answers in these texts?",
        (
            Choice(
                "Hardly any of them are right: the angles are no longer the ones used in training.",
                "The fast pairs hardly change, and the slow pairs don't rotate further over 79"
                " words than they did over 49 words in training.",
            ),
            Choice(
                "Nothing: the base matters only in training.",
                "But the angles depend on the base, so every score changes, except at distance 0.",
            ),
            Choice(
                "Nearly all of them are right.",
                "With the larger base, no slow pair reaches an angle within 79 words that it"
                " hadn't already reached within 49.",
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
                "From 0 to 256, all 257 numbers exist. After that, only every second number"
                " does, and from 512 on only every fourth, which adds 128 numbers each time.",
            ),
            Choice(
                "257: bfloat16 has 8 binary digits.",
                "That's how many there are up to 256. Each further power of 2 adds 128 more.",
            ),
        ),
        right="b",
        shows="bfloat16: 513",
    ),
)
