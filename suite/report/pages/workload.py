"""A workload's page: where it is documented, what was reported and measured, machine by machine."""

import json
from collections.abc import Sequence
from statistics import median

from suite import units
from suite.experiments import roofline
from suite.report.charts import timeline, vega
from suite.report.pages import copyable, learning
from suite.report.parts import cost, input_pipeline, ladder, tables, telemetry
from suite.report.parts import history as repeats
from suite.report.parts.html import UNSEARCHED, Page, anchor, marked, safe
from suite.report.parts.links import links
from suite.results.evidence.copyable import Compared
from suite.results.pooled import ladder as pooled_ladder
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.records.record import Record
from suite.results.single.history import history
from suite.results.single.prices import Price
from suite.results.single.roofline import Roof
from suite.results.single.selection import by_machine, current_cases
from suite.results.views.table import Cell, Table
from suite.workload import KNOWN, Description

_STAGES = ("import", "init", "lower", "compile", "first_step")


def page(
    records: Sequence[Record],
    found: Sequence[PooledSpeedUp],
    local: frozenset[str],
    ceilings: Roof,
    prices: Sequence[Price] = (),
    copied: Sequence[Compared] | None = None,
) -> dict[str, str]:
    """Return a workload's page with its speed-ups and charts; `copied` is None if it has no step that one can copy."""
    latest = max(records, key=lambda r: r.created)
    about, name = latest.description, latest.workload
    made = Page(about.title, "../", local)
    files: dict[str, str] = {}
    made.add(f'<p class="lead">{source(about)}</p>')
    _facts(made, records, about)
    if any(record.campaign not in local for record in records):
        made.add(
            f'<p class="note"><a href="../numbers/{name}.html">Numbers to quote</a>, each with key and record.</p>'
        )
    if copied is not None:
        made.add(copyable.link(name, copied))
    made.heading("Differs from the source")
    made.add(f"<ul>{''.join(f'<li>{marked(line)}</li>' for line in about.differs)}</ul>")
    mine = [item for item in found if item.general and item.case.scope == "step"]
    if mine:
        made.heading("Speed-up")
        made.table(tables.speedup_table(mine), links(records, "../"))
    made.heading("Documented and measured")
    whole = [item for item in found if (item.case.scope, item.case.length) == ("run", 1)]
    made.table(claims(about, [*whole, *mine]))
    for slug, there in by_machine(records).items():
        files |= machine_part(made, there, [item for item in found if item.machine == slug], ceilings, prices)
    return files | {f"workloads/{name}.md": made.text()}


