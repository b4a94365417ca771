"""Baselines and threads are chosen by what the published campaigns say, and by no luck of one."""

import math

import factory
import pytest

from suite.results.single import choosing


def timed(campaign, seconds, **changes):
    return factory.record(
        backend="cpu", campaign=campaign, step_seconds=seconds if isinstance(seconds, tuple) else (seconds,), **changes
    )


def test_the_baseline_is_the_way_that_takes_least_over_jax():
    records = [
        timed(name, seconds, **axes)
        for name in ("a", "b")
        for seconds, axes in (
            (0.010, {}),
            (0.012, {"implementation": "torch"}),
            (0.008, {"implementation": "torch", "variant": "compile"}),
        )
    ]
    (way,) = choosing.made(records, lambda record: record.campaign).baselines
    assert (way.variant, way.on, way.campaigns) == ("compile", "", ("a", "b"))
    (once,) = choosing.made(records[:3], lambda record: record.campaign).baselines
    assert once.variant == "plain"


def test_a_way_that_starts_slowly_has_to_gain_a_tenth():
    records = [
        timed("a", 0.010),
        timed("a", 0.0100, implementation="torch"),
        timed("a", 0.0092, implementation="torch", variant="compile"),
    ]
    (way,) = choosing.made(records, lambda record: record.campaign).baselines
    assert way.variant == "plain"


def test_a_kind_of_machine_has_a_row_of_its_own_where_it_differs():
    small = {"machine": factory.PLAIN}
    records = [
        timed("a", 0.010), timed("a", 0.012, implementation="torch"),
        timed("a", 0.003, implementation="torch", variant="compile"),
        timed("c", 0.010), timed("c", 0.003, implementation="torch", variant="compile"),
        timed("b", 0.010, **small), timed("b", 0.012, implementation="torch", **small),
        timed("b", 0.013, implementation="torch", variant="compile", **small),
    ]  # fmt: skip
    rows = {way.on: way.variant for way in choosing.made(records, lambda record: record.campaign).baselines}
    assert rows == {"": "compile", "4 cores": "plain"}


@pytest.mark.parametrize(("hosts", "expected"), [(1, ()), (2, (4,))])
def test_fewer_threads_are_chosen_only_if_two_hosts_say_so(hosts, expected):
    records = [
        timed(name, seconds, **axes)
        for name in ("a", "b")[:hosts]
        for seconds, axes in (((0.010, 0.010, 0.010), {}), ((0.007, 0.007, 0.007), {"threads": 4}))
    ]
    found = choosing.made(records, lambda record: record.campaign).threads
    assert tuple(row.threads for row in found) == expected


def test_threads_that_gain_no_more_than_the_noise_are_not_chosen():
    records = [
        timed(name, seconds, **axes)
        for name in ("a", "b")
        for seconds, axes in (((0.010,), {}), ((0.0085,), {"threads": 4}))
    ]
    assert choosing.made(records, lambda record: record.campaign).threads == ()


def chosen(*records):
    return choosing.made(records, lambda record: record.campaign)


TORCH, KERAS = {"implementation": "torch"}, {"implementation": "keras"}
COMPILED = {"implementation": "torch", "variant": "compile"}


def test_the_rule_is_said_with_what_was_chosen():
    assert chosen().rule == choosing.RULE
    assert chosen().baselines == chosen().threads == ()


@pytest.mark.parametrize(
    "changes", [{"scope": "cold"}, {"profile": "smoke"}, {"batch": 7}, {"precision": "bfloat16"}, {"runs": ()}]
)
def test_only_whole_steps_in_the_headline_setting_choose(changes):
    assert chosen(timed("a", 0.010), timed("a", 0.012, **TORCH, **changes)).baselines == ()


def test_a_baseline_is_held_against_the_plain_jax_of_its_own_campaign_on_all_cores():
    for other in ({"campaign": "b"}, {"threads": 2}, {"variant": "nnx-jit"}):
        jax = timed(other.pop("campaign", "a"), 0.010, **other)
        assert chosen(jax, timed("a", 0.012, **TORCH)).baselines == ()
    (way,) = chosen(timed("a", 0.010), timed("a", 0.011, **TORCH), timed("a", 0.001, threads=2, **KERAS)).baselines
    assert (way.implementation, way.workload, way.backend) == ("torch", "mnist_mlp", "cpu")


