"""A workload's page: its source, its reported and measured numbers, machine by machine; and its copyable step."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from suite import units
from suite.experiments import as_written
from suite.experiments.kernels import sentences
from suite.report.parts import ladder, lead, rungs, tables
from suite.report.parts.facts import STEPS, Facts
from suite.report.parts.html import Html, address, anchor
from suite.report.parts.on_machine import on_machine
from suite.report.parts.overview import first
from suite.report.parts.templates import render
from suite.results.evidence.copyable import Compared
from suite.results.pooled.ladder import Rung
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.records.record import Record
from suite.results.single.selection import by_machine
from suite.results.views.experiment_result import Chart
from suite.results.views.rows import number_cell, row_of, speedup_cells
from suite.results.views.table import Cell, Table
from suite.workload import KNOWN, Claim, Description

_SMALL = 1_000_000  # parameters of a network that people call small
_ALSO: Mapping[str, tuple[str, ...]] = {  # what people call a family of models
    "convolution": ("CNN", "ConvNet", "training"),
    "dense": ("MLP", "training"),
    "inference": ("CNN", "prediction", "serving", "CPU", "GPU"),
    "residual": ("ResNet", "CNN", "training"),
    "text": ("NLP", "training"),
    "trees": ("XGBoost", "GBDT", "gradient boosting"),
}


def files(facts: Facts) -> dict[str, str]:
    """Return the page of each workload with its charts, and that of its copyable step."""
    records: dict[str, list[Record]] = defaultdict(list)
    for record in facts.measured:
        records[record.workload].append(record)
    pages: dict[str, str] = {}
    home = first(facts.speedups)
    for name in sorted(records):
        pages |= _page(facts, records[name], [item for item in facts.speedups if item.workload == name], home)
        pages |= _step_page(facts, name) if name in facts.copied else {}
    return pages


def _page(
    facts: Facts, records: Sequence[Record], speedups: Sequence[PooledSpeedUp], home: str | None
) -> dict[str, str]:
    latest = max(records, key=lambda record: record.created)
    about, path = latest.description, f"workloads/{latest.workload}.md"
    steps = [item for item in speedups if item.general and item.case.scope == "step"]
    whole_runs = [item for item in speedups if (item.case.scope, item.case.length) == ("run", 1)]
    records_of = by_machine(records)
    chosen = _first(steps, home)
    order = sorted(records_of, key=lambda slug: slug != chosen)
    evidence = {slug: facts.evidence[slug].of(latest.workload) for slug in order}
    machines = {
        slug: on_machine(
            records_of[slug], its.speedups, facts.ceilings, facts.prices, sentences(its), leading=slug == chosen
        )
        for slug, its in evidence.items()
    }
    data = data_words(records, about)
    amounts = rungs.rungs((*evidence[chosen].speedups, *evidence[chosen].ways) if chosen else ())
    page = facts.page(
        path,
        "workload.md.j2",
        about=about,
        also=search_words(about),
        lead=lead.of_model(amounts, latest.workload),
        leading=machines[chosen].leading if chosen else (),
        facts=_facts(about, data),
        data_link={data: address(f"../data.html#{anchor(about.dataset)}")} if about.stored else {},
        published=any(record.campaign not in facts.local for record in records),
        copyable=about.name in facts.copied,
        ratios=[_ratio_words(one) for one in facts.timed if one.workload == about.name],
        speedups=tables.speedup_table(sorted(steps, key=lambda item: item.machine != chosen)) if steps else None,
        ways=ways(evidence, chosen),
        claims=claims(about, [*whole_runs, *steps]),
        machines=list(machines.values()),
    )
    charts = {
        path: text for each in machines.values() for figure in each.figures for path, text in figure.files.items()
    }
    return charts | {path: page}


def _first(steps: Sequence[PooledSpeedUp], home: str | None) -> str:
    """Return the home page's machine, else the one whose headline step has most hosts; '' without a headline step.

    So a reader who comes from the home page's table sees the same number again.
    """
    headline = [item for item in steps if item.headline]
    leading = max(headline, key=lambda item: (item.machine == home, item.quotable, item.hosts), default=None)
    return leading.machine if leading else ""


def ways(evidence: Mapping[str, Evidence], chosen: str) -> Table | None:
    """Return the ways of a model on the machine that timed most on both sides; None if none is as people write it."""
    results = {slug: its for slug, own in evidence.items() if (its := as_written.read(own))}
    if not results:
        return None
    both = {slug: len(its.chart.points) if isinstance(its.chart, Chart) else 0 for slug, its in results.items()}
    slug = max(results, key=lambda slug: (both[slug], slug == chosen, len(results[slug].tables[0].rows)))
    (table,) = results[slug].tables  # its first column is the model, its last the key
    title = f"{table.title}, {evidence[slug].records[0].machine.name}"
    rows = tuple(row[1:-1] for row in table.rows)
    return replace(table, title=title, columns=table.columns[1:-1], rows=rows)


def search_words(about: Description) -> list[str]:
    """Return other words for a model, which a search finds: code name, names with and without hyphens, size, kind."""
    hyphened = [word for word in about.title.replace(",", "").split() if "-" in word]
    joined = [word.replace("-", "") for word in hyphened]
    small = ["small"] * (about.parameters < _SMALL)
    return list(dict.fromkeys([about.name.replace("_", " "), *hyphened, *joined, *small, *_ALSO.get(about.family, ())]))


def _facts(about: Description, data: str) -> list[tuple[str, str]]:
    """Return the network's description."""
    epoch = [("examples per epoch", units.count(about.epoch_examples))] if about.epoch_examples else []
    return [
        ("workload", about.name),
        ("parameters", units.count(about.parameters)),
        ("trainable", units.count(about.trainable_parameters)),
        ("FLOP per example, forward", units.count(about.forward_flop_per_example or None)),
        ("FLOP per example, step", units.count(about.flop_per_example or None)),
        ("headline batch", units.count(about.batch)),
        *epoch,
        ("loss", about.loss),
        ("optimizer", about.optimizer),
        ("preprocessing", about.preprocessing),
        ("data", data),
        ("network", "inferred: the source leaves it open" if about.inferred else "as documented"),
    ]


