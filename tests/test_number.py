"""What a number under a key says of itself, and which quantities of a step have a rate."""

from dataclasses import replace

import factory
import msgspec
import pytest

from suite.results.cite.number import ON_ONE_HOST, Number, a_step, key_of, version_of
from suite.results.stats.pooling import Pooled

FIRST, AGAIN, LAST = (
    factory.record(campaign=name, created=f"2026-01-0{day}T00:00:00Z") for name, day in (("a", 1), ("a", 2), ("b", 3))
)
NUMBER = Number(
    key=key_of(LAST, "seconds"),
    value=Pooled(value=0.01, low=None, high=None, hosts=1, processes=3),
    state="quotable",
    reasons=(),
    record=LAST,
    members=(AGAIN, LAST, FIRST),
    digest="",
)


def test_a_number_of_a_pool_is_as_new_as_its_newest_record_and_names_its_campaigns_in_turn():
    assert NUMBER.measured == LAST.created
    assert NUMBER.campaigns == ("a", "b")
    assert NUMBER.ways == ""


@pytest.mark.parametrize(
    ("state", "pooled", "word"),
    [("quotable", True, ""), ("open", True, "open"), ("open", False, ON_ONE_HOST), ("invalid", False, "invalid")],
)
def test_only_a_quotable_number_may_be_quoted_and_another_says_why_not(state, pooled, word):
    found = replace(NUMBER, state=state, pooled=pooled)
    assert (found.quotable, found.word) == (word == "", word)


@pytest.mark.parametrize("scope", ["step", "transfer", "epoch", "serve"])
def test_what_takes_steps_has_a_rate_of_examples_and_of_flop(scope):
    record = factory.record(scope=scope, batch=8)
    assert a_step(record, "examples-per-second") == 8
    assert a_step(record, "flop-per-second") == 8 * record.description.flop_per_example
    assert a_step(record, "seconds") is None


def test_the_input_computes_nothing_and_a_start_has_no_step():
    fed = factory.record(scope="input", batch=8)
    assert (a_step(fed, "examples-per-second"), a_step(fed, "flop-per-second")) == (8, None)
    assert a_step(factory.record(scope="cold"), "examples-per-second") is None


def test_the_version_is_of_the_package_that_was_timed():
    packages = {"jax": "0.12.0", "torch": "2.13.0", "tensorflow": "2.21.0", "keras": "3.15.1"}

    def version(implementation, packages=packages):
        record = factory.record(implementation=implementation)
        software = msgspec.structs.replace(record.software, packages=packages)
        return version_of(msgspec.structs.replace(record, software=software))

    assert (version("jax"), version("torch"), version("keras")) == ("jax 0.12.0", "torch 2.13.0", "tensorflow 2.21.0")
    assert version("keras", {"jax": "0.12.0"}) == ""