def test_of_two_allocators_the_better_counts_whichever_came_first():
    for slow, fast in (({}, {"allocator": "default-malloc"}), ({"allocator": "default-malloc"}, {})):
        ways = timed("a", 0.010), timed("a", 0.012, **TORCH), timed("a", 0.020, **KERAS, **slow)
        (way,) = chosen(*ways, timed("a", 0.009, **KERAS, **fast)).baselines
        assert way.implementation == "keras"


def test_a_slow_start_that_gains_more_than_a_tenth_is_taken_where_two_campaigns_say_so():
    def of(*campaigns):
        return [
            record
            for name in campaigns
            for record in (timed(name, 0.010), timed(name, 0.0100, **TORCH), timed(name, 0.0088, **COMPILED))
        ]

    assert [way.variant for way in chosen(*of("a", "b")).baselines] == ["compile"]
    assert [way.variant for way in chosen(*of("a")).baselines] == ["plain"]
    alone = timed("a", 0.010), timed("a", 0.005, **COMPILED)
    assert [way.variant for way in chosen(*alone).baselines] == ["compile"]  # there is no other way


def test_one_campaign_of_a_gpu_is_enough():
    gpu = {"backend": "gpu"}
    records = [
        factory.record(campaign="a", step_seconds=(seconds,), **gpu, **axes)
        for seconds, axes in ((0.010, {}), (0.012, TORCH), (0.008, COMPILED))
    ]
    (way,) = chosen(*records).baselines
    assert (way.backend, way.variant, way.on) == ("gpu", "compile", "")


def test_a_kind_of_machine_where_one_way_alone_was_timed_says_nothing_where_others_compared():
    small = {"machine": factory.PLAIN}
    records = timed("a", 0.010), timed("a", 0.012, **TORCH), timed("a", 0.011, **KERAS)
    (way,) = chosen(*records, timed("b", 0.010, **small), timed("b", 0.001, **TORCH, **small)).baselines
    assert (way.implementation, way.on, way.campaigns) == ("keras", "", ("a",))


def test_the_baseline_of_all_machines_is_that_which_loses_least_on_average():
    small = {"machine": factory.PLAIN}
    records = [
        *(timed("a", 0.010), timed("a", 0.012, **TORCH), timed("a", 0.010, **KERAS)),
        *(timed("b", 0.010, **small), timed("b", 0.010, **TORCH, **small), timed("b", 0.020, **KERAS, **small)),
    ]
    rows = {way.on: way.implementation for way in chosen(*records).baselines}
    assert rows == {"": "torch", "16 cores": "keras"}


def test_of_several_counts_of_threads_the_fastest_is_chosen_with_the_campaigns_that_say_so():
    records = [
        timed(name, (seconds,) * 3, **axes)
        for name in ("a", "b")
        for seconds, axes in ((0.010, {}), (0.007, {"threads": 4}), (0.006, {"threads": 2}))
    ]
    (row,) = chosen(*records, timed("c", (0.010,) * 3)).threads
    assert (row.threads, row.on, row.implementation, row.campaigns) == (2, "16 cores", "jax", ("a", "b"))
    gpu = [factory.record(backend="gpu", campaign=r.campaign, threads=r.case.threads) for r in records]
    assert chosen(*gpu).threads == ()


@pytest.mark.parametrize(
    ("rounds", "gain", "taken"), [(1, 0.33, True), (1, 0.28, False), (4, 0.17, True), (4, 0.14, False)]
)
def test_fewer_threads_have_to_gain_more_than_two_standard_errors(rounds, gain, taken):
    records = [
        timed(name, (seconds,) * rounds, **axes)
        for name in ("a", "b")
        for seconds, axes in ((0.010, {}), (0.010 * math.exp(-gain), {"threads": 4}))
    ]
    assert bool(chosen(*records).threads) is taken
