"""The signals that end a command in order, as Ctrl-C does."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

import click

_FAILED = 1
# What ends a command in order besides Ctrl-C: a scheduler, a container or `timeout`; a closed terminal; Slurm's warning
# before a limit (--signal); a limit of processor time; an alarm that the starter has set.
_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU, signal.SIGALRM)


@dataclass
class Signals:
    """The first signal received, if any."""

    first: int = 0

    @property
    def name(self) -> str:
        """Its name, such as 'SIGTERM'; '' for none and for Ctrl-C."""
        return signal.Signals(self.first).name if self.first not in (0, signal.SIGINT) else ""

    def code(self, interrupted: bool, has_result: bool) -> int:
        """Return the exit code; without `has_result` a command that was not interrupted has failed."""
        if interrupted:
            return 128 + (self.first or signal.SIGINT)
        return 0 if has_result else _FAILED


@contextmanager
def signals() -> Iterator[Signals]:
    """Treat the signals that end a command as Ctrl-C, and ignore them after the first: nox sends SIGTERM after Ctrl-C.

    What the starter ignores stays ignored, such as SIGHUP below nohup; not so SIGTERM and SIGINT, which shells ignore
    for commands in the background.
    """
    received = Signals()
    if threading.current_thread() is not threading.main_thread():  # the only one that may set handlers
        yield received
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        if received.first and number != signal.SIGINT:
            return
        received.first = received.first or number
        raise KeyboardInterrupt

    before: dict[signal.Signals, Any] = {
        number: signal.signal(number, interrupt)
        for number in (signal.SIGINT, *_ENDING)
        if signal.getsignal(number) != signal.SIG_IGN or number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield received
    except KeyboardInterrupt:
        click.echo(f"interrupted by {received.name}" if received.name else "interrupted", err=True)
        sys.exit(received.code(interrupted=True, has_result=False))
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
