"""Each experiment asks for the right cases and reads the right answer off records, whole or not."""

import re
from dataclasses import replace
from itertools import product

import factory
import msgspec
import pytest
from factory import of_one_machine

from suite import ceilings, experiments, families, models, units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import fullest
from suite.claims import observations
from suite.experiments import batch, crossover, dispatch, headline, precision, roofline, size, threads
from suite.report.parts import rungs
from suite.report.parts.lead import short
from suite.results.records.store import sealed
from suite.results.single.roofline import roof, share
from suite.results.single.summary import summary

BOTH = MachineCapabilities(
    backends=("cpu", "gpu"), cores=16, gpus=8, gpu_precisions=("float32-highest", "tf32", "bfloat16")
)
ALONE = MachineCapabilities(backends=("cpu",), cores=2)
NOISE = (1.0, 1.01, 0.99)
ALIKE = (1.0, 1.001, 0.999)  # times of three hosts
CATALOGUE = tuple(models.load(name).description for name in ("mnist_mlp", "cifar10_tf_cnn"))
ASKED = {  # of those that do not ask about every network
    "crossover": tuple(models.load(name).description for name in ("crossover_mlp_128x2", "crossover_trees_5")),
    "grid_search": (models.load("mnist_grid_search").description,),
    "roofline": tuple(ceilings.load(name).description for name in ceilings.names()),
    "serving": tuple(models.load(name).description for name in ("serve_mobilenet_v2", "serve_resnet50")),
    "accuracy": tuple(models.load(name).description for name in ("mnist_mlp", "catdog_cnn_base")),
    "stand_ins": tuple(models.load(name).description for name in ("mnist_mlp", "mnist_cnn")),
    "predict_rescale": tuple(models.load(name).description for name in ("catdog_cnn_base", "catdog_cnn_dropout")),
}


def noisy(seconds, noise=NOISE):
    return [seconds * one for one in noise]


def sweep(speedups, name="mnist_mlp", noise=NOISE, **changes):
    """Records of a sweep over the batch: speed-up by batch size."""
    about = factory.description(name)
    return [
        factory.record(name, side, noisy(seconds, noise if side == "gpu" else (1, 1, 1)), about=about, batch=batch,
                       **changes)
        for batch, ratio in speedups.items()
        for side, seconds in (("cpu", 1e-3), ("gpu", 1e-3 / ratio))
    ]  # fmt: skip


def failed(record, reason="RuntimeError: out of memory"):
    return msgspec.structs.replace(record, runs=(factory.run(0, 1.0, samples=0, reason=reason),), reason=reason)


def read(module, records):
    reading = module.read(of_one_machine(records))
    assert reading is not None
    return reading


# The contract


@pytest.mark.parametrize("name", experiments.names())
def test_every_experiment_keeps_the_contract(name):
    module = experiments.load(name)
    assert module.TITLE.endswith("?")
    assert module.METHOD.endswith(".")
    assert all(code.startswith("O") and code[1:].isdigit() for code in module.TESTS)
    catalogue = ASKED.get(name, CATALOGUE)
    made = module.cases(catalogue, replace(BOTH, data=getattr(module, "NEEDS_DATA", BOTH.data)))
    assert len(made) == len(set(made)) > 1
    timed = {about.name for about in catalogue if name != "run_length" or about.run is not None}
    assert {case.workload for case in made} == timed
    known = {*models.names(), *ceilings.names(), *families.NAMES}
    assert set(module.WORKLOADS) <= known
    assert module.read(of_one_machine([])) is None


def test_the_headline_set_is_what_the_models_say_the_shortest_step_first():
    long, short, other = (
        factory.description(name, flop_per_example=flop, headline=name != "other")
        for name, flop in (("long", 10**9), ("short", 10**3), ("other", 1))
    )
    assert experiments.usual(headline, [long, short, other]) == ("short", "long")
    assert experiments.usual(threads, [long, short, other]) == ("short", "long")
    assert experiments.usual(dispatch, [long]) == dispatch.WORKLOADS


def test_an_unknown_experiment_names_the_nearest():
    with pytest.raises(LookupError, match=r"no experiment 'crosover' \(did you mean 'crossover'\?\)"):
        experiments.load("crosover")


@pytest.mark.parametrize("module", [batch, crossover, precision, size])
def test_what_asks_about_a_gpu_is_refused_without_one(module):
    with pytest.raises(RuntimeError, match="needs a GPU, this run has only backend 'cpu'"):
        module.cases(CATALOGUE, ALONE)


@pytest.mark.parametrize("module", [batch, threads, crossover, size])
def test_what_asks_about_the_cpu_is_refused_without_it(module):
    with pytest.raises(RuntimeError, match="needs the CPU"):
        module.cases(CATALOGUE, MachineCapabilities(backends=("gpu",), cores=4))


def test_a_gpu_without_a_choice_of_precision_is_told():
    with pytest.raises(RuntimeError, match="this GPU has only float32-highest"):
        precision.cases(CATALOGUE, MachineCapabilities(backends=("gpu",), cores=4))


def test_a_machine_without_a_gpu_asks_what_it_can():
    assert {case.backend for case in dispatch.cases(CATALOGUE, ALONE)} == {"cpu"}
    assert {case.threads for case in threads.cases(CATALOGUE, ALONE)} == {1, None}


