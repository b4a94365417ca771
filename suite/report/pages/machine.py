"""A machine's page: what it is, its speed-ups, its ceilings and every time measured on it."""

from collections import Counter
from collections.abc import Callable, Sequence

from suite import units
from suite.experiments import roofline
from suite.report.parts import overview, tables
from suite.report.parts.html import Page
from suite.report.parts.links import links
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.records.identity import count_hosts, identity
from suite.results.records.record import Record
from suite.results.single.roofline import Roof
from suite.results.single.selection import current_cases
from suite.results.views.table import Table


def page(
    records: Sequence[Record],
    speedups: Sequence[PooledSpeedUp],
    local: frozenset[str],
    ceilings: Roof,
    place: Sequence[str] = (),
    beside: Sequence[Table] = (),
) -> dict[str, str]:
    """Return a machine's page with its chart; `place` says where it stands among others, `beside` shows it."""
    what = max(records, key=lambda r: r.created).machine
    made = Page(what.name, "../", local)
    facts = [
        ("processor", what.cpu_model),
        ("kind of CPU", what.cpu_kind.model or "not known"),
        ("cores granted", units.count(what.cores)),
        ("hardware threads a core", units.count(what.threads_per_core) if what.threads_per_core else "not known"),
        ("quota", units.number(what.cpu_quota_cores) if what.cpu_quota_cores else "none"),
        ("governor", what.cpu_governor or "not shown"),
        ("memory", _seen(records, lambda record: units.memory(record.machine.memory_bytes))),
        ("system", _seen(records, lambda record: record.machine.system)),
        ("virtual machine", {True: "yes", False: "no", None: "not known"}[what.virtual]),
        ("hosts", _hosts(records)),
        ("method of timing", _seen(records, lambda record: str(record.method))),
    ]
    for gpu, count in Counter(what.gpus).items():
        facts += [
            ("GPU", f"{units.count(count)} x {gpu.name}" if count > 1 else gpu.name),
            ("GPU memory", units.memory(gpu.memory_bytes)),
            ("driver", f"{gpu.driver}, CUDA {gpu.cuda}, compute capability {gpu.compute_capability}"),
            ("graphics clock limit", _limit(gpu.graphics_clock_limit_mhz, "MHz", digits=4)),
            ("memory clock limit", _limit(gpu.memory_clock_limit_mhz, "MHz", digits=4)),
            ("power limit", _limit(gpu.power_limit_watts, "W")),
        ]  # fmt: skip
    general = [record for record in records if record.general]
    files = overview.add(made, speedups, general, f"speedups.{what.slug}", links(records, "../")) if what.gpus else {}
    for said in place:
        made.paragraph(said)
    shown = [cell.record for table in beside for row in table.rows for cell in row if cell.record]
    for table in beside:
        made.table(table, links(shown, "../"))
    made.heading("The machine")
    made.facts(facts)
    made.heading("Software")
    made.facts(_versions(records))
    steps = roofline.current_steps(records, at_headline_batch=True)
    if steps:
        made.heading("Below the ceilings")
        here = {key: ceiling for key, ceiling in ceilings.items() if key[0] == what.slug}
        if here:
            made.table(roofline.ceiling_table(here))
        made.table(roofline.table("Steps beside what this machine does at most", steps, here), links(records, "../"))
        made.add('<p class="note"><a href="../experiments/roofline.html">How ceilings and floors are defined</a></p>')
    made.heading("All times")
    cases = [s.record for s in current_cases(records)]
    listed = tables.case_table(f"Every case measured on {what.name}", cases, models=True)
    made.table(listed, links(records, "../"))
    return files | {f"machines/{what.slug}.md": made.text()}


def _limit(value: float | None, unit: str, digits: int = 3) -> str:
    return f"{units.number(value, digits=digits)} {unit}" if value else units.DASH


def _seen(records: Sequence[Record], what: Callable[[Record], str]) -> str:
    """Return what the machine had in all its campaigns; where it was not always the same, in how many."""
    found = Counter({record.campaign: value for record in records if (value := what(record))}.values())
    if len(found) == 1:
        return next(iter(found))
    return ", ".join(f"{value} in {units.pluralize(number, 'campaign')}" for value, number in found.most_common())


def _hosts(records: Sequence[Record]) -> str:
    """Return how many hosts are known among the records, and how many campaigns say none."""
    known = [found for record in records if (found := identity(record)).host]
    silent = {record.campaign for record in records} - {found.campaign for found in known}
    words = [units.count(count_hosts(known))] if known else []
    words += [f"not known for {units.pluralize(len(silent), 'campaign')}"] if silent else []
    return ", ".join(words)


def _versions(records: Sequence[Record]) -> list[tuple[str, str]]:
    """Return Python and the packages with the versions that they had."""
    names = sorted({name for record in records for name in record.software.packages} - {"python"})
    return [
        ("Python", _seen(records, lambda record: record.software.python)),
        *((name, _seen(records, lambda record, name=name: record.software.packages.get(name, ""))) for name in names),
    ]
