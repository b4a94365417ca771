"""The coverage page: how many models were timed on each machine, and which questions it answered."""

import factory
import msgspec

from suite.report.pages import coverage
from suite.report.parts.facts import Facts
from suite.results.views.experiment_result import ExperimentResult

ABOUT = factory.description()
ODD = msgspec.structs.replace(factory.PLAIN, name="odd, 2 cores", cores=2)


def cells(*records):
    """The numbers of each machine by column."""
    made = coverage.measured(records, [ABOUT, factory.description("cifar10_mlp")])
    return {row[0].text: {c: cell.text for c, cell in zip(made.columns[1:], row[1:], strict=True)} for row in made.rows}


def test_models_are_counted_by_machine_backend_scope_and_precision():
    found = cells(
        factory.record(machine=factory.HOST),
        factory.record(machine=factory.HOST, backend="gpu"),
        factory.record("cifar10_mlp", machine=factory.HOST, backend="gpu"),
        factory.record(machine=factory.HOST, backend="gpu", precision="tf32"),
        factory.record(machine=ODD, scope="epoch"),
        factory.record("ceiling_copy", machine=ODD),
    )
    assert found == {
        factory.HOST.name: {"CPU step": "1", "CPU epoch": "–", "GPU step": "2", "GPU step, TF32": "1"},
        ODD.name: {"CPU step": "–", "CPU epoch": "1", "GPU step": "–", "GPU step, TF32": "–"},
    }


def test_what_failed_and_what_is_none_of_the_headlines_is_not_counted():
    failed = msgspec.structs.replace(factory.record(backend="gpu"), runs=(), reason="out of memory")
    others = [
        factory.record(scope="cold", **changes)
        for changes in ({"batch": 64}, {"implementation": "torch"}, {"variant": "scan"})
    ]
    assert cells(factory.record(), failed, *others) == {factory.HOST.name: {"CPU step": "1"}}


def test_the_better_allocator_counts_once():
    assert cells(*(factory.record(allocator=each) for each in ("tuned-malloc", "default-malloc"))) == {
        factory.HOST.name: {"CPU step": "1"}
    }


def test_an_experiment_names_the_machines_that_answered():
    result = ExperimentResult(answers=("an answer",))
    made = coverage.answered({"size": [(factory.HOST, result), (ODD, result)], "threads": []})
    assert [row[2].text for row in made.rows] == [f"{factory.HOST.name}; odd, 2 cores", "–"]


def test_the_page_links_its_machines():
    page = coverage.files(Facts(records=[factory.record()], catalogue=[ABOUT]))["coverage.md"]
    assert f'href="machines/{factory.HOST.slug}.html"' in page
    assert "of 1<" in page
