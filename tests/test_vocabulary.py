"""A thing has one name: what was called otherwise before is not called so again."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "suite"

# Old names of classes, functions, fields and constants, each with the one that took its place.
MEASURING = {
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
    "ScopeResult": "Run",
    "Seen": "Run",
    "Traced": "JaxprCost",
    "caches": "cold_starts",
    "chained": "run_and_block",
    "contributions": "run_child",
    "end_with_it": "exit_when_parent_exits",
    "killed_with_it": "set_pdeathsig",
    "looked_at": "checked_doubling_ratio",
    "of_either_allocator": "ignoring_allocator",
    "of_leaves": "unflatten_args",
    "peer_backends": "baseline_backends",
    "taught": "train",
    "to_leaves": "flatten_state",
    "warmed": "calibrate",
}
RESULTS = {
    "Exam": "LearningTarget",
    "Flow": "InputPipeline",
    "Here": "MachineCapabilities",
    "Lesson": "LearningCheck",
    "Line": "ChartLine",
    "Reading": "ExperimentResult",
    "Traced": "JaxprCost",
    "WIDEST": "MAX_HALF_WIDTH",
    "accepted": "validate",
    "alone": "blocking_samples",
    "best_gpu_peer": "fastest_gpu_baseline",
    "best_peer": "fastest_baseline",
    "better": "fastest",
    "broken_off": "is_partial",
    "by_round": "seconds_by_round",
    "counted": "usable, or pluralize of numbers",
    "doubt": "caveat",
    "flow": "input_pipeline",
    "flows": "input_pipelines",
    "gpu_peers": "gpu_baselines",
    "load_by_others": "other_load_cores",
    "of_either_allocator": "ignoring_allocator",
    "outdone": "beaten_by_baseline",
    "peer_name": "way_of",
    "peers": "baselines",
    "peers_of": "baselines_of",
    "precedence": "current_key",
    "recency": "sort_key",
    "stated": "documented",
    "troubles": "schema_errors",
    "waited_for": "blocking_step",
    "watched": "telemetry_mean",
    "wide": "too_wide",
}
MEASURES = (
    *("cli", "cluster", "console", "data", "driver", "multihost", "processes", "programs"),
    *("nn", "sessions", "system", "telemetry", "worker", "worker_api", "workload.py", "case.py", "scopes.py"),
)
SHOWS = ("analysis", "claims", "experiments", "report", "results", "units.py")
ROOMS = {**dict.fromkeys(MEASURES, MEASURING), **dict.fromkeys(SHOWS, RESULTS)}


def defined(source):
    """Yield the names of a module's classes, functions, fields and constants."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        if isinstance(node, ast.ClassDef | ast.Module):
            stores = (
                name for each in node.body if isinstance(each, ast.Assign | ast.AnnAssign) for name in ast.walk(each)
            )
            yield from (name.id for name in stores if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store))


@pytest.mark.parametrize("room", ROOMS)
def test_no_retired_name_is_defined_again(room):
    place, retired = PACKAGE / room, ROOMS[room]
    for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
        for name in defined(path.read_text()):
            assert name not in retired, f"{path}: '{name}' is called '{retired.get(name)}' now"
            assert not name.startswith("refuse_") or room not in MEASURES, f"{path}: '{name}' is called check_* now"


def test_a_retired_name_is_seen():
    source = "WIDEST = 1\nclass Flow:\n    alone: int = 2\n    def better(self): ...\ndef f():\n    local = 2"
    assert set(defined(source)) == {"WIDEST", "Flow", "alone", "better", "f"}


# Words that say nothing of the thing that they name; how many values of a room they name for longer than two lines. A
# count may only fall: name the value by the thing itself, such as `records`, `baseline_steps` or `message`.
VAGUE = frozenset({"found", "there", "mine", "said", "made", "whole", "told"})
MOST = {
    "controls": 1,
    "controls_keras": 1,
    "experiments": 47,
    "multihost": 1,
    "programs": 3,
}


def lasting(source):
    """Return the functions of a module in which a vague name lives longer than two lines, each with the name."""
    values = []
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            lines: dict[str, list[int]] = {}
            for node in ast.walk(function):
                name = node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else ""
                lines.setdefault(name, []).append(getattr(node, "lineno", 0))
            values += [
                (function.name, name) for name in VAGUE & lines.keys() if max(lines[name]) - min(lines[name]) > 1
            ]
    return values


def test_values_have_the_name_of_the_thing_that_they_are():
    counts: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).parts[0]
        counts.setdefault(room, []).extend(f"{path}: '{name}' in {where}" for where, name in lasting(path.read_text()))
    assert {room: values for room, values in counts.items() if len(values) > MOST.get(room, 0)} == {}


def test_a_vague_name_is_seen_only_where_it_lasts():
    short = "def f(x):\n    found = x\n    return found\n"
    assert lasting(short) == []
    assert lasting(short.replace("    return", "    x += 1\n    return")) == [("f", "found")]
    assert lasting("def f(mine):\n    x = 1\n    return mine + x\n") == [("f", "mine")]
