"""What a run of the tests costs in CPU time, which tests cost most, and whether that is more than people wait for."""

import os
import time

import pytest

# Of a whole run on two cores; what waits for it is wall time, but that depends on what else the cores do.
LIMIT_SECONDS = 13 * 60
LONG_SECONDS = 12  # a test that takes longer is named: it belongs in `nox -s thorough` unless it decides a number
SHOWN = 10
# CPU seconds of `yardstick` on the machine that both limits are of. Seconds here are those of that machine: the
# yardstick is taken before each file of tests, so that a slower machine, or one whose cores are shared with others
# for a while, is not taken for dearer tests.
YARDSTICK_SECONDS = 0.0075
_WORK = "value = [number**2 for number in range(10)]\n" * 100


def yardstick() -> float:
    """Return the CPU seconds that a fixed piece of work in Python takes."""
    start = time.process_time()
    for _ in range(5):
        compile(_WORK, "", "exec")
    return time.process_time() - start


def cpu_seconds() -> float:
    """Return the CPU time of this process and of the children that it has waited for."""
    return sum(os.times()[:4])


class Cost:
    """A pytest plugin: each process of the tests counts its own, the first one adds them up and says so."""

    def __init__(self, config: pytest.Config) -> None:
        chosen = config.option
        self.config, self.file = config, None
        self.whole = not (chosen.file_or_dir or chosen.keyword) and chosen.markexpr == "not slow"
        self.seconds, self.yards, self.tests = 0.0, [], {}

    @property
    def speed(self) -> float:
        """How many times as long as on the limits' machine the same work takes here."""
        return sum(self.yards) / len(self.yards) / YARDSTICK_SECONDS if self.yards else 1.0

    @property
    def over(self) -> bool:
        """Whether a whole run takes more than its limit."""
        return self.whole and self.seconds / self.speed > LIMIT_SECONDS

    def add(self, seconds: float, yards: list[float], tests: dict[str, float]) -> None:
        """Add what another process counted."""
        self.seconds += seconds
        self.yards += yards
        self.tests |= tests

    def lines(self) -> list[str]:
        """Return the tests that cost most, and the sum."""
        dearest = sorted(self.tests.items(), key=lambda item: item[1], reverse=True)[:SHOWN]
        found = [
            f"{seconds / self.speed:6.1f} s  {name}{' - slow?' * (seconds / self.speed > LONG_SECONDS)}"
            for name, seconds in dearest
        ]
        limit = f" of {LIMIT_SECONDS} s that a whole run may take" if self.whole else ""
        return [*found, f"{self.seconds / self.speed:6.0f} s{limit}; {self.seconds:.0f} s on this machine"]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item):
        if item.path != self.file:
            self.file = item.path
            self.yards.append(yardstick())
        before = cpu_seconds()
        answer = yield
        self.tests[item.nodeid] = cpu_seconds() - before
        return answer

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.seconds += cpu_seconds()
        if (output := getattr(self.config, "workeroutput", None)) is not None:
            output["cost"] = [self.seconds, self.yards, self.tests]
        elif self.over and os.environ.get("CI") and not session.exitstatus:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node) -> None:
        if counted := getattr(node, "workeroutput", {}).get("cost"):
            self.add(*counted)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("CPU time")
        for line in self.lines():
            terminalreporter.line(line, yellow=line.endswith("slow?"))
        if self.over:
            terminalreporter.line("too much for a run that people wait for: make tests cheaper, or slow", red=True)
