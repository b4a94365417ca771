"""The four states of a number: whether it may be quoted for its kind of machine."""

from typing import Literal

from suite.results.stats.statistics import Estimate

State = Literal["quotable", "open", "not certified", "invalid"]
MAX_HALF_WIDTH = 0.15  # relative half-width


def too_wide(value: Estimate | None) -> str:
    """Return the half-width of an interval that is too wide, as text; '' if it is not, or if there is no interval."""
    width = value.relative_half_width if value else None
    if width is None or width <= MAX_HALF_WIDTH:
        return ""
    texts = [f"{100 * width:.{digits}g}" for digits in range(3, 18)]
    shown = next((text for text in texts if float(text) > 100 * MAX_HALF_WIDTH), texts[-1])  # as too wide
    return f"half-width {shown} %"
