"""Every observation and number of the articles has a verdict by its rule, and the page shows them all."""

import csv
from pathlib import Path

import factory
import msgspec
import pytest
from test_input_experiments import ABOUT, BASE, DROPOUT, NOAUG, cell, stored
from test_learning_page import trained
from test_run_experiments import calls, watched
from test_scaling import MLP, node, seconds

from suite import experiments, models
from suite.observations import (
    NOT_RUN,
    VERDICTS,
    Judgement,
    devices,
    input_tuning,
    observations,
    text,
    whole_runs,
)
from suite.observations._claims import entries
from suite.report import ledger
from suite.results import catalogue
from suite.results.record import Sample, Telemetry
from suite.results.selection import by_machine

ROOT = Path(__file__).parents[1]
ALL = {each.code: each for each in observations()}
CATALOGUE = catalogue.read(ROOT / "site" / "records")
NOISE = (1.0, 1.001, 0.999)


def sides(name, ratio, scope="step", about=None, gpu=0.001, **changes):
    """A CPU and a GPU record whose speed-up is that."""
    about = about or factory.description(name)
    return [
        factory.record(name, backend, [seconds * noise for noise in NOISE], scope=scope, about=about, **changes)
        for backend, seconds in (("cpu", gpu * ratio), ("gpu", gpu))
    ]


def alone(records):
    """The same from the first process alone, so that no ratio has an interval."""
    return [msgspec.structs.replace(record, runs=record.runs[:1], rounds=1) for record in records]


def single(name, ratio, **changes):
    return alone(sides(name, ratio, **changes))


def of_resnet(record):
    case = msgspec.structs.replace(record.case, workload="cifar10_resnet63")
    return msgspec.structs.replace(record, workload="cifar10_resnet63", case=case)


def first_calls(cpu=(20.0, 9.0, 8.0, 8.05), gpu=(15.0, 0.3, 0.2, 0.2005)):
    return [of_resnet(calls("cpu", *cpu)), of_resnet(calls("gpu", *gpu))]


def depths(base=100.0, conv=100.0, dropout=100.0, wide=80.0, deep=78.0, busy=(0.1, 0.5, 0.9), cpu=50.0, wide_cpu=8.0):
    rates = {"base": base, "conv64": conv, "dropout": dropout, "128": wide, "deep": deep}
    shares = dict(zip(("base", "128", "deep"), busy, strict=True))
    found = []
    for name, rate in rates.items():
        about = ABOUT[f"catdog_cnn_{name}"]
        slow = wide_cpu if name == "128" else cpu
        for backend, value in (("gpu", rate), ("cpu", slow)):
            found.append(stored(about, value, backend, busy=shares.get(name), experiment="depth"))
            found.append(stored(about, 10 * value, backend, scope="step", experiment="depth"))
    return found


def threads(gain):
    return [
        factory.record("cifar10_mlp", "cpu", [seconds * n for n in NOISE], threads=count)
        for count, seconds in ((1, 0.01 * gain), (None, 0.01))
    ]


def runs(short, long):
    return [watched(1, "plain", short), watched(10, "plain", long)]


def grid(default, tuned, busy=0.05, alone=None, backend="gpu"):
    return [
        cell(1, 32, default, backend=backend, busy=busy, alone=alone),
        cell(4, 64, tuned, backend=backend, busy=busy, alone=alone),
    ]


def augmented(with_it, without):
    return [cell(1, 32, with_it, DROPOUT), cell(1, 32, without, NOAUG)]


def served(*ratios):
    """Three networks that serve, the smallest first."""
    about = [models.load(f"serve_{name}").description for name in ("mobilenet_v2", "resnet50", "nasnet_large")]
    pairs = zip(about, ratios, strict=True)
    return [record for each, ratio in pairs for record in sides(each.name, ratio, about=each, gpu=0.1)]


def scaled(summing, about=MLP, experiment="scaling"):
    return node(4, about, lambda n, batch: seconds(n, batch, summing), experiment=experiment)


TREES = msgspec.structs.replace(MLP, name="gbdt_mortgage")


