"""A number as documentation quotes it: with interval, machine, date, version, and the record that proves it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from suite import __version__, units
from suite.results.keys import Number
from suite.workload import Scope

TITLE = "How much faster is a GPU? A reference suite"
AUTHOR = "The suite's maintainers"
LICENCE = "Apache-2.0"

_VALUES: dict[str, tuple[Callable[[float, float | None], str], Callable[[float | None, float | None], str]]] = {
    "seconds": (units.seconds, units.seconds_interval),
    "examples-per-second": (
        lambda value, width: f"{units.number(value, width)} examples/s",
        units.interval,
    ),
    "flop-per-second": (
        lambda value, width: units.quantity(value, "FLOP/s", width),
        lambda low, high: units.quantity_interval(low, high, "FLOP/s"),
    ),
    "speedup": (lambda value, width: f"{units.number(value, width)}x", units.interval),
    "latency": (units.seconds, units.seconds_interval),
    "latency-p50": (units.seconds, units.seconds_interval),
    "latency-p99": (units.seconds, units.seconds_interval),
}
_METRICS = {
    "seconds": "time of",
    "examples-per-second": "examples a second of",
    "flop-per-second": "analytic FLOP a second of",
    "speedup": "CPU time over GPU time of",
    "latency": "latency, waited for before the next, of",
    "latency-p50": "median latency of",
    "latency-p99": "latency at the 99th percentile of",
}
SCOPES: dict[Scope, str] = {
    "step": "one step in steady state",
    "transfer": "one step with its batch copied from the host",
    "epoch": "one step with its batch brought from storage",
    "input": "one batch of the input pipeline alone",
    "cold": "a cold start (lowering, compiling and the first step)",
    "run": "the documented whole run",
    "calls": "a later call of a fresh process",
    "learning": "training from storage",
    "serve": "a request of one picture, four under way",
}
_LATEX = str.maketrans({char: f"\\{char}" for char in "%&_#$"})


@dataclass(frozen=True, kw_only=True)
class Citation:
    """What every form of a citation says; `site` is the address at which the site is published, '' if unknown."""

    number: Number
    site: str = ""

    @property
    def key(self) -> str:
        """The key, pinned to its record."""
        return self.number.key.text()

    @property
    def value(self) -> str:
        """The number with its unit, no digit below the half-width of its interval."""
        value = self.number.value
        return _VALUES[self.number.key.metric][0](value.value, units.half_width(value.low, value.high))

    @property
    def interval(self) -> str:
        """The 95 % interval; a dash if there is none."""
        return _VALUES[self.number.key.metric][1](self.number.value.low, self.number.value.high)

    @property
    def quoted(self) -> str:
        """The number as a text quotes it, with its interval, if there is one, and its status."""
        return (
            f"{self.value} ({self.interval}, {self.number.status})" if self.number.value.low is not None else self.value
        )

    @property
    def what(self) -> str:
        """What the number is one of, in words."""
        record = self.number.record
        return (
            f"{_METRICS[self.number.key.metric]} {SCOPES[record.case.scope]} of {record.workload}, {self.way}, on "
            f"{'' if self.number.key.metric == 'speedup' else f'the {record.backend.upper()} of '}{record.machine.name}"
        )

    @property
    def way(self) -> str:
        """Batch, implementation, precision and all else that the case has of its own, in words."""
        case = self.number.record.case
        ways = [case.implementation, *case.ways()] + ([] if case.precision in case.ways() else [case.precision])
        return f"batch {case.batch}, {', '.join(ways)}"

    @property
    def short(self) -> str:
        """What the number is one of, where workload and machine are known."""
        case, metric = self.number.record.case, self.number.key.metric
        side = "" if metric == "speedup" else f", {case.backend.upper()}"
        return f"{_METRICS[metric]} {SCOPES[case.scope]}{side}: {self.way}"

    @property
    def hardware(self) -> str:
        """The processor and the GPUs that the number was obtained on."""
        machine = self.number.record.machine
        names = [gpu.name for gpu in machine.gpus]
        gpus = [f"{names.count(name)} {name}" if names.count(name) > 1 else name for name in dict.fromkeys(names)]
        return ", ".join([machine.cpu_model, *gpus])

    @property
    def software(self) -> str:
        """The suite's version and that of what was timed."""
        found = self.number.record.software
        package = {"keras": "tensorflow"}.get(
            self.number.record.case.implementation, self.number.record.case.implementation
        )
        version = found.packages.get(package)
        return f"gpu-speedup-suite {found.suite}" + (f", {package} {version}" if version else "")

    @property
    def date(self) -> str:
        """The day on which it was measured."""
        return units.day(self.number.record.created)

    @property
    def record(self) -> str:
        """The address of the record, below the site's."""
        record = self.number.record
        return f"{self.site}records/{quote(record.campaign)}/{quote(record.name)}.json"

    @property
    def permalink(self) -> str:
        """The address of the number's row on the site."""
        return f"{self.site}numbers/{quote(self.number.record.workload)}.html#{place(self.number)}"

    @property
    def reservation(self) -> str:
        """Why the number may not be quoted; '' if it may."""
        number = self.number
        if number.citable:
            return ""
        if number.value.low is None:
            return "one process, no interval"
        return "not certified" if number.certified is False else f"status {number.status}, {number.record.schema}"


