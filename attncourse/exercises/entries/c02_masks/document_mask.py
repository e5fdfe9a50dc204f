import numpy as np

from ...model import PLAIN, Case
from ...pages import written

APART = "a document in two pieces"


def document_mask(document):
    numbers = document
    position = np.arange(len(numbers))
    query, key = position[:, None], position
    same = numbers[:, None] == numbers
    past = key <= query
    seen = same & past
    mask = seen
    return mask


def pieces(document):
    """The number of the piece that each position lies in."""
    return np.concatenate([[0], np.cumsum(document[1:] != document[:-1])])


def by_one_hot(document):
    """Rows of the identity matrix, picked by the documents' numbers."""
    rows = np.eye(document.max() + 1, dtype=bool)[document]
    return np.tril(rows @ rows.T)


def by_columns(document):
    """As in a table with a column for each number up to the largest, which numbers index."""
    width = document.max() + 1
    if (document < -width).any():
        raise IndexError("index out of bounds")
    columns = np.where(document < 0, document + width, document)
    return np.tril(columns[:, None] == columns)


def beginnings(numbers):
    """The first position of each position's document."""
    return (numbers[:, None] == numbers).argmax(axis=-1)


def _cases():
    def case(aspect, *document, dtype=np.int64):
        return Case(aspect, (np.array(document, dtype),))

    return [
        case(PLAIN, 0, 0, 1),
        case(PLAIN, 0, 0, 0, 1, 1, 2, 2),
        case(PLAIN, 3, 3, 5, 5, 5, 4, 4, 4, 4, 9, 9),
        case(PLAIN, 7, 7, 1, 1, 1, 1, 1),
        case("one document", 0, 0, 0),
        case("one document", 4, 4, 4, 4, 4),
        case("one position", 2),
        case("documents of one position", 0, 1, 2),
        case("documents of one position", 3, 1, 0, 2),
        case(APART, 0, 1, 0),
        case(APART, 1, 1, 0, 2, 1, 0, 0),
        case("negative numbers", -1, -1, 0, 0, -2),
        case("negative numbers", 1, -1, -1, 1, 0),
        case("negative numbers", 2, -1, 2, -3, -2, 1),
        case("large numbers", 0, 256, 100_000, 100_001, 2**24, 2**24 + 1),
        case("int32 numbers", 0, 0, 1, 1, 1, dtype=np.int32),
    ]


EXERCISE = written(
    document_mask, place=6, axes=dict(document="n"), answer_axes="n n", dtype="bool", cases=_cases
)
