"""Operations, bytes and seconds: numbers computed from sizes."""

from ..model import PLAIN, Case


def number_cases(*all_args):
    return [Case(PLAIN, args) for args in all_args]


def floats_for(*args, name="positions as floating-point numbers"):
    """An audit of whole numbers, which are compared by value: are those for these arguments floats?
    The page's item has this name.
    """

    def audit(run):
        outcome = run(*args)
        found = [piece.values for piece in outcome.answer.pieces] if outcome.answer else []
        floats = len(found) == 1 and found[0].dtype.kind == "f" and (found[0] % 1 == 0).all()
        return name if floats else None

    return audit