def trees(one, four):
    """A CPU and a GPU whose speed-up is that, and four GPUs that are so many times as fast as one."""
    return [
        *sides("gbdt_mortgage", one, about=TREES),
        *node(4, TREES, lambda n, batch: 0.01 * batch / (four if n == 4 else 1)),
    ]


CASES = [
    ("O2", runs(0.2, 0.21), "refuted"),
    ("O2", runs(0.3, 0.8), "reproduced"),
    ("O3", [*sides("mnist_mlp", 10), *sides("cifar10_mlp", 30)], "reproduced"),
    ("O3", [*sides("mnist_mlp", 10), *sides("cifar10_mlp", 10)], "refuted"),
    ("O3", [*single("mnist_mlp", 10), *single("cifar10_mlp", 30)], "not comparable"),
    ("O3", [*single("mnist_mlp", 10), *single("cifar10_mlp", 41)], "reproduced"),
    ("O3", [*single("mnist_mlp", 10), *sides("cifar10_mlp", 19)], "not comparable"),
    ("O3", [*single("mnist_mlp", 10), *sides("cifar10_mlp", 21)], "reproduced"),
    ("O5", first_calls(), "reproduced"),
    ("O5", first_calls(cpu=(800.0, 9.0, 8.0, 8.05)), "refuted"),
    ("O5", first_calls(gpu=(0.1, 0.3, 0.2, 0.2005)), "refuted"),
    ("O5", alone(first_calls()), "reproduced"),
    ("O5", alone(first_calls(cpu=(12.0, 9.0, 8.0, 8.05))), "not comparable"),
    ("O5", alone(first_calls(cpu=(12.0, 9.0, 8.0, 8.05), gpu=(0.3, 0.3, 0.2, 0.2005))), "not comparable"),
    ("O6", first_calls(), "reproduced"),
    ("O6", first_calls(cpu=(20.0, 9.0, 8.0, 9.0)), "refuted"),
    ("O7", first_calls(), "refuted"),  # three cores busy on both sides
    ("O8", threads(3.0), "reproduced"),
    ("O8", threads(1.1), "refuted"),
    ("O10", sides("cifar10_mlp", 12, "run"), "reproduced"),
    ("O10", sides("cifar10_mlp", 40, "run"), "not comparable"),
    ("O10", sides("cifar10_mlp", 0.5, "run"), "refuted"),
    ("O11", sides("imdb_text_cnn", 13), "reproduced"),
    ("O11", sides("imdb_text_cnn", 60), "not comparable"),
    ("O11", single("imdb_text_cnn", 13), "reproduced"),
    ("O11", single("imdb_text_cnn", 0.9), "not comparable"),
    ("O11", single("imdb_text_cnn", 0.4), "refuted"),
    ("O13", trees(11, 2.1), "reproduced"),
    ("O13", trees(40, 2.1), "not comparable"),
    ("O13", trees(11, 3.9), "not comparable"),
    ("O13", trees(11, 0.8), "refuted"),
    ("O13", trees(0.9, 2.1), "refuted"),
    ("O14", scaled(0.0001), "reproduced"),
    ("O14", [*scaled(0.0001), *scaled(1.0, TREES)], "refuted"),
    ("O14", scaled(0.00024), "not comparable"),  # as fast as one, within the noise
    ("O15", sides("mnist_mlp", 60), "not comparable"),
    ("O16", grid(100, 300), "reproduced"),
    ("O16", grid(100, 80), "refuted"),
    ("O16", grid(100, 150), "not comparable"),
    ("O17", grid(100, 300, busy=0.05, alone=1000.0), "reproduced"),
    ("O17", grid(100, 300, busy=0.8, alone=110.0), "refuted"),
    ("O18", depths(base=200.0), "reproduced"),
    ("O18", depths(base=20.0), "refuted"),
    ("O18", [msgspec.structs.replace(record, experiment="") for record in depths(base=200.0)], "reproduced"),
    ("O19", depths(), "reproduced"),
    ("O19", depths(wide_cpu=100.0), "refuted"),
    ("O19", alone(depths()), "reproduced"),
    ("O19", alone(depths(wide_cpu=30.0)), "not comparable"),
    ("O19", alone(depths(wide_cpu=60.0)), "not comparable"),
    ("O19", alone(depths(wide_cpu=200.0)), "refuted"),
    ("O20", depths(), "reproduced"),
    ("O20", depths(deep=20.0), "refuted"),
    ("O21", depths(), "reproduced"),
    ("O21", depths(busy=(0.5, 0.5, 0.4)), "refuted"),
    ("O22", depths(), "reproduced"),
    ("O22", depths(conv=50.0), "refuted"),
    ("O24", augmented(80.0, 100.0), "reproduced"),
    ("O24", augmented(100.0, 100.0), "refuted"),
]


