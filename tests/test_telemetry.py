"""The machine is watched from a process of its own, its windows belong to the samples, and its end harms nothing."""

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from types import SimpleNamespace

import factory
import msgspec
import pynvml
import pytest
from test_telemetry_messages import reading

from suite.driver import campaign, fitness, runner
from suite.driver.journal import Journal
from suite.report.parts import telemetry
from suite.results.records.machine import Gpu
from suite.results.records.record import Record, to_json
from suite.results.records.run import GpuTelemetry, Level, Sample, Stage, Telemetry
from suite.results.records.store import sealed
from suite.results.single.summary import summary
from suite.system import machine
from suite.system.nvml import GpuReading, Gpus
from suite.telemetry import process, windows
from suite.worker_api.protocol import Message, Offer
from suite.worker_api.telemetry_messages import Counters

# The driver


ANSWERS = {
    "Init": None,
    "DeviceGetUUID": lambda handle: f"GPU-{handle}0000000",
    "DeviceGetHandleByIndex": lambda index: index,
    "DeviceGetUtilizationRates": SimpleNamespace(gpu=87),
    "DeviceGetPowerUsage": 350_000,
    "DeviceGetTotalEnergyConsumption": 5_000_000,
    "DeviceGetClockInfo": lambda handle, kind: {"sm": 1980, "memory": 2619}[kind],
    "DeviceGetCurrentClocksEventReasons": 0x4 | 0x20,
    "DeviceGetCurrentClocksThrottleReasons": 0x8,
    "DeviceGetTemperature": 61,
    "DeviceGetMemoryInfo": SimpleNamespace(used=2**30, total=80 * 2**30),
    "DeviceGetCudaComputeCapability": (9, 0),
    "DeviceGetMaxClockInfo": lambda handle, kind: {"graphics": 1980, "memory": 2619}[kind],
    "DeviceGetEnforcedPowerLimit": 700_000,
    "SystemGetDriverVersion": "580.1",
    "SystemGetCudaDriverVersion_v2": 13000,
}


class FakeNvml:
    """A driver with two GPUs that answers what it was told, and refuses what it was told to refuse."""

    NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_CLOCK_GRAPHICS, NVML_TEMPERATURE_GPU = "sm", "memory", "graphics", "gpu"

    def __init__(self, refuses=(), names=("NVIDIA H100", "NVIDIA H100"), pids=(), **answers):
        self.refuses, self.pids = refuses, pids
        self.answers = ANSWERS | {
            "DeviceGetCount": len(names),
            "DeviceGetName": lambda handle: names[handle].encode(),  # as old bindings do
            "DeviceGetComputeRunningProcesses": lambda handle: [SimpleNamespace(pid=pid) for pid in self.pids],
            **answers,
        }

    def __getattr__(self, question):
        def asked(*arguments):
            if question in self.refuses:
                raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
            answer = self.answers[question.removeprefix("nvml")]
            return answer(*arguments) if callable(answer) else answer

        return asked


WHOLE = GpuReading(
    utilisation=0.87,
    power_watts=350.0,
    energy_joules=5000.0,
    sm_clock_mhz=1980.0,
    memory_clock_mhz=2619.0,
    reasons=("power cap", "thermal slowdown"),
    temperature_celsius=61.0,
    memory_bytes=2**30,
    other_processes=0,
)


def test_a_gpu_that_answers_everything_is_read_in_our_units():
    assert Gpus(FakeNvml()).readings() == (WHOLE, WHOLE)


REFUSED = {
    "nvmlDeviceGetUtilizationRates": ("utilisation",),
    "nvmlDeviceGetPowerUsage": ("power_watts",),
    "nvmlDeviceGetTotalEnergyConsumption": ("energy_joules",),
    "nvmlDeviceGetClockInfo": ("sm_clock_mhz", "memory_clock_mhz"),
    "nvmlDeviceGetTemperature": ("temperature_celsius",),
    "nvmlDeviceGetMemoryInfo": ("memory_bytes",),
    "nvmlDeviceGetComputeRunningProcesses": ("other_processes",),
}


