"""A number that cannot be true is invalid, each time by the check for it; what is honest passes them all."""

import factory
import msgspec
import pytest

from suite.results.records.run import Audit, JaxprCost, Replay, Sample, Served
from suite.results.single import floor, summary, validity
from suite.worker import checks as process_checks

ABOUT = factory.description()
PROGRAM = JaxprCost(
    flop_per_step=ABOUT.batch * ABOUT.flop_per_example,
    parameters=ABOUT.trainable_parameters,
    examples=ABOUT.batch,
    product_dtypes=("float32",),
    product_precisions=("highest",),
)
REPLAY = Replay(
    first=2.3,
    once=2.3,
    twice=2.1,
    together=2.1,
    other_inputs=2.4,
    other_seed=2.5,
    other_seed_twice=2.2,
    rotated=True,
)
AUDIT = Audit(
    cores=16,
    platform="cpu",
    unfinished_seconds=0.001,
    loss_seconds=0.001,
    inputs_on_device=True,
    examples_differ=True,
    program=PROGRAM,
    replay=REPLAY,
)
HONEST = factory.run(0, 0.1, elapsed_seconds=2.01, cache_hits=0, audit=AUDIT)


def checks(run, **case):
    record = factory.record(runs=(run,), step_seconds=(0.1,), **case)
    return {reason.split(": ")[1] for reason in validity.invalid(record)}


def audited(**changes):
    return msgspec.structs.replace(HONEST, audit=msgspec.structs.replace(AUDIT, **changes))


def programmed(**changes):
    return audited(program=msgspec.structs.replace(PROGRAM, **changes))


def replayed(**changes):
    return audited(replay=msgspec.structs.replace(REPLAY, **changes))


def test_an_honest_run_passes_every_check():
    assert checks(HONEST) == set()


def test_a_record_from_before_the_checks_passes_them():
    assert checks(factory.run(0, 0.1)) == set()


def changed(**changes):
    return msgspec.structs.replace(HONEST, **changes)


@pytest.mark.parametrize(
    ("run", "check"),
    [
        (changed(compilations=1), "compilations"),
        (changed(reason="the loss is not finite"), "loss"),
        (changed(reason="RuntimeError: a donated buffer was used again: Array has been deleted"), "donation"),
        (changed(reason="RuntimeError: 64 steps took 0 s: it stands still, or nothing is computed"), "calibration"),
        (changed(elapsed_seconds=4.0), "stamps"),
        (changed(elapsed_seconds=1.0), "stamps"),
        (changed(samples=(Sample(wall_seconds=0.4, process_seconds=8.0),) * 5), "CPU time"),
        (changed(doubling_ratio=1.02), "doubling"),
        (audited(unfinished_seconds=0.2), "unfinished work"),
        (audited(unfinished_seconds=0.09, awaited_seconds=0.09), "unfinished work"),
        (factory.run(0, 1e-9), "floor"),
        (audited(cores=8), "cores"),
        (audited(platform="gpu"), "backend"),
        (audited(inputs_kept=False), "inputs"),
        (audited(loss_seconds=0.2), "unfinished work"),
        (audited(inputs_on_device=False), "inputs on the device"),
        (audited(examples_differ=False), "examples"),
        (programmed(flop_per_step=0.9 * PROGRAM.flop_per_step), "FLOP"),
        (programmed(parameters=899), "parameters"),
        (programmed(examples=64), "batch"),
        (programmed(product_dtypes=("bfloat16", "float32")), "precision"),
        (programmed(product_precisions=("default", "highest")), "precision"),
        (replayed(first=2.4), "replay"),
        (replayed(twice=2.3, together=2.3), "replay"),
        (replayed(together=2.3), "replay"),
        (replayed(other_inputs=2.3), "replay"),
        (replayed(other_inputs=2.3, other_state=False), "replay"),
        (replayed(other_seed=2.3, other_seed_twice=2.1), "replay"),
        (replayed(rotated=False), "replay"),
        (replayed(twice=None), "replay"),
    ],
)
def test_each_trouble_is_seen_by_its_own_check_alone(run, check):
    assert checks(run) == {check}


