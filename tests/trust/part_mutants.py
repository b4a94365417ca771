"""Mutation testing: small faults planted in the code that judges, and whether the ordinary tests notice.

Of the tools that do this, mutmut 3 brings libcst and a text interface, cosmic-ray a database and a web client; neither
runs the mutants of several modules within minutes. This takes no library: `mutation` plants, `tested` runs the tests.
Every module of the results and observations is mutated that is not SHOWN, and those of measuring that TESTS names.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, Queue

from suite.results.evidence.trust import Finding
from trust.mutation import Mutant, mutants

TITLE = "Would the tests notice a fault in the code that judges?"
LEADING = "noticed"  # of the figures; a finding stands for all mutants of a module
LEAST = 0.90  # of the mutants that are not equivalent
ROOT = Path(__file__).parents[2]
ROOMS = {  # that decide a number or a status, each with its modules that only show one
    "suite.results.stats": "",
    "suite.results.single": "",
    "suite.results.pooled": "",
    "suite.results.compare": "",
    "suite.results.cite": "citation quotation",
    "suite.claims": "_articles",
}
# Of all claims.
JUDGED = ("test_observations", "test_bounds", "test_judging", "test_judgements", "test_ledger_rules", "test_ledger")
NUMBERS = ("test_number_bounds", "test_judgements", "test_ledger_rules", "test_ledger")  # of documented numbers
TESTS = {
    "suite.claims._alone": NUMBERS,
    "suite.claims._comparison": NUMBERS,
    "suite.claims._documented_numbers": NUMBERS,
    "suite.claims._ratios": NUMBERS,
    "suite.results.records.acceptance": ("test_acceptance",),
    "suite.results.pooled.baselines": ("test_baselines", "test_frameworks"),
    "suite.results.records.choices": ("test_choices",),
    "suite.results.single.choosing": ("test_choosing",),
    "suite.results.compare.cells": ("test_cells",),
    "suite.results.compare.comparison": ("test_verdicts", "test_comparison"),
    "suite.results.stats.fit": ("test_fit", "test_thresholds"),
    "suite.results.stats.amdahl": ("test_amdahl",),
    "suite.results.stats.turning": ("test_break_even", "test_ladder"),
    "suite.results.pooled.break_even": ("test_break_even",),
    "suite.results.pooled.kernel_time": ("test_kernels",),
    "suite.results.pooled.kinds": ("test_kinds",),
    "suite.results.pooled.equal_money": ("test_equal_money",),
    "suite.results.compare.covariates": ("test_covariates",),
    "suite.results.single.floor": ("test_validity",),
    "suite.results.single.input_pipeline": ("test_input_pipeline",),
    "suite.results.pooled.grouping": ("test_pools", "test_pooled_kinds", "test_reproducibility"),
    "suite.results.single.history": ("test_history",),
    "suite.results.records.identity": ("test_identity",),
    "suite.results.pooled.ladder": ("test_ladder", "test_alone"),
    "suite.results.single.latency": ("test_latency",),
    "suite.results.evidence.learning": ("test_evidence",),
    "suite.results.pooled.machine_evidence": ("test_machine_evidence", *JUDGED),
    "suite.results.cite.number": ("test_number", "test_keys", "test_numbers", "test_citing"),
    "suite.results.cite.numbers": ("test_numbers", "test_keys", "test_stored_pools"),
    "suite.results.single.old_jax": ("test_old_jax",),
    "suite.results.cite.one_host": ("test_one_host", "test_keys", "test_serving", "test_alone"),
    "suite.results.cite.pooled_numbers": ("test_keys", "test_thresholds"),
    "suite.results.pooled.thresholds": ("test_thresholds",),
    "suite.results.pooled.speedup": (
        "test_pooled_speedup",
        "test_baselines",
        "test_frameworks",
        "test_keys",
        "test_same_hosts",
        "test_lead",
    ),
    "suite.results.stats.pooling": ("test_pooling", "test_kinds"),
    "suite.results.pooled.pools": ("test_pools", "test_same_hosts"),
    "suite.results.pooled.same_hosts": ("test_same_hosts", "test_ladder"),
    "suite.results.pooled.side_by_side": ("test_side_by_side", "test_same_hosts"),
    "suite.results.single.prices": ("test_prices",),
    "suite.results.compare.reproducibility": ("test_trials", "test_reproducibility"),
    "suite.results.single.roofline": ("test_roofline",),
    "suite.results.single.selection": ("test_selection", "test_campaigns", "test_comparison", "test_speedup"),
    "suite.results.records.machine": ("test_settings", "test_pooled_kinds", "test_processors", "test_identity"),
    "suite.results.stats.shares": ("test_shares",),
    "suite.results.single.paired_speedup": ("test_speedup", "test_frameworks", "test_agreement", "test_results"),
    "suite.results.pooled.spreads": ("test_spreads", "test_schedule"),
    "suite.results.stats.state": ("test_summary", "test_pooled_speedup"),
    "suite.results.stats.statistics": ("test_statistics",),
    "suite.results.cite.stored_pools": ("test_stored_pools", "test_keys"),
    "suite.results.single.summary": ("test_summary", "test_speedup", "test_results", "test_telemetry"),
    "suite.results.evidence.parity": ("test_evidence",),
    "suite.results.single.validity": ("test_validity",),
    "suite.results.stats.variance_components": ("test_pooling",),
    "suite.results.stats.variances": ("test_pooling",),
    "suite.results.single.telemetry_summary": ("test_telemetry_summary", "test_energy"),
    "suite.results.pooled.ways": ("test_ways", "test_pooled_speedup", "test_baselines", "test_frameworks"),
    "suite.worker_api.clock": ("test_clock", "test_alone"),
    "suite.system.counters": ("test_counters",),
    "suite.telemetry.host_speed": ("test_host_speed",),
    "suite.system.boot_id": ("test_boot_id",),
    "suite.worker.checks": ("test_pending_work",),
    "suite.worker_api.telemetry_messages": ("test_telemetry_messages",),
    "suite.driver.cases": ("test_cases",),
    "suite.driver.reference_round": ("test_reference_round",),
    "suite.driver.schedule": ("test_schedule", "test_reference_round"),
    "suite.worker.serving": ("test_traffic",),
    "suite.worker.steady": ("test_steady", "test_alone"),
    "suite.worker.doubling": ("test_doubling",),
}  # all but the claims; of other rooms, those named here
EQUIVALENT = Path(__file__).with_name("equivalent.json")  # module to {mutant: why nothing can notice it}


def prove(sample: bool) -> tuple[dict[str, float | int | str], list[Finding]]:
    """Plant every mutant, or two in the last module, whose tests are the quickest, and run its tests against each."""
    excused = json.loads(EQUIVALENT.read_text())
    figures: dict[str, float | int | str] = {}
    findings, planted, caught = [], 0, 0
    for module, tests in list(there().items())[-1:] if sample else there().items():
        every = list(mutants(file(module).read_text()))
        known = excused.get(module, {})
        chosen = [mutant for mutant in every if mutant.what not in known]
        if sample:
            chosen = chosen[len(chosen) // 3 :][:2]
        answers = dict(answered(module, chosen, tests))
        lived = [mutant for mutant in chosen if answers[mutant.what] == "survived"]
        killed = len(chosen) - len(lived)
        planted, caught = planted + len(chosen), caught + killed
        findings.append(verdict(module, killed, len(chosen)))
        findings += [survivor(module, mutant) for mutant in lived]
        findings += [equivalent(module, what, reason, every) for what, reason in known.items()]
    figures["mutants"] = planted
    figures["noticed"] = f"{caught} of {planted}, {caught / planted:.1%}"
    figures["equivalent, left out"] = sum(len(known) for module, known in excused.items() if file(module).exists())
    return figures, findings


def file(module: str) -> Path:
    """Return where the source of a module or a package is."""
    path = ROOT / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def deciding() -> list[str]:
    """Return the modules that decide a number or a status: those of the rooms that do, and those that TESTS names."""
    found = [
        f"{room}.{path.stem}".removesuffix(".__init__")
        for room, shown in ROOMS.items()
        for path in sorted((ROOT / room.replace(".", "/")).glob("*.py"))
        if path.stem not in shown.split() and "=" in path.read_text()
    ]
    return [*found, *(module for module in TESTS if module not in found)]


def there() -> dict[str, tuple[str, ...]]:
    """Return the modules that decide, each with the tests that it is run against."""
    return {module: TESTS.get(module, JUDGED if module.startswith("suite.claims") else ()) for module in deciding()}


def test(name: str) -> Path:
    """Return where a file of tests is."""
    return ROOT / "tests" / f"{name}.py"


def verdict(module: str, killed: int, planted: int) -> Finding:
    """Return whether enough of a module's mutants were noticed."""
    return Finding(
        what=f"{planted} mutants of {module}",
        expected=f"at least {LEAST:.0%} noticed",
        found=f"{killed} noticed, {killed / planted:.1%}",
        by=", ".join(there()[module]),
        good=killed >= LEAST * planted,
    )


