"""What the readings of a window come to: its own ones alone, counters as differences, nothing guessed."""

import msgspec
import pytest

from suite.results.records.run import Energy, GpuTelemetry, Level, Telemetry
from suite.system.nvml import GpuReading
from suite.worker_api import telemetry_messages
from suite.worker_api.telemetry_messages import TelemetrySample


def reading(at, **changes):
    """The machine at a second: four cores, three of them busy, two of these with the worker."""
    made = TelemetrySample(
        at=float(at),
        capacity_seconds=4.0 * at,
        busy_seconds=3.0 * at,
        own_seconds=0.01 * at,
        worker_seconds=2.0 * at,
        steal_seconds=0.2 * at,
        throttled_periods=int(at),
        package_joules=50.0 * at,
        gpus=(GpuReading(utilisation=0.5, power_watts=300.0, energy_joules=300.0 * at, reasons=("idle",)),) * 2,
    )
    return msgspec.structs.replace(made, **changes)


def test_a_window_takes_its_own_readings_and_no_others():
    late_first = [reading(at) for at in (5, 1, 2, 3, 4)]
    assert [r.at for r in telemetry_messages.within(late_first, 2, 4)] == [2, 3, 4]
    assert telemetry_messages.within(late_first, 4.1, 4.9) == ()


def test_counters_are_differences_inside_the_window():
    seen = telemetry_messages.telemetry([reading(at) for at in (10, 11, 12)], 2.5)
    assert seen.readings == 3
    assert seen.seconds == 2.5
    assert seen.cpu_utilisation == Level(mean=pytest.approx(0.75), max=pytest.approx(0.75))
    assert seen.others_cores == pytest.approx(0.99)
    assert seen.own_cores == pytest.approx(0.01)
    assert seen.steal == pytest.approx(0.05)
    assert seen.throttled_periods == 2
    assert seen.gpus[0].power_watts == Level(mean=300.0, max=300.0)


def test_the_maximum_is_that_of_the_busiest_moment():
    busy = [reading(10), reading(11, busy_seconds=34.0), reading(12, busy_seconds=34.0)]
    seen = telemetry_messages.telemetry(busy, 2.0)
    assert seen.cpu_utilisation == Level(mean=pytest.approx(0.5), max=pytest.approx(1.0))


def test_one_reading_has_no_differences_and_none_has_only_the_reason():
    alone = telemetry_messages.telemetry([reading(10)], 0.1)
    assert (alone.cpu_utilisation, alone.others_cores, alone.steal, alone.throttled_periods) == (None,) * 4
    assert alone.gpus[0].utilisation is None  # an average of the time before
    assert telemetry_messages.telemetry([], 0.1, "why") == Telemetry(seconds=0.1, readings=0, reason="why")


def gpu_of(at, **seen):
    return reading(at, gpus=(GpuReading(**seen),))


def test_what_drivers_average_over_the_time_before_a_window_is_none_of_its_own():
    idle_before = [gpu_of(10 + n / 4, utilisation=0.0 if n < 4 else 0.9, power_watts=70.0 if n < 4 else 400.0,
                          sm_clock_mhz=1980.0) for n in range(9)]  # fmt: skip
    (gpu,) = telemetry_messages.telemetry(idle_before, 2.0).gpus
    assert gpu.utilisation == Level(mean=pytest.approx(0.9), max=0.9)
    assert gpu.power_watts == Level(mean=pytest.approx(400.0), max=400.0)
    (gpu,) = telemetry_messages.telemetry(idle_before[:4], 0.75).gpus
    assert (gpu.utilisation, gpu.power_watts) == (None, None)
    assert gpu.sm_clock_mhz == Level(mean=1980.0, max=1980.0)


