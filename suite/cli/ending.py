"""How a command that measures ends: by itself, at its budget, by Ctrl-C or by SIGTERM, always in the same order."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

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
    """Let the first SIGTERM do what Ctrl-C does; later ones, such as nox sends after Ctrl-C, do nothing."""
    found = Signals()

    def once(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        found.terminated = True
        raise KeyboardInterrupt

    before: Any = signal.signal(signal.SIGTERM, once)
    try:
        yield found
    except KeyboardInterrupt:
        if found.terminated:
            sys.exit(_TERMINATED)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
