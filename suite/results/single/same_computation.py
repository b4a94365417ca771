"""Whether both sides of a speed-up computed the same: their inputs and their first losses, round by round.

Source of the bounds: the published pairs of both sides. First losses differ by 2e-6 at most; the second one, after an
update, by 3e-3 of the deepest network, whose batch norms of small batches amplify what rounding does.
"""

from collections.abc import Iterator

from suite.results.records.record import Record

_FIRST, _LATER = 1e-4, 1e-2  # of the CPU's loss: by the first step; by a later one, which an update lies before


def disagreements(cpu: Record, gpu: Record) -> Iterator[str]:
    """Yield where a GPU in full float32 computed something else than the CPU of its campaign.

    A lower precision has other losses by its nature, and a whole run's last loss is the end of a training of its own.
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
        first = _FIRST if gpu.case.variant != "scan" else _LATER  # whose first call has many steps
        yield from _apart(f"{where}: the first loss", run.first_loss, theirs.first_loss, first)
        ours, other = (each.audit.replay if each.audit else None for each in (run, theirs))
        if ours is not None and other is not None:
            yield from _apart(f"{where}: the second loss", ours.twice, other.twice, _LATER)


def _apart(what: str, cpu: float | None, gpu: float | None, bound: float) -> Iterator[str]:
    if cpu is not None and gpu is not None and abs(cpu - gpu) > bound * abs(cpu):
        yield f"{what} is {cpu:.6g} on the CPU and {gpu:.6g} on the GPU"
