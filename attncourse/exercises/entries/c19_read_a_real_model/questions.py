"""What readers of *Read a real model* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "longer_stream",
        "The vector of one position becomes ten times as long, in the same direction. How does"
        " its RMSNorm change?",
        (
            Choice(
                "It becomes ten times as long as well.",
                "This treats RMSNorm as a linear map. But it divides by a number that grows with"
                " the vector.",
            ),
            Choice(
                "It stays the same, up to eps.",
                "The root mean square becomes ten times as large too, so the quotient stays the"
                " same.",
            ),
            Choice(
                "It becomes a tenth as long.",
                "This divides by the mean square, but forgets the square root.",
            ),
        ),
        right="b",
        shows="ten times as long: largest change 0.0000",
    ),
    Question(
        "layer_of_the_answer",
        "Counting the four layers from 0, after which layer does the right word first become the"
        " most likely one?",
        (
            Choice(
                "After layer 0: the words are known from the start.",
                "The words are known, but it isn't known which of the two nouns is meant. That"
                " depends on the adjective.",
            ),
            Choice(
                "After layer 2.",
                "Before that layer, the last position hasn't read either noun with the right"
                " weight.",
            ),
            Choice(
                "After layer 3: only the last layer is trained to answer.",
                "All layers are trained together, and each adds to the same stream. A layer that"
                " has nothing left to do can leave the answer as it is.",
            ),
        ),
        right="b",
        shows="after layer 2: trophy",
    ),
    Question(
        "normalised_limit",
        "Queries and keys with 128 features are normalised by RMSNorm, with gains of 1. How"
        " large can a score get after it's divided by the root of 128?",
        (
            Choice(
                "1, because normalised vectors have length 1.",
                "RMSNorm makes the square root of the *mean* square equal to 1. So the length"
                " is the square root of 128, and the largest dot product is 128.",
            ),
            Choice(
                "About 11.3, the root of 128.",
                "Both lengths are the square root of 128, so the dot product is at most 128."
                " Divided by the square root of 128, that's the square root of 128 again.",
            ),
            Choice(
                "There is no limit: the dot product depends on the data.",
                "The direction depends on the data, but the length doesn't, and a dot product is"
                " at most the product of the lengths.",
            ),
        ),
        right="b",
        shows="largest possible score: 11.31",
    ),
    Question(
        "cap_or_cut",
        "The scores of the trained model are limited to ±10, once with a soft cap and once by"
        " cutting them off. With which of the two does the model give more right answers?",
        (
            Choice(
                "With cutting off: scores within the limits stay exactly as they are.",
                "They do. But all scores beyond 10 become equal, so their keys share the weight"
                " equally.",
            ),
            Choice(
                "With the soft cap.",
                "It changes every score, but the larger of two scores stays larger, and in this"
                " model large scores decide.",
            ),
            Choice(
                "Neither makes a difference, because both limits are the same.",
                "The limits are the same, but what happens within them isn't.",
            ),
        ),
        right="b",
        shows="soft cap 10: 0.79",
    ),
    Question(
        "windows_in_which_layers",
        "Half of the layers get a window of 8 positions: either layers 0 and 2, or layers 1 and 3."
        " Nothing is trained again. Does it matter which half?",
        (
            Choice(
                "No: in both cases, two layers see everything and pass on what they saw.",
                "Passing things on has to be learned in training. This model has put what these"
                " questions need from far away into one layer, layer 2.",
            ),
            Choice(
                "Yes: with windows in layers 1 and 3 it stays right, and with the others it fails.",
                "The heads that these answers need for long distances are in layer 2, and it"
                " keeps its full view here.",
            ),
            Choice(
                "Yes: with windows in layers 0 and 2 it stays right, and with the others it fails.",
                "It would be natural for early layers to look at neighbours. Here, they don't.",
            ),
        ),
        right="b",
        shows="windows in (1, 3)       : 1.00",
    ),
    Question(
        "sink_at_the_lse",
        "The sink of a head equals the log-sum-exp of one row of scores. What do this row's"
        " weights sum to?",
        (
            Choice(
                "1, as in every softmax.",
                "The sink is part of the denominator, but no key gets its share.",
            ),
            Choice(
                "1/2.",
                "The exponential of the sink equals the sum of the exponentials of the scores,"
                " so the keys get half of the total.",
            ),
            Choice(
                "It depends on how many keys there are.", "The log-sum-exp already counts all keys."
            ),
        ),
        right="b",
        shows="sum with the sink at the log-sum-exp: 0.500",
    ),
    Question(
        "latent_cache",
        "DeepSeek-V3 has 128 heads, whose keys and values have 128 features each (without the"
        " rotated part). Instead of these, it caches 576 numbers for each position and layer."
        " How many times smaller is that?",
        (
            Choice(
                "About 4 times.",
                "This compares 576 with about 2,048 numbers, which would be enough for eight key"
                " heads. But this model has 128.",
            ),
            Choice(
                "About 57 times.",
                "Keys and values of all heads are 2 · 128 · 128 = 32,768 numbers, and 32,768 / 576"
                " is 56.9.",
            ),
            Choice(
                "About 114 times.",
                "This counts keys and values twice, which gives 65,536 numbers. But 2 · 128 ·"
                " 128 already contains both.",
            ),
        ),
        right="b",
        shows="times smaller: 56.9",
    ),
    Question(
        "head_of_shared_layers",
        "All twelve layers of the model have the same weight matrices. Head 5 of layer 10 finds 111"
        " of 113 atoms. How many does head 5 of layer 3 find?",
        (
            Choice(
                "Exactly as many, 111: the same matrices give the same map.",
                "The matrices are the same, but the stream that they read isn't.",
            ),
            Choice(
                "Nearly as many: 109.", "What head 5 looks for is in the stream from layer 1 on."
            ),
            Choice(
                "About 24, as by chance: the map is made in layer 10.",
                "The map needn't wait for layer 10: every layer has the same matrices.",
            ),
        ),
        right="b",
        shows="head 5 of layer 3: 109 atoms",
    ),
)
