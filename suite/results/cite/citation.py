"""A number as documentation quotes it: with interval, machine, date, version and its record."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from suite import former, units
from suite.results.cite.number import METRICS, RATIOS, Key, Metric, Number, Unit, version_of
from suite.scopes import SCOPES

TITLE = "How much faster is a GPU? A reference suite"
AUTHOR = "The suite's maintainers"

_Write = tuple[Callable[[float, float | None], str], Callable[[float | None, float | None], str]]
_WRITE: Mapping[Unit, _Write] = {  # a value, and an interval
    "s": (units.seconds, units.seconds_interval),
    "examples/s": (lambda value, width: f"{units.number(value, width)} examples/s", units.interval),
    "FLOP/s": (
        lambda value, width: units.quantity(value, "FLOP/s", width),
        lambda low, high: units.quantity_interval(low, high, "FLOP/s"),
    ),
    "FLOP": (
        lambda value, width: units.quantity(value, "FLOP", width),
        lambda low, high: units.quantity_interval(low, high, "FLOP"),
    ),
    "elements": (lambda value, width: f"{units.number(value, width)} elements", units.interval),
    "1": (lambda value, width: f"{units.number(value, width)}x", units.interval),
}
_LATEX = str.maketrans({char: f"\\{char}" for char in "%&_#$"})


@dataclass(frozen=True, kw_only=True)
class Citation:
    """The content of every form of a citation; `site` is the published site's address, '' if unknown."""

    number: Number
    site: str = ""

    @property
    def _metric(self) -> Metric:
        return METRICS[self.number.key.metric]

    def _interval(self, low: float | None, high: float | None) -> str:
        return _WRITE[self._metric.unit][1](low, high)

    @property
    def key(self) -> str:
        """The key, pinned if the number is stored."""
        return self.number.key.text()

    @property
    def _measure(self) -> str:
        """The metric and what was timed; a latency is of one alone, whatever else is under way in the other metrics."""
        timed = SCOPES[self.number.record.case.scope].sentence
        return f"{self._metric.words} {timed.partition(',')[0] if self.number.key.metric == 'latency' else timed}"

    @property
    def value(self) -> str:
        """The number with its unit, without digits below the half-width of its interval."""
        value = self.number.value
        return _WRITE[self._metric.unit][0](value.value, units.half_width(value.low, value.high))

    @property
    def interval(self) -> str:
        """The 95 % interval; a dash if there is none."""
        return self._interval(self.number.value.low, self.number.value.high)

    @property
    def further(self) -> str:
        """The range of a further campaign; '' if unknown."""
        value = self.number.value
        return "" if value.range_low is None else self._interval(value.range_low, value.range_high)

    @property
    def quoted(self) -> str:
        """The number with its interval, if there is one, and its word if it may not be quoted."""
        words = [self.interval] if self.number.value.low is not None else []
        words += [] if self.number.quotable else [self.number.word]
        return f"{self.value} ({', '.join(words)})" if words else self.value

    @property
    def evidence(self) -> str:
        """Interval, range, hosts and state in words."""
        known = [f"95 % interval {self.interval}"] if self.number.value.low is not None else []
        if self.number.pooled:
            known += [f"next host {self.further}"] if self.further else []
            known += [self.hosts]
        return ", ".join([*known, self.number.word or self.number.status])

    @property
    def hosts(self) -> str:
        """The number of hosts in words."""
        return units.pluralize(self.number.value.hosts, "host")

    @property
    def what(self) -> str:
        """The quantity in words, with workload and machine."""
        record = self.number.record
        side = "" if self.number.key.metric in RATIOS else f"the {record.backend.upper()} of "
        one = self._measure
        workload = self.number.key.case.partition("/")[0]  # or a family of them
        return f"{one} of {workload}, {self.way}, on {side}{record.machine.name}"

    @property
    def way(self) -> str:
        """Batch, implementation, precision and all non-default axes in words."""
        case = self.number.record.case
        if self.number.ways:
            return f"batch {case.batch}, {self.number.ways}, {case.precision}"
        ways = [case.implementation, *case.non_default_axes()] + (
            [] if case.precision in case.non_default_axes() else [case.precision]
        )
        return f"batch {case.batch}, {', '.join([*ways, *self._cpu_threads])}"

    @property
    def _cpu_threads(self) -> tuple[str, ...]:
        """The chosen threads of a speed-up's CPU side, in words; none of other numbers, or if all cores are used."""
        cpu = [record for record in self.number.members if record.backend == "cpu"]
        if self.number.key.metric not in RATIOS or not cpu or not cpu[-1].chosen_threads:
            return ()
        return (f"{units.pluralize(cpu[-1].case.threads or 0, 'thread')} on the CPU",)

    @property
    def short(self) -> str:
        """The quantity in words, without workload and machine."""
        case = self.number.record.case
        side = "" if self.number.key.metric in RATIOS else f", {case.backend.upper()}"
        return f"{self._measure}{side}: {self.way}"

    @property
    def hardware(self) -> str:
        """The processor and GPUs of the measurement."""
        machine = self.number.record.machine
        names = [gpu.name for gpu in machine.gpus]
        gpus = [f"{names.count(name)} {name}" if names.count(name) > 1 else name for name in dict.fromkeys(names)]
        return ", ".join([machine.cpu_model, *gpus])

    @property
    def software(self) -> str:
        """The versions of the suite and of what was timed."""
        record = self.number.record
        return ", ".join(filter(None, (f"gpu-speedup-suite {record.software.suite}", version_of(record))))

    @property
    def date(self) -> str:
        """The day on which its newest record was measured."""
        return units.day(self.number.measured)

    @property
    def when(self) -> str:
        """The day of measurement; of several campaigns, the last one's."""
        return f"{'until' if len(self.number.campaigns) > 1 else 'on'} {self.date}"

    @property
    def record(self) -> str:
        """The address of its record, or of a pool's newest record, below the site's."""
        return f"{self.site}{self.number.record.address}"

    @property
    def proof(self) -> str:
        """The record or pool behind it, and its digest. If the site's address is unknown, the record has none."""
        number = self.number
        record = self.record if self.site else f"{number.record.name} of campaign {number.record.campaign}"
        digest = f", sha256 {number.digest}" if number.digest else ""
        if not number.pooled:
            return f"record {record}{digest}"
        return f"pool of {units.pluralize(len(number.members), 'record')}, among them {record}{digest}"

    @property
    def permalink(self) -> str:
        """The address of the number's row on the site."""
        return self.site + row(self.number.key, self.number.record.workload)

    @property
    def reservation(self) -> str:
        """Why the number may not be quoted, even as one host's; '' if it may."""
        return "" if self.number.quotable else "; ".join(self.number.reasons)

    @property
    def remark(self) -> str:
        """Why the number may not be quoted, else that another CPU with fewer cores takes less time; '' if neither."""
        if self.reservation:
            return f"Not to be quoted: {self.reservation}"
        return f"Slow CPU: {self.number.slow_cpu}" if self.number.slow_cpu else ""


