"""Inference, one picture at a time, and speed-ups as large as a bill."""

from collections.abc import Mapping, Sequence

from suite import units
from suite.experiments.serving import WORKLOADS
from suite.inquiry.served import REQUESTS, Way, campaigns, gains
from suite.inquiry.steps import steady, words
from suite.observations import NOT_RUN, Judgement, Observation, campaigns_of, judged, part
from suite.observations._articles import TEXT
from suite.observations._found import above, below, both_counted, steps, unsure
from suite.observations._sizes import with_size
from suite.results.record import Record
from suite.results.speedup import SpeedUp, record_of

_PAID = 30.0


def _wins(records: Sequence[Record]) -> Judgement:
    found = _served(records)
    if len(found) < 2:
        return NOT_RUN
    ordered = sorted(found.values(), key=lambda ways: _flop(next(iter(ways.values()))))
    every = [item for ways in ordered for item in ways.values()]
    way = REQUESTS if all(REQUESTS in ways for ways in ordered) else ("step", 1)
    single = [ways[way] for ways in ordered if way in ways]
    if len(single) < 2:
        return NOT_RUN
    first, last = (1 + sum(item.ratio.value > end.ratio.value for item in single) for end in (single[0], single[-1]))
    said = "; ".join(f"{record_of(item).workload} {words(item.ratio)}" for item in single)
    traffic = ", four requests under way" if way == REQUESTS else ""
    kept = [item for item in every if steady(item)]
    lost = [item for item in kept if below(item.ratio, 1)]
    won = bool(kept) and all(above(item.ratio, 1) for item in kept)
    why = unsure(*(item.ratio for item in kept)) if kept else "no result is steady"
    slope, most = with_size("it wins most with small networks", single, falls=True)
    parts = (part("the GPU wins every case", won, bool(lost), why=why), most)
    return judged(
        f"Speed-ups at batch 1{traffic}, the smallest network first: {said}. In order of speed-up the smallest network "
        f"is number {first} of {len(single)}, the largest number {last}. {_cases(ordered, lost)}{slope}",
        parts,
        every,
    )


def _flop(item: SpeedUp) -> int:
    return record_of(item).description.flop_per_example


def _served(records: Sequence[Record]) -> dict[str, dict[Way, SpeedUp]]:
    """Return each network's speed-ups that may be judged by: the headline's step and the experiment's other ways."""
    found: dict[str, dict[Way, SpeedUp]] = {
        name: {("step", 1): item} for name, item in steps(records).items() if name.startswith("serve_")
    }
    asked = campaigns(record for record in records if record.profile != "smoke")
    for name, group in asked.items():
        ways = {way: item for way, item in gains(group).items() if both_counted(item)}
        found |= {name: ways | found.get(name, {})} if ways else {}
    return found


def _cases(networks: Sequence[Mapping[Way, SpeedUp]], lost: Sequence[SpeedUp]) -> str:
    """Return how many cases there are, of how many networks those beyond a step at batch 1, and which are lost."""
    larger = sum(any(batch > 1 for _, batch in ways) for ways in networks)
    asked = sum(REQUESTS in ways for ways in networks)
    said = (
        f"{units.count(sum(map(len, networks)))} cases of network and batch were measured on both sides, with larger "
        f"batches of {larger} of {units.counted(len(networks), 'network')} and requests of {asked}; "
    )
    if not lost:
        return said + "the GPU surely loses none."
    named = ", ".join(f"{record_of(item).workload} at {record_of(item).case.batch}" for item in lost)
    return said + f"the GPU surely loses {named}."


def _paid(records: Sequence[Record]) -> Judgement:
    found = steps(records)
    if not found:
        return NOT_RUN
    high = sorted(name for name, item in found.items() if above(item.ratio, _PAID))
    kept = [name for name in high if steady(found[name])]
    said = f"More than {units.stated(_PAID)} is surely gained by {len(kept)} of {units.counted(len(found), 'network')}"
    said += f": {', '.join(f'{name} {words(found[name].ratio)}' for name in kept)}." if kept else "."
    shaky = [name for name in high if name not in kept]
    said += f" Above it too, but not steady: {', '.join(shaky)}." if shaky else ""
    return Judgement(verdict="not comparable", found=said + campaigns_of(found.values()))


OBSERVATIONS = (
    Observation(
        code="O12",
        article=TEXT,
        said="At inference the GPU wins in every case, and most with small networks: 804 %.",
        rule="Part 1 holds if the GPU surely wins every steady case, of requests and of steps at each batch; it fails "
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
        "gain more than 30 times are listed, those whose results are not steady apart.",
        judge=_paid,
    ),
)