def test_a_record_from_before_the_checks_of_inputs_passes_them():
    older = msgspec.structs.replace(REPLAY, rotated=None)
    assert checks(audited(loss_seconds=None, inputs_on_device=None, examples_differ=None, replay=older)) == set()


def test_a_baseline_may_compute_its_loss_anew_and_boosting_has_one_table():
    assert checks(audited(loss_seconds=0.2, program=None)) == set()
    trees = factory.record(
        about=msgspec.structs.replace(ABOUT, family="trees"), runs=(replayed(rotated=False),), step_seconds=(0.1,)
    )
    assert not [words for words in validity.invalid(trees) if "replay" in words]


BFLOAT16, TF32 = {"precision": "bfloat16"}, {"precision": "tf32"}
DEFAULT = {"precision": "framework-default"}


@pytest.mark.parametrize(
    ("case", "dtypes", "precisions", "words"),
    [
        (BFLOAT16, ("bfloat16",), ("default",), ""),
        (BFLOAT16, ("bfloat16", "float32"), ("default", "highest"), ""),
        (BFLOAT16, ("float32",), ("highest",), "products in float32 alone at precision 'bfloat16'"),
        (BFLOAT16, ("float16", "float32"), ("default",), "products in float16, float32 alone at precision 'bfloat16'"),
        (BFLOAT16, (), (), ""),
        (TF32, ("float32",), ("high",), ""),
        (TF32, ("float32",), ("high", "highest"), ""),
        (TF32, ("float32",), ("default",), ""),
        (TF32, ("float32",), ("highest",), "products of precision 'highest' alone at precision 'tf32'"),
        (TF32, ("bfloat16",), ("default",), "products in bfloat16 at precision 'tf32'"),
        (TF32, (), (), ""),
        (DEFAULT, ("float32",), ("default",), ""),
        (DEFAULT, ("float32",), ("highest",), "products of precision 'highest' alone at precision 'framework-default'"),
        (DEFAULT, ("bfloat16",), ("default",), "products in bfloat16 at precision 'framework-default'"),
        ({}, (), (), ""),
    ],
)
def test_products_are_no_lower_than_asked_for_and_some_are_as_low(case, dtypes, precisions, words):
    run = programmed(product_dtypes=dtypes, product_precisions=precisions)
    found = list(validity.invalid(factory.record(runs=(run,), step_seconds=(0.1,), **case)))
    assert found == ([f"round 1: precision: {words}"] if words else [])


def test_a_loss_that_no_batch_moves_is_honest_where_the_state_moves():
    assert checks(replayed(other_inputs=2.3, other_state=True)) == set()


def test_a_deep_network_that_answers_nothing_at_first_is_honest_where_its_first_step_tells_seeds_apart():
    assert checks(replayed(other_seed=2.3)) == set()


def test_only_what_hands_out_arrays_before_they_are_there_is_awaited():
    late = audited(unfinished_seconds=0.09, awaited_seconds=0.09)
    assert checks(late) == checks(late, implementation="keras") == {"unfinished work"}
    assert checks(late, implementation="torch") == checks(late, implementation="xgboost") == set()
    on_gpu = audited(unfinished_seconds=0.09, awaited_seconds=0.09, platform="gpu")
    assert checks(on_gpu, implementation="torch", backend="gpu") == {"unfinished work"}


def test_what_a_check_sees_passes_when_it_is_gone(monkeypatch):
    monkeypatch.delitem(validity.CHECKS, "cores")
    assert checks(audited(cores=8)) == set()


def test_a_cold_start_from_a_cache_is_invalid_and_a_steady_step_is_not():
    warm = changed(cache_hits=3)
    assert checks(warm, scope="cold") == {"cache"}
    assert checks(warm) == set()


def test_fewer_threads_are_right_where_they_were_asked_for():
    assert checks(audited(cores=2), threads=2) == set()
    assert checks(audited(cores=16), threads=2) == {"cores"}


def test_an_invalid_record_says_which_check_and_which_round():
    found = summary.summary(factory.record(runs=(audited(inputs_kept=False),), step_seconds=(0.1,)))
    assert found.state == "invalid"
    assert found.reasons == ("round 1: inputs: the batches were changed while they were used",)