@pytest.mark.parametrize("question", REFUSED)
def test_a_question_that_is_not_supported_leaves_its_field_alone_empty(question):
    expected = msgspec.structs.replace(WHOLE, **dict.fromkeys(REFUSED[question]))
    assert Gpus(FakeNvml({question})).readings() == (expected, expected)


def test_a_driver_that_answers_nothing_gives_empty_fields():
    every = {*REFUSED, "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}
    assert Gpus(FakeNvml(every)).readings() == (GpuReading(), GpuReading())


def test_an_old_driver_is_asked_for_its_throttle_reasons_by_their_old_name():
    gpus = Gpus(FakeNvml({"nvmlDeviceGetCurrentClocksEventReasons"}))
    assert gpus.readings()[0].reasons == ("hardware slowdown",)


@pytest.mark.parametrize("value", [-1, 2**64 - 1, None, "350", True, float("nan"), float("inf")])
def test_a_number_that_stands_for_not_available_is_none(value):
    driver = FakeNvml(DeviceGetPowerUsage=value, DeviceGetTotalEnergyConsumption=value)
    expected = msgspec.structs.replace(WHOLE, power_watts=None, energy_joules=None)
    assert Gpus(driver).readings()[0] == expected


@pytest.mark.parametrize("question", ["nvmlInit", "nvmlDeviceGetCount", "nvmlDeviceGetHandleByIndex"])
def test_without_a_driver_there_is_no_gpu(question):
    gpus = Gpus(FakeNvml({question}))
    assert (gpus.names, gpus.readings()) == ((), ())


@pytest.mark.parametrize(
    ("visible", "names"),
    [("1,0", ("b", "a")), ("0", ("a",)), ("", ()), ("-1", ()), ("0,7,1", ("a",)), ("GPU-1", ("b",)), ("GPU-9", ())],
)
def test_only_what_cuda_may_use_is_watched_in_its_order(visible, names):
    assert Gpus(FakeNvml(names=("a", "b")), visible).names == names


def test_of_unlike_gpus_the_first_is_not_known(monkeypatch):
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)
    assert Gpus(FakeNvml()).in_cuda_order
    assert not Gpus(FakeNvml(names=("old", "new"))).in_cuda_order
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    assert Gpus(FakeNvml(names=("old", "new"))).in_cuda_order


@pytest.mark.parametrize(
    ("before", "meanwhile_there", "ours", "others"),
    [
        ((), (7,), (7, 8), 0),  # ours under its own number
        ((), (7, 9), (7,), 1),
        ((9,), (9,), (7,), 1),  # somebody else alone
        ((), (4711,), (7,), 0),  # ours, from inside a container
        ((9,), (9, 4711), (7,), 1),
        ((), (4711, 4712), (7,), 1),
        ((9,), (), (7,), None),  # a driver that shows nobody, ours neither
        ((), (), (), 0),
    ],
)
def test_other_processes_on_a_gpu_are_told_from_ours(before, meanwhile_there, ours, others):
    driver = FakeNvml(pids=before)
    gpus = Gpus(driver)
    gpus.begin()
    driver.pids = meanwhile_there
    assert gpus.readings(ours)[0].other_processes == others


DESCRIBED = Gpu(
    name="NVIDIA H100",
    memory_bytes=80 * 2**30,
    compute_capability="9.0",
    driver="580.1",
    cuda="13.0",
    graphics_clock_limit_mhz=1980,
    memory_clock_limit_mhz=2619,
    power_limit_watts=700.0,
)


