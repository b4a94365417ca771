"""A number that cannot be true is invalid, each time by the check for it; what is honest passes them all."""

import sys
from types import SimpleNamespace

import factory
import jax
import jax.numpy as jnp
import msgspec
import pytest

from suite.measure import audit, clock, leftover, traced
from suite.results import floor, summary, validity
from suite.results.record import Audit, Replay, Sample, Traced

ABOUT = factory.description()
PROGRAM = Traced(
    flop_per_step=ABOUT.batch * ABOUT.flop_per_example,
    parameters=ABOUT.trainable_parameters,
    examples=ABOUT.batch,
    product_dtypes=("float32",),
    product_precisions=("highest",),
)
REPLAY = Replay(first=2.3, once=2.3, twice=2.1, together=2.1, other_inputs=2.4, other_seed=2.5, other_seed_twice=2.2)
AUDIT = Audit(cores=16, platform="cpu", unfinished_seconds=0.001, program=PROGRAM, replay=REPLAY)
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
        (changed(reason=validity.NOT_FINITE), "loss"),
        (changed(reason=f"RuntimeError: {validity.DONATED}: Array has been deleted"), "donation"),
        (changed(reason=f"RuntimeError: 64 steps took 0 s by the clock: {validity.NOTHING_COMPUTED}"), "calibration"),
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
        (replayed(twice=None), "replay"),
    ],
)
def test_each_trouble_is_seen_by_its_own_check_alone(run, check):
    assert checks(run) == {check}


BFLOAT16, TF32 = {"precision": "bfloat16"}, {"precision": "tf32"}


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


def test_a_convolution_may_be_done_with_fewer_products():
    dense, convolution = (
        floor.floor_seconds(factory.record(about=factory.description(family=family, flop_per_example=10**9)))
        for family in ("dense", "convolution")
    )
    assert dense == pytest.approx(4 * convolution)


FIELDS = ("seconds", "awaited_seconds")


class Busy:
    """A process that works for a while after its time was taken."""

    def __init__(self, until):
        self.now, self.used, self.until = 0.0, 0.0, until
        self.clock = clock.Clock(wall=lambda: self.now, process=lambda: self.used)

    def sleep(self, seconds):
        self.used += max(0.0, min(self.until, self.now + seconds) - self.now)
        self.now += seconds


def test_work_that_goes_on_is_watched_until_it_ends(monkeypatch):
    monkeypatch.setattr(leftover, "drain", lambda: None)
    for until, seen in ((0.0, 0.0), (0.5, 0.5), (60.0, leftover.LONGEST_SECONDS)):
        busy = Busy(until)
        assert leftover.look(busy.clock, busy.sleep).seconds == pytest.approx(seen, abs=0.03)


@pytest.mark.parametrize(
    ("each", "seen", "samples"),
    [((0.02,), 0.02, 0), ((0.08, 0.02), 0.02, 1), ((0.3, 0.3, 0.3), 0.3, 2), ((0.08, 0.3, 0.2), 0.08, 2)],
)
def test_what_may_have_been_spinning_threads_is_looked_at_again(monkeypatch, each, seen, samples):
    monkeypatch.setattr(leftover, "drain", lambda: None)
    busy, taken = Busy(each[0]), []

    def sample():
        taken.append(busy.now)
        busy.until = busy.now + each[len(taken)]

    assert leftover.least(sample, busy.clock, busy.sleep).seconds == pytest.approx(seen, abs=0.03)
    assert len(taken) == samples


@pytest.mark.parametrize(
    ("looks", "least", "samples"),
    [
        ([(0.02, 0.01)], (0.02, 0.01), 0),
        ([(0.02, 0.011), (0.03, 0.0)], (0.02, 0.0), 1),
        ([(0.02, 0.05), (0.3, 0.0), (0.2, 0.04)], (0.02, 0.0), 2),  # the least work and the least wait are of two looks
        ([(0.3, 0.3), (0.2, 0.2), (0.4, 0.4)], (0.2, 0.2), 2),  # what a program leaves behind is there each time
    ],
)
def test_arrays_that_are_not_there_at_once_are_looked_at_again(monkeypatch, looks, least, samples):
    seen, taken = iter(looks), []
    monkeypatch.setattr(leftover, "look", lambda *_: leftover.Leftover(**dict(zip(FIELDS, next(seen), strict=True))))
    found = leftover.least(lambda: taken.append("a sample"), clock.Clock())
    assert (found.seconds, found.awaited_seconds) == least
    assert len(taken) == samples