def test_the_sweep_of_the_tensorflow_network_goes_from_32_to_4096_and_has_the_documented_batch():
    batches = sorted({c.batch for c in batch.cases(CATALOGUE, BOTH) if c.workload == "cifar10_tf_cnn"})
    assert batches == [32, 128, 512, 2048, 4096]


def test_no_sweep_takes_a_step_of_minutes_unasked():
    for name in models.names():
        about = models.load(name).description
        assert 1 in batch.batches(about) or 32 in batch.batches(about)
        far = [b for b in batch.batches(about) if b > about.batch and b > 4]
        assert all(b * about.flop_per_example <= 1e12 for b in far) or name in batch._SWEEPS


def test_a_documented_model_has_no_size_to_cross_over():
    assert crossover.cases(CATALOGUE, BOTH) == ()


# Batch


ALIKE = (1.0, 1.01, 0.99)  # of hosts


def test_the_batch_from_which_the_gpu_wins_has_an_interval():
    (answer,) = read(batch, factory.on_hosts(sweep({16: 0.25, 64: 1.0, 256: 4.0}), ALIKE)).answers
    assert answer.startswith("mnist_mlp: the GPU wins from a batch of about 64")
    low, high = map(float, re.search(r"\((.*) to (.*)\)", answer).groups())
    assert 58 < low < 64 < high < 70


@pytest.mark.parametrize(
    ("speedups", "noise", "words"),
    [
        (
            {16: 2.0, 64: 3.0},
            NOISE,
            "the GPU wins at all of the 2 batches that were timed, from 16 to 64: at 16 it is 2.0",
        ),
        (
            {16: 0.2, 64: 0.5},
            NOISE,
            "the CPU wins at all of the 2 batches that were timed, from 16 to 64: at 64 the GPU is 0.50",
        ),
        ({16: 1.0, 64: 1.0}, (1, 1.2, 0.8), "is not separated from the noise"),
        ({16: 1.001, 64: 4.0}, NOISE, "the GPU wins from a batch of at most"),
        ({16: 0.25, 64: 0.999}, NOISE, "the GPU wins from a batch of at least"),
    ],
)
def test_each_outcome_is_a_sentence(speedups, noise, words):
    (answer,) = read(batch, factory.on_hosts(sweep(speedups, noise=noise), ALIKE)).answers
    assert words in answer


def test_a_batch_that_failed_has_a_note_with_its_reason_and_does_not_count():
    records = sweep({16: 0.25, 64: 1.0, 256: 4.0})
    records[-1] = failed(records[-1])
    reading = read(batch, records)
    assert [row[1].text for row in reading.tables[0].rows] == ["16", "64"]
    assert reading.tables[0].notes == ("mnist_mlp at batch 256 has no speed-up: RuntimeError: out of memory.",)
    assert [point.at for point in reading.beside[0].points] == [16, 64]


def test_what_may_not_be_quoted_is_hollow_and_said():
    baselines = [factory.record("mnist_mlp", "cpu", noisy(1e-3, (1, 1, 1)), batch=batch, implementation="torch")
                 for batch in (16, 256)]  # fmt: skip
    reading = read(batch, factory.on_hosts([*sweep({16: 0.25, 64: 1.0, 256: 4.0}), *baselines], ALIKE))
    assert {point.at: point.solid for point in reading.beside[0].points} == {16: True, 64: False, 256: True}
    assert reading.answers[0].endswith(" 2 of 3 may be quoted.")


def test_throughput_is_drawn_for_both_sides_over_the_batch():
    chart = read(batch, factory.on_hosts(sweep({16: 0.25, 64: 1.0, 256: 4.0}), ALIKE)).chart
    assert {point.panel for point in chart.points} == {"mnist_mlp"}
    by_side = {name: [p for p in chart.points if p.series == name] for name in ("CPU", "GPU")}
    assert [[point.at for point in points] for points in by_side.values()] == [[16, 64, 256]] * 2
    ratios = [gpu.value / cpu.value for cpu, gpu in zip(*by_side.values(), strict=True)]
    assert ratios == pytest.approx([0.25, 1.0, 4.0], rel=0.02)
    assert all(point.low <= point.value <= point.high for point in chart.points)


def rising(cpu, gpu):
    """Records of a sweep over the batch: seconds of each side by batch size."""
    return [
        factory.record("mnist_mlp", side, noisy(seconds), batch=batch)
        for side, times in (("cpu", cpu), ("gpu", gpu))
        for batch, seconds in times.items()
    ]


def test_from_which_batch_a_larger_one_gains_little_is_said_and_a_column():
    cpu = {16: 1.6e-3, 64: 6.2e-3, 256: 24.5e-3}  # 10,000 examples a second, a few percent more by larger batches
    gpu = {16: 1.0e-3, 64: 1.0e-3, 256: 2.0e-3}  # twice as many up to the largest
    result = read(batch, factory.on_hosts(rising(cpu, gpu), ALIKE))
    assert (
        " A larger batch gains on the CPU less than 10 % beyond 16, on the GPU 10 % or more up to 256."
        in result.answers[0]
    )
    (table,) = result.tables
    left = [
        [row[table.columns.index(f"{side}: best larger batch")].text for row in table.rows] for side in ("CPU", "GPU")
    ]
    assert left == [["1.04x", "1.01x", units.DASH], ["8.00x", "2.00x", units.DASH]]


