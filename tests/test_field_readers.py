"""Every field of a record has a reader: what nobody reads is not measured."""

import ast
from pathlib import Path

import msgspec
import pytest

from suite.case import Case
from suite.results.records import machine, record, run
from suite.workload import Description, Plain

PACKAGE = Path(__file__).parent.parent / "suite"
WRITERS = ("driver", "multihost", "processes", "programs", "system", "telemetry", "worker", "worker_api")
# Fields that no code reads, each with what it is kept for.
KEPT = {
    "Learnt.losses": "the curve of a training, to look at when its accuracy surprises",
    "Learnt.loss_every": "the steps that the points of that curve are of",
    "Run.last_loss": "a run without it has failed, which the driver says when it collects it",
    "Run.position": "the order within a round, by which an effect of order can be sought",
    "Telemetry.readings": "what the figures of a window rest on",
}
# Fields that older records have, and that no code writes.
OLD = {"Run.minor_faults_per_step", "Run.warmup_converged"}


def attributes(folder, but=()):
    """Names of the attributes that modules below a folder read, but in some of its rooms."""
    return {
        node.attr
        for path in folder.rglob("*.py")
        if path.relative_to(folder).parts[0] not in but
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }


def fields():
    """The fields of a record and of all its parts, such as 'Run.seed'."""
    named = [kind for module in (record, run, machine) for kind in vars(module).values()]
    kinds = {kind for kind in named if isinstance(kind, type) and issubclass(kind, msgspec.Struct)}
    kinds -= {Case, Description, Plain}
    return {f"{kind.__name__}.{name}" for kind in kinds for name in kind.__struct_fields__}


def unread(folder):
    read = attributes(folder, WRITERS)
    return {field for field in fields() if field.partition(".")[2] not in read}


def test_every_field_of_a_record_is_read_outside_of_the_rooms_that_fill_it():
    assert unread(PACKAGE) == KEPT.keys() | OLD


def test_a_field_that_only_its_writer_reads_is_found(tmp_path):
    for room in ("worker", "report"):
        (tmp_path / room).mkdir()
    (tmp_path / "worker" / "main.py").write_text("print(run.seed)\n")
    (tmp_path / "report" / "page.py").write_text("run.position = 1\nprint(run.round)\n")
    assert {"Run.seed", "Run.position"} <= unread(tmp_path)
    assert "Run.round" not in unread(tmp_path)


@pytest.mark.parametrize("field", sorted(OLD))
def test_no_code_writes_a_field_of_older_records(field):
    name = field.partition(".")[2]
    for path in PACKAGE.rglob("*.py"):
        words = {node.arg for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.keyword)}
        assert name not in words, path
