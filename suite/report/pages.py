"""The site's generated pages: home, one a workload, one a machine; only what changed is written."""

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from altair.utils import schemapi

from suite import units
from suite.experiments import roofline
from suite.report import (
    changes,
    charts,
    cost,
    coverage,
    experiments,
    feeding,
    gallery,
    ladder,
    learning,
    ledger,
    meanwhile,
    numbers,
    overview,
    parity,
    placing,
    standing,
    tables,
    timeline,
    trust,
)
from suite.report.html import Page, anchor, safe
from suite.report.tables import Cell, Table
from suite.results import catalogue, store
from suite.results import gallery as drawings
from suite.results import ladder as clock
from suite.results import learning as lessons
from suite.results import parity as evidence
from suite.results import trust as proof
from suite.results.prices import Price
from suite.results.record import Record, json_schema, plain_name, to_json
from suite.results.roofline import Roof, is_ceiling, roof
from suite.results.selection import by_machine
from suite.results.summary import SpeedUp, newest, speedups
from suite.workload import Description

_STAGES = ("import", "init", "lower", "compile", "first_step")
GENERATED = ("workloads", "machines", "experiments", "numbers", "charts", "local")  # folders of the site's sources
_QUESTION = "How much faster is a GPU?"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What rendering did: pages that changed, and a line for each record that could not be shown."""

    written: tuple[str, ...]
    problems: tuple[str, ...]


def render(folders: Sequence[Path], site: Path, prices: Sequence[Price] = ()) -> Outcome:
    """Write the generated pages into the site's sources from the records below the folders and the site's evidence.

    The first folder holds what is published; records of the others are copied beside it and shown as local.
    """
    published, unreadable = store.load(folders[:1])
    other, more = store.load(folders[1:])
    known = {record.campaign for record in published}
    other = tuple(record for record in other if record.campaign not in known)
    shown, problems = [], [*unreadable, *more]
    for record in (*published, *other):
        if all(map(plain_name, (record.workload, record.campaign, record.machine.slug))):
            shown.append(record)
        else:
            problems.append(
                f"a record of campaign {record.campaign[:60]!r} has a name that no page may have; not shown"
            )
    local = frozenset(record.campaign for record in other)
    known_workloads = catalogue.read(folders[0])
    with schemapi.debug_mode(False):  # the tests check the charts
        files = pages(shown, local, prices, known_workloads)
    files |= numbers.files(r for r in shown if r.campaign not in local)
    files |= {"parity.md": parity.page(evidence.read(site / "evidence"))}
    asked = [record for record in shown if not is_ceiling(record)]
    files["ledger.md"] = ledger.page(asked, known_workloads, local, links(shown, ""))
    files["changes.md"] = changes.page(site.parent / "CHANGELOG.md")
    files["trust.md"] = trust.page(proof.read(site / "evidence"))
    files["data.md"] = gallery.page(drawings.read(site / "evidence"))
    files["learning.md"] = learning.page(lessons.read(site / "evidence"))
    files |= {f"local/{r.campaign}/{r.name}.json": to_json(r).decode() for r in shown if r.campaign in local}
    return Outcome(written=write(files, site), problems=tuple(problems))


def write(files: dict[str, str], site: Path) -> tuple[str, ...]:
    """Make the generated folders hold just these files and what is made of charts; return those that changed."""
    kept = {*files, *(made for name in files if _is_chart(name) for made in charts.derived(name))}
    for folder in GENERATED:
        for path in (site / folder).glob("**/*"):
            if path.is_file() and str(path.relative_to(site)) not in kept:
                path.unlink()
    changed = []
    for name in sorted(files, key=_is_chart, reverse=True):  # a page says how large its pictures are
        path, text = site / name, files[name] if _is_chart(name) else charts.sized(files[name], site)
        same = path.exists() and path.read_text(encoding="utf-8") == text
        derived = charts.derived(name) if _is_chart(name) else ()
        if same and all((site / other).exists() for other in derived):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        for other, content in zip(derived, charts.made(text) if derived else (), strict=True):
            (site / other).write_text(content, encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        changed += [name, *derived]
    if (site / "local").is_dir() and not any(name.startswith("local/") for name in files):
        shutil.rmtree(site / "local")
    return tuple(changed)


def _is_chart(name: str) -> bool:
    return name.startswith(f"{charts.FOLDER}/")


def pages(
    records: Sequence[Record],
    local: frozenset[str],
    prices: Sequence[Price] = (),
    workloads: Sequence[Description] = (),
) -> dict[str, str]:
    """Return every generated file by its path below the site's sources; `workloads` are all that can be measured."""
    files = {"assets/record.schema.json": json.dumps(json_schema(), indent=1) + "\n"}
    everything, records = records, [record for record in records if not is_ceiling(record)]
    ceilings = roof(everything)
    asked_for = [record for record in records if not record.experiment]
    steps = placing.headlines(records)
    machines = by_machine(everything)
    places = {slug: placing.sentences(steps, slug) for slug in machines}
    files |= home(asked_for, local, records, places)
    answers = experiments.readings(everything)
    files |= experiments.files(answers, local, links(records, "../"))
    files["coverage.md"] = coverage.page(everything, workloads, answers, local, links(records, ""))
    files["standing.md"] = standing.page(records, local, links(records, ""))
    for name in sorted({record.workload for record in records}):
        files |= workload([r for r in records if r.workload == name], local, ceilings, prices)
    for slug, mine in machines.items():
        files |= machine(mine, local, ceilings, places[slug])
    return files


