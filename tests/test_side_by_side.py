"""Pools cut to the hosts that timed all of them, for ratios of times that must be of the same hosts."""

import factory
import msgspec
import pytest

from suite.results.pooled.pools import pools
from suite.results.pooled.side_by_side import most_side_by_side, side_by_side
from suite.results.records.store import sealed

COUNTS = (1, 2, 4)


def timed(host, *counts, slower=1.0, day=""):
    """Steps of one host with these numbers of threads; in a campaign of its own if a day is given."""
    made = [factory.record("mnist_mlp", "cpu", [slower * 0.08 / count] * 3, threads=count) for count in counts]
    records = factory.on_hosts(made, (1.0,) * host)[-len(made) :]
    if not day:
        return records
    return [sealed(msgspec.structs.replace(each, digest="", campaign=f"{day}-000000-host")) for each in records]


def of(records):
    """The pool of each number of threads, the fewest first."""
    return sorted(pools(records), key=lambda pool: pool.newest.case.threads)


def test_only_hosts_that_timed_every_pool_count():
    cut = side_by_side(of([*timed(1, *COUNTS), *timed(2, 1, slower=5.0), *timed(3, *COUNTS)]))
    assert [pool.hosts for pool in cut] == [2, 2, 2]
    assert cut[0].over(cut[1]).value == pytest.approx(2)


def test_without_a_host_that_timed_every_pool_none_is_left():
    assert side_by_side(of([*timed(1, 1), *timed(2, 2)])) == ()


def test_of_a_host_the_campaigns_that_timed_all_count_before_its_others():
    cut = side_by_side(of([*timed(1, *COUNTS), *timed(1, 4, slower=3.0, day="20260109")]))
    assert [len(pool.records) for pool in cut] == [1, 1, 1]
    assert cut[0].over(cut[2]).value == pytest.approx(4)


def test_a_host_counts_if_none_of_its_campaigns_timed_all_alone():
    cut = side_by_side(of([*timed(1, 1), *timed(1, 2, day="20260109"), *timed(2, 1, 2)]))
    assert [pool.hosts for pool in cut] == [2, 2]


def test_most_side_by_side_takes_the_pools_of_the_host_that_timed_most():
    records = [*timed(1, *COUNTS), *timed(2, 1, 2), *timed(3, 1, 8)]
    assert [pool.newest.case.threads for pool in most_side_by_side(of(records))] == [1, 2, 4]
    two = most_side_by_side(of([*timed(1, 1, 4), *timed(2, 1, 2), *timed(3, 1, 2)]))
    assert [(pool.newest.case.threads, pool.hosts) for pool in two] == [(1, 2), (2, 2)]
