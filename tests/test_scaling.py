"""Scaling over GPUs: what is asked for, and what is read off records, whole or not."""

from dataclasses import replace
from itertools import permutations

import factory
import msgspec
import pytest
from factory import of_one_machine
from hypothesis import given
from hypothesis import strategies as st
from test_measure import answered, offer

from suite import models
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.devices import cells_by_workload, losses_apart, second
from suite.driver.forecast import process_seconds
from suite.driver.profiles import EFFORTS
from suite.experiments import scaling
from suite.nn.histograms import HESSIAN_BITS, LARGEST
from suite.results.stats.fit import crossing

EIGHT = MachineCapabilities(backends=("cpu", "gpu"), cores=64, gpus=8)
MLP = models.load("cifar10_mlp").description
NOISE = (1.0, 1.004, 0.996)
NODE = msgspec.structs.replace(factory.HOST, name="8x test-gpu, 64 cores", gpus=(factory.H100,) * 8)


def cell(devices, batch, seconds, loss=2.3, about=MLP, machine=NODE, experiment="scaling", **changes):
    """A record of a step on so many GPUs."""
    noise = list(permutations(NOISE))[devices.bit_length()]  # another order each, so that no ratio is free of it
    runs = tuple(factory.run(n, seconds * one, first_loss=loss) for n, one in enumerate(noise))
    made = factory.record(about.name, "gpu", (1, 1, 1), machine, about=about, runs=runs, batch=batch, devices=devices,
                          **changes)  # fmt: skip
    return msgspec.structs.replace(made, experiment=experiment)


def seconds(devices, batch, summing=0.0004, example=0.00001, launch=0.0001):
    """A step that computes its part of the batch and then sums, which takes a time of its own."""
    return launch + example * batch / devices + (summing if devices > 1 else 0.0)


def node(gpus=8, about=MLP, time=seconds, **changes):
    """The records of a whole campaign."""
    machine = msgspec.structs.replace(NODE, name=f"{gpus}x test", gpus=(factory.H100,) * gpus)
    wanted = scaling.settings(about, gpus)
    return [cell(count, batch, time(count, batch), about=about, machine=machine, **changes) for count, batch in wanted]


def without(records, devices, batch):
    return [r for r in records if (r.case.devices, r.case.batch) != (devices, batch)]


def failed(records, devices, batch, reason="RuntimeError: out of memory"):
    (one,) = [r for r in records if (r.case.devices, r.case.batch) == (devices, batch)]
    bad = msgspec.structs.replace(one, runs=(factory.run(0, 1.0, samples=0, reason=reason),), reason=reason)
    return [*without(records, devices, batch), bad]


def column(table, name):
    return [row[table.columns.index(name)] for row in table.rows]


# Cases


def test_strong_and_weak_scaling_are_asked_for_with_their_parts_on_one_gpu():
    asked = set(scaling.settings(MLP, 8))
    assert {(1, 32), (2, 32), (4, 32), (8, 32)} <= asked
    assert {(2, 64), (4, 128), (8, 256)} <= asked
    assert {(1, 16), (1, 8), (1, 4)} <= asked
    assert {(1, 64), (1, 256)} <= asked  # whose losses those of weak scaling are compared with
    assert {(1, batch) for batch in (32, 128, 512, 2048)} | {(2, batch) for batch in (32, 128, 512, 2048)} <= asked


def test_trees_are_never_grown_on_more_rows_than_their_sums_can_hold():
    trees = models.load("gbdt_mortgage").description
    rows = {batch for _, batch in scaling.settings(trees, 8)}
    assert {trees.batch, 4 * trees.batch} <= rows
    assert max(rows) * LARGEST <= 2**HESSIAN_BITS


@pytest.mark.parametrize(("gpus", "most"), [(2, 2), (3, 2), (4, 4), (7, 4), (8, 8), (16, 8)])
def test_no_more_gpus_are_asked_for_than_there_are(gpus, most):
    made = scaling.cases([MLP], replace(EIGHT, gpus=gpus))
    assert max(case.devices for case in made) == most
    assert {case.backend for case in made} == {"gpu"}


