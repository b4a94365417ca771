"""The bound of each part of an observation is where its rule says: just within it holds, just beyond it does not."""

import pytest
from ledger_worlds import (
    AXES,
    CNN,
    RESNET63,
    RESNET87,
    TREES,
    answers,
    at_512,
    augmented,
    by_flop,
    clocks,
    depths,
    epochs,
    first_calls,
    grid,
    judge,
    runs,
    scaled,
    served,
    sides,
    taught,
    threads,
    thrice,
    trees,
    utilised,
    varied,
)
from ledger_worlds import searches as searched
from test_grid_experiment import search
from test_input_experiments import BASE, stored
from test_ledger_rules import outdone

RESNET = "cifar10_resnet63"


def photographed(tilted=0.99, exactly_one=0.01):
    return answers(tilted, exactly_one)


BOUNDS = [
    ("O1", 0, [(utilised(0.91, 0.3), True), (utilised(0.89, 0.3), None), (utilised(0.51, 0.3), None),
               (utilised(0.49, 0.3), False)]),
    ("O1", 1, [(utilised(0.95, 0.49), True), (utilised(0.95, 0.51), False)]),
    ("O2", 0, [(thrice(runs(0.4, 0.61)), True), (thrice(runs(0.4, 0.59)), False), (thrice(runs(0.3, 0.49)), None),
               (thrice(runs(0.3, 0.51)), True)]),
    ("O4", 0, [(searched(10.5), True), (searched(9.5), False)]),
    ("O5", 0, [(first_calls((8.8, 9, 8, 8.05), (0.22, 0.3, 0.2, 0.2005)), True),
               (first_calls((7.2, 9, 8, 8.05), (0.22, 0.3, 0.2, 0.2005)), False),
               (first_calls((8.8, 9, 8, 8.05), (0.18, 0.3, 0.2, 0.2005)), False)]),
    ("O5", 1, [(first_calls((20, 9, 8, 8.05), (0.6, 0.3, 0.2, 0.2005)), True),
               (first_calls((20, 9, 8, 8.05), (0.4, 0.3, 0.2, 0.2005)), False)]),
    ("O6", 0, [(first_calls((20, 9, 8, 8.15)), True), (first_calls((20, 9, 8, 8.18)), False)]),
    ("O6", 1, [(first_calls(gpu=(15, 0.3, 0.2, 0.2009)), True), (first_calls(gpu=(15, 0.3, 0.2, 0.2011)), False)]),
    ("O7", 0, [(clocks(1.51, 1.02), True), (clocks(1.49, 1.02), False)]),
    ("O7", 1, [(clocks(3.0, 0.91), True), (clocks(3.0, 0.89), False), (clocks(3.0, 1.19), True),
               (clocks(3.0, 1.21), False)]),
    ("O8", 0, [(threads(1.52, RESNET), True), (threads(1.48, RESNET), False)]),
    ("O9", 0, [(epochs((RESNET63, ratio)), holds)
               for ratio, holds in ((0.88, False), (0.92, True), (1.08, True), (1.12, False))]),
    ("O10", 0, [(sides("cifar10_mlp", ratio, "run"), holds)
                for ratio, holds in ((0.97, False), (9.6, None), (9.8, True), (15.0, True), (15.3, None))]),
    ("O11", 0, [(sides("imdb_text_cnn", ratio), holds)
                for ratio, holds in ((0.97, False), (10.9, None), (11.1, True), (17.0, True), (17.4, None))]),
    ("O12", 0, [(served(40, 30, 20, 10, 1.03), True), (served(40, 30, 20, 10, 0.97), False)]),
    ("O13", 0, [(trees(one, 2.1), holds)
                for one, holds in ((0.97, False), (8.7, None), (8.9, True), (13.6, True), (13.9, None))]),
    ("O13", 1, [(trees(11, four), holds)
                for four, holds in ((0.97, False), (1.65, None), (1.72, True), (2.59, True), (2.67, None))]),
    ("O14", 0, [(scaled(0.0001, TREES), True), (scaled(0.00024, TREES), None), (scaled(0.001, TREES), False)]),
    ("O16", 0, [(grid(100, tuned, backend="cpu"), holds)
                for tuned, holds in ((97, False), (107, None), (111, True), (168, True), (173, None))]),
    ("O16", 1, [(grid(100, tuned), holds)
                for tuned, holds in ((97, False), (236, None), (244, True), (370, True), (380, None))]),
    ("O17", 0, [(grid(100, 300, 0.09, 1000.0), True), (grid(100, 300, 0.11, 1000.0), False)]),
    ("O17", 1, [(grid(100, 300, 0.05, 206.0), True), (grid(100, 300, 0.05, 194.0), False)]),
    ("O18", 0, [(depths(base=50 * ratio), holds)
                for ratio, holds in ((0.97, False), (3.15, None), (3.25, True), (4.9, True), (5.05, None))]),
    ("O19", 0, [(depths(wide_cpu=38.0), True), (depths(wide_cpu=42.0), False)]),
    ("O20", 0, [(depths(deep=73.0), True), (depths(deep=71.0), False)]),
    ("O20", 1, [(depths(deep_cpu=7.1), True), (depths(deep_cpu=7.3), False)]),
    ("O21", 0, [(depths(busy=(0.2, 0.31, 0.9)), True), (depths(busy=(0.2, 0.29, 0.9)), False)]),
    ("O21", 1, [(depths(busy=(0.1, 0.4, 0.53)), True), (depths(busy=(0.1, 0.4, 0.47)), False)]),
    ("O22", 0, [(depths(conv=rate), holds)
                for rate, holds in ((88.0, False), (92.0, True), (108.0, True), (112.0, False))]),
    ("O22", 1, [(depths(dropout=rate), holds)
                for rate, holds in ((88.0, False), (92.0, True), (108.0, True), (112.0, False))]),
    ("O23", 0, [(taught(0.80, 0.82, 0.84, 0.86, 0.83), True), (taught(0.80, 0.82, 0.82, 0.86, 0.81), None),
                (taught(0.80, 0.82, 0.80, 0.86, 0.81), False)]),
    ("O23", 1, [(taught(0.80, 0.84, 0.90, 0.94, 0.88), True), (taught(0.80, 0.84, 0.90, 0.94, 0.90), None),
                (taught(0.80, 0.84, 0.90, 0.94, 0.92), False)]),
    ("O24", 0, [(augmented(98.0, 100.0), True), (augmented(100.0, 100.0), False)]),
    ("O25", 0, [(photographed(tilted=0.61), True), (photographed(tilted=0.59), None),
                (photographed(tilted=0.50), None), (photographed(tilted=0.49), False)]),
    ("O25", 1, [(photographed(exactly_one=0.09), True), (photographed(exactly_one=0.1), False)]),
    ("O26", 0, [(at_512(0.59), True), (at_512(0.61), None), (at_512(0.89), None), (at_512(0.96), False)]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "place", "worlds"), BOUNDS, ids=[f"{code}-{number}" for number, (code, *_) in enumerate(BOUNDS)]
)
def test_just_within_a_bound_a_part_holds_and_just_beyond_it_does_not(code, place, worlds):
    found = [judge(code, records).parts[place].holds for records, _ in worlds]
    assert found == [holds for _, holds in worlds]


