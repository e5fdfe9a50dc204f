"""What readers of *Does it learn?* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "known_tokens",
        "Sentences of 16 tokens: 8 times a letter of four and its digit, so there are 15 next tokens to predict. How many of "
        "them can be known for certain, in the mean?",
        (Choice("All 15: the rule of the sentences is known.",
                "This takes knowing the rule for knowing the draws. Which letter comes next is chance."),
         Choice("About 8: every digit.",
                "This forgets that each sentence draws its digits anew. At a letter's first time its digit is open."),
         Choice("Between 4 and 5: the digits of letters that came before.",
                "Eight draws from four letters show 3.6 different ones in the mean; the other 4.4 are repetitions."),
         Choice("None: letters and digits are random.",
                "This takes random for independent. A digit is drawn once for each letter, and then it stays.")),
        right="c",
        shows="known for certain: 4.5 of 15",
    ),
    Question(
        "way_down",
        "Five models begin from random weights. Their losses start far from the least possible one. How do they come down?",
        (Choice("Evenly, by about the same share in each step.",
                "This knows the gradient's way into a single valley. Here two layers must fit each other first."),
         Choice("Fast, then hardly at all, then fast again.",
                "What needs no look-up is learned at once. The look-up needs two layers that are worth nothing alone."),
         Choice("Hardly at all, then fast to the end.",
                "This forgets what can be learned without any look-up: that letters and digits take turns.")),
        right="b",
        shows="step  60: 0.6 0.5 0.6 0.6 0.5",
    ),
    Question(
        "one_layer",
        "The same model with one layer of attention in place of two, trained for as long. How often does it say the right "
        "digit, where that can be known?",
        (Choice("About 1 time in 10: it has to guess.",
                "This forgets that even one layer sees which digits have come. There are fewer than ten of them."),
         Choice("About every second time.",
                "It can say one of the digits in the sentence, and more than one has come. It cannot tell which of them followed the letter."),
         Choice("Nearly always, only later: one layer is enough to look things up.",
                "This thinks of keys that are letters. Here the key that holds the digit does not hold the letter.")),
        right="b",
        shows="one layer            0.45 0.46 0.47 0.47 0.48",
    ),
    Question(
        "head_removed",
        "In the second layer of model 2, one head has 0.87 of its weight on right keys, as a map shows at a glance. It is "
        "removed: its output is set to 0. What becomes of the accuracy, which was 1.00?",
        (Choice("It falls to about 0.1: 0.87 of the look-up are gone.",
                "This takes weight for effect. What a head adds depends on its values and on what the other heads add."),
         Choice("It falls to about a half: one head of two.",
                "This takes the heads for equal halves of one thing."),
         Choice("It stays at 1.00.",
                "The other head does the look-up alone. A map shows where a head looks, not whether anybody needs it.")),
        right="c",
        shows="model 2: weight 0.97, without it 0.59   weight 0.87, without it 1.00",
    ),
    Question(
        "no_mask",
        "The causal mask is left out in training: every position sees the whole sentence. The least loss possible is 1.19. "
        "What loss does the training reach?",
        (Choice("About 1.19: it learns the same, only with more keys.",
                "This takes the mask for a help. Without it the answer stands among the keys."),
         Choice("More: the later tokens distract.",
                "They hold exactly what is asked for. Nothing distracts less."),
         Choice("About 0.1, far less than is possible.",
                "The next token is copied from the next position. That is no skill but a leak, and the bound says so.")),
        right="c",
        shows="no mask: loss 0.13",
    ),
    Question(
        "no_positions",
        "Nothing is told about positions: no turning of queries and keys. The causal mask stays. Do two layers learn the "
        "look-up in 300 steps?",
        (Choice("No: a sum does not know the order, so letter and digit cannot be matched.",
                "One sum does not. But the mask gives every position another set of keys, and a second layer can compare them."),
         Choice("Yes: four of five seeds get past 0.95.",
                "Which tokens a position can see tells where it is. Two layers are enough to use that."),
         Choice("They stay at the half that one layer reaches.",
                "This knows that one layer cannot tell the order of the past. Two can.")),
        right="b",
        shows="no positions         0.90 0.97 0.99 1.00 1.00",
    ),
)
