"""What the published results are to hold: which machines, workloads and scopes, in which order of urgency."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from suite import units
from suite.case import Backend, Case, Precision
from suite.results.records.machine import Machine
from suite.results.records.record import Record
from suite.results.single.paired_speedup import baselines_of
from suite.results.single.selection import current_cases, fastest_of_each_case
from suite.results.single.summary import Summary, seconds_by_round, summary
from suite.results.views.table import Cell
from suite.scopes import SCOPES, Scope, certifies_itself, scopes_that
from suite.workload import Description

_OF_EVERY_MODEL = scopes_that(lambda row: row.reference == "every model")
_OF_THE_HEADLINE_SET = scopes_that(lambda row: row.reference == "headline set")
_CONTROLLED = frozenset({1, 3})  # tiers that want a control beside each step
_WORDS: dict[Precision, str] = {"float32-highest": "float32", "tf32": "TF32", "bfloat16": "bfloat16"}


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A column of one machine's results."""

    tier: int  # the first is the most urgent
    backend: Backend
    scope: Scope
    precision: Precision = "float32-highest"

    @property
    def title(self) -> str:
        """Return the column's words."""
        return f"{self.backend.upper()} {self.scope}, {_WORDS[self.precision]}"

    @property
    def controlled(self) -> bool:
        """Return whether its results are to have a control beside them: the same step of another implementation."""
        return certifies_itself(self.scope) and self.tier in _CONTROLLED


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of machine that the published results are to name."""

    name: str
    gpu: str  # in the name of its GPU; '' for none
    cores: int | None  # granted; None: any, as the GPU alone counts
    wanted: tuple[Wanted, ...]
    experiments: int | None = None  # the tier in which they are run here; None: not asked for
    gpus: tuple[int, ...] = ()  # the numbers of GPUs with which they are

    def fits(self, machine: Machine) -> bool:
        """Return whether a machine is of this kind, which has one GPU or none."""
        alone = len(machine.gpus) == self._gpus(machine) == (1 if self.gpu else 0)
        return alone and self.cores in (None, machine.cores)

    def fills(self, machine: Machine) -> bool:
        """Return whether a machine's results count for this kind: where the GPU alone does, one of several is one."""
        return self.fits(machine) or (self.cores is None and self._gpus(machine) > 1)

    def asks(self, machine: Machine, gpus: int) -> bool:
        """Return whether an experiment that needs so many GPUs is run on this machine for this kind.

        Where it needs several, the host is larger than that of one: its cores do not count.
        """
        if gpus == 1:
            return self.fits(machine)
        return self._gpus(machine) >= gpus

    def counts(self, gpus: int) -> tuple[int, ...]:
        """Return the numbers of GPUs with which an experiment that needs so many is asked for; none if it is not."""
        return tuple(count for count in self.gpus if count == gpus or count > gpus > 1)

    def _gpus(self, machine: Machine) -> int:
        """Return how many GPUs of a machine are this kind's; a slice of one is none."""
        return sum(self.gpu in gpu.name and not gpu.slice for gpu in machine.gpus) if self.gpu else 0


def _tier(number: int, backends: Iterable[Backend], scopes: Iterable[Scope]) -> tuple[Wanted, ...]:
    scopes = tuple(scopes)
    return tuple(Wanted(tier=number, backend=backend, scope=scope) for backend in backends for scope in scopes)


_NARROW = tuple(Wanted(tier=2, backend="gpu", scope="step", precision=p) for p in ("tf32", "bfloat16"))
KINDS = (
    Kind(name="4 CPU cores", gpu="", cores=4, wanted=_tier(1, ("cpu",), _OF_EVERY_MODEL)),
    Kind(
        name="H100 and its 16 host cores",
        gpu="H100",
        cores=16,
        wanted=(
            *_tier(1, ("cpu", "gpu"), _OF_EVERY_MODEL),
            *_NARROW,
            *_tier(2, ("cpu", "gpu"), _OF_THE_HEADLINE_SET),
        ),
        experiments=2,
        gpus=(1, 2),  # no tier says how many H100s are to show how several scale: the fewest do
    ),
    Kind(
        name="H200, the GPU alone",
        gpu="H200",
        cores=None,
        wanted=_tier(3, ("gpu",), _OF_EVERY_MODEL),
        experiments=3,
        gpus=(2, 4, 8),
    ),
)


