"""The exercise attention_flops."""

from ...families.counts import UNIT_NAMES, number_cases, units
from ...model import SQUARE, Case, Exercise, Mistake


def attention_flops_answer(do, n_q, n_k, d_k, d_v):
    sizes = do.sizes(n_q, n_k, d_k, d_v)
    first, second = do.first(*sizes), do.second(*sizes)
    return do.unit(do.multiply_add(do.join(first, second)) + do.extra(*sizes))


def _flops_cases():
    # All counts stay below 2**31: in a browser NumPy's integers have 32 bits.
    return number_cases((2, 3, 5, 7), (1, 1, 1, 1), (13, 11, 5, 3), (1, 4096, 128, 64), (31, 17, 64, 61)) + [
        Case(SQUARE, (1024, 1024, 128, 128)), Case(SQUARE, (3, 3, 2, 2))]


EXERCISE = Exercise(
    name="attention_flops", signature="(n_q, n_k, d_k, d_v)", place=1,
    text="The floating-point operations of the two matrix products of attention, a multiply-add "
         "counted as 2.",
    answer=attention_flops_answer,
    steps={
        "sizes": lambda n_q, n_k, d_k, d_v: (n_q, n_k, d_k, d_v),
        "first": lambda n_q, n_k, d_k, d_v: n_q * n_k * d_k,
        "second": lambda n_q, n_k, d_k, d_v: n_q * n_k * d_v,
        "join": lambda first, second: first + second,
        "multiply_add": lambda count: 2 * count,
        "extra": lambda n_q, n_k, d_k, d_v: 0,
        "unit": lambda count: count,
    },
    cases=_flops_cases, dtype="number",
    formula=("Attention has two matrix products, and one of (n, m) and (m, p) takes n * m * p multiply-adds, each of two operations.",
             "Which sizes does each of the two products have?"),
    hints=(
        "How many entries have the scores, and how many multiply-adds does one entry take?",
        "The scores have n_q * n_k entries, each a sum of d_k products. The output has n_q * d_v "
        "entries; of how many products is each the sum?",
        "Q Kᵀ takes n_q * n_k * d_k multiply-adds, A V takes n_q * n_k * d_v. Add the two, and count "
        "each multiply-add as 2.",
    ),
    mistakes=(
        Mistake("multiply-add counted as 1", change={"multiply_add": lambda count: count},
                does="The answer is half the number of operations.",
                why="Peak figures count a multiplication and an addition as two operations; a count in "
                    "multiply-adds makes a kernel look half as fast as it is.",
                ask="How many operations is one step total = total + a * b?"),
        Mistake("multiply-add counted as 4", change={"multiply_add": lambda count: 4 * count},
                does="The answer is twice the number of operations.",
                why="4 n² d holds for both products together if d_k = d_v; each of them alone takes 2 n² d.",
                ask="Where does the second 2 in 4 n² d come from?"),
        Mistake("A V left out", change={"join": lambda first, second: first},
                does="Only the scores are counted.",
                why="Attention has two matrix products; the second takes about as long as the first.",
                ask="What happens to the weights after the softmax?"),
        Mistake("Q Kᵀ left out", change={"join": lambda first, second: second},
                does="Only the product with the values is counted.",
                why="Attention has two matrix products; the scores are the first.",
                ask="Where do the weights come from, before the softmax?"),
        Mistake("products multiplied", change={"join": lambda first, second: first * second},
                does="The two counts are multiplied.",
                why="One product runs after the other: their operations add.",
                ask="How much work are two jobs done one after the other?"),
        *(Mistake(f"{name} for {other}", change=change,
                  does="Both products are counted with the same size of feature.",
                  why="The scores sum over d_k features, the output has d_v of them: they may differ.",
                  ask="Which of the two sizes does each product have?")
          for name, other, change in (
              ("d_k", "d_v", {"sizes": lambda n_q, n_k, d_k, d_v: (n_q, n_k, d_k, d_k)}),
              ("d_v", "d_k", {"sizes": lambda n_q, n_k, d_k, d_v: (n_q, n_k, d_v, d_v)}))),
        *(Mistake(f"{name} for {other}", change=change,
                  does="As many keys are counted as queries, in one product or in both.",
                  why="In decoding one query meets thousands of keys: the scores are not square.",
                  ask="What is the scores' shape?")
          for name, other, change in (
              ("n_q", "n_k", ({"sizes": lambda n_q, n_k, d_k, d_v: (n_q, n_q, d_k, d_v)},
                              {"second": lambda n_q, n_k, d_k, d_v: n_q * n_q * d_v},
                              {"first": lambda n_q, n_k, d_k, d_v: n_q * n_q * d_k})),
              ("n_k", "n_q", ({"sizes": lambda n_q, n_k, d_k, d_v: (n_k, n_k, d_k, d_v)},
                              {"second": lambda n_q, n_k, d_k, d_v: n_k * n_k * d_v},
                              {"first": lambda n_q, n_k, d_k, d_v: n_k * n_k * d_k})))),
        Mistake("d_k times d_v", change={"join": lambda first, second: first, "first": lambda n_q, n_k, d_k, d_v: (
                    n_q * n_k * d_k * d_v)},
                does="The two sizes of feature are multiplied.",
                why="The products run one after the other: n_q * n_k * d_k multiply-adds, and then n_q * n_k * d_v.",
                ask="Does one entry of the scores depend on d_v?"),
        Mistake("multiply-adds of one product counted as 1",
                change=({"join": lambda first, second: first + second / 2}, {"join": lambda first, second: first / 2 + second}),
                does="The factor 2 stands before one product, and not before the other.",
                why="Both products are made of multiply-adds, and each is two operations.",
                ask="Where do brackets belong in 2 * a + b?"),
        Mistake("n_q plus n_k",
                change={"first": lambda n_q, n_k, d_k, d_v: (n_q + n_k) * d_k,
                        "second": lambda n_q, n_k, d_k, d_v: (n_q + n_k) * d_v},
                does="The answer is 2 (n_q + n_k) (d_k + d_v), twice the number of entries of query, key, value and output; "
                     "queries and keys are added.",
                why="Operations are asked for, not numbers or bytes to be moved. Every query meets every key: there are "
                    "n_q * n_k scores.",
                ask="How many scores do 2 queries and 3 keys have?"),
        Mistake("brackets missing around d_k + d_v", change={"second": lambda n_q, n_k, d_k, d_v: d_v / 2},
                does="d_v is added at the end, and multiplied by nothing.",
                why="In Python a * b + c is (a * b) + c: the product binds first.",
                ask="Where do brackets belong?"),
        Mistake("softmax counted", change=tuple(
                    {"extra": lambda n_q, n_k, d_k, d_v, c=c: c * n_q * n_k} for c in range(1, 9)) + (
                    {"extra": lambda n_q, n_k, d_k, d_v: n_q * (3 * n_k - 1)},
                    {"extra": lambda n_q, n_k, d_k, d_v: n_q * (4 * n_k - 1)}),
                does="The answer has a few operations more for each score: scale or softmax.",
                why="The usual count holds the two matrix products alone; the softmax runs on other "
                    "units of the machine.",
                ask="Which operations of attention are matrix products?"),
        Mistake("last addition not counted",
                change={"extra": lambda n_q, n_k, d_k, d_v: -n_q * n_k - n_q * d_v},
                does="Each dot product of length d is counted as 2 d - 1 operations.",
                why="That is exact by hand, but hardware adds to a total that starts at 0: d "
                    "multiply-adds, each counted as 2.",
                ask="How many multiply-adds does a dot product of length d take?"),
        Mistake("Kᵀ V first",
                change={"first": lambda n_q, n_k, d_k, d_v: n_k * d_k * d_v,
                        "second": lambda n_q, n_k, d_k, d_v: n_q * d_k * d_v},
                does="The count is that of Q (Kᵀ V), which never makes the scores.",
                why="The softmax stands between the two products, so they cannot change places.",
                ask="What has to be known before the values can be mixed?"),
        Mistake("sizes of the arrays instead of operations",
                change={"first": lambda n_q, n_k, d_k, d_v: n_q * d_k + n_k * d_k,
                        "second": lambda n_q, n_k, d_k, d_v: n_q * n_k + n_k * d_v},
                does="The numbers that go into the products are counted.",
                why="Each number is used many times: a product of (n, d) and (d, m) takes n * d * m "
                    "multiply-adds.",
                ask="How often is one entry of the query used?"),
        Mistake("backward pass counted",
                change=tuple({"multiply_add": lambda count, f=f: f * count} for f in (5, 6, 7)),
                does="The answer is 2.5 to 3.5 times the forward pass.",
                why="The backward pass has five products and the forward pass two; only these are asked for.",
                ask="Which two products does the forward pass have?"),
        Mistake(UNIT_NAMES, change=units(1e-3, 1e-6, 1e-9, 1e-12),
                does="The answer is a thousand, a million or more times too small.",
                why="Operations are asked for, not billions of them.",
                ask="Where does your function divide by a power of 10?"),
    ),
)
