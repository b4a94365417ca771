"""What the terminal says of a campaign: its processes, and what it still takes by its journal and those that ended."""

from pathlib import Path

import factory
import msgspec
import pytest

from suite.measure import campaign
from suite.measure.estimate import first_seconds, process_seconds
from suite.measure.profiles import EFFORTS
from suite.measure.remaining import Remaining
from suite.results import store
from suite.results.journal import Done, Header
from suite.workload import Case

PUBLISHED = Path(__file__).parents[1] / "site" / "records"
ROUNDS = 3
ABOUT = factory.description()
GPU = Case(workload="mnist_mlp", backend="gpu", scope="step", batch=128)
CPU = Case(workload="mnist_mlp", backend="cpu", scope="step", batch=128)
HEADER = Header(
    campaign="20260101-000000-test",
    created="2026-01-01T00:00:00Z",
    profile="quick",
    rounds=ROUNDS,
    seed=0,
    machine=factory.HOST,
    commit="",
    cases=(GPU, CPU),
    descriptions=(ABOUT,),
)


def ended(case: Case, number: int, reason: str = "") -> Done:
    return Done(case=case, software=factory.record().software, run=factory.run(number, 1e-3, reason=reason))


def guess(case: Case) -> float:
    return process_seconds((case,), ABOUT, EFFORTS["quick"], factory.HOST.cores)


def test_before_its_first_process_a_campaign_takes_what_its_processes_are_guessed_to_take():
    remaining = Remaining(HEADER, ())
    assert (remaining.planned, remaining.processes) == (2 * ROUNDS, 2 * ROUNDS)
    assert remaining.seconds == pytest.approx(ROUNDS * (guess(GPU) + guess(CPU)) + first_seconds((GPU,), ABOUT))


def test_the_first_process_on_a_gpu_chooses_kernels_for_the_others():
    remaining = Remaining(HEADER, ())
    remaining.ends((GPU,), first_seconds((GPU,), ABOUT) + 7.0, failed=False)
    assert remaining.seconds == pytest.approx((ROUNDS - 1) * 7.0 + ROUNDS * guess(CPU))
    remaining.ends((GPU,), 5.0, failed=False)
    assert remaining.seconds == pytest.approx((ROUNDS - 2) * 5.0 + ROUNDS * guess(CPU))


@pytest.mark.parametrize("variant", ["compile", "compile-graph"])
def test_every_process_of_torch_compile_compiles_for_half_a_minute(variant):
    eager, graph = (msgspec.structs.replace(GPU, implementation="torch", variant=name) for name in ("plain", "graph"))
    assert guess(graph) == guess(eager)
    assert guess(msgspec.structs.replace(eager, variant=variant)) > guess(eager) + 20


@pytest.mark.parametrize("scope", ["cold", "run", "calls"])
def test_a_scope_in_which_compiling_counts_chooses_kernels_in_each_process(scope):
    cpu, gpu = ((Case(workload="mnist_mlp", backend=side, scope=scope, batch=128),) for side in ("cpu", "gpu"))
    assert first_seconds(gpu, ABOUT) == 0.0 < first_seconds((GPU,), ABOUT)
    plain = Case(workload="mnist_mlp", backend="gpu", scope=scope, batch=128, implementation="torch")
    assert guess(gpu[0]) == pytest.approx(guess(plain) + first_seconds((GPU,), ABOUT))
    assert first_seconds(cpu, ABOUT) == 0.0
    warm = (msgspec.structs.replace(gpu[0], cache="warm"),)
    assert first_seconds(warm, ABOUT) == first_seconds((GPU,), ABOUT), (
        "the process that fills the cache chooses for all"
    )


@pytest.mark.parametrize("name", ["20261127-030931-h100-80gb-16-cores", "20261125-200624-intel-xeon-2-cores"])
def test_a_search_is_guessed_within_a_factor_of_two_of_what_it_took(name):
    searches = list(map(store.read, (PUBLISHED / name).glob("*.run*.json")))
    assert searches
    for record in searches:
        told = process_seconds((record.case,), record.description, EFFORTS[record.profile], record.machine.cores)
        assert 0.5 < record.runs[0].samples[0].wall_seconds / told < 2


def test_what_is_resumed_has_only_the_rest_before_it():
    remaining = Remaining(HEADER, [ended(GPU, 0), ended(CPU, 0), ended(GPU, 1)])
    assert (remaining.planned, remaining.processes) == (2 * ROUNDS, 3)
    assert remaining.seconds == pytest.approx(guess(GPU) + 2 * guess(CPU))


def test_what_failed_is_not_tried_again():
    remaining = Remaining(HEADER, [ended(CPU, 0, reason="out of memory")])
    assert remaining.processes == ROUNDS
    remaining.ends((GPU,), 9.0, failed=True)
    assert (remaining.processes, remaining.seconds) == (0, 0.0)


def test_a_campaign_knows_units_by_the_case_they_begin_with():
    cases = tuple(Case(workload="mnist_mlp", backend="gpu", scope=scope, batch=128) for scope in ("step", "transfer"))
    (unit,) = campaign.units(cases)
    header = msgspec.structs.replace(HEADER, cases=cases)
    assert Remaining(header, [ended(unit[0], 0), ended(unit[1], 0)]).processes == ROUNDS - 1


def test_a_process_of_another_batch_than_the_headline_says_so():
    other = msgspec.structs.replace(GPU, batch=1024, workers=2)
    about = factory.description()
    assert GPU.label(about) == "gpu jax"
    assert other.label(about) == "gpu jax batch 1,024 2 workers"
    assert other.label() == "gpu jax 2 workers"


def test_data_are_told_where_they_are_not_the_workloads_usual_ones():
    random = msgspec.structs.replace(GPU, data="random")
    assert random.label(factory.description()) == "gpu jax random data"
    assert random.label(factory.description(data="random")) == "gpu jax"
    assert random.ways() == ("random data",)
