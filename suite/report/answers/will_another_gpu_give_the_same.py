"""The next host: in which range another machine of the same kind would lie."""

import math
from collections.abc import Iterator, Sequence

from suite import units
from suite.report.answers._own_chart import OwnChart
from suite.report.parts.answer import Answer, Question
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.report.parts.quoted import Quoting
from suite.results.compare.reproducibility import CPU, SPEED_UP, words
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.single.summary import disturbed
from suite.results.views.experiment_result import Chart, Point
from suite.results.views.rows import row_of, speedup_cells, state_cells
from suite.results.views.table import HOSTS, INTERVAL, STATUS, Cell, Table

_NEXT = "next host"
_SIDES = {SPEED_UP: "speed-ups", CPU: "times of its CPU"}


def answer(facts: Facts, evidence: Evidence) -> Answer | None:
    """Return the range of a further host for the speed-up of most hosts, those that may be quoted first."""
    steps = [item for item in evidence.speedups if item.headline and item.state != "invalid"]
    known = sorted((item for item in steps if item.ratio.range_low and item.ratio.range_high), key=_reach)
    if not known:
        return None
    quoting = Quoting(facts=facts, evidence=evidence)
    item = max(known, key=lambda each: (each.quotable, each.hosts, -_reach(each)))
    number = quoting.speedup(item)
    chart = _chart(facts, known)
    return Answer(
        sentence=Html("In 95 of 100 cases another undisturbed {} host gives {} {}, where these gave {}.").format(
            quoting.gpu, quoting.model(item.record.description), _ratios(item), number.words
        ),
        numbers=(number,),
        turns=Html(" ").join(_turns(facts, quoting, known, item)),
        draw=chart.figures,
        tables=(_table(facts, known),),
    )


def _reach(item: PooledSpeedUp) -> float:
    """Return how far the range of a further host reaches up and down, as a share of the value."""
    low, high = item.ratio.range_low, item.ratio.range_high
    return math.sqrt(high / low) - 1 if low and high else math.inf


def _factor(item: PooledSpeedUp) -> str:
    return f"{1 + _reach(item):.2f}"


def _range(item: PooledSpeedUp) -> str:
    return units.interval(item.ratio.range_low, item.ratio.range_high)


def _ratios(item: PooledSpeedUp) -> str:
    return " to ".join(f"{end}x" for end in _range(item).split(" to "))


def _turns(facts: Facts, quoting: Quoting, known: Sequence[PooledSpeedUp], item: PooledSpeedUp) -> Iterator[Html]:
    """Yield how far the ranges reach, what they leave out, and how often they held when each host was left out."""
    yield Html(
        "Hosts of one kind differ. The range is that of one more process on one "
        "more host; it is wider than the interval, which is that of the mean."
    )
    yield _left_out(quoting, item)
    if len(known) > 1:
        near, far = known[0], known[-1]
        yield Html("Of {} it reaches least for {}, by a factor of {}, most for {}, by {}.").format(
            units.pluralize(len(known), "model"),
            quoting.model(near.record.description), _factor(near),
            quoting.model(far.record.description), _factor(far),
        )  # fmt: skip
    machine = quoting.machine
    names = {SPEED_UP: machine.name, CPU: machine.cpu_kind.words}
    tried = {each.side: each for each in facts.reproducibility.answers if each.machine == names.get(each.side)}
    held = [f"{words(inside)} of {_SIDES[side]}" for side in _SIDES if side in tried and (inside := tried[side].inside)]
    if of_gpu := facts.reproducibility.of_machine(machine.name):
        held.insert(1, f"{of_gpu} of its GPU")
    if held:
        yield Html(
            "We left each host out in turn. The range of the other hosts held {}; it should hold 95 %. "
            '<a href="../trust.html">How the numbers are checked</a>.'
        ).format(", ".join(held))


def _left_out(quoting: Quoting, item: PooledSpeedUp) -> Html:
    """Return how many campaigns of a model's step do not count as something disturbed them."""
    records = [each for each in quoting.evidence.records if each.workload == item.workload and each.headline_step()]
    campaigns = {each.campaign for each in records}
    left = {each.campaign for each in records if any(disturbed(each))}
    return Html(
        "It holds for hosts that nothing else disturbs. Of {} that timed {}, {} left out as disturbed. "
        '<a href="../method.html#from-one-host-to-a-kind-of-machine">What counts</a>.'
    ).format(
        units.pluralize(len(campaigns), "campaign"),
        quoting.model(item.record.description),
        "none was" if not left else f"{units.count(len(left))} {'was' if len(left) == 1 else 'were'}",
    )


def _chart(facts: Facts, known: Sequence[PooledSpeedUp]) -> OwnChart:
    """Return the chart of the ranges, the one that reaches least first."""
    points = tuple(
        Point(
            series="next host", row=item.workload, value=item.ratio.value, low=item.ratio.range_low,
            high=item.ratio.range_high, text=_range(item), solid=item.quotable,
        )
        for item in known
    )  # fmt: skip
    ends = "the range of one more process on one more host, in 95 of 100 cases"
    middle = _factor(known[(len(known) - 1) // 2])
    title = f"Half of {units.pluralize(len(known), 'model')}: another host lies within a factor of {middle}"
    chart = Chart(
        caption="Speed-up of a step.", across="CPU time / GPU time, log scale", points=points, level=1.0, ends=ends
    )
    return OwnChart(name="will-another-gpu-give-the-same", title=title, chart=chart, titles=facts.titles)


def _table(facts: Facts, known: Sequence[PooledSpeedUp]) -> Table:
    rows = (
        row_of(
            facts.titles[item.workload], *speedup_cells(item), _range(item),
            Cell(text=_factor(item), sort=_reach(item)), *state_cells(item),
        )
        for item in known
    )  # fmt: skip
    columns = ("model", "CPU step", "GPU step", "speed-up", INTERVAL, _NEXT, "within a factor of", STATUS, HOSTS)
    return Table(title="A step's speed-up on these hosts and on the next one", columns=columns, rows=tuple(rows))


QUESTION = Question(
    title="Will another GPU of the same kind give these numbers?",
    place=16,
    also=("reproducible", "reproducibility", "another H100", "variance", "spread", "other host", "trust"),
    wanted="This needs one step on several hosts of the same kind of machine.",
    command="nox -s bench",
    evidence=("headline",),
    read_next=("why_is_my_gpu_slower_than_my_cpu", "how_many_cpu_cores_equal_a_gpu"),
    answer=answer,
)