def survivor(module: str, mutant: Mutant) -> Finding:
    """Return a mutant that no test noticed; the bar is on their share, so one alone is no shortfall."""
    return Finding(
        what=f"{module}: {mutant.what}",
        expected="noticed, or few such",
        found="not noticed",
        good=True,
        apart="survived",
    )


def equivalent(module: str, what: str, reason: str, every: list[Mutant]) -> Finding:
    """Return a mutant that nothing can notice; not good if there is no such mutant any more."""
    there = any(mutant.what == what for mutant in every)
    found = f"left out: {reason}" if there else "no such mutant; take it out of equivalent.json"
    return Finding(what=f"{module}: {what}", expected="equivalent", found=found, good=there, apart="left out")


def answered(module: str, chosen: list[Mutant], tests: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield each mutant's name and how it fared, in processes side by side.

    Raises RuntimeError if the tests fail without any mutant.
    """
    waiting: Queue[Mutant] = Queue()
    for mutant in chosen:
        waiting.put(mutant)
    done: dict[str, str] = {}
    threads = [threading.Thread(target=_work, args=(module, tests, waiting, done)) for _ in range(_cores(chosen))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if module in done:
        raise RuntimeError(f"the tests of {module} fail as it is: {', '.join(tests)}; mend them first")
    yield from done.items()


def _cores(chosen: list[Mutant]) -> int:
    return max(1, min(len(os.sched_getaffinity(0)), len(chosen) // 8))


def _work(module: str, tests: tuple[str, ...], waiting: "Queue[Mutant]", done: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "trust.tested",
            module,
            str(file(module)),
            *(str(test(name)) for name in tests),
        ]
        path = os.pathsep.join((str(ROOT), str(ROOT / "tests")))
        env = {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
        env |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": folder}  # compiled once, then by nobody again
        with subprocess.Popen(
            command, env=env, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            if process.stdout.readline().strip() != "survived":
                done[module] = "fails without a mutant"
                process.stdin.close()
                return
            while True:
                try:
                    mutant = waiting.get_nowait()
                except Empty:
                    break
                done[mutant.what] = _ask(process, mutant)
            process.stdin.close()


def _ask(process: subprocess.Popen, mutant: Mutant) -> str:
    process.stdin.write(json.dumps([mutant.place, mutant.source]) + "\n")
    process.stdin.flush()
    return process.stdout.readline().strip()
