"""An Atom feed of the stored numbers that changed: which, when, from what to what.

All dates are those of records, so equal records give an equal feed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from suite.report.parts.facts import Facts
from suite.results.cite.citation import AUTHOR, TITLE, Citation

PATH = "feed.xml"
_ATOM = "http://www.w3.org/2005/Atom"
_MOST = 100  # entries
_NEVER = "1970-01-01T00:00:00Z"  # of a feed of no record


@dataclass(frozen=True, kw_only=True)
class Change:
    """A stored number that replaced another one of its key."""

    before: Citation
    after: Citation


def files(facts: Facts) -> dict[str, str]:
    """Return the feed."""
    ordered = sorted(changes(facts), key=lambda change: (change.after.number.measured, change.after.key), reverse=True)
    latest = max((record.created for record in facts.published), default=_NEVER)
    return {PATH: _feed(ordered[:_MOST], latest, facts.site)}


def changes(facts: Facts) -> Iterator[Change]:
    """Yield each change of a stored number's value, as it is printed, or of its state; in the order of storing."""
    previous: dict[str, Citation] = {}
    for line in facts.stored:
        try:
            now = Citation(number=facts.numbers.resolve(f"{line.key}@{line.digest}"), site=facts.site)
        except LookupError:
            continue  # its records are gone, which rendering reports elsewhere
        before = previous.get(line.key)
        previous[line.key] = now
        if before is not None and (before.value, before.number.state) != (now.value, now.number.state):
            yield Change(before=before, after=now)


def _feed(listed: Sequence[Change], latest: str, site: str) -> str:
    ElementTree.register_namespace("", _ATOM)
    feed = Element(f"{{{_ATOM}}}feed")
    _add(feed, "id", f"urn:uuid:{uuid5(NAMESPACE_URL, TITLE)}")
    _add(feed, "title", f"{TITLE}: changed numbers")
    _add(feed, "updated", max((change.after.number.measured for change in listed), default=latest))
    _add(_add(feed, "author"), "name", AUTHOR)
    _add(feed, "link", rel="self", href=f"{site}{PATH}")
    _add(feed, "link", rel="alternate", href=f"{site}index.html")
    for change in listed:
        feed.append(_entry(change))
    ElementTree.indent(feed, " ")
    return ElementTree.tostring(feed, encoding="unicode", xml_declaration=False) + "\n"


def _entry(change: Change) -> Element:
    before, after = change.before, change.after
    entry = Element(f"{{{_ATOM}}}entry")
    _add(entry, "id", f"urn:uuid:{uuid5(NAMESPACE_URL, after.key)}")
    _add(entry, "title", f"{after.quoted} instead of {before.quoted}: {after.what}")
    _add(entry, "updated", after.number.measured)
    _add(entry, "link", rel="alternate", href=after.permalink)
    _add(entry, "summary", f"{after.what}: {before.quoted}, measured {before.when}, is now {after.quoted}, measured "
         f"{after.when}. Keys: {before.key}, {after.key}.")  # fmt: skip
    return entry


def _add(parent: Element, name: str, text: str = "", **attributes: str) -> Element:
    child = SubElement(parent, f"{{{_ATOM}}}{name}", attributes)
    if text:
        child.text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return child
