"""Labels beside marks: where they have room, and at the ends of lines, moved apart."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from suite.report.charts.axes import Scale

WIDE = 940  # pixels of a chart for wide screens
FONT, LETTER, LINE = 13, 7.6, 17  # pixels: of the text, of its letters' width and of a line of it
BESIDE = 10  # pixels from a mark to its label
_WIDER = 0.2  # of a text in a wide font
_MOVED = 6  # pixels from which on a thin line leads to the mark


def wrapped(name: str, letters: int) -> list[str]:
    """Return a name in lines of at most about so many letters; its own lines stay."""
    return [line for own in name.split("\n") for line in textwrap.wrap(own, letters) or [""]]


@dataclass(frozen=True, kw_only=True)
class Label:
    """A text beside a mark; its place in pixels from the lower left, and how far it moved up."""

    text: str
    x: float
    y: float
    series: str = ""
    moved: float = 0.0
    end: float | None = None  # of the line, if the label stands farther right

    @property
    def right(self) -> float:
        """Where it ends."""
        return self.x + BESIDE + LETTER * len(self.text)

    def touches(self, other: "Label") -> bool:
        """Return whether two labels run into each other."""
        across = self.x < other.right and other.x < self.right
        return across and abs(self.y + self.moved - other.y - other.moved) < LINE


def at_ends(labels: Sequence[Label]) -> list[Label]:
    """Return labels moved down until none runs into another, then up again as far as the lowest left the chart."""
    fallen = _apart(sorted(labels, key=lambda label: -label.y), -LINE)
    lifted = (replace(label, moved=max(label.moved, -label.y)) for label in reversed(fallen))
    return _apart(lifted, LINE)[::-1]


def _apart(labels: Iterable[Label], step: float) -> list[Label]:
    """Return labels moved by steps up or down, each past those before it into which it runs."""
    placed: list[Label] = []
    for label in labels:
        spot, end = label, max if step > 0 else min
        while blocking := [other for other in placed if spot.touches(other)]:
            spot = replace(spot, moved=end(other.y + other.moved for other in blocking) + step - spot.y)
        placed.append(spot)
    return placed


def padding(left: float = 0.0, right: float = 0.0) -> Mapping[str, float]:
    """Return the room around a chart whose texts reach so far over its sides: a reader's font may be wider."""
    return {"left": 14 + _WIDER * left, "right": 8 + _WIDER * right, "top": 5, "bottom": 5}


def with_room(labels: Sequence[Label], marks: Sequence[tuple[float, float]], widest: float) -> Iterator[Label]:
    """Yield the labels that run into no mark, no earlier label and not over the edge."""
    placed: list[Label] = []
    for label in labels:
        ends = (label.x + 4, label.right)
        covered = any(ends[0] < x < ends[1] and abs(y - label.y) < LINE / 2 for x, y in marks)
        if not covered and label.right < widest and not any(map(label.touches, placed)):
            placed.append(label)
            yield label


def rows_of(labels: Sequence[Label], across: Scale, up: Scale) -> list[Mapping[str, Any]]:
    """Return the labels as rows of a chart, in the values of its axes."""
    return [
        {
            "series": label.series,
            "text": label.text,
            "at": across.value(label.x),
            "end": across.value(label.end if label.end is not None else label.x),
            "value": up.value(label.y),
            "place": up.value(label.y + label.moved),
            "moved": abs(label.moved) >= _MOVED or (label.end is not None and label.x - label.end >= _MOVED),
        }
        for label in labels
    ]
