"""Format numbers as text: the only place where a measured quantity becomes words."""

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

DASH = "–"
_PREFIXES = ((15, "P"), (12, "T"), (9, "G"), (6, "M"), (3, "k"), (0, ""))  # powers of ten
_SMALL = ((0, "s"), (-3, "ms"), (-6, "µs"), (-9, "ns"))
_LONG = (3600, 600, 60, 10)  # steps of a long duration, in seconds
_FAR = 0.1  # the most by which rounding may move an end of an interval, as a share of it
_SURE = 12  # digits of a computed number that are free of rounding errors
_ROOM = Context(prec=400)  # enough for any float


def decimals(value: float, half_width: float | None, digits: int = 3) -> int:
    """Return how many decimals to print: `digits` significant ones, or fewer if the half-width allows only those.

    They end at the half-width's second digit if its first is 1, 2 or 3, else at its first; at least one digit of the
    value is printed. Digits beyond `digits` vary between campaigns, even if one campaign's interval is narrow.
    """
    if value == 0 or not math.isfinite(value):
        return 0
    first = -math.floor(math.log10(abs(value)))
    most = first + digits - 1
    if not half_width or not math.isfinite(half_width):
        return most
    digit, exponent = f"{half_width:.8e}".split("e")
    return max(first, min(-int(exponent) + (digit[0] in "123"), most))


def _rounded(value: float, half_width: float | None, digits: int = 3, rounding: str = ROUND_HALF_EVEN) -> Decimal:
    """Return a value as printed, from which unit and decimals follow: 0.9996 is 1.00."""
    shown = _at(value, decimals(value, half_width, digits), rounding)
    return _at(value, decimals(float(shown), half_width, digits), rounding)


def _at(value: float, places: int, rounding: str) -> Decimal:
    """Return a value with so many decimals; rounding errors of arithmetic do not round it up or down a digit."""
    shown = Decimal(f"{value:.{_SURE}g}").quantize(Decimal(1).scaleb(-places), rounding, _ROOM)
    return shown if shown else abs(shown)  # no zero has a sign


def number(value: float | None, half_width: float | None = None, digits: int = 3) -> str:
    """Return a value as text with a thousands separator; a dash for None or not finite."""
    if value is None or not math.isfinite(value):
        return DASH
    return f"{_rounded(value, half_width, digits):,f}"


def scientific(value: float | None) -> str:
    """Return an error such as '6.0e-16'; a dash for None or not finite."""
    if value is None or not math.isfinite(value):
        return DASH
    return f"{value:.1e}" if value else "0"


