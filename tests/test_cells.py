"""What a browser gets of published times: one cell for each machine, case and version, with the pool's moments."""

import json
import math

import factory
import msgspec
import pytest

from suite.results.compare import cells
from suite.results.pooled import pools
from suite.results.pooled.grouping import case_of
from suite.results.records.store import sealed
from suite.results.stats.pooling import moments
from suite.results.stats.variance_components import logarithms, of_cell


def listed(records):
    every = pools.pools(records)
    return cells.cells(every, pools.current(every))


def of_version(version, **changes):
    return [
        sealed(msgspec.structs.replace(
            r, digest="", software=msgspec.structs.replace(r.software, packages={"jax": version, "torch": version})))
        for r in factory.hosts(**changes)
    ]  # fmt: skip


def one(records, backend="gpu"):
    return next(cell for cell in listed(records) if cell.case.backend == backend and cell.way == "jax")


def test_a_cell_has_the_moments_of_its_pool():
    cell = one(factory.hosts())
    words, figures = cell.plain()[:8], cell.plain()[8:]
    among = of_cell(logarithms(cell.pool.cell), cell.pool.among)
    centre, error2, further2, degrees = moments(cell.pool.cell, cell.pool.among)
    assert words == ["test-gpu-16-cores", "mnist_mlp", "gpu", "step", "jax", "", "jax 0.12.0, method 1", 1]
    assert figures[:5] == pytest.approx([centre, error2, among.tau2, among.sigma2, degrees], rel=1e-8)
    assert figures[2] + figures[3] == pytest.approx(further2)
    assert figures[5:] == [3, 9]


def test_each_version_has_a_cell_and_one_of_them_is_current():
    old, new = of_version("0.11.0"), of_version("0.12.0", day=2)
    found = [(c.version, c.current) for c in listed([*old, *new]) if c.case.backend == "gpu"]
    assert found == [("jax 0.11.0, method 1", False), ("jax 0.12.0, method 1", True)]


def test_of_two_programs_of_one_version_the_current_pool_is_the_cell():
    few = factory.hosts(count=1, day=2, program="0000000000000000")
    many = factory.hosts()
    (cell,) = [c for c in listed([*few, *many]) if c.case.backend == "gpu"]
    assert (cell.current, cell.pool.hosts) == (True, 3)


def test_the_allocator_is_no_setting_and_the_one_with_more_hosts_counts():
    tuned, other = factory.hosts(count=3), factory.hosts(count=2, day=2)
    other = [
        sealed(msgspec.structs.replace(r, digest="", case=msgspec.structs.replace(r.case, allocator="default-malloc")))
        for r in other if r.backend == "cpu"
    ]  # fmt: skip
    found = [c for c in listed([*tuned, *other]) if c.case.backend == "cpu" and c.way == "jax"]
    assert [(c.setting, c.pool.hosts) for c in found if c.current] == [("", 3)]


def test_models_that_are_not_documented_have_no_cell():
    about = msgspec.structs.replace(factory.description(), family="ceiling")
    hidden = [sealed(msgspec.structs.replace(r, digest="", description=about)) for r in factory.hosts()]
    assert listed(hidden) == []


@pytest.mark.parametrize(
    ("axes", "setting"),
    [({}, ""), ({"batch": 256}, "batch 256"), ({"precision": "tf32", "devices": 2}, "precision tf32, devices 2"),
     ({"variant": "scan"}, "")],
)  # fmt: skip
def test_a_setting_names_what_is_not_usual_but_for_the_way(axes, setting):
    record = factory.record(backend="gpu", **axes)
    assert cells.setting_of(record, case_of(record)) == setting


@pytest.mark.parametrize(
    ("share", "spread", "verdict"),
    [(2.0, 0.001, "slower"), (0.5, 0.001, "faster"), (1.0, 0.001, "inside the range of the next host")],
)
def test_the_second_is_judged_beside_the_first(share, spread, verdict):
    first = one(factory.hosts(spread=spread)).pool
    second = one(factory.hosts(spread=spread, gpu=0.001 * share)).pool
    assert cells.verdict(first, second) == verdict
    assert cells.ratio(first, second).value == pytest.approx(1 / share)


def test_beyond_the_range_and_short_of_a_change_is_not_separated():
    first, second = one(factory.hosts(count=9, spread=0.02)), one(factory.hosts(count=9, spread=0.02, gpu=0.001))
    far = math.exp(6 * max(math.sqrt(moments(c.pool.cell, c.pool.among)[1]) for c in (first, second)))
    assert cells.verdict(first.pool, second.pool) == "inside the range of the next host"
    assert cells.verdict(first.pool, one(factory.hosts(count=9, spread=0.02, gpu=0.001 * far)).pool) == "slower"
    alone = one(factory.hosts(count=1)).pool
    assert cells.verdict(alone, alone) == "undecided"


def test_a_document_lists_each_word_once():
    document = cells.document(listed(factory.hosts()), {"mnist_mlp": "A title"})
    assert len(document["words"]) == len(set(document["words"]))
    assert document["titles"] == {"mnist_mlp": "A title"}
    assert document["machines"] == {"test-gpu-16-cores": "test-gpu, 16 cores"}
    names = [[document["words"][place] for place in cell[:7]] for cell in document["cells"]]
    assert [name[2] for name in names] == ["cpu", "cpu", "gpu"]
    assert json.loads(document["kinds"]["test-gpu-16-cores cpu"]) == ["A maker family 6 model 207", 16, None]


def test_a_kind_of_gpu_has_its_cards_and_their_limits():
    card = msgspec.structs.replace(factory.H100, power_limit_watts=700.0)
    machine = msgspec.structs.replace(factory.KNOWN, gpus=(card, factory.H100), virtual=True)
    kind = json.loads(cells.kind_text(machine, "gpu"))
    assert kind[1:] == [16, True, [card.name, "", "700"], [card.name, "", ""]]
    unknown = msgspec.structs.replace(factory.HOST, cpu_model="AMD EPYC")
    assert json.loads(cells.kind_text(unknown, "cpu")) == ["AMD EPYC|test-gpu-16-cores", 16, None]
