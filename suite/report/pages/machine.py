"""A machine's page: its description, speed-ups, ceilings and times."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from suite import units
from suite.case import Case
from suite.experiments import roofline
from suite.report.parts import tables
from suite.report.parts.facts import Facts
from suite.report.parts.overview import overview
from suite.results.pooled.pools import Pool
from suite.results.records.identity import count_hosts, identity
from suite.results.records.machine import Machine
from suite.results.records.record import Record
from suite.results.single.roofline import is_ceiling
from suite.results.single.selection import current_cases
from suite.scopes import SCOPES

_UNKNOWN = ("", "none", "not known", "not shown")  # values that say nothing of a machine

_METHOD = (
    "each scope has its own, raised if its timing changes; times of different methods do not pool, and earlier ones "
    "may not be quoted"
)


def files(facts: Facts) -> dict[str, str]:
    """Return the page of each machine with its chart."""
    return {path: text for slug in facts.machines for path, text in _files(facts, slug).items()}


def _files(facts: Facts, slug: str) -> dict[str, str]:
    records, path = facts.machines[slug], f"machines/{slug}.md"
    what = max(records, key=lambda record: record.created).machine
    evidence = facts.evidence[slug]
    shown = None
    if what.gpus:
        general = [record for record in records if record.general]
        shown = overview(evidence.speedups, general, f"speedups.{slug}", ways=evidence.ways)
    place = facts.places[slug]
    sentences = place.sentences if shown else tuple(filter(None, (place.caution, *place.sentences)))
    steps = roofline.current_steps(records, at_headline_batch=True)
    ceilings = {key: ceiling for key, ceiling in facts.ceilings.items() if key[0] == slug}
    cases = [item.record for item in current_cases(records)]
    timed_gpu = any(record.backend == "gpu" and record.general and not is_ceiling(record) for record in records)
    page = facts.page(
        path,
        "machine.md.j2",
        title=what.name,
        overview=shown,
        caution=place.caution,
        sentences=sentences,
        beside=() if timed_gpu else tables.without_gpu(facts.general, slug),
        lead="" if shown or sentences else _lead(records),
        facts=[
            (name, value)
            for name, value in _facts(records, what, _shared(evidence.pools, slug))
            if value not in _UNKNOWN
        ],
        versions=_versions(records),
        ceilings=roofline.ceiling_table(ceilings) if ceilings else None,
        steps=roofline.table("Steps below the ceilings of this machine, each of one campaign", steps, ceilings)
        if steps
        else None,
        cases=tables.case_table(f"Every case measured on {what.name}, each of one campaign", cases, models=True),
    )
    charts = {path: text for figure in (shown.figures if shown else ()) for path, text in figure.files.items()}
    return charts | {path: page}


def _lead(records: Sequence[Record]) -> str:
    """Return what a machine without a step to rank has timed, in a sentence."""
    models: dict[str, set[str]] = {}
    for record in records:
        if not is_ceiling(record):
            models.setdefault(SCOPES[record.case.scope].sentence, set()).add(record.workload)
    timed = "; ".join(f"{what} ({units.pluralize(len(names), 'model')})" for what, names in models.items())
    return (
        f"Timed on this machine: {timed or 'nothing but its ceilings'}. It is not ranked among the others, as no other "
        "kind timed one of its steps by the same method."
    )


def _facts(records: Sequence[Record], what: Machine, shared: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the machine's description; `shared` says whose hosts its CPU times count too."""
    facts = [
        ("processor", what.cpu_model),
        ("kind of CPU", what.cpu_words or "not known"),
        *shared,
        ("cores granted", units.count(what.cores)),
        ("hardware threads a core", units.count(what.threads_per_core) if what.threads_per_core else "not known"),
        ("quota", units.number(what.cpu_quota_cores) if what.cpu_quota_cores else "none"),
        ("governor", what.cpu_governor or "not shown"),
        ("memory", _seen(records, lambda record: units.memory(record.machine.memory_bytes))),
        ("system", _seen(records, lambda record: record.machine.system)),
        ("virtual machine", {True: "yes", False: "no", None: "not known"}[what.virtual]),
        ("hosts", _hosts(records)),
        ("method of timing", f"{_methods(records)}; {_METHOD}"),
    ]
    for gpu, count in Counter(what.gpus).items():
        facts += [
            ("GPU", f"{units.count(count)} x {gpu.name}" if count > 1 else gpu.name),
            ("GPU memory", units.memory(gpu.memory_bytes)),
            ("driver", f"{gpu.driver}, CUDA {gpu.cuda}, compute capability {gpu.compute_capability}"),
            ("graphics clock limit", _limit(gpu.graphics_clock_limit_mhz, "MHz", digits=4)),
            ("memory clock limit", _limit(gpu.memory_clock_limit_mhz, "MHz", digits=4)),
            ("power limit", _limit(gpu.power_limit_watts, "W")),
        ]
    return facts


def _shared(pools: Mapping[Case, Pool], slug: str) -> list[tuple[str, str]]:
    """Return how many of a machine's CPU times count hosts of others too, which have the same CPU; [] if none does."""
    times = [pool for case, pool in pools.items() if case.backend == "cpu"]
    shared = [pool for pool in times if len(pool.machines) > 1]
    if not shared:
        return []
    names = {record.machine.name for pool in shared for record in pool.records if record.machine.slug != slug}
    words = (
        f"{units.count(len(shared))} of {units.pluralize(len(times), 'pooled time')} also count hosts of "
        f"{' and of '.join(sorted(names))}: times of equal code on equal CPUs are pooled, whatever the GPU"
    )
    return [("CPU times", words)]


def _limit(value: float | None, unit: str, digits: int = 3) -> str:
    return f"{units.number(value, digits=digits)} {unit}" if value else units.DASH


def _seen(records: Sequence[Record], what: Callable[[Record], str]) -> str:
    """Return a property over all campaigns; if it varied, with the number of campaigns."""
    campaigns_by_value = Counter({record.campaign: value for record in records if (value := what(record))}.values())
    if len(campaigns_by_value) == 1:
        return next(iter(campaigns_by_value))
    return ", ".join(
        f"{value} in {units.pluralize(number, 'campaign')}" for value, number in campaigns_by_value.most_common()
    )


def _methods(records: Sequence[Record]) -> str:
    """Return in how many campaigns each time is by the method in use, and in how many one is by an earlier method."""
    earlier = {record.campaign for record in records if record.method < SCOPES[record.case.scope].method}
    current = {record.campaign for record in records} - earlier
    counts = (("the one in use in", len(current)), ("an earlier one in", len(earlier)))
    return ", ".join(f"{words} {units.pluralize(number, 'campaign')}" for words, number in counts if number)


def _hosts(records: Sequence[Record]) -> str:
    """Return the number of known hosts, and of campaigns without one."""
    known = [found for record in records if (found := identity(record)).host]
    silent = {record.campaign for record in records} - {found.campaign for found in known}
    words = [units.count(count_hosts(known))] if known else []
    words += [f"not known for {units.pluralize(len(silent), 'campaign')}"] if silent else []
    return ", ".join(words)


def _versions(records: Sequence[Record]) -> list[tuple[str, str]]:
    """Return the versions of Python and the packages."""
    names = sorted({name for record in records for name in record.software.packages} - {"python"})
    return [
        ("Python", _seen(records, lambda record: record.software.python)),
        *((name, _seen(records, lambda record, name=name: record.software.packages.get(name, ""))) for name in names),
    ]