def picture(records: Sequence[Record]) -> str | None:
    """Return the headline chart on white ground, for pages other than the site's; None if there is no speed-up."""
    found = newest(speedups(record for record in records if not record.experiment))
    main = [i for i in found if tables.headline(i.gpu.record)]
    if not main:
        return None
    return charts.svg(charts.speedups(main), "light", ground="white")


def home(
    records: Sequence[Record],
    local: frozenset[str],
    everything: Sequence[Record] = (),
    places: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, str]:
    """Return the home page with its chart; it links the pages of everything that there is.

    `places` says of a machine where it stands among others.
    """
    page, everything = Page(_QUESTION, "", local), everything or records
    shown = overview.first(records)
    mine = [record for record in records if shown in (None, record.machine.slug)]
    page.add(overview.choice({r.machine.slug: r.machine.name for r in everything}, shown, ""))
    files = overview.add(page, mine, "speedups", links(records, ""))
    if shown:
        page.add(
            '<p class="note">Times link the record they come from, with every raw sample. '
            '<a href="reading.html">How to read a result</a> explains the words, '
            '<a href="standing.html">How JAX stands</a> has every comparison with other implementations, '
            '<a href="data.html">What the data looks like</a> shows what the models are timed on, '
            '<a href="citing.html">How to cite a number</a> how to quote one, '
            '<a href="ledger.html">the ledger</a> what became of everything that the articles say, '
            '<a href="coverage.html">What has been measured</a> what is still missing.</p>'
        )
    yours = {r.machine.slug: r.machine.name for r in records if r.campaign in local}
    for slug, name in sorted(yours.items()):
        if said := (places or {}).get(slug):
            page.heading(f"Your machine: {name}")
            page.add(f'<p><a href="machines/{slug}.html">{safe(name)}</a>. {" ".join(map(safe, said))}</p>')
    for slug, mine in by_machine(records).items():
        if any(record.backend == "gpu" for record in mine):
            continue
        name = mine[0].machine.name
        page.heading(f"Without a GPU: {name}")
        page.table(tables.steps_table(f"One training step on the CPU of {name}", mine), links(records, ""))
        elsewhere = tables.elsewhere(records, slug)
        if elsewhere.rows:
            page.table(elsewhere, links(records, ""))
    page.heading("Experiments")
    asked = (f'<li><a href="experiments/{n}.html">{safe(t)}</a></li>' for n, t in experiments.questions())
    page.add(f"<ul>{''.join(asked)}</ul>")
    if everything:
        page.heading("Machines and models")
        slugs = {r.machine.slug: r.machine.name for r in everything}
        entries = [f'<li><a href="machines/{s}.html">{safe(n)}</a></li>' for s, n in sorted(slugs.items())]
        about = {r.workload: r.description.title for r in everything}
        entries += [f'<li><a href="workloads/{n}.html">{safe(t)}</a></li>' for n, t in sorted(about.items())]
        page.add(f"<ul>{''.join(entries)}</ul>")
    return files | {"index.md": page.text()}


