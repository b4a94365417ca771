"""What a campaign measures next: everything once, cheapest first, then what is known least, and nothing for nothing."""

import factory
import msgspec
import pytest
from campaigns import case, counts, done, plan

from suite.driver.forecast import Forecast
from suite.driver.journal import Header
from suite.driver.schedule import failed_cases, next_turn, question, uncertain, whole_rounds, with_one_more
from suite.results.pooled import spreads as spread_table

EVEN, UNEVEN = (0.0100, 0.0101, 0.0099), (0.010, 0.014, 0.018)


@pytest.fixture(autouse=True)
def published(monkeypatch):
    """Let published processes of every kind differ by 1 %, unless a test says otherwise."""

    def publish(spread):
        monkeypatch.setattr(spread_table, "nearest", lambda machine, wanted: spread)

    publish(0.01)
    return publish


def turns(header, entries=()):
    """Return all turns of a plan, as if each process ended well."""
    found, entries = [], list(entries)
    while turn := next_turn(header, entries, Forecast(header, entries)):
        found.append(turn)
        entries += [entry for unit in turn.groups for each in unit for entry in one(each, turn.number)]
    return found


def one(case, number, seconds=0.01, **changes):
    return [msgspec.structs.replace(done(case, [seconds])[0], run=factory.run(number, seconds, **changes))]


def wide(header, entries, **options):
    return [each.question[0] for each in uncertain(header, entries, **options)]


def test_the_first_pass_takes_steps_of_all_before_starts_and_of_these_the_cheapest_first():
    flop = {"big": 9_000_000_000, "middle": 3_000_000_000, "small": 1_000_000}
    cases = [case(name, side, scope) for name in flop for side in ("cpu", "gpu") for scope in ("cold", "step")]
    header = plan(*cases, about=lambda name: factory.description(name, flop_per_example=flop[name]))
    found = turns(header)
    assert [turn.question for turn in found] == [
        (name, scope) for scope in ("step", "cold") for name in ("small", "middle", "big")
    ]
    assert all({unit[0].backend for unit in turn.groups} == {"cpu", "gpu"} for turn in found)
    assert {turn.number for turn in found} == {0}


def test_an_experiment_takes_workload_by_workload_the_cheapest_first_and_of_each_the_step():
    flop = {"big": 9_000_000_000, "small": 1_000_000}
    cases = [case(name, side, scope) for name in flop for side in ("cpu", "gpu") for scope in ("cold", "step")]
    header = plan(*cases, about=lambda name: factory.description(name, flop_per_example=flop[name]))
    found = turns(msgspec.structs.replace(header, experiment="break_even"))
    assert [turn.question for turn in found] == [
        (name, scope) for name in ("small", "big") for scope in ("step", "cold")
    ]


def test_baselines_are_measured_with_what_they_are_compared_with():
    header = plan(case(), case(backend="gpu"), case(implementation="torch"), case("cifar10_mlp"))
    sizes = {turn.question[0]: len(turn.groups) for turn in turns(header)}
    assert sizes == {"mnist_mlp": 3, "cifar10_mlp": 1}


def test_further_rounds_come_in_a_random_order_that_is_the_same_whenever_asked():
    cases = [case(name, side) for name in "abcdefgh" for side in ("cpu", "gpu")]
    header = plan(*cases, within=None, asked=4)
    found = turns(header)
    assert found == turns(header)
    order = {n: [turn.question[0] for turn in found if turn.number == n] for n in range(4)}
    assert order[0] == sorted("abcdefgh")
    assert len({tuple(each) for each in order.values()}) == 4
    assert {turn.groups[0][0].backend for turn in found} == {"cpu", "gpu"}
    other = msgspec.structs.replace(header, campaign="20260101-000001-other")
    assert header.seed == other.seed
    assert [turn.groups for turn in found] != [turn.groups for turn in turns(other)]


