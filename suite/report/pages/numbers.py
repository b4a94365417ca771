"""Numbers under their keys: a page for each workload, and for those to quote and for ratios a document and a badge."""

import json
from collections.abc import Iterable, Sequence

from suite import units
from suite.report.charts.badges import badge
from suite.report.parts.html import Page, record_address, safe
from suite.results.cite.citation import RATIOS, Citation, former_path, former_place, markdown, path, place
from suite.results.cite.number import Number
from suite.results.cite.numbers import Numbers
from suite.results.cite.stored_pools import StoredPool
from suite.results.records.record import Record
from suite.results.single.roofline import is_ceiling

SCHEMA = "number/2"
_COLUMNS = ("what", "number", "95 % interval", "a further campaign", "evidence", "quote it")


def files(records: Iterable[Record], stored: Iterable[StoredPool] = ()) -> dict[str, str]:
    """Return the pages, documents and badges by their paths below the site's sources; of published records alone."""
    found: dict[str, str] = {}
    by_workload: dict[str, list[Citation]] = {}
    there = Numbers(records, stored)
    for number in map(there.pinned, there.current.values()):
        cited = Citation(number=number)
        by_workload.setdefault(number.record.workload, []).append(cited)
        for address in {path(number), former_path(number)} if _has_files(number) else ():
            found[f"{address}.json"] = document(cited)
            found[f"{address}.svg"] = badge(cited)
    for workload, mine in by_workload.items():
        found[f"numbers/{workload}.md"] = page(workload, mine)
    return found


def _has_files(number: Number) -> bool:
    return number.quotable or (number.pooled and number.key.metric in RATIOS)


def document(cited: Citation) -> str:
    """Return what a program needs to know of a number."""
    number, value = cited.number, cited.number.value
    return (
        json.dumps(
            {
                "schema": SCHEMA,
                "key": number.key.unpinned.text(),
                "pinned": cited.key if number.digest else None,
                "text": cited.value,
                "interval": cited.interval,
                "value": value.value,
                "low": value.low,
                "high": value.high,
                "range_low": value.range_low,
                "range_high": value.range_high,
                "hosts": value.hosts,
                "campaigns": number.campaigns,
                "status": number.state,
                "quotable": number.quotable,
                "reason": cited.reservation,
                "what": cited.what,
                "hardware": cited.hardware,
                "software": cited.software,
                "measured": number.measured,
                "record": cited.record,
                "digest": number.digest or None,
            },
            indent=1,
            ensure_ascii=False,
        )
        + "\n"
    )


def page(workload: str, mine: Sequence[Citation]) -> str:
    """Return the page of a workload's numbers: first those that may be quoted, then the open ones and why."""
    made = Page(f"Numbers: {workload}", "../", frozenset(), searched=False)
    about = "experiments/roofline" if is_ceiling(mine[0].number.record) else f"workloads/{safe(workload)}"
    made.add(
        f'<p class="lead">Each number has an address, a key and its records. <a href="../{about}.html">What '
        f'{safe(workload)} is</a>, <a href="../citing.html">how to cite</a>.</p>'
    )
    quotable = [cited for cited in mine if cited.number.quotable]
    head = "".join(f'<th scope="col">{column}</th>' for column in _COLUMNS)
    for machine in dict.fromkeys(cited.number.record.machine.name for cited in quotable):
        title = safe(f"Numbers to quote of {machine}")
        here = (cited for cited in quotable if cited.number.record.machine.name == machine)
        made.add(
            f'<div class="scroll" tabindex="0" role="region" aria-label="{title}">'
            f'<table class="results words"><caption>{title}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{''.join(map(_row, here))}</tbody></table></div>"
        )
    if not quotable:
        made.paragraph("None of its numbers may be quoted so far; below is why.")
    _list(
        made, "that may not be quoted yet", [cited for cited in mine if cited.number.pooled and cited not in quotable]
    )
    _list(made, "on one host, which no pool gives", [cited for cited in mine if not cited.number.pooled])
    return made.text()


def _list(made: Page, what: str, those: Sequence[Citation]) -> None:
    """Add a folded list of numbers, each with its reason."""
    if those:
        said = f"{units.pluralize(len(those), 'number')} {what}"
        items = "".join(map(_reserved, those))
        made.add(f"<details><summary>{said}</summary><ul class='reasons'>{items}</ul></details>")


def _reserved(cited: Citation) -> str:
    why = f": {cited.reservation}" if cited.reservation else ""
    said = f"{safe(cited.what)}: {safe(cited.quoted)}{safe(why)} (<code>{safe(cited.key)}</code>)"
    return f'<li id="{safe(place(cited.number))}">{_former_anchor(cited.number)}{said}</li>'


def _former_anchor(number: Number) -> str:
    """Return the mark of the address that a number had under its key's former name; '' if it had none."""
    old = former_place(number)
    return f'<span id="{safe(old)}"></span>' if old else ""


def _row(cited: Citation) -> str:
    number, name = cited.number, safe(path(cited.number).removeprefix("numbers/"))
    record = record_address(number.record, "../", local=False)
    buttons = "".join(
        f'<button type="button" class="copy" data-copy="{safe(what)}" hidden>{label}</button>'
        for label, what in (("copy key", cited.key), ("copy Markdown", markdown(cited)))
    )
    campaigns = units.pluralize(len(number.campaigns), "campaign")
    evidence = (cited.hosts, campaigns, cited.when, *cited.software.split(", "))
    return (
        f'<tr id="{safe(place(number))}"><th scope="row">{_former_anchor(number)}'
        f'<a href="#{safe(place(number))}">{safe(cited.short)}</a></th>'
        f'<td><a href="{record}">{safe(cited.value)}</a></td><td>{safe(cited.interval)}</td>'
        f"<td>{safe(cited.further)}</td>"
        f"<td>{'<br>'.join(map(safe, evidence))}</td>"
        f'<td class="long"><code>{safe(cited.key)}</code> {buttons} '
        f'<a href="{name}.json">JSON</a> <a href="{name}.svg">badge</a></td></tr>'
    )
