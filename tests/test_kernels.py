"""A second clock: the GPU's own tells how long its streams worked in a step, the host's how long the step took."""

from types import SimpleNamespace

import factory
import jax
import jax.numpy as jnp
import msgspec
import pytest
from factory import of_one_machine
from test_measure import answered, offer

from suite import models
from suite.analysis.capabilities import MachineCapabilities
from suite.case import Case
from suite.driver import profiles
from suite.driver.cases import default_cases
from suite.driver.request import Request
from suite.experiments import kernels as experiment
from suite.nn.compiler import PROFILED
from suite.programs import load
from suite.programs.jax import profile
from suite.programs.jax.program import JaxProgram
from suite.results.cite import pooled_numbers
from suite.results.pooled import pools
from suite.results.pooled.speedup import pooled_speedups
from suite.results.records.run import Profiled
from suite.results.single import validity
from suite.scopes import PROFILED_CHAINS
from suite.worker import kernels, main
from suite.worker.kernels import busy_seconds
from suite.worker.recorder import Process
from suite.worker_api.clock import Clock
from suite.worker_api.protocol import Task

# The trace


@pytest.mark.parametrize(
    ("intervals", "seconds"),
    [
        ([], 0),
        ([(1, 3)], 2),
        ([(1, 3), (5, 6)], 3),  # a gap
        ([(1, 3), (2, 4)], 3),  # two streams
        ([(1, 9), (2, 4), (8, 10)], 9),  # one within another
        ([(5, 6), (1, 3), (3, 4)], 4),  # in any order
    ],
)
def test_what_overlaps_counts_once_and_gaps_do_not_count(intervals, seconds):
    assert busy_seconds(intervals) == seconds


def line(name, *events):
    return SimpleNamespace(
        name=name, events=[SimpleNamespace(start_ns=start, duration_ns=length) for start, length in events]
    )


def trace(*lines, device="/device:GPU:0"):
    host = SimpleNamespace(name="/host:CPU", lines=[line("python", (0, 5000))])
    return [host, SimpleNamespace(name=device, lines=list(lines))]


def test_the_streams_of_a_gpu_count_with_their_copies_and_what_repeats_them_does_not():
    planes = trace(
        line("Stream #13(Kernel,Memset)", (1000, 400), (2000, 100), (2000, 0)),
        line("Stream #17(MemcpyD2D)", (1300, 200)),
        line("XLA Ops", (1000, 1100)),
        line("XLA Modules", (0, 9000)),
        line("CUPTI overhead", (0, 9000)),
    )
    found = list(profile.intervals(planes))
    assert len(found) == 3
    assert busy_seconds(found) == pytest.approx(600e-9)


@pytest.mark.parametrize(
    ("planes", "words"),
    [
        ([], "only: nothing"),
        (trace()[:1], "only: /host:CPU"),
        (trace(line("CUPTI overhead", (0, 9))), "only: CUPTI overhead"),
        (trace(line("Stream #7")), "only: Stream #7"),
    ],
)
def test_a_trace_without_work_of_a_gpu_says_what_it_has(planes, words):
    with pytest.raises(RuntimeError, match="has no GPU stream with work on it") as error:
        list(profile.intervals(planes))
    assert f"{words}; check that CUPTI is installed" in str(error.value)


@pytest.fixture
def host_as_device(monkeypatch):
    """The threads of XLA on this CPU instead of a GPU's streams."""
    monkeypatch.setattr(profile, "DEVICE", "/host:CPU")
    monkeypatch.setattr(profile, "STREAM", "tf_XLA")
    monkeypatch.setattr(profile, "HOST_LEVEL", 2)


def test_a_real_trace_is_read_and_its_busy_time_is_within_the_wall_time(host_as_device):
    square = jax.jit(lambda x: 0.001 * (x @ x))
    x = square(jnp.ones((300, 300)))
    walls = []

    def run():
        began = Clock().wall()
        y = x
        for _ in range(50):
            y = square(y)
        y.block_until_ready()
        walls.append(Clock().wall() - began)

    found = profile.device_intervals(run)
    assert len(found) >= 50
    assert 0.1 * walls[0] < busy_seconds(found) <= 1.05 * walls[0]


# A process


def task(backend="gpu", **changes):
    case = Case(workload="mnist_mlp", backend=backend, scope="kernels", batch=8, **changes)
    return Task(
        cases=(case,), dataset="mnist", seed=0, plan=profiles.plan("smoke", backend), flow=profiles.flow("smoke")
    )


