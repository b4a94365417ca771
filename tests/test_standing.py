"""How JAX stands: the best peer's time over JAX's, each side at its better allocator, nothing made prettier."""

import itertools
import math
import statistics

import factory
import msgspec
import numpy as np
import pytest

from suite.report import one_campaign, pages, standing, tables
from suite.results.pooled_speedup import pooled_speedups
from suite.results.speedup import speedups
from suite.results.standing import overall, standings
from suite.results.statistics import geometric_mean, t_quantile
from suite.results.summary import worse

JAX = (0.010, 0.0101, 0.0099)


def times(seconds):
    return [seconds * t / 0.010 for t in JAX]


def side(implementation="jax", seconds=0.010, workload="mnist_mlp", **axes):
    return factory.record(workload, step_seconds=times(seconds), implementation=implementation, **axes)


def only(records):
    (found,) = standings(records)
    return found


def test_the_fastest_peer_in_its_fastest_way_counts_and_is_named():
    found = only(
        [
            side(),
            side("torch", 0.020),
            side("torch", 0.009, variant="compile", allocator="system"),
            side("keras", 0.012),
        ]
    )
    assert found.ratio.value == pytest.approx(0.9)
    assert tables.way(found.best_peer.record.case) == "torch compile, system allocator"
    assert len(found.peers) == 3


def test_every_way_stands_once_with_its_better_allocator_and_beneath_it_all_that_ran():
    ways = [("plain", "retaining", 0.012), ("plain", "system", 0.02), ("compile", "system", 0.009)]
    ways.append(("compile", "retaining", 0.018))
    records = [side(), *(side("torch", s, variant=v, allocator=a) for v, a, s in ways)]
    (table,) = standing.standing_tables(standings(records))
    cell = table.rows[0][-1]
    assert cell.text == "torch compile: 0.900x; torch eager: 1.20x"
    assert cell.remark == (
        "torch compile, system allocator: 0.900x; torch eager: 1.20x; torch compile: 1.80x; "
        "torch eager, system allocator: 2.00x"
    )


def test_ways_of_a_peer_that_were_not_timed_are_named():
    items = standings([side(backend="gpu"), side("torch", 0.02, backend="gpu", variant="graph")])
    assert items[0].untimed == ("torch eager", "torch compile", "torch compile-graph")
    (table,) = standing.standing_tables(items)
    assert table.rows[0][-1].remark == "not timed: torch eager, torch compile, torch compile-graph"
    assert "may be faster than the one shown: torch eager in 1 of 1 steps, torch compile in 1" in table.notes[-1]


def test_where_all_ways_were_timed_or_failed_to_run_the_table_says_which():
    timed = [
        side(),
        side("torch", 0.02),
        side("torch", 0.03, variant="compile"),
        side("keras", 0.02, allocator="system"),
    ]
    assert only(timed).untimed == ()
    (table,) = standing.standing_tables(standings(timed))
    assert not any("Not timed" in note for note in table.notes)
    failed = tuple(factory.run(r, 0.03, reason="no compiler") for r in range(3))
    broken = side("torch", 0.03, variant="compile", runs=failed)
    assert only([*timed[:2], timed[-1], broken]).untimed == ("torch compile",)


def test_an_allocator_that_no_peer_was_timed_with_is_named():
    kept = [side(), side(allocator="system"), side("torch", 0.02), side("torch", 0.03, variant="compile")]
    assert only(kept).untimed == ("the system allocator",)
    (table,) = standing.standing_tables(standings(kept))
    assert "than the one shown: the system allocator in 1 of 1 steps." in table.notes[-1]
    assert only([*kept, side("torch", 0.04, allocator="system")]).untimed == ()


def test_the_better_allocator_of_jax_counts():
    found = only([side(seconds=0.010), side(seconds=0.008, allocator="system"), side("torch", 0.008)])
    assert found.mine.record.case.allocator == "system"
    assert found.ratio.value == pytest.approx(1.0)


def test_a_faster_allocator_that_lacks_a_round_does_not_count():
    broken = side(seconds=0.001, allocator="system", runs=(factory.run(0, 0.001),))
    assert only([side(), broken, side("torch")]).mine.record.case.allocator == "retaining"


