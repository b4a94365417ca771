"""Imports flow one way, and what needs no JAX gets none."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "suite"

# The rooms, from the lowest floor up, and which of those below each may import: 'results' is all of its rooms. The
# command line, which is missing here, may import anything.
ROOMS = {
    "child_imports": set(),
    "discovery": set(),
    "former": set(),
    "nn": set(),
    "scopes": set(),
    "units": set(),
    "families": {"discovery"},
    "workload": {"families"},
    "case": {"former", "scopes", "workload"},
    "ceilings": {"discovery", "nn", "workload"},
    "data": {"case", "discovery", "units", "workload"},
    "results.records": {"case", "former", "scopes", "workload"},
    "results.stats": {"workload"},
    "variants": {"case", "scopes", "workload"},
    "controls": {"data", "discovery", "families", "workload"},
    "controls_keras": {"data", "discovery", "workload"},
    "controls_xgboost": {"data", "discovery", "families", "workload"},
    "models": {"data", "discovery", "families", "nn", "workload"},
    "results.evidence": {"case", "results.records", "workload"},
    "results.single": {"case", "results.records", "results.stats", "scopes", "units", "variants", "workload"},
    "system": {"child_imports", "results.records", "workload"},
    "results.pooled": {
        "case",
        "families",
        "results.records",
        "results.single",
        "results.stats",
        "scopes",
        "units",
        "variants",
        "workload",
    },
    "worker_api": {"case", "data", "results.records", "results.single", "scopes", "system", "workload"},
    "processes": {"case", "child_imports", "data", "system", "worker_api"},
    "programs.jax": {"case", "data", "nn", "results.records", "system", "variants", "worker_api", "workload"},
    "results.cite": {
        "case",
        "former",
        "results.pooled",
        "results.records",
        "results.single",
        "results.stats",
        "scopes",
        "units",
        "workload",
    },
    "results.compare": {
        "case",
        "results.pooled",
        "results.records",
        "results.single",
        "results.stats",
        "units",
        "variants",
    },
    "worker.checks": {"data", "results.records", "results.single", "system", "worker_api"},
    "programs": {
        "case",
        "ceilings",
        "controls",
        "controls_keras",
        "controls_xgboost",
        "families",
        "models",
        "programs.jax",
        "system",
        "variants",
        "worker_api",
    },
    "results.views": {
        "case",
        "results.cite",
        "results.compare",
        "results.pooled",
        "results.records",
        "results.single",
        "results.stats",
        "scopes",
        "units",
        "workload",
    },
    "telemetry": {"case", "child_imports", "processes", "results.records", "scopes", "system", "worker_api"},
    "analysis": {"case", "families", "results", "scopes", "units", "variants", "workload"},
    "multihost": {"case", "processes", "programs", "system", "units", "worker_api", "workload"},
    "report.charts": {"child_imports", "results", "scopes", "units"},
    "experiments": {"analysis", "case", "discovery", "families", "results", "scopes", "units", "variants", "workload"},
    "worker": {
        "case",
        "ceilings",
        "child_imports",
        "controls",
        "controls_keras",
        "controls_xgboost",
        "data",
        "families",
        "models",
        "multihost",
        "processes",
        "programs",
        "programs.jax",
        "results",
        "scopes",
        "system",
        "units",
        "variants",
        "worker.checks",
        "worker_api",
        "workload",
    },
    "claims": {"analysis", "discovery", "experiments", "results", "scopes", "units", "workload"},
    "driver": {
        "analysis",
        "case",
        "child_imports",
        "data",
        "experiments",
        "families",
        "processes",
        "results",
        "scopes",
        "system",
        "telemetry",
        "units",
        "variants",
        "worker_api",
        "workload",
    },
    "report.parts": {"case", "experiments", "report.charts", "results", "scopes", "units", "variants", "workload"},
    "report.answers": {
        "analysis",
        "discovery",
        "experiments",
        "report.charts",
        "report.parts",
        "results",
        "units",
        "variants",
    },
    "report.pages": {
        "case",
        "claims",
        "discovery",
        "experiments",
        "former",
        "report.answers",
        "report.charts",
        "report.parts",
        "results",
        "scopes",
        "units",
        "variants",
        "workload",
    },
    "console": {
        "analysis",
        "case",
        "driver",
        "experiments",
        "report.charts",
        "report.parts",
        "results",
        "scopes",
        "units",
    },
    "report.site": {"child_imports", "report.charts", "report.pages", "report.parts", "results"},
    "sessions": {
        "case",
        "console",
        "data",
        "driver",
        "processes",
        "report.pages",
        "report.site",
        "results",
        "system",
        "telemetry",
        "units",
        "worker_api",
    },
    "cluster": {
        "case",
        "child_imports",
        "console",
        "driver",
        "results.records",
        "sessions",
        "system",
        "units",
        "worker_api",
        "workload",
    },
}
# Where importing a module imports jax; whoever else needs it, imports it when the program of a case is asked for.
JAX = ("nn", "models", "ceilings", "programs.jax")


def modules():
    """Every module of the package with its path, by its name without the package's."""
    for path in PACKAGE.rglob("*.py"):
        if "child_path" not in path.parts:
            name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
            yield name.removesuffix("__init__").removesuffix("."), path


