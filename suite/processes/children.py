"""Child processes: interpreter, clean environment, time limits, and an end without orphans."""

import os
import platform
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from suite.case import Allocator, Backend, Implementation
from suite.child_imports import child_imports
from suite.data import store
from suite.system import causes
from suite.system.variables import REPLACED
from suite.worker_api.clock import Clock

# By default glibc returns every freed temporary to the kernel and faults it in again at the next step.
TUNED_MALLOC = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "1000000000000"}
# Other arenas ignore these settings. With one arena threads wait for each other longer than the smallest step takes
# (27 us for 11). So a GPU's host, which allocates from two threads, keeps its arenas, and so do boosted trees, whose
# parts allocate in a thread each: 0.96 of a round's time in two parts on two cores, 0.94 in eight.
ONE_ARENA = {"MALLOC_ARENA_MAX": "1"}
# Pages of 2 MiB, if the kernel grants them on request (glibc 2.35 or later): 0.88 to 1.00 of a step's time. A cold
# start touches them for the first time and would take 1.1 to 2.6 times as long, so it uses the system's allocator.
HUGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
# JAX's newer client dispatches a step to a GPU in half of the host's time; a value set by the user stays.
GPU_CLIENT = {"XLA_PYTHON_CLIENT_USE_TFRT_GPU_CLIENT": "1"}
# Keras reads no keras.json there, whose data type and order of axes would be the user's, and writes none.
OF_KERAS = {"TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_HOME": os.devnull}
# What Python and absl print after or around the line that says why a process ended.
_OF_A_DUMP = re.compile(
    r"\s|$|Fatal Python error: |Python runtime state: |(Current t|T)hread 0x|Extension modules: |Aborted|\*\*\* "
)
_LOG_PREFIX = re.compile(r"[IWEF]\d{4} [\d:.]+ +\d+ \S+:\d+\] ")
_TERM_SECONDS = 0.5  # XLA's threads end at once on SIGTERM; then SIGKILL
_LOOK_SECONDS = 0.01
_LATE_SECONDS = 0.1


def allocators() -> tuple[Allocator, ...]:
    """Return the allocators available here, best first; the tuned one, which keeps freed memory, needs glibc."""
    return ("tuned-malloc", "default-malloc") if platform.libc_ver()[0] == "glibc" else ("default-malloc",)


def interpreter(implementation: Implementation) -> str:
    """Return the Python that runs an implementation: SUITE_TORCH_PYTHON for torch and so on, else this one.

    Raises RuntimeError if the variable does not name an executable file.
    """
    chosen = os.environ.get(f"SUITE_{implementation.upper()}_PYTHON", sys.executable)
    if not (Path(chosen).is_file() and os.access(chosen, os.X_OK)):
        raise RuntimeError(
            f"SUITE_{implementation.upper()}_PYTHON is '{chosen}', which cannot be run; name a Python or unset it"
        )
    return chosen


def environment(
    backend: Backend | None, allocator: str = "default-malloc", cache: Path | None = None, *, one_arena: bool = True
) -> dict[str, str]:
    """Return the child's environment: only this backend, the allocator, and JAX's compile cache if any.

    On a CPU the tuned allocator uses one arena for all threads if `one_arena`. Without a backend the child sees all of
    them, whatever the user's JAX_PLATFORMS says. The user's other defaults that would change what is
    computed, or make it fail, are left out too.
    """
    overridden = TUNED_MALLOC.keys() | ONE_ARENA.keys() | HUGE_PAGES.keys() | REPLACED.keys() | {"JAX_PLATFORMS"}
    kept = {name: value for name, value in os.environ.items() if name not in overridden}
    if allocator == "tuned-malloc":
        kept |= TUNED_MALLOC if backend == "gpu" else TUNED_MALLOC | HUGE_PAGES | (ONE_ARENA if one_arena else {})
    if backend is not None:
        kept["JAX_PLATFORMS"] = {"cpu": "cpu", "gpu": "cuda"}[backend]
        kept = GPU_CLIENT | kept if backend == "gpu" else kept | {"CUDA_VISIBLE_DEVICES": ""}
    kept |= {"JAX_ENABLE_COMPILATION_CACHE": "false", "PYTHONUNBUFFERED": "1"}
    if cache is not None:
        kept |= {
            "JAX_ENABLE_COMPILATION_CACHE": "true",
            "JAX_COMPILATION_CACHE_DIR": str(cache.absolute()),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        }
    return kept | _bytecode() | of_keras()