@pytest.mark.parametrize(
    ("question", "changes"),
    [
        ("", {}),
        ("nvmlDeviceGetName", {"name": "unknown"}),
        ("nvmlDeviceGetMemoryInfo", {"memory_bytes": 0}),
        ("nvmlDeviceGetCudaComputeCapability", {"compute_capability": "0.0"}),
        ("nvmlSystemGetDriverVersion", {"driver": "unknown"}),
        ("nvmlSystemGetCudaDriverVersion_v2", {"cuda": "unknown"}),
        ("nvmlDeviceGetMaxClockInfo", {"graphics_clock_limit_mhz": None, "memory_clock_limit_mhz": None}),
        ("nvmlDeviceGetEnforcedPowerLimit", {"power_limit_watts": None}),
    ],
)
def test_a_question_that_the_driver_refuses_costs_no_gpu(question, changes):
    expected = msgspec.structs.replace(DESCRIBED, **changes)
    assert Gpus(FakeNvml({question})).described() == (expected, expected)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, ""),
        (pynvml.NVML_ERROR_DRIVER_NOT_LOADED, ""),
        (pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH, "RM has detected"),
    ],
)
def test_a_driver_that_is_not_there_is_told_from_one_that_does_not_answer(monkeypatch, error, said):
    def refuse():
        raise pynvml.NVMLError(error)

    monkeypatch.setattr(pynvml, "nvmlInit", refuse)
    assert machine.gpus() == ()
    monkeypatch.setattr(machine, "without_driver", lambda: "")
    assert said in machine.why_no_gpu()
    assert bool(machine.why_no_gpu()) == bool(said)


# The child