NAMES = {name for name, _ in modules()}


def imported(nodes):
    """What is imported from the package: its modules by their names, and packages for what they define themselves."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (each.name.removeprefix("suite.") for each in node.names if each.name.startswith("suite."))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "suite":
            home = (node.module or "").removeprefix("suite").removeprefix(".")
            for each in node.names:
                full = f"{home}.{each.name}".removeprefix(".")
                yield full if full in NAMES else home


def within(name, rooms):
    """The narrowest of some rooms that a module lies in; '' for none."""
    return max((room for room in rooms if f"{name}.".startswith(f"{room}.")), key=len, default="")


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_imports_upward(room):
    here = [(name, path) for name, path in modules() if within(name, ROOMS) == room]
    assert here
    for name, path in here:
        for other in imported(ast.walk(ast.parse(path.read_text()))):
            ours = not other or within(other, ROOMS) == room
            assert ours or within(other, ROOMS[room]), f"{name} imports {other}"


def test_rooms_lie_on_floors():
    below = []
    for room, others in ROOMS.items():
        for other in others:
            parts = [each for each in ROOMS if within(each, [other])]
            assert set(parts) <= set(below), f"{room} may import {other}, which is not below it"
        below.append(room)


def test_every_module_lies_in_a_room():
    out = {name for name in NAMES if not within(name, ROOMS) and not within(name, ["cli"])}
    assert out == {"", "__main__", "results", "report"}


def test_jax_is_imported_by_its_rooms_alone():
    foreign = {"jax", "flax", "optax"}
    for name, path in modules():
        body = ast.parse(path.read_text()).body
        if within(name, JAX):
            continue
        tops = [each.name for node in body if isinstance(node, ast.Import) for each in node.names]
        tops += [node.module or "" for node in body if isinstance(node, ast.ImportFrom)]
        assert not foreign & {top.split(".")[0] for top in tops}, name
        assert not {other for other in imported(body) if within(other, JAX) and other not in JAX}, name


@pytest.mark.parametrize(
    "module",
    [
        "suite.cli",
        "suite.sessions.bench",
        "suite.cluster.supervisor",
        "suite.report.site.pages",
        "suite.results.single.paired_speedup",
    ],
)
def test_the_parent_is_free_of_jax(module):
    code = f"import sys, {module}; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    "records", ["tests/golden/records", pytest.param("site/records", marks=pytest.mark.slow)], ids=["few", "published"]
)
def test_a_run_prints_its_results_without_the_site_extra(records):
    code = f"""
import sys
from pathlib import Path
sys.modules |= dict.fromkeys(["altair", "jinja2", "mkdocs", "vl_convert"])
from suite.console import printing
from suite.results.records import store
folder = Path("{records}")
records, _ = store.load([folder])
for machine in {{record.machine.slug: record.machine for record in records}}.values():
    printing.print_results((folder,), machine)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "speed-up" in done.stdout


def test_importing_the_command_line_is_quick():
    watch = "import sys, time; t = time.process_time(); import suite.cli; sys.exit(time.process_time() - t > 0.3)"
    assert 0 in {subprocess.run([sys.executable, "-c", watch], check=False).returncode for _ in range(3)}
