"""What is known of a scope stands in one row, and a case says in words what sets it apart."""

import ast
from pathlib import Path
from typing import get_args

from suite.case import _WORDS, Case, CompileCache, Implementation, axes
from suite.scopes import SCOPES, Scope

PACKAGE = Path(__file__).parent.parent / "suite"
FEWEST = 2  # scopes of a table; one alone is a table where its type says so


def scope_of(node):
    """The scope that a key of a table begins with, None if it is another thing."""
    first = node.elts[0] if isinstance(node, ast.Tuple) and node.elts else node
    return first.value if isinstance(first, ast.Constant) and first.value in SCOPES else None


def tables(source):
    """Yield the lines at which a module or class defines a table whose keys are all scopes."""
    for body in (node.body for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Module | ast.ClassDef)):
        for statement in body:
            if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
                typed = isinstance(statement, ast.AnnAssign) and "Scope" in ast.unparse(statement.annotation)
                for node in ast.walk(statement.value):
                    keys = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
                    if len(keys) >= (1 if typed else FEWEST) and all(key and scope_of(key) for key in keys):
                        yield statement.lineno
                        break


def test_every_scope_has_a_row():
    assert set(SCOPES) == set(get_args(Scope))


def test_no_table_of_scopes_lies_outside_their_module():
    found = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path != PACKAGE / "scopes.py"
        for line in tables(path.read_text())
    ]
    assert found == []


def test_a_table_of_scopes_is_seen():
    source = """
WORDS = {"step": "a step", "cold": "a start"}
RUNGS = {("step", "empty"): 1, ("cold", "warm"): 2}
LONG: frozenset[Scope] = frozenset({"run"})
KINDS = (Kind(wanted=("step", "cold")),)
class Reader:
    HAS = ["epoch", "input"]
LIMITS = {"start": 1.0, "epoch": 2.0}
STAGES = ("lower", "epoch")
def f():
    return ("step", "cold")
"""
    assert list(tables(source)) == [2, 3, 4, 5, 7]


def test_a_row_names_only_what_a_case_can_have():
    for row in SCOPES.values():
        assert set(row.implementations) <= set(get_args(Implementation))
        assert set(row.rungs) <= set(get_args(CompileCache))


def test_a_scope_has_its_telemetry_of_its_samples_or_between_two_marks_but_not_of_both():
    for scope, row in SCOPES.items():
        assert not (row.streamed and row.between), scope
        assert row.streamed or row.between or scope == "calls", scope


STEP = {"workload": "mnist_mlp", "backend": "cpu", "scope": "step", "batch": 128}


def test_every_axis_but_the_implementation_has_words():
    assert set(_WORDS) == set(axes()) - {"implementation"}


def test_a_label_has_words_for_what_is_not_usual_alone():
    assert Case(**STEP).non_default_axes() == ()
    case = Case(**STEP, variant="scan", threads=1, workers=2, augmentation="none", stored="memory")
    assert case.non_default_axes() == ("scan", "1 thread", "2 workers", "no augmentation", "records in memory")


def test_data_have_words_where_their_workload_usually_has_others():
    assert Case(**STEP, data="random").non_default_axes("random") == ()
    assert Case(**STEP).non_default_axes("random") == ("stand-in",)


def test_a_step_taken_in_anothers_way_is_else_as_it_was():
    mine = Case(**STEP, threads=2, precision="tf32")
    theirs = Case(**STEP, implementation="torch", variant="compile", layout="contiguous", threads=4)
    taken = mine.taken_as(theirs)
    assert (taken.implementation, taken.variant, taken.layout) == ("torch", "compile", "contiguous")
    assert (taken.threads, taken.precision) == (2, "tf32")
    assert taken.taken_as(mine) == mine