def test_a_batch_after_which_the_rate_falls_is_enough():
    result = read(batch, factory.on_hosts(rising({16: 1e-3, 64: 8e-3}, {16: 1e-3, 64: 1e-3, 256: 3.9e-3}), ALIKE))
    assert "on the CPU less than 10 % beyond 16, on the GPU 10 % or more up to 64." in result.answers[0]


def test_sides_that_did_not_compute_the_same_do_not_count_and_their_row_says_so():
    records = sweep({16: 0.25, 64: 0.5, 256: 4.0})
    wrong = tuple(msgspec.structs.replace(run, first_loss=9.0) for run in records[-1].runs)
    records[-1] = msgspec.structs.replace(records[-1], runs=wrong)
    reading = read(batch, factory.on_hosts(records, ALIKE))
    assert [row[7].text for row in reading.tables[0].rows] == ["open", "open", "invalid"]
    assert [point.solid for point in reading.beside[0].points] == [False] * 3
    assert "the CPU wins at all of the 2 batches that were timed, from 16 to 64" in reading.answers[0]


def test_batches_of_several_campaigns_are_pooled_and_smoke_counts_for_none():
    newer = {"campaign": "20270101-000000-x", "created": "2027-01-01T00:00:00Z"}
    reading = read(batch, sweep({16: 2.0}) + sweep({64: 3.0}, **newer))
    assert [row[1].text for row in reading.tables[0].rows] == ["16", "64"]
    smoke = sweep({16: 0.2, 64: 0.5}, **newer, profile="smoke")
    assert batch.read(of_one_machine(smoke)) is None
    assert read(batch, sweep({16: 2.0, 64: 3.0}) + smoke).beside[0].points[0].value > 1


# Threads


def counted(times, **changes):
    return [factory.record("mnist_mlp", "cpu", noisy(s), threads=count, **changes) for count, s in times.items()]


def test_a_ratio_may_be_quoted_once_three_hosts_agree_on_it():
    records = counted({1: 0.08, 2: 0.04})
    for shares, status, solid in ((ALIKE, "quotable", True), ((1.0, 1.4, 0.7), "open", False), ((1.0,), "open", False)):
        reading = read(threads, factory.on_hosts(records, shares))
        hosts = str(len(shares))
        assert [(row[-2].text, row[-1].text) for row in reading.tables[0].rows] == [(status, hosts)] * 2
        assert [point.solid for point in reading.chart.points][-1] is solid
        assert (reading.answers[0].endswith("as fast as 1.")) is solid


def test_what_threads_gain_is_pooled_over_hosts_and_the_ledger_says_the_same():
    first, newest = ([*counted({1: seconds, None: 0.01})] for seconds in (0.04, 0.09))
    records = [*factory.on_hosts(first, (1.0,)), *factory.on_hosts(newest, (1.0, 1.0))[2:]]
    (answer,) = read(threads, records).answers
    ratio = answer.partition(" threads are ")[2].partition(" as fast")[0]
    assert float(ratio.partition("x")[0]) == pytest.approx(6.0, abs=0.05), "the mean of 4 and 9"
    observed = next(each for each in observations() if each.code == "O8")
    said = observed.judge(of_one_machine(records)).found
    assert f"mnist_mlp is {ratio} as fast with 16 threads as with 1" in said


def test_of_two_allocators_that_counts_which_more_cases_have():
    kept, system = counted({1: 0.08, 4: 0.02, None: 0.01}), counted({None: 0.005}, allocator="system")
    for records in ([*kept, *system], [*system, *kept]):
        assert read(threads, records).answers[0].startswith("mnist_mlp: 16 threads are 8.00x")
    wanting = [record for record in kept if record.case.threads]
    assert read(threads, [*wanting, *system]).answers[0].startswith("mnist_mlp: 16 threads are 16.0x")


def test_more_threads_are_set_against_the_fewest():
    reading = read(threads, counted({1: 0.08, 4: 0.02, None: 0.01}))
    assert reading.answers[0].startswith("mnist_mlp: 16 threads are 8.00x")
    assert [row[1].text for row in reading.tables[0].rows] == ["1", "4", "16"]
    assert [row[5].text for row in reading.tables[0].rows] == ["100 %", "100 %", "50 %"]


def test_a_table_of_threads_says_what_a_network_left_out():
    assert read(threads, counted({1: 0.08, 4: 0.02, None: 0.01})).tables[0].notes == (
        "mnist_mlp: without 2, 8 threads.",
    )
    assert read(threads, counted({1: 0.08, 2: 0.04})).tables[0].notes == ()


@pytest.mark.parametrize(("cores", "counts"), [(1, []), (2, [1]), (4, [1, 2]), (6, [1, 2, 4]), (16, [1, 2, 4, 8])])
def test_threads_are_doubled_up_to_all_cores(cores, counts):
    asked = threads.cases(CATALOGUE[:1], MachineCapabilities(backends=("cpu",), cores=cores))
    assert [case.threads for case in asked] == [*counts, None]


def test_where_fewer_threads_are_surely_faster_than_all_the_answer_says_by_how_much():
    (answer,) = read(threads, factory.on_hosts(counted({1: 0.08, 4: 0.02, None: 0.04}), ALIKE)).answers
    assert ". The fastest are 4 threads, 2.00x (" in answer
    assert answer.count(" as fast as all 16.") == 1
    hardly = factory.record("mnist_mlp", "cpu", noisy(0.0399, NOISE[::-1]), threads=4)
    for records in (counted({1: 0.08, 4: 0.02, None: 0.01}), [*counted({1: 0.08, None: 0.04}), hardly]):
        assert "fastest" not in read(threads, factory.on_hosts(records, ALIKE)).answers[0]


