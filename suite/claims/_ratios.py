"""Documented ratios of CPU and GPU, and what refutes them on any hardware."""

from suite import units
from suite.claims import part
from suite.claims._comparison import ANY_OTHER, Compare, Comparison, agrees, gained
from suite.claims._judging import SIZE, above, higher, more, steps
from suite.claims.first_calls import ratio_of_first_calls
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.stats.statistics import Estimate
from suite.scopes import Scope
from suite.workload import Claim

_STEPS_OF_100_EPOCHS = 78_125  # of 64 pictures of CIFAR-10
_BY_DEPTH = ("catdog_cnn_base", "catdog_cnn_128", "catdog_cnn_deep")  # 4, 23 and 100 times


def ratio_of(scope: Scope, what: str) -> Compare:
    """Return the comparison of a documented ratio of CPU and GPU with the measured one."""

    def compare(claim: Claim, workload: str, evidence: Evidence) -> Comparison:
        rule = f"Reproduced if the ratio of {what} is as high within a factor of {SIZE:g}. {ANY_OTHER}"
        item = steps(evidence, [workload], scope).get(workload)
        if item is None or claim.speedup is None:
            return Comparison(rule=rule, scope=scope)
        return gained(rule, scope, item, claim.speedup)

    return compare


def step(claim: Claim, workload: str, evidence: Evidence) -> Comparison:
    """Compare a residual network's step; a longer time on a later GPU refutes the documented one."""
    rule = (
        f"Reproduced if the ratio of one step is as high within a factor of {SIZE:g}; refuted if a later data-centre "
        "GPU surely takes longer for the step than the documented GPU did."
    )
    item = steps(evidence, [workload]).get(workload)
    if item is None or claim.gpu_value is None or claim.speedup is None:
        return Comparison(rule=rule, scope="step")
    return gained(rule, "step", item, claim.speedup, _slower_though_later(item, claim.gpu_value))


def hundred_epochs(claim: Claim, workload: str, evidence: Evidence) -> Comparison:
    """Compare a training of 100 epochs, whose steps are a lower bound."""
    rule = (
        "Refuted if its 78,125 steps alone surely take a later data-centre GPU longer than the documented training; "
        "otherwise not comparable, as the hardware differs."
    )
    item = steps(evidence, [workload]).get(workload)
    if item is None or claim.gpu_value is None:
        return Comparison(rule=rule)
    longer = _slower_though_later(item, 3600 * claim.gpu_value / _STEPS_OF_100_EPOCHS)
    hours = item.gpu.seconds.times(_STEPS_OF_100_EPOCHS / 3600)
    summary = f"The steps alone take {units.number(hours.value, units.half_width(hours.low, hours.high))} h on the GPU."
    why = "it is shorter, which the hardware may explain"
    return Comparison(rule=rule, parts=(part("", False, longer, why=why),), found=summary, speedups=[item])


def _slower_though_later(item: PooledSpeedUp, seconds: float) -> bool:
    """Return whether a data-centre GPU of a later generation than the documented ones is surely slower."""
    cards = item.record.machine.gpus
    later = bool(cards) and not cards[0].slice and _generation(cards[0].compute_capability) > 6
    return later and above(item.gpu.seconds, seconds)


def _generation(capability: str) -> int:
    """Return a data-centre GPU's generation from its compute capability, which ends in 0; 0 for other GPUs."""
    major, _, minor = capability.partition(".")
    return int(major) if major.isdigit() and minor == "0" else 0


def first_call(claim: Claim, workload: str, evidence: Evidence) -> Comparison:
    """Compare the first call's ratio, which in the article is far below that of a step."""
    rule = (
        f"Reproduced if the ratio of first calls is as high within a factor of {SIZE:g}; refuted if it is surely "
        "higher than that of a step, which in the article is more than 30 times as high."
    )
    ratio, items = ratio_of_first_calls(evidence.of(workload).records)
    if ratio is None or claim.speedup is None:
        return Comparison(rule=rule, scope="calls")
    later = steps(evidence, [workload]).get(workload)
    alone = Estimate(value=ratio.value)  # its interval is one host's, the step's that of the kind of machine
    turned = later is not None and higher(alone, later.ratio.estimate)
    one = agrees(ratio, claim.speedup, items, turned)
    return Comparison(rule=rule, parts=(one,), ratio=ratio, scope="calls", items=items)


def of_from_storage(claim: Claim, workload: str, evidence: Evidence) -> Comparison:
    """Compare one of three ratios from storage, which in the article rise with the network."""
    smaller = _BY_DEPTH[: _BY_DEPTH.index(workload)]
    order = f"; refuted if it is surely lower than with {smaller[-1]}, a smaller network" if smaller else ""
    rule = f"Reproduced if the ratio from storage on is as high within a factor of {SIZE:g}{order}. {ANY_OTHER}"
    found = steps(evidence, (workload, *smaller), "epoch")
    item, less = found.get(workload), found.get(smaller[-1]) if smaller else None
    if item is None or claim.speedup is None:
        return Comparison(rule=rule, scope="epoch")
    return gained(rule, "epoch", item, claim.speedup, less is not None and more(less, item))
