"""What exercises on the logarithm of a sum of exponentials share: numbers that learners write."""

import numpy as np

DEAD_ROW = "a row of -inf"

F8, F4 = np.finfo(np.float64), np.finfo(np.float32)
TINIER = (float(F8.tiny), float(F4.tiny), float(F8.eps))
TINIER += (1e-10, 1e-12, 1e-15, 1e-16, 1e-20, 1e-30, 1e-300)

LOWEST = tuple(float(np.finfo(dtype).min) for dtype in (np.float16, np.float32, np.float64))