def test_a_speed_up_has_the_better_allocator_on_its_cpu_side_too():
    records = [side(seconds=0.010), side(seconds=0.008, allocator="system"), side(backend="gpu", seconds=0.0002)]
    (found,) = speedups(records)
    assert found.ratio.value == pytest.approx(40)


def test_what_was_not_compared_has_no_standing():
    assert standings([side(), side("torch", backend="gpu")]) == ()
    assert standings([side(), side("torch", campaign="another")]) == ()
    assert standings([side(batch=64), side("torch")]) == ()


def test_the_newest_campaign_counts():
    first = {"campaign": "a", "created": "2026-01-01T00:00:00Z"}
    second = {"campaign": "b", "created": "2026-01-02T00:00:00Z"}
    old, new = ([side(**when), side("torch", seconds, **when)] for when, seconds in ((first, 0.02), (second, 0.03)))
    assert only([*new, *old]).ratio.value == pytest.approx(3)


def compared(day, **ways):
    """Return one campaign's step of JAX and those of PyTorch by variant, in seconds."""
    when = {"campaign": f"{day}", "created": f"2026-01-0{day}T00:00:00Z"}
    jax = side(seconds=ways.pop("jax", 0.010), **when)
    return [jax, *(side("torch", seconds, variant=variant, **when) for variant, seconds in ways.items())]


def test_a_newer_campaign_that_left_the_fastest_way_out_does_not_count():
    full, fewer = compared(1, plain=0.020, compile=0.009), compared(2, plain=0.021)
    assert only([*full, *fewer]).ratio.value == pytest.approx(0.9)
    assert only([*fewer, *compared(3, plain=0.030)]).ratio.value == pytest.approx(3)


def test_a_newer_campaign_that_left_the_fastest_way_out_and_in_which_jax_does_worse_stands_below_the_table():
    full, worse, better = compared(1, plain=0.020, compile=0.009), compared(2, plain=0.007), compared(3, plain=0.012)
    found = only([*full, *worse, *better])
    assert (found.ratio.value, found.against.ratio.value) == (pytest.approx(0.9), pytest.approx(0.7))
    (table,) = standing.standing_tables([found])
    assert table.notes[-1].startswith("Newer campaigns that left the fastest way out, and in which JAX does worse: ")
    assert table.notes[-1].endswith("mnist_mlp 0.700x (0.700 to 0.700) beside torch eager, 2026-01-02.")
    assert only([*full, *better]).against is None
    assert only([*worse, *compared(3, plain=0.020, compile=0.009)]).against is None


def test_a_newer_campaign_that_left_a_slower_way_out_counts():
    full, fewer = compared(1, plain=0.020, compile=0.009), compared(2, compile=0.012)
    assert only([*full, *fewer]).ratio.value == pytest.approx(1.2)


def test_a_ratio_whose_own_interval_is_wide_is_unstable():
    mine, theirs = side(), factory.record("mnist_mlp", step_seconds=(0.0101, 0.0099, 0.0100), implementation="torch")
    assert only([mine, theirs]).status == "quick"
    moved = factory.record("mnist_mlp", step_seconds=(0.0102, 0.0098, 0.0102), implementation="torch")
    jax = factory.record("mnist_mlp", step_seconds=(0.0098, 0.0102, 0.0098))
    found = only([jax, moved])
    assert {found.mine.status, found.best_peer.status} == {"quick"}
    assert found.status == "unstable"
    assert "wide" in found.reasons[-1]


def test_a_newer_campaign_with_a_stand_in_replaces_one_with_random_content():
    older = [side(data="random"), side("torch", 0.02, data="random")]
    newer = {"campaign": "b", "created": "2026-01-02T00:00:00Z"}
    assert only([*older, side(**newer), side("torch", 0.03, **newer)]).ratio.value == pytest.approx(3)


def test_a_newer_smoke_run_does_not_displace_a_measurement():
    kept = [side(created="2026-01-01T00:00:00Z", campaign="a"), side("torch", 0.02, campaign="a")]
    later = {"created": "2026-01-02T00:00:00Z", "campaign": "b", "profile": "smoke"}
    smoke = [side(**later), side("torch", 0.03, **later)]
    assert only([*kept, *smoke]).ratio.value == pytest.approx(2)
    assert only(smoke).ratio.value == pytest.approx(3)