def data_words(records: Sequence[Record], about: Description) -> str:
    """Return the data that the steps were timed on."""
    kinds = {record.case.data for record in records}
    words = {
        "embedded": f"stand-in for {about.dataset}, made by this project",
        "tfds": f"the real {about.dataset}",
        "random": "random content of the documented form",
    }
    return "; ".join(words[kind] for kind in sorted(kinds))


def claims(about: Description, speedups: Sequence[PooledSpeedUp]) -> Table:
    """Return the documented numbers beside the measured ones."""
    rows = [*map(_documented, about.claims), *(_measured(item, about) for item in speedups)]
    columns = ("number", "metric", "definition", "CPU", "CPU hardware", "GPU", "GPU hardware", "speed-up")
    title = "What the source reports, and the nearest that was measured"
    title = title if len(rows) > len(speedups) else "What was measured; the source reports no number"
    return Table(title=title, columns=columns, rows=tuple(rows))


def _documented(claim: Claim) -> tuple[Cell, ...]:
    sides = ((claim.cpu_value, claim.cpu_device), (claim.gpu_value, claim.gpu_device))
    cells = (text for value, device in sides for text in (units.documented(value, claim.unit), device or units.DASH))
    speedup = number_cell(claim.speedup, units.documented)
    return row_of(KNOWN[claim.grade], claim.metric, claim.definition, *cells, speedup)


def _measured(item: PooledSpeedUp, about: Description) -> tuple[Cell, ...]:
    host, gpus = item.cpu.newest.machine, item.record.machine.gpus
    cores = f"{units.pluralize(host.cores, 'core')} of {host.processor}"
    cpu, gpu, ratio, _ = speedup_cells(item)
    return row_of("measured", item.case.scope, what(item, about), cpu, cores, gpu, gpus[0].name if gpus else "", ratio)


def what(item: PooledSpeedUp, about: Description) -> str:
    """Return the definition of a speed-up shown beside a documented number."""
    case = item.case
    if case.scope == "run":
        included = ladder.words(Rung(case=case, pooled=item), about)
        return ", ".join(filter(None, (included, item.record.data_words, case.precision)))
    kind = "training step" if about.trained else "inference"
    return f"one {kind} in steady state, batch {case.batch}, {case.precision}"


def _step_page(facts: Facts, name: str) -> dict[str, str]:
    """Return the page of a workload's copyable step: its code, and its time against the suite's own."""
    path = f"workloads/{name}.step.md"
    sentences = [
        f"{_ratio_words(one)} Copied {units.seconds(one.copied_seconds)}, the suite's "
        f"{units.seconds(one.suite_seconds)}; {one.made}, commit {one.commit or units.DASH}."
        for one in facts.timed
        if one.workload == name
    ]
    code = Html(facts.copied[name])  # within a Markdown fence: a file of the repository
    return {path: render(path, template="step.md.j2", name=name, folder=STEPS, said=sentences, code=code)}


def _ratio_words(compared: Compared) -> str:
    """Return the ratio of a copied step's time to the suite's own, in words."""
    times = units.ratio(compared.ratio, compared.low, compared.high)
    reach = f" ({units.interval(compared.low, compared.high)})" if compared.low is not None else ""
    return f"It takes {times}{reach} the time of the suite's own step on {compared.machine}."
