"""What readers of *From NumPy to a GPU kernel* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "which_copies",
        "Let `x` be a float32 tensor. Which of these operations writes all the numbers to new"
        " memory?",
        (
            Choice(
                "`x.mT`.",
                "This assumes that a transpose rearranges the memory. The numbers stay where"
                " they are, and are only read in a different order.",
            ),
            Choice(
                "`x[1:]`.",
                "This assumes that a slice is a new array. But it uses the same memory, and"
                " just begins one row later.",
            ),
            Choice(
                "`x.half()`.",
                "Each number now takes two bytes instead of four, so all of them have to be"
                " written again.",
            ),
            Choice(
                "All three, since each gives a new tensor.",
                "A new tensor doesn't need new memory. Two of these three are views of the old"
                " numbers.",
                last=True,
            ),
        ),
        right="c",
        shows="x.half()           a copy",
    ),
    Question(
        "a_thousand_ones",
        "We add a thousand ones in bfloat16, one after the other. What is the sum?",
        (
            Choice(
                "1000, since bfloat16 has the range of float32.",
                "This considers the range, but not the digits. 1000 is within the range, but"
                " the sum would have to pass through 257, which doesn't exist in bfloat16.",
            ),
            Choice(
                "About 1000, since rounding goes up as often as down.",
                "This treats rounding as noise. But here every step from 256 on is rounded in"
                " the same direction, back to 256.",
            ),
            Choice(
                "256.",
                "In bfloat16, the next number after 256 is 258. So 257 lies halfway, and it's"
                " rounded to 256 every time.",
            ),
            Choice(
                "0, since each 1 is too small to count.",
                "This assumes that the ones get lost from the start. As long as the sum is small,"
                " each of them counts in full.",
            ),
        ),
        right="c",
        shows="1000 ones, added in a loop: 256.0",
    ),
    Question(
        "two_stopwatches",
        "A job takes half a second. We launch one and stop a first clock without waiting. Then"
        " we launch a second job, and stop a second clock when its result is there. How many"
        " jobs does each clock measure?",
        (
            Choice(
                "1 and 1.",
                "This confuses the launch with the work. A launch only puts the work into the"
                " queue.",
            ),
            Choice(
                "0 and 1.",
                "This forgets what the first launch left in the queue. The second job has to wait"
                " for it.",
            ),
            Choice(
                "0 and 2.",
                "The first clock measures only the launch. The second one measures both jobs,"
                " because they run one after the other.",
            ),
            Choice(
                "1 and 2.",
                "The 2 is correct, but the 1 isn't: without waiting, the first clock stops"
                " before any work is done.",
            ),
        ),
        right="c",
        shows="waiting afterwards: 2 job(s)",
    ),
    Question(
        "jobs_and_launches",
        "A job takes 0.1 s, and Python needs 0.3 s to ask for one. We put two events around five"
        " jobs, asked for one by one. By these events, how long does one job take?",
        (
            Choice(
                "0.1 s, since it's the GPU that notes the time.",
                "This assumes that the GPU's clock runs only while the GPU works. It also runs"
                " while the GPU waits for Python.",
            ),
            Choice(
                "0.3 s.",
                "The GPU is done with each job before Python asks for the next one. So the time"
                " between the events is the time that Python takes to ask.",
            ),
            Choice(
                "0.4 s, since the times for asking and for the job add up.",
                "This assumes that Python waits for each job. But it prepares the next request"
                " while the GPU works.",
            ),
            Choice(
                "Something in between, and the more jobs there are, the closer it gets to 0.1 s.",
                "This assumes that there is only one launch. But every job has its own.",
            ),
        ),
        right="b",
        shows="one_by_one: 0.3 s per job",
    ),
    Question(
        "twice_the_operations",
        "A kernel that adds two vectors lies far to the left of the ridge. Now let it do twice"
        " as many operations with the same bytes. According to the roofline, how much longer"
        " does it take?",
        (
            Choice(
                "Twice as long.",
                "This assumes that arithmetic determines the time. Here the arithmetic units wait"
                " for the memory most of the time.",
            ),
            Choice(
                "Somewhat longer, since the arithmetic is added to the traffic.",
                "This adds up the two times. But arithmetic and traffic overlap, so only the"
                " longer of the two counts.",
            ),
            Choice(
                "No longer.",
                "The bytes take as long as before, and the additional arithmetic fits into the"
                " time spent waiting for them.",
            ),
        ),
        right="c",
        shows="2 operations per number: at least 2.50 ms",
    ),
    Question(
        "what_fusing_saves",
        "A fused kernel keeps the scores on the chip, while step by step they go through memory."
        " For long texts, what does fusing reduce?",
        (
            Choice(
                "The operations.",
                "This assumes that there is less arithmetic. But both forms compute the same two"
                " products.",
            ),
            Choice(
                "The bytes moved.",
                "Step by step, an array of the scores' size is written twice and read twice. In a"
                " fused kernel, it never leaves the chip.",
            ),
            Choice(
                "Both.",
                "This assumes that moving less means computing less. But the products are the"
                " same.",
                last=True,
            ),
            Choice(
                "Neither. It only saves launches.",
                "It does save some launches, too. But for long texts, these take next to no"
                " time compared with moving the bytes.",
                last=True,
            ),
        ),
        right="b",
        shows="step by step 34.4 billion operations, 545.3 MB moved",
    ),
    Question(
        "exponentials_or_products",
        "With d = 64, fused attention needs 256 operations of the tensor cores and one"
        " exponential for every score. In one clock cycle, a processor of an H200 does 4,096 such"
        " operations and 16 exponentials. Which takes longer, with n = 8192?",
        (
            Choice(
                "The products, with 256 times as many operations.",
                "This counts operations as if all units did the same number in a clock cycle.",
            ),
            Choice(
                "The exponentials, since each is a long series of operations.",
                "In software it would be. Here it's one instruction, on units that produce 16"
                " results per clock cycle.",
            ),
            Choice(
                "Both take the same time.",
                "256 / 4096 is 1 / 16 of a clock cycle, and so is one exponential at 16 per cycle.",
                last=True,
            ),
            Choice(
                "Neither, since attention waits for the memory.",
                "That's true if attention runs step by step. In a fused kernel with n = 8192,"
                " moving the bytes takes a twentieth of the time that the products take.",
                last=True,
            ),
        ),
        right="c",
        shows="d =  64: memory  0.9, products 17.4, exponentials 17.4 microseconds",
    ),
    Question(
        "softmax_passes",
        "We write the softmax as five operations, and each of them is a separate kernel. How"
        " many times the minimum number of bytes do they move?",
        (
            Choice(
                "Just the minimum, since after the first kernel the numbers are on the chip.",
                "This assumes that numbers stay on the chip between kernels. But a kernel writes"
                " its result to memory, and the next one reads it again.",
            ),
            Choice(
                "Four times.",
                "Three of them read and write everything, and two read everything, which makes 8"
                " passes. The minimum is two.",
            ),
            Choice(
                "Five times.",
                "This counts one pass per operation and takes a single pass as the minimum. But"
                " three of them also write everything, and the minimum is one pass to read and"
                " one to write.",
            ),
            Choice(
                "Eight times.",
                "There are 8 passes, but the minimum isn't one pass. The result has to be written"
                " as well.",
            ),
        ),
        right="b",
        shows="together 4.00 times the minimum",
    ),
    Question(
        "last_program",
        "There are 10 numbers and blocks of 4 places, and programs are counted from 0. Which"
        " places does program 2 handle?",
        (
            Choice(
                "8 and 9.",
                "This cuts the block down to what is left. But its size is fixed, and a mask"
                " says which of its places exist.",
            ),
            Choice(
                "8, 9, 10 and 11.",
                "It begins at 2 * 4 and has four places. The last two don't exist, so they are"
                " masked.",
            ),
            Choice(
                "2, 3, 4 and 5.",
                "This begins at the program's number. But the two programs before it have four"
                " places each.",
            ),
            Choice(
                "8, 9, 0 and 1.",
                "This starts again from the beginning. But addresses simply go on into other data.",
            ),
        ),
        right="b",
        shows="program 2: places [ 8  9 10 11] exist: [ True  True False False]",
    ),
    Question(
        "which_mask",
        "A matrix has 3 rows and 7 columns, and its rows begin 7 numbers apart. A tile contains"
        " the place (0, 7), which doesn't exist. Which mask leaves it out?",
        (
            Choice(
                "address < 21, since there are 21 numbers.",
                "This only checks that the address belongs to the matrix. It does: the address is"
                " 7, where entry (1, 0) lies.",
            ),
            Choice(
                "column < 7.",
                "The place is beyond the end of its row, and only its column can tell us that.",
            ),
            Choice("row < 3.", "Row 0 exists. It's the column that doesn't."),
            Choice(
                "None is needed, since the GPU reports it.",
                "This expects an IndexError. But the address exists, so the number there is read"
                " without any message.",
            ),
        ),
        right="b",
        shows="column < columns:        False",
    ),
    Question(
        "beyond_the_row",
        "A row has 5 scores, and the block has 8 places. What must be in the other three before"
        " the softmax?",
        (
            Choice(
                "0, since it adds nothing.",
                "This confuses a score of 0 with a weight of 0. The exponential of 0 is 1, so"
                " three keys that don't exist would get a share of the weight.",
            ),
            Choice(
                "-inf.", "Its exponential is 0, so it adds nothing to the sum and gets no weight."
            ),
            Choice(
                "Nothing, since the block is cut to 5.",
                "This assumes that a block can have any length. But its size is fixed when the"
                " kernel is compiled, and it's a power of 2.",
            ),
            Choice(
                "Anything, since the store leaves these places out.",
                "This forgets the denominator. Numbers that aren't stored have still been added"
                " to the sum.",
            ),
        ),
        right="b",
        shows="other = -inf: the weights of each row sum to [1. 1. 1. 1.]",
    ),
    Question(
        "larger_tiles",
        "We multiply two 32 x 32 matrices, and now each program makes a tile of 16 x 16 entries"
        " instead of a single entry. How many bytes do all programs read together, compared with"
        " before?",
        (
            Choice(
                "The same, since the product needs each number as often as before.",
                "This counts multiplications. But a number that a program loads once is now"
                " used in 16 of them.",
            ),
            Choice(
                "A sixteenth.",
                "For its 256 entries, a program reads 16 rows and 16 columns. Computed one by"
                " one, these entries would need 256 of each.",
            ),
            Choice(
                "A 256th, since there are 256 times fewer programs.",
                "This forgets that each program now reads 16 times as much.",
            ),
            Choice(
                "Half, since A is read once, and B as often as before.",
                "This considers only one of the two. In a tile, the entries share rows of A as"
                " well as columns of B.",
            ),
        ),
        right="b",
        shows="BLOCK = 16:    4 programs,  16,384 bytes read",
    ),
)