def test_a_reason_says_one_core_as_it_says_several():
    worn = changed(
        samples=(Sample(wall_seconds=0.4, process_seconds=8.0),) * 5, audit=msgspec.structs.replace(AUDIT, cores=1)
    )
    small = msgspec.structs.replace(factory.HOST, cores=1)
    found = validity.invalid(factory.record(runs=(worn,), step_seconds=(0.1,), machine=small))
    assert list(found) == ["round 1: CPU time: 40.000 s of CPU time in 2.000 s on 1 core"]
    found = validity.invalid(factory.record(runs=(audited(cores=1),), step_seconds=(0.1,)))
    assert list(found) == ["round 1: cores: the process could use 1 core, of 16"]
    found = validity.invalid(factory.record(runs=(audited(cores=8),), step_seconds=(0.1,)))
    assert list(found) == ["round 1: cores: the process could use 8 cores, of 16"]


def sampled(seconds=0.4, cpu_seconds=0.4, cores=16, **changes):
    """An honest run whose five samples, of four steps each, took just so long; 2 s by default."""
    samples = (Sample(wall_seconds=seconds, process_seconds=cpu_seconds),) * 5
    return changed(samples=samples, audit=msgspec.structs.replace(AUDIT, cores=cores, **changes))


ONE_CORE = msgspec.structs.replace(factory.HOST, cores=1)
INFERENCE = factory.description(flop_per_example=ABOUT.forward_flop_per_example)  # there is nothing after its loss
INFERRED = {"flop_per_step": INFERENCE.batch * INFERENCE.flop_per_example}


@pytest.mark.parametrize(
    ("check", "honest", "untrue", "case"),
    [
        ("stamps", changed(samples=sampled().samples, elapsed_seconds=2.2),
         changed(samples=sampled().samples, elapsed_seconds=2.25), {}),  # 5 % and 0.1 s
        ("CPU time", sampled(cpu_seconds=0.456, cores=1), sampled(cpu_seconds=0.468, cores=1),
         {"machine": ONE_CORE}),  # 10 % and 0.1 s beyond 2 s
        ("doubling", changed(doubling_ratio=1.25), changed(doubling_ratio=1.24), {}),
        ("unfinished work", sampled(unfinished_seconds=0.09), sampled(unfinished_seconds=0.11), {}),  # 10 % and 60 ms
        ("unfinished work", sampled(loss_seconds=0.09), sampled(loss_seconds=0.11), {}),
        ("unfinished work", sampled(awaited_seconds=0.045), sampled(awaited_seconds=0.055), {}),  # 10 % and 10 ms
        ("parameters", programmed(parameters=860, **INFERRED), programmed(parameters=850, **INFERRED),
         {"about": INFERENCE}),  # 95 % of 900
        ("replay", replayed(first=2.302), replayed(first=2.303), {}),  # a permille
        ("replay", replayed(together=2.14), replayed(together=2.16), {}),  # a quarter of the change
    ],
)  # fmt: skip
def test_a_check_bears_as_much_as_noise_makes_and_no_more(check, honest, untrue, case):
    assert checks(honest, **case) == set()
    assert checks(untrue, **case) == {check}


def test_a_step_is_honest_from_the_floor_on_however_many_make_a_sample():
    least = floor.floor_seconds(factory.record())
    for steps in (1, 4):
        assert checks(factory.run(0, 1.1 * least, steps=steps)) == set()
        assert checks(factory.run(0, 0.9 * least, steps=steps)) == {"floor"}
    assert checks(factory.run(0, 0.9 * least), scope="serve") == {"floor"}
    assert checks(factory.run(0, 0.9 * least), scope="cold") == set()
    assert checks(changed(steps_per_sample=0)) == checks(changed(samples=())) == set()


def served(latency=0.2, count=20, answers=64, wrong=0):
    """Twenty requests, two of them under way at any time of two seconds."""
    requests = Served(
        in_flight=2, latency_seconds=(latency,) * count, pictures=64, answers=answers, wrong_answers=wrong
    )
    return changed(samples=sampled().samples, served=requests)