@pytest.mark.parametrize(
    ("code", "records", "verdict"), CASES, ids=[f"{c}-{v}-{i}" for i, (c, _, v) in enumerate(CASES)]
)
def test_an_observation_is_judged_by_its_rule(code, records, verdict):
    judgement = ALL[code].judge(records)
    assert (judgement.verdict, bool(judgement.found)) == (verdict, True)
    assert judgement.found.endswith(".")


def shared(record):
    """The same, measured on a machine that other virtual machines had half of."""
    seen = [run.telemetry or Telemetry(seconds=5.0, readings=50) for run in record.runs]
    runs = tuple(
        msgspec.structs.replace(run, telemetry=msgspec.structs.replace(each, steal=0.5))
        for run, each in zip(record.runs, seen, strict=True)
    )
    return msgspec.structs.replace(record, runs=runs)


# What O15 found names itself what is not steady.
JUDGED = {code: records for code, records, _ in CASES if code != "O15"} | {"O12": served(30, 20, 10)}


@pytest.mark.parametrize(("code", "records"), JUDGED.items())
def test_what_was_found_says_where_nothing_of_it_is_steady(code, records):
    steady, unsteady = ALL[code].judge(records), ALL[code].judge(list(map(shared, records)))
    assert unsteady.verdict == steady.verdict
    assert unsteady.found.startswith(steady.found)
    assert unsteady.found.removeprefix(steady.found) in (" None is steady.", " Not steady.")  # two results, or one


def test_what_several_gpus_gain_and_lose_is_refuted_as_not_always_so():
    said = ALL["O14"].judge([*scaled(0.0001), *scaled(1.0, TREES)]).found
    assert said.endswith(f" So not always: faster are {MLP.name}, slower gbdt_mortgage.")
    assert "always" not in ALL["O14"].judge(scaled(0.0001)).found
    assert "always" not in ALL["O14"].judge(scaled(1.0, TREES)).found


def test_what_is_missing_for_a_verdict_is_said_beside_what_was_found():
    pair = sides("gbdt_mortgage", 20, about=TREES)
    cases = {
        ("O2", "Not measured: one ten times as long."): runs(0.2, 0.3)[:1],
        ("O2", "Not measured: the documented run."): runs(0.2, 0.3)[1:],
        ("O13", "Not measured: 4 GPUs at once."): pair,
        ("O13", "Not measured: the CPU beside them."): trees(11, 2.1)[2:],
        ("O13", "Not measured: the CPU beside them, 4 GPUs at once."): node(2, TREES),
    }
    for (code, missing), records in cases.items():
        judgement = ALL[code].judge(records)
        assert judgement.verdict == "not run"
        assert judgement.found.endswith(f". {missing}")
    assert ALL["O13"].judge(pair).found.startswith("One GPU trains the trees 20.0")
    assert "2 GPUs train them" in ALL["O13"].judge(node(2, TREES)).found


LATER = {"campaign": "20260102-000000-later", "created": "2026-01-02T00:00:00Z"}
OF_TWO = " The results are of 2 campaigns, 2026-01-01 to 2026-01-02."