def test_the_lead_of_threads_names_the_least_and_the_greatest_gain():
    other = [factory.record("mnist_cnn", "cpu", noisy(s), threads=count) for count, s in ((1, 0.08), (None, 0.04))]
    records = [*counted({1: 0.08, 4: 0.02, None: 0.01}), *other]
    lead = read(threads, factory.on_hosts(records, ALIKE)).lead
    assert lead.startswith("16 threads make a step of mnist_cnn 2.00x (")
    assert " as fast as 1, of mnist_mlp 8.00x (" in lead
    alone = read(threads, factory.on_hosts(other, ALIKE))
    assert alone.lead.endswith(" as fast as 1.")


def test_the_title_of_threads_counts_no_step_that_the_others_are_set_against():
    chart = read(threads, factory.on_hosts(counted({1: 0.08, 4: 0.02, None: 0.01}), ALIKE)).chart
    assert [(point.at, bool(point.text)) for point in chart.points] == [(1, False), (4, True), (16, True)]


def beyond(records, hosts, shares):
    """The records on further hosts, after so many others."""
    return factory.on_hosts(records, (*(1.0,) * hosts, *shares))[hosts * len(records) :]


def test_threads_are_compared_on_the_hosts_that_timed_them_all():
    faster = beyond(counted({None: 0.005}), 1, (1.0, 1.1))
    records = [*factory.on_hosts(counted({1: 0.08, 4: 0.02, None: 0.01}), (1.0,)), *faster]
    reading = read(threads, records)
    assert [point.value for point in reading.chart.points] == pytest.approx([1, 4, 8])
    assert [row[-1].text for row in reading.tables[0].rows] == ["1", "1", "1"]
    assert reading.tables[0].notes[0].endswith("; a time of all hosts may differ.")


def test_threads_without_a_host_that_timed_two_numbers_are_not_compared():
    records = [*factory.on_hosts(counted({1: 0.08}), (1.0,)), *beyond(counted({None: 0.01}), 1, (1.0,))]
    assert threads.read(of_one_machine(records)) is None


def test_threads_are_compared_by_one_code_though_the_current_pool_of_all_cores_is_of_another():
    def by(program, records):
        runs = [tuple(msgspec.structs.replace(run, program=program) for run in record.runs) for record in records]
        return [sealed(msgspec.structs.replace(r, digest="", runs=its)) for r, its in zip(records, runs, strict=True)]

    swept = by("0" * 16, factory.on_hosts(counted({1: 0.08, None: 0.01}), (1.0,)))
    newer = by("1" * 16, beyond(counted({None: 0.001}), 1, ALIKE))
    evidence = of_one_machine([*swept, *newer])
    assert max(pool.hosts for pool in evidence.pools.values()) == 3
    assert threads.read(evidence).answers[0].startswith("mnist_mlp: 16 threads are 8.00x")


def test_chosen_threads_are_compared_with_all_cores_on_the_hosts_that_timed_both():
    records = [*factory.on_hosts(counted({8: 0.02, None: 0.04}), ALIKE), *beyond(counted({8: 0.01}), 3, (1.0, 1.1))]
    evidence = of_one_machine(records)
    assert any(pool.stands_for for pool in evidence.pools.values()), "fewer threads are chosen for this model there"
    reading = read(threads, records)
    assert [(row[1].text, row[-1].text) for row in reading.tables[0].rows] == [("8", "3"), ("16", "3")]
    assert reading.answers[0].startswith("mnist_mlp: 16 threads are 0.50x")


def test_threads_that_failed_leave_the_rest():
    records = counted({1: 0.08, 4: 0.02, None: 0.01})
    records[-1] = failed(records[-1])
    reading = read(threads, records)
    assert reading.answers[0].startswith("mnist_mlp: 4 threads are 4.00x")
    assert [point.at for point in reading.chart.points] == [1, 4]
    assert reading.tables[0].notes[-1].startswith("mnist_mlp/cpu/step does not count: ")


def test_what_only_shows_that_it_runs_says_nothing_about_threads():
    assert threads.read(of_one_machine(counted({1: 0.08, None: 0.01}, profile="smoke"))) is None


def test_a_step_on_all_cores_alone_says_nothing_about_threads():
    assert threads.read(of_one_machine(counted({None: 0.01}))) is None


# Precision


def narrow(times, name="mnist_mlp", **changes):
    return [factory.record(name, "gpu", noisy(s), precision=precision, **changes) for precision, s in times.items()]


EVERY = {"float32-highest": 0.008, "framework-default": 0.005, "tf32": 0.004, "bfloat16": 0.002}


def test_every_precision_and_the_frameworks_default_are_asked_of_jax_and_pytorch():
    asked = precision.cases(CATALOGUE[:1], BOTH)
    assert {(case.implementation, case.precision) for case in asked} == set(product(("jax", "torch"), EVERY))
    assert {case.backend for case in asked} == {"gpu"}
    trees = factory.description("gbdt_mortgage", family="trees")
    assert {case.implementation for case in precision.cases([trees], BOTH)} == {"jax"}


