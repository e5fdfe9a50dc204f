"""The exercises of the part "On the GPU"; torch and Triton are imported when one is checked."""

PART = "On the GPU"

EXERCISES = ()
