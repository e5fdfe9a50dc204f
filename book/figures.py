"""Compare the figures that a notebook stores with those it draws now."""

import base64
import io

import numpy as np
from PIL import Image

TYPES = ("image/png", "image/jpeg")  # the ones that nbval does not compare
TILE = 16  # pixels: about the size of a marker or of two letters
# Another machine may round an edge by a few of the 255 levels. One changed
# letter or a point moved by a pixel gives 20 and more in its own tile.
TOLERANCE = 5.0


def difference(stored_outputs, new_outputs):
    """How the figures of a cell differ, in a sentence; None if they agree."""
    stored, new = figures_in(stored_outputs), figures_in(new_outputs)
    if len(stored) != len(new):
        return f"the notebook stores {len(stored)} figure(s) here, and the cell draws {len(new)}"
    for number, (old, now) in enumerate(zip(stored, new), 1):
        if old.shape != now.shape:
            return f"figure {number} is stored with {size(old)} pixels, and drawn with {size(now)}"
        rms, x, y = largest_difference(old, now)
        if rms > TOLERANCE:
            return (
                f"figure {number} differs from the stored one, most near "
                f"x={x}, y={y} pixels from the top left (RMS {rms:.0f} of "
                f"255 there; {TOLERANCE:.0f} is allowed)"
            )
    return None


def figures_in(outputs):
    return [
        decode(output["data"][kind])
        for output in outputs
        for kind in TYPES
        if kind in output.get("data", {})
    ]


def decode(data):
    image = Image.open(io.BytesIO(base64.b64decode(data)))
    return np.asarray(image.convert("RGBA"), dtype=np.float64)


def size(pixels):
    height, width, _ = pixels.shape
    return f"{width} x {height}"


def largest_difference(old, now):
    """The largest RMS difference of all tiles, and the tile's x and y.

    A mean over the whole figure would drown one changed letter.
    """
    squares = ((old - now) ** 2).mean(axis=2)
    height, width = squares.shape
    squares = np.pad(squares, ((0, -height % TILE), (0, -width % TILE)))
    rows, columns = (n // TILE for n in squares.shape)
    tiles = squares.reshape(rows, TILE, columns, TILE).mean(axis=(1, 3))
    row, column = np.unravel_index(tiles.argmax(), tiles.shape)
    return float(np.sqrt(tiles[row, column])), column * TILE, row * TILE
