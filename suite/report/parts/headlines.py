"""Each model's headline numbers: the speed-up of a step in the headline setting, on each kind of machine."""

from collections.abc import Iterable, Mapping, Sequence

from suite.results.cite.citation import Citation


def headlines(citations: Iterable[Citation], home: str | None) -> Mapping[str, Sequence[Citation]]:
    """Return the headline numbers by model: quotable ones first, then the home page's machine, then most evidence."""
    by_workload: dict[str, list[Citation]] = {}
    for cited in citations:
        number = cited.number
        if number.pooled and number.key.metric == "speedup" and number.record.headline_step():
            by_workload.setdefault(number.record.workload, []).append(cited)
    return {
        workload: sorted(those, key=lambda cited: _evidence(cited, home), reverse=True)
        for workload, those in by_workload.items()
    }


def _evidence(cited: Citation, home: str | None) -> tuple[bool, bool, int, int, str, str]:
    """Return a sort key of numbers by how much stands behind them."""
    number = cited.number
    known = number.key.machine == home
    return number.quotable, known, number.value.hosts, len(number.campaigns), number.measured, cited.key
