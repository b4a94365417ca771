"""The lies that only a GPU can tell, through the real runner, and the same networks there as they are."""

from suite.results.evidence.trust import Finding
from suite.results.single.summary import step_seconds
from suite.system.machine import machine
from trust.lies import LIES
from trust.part_lies import believed, caught, figures, honest_case

TITLE = "Does the harness catch a lie that only a GPU can tell?"
ON_GPU = True


def prove(sample: bool) -> tuple[dict[str, float | int | str], list[Finding]]:
    """Tell the truth of each network, then the lies about it. Raises LookupError where there is no GPU."""
    if not machine().gpus:
        raise LookupError("there is no GPU here")
    told = {name: lie for name, lie in LIES.items() if lie.needs_gpu}
    networks = dict.fromkeys(lie.workload for lie in told.values())
    honest = {name: believed(honest_case(name, backend="gpu")) for name in networks}
    times = {name: step_seconds(record.runs[0]) or 0.0 for name, (record, _) in honest.items()}
    lies = [caught(name, lie, times[lie.workload]) for name, lie in told.items()]
    truths = [finding for _, finding in honest.values()]
    return figures(lies, truths), [*lies, *truths]
