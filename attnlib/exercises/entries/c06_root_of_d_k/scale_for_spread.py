"""The exercise scale_for_spread."""

import math

from ...model import PLAIN, Case, Exercise, Mistake, Step, alike


def scale_for_spread_answer(do, spread, d_k, std_query, std_key):
    return do.divide(do.target(spread), do.join(do.root(d_k), do.product(std_query, std_key)))


EXERCISE = Exercise(
    name="scale_for_spread", signature="(spread, d_k, std_query, std_key)", place=1, dtype="number",
    text="The number that dot products must be multiplied by so that scores have the standard deviation spread, where the "
         "entries of query and key are independent with mean 0 and standard deviations std_query and std_key.",
    answer=scale_for_spread_answer,
    steps={
        "target": lambda spread: spread,
        "root": Step(lambda d_k: math.sqrt(d_k), "the root"),
        "product": Step(lambda std_query, std_key: std_query * std_key, "the spread of one product"),
        "join": Step(lambda root, product: root * product, "the spread of the dot product"),
        "divide": lambda spread, present: spread / present,
    },
    cases=lambda: [Case(PLAIN, case) for case in (
        (1, 4, 1, 1), (1, 16, 1, 1), (3, 4, 1, 1), (1, 9, 2, 1), (1, 9, 1, 2), (2.5, 25, 3, 5), (0.5, 64, 0.2, 0.7),
        (4, 1, 2, 3), (1.5, 7, 1.1, 0.3), (2, 128, 0.02, 0.05))],
    hints=(
        "What is the standard deviation of the dot product before it is multiplied by anything?",
        "Its variance is d_k * std_query ** 2 * std_key ** 2. The standard deviation is the root of that.",
        "A factor multiplies the standard deviation by itself: factor times the present one must be spread.",
    ),
    mistakes=(
        *alike("A dot product is a sum of d_k products: its variance grows with d_k, its standard deviation with the root of it.",
               "How does the standard deviation of a sum grow with the number of its terms?",
               ("d_k instead of sqrt(d_k)", {"root": lambda d_k: d_k}, "The factor falls with d_k, not with its root."),
               ("d_k ignored", {"root": lambda d_k: 1}, "The factor is the same for every size of a key."),
               ("1/2 instead of a square root", {"root": lambda d_k: d_k / 2},
                "The power binds before the division: d_k ** 1/2 is d_k / 2."),
               ("root of the root", {"root": lambda d_k: d_k ** 0.25}, "The root of d_k is taken twice."),
               ("root on the wrong side", {"root": lambda d_k: 1 / math.sqrt(d_k)},
                "The factor is multiplied by sqrt(d_k): the more features, the larger it is.")),
        *alike("The spread of one product is std_query * std_key: both count, once each.",
               "What becomes of the scores' standard deviation when every entry of the query is twice as large?",
               ("the key's deviation ignored", {"product": lambda std_query, std_key: std_query},
                "Only the query's standard deviation counts."),
               ("the query's deviation ignored", {"product": lambda std_query, std_key: std_key},
                "Only the key's standard deviation counts."),
               ("both deviations ignored", {"product": lambda std_query, std_key: 1},
                "Both standard deviations are left out, as if they were 1."),
               ("standard deviations added", {"product": lambda std_query, std_key: std_query + std_key},
                "The two standard deviations are added up."),
               ("variances added", {"product": lambda std_query, std_key: math.hypot(std_query, std_key)},
                "The variances of the two entries are added up under the root."),
               ("squares of the deviations", {"product": lambda std_query, std_key: (std_query * std_key) ** 2},
                "The variances of the entries stand in the place of their standard deviations."),
               ("root of the deviations", {"product": lambda std_query, std_key: math.sqrt(std_query * std_key)},
                "The standard deviations come under the root together with d_k.")),
        Mistake("variance instead of standard deviation",
                change={"join": lambda root, product: (root * product) ** 2},
                does="The spread is divided by the variance of the dot product.",
                why="A factor multiplies the standard deviation by itself, the variance by its square.",
                ask="What does a factor of 3 do to a variance, and to a standard deviation?"),
        Mistake("variances instead of standard deviations", change={"target": lambda spread: spread ** 2,
                                                                     "join": lambda root, product: (root * product) ** 2},
                does="The variance that is wanted is divided by the variance that is there.",
                why="A factor multiplies the standard deviation by itself, the variance by its square: a root is missing.",
                ask="By how much does a factor of 2 change a variance?"),
        Mistake("target taken for a variance", change={"target": lambda spread: math.sqrt(spread)},
                does="The scores get the variance that should be their standard deviation.",
                why="spread is a standard deviation, in the unit of the scores.",
                ask="What is the standard deviation of scores whose variance is 4?"),
        Mistake("spread ignored", change={"target": lambda spread: 1},
                does="The scores get the standard deviation 1, whatever was asked for.",
                why="The caller says which spread the scores should have.", ask="Where does your function use spread?"),
        Mistake("divisor instead of factor", change={"divide": lambda spread, present: present / spread},
                does="The answer is what dot products have to be divided by.",
                why="The number is multiplied with the dot product, as scale is in attention.",
                ask="Should the number be large or small where d_k is large?"),
        Mistake("multiplied instead of divided", change={"divide": lambda spread, present: spread * present},
                does="The answer is the standard deviation that the dot product would have after a factor of spread.",
                why="The factor must undo the spread that is there.",
                ask="What must the spread of the dot product be multiplied by to become 1?"),
        Mistake("deviations multiplied, not divided",
                change={"join": lambda root, product: root / product},
                does="The larger the entries of query and key, the larger the factor.",
                why="Larger entries make larger dot products, which need a smaller factor.",
                ask="On which side of the fraction line do std_query and std_key belong?"),
    ),
)
