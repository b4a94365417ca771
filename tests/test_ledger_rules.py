"""Each rule of the ledger can come out either way, and unsteady results decide none."""

import factory
import msgspec
import pytest
from ledger_worlds import (
    ALL,
    FAR_APART,
    NUMBERS,
    RESNET63,
    ROOT,
    TREES,
    UNIT,
    WORLDS,
    at_512,
    epochs,
    grid,
    judge,
    known,
    scaled,
    shared,
    sides,
    threads,
)
from test_input_experiments import BASE
from test_learning_page import trained

from suite.claims import VERDICTS
from suite.claims._documented_numbers import entries
from suite.results.records import catalogue

CATALOGUE = catalogue.read(ROOT / "site" / "records")
ON_ONE_CAMPAIGN = ("O5", "O6", "O7", "O9", "O23", "O25")
POOLED = tuple(code for code, each in ALL.items() if each.testable and code not in ON_ONE_CAMPAIGN)
OVER_NETWORKS = ("O12", "O27")  # whose intervals are over networks, not over hosts
TESTABLE = [code for code, each in ALL.items() if each.testable]


@pytest.mark.parametrize("code", TESTABLE)
def test_a_world_reproduces_each_observation_and_another_refutes_it(code):
    assert {"reproduced", "refuted"} <= WORLDS[code].keys()
    found = {verdict: judge(code, records).verdict for verdict, records in WORLDS[code].items()}
    assert found == {verdict: verdict for verdict in WORLDS[code]}


@pytest.mark.parametrize("code", TESTABLE)
def test_an_observation_with_parts_can_hold_in_part_and_names_them(code):
    parts = judge(code, WORLDS[code]["reproduced"]).parts
    assert ("in part" in WORLDS[code]) == (len(parts) > 1)
    if len(parts) > 1:
        found = judge(code, WORLDS[code]["in part"])
        assert {True} < {part.holds for part in found.parts}
        assert all(part.says in found.found and part.says for part in found.parts)


@pytest.mark.parametrize("code", TESTABLE)
def test_what_is_disturbed_decides_nothing(code):
    for verdict in ("reproduced", "refuted"):
        found = judge(code, WORLDS[code].get("not comparable") or list(map(shared, WORLDS[code][verdict])))
        assert found.verdict == ("not run" if code in POOLED else "not comparable")
        assert found.verdict == "not run" or "Cannot be judged" in found.found
        assert all(part.holds is None and part.why for part in found.parts)


@pytest.mark.parametrize("code", [code for code in POOLED if code not in OVER_NETWORKS])
def test_where_hosts_differ_too_much_nothing_is_decided_and_why_is_said(code):
    for verdict in ("reproduced", "refuted"):
        found = judge(code, WORLDS[code][verdict], FAR_APART)
        assert found.verdict == "not comparable"
        assert "Cannot be judged" in found.found
        assert all(part.holds is None and part.why for part in found.parts)


@pytest.mark.parametrize(("ratio", "verdict"), [(13, "not comparable"), (0.6, "not comparable"), (0.4, "refuted")])
def test_one_host_alone_decides_what_is_beyond_a_bound_by_a_factor_of_two(ratio, verdict):
    assert judge("O11", sides("imdb_text_cnn", ratio), (1.0,)).verdict == verdict


def test_hosts_of_other_networks_say_how_much_those_of_a_single_one_may_differ():
    one, others = sides("imdb_text_cnn", 13), factory.on_hosts(sides("mnist_mlp", 10), (1.0, 1.001, 0.999))
    here = [msgspec.structs.replace(r, machine=others[0].machine) for r in one]
    assert ALL["O11"].judge(known([*here, *others], None)).verdict == "reproduced"


# A speed-up whose certificate failed, and one whose sides did not compute the same


def outdone(records):
    """The same beside a baseline that takes a third of the time on the CPU."""
    cpu = [record for record in records if record.backend == "cpu"]
    return [*records, *(quick(record, 1 / 3) for record in cpu)]


