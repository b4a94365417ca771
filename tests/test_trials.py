"""What is a trial of a claim, on which hosts and machine, and what answers say of trials: sides scripted by hand."""

from dataclasses import replace

import factory
import msgspec
import pytest
from test_reproducibility import KNOWN, hosts, measured

from suite.results.compare import reproducibility as answers
from suite.results.compare.reproducibility import Answer, Reproducibility, Trial, reproducibility, spreads, words
from suite.results.pooled import pools
from suite.results.stats.shares import Share, share
from suite.results.stats.variance_components import Components

OTHER = msgspec.structs.replace(factory.KNOWN, name="other-gpu, 8 cores", cpu_number=85)


def both_sides(numbers=range(3), workload="mnist_mlp", campaign="both", **axes):
    """Records of a CPU and a GPU of each host, of one campaign a host."""
    return [
        measured(host, [seconds, 1.01 * seconds], workload, backend, f"{campaign}-{host}", **axes)
        for host in numbers
        for backend, seconds in (("cpu", 0.01), ("gpu", 0.001))
    ]


def on_machine(record, machine):
    """The record as if made on another kind of machine."""
    return factory.sealed(msgspec.structs.replace(record, machine=machine, digest=""))


def a_share(value, low, high):
    return Share(value=value, low=low, high=high, trials=90)


# Trials


def test_a_trial_is_of_the_gpus_machine_where_a_gpu_takes_part():
    made = pools.pools(both_sides())
    named = {trial.side: trial.machine for trial in answers.left_out(made)}
    machine = made[0].newest.machine
    assert named == {"CPU": machine.cpu_kind.words, answers.GPU: machine.name, "speed-up": machine.name}
    assert machine.cpu_kind.words != machine.name


def test_a_host_that_only_pools_of_two_have_is_predicted_with_what_other_pools_know():
    two = [measured(host, [0.01, 0.0101], "cifar10_mlp") for host in (7, 8)]
    three = [measured(host, [0.01, 0.0101]) for host in range(3)]
    assert len(list(answers.left_out(pools.pools([*two, *three])))) == 5


def test_a_speed_up_is_of_one_workload():
    records = [*both_sides(), *both_sides(workload="cifar10_mlp")]
    pairs = [trial.pools for trial in answers.left_out(pools.pools(records)) if trial.side == answers.SPEED_UP]
    assert [cpu.case.workload for cpu, _ in pairs] == [gpu.case.workload for _, gpu in pairs]
    assert len(pairs) == 6


def test_a_gpu_of_less_precision_has_its_speed_up_over_the_cpu():
    records = [
        measured(host, [seconds, 1.01 * seconds], backend=backend, campaign=f"both-{host}", precision=precision)
        for host in range(3)
        for backend, seconds, precision in (("cpu", 0.01, "float32-highest"), ("gpu", 0.001, "tf32"))
    ]
    assert "speed-up" in {trial.side for trial in answers.left_out(pools.pools(records))}


def test_what_lies_on_the_very_edge_of_a_range_is_held():
    same = Components(tau2=0.0, sigma2=0.0, degrees=12.0, cells=4)
    assert answers.holds(([1.0, 1.0], [[1.0, 1.0]], same))


def test_pairs_are_of_two_hosts_and_only_where_something_says_how_much_hosts_differ():
    (pool,) = hosts([1.0, 1.1], ["mnist_mlp"])
    assert len(list(answers.pairs([replace(pool, among=KNOWN)]))) == 1
    unknown = msgspec.structs.replace(KNOWN, degrees=0.0)
    assert list(answers.pairs([replace(pool, among=unknown)])) == []


# Answers


def scripted(monkeypatch, held, equal):
    """The answers where these were the trials."""
    monkeypatch.setattr(answers, "left_out", lambda _: held)
    monkeypatch.setattr(answers, "pairs", lambda _: equal)
    return reproducibility(()).answers