def of_keras(backend: str = "tensorflow") -> dict[str, str]:
    """Return Keras' variables: the framework under it, and none of the user's files."""
    return OF_KERAS | {"KERAS_BACKEND": backend}


def _bytecode() -> dict[str, str]:
    """Return variables that store bytecode in the data folder if Python does not write it beside the modules.

    Containers often disable that; each process then compiles its imports for seconds.
    """
    if not sys.dont_write_bytecode or "PYTHONPYCACHEPREFIX" in os.environ:
        return {}
    try:
        folder = store.folder() / "bytecode"
    except RuntimeError:  # no data folder either
        return {}
    return {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder)}


class Child:
    """A Python module in a process group of its own; its output is read line by line on arrival."""

    heard = 0.0  # when the last returned line arrived, in seconds of this process's wall clock

    def __init__(self, module: str, *arguments: str, python: str, env: Mapping[str, str]) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        self._before = causes.before()
        try:
            self._process = subprocess.Popen(
                [python, "-m", module, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=dict(env),
                start_new_session=True,
            )
        except OSError:
            self._errors.close()
            raise
        self._lines: queue.Queue[tuple[float, bytes | None]] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put((Clock().wall(), line))
        self._lines.put((Clock().wall(), None))

    @property
    def pid(self) -> int:
        """The id of the process and of its group."""
        return self._process.pid

    def tell(self, line: bytes) -> None:
        """Write one line to the child. Its input stays open: a worker exits when it closes, also by our death."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(line + b"\n")
            self._process.stdin.flush()

    def line(self, timeout_seconds: float) -> bytes | None:
        """Return the next line; None at the end of output.

        Raises TimeoutError if none comes in time.
        """
        try:
            try:
                self.heard, line = self._lines.get(timeout=timeout_seconds)
            except queue.Empty:  # what came while this process was stopped, as by Ctrl-Z, is still to be read
                self.heard, line = self._lines.get(timeout=_LATE_SECONDS)
            return line
        except queue.Empty:
            raise TimeoutError from None
        except RuntimeError as error:  # a second interrupt prevented the first from re-acquiring the queue's lock
            raise KeyboardInterrupt from error

    def code(self) -> int:
        """Wait for the process to end; return its exit code, the negative signal number if a signal ended it."""
        return self._process.wait()

    def ended(self) -> str:
        """Return how the process ended and what it said last of an error, in words; call after the end of output."""
        code = self.code()
        if code < 0:
            killed_by = signal.Signals(-code)
            how = ", ".join(filter(None, (f"was killed by {killed_by.name}", causes.cause(killed_by, self._before))))
        else:
            how = f"ended with exit code {code}"
        return ": ".join(filter(None, (how, self.last_error())))[:400]

    def last_error(self) -> str:
        """Return the last line of standard error of an ended process that is not of a dump; '' if there is none."""
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").rstrip().splitlines()
        said = next((line for line in reversed(lines) if not _OF_A_DUMP.match(line)), lines[-1] if lines else "")
        return _LOG_PREFIX.sub("", said).strip()

    def end(self) -> None:
        """End every process of the group."""
        if self._process.poll() is None:
            self._signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_TERM_SECONDS)
        self._process.kill()
        # Python's tracker of semaphores and shared memory ignores SIGTERM, and frees what a killed process left.
        until = time.monotonic() + (_TERM_SECONDS if self._process.wait() else 0.0)
        while self._signal(0) and time.monotonic() < until:
            time.sleep(_LOOK_SECONDS)
        self._signal(signal.SIGKILL)
        self._reader.join()  # the group is gone, so the pipe has ended
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

    def _signal(self, number: int) -> bool:
        """Send a signal to the group; return whether it still has a process. 0 only asks."""
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True


@contextmanager
def child(module: str, *arguments: str, python: str, env: Mapping[str, str]) -> Iterator[Child]:
    """Run a module of this suite under a Python; end it on exit, whatever happens."""
    process = Child(module, *arguments, python=python, env={**env, **child_imports(python)})
    try:
        yield process
    finally:
        process.end()
