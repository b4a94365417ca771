"""How a command that measures ends: by itself, at its budget, by Ctrl-C or by SIGTERM, always in the same order."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

_FAILED, _INTERRUPTED, _TERMINATED = 1, 130, 143


@dataclass
class Signals:
    """Which signals have come."""

    terminated: bool = False

    def code(self, interrupted: bool, whole: bool) -> int:
        """Return the exit code; `whole` says whether there is a result that makes sense."""
        if interrupted:
            return _TERMINATED if self.terminated else _INTERRUPTED
        return 0 if whole else _FAILED


@contextmanager
def signals() -> Iterator[Signals]:
    """Let SIGTERM do what Ctrl-C does, once: a SIGTERM after either, such as nox sends after Ctrl-C, does nothing."""
    found = Signals()
    if threading.current_thread() is not threading.main_thread():  # which alone may hear signals
        yield found
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        found.terminated |= number == signal.SIGTERM
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield found
    except KeyboardInterrupt:
        if found.terminated:
            sys.exit(_TERMINATED)
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
