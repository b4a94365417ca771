"""How much faster are more threads, and how many would equal the GPU? A step on 1, 2, 4 and so on up to all cores."""

from collections.abc import Iterator, Sequence

from suite import units
from suite.analysis import cores
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.cores import EqualCores, equal_cores, threads
from suite.analysis.steps import ratio_point, said_of_pooled, untimed, usual_case, words
from suite.analysis.thread_sweeps import fits, sweeps
from suite.case import Case
from suite.experiments import headline
from suite.results.pooled.machine_evidence import Evidence, over
from suite.results.pooled.pools import Pool
from suite.results.pooled.speedup import lacking
from suite.results.views.experiment_result import Chart, ChartLine, ExperimentResult, Point
from suite.results.views.rows import count_cell, number_cell, ratio_cells, row_of, share_cell
from suite.results.views.table import HOSTS, STATUS, Cell, Table, standing_cells, time_cell
from suite.workload import Description

TITLE = "How much faster are more threads?"
TESTS = ("O8",)
METHOD = (
    "One step is timed on the CPU by processes that may use 1, 2, 4 and so on of the granted cores. Each speed is the "
    "time with the fewest threads over the time with more, each pooled over the hosts that timed all these numbers of "
    "threads; ideal would be twice the speed with twice the threads. Since a speed-up is CPU time over GPU time, this "
    "is also by how much a GPU's speed-up shrinks when it is set against more threads. A headline step has all cores, "
    "or fewer where those are known to be faster; the answer says by how much, as a speed-up over all of them is too "
    "large by that. Which number is the fastest is known only after all were timed, so that its gain is a little "
    "flattered. How many cores would equal the GPU follows from Amdahl's law, fitted to three numbers of threads or "
    "more: a part of a step that they share, and one that none shortens. It is in favour of the CPU, whose threads "
    "also wait for memory and for each other. 'Never' means that the part that none shortens already takes longer than "
    "the GPU. A core is a hardware thread. Where two share a core of the processor and the machine tells so, a process "
    "gets one of each first: 8 of 16 have one each."
)
WORKLOADS: tuple[str, ...] = ()  # see `usual`
usual = headline.usual

_EQUAL_COLUMNS = ("model", "GPU step", "fastest CPU step", "its threads", "infinitely many threads", "95 % interval",
                  "cores that equal the GPU", "their interval", STATUS, HOSTS)  # fmt: skip
_COLUMNS = ("model", "threads", "step", "speed", "95 % interval", "of ideal", STATUS, HOSTS)


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the CPU's step with each number of threads below all cores, and with all; and the GPU's, if available."""
    here.need_cpu("threads")
    counts = (*(1 << power for power in range((here.cores - 1).bit_length())), None)
    return tuple(
        case
        for about in catalogue
        for case in (
            *(usual_case(about, "cpu", here, threads=count) for count in counts),
            *(usual_case(about, "gpu", here) for backend in here.backends if backend == "gpu"),
        )
    )


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return how the speed grows with the threads; None if no workload was timed with two numbers of them."""
    answers, rows, points, equals, most = [], [], [], [], 1
    groups, gpus = list(sweeps(evidence)), _gpus(evidence)
    for ordered in groups:
        first, name = ordered[0], ordered[0].case.workload
        for pool in ordered:
            speed = over(first, pool)
            ideal = 1.0 if pool is first else speed.value * threads(first) / threads(pool)
            gain, interval, *standing = ratio_cells(pool, first, speed)
            count = count_cell(threads(pool))
            rows.append(row_of(name, count, time_cell(pool), gain, interval, share_cell(ideal), *standing))
            base = Point(series=name, value=1.0, at=threads(first))  # without text: no gain, so no title names it
            points.append(base if pool is first else ratio_point(name, speed, at=threads(pool)))
        most = max(most, threads(ordered[-1]))
        equal = equal_cores(ordered, gpus[name]) if name in gpus else None
        equals += [equal] if equal else []
        answers.append(_answer(name, ordered) + (f" {cores.sentence(equal)}" if equal else ""))
    if not answers:
        return None
    fewest = min((p.at or 1 for p in points), default=1)
    ideal = ChartLine(series="ideal", ends=((fewest, 1.0), (most, most / fewest)), text="ideal")
    chart = Chart(
        caption="Time of a step with the fewest threads over its time with more. Grey: n threads, n times as fast.",
        across="threads, log scale",
        up="speed, fewest threads = 1",
        points=tuple(points),
        lines=(ideal,),
        joined=True,
        finding="With more threads a step is {span} as fast",
    )
    left_out = (note for group in groups for note in _left_out(group))
    notes = (*_of_some_hosts(evidence, groups), *left_out, *untimed(evidence, fits, groups))
    table = Table(title="A step's time by threads of the CPU", columns=_COLUMNS, rows=tuple(rows), notes=notes)
    tables = (table, _equal_table(equals)) if equals else (table,)
    lead = _lead(groups)
    return ExperimentResult(answers=tuple(answers), tables=tables, chart=chart, lead=lead)