def test_a_judgement_says_of_how_many_campaigns_its_results_are():
    run, step = sides("cifar10_mlp", 12, "run"), sides("cifar10_mlp", 30)
    assert ALL["O10"].judge([*run, *step]).found.endswith("30.0) as fast.")
    assert ALL["O10"].judge([*run, *sides("cifar10_mlp", 30, **LATER)]).found.endswith(f" as fast.{OF_TWO}")
    assert "campaigns" not in ALL["O13"].judge(trees(11, 2.1)).found
    apart = [*sides("gbdt_mortgage", 11, about=TREES, **LATER), *trees(11, 2.1)[2:]]
    assert ALL["O13"].judge(apart).found.endswith(OF_TWO)
    assert ALL["O15"].judge([*sides("mnist_cnn", 60), *sides("mnist_mlp", 45, **LATER)]).found.endswith(OF_TWO)
    uneven = [*sides("mnist_cnn", 60), *map(shared, sides("mnist_mlp", 10, **LATER))]
    assert ALL["O3"].judge(uneven).found.endswith(f"{OF_TWO} Not all steady.")


def test_a_documented_number_says_of_how_many_campaigns_the_measured_ones_beside_it_are():
    def beside(*records):
        (entry,) = (each for each in entries([factory.description()], records, {}) if each.workload == "mnist_mlp")
        return entry.judgement.found

    run, step = sides("mnist_mlp", 12, "run"), sides("mnist_mlp", 30)
    assert "campaigns" not in beside(*run, *step)
    assert beside(*run, *sides("mnist_mlp", 30, **LATER)).endswith(OF_TWO)


@pytest.mark.parametrize(
    ("ratios", "one", "two"),
    [
        ((10, 30), "reproduced", "not comparable"),
        ((10, 41), "reproduced", "reproduced"),
        ((10, 10), "refuted", "refuted"),
    ],
)
def test_speed_ups_of_two_campaigns_are_apart_by_far_or_not_surely(ratios, one, two):
    low = sides("mnist_mlp", ratios[0])
    verdicts = [ALL["O3"].judge([*low, *sides("mnist_cnn", ratios[1], **when)]).verdict for when in ({}, LATER)]
    assert verdicts == [one, two]


@pytest.mark.parametrize(("when", "verdict"), [({}, "refuted"), (LATER, "not comparable")])
def test_intervals_that_overlap_refute_within_one_campaign_alone(when, verdict):
    cpu, gpu = sides("mnist_cnn", 10.1, **when)
    uneven = factory.record("mnist_cnn", "cpu", [0.0101 * n for n in (1.03, 1.0, 0.97)], about=cpu.description, **when)
    assert ALL["O3"].judge([*sides("mnist_mlp", 10), uneven, gpu]).verdict == verdict


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [((30, 20, 10), "not comparable"), ((10, 20, 30), "not comparable"), ((41, 20, 10), "reproduced"),
     ((10, 20, 41), "refuted"), ((30, 20, 0.5), "refuted")],
)  # fmt: skip
def test_which_serving_network_gains_most_is_seen_in_one_campaign_or_by_far(ratios, verdict):
    *others, cpu, gpu = served(*ratios)
    largest = [msgspec.structs.replace(record, **LATER) for record in (cpu, gpu)]
    assert ALL["O12"].judge([*others, *largest]).verdict == verdict


def test_a_longer_run_that_only_compiles_for_less_of_its_time_was_not_too_short():
    whole = [watched(1, "plain", 0.03, training=0.3), watched(10, "plain", 0.15, training=0.28)]
    assert ALL["O2"].judge(whole) == Judgement(
        verdict="refuted",
        found="While training, the GPU is busy 30 % in the documented run and 28 % in one ten times as long; building "
        "and compiling included, 3.0 % and 15 %.",
    )
    found = ALL["O2"].judge([watched(1, "plain", 0.03, epochs=1.0), whole[1]])
    assert (found.verdict, found.found.partition(" Not measured: ")[2]) == (
        "not run", "how busy it is in the epochs of the documented run, which are too short for it.")  # fmt: skip


def test_cores_are_judged_by_what_they_do_while_training():
    pair = [watched(1, "plain", 0.2, backend) for backend in ("cpu", "gpu")]
    assert (
        ALL["O1"]
        .judge(pair)
        .found.startswith("While training, the CPU's cores are busy 70 %; the GPU is at most 90 %.")
    )


def test_a_newer_run_alone_takes_no_verdict_on_the_length_of_a_run_away():
    newer = {"campaign": "20260930-120000-testbox", "created": "2026-09-30T12:00:00Z"}
    again = msgspec.structs.replace(runs(0.2, 0.9)[1], **newer)
    assert ALL["O2"].judge([*runs(0.2, 0.21), again]) == ALL["O2"].judge(runs(0.2, 0.21))


