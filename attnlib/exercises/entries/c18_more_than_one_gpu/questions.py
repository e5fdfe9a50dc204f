"""What readers of *More than one GPU* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "gather_or_ring",
        "8 ranks. In one plan each rank gathers the keys and values of all others and then computes; in the other they go round "
        "a ring. In which plan does a rank receive more bytes?",
        (Choice("The first: everybody gets everything at once.",
                "This takes *at once* for *more*. In the ring everybody gets everything as well, one part after the other."),
         Choice("The ring: each part is sent on again and again.",
                "Each part is sent on 7 times, and reaches 7 ranks. When it is gathered, the same 7 ranks receive it."),
         Choice("Both the same.",
                "A rank must see the 7 parts of the others. What differs is how many it holds at one time.")),
        right="c",
        shows="ring:   receives 448 MiB, holds 128 MiB",
    ),
    Question(
        "hidden_from",
        "A GPU computes with one part while it sends that part on. Each part is made twice as long. What happens to the two times?",
        (Choice("Both double: twice as many keys are sent, and twice as many are read.",
                "This forgets the queries. A rank has twice as many of those, too."),
         Choice("Sending doubles, computing grows fourfold.",
                "Every query of a part meets every key of the other: pairs grow with the square, keys do not."),
         Choice("Sending grows fourfold, computing doubles.",
                "This has the square in the wrong place: what is sent is keys and values, not pairs."),
         Choice("Both grow fourfold.",
                "What is sent is one row for each key and value: twice as many of them.")),
        right="b",
        shows="r =   4,096: compute  8.69, send 4.66",
    ),
    Question(
        "idle_ranks",
        "A causal mask, 8 ranks, each with an eighth of the text in order. Ranks wait for each other at every step. Which share of "
        "the time does a rank compute, on average?",
        (Choice("All of it: every rank gets the same number of keys.",
                "Keys come by, but those of later ranks are hidden: rank 0 may read its own part alone."),
         Choice("About a half.",
                "The last rank has something to do at each step, all others wait for it; on average they have half as much."),
         Choice("An eighth: only the last rank has to compute.",
                "The last rank has most to do, but rank 6 has nearly as much."),
         Choice("All but a little: hidden pairs are skipped, so everybody is done sooner.",
                "This takes what one rank saves for what all save. At each step the slowest rank decides.")),
        right="b",
        shows="contiguous: 0.53 of the time",
    ),
    Question(
        "heads_or_ring",
        "8 ranks, a model with 64 query heads that share 8 key heads. Which sends fewer bytes: a ring of keys and values, or exchanging "
        "positions for heads before and after?",
        (Choice("Exchanging, by far: each number is sent once, and in the ring 7 times.",
                "That is so with as many key heads as query heads. Here the ring sends a few heads often, the exchange many heads "
                "once."),
         Choice("The ring, by a little.",
                "14 against 15.75 in the same unit: eight query heads for each key head make up for the rounds."),
         Choice("Neither: in the end every rank needs the same numbers.",
                "This holds for gathering and the ring. After the exchange a rank needs other numbers: one key head of all "
                "positions.")),
        right="b",
        shows="8 key heads:  ring 14.00, exchange 15.75",
    ),
    Question(
        "backward_bytes",
        "Forward, keys and values go round. Backward, each rank must add its share to the gradients of all keys and values. On 4 "
        "ranks in float32, how many times the forward pass's bytes does the backward pass send?",
        (Choice("None: keys and values were there already.",
                "They came by, and were given on. Nobody has room to keep them; that is why there is a ring."),
         Choice("Once: gradients travel in place of the keys.",
                "The share of a gradient needs the scores, and these need the keys once more."),
         Choice("Twice: keys and values, and as many gradients.",
                "Nearly. But a gradient must also come home: it travels 4 times, and the keys 3 times."),
         Choice("A little more than twice.",
                "3 steps for keys and values, 4 for their gradients, which come home at last: 7 in place of 3.")),
        right="d",
        shows="4 ranks: 24,576 bytes forward, 57,344 backward",
    ),
    Question(
        "running_sum_rounded",
        "32 ranks. The output so far is rounded to bfloat16 after each of 31 merges. How large is the error in the end, beside that of "
        "rounding once?",
        (Choice("As large: each merge is a mean, and means do not add up errors.",
                "A mean makes old errors smaller, and each merge adds a new one."),
         Choice("About 4 times.",
                "The output after t parts has the share t / 32 in the end: early roundings count less. In squares that is half "
                "of the roundings."),
         Choice("About 6 times: the root of the number of roundings.",
                "This takes all roundings for equally important. What is rounded early is a small share of the end."),
         Choice("About 30 times: once for each rounding.",
                "Errors of independent signs do not add up; their squares do.")),
        right="b",
        shows="summed in bfloat16: 4.2 times",
    ),
    Question(
        "one_query",
        "A model writes a text, a word at a time. The cache of 131,072 positions lies on 8 GPUs, 16,384 on each. There is one "
        "query. What should travel?",
        (Choice("The keys and values, round the ring.",
                "This does as with many queries. Here all others wait, and a part of the cache travels for one query."),
         Choice("The query, and the outputs with their log-sum-exps.",
                "Each GPU attends over its own keys, and 8 pairs are merged. Some 16,000 times fewer bytes."),
         Choice("The scores: then one GPU takes the softmax.",
                "It would need the values as well, or send all the weights back."),
         Choice("Nothing: the GPU with the last positions answers.",
                "It would answer from an eighth of the text.")),
        right="b",
        shows="16,257 times as many",
    ),
)
