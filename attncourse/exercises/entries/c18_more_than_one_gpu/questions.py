"""What readers of *Ring attention on several GPUs* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "gather_or_ring",
        "There are 8 ranks. In one plan, each rank gathers the keys and values of all others and"
        " then computes; in the other, the keys and values go round a ring. In which plan does a"
        " rank receive more bytes?",
        (
            Choice(
                "In the first plan: every rank gets everything at once.",
                "This confuses *at once* with *more*. In the ring, every rank gets everything as"
                " well, one part after another.",
            ),
            Choice(
                "In the ring: each part is sent on again and again.",
                "Each part is sent on 7 times and reaches 7 ranks. If the parts are gathered,"
                " the same 7 ranks receive it.",
            ),
            Choice(
                "In neither: it receives the same amount in both.",
                "Either way, a rank receives the 7 parts of the others. What differs is how many"
                " parts it holds at a time.",
            ),
        ),
        right="c",
        shows="ring:   receives 448 MiB, holds 128 MiB",
    ),
    Question(
        "hidden_from",
        "A GPU computes with one part while it sends that part on. Now we make each part twice as"
        " long. What happens to the two times?",
        (
            Choice(
                "Both double: twice as many keys are sent, and twice as many are read.",
                "This forgets the queries: a rank has twice as many of them as well.",
            ),
            Choice(
                "Sending doubles, computing grows fourfold.",
                "Every query of one part is paired with every key of the other, so the number"
                " of pairs grows with the square of the length, but the number of keys doesn't.",
            ),
            Choice(
                "Sending grows fourfold, computing doubles.",
                "This puts the square in the wrong place: a rank sends keys and values rather"
                " than pairs.",
            ),
            Choice(
                "Both grow fourfold.",
                "A rank sends one row for each key and each value, and there are only twice as"
                " many of them.",
            ),
        ),
        right="b",
        shows="r =   4,096: compute  8.69, send 4.66",
    ),
    Question(
        "idle_ranks",
        "There is a causal mask, and each of 8 ranks has an eighth of the text, in order. Ranks"
        " wait for each other at every step. For what share of the time does a rank compute, on"
        " average?",
        (
            Choice(
                "All of it: every rank gets the same number of keys.",
                "The keys of all ranks come by, but the keys of later ranks are hidden: rank 0 may"
                " read only its own part.",
            ),
            Choice(
                "About half.",
                "The last rank has work to do at every step, and all the others wait for it. On"
                " average, a rank has about half as much to do.",
            ),
            Choice(
                "An eighth: only the last rank has to compute.",
                "The last rank has the most to do, but rank 6 has nearly as much.",
            ),
            Choice(
                "Nearly all of it: hidden pairs are skipped, so every rank finishes sooner.",
                "If one rank saves time, the others don't. At each step, all of them wait for"
                " the slowest rank.",
            ),
        ),
        right="b",
        shows="contiguous: 0.53 of the time",
    ),
    Question(
        "heads_or_ring",
        "A model with 64 query heads that share 8 key heads runs on 8 ranks. Which sends fewer"
        " bytes: passing keys and values round a ring, or exchanging positions for heads before"
        " attention and back again afterwards?",
        (
            Choice(
                "The exchange, by far: each number is sent once instead of 7 times.",
                "That would be true if there were as many key heads as query heads. But here the"
                " ring sends a few heads often, and the exchange sends many heads once.",
            ),
            Choice(
                "The ring, by a little.",
                "It's 14 against 15.75 in the same unit: because eight query heads share each"
                " key head, the ring's seven steps cost a little less.",
            ),
            Choice(
                "Neither: in the end, every rank needs the same numbers.",
                "That's true of gathering and the ring. But in the exchange, each rank needs"
                " different numbers: one key head at all positions.",
            ),
        ),
        right="b",
        shows="8 key heads:  ring 14.00, exchange 15.75",
    ),
    Question(
        "backward_bytes",
        "In the forward pass, keys and values go round the ring. In the backward pass, each rank"
        " must add its share to the gradients of all keys and values. On 4 ranks in float32, how"
        " many bytes does the backward pass send, compared with the forward pass?",
        (
            Choice(
                "None: the keys and values were there already.",
                "They came by, but they were passed on. No rank has room to keep them, which is"
                " why there is a ring.",
            ),
            Choice(
                "The same number: gradients travel instead of the keys and values.",
                "To compute its share of a gradient, a rank needs the scores, and for the scores"
                " it needs the keys again.",
            ),
            Choice(
                "Twice as many: keys and values, and just as many gradients.",
                "Nearly. But the gradients must also return to their owners, so they are sent 4"
                " times, whereas the keys are sent 3 times.",
            ),
            Choice(
                "A little more than twice as many.",
                "It takes 3 steps for keys and values, and 4 for their gradients, which return"
                " to their owners at the end. That makes 7 steps instead of 3.",
            ),
        ),
        right="d",
        shows="4 ranks: 24,576 bytes forward, 57,344 backward",
    ),
    Question(
        "running_sum_rounded",
        "There are 32 ranks, and values of mean 0. The output so far is rounded to bfloat16 after"
        " each of 31 merges. How large is the final error, compared with rounding once?",
        (
            Choice(
                "The same: each merge is a mean, and means don't add up errors.",
                "A mean makes old errors smaller, but each merge adds a new one.",
            ),
            Choice(
                "About 4 times.",
                "The output after t parts has a share of t / 32 in the final result, so early"
                " roundings count less. The squares of the errors add up to about 31 / 2 times"
                " the square of a single error, and the square root of 31 / 2 is about 4.",
            ),
            Choice(
                "About 6 times: the square root of the number of roundings.",
                "This counts all roundings equally. But an early rounding has only a small share"
                " in the final result.",
            ),
            Choice(
                "About 30 times: once for each rounding.",
                "Errors with independent signs don't simply add up. It's their squares that do.",
            ),
        ),
        right="b",
        shows="summed in bfloat16: 4.2 times",
    ),
    Question(
        "one_query",
        "A model writes a text, one word at a time. The cache of 131,072 positions lies on 8"
        " GPUs, with 16,384 positions on each. There is one query. What should travel?",
        (
            Choice(
                "The keys and values, round the ring.",
                "That's the plan for many queries. Here, a part of the cache would travel for a"
                " single query, while all other ranks wait.",
            ),
            Choice(
                "The query, and the outputs with their log-sum-exps.",
                "Each GPU attends to its own keys, and the 8 pairs of output and log-sum-exp"
                " are merged. Sending the keys and values instead would take about 16,000 times"
                " as many bytes.",
            ),
            Choice(
                "The scores, so that one GPU can take the softmax.",
                "That GPU would need the values as well, or would have to send all the weights"
                " back.",
            ),
            Choice(
                "Nothing: the GPU with the last positions answers.",
                "Its answer would be based on only an eighth of the text.",
            ),
        ),
        right="b",
        shows="16,257 times as many",
    ),
)
