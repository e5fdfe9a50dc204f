"""Operations, bytes and seconds: numbers computed from sizes."""

from ..model import PLAIN, Case


def number_cases(*all_args):
    return [Case(PLAIN, args) for args in all_args]


UNIT_NAMES = "another unit"


def units(*factors):
    return tuple({"unit": lambda count, factor=factor: count * factor} for factor in factors)