def test_a_gpu_is_as_busy_as_while_its_step_went_on_for_its_energy():
    going_on = [gpu_of(at, utilisation=0.1 if at == 20 else 0.8, energy_joules=300.0 * at) for at in range(20, 32)]
    found = telemetry_messages.energy(going_on, 1, 0.01)
    assert found.gpu_utilisation == pytest.approx(0.8)
    assert telemetry_messages.energy(going_on, 0, 0.01).gpu_utilisation is None  # a case of the CPU


def test_the_course_of_a_window_has_few_stretches_which_cover_it():
    warmer = [
        reading(at, gpus=(GpuReading(utilisation=min(1.0, at / 100), power_watts=float(at)),)) for at in range(10, 111)
    ]
    course = telemetry_messages.telemetry(warmer, 100.0).course
    assert (len(course), course[0].seconds, course[-1].seconds) == (34, 3.0, 100.0)
    assert [moment.cpu_utilisation for moment in course] == [0.75] * 34
    assert [moment.gpu_watts for moment in course[:2]] == [12.0, 15.0]  # of the readings at its end and before
    assert course[-1].gpu_utilisation == 1.0
    assert course[0].gpu_celsius is None
    assert telemetry_messages.course([reading(1)]) == ()
    assert len(telemetry_messages.course([reading(at) for at in range(1, 41)])) == 39


def test_what_does_not_answer_stays_empty():
    bare = [
        msgspec.structs.replace(
            reading(at), worker_seconds=None, steal_seconds=None, throttled_periods=None, gpus=(GpuReading(),)
        )
        for at in (1, 2)
    ]
    seen = telemetry_messages.telemetry(bare, 1.0)
    assert (seen.others_cores, seen.steal, seen.throttled_periods) == (None,) * 3
    assert seen.gpus == (GpuTelemetry(),)


@pytest.mark.parametrize(
    ("values", "grown"),
    [((1, 3, 6), 5), ((1, None, 6), None), ((6, 1), None), ((1, 6, 5, 9), None), ((1,), None), ((), None)],
)
def test_a_counter_that_went_backwards_or_was_silent_counts_nothing(values, grown):
    assert telemetry_messages.counted(values) == grown


# Energy


def test_energy_is_of_the_gpus_that_the_case_uses_with_idle_beside_it():
    idle = [reading(at, gpus=(GpuReading(energy_joules=70.0 * at),) * 2) for at in (0, 11)]
    busy = [reading(at) for at in range(20, 31)]
    one, two = (telemetry_messages.energy(busy, devices, 0.01, idle) for devices in (1, 2))
    assert (one.seconds, one.gpu_joules, one.package_joules) == (10.0, 3000.0, 500.0)
    assert two.gpu_joules == 6000.0
    assert (one.gpu_idle_watts, one.package_idle_watts) == (pytest.approx(70.0), pytest.approx(50.0))
    on_the_cpu = telemetry_messages.energy(busy, 0, 0.01, idle)
    assert (on_the_cpu.gpu_joules, on_the_cpu.package_joules) == (None, 500.0)


def test_a_short_window_has_no_energy_but_a_reason():
    short = telemetry_messages.energy([reading(at) for at in (1, 10)], 1, 0.01)
    assert short == Energy(seconds=9.0, reason="readings span 9.0 s, energy needs 10 s")
    assert "needs 10 s" in telemetry_messages.energy([], 1, 0.01).reason


def test_a_counter_that_is_not_there_or_wraps_is_never_guessed():
    without = [reading(at, gpus=(GpuReading(power_watts=300.0),), package_joules=None) for at in range(20, 31)]
    found = telemetry_messages.energy(without, 1, 0.01)
    assert (found.gpu_joules, found.package_joules) == (None, None)
    assert found.reason
    wrapped = [reading(at, gpus=(GpuReading(energy_joules=float(at % 25)),)) for at in range(20, 31)]
    assert telemetry_messages.energy(wrapped, 1, 0.01).gpu_joules is None
    assert telemetry_messages.energy([reading(at) for at in range(20, 31)], 3, 0.01).gpu_joules is None  # there are two


