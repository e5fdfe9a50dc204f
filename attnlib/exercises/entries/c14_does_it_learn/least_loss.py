"""The exercise least_loss."""

import math

import numpy as np

from ...model import PLAIN, Case, Exercise, Mistake, Step, alike, ways


def least_loss_answer(do, tokens, n_letters, n_digits):
    known = [do.seen(tokens, i) for i in range(0, len(tokens), 2)]
    letters = do.letters([do.of_letter(n_letters, n_digits, tokens)] * len(known), known)
    digits = do.digits([do.of_known(n_digits) if is_known else do.of_new(n_letters, n_digits) for is_known in known])
    return do.unit(do.mean(do.total(letters, digits), tokens))


def _cases():
    def case(aspect, tokens, n_letters, n_digits):
        return Case(aspect, (np.array(tokens), n_letters, n_digits))

    rng = np.random.default_rng(0)

    def drawn(pairs, n_letters, n_digits):
        letter, digit = rng.integers(n_letters, size=pairs), rng.integers(n_digits, size=n_letters)
        return np.stack([letter, n_letters + digit[letter]], axis=-1).ravel()

    return [
        case(PLAIN, [0, 3, 0, 3], 2, 3), case(PLAIN, [0, 3, 1, 4], 2, 5), case(PLAIN, [1, 4, 0, 2, 1, 4, 0, 2], 2, 5),
        case(PLAIN, drawn(8, 4, 10), 4, 10), case(PLAIN, drawn(11, 5, 3), 5, 3), case(PLAIN, drawn(5, 7, 2), 7, 2),
        case("one pair", [2, 5], 4, 6), case("one letter", [0, 3, 0, 3, 0, 3], 1, 4), case("one digit", [0, 2, 1, 2, 0, 2], 2, 1),
        case("equal digits", [0, 5, 1, 5, 2, 5, 0, 5], 3, 7), case("equal numbers of letters and digits", [1, 3, 0, 4, 1, 3], 3, 3),
        case("all letters new", [3, 4, 1, 6, 0, 5, 2, 4], 4, 3),
    ]


