"""Gains from tuning the input pipeline in sentences; experiment `input_tuning` has the cases and tables."""

from collections.abc import Iterator, Sequence

import msgspec

from suite import units
from suite.analysis.input_pipeline import change, claimed, gpu_busy, step_share
from suite.analysis.steps import said_of_pooled, words
from suite.case import Augmentation
from suite.results.pooled.machine_evidence import rate_over
from suite.results.pooled.pools import Pool
from suite.results.stats.pooling import Pooled
from suite.results.stats.statistics import Estimate

WORKERS, BATCHES = (1, 2, 4, 8, 16), (32, 64, 128, 256)
AUGMENTATIONS: tuple[Augmentation, ...] = ("host", "none")
DEFAULT, DOCUMENTED = (1, 32), (4, 64)  # workers and batch: the tutorial's, and the article's tuned ones
BESIDE = ("catdog_cnn_dropout", "catdog_cnn_noaug")  # the same network, augmented and not

Cells = dict[tuple[int, int, str], Pool]  # by workers, batch and augmentation


def most(cores: int) -> int:
    """Return the largest measured worker count up to the cores."""
    return max(count for count in WORKERS if count <= max(cores, 1))


def tuned_cell(cores: int) -> tuple[int, int]:
    """Return workers and batch of a tuned cell, chosen without measurement."""
    return most(cores), 64


def gains(cells: Cells) -> Iterator[str]:
    """Yield clauses on the gain of more workers and larger batches, and the cost of augmentation."""
    base, tuned = cells.get((*DEFAULT, "host")), cells.get((*DOCUMENTED, "host"))
    if base is None or tuned is None:
        yield "what four workers and batch 64 gain is not known, as one of the two was not measured."
        return
    gain = rate_over(tuned, base)
    yield (
        f"four workers and batch 64 are {words(gain.estimate)} as fast as one worker and batch 32{_documented(base)}."
        + said_of_pooled([gain])
    )
    best = max((pool for key, pool in cells.items() if key[2] == "host"), key=lambda pool: rate_over(pool, base).value)
    top, case, share, busy = rate_over(best, base), best.case, step_share(best), gpu_busy(best)
    yield (
        f"the fastest augmented cell is {of_workers(case.workers)} with batch {case.batch}, {words(top.estimate)} as "
        "fast as the default"
        + (f"; the step alone accounts for {units.percent(share.value)} of its time" if share else "")
        + (f", and the GPU is busy {units.percent(busy.value)} of it" if busy else "")
        + "."
        + said_of_pooled([top])
    )
    for workers, batch in dict.fromkeys((DEFAULT, tuned_cell(base.newest.machine.cores))):
        with_it, without = cells.get((workers, batch, "host")), cells.get((workers, batch, "none"))
        if with_it and without:
            cost = rate_over(with_it, without)
            yield (
                f"with {of_workers(workers)} and batch {batch} augmentation changes the speed by "
                f"{change(cost.estimate)}.{said_of_pooled([cost])}"
            )


def of_workers(count: int | None) -> str:
    """Return a worker count in words."""
    return f"{units.count(count)} worker{'' if count == 1 else 's'}"


def _documented(base: Pool) -> str:
    """Return a clause on the documented gain of tuning on that side; '' if none is documented."""
    about = base.newest.description
    if base.case.backend == "gpu":
        claim = claimed(about, "gpu_tuning_gain")
        return f"; documented are about {units.documented(claim.gpu_value)} on a {claim.gpu_device}" if claim else ""
    first, tuned = claimed(about, "throughput_default"), claimed(about, "throughput_tuned")
    if not (first and tuned and first.cpu_value and tuned.cpu_value):
        return ""
    return f"; documented are {units.ratio(tuned.cpu_value / first.cpu_value)} in a {tuned.cpu_device}"


def singles(base: Pool, singly: Sequence[tuple[str, Pool]]) -> str:
    """Return a sentence on the speed of each single changed setting over the default."""
    ratios = {name: rate_over(pool, base) for name, pool in singly}
    said = [f"{name} is {words(value.estimate)} as fast{_verdict(value.estimate)}" for name, value in ratios.items()]
    return "; ".join(said) + "." + said_of_pooled(ratios.values())


def _verdict(ratio: Estimate) -> str:
    if ratio.low is None or ratio.high is None:
        return ""
    return ", no difference that shows" if ratio.low <= 1 <= ratio.high else ""


def costs(pools: Sequence[Pool]) -> Iterator[str]:
    """Yield clauses on the cost of augmentation for the network with dropout, if measured both ways."""
    for pool, cost in twins(pools):
        case = pool.case
        both = (next(each.newest.description for each in pools if each.case.workload == name) for name in BESIDE)
        claims = [claimed(about, "throughput") for about in both]
        rates = [claim.gpu_value for claim in claims if claim and claim.gpu_value]
        documented = (
            f"; documented are {units.number(rates[0])} against {units.number(rates[1])} photographs/s on a "
            f"{claims[0].gpu_device if claims[0] else ''}, {units.percent(rates[0] / rates[1] - 1)}"
            if len(rates) == len(BESIDE)
            else ""
        )
        yield (
            f"{case.workload} on the {case.backend.upper()}, {of_workers(case.workers)} and batch {case.batch}: "
            f"augmentation changes the speed by {change(cost.estimate)}{documented}.{said_of_pooled([cost])}"
        )


def twins(pools: Sequence[Pool]) -> Iterator[tuple[Pool, Pooled]]:
    """Yield the augmented network's pool, and its speed over that of the same network without augmentation."""
    plain = {pool.case: pool for pool in pools if pool.case.workload == BESIDE[1]}
    for pool in pools:
        twin = plain.get(msgspec.structs.replace(pool.case, workload=BESIDE[1]))
        if twin is not None and twin is not pool:
            yield pool, rate_over(pool, twin)