class Device:
    """A step of two kernels with a gap after each, which the profiler makes longer."""

    steps_per_call, gap, kernel = 1, 0.0002, 0.0008

    def __init__(self):
        self.now, self.events = 0.0, None

    def initialise(self, seed): ...
    def put(self, batches): ...
    def lower(self): ...
    def compile(self): ...
    def block(self): ...

    def chain(self, steps):
        for _ in range(2 * steps):
            if self.events is not None:
                self.events.append((self.now, self.now + self.kernel))
            self.now += self.kernel + self.gap * (1 if self.events is None else 3)

    def loss(self):
        return 1.0

    def compilations(self):
        return 0

    def profiler(self, run):
        self.events = []
        run()
        found, self.events = self.events, None
        return found


def measured(device, profiler=None):
    clocks = Clock(wall=lambda: device.now, process=lambda: device.now)
    process = Process(task=task(), say=lambda line: None, clocks=clocks)
    assert kernels.measured_kernels(process, device, [{}], profiler or device.profiler) == 1.0
    return process.runs["kernels"]


def test_a_process_tells_the_busy_time_of_a_step_and_the_wall_time_of_its_profiled_chain():
    run = measured(Device())
    steps, (sample,) = run.steps_per_sample, run.samples
    assert sample.wall_seconds / steps == pytest.approx(0.0016)
    assert run.profiled.wall_seconds / steps == pytest.approx(0.0028)
    assert run.profiled.operations_per_step == 2
    assert run.warmup[-1].wall_seconds * PROFILED_CHAINS / steps == pytest.approx(0.002), "nothing is profiled before"
    assert run.compilations == 0


def test_a_worker_measures_kernels_with_jax(host_as_device):
    said = []
    main.measure(task("cpu"), said.append)
    run = said[-1].report.runs["kernels"]
    assert len(run.samples) == 1
    assert 0 < run.samples[0].wall_seconds < 1.05 * run.profiled.wall_seconds
    assert run.profiled.operations_per_step >= 1
    assert run.program
    assert run.audit.platform == "cpu"


def test_where_the_trace_has_no_gpu_the_process_says_so():
    with pytest.raises(RuntimeError, match="has no GPU stream") as error:
        main.measure(task("cpu"), lambda line: None)
    assert main.reason(error.value).startswith("RuntimeError: the profiler's trace has no GPU stream with work on it")


def test_only_the_profiler_of_jax_is_read():
    with pytest.raises(LookupError, match="no profiler of 'torch' is read; leave it out"):
        load.profiler(task(implementation="torch").cases[0])


def test_a_profiled_program_keeps_its_cuda_graphs_and_no_other_scope_has_that_option():
    for scope in ("step", "kernels"):
        program = object.__new__(JaxProgram)  # where there is no GPU
        program._workload = models.load("mnist_mlp")
        program._case = Case(workload="mnist_mlp", backend="gpu", scope=scope, batch=8)
        assert ("xla_enable_command_buffers_during_profiling" in program._options()) is (scope == "kernels")
    jax.jit(lambda x: x + 1).lower(1.0).compile(PROFILED)  # this jaxlib knows it


# A plan


def scopes(*backends, **asked):
    found = answered(offer(*backends), factory.HOST, workloads=("mnist_mlp",), **asked)
    return [(case.backend, case.scope) for case in found.cases], found.remarks


def test_kernels_are_profiled_on_a_gpu_alone_in_a_process_of_their_own():
    assert scopes("cpu", "gpu", scopes=("kernels",))[0] == [("gpu", "kernels")]
    found, remarks = scopes("cpu", scopes=("step", "kernels"))
    assert found == [("cpu", "step")]
    assert "scope 'kernels' needs a GPU, see suite doctor; skipped" in remarks
    with pytest.raises(RuntimeError, match=r"scope 'kernels' needs a GPU, .*nothing is left to measure"):
        scopes("cpu", scopes=("kernels",))


def test_kernels_are_those_of_one_gpu():
    about, here = (factory.description(),), MachineCapabilities(backends=("cpu", "gpu"), cores=16, gpus=2)
    assert [case.devices for case in default_cases(Request(scopes=("kernels",)), about, here)] == [1]
    assert default_cases(Request(scopes=("kernels",), devices=2), about, here) == ()


# The record


def profiled(seconds, wall=None, **changes):
    """A run of kernels whose chains took so long by the host's clock, a step."""
    made = factory.run(0, seconds, samples=1, doubling_ratio=None, **changes)
    chain = 4 * (wall or 1.2 * seconds)
    return msgspec.structs.replace(made, profiled=Profiled(wall_seconds=chain, operations_per_step=12.0))


def record_of(*runs, name="mnist_mlp", **changes):
    return factory.record(name, "gpu", scope="kernels", runs=runs, step_seconds=[1.0] * len(runs), **changes)


