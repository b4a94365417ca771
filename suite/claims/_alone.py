"""Documented numbers of one side: compared with the same side, or independent of the hardware."""

from suite import units
from suite.analysis.devices import cells_by_workload, strong
from suite.analysis.input_pipeline import gpu_busy
from suite.analysis.learning import learnt
from suite.analysis.steps import percent_words, words
from suite.analysis.tuning import DOCUMENTED
from suite.claims import part, unjudged
from suite.claims._comparison import ANY_OTHER, Compare, Comparison, agrees
from suite.claims._judging import SIZE, above, below, higher, least, most, near, over_processes, steps, sure, unsure
from suite.claims.depth import larger_pictures, stored
from suite.claims.input_tuning import GAINS, augmenting_costs, tuning_gain
from suite.experiments import accuracy
from suite.results.pooled.machine_evidence import Evidence
from suite.workload import Claim

_POINTS, _FAR_POINTS = 0.02, 0.05  # of an accuracy: near the documented one, and surely not
_AUGMENTED = 425 / 533  # documented rates with and without augmentation
_ONE_GPU = 11.01  # documented, over the CPU
_BY_DEPTH = ("catdog_cnn_base", "catdog_cnn_128", "catdog_cnn_deep")  # busy 10, 50 and 100 %


def tuned(backend: str) -> Compare:
    """Return the comparison of a side's gain from tuning over itself."""

    def compare(claim: Claim, workload: str, evidence: Evidence) -> Comparison:
        rule = (
            f"Reproduced if four workers and batch 64 gain as much on the same side within a factor of {SIZE:g}; "
            "refuted if they surely lose on four cores or more."
        )
        del workload
        ratio = tuning_gain(evidence, backend)
        if ratio is None:
            return Comparison(rule=rule, scope="epoch")
        cores = evidence.records[0].machine.cores >= DOCUMENTED[0]
        one = agrees(ratio, GAINS[backend], against=cores and below(ratio, 1))
        return Comparison(rule=rule, parts=(one,), ratio=ratio, scope="epoch")

    return compare


def augmented(claim: Claim, workload: str, evidence: Evidence) -> Comparison:
    """Compare two rates of one GPU by their ratio."""
    del claim, workload
    rule = (
        "Compared by the ratio of 425 to 533, with and without augmentation on one GPU: reproduced within a factor of "
        f"{SIZE:g}, refuted if augmentation surely makes the training faster, as no hardware explains that."
    )
    gpu = [(pool, cost) for pool, cost in augmenting_costs(evidence) if pool.case.backend == "gpu"]
    _, ratio = max(gpu, key=lambda pair: pair[0].case.workers or 0, default=(None, None))
    if ratio is None:
        return Comparison(rule=rule)
    said = f"With augmentation the speed on the GPU is {words(ratio)} that without, documented {_AUGMENTED:.2f}x."
    return Comparison(rule=rule, parts=(agrees(ratio, _AUGMENTED, against=above(ratio, 1)),), found=said)


def of_larger_pictures(claim: Claim, workload: str, evidence: Evidence) -> Comparison:
    """Compare the rate that each side keeps with larger pictures, and which side loses more."""
    del workload
    rule = (
        f"A part for each side holds if it keeps as much of its speed within a factor of {SIZE:g}. The third, that "
        "the CPU loses more than the GPU, fails if the GPU surely loses more."
    )
    left = larger_pictures(evidence)
    if not left:
        return Comparison(rule=rule)
    documented = {"cpu": 1 + (claim.cpu_value or 0) / 100, "gpu": 1 + (claim.gpu_value or 0) / 100}
    parts = [agrees(left[b], documented[b], says=f"the {b.upper()} keeps {units.percent(documented[b])}") for b in left]
    if len(left) == 2:
        cpu, gpu = left["cpu"], left["gpu"]
        parts.append(part("the CPU loses more", higher(gpu, cpu), higher(cpu, gpu), why=unsure(cpu, gpu)))
    said = " and ".join(f"{words(left[b])} of the {b.upper()}'s speed" for b in left)
    return Comparison(rule=rule, parts=tuple(parts), found=f"Larger pictures leave {said}.")


