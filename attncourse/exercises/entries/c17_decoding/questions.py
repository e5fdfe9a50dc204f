"""What readers of *Decoding with a KV cache* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "recomputed_pairs",
        "A model writes 1,000 words. For each new word, it computes causal attention for all"
        " words so far again. By what factor does this increase the number of query-key pairs,"
        " compared with visiting each pair only once?",
        (
            Choice(
                "Not at all: the causal mask hides the rest.",
                "The mask hides later keys. It doesn't know that the earlier rows were computed"
                " before.",
            ),
            Choice(
                "By a factor of 2.",
                "A triangle is half of a square. But here whole triangles are computed again, one"
                " for each word.",
            ),
            Choice(
                "By a factor of about 330.",
                "Each step computes a triangle, in which only one row is new. Over n steps,"
                " that makes (n + 2) / 3 times as many pairs.",
            ),
            Choice(
                "By a factor of 1,000.",
                "This assumes that every step takes as long as the final one. But the first"
                " steps are short, and a triangle is half of a square.",
            ),
        ),
        right="c",
        shows="334 times",
    ),
    Question(
        "longer_cache",
        "One query meets a cache of 1,000 keys, and then a cache of 100,000 keys. What happens"
        " to the operations per byte?",
        (
            Choice(
                "There are 100 times as many.",
                "The operations do grow by this factor, but so do the bytes. This would be true"
                " if the number of queries grew with the keys, but there is still only one.",
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
                "There are eight times the operations, and eight caches to read, so the ratio"
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
        'The trained model hesitates between sixteen adjectives after "it is too", which have 4'
        ' to 8 % each, and between two verbs after "the keys to the cabinet", which have about'
        " 50 % each. With p = 0.95, how many words does top-p keep in these two places?",
        (
            Choice(
                "The same number in both places.",
                "That would be top-k, which fixes the number of words. Here p fixes their total"
                " weight.",
            ),
            Choice(
                "Sixteen and two.",
                "It adds up the largest weights until they reach 0.95, and that takes as many words"
                " as the model hesitates between.",
            ),
            Choice(
                "None: no word has a weight of 0.95.",
                "p is a threshold for a sum of weights. A single word reaches it only if the"
                " model is sure.",
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
        " heads per key head. According to the roofline, how long does the step take compared"
        " with a single query?",
        (
            Choice(
                "Four times as long.",
                "There is four times as much arithmetic, but with a single query, the"
                " arithmetic units spend most of their time waiting for the memory.",
            ),
            Choice(
                "Twice as long.",
                "This splits the difference. But only the larger of the two times counts, and"
                " the bytes hardly change.",
            ),
            Choice(
                "Just as long.",
                "The same cache is read once. With 16 operations per byte instead of 4, we are"
                " still far from the ridge at 206.",
            ),
            Choice(
                "A quarter as long.",
                "That's the time per word if all four can be used. The step itself still reads"
                " the whole cache.",
            ),
        ),
        right="c",
        shows="4 queries: 1.00 times as long as one",
    ),
    Question(
        "after_a_rejection",
        "A word that was drawn from the draft d is accepted with probability min(1, t / d)."
        " After a rejection, another word is drawn. What must it be drawn from, so that in the"
        " end words come with the probabilities of the target t?",
        (
            Choice(
                "From the target t itself.",
                "The accepted words already make up a part of t. Drawing from all of t again"
                " would yield too many of the words that the draft proposes too often.",
            ),
            Choice(
                "From the draft d again.",
                "The draft proposes some words too rarely. Drawing from it again can't make up for"
                " that.",
            ),
            Choice(
                "From what is missing: max(t - d, 0), normalised.",
                "The accepted words come with the probabilities min(t, d), and max(t - d, 0) is"
                " exactly what is then missing from t.",
            ),
            Choice(
                "From the target without the rejected word.",
                "This leaves out one word that already comes often enough. But there are other"
                " words like it, and they would come too often.",
            ),
        ),
        right="c",
        shows="what is missing [0.15",
    ),
    Question(
        "group_alone",
        "There are 32 query heads, 8 key heads, one text, and 132 processors, each of which can"
        " use only its share of the bandwidth. With one program per query head, four times as"
        " many bytes are read as with one program per key head. How much faster is the second"
        " plan?",
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
                "It's slower: fewer programs run.",
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
        " parts each instead. What happens to the time, if each processor can use only its share"
        " of the bandwidth?",
        (
            Choice(
                "It falls a little: the parts are shorter.",
                "Each program is shorter by a seventeenth. But now there are 136 of them for"
                " 132 processors.",
            ),
            Choice(
                "It nearly doubles.",
                "128 programs fit at once, but 136 don't: four processors get a second program,"
                " and everybody waits for them.",
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
        "A thousand texts of random lengths lie on pages of 16 positions. On average, how many"
        " places does a text leave empty on its pages?",
        (
            Choice(
                "None: pages are handed out when they are needed.",
                "They are, but only as whole pages. A text of 17 positions has two pages, and 15"
                " empty places.",
            ),
            Choice(
                "About 8.",
                "Of a text's pages, only the last has empty places: on average, about half of that"
                " page is empty.",
            ),
            Choice(
                "About half of its length.",
                "Reserving space for the longest text would leave about that much empty. Here,"
                " all pages except the last one are full.",
            ),
            Choice(
                "About 8 on each of its pages.",
                "A text takes a new page only when its previous one is full.",
            ),
        ),
        right="b",
        shows="pages of    16:     7.5 empty positions per text",
    ),
    Question(
        "eight_bits",
        "The trained model writes its text of 36 words once more, with all keys and values"
        " rounded to 8 bits. A weight is then off by up to 28 % of its value. How many words"
        " differ?",
        (
            Choice(
                "No word differs.",
                "At every position, rounding changes the logits too little to cost the most"
                " likely word its lead.",
            ),
            Choice(
                "All of them after the first few words: the errors add up.",
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
