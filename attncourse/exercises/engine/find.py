"""Finds the exercises: entries/cNN_subject/NAME.py holds one of them as EXERCISE, and NAME.md
beside it is its page.
"""

import functools
import importlib
from collections.abc import Mapping
from pathlib import Path

from .. import entries


class Exercises(Mapping):
    """All exercises by name, in the order of the book: by chapter, and within a chapter by their
    place. An exercise is loaded when it is asked for, so that a check needn't load them all.
    """

    def __init__(self):
        pages = Path(entries.__file__).parent.glob("c[0-9][0-9]_*/*.md")
        self.folders = {
            page.stem: page.parent.name for page in pages if page.with_suffix(".py").exists()
        }
        self.loaded = {}

    @functools.cached_property
    def in_order(self):
        place = lambda name: (self[name].chapter, self[name].place, name)
        return sorted(self.folders, key=place)

    def __contains__(self, name):
        return name in self.folders

    def __getitem__(self, name):
        if name not in self.loaded:
            folder = self.folders[name]
            module = importlib.import_module(f"{entries.__name__}.{folder}.{name}")
            module.EXERCISE.chapter = int(folder[1:3])
            self.loaded[name] = module.EXERCISE
        return self.loaded[name]

    def __iter__(self):
        return iter(self.in_order)

    def __len__(self):
        return len(self.folders)


@functools.cache
def exercises():
    """All exercises by name, in the order of the book."""
    return Exercises()
