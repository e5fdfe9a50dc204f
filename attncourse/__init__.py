"""What the course needs around attnlib: exercises, figures, measurements and their records."""
