"""How much processes differ, pooled over cells: what luck cannot narrow and one wild cell cannot widen."""

import math
from pathlib import Path

import factory
import msgspec
import numpy as np
import pytest

from suite.results.pooled import spreads
from suite.results.pooled.spreads import Published, half_width, nearest, pooled, shipped, table
from suite.results.records import store

PUBLISHED = Path(__file__).parents[1] / "site" / "records"
EVEN, UNEVEN = (0.0100, 0.0101, 0.0099), (0.010, 0.014, 0.018)
CPU, GPU = ("cpu", "step"), ("gpu", "step")


def kind_of_machine(
    spread, backend="cpu", scope="step", model="Test CPU", cores=16, gpus=(factory.H100.name,), cells=9
):
    return Published(cpu_model=model, cores=cores, gpus=gpus, backend=backend, scope=scope, spread=spread, cells=cells)


@pytest.fixture
def alone(monkeypatch):
    """Let nothing be published."""
    monkeypatch.setattr(spreads, "nearest", lambda machine, wanted: None)


@pytest.mark.parametrize("true", [0.02, 0.1])
def test_many_cells_of_few_processes_tell_the_spread_that_they_have(true):
    drawn = np.exp(np.random.default_rng(0).normal(0, true, (2000, 3)))
    assert pooled(drawn.tolist()) == pytest.approx(true, rel=0.05)


def test_a_cell_of_one_process_tells_nothing():
    assert pooled([[1.0], [2.0]]) is None
    assert pooled([[1.0], [2.0]], stand_in=0.07) == pytest.approx(0.07)
    assert pooled([[1.0, 1.1], [2.0]]) == pooled([[1.0, 1.1]])


def test_a_cell_counts_as_often_as_it_has_degrees_of_freedom():
    pair, three = [1.0, 1.01], [1.0, 2.0, 4.0]
    calm, wild = pooled([pair]), pooled([three])
    assert pooled([pair, pair, three]) == pytest.approx(math.sqrt((calm**2 + wild**2) / 2))


@pytest.mark.parametrize("processes", [3, 30])
def test_one_wild_cell_does_not_widen_its_kind(processes):
    calm = [[1.0, 1.01, 0.99], [2.0, 2.01, 2.02], [3.0, 3.02, 2.99]]
    wild = [1.0 + n % 4 for n in range(processes)]
    assert pooled([*calm, wild]) < 0.02
    assert pooled([calm[0], wild], stand_in=0.01) < 0.02


def test_two_equal_processes_are_not_certain(alone):
    found = spreads.spreads(
        [factory.record(step_seconds=(0.01, 0.01)), factory.record("b", step_seconds=UNEVEN)], factory.HOST
    )
    assert found.of("cpu", "step", (0.01, 0.01)) == found.pooled[CPU] > 0.1


def test_a_cell_that_differs_more_by_itself_is_wider_the_more_the_more_often_it_did(alone):
    records = [factory.record(name, step_seconds=EVEN) for name in "abcd"]
    found = spreads.spreads(records, factory.HOST)
    common = found.pooled[CPU]
    three, nine = (found.of("cpu", "step", UNEVEN * times) for times in (1, 3))
    own = float(np.std(np.log(UNEVEN), ddof=1))
    assert common < three < nine < own
    assert found.of("cpu", "step", EVEN) == found.of("cpu", "step", [0.01]) == common


def test_the_pooled_spread_counts_as_four_degrees_of_freedom_beside_a_cell_s_own():
    found = spreads.Spreads(pooled={CPU: 0.1}, borrowed=frozenset())
    pair = (1.0, math.exp(0.6))  # of variance 0.18
    assert found.of("cpu", "step", pair) == pytest.approx(math.sqrt((4 * 0.01 + 0.18) / 5))


def test_where_nothing_is_known_or_published_there_is_no_spread(alone):
    assert spreads.spreads([factory.record(step_seconds=(0.01,))], factory.HOST).pooled == {CPU: 0.0}