# Each field


def test_a_window_has_its_ends_and_nothing_before_or_behind():
    readings = [reading(at) for at in (1, 2, 3, 4)]
    assert [r.at for r in telemetry_messages.within(readings, 2.0, 3.0)] == [2, 3]


def test_a_share_is_of_what_passed_on_the_cores_and_between_nothing_and_all():
    busy = [reading(10, busy_seconds=0.0), reading(12, busy_seconds=2.0), reading(13, busy_seconds=9.0)]
    seen = telemetry_messages.telemetry(busy, 3.0, "why")
    assert seen.cpu_utilisation == Level(mean=pytest.approx(0.75), max=1.0)
    assert seen.reason == "why"
    back = [reading(10, busy_seconds=5.0), reading(11, busy_seconds=1.0)]
    assert telemetry_messages.telemetry(back, 1.0).cpu_utilisation == Level(mean=0.0, max=0.0)
    still = [reading(10), reading(11, capacity_seconds=40.0)]
    assert telemetry_messages.telemetry(still, 1.0).cpu_utilisation is None
    assert telemetry_messages.telemetry(still, 1.0).steal is None
    assert telemetry_messages.telemetry(still, 1.0).course[0].cpu_utilisation is None


def test_cores_of_others_are_those_busy_with_neither_the_worker_nor_the_telemetry_and_never_fewer_than_none():
    seen = telemetry_messages.telemetry([reading(10), reading(12, worker_seconds=25.0, own_seconds=0.5)], 2.0)
    assert seen.others_cores == pytest.approx((6.0 - 5.0 - 0.4) / 2)
    assert seen.own_cores == pytest.approx(0.2)
    more = telemetry_messages.telemetry([reading(10), reading(12, worker_seconds=30.0)], 2.0)
    assert more.others_cores == 0.0
    at_once = telemetry_messages.telemetry([reading(10), reading(10)], 0.0)
    assert (at_once.others_cores, at_once.own_cores) == (None, None)
    assert telemetry_messages.telemetry([reading(10), reading(11, worker_seconds=None)], 1.0).others_cores is None


def test_every_gpu_of_the_last_reading_has_its_own_levels():
    def gpus(at, value, reasons, others):
        one = GpuReading(
            utilisation=0.1 * value,
            power_watts=100.0 * value,
            sm_clock_mhz=1000.0 * value,
            memory_clock_mhz=500.0 * value,
            temperature_celsius=10.0 * value,
            memory_bytes=value,
            reasons=reasons,
            other_processes=others,
        )
        return reading(at, gpus=(GpuReading(), one))

    first, second = telemetry_messages.telemetry(
        [gpus(10, 1, ("idle", "power cap"), 0), gpus(11, 2, ("brake",), 3), gpus(12, 4, None, None)], 2.0
    ).gpus
    assert first == GpuTelemetry()
    assert second == GpuTelemetry(
        utilisation=Level(mean=pytest.approx(0.3), max=0.4),
        power_watts=Level(mean=300.0, max=400.0),
        sm_clock_mhz=Level(mean=pytest.approx(7000 / 3), max=4000.0),
        memory_clock_mhz=Level(mean=pytest.approx(3500 / 3), max=2000.0),
        temperature_celsius=Level(mean=pytest.approx(70 / 3), max=40.0),
        memory_bytes=Level(mean=pytest.approx(7 / 3), max=4),
        reasons=("brake", "idle", "power cap"),
        other_processes=3,
    )


def test_a_gpu_that_comes_later_has_the_readings_since():
    pair = reading(12).gpus
    late = [reading(10, gpus=()), reading(11, gpus=pair[:1]), reading(12, gpus=pair)]
    first, second = telemetry_messages.telemetry(late, 2.0).gpus
    assert first.power_watts == second.power_watts == Level(mean=300.0, max=300.0)


