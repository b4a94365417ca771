"""When a command has to stop measuring, so that the prompt is back when its budget is spent."""

import math
import time
from collections.abc import Callable

_OVERRUN = 0.05  # of the budget: a process that takes so much longer is ended


class OutOfTimeError(Exception):
    """The budget is spent, and more, while a process runs."""


class Deadline:
    """The wall time that a command has left to measure; a part is reserved for what it does afterwards."""

    def __init__(
        self,
        seconds: float | None = None,
        reserved: float = 0.0,
        began: float | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with a budget of so many seconds, None for no limit, of which the clock has had those since `began`."""
        self.now, self.seconds, self.reserved = now, seconds, reserved
        self._began = now() if began is None else began

    @property
    def left(self) -> float:
        """How many seconds a process that starts now may take; infinite without a limit."""
        return math.inf if self.seconds is None else self.seconds - self.reserved - (self.now() - self._began)

    @property
    def until_overrun(self) -> float:
        """In how many seconds a running process has to be ended."""
        return self.left if self.seconds is None else max(0.0, self.left + _OVERRUN * self.seconds)