def test_each_precision_is_set_against_float32():
    reading = read(precision, narrow({"float32-highest": 0.008, "bfloat16": 0.002, "tf32": 0.004}))
    assert reading.answers[-1].startswith("mnist_mlp: tf32 is 2.0")
    assert "bfloat16 is 4.0" in reading.answers[-1]
    assert [point.series for point in reading.chart.points] == ["tf32", "bfloat16"]


def test_float32_of_another_campaign_counts_as_much_as_that_beside_the_others():
    other = {"campaign": "20260102-000000-test", "created": "2026-01-02T00:00:00Z"}
    lower = [msgspec.structs.replace(r, **other) for r in narrow({"bfloat16": 0.002, "tf32": 0.004})]
    *_, answer = read(precision, factory.on_hosts([*narrow({"float32-highest": 0.008}), *lower], ALIKE)).answers
    assert answer.startswith("mnist_mlp: tf32 is 2.00x (")
    assert "bfloat16 is 4.00x (" in answer
    assert "; bfloat16 is 2.00x (" in answer
    assert answer.endswith(" as fast as tf32.")
    twice = [*narrow({"float32-highest": 0.008, "bfloat16": 0.002}), *narrow({"float32-highest": 0.032})]
    assert "bfloat16 is 8.0" in read(precision, twice).answers[0], "both are pooled"


def test_a_precision_without_float32_beside_it_has_no_gain():
    reading = read(precision, narrow({"bfloat16": 0.002, "tf32": 0.004}))
    assert "not known" in reading.answers[-1]
    assert reading.chart.points == ()


def test_bfloat16_stands_against_tf32_and_the_default_beside_both():
    reading = read(precision, factory.on_hosts(narrow(EVERY), ALIKE))
    table = reading.tables[0]
    shown = {row[2].text: (row[5].sort, row[9].sort) for row in table.rows}
    assert list(shown) == list(EVERY)
    assert [gain for gain, _ in shown.values()] == pytest.approx([1, 1.6, 2, 4])
    assert [shown[name][1] for name in ("framework-default", "tf32", "bfloat16")] == pytest.approx([0.8, 1, 2])
    assert "If nothing is set, a step of JAX takes 1.25 times as long as in TF32." in reading.answers


def test_pytorch_is_set_against_itself():
    slow = {name: 3 * seconds for name, seconds in EVERY.items()}
    records = [*narrow(EVERY), *narrow(slow, implementation="torch"), *narrow({"tf32": 9.0}, implementation="xgboost")]
    reading = read(precision, factory.on_hosts(records, ALIKE))
    assert [(row[1].text, row[5].sort) for row in reading.tables[0].rows if row[2].text == "tf32"] == [
        ("JAX", pytest.approx(2)), ("PyTorch", pytest.approx(2))
    ]  # fmt: skip
    assert reading.answers[-1].startswith("mnist_mlp, PyTorch: framework-default is 1.6")


@pytest.mark.parametrize(
    ("bfloat16", "words"),
    [
        (
            (0.002, 0.004, 0.002),
            "in 2 of 3 steps and surely slower in none. Every step of more than 200 MFLOP gains, of the others 1 of 2.",
        ),
        ((0.002, 0.002, 0.004), "in 2 of 3 steps and surely slower in none. The work of a step does not tell which."),
        (
            (0.008, 0.002, 0.002),
            "in 2 of 3 steps and surely slower in 1. Steps of 200 MFLOP or more gain, those of 100",
        ),
        ((0.002, 0.002, 0.002), "in 3 of 3 steps and surely slower in none."),
        ((0.004, 0.004, 0.004), "in none of 3 steps and surely slower in none."),
    ],
)
def test_the_answer_says_how_many_steps_gain_over_tf32_and_from_how_much_work(bfloat16, words):
    records = []
    for place, seconds in enumerate(bfloat16):
        name = f"model_{place}"
        about = factory.description(name, batch=100, flop_per_example=10**6 * 2**place)
        records += narrow(EVERY | {"bfloat16": seconds}, name, about=about)
    answer = read(precision, factory.on_hosts(records, ALIKE)).answers[0]
    assert answer.startswith(f"With JAX bfloat16 is surely faster than TF32 {words}")
    assert answer.endswith(("none.", "which.", "1 of 2.", "MFLOP or less do not."))


# Dispatch


def ways(times, backend="gpu", noise=NOISE):
    made = [factory.record("mnist_mlp", backend, noisy(s), variant=way) for way, s in times.items() if way != "plain"]
    return [*made, factory.record("mnist_mlp", backend, noisy(times["plain"], noise))]


def test_the_share_of_dispatch_is_what_several_steps_save():
    reading = read(dispatch, ways({"nnx-jit": 0.010, "plain": 0.004, "scan": 0.001}))
    shares = {row[2].text: row[6].sort for row in reading.tables[0].rows}
    assert shares == {"nnx-jit": pytest.approx(0.9), "plain": pytest.approx(0.75), "scan": None}
    assert "nnx.jit with its dispatch is 90" in reading.answers[0]
    assert "; dispatch is 75" in reading.answers[0]


def test_a_loop_that_costs_more_than_it_saves_is_said():
    reading = read(dispatch, ways({"nnx-jit": 0.010, "plain": 0.0005, "scan": 0.001}, "cpu"))
    assert "inside a call of several a step takes 2.0" in reading.answers[0]
    assert "as long as in plain" in reading.answers[0]
    cells = {row[2].text: row[6] for row in reading.tables[0].rows}
    assert (cells["plain"].text, cells["plain"].sort) == (units.DASH, None)
    assert "no share is known" in cells["plain"].remark
    assert cells["nnx-jit"].sort == pytest.approx(0.9)


