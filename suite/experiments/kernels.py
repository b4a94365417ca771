"""Is the GPU waiting for launches? A step's wall time beside the time in which the GPU works, by a second clock."""

from collections.abc import Iterator, Sequence

import msgspec

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import percent_words, said_of_pooled, untimed, usual_case, value_point
from suite.case import Case
from suite.results.pooled.kernel_time import KernelTime, kernel_time
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.pools import Pool
from suite.results.pooled.speedup import lacking
from suite.results.records.record import Record
from suite.results.stats.statistics import Estimate
from suite.results.views.experiment_result import Chart, ExperimentResult
from suite.results.views.rows import number_cell, row_of
from suite.results.views.table import HOSTS, STATUS, Cell, Table, standing_cells, time_cell
from suite.workload import Description

TITLE = "Is the GPU waiting for launches?"
TESTS: tuple[str, ...] = ()
METHOD = (
    "One process times a step by the host's clock. Another takes the same step under JAX's profiler, which uses the"
    " GPU's own clock. It adds up the time in which a stream ran kernels, copies or memory sets; overlaps count "
    "once. The rest of the step is gaps, in which the GPU waits for the next launch. The profiler slows the host, "
    "but not the kernels, so its process times nothing else. Step and kernels are of the hosts that timed both, "
    "since hosts differ in how fast they launch. A step is launch-bound if its gaps are surely more "
    "than 10 %, and busy if they surely are not; otherwise it is uncertain. Several steps in one call "
    "shorten the gaps: experiment dispatch tells by how much."
)
WORKLOADS: tuple[str, ...] = ()

