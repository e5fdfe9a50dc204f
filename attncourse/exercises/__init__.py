"""Exercises that say which mistake it is: check, grade, hint and status; questions to predict:
predict.
"""

from .engine.grading import Grade, check, grade, hint, status
from .engine.questions import predict

__all__ = ["Grade", "check", "grade", "hint", "predict", "status"]
