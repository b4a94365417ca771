"""The four states of a number: whether it may be quoted for its kind of machine."""

from typing import Literal

from suite.results.stats.statistics import Estimate

State = Literal["quotable", "open", "not certified", "invalid"]
MAX_HALF_WIDTH = 0.15  # relative half-width


def status(state: State, *, outdated: bool = False, slow_cpu: bool = False) -> str:
    """Return a state as a table has it, with whether an earlier method timed the number and whether the CPU is slow."""
    return ", ".join([state, *["earlier method"] * outdated, *["slow CPU"] * slow_cpu])


def too_wide(value: Estimate | None) -> str:
    """Return the half-width of an interval that is too wide, as text; '' if it is not, or if there is no interval."""
    width = value.relative_half_width if value else None
    if width is None or width <= MAX_HALF_WIDTH:
        return ""
    text = f"{100 * width:.3g}"
    return f"half-width {text if float(text) > 100 * MAX_HALF_WIDTH else f'{100 * width:.6g}'} %"