def test_what_surely_pays_for_thirty_hours_of_a_cpu_is_named():
    records = [*sides("mnist_cnn", 30.5), *sides("mnist_mlp", 29.5)]
    assert judge("O15", records).found.startswith("More than 30x is surely gained by 1 of 2 networks: mnist_cnn 30.5x")


def test_speed_ups_that_are_surely_within_a_tenth_are_the_same_and_else_it_is_open():
    for share, holds in ((0.001, False), (0.05, None)):
        parts = judge("O3", varied(10, 10, *AXES), (1.0, 1 + share, 1 - share)).parts
        assert [part.holds for part in parts] == [holds] * 4


def test_augmentation_that_costs_less_than_a_twentieth_is_free_and_more_is_open():
    for share, holds in ((0.01, False), (0.03, None)):
        hosts = (1.0, 1 + share, 1 - share)
        assert judge("O24", augmented(100.0, 100.0), hosts).parts[0].holds is holds


# Several networks

DEEPER = "cifar10_resnet87"


@pytest.mark.parametrize(
    ("gains", "verdict"),
    [
        ({RESNET: 1.1, DEEPER: 3.0}, "reproduced"),
        ({RESNET: 1.1, DEEPER: 1.1}, "refuted"),
        ({DEEPER: 1.1, "cifar10_mlp": 3.0}, "refuted"),
        ({DEEPER: 3.0, "cifar10_mlp": 1.1}, "reproduced"),
    ],
)
def test_one_of_the_articles_networks_shows_that_the_cpu_decides_and_all_that_it_does_not(gains, verdict):
    found = judge("O8", [record for name, gain in gains.items() for record in threads(gain, name)])
    assert found.verdict == verdict
    assert all(name in found.found for name in gains)


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [((1.0, 1.0), "reproduced"), ((1.0, 1.5), "refuted"), ((1.5, 1.0), "refuted"), ((1.0, 1.09), "reproduced")],
)
def test_every_epoch_of_the_articles_networks_takes_what_its_step_predicts_or_one_does_not(ratios, verdict):
    both = epochs(*zip((RESNET63, RESNET87), ratios, strict=True))
    assert judge("O9", both).verdict == verdict
    assert judge("O9", [*epochs((RESNET87, 1.0)), *epochs((TREES, 2.0))]).verdict == "reproduced"