_BUSY = 0.9  # share of a step from which the GPU hardly waits
_OF_BOTH = "Each row is of the hosts that timed the step and its kernels; a time of all hosts may differ."
_COLUMNS = ("model", "step", "kernels", "gaps", "GPU busy", "95 % interval", "operations a step", "a step is", STATUS,
            HOSTS)  # fmt: skip


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return each step on the GPU, and its kernels."""
    here.need_gpu("kernels")
    return tuple(usual_case(about, "gpu", here, scope) for about in catalogue for scope in ("step", "kernels"))


def busy(found: KernelTime) -> Estimate:
    """Return the share of the step in which the GPU works, at most 1."""
    return found.busy.estimate.mapped(lambda share: min(share, 1.0))


def launch_bound(found: KernelTime) -> bool:
    """Return whether its gaps are surely more than 10 %; without an interval, whether they are."""
    share = busy(found)
    return (share.value if share.high is None else share.high) < _BUSY


def sentence(found: KernelTime) -> str:
    """Return how much of a step the GPU computes, in words."""
    wall, kernels = (units.seconds(pool.seconds.value) for pool in (found.step, found.kernels))
    rest = "the rest are gaps: launch-bound" if launch_bound(found) else "it hardly waits"
    if _word(found) == "uncertain":
        rest = "the rest are gaps" if busy(found).value < _BUSY else "it probably hardly waits"
    hosts = "the only host" if found.busy.hosts == 1 else f"the {units.count(found.busy.hosts)} hosts"
    computes = f"Of a step of {wall} the GPU computes {kernels} ({units.percent(busy(found).value)})"
    if busy(found).value == 1:
        computes = f"The GPU computes throughout a step of {wall}"
    where = f" These times are of {hosts} that timed both." if found.elsewhere else ""
    return f"{computes}, {rest}.{where}"


def sentences(evidence: Evidence) -> str:
    """Return how much of each step the GPU computes, in words; '' if no kernels were profiled."""
    apart = (f"No host timed both the step of {name} and its kernels." for name in timed_apart(evidence))
    return " ".join((*map(sentence, kernel_times(evidence)), *apart))


def kernel_times(evidence: Evidence) -> list[KernelTime]:
    """Return the headline steps that a host timed beside their kernels, those with the largest gaps first."""
    timed = (kernel_time(kernels, steps) for kernels, steps in _profiled(evidence))
    return sorted(filter(None, timed), key=lambda each: each.busy.value)


def timed_apart(evidence: Evidence) -> list[str]:
    """Return the workloads whose step and kernels were timed, but by no host both."""
    return [kernels.case.workload for kernels, steps in _profiled(evidence) if not kernel_time(kernels, steps)]


def _profiled(evidence: Evidence) -> Iterator[tuple[Pool, Sequence[Pool]]]:
    """Yield each profiled step's kernels and the pools of the step: the one in use, then the others, newest first."""
    in_use = {pool.case: pool for pool in evidence.fitting(_fits)}
    for case, kernels in in_use.items():
        step = in_use.get(msgspec.structs.replace(case, scope="step"))
        if case.scope == "kernels" and step is not None:
            others = [pool for pool in evidence.every if pool is not step and pool.case == step.case]
            yield kernels, (step, *sorted(others, key=lambda pool: pool.newest.created, reverse=True))


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return kernels and gaps of each step; None if no kernels were profiled."""
    found, apart = kernel_times(evidence), timed_apart(evidence)
    lacking_host = f"No host timed both a step and its kernels of {', '.join(apart)}." if apart else ""
    if not found:
        return ExperimentResult(answers=(lacking_host,)) if apart else None
    points = (
        value_point(
            _word(each), busy(each).times(100), units.percent(busy(each).value), not any(lacking(each.busy)),
            row=each.step.case.workload,
        )
        for each in found
    )  # fmt: skip
    chart = Chart(
        caption="Share of a step in which the GPU works. The rest are gaps, in which it waits for the next launch.",
        across="GPU busy, % of the step",
        points=tuple(points),
        whole=100.0,
        finding="The GPU works in {span} of a step",
    )
    of_both = _OF_BOTH if any(each.elsewhere for each in found) else ""
    groups: list[Sequence[Pool]] = [(each.step, each.kernels) for each in found]
    table = Table(
        title="Kernels and gaps of a step",
        columns=_COLUMNS,
        rows=tuple(map(_row, found)),
        notes=(*filter(None, (of_both, lacking_host)), *untimed(evidence, _fits, groups)),
    )
    return ExperimentResult(answers=(_answer(found),), tables=(table,), chart=chart)


def _fits(record: Record) -> bool:
    if record.case.scope == "kernels":
        return record.usual()
    return record.backend == "gpu" and record.headline_step()


def _word(found: KernelTime) -> str:
    """Return whether the GPU waits in a step, as far as its interval tells."""
    if launch_bound(found):
        return "launch-bound"
    share = busy(found)
    return "busy" if (share.value if share.low is None else share.low) >= _BUSY else "uncertain"


def _row(found: KernelTime) -> tuple[Cell, ...]:
    share, gaps = busy(found).times(100), found.gap_seconds
    return row_of(
        found.step.case.workload,
        time_cell(found.step),
        time_cell(found.kernels),
        number_cell(max(gaps, 0.0), units.seconds),
        Cell(text=units.percent(busy(found).value), sort=found.busy.value, record=found.kernels.newest),
        Cell(text=units.interval(share.low, share.high)),
        number_cell(found.operations, units.number, why="not told"),
        _word(found),
        *standing_cells(found.busy),
    )


def _answer(found: Sequence[KernelTime]) -> str:
    """Return how many steps wait for launches, and with how much work a step they no longer do."""
    waiting = [each for each in found if launch_bound(each)]
    ends = {each.step.case.workload: busy(each) for each in (found[0], found[-1])}
    span = " and ".join(f"{percent_words(share)} of a step of {name}" for name, share in ends.items())
    few = units.count(len(waiting)) if waiting else "None"
    said = said_of_pooled([each.busy for each in found])
    first = f"{few} of {units.pluralize(len(found), 'step')} {'is' if len(waiting) < 2 else 'are'} launch-bound"
    names = f": {', '.join(each.step.case.workload for each in waiting)}" if waiting else ""
    return f"{first}{names}. The GPU works for {span}.{_turn(found, waiting)}{said}"


def _turn(found: Sequence[KernelTime], waiting: Sequence[KernelTime]) -> str:
    """Return from how much work on no step waits; '' if none waits or those with the most work do."""
    longest = max((each.kernels.seconds.value for each in waiting), default=0.0)
    above = [each.kernels.seconds.value for each in found if each.kernels.seconds.value > longest]
    if not waiting or not above:
        return ""
    return f" No step with kernels of {units.seconds(min(above))} or more is surely launch-bound."
