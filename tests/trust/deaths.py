"""Death at a call: a process kills itself before the n-th call of a kind that changes files, locks or processes.

Calls are seen by Python's audit hooks, which nothing goes around; writes, syncs and the moment after a process was
started, of which the hooks are not told, by functions put in place of Python's. A death before a call is the death
after the one before it. A write may also be torn: a share of its bytes is written before the death.
"""

import builtins
import io
import mmap
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from typing import Any

_CHANGES = {
    "os.rename", "os.link", "os.symlink", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod", "fcntl.flock",
    "subprocess.Popen", "os.kill", "os.killpg",
}  # fmt: skip
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_plain_open, _plain_write, _plain_fsync, _plain_start = io.open, os.write, os.fsync, subprocess._fork_exec
_LENGTH = 24  # of a call's name, at most


class Deaths:
    """Counts the calls of a forked process, writes their names where its parent reads them, and ends it at one."""

    def __init__(self, most: int = 4000) -> None:
        self._seen = mmap.mmap(-1, _LENGTH * most)  # shared with the forked process
        self._torn_one = mmap.mmap(-1, 1)
        self._counts, self._at, self._torn = Counter[str](), ("", 0), 0.0

    def forget(self) -> None:
        """Forget the calls of the last process."""
        self._seen[:] = bytes(len(self._seen))
        self._torn_one[0] = 0

    @property
    def torn(self) -> bool:
        """Whether the last process died within a write."""
        return bool(self._torn_one[0])

    def calls(self) -> list[str]:
        """Return the names of the calls that a process made; the last one is that which it died at."""
        names = self._seen[:].partition(bytes(_LENGTH))[0]
        return [names[place : place + _LENGTH].rstrip(b"\0").decode() for place in range(0, len(names), _LENGTH)]

    def numbered(self) -> list[tuple[str, int]]:
        """Return the calls that a process made, each with its number among those of its kind."""
        counts = Counter[str]()
        return [(call, counts[call]) for call in self.calls() if not counts.update((call,))]

    def arm(self, call: str, nth: int, torn: float) -> None:
        """Count this process's calls from now on, and die at the n-th of a kind; '' is none.

        The number among all calls would not do: how often a child is ended differs from run to run. Of a write there
        the share `torn` of its bytes is written.
        """
        self._at, self._torn = (call, nth), torn
        sys.addaudithook(self._hears)
        builtins.open = io.open = tempfile._io.open = self._opens
        os.write, os.fsync, subprocess._fork_exec = self._writes, self._syncs, self._starts

    def _dies(self, call: str) -> bool:
        """Note a call; return whether the process is to die at it."""
        place = _LENGTH * self._counts.total()
        self._counts[call] += 1
        if place < len(self._seen) - _LENGTH:
            self._seen[place : place + _LENGTH] = call.encode().ljust(_LENGTH, b"\0")
        return (call, self._counts[call]) == self._at

    def _step(self, call: str) -> None:
        """Die if it is the call to die at."""
        if self._dies(call):
            die()

    def _hears(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in _CHANGES:
            self._step(event.removeprefix("os."))
        elif event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITES:
            self._step("open")

    def writes(self, write: Any, to: Any, content: Any) -> int:
        """Write by a function, or die before or within it."""
        if self._dies("write"):
            if self._torn:
                write(to, bytes(content)[: int(self._torn * len(content))])
                self._torn_one[0] = 1
            die()
        return write(to, content)

    def _writes(self, handle: int, content: Any) -> int:
        return self.writes(_plain_write, handle, content)

    def _syncs(self, handle: Any) -> None:
        self._step("fsync")
        _plain_fsync(handle)

    def _starts(self, *arguments: Any) -> int:
        process = _plain_start(*arguments)
        self._step("process started")
        return process

    def _opens(self, file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
        """Open a file; of one that is written to, each write is counted as it leaves the buffer."""
        if not set(mode) & set("wax+"):
            return _plain_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        raw = _Raw(self, file, mode.replace("b", "").replace("t", ""), closefd, opener)
        if not buffering:
            return raw
        buffer = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        if "b" in mode:
            return buffer
        text = io.TextIOWrapper(buffer, encoding or "utf-8", errors, newline, line_buffering=buffering == 1)
        text.mode = mode  # pyright: ignore[reportAttributeAccessIssue] - as Python's own function does
        return text


class _Raw(io.FileIO):
    """A file whose writes are counted."""

    def __init__(self, deaths: Deaths, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._deaths = deaths

    def write(self, content: Any, /) -> int:
        """Write, or die."""
        return self._deaths.writes(io.FileIO.write, self, content)


def die() -> None:
    """Kill this process; it does not return."""
    signal.raise_signal(signal.SIGKILL)
