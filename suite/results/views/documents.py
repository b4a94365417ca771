"""The JSON documents that commands print; the site publishes their schemas beside that of records.

Numbers are in seconds, examples, FLOP and their rates, without prefixes. `low` and `high` are the ends of the 95 %
interval, null if unknown. A schema may gain fields; losing or changing one raises its number.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from suite.case import Backend, Implementation, Precision
from suite.results.cite.citation import Citation
from suite.results.cite.number import METRICS, Number, Unit, key_of
from suite.results.cite.numbers import Numbers
from suite.results.cite.pooled_numbers import threshold_key
from suite.results.cite.stored_pools import StoredPool
from suite.results.compare.comparison import Comparison, default_band
from suite.results.pooled.baselines import BaselineComparison
from suite.results.pooled.kinds import Pair
from suite.results.pooled.thresholds import Threshold
from suite.results.records.record import Record, to_json
from suite.results.single.paired_speedup import SpeedUp, speedups
from suite.results.single.summary import Summary, seconds_by_round, summary
from suite.results.stats.fit import Outcome
from suite.results.stats.pooling import Pooled
from suite.results.stats.state import State
from suite.results.stats.statistics import Estimate
from suite.results.views.number_index import NumberIndex
from suite.scopes import Scope
from suite.workload import Description

Verdict = Literal["faster", "slower", "same", "not separated"]


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    """Base of documents: readers ignore fields that they do not know."""


class CaseResult(_Answer, frozen=True, kw_only=True):
    """One timed case: a step, a cold start, a whole run or a request."""

    key: str
    workload: str
    case: str  # workload/backend/scope and each non-default axis
    scope: Scope
    backend: Backend
    implementation: Implementation
    variant: str
    precision: Precision
    batch: int
    rounds: int  # that succeeded
    planned_rounds: int
    value: float | None
    low: float | None
    high: float | None
    unit: Unit
    status: State
    reasons: tuple[str, ...]
    record: str | None  # its file; null if none is written


class SpeedUpResult(_Answer, frozen=True, kw_only=True):
    """JAX's CPU time over its GPU time in one campaign; the case is the GPU's."""

    key: str
    workload: str
    case: str
    scope: Scope
    variant: str
    precision: Precision  # of the GPU; the CPU's is float32-highest
    batch: int
    rounds: int  # that succeeded on both
    value: float
    low: float | None
    high: float | None
    unit: Unit
    status: State
    reasons: tuple[str, ...]
    certified: bool | None  # no baseline is much faster than the CPU side; null if not needed


class RunDocument(_Answer, frozen=True, kw_only=True):
    """Results of a campaign."""

    schema: Literal["run/2"]
    campaign: str
    machine: str
    commit: str  # of the suite; '' outside a checkout
    complete: bool  # all planned rounds were run
    resume: str | None  # the command that resumes it
    cases: tuple[CaseResult, ...]
    speedups: tuple[SpeedUpResult, ...]
    site: str | None  # its first page, if it was rendered


class Side(_Answer, frozen=True, kw_only=True):
    """One side of a comparison."""

    campaign: str
    machine: str
    measured: str  # UTC, ISO 8601
    rounds: int
    value: float | None
    low: float | None
    high: float | None
    unit: Unit
    status: State
    reasons: tuple[str, ...]
    record: str  # below the folder of campaigns
    digest: str


class CompareRow(_Answer, frozen=True, kw_only=True):
    """One case of both sides; the ratio is the first side's time over the second's."""

    workload: str
    case: str  # of the second side
    scope: Scope
    backend: Backend
    implementation: Implementation
    first: Side
    second: Side
    value: float
    low: float | None
    high: float | None
    unit: Unit
    paired: bool  # measured in the same rounds of one campaign
    chance: float | None  # p value of the difference
    verdict: Verdict  # of the second side
    status: State
    differs: tuple[str, ...]  # axes, packages and settings in which the two sides differ


class CompareDocument(_Answer, frozen=True, kw_only=True):
    """Two sides against each other."""

    schema: Literal["compare/2"]
    first: str
    second: str
    band: float  # the relative difference that does not matter
    rows: tuple[CompareRow, ...]


class ListedNumber(_Answer, frozen=True, kw_only=True):
    """The current number of a key. The hosts of a ratio are those of the smaller side."""

    key: str
    pinned: str | None  # the permanent key of this number; null if it is not stored
    value: float
    low: float | None
    high: float | None
    range_low: float | None  # of a further campaign
    range_high: float | None
    unit: Unit
    campaigns: tuple[str, ...]  # behind it, the newest last
    hosts: int
    status: State
    quotable: bool
    reason: str  # why it may not be quoted; '' if it may
    slow_cpu: str  # of a speed-up: how much less time another CPU with fewer cores surely takes; '' if none does
    what: str
    measured: str  # its newest record: UTC, ISO 8601
    record: str  # its address below the site's; for a pool that of a newest record
    digest: str | None  # of its record or stored pool


class CiteListDocument(_Answer, frozen=True, kw_only=True):
    """Every current number of the published records."""

    schema: Literal["cite-list/2"]
    numbers: tuple[ListedNumber, ...]


class BaselineRow(_Answer, frozen=True, kw_only=True):
    """JAX's step and its baselines on one kind of machine."""

    machine: str
    backend: Backend
    precision: Precision
    workload: str
    batch: int
    ratio: float | None  # the fastest baseline's time over JAX's; null if none was timed
    low: float | None
    high: float | None
    best: str | None  # the fastest baseline
    timed: tuple[str, ...]  # the fastest first
    not_timed: tuple[str, ...]