def test_the_child_reads_ten_times_a_second_and_costs_little():
    with windows.telemetry() as watched:
        assert watched.counters() != Counters()
        seen = watched._stream.readings
        while len(seen) < 26 and not watched._stream.problem:
            watched._sleep(0.05)
        spans = [b.at - a.at for a, b in zip(list(seen)[5:], list(seen)[6:], strict=False)]
        assert sorted(spans)[len(spans) // 2] <= 0.1
        own = (seen[-1].own_seconds - seen[5].own_seconds) / (seen[-1].at - seen[5].at)
        assert own < 0.05  # of one core


@pytest.mark.parametrize("module", ["suite.telemetry.process", "suite.telemetry.windows"])
def test_watching_needs_no_jax(module):
    code = f"import sys, {module}; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_child_ends_with_its_parent():
    with windows.telemetry() as watched:
        watched._stream._process.stdin.close()
        watched._stream._process.wait(20)


def test_the_reading_says_what_answers():
    watched = process.Watched(gpus=Gpus(FakeNvml({"nvmlDeviceGetPowerUsage"})), now=lambda: 1.0, own=lambda: 2.0)
    there = watched.counters()
    assert there.gpu_energy
    assert "power_watts" not in there.gpu_fields
    refusing = process.Watched(gpus=Gpus(FakeNvml({"nvmlDeviceGetTotalEnergyConsumption"})))
    assert not refusing.counters().gpu_energy


def test_the_doctor_says_which_counters_answer():
    offer = Offer(implementation="jax", backends={"cpu": ("cpu",)})
    there = Counters(gpus=("H100",), gpu_fields=("utilisation", "power_watts"), steal=True)
    found = {check.name: check for check in fitness.checks(factory.HOST, offer, 0.0, there)}["counters"]
    assert found.verdict == "remark"
    assert "GPU: utilisation, power" in found.found
    assert "of the GPU: energy, clocks" in found.advice


# Whatever becomes of the child

SAYS = "import sys; print({line!r}, flush=True); "
COUNTERS = msgspec.json.encode(Counters(gpu_energy=True)).decode()
READING = msgspec.json.encode(reading(1)).decode()


@contextmanager
def child_that(tmp_path, code):
    """A telemetry child of these lines, and its end."""
    (tmp_path / "stand_in.py").write_text(code)
    stream = windows.TelemetryProcess(
        "stand_in", python=sys.executable, env={**os.environ, "PYTHONPATH": str(tmp_path)}
    )
    try:
        yield stream
    finally:
        stream.end()


def ended(name):
    """What a worker says when it has left a stage."""
    return Message(stage=name, stage_time=Stage(name=name, wall_seconds=1.0, process_seconds=1.0))


class FakeWorker:
    """A worker that is done at once, and counts its energy when asked to."""

    pid, heard = 1, 0.0

    def __init__(self, tasks):
        self.tasks = tasks

    def tell(self, line):
        task = msgspec.json.decode(line)
        self.tasks.append(task)
        marks = [Message(stage="energy"), ended("energy")] if task["energy_seconds"] else []
        facts = msgspec.structs.replace(factory.FACTS, energy_step_seconds=0.1 if marks else None)
        taken = [Message(stage="samples", sample=Sample(wall_seconds=0.02, process_seconds=0.02))] * 3
        lines = [
            Message(stage="lower"),
            ended("first_step"),
            Message(stage="samples"),
            *taken,
            ended("samples"),
            *marks,
        ]
        self.lines = [msgspec.json.encode(line) for line in (*lines, Message(stage="done", report=facts))]

    def line(self, timeout_seconds):
        return self.lines.pop(0) if self.lines else None

    def ended(self):
        return "ended"


class Silent:
    def begins(self, number, unit): ...
    def grows(self, header, why): ...
    def stage(self, name): ...
    def skips(self, unit, seconds): ...
    def prepares(self, what, done, total): ...
    def ends(self, unit, done): ...


def measured(tmp_path, watched, monkeypatch, profile="quick", **asked):
    """A campaign's records and its tasks, its workers watched by `watched`."""
    monkeypatch.setattr(runner, "wait_until_quiet", lambda *_: 0.0)
    cases = (factory.record(backend="gpu").case, factory.record().case, factory.record(scope="cold").case)
    plan = campaign.planned(
        cases, [factory.description()], profile, factory.HOST, datetime(2026, 1, 1, tzinfo=UTC), **asked
    )  # fmt: skip
    journal, tasks = Journal(tmp_path / "journal.jsonl"), []
    journal.append(plan)

    @contextmanager
    def start(unit):
        yield FakeWorker(tasks)

    runner.run(plan, journal, Silent(), start, watched)
    return campaign.records(plan, journal.done()), tasks


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise SystemExit", "the telemetry child ended early"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "the telemetry child ended early"),
        ("print('nonsense', flush=True); input()", "was not understood"),
        ("import os\nwhile True: os.write(1, b'x' * 65536)", "was not understood"),
        ("print('[' * 60000, flush=True); input()", "was not understood"),
        (SAYS.format(line=READING.replace('"at":1.0', '"at":1e999')) + "input()", "was not understood"),
        (SAYS.format(line=READING.replace('"at":1.0', '"at":true')) + "input()", "was not understood"),
        (SAYS.format(line=COUNTERS) + "raise SystemExit", "the telemetry child ended early"),
    ],
)
def test_a_child_that_dies_or_talks_nonsense_harms_no_measurement(tmp_path, monkeypatch, code, why):
    with child_that(tmp_path, code) as stream:
        stream._reader.join(30)
        stream._process.wait(30)
        records, _ = measured(tmp_path, windows.TelemetryWindows(stream), monkeypatch)
    assert all(summary(record).steady for record in records)
    for run in (run for record in records for run in record.runs):
        assert run.reason == ""
        assert why in run.telemetry.reason
        assert (run.telemetry.readings, run.telemetry.cpu_utilisation, run.energy) == (0, None, None)


