"""JAX beside its baselines: the fastest way counts, every way is named, and the mean is over networks."""

import factory
import pytest
from msgspec.structs import replace

from suite import units
from suite.report.parts import frameworks, one_campaign, tables
from suite.results.pooled.baselines import baseline_comparisons
from suite.results.pooled.speedup import pooled_speedups
from suite.results.single.paired_speedup import speedups

JAX = (0.010, 0.0101, 0.0099)


def times(seconds):
    return [seconds * t / 0.010 for t in JAX]


def side(implementation="jax", seconds=0.010, workload="mnist_mlp", **axes):
    return factory.record(workload, step_seconds=times(seconds), implementation=implementation, **axes)


def table_of(records):
    (table,) = frameworks.baseline_tables(baseline_comparisons(records))
    return table


def cell(table, column, row=0):
    return table.rows[row][table.columns.index(column)]


def test_the_fastest_way_of_any_baseline_counts_and_every_way_is_named():
    table = table_of([side(), side("torch", 0.012), side("torch", 0.009, variant="compile"), side("keras", 0.02)])
    assert (cell(table, "fastest baseline").text, cell(table, "ratio").text) == ("torch compile", "0.900x")
    assert cell(table, "every way").text == "torch compile: 0.900x; torch eager: 1.20x; keras: 2.00x"
    assert cell(table, "every way").remark == ""


def test_ways_that_were_not_timed_are_named_by_step_and_below_the_table():
    table = table_of([side(), side("torch")])
    assert cell(table, "every way").remark == "not timed: torch compile, keras"
    assert table.notes == ("Not timed, and may be faster: torch compile in 1 of 1 steps, keras in 1 of 1 steps.",)


def test_a_step_without_a_baseline_has_no_row():
    assert frameworks.baseline_tables(baseline_comparisons([side()])) == ()


def test_a_ratio_is_of_so_many_hosts():
    table, _ = frameworks.baseline_tables(baseline_comparisons([*factory.hosts(4), *factory.campaign(("mnist_mlp",))]))[
        :2
    ]
    assert cell(table, "hosts").text == "4"
    assert cell(table, "95 % interval").text != "–"


def networks(*ratios, **changes):
    made = []
    for place, ratio in enumerate(ratios):
        about = replace(factory.description(f"net{place}", parameters=1000 + place), **changes)
        made += [side(name, 0.01 * over, about.name, about=about) for name, over in (("jax", 1), ("torch", ratio))]
    return made


def test_the_geometric_mean_is_over_networks():
    assert table_of(networks(2.0, 0.5, 8.0)).notes[0] == "Geometric mean over 3 networks: 2.00x."


def test_networks_that_have_the_same_counts_are_one():
    same = networks(2.0, 8.0)
    twin = [replace(r, workload="twin", case=replace(r.case, workload="twin"),
                    description=replace(r.description, name="twin")) for r in networks(0.5)]  # fmt: skip
    assert table_of([*same, *twin]).notes[0].startswith("Geometric mean over 2 networks: 2.83x. Workloads that differ")


@pytest.mark.parametrize("family", ["trees", "data parallel"])
def test_the_data_parallel_model_and_trees_do_not_count(family):
    assert not any("mean" in note for note in table_of(networks(2.0, 3.0, family=family)).notes)


def test_the_terminal_has_fewer_columns():
    records = [side(), side("torch", 0.009)]
    (table,) = frameworks.for_terminal(records, factory.HOST.slug)
    assert table.columns == ("model", "JAX step", "fastest baseline", "its step", "ratio", "95 % interval")
    assert frameworks.for_terminal(records, "another") == ()


def test_the_page_shows_every_machine():
    page = factory.pages([side(), side("torch"), side(machine=factory.PLAIN), side("torch", machine=factory.PLAIN)]
                         )["standing.md"]  # fmt: skip
    assert page.count("<h2 ") == 2


def test_the_title_names_the_frameworks_that_were_timed_and_a_way_its_layout():
    page = factory.pages([side(), side("torch"), side("torch", 0.009, layout="channels-first")])["standing.md"]
    assert "<h1>JAX against PyTorch</h1>" in page
    assert "torch eager, channels-first: 0.9" in page
    assert "<h1>JAX against other frameworks</h1>" in factory.pages([side()])["standing.md"]


def test_a_speed_up_has_the_better_allocator_on_its_cpu_side_too():
    records = [
        side(seconds=0.010),
        side(seconds=0.008, allocator="default-malloc"),
        side(backend="gpu", seconds=0.0002),
    ]
    (found,) = speedups(records)
    assert found.ratio.value == pytest.approx(40)


def test_the_page_without_a_comparison_says_how_to_get_one():
    assert "nox -s control" in factory.pages([side()])["standing.md"]


def test_every_speed_up_on_the_site_names_its_fastest_baseline():
    made = factory.pages(factory.campaign())
    for page in ("index.md", "machines/test-gpu-16-cores.md", "workloads/mnist_mlp.md"):
        assert "0.900x torch eager" in made[page]
        assert "1.20x torch graph" in made[page]


def test_a_speed_up_of_another_way_is_not_taken_for_the_headline():
    fast = [side(variant="scan"), side(backend="gpu", seconds=0.0001, variant="scan")]
    wide = [side(devices=2), side(backend="gpu", seconds=0.0001, devices=2)]
    table = tables.speedup_table(pooled_speedups([*fast, *wide]))
    assert {row[0].text for row in table.rows} == {"mnist_mlp scan", "mnist_mlp on 2 devices"}
    assert not any(record.headline_step() for record in (*fast, *wide))


def test_another_batch_is_not_taken_for_the_headline_but_stands_beside_other_hosts():
    batch = {"batch": 4096}
    mine, gpu = side(machine=factory.PLAIN, **batch), side(backend="gpu", seconds=0.0002, **batch)
    assert not any(record.headline_step() for record in (mine, gpu))
    assert tables.elsewhere([mine, gpu], factory.PLAIN.slug).rows
    assert not tables.elsewhere([mine, side(backend="gpu", seconds=0.0002)], factory.PLAIN.slug).rows


def test_beside_another_host_the_better_allocator_stands_alone():
    mine = [
        side(seconds=s, allocator=a, machine=factory.PLAIN)
        for s, a in ((0.01, "tuned-malloc"), (0.008, "default-malloc"))
    ]
    (row,) = tables.elsewhere([*mine, side(backend="gpu", seconds=0.0002)], factory.PLAIN.slug).rows
    assert row[3].sort == pytest.approx(40)


def test_a_speed_up_of_one_process_says_so():
    pair = [factory.record(backend=side, step_seconds=[t]) for side, t in (("cpu", 2.0), ("gpu", 1.0))]
    (row,) = one_campaign.table(pair).rows
    assert (row[-1].text, row[5].text) == (units.DASH, units.DASH)
