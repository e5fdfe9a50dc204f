"""What readers of *Numbers that do not overflow* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "exp_in_half",
        "float16 ends at 65,504. From which score s on is exp(s) too large for it?",
        (Choice("From 65,504 on.",
                "This takes the end of the numbers for the end of the scores. The score stands in the exponent."),
         Choice("From about 11 on.",
                "The logarithm of 65,504 is 11.09."),
         Choice("From about 89 on.",
                "This is the end of float32, log(3.4e38). bfloat16 ends there too; float16 does not."),
         Choice("From about 710 on.",
                "This is the end of float64, which NumPy takes where nothing else is said.")),
        right="b",
        shows="float16  exp(s) is inf above s = 11.09",
    ),
    Question(
        "one_maximum",
        "A float16 matrix of scores has the rows 0, 1 and 20, 21. From all four scores the matrix's maximum, 21, is "
        "subtracted; then come the exponentials, and each row is divided by its sum. What are the weights of row 0?",
        (Choice("0.269 and 0.731, like those of row 1.",
                "That is so on paper: a shift changes no weight. It takes a machine's exponentials for those of paper."),
         Choice("nan and nan.",
                "exp(-21) and exp(-20) are both 0 in float16, and 0 / 0 is no number."),
         Choice("Nearly 0: row 1 has all the weight.",
                "This lets the rows compete for one sum. Each row is divided by its own."),
         Choice("0.5 and 0.5: both are far from the maximum.",
                "This takes two exponentials that are 0 for equal shares. Their sum is 0 as well, and 0 / 0 is no number.")),
        right="b",
        shows="maximum of the matrix: [[nan, nan], [",
    ),
    Question(
        "order_of_terms",
        "Two scores are 10,000 each, in float32, and each has the log-weight -0.693147, minus log 2. What does a machine "
        "say for s - (m + log sum)?",
        (Choice("-0.693147.",
                "This is right on paper, and for (s - m) - log sum. Here log 2 is added to 10,000 first, where the "
                "numbers lie 0.001 apart."),
         Choice("-0.693359.",
                "The sum 10,000.693147 is rounded to a number of float32 there, and they lie about 0.001 apart."),
         Choice("0.",
                "This takes the logarithm for lost altogether, as it would be beside 100 million. Near 10,000 three of "
                "its digits are left."),
         Choice("nan: exp(10,000) overflows.",
                "It would, but no such exponential is taken here: the maximum has been subtracted before.")),
        right="b",
        shows="s - (m + log sum): -0.693359",
    ),
    Question(
        "dead_row",
        "All scores of a row are -inf. The maximum is subtracted, then come exponentials, sum and quotient. What comes out?",
        (Choice("Zeros: exp(-inf) is 0.",
                "This forgets the maximum, which is -inf itself, and that a sum of 0 would be divided by."),
         Choice("Equal weights.",
                "This is what equal finite scores give, such as -1e9. But -inf minus -inf is not 0."),
         Choice("nan throughout.",
                "-inf minus -inf has no value, and what is made from no number is none."),
         Choice("An error.",
                "This trusts NumPy to stop. It warns at most, and goes on with nan.")),
        right="c",
        shows="by the formula: [nan nan nan]",
    ),
    Question(
        "sum_of_ones",
        "65,520 ones are added in float16, one after the other. float16 ends at 65,504. What is the sum?",
        (Choice("65,520.",
                "This number does not exist in float16."),
         Choice("inf.",
                "This looks at the end of the numbers only. The sum stops growing long before it gets there."),
         Choice("65,504, the largest number.",
                "This takes for granted that a sum stops at the end. It would become inf there, if it came so far."),
         Choice("2,048.",
                "The next number after 2,048 is 2,050. So 2,049 is rounded, to 2,048 again.")),
        right="d",
        shows="one after the other: 2048.0",
    ),
    Question(
        "rounded_to_bfloat16",
        "Two scores, 20.06 and 24.065, are rounded to bfloat16, which moves each by 0.3 % at most. The softmax of the "
        "rounded scores is exact. How much is the smaller weight off, relative to itself?",
        (Choice("By 0.3 % at most.",
                "This takes the relative error of a score for that of a weight. The exponential makes a factor of a "
                "difference, and 0.3 % of 20 is 0.06."),
         Choice("By about 10 %.",
                "One score goes down by 0.06, the other up by as much: their difference is off by 0.12, and exp(-0.12) "
                "is 0.89."),
         Choice("Not at all: a shift changes nothing.",
                "A shift moves all scores by the same number. Rounding moves each by its own."),
         Choice("By a factor of 2 or more.",
                "This takes the exponential for worse than it is. It makes a factor of the difference, and that is off by 0.12.")),
        right="b",
        shows="the first weight is off by -11%",
    ),
)