def test_a_half_width_shrinks_with_processes_and_none_know_nothing():
    assert half_width(0.1, 0) == math.inf
    assert half_width(0.1, 4) == pytest.approx(math.expm1(0.1))
    assert half_width(0.1, 16) < half_width(0.1, 4) < half_width(0.2, 4)


def test_what_stands_in_is_marked_until_a_cell_of_the_kind_has_two_processes(monkeypatch):
    monkeypatch.setattr(spreads, "nearest", lambda machine, wanted: {CPU: 0.05, GPU: 0.05}[wanted])
    once, twice = factory.record(step_seconds=(0.01,)), factory.record(step_seconds=(0.01, 0.0101))
    gpu, serve = factory.record(backend="gpu", step_seconds=(0.01,)), factory.record(scope="serve", step_seconds=(1.0,))
    assert spreads.spreads([once, gpu], factory.HOST).borrowed == {CPU, GPU}
    found = spreads.spreads([twice, gpu, serve], factory.HOST)
    assert found.borrowed == {GPU}, "a served network is steady state like a step"
    assert found.pooled[GPU] == pytest.approx(0.05)
    assert found.pooled[CPU] == pytest.approx(0.05), "one pair is not enough to go by"


def test_the_nearest_kind_of_machine_is_that_of_the_card_on_a_gpu_and_of_the_model_on_a_cpu():
    among = (
        kind_of_machine(0.1),
        kind_of_machine(0.2, cores=4),
        kind_of_machine(0.3, model="Other CPU"),
        kind_of_machine(0.4, backend="gpu", model="Other CPU", cores=2),
        kind_of_machine(0.5, backend="gpu", gpus=("Other card",)),
        kind_of_machine(0.6, scope="cold"),
    )
    assert [nearest(factory.HOST, wanted, among) for wanted in (CPU, GPU, ("cpu", "cold"))] == [0.1, 0.4, 0.6]
    assert nearest(factory.PLAIN, CPU, among) == 0.2
    assert nearest(msgspec.structs.replace(factory.PLAIN, cpu_model="New"), CPU, among) == 0.2
    assert nearest(factory.PLAIN, GPU, among) in {0.4, 0.5}, "a machine without a card has none that is nearer"
    assert nearest(factory.HOST, ("cpu", "run"), among) is None
    two = kind_of_machine(0.7, backend="gpu", gpus=(factory.H100.name,) * 2)
    assert nearest(factory.HOST, GPU, (among[4], two)) == 0.7, "two of a card are of that card"
    assert nearest(factory.HOST, CPU, (kind_of_machine(0.1, cells=2), kind_of_machine(0.2, cells=3))) == 0.2
    unknown = msgspec.structs.replace(factory.HOST, cores=0)
    assert nearest(unknown, CPU, (kind_of_machine(0.1, cores=2), kind_of_machine(0.2, cores=1))) == 0.2


def test_baselines_smoke_and_single_processes_are_in_no_table():
    made = [
        factory.record(step_seconds=EVEN),
        factory.record(scope="transfer", step_seconds=EVEN[:2]),
        factory.record("b", step_seconds=(0.01,)),
        factory.record(implementation="torch", step_seconds=UNEVEN),
        factory.record(profile="smoke", step_seconds=UNEVEN),
    ]
    (found,) = table(made)
    assert (found.backend, found.scope, found.cells, found.cores) == ("cpu", "step", 2, 16)
    assert found.spread < 0.02


@pytest.fixture(scope="session")
def published_records():
    return store.load([PUBLISHED])[0]


def test_the_spreads_that_are_shipped_are_those_of_the_published_records(published_records):
    assert shipped() == table(published_records), "suite publish writes suite/results/pooled/spreads.json anew"


def test_every_usual_scope_has_a_published_spread_on_any_machine():
    for backend in ("cpu", "gpu"):
        for scope in ("step", "cold"):
            assert 0.001 < nearest(factory.PLAIN, (backend, scope)) < 0.5
