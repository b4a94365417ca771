"""A slim picture looks as the whole one does, and is a third of it."""

import itertools
import json
import struct
import zlib
from functools import partial
from xml.etree import ElementTree

import factory
import pytest
import vl_convert
from golden.__main__ import RECORDS

from suite.report.charts import vega
from suite.report.charts.slim import slim
from suite.results.records import store

LEAST, MOST = 30, 0.005  # levels of 255 by which a pixel differs visibly; share of pixels that may, at edges


def _specifications():
    records, _ = store.load([RECORDS])
    files = factory.pages(records)
    return {name: json.loads(text) for name, text in files.items() if name.startswith("charts/")}


def _levels(png):
    """Return the bytes of an 8-bit RGBA picture, row by row."""
    place, packed, width = 8, b"", 0
    while place < len(png):
        length, kind = struct.unpack(">I4s", png[place : place + 8])
        body = png[place + 8 : place + 8 + length]
        if kind == b"IHDR":
            width, _, depth, colours = struct.unpack(">IIBB", body[:10])
            assert (depth, colours) == (8, 6)
        packed += body if kind == b"IDAT" else b""
        place += 12 + length
    data, stride, before = zlib.decompress(packed), 4 * width, bytes(4 * width)
    for start in range(0, len(data), stride + 1):
        before = _unfiltered(data[start], bytearray(data[start + 1 : start + 1 + stride]), before)
        yield from before


def _unfiltered(how, row, above):
    for i in range(len(row)):
        left, up, corner = row[i - 4] if i > 3 else 0, above[i], above[i - 4] if i > 3 else 0
        paeth = min((left, up, corner), key=lambda value: abs(left + up - corner - value))
        row[i] = (row[i] + (0, left, up, (left + up) // 2, paeth)[how]) & 255
    return bytes(row)


def _on_white(png):
    levels = iter(_levels(png))
    for red, green, blue, alpha in zip(levels, levels, levels, levels, strict=True):
        yield tuple(level * alpha / 255 + 255 - alpha for level in (red, green, blue))


def _differing(one, other):
    """Return the share of pixels in which two pictures differ visibly."""
    pairs = list(zip(*map(_on_white, map(vl_convert.svg_to_png, (one, other))), strict=True))
    seen = sum(max(abs(a - b) for a, b in zip(*pair, strict=True)) > LEAST for pair in pairs)
    return seen / len(pairs)


def test_a_slim_picture_looks_as_the_whole_one_does():
    for name, spec in itertools.islice(_specifications().items(), 0, None, 4):
        picture = vega.svg(spec, "light")
        assert _differing(picture, slim(picture)) < MOST, name


def test_slim_pictures_are_a_third_of_the_whole_ones():
    pictures = [vega.svg(spec, "light") for spec in _specifications().values()]
    assert sum(map(len, map(slim, pictures))) < sum(map(len, pictures)) / 3


def test_a_slim_picture_keeps_every_word_and_states_its_size_first():
    for spec in _specifications().values():
        picture = vega.svg(spec, "dark")
        before, after = (
            [part.text for part in ElementTree.fromstring(text).iter() if part.text]
            for text in (picture, slim(picture))
        )
        shown = [text for text in before if f">{text}</text>" not in picture or f'opacity="0">{text}<' not in picture]
        assert sorted(after) == sorted(shown)
        assert vega._SIZE.search(slim(picture)[:400])


MARK = '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60"><g fill="none">{}</g></svg>'


@pytest.mark.parametrize(
    ("whole", "kept"),
    [
        ('<path d="M0,0h9v9h-9Z" transform="translate(1.23456,2)" fill="#0072b2"/>', True),
        ('<path d="M0,0h9v9h-9Z"/>', False),  # neither filled nor stroked
        ('<path d="M0,0h9v9h-9Z" fill="#0072b2" opacity="0"/>', False),
        ('<g opacity="0.5"><path d="M0,0h9v9h-9Z" fill="#0072b2"/></g>', True),
        ('<text fill="#0072b2"></text>', False),
    ],
)
def test_only_what_draws_nothing_is_dropped(whole, kept):
    assert ("0072b2" in slim(MARK.format(whole)) or "<path" in slim(MARK.format(whole))) is kept


def test_marks_that_shine_through_each_other_stay_apart():
    line = partial('<line x2="9" stroke="#000000" {} transform="translate(1,{})"/>'.format)
    assert slim(MARK.format(line("", 1) + line("", 2))).count("<path") == 1
    assert slim(MARK.format(line('opacity="0.5"', 1) + line('opacity="0.5"', 2))).count("<path") == 2


def test_hostile_text_stays_text_in_a_slim_picture():
    text = "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;"
    root = ElementTree.fromstring(slim(MARK.format(f'<text fill="#000000">{text}</text>')))
    assert [part.text for part in root.iter() if part.tag.endswith("text")] == ['<script>alert(1)</script> & "']