def test_a_child_that_hangs_harms_no_measurement(tmp_path, monkeypatch):
    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SAYS.format(line=COUNTERS)
    with child_that(tmp_path, code + "print('" + READING + "', flush=True)\nwhile True: signal.pause()") as stream:
        ticks = iter(range(100, 10**6))
        watched = windows.TelemetryWindows(stream, now=lambda: float(next(ticks)), sleep=lambda _: None)
        while stream.counters is None or not stream.readings:
            stream._reader.join(0.01)
        records, tasks = measured(tmp_path, watched, monkeypatch)
    assert all("the telemetry child fell silent" in run.telemetry.reason for r in records for run in r.runs)
    assert all(run.reason == "" for record in records for run in record.runs)
    assert any(task["energy_seconds"] for task in tasks)
    found = next(r for r in records if r.backend == "gpu").runs[0].energy
    assert (found.gpu_joules, "fell silent" in found.reason) == (None, True)
    with pytest.raises(ProcessLookupError):
        os.kill(stream.pid, signal.SIGKILL)


def test_a_child_that_never_says_what_answers_is_waited_for_once(tmp_path, monkeypatch):
    with child_that(tmp_path, "import sys; sys.stdin.read()") as stream:
        slept = []
        ticks = iter(range(10**6))
        records, tasks = measured(
            tmp_path, windows.TelemetryWindows(stream, now=lambda: float(next(ticks)), sleep=slept.append), monkeypatch
        )
    assert 0 < len(slept) <= 11
    assert not any(task["energy_seconds"] for task in tasks)
    assert all(run.telemetry.reason == "the telemetry child has said nothing" for r in records for run in r.runs)


def test_a_child_that_cannot_be_started_is_a_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    with windows.telemetry() as watched:
        records, _ = measured(tmp_path, watched, monkeypatch)
    assert all("could not be started: No such file" in r.runs[0].telemetry.reason for r in records)


class Scripted:
    """A child whose readings are made up: one every tenth of a second, of whatever time it is."""

    problem = ""

    def __init__(self, **there):
        self.counters, self.now, self.told = Counters(**there), 1000.0, []

    @property
    def readings(self):
        begin = round((self.now - 120) * 10)
        return [reading(tenth / 10) for tenth in range(begin, round(self.now * 10) + 1)]

    def tell(self, line):
        self.told.append(line)

    def tick(self):
        self.now += 10.5
        return self.now

    def sleep(self, seconds):
        self.now += seconds


def scripted(**there):
    stream = Scripted(**there)
    return stream, windows.TelemetryWindows(stream, now=stream.tick, sleep=stream.sleep)


@pytest.mark.parametrize(("scope", "seconds"), [("run", 8.0), ("learning", 4.0)])
def test_a_search_is_watched_from_the_first_of_its_trainings_on(scope, seconds):
    ticks = iter([1.0, 5.0, 9.0])
    watched = windows.TelemetryWindows(None, "no child", now=lambda: next(ticks))
    watched.follow(1)
    begins = "init" if scope == "run" else "learning"
    end = Message(stage="run_end") if scope == "run" else ended("learning")
    for line in (Message(stage=begins), Message(stage=begins), end):
        watched.hears(line)
    run = watched.added(factory.run(0, 1.0), factory.record(scope=scope).case, factory.FACTS)
    assert run.telemetry.seconds == seconds


def test_energy_is_counted_once_a_case_where_there_is_a_counter(tmp_path, monkeypatch):
    _, watched = scripted(gpu_energy=True)
    records, tasks = measured(tmp_path, watched, monkeypatch)
    assert [(t["cases"][0]["backend"], t["energy_seconds"]) for t in tasks if t["energy_seconds"]] == [("gpu", 11.0)]
    by_backend = {(r.backend, r.case.scope): r for r in records}
    (counted, *others) = by_backend["gpu", "step"].runs
    assert counted.energy.gpu_joules == pytest.approx(300.0 * counted.energy.seconds)
    assert counted.energy.gpu_idle_watts == pytest.approx(300.0)
    assert counted.energy.step_seconds == 0.1
    assert [run.energy for run in others] == [None, None]
    assert all(run.energy is None for run in by_backend["cpu", "step"].runs)