@given(st.integers(1, 100), st.integers(2, 9))
def test_every_case_divides_and_stands_beside_one_gpu(batch, gpus):
    asked = scaling.settings(msgspec.structs.replace(MLP, batch=batch), gpus)
    assert all(size % count == 0 for count, size in asked)
    assert len(asked) == len(set(asked))
    assert {(1, batch), (2, 2 * batch)} <= set(asked)


def test_a_batch_that_does_not_divide_is_left_out_and_the_reading_says_why():
    odd = msgspec.structs.replace(MLP, batch=6)
    assert (4, 6) not in scaling.settings(odd, 8)
    reading = scaling.read(of_one_machine(node(about=odd)))
    refused = [f"a batch of 6 does not divide over {count} devices" for count in (4, 8)]
    assert [cell.remark for cell in column(reading.tables[0], "speed")] == ["", "", *refused]
    assert "a batch of 6 split over 2 GPUs is" in reading.answers[0]
    one = scaling.read(of_one_machine(node(2, msgspec.structs.replace(MLP, batch=1))))
    assert "from 2 GPUs is not known: a batch of 1 does not divide over 2 devices." in one.answers[0]


def test_one_gpu_is_an_error_that_says_what_is_needed():
    with pytest.raises(RuntimeError, match="needs 2 GPUs or more, JAX sees 1; run it on a machine with more"):
        scaling.cases([MLP], replace(EIGHT, gpus=1))


def test_parts_of_a_cpu_are_no_gpus():
    with pytest.raises(RuntimeError, match="needs a GPU, this run has only backend 'cpu'"):
        scaling.cases([MLP], MachineCapabilities(backends=("cpu",), cores=64, gpus=0))


def test_a_request_counts_the_gpus_that_jax_sees():
    jax = offer("cpu", "gpu", backends={"cpu": ("cpu",), "gpu": ("H100",) * 4})
    made = answered(jax, NODE, experiment="scaling", workloads=("mnist_mlp",)).cases
    assert {case.devices for case in made} == {1, 2, 4}
    with pytest.raises(RuntimeError, match="needs 2 GPUs or more, JAX sees 1"):
        answered(offer("cpu", "gpu"), NODE, experiment="scaling")
    with pytest.raises(ValueError, match="--devices asked for with experiment 'scaling', which decides that itself"):
        answered(jax, NODE, experiment="scaling", devices=2)


def test_the_estimate_lets_several_gpus_share_a_step():
    deep = models.load("cifar10_resnet63").description
    one, two = ([case] for case in scaling.cases([deep], EIGHT) if case.batch == 1024)
    times = [process_seconds(unit, deep, EFFORTS["quick"], 64) for unit in (one, two)]
    assert times[1] < 0.9 * times[0]


# Reading


def test_speed_and_efficiency_are_those_of_the_times():
    strong, weak, _ = scaling.read(of_one_machine(node())).tables
    base = seconds(1, 32)
    assert [cell.sort for cell in column(strong, "speed")] == pytest.approx(
        [1, *(base / seconds(n, 32) for n in (2, 4, 8))]
    )
    work = [n * base / seconds(n, 32 * n) for n in (2, 4, 8)]
    assert [cell.sort for cell in column(weak, "speed")[1:]] == pytest.approx(work)
    assert [cell.sort for cell in column(weak, "efficiency")[1:]] == pytest.approx(
        [one / n for one, n in zip(work, (2, 4, 8), strict=True)]
    )
    assert [cell.text for cell in column(weak, "batch")] == ["32", "64", "128", "256"]


def test_each_speed_has_an_interval_that_holds_it():
    reading = scaling.read(of_one_machine(factory.on_hosts(node())))
    strong, weak, _ = reading.tables
    for table in (strong, weak):
        for cell in column(table, "95 % interval")[1:]:
            low, high = map(float, cell.text.split(" to "))
            assert low < high
    for point in reading.chart.points[1:]:
        assert point.low < point.value < point.high