def _facts(made: Page, records: Sequence[Record], about: Description) -> None:
    """Add what the network is."""
    made.facts(
        [
            ("workload", about.name),
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


def machine_part(
    made: Page,
    records: Sequence[Record],
    speedups: Sequence[PooledSpeedUp],
    ceilings: Roof,
    prices: Sequence[Price] = (),
) -> dict[str, str]:
    """Add what one machine makes of a workload, from its ladder to its samples; return the charts' files."""
    here = [s.record for s in current_cases(records)]
    name, machine_name = here[0].workload, here[0].machine.name
    made.heading(f"Times on {machine_name}")
    files = ladder_part(made, records, speedups)
    made.table(tables.case_table(f"{name} on {machine_name}", here))
    if len(campaigns := history(records)) > 1:
        made.table(repeats.table(campaigns, machine_name), folded=repeats.words(campaigns))
    shown = [record for record in here if record.general]  # an experiment's many cases have tables on its page
    below = roofline.table(f"{name} below the ceilings of {machine_name}", roofline.current_steps(here), ceilings)
    for table in (
        below,
        stage_table(shown),
        *input_pipeline.tables(shown),
        *telemetry.tables(shown),
        learning.table(here),
    ):
        if table.rows:
            made.table(table)
    files |= telemetry_part(made, here)
    costs = cost.table(here, prices)
    if costs.rows:
        made.table(costs)
    files |= samples_part(made, shown)
    reasons = [f"{s.record.label}, {s.record.case.scope}: {'; '.join(s.reasons)}"
               for s in current_cases(shown) if s.reasons]  # fmt: skip
    if reasons:
        made.add(f"<ul class='reasons'{UNSEARCHED}>{''.join(f'<li>{safe(line)}</li>' for line in reasons)}</ul>")
    return files


def samples_part(made: Page, records: Sequence[Record]) -> dict[str, str]:
    """Add every sample of the steps that were timed on a machine, drawn; return the chart's files."""
    steps = [r for r in records if r.case.scope == "step" and any(run.samples for run in r.runs)]
    if not steps:
        return {}
    name, what, spec = steps[0].workload, steps[0].machine, vega.samples(steps)
    chart = f"samples.{name}.{what.slug}"
    caption = "Every sample as a dot, a row for each process. Warm-ups are stored in the records and not drawn."
    alternative = f"samples of {name} on {what.name}; times in the table above"
    made.chart(chart, alternative, caption, json.dumps(vega.themed(spec)))
    return vega.files(chart, spec)


def ladder_part(made: Page, records: Sequence[Record], speedups: Sequence[PooledSpeedUp]) -> dict[str, str]:
    """Add the clock ladder of a workload on a machine, and its amortised curve; return the charts' files."""
    what, about = records[0].machine, max(records, key=lambda r: r.created).description
    rungs = pooled_ladder.ladder(records, speedups)
    if len(rungs) < 2:
        return {}
    made.table(ladder.table(rungs, about, what.name))
    files = {}
    if spec := ladder.chart(rungs):
        name = f"ladder.{about.name}.{what.slug}"
        caption = (
            "What the GPU gains when more and more is counted: CPU time over GPU time, with 95 % intervals. Left of "
            "the dashed line the CPU is faster. Hollow: not to be quoted."
        )
        made.chart(name, "the table above", caption, json.dumps(vega.themed(spec)))
        files |= vega.files(name, spec)
    curve = pooled_ladder.amortised(rungs)
    if not curve:
        return files
    chart, spec = f"amortised.{about.name}.{what.slug}", ladder.curve(curve)
    caption = (
        "What a cold start and the steps after it cost together: CPU time over GPU time, lowering and compiling "
        "included, with 95 % intervals. Above the dashed line the GPU has won back its longer start. Hollow: "
        "not to be quoted."
    )
    made.chart(chart, ladder.alternative(curve), caption, json.dumps(vega.themed(spec)))
    return files | vega.files(chart, spec)


def telemetry_part(made: Page, records: Sequence[Record]) -> dict[str, str]:
    """Add what the machine did over time during the samples that lasted longest; return the chart's files."""
    found = timeline.longest(records)
    if found is None:
        return {}
    record, run = found
    name, spec, said = f"watched.{record.workload}.{record.machine.slug}", timeline.chart(run), timeline.said(*found)
    caption = f"What the machine did during the samples of one process: {said}."
    made.chart(name, f"{caption} The table above has means and maxima.", caption, json.dumps(vega.themed(spec)))
    return vega.files(name, spec)


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


def claims(about: Description, found: Sequence[PooledSpeedUp]) -> Table:
    """Return the documented numbers beside what was measured."""
    rows = [
        (
            Cell(text=KNOWN[claim.grade]),
            Cell(text=claim.metric),
            Cell(text=claim.definition),
            Cell(text=units.documented(claim.cpu_value, claim.unit)),
            Cell(text=claim.cpu_device or units.DASH),
            Cell(text=units.documented(claim.gpu_value, claim.unit)),
            Cell(text=claim.gpu_device or units.DASH),
            Cell(text=units.documented(claim.speedup), sort=claim.speedup),
        )
        for claim in about.claims
    ]
    rows += [
        (
            Cell(text="measured"),
            Cell(text=item.case.scope),
            Cell(text=what(item, about)),
            tables.time_cell(item.cpu),
            Cell(text=f"{units.pluralize(machine.cores, 'core')} of {machine.cpu_model}"),
            tables.time_cell(item.gpu),
            Cell(text=", ".join(gpu.name for gpu in item.record.machine.gpus[:1])),
            Cell(text=units.ratio(item.ratio.value, item.ratio.low, item.ratio.high), sort=item.ratio.value,
                 record=item.record),
        )
        for item in found
        for machine in [item.cpu.newest.machine]
    ]  # fmt: skip
    columns = ("number", "metric", "definition", "CPU", "CPU hardware", "GPU", "GPU hardware", "speed-up")
    title = "What the source reports, and the nearest that was measured"
    title = title if len(rows) > len(found) else "What was measured; the source reports no number"
    return Table(title=title, columns=columns, rows=tuple(rows))


def what(item: PooledSpeedUp, about: Description) -> str:
    """Return what a speed-up beside a documented number is one of."""
    case = item.case
    if case.scope == "run":
        return f"{ladder.words(case, about)}, {case.precision}"
    kind = "training step" if about.trained else "inference"
    return f"one {kind} in steady state, batch {case.batch}, {case.precision}"


def stage_table(records: Sequence[Record]) -> Table:
    """Return the stages of cold starts, medians over processes."""
    rows = []
    for record in sorted(records, key=lambda r: r.name):
        runs = [run for run in record.runs if not run.reason]
        if (record.case.scope, record.case.cache) != ("cold", "empty") or not runs:
            continue
        cells = [Cell(text=record.label, record=record)]
        for name in _STAGES:
            values = [stage.wall_seconds for run in runs for stage in run.stages if stage.name == name]
            value = median(values) if values else None
            cells.append(Cell(text=units.seconds(value), sort=value, record=record))
        rows.append(tuple(cells))
    title = "A cold start by stage, median over processes; no compile cache"
    return Table(title=title, columns=("case", *(name.replace("_", " ") for name in _STAGES)), rows=tuple(rows))