def test_a_share_within_the_noise_is_not_separated():
    near = ways({"plain": 0.00101, "scan": 0.001})
    reading = read(dispatch, factory.on_hosts(near, (1.1, 0.9, 1.0)))
    assert "not separated" in reading.answers[0]


def test_the_lead_of_dispatch_is_its_greatest_sure_share():
    records = [
        *ways({"nnx-jit": 0.010, "plain": 0.004, "scan": 0.001}),
        *ways({"plain": 0.00101, "scan": 0.001}, "cpu"),
    ]
    lead = read(dispatch, factory.on_hosts(records, ALIKE)).lead
    assert lead.startswith("dispatch takes up to 75")
    assert " of a compiled step, that of mnist_mlp on the GPU; nnx.jit with its dispatch takes up to 90" in lead
    assert lead.endswith(" of a step as tutorials write it, that of mnist_mlp on the GPU.")
    near = factory.on_hosts(ways({"plain": 0.00101, "scan": 0.001}), (1.1, 0.9, 1.0))
    assert read(dispatch, near).lead == ""


def test_no_several_steps_means_no_share():
    reading = read(dispatch, ways({"nnx-jit": 0.010, "plain": 0.004}))
    assert "not known" in reading.answers[0]
    assert reading.chart.points == ()


# Size


def networks(exponent, sizes=(1e6, 1e8, 1e9, 1e10)):
    made = []
    for index, flop in enumerate(sizes):
        name = f"net{index}"
        about = factory.description(name, batch=1, flop_per_example=int(flop), forward_flop_per_example=int(flop / 3))
        for side, seconds in (("cpu", 10 * (flop / 1e6) ** exponent * (1 + 0.01 * index)), ("gpu", 10.0)):
            made.append(factory.record(name, side, noisy(seconds), about=about))
    return made


@pytest.mark.parametrize(
    ("exponent", "words"),
    [(0.3, "a larger step gains more: "), (-0.3, "a larger step gains less: ")],
)
def test_the_slope_decides_whether_larger_gains_more(exponent, words):
    assert words in read(size, networks(exponent)).answers[0]


def test_the_data_parallel_model_sets_no_line_and_is_not_drawn_but_has_its_row():
    about = factory.description("tiny", batch=1, flop_per_example=3, forward_flop_per_example=1, family="data parallel")
    tiny = [factory.record("tiny", side, noisy(t), about=about) for side, t in (("cpu", 1e-4), ("gpu", 1e-3))]
    alone, beside = read(size, networks(0.3)), read(size, [*networks(0.3), *tiny])
    assert beside.answers == alone.answers
    assert [point.value for point in beside.chart.points] == pytest.approx(
        [point.value for point in alone.chart.points]
    )
    assert beside.chart.lines == alone.chart.lines
    assert len(beside.tables[0].rows) == 1 + len(alone.tables[0].rows)


def test_a_slope_within_the_noise_says_so():
    flat = [record for record in networks(0.0) if record.workload != "net1"]
    assert "does not surely gain more or less" in read(size, networks(0.3)[:2] + flat[2:]).answers[0]


def test_two_networks_are_no_trend():
    assert read(size, networks(0.3, (1e6, 1e9))).answers[0].startswith("Not known: 2 networks")


def test_workloads_that_are_one_network_count_once_with_the_mean_of_their_speed_ups():
    records = networks(0.3)
    again = []
    for number, gain in enumerate((0.5, 2.0)):
        twin, about = f"twin{number}", msgspec.structs.replace(records[0].description, name=f"twin{number}")
        for side, seconds in (("cpu", 10 * gain), ("gpu", 10.0)):
            again.append(factory.record(twin, side, noisy(seconds), about=about))
    one, all_of_them = (read(size, group).answers[0] for group in (records, [*records, *again]))
    assert one.startswith("Over 4 networks")
    assert all_of_them.split(". ")[0] == one.split(". ")[0]


@pytest.mark.parametrize("module", [headline, size])
def test_a_speed_up_whose_cpu_side_is_outdone_is_hollow_and_called_that(module):
    about = factory.description("mnist_mlp")
    pair = [factory.record("mnist_mlp", side, noisy(seconds), about=about) for side, seconds in (("cpu", 0.01),
            ("gpu", 0.001))]  # fmt: skip
    baselines = {seconds: factory.record("mnist_mlp", "cpu", noisy(seconds), about=about, implementation="torch")
             for seconds in (0.009, 0.005)}  # fmt: skip
    for seconds, state in ((0.009, "quotable"), (0.005, "not certified")):
        reading = read(module, factory.on_hosts([*pair, baselines[seconds]]))
        (row,) = reading.tables[0].rows
        assert row[reading.tables[0].columns.index("status")].text == state
        assert reading.chart.points[0].solid is (seconds == 0.009)
        assert ("Not to be quoted, not certified: torch eager takes 0.50 " in reading.answers[0]) is (seconds == 0.005)


