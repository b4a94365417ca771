"""Who comes to cite first meets the numbers that may be quoted, also those of another machine than home's."""

import re
from html import unescape

import factory
import msgspec
import pytest

OTHER = msgspec.structs.replace(factory.HOST, name="other, 8 cores")
SAME_GPU = msgspec.structs.replace(factory.HOST, name=f"{factory.HOST.name.partition(',')[0]}, 99 cores")


def steps(name, machine, certified):
    """Return a model's steps on three hosts; only a certified CPU side makes the speed-up quotable."""
    made = [factory.record(name, side, [value] * 3, machine) for side, value in (("cpu", 0.01), ("gpu", 0.001))]
    torch = factory.record(name, "cpu", [0.0101] * 3, machine, implementation="torch")
    return factory.on_hosts([*made, *[torch] * certified])


def files(other, certified_here=False):
    """Return the site of two models on home's machine, one of which is certified on another machine."""
    here = [record for name in ("mnist_mlp", "cifar10_mlp") for record in steps(name, factory.HOST, certified_here)]
    return factory.pages([*here, *steps("mnist_mlp", other, certified=True)])


@pytest.mark.parametrize(("other", "words"), [(OTHER, "other"), (SAME_GPU, SAME_GPU.name)])
def test_home_s_row_of_an_open_number_leads_to_that_of_a_machine_that_may_be_quoted(other, words):
    made = files(other)
    links = re.findall(
        r'>open, <a href="(numbers/[^"#]+)\.html#([^"]+)">quotable on ([^<]+)</a>', unescape(made["index.md"])
    )
    assert [(page, name) for page, _, name in links] == [("numbers/mnist_mlp", words)]
    assert f'<tr id="{links[0][1]}">' in unescape(made[f"{links[0][0]}.md"])


def test_a_number_that_may_be_quoted_at_home_names_no_other_machine():
    assert "quotable on" not in files(OTHER, certified_here=True)["index.md"]


def test_the_index_begins_with_what_may_be_quoted_named_by_machine_and_home_leads_there():
    made = files(OTHER)
    quotable, others = re.findall(r"<table.*?</table>", made["numbers/index.md"], re.DOTALL)
    assert re.findall(r"<td[^>]*>(?:<a[^>]*>)?([^<]*cores)", quotable) == [OTHER.name]
    assert "cifar10_mlp" in others
    assert "mnist_mlp" not in others
    assert '<a href="numbers/index.html">' in made["index.md"]
