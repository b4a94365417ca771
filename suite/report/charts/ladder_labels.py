"""Where the numbers of a ladder's marks and ticks stand: none runs into another, near ticks share a label."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from suite.report.charts.labels import LETTER

_GAP, _EDGE, _FAR = 4, 10, 25  # pixels: between two labels; by which one may leave the axis; from ticks to their label


@dataclass(frozen=True, kw_only=True)
class Number:
    """The text of a mark or tick in a row of the chart, at a value of its axis."""

    row: str
    value: float
    text: str
    down: int = 0  # pixels below its row's middle


@dataclass(frozen=True, kw_only=True)
class Axis:
    """A logarithmic axis of so many pixels."""

    low: float
    high: float
    pixels: int

    def pixel(self, value: float) -> float:
        """Return how far a value is from the axis' beginning."""
        return self.pixels * math.log(value / self.low) / math.log(self.high / self.low)

    def value(self, pixel: float) -> float:
        """Return the value so far from the axis' beginning."""
        return self.low * (self.high / self.low) ** (pixel / self.pixels)


class Labels:
    """The labels of a chart, each at a free one of the places below or above its row's middle."""

    def __init__(self, axis: Axis, downs: Sequence[int]) -> None:
        """Take the axis and the places, the best first."""
        self._axis, self._downs = axis, downs
        self._taken: dict[tuple[str, int], list[tuple[float, float]]] = {}

    def of_marks(self, numbers: Sequence[Number]) -> Iterator[Number]:
        """Yield the numbers that have room at their marks."""
        for number in numbers:
            yield from self._placed(number, self._axis.pixel(number.value), moved=False)

    def of_ticks(self, numbers: Sequence[Number]) -> Iterator[Number]:
        """Yield the labels of ticks, as near to the middle of theirs as there is room; single ones if none has room."""
        for row in dict.fromkeys(number.row for number in numbers):
            for ticks in self._clusters([number for number in numbers if number.row == row]):
                joint = list(self._placed(_joint(ticks), self._middle(ticks), moved=True))
                yield from joint or self.of_marks(ticks)

    def _clusters(self, ticks: Sequence[Number]) -> list[list[Number]]:
        """Return ticks from the left, those together whose labels would run into each other."""
        clusters: list[list[Number]] = []
        for tick in sorted(ticks, key=lambda number: number.value):
            clusters.append([tick])
            while len(clusters) > 1 and self._near(clusters[-2], clusters[-1]):
                last = clusters.pop()
                clusters[-1] += last
        return clusters

    def _near(self, left: Sequence[Number], right: Sequence[Number]) -> bool:
        return self._middle(right) - self._middle(left) < (_width(_joint(left)) + _width(_joint(right))) / 2 + _GAP

    def _middle(self, ticks: Sequence[Number]) -> float:
        return (self._axis.pixel(ticks[0].value) + self._axis.pixel(ticks[-1].value)) / 2

    def _placed(self, label: Number, middle: float, moved: bool) -> Iterator[Number]:
        """Yield the label at the nearest free place, only in the middle unless `moved`; nothing without one."""
        half = (_width(label) + _GAP) / 2
        far = half + _FAR if moved else 0
        free = [
            (abs(centre - middle), rank, centre)
            for rank, down in enumerate(self._downs)
            for centre in self._centres(label.row, down, middle, half)
            if abs(centre - middle) <= far and self._is_free(label.row, down, centre, half)
        ]
        if free:
            _, rank, centre = min(free)
            self._taken.setdefault((label.row, self._downs[rank]), []).append((centre - half, centre + half))
            yield replace(label, value=self._axis.value(centre), down=self._downs[rank])

    def _centres(self, row: str, down: int, middle: float, half: float) -> Iterator[float]:
        """Yield the middle, and the places right and left of each label in that line, if the axis goes so far."""
        yield middle
        for left, right in self._taken.get((row, down), ()):
            for centre in (right + half, left - half):
                if centre - half >= -_EDGE and centre + half <= self._axis.pixels + _EDGE:
                    yield centre

    def _is_free(self, row: str, down: int, centre: float, half: float) -> bool:
        taken = self._taken.get((row, down), ())
        return all(centre + half <= left or right <= centre - half for left, right in taken)


def _joint(ticks: Sequence[Number]) -> Number:
    """Return the label of ticks: their numbers, of more than two the first and the last."""
    texts = list(dict.fromkeys(tick.text for tick in ticks))
    few = len(texts) <= 2
    return replace(ticks[0], text=" and ".join(texts) if few else f"{texts[0]} to {texts[-1]}")


def _width(label: Number) -> float:
    return LETTER * len(label.text)