def _lead(groups: Sequence[Sequence[Pool]]) -> str:
    """Return between which gains all threads make a step faster than the fewest do."""
    gains = sorted(((over(group[0], group[-1]), group) for group in groups), key=lambda each: each[0].value)
    (least, slow), (most, fast) = gains[0], gains[-1]
    few, many = (units.count(threads(pool)) for pool in (slow[0], slow[-1]))
    sentence = f"{many} threads make a step of {slow[0].case.workload} {words(least.estimate)} as fast as {few}"
    if slow is not fast:
        sentence += f", of {fast[0].case.workload} {words(most.estimate)}"
    return f"{sentence}.{said_of_pooled([gain for gain, _ in gains])}"


def _gpus(evidence: Evidence) -> dict[str, Pool]:
    """Return the GPU's step of each workload."""
    steps = evidence.fitting(lambda record: record.backend == "gpu" and record.headline_step())
    return {pool.case.workload: pool for pool in steps}


def _equal_table(equals: Sequence[EqualCores]) -> Table:
    notes = cores.hardware_threads(equals[0].best.newest.machine)
    title = "Cores that equal the GPU, by Amdahl's law"
    return Table(title=title, columns=_EQUAL_COLUMNS, rows=tuple(map(_equal_row, equals)), notes=(notes,) * bool(notes))


def _equal_row(equal: EqualCores) -> tuple[Cell, ...]:
    rest = equal.without_end
    least = min((equal.gpu, *equal.pools), key=lambda pool: (not any(lacking(pool.pooled)), pool.hosts))
    return row_of(
        equal.gpu.case.workload,
        time_cell(equal.gpu),
        time_cell(equal.best),
        count_cell(threads(equal.best)),
        number_cell(rest.value, lambda value: units.seconds(value, units.half_width(rest.low, rest.high))),
        Cell(text=units.seconds_interval(rest.low, rest.high)),
        Cell(text=cores.number(equal.cores.value), sort=equal.cores.value),
        Cell(text=cores.interval(equal.cores)),
        *standing_cells(least.pooled),
    )


def _of_some_hosts(evidence: Evidence, groups: Sequence[Sequence[Pool]]) -> Iterator[str]:
    """Yield a note if hosts that timed only some of the numbers of threads are left out."""
    if any(pool.records != evidence.pools[pool.case].records for group in groups for pool in group):
        yield "A model's times are of the hosts that timed all its numbers of threads; a time of all hosts may differ."


def _left_out(group: Sequence[Pool]) -> Iterator[str]:
    """Yield a note that names the numbers of threads that a network was not timed with."""
    there = {threads(pool) for pool in group}
    left = [units.count(n) for n in (1 << power for power in range(max(there).bit_length())) if n not in there]
    if left:
        yield f"{group[0].case.workload}: without {', '.join(left)} threads."


def _answer(name: str, group: Sequence[Pool]) -> str:
    first, last = group[0], group[-1]
    speed, few, many = over(first, last), units.count(threads(first)), units.count(threads(last))
    best = min(group, key=lambda pool: pool.pooled.value)
    gain = over(last, best)
    fewer = ""
    if best is not last and gain.low is not None and gain.low > 1:
        fewer = f" The fastest are {units.count(threads(best))} threads, {words(gain.estimate)} as fast as all {many}."
    return f"{name}: {many} threads are {words(speed.estimate)} as fast as {few}.{fewer}{said_of_pooled([speed])}"
