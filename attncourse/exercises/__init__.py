"""Exercises that tell you which mistake you made: check, grade, hint and status; questions to
predict: predict; wrong programs to break and to repair: expose and repair; proofs to put in order:
order.
"""

from .engine.breaking import expose
from .engine.grading import Grade, check, grade, hint, status
from .engine.ordering import order
from .engine.questions import predict
from .engine.repairing import repair

__all__ = ["Grade", "check", "expose", "grade", "hint", "order", "predict", "repair", "status"]
