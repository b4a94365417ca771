"""A speed-up is of two sides that computed the same, or it is invalid."""

import factory
import msgspec
import pytest

from suite.results.pooled.speedup import pooled_speedups
from suite.results.records.run import Audit, Replay
from suite.results.single.paired_speedup import disagreements, speedups


def replayed(second):
    losses = {"first": 2.3, "once": 2.3, "twice": second, "together": second, "other_inputs": 2.2, "other_seed": 2.4}
    return Audit(cores=16, replay=Replay(**losses))


def sides(backends=("cpu", "gpu"), gpu=None, **axes):
    """Return a CPU's and a GPU's record, each with two rounds; `gpu` are what the runs of the second have otherwise."""
    found = []
    for backend, changes in zip(backends, ({}, gpu or {}), strict=True):
        runs = [factory.run(number, 0.01, **{"input_digest": "d", **changes}) for number in range(2)]
        precision = {"precision": axes["precision"]} if backend == "gpu" and "precision" in axes else {}
        others = {name: value for name, value in axes.items() if name != "precision"}
        found.append(factory.record(backend=backend, runs=tuple(runs), step_seconds=(0.01,) * 2, **others, **precision))
    return found


def said(**options):
    return list(disagreements(*sides(**options)))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, None),
        ({"first_loss": 2.3 * (1 + 0.9e-4)}, None),
        ({"first_loss": 2.3 * (1 - 1.1e-4)}, "the first loss is 2.3 on the CPU and 2.29975 on the GPU"),
        ({"first_loss": 2.3 * (1 + 1.1e-4)}, "the first loss is 2.3 on the CPU and 2.30025 on the GPU"),
        ({"first_loss": None}, None),
        ({"input_digest": "e"}, "the sides had other inputs"),
        ({"reason": "out of memory", "first_loss": 9.0}, None),
    ],
)
def test_both_sides_have_the_same_inputs_and_the_same_first_loss(changes, words):
    assert said(gpu=changes) == ([f"round {number}: {words}" for number in (1, 2)] if words else [])


def test_a_process_of_the_cpu_that_failed_is_compared_with_none():
    cpu, gpu = sides()
    failed = msgspec.structs.replace(cpu.runs[0], reason="out of memory", first_loss=9.0)
    assert list(disagreements(msgspec.structs.replace(cpu, runs=(failed, *cpu.runs[1:])), gpu)) == []


def test_a_replay_of_one_side_alone_says_nothing():
    cpu, gpu = sides()
    alone = msgspec.structs.replace(gpu.runs[0], audit=replayed(9.0))
    assert list(disagreements(cpu, msgspec.structs.replace(gpu, runs=(alone, *gpu.runs[1:])))) == []


def test_rounds_that_one_side_lacks_say_nothing():
    cpu, gpu = sides(gpu={"first_loss": 9.0})
    later = msgspec.structs.replace(
        gpu, runs=tuple(msgspec.structs.replace(run, round=run.round + 1) for run in gpu.runs)
    )
    assert [words[:8] for words in disagreements(cpu, later)] == ["round 2:"]


@pytest.mark.parametrize(("second", "differ"), [(2.0 * 1.009, False), (2.0 * 1.011, True), (2.0 * 0.989, True)])
def test_the_loss_after_an_update_may_differ_by_what_rounding_grows_to(second, differ):
    cpu, gpu = sides()
    cpu, gpu = (
        msgspec.structs.replace(
            record, runs=(msgspec.structs.replace(record.runs[0], audit=replayed(loss)), *record.runs[1:])
        )
        for record, loss in ((cpu, 2.0), (gpu, second))
    )
    words = [f"round 1: the second loss is 2 on the CPU and {second:.6g} on the GPU"]
    assert list(disagreements(cpu, gpu)) == (words if differ else [])


def test_the_first_call_of_several_steps_has_updates_before_its_loss():
    assert said(gpu={"first_loss": 2.3 * 1.009}, variant="scan") == []
    assert len(said(gpu={"first_loss": 2.3 * 1.011}, variant="scan")) == 2


@pytest.mark.parametrize("axes", [{"precision": "bfloat16"}, {"scope": "run"}])
def test_a_lower_precision_and_the_end_of_a_training_have_losses_of_their_own(axes):
    assert said(gpu={"first_loss": 9.0}, **axes) == []


def test_a_speed_up_of_sides_that_did_not_compute_the_same_is_invalid_and_may_not_be_quoted():
    (sound,) = speedups(sides())
    (other,) = speedups(sides(gpu={"first_loss": 2.4}))
    assert (sound.state, other.state) == ("open", "invalid")
    assert other.reasons[0] == "not the same: round 1: the first loss is 2.3 on the CPU and 2.4 on the GPU"
    assert [item.state for item in pooled_speedups(sides(gpu={"first_loss": 2.4}))] == ["invalid"]
