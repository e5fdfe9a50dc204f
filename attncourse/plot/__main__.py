"""`python -m attncourse.plot FOLDER` writes the pictures of the README and of a shared link."""

import sys

from attncourse.plot.cover import card, overview

if __name__ == "__main__":
    overview(sys.argv[1] + "/overview.png")
    card(sys.argv[1] + "/card.png", sys.argv[1] + "/overview.png")
