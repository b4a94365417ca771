"""The lies as a process on a GPU tells them, one at a time, and honest networks there."""

import tempfile
from pathlib import Path

from suite.case import Backend
from suite.results.evidence.trust import Finding
from suite.system.machine import machine
from trust.lies import TRUE_COST, told_on
from trust.telling import Session, costly, figures, honest_case

TITLE = "Does the harness catch a lie that is told on a GPU?"
ON_GPU = True
_SAMPLE = ("no_block", "smaller_batch", "half_deferred")
_HONEST = (  # every form of input sets
    ("mnist_mlp", "scan"),
    ("mnist_mlp", "nnx-jit"),
    ("mnist_grid_search", "stacked"),
    ("dp_linear_mirrored", "plain"),
    ("gbdt_mortgage", "plain"),
    ("serve_mobilenet_v2", "plain"),
)
_LIMIT_SECONDS = 500.0  # no lie begins later; 38 of 42 processes took 486 s on an H200
_LONGEST_SECONDS = 70.0  # of one process: the part ends within 570 s


def prove(sample: bool) -> tuple[dict[str, float | int | str], list[Finding]]:
    """Tell lies and truths on the first GPU. Raises LookupError without a GPU."""
    if not machine().gpus:
        raise LookupError("there is no GPU here")
    return told("gpu", sample)


def told(backend: Backend, sample: bool) -> tuple[dict[str, float | int | str], list[Finding]]:
    """Tell the lies of a backend, then honest networks, and last the lies that must cost as much as the truth."""
    with tempfile.TemporaryDirectory() as cache:
        session = Session(
            backend=backend, cache=Path(cache), limit_seconds=_LIMIT_SECONDS, longest_seconds=_LONGEST_SECONDS
        )
        all_told = {name: lie for name, lie in told_on(backend).items() if not sample or name in _SAMPLE}
        dear = {name: lie for name, lie in all_told.items() if lie.checks[backend] == TRUE_COST}
        lies = [session.caught(name, lie) for name, lie in all_told.items() if name not in dear]
        cases = [honest_case(name, way, backend) for name, way in (() if sample else _HONEST)]
        truths = [session.believed(case)[1] for case in cases]
        costs, bases, _ = costly(session, dear)
    return figures([*lies, *costs], [*truths, *bases]), [*lies, *costs, *truths, *bases]
