"""Whether numbers hold on the next machine is asked of the records: hosts left out in turn, campaigns in pairs."""

import itertools
import math
import random
from types import SimpleNamespace

import factory
import msgspec
import pytest
from click.testing import CliRunner

from suite.cli import main
from suite.report.pages import trust as report
from suite.results.compare import reproducibility as answers
from suite.results.compare.reproducibility import Answer, Reproducibility, reproducibility
from suite.results.pooled import grouping, pools
from suite.results.pooled.grouping import Likeness
from suite.results.stats import variance_components
from suite.results.stats.shares import Share
from suite.results.stats.statistics import t_quantile
from suite.results.stats.variance_components import Components

replace = msgspec.structs.replace
MACHINE = replace(factory.HOST, cpu_vendor="GenuineIntel", cpu_family=6, cpu_number=143)
KNOWN = Components(tau2=0.01, sigma2=0.0025, degrees=12.0, cells=4)
MINUTES = itertools.count()


def measured(host, seconds, workload="mnist_mlp", backend="cpu", campaign=None, **axes):
    """A record of one campaign on a host; `host` is a number."""
    runs = [factory.run(number, each, host=f"{host:016x}") for number, each in enumerate(seconds)]
    minute = next(MINUTES)
    created = f"2026-01-01T{minute // 60:02}:{minute % 60:02}:00Z"
    return factory.record(workload, backend, seconds, MACHINE, campaign or created, created, runs=tuple(runs), **axes)


def hosts(factors, workloads=("mnist_mlp", "cifar10_mlp"), noise=(1.0, 1.02, 0.98)):
    """Pools of workloads on hosts, each so many times as slow as the first."""
    return pools.pools(
        measured(host, [0.01 * factor * each for each in noise], workload)
        for workload in workloads
        for host, factor in enumerate(factors)
    )


def test_one_host_alone_gives_nothing():
    found = reproducibility(hosts([1.0]))
    assert found == Reproducibility()
    assert (found.words, found.missed) == ("", ())


def test_of_two_hosts_alone_neither_can_be_predicted():
    (answer,) = reproducibility(hosts([1.0, 1.1])).answers
    assert answer.inside is None
    assert answer.alarms.trials == 2


def test_hosts_that_agree_predict_each_other():
    (answer,) = reproducibility(hosts([1.0, 1.01, 0.99])).answers
    assert (answer.side, answer.hosts) == ("CPU", 3)
    assert (answer.inside.trials, answer.inside.value) == (6, 1.0)
    assert (answer.alarms.trials, answer.alarms.value) == (6, 0.0)


def test_equal_values_hold():
    (answer,) = reproducibility(hosts([1.0, 1.0, 1.0], noise=(1.0, 1.0))).answers
    assert (answer.inside.value, answer.alarms.value) == (1.0, 0.0)


def test_a_host_that_is_off_lies_outside_what_the_others_predict():
    found = list(answers.left_out(hosts([1.0, 1.01, 0.99, 1.02, 10.0])))
    off = [trial for trial in found if {host for host, *_ in trial.hosts} == {f"{4:016x}"}]
    assert [trial.good for trial in off] == [False, False]


def test_nothing_of_a_left_out_host_is_in_its_prediction(monkeypatch):
    asked = []
    monkeypatch.setattr(answers, "holds", lambda *sides: asked.append([side[1:] for side in sides]) or True)
    for factor in (1.0, 10.0):
        list(answers.left_out(hosts([1.0, 1.01, 0.99, factor])))
    before, after = (sides[6:] for sides in (asked[:8], asked[8:]))  # the fourth host's
    assert before == after
    assert asked[:6] != asked[8:14]


def edge(*sides):
    """The largest deviation that the range of these sides holds: others' processes, own processes, what is known."""
    parts = [
        (known.tau2 + known.sigma2 / others + known.tau2 + known.sigma2 / mine, known.degrees)
        for others, mine, known in sides
    ]
    total = sum(part for part, _ in parts)
    degrees = total**2 / sum(part**2 / degrees for part, degrees in parts)
    return t_quantile(degrees) * math.sqrt(total)


@pytest.mark.parametrize(("size", "good"), [(0.999, True), (1.001, False), (-0.999, True), (-1.001, False)])
def test_the_range_is_that_of_a_campaign_of_as_many_rounds(size, good):
    off = math.exp(size * edge((3, 2, KNOWN)))
    assert answers.holds(([off, off], [[1.0, 1.0, 1.0]], KNOWN)) is good


@pytest.mark.parametrize(("size", "good"), [(0.999, True), (1.001, False), (-0.999, True), (-1.001, False)])
def test_the_range_of_a_ratio_has_the_variances_of_both_sides(size, good):
    other = Components(tau2=0.0004, sigma2=0.0001, degrees=5.0, cells=2)
    off = math.exp(size * edge((3, 2, KNOWN), (2, 1, other)))
    assert answers.holds(([off, off], [[1.0] * 3], KNOWN), ([1.0], [[1.0, 1.0]], other)) is good
    assert answers.holds(([1.0] * 2, [[1.0] * 3], KNOWN), ([1 / off], [[1.0, 1.0]], other)) is good


