"""Numbers to text: the only place where a measured quantity becomes words."""

import math

DASH = "–"
_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_SMALL = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def decimals(value: float, half_width: float | None, digits: int = 3) -> int:
    """Return how many decimals to print: `digits` significant ones, none below the half-width, but at least one."""
    if value == 0 or not math.isfinite(value):
        return 0
    first = -math.floor(math.log10(abs(value)))
    wanted = digits - 1 + first
    if half_width is not None and half_width > 0 and math.isfinite(half_width):
        wanted = min(wanted, -math.floor(math.log10(half_width)))
    return max(wanted, first)


def rounded(value: float, half_width: float | None, digits: int = 3) -> float:
    """Return a value as it is printed, by which its unit and its decimals go: 0.9996 is 1.00."""
    return round(value, decimals(value, half_width, digits))


def number(value: float | None, half_width: float | None = None, digits: int = 3) -> str:
    """Return a value as plain text with a thousands separator; a dash for None or not finite."""
    if value is None or not math.isfinite(value):
        return DASH
    places = decimals(rounded(value, half_width, digits), half_width, digits)
    return f"{round(value, places):,.{max(places, 0)}f}"


def scientific(value: float | None) -> str:
    """Return an error such as '6.0e-16'; a dash for None or not finite."""
    if value is None or not math.isfinite(value):
        return DASH
    return f"{value:.1e}" if value else "0"


def counted(count: int, one: str, several: str = "") -> str:
    """Return how many there are of what one is called, such as '1 round' or '3 rounds'; `several` if not by an s."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def seconds(value: float | None, half_width: float | None = None) -> str:
    """Return a duration given in seconds, such as '12.3 ms' or '2 min 05 s', no digit below the half-width."""
    if value is None or not math.isfinite(value):
        return DASH
    shown = rounded(value, half_width)
    if shown >= 120:
        return _long(value, half_width or 0.0)
    size, unit = next((s for s in _SMALL if abs(shown) >= s[0]), _SMALL[-1])
    return f"{number(value / size, None if half_width is None else half_width / size)} {unit}"


def _long(value: float, half_width: float) -> str:
    """Return two minutes or more in at most two units, the smaller one left out below the half-width."""
    if half_width >= 3600:
        return f"{value / 3600:.0f} h"
    step = 60 if half_width >= 60 or value >= 3600 else 10 if half_width >= 10 else 1
    minutes, rest = divmod(step * round(value / step), 60)
    hours, over = divmod(minutes, 60)
    if hours:
        return f"{hours} h {over:02d} min"
    return f"{minutes} min" if step == 60 else f"{minutes} min {rest:02d} s"


def quantity(value: float | None, unit: str, half_width: float | None = None) -> str:
    """Return a value with a decimal prefix, such as '13.4 TFLOP/s' or '669,706'."""
    if value is None or not math.isfinite(value):
        return DASH
    shown = rounded(value, half_width)
    size, prefix = next((p for p in _PREFIXES if abs(shown) >= p[0]), _PREFIXES[-1])
    width = None if half_width is None else half_width / size
    return f"{number(value / size, width)} {prefix}{unit}".rstrip()


def small(value: float | None, unit: str) -> str:
    """Return a value with a decimal prefix, down to nano, such as '1.23 mJ' or '71.2 W'."""
    if value is None or not math.isfinite(value) or value >= 1 or value <= 0:
        return "0 " + unit if value == 0 else quantity(value, unit)
    size, prefix = next((p for p in ((1e-3, "m"), (1e-6, "µ")) if value >= p[0]), (1e-9, "n"))
    return f"{number(value / size)} {prefix}{unit}"


def money(value: float | None, currency: str, half_width: float | None = None) -> str:
    """Return an amount such as '0.90 USD' or '0.0123 USD'."""
    if value is None or not math.isfinite(value):
        return DASH
    return f"{number(value, half_width, digits=2 if half_width is None else 3)} {currency}"


def count(value: int | None) -> str:
    """Return a whole number with thousands separators."""
    return DASH if value is None else f"{value:,d}"


def memory(value: float | None) -> str:
    """Return bytes with a binary prefix, such as '81.6 GiB'."""
    if value is None:
        return DASH
    for size, unit in ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if value >= size:
            return f"{number(value / size)} {unit}"
    return f"{value:.0f} B"


def stated(value: float | None, unit: str = "ratio") -> str:
    """Return a documented number with the digits that it was written with, such as '4x' or '3 img/s'."""
    if value is None:
        return DASH
    return f"{value:,.10g}" + {"ratio": "x", "percent": " %"}.get(unit, f" {unit}")


def times(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """Return a ratio such as '52.3x', no digit below the half-width of its interval."""
    if value is None or not math.isfinite(value):
        return DASH
    return f"{number(value, half_width(low, high))}x"


def interval(low: float | None, high: float | None) -> str:
    """Return 'low to high' with the digits that the half-width allows, at most one more where an end is near zero."""
    if low is None or high is None:
        return DASH
    width = half_width(low, high)
    places = max(decimals(low, width), decimals(high, width))
    if width:
        places = min(places, 1 - math.floor(math.log10(width)))
    return f"{round(low, places):,.{max(places, 0)}f} to {round(high, places):,.{max(places, 0)}f}"


def seconds_interval(low: float | None, high: float | None) -> str:
    """Return an interval of durations given in seconds, such as '2.1 ms to 2.3 ms'."""
    if low is None or high is None:
        return DASH
    width = half_width(low, high)
    return f"{seconds(low, width)} to {seconds(high, width)}"


def quantity_interval(low: float | None, high: float | None, unit: str) -> str:
    """Return an interval of values with decimal prefixes, such as '13.2 TFLOP/s to 13.6 TFLOP/s'."""
    if low is None or high is None:
        return DASH
    width = half_width(low, high)
    return f"{quantity(low, unit, width)} to {quantity(high, unit, width)}"


def percent(share: float | None, digits: int = 2) -> str:
    """Return a share from 0 to 1 as a percentage."""
    return DASH if share is None or not math.isfinite(share) else f"{number(100 * share, digits=digits)} %"


def half_width(low: float | None, high: float | None) -> float | None:
    """Return half the length of an interval; None if there is none."""
    return None if low is None or high is None else (high - low) / 2