@pytest.mark.parametrize("ended", range(12))
def test_a_resumed_campaign_measures_what_a_cut_round_lacks(ended):
    header = plan(*(case(name, side) for name in "ab" for side in ("cpu", "gpu")), within=None, asked=3)
    whole = [(turn.number, unit[0]) for turn in turns(header) for unit in turn.groups]
    before = [entry for number, each in whole[:ended] for entry in one(each, number)]
    rest = [(turn.number, unit[0]) for turn in turns(header, before) for unit in turn.groups]
    assert sorted(rest, key=str) == sorted(whole[ended:], key=str)


def test_a_process_of_which_one_case_is_lacking_runs_again():
    step, transfer = case(), case(scope="transfer")
    header = plan(step, transfer, within=None, asked=1)
    assert [turn.groups for turn in turns(header, one(step, 0))] == [((step, transfer),)]


def test_a_question_has_no_more_rounds_than_are_planned_of_it():
    header = plan(case("a"), case("b"), within=None).with_rounds((3, 1))
    assert sorted((turn.question[0], turn.number) for turn in turns(header)) == [("a", 0), ("a", 1), ("a", 2), ("b", 0)]


def test_what_failed_is_not_tried_again_nor_is_what_shares_its_process():
    step, transfer, gpu = case(), case(scope="transfer"), case(backend="gpu")
    header = plan(step, transfer, gpu, within=None, asked=2)
    entries = [*one(step, 0), *one(transfer, 0, reason="killed", samples=0)]
    assert failed_cases(header, entries) == {step, transfer}
    assert [(turn.number, turn.groups) for turn in turns(header, entries)] == [(0, ((gpu,),)), (1, ((gpu,),))]


def test_what_shares_a_process_with_a_failure_asks_for_no_rounds_that_it_cannot_get():
    step, transfer = case(), case(scope="transfer")
    header = plan(step, transfer)
    entries = [*one(step, 0), *one(transfer, 0, reason="killed", samples=0)]
    assert uncertain(header, entries) == ()
    assert counts(with_one_more(header, question(step), entries)) == [1, 1]


def test_the_widest_comes_first(published):
    published(0.02)
    header = plan(case("a"), case("b"), case("c"), within=0.001).with_rounds((3, 3, 3))
    entries = [*done(case("a"), (1, 1.05, 1.1)), *done(case("b"), (1, 1.2, 1.4)), *done(case("c"), (1, 1.1, 1.2))]
    assert wide(header, entries) == ["b", "c", "a"]
    assert wide(header, entries, but={("b", "step")}) == ["c", "a"]


def test_steps_get_their_second_and_third_round_before_what_is_wider(published):
    published(0.02)
    a, b, cold = case("a"), case("b"), case("a", scope="cold")
    entries = [*done(a, (0.01, 0.011, 0.01)), *done(b, [0.01]), *done(cold, (3.0, 9.0))]

    def first(rounds):
        header = plan(a, b, cold).with_rounds((rounds, 1, 2))
        return [each.question for each in uncertain(header, [e for e in entries if e.run.round < 3])]

    assert first(2) == [("b", "step"), ("a", "step"), ("a", "cold")]
    assert first(3)[0] == ("b", "step")
    assert ("a", "step") not in first(3)[: first(3).index(("a", "cold"))]


def test_a_lucky_narrow_cell_decides_nothing(published):
    published(0.10)
    header = plan(case()).with_rounds((3,))
    assert wide(header, done(case(), (0.01, 0.01, 0.01))) == ["mnist_mlp"]
    assert wide(header.with_rounds((2,)), done(case(), (0.01, 0.01))) == ["mnist_mlp"]


def test_fewer_than_three_rounds_are_never_enough(published):
    published(1e-6)
    for rounds, asked in ((1, ["mnist_mlp"]), (2, ["mnist_mlp"]), (3, [])):
        assert wide(plan(case()).with_rounds((rounds,)), done(case(), (0.01, 0.010001, 0.01)[:rounds])) == asked


def test_a_campaign_stops_when_every_number_is_within():
    header = plan(case(), case("cifar10_mlp")).with_rounds((3, 3))
    assert wide(header, [*done(case(), EVEN), *done(case("cifar10_mlp"), EVEN)]) == []
    assert wide(header, [*done(case(), UNEVEN), *done(case("cifar10_mlp"), EVEN)]) == ["mnist_mlp"]


