"""The home page: how much faster, for which kind of model, on which machine."""

from collections.abc import Iterable, Mapping, Sequence

from suite.report.charts import vega
from suite.report.pages import experiments
from suite.report.parts import overview, tables
from suite.report.parts.html import Page, safe
from suite.report.parts.links import links
from suite.results.pooled.speedup import PooledSpeedUp, pooled_speedups
from suite.results.records.record import Record

_QUESTION = "How much faster is a GPU?"


def picture(records: Sequence[Record]) -> str | None:
    """Return the first machine's headline chart on white ground, for pages other than the site's; None without one."""
    found = [item for item in overview.headlines(pooled_speedups(records)) if item.general]
    machine = overview.first(found)
    shown = [item for item in found if item.machine == machine]
    return vega.svg(vega.speedups(shown), "light", ground="white") if shown else None


def page(
    records: Sequence[Record],
    local: frozenset[str],
    everything: Sequence[Record] = (),
    found: Sequence[PooledSpeedUp] = (),
    places: Mapping[str, Sequence[str]] | None = None,
    models: Iterable[str] = (),
    again: str = "",
) -> dict[str, str]:
    """Return the home page with its chart; it links the pages of everything that there is.

    `found` are the speed-ups of all machines. `places` says of a machine where it stands among others; `models` are
    all that can be measured; `again` says how often the numbers hold on the next machine.
    """
    made, everything, places = Page(_QUESTION, "", local), everything or records, places or {}
    shown = overview.first(found)
    mine = [record for record in records if shown in (None, record.machine.slug)]
    made.add(overview.choice({r.machine.slug: r.machine.name for r in everything}, shown, ""))
    speedups = [item for item in found if shown in (None, item.machine)]
    files = overview.add(made, speedups, mine, "speedups", links(records, ""), models)
    yours = {r.machine.slug: r.machine.name for r in records if r.campaign in local}
    if shown not in yours:
        for said in places.get(shown or "", ()):
            made.add(f'<p class="note">{safe(said)}</p>')
    if again:
        made.add(f'<p class="note">{again} <a href="trust.html">Can the numbers be trusted?</a></p>')
    if shown:
        made.add(
            '<p class="note">Times link the record they come from, with every raw sample. '
            '<a href="reading.html">How to read a result</a> says what they mean, '
            'the <a href="glossary.html">glossary</a> explains the tables’ words, '
            '<a href="standing.html">JAX against PyTorch, Keras and XGBoost</a> sets it beside other implementations, '
            '<a href="data.html">What the data looks like</a> shows what the models are timed on, '
            '<a href="citing.html">How to cite a number</a> how to quote one, '
            '<a href="ledger.html">the ledger</a> what became of everything that the articles say, '
            '<a href="coverage.html">Coverage</a> what was measured where.</p>'
        )
    for slug, name in sorted(yours.items()):
        made.heading(f"Your machine: {name}")
        said = " ".join(map(safe, places.get(slug, ())))
        made.add(f'<p><a href="machines/{slug}.html">{safe(name)}</a>. {said}</p>')
        for table in tables.without_gpu(records, slug):
            made.table(table, links(records, ""))
    with_gpu = {record.machine.slug for record in records if record.backend == "gpu"}
    others = tables.side_by_side(record for record in records if record.machine.slug not in (with_gpu | yours.keys()))
    if others.rows:
        made.heading("Without a GPU")
        made.table(others, links(records, ""))
        made.add(
            '<p class="note">The wider an interval, the fewer digits. The pages of the machines have the intervals, '
            "say what was not steady, and set these steps beside the GPUs of other machines.</p>"
        )
    made.heading("Experiments")
    asked = (f'<li><a href="experiments/{n}.html">{safe(t)}</a></li>' for n, t in experiments.questions())
    made.add(f"<ul>{''.join(asked)}</ul>")
    if everything:
        made.heading("Machines and models")
        slugs = {r.machine.slug: r.machine.name for r in everything}
        entries = [f'<li><a href="machines/{s}.html">{safe(n)}</a></li>' for s, n in sorted(slugs.items())]
        about = {r.workload: r.description.title for r in everything}
        entries += [f'<li><a href="workloads/{n}.html">{safe(t)}</a></li>' for n, t in sorted(about.items())]
        made.add(f"<ul>{''.join(entries)}</ul>")
    return files | {"index.md": made.text()}