def test_the_cpu_has_energy_where_its_packages_count_it(tmp_path, monkeypatch):
    _, watched = scripted(package_energy=True)
    records, tasks = measured(tmp_path, watched, monkeypatch)
    assert {t["cases"][0]["backend"] for t in tasks if t["energy_seconds"]} == {"cpu"}
    cpu = next(r for r in records if r.backend == "cpu" and r.case.scope == "step").runs[0].energy
    assert (cpu.gpu_joules, cpu.package_joules) == (None, pytest.approx(50.0 * cpu.seconds))


@pytest.mark.parametrize(
    ("profile", "there"),
    [("smoke", {"gpu_energy": True}), ("quick", {}), ("quick", {"gpu_energy": True, "in_cuda_order": False})],
)
def test_energy_is_not_counted_in_smoke_or_without_a_counter_of_the_gpu_in_use(tmp_path, monkeypatch, profile, there):
    _, watched = scripted(**there)
    _, tasks = measured(tmp_path, watched, monkeypatch, profile)
    assert not any(task["energy_seconds"] for task in tasks)


@pytest.mark.parametrize("asked", [{"experiment": "crossover"}, {"energy": False}], ids=str)
def test_an_experiment_and_who_wants_none_get_no_energy(tmp_path, monkeypatch, asked):
    _, watched = scripted(gpu_energy=True, package_energy=True)
    _, tasks = measured(tmp_path, watched, monkeypatch, **asked)
    assert not any(task["energy_seconds"] for task in tasks)
    assert not watched.rested


@pytest.mark.parametrize("asked", [{"experiment": "grid_search"}, {"experiment": "crossover", "energy": True}], ids=str)
def test_an_experiment_that_looks_at_how_busy_a_gpu_is_counts_energy_too(tmp_path, monkeypatch, asked):
    _, watched = scripted(gpu_energy=True)
    _, tasks = measured(tmp_path, watched, monkeypatch, **asked)
    assert [t["cases"][0]["backend"] for t in tasks if t["energy_seconds"]] == ["gpu"]


def test_the_window_is_what_the_parent_saw_between_the_worker_s_lines(tmp_path, monkeypatch):
    stream, watched = scripted()
    records, _ = measured(tmp_path, watched, monkeypatch)
    assert set(stream.told) == {b"1"}
    for record in records:
        for run in record.runs:
            assert run.telemetry.seconds == pytest.approx(10.5)
            assert run.telemetry.readings == 106
            assert run.telemetry.others_cores == pytest.approx(0.99)


# What a result and its page make of it


def watched_record(backend="gpu", devices=1, **changes):
    calm = {"steal": 0.0, "throttled_periods": 0, "gpus": (GpuTelemetry(reasons=("idle",), other_processes=0),)}
    seen = Telemetry(**({"seconds": 1.0, "readings": 10} | calm | changes))
    return factory.record(
        backend=backend,
        runs=tuple(factory.run(n, s, telemetry=seen) for n, s in enumerate((0.01, 0.0101, 0.0099))),
        step_seconds=(0,) * 3,
        devices=devices,
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"gpus": (GpuTelemetry(reasons=("idle", "thermal slowdown")),)}, "lowered its clocks .*thermal slowdown"),
        ({"gpus": (GpuTelemetry(reasons=("power brake",)),)}, "lowered its clocks .*power brake"),
        ({"gpus": (GpuTelemetry(reasons=("hardware slowdown",)),)}, "lowered its clocks .*hardware slowdown"),
        (
            {"gpus": (GpuTelemetry(reasons=("hardware thermal slowdown",)),)},
            "lowered its clocks .*hardware thermal slowdown",
        ),
        ({"gpus": (GpuTelemetry(other_processes=2),)}, "2 other processes used the GPU"),
        ({"steal": 0.05}, "other virtual machines had 5 % of the CPU time"),
        ({"steal": 0.021}, "other virtual machines had 2.1 % of the CPU time"),
        ({"throttled_periods": 3}, "the control group stopped the process in 9 periods"),
    ],
)
def test_what_disturbed_a_machine_is_a_reason(changes, words):
    found = summary(watched_record(**changes))
    assert not found.steady
    assert re.search(words, "; ".join(found.reasons))


