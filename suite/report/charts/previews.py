"""Cards of 1200 x 630 pixels, which other sites show beside a link: a number, what it is, and where it is from."""

import struct
import textwrap
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

import vl_convert

FOLDER = "cards"  # of the site's sources
WIDTH, HEIGHT = 1200, 630
_LEFT, _FONT = 72, "Liberation Sans,DejaVu Sans,sans-serif"
_GROUND, _INK, _FAINT, _ACCENT, _CAVEAT = "#111827", "#f3f4f6", "#b6bdc8", "#56b4e9", "#e69f00"
_ACROSS = 52  # letters of a line
_LINES = 3
_LONGEST = 400  # letters of a text


@dataclass(frozen=True, kw_only=True)
class Card:
    """The words of a card; `caveat` says that the number may not be quoted."""

    number: str
    within: str  # its interval
    words: str
    foot: str
    caveat: str = ""


def is_card(name: str) -> bool:
    """Return whether a generated file is a card's drawing, from which its picture is made."""
    return name.startswith(f"{FOLDER}/") and name.endswith(".svg")


def derived(name: str) -> str:
    """Return the name of the picture that is made from a card's drawing."""
    return f"{name.removesuffix('.svg')}.png"


def png(drawing: str) -> bytes:
    """Return a card's drawing as PNG, which all sites show; few show SVG."""
    return packed(vl_convert.svg_to_png(drawing))


_SIGNATURE, _FRAME = 8, 12  # bytes of a PNG's first mark; of a chunk's length, name and check sum


def packed(picture: bytes) -> bytes:
    """Return a PNG with its pixels compressed as well as zlib can, to a third of what the converter writes."""
    chunks: list[tuple[bytes, bytes]] = []
    place = _SIGNATURE
    while place < len(picture):
        size = int.from_bytes(picture[place : place + 4])
        chunks.append((picture[place + 4 : place + 8], picture[place + 8 : place + 8 + size]))
        place += size + _FRAME
    pixels = zlib.decompress(b"".join(content for name, content in chunks if name == b"IDAT"))
    first = next(place for place, (name, _) in enumerate(chunks) if name == b"IDAT")
    others = [chunk for chunk in chunks if chunk[0] != b"IDAT"]
    others.insert(first, (b"IDAT", zlib.compress(pixels, 9)))
    return picture[:_SIGNATURE] + b"".join(
        struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        for name, content in others
    )


def svg(card: Card, heading: str) -> str:
    """Return the drawing of a card under the site's name."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{_GROUND}"/><rect width="16" height="{HEIGHT}" '
        f'fill="{_ACCENT}"/><g font-family="{_FONT}">{"".join(_texts(card, heading))}</g></svg>\n'
    )


def _texts(card: Card, heading: str) -> Iterator[str]:
    yield _text(heading, 96, 34, _FAINT)
    yield _text(card.number, 280, 150, _INK, "700")
    for place, line in enumerate(_lines(card.words)):
        yield _text(line, 350 + 46 * place, 38, _INK)
    yield _text(card.within, 496, 30, _FAINT)
    yield _text(card.caveat, 544, 30, _CAVEAT, "700")
    yield _text(card.foot, 592, 26, _FAINT)


def _lines(words: str) -> Sequence[str]:
    return textwrap.wrap(words[:_LONGEST], _ACROSS, max_lines=_LINES, placeholder=" …")


def _text(words: str, y: int, size: int, colour: str, weight: str = "400") -> str:
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in words[:_LONGEST])
    return f'<text x="{_LEFT}" y="{y}" font-size="{size}" font-weight="{weight}" fill="{colour}">{escape(shown)}</text>'
