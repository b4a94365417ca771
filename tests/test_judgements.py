"""Judgements of each observation and documented number beside known worlds are those of the stored text."""

import pytest
from golden import judgements
from ledger_worlds import ALL
from test_golden import REMEDY, difference

STORED = judgements.stored()


def compare(heading, now):
    before = STORED.get(heading, [])
    if before != now:
        lines = difference(heading, "\n".join(before), "\n".join(now))
        pytest.fail(f"{lines}\n{REMEDY}", pytrace=False)


def test_the_rules_are_those_that_are_stored():
    compare("rules", judgements.rules())


@pytest.mark.parametrize("code", ALL)
def test_what_is_said_of_an_observation_is_what_is_stored(code):
    compare(code, judgements.observation(code))


@pytest.mark.parametrize("workload", judgements.WORKLOADS)
def test_what_is_said_of_documented_numbers_is_what_is_stored(workload):
    compare(workload, judgements.numbers(workload))


def test_every_stored_section_is_compared():
    assert list(STORED) == ["rules", *ALL, *judgements.WORKLOADS]