def test_variants_of_jax_stand_beside_the_same_peer():
    found = standings([side(), side(seconds=0.005, variant="several-steps"), side("torch", 0.01)])
    assert [item.ratio.value for item in found] == [pytest.approx(1), pytest.approx(2)]


def test_a_time_that_makes_no_sense_stands_nowhere():
    records = [factory.record(), factory.record(implementation="torch", variant="eager")]
    assert len(standings(records)) == 1
    wrong = tuple(msgspec.structs.replace(run, compilations=1) for run in records[0].runs)
    assert not standings([msgspec.structs.replace(records[0], runs=wrong), records[1]])


def test_the_worse_side_gives_the_status():
    shaky = factory.record(step_seconds=(0.01, 0.02, 0.03), implementation="torch")
    assert only([side(), shaky]).status == "unstable"
    assert only([side(), side("torch")]).status == "quick"
    assert worse("quick", "invalid") == worse("invalid", "quick") == "invalid"


def pair(workload, ratio, **about):
    described = factory.description(workload, **about)
    return [side(workload=workload, about=described), side("torch", 0.01 * ratio, workload, about=described)]


def mean(*pairs):
    return overall(standings([record for one in pairs for record in one]))


def test_the_geometric_mean_is_over_networks():
    found = mean(pair("a", 0.5, parameters=1), pair("b", 2.0, parameters=2), pair("c", 8.0, parameters=3))
    assert found.networks == 3
    assert found.ratio.value == pytest.approx(2)


def test_networks_that_differ_in_data_alone_count_once():
    found = mean(pair("a", 4.0, parameters=1), pair("b", 1.0, parameters=1), pair("c", 2.0, parameters=3))
    assert found.networks == 2
    assert found.ratio.value == pytest.approx(2)


NOISE = (1.02, 0.97, 1.0, 1.05)


def noisy(workload, ratios, campaign="a", labels=None, **about):
    """Return a network's steps of JAX, all alike, and of a peer that takes so many times as long by round."""
    described = factory.description(workload, **about)
    labels = labels or range(len(ratios))
    return [
        factory.record(
            workload,
            step_seconds=[0.01 * value for value in values],
            runs=tuple(factory.run(r, 0.01 * value) for r, value in zip(labels, values, strict=True)),
            about=described,
            campaign=campaign,
            implementation=implementation,
        )
        for implementation, values in (("jax", [1.0] * len(ratios)), ("torch", ratios))
    ]


def of_three(labels=None):
    """Return the mean of two networks of one campaign and one of another, whose rounds may have other numbers."""
    return mean(
        noisy("a", [2.0 * n for n in NOISE], parameters=1),
        noisy("b", [3.0 * n**2 for n in NOISE], parameters=2),
        noisy("c", [4.0 / n for n in NOISE[::-1]], "another", labels, parameters=3),
    )


@pytest.mark.parametrize("labels", list(itertools.permutations(range(4))))
def test_the_rounds_of_one_campaign_have_nothing_to_do_with_those_of_another(labels):
    first, found = of_three().ratio, of_three(labels).ratio
    assert (found.value, found.low, found.high) == pytest.approx((first.value, first.low, first.high), rel=1e-12)


@pytest.mark.parametrize("labels", [(3, 1, 0, 2), (7, 5, 6, 4)])
def test_the_numbers_of_rounds_do_not_matter_if_all_networks_of_a_campaign_have_the_same(labels):
    ratios = {"a": NOISE, "b": NOISE[::-1]}
    one, other = (
        mean(*(noisy(name, found, labels=given, parameters=len(found) + ord(name)) for name, found in ratios.items()))
        for given in (None, labels)
    )
    assert (one.ratio.low, one.ratio.high) == pytest.approx((other.ratio.low, other.ratio.high), rel=1e-12)