def test_a_gpu_that_is_busy_for_longer_than_its_chain_is_invalid():
    assert list(validity.invalid(record_of(profiled(0.001)))) == []
    words = next(validity.invalid(record_of(profiled(0.001, wall=0.0009))))
    assert words == "round 1: kernels: the GPU was busy for 0.0040 s of a chain of 0.0036 s"


def test_the_cpu_time_of_a_profiled_chain_is_set_against_its_wall_time():
    short = factory.run(0, 1e-3, steps=1000)
    slow = tuple(msgspec.structs.replace(sample, process_seconds=30.0) for sample in short.samples)
    run = msgspec.structs.replace(short, samples=slow, doubling_ratio=None)
    assert any("CPU time" in words for words in validity.invalid(record_of(run)))
    walls = Profiled(wall_seconds=30.0 * len(slow), operations_per_step=1.0)
    assert list(validity.invalid(record_of(msgspec.structs.replace(run, profiled=walls)))) == []


# Both clocks


def both(kernel=0.0006, step=0.001, name="mnist_mlp"):
    """A step on CPU and GPU and its kernels, on three hosts."""
    runs = [profiled(kernel * noise) for noise in (1.0, 1.001, 0.999)]
    records = [
        factory.record(name, "cpu", [0.01, 0.01001, 0.00999]),
        factory.record(name, "gpu", [step, step * 1.001, step * 0.999]),
        record_of(*(msgspec.structs.replace(run, round=place) for place, run in enumerate(runs)), name=name),
    ]
    return factory.on_hosts(records, (1.0, 1.001, 0.999))


def on_unlike_hosts(kernel):
    """The same on three hosts that differ by a tenth."""
    return factory.on_hosts(both(kernel)[:3], (0.9, 1.0, 1.1))


def states(records):
    (item,) = [each for each in pooled_speedups(records) if each.case.scope == "step"]
    numbers = pooled_numbers.times(pools.current(pools.pools(records)))
    (gpu,) = [one for one in numbers if one.key.case == "mnist_mlp/gpu/step" and one.key.metric == "seconds"]
    return item, gpu


def test_a_step_that_ends_before_its_kernels_is_invalid_with_its_reason():
    item, gpu = states(both(kernel=0.0012, step=0.001))
    assert (item.state, gpu.state) == ("invalid", "invalid")
    assert item.reasons[0] == gpu.reasons[0] == "a step takes 1.00 ms, its kernels alone 1.20 ms"


@pytest.mark.parametrize("kernel", [0.0006, 0.00104])
def test_a_step_at_least_as_long_as_its_kernels_or_shorter_by_what_clocks_differ_is_not(kernel):
    item, gpu = states(both(kernel=kernel))
    assert gpu.state == "quotable"
    assert not item.impossible


def test_a_step_within_the_interval_of_its_kernels_is_not_invalid():
    item, gpu = states(on_unlike_hosts(0.0012))
    assert gpu.record.case.scope == "step"
    assert item.gpu.seconds.high > 0.0012
    assert item.impossible == ()
    assert gpu.state != "invalid"


# The answer


def read(*records):
    found = experiment.read(of_one_machine([one for several in records for one in several]))
    assert found is not None
    return found


def test_a_step_is_kernels_and_gaps():
    found = read(both(kernel=0.0006))
    (row,) = found.tables[0].rows
    assert [cell.text for cell in row[:5]] == ["mnist_mlp", "1.00 ms", "600 µs", "404 µs", "60 %"]
    assert [cell.text for cell in row[6:]] == ["12.0", "launch-bound", "quotable", "3"]
    (answer,) = found.answers
    assert answer.startswith("1 of 1 step is launch-bound: mnist_mlp. The GPU works for 59.8 % (")


def test_a_share_and_its_interval_end_at_the_whole_step():
    (row,) = read(both(kernel=0.00102)).tables[0].rows
    assert [cell.text for cell in row[4:6]] == ["100 %", "100 to 100"]


def test_the_answer_says_up_to_how_much_work_a_step_waits():
    found = read(both(0.0006), both(0.0097, 0.01, name="cifar10_mlp"), both(0.0001, 0.001, name="mnist_cnn"))
    (answer,) = found.answers
    assert answer.startswith("2 of 3 steps are launch-bound: mnist_cnn, mnist_mlp. The GPU works for 9.9")
    assert answer.endswith(" No step with kernels of 9.70 ms or more is surely launch-bound.")
    assert [point.row for point in found.chart.points] == ["mnist_cnn", "mnist_mlp", "cifar10_mlp"]
    assert [point.series for point in found.chart.points] == ["launch-bound", "launch-bound", "busy"]


