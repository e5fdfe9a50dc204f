"""Answers to induction_pattern, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("induction_pattern")


@answers.right()
def induction_by_columns(tokens):
    n = len(tokens)
    found = np.zeros((n, n), dtype=bool)
    found[:, 1:] = tokens[:, None] == tokens[None, :-1]
    return found & np.tri(n, dtype=bool)


@answers.right()
def induction_by_loops(tokens):
    n = len(tokens)
    found = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(1, i + 1):
            found[i, j] = tokens[j - 1] == tokens[i]
    return found


@answers.right()
def induction_by_shifted_identity(tokens):
    same = np.equal.outer(tokens, tokens).astype(int)
    return np.tril(same @ np.eye(len(tokens), k=1, dtype=int)) > 0


@answers.right()
def induction_by_padding(tokens):
    same = np.equal.outer(tokens, tokens)[:, :-1]
    return np.tril(np.pad(same, ((0, 0), (1, 0))))


@answers.wrong("the last token in front of the first")
def induction_by_roll(tokens):
    return np.tril(tokens[:, None] == np.roll(tokens, 1))


answers.wrong("mask inverted", function=lambda tokens: ~induction_by_columns(tokens))
answers.wrong("transposed", function=lambda tokens: induction_by_columns(tokens).T)
answers.wrong(
    "the same token instead of the one after it",
    function=lambda tokens: np.tril(np.equal.outer(tokens, tokens)),
)
answers.wrong(
    "only the latest occurrence",
    "later keys too",
    function=lambda tokens: induction_latest(tokens, len(tokens)),
)
answers.wrong(
    "tokens not compared",
    function=lambda tokens: np.tri(len(tokens), dtype=bool) & (np.arange(len(tokens)) > 0),
)
answers.wrong("not boolean", function=lambda tokens: induction_by_columns(tokens) * 1.0)


def induction_latest(tokens, stop):
    n = len(tokens)
    found = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(min(stop, n - 1), 0, -1):
            if tokens[j - 1] == tokens[i]:
                found[i, j] = True
                break
    return found


@answers.wrong("later keys too")
def induction_without_mask(tokens):
    n = len(tokens)
    return np.array([[j > 0 and tokens[j - 1] == tokens[i] for j in range(n)] for i in range(n)])


@answers.wrong("diagonal excluded")
def induction_by_range(tokens):
    n = len(tokens)
    return np.array(
        [[0 < j < i and tokens[j - 1] == tokens[i] for j in range(n)] for i in range(n)]
    )


@answers.wrong("one key too many")
def induction_by_next(tokens):
    n = len(tokens)
    return np.array(
        [[0 < j <= i + 1 and tokens[j - 1] == tokens[i] for j in range(n)] for i in range(n)]
    )


@answers.wrong("the token before instead of the one after")
def induction_backwards(tokens):
    n = len(tokens)
    return np.array(
        [[j < n - 1 and j <= i and tokens[j + 1] == tokens[i] for j in range(n)] for i in range(n)]
    )


@answers.wrong("only the latest occurrence")
def induction_last_only(tokens):
    n = len(tokens)
    found = np.zeros((n, n), dtype=bool)
    for i in range(n):
        places = [j for j in range(1, i + 1) if tokens[j - 1] == tokens[i]]
        if places:
            found[i, places[-1]] = True
    return found


@answers.wrong("the same token instead of the one after it")
def induction_as_the_warm_up(tokens):
    return np.tril(tokens[:, None] == tokens, k=-1)


@answers.wrong("the same token instead of the one after it")
def induction_to_earlier_places(tokens):
    n = len(tokens)
    found = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(i):
            if tokens[j] == tokens[i]:
                found[i, j] = True
    return found


def induction_where(condition, first=0):
    """Pairs (i, j) with j <= i by a condition, rows from `first` on."""

    def answer(tokens):
        n = len(tokens)
        found = np.zeros((n, n), dtype=bool)
        for i in range(first, n):
            for j in range(i + 1):
                found[i, j] = condition(tokens, i, j)
        return found

    return answer


answers.wrong(
    "the query's neighbour compared",
    function=induction_where(lambda tokens, i, j: tokens[i - 1] == tokens[j]),
)
answers.wrong(
    "the query's neighbour compared",
    function=induction_where(lambda tokens, i, j: tokens[i - 1] == tokens[j], first=1),
)
answers.wrong(
    "the query's neighbour compared",
    function=induction_where(lambda tokens, i, j: j >= 1 and tokens[i - 1] == tokens[j], first=1),
)
answers.wrong(
    "the neighbours of both compared",
    function=induction_where(
        lambda tokens, i, j: j >= 1 and tokens[i - 1] == tokens[j - 1], first=1
    ),
)
answers.wrong(
    "rows of digits left out",
    function=lambda tokens: induction_by_columns(tokens) & (tokens < 4)[:, None],
)
answers.wrong(
    "rows of digits left out",
    function=lambda tokens: induction_by_columns(tokens) & (tokens < 6)[:, None],
)
answers.wrong(
    "rows of digits left out",
    function=induction_where(
        lambda tokens, i, j: i % 2 == 0 and j >= 1 and tokens[j - 1] == tokens[i]
    ),
)
answers.wrong(
    "only the place before", function=lambda tokens: np.eye(len(tokens), k=-1, dtype=bool)
)


@answers.wrong("the token before instead of the one after")
def induction_shifted_the_wrong_way(tokens):
    n = len(tokens)
    i, j = np.indices((n, n))
    after = tokens[np.minimum(j + 1, n - 1)]
    return (after == tokens[i]) & (1 <= j) & (j <= i)


@answers.wrong()
def induction_of_tokens_in_one_byte(tokens):
    small, n = tokens.astype(np.uint8), len(tokens)
    pattern = np.zeros((n, n), dtype=bool)
    pattern[:, 1:] = small[:, None] == small[:-1]
    return np.tril(pattern)


@answers.wrong("the token before instead of the one after")
def induction_rolled_the_other_way(tokens):
    mask = np.tril(np.roll(tokens, -1)[None, :] == tokens[:, None])
    mask[:, 0] = False
    return mask


@answers.wrong("the next token looked for")
def induction_for_what_comes_next(tokens):
    after = np.append(tokens[1:], -1)
    return (after[:, None] == tokens) & np.tri(len(tokens), dtype=bool)


@answers.wrong("the same token instead of the one after it")
def without_the_first_column(tokens):
    same = np.tril(tokens[:, None] == tokens)
    same[:, 0] = False
    return same


@answers.wrong("the token before instead of the one after")
def shifted_the_other_way(tokens):
    n = len(tokens)
    found = np.zeros((n, n), bool)
    for i in range(n):
        for j in range(1, i + 1):
            found[i, j] = j + 1 < n and tokens[j + 1] == tokens[i]
    return found