@pytest.mark.parametrize(("trees_", "others", "verdict"), [(0.0001, 0.001, "in part"), (0.001, 0.0001, "refuted")])
def test_the_articles_trees_decide_whatever_other_networks_gain_of_several_gpus(trees_, others, verdict):
    assert judge("O14", [*scaled(trees_, TREES), *scaled(others, CNN)]).verdict == verdict


FEW = "fewer than three networks of unlike size have certified speed-ups"


# What is missing

LOSSES = (0.1, 0.2, 0.3)
BOTH_ALONE = [search("plain", 30.0, LOSSES), search("plain", 10.0, LOSSES, backend="gpu")]


@pytest.mark.parametrize(
    ("records", "missing"),
    [
        (BOTH_ALONE[:1], "the GPU"),
        (BOTH_ALONE[1:], "the CPU"),
        ([search("stacked", 9.0, LOSSES, 6), search("stacked", 3.0, LOSSES, 6, "gpu")], "the CPU and the GPU"),
        ([BOTH_ALONE[0], search("plain", 10.0, LOSSES, backend="gpu", precision="tf32")], "the GPU"),
    ],
)
def test_a_search_of_one_side_or_stacked_alone_says_which_side_is_missing(records, missing):
    found = judge("O4", records)
    assert found.verdict == "not run"
    assert found.found.endswith(f"Not measured: one fit after another on {missing}.")
    assert found.found.startswith("With its fits stacked" if len(missing) > len("the CPU") else "Not measured: ")


def test_a_search_of_stacked_fits_of_one_side_is_no_search():
    assert judge("O4", [search("stacked", 9.0, LOSSES, 6)]).found == ""


# Sizes


@pytest.mark.parametrize(
    ("code", "records", "holds", "why"),
    [
        ("O27", by_flop(0.1), True, ""),
        ("O27", by_flop(-0.1), False, ""),
        ("O27", by_flop(0.0), None, "the interval of the slope holds 0"),
        ("O27", by_flop(0.3)[:6], True, ""),
        ("O12", served(40, 30, 20, 10, 5), True, ""),
        ("O12", served(5, 10, 20, 30, 40), False, ""),
        ("O12", served(40, 10, 40), None, "the interval of the slope holds 0"),
        ("O12", served(40, 30, 20)[:4], None, FEW),
        ("O12", outdone(served(40, 30, 20)), None, FEW),
    ],
)
def test_speed_ups_go_with_size_if_the_interval_of_their_slope_over_three_networks_leaves_out_nothing(
    code, records, holds, why
):
    found = judge(code, records)
    part = found.parts[-1]
    assert (part.holds, part.why) == (holds, why)
    assert ("The slope of the logarithms over " in found.found) is (why != FEW)


def test_the_slope_is_said_with_its_interval():
    assert "The slope of the logarithms over 5 networks is 0.300 (0.300 to 0.300)." in judge("O27", by_flop(0.3)).found


# A batch


def test_how_busy_a_gpu_is_at_the_batch_is_said_with_where_the_batch_comes_from():
    stored_, resident = (judge("O26", at_512(0.45, scope)) for scope in ("epoch", "step"))
    assert stored_.found.startswith("At batch 512, from storage on, the GPU is busy 45")
    assert resident.found.startswith("At batch 512, its batch on the device, the GPU is busy 45")
    assert [(part.says, part.why) for part in resident.parts] == [
        ("", "documented is a training that reads and distorts its pictures, and here they lay on the device")
    ]
    assert judge("O26", at_512(0.75)).parts[0].why == "its interval is not surely beyond either bound"
    blind = judge("O26", at_512(None))
    assert blind.found.startswith("At batch 512, from storage on, it trains with ")
    assert blind.found.endswith(" pictures/s. Not measured: how busy the GPU is meanwhile.")


def test_only_the_documented_network_at_its_batch_on_the_gpu_says_how_busy_it_is():
    for about, batch, backend in ((BASE, 512, "gpu"), (CNN, 64, "gpu"), (CNN, 512, "cpu")):
        record = stored(about, 15_000.0, backend, busy=0.45, batch=batch, experiment="")
        assert judge("O26", [record]).verdict == "not run"