def place(number: Number) -> str:
    """Return a number's anchor on its workload's page."""
    return _anchor(number.key)


def row(key: Key, workload: str) -> str:
    """Return the address of a number's row on its workload's page of numbers, below the site's."""
    return f"numbers/{quote(workload)}.html#{_anchor(key)}"


def _anchor(key: Key) -> str:
    return key.unpinned.text().replace("/", ".")


def path(number: Number) -> str:
    """Return the path of a number's files below the site's root, without their ending."""
    return f"numbers/{number.key.unpinned.text()}"


def former_place(number: Number) -> str:
    """Return a number's anchor under its key's former name; '' if it has none."""
    old = former.former_key(number.key.unpinned.text()).replace("/", ".")
    return old if old != place(number) else ""


def former_path(number: Number) -> str:
    """Return the path of a number's files under its key's former name; the present path if it has none."""
    return former.former_key(path(number))


def text(cited: Citation) -> str:
    """Return the citation as a sentence of plain text."""
    remark = f" {cited.remark}." if cited.remark else ""
    return (
        f"{cited.value} ({cited.evidence}): {cited.what} ({cited.hardware}), measured {cited.when} with "
        f"{cited.software}. Evidence: {cited.proof}. Key {cited.key}.{remark}"
    )


def markdown(cited: Citation) -> str:
    """Return the number as a marked quotation, which `suite check-citations` checks."""
    shown = f"[{cited.quoted}]({cited.permalink})" if cited.site else cited.quoted
    return f"<!-- cite {cited.key} -->{shown}<!-- /cite -->"


def bibtex(cited: Citation) -> str:
    """Return a BibTeX entry."""
    year, month, _ = cited.date.split("-")
    note = f"{cited.evidence}, key {cited.key}, {cited.proof}"
    fields = {
        "title": f"{{{cited.quoted}: {cited.what}}}",
        "author": f"{{{AUTHOR}}}",
        "year": year,
        "month": str(int(month)),
        "howpublished": f"{{{TITLE}, version {cited.number.record.software.suite}}}",
        "note": f"{{{'. '.join(filter(None, (note, cited.remark)))}}}",
    }
    lines = [f"  {name} = {{{value.translate(_LATEX)}}}," for name, value in fields.items()]
    if cited.site:
        lines.append(f"  url = {{{cited.permalink}}},")
    return "\n".join(
        [f"@misc{{gpu-speedup-suite-{(cited.number.digest or cited.number.record.digest)[:12]},", *lines, "}"]
    )


def csl(cited: Citation) -> str:
    """Return a CSL-JSON document of one item."""
    item = {
        "id": cited.key,
        "type": "dataset",
        "title": f"{cited.quoted}: {cited.what}",
        "author": [{"literal": AUTHOR}],
        "container-title": TITLE,
        "issued": {"date-parts": [[int(part) for part in cited.date.split("-")]]},
        "version": cited.number.record.software.suite,
        "note": f"{cited.evidence}, {cited.proof}"
        + (f"; {cited.remark[0].lower()}{cited.remark[1:]}" if cited.remark else ""),
    }
    if cited.site:
        item["URL"] = cited.permalink
    return json.dumps([item], indent=1, ensure_ascii=False)
