"""What the telemetry of processes comes to: windows that are long enough, of the processes that ended well."""

import factory
import msgspec
import pytest

from suite.results.records.run import Energy, GpuTelemetry, Level, Moment, Stage, Telemetry
from suite.results.single import telemetry_summary
from suite.results.single.telemetry_summary import gpu_share, long_enough, while_training


def level(value):
    return Level(mean=value, max=1.0)


def seen(busy=None, seconds=4.0, gpus=(), course=()):
    """Telemetry of a window in which the cores were so busy."""
    return Telemetry(
        seconds=seconds,
        readings=8,
        cpu_utilisation=None if busy is None else level(busy),
        gpus=tuple(GpuTelemetry(utilisation=None if each is None else level(each)) for each in gpus),
        course=course,
    )


def watched(*windows, backend="gpu", **changes):
    """A record of one process for each of these windows."""
    runs = tuple(factory.run(number, 0.01, telemetry=each, **changes) for number, each in enumerate(windows))
    return factory.record(backend=backend, step_seconds=(0.01,) * len(runs), runs=runs)


def cores(record):
    return telemetry_summary.telemetry_mean(record, lambda telemetry: telemetry.cpu_utilisation)


def trained(**stages):
    return tuple(Stage(name=name, wall_seconds=seconds, process_seconds=seconds) for name, seconds in stages.items())


def first_failed(record):
    failed, *others = record.runs
    return msgspec.structs.replace(record, runs=(msgspec.structs.replace(failed, reason="killed"), *others))


def test_it_is_the_middle_process_of_those_that_ended_well_and_were_watched():
    assert cores(watched(seen(0.1), seen(0.2), seen(0.9))) == 0.2
    assert cores(watched(seen(0.1), seen(0.2), seen(0.9), None, seen())) == 0.2
    assert cores(first_failed(watched(seen(0.9), seen(0.2)))) == 0.2
    assert cores(watched(None, seen())) is None


@pytest.mark.parametrize(("seconds", "found"), [(3.9, None), (4.0, 0.5), (4.1, 0.5)])
def test_a_window_counts_that_is_as_long_as_the_training_it_is_of(seconds, found):
    stages = trained(**{"import": 50.0, "epoch": 3.0, "validation": 1.0})
    assert cores(watched(seen(0.5, seconds), stages=stages)) == found


def test_a_gpus_is_that_of_the_first_gpu_and_a_cpus_has_none():
    found = {
        backend: telemetry_summary.gpu_telemetry_mean(
            watched(seen(gpus=(0.3, 0.4, 0.9)), seen(), backend=backend), lambda gpu: gpu.utilisation
        )
        for backend in ("cpu", "gpu")
    }
    assert found == {"cpu": None, "gpu": 0.3}


def counted(*shares):
    """A record whose processes' steps went on with a GPU that busy, and had samples with a GPU busy by a tenth."""
    record = watched(*(seen(gpus=(0.1,)) for _ in shares))
    energies = [None if share == "none" else Energy(seconds=9.0, gpu_utilisation=share) for share in shares]
    runs = (msgspec.structs.replace(run, energy=each) for run, each in zip(record.runs, energies, strict=True))
    return msgspec.structs.replace(record, runs=tuple(runs))


def test_a_gpu_is_as_busy_as_while_its_step_went_on_and_else_as_in_its_samples():
    assert gpu_share(counted(0.7, 0.8, 0.95)) == 0.8
    assert gpu_share(counted(0.7, None, "none")) == 0.7
    assert gpu_share(counted(None, "none")) == 0.1
    assert gpu_share(first_failed(counted(0.7, 0.9))) == 0.9


@pytest.mark.parametrize(("seconds", "enough"), [(1.9, False), (2.0, True), (2.1, True)])
def test_samples_are_long_enough_from_twice_what_drivers_average(seconds, enough):
    assert long_enough(seen(seconds=seconds)) is enough
    assert (gpu_share(watched(seen(gpus=(0.3,), seconds=seconds), None)) is not None) is enough


def course(*stretches):
    """The stretches of a window, each of how many seconds and how busy."""
    made, end = [], 0.0
    for seconds, busy in stretches:
        end += seconds
        made.append(Moment(seconds=end, gpu_utilisation=busy))
    return tuple(made)


def busy(stretches, epoch=4.0, settled=None):
    window = seen(seconds=sum(seconds for seconds, _ in stretches), course=course(*stretches))
    stages = trained(compile=2.0, epoch=epoch) if epoch else trained(compile=2.0)
    options = {} if settled is None else {"settled": settled}
    return while_training(
        factory.run(0, 0.01, telemetry=window, stages=stages), lambda one: one.gpu_utilisation, **options
    )


def test_stretches_count_by_their_length_from_the_beginning_of_the_training_on():
    assert busy(((2.0, 0.1), (1.0, 0.2), (3.0, 0.6))) == pytest.approx(0.5)
    assert busy(((1.0, 0.1), (2.0, 0.9), (3.0, 0.6))) == pytest.approx(0.6)  # one begins before
    assert busy(((2.0, 0.1), (1.0, 0.2), (3.0, 0.6)), settled=1.0) == pytest.approx(0.6)
    assert busy(((2.0, 0.1), (1.0, None), (3.0, 0.6))) == pytest.approx(0.6)


def test_a_window_that_is_all_training_counts_from_its_first_reading_on():
    assert busy(((1.0, 0.2), (3.0, 0.6))) == pytest.approx(0.5)


def test_nothing_was_busy_while_training_where_nobody_trained_or_watched_or_no_stretch_is_of_it():
    assert busy(((2.0, 0.1), (4.0, 0.5)), epoch=0.0) is None
    assert busy(((6.0, 0.5),)) is None
    blind = factory.run(0, 0.01, telemetry=None, stages=trained(epoch=4.0))
    assert while_training(blind, lambda one: one.gpu_utilisation) is None
