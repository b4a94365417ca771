"""A sample of the proof that clock, statistics and verdicts keep their promises, and that the proof itself can fail."""

import json

import pytest
from trust import (
    hosts,
    mutation,
    noise,
    part_alarms,
    part_clock,
    part_coverage,
    part_hosts,
    part_lies_gpu,
    part_mutants,
    part_replay,
    part_rounds,
    worlds,
)
from trust.__main__ import main, names, proved

from suite.report.pages.trust import WANTED
from suite.results.records.machine import Gpu
from suite.results.stats import statistics, variance_components
from suite.worker import doubling

PARTS = ("alarms", "clock", "mutants", "replay")


@pytest.mark.parametrize("name", PARTS)
def test_a_sample_of_the_part_is_as_it_has_to_be(name):
    part = proved(name, sample=True)
    assert [finding for finding in part.findings if not finding.good] == []
    assert not part.full
    assert part.figures
    assert part.leading in {"", *part.figures}


def test_a_sample_of_coverage_falls_short_only_where_the_whole_does():
    part = proved("coverage", sample=True)
    short = {tuple(one.what.split("; ")[:2]) for one in part.findings if not one.good}
    assert short <= {
        ("time, geometric mean of processes", "skewed to the slow side"),
        ("time, geometric mean of processes", "two states of the machine"),
    }


def test_a_sample_of_hosts_falls_short_only_where_the_whole_does():
    part = proved("hosts", sample=True)
    short = {one.what.split("; ")[1] for one in part.findings if not one.good}
    assert short <= {
        "three cells of three hosts",
        "few cells borrow the spread of kinds whose hosts differ half as much",
        "baselines over JAX, by host",
    }
    assert part.leading in part.figures


def test_a_part_that_lacks_something_is_left_out_and_one_with_a_bug_is_not(monkeypatch, capsys):
    def lacking(error):
        def prove(*_):
            raise error

        return prove

    monkeypatch.setattr("sys.argv", ["trust", "clock"])
    monkeypatch.setattr("trust.__main__.proved", lacking(LookupError("there is no GPU here")))
    assert main() == 1
    assert capsys.readouterr().out == "clock: left out, there is no GPU here\n"
    monkeypatch.setattr("trust.__main__.proved", lacking(KeyError("a name")))
    with pytest.raises(KeyError):
        main()


def test_hosts_that_are_not_counted_are_seen_by_their_worlds(monkeypatch):
    monkeypatch.setattr(variance_components, "_agreement", lambda cells: 0.0)
    (place,) = (
        place for place, world in enumerate(hosts.WORLDS) if world.name.endswith("3 hosts, equally fast in all")
    )
    shares = part_hosts.simulated((place, 60, 0))["interval", 3]
    assert not part_hosts.covered(hosts.WORLDS[place], ("interval", 3), shares, sample=False).good


def test_a_cell_without_an_interval_is_no_miss_and_is_counted():
    draws = [part_hosts.Draw(0.95, 0.0), part_hosts.Draw(None, 1.0), part_hosts.Draw(0.95, 0.2)]
    found = part_hosts.covered(hosts.WORLDS[0], ("interval", 2), draws, sample=False)
    assert (found.found, found.good) == ("95.0% ± 0.0%, 40.0% of cells without an interval", True)


def test_a_borrowed_spread_that_is_taken_for_ones_own_is_seen_by_its_worlds(monkeypatch):
    (place,) = (place for place, world in enumerate(hosts.WORLDS) if world.unlike)
    monkeypatch.setattr(hosts, "unlikeness", lambda groups: 0.0)
    shares = part_hosts.simulated((place, 500, 0))["interval", 1]
    assert not part_hosts.covered(hosts.WORLDS[place], ("interval", 1), shares, sample=False).good


def test_rounds_that_are_added_by_the_spread_of_the_kind_leave_intervals_as_wide_as_they_have_to_be():
    part = proved("rounds", sample=True)
    assert [one for one in part.findings if not one.good] == []
    assert len(part.findings) == len(part_rounds.SPREADS)


