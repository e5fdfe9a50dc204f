"""Finds the exercises: entries/cNN_subject/NAME.py holds one of them as EXERCISE."""

import functools
import importlib
import pkgutil

from .. import entries


@functools.cache
def exercises():
    """All exercises by name, in the order of the book: by chapter, and within a chapter by their
    place.
    """
    found = sorted(_found(), key=lambda exercise: (exercise.chapter, exercise.place, exercise.name))
    return {exercise.name: exercise for exercise in found}


def _found():
    for folder in _modules(entries):
        for module in _modules(folder):
            exercise = getattr(module, "EXERCISE", None)
            if exercise is not None:
                exercise.chapter = int(folder.__name__.rpartition(".c")[2][:2])
                yield exercise


def _modules(package):
    for found in pkgutil.iter_modules(package.__path__):
        yield importlib.import_module(f"{package.__name__}.{found.name}")
