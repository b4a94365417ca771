"""A number stays on one line with its unit."""

import re

_NO_BREAK = "\u00a0"
_UNITS = r"%|x|[nµm]?s|min|h|[kMGT]?(?:i?B|FLOP)|[kMGT]|W|J|°C|[kMG]?Hz"
# What is not text is taken whole, so that nothing in it is touched.
_PARTS = re.compile(
    rf"<(script|style|code|pre|textarea)\b.*?</\1>|<[^>]*>|(?<=\d) (?=(?:{_UNITS})(?![\w/]))", re.DOTALL
)


def unbroken(html: str) -> str:
    """Return a page whose text breaks no line between a number and its unit; code and attributes stay as they are."""
    return _PARTS.sub(lambda part: _NO_BREAK if part[0] == " " else part[0], html)
