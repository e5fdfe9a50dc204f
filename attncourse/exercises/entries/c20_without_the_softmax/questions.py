"""What readers of *Without the softmax: linear attention* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "cheaper_order",
        "There are 1,000 positions with 64 features. Compared with Q(KᵀV), how many"
        " multiplications does (QKᵀ)V need?",
        (
            Choice(
                "The same number: it's the same product.",
                "The result is the same. But the product in brackets has a million entries in"
                " one case and 4,096 in the other, and each of these entries has to be computed"
                " and used.",
            ),
            Choice(
                "About 16 times as many.",
                "The counts are 2 n² d and 2 n d², so the ratio is n / d: 1,000 / 64.",
            ),
            Choice(
                "About 244 times as many.",
                "That's the ratio of the numbers of entries, n² / d². But an entry of the table"
                " is a sum over 64 features, whereas an entry of KᵀV is a sum over 1,000"
                " positions.",
            ),
            Choice(
                "About 1,000 times as many.",
                "This takes n² for one order and n for the other, but forgets the features.",
            ),
        ),
        right="b",
        shows="n =   1,000:    15.6 times as many on the left",
    ),
    Question(
        "mask_and_order",
        "A causal mask sets an entry of QKᵀ to 0 if the key comes after the query. Can the"
        " product still be computed without the table?",
        (
            Choice(
                "Yes: Q(KᵀV) gives the same output.",
                "KᵀV contains all positions, so output 0 would depend on the whole text.",
            ),
            Choice(
                "No: the mask has to wait for the table, like the softmax.",
                "It's true that masking and a matrix product can't be swapped. But each output"
                " only needs the products up to its own position, and these can be added up.",
            ),
            Choice(
                "Yes, if each position has its own KᵀV.",
                "Position i needs the sum of the outer products up to i, and the next position"
                " needs one more term. So it's a running sum.",
            ),
        ),
        right="c",
        shows="one for each position: True",
    ),
    Question(
        "state_or_cache",
        "One head has keys and values with 64 features. How many positions does it take for a"
        " cache to hold more numbers than a state?",
        (
            Choice(
                "33.",
                "Each position adds 128 numbers to the cache, and the state has 64 times 64:"
                " they're equal at 32.",
            ),
            Choice(
                "65.",
                "This compares 64 keys with a 64 × 64 state. But the cache also holds the values.",
            ),
            Choice(
                "4,097.",
                "This compares positions with numbers. But each position takes 128 numbers.",
            ),
            Choice(
                "No number is enough: a state has to hold the same information.",
                "It would have to, in order to return everything exactly. But its size is fixed,"
                " so what doesn't fit is lost.",
            ),
        ),
        right="a",
        shows="n =     32: cache     4,096, state 4,096 numbers",
    ),
    Question(
        "longer_query",
        "All queries are multiplied by 16. On average, what happens to the largest of 64 weights?",
        (
            Choice(
                "It grows, both with the softmax and with linear attention.",
                "This takes sharpening for granted. Linear attention's products grow as well, but"
                " so does their sum.",
            ),
            Choice(
                "It stays the same, both with the softmax and with linear attention.",
                "For the softmax, this forgets that differences of scores become ratios of"
                " weights: 16 times the difference means the 16th power of the ratio.",
            ),
            Choice(
                "It grows with the softmax, but hardly changes with linear attention.",
                "A longer query is a lower temperature for the softmax. In linear attention, a"
                " factor of the query's features cancels in the quotient.",
            ),
        ),
        right="c",
        shows="linear  0.03 0.03 0.03 0.03 0.03",
    ),
    Question(
        "chunk_work",
        "Keys and values have 64 features. With chunks of 64 positions, 4,096 positions take 64"
        " steps instead of 4,096. How many multiplications do they need, compared with the"
        " step-by-step form?",
        (
            Choice(
                "The same number: they're only grouped.",
                "The products with the state are the same. But within a chunk, each query is"
                " also multiplied by each key.",
            ),
            Choice(
                "Twice as many.",
                "For each position, the small table takes 2 C d and the state 2 d². With C = d,"
                " these are equal.",
            ),
            Choice(
                "64 times as many.",
                "That factor, n / d, is what the whole table would need. A small table has only"
                " 64 keys per query.",
            ),
        ),
        right="b",
        shows="chunks of   64: steps   64, work  2.0",
    ),
    Question(
        "twice_as_wide",
        "A state with 32 features recalls about nine in ten digits of 32 names. A state with 64"
        " features has four times as many numbers. For how many names does it recall nine in ten"
        " digits?",
        (
            Choice(
                "For about 32: the task hasn't changed.",
                "The dot products of random keys become smaller with more features, and so does"
                " the crosstalk.",
            ),
            Choice(
                "For about 64.",
                "The squared length of the crosstalk is (n - 1) / d, so twice as many features"
                " allow twice as many names.",
            ),
            Choice(
                "For about 128.",
                "This counts the numbers in the state. But the crosstalk has a variance of 1/d"
                " per name rather than 1/d².",
            ),
        ),
        right="b",
        shows=" 64 features, right of  64, 128, 256 names: 0.90",
    ),
    Question(
        "told_twice",
        "The word *cat* occurs twice with the same key, first with the value (3, 0) and then"
        " with the value (0, 4). Without positions, what does softmax attention read under this"
        " key?",
        (
            Choice(
                "(0, 4), the latest value.",
                "Attention adds up weighted values. Nothing in a key or a score says which of"
                " them came later.",
            ),
            Choice(
                "(3, 4), the sum.", "That's what a plain state reads. But softmax weights sum to 1."
            ),
            Choice(
                "(1.5, 2), the mean.",
                "Equal keys have equal scores, so each of the two values gets half of the weight.",
            ),
        ),
        right="c",
        shows="softmax, told twice: [1.5 2. ]",
    ),
    Question(
        "all_names_new",
        "There are 128 different names with random keys of 32 features, and nothing is"
        " overwritten. A plain sum recalls 0.49 of the digits. How many digits does the delta"
        " rule with β = 1 recall?",
        (
            Choice(
                "More: it corrects errors.",
                "It corrects the error only under the newest key. But each correction also"
                " changes what is stored under the older keys.",
            ),
            Choice(
                "The same number: without repeated names, there's nothing to subtract.",
                "There would be nothing to subtract if the keys were orthogonal. But 128 keys"
                " with 32 features can't all be orthogonal to each other.",
            ),
            Choice(
                "Fewer.",
                "Only the newest pair is stored exactly, at the expense of the older ones, and"
                " all names are asked for equally often.",
            ),
        ),
        right="c",
        shows="delta: 0.31 of all names",
    ),
    Question(
        "a_gate_elsewhere",
        "A fixed gate multiplies whatever came r positions ago by αʳ. Which position scheme"
        " makes the exponentials of a softmax fade in the same way?",
        (
            Choice(
                "Sinusoidal positions.",
                "They're added to the words, and their products swing up and down with the"
                " distance.",
            ),
            Choice(
                "Rotary positions.",
                "They rotate queries and keys, so a score swings with the distance, but lengths"
                " don't change.",
            ),
            Choice(
                "ALiBi.",
                "It subtracts m r from the score, so the exponential is multiplied by e to the"
                " power of -m r. With m = -log α, that's αʳ.",
            ),
        ),
        right="c",
        shows="ALiBi:  [0.062 0.063 0.778 0.096]",
    ),
    Question(
        "hybrid_memory",
        "A model has 32 layers with 8 heads of 128 features for keys and values. Every fourth"
        " layer keeps the softmax, and the others have a state. For 131,072 positions, how much"
        " memory do the caches and states take, compared with 32 softmax layers?",
        (
            Choice(
                "About a quarter.",
                "The states are so small that only the caches of the 8 softmax layers matter.",
            ),
            Choice(
                "About a half: the states take memory too.",
                "They do, but a state is only as large as a cache of 64 positions (or of 128,"
                " because its numbers have 32 bits).",
            ),
            Choice(
                "Next to nothing, as with states alone.",
                "Softmax layers keep all positions, however few such layers there are.",
            ),
        ),
        right="a",
        shows=" 8 softmax layers:  4.01 GiB",
    ),
)
