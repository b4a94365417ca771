"""First calls and long runs: what is asked for, and what is read off."""

from dataclasses import replace

import factory
import msgspec
import pytest
from factory import of_one_machine

from suite import models
from suite.analysis.capabilities import MachineCapabilities
from suite.experiments import first_call_vs_steady, run_length, stand_ins
from suite.results.records.run import GpuTelemetry, Level, Moment, Sample, Stage, Telemetry
from suite.results.single.telemetry_summary import gpu_share
from suite.workload import WholeRun

BOTH = MachineCapabilities(backends=("cpu", "gpu"), cores=4)
RUN = factory.description(run=WholeRun(epochs=20, train=1000))


def calls(backend, first, second, *later):
    def sample(seconds):
        return Sample(wall_seconds=seconds, process_seconds=3 * seconds)

    runs = tuple(
        msgspec.structs.replace(
            factory.run(number, 1.0),
            warmup=(sample(first * share), sample(second)),
            samples=tuple(map(sample, later)),
            steps_per_sample=1,
        )
        for number, share in enumerate((1.0, 1.02, 0.98))
    )
    return factory.record(backend=backend, scope="calls", runs=runs)


def test_first_calls_are_asked_for_on_each_backend():
    found = first_call_vs_steady.cases([factory.description()], BOTH)
    assert [(case.backend, case.scope) for case in found] == [("cpu", "calls"), ("gpu", "calls")]
    assert [case.allocator for case in found] == ["default-malloc", "tuned-malloc"]


def test_first_and_steady_calls_are_read_and_set_against_each_other():
    reading = first_call_vs_steady.read(
        of_one_machine([calls("cpu", 20.0, 9.0, 8.0, 8.4), calls("gpu", 15.0, 0.3, 0.2, 0.2)])
    )
    four, sides = reading.tables
    assert [row[1].text for row in four.rows] == ["cpu", "gpu"]
    assert [row[5].sort for row in four.rows] == pytest.approx([20 / 8.2, 75], rel=1e-2)
    assert four.rows[0][7].sort == pytest.approx(0.05)
    assert four.rows[0][8].sort == pytest.approx(3.0)
    assert [row[2].sort for row in sides.rows] == pytest.approx([41, 20 / 15, 45.4 / 15.7], rel=1e-2)
    assert "on the GPU: the first call takes 75.0x" in reading.answers[1]


def test_first_calls_of_another_batch_are_not_read_as_the_headline_ones():
    one = calls("cpu", 20.0, 9.0, 8.0, 8.4)
    other = msgspec.structs.replace(one, case=msgspec.structs.replace(one.case, batch=7))
    assert first_call_vs_steady.read(of_one_machine([other])) is None


def test_a_side_alone_has_no_second_table_and_nothing_has_no_reading():
    assert len(first_call_vs_steady.read(of_one_machine([calls("cpu", 20.0, 9.0, 8.0, 8.4)])).tables) == 1
    assert first_call_vs_steady.read(of_one_machine([factory.record()])) is None


def test_an_answer_on_first_calls_that_only_shows_that_it_runs_says_so():
    one = calls("cpu", 20.0, 9.0, 8.0, 8.4)
    told = [
        first_call_vs_steady.read(of_one_machine([msgspec.structs.replace(one, profile=profile)]))
        .answers[0]
        .endswith(" the time of a later one. Caution: it only shows that it runs.")
        for profile in ("quick", "smoke")
    ]
    assert told == [False, True]


def watched(length, variant, busy, backend="gpu", epochs=6.0, training=None):
    """A run of ten seconds that was watched in stretches of one, of which `epochs` seconds are training."""
    training = busy if training is None else training
    course = tuple(
        Moment(seconds=float(end), cpu_utilisation=0.2 if end <= 10 - epochs else 0.7,
               gpu_utilisation=0.0 if end <= 10 - epochs else training)
        for end in range(1, 11)
    )  # fmt: skip
    seen = Telemetry(seconds=10.0, readings=100, cpu_utilisation=Level(mean=0.5, max=1.0), course=course,
                     gpus=(GpuTelemetry(utilisation=Level(mean=busy, max=0.9)),))  # fmt: skip
    parts = (("import", 2.0), ("compile", 10.0 - epochs), ("epoch", 0.75 * epochs), ("validation", 0.25 * epochs))
    stages = tuple(Stage(name=name, wall_seconds=seconds, process_seconds=seconds) for name, seconds in parts)
    runs = (factory.run(0, 10.0, steps=1, samples=1, telemetry=seen, stages=stages),)
    return factory.record(
        backend=backend, scope="run", variant=variant, length=length, about=RUN, runs=runs, step_seconds=[1.0]
    )


