"""The exercise gather_pages."""

import numpy as np

from ...model import FLOAT16, FLOAT32, PLAIN, SQUARE, Case, Exercise, Mistake, alike, normal, ways


def gather_pages_answer(do, pages, table, length):
    named = do.order(do.entries(table, pages, length), pages)
    return do.cut(do.join(do.take(pages, named)), length, pages)


def _needed(table, pages, length):
    return table[:-(-length // pages.shape[1])]


def _whole_pages(rows, length, pages):
    return rows[:max(1, length // pages.shape[1]) * pages.shape[1]]


def _pages_instead_of_positions(pages, table, length):
    return pages[table[:length]].reshape(-1, pages.shape[-1])


def _row_of_the_sequence(pages, table, length):
    position = np.arange(length)
    return pages[table[position // pages.shape[1]], position]


def _position(split, read):
    """The whole answer, position by position: `split` gives its place in the table and on a page."""
    def answer(pages, table, length):
        position = np.arange(length)
        block, row = split(position, pages.shape[1])
        return read(pages, table, block, row)
    return answer


def _cases():
    def case(aspect, pages, table, length, dtype=np.float64):
        return Case(aspect, (np.asarray(pages, dtype), np.array(table), length))

    tiny = [[[1], [2]], [[3], [4]], [[5], [6]]]
    drawn = {seed: normal(*shape, seed=seed) for seed, shape in (
        (1, (5, 3, 2)), (2, (7, 2, 5)), (3, (11, 5, 3)), (4, (3, 3, 3)), (5, (5, 7, 2)), (6, (4, 3, 2)))}
    return [
        case(PLAIN, tiny, [2, 0], 3), case(PLAIN, tiny, [2, 0, 1], 5), case(PLAIN, drawn[1], [3, 0, 4], 8),
        case(PLAIN, drawn[2], [5, 1, 6, 0], 7), case(PLAIN, drawn[3], [7, 2, 9, 0, 4], 23),
        case("a last page that is full", tiny, [2, 0], 4), case("a last page that is full", drawn[1], [4, 1, 2], 9),
        case("one page", drawn[5], [3], 5), case("one position", tiny, [1], 1),
        case("pages of one position", normal(5, 1, 3, seed=8), [4, 0, 3, 1], 4),
        case("more pages than are needed", tiny, [2, 0, 1], 2), case("more pages than are needed", drawn[3], [7, 2, 9, 0, 4], 11),
        case("a page named twice", tiny, [2, 0, 2], 6), case("a page named twice", drawn[1], [3, 1, 3, 3], 10),
        case(SQUARE, drawn[4], [2, 0, 1], 9), case(SQUARE, drawn[4], [1, 2, 0], 3),
        case(FLOAT32, drawn[6], [3, 0], 5, np.float32), case(FLOAT16, drawn[6], [1, 3], 5, np.float16),
    ]


EXERCISE = Exercise(
    name="gather_pages", signature="(pages, table, length)", place=4,
    axes=dict(pages="n_pages page_size d", table="n_blocks"), answer_axes="n d",
    text="The sequence of shape (length, d) whose blocks lie on the pages (n_pages, page_size, d) that the table names, in the "
         "table's order. The table may name a page twice, and more pages than are needed.",
    answer=gather_pages_answer,
    steps={
        "entries": lambda table, pages, length: table,
        "order": lambda table, pages: table,
        "take": lambda pages, table: pages[table],
        "join": lambda blocks: blocks.reshape(-1, blocks.shape[-1]),
        "cut": lambda rows, length, pages: rows[:length],
    },
    cases=_cases,
    hints=(
        "Position i is in block i // page_size of the sequence. On which page does that block lie, and in which row of the page?",
        "pages[table] has the blocks in the order of the sequence, with the shape (n_blocks, page_size, d). Two axes have to "
        "become one.",
        "Join the first two axes of pages[table] with a reshape, and keep the first length rows.",
    ),
    mistakes=(
        Mistake("table ignored",
                change=ways("order", lambda table, pages: np.arange(len(pages)), lambda table, pages: np.arange(len(table))),
                does="The pages are read in the order in which they lie in memory.",
                why="Pages are handed out as they become free: the table says where each block of the sequence lies.",
                ask="On which page lies the first block of the sequence?"),
        Mistake("table sorted", change={"order": lambda table, pages: np.sort(table)},
                does="The right pages are read, in the order of their numbers.",
                why="The order of the table is the order of the sequence.",
                ask="Which page comes first if the table is [2, 0]?"),
        Mistake("each page read once",
                change=({"order": lambda table, pages: np.unique(table)},
                        {"take": lambda pages, table: pages[np.isin(np.arange(len(pages)), table)]},
                        {"order": lambda table, pages: np.array(list(dict.fromkeys(table.tolist())))}),
                does="A page that the table names twice comes once; or the pages that it names come in the order of memory.",
                why="Equal blocks may share a page. The sequence has as many blocks as the table has entries.",
                ask="How many blocks has a sequence whose table is [2, 0, 2]?"),
        Mistake("table reversed", change={"order": lambda table, pages: table[::-1]},
                does="The last block comes first.", why="The first entry of the table belongs to the first block.",
                ask="Which entry of the table belongs to position 0?"),
        Mistake("table read the other way round", change={"order": lambda table, pages: np.argsort(table, kind="stable")},
                does="The table is taken for a list that says for each page which block it holds.",
                why="table[i] is the page of block i. np.argsort answers the other question.",
                ask="Is the table indexed by blocks or by pages?"),
        Mistake("pages counted from 1", change={"take": lambda pages, table: pages[table - 1]},
                does="Each page is the one before the one that the table names.",
                why="The table's numbers are indices of pages, from 0 on.", ask="Which page is number 0?"),
        *alike("The last page may be filled in part: the sequence ends after length positions.",
               "How many rows has your answer, and how many positions has the sequence?",
               ("last page not cut", ({"cut": lambda rows, length, pages: rows},
                                      {"entries": _needed, "cut": lambda rows, length, pages: rows},
                                      {"answer": lambda pages, table, length: pages[table][:, :length].reshape(
                                          -1, pages.shape[-1])}),
                "What stands behind the end of the sequence comes back too."),
               ("unfilled last page dropped", {"cut": _whole_pages}, "Only whole pages come back: the last positions are missing."),
               ("one position left out", {"cut": lambda rows, length, pages: rows[:length - 1]}, "The last position is missing.")),
        Mistake("length counted in pages", change={"answer": _pages_instead_of_positions},
                does="As many pages as the sequence has positions are read, where the table has so many.",
                why="length counts positions; a page holds page_size of them.",
                ask="How many pages do length positions fill?"),
        Mistake("last positions instead of the first", change={"cut": lambda rows, length, pages: rows[-length:]},
                does="The end of the last page is kept, and the beginning of the sequence lost.",
                why="The sequence begins with the first row of its first page.",
                ask="Where does position 0 lie?"),
        Mistake("blocks not joined", change={"join": lambda blocks: blocks},
                does="The blocks stand on an axis of their own.", why="One axis of positions is asked for, of length rows.",
                ask="Which two axes of the blocks become the axis of positions?"),
        Mistake("joined in another order",
                change={"join": lambda blocks: blocks.swapaxes(0, 1).reshape(-1, blocks.shape[-1])},
                does="The first positions of all blocks come first, then the second ones.",
                why="A block's positions follow each other: the page changes after page_size of them.",
                ask="Which position follows position 0, and on which page does it lie?"),
        Mistake("row counted from the beginning of the sequence", change={"answer": _row_of_the_sequence},
                does="The position itself is taken for the row of the page: beyond the first page there is no such row.",
                why="Every page begins with row 0: the row is what is left of the position when whole pages are taken away.",
                ask="Which row of its page is position 17, if a page holds 16?"),
        Mistake("page and row exchanged",
                change={"answer": _position(lambda i, size: (i % size, i // size),
                                            lambda pages, table, block, row: pages[table[block], row])},
                does="The block is i % page_size and the row i // page_size.",
                why="Positions fill one page before the next begins: the block is the quotient, the row the remainder.",
                ask="In which block is position 1 if a page holds 16?"),
        Mistake("table taken for positions",
                change=({"take": lambda pages, table: pages.reshape(-1, 1, pages.shape[-1])[table]},
                        {"answer": lambda pages, table, length: pages.reshape(-1, pages.shape[-1])[table][:length]}),
                does="The table's numbers are used as rows of the whole memory, one row for each.",
                why="An entry of the table names a page, which holds page_size positions.",
                ask="How many positions does one entry of the table stand for?"),
    ),
)