def quick(record, share):
    case = msgspec.structs.replace(record.case, implementation="torch")
    seconds = [share * run.samples[0].wall_seconds / run.steps_per_sample for run in record.runs]
    runs = tuple(factory.run(number, each) for number, each in enumerate(seconds))
    return msgspec.structs.replace(record, case=case, runs=runs)


def otherwise(records):
    """The same, whose GPU's first loss is another."""
    return [
        msgspec.structs.replace(r, runs=tuple(msgspec.structs.replace(run, first_loss=9.0) for run in r.runs))
        if r.backend == "gpu"
        else r
        for r in records
    ]


@pytest.mark.parametrize(
    ("code", "high", "low"),
    [
        ("O11", sides("imdb_text_cnn", 13), sides("imdb_text_cnn", 0.5)),
        ("O13", WORLDS["O13"]["reproduced"], WORLDS["O13"]["refuted"]),
        ("O12", WORLDS["O12"]["in part"], WORLDS["O12"]["refuted"]),
    ],
)
def test_what_is_not_certified_decides_nothing_in_favour_of_the_gpu(code, high, low):
    assert judge(code, high).parts[0].holds is True
    found = judge(code, outdone(high)).parts[0]
    assert (found.holds, found.why) == (None, "the CPU side is not certified")
    assert judge(code, outdone(low)).parts[0].holds is False


@pytest.mark.parametrize("code", ["O3", "O27"])
def test_what_is_not_certified_says_nothing_of_what_a_speed_up_depends_on(code):
    found = judge(code, outdone(WORLDS[code]["reproduced"]))
    assert found.verdict == "not comparable"
    assert "certified" in found.found


def test_what_is_not_certified_is_not_as_high_as_documented():
    name = ("cifar10_resnet63", "steady_step")
    records = sides(name[0], 52, about=RESNET63, gpu=0.02)
    assert "reproduced" in number(*name, records)
    assert number(*name, outdone(records)) == {"not comparable"}
    assert number(*name, outdone(NUMBERS[name]["refuted"])) == {"refuted"}


@pytest.mark.parametrize("code", ["O3", "O11", "O12", "O27"])
def test_what_did_not_compute_the_same_does_not_count(code):
    assert judge(code, otherwise(WORLDS[code]["reproduced"])).verdict == "not run"


@pytest.mark.parametrize(("ratio", "spread", "holds"), [(10.03, 0.001, False), (10.8, 0.02, None), (14, 0.02, True)])
def test_pooled_speed_ups_are_apart_if_their_intervals_are(ratio, spread, holds):
    about = factory.description("another", parameters=2000, flop_per_example=60_000)
    records = [*sides("mnist_mlp", 10), *sides("another", ratio, about=about)]
    (part,) = (
        each for each in judge("O3", records, (1.0, 1 + spread, 1 - spread)).parts if "architecture" in each.says
    )
    assert part.holds is holds


def test_what_no_measurement_can_decide_is_not_comparable():
    (code,) = set(ALL) - set(TESTABLE)
    assert judge(code, sides("mnist_mlp", 60)).verdict == "not comparable"


def test_the_verdicts_are_five():
    assert VERDICTS == ("reproduced", "in part", "refuted", "not comparable", "not run")


# An article's own network first


def test_other_networks_do_not_refute_what_an_articles_own_reproduces():
    own, other = (RESNET63, 1.0), (BASE, 59.0)
    assert judge("O9", epochs(own, other)).verdict == "reproduced"
    assert "catdog_cnn_base from storage on the GPU takes 59" in judge("O9", epochs(own, other)).found
    assert judge("O8", [*threads(3.0, "cifar10_resnet63"), *threads(1.1)]).verdict == "reproduced"
    assert judge("O14", [*scaled(0.0001, TREES), *scaled(0.0001, UNIT), *scaled(1.0)]).verdict == "reproduced"


def test_of_an_article_s_two_models_the_one_that_was_not_timed_is_named():
    judgement = judge("O14", [*scaled(0.0001, TREES), *scaled(0.0001)])
    assert (judgement.verdict, [each.holds for each in judgement.parts]) == ("in part", [True, None])
    assert "data-parallel network faster, as it was not timed on several GPUs" in judgement.found


