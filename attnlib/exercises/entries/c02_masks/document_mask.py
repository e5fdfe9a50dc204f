"""The exercise document_mask."""

import numpy as np

from ...families.masks import ADDITIVE, INVERTED
from ...model import PLAIN, Case, Exercise, Mistake, alike

APART = "a document in two pieces"


def document_mask_answer(do, document):
    document = do.numbers(document)
    n = len(document)
    query, key = np.arange(n)[:, None], np.arange(n)[None, :]
    same = do.same(document[:, None], document[None, :])
    return do.form(do.sense(do.join(same, do.order(key, query))))


def _changes(document):
    """The numbers of the pieces that the documents lie in."""
    return np.concatenate([[0], np.cumsum(document[1:] != document[:-1])])


def _cases():
    def case(aspect, *document, dtype=np.int64):
        return Case(aspect, (np.array(document, dtype),))

    return [
        case(PLAIN, 0, 0, 1), case(PLAIN, 0, 0, 0, 1, 1, 2, 2), case(PLAIN, 3, 3, 5, 5, 5, 4, 4, 4, 4, 9, 9),
        case(PLAIN, 7, 7, 1, 1, 1, 1, 1), case("one document", 0, 0, 0), case("one document", 4, 4, 4, 4, 4),
        case("one position", 2), case("documents of one position", 0, 1, 2), case("documents of one position", 3, 1, 0, 2),
        case(APART, 0, 1, 0), case(APART, 1, 1, 0, 2, 1, 0, 0), case("negative numbers", -1, -1, 0, 0, -2),
        case("int32 numbers", 0, 0, 1, 1, 1, dtype=np.int32),
    ]


EXERCISE = Exercise(
    name="document_mask", signature="(document)", place=6,
    axes=dict(document="n"), answer_axes="n n",
    text="A boolean mask of shape (n, n) for several documents in one row: True where key j <= query i and both "
         "belong to the same document, whose positions need not be consecutive; the numbers of documents are any whole ones.",
    answer=document_mask_answer,
    steps={
        "numbers": lambda document: document,
        "same": lambda query, key: query == key,
        "order": lambda key, query: key <= query,
        "join": lambda same, order: same & order,
        "sense": lambda mask: mask,
        "form": lambda mask: mask,
    },
    cases=_cases, dtype="bool",
    hints=(
        "Two conditions must hold at once: key j is not later than query i, and the two have the same document number.",
        "document[:, None] is a column of numbers, document[None, :] a row; == compares every pair.",
        "Join that table by & with the causal one, np.arange(n)[:, None] >= np.arange(n).",
    ),
    mistakes=(
        INVERTED, ADDITIVE,
        *alike("Two conditions hold for each allowed pair: the same document, and key j <= query i.",
               "Which pairs satisfy your condition, and which satisfy only half of it?",
               ("causal mask forgotten", {"join": lambda same, order: same},
                "A query sees all of its document, what comes later too."),
               ("documents ignored", {"join": lambda same, order: order},
                "A query sees everything before it, other documents too."),
               ("either condition suffices", {"join": lambda same, order: same | order},
                "A query sees its whole document, and everything before it besides."),
               ("other documents instead of its own", {"same": lambda query, key: query != key},
                "A query sees what comes before it in other documents, and nothing of its own.")),
        *alike("A position belongs to the document whose number it has; where it stands in the row does not matter.",
               "What may the last position of [0, 1, 0] attend to?",
               ("pieces instead of documents", {"numbers": _changes},
                "A document that goes on later in the row counts as a new one."),
               ("earlier documents too", {"same": lambda query, key: key <= query},
                "A query sees the documents with smaller numbers as well."),
               ("later documents too", {"same": lambda query, key: key >= query},
                "A query sees the documents with larger numbers as well."),
               ("neighbouring documents too", {"same": lambda query, key: abs(query - key) <= 1},
                "A query sees the documents whose numbers are next to its own as well.")),
        *alike("A query sees itself and what comes before it in its document.",
               "What may the first position of a document attend to?",
               ("diagonal excluded", {"order": lambda key, query: key < query},
                "A query does not see the key at its own position."),
               ("one key too many", {"order": lambda key, query: key <= query + 1},
                "A query sees the next key as well, where that is in its document."),
               ("the future instead of the past", {"order": lambda key, query: key >= query},
                "A query sees itself and what comes after it."),
               ("only the diagonal", {"order": lambda key, query: key == query}, "A query sees itself alone."),
               ("only the key before besides itself", {"order": lambda key, query: (key <= query) & (key >= query - 1)},
                "A query sees itself and the one key before it.")),
        Mistake("document numbers used as lengths", change={"same": lambda query, key: np.arange(key.size)[None, :] < query},
                does="A document's number is taken for how many keys its positions see.",
                why="document[i] only says to which document position i belongs.",
                ask="What does the 5 in [5, 5, 7] say?"),
        Mistake("a column for the document's first position", change={"sense": lambda mask: mask & mask[:, :1]},
                does="Only queries of the first document see anything.",
                why="Each document is attended to by its own positions.",
                ask="Which row of the mask belongs to the first position of the second document?"),
    ),
)