def busy(claim: Claim, workload: str, evidence: Evidence) -> Comparison:
    """Compare a GPU's busy share, which in the article rises with the network."""
    smaller = _BY_DEPTH[: _BY_DEPTH.index(workload)]
    order = f"; refuted if it is surely less busy than with {smaller[-1]}, a smaller network" if smaller else ""
    as_busy = f"as busy within a factor of {SIZE:g}" if smaller else "at most as busy"
    rule = f"Reproduced if the GPU is surely {as_busy}{order}. Any other share may be the hardware's."
    share, other = (
        gpu_busy(pool) if name and (pool := stored(evidence, name)) else None
        for name in (workload, smaller[-1] if smaller else "")
    )
    if share is None or claim.gpu_value is None:
        return Comparison(rule=rule)
    documented = claim.gpu_value / 100
    turned = other is not None and higher(other, share)
    reproduced = near(share, documented) if smaller else most(share) <= documented
    one = part("", reproduced, turned, why="the share is another, which the hardware may explain")
    return Comparison(rule=rule, parts=(one,), found=f"The GPU is busy {percent_words(share)} of the time.")


def trees(claim: Claim, workload: str, evidence: Evidence) -> Comparison:
    """Compare boosted trees on several GPUs: over one GPU, and over the CPU."""
    gpus = int((claim.gpu_device or "1")[0])  # such as '4x Tesla P100 (same VM)'
    over_one = (claim.speedup or 0.0) / _ONE_GPU
    rule = f"Reproduced if a round is faster on the GPU by as much within a factor of {SIZE:g}. {ANY_OTHER}"
    if gpus > 1:
        rule = (
            f"Part 1 holds if {gpus} GPUs gain as much over one, part 2 if one gains as much over the CPU. Both allow "
            f"a factor of {SIZE:g}. {ANY_OTHER}"
        )
    item = steps(evidence, [workload]).get(workload)
    parts, sentences = [], []
    if gpus > 1:
        cells = cells_by_workload(evidence.of(workload)).get(workload)
        side = next((one for one in strong(cells) if one.devices == gpus), None) if cells else None
        says = f"{gpus} GPUs are {over_one:.2f} times as fast as one"
        if side is None or side.speed is None:
            parts.append(unjudged(says, "it was not measured"))
        else:
            parts.append(agrees(side.speed.estimate, over_one, says=says))
            sentences.append(f"{gpus} GPUs are {words(side.speed.estimate)} as fast as one.")
    says = f"one GPU is {_ONE_GPU:g} times as fast as the CPU"
    if item is None:
        parts.append(unjudged(says, "it was not measured"))
    else:
        parts.append(agrees(sure(item), _ONE_GPU, says=says))
        sentences.append(f"A round on one GPU is {words(item.ratio.estimate)} as fast as on the CPU.")
    if not sentences:
        return Comparison(rule=rule)
    ratio = item.ratio.estimate if item and gpus == 1 else None
    return Comparison(
        rule=rule,
        parts=tuple(parts),
        found=" ".join(sentences),
        ratio=ratio,
        scope="step" if ratio else None,
        speedups=[item] if item else [],
    )


def of_accuracy(claim: Claim, workload: str, evidence: Evidence) -> Comparison:
    """Compare an accuracy, which is independent of the hardware."""
    rule = (
        "By the processes' mean on the real data: reproduced if surely within two points, refuted if surely more than "
        "five away. An accuracy does not depend on the hardware."
    )
    record = accuracy.trained(evidence.of(workload).records).get(workload)
    reached = over_processes([one.accuracy for one in learnt(record)]) if record else None
    if reached is None or claim.gpu_value is None:
        return Comparison(rule=rule, found="Needs the real data.")
    documented = claim.gpu_value / 100
    within = least(reached) >= documented - _POINTS and most(reached) <= documented + _POINTS
    away = least(reached) > documented + _FAR_POINTS or most(reached) < documented - _FAR_POINTS
    one = part("", within, away, (), unsure(reached, between=True))
    return Comparison(rule=rule, parts=(one,), found=f"{units.percent(reached.value, 3)} were answered right.")