def _sorted(records: Iterable[Record]) -> list[Record]:
    return sorted(records, key=lambda r: (r.workload, r.name))


def links(records: Iterable[Record], up: str) -> dict[str, str]:
    """Return the addresses of the pages that names in tables lead to."""
    found = {r.workload: f"{up}workloads/{r.workload}.html" for r in records if not is_ceiling(r)}
    return found | {r.machine.name: f"{up}machines/{r.machine.slug}.html" for r in records}


def workload(
    records: Sequence[Record], local: frozenset[str], ceilings: Roof, prices: Sequence[Price] = ()
) -> dict[str, str]:
    """Return a workload's page with its charts."""
    latest = max(records, key=lambda r: r.created)
    about, name = latest.description, latest.workload
    page = Page(about.title, "../", local)
    files: dict[str, str] = {}
    page.add(f'<p class="lead">{source(about)}</p>')
    page.facts(
        [
            ("workload", name),
            ("parameters", units.count(about.parameters)),
            ("trainable", units.count(about.trainable_parameters)),
            ("FLOP per example, forward", units.count(about.forward_flop_per_example or None)),
            ("FLOP per example, step", units.count(about.flop_per_example or None)),
            ("headline batch", units.count(about.batch)),
            *([("examples per epoch", units.count(about.epoch_examples))] if about.epoch_examples else []),
            ("loss", about.loss),
            ("optimizer", about.optimizer),
            ("preprocessing", about.preprocessing),
            ("data", data_words(records, about)),
            ("network", "inferred: the source leaves it open" if about.inferred else "as documented"),
        ],
        {data_words(records, about): f"../data.html#{anchor(about.dataset)}"} if about.stored else {},
    )
    if any(record.campaign not in local for record in records):
        page.add(
            f'<p class="note"><a href="../numbers/{name}.html">Numbers to quote</a>, each with key and record.</p>'
        )
    page.heading("Differs from the source")
    page.add(f"<ul>{''.join(f'<li>{safe(line)}</li>' for line in about.differs)}</ul>")
    asked_for = [record for record in records if not record.experiment]
    mine = [i for i in newest(speedups(asked_for)) if i.gpu.record.case.scope == "step"]
    if mine:
        page.heading("Speed-up")
        page.table(tables.speedup_table(asked_for), links(records, "../"))
    page.heading("Documented and measured")
    whole = [i for i in newest(speedups(records)) if (i.gpu.record.case.scope, i.gpu.record.case.length) == ("run", 1)]
    page.table(claims(about, [*whole, *mine]))
    for slug, there in by_machine(records).items():
        here = [s.record for s in tables.newest_cases(there)]
        machine_name = here[0].machine.name
        page.heading(f"Times on {machine_name}")
        files |= ladder_part(page, there)
        page.table(tables.case_table(f"{name} on {machine_name}", here))
        below = roofline.table(f"{name} below the ceilings of {machine_name}", roofline.newest_steps(here), ceilings)
        if below.rows:
            page.table(below)
        stages = stage_table(here)
        if stages.rows:
            page.table(stages)
        accuracies = learning.table(here)
        for table in (*feeding.tables(here), *meanwhile.tables(here), *([accuracies] if accuracies.rows else [])):
            page.table(table)
        files |= watched_part(page, here)
        costs = cost.table(here, prices)
        if costs.rows:
            page.table(costs)
        steps = [r for r in here if r.case.scope == "step" and any(run.samples for run in r.runs) and not r.experiment]
        if steps:
            chart = f"samples.{name}.{slug}"
            spec = charts.samples(steps)
            files |= charts.files(chart, spec)
            caption = "Every sample as a dot, a row for each process. Warm-ups are stored in the records and not drawn."
            page.chart(
                chart,
                f"samples of {name} on {machine_name}; times in the table above",
                caption,
                json.dumps(charts.themed(spec)),
            )
        reasons = [f"{tables.label(s.record)}, {s.record.case.scope}: {'; '.join(s.reasons)}"
                   for s in tables.newest_cases(here) if s.reasons]  # fmt: skip
        if reasons:
            page.add(f"<ul class='reasons'>{''.join(f'<li>{safe(line)}</li>' for line in reasons)}</ul>")
    return files | {f"workloads/{name}.md": page.text()}


