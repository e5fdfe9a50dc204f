"""What readers of *A fused attention kernel* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "what_fusing_leaves",
        "Three kernels become one, with 16 queries a program as before: scores and weights stay on the chip. What of the "
        "traffic goes?",
        (Choice("Next to nothing: each program still reads all keys and values.",
                "This looks at the reading of keys and values alone, which stays. At 512 positions the scores and weights were "
                "half of all traffic."),
         Choice("Four arrays of the scores' size.",
                "The scores were written and read, and so were the weights. Nothing else changes."),
         Choice("All but reading Q, K, V once and writing the output once.",
                "This takes for granted that what one program has read is there for the next one. Each program loads its "
                "keys and values anew."),
         Choice("Two arrays of the scores' size.",
                "This counts the scores or the writing alone. Scores and weights both went to memory and came back.")),
        right="b",
        shows="saved: 4,194,304 bytes, 4 squares",
    ),
    Question(
        "which_size_is_read",
        "The keys are read in blocks of 64, and each program has 128 queries. Now the blocks of keys become four times "
        "smaller, 16 keys. How many bytes of keys and values are read?",
        (Choice("As many as before.",
                "Each program still reads every key once. It takes four times as many steps, each a quarter as long."),
         Choice("Four times as many.",
                "This counts loads and not bytes. There are four times as many loads, of a quarter of the size."),
         Choice("A quarter.",
                "This takes the size of one load for all that is read. The loop goes on until the last key."),
         Choice("More, by the overlap of the blocks.",
                "This takes blocks for windows that overlap. They lie side by side, and each key is in one of them.")),
        right="a",
        shows="128 queries, 16 keys:   589,824 bytes read",
    ),
    Question(
        "which_rung_saves_most",
        "A thread has 32 scores and 64 numbers of the accumulator in a block. Which change saves the most instructions?",
        (Choice("Dividing once, at the end: a division is the dearest operation.",
                "A division is dear, and this rung saves 32 of them and more. But an exponential that is not a power of 2 takes "
                "about four instructions more than one that is, for each score."),
         Choice("Powers of 2 in the place of exp.",
                "The hardware has only the power of 2. Everything that makes exp out of it goes, for each score."),
         Choice("The scale inside the multiply-add.",
                "This is one instruction a score, and no more: a multiplication that is done along with the subtraction."),
         Choice("None of them: the products take all the instructions.",
                "This takes operations for instructions. One instruction of the tensor cores makes thousands of "
                "multiplications; the softmax takes one and more for each score.")),
        right="b",
        shows="powers_of_2         368 instructions, 136 fewer",
    ),
    Question(
        "blocks_with_a_mask",
        "Causal, 8 blocks of queries and 8 blocks of keys, of one size. 36 pairs of blocks are read. In how many of them must "
        "positions be compared?",
        (Choice("36: each of them is causal.",
                "This takes the mask for a property of the whole. In a block that lies before its queries everything is "
                "allowed."),
         Choice("28.",
                "These are the blocks below the diagonal, which need no mask at all."),
         Choice("8.",
                "Only the blocks on the diagonal hold both allowed and hidden pairs."),
         Choice("None: the loop ends at the diagonal.",
                "This takes the diagonal for an edge between blocks. It goes through the middle of eight of them.")),
        right="c",
        shows="a mask in 8 of 36 blocks",
    ),
    Question(
        "last_queries_first",
        "16 heads of 16 blocks of queries, causal, on 132 processors. In each head the last queries, which have the most to do, "
        "are started first; head follows head. When is the work done, against the best that is possible?",
        (Choice("About at the best: the longest blocks are first.",
                "They are first in their own head. The last head begins with its longest block when others are nearly done."),
         Choice("A few percent later than the best.",
                "This is what the longest first over all heads gives."),
         Choice("1.6 times as late, as with the first queries first.",
                "The last heads start long blocks when no other work is left to run beside them."),
         Choice("Later than with the first queries first.",
                "This takes long blocks in front for a bad thing. They are as good or better; here, where most blocks are "
                "started at once, they change nothing.")),
        right="c",
        shows="last queries first, head by head  1.64 of the best",
    ),
    Question(
        "same_bits",
        "Eight programs add their parts of dQ to one array with atomic additions, in float32. The training step is run twice on "
        "the same inputs. Are the gradients the same?",
        (Choice("Yes, all bits: a sum does not depend on the order of its terms.",
                "So it is on paper. In float32 every addition rounds, and another order rounds in other places."),
         Choice("Nearly: many numbers differ in their last bits.",
                "The order of the additions is not fixed, and each order rounds in its own way."),
         Choice("Only roughly: some additions get lost when two programs write at once.",
                "That would be so with a load and a store. An atomic addition lets nobody in between.")),
        right="b",
        shows="do not always have the same bits",
    ),
)