def place(number: Number) -> str:
    """Return the anchor of a number on the page of its workload."""
    return number.key.unpinned.text().replace("/", ".")


def path(number: Number) -> str:
    """Return the path of a number's files below the site's root, without their ending."""
    return f"numbers/{number.key.unpinned.text()}"


def text(cited: Citation) -> str:
    """Return the citation as a sentence of plain text."""
    known = f"95 % interval {cited.interval}, " if cited.number.value.low is not None else ""
    number = f"{cited.value} ({known}{cited.number.status})"
    warned = f" Not to be quoted: {cited.reservation}." if cited.reservation else ""
    return (
        f"{number}: {cited.what} ({cited.hardware}), measured on {cited.date} with {cited.software}. "
        f"Record {cited.record}, sha256 {cited.number.record.digest}. Key {cited.key}.{warned}"
    )


def markdown(cited: Citation) -> str:
    """Return the number as a marked quotation that `suite check-docs` compares with its record."""
    shown = f"[{cited.quoted}]({cited.permalink})" if cited.site else cited.quoted
    return f"<!-- cite {cited.key} -->{shown}<!-- /cite -->"


def bibtex(cited: Citation) -> str:
    """Return a BibTeX entry."""
    year, month, _ = cited.date.split("-")
    note = f"Status {cited.number.status}, key {cited.key}, record {cited.record}, sha256 {cited.number.record.digest}"
    fields = {
        "title": f"{{{cited.value} (95 % interval {cited.interval}): {cited.what}}}",
        "author": f"{{{AUTHOR}}}",
        "year": year,
        "month": str(int(month)),
        "howpublished": f"{{{TITLE}, version {cited.number.record.software.suite}}}",
        "note": f"{{{note}{'. Not to be quoted: ' + cited.reservation if cited.reservation else ''}}}",
    }
    lines = [f"  {name} = {{{value.translate(_LATEX)}}}," for name, value in fields.items()]
    if cited.site:
        lines.append(f"  url = {{{cited.permalink}}},")
    return "\n".join([f"@misc{{gpu-speedup-suite-{cited.number.record.digest[:12]},", *lines, "}"])


def csl(cited: Citation) -> str:
    """Return a CSL-JSON document of one item."""
    item = {
        "id": cited.key,
        "type": "dataset",
        "title": f"{cited.value} (95 % interval {cited.interval}): {cited.what}",
        "author": [{"literal": AUTHOR}],
        "container-title": TITLE,
        "issued": {"date-parts": [[int(part) for part in cited.date.split("-")]]},
        "version": cited.number.record.software.suite,
        "note": f"status {cited.number.status}, record {cited.record}, sha256 {cited.number.record.digest}"
        + (f"; not to be quoted: {cited.reservation}" if cited.reservation else ""),
    }
    if cited.site:
        item["URL"] = cited.permalink
    return json.dumps([item], indent=1, ensure_ascii=False)


def citation_file() -> str:
    """Return CITATION.cff, from the same title, author, version and licence as every citation."""
    return (
        "cff-version: 1.2.0\n"
        "message: If you use this suite or its results, please cite it with the record's address and digest.\n"
        f'title: "{TITLE}"\n'
        "type: software\n"
        f"authors:\n  - name: {AUTHOR}\n"
        f"version: {__version__}\n"
        f"license: {LICENCE}\n"
    )
