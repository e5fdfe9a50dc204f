"""Answers to least_loss, written as learners write them."""

import math

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("least_loss")


@answers.right()
def least_by_places(tokens, n_letters, n_digits):
    total = 0.0
    for place in range(1, len(tokens)):
        if place % 2 == 0:
            total += math.log(n_letters)
        elif tokens[place - 1] not in tokens[: place - 1]:
            total += math.log(n_digits)
    return total / (len(tokens) - 1)


@answers.right()
def least_by_counting(tokens, n_letters, n_digits):
    letters = tokens[::2]
    return ((len(letters) - 1) * np.log(n_letters) + len(np.unique(letters)) * np.log(n_digits)) / (
        len(tokens) - 1
    )


@answers.right()
def least_by_set(tokens, n_letters, n_digits):
    seen, losses = set(), []
    for letter in tokens[::2].tolist():
        losses += [math.log(n_letters), 0.0 if letter in seen else math.log(n_digits)]
        seen.add(letter)
    return sum(losses[1:]) / len(losses[1:])


@answers.right()
def least_by_tables(tokens, n_letters, n_digits):
    earlier = np.tril(np.equal.outer(tokens, tokens), -1).any(axis=-1)
    loss = np.where(
        tokens[1:] < n_letters, np.log(n_letters), np.where(earlier[:-1], 0, np.log(n_digits))
    )
    return loss.mean()


def parts(tokens):
    letters = tokens[::2]
    return len(letters), len(set(letters.tolist())), len(tokens) - 1


@answers.wrong("known digits counted")
def least_all_digits(tokens, n_letters, n_digits):
    pairs, _, n = parts(tokens)
    return ((pairs - 1) * math.log(n_letters) + pairs * math.log(n_digits)) / n


@answers.wrong("first token counted")
def least_with_first(tokens, n_letters, n_digits):
    pairs, new, n = parts(tokens)
    return (pairs * math.log(n_letters) + new * math.log(n_digits)) / n


@answers.wrong("mean over all n tokens")
def least_over_all(tokens, n_letters, n_digits):
    pairs, new, n = parts(tokens)
    return (pairs * math.log(n_letters) + new * math.log(n_digits)) / (n + 1)


@answers.wrong("letters free")
def least_of_digits(tokens, n_letters, n_digits):
    pairs, new, n = parts(tokens)
    return new * math.log(n_digits) / n


@answers.wrong("digits compared instead of letters")
def least_by_digits(tokens, n_letters, n_digits):
    pairs, _, n = parts(tokens)
    return (
        (pairs - 1) * math.log(n_letters) + len(set(tokens[1::2].tolist())) * math.log(n_digits)
    ) / n


answers.wrong(
    "divided by n",
    function=lambda tokens, n_letters, n_digits: (
        least_by_places(tokens, n_letters, n_digits) * (len(tokens) - 1) / len(tokens)
    ),
)
answers.wrong(
    "sum instead of mean",
    function=lambda tokens, n_letters, n_digits: (
        least_by_places(tokens, n_letters, n_digits) * (len(tokens) - 1)
    ),
)
answers.wrong(
    "another base of the logarithm",
    function=lambda tokens, n_letters, n_digits: (
        least_by_places(tokens, n_letters, n_digits) / math.log(2)
    ),
)
answers.wrong(
    "letters and digits exchanged",
    function=lambda tokens, n_letters, n_digits: least_by_places(tokens, n_digits, n_letters),
)
answers.wrong(
    "new digits free",
    function=lambda tokens, n_letters, n_digits: (
        (len(tokens) // 2 - 1) * math.log(n_letters) / (len(tokens) - 1)
    ),
)


def least_with(new, base=math.e):
    def answer(tokens, n_letters, n_digits):
        pairs = len(tokens) // 2
        total = (pairs - 1) * math.log(n_letters, base) + new(tokens, n_letters) * math.log(
            n_digits, base
        )
        return total / (len(tokens) - 1)

    return answer


answers.wrong(
    "another base of the logarithm",
    function=least_with(lambda tokens, n_letters: parts(tokens)[1], base=10),
)
answers.wrong(
    "all letters of the language counted", function=least_with(lambda tokens, n_letters: n_letters)
)
answers.wrong(
    "expected number of letters",
    function=least_with(
        lambda tokens, n_letters: (
            n_letters - n_letters * ((n_letters - 1) / n_letters) ** (len(tokens) / 2)
        )
    ),
)
answers.wrong(
    "letters and digits counted together",
    function=least_with(lambda tokens, n_letters: len(np.unique(tokens))),
)
answers.wrong(
    "sizes of the chapter",
    function=lambda tokens, n_letters, n_digits: (
        (7 * np.log(n_letters) + len(np.unique(tokens[::2])) * np.log(n_digits)) / 15
    ),
)


def least_of(letter=math.log, digit=math.log, drop=0):
    def answer(tokens, n_letters, n_digits):
        pairs, new, n = parts(tokens)
        return ((pairs - 1) * letter(n_letters) + (new - drop) * digit(n_digits)) / n

    return answer


answers.wrong(
    "numbers of the chapter's language",
    function=least_of(lambda n: math.log(4), lambda n: math.log(10)),
)
answers.wrong("numbers of the chapter's language", function=least_of(digit=lambda n: math.log(10)))
answers.wrong("first digit free", function=least_of(drop=1))
answers.wrong(
    "only the sentence's own letters",
    function=lambda tokens, n_letters, n_digits: least_of(lambda n: math.log(parts(tokens)[1]))(
        tokens, n_letters, n_digits
    ),
)
answers.wrong(
    "divided by n",
    "another base of the logarithm",
    function=lambda tokens, n_letters, n_digits: (
        least_of(math.log2, math.log2)(tokens, n_letters, n_digits)
        * (len(tokens) - 1)
        / len(tokens)
    ),
)


@answers.wrong("known letters free")
def least_of_new_letters(tokens, n_letters, n_digits):
    new = parts(tokens)[1]
    return ((new - 1) * math.log(n_letters) + new * math.log(n_digits)) / (len(tokens) - 1)


@answers.wrong("letters drawn without repetition")
def least_without_repetition(tokens, n_letters, n_digits):
    seen, total = set(), 0.0
    for i in range(0, len(tokens), 2):
        if i:
            total += math.log(max(n_letters - len(seen), 1))
        if int(tokens[i]) not in seen:
            total += math.log(n_digits)
        seen.add(int(tokens[i]))
    return total / (len(tokens) - 1)


answers.wrong(
    "loss of a single token", function=lambda tokens, n_letters, n_digits: math.log(n_letters)
)