def plain(records: Iterable[Record]) -> dict[Case, list[Record]]:
    """Return JAX's records that stand among the headline's by what is timed, whatever the allocator."""
    cases: dict[Case, list[Record]] = {}
    for record in records:
        if record.case.implementation == "jax" and record.general:
            cases.setdefault(record.case.timed.ignoring_allocator, []).append(record)
    return cases


Controls = Mapping[tuple[str, Case], Sequence[Record]]  # by the machine and plain case of JAX's step


def controls(records: Iterable[Record]) -> Controls:
    """Return the steps of other implementations that a campaign timed beside JAX's, those that may be counted with."""
    campaigns: dict[tuple[str, str, str], list[Summary]] = defaultdict(list)
    for record in records:
        if record.case.scope == "step":
            campaigns[record.campaign, record.machine.slug, record.workload].append(summary(record))
    baselines_of_step: dict[tuple[str, Case], list[Record]] = defaultdict(list)
    for group in campaigns.values():
        for of_jax in group:
            if of_jax.record.case.implementation == "jax":
                baselines = (baseline for baseline, _ in baselines_of(of_jax, group))
                baselines_of_step[_step(of_jax.record)].extend(item.record for item in baselines if item.usable)
    return baselines_of_step


def beside(record: Record | None, controls_known: Controls) -> tuple[tuple[str, ...], bool]:
    """Return which implementations are a step's controls on its machine, and whether its own campaign timed them.

    Where it timed some, they are these alone.
    """
    baselines = controls_known.get(_step(record), ()) if record else ()
    own = [each for each in baselines if record and each.campaign == record.campaign]
    return tuple(sorted({each.case.implementation for each in own or baselines})), bool(own)


def _step(record: Record) -> tuple[str, Case]:
    return record.machine.slug, record.case.timed.ignoring_allocator


def cell(wanted: Wanted, about: Description, records: Mapping[Case, Sequence[Record]]) -> Cell:
    """Return what there is of a workload in a column: its rounds and record, or the tier that will have it, or why not.

    `records` are those of one kind of machine, by their plain case. What one GPU of several did says so.
    """
    case = Case(
        workload=about.name,
        backend=wanted.backend,
        scope=wanted.scope,
        batch=about.batch,
        precision=wanted.precision,
    )
    found = shown(records.get(case, ()))
    if found is None:
        return _nothing(wanted, about)
    worth, machine = found.state != "invalid" and found.complete + found.usable + found.steady, found.record.machine
    text, remarks = "invalid" if found.state == "invalid" else _rounds(found), found.reasons
    if wanted.backend == "gpu" and len(machine.gpus) > 1:
        text, remarks = f"{text}, 1 of {units.count(len(machine.gpus))} GPUs", (*remarks, f"of {machine.name}")
    return Cell(text=text, sort=worth, remark="; ".join(remarks), record=found.record)


def _rounds(item: Summary) -> str:
    """Return how many rounds there are, and of how many if some are missing."""
    have, planned = len(seconds_by_round(item.record)), item.record.rounds
    return (
        f"{units.count(have)} of {units.pluralize(planned, 'round')}"
        if have < planned
        else units.pluralize(have, "round")
    )


def _nothing(wanted: Wanted, about: Description) -> Cell:
    """Return why a cell is empty."""
    if SCOPES[wanted.scope].reference == "headline set" and not about.headline:
        return Cell(text=units.DASH, remark="asked of the headline set alone")
    if wanted.scope == "run" and about.run is None:
        return Cell(text=units.DASH, remark="no whole run is documented")
    if wanted.scope == "epoch" and not about.stored:
        return Cell(text=units.DASH, remark="no stored data")
    if wanted.precision != "float32-highest" and about.family == "trees":
        return Cell(text=units.DASH, remark="trees add whole numbers, which have no precision")
    return Cell(text=f"tier {wanted.tier}", sort=-wanted.tier, remark="not measured yet")


def shown(records: Iterable[Record]) -> Summary | None:
    """Return the current result, which other pages show too, the newest of several machines'; None if there is none.

    That of a host of several GPUs comes last.
    """
    return max(
        fastest_of_each_case(current_cases(records)),
        key=lambda item: (len(item.record.machine.gpus) < 2, item.record.current_key),
        default=None,
    )
