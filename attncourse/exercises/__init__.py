"""Exercises that tell you which mistake you made: check, grade, hint and status; questions to
predict: predict and calibration; wrong programs to break and to repair: expose and repair; proofs
to put in order: order; goals to design for: achieve.
"""

from .engine.achieving import achieve
from .engine.breaking import expose
from .engine.grading import Grade, check, grade, hint, status
from .engine.ordering import order
from .engine.questions import predict
from .engine.repairing import repair
from .engine.sureness import calibration

__all__ = [
    "Grade",
    "achieve",
    "calibration",
    "check",
    "expose",
    "grade",
    "hint",
    "order",
    "predict",
    "repair",
    "status",
]