def test_where_none_waits_the_answer_names_no_bound():
    (answer,) = read(both(0.00099)).answers
    assert answer.startswith("None of 1 step is launch-bound. The GPU works for 98.")
    assert "or more is" not in answer


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (0.0006, "Of a step of 1.00 ms the GPU computes 600 µs (60 %), the rest are gaps: launch-bound."),
        (0.00099, "Of a step of 1.00 ms the GPU computes 990 µs (99 %), it hardly waits."),
        (0.00102, "The GPU computes throughout a step of 1.00 ms, it hardly waits."),
    ],
)
def test_a_models_page_says_how_much_of_a_step_the_gpu_computes(kernel, words):
    (found,) = experiment.kernel_times(of_one_machine(both(kernel)))
    assert experiment.sentence(found) == words


def test_gaps_that_may_be_smaller_are_not_called_launch_bound():
    records = on_unlike_hosts(0.00085)
    (found,) = experiment.kernel_times(of_one_machine(records))
    assert found.busy.value < 0.9 < found.busy.high
    assert experiment.sentence(found).endswith("(85 %), the rest are gaps.")
    (near,) = experiment.kernel_times(of_one_machine(on_unlike_hosts(0.00095)))
    assert experiment.sentence(near).endswith("(95 %), it probably hardly waits.")
    assert read(records).tables[0].rows[0][7].text == "uncertain"


def test_the_gpu_s_share_is_that_of_the_hosts_that_timed_step_and_kernels():
    """Two slower hosts timed the step alone: they would make a busy GPU seem to wait."""
    alone = factory.on_hosts(both()[1:2], (1.0, 1.0, 1.0, 2.0, 2.01))[3:]
    records = [*both(0.00095), *alone]
    (found,) = experiment.kernel_times(of_one_machine(records))
    assert found.busy.value == pytest.approx(0.95, rel=0.01)
    told = " it probably hardly waits. These times are of the 3 hosts that timed both."
    assert experiment.sentence(found).endswith(told)
    (row,) = read(records).tables[0].rows
    assert (row[1].text, row[-1].text) == ("1.0 ms", "3")
    assert "a time of all hosts may differ" in read(records).tables[0].notes[0]


def test_an_older_pool_counts_where_the_newest_shares_no_host_with_the_kernels():
    """A newer program of the step, or a graph that is made otherwise, replaces the step that was profiled."""
    newer = factory.on_hosts([both(step=0.002)[1]], (1.0,) * 6)[3:]
    newer = [
        factory.sealed(
            msgspec.structs.replace(
                record,
                digest="",
                created="2027-01-01T00:00:00Z",
                campaign="20270101-000000-x",
                runs=tuple(msgspec.structs.replace(run, program="f" * 16) for run in record.runs),
            )
        )
        for record in newer
    ]
    evidence = of_one_machine([*both(0.0006), *newer])
    (step,) = [pool for case, pool in evidence.pools.items() if (case.backend, case.scope) == ("gpu", "step")]
    assert step.seconds.value == pytest.approx(0.002, rel=0.01)
    (timed,) = experiment.kernel_times(evidence)
    assert timed.busy.value == pytest.approx(0.6, rel=0.01)
    assert experiment.sentence(timed).endswith(" These times are of the 3 hosts that timed both.")


def test_without_a_host_that_timed_both_there_is_no_share():
    step, kernels = both()[1:2], factory.on_hosts(both()[2:3], (1.0, 1.0))[1:]
    evidence = of_one_machine([*step, *kernels])
    assert experiment.kernel_times(evidence) == []
    assert experiment.sentences(evidence) == "No host timed both the step of mnist_mlp and its kernels."
    assert read(step, kernels).answers == ("No host timed both a step and its kernels of mnist_mlp.",)
    more = read(step, kernels, both(name="mnist_cnn"))
    assert [row[0].text for row in more.tables[0].rows] == ["mnist_cnn"]
    assert "No host timed both a step and its kernels of mnist_mlp." in more.tables[0].notes


def test_steps_without_kernels_are_no_answer():
    assert experiment.read(of_one_machine(both()[:2])) is None
    with pytest.raises(RuntimeError, match="experiment 'kernels' needs a GPU"):
        experiment.cases([factory.description()], MachineCapabilities(backends=("cpu",), cores=2))


def test_the_page_of_a_model_says_it_beside_its_ladder():
    page = factory.pages(both())["workloads/mnist_mlp.md"]
    assert "Of a step of 1.00 ms the GPU computes 600 µs (60 %), the rest are gaps: launch-bound." in page
    assert "the GPU computes" not in factory.pages(both()[:2])["workloads/mnist_mlp.md"]