def test_networks_of_one_campaign_are_taken_together_by_round():
    alike, other = list(NOISE), [1 / n for n in NOISE]
    found = mean(noisy("a", alike, parameters=1), noisy("b", [2 * n for n in alike], parameters=2))
    by_round = geometric_mean([math.sqrt(2) * n for n in NOISE])
    assert (found.ratio.value, found.ratio.low, found.ratio.high) == pytest.approx(
        (by_round.value, by_round.low, by_round.high)
    )
    against = mean(noisy("a", alike, parameters=1), noisy("b", other, parameters=2)).ratio
    assert against.high / against.low == pytest.approx(1), "what one gains in a round the other loses"


def test_the_variances_of_campaigns_are_added_with_the_share_of_their_networks():
    found = of_three().ratio
    logs = [[math.log(n) for n in NOISE]] * 2
    errors = [statistics.variance(one) * share**2 / 4 for one, share in zip(logs, (3 / 3, 1 / 3), strict=True)]
    degrees = sum(errors) ** 2 / sum(error**2 / 3 for error in errors)
    assert math.log(found.high / found.value) == pytest.approx(t_quantile(degrees) * math.sqrt(sum(errors)))
    assert math.log(found.value / found.low) == pytest.approx(t_quantile(degrees) * math.sqrt(sum(errors)))


def test_the_interval_of_the_mean_covers_where_rounds_are_shared_within_campaigns_alone():
    rng, means, covered = np.random.default_rng(3), 300, 0
    for _ in range(means):
        shared = {name: rng.normal(0, spread, 4) for name, spread in (("a", 0.03), ("b", 0.01))}
        networks = [("a", 2.0), ("a", 0.5), ("b", 4.0), ("b", 0.25)]
        ratios = [middle * np.exp(shared[name] + rng.normal(0, 0.01, 4)) for name, middle in networks]
        found = mean(
            *(
                noisy(f"n{i}", [float(v) for v in values], name, parameters=i)
                for i, ((name, _), values) in enumerate(zip(networks, ratios, strict=True))
            )
        ).ratio
        covered += found.low <= 1 <= found.high
    assert 0.92 <= covered / means <= 0.98


def test_networks_of_campaigns_without_a_round_in_common_have_a_mean_those_of_one_campaign_have_none():
    ratios = [2.0 * n for n in NOISE]
    early, late = (noisy("a", ratios, parameters=1), noisy("b", ratios, "b", range(4, 8), parameters=2))
    assert mean(early, late).ratio.low is not None
    assert mean(early, noisy("b", ratios, "a", range(4, 8), parameters=2)) is None


def test_a_campaign_of_a_single_round_leaves_the_mean_without_interval():
    found = mean(noisy("a", [2.0 * n for n in NOISE], parameters=1), noisy("b", [8.0], "b", parameters=2))
    assert (found.ratio.low, found.ratio.high, found.ratio.processes) == (None, None, 1)
    assert found.ratio.value == pytest.approx(4.0, rel=0.05)


def test_the_line_of_the_mean_says_whose_interval_it_is_and_whether_all_are_steady():
    shaky = [2.0, 4.0, 3.0]
    steady = [*pair("a", 0.5, parameters=1), *pair("b", 2.0, parameters=2)]
    (said,) = standing.mean(standings(steady))
    assert said.endswith(", an interval of these networks as they were measured, not of networks at large.")
    (said,) = standing.mean(standings([*steady, *noisy("c", shaky, parameters=3)]))
    assert said.endswith(" not of networks at large. Not all steady.")
    (said,) = standing.mean(standings([*steady, *noisy("c", shaky, parameters=3, family="trees")]))
    assert " at large. Workloads that differ in data or dropout alone count as one" in said, "trees do not count"
    (said,) = standing.mean(standings([*steady, *noisy("c", [1.0], "c", parameters=3)]))
    assert "interval" not in said


def test_the_line_of_the_mean_says_of_how_many_campaigns_it_is():
    one, two = pair("a", 0.5, parameters=1), noisy("b", [2.0, 2.02, 1.98], "b", parameters=2)
    (said,) = standing.mean(standings([*one, *two]))
    assert said.startswith("Geometric mean over 2 networks, of 2 campaigns, 2026-01-01: ")
    (said,) = standing.mean(standings([*one, *pair("b", 2.0, parameters=2)]))
    assert said.startswith("Geometric mean over 2 networks: ")