class BaselinesDocument(_Answer, frozen=True, kw_only=True):
    """Each of JAX's steps and its baselines in PyTorch, Keras and XGBoost."""

    schema: Literal["baselines/1"]
    rows: tuple[BaselineRow, ...]


class ThresholdRow(_Answer, frozen=True, kw_only=True):
    """The work of a call from which the GPU takes less time than the CPU, in one way of writing it."""

    machine: str
    key: str | None  # null if it lies outside the sizes that were timed
    family: str  # of the networks or tables that were timed
    way: str
    implementation: Implementation
    variant: str
    outcome: Outcome  # always: the GPU wins from the least work that was timed; never: not up to the most
    value: float | None
    low: float | None
    high: float | None
    unit: Unit
    least: float  # work that was timed
    most: float
    hosts: int
    status: State
    reasons: tuple[str, ...]  # why it may not be quoted


class ThresholdDocument(_Answer, frozen=True, kw_only=True):
    """A machine's thresholds; what they hold for is in `conditions`, by family."""

    schema: Literal["threshold/1"]
    machine: str
    conditions: Mapping[str, str]
    rows: tuple[ThresholdRow, ...]


class KindRow(_Answer, frozen=True, kw_only=True):
    """CPU time over GPU time of one model's step, or the geometric mean over models; of two machines unless said."""

    workload: str | None  # null for the mean
    models: int  # behind the value
    cpu: str  # a machine of its kind, as in keys
    cpu_model: str
    cores: int
    virtual: bool | None
    gpu: str
    value: float
    low: float | None
    high: float | None
    hosts: int  # of the side with fewer
    one_machine: bool  # a machine has both
    cpu_jax: str  # versions, separated by commas
    gpu_jax: str


class KindsDocument(_Answer, frozen=True, kw_only=True):
    """Every kind of GPU against every kind of CPU."""

    schema: Literal["kinds/1"]
    rows: tuple[KindRow, ...]


Document = RunDocument | CompareDocument | CiteListDocument | BaselinesDocument | ThresholdDocument | KindsDocument
_SCHEMAS: dict[str, Any] = {
    "record": Record,
    "run": RunDocument,
    "compare": CompareDocument,
    "cite-list": CiteListDocument,
    "baselines": BaselinesDocument,
    "threshold": ThresholdDocument,
    "numbers": NumberIndex,
    "kinds": KindsDocument,
    "pool": StoredPool,
    "list": tuple[Description, ...],
}


def schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schemas of a record, a stored pool and every printed document, by name."""
    return {name: msgspec.json.schema(kind) for name, kind in _SCHEMAS.items()}


def text(document: Document | Sequence[Description]) -> str:
    """Return a document as printed."""
    return to_json(document).decode()


def run_document(
    records: Sequence[Record],
    *,
    campaign: str,
    machine: str,
    commit: str,
    complete: bool,
    resume: str | None = None,
    site: Path | None = None,
    folder: Path | None = None,
) -> RunDocument:
    """Return the document of a campaign's records; `folder` holds their files, None if none are written."""
    return RunDocument(
        schema="run/2",
        campaign=campaign,
        machine=machine,
        commit=commit,
        complete=complete,
        resume=resume,
        cases=tuple(_case(summary(record), folder) for record in sorted(records, key=lambda record: record.name)),
        speedups=tuple(_speedup(item) for item in sorted(speedups(records), key=lambda item: item.gpu.record.name)),
        site=str(site) if site else None,
    )


def _case(item: Summary, folder: Path | None) -> CaseResult:
    record, case = item.record, item.record.case
    return CaseResult(
        key=key_of(record, "seconds").unpinned.text(),
        case=case.text(record.description.batch),
        rounds=len(seconds_by_round(record)),
        planned_rounds=record.rounds,
        unit="s",
        status=item.state,
        reasons=item.reasons,
        record=str(folder / f"{record.name}.json") if folder else None,
        **_same_named(CaseResult, case),
        **_ends(item.seconds),
    )


def _speedup(item: SpeedUp) -> SpeedUpResult:
    record, case = item.gpu.record, item.gpu.record.case
    return SpeedUpResult(
        key=key_of(record, "speedup").unpinned.text(),
        case=case.text(record.description.batch),
        rounds=item.ratio.processes,
        unit="1",
        status=item.state,
        reasons=item.reasons,
        certified=item.certificate,
        **_same_named(SpeedUpResult, case),
        **_ends(item.ratio),
    )