def test_a_host_that_is_slow_on_both_sides_has_the_ratio_of_the_others():
    slow = [3.0, 3.0], [[1.0] * 3], KNOWN
    assert not answers.holds(slow)
    assert answers.holds(slow, slow)


def test_a_host_that_has_both_sides_has_a_speed_up_too():
    records = [
        measured(host, [seconds, 1.01 * seconds], backend=backend, campaign=f"both-{host}")
        for host in range(3)
        for backend, seconds in (("cpu", 0.01), ("gpu", 0.001))
    ]
    found = reproducibility(pools.pools([*records, measured(3, [0.01, 0.0101])])).answers
    assert {answer.side: answer.inside.trials for answer in found} == {"CPU": 4, answers.GPU: 3, "speed-up": 3}


def test_sides_that_a_host_timed_in_two_campaigns_make_no_speed_up():
    records = [
        measured(host, [seconds, 1.01 * seconds], backend=backend)
        for host in range(3)
        for backend, seconds in (("cpu", 0.01), ("gpu", 0.001))
    ]
    assert {answer.side for answer in reproducibility(pools.pools(records)).answers} == {"CPU", answers.GPU}


def test_other_implementations_have_no_speed_up():
    records = [
        measured(host, [seconds, 1.01 * seconds], backend=backend, campaign=f"both-{host}", implementation="torch")
        for host in range(3)
        for backend, seconds in (("cpu", 0.01), ("gpu", 0.001))
    ]
    assert {answer.side for answer in reproducibility(pools.pools(records)).answers} == {"CPU", answers.GPU}


def test_trials_share_their_fate_by_host_and_by_pool():
    found = list(answers.left_out(hosts([1.0, 1.01, 0.99])))
    together = [bool(one.links & other.links) for one, other in itertools.combinations(found, 2)]
    assert together.count(True) == 9  # three hosts in two pools each, three trials in each of two pools


def test_short_steps_of_a_gpu_are_a_side_of_their_own():
    made = pools.pools(measured(host, [5e-5, 5.1e-5], name, "gpu") for host in range(3) for name in ("a", "b"))
    assert [answer.side for answer in reproducibility(made).answers] == [answers.SHORT]


def test_campaigns_of_one_host_are_no_pair():
    pair = [measured(0, [0.01, 0.011]), measured(0, [0.01, 0.011]), measured(1, [0.01, 0.011])]
    assert len(list(answers.pairs(pools.pools(pair)))) == 2


# Claims


def world(tau, sigma, seed):
    """Pools of six workloads on sixteen hosts, two rounds each, of a normal world."""
    draw = random.Random(seed)
    found = []
    for workload in range(6):
        for host in range(16):
            off = draw.gauss(0, tau)
            seconds = [0.01 * math.exp(off + draw.gauss(0, sigma)) for _ in range(2)]
            found.append(measured(host, seconds, f"model{workload}"))
    return pools.pools(found)


def test_an_honest_range_holds_and_one_that_is_too_narrow_is_missed(monkeypatch):
    made = world(0.1, 0.03, 1)
    (honest,) = reproducibility(made).answers
    assert honest.inside.low < 0.95 < honest.inside.high
    assert not any(honest.missed)
    known = variance_components.components
    monkeypatch.setattr(grouping, "_components_of", grouping._components_of.__wrapped__)  # it keeps honest ones
    monkeypatch.setattr(
        variance_components, "components", lambda *cells: replace(known(*cells), tau2=known(*cells).tau2 / 5)
    )
    found = reproducibility(made)
    assert found.answers[0].inside.high < 0.95
    assert len(found.missed) == 1


def test_the_spreads_are_those_that_the_pools_are_judged_by():
    made = world(0.1, 0.03, 2)
    (spread,) = reproducibility(made).spreads
    assert spread.among == made[0].among
    assert (spread.hosts, spread.among.cells) == (16, 6)
    assert spread.machine == MACHINE.cpu_kind.words


@pytest.mark.parametrize(
    ("answer", "missed"),
    [
        ({"inside": Share(value=0.90, low=0.85, high=0.949, trials=90)}, 1),
        ({"inside": Share(value=0.90, low=0.85, high=0.951, trials=90)}, 0),
        ({"alarms": Share(value=0.10, low=0.051, high=0.2, trials=90)}, 1),
        ({"alarms": Share(value=0.10, low=0.049, high=0.2, trials=90)}, 0),
    ],
)
def test_a_claim_is_missed_if_the_whole_interval_of_its_share_is_beyond_it(answer, missed):
    assert len(Reproducibility(answers=(Answer(side="CPU", hosts=9, **answer),)).missed) == missed