def ladder_part(page: Page, records: Sequence[Record]) -> dict[str, str]:
    """Add the clock ladder of a workload on a machine, and its amortised curve; return the charts' files."""
    what, about = records[0].machine, max(records, key=lambda r: r.created).description
    rungs = clock.ladder(records)
    if len(rungs) < 2:
        return {}
    page.table(ladder.table(rungs, about.run, what.name))
    files = {}
    if spec := ladder.chart(rungs):
        name = f"ladder.{about.name}.{what.slug}"
        caption = (
            "What the GPU gains when more and more is counted: CPU time over GPU time, with 95 % intervals. Left of "
            "the dashed line the CPU is faster. Hollow: not steady."
        )
        page.chart(name, "the table above", caption, json.dumps(charts.themed(spec)))
        files |= charts.files(name, spec)
    curve = clock.amortised(records)
    if not curve:
        return files
    chart, spec = f"amortised.{about.name}.{what.slug}", ladder.curve(curve)
    caption = (
        "What the first steps of a fresh process cost together: CPU time over GPU time, lowering and compiling "
        "included, with 95 % intervals. Above the dashed line the GPU has won back its longer start."
    )
    page.chart(chart, ladder.alternative(curve), caption, json.dumps(charts.themed(spec)))
    return files | charts.files(chart, spec)


def watched_part(page: Page, records: Sequence[Record]) -> dict[str, str]:
    """Add what the machine did over time during the samples that lasted longest; return the chart's files."""
    found = timeline.longest(records)
    if found is None:
        return {}
    record, run = found
    name, spec, said = f"watched.{record.workload}.{record.machine.slug}", timeline.chart(run), timeline.said(*found)
    caption = f"What the machine did during the samples of one process: {said}."
    page.chart(name, f"{caption} The table above has means and maxima.", caption, json.dumps(charts.themed(spec)))
    return charts.files(name, spec)


def source(about: Description) -> str:
    """Return where a model was documented, as HTML; only an https address becomes a link."""
    origin = about.source
    title = safe(origin.title)
    if origin.address.startswith("https://"):
        title = f'<a href="{safe(origin.address)}" rel="noopener">{title}</a>'
    return f"{safe(origin.author)}, {title}, {origin.year}; {safe(origin.place)}."


def data_words(records: Sequence[Record], about: Description) -> str:
    """Return which data the steps were timed on."""
    kinds = {record.case.data for record in records}
    words = {
        "embedded": f"stand-in for {about.dataset}, made by this project",
        "tfds": f"the real {about.dataset}",
        "random": "random content of the documented form",
    }
    return "; ".join(words[kind] for kind in sorted(kinds))


def claims(about: Description, found: Sequence[SpeedUp]) -> Table:
    """Return the documented numbers beside what was measured."""
    rows = [
        (
            Cell(text="reported"),
            Cell(text=claim.metric, remark=claim.definition),
            Cell(text=claim.definition),
            Cell(text=f"{units.number(claim.cpu_value, digits=4)} {claim.unit}" if claim.cpu_value else units.DASH),
            Cell(text=claim.cpu_device or units.DASH),
            Cell(text=f"{units.number(claim.gpu_value, digits=4)} {claim.unit}" if claim.gpu_value else units.DASH),
            Cell(text=claim.gpu_device or units.DASH),
            Cell(text=units.times(claim.speedup), sort=claim.speedup),
        )
        for claim in about.claims
    ]
    rows += [
        (
            Cell(text="measured"),
            Cell(text=item.gpu.record.case.scope),
            Cell(text=what(item, about)),
            tables.time_cell(item.cpu),
            Cell(text=f"{item.cpu.record.machine.cores} cores of {item.cpu.record.machine.cpu_model}"),
            tables.time_cell(item.gpu),
            Cell(text=", ".join(gpu.name for gpu in item.gpu.record.machine.gpus[:1])),
            Cell(text=units.times(item.ratio.value, item.ratio.low, item.ratio.high), sort=item.ratio.value,
                 record=item.gpu.record),
        )
        for item in found
    ]  # fmt: skip
    columns = ("", "metric", "definition", "CPU", "CPU hardware", "GPU", "GPU hardware", "speed-up")
    return Table(title="What the source reports, and the nearest that was measured", columns=columns, rows=tuple(rows))


