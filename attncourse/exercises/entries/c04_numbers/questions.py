"""What readers of *Numerical precision: overflow, log-sum-exp, cross-entropy* predict."""

from ...model import Choice, Question

QUESTIONS = (
    Question(
        "exp_in_half",
        "The largest float16 number is 65,504. From which score s on does exp(s) overflow in"
        " float16?",
        (
            Choice(
                "From 65,504 on.",
                "This confuses the largest number with the largest score. The score is in the"
                " exponent.",
            ),
            Choice("From about 11 on.", "The logarithm of 65,504 is 11.09."),
            Choice(
                "From about 89 on.",
                "This is the limit for float32, log(3.4e38). bfloat16 overflows there too, but"
                " float16 overflows much earlier.",
            ),
            Choice(
                "From about 710 on.", "This is the limit for float64, which NumPy uses by default."
            ),
        ),
        right="b",
        shows="float16  exp(s) is inf above s = 11.09",
    ),
    Question(
        "one_maximum",
        "A float16 matrix of scores has the rows 0, 1 and 20, 21. The matrix's maximum, 21, is"
        " subtracted from all four scores. Then we take exponentials, and divide each row by its"
        " sum. What are the weights of row 0?",
        (
            Choice(
                "0.269 and 0.731, like those of row 1.",
                "That's true on paper, because a shift changes no weight. But in float16, the"
                " exponentials of row 0 underflow.",
            ),
            Choice(
                "nan and nan.", "exp(-21) and exp(-20) are both 0 in float16, and 0 / 0 is nan."
            ),
            Choice(
                "Nearly 0: row 1 has all the weight.",
                "This lets the rows compete for one sum, but each row is divided by its own sum.",
            ),
            Choice(
                "0.5 and 0.5: both are far from the maximum.",
                "The two exponentials are equal, but both are 0. So their sum is 0 as well, and"
                " 0 / 0 is nan.",
            ),
        ),
        right="b",
        shows="maximum of the matrix: [[nan, nan], [",
    ),
    Question(
        "order_of_terms",
        "Two float32 scores are both 10,000, so each has the log-weight -log 2 = -0.693147. What"
        " does a computer get for s - (m + log sum)?",
        (
            Choice(
                "-0.693147.",
                "This is right on paper, and for (s - m) - log sum. Here, however, log 2 is first"
                " added to 10,000, where float32 numbers lie 0.001 apart.",
            ),
            Choice(
                "-0.693359.",
                "The sum 10,000.693147 is rounded to a float32 number, and near 10,000 these lie"
                " about 0.001 apart.",
            ),
            Choice(
                "0.",
                "This would be correct near 100 million, where the logarithm is lost altogether."
                " Near 10,000, three of its digits are left.",
            ),
            Choice(
                "nan: exp(10,000) overflows.",
                "It would, but we take no such exponential here, because the maximum has already"
                " been subtracted.",
            ),
        ),
        right="b",
        shows="s - (m + log sum): -0.693359",
    ),
    Question(
        "dead_row",
        "All scores of a row are -inf. We subtract the maximum, take exponentials, and divide"
        " by their sum. What is the result?",
        (
            Choice(
                "Zeros: exp(-inf) is 0.",
                "This forgets the maximum, which is itself -inf. And even with exponentials of 0,"
                " we would divide by a sum of 0.",
            ),
            Choice(
                "Equal weights.",
                "This is what equal finite scores such as -1e9 give. But -inf minus -inf is not 0.",
            ),
            Choice(
                "nan throughout.",
                "-inf minus -inf is nan, and everything computed from nan is nan again.",
            ),
            Choice(
                "An error.", "At most, NumPy prints a warning, and then it carries on with nan."
            ),
        ),
        right="c",
        shows="by the formula: [nan nan nan]",
    ),
    Question(
        "sum_of_ones",
        "65,520 ones are added in float16, one after the other. The largest float16 number is"
        " 65,504. What is the sum?",
        (
            Choice("65,520.", "This number doesn't exist in float16."),
            Choice(
                "inf.",
                "This considers only the end of the range. The sum stops growing long before it"
                " gets there.",
            ),
            Choice(
                "65,504, the largest number.",
                "A sum doesn't stop at the largest number. If it got that far, it would become"
                " inf.",
            ),
            Choice(
                "2,048.",
                "The next number after 2,048 is 2,050. So 2,049 is rounded, and the result is 2,048"
                " again.",
            ),
        ),
        right="d",
        shows="one after the other: 2048.0",
    ),
    Question(
        "rounded_to_bfloat16",
        "Two scores, 20.06 and 24.065, are rounded to bfloat16, which moves each by at most 0.3 %."
        " The softmax of the rounded scores is exact. How far off is the smaller weight, relative"
        " to its true value?",
        (
            Choice(
                "At most 0.3 %.",
                "This confuses the relative error of a score with that of a weight. The exponential"
                " turns a difference into a factor, and 0.3 % of 20 is 0.06.",
            ),
            Choice(
                "About 10 %.",
                "One score goes down by 0.06, the other up by as much: their difference is off by"
                " 0.12, and exp(-0.12) is 0.89.",
            ),
            Choice(
                "Not at all: a shift changes nothing.",
                "A shift moves all scores by the same number, but rounding moves each score by a"
                " different one.",
            ),
            Choice(
                "By a factor of 2 or more.",
                "This overestimates the exponential. It turns the difference into a factor, and the"
                " difference is off by only 0.12.",
            ),
        ),
        right="b",
        shows="the first weight is off by -11%",
    ),
)
