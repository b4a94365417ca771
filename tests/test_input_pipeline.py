"""What a record of steps from storage says: which side is the bottleneck, and rates with their interval."""

import factory
import msgspec
import pytest

from suite.report.parts.from_storage import pipeline_table
from suite.results.records.run import Energy, Sample
from suite.results.single.input_pipeline import bound_by, input_pipeline, input_pipelines
from suite.results.stats.statistics import Estimate
from suite.results.views.rows import step_share_cell


def record(scope="epoch", steps=(0.2, 0.2, 0.2), alone=(0.05, 0.05, 0.05), **changes):
    runs = tuple(
        msgspec.structs.replace(factory.run(number, step), step_alone_seconds=one, first_batch_seconds=1.0 + number)
        for number, (step, one) in enumerate(zip(steps, alone, strict=True))
    )
    return factory.record(scope=scope, runs=runs, step_seconds=steps, **changes)


@pytest.mark.parametrize(("alone", "bound"), [(0.05, "input"), (0.15, "both"), (0.19, "device")])
def test_a_page_says_which_side_is_the_bottleneck(alone, bound):
    found = input_pipeline(record(alone=(alone,) * 3))
    assert found.bound == bound
    assert found.share.value == pytest.approx(alone / 0.2, rel=0.01)


def test_rates_are_examples_a_second_with_their_interval():
    found = input_pipeline(record(steps=(0.2, 0.21, 0.19)))
    assert found.rate.value == pytest.approx(found.summary.record.case.batch / found.summary.seconds.value)
    assert found.rate.low < found.rate.value < found.rate.high
    assert found.first_batch_seconds == 2.0


@pytest.mark.parametrize(
    ("share", "bound"), [(0.69, "input"), (0.7, "both"), (0.89, "both"), (0.9, "device"), (1.1, "device")]
)
def test_a_device_is_the_bottleneck_from_nine_tenths_of_the_time_and_the_input_below_seven(share, bound):
    assert bound_by(Estimate(value=share, low=None, high=None, processes=3)) == bound


def test_a_share_above_all_of_the_time_is_not_printed():
    (row,) = pipeline_table([record(alone=(0.24,) * 3)]).rows
    share = row[list(pipeline_table([record()]).columns).index("step's share")]
    assert (share.text, share.sort) == ("–", None)
    assert "the step alone took longer" in share.remark
    assert row[-2].text == "device"
    assert step_share_cell(input_pipeline(record()).share).text == "25 %"


def test_each_step_is_paired_with_the_step_alone_of_its_own_process():
    found = input_pipeline(record(steps=(0.2, 0.4, 0.8), alone=(0.1, 0.2, 0.4)))
    assert found.share.value == pytest.approx(0.5, rel=0.01)
    assert found.share.high - found.share.low == pytest.approx(0.0, abs=1e-6)


def test_without_the_step_alone_nothing_is_said_about_the_bottleneck():
    assert input_pipeline(record(alone=(None, 0.05, 0.05))).bound is None


def test_the_newest_record_of_a_case_counts():
    old, new = record(created="2026-01-01T00:00:00Z"), record(created="2026-02-01T00:00:00Z", steps=(0.4, 0.4, 0.4))
    (found,) = input_pipelines([new, old])
    assert found.summary.seconds.value == pytest.approx(0.4, rel=0.01)


def test_the_first_batch_is_that_of_the_middle_process():
    found = input_pipeline(record())
    late = (msgspec.structs.replace(run, first_batch_seconds=seconds) for run, seconds in
            zip(found.summary.record.runs, (1.0, 1.5, 50.0), strict=True))  # fmt: skip
    assert input_pipeline(msgspec.structs.replace(found.summary.record, runs=tuple(late))).first_batch_seconds == 1.5


def test_a_process_that_failed_says_nothing_and_one_that_told_no_first_batch_is_left_out():
    made = record()
    failed, silent, told = made.runs
    runs = (
        msgspec.structs.replace(failed, reason="killed", first_batch_seconds=90.0, step_alone_seconds=None),
        msgspec.structs.replace(silent, first_batch_seconds=None),
        msgspec.structs.replace(told, energy=Energy(seconds=9.0, gpu_utilisation=0.4)),
    )
    found = input_pipeline(msgspec.structs.replace(made, runs=runs))
    assert (found.first_batch_seconds, found.share.processes, found.gpu_utilisation) == (3.0, 2, 0.4)


def test_the_middle_sample_of_a_process_is_what_the_step_alone_is_compared_with():
    made = record()
    walls = (0.8, 0.8, 8.0)  # of four steps each
    runs = tuple(
        msgspec.structs.replace(
            run,
            samples=tuple(Sample(wall_seconds=wall, process_seconds=wall) for wall in walls),
            step_alone_seconds=0.1,
        )
        for run in made.runs
    )
    assert input_pipeline(msgspec.structs.replace(made, runs=runs)).share.value == pytest.approx(0.5)


def test_a_record_without_a_time_has_no_rate_and_no_bottleneck():
    made = record()
    runs = tuple(msgspec.structs.replace(run, samples=(), reason="killed") for run in made.runs)
    found = input_pipeline(msgspec.structs.replace(made, runs=runs))
    assert (found.rate, found.device_rate, found.share, found.bound, found.first_batch_seconds) == (None,) * 5


def test_records_of_epochs_are_listed_unless_another_scope_is_asked_for():
    both = [record("input", workload="a"), record(workload="b"), record(workload="a")]
    names = [(each.summary.record.workload, each.summary.record.case.scope) for each in input_pipelines(both)]
    assert names == [("a", "epoch"), ("b", "epoch")]
    assert [each.summary.record.case.scope for each in input_pipelines(both, "input")] == ["input"]
