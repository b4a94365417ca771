"""Every documented number, its nearest measurement, and why the two differ."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from suite.analysis.steps import words
from suite.claims import NOT_RUN, Judgement, _alone, _ratios, observations
from suite.claims import judged as judged_by
from suite.claims._articles import MNIST, RESNET, TEXT
from suite.claims._comparison import Compare, Comparison
from suite.results.pooled.ladder import ladder
from suite.results.pooled.machine_evidence import Evidence
from suite.results.stats.statistics import Estimate
from suite.scopes import Scope
from suite.workload import Claim, Description

_COMPARED: dict[str, Compare] = {
    "accuracy": _alone.of_accuracy,
    "gpu_utilisation": _alone.busy,
    "gpu_tuning_gain": _alone.tuned("gpu"),
    "throughput_default": _alone.tuned("cpu"),
    "throughput_tuned": _alone.tuned("cpu"),
    "change_from_dropout_net": _alone.of_larger_pictures,
    "steady_step": _ratios.step,
    "first_call": _ratios.first_call,
    "100_epochs": _ratios.hundred_epochs,
    "whole_run": _ratios.ratio_of("run", "the whole run"),
    "10_epochs_incl_build": _ratios.ratio_of("run", "the whole run"),
    "training": _ratios.ratio_of("run", "the whole run"),
    "throughput_b512": _ratios.ratio_of("epoch", "training from storage on"),
    "gpu_vs_bare_metal": _ratios.of_from_storage,
}
_COMPARED_OF: dict[tuple[str, str], Compare] = {
    ("gbdt_mortgage", "training"): _alone.trees,
    ("catdog_cnn_dropout", "throughput"): _alone.augmented,
    ("catdog_cnn_noaug", "throughput"): _alone.augmented,
    ("catdog_cnn_128", "throughput"): _ratios.of_from_storage,
    ("catdog_cnn_deep", "throughput"): _ratios.of_from_storage,
}
_ON_ITSELF = ("gpu_tuning_gain", "throughput_default", "throughput_tuned")  # a ratio of one side with itself


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A documented number and the judgement on it."""

    workload: str
    article: str
    claim: Claim
    machine: str
    measured: Estimate | None
    scope: Scope | None
    rule: str
    judgement: Judgement


def entries(catalogue: Sequence[Description], evidence: Evidence, judged: Mapping[str, Judgement]) -> Iterator[Entry]:
    """Yield an entry for each documented number, from one machine's evidence and its judged observations."""
    machine = evidence.records[0].machine.name if evidence.records else ""
    of = {number: each.code for each in observations() for number in each.numbers}
    for about in catalogue:
        for claim in about.claims:
            comparison = _compared(claim, about.name, evidence)
            observed = judged.get(of.get((about.name, claim.metric), ""), NOT_RUN)
            yield Entry(
                workload=about.name,
                article=about.source.title,
                claim=claim,
                machine=machine,
                measured=comparison.ratio,
                scope=comparison.scope,
                rule=comparison.rule,
                judgement=_judgement(claim, comparison, evidence.of(about.name), observed),
            )
    for workload, article, claim, code, rule in _ELSEWHERE:
        judgement = (
            judged.get(code, NOT_RUN) if code else Judgement(verdict="not comparable", found="It is not measured.")
        )
        yield Entry(
            workload=workload, article=article, claim=claim, machine=machine, measured=None, scope=None, rule=rule,
            judgement=_beside(claim, judgement) if code else judgement,
        )  # fmt: skip


def _compared(claim: Claim, workload: str, evidence: Evidence) -> Comparison:
    compare = _COMPARED_OF.get((workload, claim.metric)) or _COMPARED.get(claim.metric)
    return compare(claim, workload, evidence) if compare else Comparison(rule=_NO_RULE)


def _judgement(claim: Claim, comparison: Comparison, evidence: Evidence, observed: Judgement) -> Judgement:
    if not comparison.parts:
        return Judgement(verdict="not run", found=comparison.found) if comparison.found else _beside(claim, observed)
    if comparison.ratio is None or claim.metric in _ON_ITSELF:
        return judged_by(
            comparison.found or _documented_on(claim), comparison.parts, comparison.items, comparison.speedups
        )
    apart = "; ".join(_apart(evidence))
    here = f" On {evidence.records[0].machine.name}: {apart}." if apart else ""
    return judged_by(_documented_on(claim) + here, comparison.parts, comparison.items, comparison.speedups)


def _documented_on(claim: Claim) -> str:
    devices = " and ".join(device for device in (claim.cpu_device, claim.gpu_device) if device)
    return f"Documented on {devices}, measured on other hardware."


def _beside(claim: Claim, observed: Judgement) -> Judgement:
    """Return an observation's finding as context for a documented number that was not measured itself."""
    if observed.verdict == "not run":
        return observed
    why = "The documented ratio itself was not measured" if claim.speedup else "Documented is no ratio of CPU and GPU"
    return Judgement(verdict="not comparable", found=f"{observed.found} {why}.")


def _apart(evidence: Evidence) -> Iterator[str]:
    """Yield the network's speed-ups by scope and by precision, as text."""
    for rung in ladder(evidence.records, evidence.speedups):
        if rung.ratio is not None:
            yield f"{rung.words} {words(rung.ratio)}"
    for item in evidence.speedups:
        if item.record.headline_step("precision") and not item.headline and item.state != "invalid":
            yield f"the GPU in {item.case.precision} {words(item.ratio.estimate)}"


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

_NO_RULE = "Not comparable: it is no ratio that can be measured here. What there is stands beside it."

# Documented numbers without a network: subject, article, claim, judging observation ('' if none can), rule.
_ELSEWHERE: tuple[tuple[str, str, Claim, str, str], ...] = (
    ("cost", TEXT, _PAID, "O15", "Not comparable: it is about prices, which no measurement can decide."),
    ("cost", MNIST, _PRICE, "", "Not comparable: a price of its day is no measurement."),
    ("cifar10_resnet63", RESNET, _ON_A_MAC, "O9", "Not comparable: that computer is not here."),
)
