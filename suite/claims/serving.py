"""O12, O15: inference, one picture at a time, and prices."""

from collections.abc import Mapping, Sequence

from suite import units
from suite.analysis.serving import REQUESTS, Way, served
from suite.analysis.steps import said_of, words
from suite.claims import NOT_RUN, Judgement, Observation, judged, part
from suite.claims._articles import TEXT
from suite.claims._judging import NOT_CERTIFIED, above, below, certified, steps, sure, unsure
from suite.claims._sizes import with_size
from suite.experiments.serving import WORKLOADS
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.speedup import PooledSpeedUp

_PAID = 30.0


def _wins(evidence: Evidence) -> Judgement:
    by_network = served(evidence.speedups)
    if len(by_network) < 2:
        return NOT_RUN
    ordered = sorted(by_network.values(), key=lambda ways: _flop(next(iter(ways.values()))))
    every = [item for ways in ordered for item in ways.values()]
    way = REQUESTS if all(REQUESTS in ways for ways in ordered) else ("step", 1)
    single = [ways[way] for ways in ordered if way in ways]
    if len(single) < 2:
        return NOT_RUN
    first, last = (1 + sum(item.ratio.value > end.ratio.value for item in single) for end in (single[0], single[-1]))
    ratios = "; ".join(f"{item.workload} {words(item.ratio.estimate)}" for item in single)
    traffic = ", four requests under way" if way == REQUESTS else ""
    lost = [item for item in every if below(sure(item), 1)]
    won = all(above(sure(item), 1) for item in every)
    why = unsure(*map(sure, every)) if all(map(certified, every)) else NOT_CERTIFIED
    slope, most = with_size("it wins most with small networks", single, falls=True)
    parts = (part("the GPU wins every case", won, bool(lost), why=why), most)
    return judged(
        f"Speed-ups at batch 1{traffic}, the smallest network first: {ratios}. In order of speed-up the smallest "
        f"network is number {first} of {len(single)}, the largest number {last}. {_cases(ordered, lost)}{slope}",
        parts,
        speedups=every,
    )


def _flop(item: PooledSpeedUp) -> int:
    return item.record.description.flop_per_example


def _cases(networks: Sequence[Mapping[Way, PooledSpeedUp]], lost: Sequence[PooledSpeedUp]) -> str:
    """Return how many cases there are, how many networks have larger batches or requests, and which cases are lost."""
    larger = sum(any(batch > 1 for _, batch in ways) for ways in networks)
    asked = sum(REQUESTS in ways for ways in networks)
    text = (
        f"{units.count(sum(map(len, networks)))} cases of network and batch were measured on both sides, with larger "
        f"batches of {larger} of {units.pluralize(len(networks), 'network')} and requests of {asked}; "
    )
    if not lost:
        return text + "the GPU surely loses none."
    named = ", ".join(f"{item.workload} at {item.case.batch}" for item in lost)
    return text + f"the GPU surely loses {named}."


def _paid(evidence: Evidence) -> Judgement:
    speedups = steps(evidence)
    if not speedups:
        return NOT_RUN
    high = sorted(name for name, item in speedups.items() if above(sure(item), _PAID))
    networks = units.pluralize(len(speedups), "network")
    text = f"More than {units.documented(_PAID)} is surely gained by {len(high)} of {networks}"
    text += f": {', '.join(f'{name} {words(speedups[name].ratio.estimate)}' for name in high)}." if high else "."
    return Judgement(verdict="not comparable", found=text + said_of(speedups[name] for name in high))


OBSERVATIONS = (
    Observation(
        code="O12",
        article=TEXT,
        said="At inference the GPU wins in every case, and most with small networks: 804 %.",
        rule="Part 1 holds if the GPU surely wins every case, of requests and of steps at each batch; it fails "
        "if it surely loses one. Part 2 holds if over all networks the speed-up surely falls with the FLOP of a "
        "picture; it fails if it surely rises. It takes requests if all networks have them, otherwise steps at "
        "batch 1. The clusters behind the 804 % cannot be set up again.",
        experiment="serving",
        numbers=tuple((name, "throughput_gain") for name in WORKLOADS),
        judge=_wins,
    ),
    Observation(
        code="O15",
        article=TEXT,
        said="For each hour that a V100 needs a CPU has to be paid for 30.",
        testable=False,
        rule="It is about prices, which no measurement can decide, so that it is not comparable. Networks that surely "
        "gain more than 30 times are listed.",
        judge=_paid,
    ),
)