def pluralize(count: int, one: str, several: str = "") -> str:
    """Return a count with its noun, such as '1 round' or '3 rounds'; `several` is an irregular plural."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def seconds(value: float | None, half_width: float | None = None) -> str:
    """Return a duration in seconds as text, such as '12.3 ms' or '2 min 05 s', no more exact than its half-width."""
    if value is None or not math.isfinite(value):
        return DASH
    return _duration(value, half_width, ROUND_HALF_EVEN)


def _duration(value: float, half_width: float | None, rounding: str) -> str:
    shown = _rounded(value, half_width, rounding=rounding)
    return _long(value, half_width, rounding) if shown >= 120 else _scaled(shown, _SMALL)


def _scaled(shown: Decimal, sizes: Sequence[tuple[int, str]]) -> str:
    """Return a value in the largest unit that it reaches."""
    exponent, name = next((size for size in sizes if shown.adjusted() >= size[0]), sizes[-1])
    return f"{shown.scaleb(-exponent):,f} {name}"


def _long(value: float, half_width: float | None, rounding: str) -> str:
    """Return a duration of two minutes or more in at most two units, down to the one that the half-width allows."""
    step = _step(value, half_width)
    minutes, rest = divmod(int(_at(value / step, 0, rounding)) * step, 60)
    hours, over = divmod(minutes, 60)
    if hours:
        return f"{hours} h" if step == 3600 else f"{hours} h {over:02d} min"
    return f"{minutes} min" if step >= 60 else f"{minutes} min {rest:02d} s"


def _step(value: float, half_width: float | None) -> int:
    """Return the step in seconds to which a long duration is rounded.

    It is the longest that is at most a quarter of the half-width, but at least 10 s from 1,000 s up and 60 s from an
    hour up.
    """
    least = 60 if round(value) >= 3600 else 10 if value >= 1000 else 1
    if half_width is None or not math.isfinite(half_width):
        return least
    return max(least, next((step for step in _LONG if step <= min(half_width / 4, value)), 1))


def quantity(value: float | None, unit: str, half_width: float | None = None) -> str:
    """Return a value with a decimal prefix, such as '13.4 TFLOP/s' or '669,706'."""
    if value is None or not math.isfinite(value):
        return DASH
    return _prefixed(value, unit, half_width, ROUND_HALF_EVEN)


def _prefixed(value: float, unit: str, half_width: float | None, rounding: str) -> str:
    return (_scaled(_rounded(value, half_width, rounding=rounding), _PREFIXES) + unit).rstrip()


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


def day(moment: str) -> str:
    """Return the day, 'YYYY-MM-DD', of a moment in ISO 8601."""
    return moment[:10]


def minute(moment: str) -> str:
    """Return the minute, 'YYYY-MM-DD hh:mm', of a moment in ISO 8601."""
    return moment[:16].replace("T", " ")


def documented(value: float | None, unit: str = "ratio") -> str:
    """Return a documented number with its original digits, such as '4x' or '3 img/s'."""
    if value is None:
        return DASH
    return f"{value:,.10g}" + {"ratio": "x", "percent": " %"}.get(unit, f" {unit}")


def ratio(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """Return a ratio such as '52.3x', with the digits that its half-width allows, at most three."""
    if value is None or not math.isfinite(value):
        return DASH
    return f"{number(value, half_width(low, high))}x"


def interval(low: float | None, high: float | None) -> str:
    """Return 'low to high' with the digits that the half-width allows, at most three, never narrower than computed.

    The low end is rounded down and the high end up. Both have one more digit if an end would move by over a tenth of
    itself. Equal ends are printed alike.
    """
    if low is None or high is None or not math.isfinite(high - low):
        return DASH
    if _alike(low, high):
        return f"{number(low)} to {number(high)}"
    places = decimals(max(low, high, key=abs), (high - low) / 2)
    ends, finer = ((_end(low, each, ROUND_FLOOR), _end(high, each, ROUND_CEILING)) for each in (places, places + 1))
    moved, less = (max(_moved(low, each[0]), _moved(high, each[1])) for each in (ends, finer))
    return " to ".join(f"{end:,f}" for end in (finer if moved > _FAR and less < moved else ends))


def _moved(value: float, end: Decimal) -> float:
    """Return by what share of itself rounding moved a value."""
    return abs(float(end) - value) / abs(value) if value else 0.0


def _alike(low: float, high: float) -> bool:
    """Return whether two ends differ by no more than arithmetic errors."""
    return (high - low) / 2 <= max(abs(low), abs(high)) * 10.0 ** (1 - _SURE)


def _end(value: float, places: int, rounding: str) -> Decimal:
    """Return a value with so many decimals, or one fewer if 9.996 would gain a fourth digit as 10.00."""
    shown = _at(value, places, rounding)
    return shown if len(shown.as_tuple().digits) <= 3 else _at(value, places - 1, rounding)


def seconds_interval(low: float | None, high: float | None) -> str:
    """Return an interval of durations in seconds, such as '2.1 ms to 2.3 ms', no narrower than computed."""
    return _ends(low, high, _duration)


def quantity_interval(low: float | None, high: float | None, unit: str) -> str:
    """Return an interval of values with prefixes, such as '13.2 TFLOP/s to 13.6 TFLOP/s', no narrower than computed."""
    return _ends(low, high, lambda end, width, rounding: _prefixed(end, unit, width, rounding))


def _ends(low: float | None, high: float | None, text: Callable[[float, float, str], str]) -> str:
    """Return two ends with their units, the low one rounded down, the high one up; equal ends are printed alike."""
    if low is None or high is None or not math.isfinite(high - low):
        return DASH
    down, up = (ROUND_HALF_EVEN, ROUND_HALF_EVEN) if _alike(low, high) else (ROUND_FLOOR, ROUND_CEILING)
    width = (high - low) / 2
    return f"{text(low, width, down)} to {text(high, width, up)}"


def percent(share: float | None, digits: int = 2) -> str:
    """Return a share from 0 to 1 as a percentage."""
    return DASH if share is None or not math.isfinite(share) else f"{number(100 * share, digits=digits)} %"


def half_width(low: float | None, high: float | None) -> float | None:
    """Return half the length of an interval; None without an interval."""
    return None if low is None or high is None else (high - low) / 2
