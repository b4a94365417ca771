"""The numbers that may be quoted: a page for each workload, and for each number a JSON document and a badge."""

import json
from collections.abc import Iterable, Mapping, Sequence

from suite import units
from suite.report.badges import badge
from suite.report.html import Page, record_address, safe
from suite.results.citation import Citation, markdown, path, place
from suite.results.keys import Key, Number, newest, numbers
from suite.results.record import Record
from suite.results.roofline import is_ceiling

SCHEMA = "number/1"
_COLUMNS = ("what", "number", "95 % interval", "status", "measured", "quote it")


def files(records: Iterable[Record]) -> dict[str, str]:
    """Return the pages, documents and badges by their paths below the site's sources; of published records alone."""
    found: dict[str, str] = {}
    by_workload: dict[str, list[Number]] = {}
    there = numbers(records)
    last = {number.key.unpinned: number for number in there}
    for number in newest(there):
        by_workload.setdefault(number.record.workload, []).append(number)
        if number.citable:
            cited = Citation(number=number)
            found[f"{path(number)}.json"] = document(cited)
            found[f"{path(number)}.svg"] = badge(cited)
    for workload, mine in by_workload.items():
        found[f"numbers/{workload}.md"] = page(workload, mine, last)
    return found


def document(cited: Citation) -> str:
    """Return what a program needs to know of a number."""
    number = cited.number
    return (
        json.dumps(
            {
                "schema": SCHEMA,
                "key": number.key.unpinned.text(),
                "pinned": cited.key,
                "text": cited.value,
                "interval": cited.interval,
                "value": number.value.value,
                "low": number.value.low,
                "high": number.value.high,
                "what": cited.what,
                "hardware": cited.hardware,
                "software": cited.software,
                "measured": number.record.created,
                "status": number.status,
                "record": cited.record,
                "digest": number.record.digest,
            },
            indent=1,
            ensure_ascii=False,
        )
        + "\n"
    )


def page(workload: str, mine: Sequence[Number], last: Mapping[Key, Number]) -> str:
    """Return the page of a workload's numbers: first those that may be quoted, then the rest and why not.

    `last` has the newest number under each key, which a number says that may be quoted and is older.
    """
    made = Page(f"Numbers: {workload}", "../", frozenset(), searched=False)
    about = "experiments/roofline" if is_ceiling(mine[0].record) else f"workloads/{safe(workload)}"
    made.add(
        f'<p class="lead">Each number has an address, a key and a record. <a href="../{about}.html">What '
        f'{safe(workload)} is</a>, <a href="../citing.html">how to cite</a>.</p>'
    )
    citable = [Citation(number=number) for number in mine if number.citable]
    rest = [Citation(number=number) for number in mine if not number.citable]
    head = "".join(f'<th scope="col">{column}</th>' for column in _COLUMNS)
    for machine in dict.fromkeys(cited.number.record.machine.name for cited in citable):
        title = safe(f"Numbers to quote of {machine}")
        here = (cited for cited in citable if cited.number.record.machine.name == machine)
        made.add(
            f'<div class="scroll" tabindex="0" role="region" aria-label="{title}">'
            f'<table class="results words"><caption>{title}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{''.join(_row(cited, last) for cited in here)}</tbody></table></div>"
        )
    if not citable:
        made.paragraph("None of its numbers may be quoted so far; below is why.")
    if rest:
        items = "".join(map(_reserved, rest))
        said = f"{units.count(len(rest))} that may not"
        made.add(f"<details><summary>{said}</summary><ul class='reasons'>{items}</ul></details>")
    return made.text()


def _reserved(cited: Citation) -> str:
    said = f"{safe(cited.what)}: {safe(cited.reservation)} (<code>{safe(cited.key)}</code>)"
    return f'<li id="{safe(place(cited.number))}">{said}</li>'


def _row(cited: Citation, last: Mapping[Key, Number]) -> str:
    number, name = cited.number, safe(path(cited.number).removeprefix("numbers/"))
    newer = Citation(number=last[number.key.unpinned])
    older = newer.number is not number
    said = f"<br>the newest, {safe(newer.value)}, may not be quoted: {safe(newer.reservation)}" if older else ""
    record = record_address(number.record, "../", local=False)
    buttons = "".join(
        f'<button type="button" class="copy" data-copy="{safe(what)}" hidden>{label}</button>'
        for label, what in (("copy key", cited.key), ("copy Markdown", markdown(cited)))
    )
    return (
        f'<tr id="{safe(place(number))}"><th scope="row"><a href="#{safe(place(number))}">{safe(cited.short)}</a></th>'
        f'<td><a href="{record}">{safe(cited.value)}</a></td><td>{safe(cited.interval)}</td>'
        f"<td>{number.status}{said}</td>"
        f"<td>{'<br>'.join(map(safe, (cited.date, *cited.software.split(', '))))}</td>"
        f'<td class="long"><code>{safe(cited.key)}</code> {buttons} '
        f'<a href="{name}.json">JSON</a> <a href="{name}.svg">badge</a></td></tr>'
    )