@pytest.mark.parametrize(
    ("backend", "changes"),
    [
        ("gpu", {}),
        ("gpu", {"steal": 0.02}),
        ("gpu", {"steal": None, "throttled_periods": None, "gpus": (GpuTelemetry(),)}),
        ("gpu", {"gpus": (GpuTelemetry(reasons=("power cap", "clocks set by an application")),)}),
        ("gpu", {"gpus": (GpuTelemetry(), GpuTelemetry(reasons=("thermal slowdown",), other_processes=1))}),
        ("cpu", {"gpus": (GpuTelemetry(reasons=("thermal slowdown",), other_processes=1),)}),
    ],
)
def test_a_calm_machine_or_another_gpu_leaves_the_status_alone(backend, changes):
    assert summary(watched_record(backend, **changes)).steady


def test_both_of_two_gpus_count_when_both_are_used():
    gpus = (GpuTelemetry(), GpuTelemetry(reasons=("thermal slowdown",)))
    assert not summary(watched_record(devices=2, gpus=gpus)).steady
    gpus = (GpuTelemetry(other_processes=0), GpuTelemetry(other_processes=3))
    assert "3 other processes" in summary(watched_record(devices=2, gpus=gpus)).reasons[0]


def test_the_page_shows_what_was_watched_and_dashes_what_was_not():
    gpu = GpuTelemetry(
        utilisation=Level(mean=0.5, max=0.9), power_watts=Level(mean=300, max=350), reasons=("power cap",)
    )
    seen = watched_record(seconds=2.0, cpu_utilisation=Level(mean=0.1, max=0.2), own_cores=0.012, gpus=(gpu,))
    table = telemetry.telemetry_table([seen, factory.record()])
    (row,) = table.rows
    cells = dict(zip(table.columns, row, strict=True))
    assert cells["CPU utilisation"].text == "10 % (20 %)"
    assert cells["GPU power"].text == "300 W (350 W)"
    assert cells["temperature"].text == "–"
    assert cells["temperature"].remark
    assert cells["clocks held by"].text == "power cap"
    assert table.notes == ("The telemetry process used 1.2 % of one core.",)
    ((*_, power, _, _, _, _, held_by),) = telemetry.telemetry_table([watched_record(gpus=(gpu,))]).rows
    assert (power.text, held_by.text) == ("–", "power cap")
    assert "average" in power.remark


def test_a_machine_without_gpu_has_no_columns_for_one():
    seen = Telemetry(seconds=1.0, readings=2, others_cores=0.5)
    lonely = factory.record(machine=factory.PLAIN, runs=(factory.run(0, 0.01, telemetry=seen),))
    table = telemetry.telemetry_table([lonely])
    assert table.columns == ("case", "scope", "CPU utilisation", "other load, cores", "stolen time")
    assert [cell.text for cell in table.rows[0]] == ["cpu jax", "step", "–", "0.50", "–"]


def test_the_energy_table_has_epochs_where_the_source_has_them():
    table = telemetry.energy_table([factory.with_energy(), factory.record()])
    ((_, each, epoch, watts, idle, *package),) = table.rows
    assert (each.text, epoch.text, watts.text, idle.text) == ("4.69 mJ", "281 J", "300 W", "70.0 W")
    assert {cell.text for cell in package} == {"–"}
    assert all(cell.remark for cell in package)


def test_a_run_with_telemetry_and_energy_survives_its_file():
    seen = watched_record(cpu_utilisation=Level(mean=0.1, max=0.2))
    assert msgspec.json.decode(to_json(seen), type=Record) == seen
    counted = sealed(factory.with_energy())
    assert msgspec.json.decode(to_json(counted), type=Record) == counted
