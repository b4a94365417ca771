"""Output outlives its readers: what cannot be written any more, as after `| head`, is dropped and stops no work."""

import errno
import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click


class Outlasting(io.FileIO):
    """A file descriptor that leads nowhere once it cannot be written to: its pipe or terminal was closed."""

    lost: OSError | None = None

    def write(self, data: Any, /) -> int:
        """Write, or drop what cannot be written."""
        try:
            return super().write(data)
        except OSError as error:
            self.lost = error
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return memoryview(data).nbytes


@contextmanager
def outlasting() -> Iterator[None]:
    """Let standard output and error outlast their readers, and show '?' for what a terminal lacks, such as 'µ'.

    A command that would succeed exits with 141, as one that SIGPIPE ends, if its output was closed, and with 1, after
    a line, if it could not be written for another reason.
    """
    before = sys.stdout, sys.stderr
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # it was closed by the starter: keep its number from other files
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - until the end
        elif isinstance(stream, io.TextIOWrapper):
            setattr(sys, name, _outlasting(stream))
    try:
        yield
    except SystemExit as ending:
        with suppress(ValueError):
            sys.stdout.flush()
        if not ending.code and (error := lost()):
            if error.errno == errno.EPIPE:
                sys.exit(128 + signal.SIGPIPE)
            click.echo(f"Error: cannot write to standard output: {error.strerror}", err=True)
            sys.exit(1)
        raise
    finally:
        with suppress(ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        sys.stdout, sys.stderr = before


def lost() -> OSError | None:
    """Return why output was dropped; None if all of it was written."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return raw.lost if isinstance(raw, Outlasting) else None


def _outlasting(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    try:
        number = stream.fileno()
    except OSError:  # not a file, as in tests
        stream.reconfigure(errors="replace")
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(Outlasting(number, "wb", closefd=False)),
        encoding=stream.encoding,
        errors="replace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