def test_times_and_latencies_say_how_many_requests_were_under_way():
    assert checks(served(0.23)) == checks(served(0.17)) == set()
    assert checks(served(0.25)) == checks(served(0.15)) == {"in flight"}
    assert checks(served(count=19)) == {"in flight"}
    unfinished = msgspec.structs.replace(served(), samples=())
    assert checks(unfinished) == set()


def test_answers_tell_pictures_apart_and_are_those_of_their_pictures():
    assert checks(served(answers=2, wrong=1)) == set()
    assert checks(served(answers=1)) == {"answers"}
    assert checks(served(answers=1), implementation="torch") == set()  # which starts from its own initial values
    assert checks(served(wrong=2)) == {"answers"}


def test_the_state_of_what_is_not_trained_need_not_advance():
    same = {"twice": 2.3, "other_seed_twice": 2.5}
    inferred = msgspec.structs.replace(PROGRAM, **INFERRED)

    def replay(together):
        return audited(program=inferred, replay=msgspec.structs.replace(REPLAY, together=together, **same))

    assert checks(replay(2.3 + 1e-6), about=INFERENCE) == set()
    assert checks(replay(2.3 + 3e-6), about=INFERENCE) == {"replay"}


def test_trees_are_trained_without_a_product_and_draw_no_parameters():
    trees = factory.description(family="trees", flop_per_example=0, forward_flop_per_example=0)
    assert checks(replayed(other_seed=2.3, other_seed_twice=2.1), about=trees) == set()
    assert checks(replayed(twice=2.3, together=2.3), about=trees) == {"replay"}


def test_a_batch_that_a_small_network_fits_exactly_is_no_state_that_stands_still():
    none = dict.fromkeys(("first", "once", "twice", "together", "other_seed", "other_seed_twice"), 0.0)
    run = msgspec.structs.replace(replayed(**none), first_loss=0.0)
    assert checks(run) == set()
    small = dict.fromkeys(none, 1e-06)
    assert checks(msgspec.structs.replace(replayed(**small), first_loss=1e-6)) == {"replay"}


def test_a_replay_without_a_loss_says_so():
    (reason,) = validity.invalid(factory.record(runs=(replayed(twice=None),)))
    assert reason == "round 1: replay: a loss is not finite"


def test_fewer_than_three_samples_of_steps_are_few():
    few = [validity.is_short(factory.record().case, changed(samples=HONEST.samples[:count])) for count in range(5)]
    assert few == [False, True, True, False, False]
    assert not validity.is_short(factory.record(scope="cold").case, changed(samples=HONEST.samples[:1]))


RATES = [  # what nothing reaches: products of a core in cycles of 6 GHz; twice what the largest GPUs promise
    *(("cpu", precision, 16 * 2 * 2 * 16 * 6e9) for precision in ("float32-highest", "framework-default", "tf32")),
    ("cpu", "bfloat16", 16 * 2 * 1024 * 6e9),
    ("gpu", "float32-highest", 2 * 1e14),
    *(("gpu", precision, 2 * 2.5e15) for precision in ("framework-default", "tf32")),
    ("gpu", "bfloat16", 2 * 5e15),
]


@pytest.mark.parametrize(("backend", "precision", "rate"), RATES)
def test_the_floor_is_what_a_step_computes_or_moves_at_rates_that_nothing_reaches(backend, precision, rate):
    much = factory.description(flop_per_example=10**12)
    computed = factory.record(backend=backend, precision=precision, about=much)
    assert floor.floor_seconds(computed) == pytest.approx(128 * 10**12 / rate, rel=0.1)
    large = factory.description(trainable_parameters=10**12)
    moved = factory.record(backend=backend, precision=precision, about=large)
    bytes_a_second = 16 * 2 * 64 * 6e9 if backend == "cpu" else 4e13
    assert floor.floor_seconds(moved) == pytest.approx(2 * 4 * 10**12 / bytes_a_second, rel=0.1)