@pytest.mark.parametrize("family", ["data parallel", "trees"])
def test_the_data_parallel_model_and_trees_do_not_count(family):
    found = mean(pair("a", 0.5, parameters=1), pair("b", 99.0, parameters=2, family=family))
    assert found.networks == 1
    assert found.ratio.value == pytest.approx(0.5)
    assert mean(pair("b", 99.0, family=family)) is None


def test_the_terminal_names_the_peer_and_gives_interval_and_mean():
    records = [*pair("a", 0.5, parameters=1), *pair("b", 2.0, parameters=2)]
    (table,) = standing.for_terminal(records, factory.HOST.slug)
    cells = dict(zip(table.columns, (cell.text for cell in table.rows[0]), strict=True))
    assert (cells["best peer"], cells["ratio"]) == ("torch eager", "0.500x")
    assert "to" in cells["95 % interval"]
    assert table.notes == (
        "Geometric mean over 2 networks: 1.00x (1.00 to 1.00), an interval of these networks as they were measured, "
        "not of networks at large.",
        "Not timed, so that the best peer may be faster than the one shown: torch compile in 2 of 2 steps, "
        "the system allocator in 2 of 2 steps.",
    )
    assert standing.for_terminal([side()], factory.HOST.slug) == ()


def test_the_page_shows_every_machine_and_all_that_ran():
    other = msgspec.structs.replace(factory.PLAIN, name="other, 4 cores")
    records = [
        side(), side("torch", 0.02), side("keras", 0.03),
        side(machine=other, campaign="c"), side("torch", 0.005, machine=other, campaign="c"),
    ]  # fmt: skip
    page = pages.pages(records, frozenset())["standing.md"]
    assert "keras: 3.00x" in page
    assert 'href="machines/test-gpu-16-cores.html"' in page
    assert 'href="machines/other-4-cores.html"' in page
    assert "records/c/mnist_mlp.cpu.step.implementation-torch.json" in page


def test_the_page_without_a_comparison_says_how_to_get_one():
    assert "nox -s control" in pages.pages([side()], frozenset())["standing.md"]


def test_every_speed_up_on_the_site_names_its_best_peer():
    made = pages.pages(factory.campaign(), frozenset())
    for page in ("index.md", "machines/test-gpu-16-cores.md", "workloads/mnist_mlp.md"):
        assert "0.900x torch eager" in made[page]
        assert "1.20x torch graph" in made[page]


def test_a_speed_up_of_another_way_is_not_taken_for_the_headline():
    fast = [side(variant="several-steps"), side(backend="gpu", seconds=0.0001, variant="several-steps")]
    wide = [side(devices=2), side(backend="gpu", seconds=0.0001, devices=2)]
    table = tables.speedup_table(pooled_speedups([*fast, *wide]))
    assert {row[0].text for row in table.rows} == {"mnist_mlp several-steps", "mnist_mlp on 2 devices"}
    assert not any(record.headline_step() for record in (*fast, *wide))


def test_another_batch_is_not_taken_for_the_headline_but_stands_beside_other_hosts():
    batch = {"batch": 4096}
    mine, gpu = side(machine=factory.PLAIN, **batch), side(backend="gpu", seconds=0.0002, **batch)
    assert not any(record.headline_step() for record in (mine, gpu))
    assert tables.elsewhere([mine, gpu], factory.PLAIN.slug).rows
    assert not tables.elsewhere([mine, side(backend="gpu", seconds=0.0002)], factory.PLAIN.slug).rows
    assert not tables.side_by_side([mine]).rows


def test_beside_another_host_the_better_allocator_stands_alone():
    mine = [side(seconds=s, allocator=a, machine=factory.PLAIN) for s, a in ((0.01, "retaining"), (0.008, "system"))]
    (row,) = tables.elsewhere([*mine, side(backend="gpu", seconds=0.0002)], factory.PLAIN.slug).rows
    assert row[3].sort == pytest.approx(40)


def test_a_speed_up_of_one_process_says_so():
    pair = [factory.record(backend=side, step_seconds=[t]) for side, t in (("cpu", 2.0), ("gpu", 1.0))]
    (row,) = one_campaign.table(pair).rows
    assert row[-1].text == "quick, one process, not certified"
