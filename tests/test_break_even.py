"""After how many steps the GPU has won back its longer start: the right count, with an interval that holds it."""

import math
import random

import factory
import msgspec
import pytest
from factory import of_one_machine

from suite.analysis.capabilities import MachineCapabilities
from suite.experiments import break_even
from suite.results.pooled.break_even import total_ratio

BOTH = MachineCapabilities(backends=("cpu", "gpu"), cores=16)
ALIKE = (1.0, 1.001, 0.999)
SECONDS = {("cpu", "cold"): 2.0, ("gpu", "cold"): 22.0, ("cpu", "step"): 0.0105, ("gpu", "step"): 0.0005}


def records(seconds=SECONDS, hosts=ALIKE, name="mnist_mlp", **changes):
    """Starts and steps of both sides on hosts that differ by such shares."""
    return factory.on_hosts(
        [
            factory.record(name, backend, [value * noise for noise in ALIKE], scope=scope, **changes)
            for (backend, scope), value in seconds.items()
        ],
        hosts,
    )


def found(made):
    (one,) = break_even.break_evens(of_one_machine(made).speedups)
    return one


def read(*made):
    reading = break_even.read(of_one_machine([one for several in made for one in several]))
    assert reading is not None
    return reading


def changed(**sides):
    return SECONDS | {tuple(name.split("_")): value for name, value in sides.items()}


def test_both_sides_have_taken_the_same_time_then():
    one = found(records())
    assert one.steps == pytest.approx(1 + 20 / 0.010, rel=0.01)
    assert one.low < one.steps < one.high
    assert one.seconds(one.steps) == pytest.approx(2 + 2000 * 0.0105, rel=0.01)
    gpu = one.start.gpu.seconds.value + (one.steps - 1) * one.step.gpu.seconds.value
    assert one.seconds(one.steps) == pytest.approx(gpu, rel=1e-6)
    assert total_ratio(one.start, one.step, one.steps).value == pytest.approx(1)


@pytest.mark.parametrize(
    ("sides", "steps"),
    [
        ({"gpu_cold": 1.0}, 1),  # it starts sooner and steps faster
        ({"gpu_step": 0.02}, math.inf),  # it starts later and steps slower
        ({"gpu_cold": 1.0, "gpu_step": 0.02}, math.inf),  # the CPU overtakes it
    ],
)
def test_at_once_and_never_are_answers(sides, steps):
    one = found(records(changed(**sides)))
    assert (one.steps, one.low, one.high) == (steps, steps, steps)


def test_an_end_of_the_interval_may_be_at_once_or_never():
    unsure = found(records(changed(gpu_step=0.01045), (1.0, 1.3, 0.8)))
    assert unsure.high == math.inf
    soon = found(records(changed(gpu_cold=2.1), (1.0, 1.3, 0.8)))
    assert soon.low == 1


def test_one_host_has_no_interval():
    one = found(records(hosts=(1.0,)))
    assert (one.low, one.high) == (None, None)
    assert break_even.when(one) == "after 2,000 steps, 23.1 s"


@pytest.mark.parametrize("sides", [{}, {"gpu_step": 0.008}, {"gpu_cold": 3.0}], ids=["late", "near", "soon"])
def test_the_intervals_of_steps_and_seconds_hold_the_truth(sides):
    draw, true, held, trials = random.Random(1), changed(**sides), [0, 0], 60
    extra, gain = true["gpu", "cold"] - true["cpu", "cold"], true["cpu", "step"] - true["gpu", "step"]
    steps = 1 + extra / gain
    seconds = true["cpu", "cold"] + (steps - 1) * true["cpu", "step"]
    for _ in range(trials):
        made = []
        for host in range(3):
            of_host = {side: value * math.exp(draw.gauss(0, 0.05)) for side, value in true.items()}
            (each,) = {one.campaign: one for one in records(of_host, (1.0,))}
            runs = {
                side: tuple(
                    msgspec.structs.replace(factory.run(place, value * math.exp(draw.gauss(0, 0.01)) / 1.004),
                                            host=f"{host:016x}")
                    for place in range(3)
                )
                for side, value in of_host.items()
            }  # fmt: skip
            for one in records(of_host, (1.0,)):
                same = runs[one.backend, one.case.scope]
                made.append(msgspec.structs.replace(one, campaign=f"{each}{host}", runs=same, digest=""))
        one = found(made)
        held[0] += one.low <= steps <= one.high
        held[1] += one.seconds(one.low) <= seconds <= one.seconds(one.high)
    assert min(held) >= 0.93 * trials, held


