"""What readers of *The online softmax, in one pass* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "one_more_score",
        "The maximum so far is 2, and the sum of `exp(score - 2)` is 3. The next score is 5. What"
        " is the sum then?",
        (
            Choice(
                "4.",
                "This adds the new term to the old sum as it is. But the old terms were shifted"
                " by 2, and the new one by 5.",
            ),
            Choice(
                "1.149.",
                "Shifted by 5, the old terms are exp(-3) times as large, which makes 0.149 in"
                " total. The new score adds 1.",
            ),
            Choice(
                "1.", "This throws the old keys away. They count less now, but they still count."
            ),
            Choice(
                "61.3.",
                "This uses the inverse of the factor, exp(3). Shifted by a larger maximum, the"
                " old terms become smaller.",
            ),
        ),
        right="b",
        shows="sum with 5:  1.149",
    ),
    Question(
        "forgotten_factor",
        "A program moves the maximum, but forgets to multiply the old sum. For which rows is its"
        " sum still right?",
        (
            Choice(
                "For none with more than one block.",
                "This assumes that the factor always matters. If the maximum doesn't move, the"
                " factor is 1.",
            ),
            Choice(
                "For rows whose largest score is in the first block.",
                "Then the maximum never moves after the first block, and every factor is 1.",
            ),
            Choice(
                "For rows whose largest score is in the last block.",
                "This expects the last block to put everything right. But that's exactly where"
                " the old sum would have to be multiplied.",
            ),
            Choice(
                "For rows of small scores.",
                "Small scores avoid overflow. But the factor depends on how far the maximum"
                " moves, not on how large it is.",
            ),
        ),
        right="b",
        shows="cat in the first block: 1.433",
    ),
    Question(
        "how_often_it_moves",
        "We read 4,096 random scores one by one. How often does the maximum so far move, on"
        " average?",
        (
            Choice(
                "About 2,000 times.",
                "This compares each score only with the one before. To move the maximum, a score"
                " has to beat all the scores before it.",
            ),
            Choice(
                "About 64 times.",
                "This guesses the square root. The chance that the i-th score is the largest of"
                " the first i"
                " is 1/i, and these chances add up to a logarithm.",
            ),
            Choice(
                "About 9 times.",
                "The chance that the i-th score is the largest of the first i is 1/i. For 4,096"
                " scores these add up to 8.9.",
            ),
            Choice(
                "4,096 times.",
                "That's true for rising scores. In random order, most scores are below the"
                " maximum so far.",
            ),
        ),
        right="c",
        shows="4096 blocks of   1: 9.1 moves, expected 8.9",
    ),
    Question(
        "which_law_fails",
        "A merge forgets the factors: it returns the larger maximum, and simply adds the two"
        " sums. Which of these tests finds the mistake?",
        (
            Choice(
                "The empty set is an identity.",
                "Try it: the larger of a maximum and -inf is that maximum, and a sum plus 0 is"
                " that sum. The test passes.",
            ),
            Choice(
                "It is associative.",
                "A wrong answer needn't depend on how the merges are grouped. Maxima can be"
                " taken, and numbers added, in any grouping.",
            ),
            Choice(
                "It is commutative.",
                "Nothing changes if the two sets are swapped, because maximum and sum treat them"
                " alike.",
            ),
            Choice(
                "None of these three, only a comparison with all scores at once.",
                "The maximum and the plain sum form a monoid too, but not the one we want.",
                last=True,
            ),
        ),
        right="d",
        shows="no factors         holds      holds      holds      FAILS",
    ),
    Question(
        "tree_merges",
        "Merged one after the other, the pairs of eight scores take 7 merges. A tree merges"
        " neighbours: first four times, then twice, then once. How many merges does it take?",
        (
            Choice(
                "3.", "This counts the levels. Each level has several merges: 4, then 2, then 1."
            ),
            Choice(
                "4.",
                "This counts only the merges that can happen at the same time, on the first level.",
            ),
            Choice(
                "7.",
                "Each merge turns two pairs into one, so eight pairs need seven merges in any"
                " order. A tree only saves waiting time.",
            ),
            Choice(
                "8.",
                "This counts the leaves. Each merge removes one pair, and one pair is left, so"
                " there is one merge fewer.",
            ),
        ),
        right="c",
        shows="8 scores, as_tree   :    7 merges in    3 rounds",
    ),
    Question(
        "best_number_of_blocks",
        "We split 4,096 scores into B equal blocks. Within a block we add one score after the"
        " other, then we add one block after the other. For which B is the longest path of a term"
        " shortest?",
        (
            Choice(
                "B = 1: nothing has to be merged.",
                "This counts only the merges of blocks. With one block, the first score goes"
                " through 4,095 additions.",
            ),
            Choice(
                "B = 64.",
                "The path has (4,096/B - 1) + (B - 1) additions, which is 126 for B = 64. It is"
                " shortest if both parts are equal.",
            ),
            Choice(
                "B = 4,096: the smallest blocks are the most careful.",
                "This counts only the additions within a block. With blocks of one score, merging"
                " them is one long sum again.",
            ),
            Choice(
                "It is the same for all: there are 4,095 additions anyway.",
                "This counts all additions. What matters is how many of them a single term goes"
                " through.",
            ),
        ),
        right="b",
        shows="shortest longest path: 64 blocks",
    ),
    Question(
        "accesses_of_a_softmax",
        "How many numbers per score does the softmax in three passes read from memory or write to"
        " it?",
        (
            Choice(
                "2: it reads a score and writes a weight.",
                "That would be enough if the row could be kept. Here each pass reads it again.",
            ),
            Choice(
                "3: one for each pass.",
                "This forgets that the last pass reads the score and writes the weight.",
            ),
            Choice(
                "4: three reads and a write.",
                "The maximum, the sum and the weights each read the row, and the weights are"
                " written.",
            ),
            Choice(
                "6: each pass reads and writes.",
                "The first two passes write only one number for the whole row, which isn't"
                " counted here.",
            ),
        ),
        right="c",
        shows="three passes: 4.0 accesses per score",
    ),
)