def test_an_interval_that_stops_by_its_own_width_is_seen_to_be_too_short():
    own, kind = (
        part_rounds.simulated(0.12, rule, 150)[0]
        for rule in (part_rounds.by_own_interval, part_rounds.by_pooled_spread)
    )
    assert own < 0.92 < 0.93 < kind


def test_an_interval_that_is_too_short_is_seen_by_the_added_rounds(monkeypatch):
    monkeypatch.setattr(statistics, "t_quantile", lambda degrees: 1.0)
    assert part_rounds.simulated(0.03, part_rounds.by_pooled_spread, 60)[0] < 0.85


def test_evidence_of_a_part_that_runs_on_a_gpu_names_it_and_that_of_another_does_not(monkeypatch):
    card = Gpu(name="Card 9", memory_bytes=1, compute_capability="9.0", driver="1", cuda="13")
    monkeypatch.setattr("trust.__main__.gpus", lambda: (card, card))
    monkeypatch.setattr("trust.__main__.cpu_model", lambda: "Chip 7")
    for part in (part_lies_gpu, part_replay):
        monkeypatch.setattr(part, "prove", lambda sample: ({}, []))
    assert proved("lies_gpu", sample=True).machine == "Card 9, Chip 7"
    assert proved("replay", sample=True).machine == "Chip 7"


def test_the_page_wants_every_one_of_these_parts():
    assert {*PARTS, "coverage", "rounds"} <= set(names()) & set(WANTED)


def test_an_interval_that_is_too_short_is_seen_by_the_coverage(monkeypatch):
    monkeypatch.setattr(statistics, "t_quantile", lambda degrees: 1.0)
    hits = part_coverage.covered((0, 10, 150, 0))
    found = part_coverage.finding(part_coverage.INTERVALS[0], noise.WORLDS[0], 10, hits[0], 150)
    assert not found.good


def test_only_an_interval_that_is_claimed_can_fall_short_and_be_counted():
    drift = next(world for world in noise.WORLDS if world.linked)
    paired, _, alone, _ = part_coverage.INTERVALS
    claimed, unclaimed = (part_coverage.finding(kind, drift, 10, 0, 150) for kind in (paired, alone))
    assert (claimed.verdict, unclaimed.verdict) == ("shortfall", "not claimed")


def test_every_module_that_decides_is_mutated_and_run_against_tests_that_there_are():
    there = part_mutants.there()
    assert {"suite.claims._judging", "suite.results.stats.statistics", "suite.worker_api.clock"} <= set(there)
    assert set(part_mutants.TESTS) <= set(there)
    assert [module for module, tests in there.items() if not tests or not part_mutants.file(module).exists()] == []
    assert [name for tests in there.values() for name in tests if not part_mutants.test(name).exists()] == []


