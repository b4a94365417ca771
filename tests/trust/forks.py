"""The command line in forks of a process that has imported it before: a tenth of a second instead of three.

`python -m trust.forks NAME` serves a socket of that name in Linux's abstract namespace until its input ends. `start`
asks for a fork: its arguments, environment, folder and log, and what is planted in it before it begins, see plants.py.
"""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from trust import plants

_ROOT = Path(__file__).parents[2]
# An interpreter, its C library or its loader reads these as it starts: a fork would not.
_READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC_", "GLIBC_")


class Forked:
    """A command line in a fork."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self._end = socket.socket(socket.AF_UNIX)
        self._end.connect(_server())
        self._end.sendall(json.dumps(asked).encode() + b"\n")
        self._lines = self._end.makefile()
        self.pid = int(self._lines.readline())

    def wait(self, seconds: float) -> int:
        """Return its exit code, negative for a signal. Raises TimeoutError if it does not end in time."""
        if not select.select([self._end], [], [], seconds)[0]:
            raise TimeoutError(f"the command did not end within {seconds:.0f} s")
        with self._end, self._lines:
            return int(self._lines.readline())

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)


def permits(environment: dict[str, str]) -> bool:
    """Return whether a fork would run in this environment as a fresh Python does."""
    return all(
        environment.get(name) == os.environ.get(name)
        for name in environment.keys() | os.environ.keys()
        if name.startswith(_READ_AT_START) and name not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    )


def _server() -> str:
    """Return the address of the server, which is started once and ends with this process."""
    name = f"\0trust-{os.getpid()}"
    with _one_at_a_time:
        if not _kept:
            _start(name)
    return name


def _start(name: str) -> None:
    """Start the server, and return when it serves."""
    env = {**os.environ, "PYTHONPATH": f"{_ROOT}{os.pathsep}{_ROOT / 'tests'}", "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-m", "trust.forks", name[1:]]
    server = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdout is not None
    if not server.stdout.readline():
        raise RuntimeError(f"the server of forks ended with exit code {server.wait()}")
    _kept.append(server)
    atexit.register(server.communicate)  # closes its input, and so ends it


_one_at_a_time = threading.Lock()
_kept: list[subprocess.Popen] = []


def serve(name: str) -> None:
    """Fork for each connection until standard input ends."""
    import scipy.special  # noqa: F401 - like the rest, imported once instead of in every fork

    from suite.console import printing  # noqa: F401
    from suite.data import builder
    from suite.report.parts import frameworks, tables  # noqa: F401
    from suite.sessions import bench, publishing  # noqa: F401

    builder.stock_class("mnist")

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the keepers
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0{name}")
        listener.listen(64)
        print("ready", flush=True)
        while 0 not in select.select([listener, 0], [], [])[0]:
            end, _ = listener.accept()
            if not os.fork():
                listener.close()
                keep(end)
                os._exit(0)
            end.close()


def keep(end: socket.socket) -> None:
    """Run the command that is asked for in a child; write its process and, once it has ended, its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    asked = json.loads(end.makefile().readline())
    process = os.fork()
    if not process:
        end.close()
        run(**asked)
    end.sendall(b"%d\n" % process)
    _, status = os.waitpid(process, 0)
    end.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def run(arguments: list[str], environment: dict[str, str], folder: str, log: str, planted: list[list[Any]]) -> None:
    """Be that command to the end of this process."""
    code = 70
    try:
        os.setsid()
        for number, place, how in ((0, os.devnull, os.O_RDONLY), (1, log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)):
            os.dup2(os.open(place, how), number)
        os.dup2(1, 2)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        time.tzset()
        tempfile.tempdir = None
        sys.argv = [str(_ROOT / "suite" / "__main__.py"), *arguments]
        sys.path[:] = [place for place in sys.path if place != str(_ROOT / "tests")]
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it, and what is ignored stays so
        for name, *given in planted:
            getattr(plants, name)(*given)
        from suite import cli

        cli.main(arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(bool(end.code))
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve(sys.argv[1])