def test_a_stretch_of_the_course_is_short_in_digits_and_of_the_first_gpu():
    values = GpuReading(utilisation=0.123456, power_watts=1234.56, sm_clock_mhz=1980.4, temperature_celsius=61.23456)
    (stretch,) = telemetry_messages.course([reading(10.00004), reading(11.12345, gpus=(values, GpuReading()))])
    assert (stretch.seconds, stretch.cpu_utilisation) == (1.1234, 0.75)
    assert (stretch.gpu_utilisation, stretch.gpu_watts) == (0.1235, 1235.0)
    assert (stretch.gpu_clock_mhz, stretch.gpu_celsius) == (1980.0, 61.23)
    (blind,) = telemetry_messages.course([reading(10), reading(11, gpus=())])
    assert blind.gpu_watts is None


@pytest.mark.parametrize(("count", "stretches"), [(2, 1), (41, 40), (42, 21), (81, 40), (82, 27)])
def test_a_course_has_forty_stretches_at_most(count, stretches):
    found = telemetry_messages.course([reading(at) for at in range(count)])
    assert (len(found), found[-1].seconds) == (stretches, count - 1)


def test_a_counter_may_stand_still_but_not_be_read_once():
    assert telemetry_messages.counted((2, 2, 2)) == 0
    assert telemetry_messages.counted((2, 3)) == 1
    assert telemetry_messages.counted((None, None)) is None


def test_ten_seconds_are_enough_for_energy_and_a_reason_that_is_known_is_kept():
    busy = [reading(at) for at in (20, 30)]
    found = telemetry_messages.energy(busy, 1, 0.25, reason="why")
    assert (found.seconds, found.step_seconds, found.reason) == (10.0, 0.25, "why")
    assert telemetry_messages.energy(busy, 1, 0.25).reason == ""
    assert telemetry_messages.energy([reading(at) for at in (20, 29.9)], 1, 0.25, reason="why").reason == "why"
    assert telemetry_messages.energy([], 1, 0.25).reason == "readings span 0.0 s, energy needs 10 s"


def test_of_an_idle_time_below_ten_seconds_nothing_is_known():
    busy = [reading(at) for at in (20, 31)]
    long, short = ([reading(at) for at in ends] for ends in ((5, 15), (5, 14.9)))
    known, unknown = (telemetry_messages.energy(busy, 1, 0.01, idle) for idle in (long, short))
    assert (known.gpu_idle_watts, known.package_idle_watts) == (pytest.approx(300.0), pytest.approx(50.0))
    assert (unknown.gpu_idle_watts, unknown.package_idle_watts) == (None, None)
    assert telemetry_messages.energy(busy, 1, 0.01).gpu_idle_watts is None


def test_one_counter_that_goes_on_is_no_trouble_and_none_is():
    def without(gpu, package):
        gpus = (GpuReading(energy_joules=None if gpu is None else 1.0),)
        return [reading(at, gpus=gpus, **({} if package else {"package_joules": None})) for at in (20, 31)]

    assert telemetry_messages.energy(without(1.0, True), 1, 0.01).reason == ""
    assert telemetry_messages.energy(without(None, True), 1, 0.01).reason == ""
    assert telemetry_messages.energy(without(1.0, False), 1, 0.01).reason == ""
    assert telemetry_messages.energy(without(None, False), 1, 0.01).reason == "the counters stopped or went backwards"


def test_the_readings_that_are_averaged_over_a_second_count_from_one_second_on():
    seen = [gpu_of(at, utilisation=at / 100) for at in (10, 10.9, 11, 21)]
    assert telemetry_messages.energy(seen, 1, 0.01).gpu_utilisation == pytest.approx((0.11 + 0.21) / 2)
    blind = [*seen, reading(22, gpus=())]
    assert telemetry_messages.energy(blind, 1, 0.01).gpu_utilisation == pytest.approx((0.11 + 0.21) / 2)
