"""Exercises that say which mistake it is: check, grade, hint and status."""

from .engine.grading import Grade, check, grade, hint, status

__all__ = ["Grade", "check", "grade", "hint", "status"]
