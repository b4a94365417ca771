"""What tuning the input pipeline gains, in sentences; experiment `input_tuning` has the cases and tables."""

from collections.abc import Iterator, Sequence

import msgspec

from suite import units
from suite.analysis.input_pipeline import change, claimed, gain
from suite.analysis.steps import caveat, words
from suite.case import Augmentation
from suite.results.single.input_pipeline import input_pipeline
from suite.results.single.summary import Summary
from suite.results.stats.statistics import Estimate

WORKERS, BATCHES = (1, 2, 4, 8, 16), (32, 64, 128, 256)
AUGMENTATIONS: tuple[Augmentation, ...] = ("host", "none")
DEFAULT, DOCUMENTED = (1, 32), (4, 64)  # workers and batch: the tutorial's, the article's tuned ones
BESIDE = ("catdog_cnn_dropout", "catdog_cnn_noaug")  # augmented and not, the same network

Cells = dict[tuple[int, int, str], Summary]  # by workers, batch and augmentation


def most(cores: int) -> int:
    """Return as many workers as cores, of those that are measured."""
    return max(count for count in WORKERS if count <= max(cores, 1))


def tuned_cell(cores: int) -> tuple[int, int]:
    """Return workers and batch of a tuned cell that is known beforehand."""
    return most(cores), 64


def speed(item: Summary, base: Summary | None) -> Estimate | None:
    """Return how many times as fast a result is as another; None unless both are whole and of one campaign."""
    return gain(item, base) if base is not None and item.complete and base.complete else None


def gpu_busy(item: Summary) -> float | None:
    """Return the share of the time in which the GPU was busy; None on a CPU."""
    return input_pipeline(item.record).gpu_utilisation


def step_share(item: Summary) -> float | None:
    """Return the share of the time from storage on that the step alone accounts for."""
    share = input_pipeline(item.record).share
    return share.value if share else None


def tuning(cells: Cells) -> Iterator[str]:
    """Yield what more workers and larger batches gain, and what augmentation costs."""
    base, tuned = cells.get((*DEFAULT, "host")), cells.get((*DOCUMENTED, "host"))
    found = speed(tuned, base) if tuned else None
    if base is None or tuned is None or found is None:
        yield "what four workers and batch 64 gain is not known, as one of the two has no whole result."
        return
    yield (
        f"four workers and batch 64 are {words(found)} as fast as one worker and batch 32{_documented(base)}."
        + caveat((base, tuned))
    )
    speeds = [(found, item) for key, item in cells.items() if key[2] == "host" and (found := speed(item, base))]
    if speeds:
        top, best = max(speeds, key=lambda each: each[0].value)
        case, share, busy = best.record.case, step_share(best), gpu_busy(best)
        yield (
            f"the fastest augmented cell is {of_workers(case.workers)} with batch {case.batch}, {words(top)} as fast "
            f"as the default; the step alone accounts for {units.percent(share)} of its time"
            + (f", and the GPU is busy {units.percent(busy)} of it" if busy is not None else "")
            + "."
            + caveat((best, base))
        )
    for workers, batch in dict.fromkeys((DEFAULT, tuned_cell(base.record.machine.cores))):
        with_it, without = cells.get((workers, batch, "host")), cells.get((workers, batch, "none"))
        if with_it and without and (cost := speed(with_it, without)) is not None:
            yield (
                f"with {of_workers(workers)} and batch {batch} augmentation changes the speed by {change(cost)}."
                + caveat((with_it, without))
            )


def of_workers(count: int | None) -> str:
    """Return in words how many workers there are."""
    return f"{units.count(count)} worker{'' if count == 1 else 's'}"


def _documented(base: Summary) -> str:
    """Return what is documented of tuning on that side."""
    about = base.record.description
    if base.record.backend == "gpu":
        claim = claimed(about, "gpu_tuning_gain")
        return f"; documented are about {units.documented(claim.gpu_value)} on a {claim.gpu_device}" if claim else ""
    first, tuned = claimed(about, "throughput_default"), claimed(about, "throughput_tuned")
    if not (first and tuned and first.cpu_value and tuned.cpu_value):
        return ""
    return f"; documented are {units.ratio(tuned.cpu_value / first.cpu_value)} in a {tuned.cpu_device}"


def singles(cells: Cells, singly: Sequence[tuple[str, Summary]]) -> str:
    """Return what each setting that was changed alone makes of the default's speed."""
    base, said = cells.get((*DEFAULT, "host")), []
    for name, item in singly:
        found = speed(item, base)
        said.append(f"{name} is {words(found)} as fast{_verdict(found)}" if found else f"{name} is not known")
    return "; ".join(said) + "." + caveat([item for _, item in singly])


def _verdict(found: Estimate) -> str:
    if found.low is None or found.high is None:
        return ""
    return ", no difference that shows" if found.low <= 1 <= found.high else ""


def costs(items: Sequence[Summary]) -> Iterator[str]:
    """Yield what augmentation costs the network with dropout, where both ways were measured alike."""
    for item, twin, cost in twins(items):
        case = item.record.case
        claims = [claimed(side.record.description, "throughput") for side in (item, twin)]
        rates = [claim.gpu_value for claim in claims if claim and claim.gpu_value]
        said = (
            f"; documented are {units.number(rates[0])} against {units.number(rates[1])} photographs/s on a "
            f"{claims[0].gpu_device if claims[0] else ''}, {units.percent(rates[0] / rates[1] - 1)}"
            if len(rates) == len(BESIDE)
            else ""
        )
        yield (
            f"{case.workload} on the {case.backend.upper()}, {of_workers(case.workers)} and batch {case.batch}: "
            f"augmentation changes the speed by {change(cost)}{said}." + caveat((item, twin))
        )


def twins(items: Sequence[Summary]) -> Iterator[tuple[Summary, Summary, Estimate]]:
    """Yield the network with dropout augmented, not augmented, and the former's speed over the latter's."""
    for item in items:
        twin = next((i for i in items if i.record.workload == BESIDE[1] and _alike(item, i)), None)
        cost = speed(item, twin) if item.record.workload == BESIDE[0] else None
        if twin is not None and cost is not None:
            yield item, twin, cost


def _alike(item: Summary, other: Summary) -> bool:
    return msgspec.structs.replace(item.record.case, workload=other.record.workload) == other.record.case
