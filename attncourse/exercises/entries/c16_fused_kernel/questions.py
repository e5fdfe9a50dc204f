"""What readers of *FlashAttention, a fused kernel* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "what_fusing_leaves",
        "Three kernels become one, with 16 queries per program as before. The scores and weights"
        " now stay on the chip. Which part of the traffic disappears?",
        (
            Choice(
                "Next to nothing: each program still reads all keys and values.",
                "This considers only the reading of keys and values, which stays. At 512"
                " positions, the scores and weights were half of all traffic.",
            ),
            Choice(
                "Four arrays of the scores' size.",
                "The scores were written and read, and so were the weights. Nothing else changes.",
            ),
            Choice(
                "Everything except reading Q, K, V once and writing the output once.",
                "This assumes that a program can use what another one has read. But each"
                " program loads its keys and values again.",
            ),
            Choice(
                "Two arrays of the scores' size.",
                "This counts only the scores, or only the writing. The scores and the weights"
                " both went to memory and came back.",
            ),
        ),
        right="b",
        shows="saved: 4,194,304 bytes, 4 squares",
    ),
    Question(
        "which_size_is_read",
        "The keys are read in blocks of 64, and each program has 128 queries. Now the blocks of"
        " keys are made four times smaller, with 16 keys. How many bytes of keys and values are"
        " read?",
        (
            Choice(
                "The same number as before.",
                "Each program still reads every key once. It takes four times as many steps, and"
                " each reads a quarter as much.",
            ),
            Choice(
                "Four times as many.",
                "This counts loads rather than bytes. There are four times as many loads, each a"
                " quarter of the size.",
            ),
            Choice(
                "A quarter.",
                "This confuses the size of one load with the total amount that is read. The"
                " loop goes on until the last key.",
            ),
            Choice(
                "More, by the overlap of the blocks.",
                "This imagines that the blocks overlap. But they lie side by side, and each key"
                " is in exactly one of them.",
            ),
        ),
        right="a",
        shows="128 queries, 16 keys:   589,824 bytes read",
    ),
    Question(
        "which_rung_saves_most",
        "In each block, a thread has 32 scores and 64 numbers of the accumulator. Which change"
        " saves the most instructions?",
        (
            Choice(
                "Dividing once, at the end: a division is the most expensive operation.",
                "A division is expensive, and this change saves more than 32 of them. But for"
                " each score, an exponential to base e takes about four instructions more than a"
                " power of 2.",
            ),
            Choice(
                "Powers of 2 instead of exp.",
                "The hardware has an instruction only for powers of 2. For each score, the"
                " instructions that turn a power of 2 into exp disappear.",
            ),
            Choice(
                "The scale inside the multiply-add.",
                "This saves only one instruction per score: a multiplication that is now done"
                " together with the subtraction.",
            ),
            Choice(
                "None of them: the products take all the instructions.",
                "This confuses operations with instructions. One instruction of the tensor cores"
                " does thousands of multiplications, while the softmax takes at least one"
                " instruction for each score.",
                last=True,
            ),
        ),
        right="b",
        shows="powers_of_2         368 instructions, 136 fewer",
    ),
    Question(
        "blocks_with_a_mask",
        "Causal attention has 8 blocks of queries and 8 blocks of keys, all of the same size,"
        " and reads 36 pairs of blocks. In how many of these pairs must positions be compared?",
        (
            Choice(
                "36: each of them is causal.",
                "The attention as a whole is causal, but if all keys of a block come before the"
                " queries, every pair is allowed.",
            ),
            Choice("28.", "These are the blocks below the diagonal, which need no mask."),
            Choice("8.", "Only the blocks on the diagonal contain both allowed and hidden pairs."),
            Choice(
                "None: the loop ends at the diagonal.",
                "This imagines the diagonal as an edge between blocks. But it runs through the"
                " middle of eight of them.",
            ),
        ),
        right="c",
        shows="a mask in 8 of 36 blocks",
    ),
    Question(
        "last_queries_first",
        "16 heads with 16 blocks of queries each run on 132 processors, under a causal mask. The"
        " heads are started one after another, and in each head, the last queries, which have"
        " the most work, come first. How long does it take, compared with sharing out all work"
        " evenly?",
        (
            Choice(
                "About as long: the longest blocks are first.",
                "They come first only within their own head. The last head starts its longest"
                " block when the other heads are nearly done.",
            ),
            Choice(
                "A few per cent longer.",
                "This is what you get if the longest blocks of all heads come first.",
            ),
            Choice(
                "1.6 times as long, as with the first queries first.",
                "The last heads start long blocks when no other work is left to run beside them.",
            ),
            Choice(
                "Longer than with the first queries first.",
                "Starting with long blocks is at least as good as starting with short ones."
                " Here, where most blocks are started at once, it changes nothing.",
            ),
        ),
        right="c",
        shows="last queries first, head by head  1.64 of the best",
    ),
    Question(
        "same_bits",
        "Eight programs add their parts of dQ to one array with atomic additions, in float32. The"
        " training step is run twice on the same inputs. Are the gradients the same?",
        (
            Choice(
                "Yes, down to the last bit: a sum doesn't depend on the order of its terms.",
                "That's true on paper. In float32, every addition rounds, and a different order"
                " rounds differently.",
            ),
            Choice(
                "Nearly: many numbers differ in their last bits.",
                "The order of the additions isn't fixed, and each order rounds differently.",
            ),
            Choice(
                "Only roughly: some additions get lost when two programs write at once.",
                "That would happen with a separate load and store. But during an atomic"
                " addition, no other program can change the number.",
            ),
        ),
        right="b",
        shows="do not always have the same bits",
    ),
)