def test_without_further_samples_one_look_has_to_do(monkeypatch):
    monkeypatch.setattr(leftover, "drain", lambda: None)
    busy = Busy(0.3)
    assert leftover.least(None, busy.clock, busy.sleep).seconds == pytest.approx(0.3, abs=0.03)


def test_arrays_that_are_not_there_yet_are_waited_for():
    x = jnp.ones((600, 600))
    slow = jax.jit(lambda x: jax.lax.fori_loop(0, 200, lambda _, y: y @ x / 600, x)).lower(x).compile()
    found = slow(x)
    awaited = leftover.look(clock.Clock()).awaited_seconds
    assert found.is_ready()
    looks = [leftover.look(clock.Clock()).awaited_seconds for _ in range(5)]  # other work may come between one of them
    assert min(looks) < 0.01 < awaited


def test_cores_are_those_of_affinity_and_of_the_variables_that_limit_xla(monkeypatch):
    monkeypatch.setattr(audit, "granted_cores", lambda: 8)
    assert audit.usable_cores() == 8
    monkeypatch.setenv("PJRT_NPROC", "3")
    assert audit.usable_cores() == 3


def flop(function, *arguments):
    return traced.product_flop(traced.needed(traced.opened(jax.make_jaxpr(function)(*arguments))))


X = jnp.ones((4, 4))
PRODUCT = 2 * 4 * 4 * 4


def test_a_product_in_a_loop_counts_in_every_turn_that_changes_it():
    assert flop(lambda x: jax.lax.scan(lambda y, _: (y @ x, None), x, length=5)[0], X) == 5 * PRODUCT
    assert flop(lambda x, rows: jax.lax.scan(lambda y, row: (y, row @ x), x, rows)[1], X, jnp.ones((5, 4, 4))) == (
        5 * PRODUCT
    )


def test_a_product_that_no_turn_changes_counts_once():
    def repeated(x):
        return jax.lax.scan(lambda kept, _: (kept, jax.jit(jnp.matmul)(kept, x)), x, length=5)[1]

    assert flop(repeated, X) == PRODUCT


def test_a_product_that_nobody_needs_does_not_count():
    assert flop(lambda x: (x @ x, x)[1], X) == 0


def seen(function, *arguments, batch):
    return traced.traced(jax.make_jaxpr(function)(*arguments, batch), batch, 0, 1)


def test_a_traced_step_tells_its_parameters_examples_and_the_kinds_of_its_products():
    found = seen(lambda w, b: b["x"] @ w, jnp.ones((3, 2)), batch={"x": jnp.ones((7, 3))})
    assert found == Traced(
        flop_per_step=2 * 7 * 3 * 2,
        parameters=6,
        examples=7,
        product_dtypes=("float32",),
        product_precisions=("default",),
    )


def test_a_batch_that_is_not_used_has_no_examples():
    batch = {"x": jnp.ones((7, 3))}
    assert seen(lambda w, b: jnp.ones((7, 3)) @ w, jnp.ones((3, 2)), batch=batch).examples == 0


def test_a_batch_that_is_closed_over_has_no_examples_and_weights_that_are_stay_parameters():
    given, known, weights = {"x": jnp.ones((7, 3))}, jnp.ones((7, 3)), jnp.ones((3, 2))
    assert seen(lambda w, b: known @ w, weights, batch=given).examples == 0
    found = seen(lambda w, b: (b["x"] @ weights) * w, 1.0, batch=given)
    assert (found.examples, found.parameters) == (7, 3 * 2 + 1)


def test_a_narrow_product_is_seen_inside_a_call():
    def narrow(w, b):
        return jax.jit(lambda x: x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16))(b["x"])

    found = seen(narrow, jnp.ones((3, 2)), batch={"x": jnp.ones((7, 3))})
    assert found.product_dtypes == ("bfloat16",)


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
    seen = audit.replay(Guess(values.__getitem__), [None, None], 7)
    assert (seen.once, seen.twice) == (8.0, 9.0)
    assert (seen.other_seed, seen.other_seed_twice) == found


def test_a_process_that_has_not_used_a_gpu_is_not_made_to_look_for_one(monkeypatch):
    asked = []
    cuda = SimpleNamespace(is_initialized=lambda: False, synchronize=lambda: asked.append("synchronize"))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    leftover.drain()
    assert asked == []
    cuda.is_initialized = lambda: True
    leftover.drain()
    assert asked == ["synchronize"]
