"""`python -m book.fonts FOLDER` cuts the book's typeface out of the whole Fira Sans in FOLDER.

The result is stored, so this runs only when a sign is missing. It needs brotli, and FOLDER holds
the files of the npm package @expo-google-fonts/fira-sans 0.4.1, as `npm pack` brings them.
Figures read the TTF files, pages and slides the WOFF2 files.
"""

import sys
from pathlib import Path

from fontTools import subset
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

from book.notebooks import ROOT

# Of each style: its folder, and the next heavier one, whose T has the strokes of a small T.
STYLES = {
    "Regular": ("400Regular", "700Bold"),
    "Italic": ("400Regular_Italic", "700Bold_Italic"),
    "Bold": ("700Bold", "900Black"),
}
# Latin, Greek, punctuation, indices, arrows and mathematical signs, as far as Fira Sans has them.
SIGNS = [
    *range(0x20, 0x180), *range(0x2B0, 0x2E0), *range(0x370, 0x400), *range(0x2010, 0x20B0),
    *range(0x2100, 0x2300), *range(0x2460, 0x2475), *range(0x25A0, 0x2600),
]  # fmt: skip
TRANSPOSED = 0x1D40  # ᵀ, which Fira Sans lacks


def whole(folder, style):
    return TTFont(next(folder.glob(f"**/{style}/*.ttf")))


def figures_of_one_width(font):
    """Digits stand below each other in a column, also where nobody can ask for it."""
    table = font["GSUB"].table
    (lookup,) = {
        index
        for record in table.FeatureList.FeatureRecord
        if record.FeatureTag == "tnum"
        for index in record.Feature.LookupListIndex
    }
    of_one_width = {}
    for part in table.LookupList.Lookup[lookup].SubTable:
        of_one_width |= getattr(part, "ExtSubTable", part).mapping
    for part in font["cmap"].tables:
        for code, name in part.cmap.items():
            if code < 0x80:
                part.cmap[code] = of_one_width.get(name, name)


def add_transposed(font, heavier, size=0.62):
    """A raised T: the T of the heavier style, made smaller."""
    pen = TTGlyphPen(None)
    top = font["OS/2"].sCapHeight
    heavier.getGlyphSet()["T"].draw(
        TransformPen(pen, (size, 0, 0, size, 0, round((1.06 - size) * top)))
    )
    width, side = heavier["hmtx"]["T"]
    font.setGlyphOrder([*font.getGlyphOrder(), "transposed"])
    font["glyf"]["transposed"] = pen.glyph()
    font["hmtx"]["transposed"] = (round(size * width), round(size * side))
    for part in font["cmap"].tables:
        if part.isUnicode():
            part.cmap[TRANSPOSED] = "transposed"


def cut(folder):
    for style, (name, heavier) in STYLES.items():
        font = whole(folder, name)
        figures_of_one_width(font)
        add_transposed(font, whole(folder, heavier))
        options = subset.Options(layout_features=["kern"], hinting=False, notdef_outline=True)
        cutter = subset.Subsetter(options)
        cutter.populate(unicodes=[*SIGNS, TRANSPOSED])
        cutter.subset(font)
        font.save(ROOT / "attncourse" / "plot" / "fonts" / f"FiraSans-{style}.ttf")
        font.flavor = "woff2"
        font.save(ROOT / "book" / "static" / "fonts" / f"FiraSans-{style}.woff2")


if __name__ == "__main__":
    cut(Path(sys.argv[1]))
