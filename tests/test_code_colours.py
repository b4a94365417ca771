"""The colours of code stand out from their ground, in light and in dark."""

import re
from pathlib import Path

import pytest

CSS = (Path(__file__).parent.parent / "site" / "assets" / "css" / "suite.css").read_text(encoding="utf-8")
LEAST = 4.5  # WCAG 2.2, 1.4.3, of text in its usual size
ROLES = {"number", "special", "function", "constant", "keyword", "string", "operator", "punctuation", "comment",
         "generic", "variable"}  # fmt: skip


def colours(scheme):
    block = re.search(rf'\[data-md-color-scheme="{scheme}"\] {{(.*?)}}', CSS, re.DOTALL)
    return dict(re.findall(r"--md-code-(?:hl-)?([\w-]+)-color: (#\w{6});", block[1]))


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def test_black_on_white_has_the_greatest_contrast():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_every_colour_of_code_stands_out_from_its_ground(scheme):
    given = colours(scheme)
    ground = given.pop("bg")
    assert given.keys() == ROLES
    assert {role: round(contrast(colour, ground), 2) for role, colour in given.items() if
            contrast(colour, ground) < LEAST} == {}  # fmt: skip