def _with_new(number):
    """A variant: another number of digits that cost something."""
    return {"answer": lambda tokens, n_letters, n_digits: (
        (len(tokens) // 2 - 1) * math.log(n_letters) + number(tokens, n_letters) * math.log(n_digits)) / (len(tokens) - 1)}


EXERCISE = Exercise(
    name="least_loss", signature="(tokens, n_letters, n_digits)", place=2, dtype="number",
    axes=dict(tokens="n"), answer_axes="",
    text="The least mean loss, in nats, that a model can expect on the n - 1 predictions of a sentence of this chapter, an "
         "array of n whole numbers: a letter below n_letters, then its digit, and so on. Each letter is drawn from "
         "n_letters, each letter's digit once from n_digits.",
    answer=least_loss_answer,
    steps={
        "seen": lambda tokens, i: tokens[i] in tokens[:i:2],
        "of_letter": lambda n_letters, n_digits, tokens: math.log(n_letters),
        "of_new": lambda n_letters, n_digits: math.log(n_digits),
        "of_known": lambda n_digits: 0.0,
        "letters": lambda losses, known: losses[1:],
        "digits": lambda losses: losses,
        "total": Step(lambda letters, digits: sum(letters) + sum(digits), "the sum of the losses"),
        "mean": lambda total, tokens: total / (len(tokens) - 1),
        "unit": lambda loss: loss,
    },
    cases=_cases,
    hints=(
        "What can be known of each token before it comes? Of a letter nothing: each of n_letters is as likely, and the least "
        "expected loss is log(n_letters).",
        "A digit is known if its letter stood earlier in the sentence: then the least loss is 0. Else it is log(n_digits).",
        "Go through the places 1 to n - 1: an even place adds log(n_letters), an odd one log(n_digits) if tokens[place - 1] is "
        "not among tokens[:place - 1]. Divide by n - 1.",
    ),
    mistakes=(
        *alike("A letter keeps its digit through the sentence: once both have been seen, nothing is open.",
               "In b 3 a 7 b, how likely is 3 next?",
               ("known digits counted", {"of_known": lambda n_digits: math.log(n_digits)},
                "Each digit costs log(n_digits), also where its letter has been seen."),
               ("new digits free", ({"of_new": lambda n_letters, n_digits: 0.0}, {"seen": lambda tokens, i: True}),
                "No digit costs anything, not even that of a new letter."),
               ("known and new exchanged", {"of_known": math.log, "of_new": lambda n_letters, n_digits: 0.0},
                "The digits of known letters cost log(n_digits), those of new letters nothing.")),
        *alike("What decides is whether the letter stood anywhere earlier in the sentence.",
               "Which part of the sentence says what b's digit is?",
               ("only the letter right before", {"seen": lambda tokens, i: i >= 2 and tokens[i] == tokens[i - 2]},
                "A letter counts as known only where the pair right before it has the same letter."),
               ("digits compared instead of letters", {"seen": lambda tokens, i: tokens[i + 1] in tokens[1:i:2]},
                "A digit counts as known where it stood earlier, whichever letter it belonged to.")),
        *alike("The digits that cost something are those of the letters that this sentence has, each letter once.",
               "How many different letters are there in b 3 a 7 b 3, and how many digits are new?",
               ("all letters counted as new", _with_new(lambda tokens, n_letters: n_letters),
                "n_letters digits cost log(n_digits), also where the sentence has fewer letters."),
               ("expected number of letters", _with_new(
                   lambda tokens, n_letters: n_letters * (1 - (1 - 1 / n_letters)**(len(tokens) // 2))),
                "The number of different letters is that of a mean sentence, not of this one."),
               ("letters and digits counted together", _with_new(lambda tokens, n_letters: len(set(tokens.tolist()))),
                "All different tokens cost log(n_digits), the letters among them."),
               ("sizes of the chapter", {"answer": lambda tokens, n_letters, n_digits: (
                   7 * math.log(n_letters) + len(set(tokens[::2].tolist())) * math.log(n_digits)) / 15},
                "7 letters and 15 predictions are counted, whatever the length of the sentence.")),
        Mistake("4 letters and 10 digits throughout", change=(
                    {"of_letter": lambda n_letters, n_digits, tokens: math.log(4), "of_new": lambda n_letters, n_digits: math.log(10)},
                    {"of_letter": lambda n_letters, n_digits, tokens: math.log(4)},
                    {"of_new": lambda n_letters, n_digits: math.log(10)}),
                does="The numbers of the chapter's language are used, 4 letters, 10 digits or both, whatever the arguments say.",
                why="A language may have any numbers of letters and digits: the arguments say them.",
                ask="Where does your function use n_letters, and where n_digits?"),
        *alike("Letters are drawn anew for each place: nobody can do better than give each the same share.",
               "What is known about the next letter?",
               ("letters free", {"of_letter": lambda n_letters, n_digits, tokens: 0.0}, "Letters cost nothing, as if they could be known."),
               ("only the sentence's own letters", {"of_letter": lambda n_letters, n_digits, tokens: math.log(len(set(tokens[::2])))},
                "A letter costs the logarithm of how many letters this sentence has, which nobody knows before its end."),
               ("known letters free", {"letters": lambda losses, known: [loss for loss, is_known in zip(losses[1:], known[1:])
                                                                         if not is_known]},
                "Only a letter that is new in the sentence costs anything."),
               ("letters and digits in one vocabulary", {"of_letter": lambda n_letters, n_digits, tokens: math.log(n_letters + n_digits),
                                                        "of_new": lambda n_letters, n_digits: math.log(n_letters + n_digits)},
                "Each open token costs log(n_letters + n_digits), though its place says whether it is a letter."),
               ("letters and digits exchanged", {"of_letter": lambda n_letters, n_digits, tokens: math.log(n_digits),
                                                "of_new": lambda n_letters, n_digits: math.log(n_letters)},
                "A letter costs log(n_digits), a new digit log(n_letters).")),
        *alike("A sentence of n tokens has n - 1 predictions: nothing is asked before the first token.",
               "Which token does the first prediction mean, and how many predictions are there?",
               ("first token counted", {"letters": lambda losses, known: losses}, "The first letter is counted too."),
               ("divided by n", {"mean": lambda total, tokens: total / len(tokens)}, "The sum is divided by the number of tokens."),
               ("first digit free", {"digits": lambda losses: losses[1:]}, "The first digit costs nothing, though its letter is new."),
               ("last digit left out", {"digits": lambda losses: losses[:-1]}, "The last token, a digit, is not counted."),
               ("divided by the number of pairs", {"mean": lambda total, tokens: total / (len(tokens) // 2)},
                "The sum is divided by the number of pairs.")),
        Mistake("sum instead of mean", change={"mean": lambda total, tokens: total},
                does="The losses of all predictions are added up.",
                why="The mean over the predictions is asked for, as in training.",
                ask="What happens to your number in a sentence that is twice as long?"),
        Mistake("another base of the logarithm",
                change=ways("unit", *(lambda loss, base=base: loss / math.log(base) for base in (2, 10))),
                does="The logarithm has base 2 or 10.", why="The cross-entropy is in nats, with the natural logarithm.",
                ask="Which logarithm does the loss have?"),
        Mistake("chances instead of logarithms", change={"of_letter": lambda n_letters, n_digits, tokens: 1 - 1 / n_letters,
                                                         "of_new": lambda n_letters, n_digits: 1 - 1 / n_digits},
                does="Each open token costs the chance to guess wrong.",
                why="The loss is minus the logarithm of the share that the right token gets.",
                ask="What is minus the logarithm of one in ten?"),
    ),
)
