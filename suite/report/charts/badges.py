"""A number as a badge for other pages: its name on the left, the number on the right."""

from xml.sax.saxutils import escape

from suite.results.cite.citation import Citation
from suite.scopes import SCOPES

_HEIGHT, _SIZE, _PADDING = 20, 11, 7
_WIDTHS = {"narrow": 3.6, "wide": 9.0, "usual": 6.4}  # pixels of a letter
_NARROW, _WIDE = frozenset("iljtf.,:;'|()[]! "), frozenset("mwMW")
_SIDES = {
    "speedup": "GPU over CPU",
    "best-over-best": "best GPU over best CPU",
    "flop-threshold": "the GPU pays from",
    "elements-threshold": "the GPU pays from",
}


def badge(cited: Citation) -> str:
    """Return an SVG badge that names its key; a number that is not quotable shows its state, a slow CPU that it is."""
    case, metric = cited.number.record.case, cited.number.key.metric
    label = f"{case.workload}: {_SIDES.get(metric, case.backend.upper())}, {SCOPES[case.scope].badge}"
    value = ", ".join(filter(None, (cited.value, cited.number.word, "slow CPU" * bool(cited.number.slow_cpu))))
    left, right = (round(_length(words) + 2 * _PADDING) for words in (label, value))
    description = f"{label}: {cited.quoted}, {cited.number.record.machine.name}, {cited.date}, {cited.key}"
    middle = _HEIGHT - 6
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{_HEIGHT}" role="img" '
        f'aria-label="{escape(description, {chr(34): "&quot;"})}"><title>{escape(description)}</title>'
        f'<rect width="{left}" height="{_HEIGHT}" fill="#374151"/>'
        f'<rect x="{left}" width="{right}" height="{_HEIGHT}" fill="#005f99"/>'
        f'<g fill="#ffffff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="{_SIZE}">'
        f'<text x="{_PADDING}" y="{middle}" textLength="{left - 2 * _PADDING}">{escape(label)}</text>'
        f'<text x="{left + _PADDING}" y="{middle}" textLength="{right - 2 * _PADDING}">{escape(value)}</text>'
        "</g></svg>\n"
    )


def _length(words: str) -> float:
    return sum(_WIDTHS["narrow" if letter in _NARROW else "wide" if letter in _WIDE else "usual"] for letter in words)
