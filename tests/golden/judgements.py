"""What is said of each observation and documented number beside each world of test_ledger_rules.

`python -m golden` writes it anew; read `git diff`.
"""

from collections.abc import Iterator
from pathlib import Path

from ledger_worlds import ALL, FAR_APART, NUMBERS, ROOT, SHARES, WORLDS, judge, known, shared

from suite.claims import Judgement
from suite.claims._documented_numbers import entries
from suite.results.records import catalogue

STORED = Path(__file__).with_name("judgements.txt")
HOSTS = {"three hosts": SHARES, "one host": (1.0,), "hosts far apart": FAR_APART}
WORKLOADS = {about.name: about for about in catalogue.read(ROOT / "site" / "records") if about.claims}


def rules() -> list[str]:
    """Return what was observed or documented, and by which rule it is judged."""
    numbers = entries([*WORKLOADS.values()], known([]), {})
    return [
        *(f"{code}: {each.said} {each.rule}" for code, each in ALL.items()),
        *(f"{entry.workload} {entry.claim.metric}: {entry.rule}" for entry in numbers),
    ]


def observation(code: str) -> list[str]:
    """Return what is said of an observation in its worlds."""
    lines = [_line("nothing measured", ALL[code].judge(known([])))]
    for world, records in WORLDS.get(code, {}).items():
        lines += [_line(f"{world}, {hosts}", judge(code, records, shares)) for hosts, shares in HOSTS.items()]
        lines.append(_line(f"{world}, disturbed", judge(code, list(map(shared, records)))))
        lines += [
            _line(f"{world}, {backend} only", judge(code, [record for record in records if record.backend == backend]))
            for backend in ("cpu", "gpu")
        ]
    return lines


def numbers(workload: str) -> list[str]:
    """Return what is said of a workload's documented numbers in the worlds of each."""
    unmeasured = dict(_numbers(workload, "nothing measured", []))
    lines = list(unmeasured.values())
    for metric, worlds in ((metric, worlds) for (name, metric), worlds in NUMBERS.items() if name == workload):
        for world, records in worlds.items():
            for hosts, shares in HOSTS.items():
                found = _numbers(workload, f"{metric} {world}, {hosts}", records, shares)
                lines += [line for key, line in found if line.split(": ", 1)[1] != unmeasured[key].split(": ", 1)[1]]
    return lines


def _numbers(workload: str, world: str, records: list, shares: tuple = SHARES) -> Iterator[tuple[int, str]]:
    """Yield each documented number's place in the list and what is said of it."""
    for place, entry in enumerate(entries([WORKLOADS[workload]], known(records, shares), {})):
        yield place, _line(f"{entry.claim.metric} where {world}", entry.judgement)


def _line(world: str, found: Judgement) -> str:
    return f"{world}: {found.verdict}. {found.found}".rstrip()


def sections() -> dict[str, list[str]]:
    """Return the lines of all sections by their headings."""
    return {
        "rules": rules(),
        **{code: observation(code) for code in ALL},
        **{workload: numbers(workload) for workload in WORKLOADS},
    }


def stored() -> dict[str, list[str]]:
    """Return the lines that are stored, by the same headings."""
    found = (part.split("\n") for part in STORED.read_text(encoding="utf-8").removeprefix("# ").split("\n\n# "))
    return {heading: [line for line in lines if line] for heading, *lines in found}


def write() -> bool:
    """Make the stored lines those that are said, and return whether they changed."""
    text = "\n".join("\n".join((f"# {heading}", *lines, "")) for heading, lines in sections().items())
    changed = not STORED.exists() or STORED.read_text(encoding="utf-8") != text
    STORED.write_text(text, encoding="utf-8", newline="\n")
    return changed