def test_several_gpus_lower_the_floor_and_an_unknown_count_of_cores_counts_as_one():
    about = factory.description(trainable_parameters=10**12)
    one, two = (floor.floor_seconds(factory.record(backend="gpu", about=about, devices=devices)) for devices in (1, 2))
    assert one == pytest.approx(2 * two)
    unknown, known = (
        floor.floor_seconds(factory.record(about=about, machine=msgspec.structs.replace(factory.HOST, cores=cores)))
        for cores in (0, 1)
    )
    assert unknown == known


@pytest.mark.parametrize(
    ("family", "moves"),
    [("dense", True), ("convolution", True), ("residual", True), ("text", False), ("data parallel", False)],
)
def test_training_moves_each_parameter_and_inference_or_a_lookup_may_leave_some_out(family, moves):
    def least(**changes):
        return floor.floor_seconds(factory.record(about=factory.description(family=family, **changes)))

    assert (least(trainable_parameters=10**12) > least()) is moves
    forward = factory.description().forward_flop_per_example
    inferred = least(trainable_parameters=10**12, flop_per_example=forward)
    assert inferred == least(flop_per_example=forward)


@pytest.mark.parametrize("family", ["dense", "text", "data parallel"])
def test_what_has_no_convolutions_is_done_with_all_its_products(family):
    about = factory.description(family=family, flop_per_example=10**9)
    assert floor.floor_seconds(factory.record(about=about)) == pytest.approx(128 * 10**9 / (16 * 4e11))


def test_a_convolution_may_be_done_with_fewer_products():
    dense, convolution = (
        floor.floor_seconds(factory.record(about=factory.description(family=family, flop_per_example=10**9)))
        for family in ("dense", "convolution")
    )
    assert dense == pytest.approx(4 * convolution)


def test_cores_are_those_of_affinity_and_of_the_variables_that_limit_xla(monkeypatch):
    monkeypatch.setattr(process_checks, "granted_cores", lambda: 8)
    assert process_checks.usable_cores() == 8
    monkeypatch.setenv("PJRT_NPROC", "3")
    assert process_checks.usable_cores() == 3


class Guess:
    """A stand-in for a program whose loss is that of its parameters, a seed each, plus the steps taken."""

    steps_per_call = 1

    def __init__(self, of_seed):
        self.of_seed = of_seed

    def initialise(self, seed):
        self.value = self.of_seed(seed)

    def put(self, batches):
        pass

    def block(self):
        pass

    def chain(self, steps):
        self.value += steps

    def loss(self):
        return self.value

    def state_digest(self):
        return b""


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({7: 7.0, 8: 8.0}, (9.0, 10.0)),
        ({7: 7.0, 8: 7.0, 9: 9.0}, (10.0, 11.0)),
        ({7: 7.0, 8: 7.0, 9: 7.0, 10: 7.0}, (8.0, 9.0)),
    ],
)
def test_another_seed_that_gives_the_same_by_chance_is_followed_by_another(values, found):
    seen = process_checks.replay(Guess(values.__getitem__), [None, None], 7)
    assert (seen.once, seen.twice) == (8.0, 9.0)
    assert (seen.other_seed, seen.other_seed_twice) == found


class Held(Guess):
    """A stand-in whose compiled program holds the weights of its first seed."""

    def weights_are_constants(self):
        return True


def test_another_seed_is_another_program_if_a_program_holds_its_weights():
    asked = []

    def of_seed(seed):
        asked.append(seed)
        return float(seed)

    seen = process_checks.replay(Held(of_seed), [None, None], 7)
    assert set(asked) == {7}
    assert (seen.once, seen.other_seed, seen.other_seed_twice) == (8.0, None, None)
    assert checks(replayed(other_seed=None, other_seed_twice=None)) == set()


class Rotating(Guess):
    """A stand-in whose loss adds up the batches of its steps, the first alone if it does not rotate through them."""

    def __init__(self, rotates):
        super().__init__(float)
        self.rotates = rotates

    def put(self, batches):
        self.batches = batches

    def chain(self, steps):
        self.value += sum(self.batches[index % len(self.batches) if self.rotates else 0] for index in range(steps))


@pytest.mark.parametrize("rotates", [True, False])
def test_a_replay_tells_whether_steps_rotate_through_the_input_sets(rotates):
    assert process_checks.replay(Rotating(rotates), [1.0, 2.0], 7).rotated is rotates