def test_answers_over_several_networks_say_how_many_may_be_quoted():
    assert read(size, networks(0.3)).answers[0].endswith(" None of 4 may be quoted.")
    names = ["mnist_mlp", "cifar10_mlp"]
    records = factory.on_hosts(factory.campaign(names))
    assert "may be quoted" not in read(size, records).answers[0]
    bare = [r for r in records if (r.workload, r.case.implementation) != ("cifar10_mlp", "torch")]
    assert read(size, bare).answers[0].endswith(" 1 of 2 may be quoted.")


def test_a_network_that_failed_is_left_out_of_the_trend():
    records = networks(0.3)
    records[-1] = failed(records[-1])
    assert "Over 3 networks" in read(size, records).answers[0]


# Roofline


def matmul(rate, backend="gpu", precision="float32-highest", **changes):
    about = ceilings.load("ceiling_matmul").description
    seconds = about.flop_per_example * about.batch / rate
    return factory.record("ceiling_matmul", backend, noisy(seconds, (1, 1, 1)), about=about, precision=precision,
                          **changes)  # fmt: skip


def copy(rate, backend="gpu", moved=2**31, **changes):
    about = ceilings.load("ceiling_copy").description
    runs = tuple(factory.run(n, moved / rate, bytes_per_step=moved, samples=3) for n in range(3))
    return factory.record("ceiling_copy", backend, (1, 1, 1), about=about, runs=runs, **changes)


