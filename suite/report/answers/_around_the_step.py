"""What is left of a small model's gain once more than its step is counted."""

from collections.abc import Mapping

from suite.report.parts import lead, rungs
from suite.report.parts.html import Html
from suite.report.parts.quoted import Quoted, Quoting
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.same_hosts import step_beside
from suite.results.pooled.speedup import PooledSpeedUp

_WORDS = {  # of each amount of work
    "batch copied": "with each batch copied",
    "from storage": "read from storage",
    "whole run": "over a whole run with compiling",
    "as written": "with nnx.jit called each step",
}
_Items = Mapping[str, PooledSpeedUp]  # by workload


def around_the_step(evidence: Evidence, quoting: Quoting) -> tuple[Html | None, tuple[Quoted, ...]]:
    """Return sentences on a dense network, and on the model whose whole run is slowest on the GPU, with their numbers.

    Of the dense networks it is the one with most amounts of work, of equals that with least work in a step.
    """
    valid = [item for item in (*evidence.speedups, *evidence.ways) if item.state != "invalid"]
    amounts = rungs.rungs(valid)
    step, wider = rungs.step(amounts), {rung.name: rung.by_workload for rung in amounts if rung.name in _WORDS}
    if step is None:
        return None, ()
    known = {name: _of(wider, name) for name in dense(evidence) & step.by_workload.keys()}
    parts, numbers = [], []
    if any(known.values()):
        name = min(known, key=lambda name: (-len(known[name]), _work(step.by_workload[name]), name))
        numbers = [quoting.speedup(item) for item in (step.by_workload[name], *known[name].values())]
        own = step.by_workload[name]
        rest = (
            f"{_WORDS[place]} {{}}{lead.beside(own.ratio, step_beside(own, item))}"
            for place, item in known[name].items()
        )
        words = "{} loses its gain in the work around the step: the step alone is {} as fast on the GPU; "
        words += ", ".join(rest)
        about = quoting.model(own.record.description)
        parts.append(Html(words + ".").format(about, *(number.words for number in numbers)))
    slower = [item for item in wider.get("whole run", {}).values() if item.ratio.value < 1]
    if slower:
        item = min(slower, key=lambda item: item.ratio.value)
        numbers.append(quoting.speedup(item))
        about = quoting.model(item.record.description)
        parts.append(Html("A whole run of {} is slower on the GPU: {}.").format(about, numbers[-1].words))
    return (Html(" ").join(parts) if parts else None), tuple(numbers)


def dense(evidence: Evidence) -> set[str]:
    """Return the models that are dense networks."""
    return {item.workload for item in evidence.speedups if item.record.description.family == "dense"}


def _of(wider: Mapping[str, _Items], workload: str) -> _Items:
    """Return a model's speed-up by amount of work."""
    return {name: by_workload[workload] for name, by_workload in wider.items() if workload in by_workload}


def _work(item: PooledSpeedUp) -> int:
    return item.case.batch * item.record.description.flop_per_example
