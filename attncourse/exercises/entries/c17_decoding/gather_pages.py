import numpy as np

from ...model import FLOAT16, FLOAT32, PLAIN, SQUARE, Case, normal
from ...pages import written

AXES = dict(pages="n_pages page_size d", table="n_blocks")


def gather_pages(pages, table, length):
    entries = table
    named = entries
    blocks = pages[named]
    rows = blocks.reshape(-1, blocks.shape[-1])
    cut = rows[:length]
    return cut


def zeros_behind(rows, length, page_size=None):
    """The sequence with zeros up to the end of its last page, or of the last page that is named."""
    stop = -(-length // page_size) * page_size if page_size else len(rows)
    return np.where(np.arange(len(rows))[:, None] < length, rows, 0)[:stop]


def rest_from_the_end(pages, table, length):
    """Whole pages by the table's first entries, and the rest by its last one."""
    full, rest = divmod(length, pages.shape[1])
    return np.concatenate([*pages[table[:full]], pages[table[-1], :rest]])


def _cases():
    def case(aspect, pages, table, length, dtype=np.float64):
        return Case(aspect, (np.asarray(pages, dtype), np.array(table), length))

    full, more, twice = (
        "a last page that is full",
        "more pages than are needed",
        "a page named twice",
    )
    shapes = (5, 3, 2), (7, 2, 5), (11, 5, 3), (3, 3, 3), (5, 7, 2), (4, 3, 2)
    one, two, three, square, long, half = (
        normal(*shape, seed=seed) for seed, shape in enumerate(shapes, 1)
    )
    tiny = [[[1], [2]], [[3], [4]], [[5], [6]]]
    return [
        case(PLAIN, tiny, [2, 0], 3),
        case(PLAIN, tiny, [2, 0, 1], 5),
        case(PLAIN, one, [3, 0, 4], 8),
        case(PLAIN, two, [5, 1, 6, 0], 7),
        case(PLAIN, three, [7, 2, 9, 0, 4], 23),
        case(full, tiny, [2, 0], 4),
        case(full, one, [4, 1, 2], 9),
        case("one page", long, [3], 5),
        case("one page", tiny, [1], 2),
        case("one position", tiny, [1], 1),
        case("pages of one position", normal(5, 1, 3, seed=8), [4, 0, 3, 1], 4),
        case(more, tiny, [2, 0, 1], 2),
        case(more, tiny, [2, 0], 1),
        case(more, three, [7, 2, 9, 0, 4], 11),
        case(twice, tiny, [2, 0, 2], 6),
        case(twice, one, [3, 1, 3, 3], 10),
        case("many pages", normal(150, 1, 2, seed=9), [149, 3, 130], 3),
        case(SQUARE, square, [2, 0, 1], 9),
        case(SQUARE, square, [1, 2, 0], 3),
        case(FLOAT32, half, [3, 0], 5, np.float32),
        case(FLOAT16, half, [1, 3], 5, np.float16),
    ]


EXERCISE = written(gather_pages, place=6, axes=AXES, answer_axes="n d", cases=_cases)
