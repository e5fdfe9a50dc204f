"""Operations, bytes and seconds: numbers computed from sizes."""

from ..model import PLAIN, Case, Mistake, ways


def number_cases(*all_args):
    return [Case(PLAIN, args) for args in all_args]


UNIT_NAMES = "another unit"


def units(*factors):
    return tuple({"unit": lambda count, factor=factor: count * factor} for factor in factors)


# numbers of rows of queries and of keys, and of features: attention's arrays, or one tile of each
ARRAY_STEPS = {
    "sizes": lambda q, k, d_k, d_v: (q, k, d_k, d_v),
    "query": lambda q, k, d_k, d_v: q * d_k,
    "key": lambda q, k, d_k, d_v: k * d_k,
    "value": lambda q, k, d_k, d_v: k * d_v,
    "extra": lambda q, k, d_k, d_v: 0,
    "itemsize": lambda itemsize: itemsize,
    "unit": lambda count: count,
}


def itemsize_ignored(why):
    return Mistake("itemsize ignored", change=ways("itemsize", *(lambda size, b=b: b for b in (1, 2, 4, 8))),
                   does="The answer does not depend on the bytes of one number.", why=why,
                   ask="Where does your function use its parameter itemsize?")


BITS = Mistake("bits instead of bytes", change=ways("itemsize", lambda size: 8 * size, lambda size: size / 8),
               does="The answer is 8 times too large or too small.",
               why="itemsize is in bytes already, and bytes are asked for.",
               ask="How many bytes does a float32 take, and what is itemsize for it?")

KILOBYTES = Mistake(UNIT_NAMES, change=units(1e-3, 1e-6, 1e-9, 1 / 1024, 1 / 1024 ** 2, 1 / 1024 ** 3),
                    does="The answer is a thousand, a million or more times too small.",
                    why="Bytes are asked for, not kilobytes or gigabytes.",
                    ask="Where does your function divide by a power of 10 or of 1024?")