def bound(flop, moved, seconds, **axes):
    about = factory.description("net", batch=1, flop_per_example=flop, forward_flop_per_example=flop // 3)
    runs = tuple(factory.run(n, seconds, bytes_per_step=moved, samples=3) for n in range(3))
    return factory.record("net", "gpu", (1, 1, 1), about=about, runs=runs, **axes)


def test_mfu_and_floor_are_shares_of_the_measured_ceilings():
    ceiling = roof([matmul(1e12), copy(1e10)])
    arithmetic = share(summary(bound(10**9, 10**6, 0.002)), ceiling)
    assert arithmetic.mfu == pytest.approx(0.5, rel=0.01)
    assert arithmetic.of_floor == pytest.approx(0.5, rel=0.01)
    memory = share(summary(bound(10**9, 10**8, 0.02)), ceiling)
    assert memory.mfu == pytest.approx(0.05, rel=0.01)
    assert memory.floor_seconds == pytest.approx(0.01, rel=0.01)
    assert memory.of_floor == pytest.approx(0.5, rel=0.01)


def test_the_lead_of_ceilings_says_how_near_steps_come_to_them():
    near, far = (msgspec.structs.replace(bound(10**9, 10**6, seconds), workload=name)
                 for name, seconds in (("near", 0.00125), ("far", 0.01)))  # fmt: skip
    cases = {record.workload: msgspec.structs.replace(record.case, workload=record.workload) for record in (near, far)}
    steps = [msgspec.structs.replace(record, case=cases[record.workload]) for record in (near, far)]
    lead = read(roofline, [matmul(1e12), copy(1e10), *steps]).lead
    assert lead.startswith("the least time that a step on the GPU could take, its floor, is ")
    assert "between 10 % (far) and 80 % (near) of its time." in lead
    assert read(roofline, [matmul(1e12), copy(1e10), near]).lead == ""


def test_a_ceiling_that_a_step_came_above_is_said_to_be_too_low():
    ceilings_there = [matmul(1e12), matmul(1e9, "cpu"), copy(1e10)]
    slower, faster = (bound(10**9, 10**6, 10**9 / rate) for rate in (0.9e12, 1.1e12))
    below, above = (read(roofline, [*ceilings_there, each]).answers for each in (slower, faster))
    assert not any("too low" in answer for answer in below)
    (said,) = (answer for answer in above if "too low" in answer)
    assert said.startswith("Products in float32-highest on the GPU: at most 996 GFLOP/s.")
    assert said.endswith(" It was measured too low: net at batch 1 comes to 1.10 TFLOP/s.")


def test_the_ceiling_of_the_same_backend_and_precision_counts():
    ceiling = roof([matmul(1e12), matmul(8e12, precision="bfloat16"), matmul(1e9, "cpu"), copy(1e10)])
    assert share(summary(bound(10**9, 10**6, 0.002, precision="bfloat16")), ceiling).mfu == pytest.approx(
        0.0625, rel=0.01
    )
    lacking = share(summary(bound(10**9, 10**6, 0.002, precision="tf32")), ceiling)
    assert (lacking.mfu, lacking.floor_seconds) == (None, None)
    assert lacking.reason == "ceiling of tf32 products not measured on this GPU"


def test_without_memory_there_is_an_mfu_and_no_floor():
    found = share(summary(bound(10**9, 10**6, 0.002)), roof([matmul(1e12)]))
    assert found.mfu == pytest.approx(0.5, rel=0.01)
    assert found.of_floor is None
    assert "ceiling of memory not measured" in found.reason


def test_a_step_on_few_threads_has_no_ceiling():
    ceiling = roof([matmul(1e12, "cpu"), copy(1e10, "cpu")])
    found = share(summary(counted({1: 0.1})[0]), ceiling)
    assert (found.mfu, found.reason) == (None, "the ceilings are of all cores, or of one GPU")


def test_of_several_sizes_the_fastest_is_the_ceiling_and_of_several_campaigns_the_newest():
    half = matmul(1e12, batch=4096)  # half the rows in the time of all
    assert [c.rate for c in roof([half, matmul(1e12)]).values()] == [pytest.approx(1e12, rel=0.01)]
    newer = matmul(9e11, created="2027-01-01T00:00:00Z", campaign="20270101-000000-x")
    assert [c.rate for c in roof([newer, matmul(1e12)]).values()] == [pytest.approx(9e11, rel=0.01)]


def test_a_failed_ceiling_is_none():
    assert roof([failed(matmul(1e12))]) == {}
    assert roofline.read(of_one_machine([failed(matmul(1e12)), bound(10**9, 10**6, 0.002)])) is None


def test_a_record_that_does_not_say_counts_its_parameters():
    old = factory.record("net", "gpu", noisy(0.002))
    assert share(summary(old), roof([matmul(1e12), copy(1e10)])).intensity == pytest.approx(
        128 * 30_000 / 7200, rel=0.01
    )


def test_a_step_above_its_ceiling_is_noticed():
    reading = read(roofline, [matmul(1e12), copy(1e10), bound(10**9, 10**6, 0.0005)])
    assert any("Above 100 %" in note for note in reading.tables[1].notes)


def test_a_step_has_one_time_below_its_ceilings_whatever_it_was_timed_on():
    newer = {"campaign": "20270101-000000-x", "created": "2027-01-01T00:00:00Z"}
    steps = [bound(10**9, 10**6, 0.001, data="random"), bound(10**9, 10**6, 0.004, **newer)]
    (row,) = read(roofline, [matmul(1e12), copy(1e10), *steps]).tables[1].rows
    assert row[4].record == steps[1]


def test_steps_below_ceilings_of_another_campaign_say_so_and_whether_these_are_steady():
    newer = {"campaign": "20270101-000000-x", "created": "2027-01-01T00:00:00Z"}
    ceilings, step = [matmul(1e12), copy(1e10)], bound(10**9, 10**6, 0.002)

    def notes(*records):
        return " ".join(read(roofline, records).tables[1].notes)

    assert "The ceilings are of" not in notes(*ceilings, step)
    later = notes(*ceilings, bound(10**9, 10**6, 0.002, **newer))
    assert "The ceilings are of 2026-01-01, the steps of their own campaigns" in later
    assert "steady" not in later
    both = notes(matmul(1e12, **newer), ceilings[1], step)
    assert "of 2026-01-01 and 2027-01-01" in both
    unsteady = msgspec.structs.replace(ceilings[1], runs=factory.record(step_seconds=(0.1, 0.2, 0.3)).runs)
    assert notes(ceilings[0], unsteady, bound(10**9, 10**6, 0.002, **newer)).endswith(
        "the table has reasons against 1 of 2 times."
    )


def test_the_headline_is_the_mean_of_all_models_and_both_ends_as_on_the_machines_page():
    names = ("mnist_mlp", "cifar10_mlp", "mnist_cnn")
    found = of_one_machine([r for name, gain in zip(names, (0.5, 10, 50), strict=True)
                            for r in factory.campaign((name,), cpu=0.01, gpu=0.01 / gain)])  # fmt: skip
    lead = headline.read(found).lead
    step = rungs.step(rungs.rungs(found.speedups))
    assert f"one step is {short(step.mean)} as fast on the GPU" in lead
    assert "geometric mean of 3 models, from 0.50" in lead
    assert lead.endswith(" None of 3 may be quoted.")
    assert headline.read(of_one_machine(factory.campaign(("mnist_mlp",)))).lead == ""


def test_a_ceiling_is_no_speed_up():
    records = [matmul(1e12), matmul(1e9, "cpu"), copy(1e10), copy(1e9, "cpu")]
    assert headline.read(of_one_machine(records)) is None
    assert size.read(of_one_machine(records)) is None


# Ceilings


@pytest.mark.parametrize("name", ceilings.names())
def test_ceilings_are_no_networks_and_count_right(name):
    about = ceilings.load(name).description
    assert about.name == name
    assert about.family == "ceiling"
    assert name not in models.names()


def test_the_interval_of_the_crossing_holds_the_true_batch():
    from trust import part_crossover

    _, findings = part_crossover.prove(sample=True)
    assert [finding for finding in findings if not finding.good] == []


# What a comparison is read from


def campaign_of(day, *precisions, **changes):
    when = {"campaign": str(day), "created": f"2026-01-0{day}T00:00:00Z"}
    return [factory.record(backend="gpu", precision=each, **when, **changes) for each in precisions]


def read_from(*campaigns):
    (group,) = fullest([record for each in campaigns for record in each], lambda record: True)
    return group[0].record.campaign, len(group)


def test_a_comparison_is_read_from_the_newest_campaign_that_has_most_of_it():
    two, one, again = (
        campaign_of(1, "float32-highest", "tf32"),
        campaign_of(2, "tf32"),
        campaign_of(3, "tf32", "bfloat16"),
    )
    assert read_from(two, one) == ("1", 2)
    assert read_from(two, one, again) == ("3", 2)


def test_smoke_and_what_lacks_rounds_take_no_comparison_away():
    three = "float32-highest", "tf32", "bfloat16"
    two = campaign_of(1, *three[:2])
    assert read_from(two, campaign_of(2, *three, profile="smoke")) == ("1", 2)
    assert read_from(campaign_of(2, *three, profile="smoke")) == ("2", 3)
    cut = [msgspec.structs.replace(record, rounds=9) for record in campaign_of(2, *three)]
    assert read_from(two, cut) == ("1", 2)