def test_a_missed_claim_is_a_warning_of_the_report_and_no_failure(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mkdocs.yml").touch()
    outcome = SimpleNamespace(problems=(), missed=("CPU: a claim is missed",))
    monkeypatch.setattr("suite.report.site.pages.render", lambda *_: outcome)
    monkeypatch.setattr("suite.console.printing.print_results", lambda *_, **__: None)
    ended = CliRunner().invoke(main, ["report", "--no-build"])
    assert ended.exit_code == 0, ended.output
    assert ended.stderr.splitlines() == ["warning: CPU: a claim is missed"]


# Pages


def test_the_page_has_a_line_for_each_answer_and_what_is_missed():
    found = reproducibility(hosts([1.0, 1.01, 0.99]))
    (row,) = report.answers(found.answers).rows
    assert [cell.sort for cell in row[2:]] == [3, 6, 1.0, 6, 0.0]
    page = report.page([], found)
    assert 'id="do-the-numbers-hold-on-the-next-machine"' in page
    assert "Missed" not in page
    missed = Answer(side="CPU", hosts=9, inside=Share(value=0.5, low=0.4, high=0.6, trials=90))
    assert "Missed: CPU: 50 % (40 to 60)" in report.page([], Reproducibility(answers=(missed,)))


def test_a_page_without_two_hosts_does_not_ask():
    assert "next machine" not in report.page([], Reproducibility())


def test_the_sentence_counts_times_and_speed_ups_over_all_sides_once():
    def answer(side, value, trials, machine=""):
        return Answer(side=side, machine=machine, hosts=9, inside=Share(value=value, low=0, high=1, trials=trials))

    found = Reproducibility(
        answers=(
            answer("CPU", 0.9, 20),
            answer("CPU", 1.0, 10, "one"),
            answer("CPU", 0.8, 10, "another"),
            answer(answers.GPU, 1.0, 20, "one"),
            answer("speed-up", 0.75, 4),
        )
    )
    assert "95 % of 40 times and 75 % of 4 speed-ups" in found.words


# What pools share


def like(machine="one", implementation="jax"):
    return Likeness(machine=(machine,), implementation=implementation, backend="cpu", scope="step", short=False)


def cells(tau, hosts=5, count=4, seed=0):
    draw = random.Random(seed)
    return [[[math.exp(draw.gauss(0, tau))] * 2 for _ in range(hosts)] for _ in range(count)]


NARROW, WIDE = (cells(tau) for tau in (0.01, 0.2))


def alone(cell):
    """Return the values of a cell by hosts that no other cell has."""
    return {object(): values for values in cell}


def test_hosts_that_differ_in_one_implementation_widen_no_other():
    known = grouping.shared(
        [(like(), alone(cell)) for cell in NARROW] + [(like(implementation="torch"), alone(cell)) for cell in WIDE]
    )
    assert known(like()) == (variance_components.components(NARROW), False)
    assert known(like(implementation="torch")) == (variance_components.components(WIDE), False)


def test_a_machine_of_too_few_hosts_borrows_of_other_machines_of_the_implementation():
    known = grouping.shared(
        [(like(), alone(cell)) for cell in NARROW]
        + [(like(implementation="torch"), alone(cell)) for cell in WIDE]
        + [(like("two"), alone(WIDE[0][:1]))]
    )
    components, borrowed = known(like("two"))
    assert borrowed
    assert msgspec.structs.astuple(components)[:3] == pytest.approx(
        msgspec.structs.astuple(variance_components.components(NARROW))[:3]
    )


def test_an_implementation_of_too_few_hosts_borrows_of_others():
    known = grouping.shared(
        [(like(), alone(cell)) for cell in NARROW] + [(like(implementation="keras"), alone(WIDE[0][:1]))]
    )
    components, borrowed = known(like(implementation="keras"))
    assert borrowed
    assert msgspec.structs.astuple(components)[:3] == pytest.approx(
        msgspec.structs.astuple(variance_components.components(NARROW))[:3]
    )


def test_what_is_borrowed_counts_for_the_less_the_more_machines_differ():
    degrees = []
    for other in (NARROW, WIDE):
        pair = ("one", NARROW), ("two", other)
        known = grouping.shared([(like(name), alone(cell)) for name, same in pair for cell in same])
        assert not known(like("one"))[1]
        degrees.append(known(like("three"))[0].degrees)
    assert degrees[0] == pytest.approx(2 * variance_components.components(NARROW).degrees, rel=0.05)
    assert degrees[1] < 2


def test_where_nobody_knows_nothing_is_borrowed():
    components, borrowed = grouping.shared([(like(), alone(NARROW[0][:1]))])(like())
    assert (components.degrees, borrowed) == (0, False)
