"""Each page begins with a sentence that answers it, from the records or the evidence, and says what to read next."""

import html
import re

import factory
import pytest

from suite.claims import VERDICTS
from suite.report.pages import learning, ledger, parity, trust
from suite.results.evidence.learning import LearningCheck, Trained
from suite.results.evidence.trust import Finding, Part

_LEAD = re.compile(r'<p class="lead">(.+?)</p>', re.DOTALL)


@pytest.fixture(scope="module")
def pages():
    return factory.pages(factory.campaign())


def check(network, backend, accuracies):
    trained = Trained(data="x", batch=1, steps=1, examples=9, accuracies=accuracies, bound=0.8, broken={"b": 0.1})
    return LearningCheck(network=network, made="", commit="", machine="", cores=1, backend=backend, seconds=1.0,
                         seeds=(0,), trained=trained, checks=())  # fmt: skip


def test_a_network_learns_only_if_it_does_on_every_backend():
    assert learning.lead(()) == "No network has been trained yet."
    good, bad = check("a", "cpu", (0.9,)), check("a", "gpu", (0.7,))
    assert learning.lead((good, check("b", "cpu", (0.9,)))).startswith("2 of 2 networks learn")
    for both in ((good, bad), (bad, good)):
        assert learning.lead((*both, check("b", "cpu", (0.9,)))).startswith("1 of 2 networks learn")


def test_the_harness_s_checks_are_counted_without_those_of_which_nothing_is_claimed():
    one = Finding(what="w", expected="e", found="f", good=True)
    findings = (one, Finding(what="w", expected="e", found="f", good=False),
                Finding(what="w", expected="e", found="f", good=True, apart="not claimed"))  # fmt: skip
    part = Part(name="clock", title="?", made="", commit="", machine="", seconds=1.0, full=True, figures={},
                findings=findings)  # fmt: skip
    assert trust.lead((part,)).startswith("The harness passed 1 of 2 checks")
    assert "not been tested" in trust.lead(())
    assert "No network" in parity.lead(None)


def test_the_ledger_counts_what_is_decided_and_the_rest():
    counts = dict(zip(VERDICTS, range(1, 1 + len(VERDICTS)), strict=True))
    decided = {name: counts[name] for name in ("reproduced", "in part", "refuted")}
    sentence = ledger.lead(counts)
    assert f"{decided['reproduced']} are reproduced, {decided['in part']} in part" in sentence
    assert f"{decided['refuted']} refuted" in sentence
    assert f"{counts['not comparable']} cannot be compared and {counts['not run']} were not run" in sentence


def test_pages_of_models_machines_and_experiments_begin_with_their_answer(pages):
    for path in ("workloads/mnist_mlp.md", "machines/test-gpu-16-cores.md", "experiments/headline.md"):
        rest = pages[path].partition("</h1>")[2]
        assert rest.lstrip().startswith('<p class="lead">'), path
        assert re.search(r"\d+(\.\d+)?x", _LEAD.search(rest)[1]), path
        assert "<details>" in rest, path


def test_every_page_but_home_says_what_to_read_next_and_links_pages_that_are_there(pages):
    written = {"method.html", "reading.html", "citing.html", "contributing.html", "changes.html"}
    for path, escaped in pages.items():
        text = html.unescape(escaped)
        if not path.endswith(".md") or path in ("index.md",) or path.endswith(".step.md"):
            continue
        listed = re.search(r'<nav class="next".*?</nav>|<h2 id="read-next">.*?</ul>', text, re.DOTALL)
        assert listed or path == "answers/index.md", path
        for address in re.findall(r'href="(?:\.\./)*([^"#]+)', listed[0] if listed and "<nav" in listed[0] else ""):
            assert address in written or f"{address.removesuffix('.html')}.md" in pages, (path, address)
