"""Does a run take as long on a stand-in as on the real data? The documented whole run on both, in one campaign."""

from collections.abc import Sequence

from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import together, usual_case, words
from suite.case import Case
from suite.results.pooled.machine_evidence import Evidence
from suite.results.records.record import Record
from suite.results.single.summary import time_ratio
from suite.results.stats.statistics import Estimate
from suite.results.views.experiment_result import ExperimentResult
from suite.results.views.rows import row_of
from suite.results.views.table import Table, time_cell, times_cells
from suite.workload import Data, Description

TITLE = "Does a run take as long on a stand-in as on the real data?"
TESTS = ()
METHOD = (
    "The documented whole run is timed on the published data and on the stand-in of the same size, in one campaign. "
    "The ratio of the two times is paired by round. They agree if its interval holds 1."
)
NEEDS_DATA: Data = "tfds"
WORKLOADS = ("mnist_mlp", "mnist_cnn")

_DATA: tuple[Data, ...] = ("embedded", "tfds")
_COLUMNS = ("model", "backend", "run on the stand-in", "run on the real data", "real over stand-in", "95 % interval")


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the whole runs on both data sets on each backend.

    Raises RuntimeError if the published data are not asked for, ValueError if no network has a documented whole run.
    """
    if here.data != NEEDS_DATA:
        raise RuntimeError(
            f"experiment 'stand_ins' needs the real data, this run has data '{here.data}'; add --data {NEEDS_DATA}"
        )
    runs = [about for about in catalogue if about.run is not None and about.stored and about.grid is None]
    if not runs:
        raise ValueError(f"no whole run of these workloads is documented; it is for: {', '.join(WORKLOADS)}")
    return tuple(
        usual_case(about, backend, here, "run", data=data)
        for about in runs
        for backend in here.backends
        for data in _DATA
    )


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return the time on the real data over that on the stand-in; None if no campaign has both."""
    answers, rows = [], []
    for group in together(evidence.records, _fits):
        stand_in, real = sorted(group, key=lambda item: _DATA.index(item.record.case.data))
        ratio, name, backend = time_ratio(real, stand_in), real.record.workload, real.record.backend
        rows.append(row_of(name, backend, time_cell(stand_in), time_cell(real), *times_cells(ratio, real.record)))
        if ratio is not None:
            answers.append(f"{name} on the {backend.upper()}: {_verdict(ratio)}.")
    if not rows:
        return None
    table = Table(title="The documented whole run on both", columns=_COLUMNS, rows=tuple(rows))
    return ExperimentResult(answers=tuple(answers), tables=(table,))


def _verdict(ratio: Estimate) -> str:
    """Return whether the times agree, as text, with the ratio: by how much they do not."""
    said = f"a run on the real data takes {words(ratio)} the time of one on the stand-in"
    if ratio.low is None or ratio.high is None:
        return said
    return f"{'the times agree' if ratio.low <= 1 <= ratio.high else 'the times do not agree'}: {said}"


def _fits(record: Record) -> bool:
    return record.case.scope == "run" and record.usual() and record.case.data in _DATA
