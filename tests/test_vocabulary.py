"""A thing has one name: what was called otherwise before is not called so again."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "suite"

# Old names of classes and functions, each with the one that took its place.
RETIRED = {
    "Answer": "CampaignPlan",
    "Beside": "TelemetryWindows",
    "Facts": "WorkerReport",
    "Fed": "HostFed",
    "Form": "PackedModel",
    "LIMIT_SECONDS": "STAGE_TIMEOUT_SECONDS",
    "Leftover": "PendingWork",
    "Lessons": "TrainingData",
    "Owner": "BatchSource",
    "Placement": "Shardings",
    "Seen": "ScopeResult",
    "Traced": "JaxprCost",
    "chained": "run_and_block",
    "contributions": "run_child",
    "end_with_it": "exit_when_parent_exits",
    "killed_with_it": "set_pdeathsig",
    "looked_at": "checked_doubling_ratio",
    "of_either_allocator": "ignoring_allocator",
    "of_leaves": "unflatten_args",
    "taught": "train",
    "to_leaves": "flatten_state",
    "warmed": "calibrate",
}
ROOMS = (
    *("cli", "cluster", "console", "data", "driver", "multihost", "processes", "programs"),
    *("nn", "sessions", "system", "telemetry", "worker", "worker_api", "workload.py"),
)


def defined(source):
    """Return the names of classes, functions and constants that a module's source defines."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name) and target.id.isupper())


@pytest.mark.parametrize("room", ROOMS)
def test_no_retired_name_is_defined_again(room):
    place = PACKAGE / room
    for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
        for name in defined(path.read_text()):
            assert name not in RETIRED, f"{path}: '{name}' is called '{RETIRED.get(name)}' now"
            assert not name.startswith("refuse_"), f"{path}: '{name}': what refuses is called check_*"


def test_a_retired_name_is_seen():
    source = "LIMIT_SECONDS = 1\nclass Seen:\n    def chained(self): ...\nfound = 2"
    assert set(defined(source)) == {"LIMIT_SECONDS", "Seen", "chained"}
