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
    RESNET63,
    RESNET87,
    ROOT,
    SERVED,
    SHARES,
    WORLDS,
    answers,
    augmented,
    depths,
    epochs,
    grid,
    judge,
    known,
    served,
    shared,
    sides,
    taught,
    trees,
    varied,
)
from test_input_experiments import DROPOUT, NOAUG, cell
from test_learning_page import HALF
from test_ledger_rules import outdone

from suite import models
from suite.analysis.steps import words
from suite.claims import Judgement
from suite.claims._documented_numbers import Entry, entries
from suite.results.records import catalogue
from suite.results.records.record import Record


def larger(name: str, ratio: float, **changes: object) -> list[Record]:
    """Return both sides of a network of another size."""
    return sides(
        name, ratio, about=factory.description(name, **{"parameters": 2000, "flop_per_example": 60_000} | changes)
    )


def requests(*ratios: float) -> list[Record]:
    """Return both sides of networks that serve requests, the smallest network first."""
    pairs = zip((SERVED[0], SERVED[2], SERVED[4]), ratios, strict=False)
    return [record for about, ratio in pairs for record in sides(about.name, ratio, "serve", about, gpu=0.1)]


STORED = Path(__file__).with_name("judgements.txt")
HOSTS = {"three hosts": SHARES, "one host": (1.0,), "hosts far apart": FAR_APART}
BATCHES = [*sides("mnist_mlp", 60), *sides("cifar10_mlp", 31), *sides("imdb_text_cnn", 5)]
DEEPER = [models.load(f"catdog_cnn_{name}").description for name in ("base", "conv64", "dropout", "noaug", "deep")]
LEARNT = (0.80, 0.84, 0.90, 0.94, 0.85)
MORE = {  # worlds that decide nothing new, but of which something else is said
    "O3": {
        "one network": sides("mnist_mlp", 10),
        "one network at two batches": [*sides("mnist_mlp", 10), *sides("mnist_mlp", 30, batch=256)],
        "three architectures": [*varied(30, 30, "architecture"), *larger("another", 60)],
        "the article's networks equal, others not": [
            *sides("mnist_mlp", 10), *larger("mnist_cnn", 10), *larger("another", 30, optimizer="o"),
            *larger("one more", 60, optimizer="o", parameters=9),
        ],
        "two of a size, and a third between": [
            *sides("mnist_mlp", 10), *larger("one", 8), *larger("two", 30), *larger("three", 28, parameters=9),
        ],
        "not certified": outdone(WORLDS["O3"]["reproduced"]),
    },
    "O9": {
        "one other": epochs((RESNET63, 1.0), (DEEPER[0], 1.5)),
        "two of each": epochs((RESNET63, 1.0), (RESNET87, 1.02), (DEEPER[0], 1.5), (DEEPER[1], 2.0)),
    },
    "O10": {"run and step": [*sides("cifar10_mlp", 12, "run"), *sides("cifar10_mlp", 30)]},
    "O12": {
        "two networks": served(40, 30, 20)[:4],
        "one network": served(40, 30, 20)[:2],
        "requests of all": [*served(40, 30, 20), *requests(50, 40, 30)],
        "requests of one": [*served(40, 30, 20), *requests(50)],
        "a larger batch lost": [
            *served(40, 30, 20), *sides(SERVED[0].name, 0.5, about=SERVED[0], gpu=0.1, batch=8),
            *sides(SERVED[2].name, 0.4, about=SERVED[2], gpu=0.1, batch=8),
        ],
        "one not certified": [*outdone(served(40, 30, 20)[:2]), *served(40, 30, 20)[2:]],
    },
    "O15": {"two high": BATCHES, "none high": BATCHES[4:]},
    "O23": {
        "all augmented": taught(*LEARNT)[:4],
        "as good without": taught(*LEARNT[:4], 0.90, seeds=(-0.02, 0.0, 0.02)),
    },
    "O25": {"drawings": answers(0.99, 0.01, data="embedded"), "hardly tilted": answers(HALF.above_half + 0.05, 0.01)},
    "O27": {"alike but for data": [
        record for about, ratio in zip(DEEPER, (5, 9, 10, 12, 30), strict=True)
        for record in sides(about.name, ratio, about=about)
    ]},
}  # fmt: skip
FOUR = msgspec.structs.replace(factory.HOST, cores=4)
V100 = msgspec.structs.replace(
    factory.HOST, gpus=(msgspec.structs.replace(factory.HOST.gpus[0], compute_capability="7.0"),)
)
MORE_NUMBERS = {
    "gbdt_mortgage": {"four GPUs": trees(11, 2.1), "four GPUs slower": trees(40, 0.8), "one GPU": trees(11, 2.1)[:2]},
    "catdog_cnn_dropout": {
        "both sides": [*augmented(80, 100), *augmented(70, 100, "gpu")],
        "two pipelines": [
            cell(workers, 32, rate, about, backend="gpu")
            for workers, rates in ((1, (60, 100)), (4, (80, 100)))
            for rate, about in zip(rates, (DROPOUT, NOAUG), strict=True)
        ],
    },
    "catdog_cnn_base": {
        "four cores": [msgspec.structs.replace(record, machine=FOUR) for record in grid(100, 80, backend="cpu")]
    },
    "catdog_cnn_128": {"GPU only": [record for record in depths() if record.backend == "gpu"]},
    "cifar10_resnet63": {"slow V100": sides("cifar10_resnet63", 10, about=RESNET63, gpu=0.5, machine=V100)},
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
