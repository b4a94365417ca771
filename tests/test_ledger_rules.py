"""Each rule of the ledger can come out either way, and unsteady results decide none."""

import factory
import msgspec
import pytest
from ledger_worlds import NUMBERS, RESNET63, ROOT, TREES, WORLDS, at_512, epochs, grid, scaled, shared, sides, threads
from test_input_experiments import BASE
from test_learning_page import trained

from suite.observations import VERDICTS, observations
from suite.observations._claims import entries
from suite.results import catalogue

ALL = {each.code: each for each in observations()}
CATALOGUE = catalogue.read(ROOT / "site" / "records")
TESTABLE = [code for code, each in ALL.items() if each.testable]


@pytest.mark.parametrize("code", TESTABLE)
def test_a_world_reproduces_each_observation_and_another_refutes_it(code):
    assert {"reproduced", "refuted"} <= WORLDS[code].keys()
    found = {verdict: ALL[code].judge(records).verdict for verdict, records in WORLDS[code].items()}
    assert found == {verdict: verdict for verdict in WORLDS[code]}


@pytest.mark.parametrize("code", TESTABLE)
def test_an_observation_with_parts_can_hold_in_part_and_names_them(code):
    parts = ALL[code].judge(WORLDS[code]["reproduced"]).parts
    assert ("in part" in WORLDS[code]) == (len(parts) > 1)
    if len(parts) > 1:
        found = ALL[code].judge(WORLDS[code]["in part"])
        assert {True} < {part.holds for part in found.parts}
        assert all(part.says in found.found and part.says for part in found.parts)


@pytest.mark.parametrize("code", TESTABLE)
def test_what_is_not_steady_decides_nothing_and_why_is_said(code):
    for verdict in ("reproduced", "refuted"):
        unsteady = WORLDS[code].get("not comparable") or list(map(shared, WORLDS[code][verdict]))
        found = ALL[code].judge(unsteady)
        assert found.verdict == "not comparable"
        assert "Cannot be judged" in found.found
        assert all(part.holds is None and part.why for part in found.parts)


def test_what_no_measurement_can_decide_is_not_comparable():
    (code,) = set(ALL) - set(TESTABLE)
    assert ALL[code].judge(sides("mnist_mlp", 60)).verdict == "not comparable"


def test_the_verdicts_are_five():
    assert VERDICTS == ("reproduced", "in part", "refuted", "not comparable", "not run")


# An article's own network first


def test_other_networks_do_not_refute_what_an_articles_own_reproduces():
    own, other = (RESNET63, 1.0), (BASE, 59.0)
    assert ALL["O9"].judge(epochs(own, other)).verdict == "reproduced"
    assert "catdog_cnn_base from storage on the GPU takes 59" in ALL["O9"].judge(epochs(own, other)).found
    assert ALL["O8"].judge([*threads(3.0, "cifar10_resnet63"), *threads(1.1)]).verdict == "reproduced"
    assert ALL["O14"].judge([*scaled(0.0001, TREES), *scaled(1.0)]).verdict == "reproduced"


@pytest.mark.parametrize("code", ["O8", "O9", "O14"])
def test_other_networks_decide_where_an_articles_own_cannot_and_that_is_said(code):
    other = {"O8": threads(1.1), "O9": epochs((BASE, 59.0)), "O14": scaled(1.0)}[code]
    for own in ([], list(map(shared, WORLDS[code]["reproduced"]))):
        found = ALL[code].judge([*own, *other])
        assert found.verdict == "refuted"
        assert "Other networks than the article's decide." in found.found
    assert "Other networks" not in ALL[code].judge(WORLDS[code]["reproduced"]).found


def test_a_batch_on_the_device_says_nothing_of_a_training_that_reads_its_pictures():
    found = ALL["O26"].judge(at_512(0.97, scope="step"))
    assert (found.verdict, found.parts[0].holds) == ("not comparable", None)
    assert "here they lay on the device" in found.found
    assert ALL["O26"].judge([*at_512(0.97, scope="step"), *at_512(0.45)]).verdict == "reproduced"


def test_two_cores_cannot_say_what_four_workers_gain_a_cpu():
    two = msgspec.structs.replace(factory.HOST, cores=2)
    records = [msgspec.structs.replace(r, machine=two) for r in grid(100, 136, backend="cpu")]
    assert "the machine has fewer than four cores" in ALL["O16"].judge(records).found
    assert ALL["O16"].judge(grid(100, 136, backend="cpu")).verdict == "in part"


# Documented numbers


def number(workload, metric, records):
    about = [each for each in CATALOGUE if each.name == workload]
    found = [e for e in entries(about, records, {}) if (e.workload, e.claim.metric) == (workload, metric)]
    return {entry.judgement.verdict for entry in found}


def test_every_number_states_its_rule_in_a_sentence():
    assert all(entry.rule.endswith(".") for entry in entries(CATALOGUE, [], {}))


def test_each_number_that_its_rule_can_refute_has_a_world_that_does():
    refutable = {(e.workload, e.claim.metric) for e in entries(CATALOGUE, [], {}) if "efuted" in e.rule}
    refutable |= {("catdog_cnn_128", "change_from_dropout_net")}  # whose rule is of parts
    assert refutable == set(NUMBERS)


@pytest.mark.parametrize(("name", "verdict"), [(name, each) for name, worlds in NUMBERS.items() for each in worlds])
def test_a_world_reproduces_a_number_and_another_refutes_it(name, verdict):
    records = NUMBERS[name][verdict]
    assert verdict in number(*name, records)
    assert number(*name, list(map(shared, records))) <= {"not comparable"} or name[1] == "accuracy"


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
