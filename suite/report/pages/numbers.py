"""Numbers by key: a page for each workload; a document and a badge for ratios and numbers of enough hosts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from suite import units
from suite.report.charts.badges import badge
from suite.report.parts import embeds
from suite.report.parts.facts import Facts
from suite.report.parts.html import address, record_address
from suite.report.parts.templates import render
from suite.results.cite.citation import (
    Citation,
    bibtex,
    former_path,
    former_place,
    markdown,
    path,
    place,
    text,
)
from suite.results.cite.number import RATIOS
from suite.results.pooled.pools import FEWEST_HOSTS
from suite.results.records.record import Record
from suite.results.single.roofline import is_ceiling

SCHEMA = "number/2"


def files(facts: Facts) -> dict[str, str]:
    """Return the pages, documents and badges of the published numbers."""
    pages: dict[str, str] = {}
    by_workload: dict[str, list[Citation]] = {}
    for cited in facts.citations:
        number = cited.number
        by_workload.setdefault(number.record.workload, []).append(cited)
        # What may have been quoted keeps its document and badge, which then say that it is open.
        has_files = number.pooled and (number.key.metric in RATIOS or number.value.hosts >= FEWEST_HOSTS)
        for at in {path(number), former_path(number)} if has_files else ():
            pages[f"{at}.json"] = document(cited)
            pages[f"{at}.svg"] = badge(cited)
    for workload, citations in by_workload.items():
        headlines = facts.headlines.get(workload, ())
        pages[f"numbers/{workload}.md"] = page(workload, citations, headlines[0] if headlines else None, facts.site)
        for cited in headlines:
            pages |= embeds.of_number(cited, facts.site)
    return pages


def document(cited: Citation) -> str:
    """Return a number's document for programs."""
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
                "slow_cpu": number.slow_cpu,
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


def page(workload: str, citations: Sequence[Citation], headline: Citation | None = None, site: str = "") -> str:
    """Return the page of a workload's numbers: the headline, then quotable ones, then open ones with their reasons.

    The machine of the headline comes first, and of each machine the speed-ups.
    """
    first = headline.number.key.machine if headline else ""
    about = citations[0].number.record.description
    quotable = sorted(
        (cited for cited in citations if cited.number.quotable),
        key=lambda cited: (
            cited.number.key.machine != first,
            cited.number.key.metric not in RATIOS,
            cited.number.key.metric != "speedup",
        ),
    )
    open_ones = [cited for cited in citations if cited.number.pooled and not cited.number.quotable]
    return render(
        f"numbers/{workload}.md",
        template="numbers.md.j2",
        workload=workload,
        name=about.title if about.documented else workload,
        home=_home(citations[0].number.record),
        headline=_headline(headline, site) if headline else None,
        machines={
            machine: [_row(cited) for cited in quotable if cited.number.record.machine.name == machine]
            for machine in dict.fromkeys(cited.number.record.machine.name for cited in quotable)
        },
        folded=[
            *_folded("that may not be quoted yet", open_ones),
            *_folded("of one host, without a pool", [cited for cited in citations if not cited.number.pooled]),
        ],
    )


def _headline(cited: Citation, site: str) -> dict[str, Any]:
    record, addressed = cited.number.record, replace(cited, site=site)
    return _shown(cited) | {
        "title": record.description.title,
        "words": f"{embeds.words(cited)}, on {embeds.behind(cited)}.",
        "within": cited.number.value.low is not None,
        "embed": address(f"../{embeds.number_path(cited)}"),
        "picture": address(f"../{embeds.card_path(record.workload)}"),
        "copied": _copied(cited),
        "sentence": text(addressed),
        "bibtex": bibtex(addressed).splitlines(),
    }


def _copied(cited: Citation) -> tuple[tuple[str, str], ...]:
    return ("copy key", cited.key), ("copy Markdown", markdown(cited))


def _home(record: Record) -> str:
    """Return the path, without its ending, of the page that says what a workload is."""
    if record.description.documented:
        return f"workloads/{record.workload}"
    return "experiments/roofline" if is_ceiling(record) else "experiments/crossover"


def _folded(what: str, those: Sequence[Citation]) -> Iterator[tuple[str, Sequence[Mapping[str, Any]]]]:
    """Yield a folded list of numbers with their reasons; nothing if there are none.

    Numbers of one case for one reason share a line: its time, or what comes first, then each other metric.
    """
    if those:
        lines: dict[tuple[str, str, str], list[Citation]] = {}
        for cited in those:
            key = cited.number.key
            lines.setdefault((key.machine, key.case, cited.reservation), []).append(cited)
        in_order = (sorted(line, key=lambda cited: cited.number.key.metric != "seconds") for line in lines.values())
        yield (
            f"{units.pluralize(len(those), 'number')} {what}",
            [_shown(first) | {"others": [_shown(cited) for cited in others]} for first, *others in in_order],
        )


def _shown(cited: Citation) -> dict[str, Any]:
    return {
        "cited": cited,
        "place": place(cited.number),
        "former": former_place(cited.number),
        "record": record_address(cited.number.record, "../", local=False),
    }


def _row(cited: Citation) -> dict[str, Any]:
    number = cited.number
    campaigns = units.pluralize(len(number.campaigns), "campaign")
    return _shown(cited) | {
        "file": address(path(number).removeprefix("numbers/")),
        "evidence": (*filter(None, [cited.remark]), cited.hosts, campaigns, cited.when, *cited.software.split(", ")),
        "copied": _copied(cited),
    }
