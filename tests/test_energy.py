"""Energy of a record is that of its counters, and nothing where they, or what they are of, are not known."""

import factory
import pytest

from suite.results.single import telemetry_summary


def test_energy_of_an_example_is_power_times_the_time_it_takes():
    use = telemetry_summary.gpu_use(factory.with_energy())
    assert use == telemetry_summary.Use(
        watts=300.0, idle_watts=70.0, joules_per_example=pytest.approx(300.0 * 0.002 / 128)
    )
    packages = telemetry_summary.package_use(factory.with_energy(package_joules=500.0, package_idle_watts=20.0))
    assert packages == telemetry_summary.Use(
        watts=50.0, idle_watts=20.0, joules_per_example=pytest.approx(50.0 * 0.002 / 128)
    )


@pytest.mark.parametrize("missing", [{"gpu_joules": None}, {"step_seconds": None}, {"seconds": 0.0}])
def test_what_was_not_counted_has_no_energy(missing):
    assert telemetry_summary.gpu_use(factory.with_energy(**missing)) is None
    assert telemetry_summary.package_use(factory.with_energy()) is None
    assert telemetry_summary.gpu_use(factory.record()) is None


def test_a_window_may_be_as_short_as_a_second_and_a_batch_as_small_as_one():
    (run,) = (run for run in factory.with_energy(seconds=1.0).runs if run.energy)
    use = telemetry_summary.gpu_use(factory.record(runs=(run,), batch=1))
    assert use == telemetry_summary.Use(watts=3000.0, idle_watts=70.0, joules_per_example=pytest.approx(3000.0 * 0.002))
    assert telemetry_summary.gpu_use(factory.record(runs=(run,), batch=0)) is None
