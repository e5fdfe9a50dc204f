"""`python -m attncourse.plot FOLDER` writes the pictures for the README and for shared links."""

import sys

from attncourse.plot.cover import card, overview

if __name__ == "__main__":
    overview(sys.argv[1] + "/overview.png")
    card(sys.argv[1] + "/card.png", sys.argv[1] + "/overview.png")
