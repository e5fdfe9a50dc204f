"""Mistakes chosen from lists by their names, and given more variants."""

import dataclasses



def named(name, *lists):
    """The mistake of this name from lists of mistakes."""
    return next(mistake for mistakes in lists for mistake in mistakes if mistake.name == name)


def pick(mistakes, *names):
    """The mistakes of these names, in the order of the names; every name must exist."""
    found = {mistake.name: mistake for mistake in mistakes}
    return tuple(found[name] for name in names)


def also(mistake, *changes):
    """The mistake with more variants."""
    return dataclasses.replace(mistake, change=mistake.variants + changes)


def first_variants(mistakes):
    """Without the variants that count the first axis: here that is the heads' or the batch."""
    return tuple(dataclasses.replace(mistake, change=mistake.variants[0]) for mistake in mistakes)