def compare_document(first: str, second: str, rows: Sequence[Comparison], band: float | None = None) -> CompareDocument:
    """Return the comparison of two named sides; `band` is the relative difference that does not matter."""
    band = default_band(rows) if band is None else band
    return CompareDocument(
        schema="compare/2", first=first, second=second, band=band, rows=tuple(_row(row, band) for row in rows)
    )


def _row(row: Comparison, band: float) -> CompareRow:
    record, case = row.second.record, row.second.record.case
    return CompareRow(
        case=case.text(record.description.batch),
        first=_side(row.first),
        second=_side(row.second),
        unit="1",
        paired=row.paired,
        chance=row.chance,
        verdict=cast(Verdict, row.verdict(band).partition(" within ")[0]),
        status=row.state,
        differs=row.differs,
        **_same_named(CompareRow, case),
        **_ends(row.ratio),
    )


def _side(item: Summary) -> Side:
    record = item.record
    return Side(
        campaign=record.campaign,
        machine=record.machine.slug,
        measured=record.created,
        rounds=len(seconds_by_round(record)),
        unit="s",
        status=item.state,
        reasons=item.reasons,
        record=f"{record.campaign}/{record.name}.json",
        digest=record.digest,
        **_ends(item.seconds),
    )


def cite_list_document(numbers: Numbers, part: str = "") -> CiteListDocument:
    """Return the current number of each key that contains `part`, with the reason if it may not be quoted."""
    listed = (_listed(numbers.pinned(number)) for key, number in numbers.current.items() if part in key)
    return CiteListDocument(schema="cite-list/2", numbers=tuple(listed))


def _listed(number: Number) -> ListedNumber:
    cited = Citation(number=number)
    return ListedNumber(
        key=number.key.unpinned.text(),
        pinned=cited.key if number.digest else None,
        unit=METRICS[number.key.metric].unit,
        campaigns=number.campaigns,
        status=number.state,
        quotable=number.quotable,
        reason="" if number.quotable else cited.reservation or number.word,
        slow_cpu=number.slow_cpu,
        what=cited.what,
        measured=number.measured,
        record=cited.record,
        digest=number.digest or None,
        **_same_named(ListedNumber, number.value),
    )


def baselines_document(rows: Sequence[BaselineComparison]) -> BaselinesDocument:
    """Return JAX's steps and their baselines."""
    return BaselinesDocument(schema="baselines/1", rows=tuple(map(_beside, rows)))


def threshold_document(
    machine: str, conditions: Mapping[str, str], thresholds: Sequence[Threshold]
) -> ThresholdDocument:
    """Return a machine's thresholds, and what they hold for."""
    return ThresholdDocument(
        schema="threshold/1", machine=machine, conditions=conditions, rows=tuple(map(_threshold, thresholds))
    )


def _threshold(item: Threshold) -> ThresholdRow:
    case = item.calls[0].case
    return ThresholdRow(
        machine=item.machine,
        key=threshold_key(item).text() if item.known else None,
        family=item.family,
        way=item.way,
        implementation=case.implementation,
        variant=case.variant,
        outcome=item.found.outcome,
        value=item.found.size,
        low=item.found.low,
        high=item.found.high,
        unit=item.unit,
        least=item.usual[0].work,
        most=item.usual[-1].work,
        hosts=item.hosts,
        status=item.state,
        reasons=item.reasons,
    )


def kinds_document(pairs: Iterable[Pair]) -> KindsDocument:
    """Return each pair's mean over models, then its models."""
    rows = (row for pair in pairs for row in (_kind(pair), *(_kind(pair, name) for name in pair.by_workload)))
    return KindsDocument(schema="kinds/1", rows=tuple(rows))


def _kind(pair: Pair, *names: str) -> KindRow:
    machine, value = pair.cpu.machine, pair.by_workload[names[0]] if names else pair.mean
    cpu_jax, gpu_jax = pair.versions(*names)
    return KindRow(
        workload=names[0] if names else None,
        models=len(names or pair.by_workload),
        cpu=machine.slug,
        gpu=pair.other.machine.gpus[0].name,
        hosts=value.hosts,
        one_machine=pair.one_machine,
        cpu_jax=cpu_jax,
        gpu_jax=gpu_jax,
        **_same_named(KindRow, machine),
        **_ends(value),
    )


def _beside(row: BaselineComparison) -> BaselineRow:
    case, best = row.mine.case, row.best
    return BaselineRow(
        machine=row.machine,
        ratio=best.over.value if best else None,
        low=best.over.low if best else None,
        high=best.over.high if best else None,
        best=best.words if best else None,
        timed=tuple(dict.fromkeys(way.words for way in row.ways)),
        not_timed=row.not_timed,
        **_same_named(BaselineRow, case),
    )


def _same_named(document: type[_Answer], source: msgspec.Struct) -> dict[str, Any]:
    """Return the source's values of the fields that both have."""
    both = set(document.__struct_fields__) & set(source.__struct_fields__)
    return {name: getattr(source, name) for name in both}


def _ends(value: Estimate | Pooled | None) -> dict[str, Any]:
    """Return a value and the ends of its interval by field name."""
    return {name: getattr(value, name, None) for name in ("value", "low", "high")}
