"""Answers to gather_pages, written as learners write them."""

import numpy as np

from attncourse.exercises.engine.prove import Answers

ANSWERS = answers = Answers("gather_pages")


@answers.right()
def gather_joined(pages, table, length):
    return pages[table].reshape(-1, pages.shape[-1])[:length]


@answers.right()
def gather_by_position(pages, table, length):
    position = np.arange(length)
    size = pages.shape[1]
    return pages[table[position // size], position % size]


@answers.right()
def gather_in_a_loop(pages, table, length):
    _, size, d = pages.shape
    sequence = np.empty((length, d), pages.dtype)
    for start in range(0, length, size):
        end = min(start + size, length)
        sequence[start:end] = pages[table[start // size], : end - start]
    return sequence


@answers.right()
def gather_concatenated(pages, table, length):
    rows, left = [], length
    for page in table:
        if left > 0:
            rows.append(pages[page][:left])
            left -= len(rows[-1])
    return np.concatenate(rows)


@answers.right()
def gather_flat(pages, table, length):
    n_pages, size, d = pages.shape
    rows = (np.asarray(table)[:, None] * size + np.arange(size)).ravel()[:length]
    return np.take(pages.reshape(n_pages * size, d), rows, axis=0)


@answers.right()
def gather_row_by_row(pages, table, length):
    size = pages.shape[1]
    return np.stack([pages[table[i // size]][i % size] for i in range(length)])


@answers.wrong("table ignored")
def gather_from_memory(pages, table, length):
    return pages.reshape(-1, pages.shape[-1])[:length]


@answers.wrong("table sorted")
def gather_sorted(pages, table, length):
    return pages[np.sort(table)].reshape(-1, pages.shape[-1])[:length]


@answers.wrong("each page read once")
def gather_unique(pages, table, length):
    return pages[np.unique(table)].reshape(-1, pages.shape[-1])[:length]


@answers.wrong("table read the other way round")
def gather_argsort(pages, table, length):
    return pages[np.argsort(table, kind="stable")].reshape(-1, pages.shape[-1])[:length]


@answers.wrong("last page not cut")
def gather_whole(pages, table, length):
    n_blocks = -(-length // pages.shape[1])
    return np.concatenate([pages[page] for page in table[:n_blocks]])


@answers.wrong("last page not cut")
def gather_everything(pages, table, length):
    return pages[table].reshape(-1, pages.shape[-1])


@answers.wrong("unfilled last page dropped")
def gather_full_pages(pages, table, length):
    size = pages.shape[1]
    count = max(1, length // size)
    return np.concatenate([pages[page] for page in table[:count]])


@answers.wrong("blocks not joined")
def gather_blocks(pages, table, length):
    return pages[table][:length]


@answers.wrong("joined in another order")
def gather_transposed(pages, table, length):
    return pages[table].transpose(1, 0, 2).reshape(-1, pages.shape[-1])[:length]


@answers.wrong("page and row exchanged")
def gather_exchanged(pages, table, length):
    size = pages.shape[1]
    return np.stack([pages[table[i % size], i // size] for i in range(length)])


@answers.wrong("table entries used as positions")
def gather_rows(pages, table, length):
    return pages.reshape(-1, pages.shape[-1])[table][:length]


@answers.wrong("length counted in pages")
def gather_many(pages, table, length):
    return np.concatenate([pages[page] for page in table[:length]])


@answers.wrong("pages counted from 1")
def gather_from_one(pages, table, length):
    return pages[table - 1].reshape(-1, pages.shape[-1])[:length]


@answers.wrong("table reversed")
def gather_reversed(pages, table, length):
    return pages[table[::-1]].reshape(-1, pages.shape[-1])[:length]


@answers.wrong("last page not cut")
def gather_each_page_cut(pages, table, length):
    return np.concatenate([pages[page, :length] for page in table])


@answers.wrong("row counted from the beginning of the sequence")
def pages_without_a_remainder(pages, table, length):
    found = np.empty((length, pages.shape[-1]), pages.dtype)
    for position in range(length):
        found[position] = pages[table[position // pages.shape[1]], position]
    return found


@answers.wrong("unfilled last page dropped")
def only_full_pages(pages, table, length):
    found = [pages[page] for page in table[: length // pages.shape[1]]]
    return np.concatenate([*found, pages[0][:0]])


@answers.wrong("first position of each page")
def one_position_a_page(pages, table, length):
    return pages[table[:length], 0]


@answers.wrong("padded to whole pages")
def pages_filled_up(pages, table, length):
    blocks = -(-length // pages.shape[1])
    found = pages[table[:blocks]].reshape(-1, pages.shape[-1])
    found[length:] = 0
    return found


@answers.wrong("padded to whole pages")
def all_pages_filled_up(pages, table, length):
    found = np.zeros((len(table) * pages.shape[1], pages.shape[-1]), pages.dtype)
    found[:length] = pages[table].reshape(-1, pages.shape[-1])[:length]
    return found


@answers.wrong()
def pages_by_numbers_in_one_byte(pages, table, length):
    return pages[table.astype(np.int8)].reshape(-1, pages.shape[-1])[:length]


@answers.wrong("one entry per position")
def pages_named_by_positions(pages, table, length):
    size = pages.shape[1]
    return np.stack([pages[table[i % len(table)], i % size] for i in range(length)])


@answers.wrong("one entry per position")
def pages_until_the_table_ends(pages, table, length):
    return np.stack([pages[table[i], i % pages.shape[1]] for i in range(length)])


@answers.wrong("a slice that ends at -0")
def cut_from_the_end(pages, table, length):
    rows = pages[table].reshape(-1, pages.shape[-1])
    extra = len(rows) - length
    return rows[:-extra]


@answers.wrong("a slice that ends at -0")
def needed_pages_cut_from_the_end(pages, table, length):
    size = pages.shape[1]
    n_blocks = -(-length // size)
    rows = pages[table[:n_blocks]].reshape(-1, pages.shape[-1])
    return rows[: -(n_blocks * size - length)]


@answers.wrong("a slice that ends at -0")
def all_pages_cut_by_the_last_one(pages, table, length):
    rows = pages[table].reshape(-1, pages.shape[-1])
    extra = -length % pages.shape[1]
    return rows[:-extra]


@answers.wrong("unneeded pages kept")
def rest_of_the_last_page_cut(pages, table, length):
    rows = pages[table].reshape(-1, pages.shape[-1])
    extra = -length % pages.shape[1]
    return rows[: len(rows) - extra]
