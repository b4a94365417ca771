"""What is said of each observation and documented number beside each world of test_ledger_rules.

`python -m golden` writes it anew; read `git diff`.
"""

from pathlib import Path

import factory
import msgspec
from ledger_worlds import (
    ALL,
    FAR_APART,
    NUMBERS,
    ROOT,
    SHARES,
    WORLDS,
    answers,
    augmented,
    depths,
    grid,
    judge,
    known,
    served,
    shared,
    sides,
    trees,
)

from suite.analysis.steps import words
from suite.claims import Judgement
from suite.claims._documented_numbers import Entry, entries
from suite.results.records import catalogue

STORED = Path(__file__).with_name("judgements.txt")
HOSTS = {"three hosts": SHARES, "one host": (1.0,), "hosts far apart": FAR_APART}
BATCHES = [*sides("mnist_mlp", 60), *sides("cifar10_mlp", 31), *sides("imdb_text_cnn", 5)]
MORE = {  # worlds of observations that decide nothing new, but of which something else is said
    "O12": {"two networks": served(40, 30, 20)[:4], "one network": served(40, 30, 20)[:2]},
    "O15": {"two high": BATCHES, "none high": BATCHES[4:]},
    "O25": {"drawings": answers(0.99, 0.01, data="embedded")},
}
FOUR = msgspec.structs.replace(factory.HOST, cores=4)
MORE_NUMBERS = {
    "gbdt_mortgage": {"four GPUs": trees(11, 2.1), "four GPUs slower": trees(40, 0.8), "one GPU": trees(11, 2.1)[:2]},
    "catdog_cnn_dropout": {"both sides": [*augmented(80, 100), *augmented(70, 100, "gpu")]},
    "catdog_cnn_base": {
        "four cores": [msgspec.structs.replace(record, machine=FOUR) for record in grid(100, 80, backend="cpu")]
    },
    "catdog_cnn_128": {"GPU only": [record for record in depths() if record.backend == "gpu"]},
}
WORKLOADS = {about.name: about for about in catalogue.read(ROOT / "site" / "records") if about.claims}


def rules() -> list[str]:
    """Return what was observed or documented, and by which rule it is judged."""
    numbers = entries([*WORKLOADS.values()], known([]), {})
    return [
        *(f"{code}: {each.said} {each.rule}" for code, each in ALL.items()),
        *(_number(entry) for entry in numbers),
    ]


def _number(entry: Entry) -> str:
    claim = entry.claim
    documented = "; ".join(part for part in (claim.definition, claim.cpu_device, claim.gpu_device) if part)
    return f"{entry.workload} {claim.metric} ({documented}): {entry.rule}"


def observation(code: str) -> list[str]:
    """Return what is said of an observation in its worlds."""
    lines = [_line("nothing measured", ALL[code].judge(known([])))]
    for world, records in {**WORLDS.get(code, {}), **MORE.get(code, {})}.items():
        lines += [_line(f"{world}, {hosts}", judge(code, records, shares)) for hosts, shares in HOSTS.items()]
        lines.append(_line(f"{world}, disturbed", judge(code, list(map(shared, records)))))
        lines += [
            _line(f"{world}, {backend} only", judge(code, [record for record in records if record.backend == backend]))
            for backend in ("cpu", "gpu")
        ]
    return lines


def numbers(workload: str) -> list[str]:
    """Return what is said of a workload's documented numbers in the worlds of each."""
    unmeasured = _numbers(workload, [])
    scopes = {
        f"{scope} measured": sides(workload, 12, scope, WORKLOADS[workload]) for scope in ("step", "epoch", "run")
    }
    worlds = [
        (world, records, ("three hosts",)) for world, records in {**scopes, **MORE_NUMBERS.get(workload, {})}.items()
    ]
    for (name, metric), found in NUMBERS.items():
        if name == workload:
            worlds += [(f"{metric} {world}", records, tuple(HOSTS)) for world, records in found.items()]
    lines = unmeasured
    for world, records, hosts in worlds:
        for host in hosts:
            said = zip(_numbers(workload, records, HOSTS[host]), unmeasured, strict=True)
            lines = [*lines, *(f"{world}, {host}: {line}" for line, before in said if line != before)]
    return lines


def _numbers(workload: str, records: list, shares: tuple = SHARES) -> list[str]:
    """Return what is said of each of a workload's documented numbers, and of those of no workload."""
    return [
        " ".join(
            [
                _line(each.claim.metric, each.judgement),
                *([words(each.measured)] if each.measured else []),
                each.scope or "",
            ]
        )
        for each in entries([WORKLOADS[workload]], known(records, shares), {})
    ]


def _line(world: str, found: Judgement) -> str:
    held = ", ".join({True: "yes", False: "no", None: "open"}[part.holds] for part in found.parts)
    whole = "" if len(found.parts) != 1 else found.parts[0].says
    return f"{world}: {found.verdict} {whole}({held}). {found.found}".rstrip()


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
