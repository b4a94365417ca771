"""How a measuring command ends: done, budget spent, Ctrl-C or SIGTERM, always in the same order."""

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
    """The signals received so far."""

    terminated: bool = False

    def code(self, interrupted: bool, has_result: bool) -> int:
        """Return the exit code; without `has_result` a command that was not interrupted has failed."""
        if interrupted:
            return _TERMINATED if self.terminated else _INTERRUPTED
        return 0 if has_result else _FAILED


@contextmanager
def signals() -> Iterator[Signals]:
    """Treat SIGTERM as Ctrl-C, and ignore a SIGTERM after either: nox sends one after Ctrl-C."""
    received = Signals()
    if threading.current_thread() is not threading.main_thread():  # the only one that may set handlers
        yield received
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        received.terminated |= number == signal.SIGTERM
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield received
    except KeyboardInterrupt:
        if received.terminated:
            sys.exit(_TERMINATED)
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
