import math

import numpy as np

from ...model import PLAIN, Case
from ...pages import written


def least_loss(tokens, n_letters, n_digits):
    places = range(0, len(tokens), 2)
    known = [tokens[i] in tokens[:i:2] for i in places]
    of_letter = math.log(n_letters)
    of_new = math.log(n_digits)
    of_known = 0.0
    letters = [of_letter for is_known in known[1:]]
    digits = [of_known if is_known else of_new for is_known in known]
    total = sum(letters) + sum(digits)  #: the sum of the losses
    mean = total / (len(tokens) - 1)
    return mean


def halves(letters, digits):
    """The mean of both means, or of the digits if there's nothing else to predict."""
    means = [sum(losses) / len(losses) for losses in (letters, digits) if losses]
    return sum(means) / len(means)


def with_new(tokens, n_letters, n_digits, new):
    """The loss if another number of digits cost something."""
    total = (len(tokens) // 2 - 1) * math.log(n_letters) + new * math.log(n_digits)
    return total / (len(tokens) - 1)


def _cases():
    def case(aspect, tokens, n_letters, n_digits):
        return Case(aspect, (np.array(tokens), n_letters, n_digits))

    rng = np.random.default_rng(0)

    def drawn(pairs, n_letters, n_digits):
        letter, digit = rng.integers(n_letters, size=pairs), rng.integers(n_digits, size=n_letters)
        return np.stack([letter, n_letters + digit[letter]], axis=-1).ravel()

    return [
        case(PLAIN, [0, 3, 0, 3], 2, 3),
        case(PLAIN, [0, 3, 1, 4], 2, 5),
        case(PLAIN, [1, 4, 0, 2, 1, 4, 0, 2], 2, 5),
        case(PLAIN, drawn(8, 4, 10), 4, 10),
        case(PLAIN, drawn(11, 5, 3), 5, 3),
        case(PLAIN, drawn(5, 7, 2), 7, 2),
        case("one pair", [2, 5], 4, 6),
        case("one letter", [0, 3, 0, 3, 0, 3], 1, 4),
        case("one digit", [0, 2, 1, 2, 0, 2], 2, 1),
        case("equal digits", [0, 5, 1, 5, 2, 5, 0, 5], 3, 7),
        case("equal numbers of letters and digits", [1, 3, 0, 4, 1, 3], 3, 3),
        case("all letters new", [3, 4, 1, 6, 0, 5, 2, 4], 4, 3),
    ]


EXERCISE = written(
    least_loss, place=2, dtype="number", axes=dict(tokens="n"), answer_axes="", cases=_cases
)