def test_a_plan_with_its_own_rounds_asks_for_none():
    header = plan(case(), within=None)
    assert counts(header) == [3]
    assert uncertain(header, done(case(), UNEVEN)) == ()


def test_a_speed_up_may_be_uncertain_though_its_sides_are_not(published):
    published(0.05)
    cpu, gpu = case(), case(backend="gpu")
    entries = [*done(cpu, EVEN), *done(gpu, EVEN)]
    alone = uncertain(plan(cpu, within=0.001).with_rounds((3,)), entries[:3])[0].half_width
    both = uncertain(plan(cpu, gpu, within=0.001).with_rounds((3, 3)), entries)[0].half_width
    assert both > 1.3 * alone
    within = (alone + both) / 2
    assert wide(plan(cpu, within=within).with_rounds((3,)), entries[:3]) == []
    assert wide(plan(cpu, gpu, within=within).with_rounds((3, 3)), entries) == ["mnist_mlp"]


def test_where_nothing_was_measured_twice_published_spreads_stand_in_and_it_is_said(published):
    header = plan(case(), case("cifar10_mlp"))
    entries = [*done(case(), [0.01]), *done(case("cifar10_mlp"), [0.01])]
    widths = []
    for spread in (0.02, 0.3):
        published(spread)
        found = uncertain(header, entries)
        assert [each.borrowed for each in found] == [True, True]
        widths.append(found[0].half_width)
    assert widths[1] > 5 * widths[0]
    more = uncertain(header.with_rounds((2, 1)), [*entries, *done(case(), (0.01, 0.01))[1:]])
    assert [each.borrowed for each in more] == [False, False]


def test_a_speed_up_is_known_by_published_spreads_if_one_of_its_sides_is(published):
    published(0.5)
    cpu, gpu = case(), case(backend="gpu")
    header = plan(cpu, gpu, within=0.001).with_rounds((3, 1))
    (found,) = uncertain(header, [*done(cpu, UNEVEN), *done(gpu, [0.001])])
    (alone,) = uncertain(header, done(gpu, [0.001]))
    assert found.borrowed
    assert found.half_width > alone.half_width


def test_one_wild_cell_does_not_widen_its_kind_however_often_it_was_measured(published):
    published(0.01)
    wild = [0.01 * (1 + n % 5) for n in range(30)]
    header = plan(case("a"), case("b"), case("wild")).with_rounds((3, 3, 30))
    entries = [*done(case("a"), EVEN), *done(case("b"), EVEN), *done(case("wild"), wild)]
    assert wide(header, entries) == ["wild"]


def test_baselines_go_along_and_do_not_decide():
    cpu, torch, keras = case(), case(implementation="torch"), case(implementation="keras")
    header = plan(cpu, torch, keras).with_rounds((3, 3, 3))
    entries = [*done(cpu, EVEN), *done(torch, UNEVEN), *done(keras, UNEVEN)]
    assert uncertain(header, entries) == ()
    assert counts(with_one_more(header, question(cpu), entries)) == [4, 4, 4]


def test_what_failed_is_invalid_or_a_whole_run_decides_nothing():
    bad = (("step", {"reason": "killed"}), ("step", {"compilations": 1}), ("run", {}), ("learning", {}))
    for scope, changes in bad:
        header = plan(case(scope=scope)).with_rounds((3,))
        assert uncertain(header, done(case(scope=scope), UNEVEN, **changes)) == (), scope
    assert uncertain(plan(case()).with_rounds((3,)), done(case(), UNEVEN)) != ()


def test_what_is_invalid_widens_no_other():
    bad = [case(name) for name in "abcd"]
    header = plan(case(), *bad).with_rounds((3,) * 5)
    entries = [*done(case(), EVEN), *(entry for each in bad for entry in done(each, UNEVEN, compilations=1))]
    assert uncertain(header, entries) == ()


