"""What readers of *Decoding with a KV cache* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "recomputed_pairs",
        "A model writes 1,000 words. For each new word, it computes the causal attention of all"
        " words so far again. It needs to visit some pairs of a query and a key, but visits more."
        " How many times as many?",
        (
            Choice(
                "Just as many: the causal mask hides the rest.",
                "The mask hides later keys. It doesn't know that the earlier rows were computed"
                " before.",
            ),
            Choice(
                "Twice as many.",
                "A triangle is half of a square. But here whole triangles are computed again, one"
                " for each word.",
            ),
            Choice(
                "About 330 times as many.",
                "Each step computes a triangle, of which only one row is new. Over n steps that"
                " is (n + 2) / 3 times as much.",
            ),
            Choice(
                "1,000 times as many.",
                "This assumes that every step is as long as the last one. The first steps are"
                " short, and a triangle is half of a square.",
            ),
        ),
        right="c",
        shows="334 times",
    ),
    Question(
        "longer_cache",
        "One query meets a cache of 1,000 keys, then one of 100,000. What happens to the"
        " operations per byte?",
        (
            Choice(
                "There are 100 times as many.",
                "The operations grow like that, but so do the bytes. This would hold if the"
                " queries grew with the keys, but there is still only one.",
            ),
            Choice(
                "They stay the same.",
                "Each number of the cache is used for one multiply-add, whether the cache is"
                " short or long.",
            ),
            Choice(
                "There are fewer: more has to be moved.",
                "More has to be moved, but every byte brings its share of operations with it.",
            ),
        ),
        right="b",
        shows="100,000 keys: one query 1.00",
    ),
    Question(
        "batch_and_cache",
        "A server decodes eight texts of equal length at once instead of one. They have no common"
        " beginning. What happens to the operations per byte, in the attention of this step?",
        (
            Choice(
                "There are eight times as many: everything is read once for all eight.",
                "This holds for the parameters, which all texts share. But each text has its own"
                " keys and values.",
            ),
            Choice(
                "They stay the same.",
                "There are eight times the operations, and eight caches to read, so the quotient"
                " doesn't change.",
            ),
            Choice(
                "There are an eighth as many: eight caches have to be read.",
                "Eight caches are read, but eight queries are answered with them.",
            ),
        ),
        right="b",
        shows="8 texts:  3.07 GB per word, 35% caches; 4 operations per byte",
    ),
    Question(
        "kept_words",
        'The trained model hesitates between sixteen adjectives after "it is too", which have 4 to'
        " 8 % each, and between two verbs after \"the keys to the cabinet\", which have about 50 %"
        " each. How many words does top-p keep in these two places, with p = 0.95?",
        (
            Choice(
                "The same number in both places.",
                "That is top-k, which fixes a number of words. Here p fixes the weight that they"
                " have together.",
            ),
            Choice(
                "Sixteen and two.",
                "It adds up the largest weights until they reach 0.95, and that takes as many words"
                " as the model hesitates between.",
            ),
            Choice(
                "None: no word has a weight of 0.95.",
                "p is a bound for a sum of weights. A single word reaches it only where the model"
                " is sure.",
            ),
            Choice(
                "One and one: the most likely word.",
                "This would be greedy decoding. Top-p keeps further words until the sum reaches p.",
            ),
        ),
        right="b",
        shows="it is too ...   16 kept",
    ),
    Question(
        "four_queries",
        "Four queries at the end of one text meet its cache at once, on an H200, with four query"
        " heads per key head. By the roofline, how long does the step take compared with a single"
        " query?",
        (
            Choice(
                "Four times as long.",
                "Four times the arithmetic is done, but it was waiting for the memory most of the"
                " time.",
            ),
            Choice(
                "Twice as long.",
                "This splits the difference. But the larger of the two times counts, and the"
                " bytes hardly change.",
            ),
            Choice(
                "Just as long.",
                "The same cache is read once. With 16 operations per byte instead of 4, we are"
                " still far from the ridge at 206.",
            ),
            Choice(
                "A quarter as long.",
                "That is the time per word, if all four can be used. The step itself reads the"
                " whole cache.",
            ),
        ),
        right="c",
        shows="4 queries: 1.00 times as long as one",
    ),
    Question(
        "after_a_rejection",
        "A word that was drawn from the draft d is accepted with the probability min(1, t / d)."
        " After a rejection, another word is drawn. In the end, words should have the probabilities"
        " of the target t. From which distribution must the other word be drawn?",
        (
            Choice(
                "From the target t itself.",
                "Accepted words make up a part of t already. Drawing from all of t again gives too"
                " many of the words that the draft proposes too often.",
            ),
            Choice(
                "From the draft d again.",
                "The draft proposes some words too rarely. Drawing from it again can't make up for"
                " that.",
            ),
            Choice(
                "From what is missing: max(t - d, 0), normalised.",
                "min(t, d) is accepted, and max(t - d, 0) is exactly what is then missing from t.",
            ),
            Choice(
                "From the target without the rejected word.",
                "This leaves out one word that comes often enough already. But then the other words"
                " of that kind come too often.",
            ),
        ),
        right="c",
        shows="what is missing [0.15",
    ),
    Question(
        "group_alone",
        "There are 32 query heads, 8 key heads, one text, and 132 processors, each of which uses"
        " at most its share of the bandwidth. One program per query head reads four times as many"
        " bytes as one program per key head. How much faster is the second plan?",
        (
            Choice(
                "Four times: a quarter of the bytes.",
                "This assumes that the memory is the limit. With 8 or 32 programs, most of the"
                " bandwidth is idle.",
            ),
            Choice(
                "Not at all.",
                "In both plans, a program reads one whole key head by itself, and all programs"
                " run at the same time.",
            ),
            Choice(
                "It is slower: fewer programs run.",
                "Fewer programs run, but each has as much to read as before, so none of them"
                " finishes later.",
            ),
        ),
        right="b",
        shows="8 programs, each reads 1 key head: 16.5 times the least",
    ),
    Question(
        "seventeen_parts",
        "On 132 processors, the keys of 8 heads are split into 16 parts each, and then into 17"
        " instead. What happens to the time, if a processor uses at most its share of the"
        " bandwidth?",
        (
            Choice(
                "It falls a little: the parts are shorter.",
                "Each program is shorter by about a sixteenth. But now there are 136 of them for"
                " 132 processors.",
            ),
            Choice(
                "It nearly doubles.",
                "128 programs fit at once, but 136 don't: four processors get a second one, and"
                " all wait for them.",
            ),
            Choice(
                "It stays the same: the same bytes are read.",
                "The same bytes are read, but by processors that aren't equally busy.",
            ),
        ),
        right="b",
        shows="17 parts: 136 programs,  1.94 times the least",
    ),
    Question(
        "page_waste",
        "A thousand texts of random lengths lie on pages of 16 positions. How many places does a"
        " text leave empty on its pages, on average?",
        (
            Choice(
                "None: pages are handed out when they are needed.",
                "They are, but only as a whole. A text of 17 positions has two pages, and 15"
                " empty places.",
            ),
            Choice(
                "About 8.",
                "Only the final page of a text has empty places, about half of it on average.",
            ),
            Choice(
                "About half of its length.",
                "Reserving for the longest text leaves that much empty. Here, all pages except"
                " the last one are full.",
            ),
            Choice(
                "About 8 on each of its pages.",
                "A text takes the next page only when the one before is full.",
            ),
        ),
        right="b",
        shows="pages of    16:     7.5 empty positions per text",
    ),
    Question(
        "eight_bits",
        "The trained model writes its text of 36 words once more, with all keys and values rounded"
        " to 8 bits. A weight is off by up to 28 % of itself. How many words differ?",
        (
            Choice(
                "No word differs.",
                "At every place, the rounding moves the logits too little to overturn the lead of"
                " the most likely word.",
            ),
            Choice(
                "All from the first few words on: the errors add up.",
                "A key is rounded once, when it is stored. As long as the words stay the same, the"
                " errors of later keys don't grow.",
            ),
            Choice(
                "About a quarter of them.",
                "A weight that is off by 28 % moves the output a little, and the most likely"
                " word usually leads by more than that.",
            ),
        ),
        right="a",
        shows="words that differ: 0",
    ),
)