def test_a_new_module_of_the_results_is_one_that_decides(tmp_path, monkeypatch):
    for name in ("suite/results/single/fresh.py", "suite/results/views/table.py", "suite/claims/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("X = 1")
    monkeypatch.setattr(part_mutants, "ROOT", tmp_path)
    monkeypatch.setattr(part_mutants, "TESTS", {})
    assert part_mutants.there() == {"suite.results.single.fresh": (), "suite.claims": part_mutants.JUDGED}


def test_a_fault_is_noticed_in_the_code_of_a_function_and_in_what_only_an_import_runs():
    source = part_mutants.file("suite.worker.doubling").read_text()
    faults = {
        "": ("_PROPORTIONAL = 0.05", "_PROPORTIONAL = 5.0", "killed"),
        "proportional": ("<= _PROPORTIONAL", "> _PROPORTIONAL", "killed"),
        "turns": ("return []", "return list()", "survived"),
    }
    planted = [
        mutation.Mutant(line=1, place=place, what=place, source=source.replace(before, after))
        for place, (before, after, _) in faults.items()
    ]
    assert all(mutant.source != source for mutant in planted)
    answers = dict(part_mutants.answered("suite.worker.doubling", planted, ("test_doubling",)))
    assert answers == {place: answer for place, (*_, answer) in faults.items()}


def test_a_mutant_that_lives_is_said_to_have_survived():
    (mutant, *_) = mutation.mutants("def f():\n    return 1\n")
    assert part_mutants.survivor("m", mutant).verdict == "survived"


def test_a_sign_interval_covers_what_coins_say():
    assert part_coverage.exact_sign_coverage(6) == 1 - 2 / 64
    assert part_coverage.exact_sign_coverage(10) == 1 - 22 / 1024


def test_tests_that_are_not_corrected_raise_alarms_that_are_seen(monkeypatch):
    monkeypatch.setattr("suite.results.compare.comparison.holm", tuple)
    alarms, _ = part_alarms.judged((part_alarms.ALARMS[0], 100, 0))
    assert not part_alarms.quiet(part_alarms.ALARMS[0], alarms, 100, sample=True).good


def test_a_median_in_the_place_of_the_mean_is_seen_by_the_worlds(monkeypatch):
    monkeypatch.setattr("suite.results.single.summary.fmean", lambda values: statistics.median(list(values)))
    assert not part_clock.spikes(0).good


def test_a_clock_that_does_not_check_doubling_is_seen_by_the_worlds(monkeypatch):
    monkeypatch.setattr(doubling, "doubling_ratio", lambda *_: 2.0)
    monkeypatch.setattr(doubling, "longer_by", lambda *_: 1.0)
    assert not part_clock.constant_cost(0).good
    assert not part_clock.much_constant_cost(0).good


def test_a_number_that_moved_in_its_last_digit_is_seen_by_the_replay():
    numbers = {"one": {"record a": "0.125 2 open"}, "other": {"record b": "0.25 3 open"}}
    golden = {campaign: part_replay.kept(found) for campaign, found in numbers.items()}
    assert part_replay.differences(golden, numbers) == []
    moved = part_replay.changed(numbers["one"], "record a")
    assert moved == {"record a": "0.126 2 open"}
    assert part_replay.differences(golden, {**numbers, "one": moved}) == ["one"]
    assert part_replay.differences(golden, {}) == ["one", "other"]


def test_a_world_moves_its_clock_by_work_alone():
    made = worlds.World(tick=0.5, step_seconds=0.4)
    made.chain(1)
    assert (made.read(), made.clock.process()) == (0.0, 0.8)
    made.chain(2)
    assert made.read() == 1.0


SOURCE = '''"""Words."""
X = 3
Kind = Literal["Words"]

def f(a, b):
    """Words."""
    if not a <= b and a:
        raise ValueError("no")
    return g(a, b) + min(a, 1.0) if a else -b
'''


def test_mutants_are_what_a_slip_of_the_pen_makes():
    found = [mutant.what for mutant in mutation.mutants(SOURCE)]
    assert found[:2] == [": 3 -> 4", ": 3 -> 2"]
    for words in (
        "f: a <= b -> a < b",
        "f: a <= b -> a > b",
        "f: not a <= b -> not not a <= b",
        "f: not a <= b and a -> not a <= b or a",
        "f: g(a, b) -> g(b, a)",
        "f: g(a, b) + min(a, 1.0) -> g(a, b) - min(a, 1.0)",
        "f: min(a, 1.0) -> max(a, 1.0)",
        "f: 1.0 -> 1.5",
        "f: -b -> +b",
    ):
        assert words in found
    assert any("pass" in words for words in found)
    assert any(words.endswith("-> return None") for words in found)
    assert len(set(found)) == len(found)
    assert not any("Words" in words for words in found)


def test_every_mutant_parses_and_differs():
    import ast

    whole = ast.unparse(ast.parse(SOURCE))
    for mutant in mutation.mutants(SOURCE):
        assert ast.unparse(ast.parse(mutant.source)) != whole
        assert mutant.line > 0


def test_a_mutant_said_to_be_equivalent_must_exist():
    gone = part_mutants.equivalent("suite.results.stats.statistics", "f: 1 -> 2", "no reason", [])
    assert not gone.good
    assert "no such mutant" in gone.found
    for module, known in json.loads(part_mutants.EQUIVALENT.read_text()).items():
        if not part_mutants.file(module).exists():
            continue
        there = {mutant.what for mutant in mutation.mutants(part_mutants.file(module).read_text())}
        assert set(known) <= there