def what(item: SpeedUp, about: Description) -> str:
    """Return what a speed-up beside a documented number is one of."""
    case = item.gpu.record.case
    if case.scope == "run":
        return f"{ladder.words(case, about.run)}, {case.precision}"
    return f"one training step in steady state, batch {case.batch}, {case.precision}"


def stage_table(records: Sequence[Record]) -> Table:
    """Return the stages of cold starts, medians over processes."""
    rows = []
    for record in _sorted(records):
        runs = [run for run in record.runs if not run.reason]
        if (record.case.scope, record.case.cache) != ("cold", "empty") or not runs:
            continue
        cells = [Cell(text=tables.label(record), record=record)]
        for name in _STAGES:
            values = [stage.wall_seconds for run in runs for stage in run.stages if stage.name == name]
            value = median(values) if values else None
            cells.append(Cell(text=units.seconds(value), sort=value, record=record))
        rows.append(tuple(cells))
    title = "A cold start by stage, median over processes; no compile cache"
    return Table(title=title, columns=("case", *(name.replace("_", " ") for name in _STAGES)), rows=tuple(rows))


def machine(
    records: Sequence[Record], local: frozenset[str], ceilings: Roof, place: Sequence[str] = ()
) -> dict[str, str]:
    """Return a machine's page with its chart; `place` says where it stands among others."""
    latest = max(records, key=lambda r: r.created)
    what, software = latest.machine, latest.software
    page = Page(what.name, "../", local)
    facts = [
        ("processor", what.cpu_model),
        ("cores granted", units.count(what.cores)),
        ("quota", units.number(what.cpu_quota_cores) if what.cpu_quota_cores else "none"),
        ("governor", what.cpu_governor or "not shown"),
        ("memory", units.memory(what.memory_bytes)),
        ("system", what.system),
        ("virtual machine", {True: "yes", False: "no", None: "not known"}[what.virtual]),
    ]
    for gpu in what.gpus:
        facts += [
            ("GPU", gpu.name),
            ("GPU memory", units.memory(gpu.memory_bytes)),
            ("driver", f"{gpu.driver}, CUDA {gpu.cuda}, compute capability {gpu.compute_capability}"),
            ("graphics clock limit", f"{gpu.graphics_clock_limit_mhz or units.DASH} MHz"),
            ("memory clock limit", f"{gpu.memory_clock_limit_mhz or units.DASH} MHz"),
            ("power limit", f"{units.number(gpu.power_limit_watts)} W"),
        ]  # fmt: skip
    asked_for = [record for record in records if not record.experiment]
    files = overview.add(page, asked_for, f"speedups.{what.slug}", links(records, "../")) if what.gpus else {}
    for said in place:
        page.paragraph(said)
    page.heading("The machine")
    page.facts(facts)
    page.heading("Software")
    versions = {name: v for r in records for name, v in r.software.packages.items()}
    page.facts([("Python", software.python), *sorted((name, v) for name, v in versions.items() if name != "python")])
    steps = roofline.newest_steps(records, at_headline_batch=True)
    if steps:
        page.heading("Below the ceilings")
        here = {key: ceiling for key, ceiling in ceilings.items() if key[0] == what.slug}
        if here:
            page.table(roofline.ceiling_table(here))
        page.table(roofline.table("Steps beside what this machine does at most", steps, here), links(records, "../"))
        page.add('<p class="note"><a href="../experiments/roofline.html">How ceilings and floors are defined</a></p>')
    page.heading("All times")
    newest_here = [s.record for s in tables.newest_cases(records)]
    listed = tables.case_table(f"Every case measured on {what.name}", newest_here)
    rows = tuple((Cell(text=r.workload), *row) for r, row in zip(_sorted(newest_here), listed.rows, strict=True))
    page.table(Table(title=listed.title, columns=("model", *listed.columns), rows=rows), links(records, "../"))
    return files | {f"machines/{what.slug}.md": page.text()}
