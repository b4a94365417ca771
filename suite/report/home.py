"""The home page: how much faster, for which kind of model, on which machine."""

from collections.abc import Mapping, Sequence

from suite.report import charts, experiments, overview, tables
from suite.report.html import Page, safe
from suite.report.links import links
from suite.results.record import Record
from suite.results.selection import by_machine
from suite.results.summary import current, speedups

_QUESTION = "How much faster is a GPU?"


def picture(records: Sequence[Record]) -> str | None:
    """Return the headline chart on white ground, for pages other than the site's; None if there is no speed-up."""
    found = current(speedups(record for record in records if record.general))
    main = [i for i in found if tables.headline(i.gpu.record)]
    if not main:
        return None
    return charts.svg(charts.speedups(main), "light", ground="white")


def page(
    records: Sequence[Record],
    local: frozenset[str],
    everything: Sequence[Record] = (),
    places: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, str]:
    """Return the home page with its chart; it links the pages of everything that there is.

    `places` says of a machine where it stands among others.
    """
    made, everything = Page(_QUESTION, "", local), everything or records
    shown = overview.first(records)
    mine = [record for record in records if shown in (None, record.machine.slug)]
    made.add(overview.choice({r.machine.slug: r.machine.name for r in everything}, shown, ""))
    files = overview.add(made, mine, "speedups", links(records, ""))
    if shown:
        made.add(
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
            made.heading(f"Your machine: {name}")
            made.add(f'<p><a href="machines/{slug}.html">{safe(name)}</a>. {" ".join(map(safe, said))}</p>')
    for slug, mine in by_machine(records).items():
        name = mine[0].machine.name
        steps = tables.steps_table(f"One step on the CPU of {name}", mine)
        if any(record.backend == "gpu" for record in mine) or not steps.rows:
            continue
        made.heading(f"Without a GPU: {name}")
        made.table(steps, links(records, ""))
        elsewhere = tables.elsewhere(records, slug)
        if elsewhere.rows:
            made.table(elsewhere, links(records, ""))
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