def test_calls_are_judged_by_their_interval():
    def spreads(*shares):
        made = calls("gpu", 15.0, 0.3, 0.2, 0.2)
        later = [(0.2, 0.2 * (1 + share)) for share in shares]
        runs = tuple(
            msgspec.structs.replace(
                run, samples=tuple(Sample(wall_seconds=wall, process_seconds=wall) for wall in seconds)
            )
            for run, seconds in zip(made.runs, later, strict=True)
        )
        return of_resnet(msgspec.structs.replace(made, runs=runs))

    cpu = first_calls()[0]
    wide = ALL["O6"].judge([cpu, spreads(0.014, 0.006, 0.0046)])
    assert wide.verdict == "not comparable"
    assert "0.7 % (0.1 to 3.1) on the GPU" in wide.found
    assert ALL["O6"].judge([cpu, spreads(0.014, 0.0139, 0.0141)]).verdict == "refuted"
    assert ALL["O6"].judge([cpu, spreads(0.002, 0.0021, 0.0019)]).verdict == "reproduced"
    assert ALL["O6"].judge([cpu, spreads(0.0, 0.0, 0.002)]).verdict == "reproduced"


def test_only_a_steady_result_gains_surely_more_than_is_paid():
    steady, shaky, less = sides("mnist_cnn", 60), sides("mnist_mlp", 45), sides("cifar10_mlp", 20)
    found = ALL["O15"].judge([*steady, *map(shared, shaky), *less]).found
    assert found == (
        "More than 30x is surely gained by 1 of 3 networks: mnist_cnn 60.0x (60.0 to 60.0). Above it too, but not "
        "steady: mnist_mlp."
    )


def elsewhere(records, fits):
    """Return the records, those that fit as if another campaign had them."""
    return [
        msgspec.structs.replace(record, campaign="20260102-000000-other") if fits(record) else record
        for record in records
    ]


def test_a_gap_between_campaigns_is_not_judged_and_what_each_side_loses_is_said():
    judgement = ALL["O19"].judge(elsewhere(depths(), lambda r: r.backend == "cpu"))
    assert judgement.verdict == "not comparable"
    assert "-84.0 % (-84.0 to -84.0) on the CPU, -20.0 % (-20.0 to -20.0) on the GPU" in judgement.found
    assert "GPU and CPU of a network are not of one campaign" in judgement.found


@pytest.mark.parametrize(
    ("calls_of_gpu", "verdict", "between"),
    [
        ((1.5, 0.3, 0.2, 0.2005), "reproduced", "not comparable"),  # 7.5 after 2.5, the CPU's
        ((4.0, 0.3, 0.2, 0.2005), "reproduced", "reproduced"),
        ((0.3, 0.3, 0.2, 0.2005), "refuted", "not comparable"),
        ((0.11, 0.3, 0.1, 0.1002), "refuted", "refuted"),
    ],
)
def test_first_calls_of_two_campaigns_are_apart_by_far_or_not_surely(calls_of_gpu, verdict, between):
    cpu = (45.0, 9.0, 8.0, 8.05) if calls_of_gpu[0] == 0.11 else (20.0, 9.0, 8.0, 8.05)
    records = first_calls(cpu=cpu, gpu=calls_of_gpu)
    assert ALL["O5"].judge(records).verdict == verdict
    assert ALL["O5"].judge(elsewhere(records, lambda r: r.backend == "cpu")).verdict == between