def test_runs_of_three_kinds_are_asked_for_on_the_gpu_and_the_documented_one_on_the_cpu():
    found = run_length.cases([RUN, factory.description("none")], BOTH)
    assert [(case.backend, case.variant, case.length) for case in found] == [
        ("cpu", "plain", 1), ("gpu", "plain", 1), ("gpu", "plain", 10), ("gpu", "resident", 1)]  # fmt: skip


def test_how_busy_a_gpu_is_stands_beside_the_length_of_the_run():
    records = [watched(10, "plain", 0.27), watched(1, "plain", 0.26), watched(1, "resident", 0.95)]
    reading = run_length.read(of_one_machine(records))
    (table,) = reading.tables
    assert [row[2].text for row in table.rows] == [
        "20 epochs, data on the host", "200 epochs, data on the host", "20 epochs, data on the device"]  # fmt: skip
    assert [row[5].sort for row in table.rows] == pytest.approx([0.26, 0.27, 0.95])
    assert [row[7].sort for row in table.rows] == [0.9] * 3
    assert "26 % in 20 epochs, data on the host (26 % while training); 27 % in 200 epochs" in reading.answers[0]
    assert "Not measured" not in reading.answers[0]
    assert reading.answers[0].endswith(" 10 times the epochs keep it 1.04x as busy while training.")
    assert reading.lead.startswith("mnist_mlp keeps the GPU busy ")
    assert reading.lead.endswith(" in 10 times the epochs.")
    assert "times the epochs" not in run_length.read(of_one_machine(records[:1])).answers[0]


def test_how_busy_a_gpu_is_is_pooled_over_hosts():
    first, again = ([watched(length, "plain", busy) for length in (1, 10)] for busy in (0.1, 0.4))
    records = [*factory.on_hosts(first, (1.0,)), *factory.on_hosts(again, (1.0, 1.0))[2:]]
    (table,) = run_length.read(of_one_machine(records)).tables
    assert [row[5].sort for row in table.rows] == pytest.approx([0.2, 0.2]), "the mean of 10 and 40 %"
    assert [row[-1].text for row in table.rows] == ["2", "2"]


def test_an_answer_names_the_runs_that_were_not_made():
    (answer,) = run_length.read(of_one_machine([watched(1, "plain", 0.26)])).answers
    assert answer == (
        "mnist_mlp: the GPU is busy 26 % in 20 epochs, data on the host (26 % while training). Not measured: "
        "200 epochs, data on the host; 20 epochs, data on the device."
    )


def test_a_grid_search_which_has_its_examples_on_the_device_is_no_run_from_the_host():
    about = msgspec.structs.replace(RUN, grid=models.load("mnist_grid_search").description.grid)
    assert run_length.cases([RUN, about], BOTH) == run_length.cases([RUN], BOTH)
    search = msgspec.structs.replace(watched(1, "plain", 0.26), description=about)
    assert run_length.read(of_one_machine([search])) is None


def test_a_run_that_was_cut_short_is_none_of_the_documented_ones():
    cut = msgspec.structs.replace(watched(1, "resident", 0.95), profile="smoke")
    assert run_length.read(of_one_machine([cut])) is None
    (table,) = run_length.read(of_one_machine([cut, watched(1, "plain", 0.26)])).tables
    assert [row[2].text for row in table.rows] == ["20 epochs, data on the host"]


def test_a_run_of_another_batch_is_not_the_documented_one():
    one = watched(1, "plain", 0.26)
    assert (
        run_length.read(
            of_one_machine([msgspec.structs.replace(one, case=msgspec.structs.replace(one.case, batch=4096))])
        )
        is None
    )


def test_a_window_that_is_shorter_than_the_training_does_not_say_how_busy_a_gpu_was():
    one = watched(1, "plain", 0.26)
    (run,) = one.runs
    short = msgspec.structs.replace(run, telemetry=msgspec.structs.replace(run.telemetry, seconds=5.9))
    assert gpu_share(one) == pytest.approx(0.26)
    assert gpu_share(msgspec.structs.replace(one, runs=(short,))) is None


