"""The lies that only a GPU can tell, through the real runner, and the same network there as it is."""

import msgspec

from suite.measure.machine import machine
from suite.results.record import Record
from suite.results.summary import step_seconds
from suite.results.trust import Finding
from trust.lies import LIES
from trust.part_lies import BASE, believed, caught, figures, honest_case

TITLE = "Does the harness catch a lie that only a GPU can tell?"


def prove(sample: bool) -> tuple[dict[str, float | int | str], list[Finding]]:
    """Tell the truth, then the lies, one at a time. Raises LookupError where there is no GPU."""
    gpus = machine().gpus
    if not gpus:
        raise LookupError("there is no GPU here")
    base, first = _honest()
    honest_seconds = step_seconds(base.runs[0]) or 0.0
    lies = [caught(name, lie, honest_seconds) for name, lie in LIES.items() if lie.needs_gpu]
    return {"GPU": gpus[0].name} | figures(lies, [first]), [*lies, first]


def _honest() -> tuple[Record, Finding]:
    return believed(msgspec.structs.replace(honest_case(BASE), backend="gpu"))