@pytest.mark.parametrize(
    ("wide_cpu", "verdict", "between"),
    [(8, "reproduced", "reproduced"), (20, "reproduced", "not comparable"), (60, "refuted", "not comparable")],
)
def test_gaps_of_two_campaigns_are_apart_by_far_or_not_surely(wide_cpu, verdict, between):
    records = depths(wide_cpu=wide_cpu)
    assert ALL["O19"].judge(records).verdict == verdict
    assert ALL["O19"].judge(elsewhere(records, lambda r: r.workload == "catdog_cnn_128")).verdict == between


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [((30, 20, 10), "reproduced"), ((10, 20, 30), "refuted"), ((30, 20, 0.5), "refuted")],
)
def test_the_smallest_serving_network_has_to_gain_most(ratios, verdict):
    assert ALL["O12"].judge(served(*ratios)).verdict == verdict


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ((30, 20, 10), "not comparable"),
        ((90, 20, 10), "reproduced"),
        ((10, 20, 30), "not comparable"),
        ((10, 20, 41), "refuted"),
        ((90, 20, 0.6), "not comparable"),
        ((90, 20, 0.4), "refuted"),
        ((90, 1.5, 10), "not comparable"),
    ],
)
def test_of_single_processes_the_smallest_has_to_gain_most_by_far(ratios, verdict):
    assert ALL["O12"].judge(alone(served(*ratios))).verdict == verdict


def test_the_headline_step_of_a_served_network_counts_before_the_experiments():
    headline = served(30, 20, 10)
    asked = [
        msgspec.structs.replace(r, campaign="20260301-000000-b", created="2026-03-01T00:00:00Z", experiment="serving")
        for record in served(15, 20, 10)
        for r in (record, msgspec.structs.replace(record, case=msgspec.structs.replace(record.case, batch=8)))
    ]
    found = ALL["O12"].judge([*headline, *asked]).found
    assert "serve_mobilenet_v2 30.0x" in found
    assert "6 cases of network and batch" in found


def test_deeper_networks_gain_more_or_do_not():
    names = ("catdog_cnn_base", "catdog_cnn_conv64", "catdog_cnn_128", "catdog_cnn_deep", "cifar10_tf_cnn")
    about = {name: models.load(name).description for name in names}
    flop = {name: a.flop_per_example * a.batch for name, a in about.items()}

    def judged(power):
        ratios = {name: 10 * (value / 1e9) ** power for name, value in flop.items()}
        return ALL["O27"].judge([r for name in names for r in sides(name, ratios[name], about=about[name])]).verdict

    assert judged(0.3) == "reproduced"
    assert judged(-0.3) == "refuted"


def test_networks_that_differ_in_dropout_alone_are_no_further_evidence():
    names = ("catdog_cnn_conv64", "catdog_cnn_dropout", "catdog_cnn_noaug", "catdog_cnn_128")
    about = {name: models.load(name).description for name in names}
    records = [r for name in names for r in sides(name, 10 if name != "catdog_cnn_128" else 20, about=about[name])]
    assert ALL["O27"].judge(records) == NOT_RUN


@pytest.mark.parametrize("code", ALL)
def test_nothing_is_judged_without_records_or_by_what_only_shows_that_it_runs(code):
    assert ALL[code].judge([]).verdict == "not run"
    smoke = [
        r for name in ("mnist_mlp", "cifar10_mlp") for s in ("step", "run") for r in sides(name, 20, s, profile="smoke")
    ]
    assert ALL[code].judge(smoke).verdict == "not run"


def test_each_observation_is_there_once_and_names_an_experiment_that_tests_it():
    assert list(ALL) == [f"O{number}" for number in range(1, 28)]
    for each in observations():
        if each.experiment:
            assert each.code in experiments.load(each.experiment).TESTS
    tested = {code for name in experiments.names() for code in experiments.load(name).TESTS}
    assert tested <= set(ALL)


def test_every_documented_number_has_an_entry():
    with (ROOT / "tests" / "documented_claims.csv").open() as file:
        documented = {(row["name"], row["metric"]) for row in csv.DictReader(file)}
    found = {(entry.workload, entry.claim.metric) for entry in entries(CATALOGUE, [], {})}
    assert documented <= found
    assert sum(entry.workload == "gbdt_mortgage" for entry in entries(CATALOGUE, [], {})) == 4


def test_a_number_is_reproduced_within_a_quarter_and_never_refuted():
    about = next(each for each in CATALOGUE if each.name == "cifar10_mlp")

    def verdict(ratio):
        (found,) = [
            e for e in entries([about], sides("cifar10_mlp", ratio, "run", about), {}) if e.claim in about.claims
        ]
        return found.judgement.verdict, found.scope

    assert verdict(12.0) == verdict(14.5) == ("reproduced", "run")
    assert verdict(20.0) == verdict(0.5) == ("not comparable", "run")


