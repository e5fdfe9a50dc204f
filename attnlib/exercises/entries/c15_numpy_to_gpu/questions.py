"""What readers of *From NumPy to a GPU kernel* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "which_copies",
        "Take a tensor `x` of float32. Which of these writes all its numbers anew?",
        (Choice("`x.mT`.",
                "This takes a transposed matrix for another order in memory. The numbers stay where they are, and are "
                "read in another order."),
         Choice("`x[1:]`.",
                "This takes a slice for a new array. It begins a row later in the same memory."),
         Choice("`x.half()`.",
                "Each number takes two bytes instead of four, so none can stay as it is."),
         Choice("All three: each gives a new tensor.",
                "This takes a new tensor for new numbers. Two of the three are views of the old ones.")),
        right="c",
        shows="x.half()           a copy",
    ),
    Question(
        "a_thousand_ones",
        "A thousand ones are added in bfloat16, one after the other. What is the sum?",
        (Choice("1000: bfloat16 reaches as far as float32.",
                "This counts the range and not the digits. 1000 is in range, and on the way there 257 is missing."),
         Choice("About 1000: it is rounded up as often as down.",
                "This takes rounding for noise. Here each step is rounded the same way, back to where it was."),
         Choice("256.",
                "The next number after 256 is 258. 257 lies halfway and is rounded to 256, every time."),
         Choice("0: a 1 is too small to be counted.",
                "This takes the small terms for lost at once. As long as the sum is small, each of them counts in full.")),
        right="c",
        shows="1000 ones, added in a loop: 256.0",
    ),
    Question(
        "two_stopwatches",
        "A job takes half a second. One is launched and timed without waiting. Then a second one is launched and timed "
        "until its result is there. How many jobs does each clock measure?",
        (Choice("1 and 1.",
                "This takes a launch for the work itself. A launch only puts the work into the queue."),
         Choice("0 and 1.",
                "This forgets what the first launch left in the queue. The second job has to wait for it."),
         Choice("0 and 2.",
                "The first clock measures the asking; the second one waits for both jobs, one after the other."),
         Choice("1 and 2.",
                "This adds up rightly and starts wrongly: without waiting, the first clock stops before any work is "
                "done.")),
        right="c",
        shows="waiting afterwards: 2 job(s)",
    ),
    Question(
        "twice_the_operations",
        "A kernel adds two vectors and is far left of the ridge. Now it does twice as many operations with the same bytes. "
        "How much longer does it take, by the roofline?",
        (Choice("Twice as long.",
                "This takes arithmetic for what costs. Here it waits for the memory most of the time."),
         Choice("Somewhat longer: the arithmetic is added to the traffic.",
                "This adds up the two times. Both go on at once, and the larger one counts."),
         Choice("No longer.",
                "The bytes take as long as before, and the additional arithmetic fits into the time that was spent "
                "waiting.")),
        right="c",
        shows="2 operations for each number: at least 2.50 ms",
    ),
    Question(
        "what_fusing_saves",
        "A fused kernel keeps the scores on the chip; step by step they go through memory. What does the fused one have "
        "less of?",
        (Choice("Operations.",
                "This looks for the gain in the arithmetic. Both make the same two products."),
         Choice("Bytes moved.",
                "The scores are written twice and read twice, step by step. Fused, they never leave the chip."),
         Choice("Both.",
                "This takes for granted that whoever moves less also computes less. The products are the same."),
         Choice("Neither: it saves launches.",
                "This looks at how often the GPU is asked. It saves some launches too; for long texts they take next to "
                "no time beside the bytes.")),
        right="b",
        shows="step by step 34.4 billion operations, 545.3 MB moved",
    ),
    Question(
        "softmax_passes",
        "The softmax in five operations, each a kernel of its own: how many times as many bytes are moved as need be?",
        (Choice("As many as need be: the numbers are on the chip after the first.",
                "This takes the chip for a place where things stay. A kernel writes its result to memory, and the next "
                "one reads it again."),
         Choice("Four times.",
                "Three of them read and write everything, two read everything: 8 passes. Two passes need be."),
         Choice("Five times.",
                "This takes one pass for each operation, and one as the least. Three of them also write everything, and "
                "the least is a pass to read and one to write."),
         Choice("Eight times.",
                "There are 8 passes, and this takes one pass as the least. The result has to be written as well.")),
        right="b",
        shows="together 4.00 times the least",
    ),
    Question(
        "beyond_the_row",
        "A row has 5 scores and the block 8 places. What must stand in the other three before the softmax?",
        (Choice("0: that counts for nothing.",
                "This takes a score of 0 for a weight of 0. Its exponential is 1, so three keys that do not exist take a "
                "share."),
         Choice("-inf.",
                "Its exponential is 0: it adds nothing to the sum and gets no weight."),
         Choice("Nothing: the block is cut to 5.",
                "This takes a block for an array of any length. Its size is fixed when the kernel is compiled, and a "
                "power of 2."),
         Choice("Anything: the store leaves these places out.",
                "This forgets the sum. What is not stored has still been added up in the denominator.")),
        right="b",
        shows="other = -inf: the weights of each row sum to [1. 1. 1. 1.]",
    ),
)