@pytest.mark.parametrize("code", ["O8", "O9", "O14"])
def test_other_networks_decide_where_an_articles_own_cannot_and_that_is_said(code):
    other = {"O8": threads(1.1), "O9": epochs((BASE, 59.0)), "O14": scaled(1.0)}[code]
    for own in ([], list(map(shared, WORLDS[code]["reproduced"]))):
        found = judge(code, [*own, *other])
        assert found.verdict == "refuted"
        assert "Other networks than the article's decide." in found.found
    assert "Other networks" not in judge(code, WORLDS[code]["reproduced"]).found


def test_a_batch_on_the_device_says_nothing_of_a_training_that_reads_its_pictures():
    found = judge("O26", at_512(0.97, scope="step"))
    assert (found.verdict, found.parts[0].holds) == ("not comparable", None)
    assert "here they lay on the device" in found.found
    assert judge("O26", [*at_512(0.97, scope="step"), *at_512(0.45)]).verdict == "reproduced"


def test_two_cores_cannot_say_what_four_workers_gain_a_cpu():
    two = msgspec.structs.replace(factory.HOST, cores=2)
    records = [msgspec.structs.replace(r, machine=two) for r in grid(100, 136, backend="cpu")]
    assert "the machine has fewer than four cores" in judge("O16", records).found
    assert judge("O16", grid(100, 136, backend="cpu")).verdict == "in part"


# Documented numbers


def number(workload, metric, records):
    about = [each for each in CATALOGUE if each.name == workload]
    found = [e for e in entries(about, known(records), {}) if (e.workload, e.claim.metric) == (workload, metric)]
    return {entry.judgement.verdict for entry in found}


def test_every_number_states_its_rule_in_a_sentence():
    assert all(entry.rule.endswith(".") for entry in entries(CATALOGUE, known([]), {}))


def test_each_number_that_its_rule_can_refute_has_a_world_that_does():
    refutable = {(e.workload, e.claim.metric) for e in entries(CATALOGUE, known([]), {}) if "efuted" in e.rule}
    refutable |= {("catdog_cnn_128", "change_from_dropout_net")}  # whose rule is of parts
    assert refutable == set(NUMBERS)


@pytest.mark.parametrize(("name", "verdict"), [(name, each) for name, worlds in NUMBERS.items() for each in worlds])
def test_a_world_reproduces_a_number_and_another_refutes_it(name, verdict):
    records = NUMBERS[name][verdict]
    assert verdict in number(*name, records)
    assert number(*name, list(map(shared, records))) <= {"not comparable", "not run"} or name[1] == "accuracy"


def test_an_older_or_smaller_gpu_that_takes_longer_refutes_no_step():
    name = ("cifar10_resnet63", "steady_step")

    def with_gpu(**changes):
        (card,) = factory.HOST.gpus
        gpu = msgspec.structs.replace(card, **changes)
        machine = msgspec.structs.replace(factory.HOST, gpus=(gpu,))
        return sides("cifar10_resnet63", 10, about=RESNET63, gpu=0.5, machine=machine)

    assert number(*name, with_gpu()) == {"refuted"}
    for changes in ({"compute_capability": "6.0"}, {"compute_capability": "8.9"}, {"slice": "1g.10gb"}):
        assert number(*name, with_gpu(**changes)) == {"not comparable"}


def test_a_loss_by_four_workers_on_two_cores_refutes_nothing():
    two = msgspec.structs.replace(factory.HOST, cores=2)
    records = [msgspec.structs.replace(r, machine=two) for r in grid(100, 80, backend="cpu")]
    assert number("catdog_cnn_base", "throughput_tuned", records) == {"not comparable"}


def test_an_accuracy_far_above_the_documented_one_refutes_it_too():
    assert number("catdog_cnn_base", "accuracy", [trained("catdog_cnn_base", (0.899, 0.9, 0.901))]) == {"refuted"}
