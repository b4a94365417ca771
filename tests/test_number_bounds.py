"""The bound of each documented number is where its rule says: just within it is reproduced, just beyond it is not."""

import msgspec
import pytest
from ledger_worlds import (
    CNN,
    NODE,
    RESNET63,
    RESNET87,
    ROOT,
    TREES,
    augmented,
    depths,
    first_calls,
    grid,
    known,
    sides,
    trees,
)
from test_learning_page import trained
from test_ledger_rules import outdone

from suite.claims import Judgement
from suite.claims._documented_numbers import entries
from suite.results.records import catalogue

CATALOGUE = {each.name: each for each in catalogue.read(ROOT / "site" / "records")}
YES, OPEN, NO = "reproduced", "not comparable", "refuted"


def judged(workload, metric, records, nth=0, observed=None):
    """The nth number of a workload and metric beside these records."""
    found = entries([CATALOGUE[workload]], known(records), observed or {})
    return [each for each in found if (each.workload, each.claim.metric) == (workload, metric)][nth]


def resnet(ratio, gpu=0.01):
    return sides("cifar10_resnet63", ratio, about=RESNET63, gpu=gpu)


def calls(ratio, step=40.0):
    """First calls of that ratio, which is far below that of a step."""
    return [*first_calls(cpu=(15.0 * ratio, 9.0, 8.0, 8.05)), *resnet(step)]


