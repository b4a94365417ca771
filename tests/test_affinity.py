"""Which hardware threads a pinned process has."""

from suite.system.processor import one_of_each_core_first

NEIGHBOURS = {0: "0-1", 1: "0-1", 2: "2-3", 3: "2-3"}.__getitem__
HALVES = {0: "0,2", 2: "0,2", 1: "1,3", 3: "1,3"}.__getitem__


def test_one_thread_of_each_core_comes_before_the_second_of_any():
    assert one_of_each_core_first({0, 1, 2, 3}, NEIGHBOURS) == (0, 2, 1, 3)
    assert one_of_each_core_first({0, 1, 2, 3}, HALVES) == (0, 1, 2, 3)


def test_where_the_system_tells_nothing_each_thread_is_a_core():
    assert one_of_each_core_first({3, 1, 2}, lambda thread: "") == (1, 2, 3)


def test_a_core_of_which_one_thread_is_granted_counts_as_any_other():
    assert one_of_each_core_first({1, 2, 3}, NEIGHBOURS) == (1, 2, 3)
