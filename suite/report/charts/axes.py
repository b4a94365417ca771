"""Axes that people read: ticks at 1, 2, 5 and 10 with their units, and places in pixels for labels."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt

from suite.report.charts.vega import APART

Kind = Literal["", "x", "s"]  # a plain quantity, a ratio, seconds
_STEPS = ((1, 1.2, 1.5, 2, 3, 4, 5, 7), (1, 2, 5), (1,))  # in a decade, if there is room
_FEW, _NEAR = 8, 4  # powers of two that all have a tick; ends of an axis of which one is so many times the other
_TITLE = 10  # pixels between an axis' labels and its title
_TICK = {"across": 55, "up": 28}  # pixels of one
_PLAIN = "datum.value >= 10000 ? format(datum.value, '~s') : format(datum.value, ',~g')"
_WORDS: dict[Kind, str] = {
    "": _PLAIN,
    "x": f"({_PLAIN}) + 'x'",
    "s": "datum.value >= 1 ? format(datum.value, '~g') + ' s' : datum.value >= 0.001 ? "
    "format(1000 * datum.value, '~r') + ' ms' : format(1000000 * datum.value, '~r') + ' µs'",
}

Channel = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Scale:
    """A logarithmic axis, or one of shares from 0, of so many pixels."""

    low: float
    high: float
    pixels: int
    title: str = ""
    kind: Kind = ""
    values: tuple[float, ...] = ()  # ticks
    log: bool = True

    @property
    def channel(self) -> Channel:
        """What altair's channel of a place needs."""
        return self.at(None)

    @property
    def without_axis(self) -> Channel:
        """What a channel needs that draws no axis."""
        return self.channel | {"axis": None}

    def at(self, side: Literal["bottom", "top"] | None) -> Channel:
        """Return what a channel needs, its axis on a side of the chart; None is the usual one."""
        shape: Channel = {"type": "log"} if self.log else {}
        axis = alt.Axis(
            labelOverlap="greedy",
            labelSeparation=APART,
            values=[value for value in self.values if self.low <= value <= self.high],
            labelExpr=_WORDS[self.kind],
            titlePadding=_TITLE,
            **({"orient": side, "grid": side == "bottom"} if side else {}),
        )
        scale = alt.Scale(domain=[self.low, self.high], nice=False, **shape)
        return {"scale": scale, "title": self.title or None, "axis": axis}

    def pixel(self, value: float) -> float:
        """Return how far a value is from the axis' beginning."""
        low, high, place = (math.log(each) if self.log else each for each in (self.low, self.high, value))
        return self.pixels * (place - low) / (high - low)

    def value(self, pixel: float) -> float:
        """Return the value so far from the axis' beginning."""
        part = pixel / self.pixels
        return self.low * (self.high / self.low) ** part if self.log else self.low + part * (self.high - self.low)


def shares(title: str, most: float, pixels: int) -> Scale:
    """Return the axis from 0 to `most`, which all shares make up."""
    quarters = tuple(most * part / 4 for part in range(5))
    return Scale(low=0, high=most, pixels=pixels, title=title, values=quarters, log=False)


def logarithmic(
    title: str,
    values: Sequence[float | None],
    pixels: int,
    kind: Kind = "",
    room: tuple[int, int] = (16, 16),
    way: Literal["across", "up"] = "across",
) -> Scale:
    """Return the axis over these values, with so many pixels of room at its ends."""
    shown = sorted({value for value in values if value is not None and value > 0}) or [1.0]
    first, last = shown[0], shown[-1]
    if last / first < 1.05:
        first, last = first / 1.2, last * 1.2
    inner = pixels - sum(room)
    low, high = (first * (last / first) ** (-room[0] / inner), last * (last / first) ** (room[1] / inner))
    return Scale(
        low=low, high=high, pixels=pixels, title=title, kind=kind, values=tuple(ticks(shown, pixels / _TICK[way]))
    )


def ticks(values: Sequence[float], most: float = 8) -> list[float]:
    """Return the ticks of an axis over these sorted values, as many as there is room for."""
    if len(values) <= _FEW and all(value >= 1 and math.log2(value).is_integer() for value in values):
        return list(values)  # thread counts, small batch sweeps
    first, last = (values[0], values[-1]) if values else (1.0, 10.0)
    powers = range(math.floor(math.log10(first)) - 1, math.ceil(math.log10(last)) + 2)
    for steps in _STEPS[last / first > _NEAR :]:
        shown = [float(f"{step * 10.0**power:.6g}") for power in powers for step in steps]
        if sum(first <= tick <= last for tick in shown) <= most:
            return shown
    return [10.0**power for power in powers if power % math.ceil(len(powers) / most) == 0]