@pytest.mark.parametrize("summing", [0.0, 0.0002, 0.002])
def test_what_the_collectives_take_is_what_one_gpu_with_the_part_does_without(summing):
    strong, weak, _ = scaling.read(of_one_machine(node(time=lambda n, b: seconds(n, b, summing)))).tables
    for table, batches in ((strong, (32, 32, 32)), (weak, (64, 128, 256))):
        shares = [cell.sort for cell in column(table, "collectives at most (derived)")[1:]]
        wanted = [summing / seconds(n, b, summing) for n, b in zip((2, 4, 8), batches, strict=True)]
        assert shares == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize(
    ("summing", "words"),
    [
        (0.0, "A second GPU pays at all of the batches from 32 to 2,048: at 32 two are 1.6"),
        (0.0004, "A second GPU pays from a batch of about"),
        (1.0, "A second GPU pays at none of the batches from 32 to 2,048: at 2,048 two are 0.02"),
    ],
)
def test_where_a_second_gpu_pays_is_a_sentence(summing, words):
    reading = scaling.read(of_one_machine(factory.on_hosts(node(time=lambda n, b: seconds(n, b, summing)))))
    assert words in reading.answers[0]


def test_a_workload_has_one_answer_that_says_no_number_twice():
    nodes = (factory.on_hosts(node(count, time=lambda n, b: seconds(n, b, 0.0))) for count in (2, 8))
    (two,), (eight,) = (scaling.read(of_one_machine(records)).answers for records in nodes)
    assert two.startswith("cifar10_mlp: a batch of 32 split over 2 GPUs is 1.")
    assert ". With 2 times the batch 2 GPUs do " in two
    assert two.endswith(". A second GPU pays at all of the batches from 32 to 2,048.")
    assert ". A second GPU pays at all of the batches from 32 to 2,048: at 32 two are 1." in eight


def test_an_answer_says_once_how_many_of_its_speeds_may_be_quoted():
    assert scaling.read(of_one_machine(node(2))).answers[0].endswith(" None of 6 may be quoted.")
    assert "quoted" not in scaling.read(of_one_machine(factory.on_hosts(node(2)))).answers[0]


def test_a_speed_is_pooled_over_the_hosts_that_took_both_steps():
    first, slower = (node(2, time=lambda n, b, s=summing: seconds(n, b, s)) for summing in (0.0, 0.002))
    records = [*factory.on_hosts(first, (1.0,)), *factory.on_hosts(slower, (1.0, 1.0))[len(slower) :]]
    times = [seconds(1, 32) / seconds(2, 32, summing) for summing in (0.0, 0.002)]
    table, *_ = scaling.read(of_one_machine(records)).tables
    assert column(table, "speed")[1].sort == pytest.approx((times[0] * times[1]) ** 0.5, rel=1e-6)
    assert column(table, "hosts")[1].text == "2"


def test_the_batch_from_which_a_second_gpu_pays_is_where_both_take_as_long():
    pairs = second(cells_by_workload(of_one_machine(factory.on_hosts(node())))["cifar10_mlp"])
    at = crossing([(side.batch, side.speed.estimate) for side in pairs])
    assert 32 < at.low < at.size < at.high < 128  # 80: half of its examples take as long as the sum
    assert at.size == pytest.approx(80, rel=0.1)


def test_a_size_that_failed_has_its_reason_and_fewer_gpus_answer():
    reading = scaling.read(of_one_machine(failed(node(), 8, 32)))
    assert column(reading.tables[0], "speed")[-1].remark == "not measured"
    assert reading.tables[0].notes == ("cifar10_mlp/gpu/step/devices=8 does not count: RuntimeError: out of memory.",)
    assert "split over 4 GPUs" in reading.answers[0]
    assert [p.at for p in reading.chart.points] == [1, 2, 4]


