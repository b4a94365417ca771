"""What a traced step needs is counted in its program; arrays that are not there yet are waited for."""

import jax
import jax.numpy as jnp
import numpy as np

from suite.programs.jax import jaxpr_cost
from suite.results.records.run import JaxprCost
from suite.worker import checks
from suite.worker_api import clock


def flop(function, *arguments):
    return jaxpr_cost.product_flop(jaxpr_cost.needed(jaxpr_cost.opened(jax.make_jaxpr(function)(*arguments))))


X = np.ones((4, 4), np.float32)
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
    return jaxpr_cost.jaxpr_cost(jax.make_jaxpr(function)(*arguments, batch), batch, 0, 1)


def test_a_traced_step_tells_its_parameters_examples_and_the_kinds_of_its_products():
    found = seen(lambda w, b: b["x"] @ w, jnp.ones((3, 2)), batch={"x": jnp.ones((7, 3))})
    assert found == JaxprCost(
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


def test_arrays_that_are_not_there_yet_are_waited_for():
    x = jnp.ones((600, 600))
    slow = jax.jit(lambda x: jax.lax.fori_loop(0, 200, lambda _, y: y @ x / 600, x)).lower(x).compile()
    found = slow(x)
    awaited = checks.watch_until_idle(clock.Clock()).awaited_seconds
    assert found.is_ready()
    looks = [
        checks.watch_until_idle(clock.Clock()).awaited_seconds for _ in range(5)
    ]  # other work may come between one of them
    assert min(looks) < 0.01 < awaited
