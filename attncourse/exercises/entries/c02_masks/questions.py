"""What readers of *Masks* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "masked_afterwards",
        "Two keys have the scores 0 and 1000, and the second one must not be seen. Its weight is"
        " set to 0 after the softmax, and what is left is divided by its sum. What are the"
        " weights?",
        (
            Choice(
                "1 and 0.",
                "That's right on paper. On a computer, however, the first weight was already 0"
                " before the mask was applied.",
            ),
            Choice(
                "0 and 0.",
                "This forgets the division that makes the weights sum to 1 again: 0 divided by 0 is"
                " not a number.",
            ),
            Choice(
                "nan and nan.",
                "The first weight was about exp(-1000), which a computer stores as 0. So what is"
                " left to divide by is 0 as well.",
            ),
            Choice(
                "0.5 and 0.5.",
                "This assumes that the weights become equal if nothing is left. But a computer"
                " divides 0 by 0.",
            ),
        ),
        right="c",
        shows="masked afterwards: [nan nan]",
    ),
    Question(
        "what_old_sees",
        "In *Ada's old cat sleeps*, which words does *old* see under the causal mask?",
        (
            Choice(
                "Ada's.",
                "This takes *before* to exclude the word itself. The first word would then see"
                " nothing at all.",
            ),
            Choice(
                "Ada's and old.",
                "Query i may attend to keys 0 to i, and *old* is word 1, counted from 0.",
            ),
            Choice(
                "cat and sleeps.",
                "This looks forward instead of back, or takes True to mean *hidden*. In this book"
                " True means *may attend*.",
            ),
            Choice(
                "All four words, the later ones with less weight.",
                "This mistakes the mask for a preference. A masked key has no weight at all.",
            ),
        ),
        right="b",
        shows="old sees: Ada's old\n",
    ),
    Question(
        "one_query_causal",
        "A model that generates text calls attention with one query, which comes from its sixth"
        " word, with six keys, and with is_causal=True. How many keys does the query see?",
        (
            Choice(
                "All six: it is the last word.",
                "This assumes that the function knows where the query stands. It counts queries"
                " from 0, and this one is query 0.",
            ),
            Choice(
                "One, the first.",
                "The mask is aligned at the top left, so query 0 is at the position of key 0 and"
                " sees nothing later.",
            ),
            Choice(
                "None: the shapes don't fit.",
                "This assumes that a causal mask must be square. It may have any number of rows and"
                " columns.",
            ),
            Choice(
                "Five: all except its own.",
                "This takes *before* to exclude the word itself, and assumes that the query stands"
                " at the end.",
            ),
        ),
        right="b",
        shows="the last query alone: [-0.233 -0.256  0.962 -1.181]",
    ),
    Question(
        "minus_a_billion",
        "A query may see none of its four keys. All four scores are replaced by -1e9, and then"
        " comes a softmax that subtracts the largest score first. What are the weights?",
        (
            Choice(
                "All 0: exp(-1e9) is 0.",
                "This forgets what is subtracted first: the largest score, which is -1e9 itself.",
            ),
            Choice(
                "A quarter each.",
                "Four equal scores, however low, get equal weights: the query attends to"
                " everything that it must not see.",
            ),
            Choice(
                "nan: no key is left.",
                "That's what -inf gives. With -1e9, each exponent is -1e9 minus -1e9, which is 0.",
            ),
            Choice(
                "The same as before: every score got the same number.",
                "This confuses *replaced* with *added*. The old scores are gone.",
            ),
        ),
        right="b",
        shows="-1000000000.0: shifted [0. 0. 0. 0.], weights [0.25 0.25 0.25 0.25]",
    ),
    Question(
        "looks_causal",
        "After the softmax, weights are multiplied by a causal mask of 0 and 1, and not divided"
        " again. All weights of later words are 0. Does a later word change an earlier output?",
        (
            Choice(
                "No: its weight is 0.",
                "This assumes that a word acts only through its weight. But each weight has been"
                " divided by a sum that includes the hidden exponentials.",
            ),
            Choice(
                "Yes, through the sum that every weight is divided by.",
                "A later word with a high score makes the sum larger, and all weights of the row"
                " smaller.",
            ),
            Choice(
                "Only if it has a large value.",
                "This looks for the leak in the values. They are multiplied by 0; it's the scores"
                " that get through.",
            ),
        ),
        right="b",
        shows="after: largest influence of a later word 0.1",
    ),
)
