"""Imports flow one way, and what needs no JAX gets none."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "suite"

# Who may import whom, beside itself; the command line, which is missing here, may import anything.
MAY = {
    "units": set(),
    "plugins": set(),
    "child_imports": set(),
    "workload": set(),
    "variants": {"workload"},
    "results": {"variants", "workload", "units"},
    "nn": {"nn"},
    "data": {"plugins", "workload", "units"},
    "models": {"nn", "data", "plugins", "workload"},
    "ceilings": {"nn", "plugins", "workload"},
    "controls": {"data", "plugins", "workload"},
    "controls_keras": {"data", "plugins", "workload"},
    "controls_xgboost": {"data", "plugins", "workload"},
    "inquiry": {"results", "workload", "units"},
    "experiments": {"inquiry", "results", "plugins", "variants", "workload", "units"},
    "observations": {"experiments", "inquiry", "results", "plugins", "workload", "units"},
    "measure": {
        "child_imports",
        "ceilings",
        "experiments",
        "inquiry",
        "models",
        "controls",
        "controls_keras",
        "controls_xgboost",
        "data",
        "nn",
        "results",
        "variants",
        "workload",
        "units",
    },
    "report": {"child_imports", "experiments", "observations", "results", "variants", "workload", "units"},
    "terminal": {"measure"},
    "live_table": {"results", "workload", "units"},
    "first_run": {"live_table", "results"},
    "progress": {"live_table", "terminal", "measure", "results", "workload", "units"},
    "datasets": {"progress", "data", "workload", "units"},
    "gallery": {"data", "results"},
    "citing": {"report", "results", "units"},
    "resuming": {"terminal", "measure", "results", "workload", "units"},
    "bench": {"resuming", "progress", "terminal", "measure", "data", "results", "workload", "units"},
    "showing": {"terminal", "report", "experiments", "inquiry", "results", "units"},
    "publishing": {"bench", "resuming", "citing", "first_run", "terminal", "report", "measure", "results"},
    "cluster": {"child_imports", "bench", "resuming", "terminal", "measure", "results", "workload", "units"},
}


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "suite":
            parts = (node.module or "").split(".")
            yield from [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]


@pytest.mark.parametrize("room", sorted(MAY))
def test_no_room_imports_upward(room):
    files = [PACKAGE / f"{room}.py"] if (PACKAGE / f"{room}.py").exists() else list((PACKAGE / room).rglob("*.py"))
    assert files
    for path in files:
        found = {name for name in imported(path) if not name.startswith("__")}
        assert found <= MAY[room] | {room}, path


@pytest.mark.parametrize(
    "module", ["suite.cli", "suite.bench", "suite.cluster.supervisor", "suite.report.pages", "suite.results.speedup"]
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
from suite import showing
from suite.results import store
folder = Path("{records}")
records, _ = store.load([folder])
for machine in {{record.machine.slug: record.machine for record in records}}.values():
    showing.print_results((folder,), machine)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "speed-up" in done.stdout


def test_importing_the_command_line_is_quick():
    watch = "import sys, time; t = time.process_time(); import suite.cli; sys.exit(time.process_time() - t > 0.3)"
    assert 0 in {subprocess.run([sys.executable, "-c", watch], check=False).returncode for _ in range(3)}
