"""Every documented number beside the measurement nearest to it, and why the two differ."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from suite import units
from suite.experiments import accuracy
from suite.inquiry.steps import solid, words
from suite.observations import NOT_RUN, Judgement, Verdict, judgement, observations
from suite.observations._articles import MNIST, RESNET, TEXT
from suite.observations._found import near, steps
from suite.observations.first_calls import ratio_of_first_calls
from suite.observations.photographs import tuning_gain
from suite.results.ladder import ladder
from suite.results.record import Record
from suite.results.speedup import Result, current, speedups
from suite.results.statistics import Estimate
from suite.workload import Claim, Description, Scope

_GAIN = "gpu_tuning_gain"  # a ratio, but of a GPU with itself

# Which scope a documented number is one of.
_SCOPES: dict[str, Scope] = {
    "steady_step": "step",
    "whole_run": "run",
    "10_epochs_incl_build": "run",
    "training": "run",
    "throughput": "epoch",
    "throughput_b512": "epoch",
    "gpu_vs_bare_metal": "epoch",
}
_POINTS = 1.0  # a documented accuracy is reached if the measured one is as near, in points of a percentage


@dataclass(frozen=True, kw_only=True)
class _Nearest:
    """The ratio that is defined most like a documented one, its scope, and the results that it comes from."""

    ratio: Estimate | None = None
    scope: Scope | None = None
    items: Sequence[Result] = ()


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A documented number and what became of it."""

    workload: str
    article: str
    claim: Claim
    machine: str
    measured: Estimate | None
    scope: Scope | None
    judgement: Judgement


def entries(
    catalogue: Sequence[Description], records: Sequence[Record], judged: Mapping[str, Judgement]
) -> Iterator[Entry]:
    """Yield an entry for each documented number, from one machine's records and its judged observations."""
    machine = records[0].machine.name if records else ""
    of = {number: each.code for each in observations() for number in each.numbers}
    for about in catalogue:
        mine = [record for record in records if record.workload == about.name]
        for claim in about.claims:
            nearest = _nearest(claim, about.name, mine)
            observed = judged.get(of.get((about.name, claim.metric), ""), NOT_RUN)
            yield Entry(
                workload=about.name,
                article=about.source.title,
                claim=claim,
                machine=machine,
                measured=nearest.ratio,
                scope=nearest.scope,
                judgement=_judgement(claim, nearest, mine, observed),
            )
    for workload, article, claim, code in _ELSEWHERE:
        yield Entry(
            workload=workload, article=article, claim=claim, machine=machine, measured=None, scope=None,
            judgement=_beside(claim, judged.get(code, NOT_RUN)),
        )  # fmt: skip


def _nearest(claim: Claim, workload: str, records: Sequence[Record]) -> _Nearest:
    if claim.metric == "first_call":
        ratio, items = ratio_of_first_calls(records)
        return _Nearest(ratio=ratio, scope="calls", items=items)
    if claim.metric == _GAIN:
        ratio, items = tuning_gain(records, "gpu")
        return _Nearest(ratio=ratio, scope="epoch", items=items)
    scope = _SCOPES.get(claim.metric)
    if scope is None or claim.speedup is None:
        return _Nearest()
    found = steps(records, [workload], scope).get(workload)
    return _Nearest(ratio=found.ratio, scope=scope, items=[found]) if found else _Nearest(scope=scope)


def _judgement(claim: Claim, nearest: _Nearest, records: Sequence[Record], observed: Judgement) -> Judgement:
    if claim.metric == "accuracy":
        return _reached(claim, records)
    documented = claim.gpu_value if claim.metric == _GAIN else claim.speedup
    if nearest.ratio is None or documented is None:
        return _beside(claim, observed)
    verdict: Verdict = "reproduced" if near(nearest.ratio, documented) and solid(*nearest.items) else "not comparable"
    devices = " and ".join(device for device in (claim.cpu_device, claim.gpu_device) if device)
    sides = f"documented on {devices}, measured on other hardware"
    apart = list(_apart(records)) if claim.metric != _GAIN else []
    here = f"; here {'; '.join(said for said, _ in apart)}" if apart else ""
    return judgement(verdict, f"{sides}{here}.", [*nearest.items, *(item for _, each in apart for item in each)])


def _reached(claim: Claim, records: Sequence[Record]) -> Judgement:
    record = next(iter(accuracy.trained(records).values()), None)
    if record is None or claim.gpu_value is None:
        return Judgement(verdict="not run", found="Needs the real data.")
    share = accuracy.mean(record)
    verdict: Verdict = "reproduced" if abs(100 * share - claim.gpu_value) <= _POINTS else "not comparable"
    return Judgement(verdict=verdict, found=f"{units.percent(share, 3)} were answered right.")


def _beside(claim: Claim, observed: Judgement) -> Judgement:
    """Return what an observation found as what there is beside a number that was not measured itself."""
    if observed.verdict == "not run":
        return observed
    why = "The documented ratio itself was not measured" if claim.speedup else "Documented is no ratio of CPU and GPU"
    return Judgement(verdict="not comparable", found=f"{observed.found} {why}.")


def _apart(records: Sequence[Record]) -> Iterator[tuple[str, Sequence[Result]]]:
    """Yield the speed-ups of the same network by what is counted, and by precision, each with both its results."""
    for rung in ladder(records):
        if rung.ratio is not None and rung.cpu is not None and rung.gpu is not None:
            yield f"{rung.words} {words(rung.ratio)}", (rung.cpu, rung.gpu)
    for item in current(speedups(records)):
        case = item.gpu.record.case
        if case.scope == "step" and case.precision != "float32-highest" and case.variant == "plain":
            yield f"the GPU in {case.precision} {words(item.ratio)}", [item]


_PAID = Claim(
    metric="units_of_time_paid", definition="hours of a CPU paid for the work of one hour of a V100", unit="ratio",
    cpu_device="Xeon", cpu_value=30, gpu_device="Xeon and V100", gpu_value=1, speedup=30,
)  # fmt: skip
_PRICE = Claim(
    metric="price_per_hour", definition="price of a virtual machine with a P100", unit="USD",
    gpu_device="Azure VM with P100", gpu_value=0.90,
)  # fmt: skip
_ON_A_MAC = Claim(
    metric="100_epochs_on_a_mac", definition="100 epochs extrapolated from one step; by the article's own factors 824",
    unit="h", cpu_device="Mac mini late 2014", cpu_value=795, gpu_device="GTX 1080", gpu_value=5.17, speedup=159,
)  # fmt: skip

# Documented numbers of no network's own: subject, article, claim, and the observation that judges; '' where none can.
_ELSEWHERE: tuple[tuple[str, str, Claim, str], ...] = (
    ("cost", TEXT, _PAID, "O15"),
    ("cost", MNIST, _PRICE, ""),
    ("cifar10_resnet63", RESNET, _ON_A_MAC, "O9"),
)
