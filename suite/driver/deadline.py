"""When a command stops measuring, so that it returns when its budget is spent."""

import math
import time
from collections.abc import Callable

_OVERRUN = 0.05  # of the budget: a process that overruns it by more is ended


class OutOfTimeError(Exception):
    """A running process has overrun the budget."""


class Deadline:
    """The wall time that a command has left to measure, without the part reserved for its work afterwards."""

    def __init__(
        self,
        seconds: float | None = None,
        reserved: float = 0.0,
        began: float | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start a budget in seconds, None for no limit, that has been running since `began`."""
        self.now, self.seconds, self.reserved = now, seconds, reserved
        self._began = now() if began is None else began

    @property
    def left(self) -> float:
        """Seconds that a process that starts now may take; infinite without a limit."""
        return math.inf if self.seconds is None else self.seconds - self.reserved - (self.now() - self._began)

    @property
    def until_overrun(self) -> float:
        """Seconds until a running process has to be ended; infinite without a limit."""
        return self.left if self.seconds is None else max(0.0, self.left + _OVERRUN * self.seconds)