def test_each_share_is_clustered_by_the_hosts_of_its_own_trials(monkeypatch):
    (pool,) = hosts([1.0], ["mnist_mlp"])

    def trial(good, *of):
        return Trial(side="CPU", pools=(pool,), hosts=frozenset(of), good=good)

    held = [trial(True, each) for each in "abcabc"]
    equal = [trial(True, "c", "d"), trial(True, "d", "e"), trial(True, "e", "f"), trial(True, "f", "g")]
    (answer,) = scripted(monkeypatch, held, equal)
    assert answer.hosts == 7
    assert answer.inside == share([(each.good, each.links) for each in held], 3)
    assert answer.alarms == share([(False, each.links) for each in equal], 5)


def test_of_several_machines_there_is_an_answer_of_all_and_one_of_each():
    records = [measured(host, [0.01, 0.0101]) for host in range(3)]
    others = [on_machine(measured(host, [0.01, 0.0101]), OTHER) for host in (4, 5, 6)]
    found = reproducibility(pools.pools([*records, *others])).answers
    one, other = sorted(each.machine.cpu_kind.words for each in (records[0], others[0]))
    assert [(each.machine, each.hosts, each.inside.trials) for each in found] == [
        ("", 6, 6),
        (one, 3, 3),
        (other, 3, 3),
    ]


def test_of_one_machine_there_is_one_answer_that_names_it():
    (answer,) = reproducibility(hosts([1.0, 1.01, 0.99])).answers
    assert answer.machine
    assert Answer(side="CPU", hosts=1).machine == ""


@pytest.mark.parametrize(("name", "machine"), [("CPU", ""), ("CPU, a machine", "a machine")])
def test_a_missed_claim_names_its_side_and_machine(name, machine):
    answer = Answer(
        side="CPU", machine=machine, hosts=9, inside=a_share(0.9, 0.85, 0.94), alarms=a_share(0.1, 0.06, 0.2)
    )
    assert list(answer.missed) == [
        f"{name}: 90 % (85 to 94) of left-out hosts' means lie inside a range that claims 95 %",
        f"{name}: 10 % (6 to 20) of pairs of equal code were called different; at most 5 % should be",
    ]


def test_an_interval_that_touches_what_is_claimed_contradicts_nothing():
    answer = Answer(side="CPU", hosts=9, inside=a_share(0.9, 0.85, 0.95), alarms=a_share(0.1, 0.05, 0.2))
    assert list(answer.missed) == []


def test_where_nothing_was_left_out_there_is_no_sentence():
    alone = Answer(side="CPU", hosts=2, alarms=a_share(0.1, 0.05, 0.2))
    assert Reproducibility(answers=(alone,)).words == ""


def test_a_share_is_written_in_percent_with_its_interval():
    assert words(a_share(0.903, 0.851, 0.949)) == "90 % (85 to 95)"


# Spreads


def test_spreads_stand_by_side_scope_and_implementation():
    sides = [("gpu", "epoch", "jax"), ("gpu", "epoch", "torch"), ("cpu", "cold", "torch"), ("cpu", "step", "jax")]
    records = [
        measured(host, [0.01, 0.0101], backend=backend, scope=scope, implementation=implementation)
        for backend, scope, implementation in sides
        for host in range(2)
    ]
    found = [each.likeness for each in spreads(pools.pools(records))]
    assert [(each.backend, each.scope, each.implementation) for each in found] == [
        ("cpu", "cold", "torch"),
        ("cpu", "step", "jax"),
        ("gpu", "epoch", "jax"),
        ("gpu", "epoch", "torch"),
    ]


def test_there_is_a_spread_where_a_pool_has_two_hosts_and_none_of_lone_hosts():
    assert [each.hosts for each in spreads(hosts([1.0, 1.1]))] == [2]
    assert list(spreads(hosts([1.0]))) == []


def test_a_spread_names_the_machine_of_the_last_pool_that_has_hosts_to_compare():
    renamed = msgspec.structs.replace(factory.KNOWN, name="renamed-gpu, 16 cores")
    records = [on_machine(measured(host, [0.01, 0.0101], "a", "gpu"), factory.KNOWN) for host in range(2)]
    records += [on_machine(measured(host, [0.01, 0.0101], "b", "gpu"), renamed) for host in range(2)]
    (spread,) = spreads(pools.pools(records))
    assert spread.machine == "renamed-gpu, 16 cores"
