"""What readers of *Training a small transformer* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "known_tokens",
        "A sentence has 16 tokens: 8 pairs of a letter (one of four) and its digit. So a model"
        " has to predict 15 next tokens. On average, how many of them can be known for certain?",
        (
            Choice(
                "All 15: the rule of the sentences is known.",
                "Knowing the rule doesn't mean knowing what is drawn. Which letter comes next is"
                " left to chance.",
            ),
            Choice(
                "About 8: every digit.",
                "This forgets that each sentence draws new digits. When a letter occurs for the"
                " first time, its digit can't be known.",
            ),
            Choice(
                "Between 4 and 5: the digits of letters that came before.",
                "Eight draws from four letters give 3.6 different letters on average, and the"
                " other 4.4 are repetitions.",
            ),
            Choice(
                "None: letters and digits are random.",
                "Random doesn't mean independent. A letter's digit is drawn once per sentence,"
                " and then it stays the same.",
            ),
        ),
        right="c",
        shows="known for certain: 4.5 of 15",
    ),
    Question(
        "way_down",
        "Five models start from random weights, with losses far above the minimum. How do the"
        " losses come down?",
        (
            Choice(
                "Steadily, by about the same share in each step.",
                "This pictures a steady descent into a single valley. But here, two layers"
                " first have to adapt to each other.",
            ),
            Choice(
                "Fast at first, then hardly at all, then fast again.",
                "Whatever needs no look-up is learned at once. But here the look-up takes two"
                " layers together, and neither of them is worth much without the other.",
            ),
            Choice(
                "Hardly at all at first, then fast to the end.",
                "This forgets what a model can learn without any look-up: that letters and digits"
                " alternate.",
            ),
        ),
        right="b",
        shows="step  60: 0.6 0.5 0.6 0.6 0.5",
    ),
    Question(
        "one_layer",
        "Take the same model with one layer of attention instead of two, trained for the same"
        " time. If the right digit can be known, how often does the model predict it?",
        (
            Choice(
                "About 1 time in 10: it has to guess.",
                "This forgets that even one layer sees which digits have occurred, and there are"
                " fewer than ten of them.",
            ),
            Choice(
                "About half of the time.",
                "It can predict one of the sentence's digits, but usually several have occurred,"
                " and it can't tell which of them followed the letter.",
            ),
            Choice(
                "Nearly always, because one layer is enough to look things up.",
                "With two heads it isn't: the key that contains the digit doesn't contain the"
                " letter, and a head can watch only one distance.",
            ),
        ),
        right="b",
        shows="one layer            0.45 0.46 0.47 0.47 0.48",
    ),
    Question(
        "head_removed",
        "In the second layer of model 2, one head has 0.87 of its weight on right keys, as you"
        " can see at a glance in its map. We remove it by setting its output to 0. What happens"
        " to the accuracy, which was 1.00?",
        (
            Choice(
                "It falls to about 0.1: 0.87 of the look-up is gone.",
                "This mistakes weight for effect. But a head's effect also depends on its values"
                " and on what the other heads add.",
            ),
            Choice(
                "It falls to about a half: one of the two heads is gone.",
                "This assumes that each head does half of the work.",
            ),
            Choice(
                "It stays at 1.00.",
                "The other head does the look-up by itself. A map shows where a head looks, not"
                " whether the model needs it.",
            ),
        ),
        right="c",
        shows="model 2: weight 0.97, without it 0.59   weight 0.87, without it 1.00",
    ),
    Question(
        "no_mask",
        "We train without the causal mask, so every position sees the whole sentence. With the"
        " mask, the minimum loss is 1.19. What loss does this training reach?",
        (
            Choice(
                "About 1.19: it learns the same thing, but with more keys.",
                "This overlooks what the mask hides. Without it, the answer is among the keys.",
            ),
            Choice(
                "More: the later tokens distract.",
                "They aren't a distraction: they contain exactly what is asked for.",
            ),
            Choice(
                "About 0.1, far below that bound.",
                "The model copies the next token from the next position. That's a leak rather"
                " than a skill, as the bound tells us.",
            ),
        ),
        right="c",
        shows="no mask: loss 0.13",
    ),
    Question(
        "no_positions",
        "We tell the model nothing about positions, so queries and keys aren't rotated. The"
        " causal mask stays. Do two layers learn the look-up in 300 steps?",
        (
            Choice(
                "No: a sum doesn't know the order of its terms, so letters and digits can't be"
                " matched.",
                "One sum doesn't. But the mask gives every position a different set of keys, and"
                " a second layer can compare them.",
            ),
            Choice(
                "Yes: four of five seeds get past 0.95.",
                "The set of tokens that a position can see says something about where it is, and"
                " two layers are enough to use that.",
            ),
            Choice(
                "No: they reach only about a half, as one layer does.",
                "One layer can't tell the order of the past, but two can.",
            ),
        ),
        right="b",
        shows="no positions         0.90 0.97 0.99 1.00 1.00",
    ),
)
