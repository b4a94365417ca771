"""Whether both sides of a speed-up computed the same: compares inputs and losses round by round.

Source of the bounds: the published pairs of both sides. First losses differ by at most 2e-6; the second loss, after an
update, by 3e-3 for the deepest network, whose batch norms of small batches amplify rounding.
"""

from collections.abc import Iterator

from suite.results.records.record import Record

_FIRST, _LATER = 1e-4, 1e-2  # relative to the CPU's loss: of the first step; of a later one, after an update


def disagreements(cpu: Record, gpu: Record) -> Iterator[str]:
    """Yield each difference between a GPU in full float32 and the CPU of its campaign.

    Skipped are lower precisions, which change the loss, and whole runs, whose last loss ends a training of its own.
    """
    if gpu.case.precision != "float32-highest" or gpu.case.scope == "run":
        return
    cpu_runs = {run.round: run for run in cpu.runs if not run.reason}
    for theirs in gpu.runs:
        run = cpu_runs.get(theirs.round)
        if run is None or theirs.reason:
            continue
        where = f"round {run.round + 1}"
        if run.input_digest != theirs.input_digest:
            yield f"{where}: the sides had other inputs"
        first = _FIRST if gpu.case.variant != "scan" else _LATER  # the first call of scan has many steps
        yield from _apart(f"{where}: the first loss", run.first_loss, theirs.first_loss, first)
        ours, other = (each.audit.replay if each.audit else None for each in (run, theirs))
        if ours is not None and other is not None:
            yield from _apart(f"{where}: the second loss", ours.twice, other.twice, _LATER)


def _apart(what: str, cpu: float | None, gpu: float | None, bound: float) -> Iterator[str]:
    if cpu is not None and gpu is not None and abs(cpu - gpu) > bound * abs(cpu):
        yield f"{what} is {cpu:.6g} on the CPU and {gpu:.6g} on the GPU"
