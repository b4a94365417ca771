"""The ledger: the articles' claims, the verdict of the records, and why figures differ."""

from collections import Counter
from collections.abc import Mapping, Sequence

from suite import units
from suite.claims import NOT_RUN, VERDICTS, Judgement, Observation, Verdict, observations
from suite.claims._documented_numbers import Entry, entries
from suite.claims._judging import SIZE, SURELY
from suite.report.parts.facts import Facts
from suite.report.parts.html import address
from suite.results.pooled.machine_evidence import Evidence
from suite.results.views.rows import count_cell, row_of
from suite.results.views.table import Cell, Table, times_cells
from suite.workload import KNOWN, Claim, Description

PATH = "ledger.md"
_OBSERVED = ("observation", "article", "what it says", "verdict", "what was found", "machine", "experiment")
_CLAIMED = (
    "model", "metric", "documented", "how it is known", "measured", "95 % interval", "verdict", "CPU", "GPU",
    "what was found", "rule",
)  # fmt: skip
_WORDS = (
    "Speed-ups, times and shares are pooled over hosts, as on the machines' pages. Surely means: the whole 95 % "
    "interval lies beyond the bound. A value without an interval must be beyond it by a factor of "
    f"{SURELY:g}.",
    f"Within a factor of {SIZE:g} means: the whole interval is.",
    "A part is undecided if its interval contains the bound. Invalid speed-ups and unsteady results of one campaign "
    "decide nothing. A speed-up that is not certified decides nothing in favour of the GPU.",
)
_DECIDED = ("reproduced", "in part", "refuted")


def files(facts: Facts) -> dict[str, str]:
    """Return the page; each claim is judged on the machine that decides most, GPUs first."""
    machines = {each.records[0].machine.name: each for each in facts.evidence.values()}
    judged = {name: judgements(mine) for name, mine in machines.items()}
    chosen = {o.code: best([(name, judged[name][o.code]) for name in machines]) for o in observations()}
    numbers = documented(facts.catalogue, machines, judged)
    asked = {name: address(f"experiments/{name}.html") for o in observations() if (name := o.experiment)}
    counts: dict[str, Counter[Verdict]] = {
        "observations": Counter(judgement.verdict for _, judgement in chosen.values()),
        "documented numbers": Counter(entry.judgement.verdict for entry in numbers),
    }
    observed = tuple(_observed(each, *chosen[each.code]) for each in observations())
    rules = tuple(row_of(each.code, each.rule) for each in observations())
    claimed = tuple(map(_claimed, numbers))
    page = facts.page(
        PATH,
        lead=lead(counts["observations"]),
        counts=_counts(counts),
        observed=Table(title="What the articles observed", columns=_OBSERVED, rows=observed, words=True, searched=True),
        rules=Table(title="The rules", columns=("observation", "rule"), rows=rules, notes=_WORDS, words=True),
        ratios=_by_article(numbers),
        claimed=Table(
            title="The articles' numbers, each beside the nearest measurement",
            columns=_CLAIMED,
            rows=claimed,
            words=True,
        ),
        experiments={**facts.links[""], **asked},
    )
    return {PATH: page}


def lead(verdicts: Mapping[Verdict, int]) -> str:
    """Return what became of the articles' observations, in a sentence."""
    reproduced, partly, refuted = (units.count(verdicts.get(verdict, 0)) for verdict in _DECIDED)
    apart, missing = (verdicts.get(verdict, 0) for verdict in ("not comparable", "not run"))
    return (
        f"Of the articles' {units.count(sum(verdicts.values()))} observations, {reproduced} are reproduced, {partly} "
        f"in part and {refuted} refuted; {units.count(apart)} cannot be compared and {units.count(missing)} "
        f"{'was' if missing == 1 else 'were'} not run."
    )


def _counts(judged: Mapping[str, Mapping[Verdict, int]]) -> Table:
    """Return the number of claims by verdict."""
    counted = ((what, [counts.get(verdict, 0) for verdict in VERDICTS]) for what, counts in judged.items())
    rows = tuple(row_of(what, *map(count_cell, (*counts, sum(counts)))) for what, counts in counted)
    return Table(title="Verdicts", columns=("kind of claim", *VERDICTS, "all"), rows=rows)


def judgements(evidence: Evidence) -> dict[str, Judgement]:
    """Return the judgement of every observation by one machine's evidence."""
    return {each.code: each.judge(evidence) for each in observations()}


def best(judged: Sequence[tuple[str, Judgement]]) -> tuple[str, Judgement]:
    """Return the first machine whose judgement decides, else the first that says anything.

    A claim that no machine can judge, for a shared reason, belongs to none.
    """
    name, judgement = min(judged, key=lambda pair: _rank(pair[1]), default=("", NOT_RUN))
    shared = judgement.verdict == "not run" and len({each for _, each in judged}) <= 1
    return ("" if shared else name), judgement


def _rank(judgement: Judgement) -> tuple[bool, ...]:
    """Return a sort key: decided judgements first, complete ones before partial ones, own networks before others."""
    if judgement.verdict in _DECIDED:
        return False, not judgement.whole, not judgement.by_own
    return True, judgement.verdict == "not run", not judgement.found


def documented(
    catalogue: Sequence[Description], machines: Mapping[str, Evidence], judged: dict[str, dict[str, Judgement]]
) -> list[Entry]:
    """Return every documented number, judged on the machine that decides most."""
    sides = [list(entries(catalogue, mine, judged[name])) for name, mine in machines.items()]
    if not sides:
        sides = [list(entries(catalogue, Evidence(), {}))]
    return [min(same, key=lambda entry: _rank(entry.judgement)) for same in zip(*sides, strict=True)]


def _by_article(numbers: Sequence[Entry]) -> Mapping[str, str]:
    """Return the documented speed-ups by article, also rounded: a search finds whole words, of no table of numbers."""
    ratios: dict[str, dict[float, str]] = {}
    for entry in numbers:
        if (value := entry.claim.speedup) is not None:
            rounded = (
                () if float(value).is_integer() else dict.fromkeys((units.number(value), units.count(round(value))))
            )
            words = f" ({', '.join(f'{text}x' for text in rounded)})" if rounded else ""
            ratios.setdefault(entry.article, {})[value] = units.documented(value) + words
    return {article: ", ".join(texts.values()) for article, texts in ratios.items()}


def _observed(each: Observation, machine: str, judgement: Judgement) -> tuple[Cell, ...]:
    texts = judgement.found, machine, each.experiment
    return row_of(each.code, each.article, each.said, judgement.verdict, *(text or units.DASH for text in texts))


def _claimed(entry: Entry) -> tuple[Cell, ...]:
    claim, measured = entry.claim, entry.measured
    value, interval = (cell.text for cell in times_cells(measured))
    scope = Cell(text=f"{value}, scope {entry.scope}", remark=entry.machine) if measured else value
    return row_of(
        Cell(text=entry.workload, remark=entry.article),
        Cell(text=claim.metric.replace("_", " "), remark=claim.definition),
        units.documented(claim.speedup),
        KNOWN[claim.grade],
        scope,
        interval,
        entry.judgement.verdict,
        _side(claim.cpu_value, claim, claim.cpu_device),
        _side(claim.gpu_value, claim, claim.gpu_device),
        entry.judgement.found or units.DASH,
        entry.rule,
    )


def _side(value: float | None, claim: Claim, device: str | None) -> str:
    number = units.documented(value, claim.unit)
    return f"{number}, {device}" if device else number
