"""What a fault plants in a command before it begins: calls of the system that fail, drivers, processors, signals."""

import errno
import importlib
import json
import os
import resource
import signal
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import test_processors
from test_telemetry import FakeNvml
from test_which_gpu import SlicedNvml

from suite.driver import probing, profiles
from suite.driver.journal import CompletedRun, Journal
from suite.processes import children, lock
from suite.system import causes, folders, limits, machine, nvml, processor, software


def _object(name: str) -> tuple[Any, str]:
    """Return the object that has an attribute, and the attribute's name, such as `os` and 'link'."""
    place, _, last = name.rpartition(".")
    return importlib.import_module(place), last


def refuse(name: str, error: str, below: str = "", after: int = 0) -> None:
    """Let a call of the system fail with an error: below a folder if one is given, and only `after` that many calls."""
    place, last = _object(name)
    real, seen, number = getattr(place, last), [0], getattr(errno, error)

    def called(*given: Any, **named: Any) -> Any:
        where = given[0] if given else ""
        if below and not str(getattr(where, "name", where)).startswith(below):
            return real(*given, **named)
        seen[0] += 1
        if seen[0] <= after:
            return real(*given, **named)
        raise OSError(number, os.strerror(number))

    setattr(place, last, called)


def small_trial() -> None:
    """Let the preflight try a folder with one byte, so that what is short of room shows while a campaign runs."""
    folders._TRIED_BYTES = 1


def limit(kind: str, size: int) -> None:
    """Give this process and its children a limit of a resource."""
    resource.setrlimit(getattr(resource, kind), (size, resource.getrlimit(getattr(resource, kind))[1]))


def signal_after(runs: int, name: str) -> None:
    """Send this process a signal once the journal has that many completed runs more."""
    real, seen = Journal.append, [0]

    def append(self: Journal, *entries: Any) -> None:
        real(self, *entries)
        before, seen[0] = seen[0], seen[0] + sum(isinstance(entry, CompletedRun) for entry in entries)
        if before < runs <= seen[0]:
            os.kill(os.getpid(), getattr(signal, name))

    Journal.append = append


def signal_at(name: str, number: str) -> None:
    """Send this process a signal as it calls a function for the first time."""
    place, last = _object(name)
    real, sent = getattr(place, last), []

    def called(*given: Any, **named: Any) -> Any:
        if not sent:
            sent.append(number)
            os.kill(os.getpid(), getattr(signal, number))
        return real(*given, **named)

    setattr(place, last, called)


def ignore(name: str) -> None:
    """Ignore a signal, as nohup does."""
    signal.signal(getattr(signal, name), signal.SIG_IGN)


def gpus(kind: str, *given: Any) -> None:
    """Let a stub of the driver's library answer: whole cards, by name and capability, or slices of the first."""
    if kind == "cards":
        names, capabilities, driver = given
        stub = FakeNvml(
            names=names,
            DeviceGetCudaComputeCapability=lambda handle: tuple(capabilities[handle]),
            SystemGetDriverVersion=driver,
            DeviceGetUUID=lambda handle: f"GPU-{handle}0000000",
        )
    else:
        stub = SlicedNvml(tuple(given[0]), names=tuple(given[1]))
    for place in (machine, lock):
        place.Gpus = lambda: nvml.Gpus(stub)


def cpuinfo(called: str) -> None:
    """Let /proc/cpuinfo say what it says on another processor."""
    told, real = test_processors.SAID[called][0], processor.text

    def text(path: Path) -> str | None:
        return told.strip() if path == processor.CPUINFO else real(path)

    for place in (processor, machine):
        place.text = text


def memory_limit(folder: str, total: int) -> None:
    """Let a folder be this process's control group on a host with that much memory."""
    real = limits.memory_limits
    limits.psutil = SimpleNamespace(virtual_memory=lambda: SimpleNamespace(total=total))
    limits.memory_limits = lambda groups=None: real([Path(folder)])


def kills_counted(folder: str, host: bool) -> None:
    """Let a folder be this process's control group, or its file the host's, where kills for want of memory count."""
    real = causes.kills
    groups, file = ([], Path(folder) / "vmstat") if host else ([Path(folder)], Path("/dev/null"))
    causes.kills = lambda *_: real(groups, file)


def local_locks(folder: str) -> None:
    """Let this be the only local folder for locks besides TMPDIR."""
    lock._LOCAL = (folder,)


def free_bytes(size: int) -> None:
    """Let every disk have this much space left."""
    from suite.system import folders

    folders.shutil = SimpleNamespace(disk_usage=lambda place: SimpleNamespace(free=size))


def temporary(folder: str) -> None:
    """Let this be the only folder for temporary files besides TMPDIR."""
    tempfile._candidate_tempdir_list = lambda: [os.environ.get("TMPDIR", folder), folder]


def probe_seconds(seconds: float) -> None:
    """Let an implementation have this long to answer what it can run."""
    probing._PROBE_SECONDS = seconds


def code_changes(after: int) -> None:
    """Let the suite's own files change after they were read so often."""
    real, seen = software.code, [0]

    def code(*given: Any) -> str:
        seen[0] += 1
        return real(*given) if seen[0] <= after else "another"

    software.code = code


def brief() -> None:
    """Let a profile 'quick' warm up for a second and not wait for a quiet machine."""
    profiles.EFFORTS["quick"] = replace(profiles.EFFORTS["quick"], quiet_seconds=0, warmup_seconds=1)


def stopped(stage: str, seconds: float) -> None:
    """Stop a worker for this long once it has told its first sample of a stage."""
    real, seen = children.Child.line, []

    def pause(process: int) -> None:
        os.kill(process, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(process, signal.SIGCONT)

    def line(self: children.Child, timeout_seconds: float) -> bytes | None:
        said = real(self, timeout_seconds)
        if not seen and said is not None and (told := json.loads(said)).get("stage") == stage and told.get("sample"):
            seen.append(self.pid)
            threading.Thread(target=pause, args=[self.pid]).start()
        return said

    children.Child.line = line


def full_after(runs: int, folder: str) -> None:
    """Fill the disk below a folder once the journal has that many completed runs."""
    real, seen = Journal.append, [0]

    def append(self: Journal, *entries: Any) -> None:
        if seen[0] >= runs:
            with suppress(OSError), (Path(folder) / "filling").open("wb", buffering=0) as file:
                while file.write(bytes(2**12)):
                    pass
        seen[0] += sum(isinstance(entry, CompletedRun) for entry in entries)
        real(self, *entries)

    Journal.append = append


def spend(runs: int) -> None:
    """Let this process reach a limit of processor time once the journal has that many completed runs."""
    real, seen = Journal.append, [0]

    def append(self: Journal, *entries: Any) -> None:
        real(self, *entries)
        before, seen[0] = seen[0], seen[0] + sum(isinstance(entry, CompletedRun) for entry in entries)
        if before < runs <= seen[0]:
            used = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
            limit("RLIMIT_CPU", used + 1)
            while time.process_time() < used + 2:
                pass

    Journal.append = append