def test_what_is_missing_is_a_dash_and_no_number():
    reading = scaling.read(of_one_machine(without(without(node(), 4, 32), 1, 4)))
    speeds, shares = (column(reading.tables[0], name) for name in ("speed", "collectives at most (derived)"))
    assert [cell.text == "–" for cell in speeds] == [False, False, True, False]
    assert speeds[2].remark == "not measured"
    assert [cell.text == "–" for cell in shares] == [True, False, True, True]
    bare = scaling.read(of_one_machine(without(node(), 1, 32)))
    assert "is not known: one GPU was not measured beside it." in bare.answers[0]
    assert bare.chart.points == ()


def test_another_loss_on_the_same_batch_is_another_training_and_no_number():
    wrong = [*without(node(), 2, 32), cell(2, 32, seconds(2, 32), loss=2.31, machine=node()[0].machine)]
    reading = scaling.read(of_one_machine(wrong))
    refused = column(reading.tables[0], "speed")[1]
    assert refused.text == "–"
    assert "not the same training: its first loss is 4.3e-03 from that of one GPU" in refused.remark
    assert all(p.at != 2 for p in reading.chart.points)
    near = [*without(node(), 2, 32), cell(2, 32, seconds(2, 32), loss=2.3001, machine=node()[0].machine)]
    assert column(scaling.read(of_one_machine(near)).tables[0], "speed")[1].text != "–"


def test_each_row_says_how_far_its_first_loss_is_from_that_of_one_gpu_with_the_same_batch():
    records = [
        *without(without(node(), 2, 32), 1, 128),
        cell(2, 32, seconds(2, 32), loss=2.3001, machine=node()[0].machine),
    ]
    strong, weak = (column(table, "first losses apart") for table in scaling.read(of_one_machine(records)).tables[:2])
    assert [cell.text for cell in strong] == ["–", "4.3e-05", "0", "0"]
    assert [cell.text for cell in weak] == ["–", "0", "–", "0"]
    assert (weak[0].remark, weak[2].remark[:31]) == ("the others are set against it", "one GPU did not take this batch")
    wrong = [*without(node(), 2, 32), cell(2, 32, seconds(2, 32), loss=2.31, machine=node()[0].machine)]
    assert column(scaling.read(of_one_machine(wrong)).tables[0], "first losses apart")[1].text == "4.3e-03"


def test_other_inputs_have_other_losses_and_prove_nothing():
    one, two = cell(1, 32, 0.001), cell(2, 32, 0.001, loss=1.0)
    moved = tuple(msgspec.structs.replace(run, input_digest="other") for run in two.runs)
    moved = msgspec.structs.replace(two, runs=moved)
    sides = (cells_by_workload(of_one_machine(records))["cifar10_mlp"] for records in ([one, two], [one, moved]))
    assert [losses_apart(side[2, 32], side[1, 32]) is None for side in sides] == [False, True]


def test_an_invalid_size_has_no_speed_is_not_drawn_and_not_counted():
    records = node()
    at = next(i for i, r in enumerate(records) if (r.case.devices, r.case.batch) == (8, 32))
    compiled = tuple(msgspec.structs.replace(run, compilations=1) for run in records[at].runs)
    records[at] = msgspec.structs.replace(records[at], runs=compiled)
    reading = scaling.read(of_one_machine(records))
    assert [p.at for p in reading.chart.points] == [1, 2, 4]
    assert "split over 4 GPUs" in reading.answers[0]
    assert "compilation inside the samples" in reading.tables[0].notes[0]


def test_smoke_is_no_answer():
    assert scaling.read(of_one_machine(node(profile="smoke"))) is None


def test_one_gpu_alone_say_nothing():
    assert scaling.read(of_one_machine([record for record in node() if record.case.devices == 1])) is None


def test_the_chart_has_an_ideal_line_to_the_most_gpus_and_strong_and_weak_stand_apart():
    reading = scaling.read(of_one_machine(node(4)))
    assert [chart.name for chart in reading.beside] == ["weak", "second"]
    for chart in (reading.chart, reading.beside[0]):
        assert chart.lines[0].ends == ((1.0, 1.0), (4.0, 4.0))
        assert [p.at for p in chart.points] == [1, 2, 4]