def test_of_two_allocators_the_better_one_decides():
    tuned, default = case(), case(allocator="default-malloc")
    slow, slow_even = ([2 * seconds for seconds in those] for those in (UNEVEN, EVEN))
    header = plan(tuned, default).with_rounds((3, 3))
    assert uncertain(header, [*done(tuned, EVEN), *done(default, slow)]) == ()
    assert wide(header, [*done(tuned, slow_even), *done(default, UNEVEN)]) == ["mnist_mlp"]
    assert counts(with_one_more(header, question(default), [])) == [4, 4]


def test_a_case_that_failed_gets_no_further_rounds_and_the_other_side_does():
    cpu, gpu = case(), case(backend="gpu")
    header = plan(cpu, gpu)
    entries = [*done(cpu, [0.01]), *done(gpu, [0.01], samples=0, reason="killed")]
    assert wide(header, entries) == ["mnist_mlp"]
    more = with_one_more(header, question(cpu), entries)
    assert counts(more) == [2, 1]
    assert counts(whole_rounds(more, header, [*entries, *one(cpu, 1)])) == [2, 1]


def test_a_side_that_failed_leaves_the_rounds_of_the_other_enough():
    cpu, gpu = case(), case(backend="gpu")
    header = plan(cpu, gpu).with_rounds((3, 1))
    assert uncertain(header, [*done(cpu, EVEN), *done(gpu, [0.01], samples=0, reason="killed")]) == ()


def test_the_first_further_round_does_not_count_if_a_case_failed_in_it():
    cpu, gpu = case(), case(backend="gpu")
    header = plan(cpu, gpu)
    more = header.with_rounds((2, 2))
    entries = [*done(cpu, EVEN[:2]), *done(gpu, EVEN[:1]), *one(gpu, 1, samples=0, reason="killed")]
    assert counts(whole_rounds(more, header, entries)) == [1, 1]


def test_steps_and_starts_are_two_questions():
    step, cold = case(), case(scope="cold")
    header = plan(step, cold).with_rounds((3, 3))
    assert counts(with_one_more(header, question(cold), [])) == [3, 4]
    assert [each.question for each in uncertain(header, [*done(step, EVEN), *done(cold, UNEVEN)])] == [
        ("mnist_mlp", "cold")
    ]


def test_a_further_round_that_is_cut_or_in_which_something_failed_does_not_count():
    cpu, gpu, other, cold = case(), case(backend="gpu"), case("cifar10_mlp"), case(scope="cold")
    header = plan(cpu, gpu, other, cold)
    more = header.with_rounds((3, 3, 2, 2))
    good = [*done(cpu, EVEN), *done(gpu, EVEN[:2]), *done(other, EVEN[:2]), *done(cold, EVEN[:1])]
    assert counts(whole_rounds(more, header, good)) == [2, 2, 2, 1]
    assert counts(whole_rounds(more, header, [*good, *one(gpu, 2, samples=0, reason="killed")])) == [2, 2, 2, 1]
    assert counts(whole_rounds(more, header, [*good, *one(gpu, 2), *one(cold, 1)])) == [3, 3, 2, 2]
    assert whole_rounds(header, header, []) == header


def test_the_next_turn_of_a_long_campaign_asks_each_thing_once(monkeypatch):
    guesses = []
    guessed = lambda *all_of: guesses.append(all_of) or 10.0  # noqa: E731
    monkeypatch.setattr("suite.driver.forecast.process_seconds", guessed)
    monkeypatch.setattr(Header, "rounds_of", None)  # which looks through all cases
    cases = [case(f"w{n}", side, scope) for n in range(50) for side in ("cpu", "gpu") for scope in ("step", "cold")]
    header = plan(*cases).with_rounds((10,) * len(cases))
    entries = [entry for each in cases for entry in done(each, EVEN * 3, took=9.0)]
    assert next_turn(header, entries, Forecast(header, entries)).number == 9
    assert len(guesses) == len(cases)
    forecast = Forecast(header)
    for ended in range(0, 100, 10):
        assert next_turn(header, entries[: 9 * ended], forecast).number == 0
    assert len(guesses) == 2 * len(cases)