def test_a_run_that_nobody_watched_has_dashes():
    bare = factory.record(backend="gpu", scope="run", about=RUN, step_seconds=[1.0])
    (table,) = run_length.read(of_one_machine([bare])).tables
    assert [cell.text for cell in table.rows[0][4:10]] == ["–"] * 6


def test_how_busy_both_are_while_training_leaves_out_what_was_built_and_what_drivers_average():
    (row,) = run_length.read(of_one_machine([watched(1, "plain", 0.1, training=0.8)])).tables[0].rows
    assert (row[4].sort, row[5].sort, row[6].sort, row[9].sort) == pytest.approx((6.0, 0.1, 0.8, 0.7))
    record = watched(1, "plain", 0.1, training=0.8)
    (run,) = record.runs
    late = tuple(msgspec.structs.replace(moment, gpu_utilisation=0.1) if moment.seconds == 5.0 else moment
                 for moment in run.telemetry.course)  # fmt: skip
    run = msgspec.structs.replace(run, telemetry=msgspec.structs.replace(run.telemetry, course=late))
    assert run_length.gpu_while_training(run) == pytest.approx(0.8)  # the first second is of the time before too
    assert run_length.cpu_while_training(run) == pytest.approx(0.7)


def test_epochs_too_short_to_be_watched_have_no_share_of_their_own():
    reading = run_length.read(of_one_machine([watched(1, "plain", 0.1, epochs=1.5)]))
    (row,) = reading.tables[0].rows
    assert (row[5].text, row[6].text, row[9].sort) == ("10 %", "–", pytest.approx(0.7))
    assert reading.answers[0].startswith("mnist_mlp: the GPU is busy 10 % in 20 epochs, data on the host. Not")
    assert [point.series for point in reading.chart.points] == ["whole run"]


def test_stretches_of_a_window_count_by_their_length():
    record = watched(1, "plain", 0.1)
    (run,) = record.runs
    course = (Moment(seconds=4.0, gpu_utilisation=0.0), Moment(seconds=5.0, gpu_utilisation=0.0),
              Moment(seconds=9.0, gpu_utilisation=0.5), Moment(seconds=10.0, gpu_utilisation=1.0))  # fmt: skip
    run = msgspec.structs.replace(run, telemetry=msgspec.structs.replace(run.telemetry, course=course))
    assert run_length.gpu_while_training(run) == pytest.approx(0.6)


# Stand-ins against the real data


def whole(data, seconds, backend="cpu"):
    return factory.record("mnist_mlp", backend, seconds, about=RUN, scope="run", data=data)


def test_whole_runs_are_asked_for_on_both_data_and_each_backend():
    found = stand_ins.cases([models.load("mnist_mlp").description], replace(BOTH, data="tfds"))
    assert [(case.backend, case.data, case.scope) for case in found] == [
        ("cpu", "embedded", "run"), ("cpu", "tfds", "run"), ("gpu", "embedded", "run"), ("gpu", "tfds", "run"),
    ]  # fmt: skip
    with pytest.raises(RuntimeError, match=r"needs the real data.*add --data tfds"):
        stand_ins.cases([models.load("mnist_mlp").description], BOTH)
    with pytest.raises(ValueError, match="no whole run of these workloads is documented"):
        stand_ins.cases([models.load("imdb_bilstm").description], replace(BOTH, data="tfds"))


def test_the_time_on_the_real_data_is_set_against_that_on_the_stand_in_round_by_round():
    reading = stand_ins.read(of_one_machine([whole("embedded", [10.0, 20.0, 30.0]), whole("tfds", [12.0, 24.0, 36.1])]))
    (row,) = reading.tables[0].rows
    assert row[4].sort == pytest.approx(1.2, rel=1e-2)
    assert reading.answers[0].startswith(
        "mnist_mlp on the CPU: the times do not agree: a run on the real data takes 1.2"
    )
    same = stand_ins.read(of_one_machine([whole("embedded", [10.0, 10.2, 9.9]), whole("tfds", [10.1, 10.1, 9.9])]))
    assert "the times agree: " in same.answers[0]


def test_one_of_the_two_runs_says_nothing_and_a_run_on_real_data_is_no_longer_run():
    assert stand_ins.read(of_one_machine([whole("tfds", [12.0, 24.0, 36.0])])) is None
    assert run_length.read(of_one_machine([whole("tfds", [12.0, 24.0, 36.0])])) is None
