"""Every fault that must lose nothing, injected one by one, and what became of it.

The faults are the functions with the decorator `fault` in the modules `faults_KIND` of this package.
"""

import importlib
import pkgutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import trust
from suite.results.evidence.trust import Finding
from trust import bench

TITLE = "Does a fault lose or falsify anything?"


def faults(sample: bool = False) -> list[bench.Fault]:
    """Return those faults that there are, or those of the sample."""
    for module in sorted(module.name for module in pkgutil.iter_modules(trust.__path__)):
        if module.startswith("faults_"):
            importlib.import_module(f"trust.{module}")
    return [each for each in bench.FAULTS if each.sample or not sample]


def prove(sample: bool) -> tuple[dict[str, float | int | str], list[Finding]]:
    """Return how many faults there were, and what became of each."""
    chosen = faults(sample)
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(3) as pool:
        places = [Path(place).resolve() / f"fault-{number}" for number in range(len(chosen))]
        findings = list(pool.map(bench.Fault.finding, chosen, places))
    return {"faults as they had to be": f"{sum(f.good for f in findings)} of {len(findings)}"}, findings
