"""Keep a number on one line with its unit."""

import re

_NO_BREAK = "\u00a0"
_UNITS = r"%|x|[nµm]?s|min|h|[kMGT]?(?:i?B|FLOP)|[kMGT]|W|J|°C|[kMG]?Hz"
# Everything that is not text is matched whole, so that it stays unchanged.
_PARTS = re.compile(
    rf"<(script|style|code|pre|textarea)\b.*?</\1>|<[^>]*>|(?<=\d) (?=(?:{_UNITS})(?![\w/]))", re.DOTALL
)


def unbroken(html: str) -> str:
    """Return a page without line breaks between a number and its unit; code and attributes are unchanged."""
    return _PARTS.sub(lambda part: _NO_BREAK if part[0] == " " else part[0], html)
