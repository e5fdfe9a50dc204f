"""The two pictures that stand outside the chapters: `python -m attncourse.plot chapters` writes
them.
"""

import matplotlib.pyplot as plt
import numpy as np

from attncourse.plot.av_product import one_query
from attncourse.plot.common import typeface


def overview(path):
    """Write the figure of the README and the first page: the example row, from scores to output."""
    from attnlib import softmax

    scores = np.array([1.0, 0.5, 2.5, -0.1])
    value = np.array([[0.0, 1.0], [2.0, 2.0], [3.0, 0.0], [1.0, -1.0]])
    labels = ["Ada's", "old", "cat", "sleeps"]
    one_query(scores, softmax(scores), value, softmax(scores) @ value, labels)
    plt.gcf().savefig(path, metadata={"Software": None})
    plt.close()


def card(path, overview_path):
    """Write the picture that a shared link shows: the book's name and its figure, 1200 by 630
    pixels.
    """
    with plt.style.context(typeface()):
        figure = plt.figure(figsize=(12, 6.3), dpi=100, facecolor="white")
        figure.text(
            0.5,
            0.84,
            "Attention, from Scores to Kernels",
            ha="center",
            fontsize=38,
            fontweight="bold",
        )
        figure.text(
            0.5,
            0.74,
            "a course that builds it, and says which mistake it is",
            ha="center",
            fontsize=22,
        )
        axes = figure.add_axes((0.06, 0.04, 0.88, 0.62))
        axes.imshow(plt.imread(overview_path), interpolation="antialiased")
        axes.axis("off")
        figure.savefig(path, metadata={"Software": None})
        plt.close(figure)
