"""The parent's side of the telemetry: one child process a campaign, and each run's window of its readings.

If the child fails, measuring continues, and the runs record why they have no telemetry.
"""

import math
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import msgspec

from suite.case import Case
from suite.child_imports import child_imports
from suite.processes import children
from suite.results.records.record import Profile
from suite.results.records.run import Energy, Run
from suite.scopes import SCOPES
from suite.worker_api import telemetry_messages
from suite.worker_api.protocol import Message, WorkerReport
from suite.worker_api.telemetry_messages import LEAST_ENERGY_SECONDS, Counters, TelemetrySample

ENERGY_SECONDS = LEAST_ENERGY_SECONDS + 1.0  # length of the window, so that the readings span enough
_START_SECONDS = 10.0  # for the child to report its counters
_LONGEST_LINE = 2**16
_KEPT = 2**16  # latest readings
_ENERGY_WINDOW = (("energy", False), ("energy", True))


class TelemetryProcess(children.Child):
    """The telemetry child: collects its readings until it ends or sends anything else."""

    def __init__(self, module: str = "suite.telemetry.process", *, python: str, env: dict[str, str]) -> None:
        self.counters: Counters | None = None
        self.readings: deque[TelemetrySample] = deque(maxlen=_KEPT)
        self.problem = ""
        super().__init__(module, python=python, env=env)

    def _read(self) -> None:
        assert self._process.stdout is not None
        while line := self._process.stdout.readline(_LONGEST_LINE):
            try:
                message = msgspec.json.decode(line, type=Counters | TelemetrySample)
                if not _finite(msgspec.to_builtins(message)):
                    raise ValueError("a number that is not finite")
            except (ValueError, RecursionError) as error:
                self.problem = f"the telemetry child's output was not understood: {error}"[:400]
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.pid, signal.SIGKILL)  # its further output would load this process
                return
            if isinstance(message, TelemetrySample):
                self.readings.append(message)
            else:
                self.counters = message
        self.problem = "the telemetry child ended early"


def _finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_finite, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


class TelemetryWindows:
    """Tells the child which worker to follow, stamps the worker's lines, and cuts out each run's window."""

    def __init__(
        self,
        stream: TelemetryProcess | None,
        problem: str = "",
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._stream, self._problem, self._now, self._sleep = stream, problem, now, sleep
        self._marks: dict[tuple[str, bool], list[float]] = {}
        self._counters: Counters | None = None
        self._idle: tuple[TelemetrySample, ...] = ()
        self.rested = False

    def follow(self, pid: int) -> None:
        """Follow a new worker."""
        self._marks = {}
        if self._stream is not None:
            with suppress(OSError, ValueError):
                self._stream.tell(b"%d" % pid)

    def hears(self, line: Message) -> None:
        """Stamp a line of the worker with its time of arrival."""
        if line.sample is None:
            self._marks.setdefault((line.stage, line.stage_time is not None), []).append(self._now())

    def counts(self, group: Sequence[Case], profile: Profile) -> bool:
        """Return whether a process's energy can be measured: a JAX step, and a counter is available."""
        if profile == "smoke" or not any(case.scope == "step" for case in group):
            return False
        if group[0].implementation != "jax":  # baselines are compared by speed only
            return False
        if self._stream is None or self._stream.problem:
            return False
        available = self.counters()
        on_gpu = group[0].backend == "gpu"
        return available.gpu_energy and available.in_cuda_order if on_gpu else available.package_energy

    def counters(self) -> Counters:
        """Return the child's counters; none if it does not report them in time."""
        if self._counters is None:
            self._counters = self._asked() or Counters()
        return self._counters

    def _asked(self) -> Counters | None:
        until = self._now() + _START_SECONDS
        while self._stream is not None and self._stream.counters is None:
            if self._stream.problem or self._now() > until:
                return None
            self._sleep(0.05)
        return self._stream and self._stream.counters

    def rest(self) -> None:
        """Record the idle machine for ENERGY_SECONDS."""
        begin, self.rested = self._now(), True
        self._sleep(ENERGY_SECONDS)
        self._idle = telemetry_messages.within(self._readings(), begin, self._now())

    def added(self, run: Run, case: Case, facts: WorkerReport) -> Run:
        """Return the run with the telemetry of its samples, and its energy if measured."""
        begins, ends = (self._marks.get(mark) for mark in SCOPES[case.scope].window)
        if not begins or not ends:
            return run
        begin, end = begins[0] if case.scope == "run" else begins[-1], ends[-1]  # a search trains several networks
        inside = telemetry_messages.within(self._readings(), begin, end)
        why = self._why(end) or ("" if inside else f"no reading fell into its {end - begin:.2g} s")
        run = msgspec.structs.replace(run, telemetry=telemetry_messages.telemetry(inside, end - begin, why))
        if case.scope != "step" or facts.energy_step_seconds is None:
            return run
        return msgspec.structs.replace(run, energy=self._energy(case, facts.energy_step_seconds))

    def _energy(self, case: Case, step_seconds: float) -> Energy | None:
        begins, ends = (self._marks.get(mark) for mark in _ENERGY_WINDOW)
        if not begins or not ends or case.hosts > 1:  # the other hosts' counters are not read
            return None
        begin, end = begins[-1], ends[-1]
        inside = telemetry_messages.within(self._readings(), begin, end)
        devices = case.devices if case.backend == "gpu" else 0
        return telemetry_messages.energy(inside, devices, step_seconds, self._idle, self._why(end))

    def _readings(self) -> tuple[TelemetrySample, ...]:
        return tuple(self._stream.readings.copy()) if self._stream is not None else ()

    def _why(self, end: float) -> str:
        """Return why readings are missing; '' if the child was alive at the end of the window."""
        if self._stream is None or self._stream.problem:
            return self._problem if self._stream is None else self._stream.problem
        latest = self._stream.readings[-1].at if self._stream.readings else None
        if latest is None:
            return "the telemetry child has said nothing"
        return f"the telemetry child fell silent {end - latest:.0f} s before the end" if end - latest > 1 else ""


@contextmanager
def telemetry(module: str = "suite.telemetry.process") -> Iterator[TelemetryWindows]:
    """Run the telemetry child inside the block; if it cannot start, every run records the reason."""
    env = children.environment(None) | child_imports()
    try:
        stream = TelemetryProcess(module, python=sys.executable, env=env)
    except OSError as error:
        yield TelemetryWindows(None, f"the telemetry child could not be started: {error.strerror or error}")
        return
    try:
        yield TelemetryWindows(stream)
    finally:
        stream.end()