def test_a_warm_cache_and_another_way_are_rows_of_their_own():
    warm = {key: value for key, value in changed(gpu_cold=3.0, cpu_cold=1.0).items() if key[1] == "cold"}
    tutorial = changed(gpu_step=0.004)
    every = [*records(), *records(warm, cache="warm"), *records(tutorial, variant="nnx-jit")]
    reading = read(every)
    assert [(row[1].text, row[2].text) for row in reading.tables[0].rows] == [
        ("plain", "warm"),
        ("plain", "empty"),
        ("nnx-jit", "empty"),
    ]
    assert [answer.partition(" steps, ")[0] for answer in reading.answers] == [
        "With no compile cache the GPU has won back its start after 2,000 (mnist_mlp)",
        "With a warm compile cache the GPU has won back its start after 202 (mnist_mlp)",
        "With no compile cache in way nnx-jit the GPU has won back its start after 3,080 (mnist_mlp)",
    ]
    page = break_even.sentence(break_even.break_evens(of_one_machine(every).speedups))
    assert page.startswith("after 2,000 steps (")
    assert "; with a warm compile cache after 202 steps (" in page
    assert "; in way nnx-jit after 3,080 steps (" in page
    assert [point.series for point in reading.chart.points] == [
        "a warm compile cache",
        "no compile cache",
        "no compile cache",
    ]


@pytest.mark.parametrize(
    ("sides", "words"),
    [({"gpu_cold": 1.0}, "at once"), ({"gpu_step": 0.02}, "never")],
)
def test_the_answer_says_at_once_and_never(sides, words):
    reading = read(records(changed(**sides)))
    assert reading.answers == (
        f"With no compile cache the GPU has won back its start {words} in mnist_mlp. Not to be quoted yet.",
    )
    assert [cell.text for cell in reading.tables[0].rows[0][7:11]] == [words, words, "–", "–"]
    assert bool(reading.chart) == (words == "at once")


def test_one_sentence_tells_the_range_of_all_models_and_when_it_turns():
    reading = read(
        records(), records(changed(gpu_cold=4.0), name="mnist_cnn"), records(changed(gpu_step=0.02), name="other")
    )
    assert reading.answers == (
        "With no compile cache the GPU has won back its start after 202 (mnist_cnn) to 2,000 (mnist_mlp) steps, 4.12 s "
        "(mnist_cnn) to 23.1 s (mnist_mlp); never in other. A shorter run is faster on the CPU. Not to be quoted yet.",
    )
    assert [row[0].text for row in reading.tables[0].rows] == ["mnist_cnn", "mnist_mlp", "other"]


def test_the_fewest_steps_may_take_the_longest():
    slow = {side: 10 * value for side, value in changed(gpu_cold=4.0).items()}
    answer = read(records(), records(slow, name="mnist_cnn")).answers[0]
    assert " after 202 (mnist_cnn) to 2,000 (mnist_mlp) steps, 23.1 s (mnist_mlp) to 41.2 s (mnist_cnn)." in answer


def test_without_a_certificate_it_may_not_be_quoted_and_the_row_says_why():
    reading = read(records())
    assert reading.answers[0].endswith(" A shorter run is faster on the CPU. Not to be quoted yet.")
    assert reading.tables[0].rows[0][-2].text == "open"
    assert "step: certificate open" in reading.tables[0].rows[0][-2].remark


def test_each_side_starts_with_and_without_a_cache_and_trees_have_one_way():
    about = [factory.description(), factory.description("gbdt_mortgage", family="trees")]
    made = break_even.cases(about, BOTH)
    assert len(made) == 2 * 2 * 3 + 2 * 3
    cold = [case for case in made if case.scope == "cold"]
    assert {(case.backend, case.allocator) for case in cold} == {("cpu", "default-malloc"), ("gpu", "tuned-malloc")}
    assert {case.cache for case in cold} == {"empty", "warm"}
    assert {case.variant for case in made if case.workload == "gbdt_mortgage"} == {"plain"}


def test_without_a_start_there_is_no_answer():
    assert break_even.read(of_one_machine([one for one in records() if one.case.scope == "step"])) is None


def test_cpu_times_that_other_machines_share_are_said_so():
    other = msgspec.structs.replace(factory.KNOWN, name="another of this CPU")
    alone = records(machine=factory.KNOWN)
    starts = [one for one in factory.on_hosts(records(machine=other), (1.0,) * 12)[9:] if one.backend == "cpu"]
    assert read(alone).tables[0].notes == ()
    assert read(alone, starts).tables[0].notes == (
        "CPU times also count the hosts of other machines with the same CPU.",
    )
