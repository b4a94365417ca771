"""Prove the harness: `python -m trust [--sample] [--minutes N] [--seed N] [PART...]`, with the tests on Python's path.

A part is a module `part_NAME` of this package with TITLE, a question, and `prove(sample)`, which returns its figures
and its findings; it raises LookupError where the machine lacks what it needs. One that tries by chance for as long as
one wants has MINUTES, its usual length, and `prove(sample, minutes, seed)`. LEADING, if there, names the figure that
the overview of the page states too: where a finding stands for many; ON_GPU says that the part runs on a GPU. A whole
run of a part becomes the site's evidence; a sample is only printed.
"""

import argparse
import datetime
import importlib
import pkgutil
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import trust
from suite.results.evidence import trust as evidence
from suite.system.machine import cpu_model, gpus
from suite.system.software import commit

EVIDENCE = Path(__file__).parents[2] / "site" / "evidence"


def names() -> tuple[str, ...]:
    """Return the parts that there are."""
    found = sorted(module.name for module in pkgutil.iter_modules(trust.__path__))
    return tuple(name.removeprefix("part_") for name in found if name.startswith("part_"))


def on(gpu_names: Sequence[str], cpu: str) -> str:
    """Return what a part ran on: the GPU first, where it ran on one, and the processor of its host."""
    return ", ".join((*gpu_names[:1], cpu))


def proved(name: str, sample: bool, minutes: float | None = None, seed: int | None = None) -> evidence.Part:
    """Run a part and return what it found; `minutes` and `seed` are for those that try by chance."""
    module = importlib.import_module(f"trust.part_{name}")
    start = time.monotonic()
    if usual := getattr(module, "MINUTES", None):
        seed = random.SystemRandom().getrandbits(32) if seed is None else seed
        print(f"{name}: --seed {seed}", flush=True)  # a run that is broken off can be repeated too
        figures, findings = module.prove(sample, usual if minutes is None else minutes, seed)
        figures |= {"seed": str(seed)}
    else:
        figures, findings = module.prove(sample)
    made = datetime.datetime.now(datetime.UTC).date().isoformat()
    before = next((part for part in evidence.Part.read_all(EVIDENCE) if part.name == name), None)
    return evidence.Part(
        name=name,
        title=module.TITLE,
        made=made,
        commit=commit(),
        machine=on([gpu.name for gpu in gpus()] if getattr(module, "ON_GPU", False) else [], cpu_model()),
        seconds=round(time.monotonic() - start, 1),
        full=not sample,
        figures=figures,
        leading=getattr(module, "LEADING", ""),
        findings=tuple(findings),
        totals=evidence.totals(findings, made, before),
    )


def main() -> int:
    """Return 0 if every finding of every part asked for is as it has to be."""
    asked = argparse.ArgumentParser(prog="python -m trust", description=__doc__.splitlines()[0])
    asked.add_argument("--sample", action="store_true", help="a few of each, in seconds; writes no evidence")
    asked.add_argument("--minutes", type=float, help="how long kills and hostile each go on; default: 5")
    asked.add_argument("--seed", type=int, help="repeats what kills and hostile tried; default: another in each run")
    asked.add_argument("parts", nargs="*", metavar="PART", help=f"all: {', '.join(names())}")
    given = asked.parse_args()
    for name in given.parts:
        if name not in names():
            asked.error(f"no part '{name}'; there are: {', '.join(names())}")
    good = True
    for name in given.parts or names():
        try:
            part = proved(name, given.sample, given.minutes, given.seed)
        except LookupError as why:
            if type(why) is not LookupError:
                raise  # a KeyError is a bug of the part
            print(f"{name}: left out, {why}")
            good &= name not in given.parts
            continue
        print(f"{part.title} ({name}, {part.seconds:.0f} s)")
        for label, figure in part.figures.items():
            print(f"  {label}: {figure}")
        for finding in part.findings:
            if not finding.good:
                print(f"  NOT AS EXPECTED: {finding.what}: expected {finding.expected}, found {finding.found}")
        for total in part.totals:
            print(f"  {total.what}, {total.runs} runs since {total.since}: {total.failures} of {total.trials:,} failed")
        if part.full:
            print(f"  written: {part.write(EVIDENCE)}")
        good &= part.good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