def test_how_busy_the_gpu_is_at_a_batch_is_missing_where_nobody_watched():
    about = next(each for each in CATALOGUE if each.name == "cifar10_tf_cnn")
    found = ALL["O26"].judge([factory.record("cifar10_tf_cnn", "gpu", batch=512, about=about)])
    assert found.verdict == "not run"
    assert "Not measured: how busy the GPU is meanwhile" in found.found
    assert ALL["O26"].judge([]) == NOT_RUN


def test_a_result_that_is_not_steady_reproduces_no_number():
    about = next(each for each in CATALOGUE if each.name == "cifar10_mlp")
    steady = sides("cifar10_mlp", 12.0, "run", about)
    found = [next(e.judgement for e in entries([about], records, {}) if e.claim in about.claims)
             for records in (steady, list(map(shared, steady)))]  # fmt: skip
    assert [judgement.verdict for judgement in found] == ["reproduced", "not comparable"]
    assert found[1].found.endswith(" None is steady.")


def test_a_number_is_not_reproduced_because_an_observation_is():
    judged = {code: Judgement(verdict="reproduced", found="So it was.") for code in ALL}
    found = {entry.judgement for entry in entries(CATALOGUE, [], judged)}
    assert {judgement.verdict for judgement in found} == {"not comparable", "not run"}
    assert {judgement.found for judgement in found if judgement.verdict == "not comparable"} == {
        "So it was. The documented ratio itself was not measured.",
        "So it was. Documented is no ratio of CPU and GPU.",
    }


def test_what_augmentation_costs_stands_beside_the_two_networks_it_was_measured_with():
    judged = {"O24": ALL["O24"].judge(augmented(80.0, 100.0))}
    beside = {entry.workload for entry in entries(CATALOGUE, [], judged) if "Augmentation" in entry.judgement.found}
    assert beside == {"catdog_cnn_dropout", "catdog_cnn_noaug"}


@pytest.mark.parametrize(("ratio", "observed"), [(13, "reproduced"), (60, "not comparable")])
def test_a_step_stands_beside_a_training_that_was_not_run_and_does_not_reproduce_it(ratio, observed):
    about = next(each for each in CATALOGUE if each.name == "imdb_text_cnn")
    judged = ledger.judgements(sides("imdb_text_cnn", ratio))
    (found,) = [e for e in entries([about], sides("imdb_text_cnn", ratio), judged) if e.claim.metric == "training"]
    assert (judged["O11"].verdict, found.judgement.verdict) == (observed, "not comparable")
    assert f"imdb_text_cnn is {ratio}" in found.judgement.found
    assert found.judgement.found.endswith("The documented ratio itself was not measured.")


def test_what_an_observation_stands_beside_is_documented():
    documented = {(about.name, claim.metric) for about in CATALOGUE for claim in about.claims}
    beside = [number for each in ALL.values() for number in each.numbers]
    assert beside
    assert set(beside) <= documented
    assert len(set(beside)) == len(beside), "each stands beside one"


@pytest.mark.parametrize(
    ("records", "verdict"),
    [
        (grid(100, 300), "reproduced"),
        (grid(100, 150), "not comparable"),
        (grid(100, 136, backend="cpu"), "not run"),
    ],
)
def test_what_tuning_gains_a_gpu_is_reproduced_by_a_gpu_alone(records, verdict):
    judged = ledger.judgements(records)
    (found,) = [e for e in entries([BASE], records, judged) if e.claim.metric == "gpu_tuning_gain"]
    assert found.judgement.verdict == verdict


def test_a_number_says_where_what_stands_beside_it_is_not_all_steady():
    about = next(each for each in CATALOGUE if each.name == "cifar10_mlp")
    whole, copied = sides("cifar10_mlp", 12, "run", about), sides("cifar10_mlp", 9, "transfer", about)

    def found(records):
        return next(e.judgement.found for e in entries([about], records, {}) if e.claim in about.claims)

    steady = found([*whole, *copied])
    assert found([*map(shared, whole), *copied]) == found([*whole, *map(shared, copied)]) == f"{steady} Not all steady."