BOUNDS = {
    ("catdog_cnn_base", "gpu_tuning_gain"): [
        (grid(100, tuned), said) for tuned, said in ((97, NO), (236, OPEN), (244, YES), (370, YES), (380, OPEN))
    ],
    ("catdog_cnn_base", "throughput_default"): [
        (grid(100, tuned, backend="cpu"), said)
        for tuned, said in ((97, NO), (107, OPEN), (111, YES), (168, YES), (173, OPEN))
    ],
    ("catdog_cnn_dropout", "throughput"): [
        (augmented(share, 100.0, "gpu"), said) for share, said in ((62, OPEN), (65, YES), (98, YES), (103, NO))
    ],
    ("catdog_cnn_128", "change_from_dropout_net"): [
        *((depths(wide=share), said) for share, said in ((62, "in part"), (65, YES), (98, YES), (103, "in part"))),
        *((depths(wide_cpu=50 * share), said)
          for share, said in ((0.117, "in part"), (0.123, YES), (0.184, YES), (0.191, "in part"))),
    ],
    ("catdog_cnn_128", "gpu_utilisation"): [
        (depths(busy=(0.1, busy, 0.9)), said) for busy, said in ((0.37, OPEN), (0.43, YES), (0.57, YES), (0.63, OPEN))
    ] + [(depths(busy=(0.7, 0.65, 0.9)), NO)],
    ("catdog_cnn_base", "gpu_utilisation"): [
        (depths(busy=(busy, 0.5, 0.9)), said) for busy, said in ((0.02, YES), (0.095, YES), (0.105, OPEN))
    ],
    ("catdog_cnn_128", "throughput"): [
        (depths(wide=8 * ratio), said) for ratio, said in ((18.0, OPEN), (18.8, YES), (28.2, YES), (29.2, OPEN))
    ],
    ("catdog_cnn_base", "gpu_vs_bare_metal"): [
        (depths(base=50 * ratio), said) for ratio, said in ((3.15, OPEN), (3.25, YES), (4.9, YES), (5.05, OPEN))
    ],
    ("cifar10_mlp", "10_epochs_incl_build"): [
        (sides("cifar10_mlp", ratio, "run"), said)
        for ratio, said in ((9.6, OPEN), (9.8, YES), (15.0, YES), (15.3, OPEN))
    ],
    ("cifar10_tf_cnn", "throughput_b512"): [
        (sides("cifar10_tf_cnn", ratio, "epoch", CNN), said)
        for ratio, said in ((56.0, OPEN), (57.6, YES), (88.0, YES), (89.5, OPEN))
    ],
    ("cifar10_resnet63", "steady_step"): [
        (resnet(ratio), said) for ratio, said in ((126.0, OPEN), (129.0, YES), (197.0, YES), (201.0, OPEN))
    ] + [(resnet(10.0, gpu), said) for gpu, said in ((0.176, OPEN), (0.180, NO))],
    ("cifar10_resnet63", "first_call"): [
        (calls(ratio), said) for ratio, said in ((2.79, OPEN), (2.95, YES), (4.3, YES), (4.6, OPEN))
    ] + [(calls(10.0, step), said) for step, said in ((4.8, NO), (5.2, OPEN))],
    ("cifar10_resnet87", "100_epochs"): [
        (sides("cifar10_resnet87", 10, about=RESNET87, gpu=gpu), said) for gpu, said in ((0.235, OPEN), (0.241, NO))
    ],
    ("catdog_cnn_base", "accuracy"): [
        ([trained("catdog_cnn_base", (share - 0.0005, share, share + 0.0005))], said)
        for share, said in (
            (0.747, NO), (0.753, OPEN), (0.777, OPEN), (0.783, YES), (0.817, YES), (0.823, OPEN), (0.847, OPEN),
            (0.853, NO),
        )
    ],
    ("gbdt_mortgage", "training"): [
        (sides("gbdt_mortgage", ratio, about=TREES, machine=NODE), said)
        for ratio, said in ((8.7, OPEN), (8.9, YES), (13.6, YES), (13.9, OPEN))
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", BOUNDS, ids="-".join)
def test_just_within_its_bound_a_number_is_reproduced_and_just_beyond_it_is_not(name):
    found = [judged(*name, records).judgement.verdict for records, _ in BOUNDS[name]]
    assert found == [verdict for _, verdict in BOUNDS[name]]


@pytest.mark.parametrize(
    ("one", "four", "verdict"),
    [(11, 2.1, YES), (11, 1.65, "in part"), (11, 1.72, YES), (11, 2.59, YES), (11, 2.67, "in part"), (14, 4, OPEN)],
)
def test_trees_on_four_gpus_are_as_fast_as_documented_over_one_and_one_over_the_cpu(one, four, verdict):
    found = judged("gbdt_mortgage", "training", trees(one, four), 3)
    assert found.judgement.verdict == verdict
    assert [part.says for part in found.judgement.parts] == [
        "4 GPUs are 2.11 times as fast as one",
        "one GPU is 11.01 times as fast as the CPU",
    ]
    assert (found.measured, found.scope) == (None, None)


def test_of_trees_that_were_timed_on_one_side_the_other_part_is_open():
    (with_one, four_alone) = (
        judged("gbdt_mortgage", "training", records, 3).judgement
        for records in (trees(11, 2.1)[:2], trees(11, 2.1)[2:])
    )
    assert [part.holds for part in with_one.parts] == [None, True]
    assert [part.holds for part in four_alone.parts] == [True, None]
    assert {part.why for part in (with_one.parts[0], four_alone.parts[1])} == {"it was not measured"}
    assert with_one.found.startswith("A round on one GPU is 11.0x ")
    assert four_alone.found.startswith("4 GPUs are 2.1")


def test_what_is_shown_beside_a_number_is_the_ratio_measured_and_of_what_it_is():
    for name, records, scope in (
        (("cifar10_resnet63", "steady_step"), resnet(150.0), "step"),
        (("catdog_cnn_base", "gpu_tuning_gain"), grid(100, 300), "epoch"),
        (("cifar10_resnet63", "first_call"), calls(3.5), "calls"),
        (("cifar10_mlp", "10_epochs_incl_build"), sides("cifar10_mlp", 12, "run"), "run"),
        (("catdog_cnn_128", "throughput"), depths(wide=184.0), "epoch"),
    ):
        found, nothing = judged(*name, records), judged(*name, [])
        assert found.scope == nothing.scope == scope
        assert found.measured is not None
        assert (nothing.measured, nothing.judgement.verdict) == (None, "not run")
        assert found.rule == nothing.rule
        assert found.machine == records[0].machine.name
        assert nothing.machine == ""
    trees_alone = judged("gbdt_mortgage", "training", trees(11, 2.1))
    assert (trees_alone.scope, trees_alone.measured.value) == ("step", pytest.approx(11, rel=0.01))
    assert judged("cifar10_resnet87", "100_epochs", []).scope is None


def test_what_was_found_says_what_was_measured():
    said = {name: judged(*name, BOUNDS[name][1][0]).judgement.found for name in BOUNDS}
    assert said["catdog_cnn_dropout", "throughput"].startswith("With augmentation the speed on the GPU is 0.65")
    assert "Larger pictures leave " in said["catdog_cnn_128", "change_from_dropout_net"]
    assert said["catdog_cnn_128", "gpu_utilisation"].startswith("The GPU is busy 43")
    assert said["cifar10_resnet87", "100_epochs"].startswith("The steps alone take 5.25 h on the GPU.")
    assert said["catdog_cnn_base", "accuracy"].startswith("75.3 % were answered right.")


def test_why_a_number_is_open_is_said():
    def why(name, place):
        (part, *_) = judged(*name, BOUNDS[name][place][0]).judgement.parts
        return part.why

    assert why(("cifar10_resnet63", "steady_step"), 0) == "the ratio differs, which other hardware may explain"
    assert why(("catdog_cnn_128", "gpu_utilisation"), 0) == "the share is another, which the hardware may explain"
    assert why(("cifar10_resnet87", "100_epochs"), 0) == "it is shorter, which the hardware may explain"
    assert why(("catdog_cnn_base", "accuracy"), 1) == "its interval is not surely beyond either bound"
    assert judged("catdog_cnn_base", "accuracy", []).judgement.found == "Needs the real data."


def test_ratios_by_what_is_counted_and_by_precision_stand_beside_a_number():
    records = resnet(150.0)
    faster = sides("cifar10_resnet63", 300.0, about=RESNET63, gpu=0.005)[1]
    case = msgspec.structs.replace(faster.case, precision="tf32")
    records.append(msgspec.structs.replace(faster, case=case))
    found = judged("cifar10_resnet63", "steady_step", records).judgement.found
    assert found.startswith(
        "Documented on Mac mini late 2014, Core i5 2.6 GHz and GTX 1080, measured on other hardware. "
        "On test-gpu, 16 cores: a step 150x (149 to 151); the GPU in tf32 300x (299 to 301)."
    )


def test_a_number_of_no_network_is_beside_the_observation_that_judges_it():
    said = Judgement(verdict="reproduced", found="So it was.")
    found = {
        (each.workload, each.claim.metric): each
        for each in entries([], known([]), {"O15": said, "O9": said})
        if each.claim.metric in ("units_of_time_paid", "price_per_hour", "100_epochs_on_a_mac")
    }
    assert [(name, each.judgement.found, each.judgement.verdict) for name, each in found.items()] == [
        (("cost", "units_of_time_paid"), "So it was. The documented ratio itself was not measured.", OPEN),
        (("cost", "price_per_hour"), "It is not measured.", OPEN),
        (("cifar10_resnet63", "100_epochs_on_a_mac"), "So it was. The documented ratio itself was not measured.", OPEN),
    ]
    claims = [each.claim for each in found.values()]
    assert [(c.cpu_value, c.gpu_value, c.speedup) for c in claims] == [
        (30, 1, 30),
        (None, 0.90, None),
        (795, 5.17, 159),
    ]
    assert [c.unit for c in claims] == ["ratio", "USD", "h"]
    assert all(each.rule.endswith(".") for each in found.values())


def test_what_is_not_certified_is_open_for_that_reason_and_refuted_for_its_own():
    def part(ratio, gpu):
        (found,) = judged("cifar10_resnet63", "steady_step", outdone(resnet(ratio, gpu))).judgement.parts
        return found.says, found.holds, found.why

    assert part(150.0, 0.01) == ("", None, "the CPU side is not certified")
    assert part(10.0, 0.5) == ("", False, "")
