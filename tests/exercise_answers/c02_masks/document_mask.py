"""Answers to document_mask, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("document_mask")


def parts(document):
    position = np.arange(len(document))
    return document[:, None] == document, position[:, None] >= position


@answers.right()
def document_by_two_tables(document):
    same, past = parts(document)
    return same & past


@answers.right()
def document_by_loops(document):
    n = len(document)
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(i + 1):
            mask[i, j] = document[i] == document[j]
    return mask


@answers.right()
def document_by_tril(document):
    return np.tril(np.equal.outer(document, document))


answers.wrong("mask inverted", function=lambda document: ~document_by_tril(document))
answers.wrong("causal mask forgotten", function=lambda document: parts(document)[0])
answers.wrong("documents ignored", function=lambda document: parts(document)[1])
answers.wrong(
    "either condition suffices", function=lambda document: np.logical_or(*parts(document))
)
answers.wrong(
    "other documents instead of its own",
    function=lambda document: ~parts(document)[0] & parts(document)[1],
)
answers.wrong(
    "documents of smaller numbers too",
    function=lambda document: np.tril(document[:, None] >= document),
)
answers.wrong(
    "diagonal excluded", function=lambda document: np.tril(document[:, None] == document, -1)
)
answers.wrong(
    "one key too many", function=lambda document: np.tril(document[:, None] == document, 1)
)
answers.wrong(
    "the future instead of the past",
    function=lambda document: np.triu(document[:, None] == document),
)
answers.wrong("not boolean", function=lambda document: document_by_tril(document) * 1.0)


@answers.wrong("pieces instead of documents")
def document_by_changes(document):
    starts = np.flatnonzero(np.r_[True, document[1:] != document[:-1]])
    mask = np.zeros((len(document),) * 2, dtype=bool)
    for start, end in zip(starts, [*starts[1:], len(document)]):
        mask[start:end, start:end] = np.tri(end - start, dtype=bool)
    return mask


@answers.wrong("additive mask instead of boolean")
def document_added(document):
    return np.where(document_by_tril(document), 0.0, -np.inf)


@answers.wrong("everything seen from document 0")
def documents_by_products(document):
    n = len(document)
    same = np.outer(document, document) == (document**2)[:, None]
    return same & np.tri(n, dtype=bool)


@answers.wrong("documents assumed sorted")
def documents_by_their_counts(document):
    n = len(document)
    mask = np.zeros((n, n), dtype=bool)
    start = 0
    for number in np.unique(document):
        end = start + int((document == number).sum())
        mask[start:end, start:end] = np.tri(end - start, dtype=bool)
        start = end
    return mask


@answers.wrong("everything since the document began")
def documents_since_their_first_position(document):
    mask = np.zeros((len(document),) * 2, dtype=bool)
    for i in range(len(document)):
        first = np.argmax(document == document[i])
        mask[i, first : i + 1] = True
    return mask


@answers.wrong("document 0 hidden")
def document_0_as_padding(document):
    return np.tril((document[:, None] == document) & (document != 0))


@answers.wrong()
def numbers_of_documents_in_one_byte(document):
    small = document.astype(np.int8)
    return np.tril(small[:, None] == small)


@answers.wrong()
def documents_that_are_close(document):
    number = document.astype(float)
    return np.tril(np.isclose(number[:, None], number))


@answers.wrong("comparison without brackets")
def document_without_brackets(document):
    n = len(document)
    return np.tri(n, dtype=bool) & document[:, None] == document[None, :]


@answers.wrong("comparison without brackets")
def document_without_brackets_behind(document):
    return document[:, None] == document & np.tri(len(document), dtype=bool)