@pytest.mark.parametrize(("share", "verdict"), [(0.982, "reproduced"), (0.96, "not comparable"), (None, "not run")])
def test_an_accuracy_is_reached_within_a_point_on_the_real_data_alone(share, verdict):
    about = next(each for each in CATALOGUE if each.name == "mnist_mlp")
    made = [trained("mnist_mlp", (share,)) if share else trained("mnist_mlp", (0.984,), data="embedded")]
    (found,) = [e for e in entries([about], made, {}) if e.claim.metric == "accuracy"]
    assert found.judgement.verdict == verdict


def test_figures_differ_by_what_is_counted_and_that_is_said():
    about = next(each for each in CATALOGUE if each.name == "cifar10_mlp")
    rungs = {"step": 30, "transfer": 9, "epoch": 4, "cold": 0.5, "run": 2}
    records = [record for scope, ratio in rungs.items() for record in sides("cifar10_mlp", ratio, scope, about)]
    found = next(e for e in entries([about], records, {}) if e.claim in about.claims)
    assert "a step 30" in found.judgement.found
    assert "from storage on 4" in found.judgement.found
    assert "the whole run 2" in found.judgement.found
    assert "Tesla T4" in found.judgement.found


def test_the_page_shows_every_line_and_counts_them():
    records = [*sides("mnist_mlp", 10), *sides("cifar10_mlp", 30)]
    page = ledger.page(records, CATALOGUE, frozenset(), {})
    assert all(f">{code}<" in page for code in ALL)
    assert all(verdict in page for verdict in VERDICTS)
    assert page.count(">gbdt&#95;mortgage<") == 4
    assert "surely beyond a bound if it is beyond it by a factor of 2." in page
    assert "the ends of its interval are within a factor of 1.56" in page
    assert "not run" in ledger.page([], CATALOGUE, frozenset(), {})


def test_the_machine_that_decides_is_taken():
    slow = msgspec.structs.replace(factory.HOST, name="aaa, 2 cores")
    records = [*sides("mnist_mlp", 10, machine=slow), *sides("mnist_mlp", 10), *sides("cifar10_mlp", 30)]
    machines = by_machine(records).values()
    name, judgement = ledger.best([(mine[0].machine.name, ALL["O3"].judge(mine)) for mine in machines])
    assert (name, judgement.verdict) == (factory.HOST.name, "reproduced")


def test_what_is_missing_is_of_the_machine_that_has_most_of_it_and_of_none_where_all_lack_the_same():
    nothing, some = Judgement(verdict="not run"), Judgement(verdict="not run", found="Not measured: the rest.")
    assert ledger.best([("a", nothing), ("b", some)]) == ("b", some)
    assert ledger.best([("a", some), ("b", some)]) == ("", some)
    assert ledger.best([("a", nothing)]) == ("", nothing)
    assert ledger.best([]) == ("", nothing)


def test_the_documented_ratios_that_decide_are_those_of_the_networks():
    about = {each.name: {claim.metric: claim for claim in each.claims} for each in CATALOGUE}
    assert about["imdb_text_cnn"]["training"].speedup == text._DOCUMENTED
    assert about["cifar10_mlp"]["10_epochs_incl_build"].speedup == whole_runs._DOCUMENTED
    trees = [claim.speedup for each in CATALOGUE if each.name == "gbdt_mortgage" for claim in each.claims]
    assert (trees[0], trees[-1] / trees[0]) == (devices._OF_ONE, devices._OF_FOUR)
    base = about["catdog_cnn_base"]
    gain = base["throughput_tuned"].cpu_value / base["throughput_default"].cpu_value
    assert {"cpu": gain, "gpu": base["gpu_tuning_gain"].gpu_value} == input_tuning.GAINS


def test_a_catalogue_that_is_none_is_named(tmp_path):
    assert catalogue.read(tmp_path) == ()
    (tmp_path / "catalogue.json").write_text("[1]")
    with pytest.raises(ValueError, match=r"catalogue\.json' is no catalogue"):
        catalogue.read(tmp_path)
