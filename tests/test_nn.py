"""The fast forms of suite/nn give the values and gradients of the plain ones, in float64."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen, nnx
from jax import lax

from suite.nn import dense, dropout
from suite.nn.compiler import cpu_options
from suite.nn.conv import conv_general_dilated, weight_gradient
from suite.nn.elementwise import mean_of_channels, relu
from suite.nn.layers import Embedding
from suite.nn.lrn import ALPHA, BETA, RADIUS, local_response_norm
from suite.nn.pool import max_pool_2x2, max_pool_3x3
from suite.programs.jax.jaxpr_cost import product_flop

SAME = ((1, 1), (1, 1))
NHWC = ("NHWC", "HWIO", "NHWC")


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def values(*shape, seed=0):
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape))


def few_values(*shape):
    """Return numbers so few that most windows hold the largest of theirs several times."""
    return jnp.asarray(np.random.default_rng(0).integers(0, 3, shape), jnp.float64)


def agree(fast, plain, *arguments):
    """Assert that both give the same values, and the same gradients for a random gradient of their result."""
    out, back = jax.vjp(fast, *arguments)
    wanted, wanted_back = jax.vjp(plain, *arguments)
    np.testing.assert_allclose(out, wanted, rtol=1e-12, atol=1e-12)
    towards = values(*wanted.shape, seed=1)
    for found, right in zip(back(towards), wanted_back(towards), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-11, atol=1e-11)


def plain_pool_2x2(x):
    return linen.max_pool(x, (2, 2), (2, 2), "VALID")


def plain_pool_3x3(x):
    return linen.max_pool(x, (3, 3), (2, 2), "SAME")


def plain_norm(x):
    window = (1,) * (x.ndim - 1) + (2 * RADIUS + 1,)
    sums = lax.reduce_window(x * x, jnp.zeros([], x.dtype), lax.add, window, (1,) * x.ndim, "SAME")
    return x / (1 + ALPHA * sums) ** BETA


def plain_conv(x, kernel, stride, padding):
    return lax.conv_general_dilated(x, kernel, (stride, stride), padding, dimension_numbers=NHWC)


@pytest.mark.parametrize("sides", [(6, 8), (7, 6), (6, 7), (7, 9)])
@pytest.mark.parametrize("content", [values, few_values])
def test_the_2x2_max_pool_is_the_plain_one(sides, content):
    agree(max_pool_2x2, plain_pool_2x2, content(2, *sides, 3))


@pytest.mark.parametrize("content", [values, few_values])
def test_the_3x3_max_pool_is_the_plain_one(content):
    agree(max_pool_3x3, plain_pool_3x3, content(2, 6, 8, 3))


def test_a_3x3_max_pool_of_odd_sides_is_an_error():
    with pytest.raises(ValueError, match="even sides asked for, found 7x6"):
        max_pool_3x3(values(2, 7, 6, 3))


@pytest.mark.parametrize("content", [values, few_values])
def test_relu_is_the_plain_one(content):
    agree(relu, jax.nn.relu, content(2, 3, 4, 5) - 1)


@pytest.mark.parametrize("channels", [3, 9, 64])
def test_local_response_normalisation_is_the_plain_one(channels):
    agree(local_response_norm, plain_norm, 30 * values(2, 3, 4, channels))


@pytest.mark.parametrize(
    ("shape", "features", "kernel", "stride", "padding"),
    [
        ((4, 9, 10, 64), 64, 3, 1, "SAME"),
        ((4, 8, 8, 64), 128, 3, 2, "SAME"),
        ((4, 9, 10, 3), 64, 3, 1, "VALID"),
        ((4, 9, 10, 64), 64, 3, 1, "VALID"),
        ((4, 8, 8, 3), 64, 5, 1, "SAME"),
        ((4, 8, 8, 64), 64, 5, 1, "SAME"),
        ((4, 9, 9, 1), 32, 3, 1, "VALID"),
        ((3, 9, 10, 32), 64, 3, 1, "VALID"),
        ((3, 8, 8, 128), 128, 3, 1, "SAME"),
        ((2, 5, 10, 144), 128, 3, 1, "VALID"),
    ],
)
def test_a_convolution_has_the_gradients_of_the_plain_one(shape, features, kernel, stride, padding):
    def fast(x, k):
        return conv_general_dilated(x, k, (stride, stride), padding, dimension_numbers=NHWC)

    def plain(x, k):
        return plain_conv(x, k, stride, padding)

    agree(fast, plain, values(*shape), values(kernel, kernel, shape[-1], features, seed=2))


@pytest.mark.parametrize(
    ("padding", "dilation"),
    [
        (((2, 0), (0, 3)), {}),
        (((5, 5), (4, 4)), {}),
        (((1, 1), (1, 1)), {"rhs_dilation": (2, 2)}),
        (((1, 1), (1, 1)), {"lhs_dilation": (2, 1), "rhs_dilation": (1, 1)}),
    ],
    ids=["uneven edges", "edges wider than the kernel", "a dilated kernel", "dilated pictures"],
)
@pytest.mark.parametrize(("channels", "features"), [(16, 8), (144, 128)])
def test_a_convolution_of_another_form_has_the_gradients_of_the_plain_one(channels, features, padding, dilation):
    def of(convolution):
        return lambda x, k: convolution(x, k, (1, 1), padding, dimension_numbers=NHWC, **dilation)

    x, kernel = values(4, 9, 10, channels), values(3, 3, channels, features, seed=2)
    agree(of(conv_general_dilated), of(lax.conv_general_dilated), x, kernel)


def test_many_channels_take_a_quarter_of_the_multiplications_and_few_take_all():
    def share(channels, dtype=jnp.float32):
        x = jax.ShapeDtypeStruct((64, 8, 8, channels), dtype)
        taken = jax.make_jaxpr(partial(weight_gradient.__wrapped__, window=(3, 3), pads=SAME))(x, x)
        return product_flop(taken.jaxpr) / (2 * x.size * 9 * channels)

    assert share(64) == share(128, jnp.bfloat16) == 1
    assert 0.25 < share(128) < 0.26  # the sums that end in the kernel's nine places too


def test_the_weight_gradient_of_many_channels_is_exact_to_float32():
    x, gradient = values(16, 16, 16, 128), values(16, 16, 16, 128, seed=2)
    x, gradient = x.astype(jnp.float32), gradient.astype(jnp.float32)
    exact = weight_gradient(x.astype(jnp.float64)[..., :64], gradient.astype(jnp.float64), (3, 3), SAME)
    found = weight_gradient(x, gradient, (3, 3), SAME)[:, :, :64]
    assert jnp.linalg.norm(found.astype(jnp.float64) - exact) < 2e-6 * jnp.linalg.norm(exact)


@pytest.mark.parametrize("examples", [1, 2, 128, 129])
@pytest.mark.parametrize("options", [{}, {"precision": lax.Precision.HIGHEST, "out_sharding": None}])
def test_a_dense_layer_has_the_gradients_of_the_plain_one(examples, options):
    numbers = (((1,), (0,)), ((), ()))
    fast = lambda x, kernel: dense.dot_general(x, kernel, numbers, **options)  # noqa: E731
    agree(fast, lambda x, kernel: x @ kernel, values(examples, 24), values(24, 10, seed=2))


def test_a_dense_layer_of_more_axes_is_the_plain_one():
    fast = lambda x, kernel: dense.dot_general(x, kernel, (((2,), (0,)), ((), ())))  # noqa: E731
    agree(fast, lambda x, kernel: x @ kernel, values(4, 3, 24), values(24, 10, seed=2))


def test_a_dense_layer_of_what_is_given_computes_no_gradient_towards_it():
    given, kernel = values(4, 24), values(24, 10, seed=2)
    fast = lambda kernel: dense.dot_general(given, kernel, (((1,), (0,)), ((), ()))).sum()  # noqa: E731
    assert str(jax.make_jaxpr(jax.grad(fast))(kernel)).count("dot_general") == 2
    stacked = jax.vmap(jax.grad(fast))(jnp.stack([kernel, 2 * kernel]))
    np.testing.assert_allclose(stacked[1], given.sum(0)[:, None] * np.ones((1, 10)), rtol=1e-12)


@pytest.mark.parametrize("rate", [0.2, 0.25, 0.5])
@pytest.mark.parametrize("shape", [(7,), (3, 5), (4, 12, 12, 8)])
def test_dropout_has_the_mask_of_the_plain_one(rate, shape):
    with jax.enable_x64(False):
        x = jnp.ones(shape, jnp.float32)
        ours, plain = (kind(rate, rngs=nnx.Rngs(3)) for kind in (dropout.Dropout, nnx.Dropout))
        for _ in range(2):  # another mask each time
            np.testing.assert_array_equal(ours(x), plain(x))
        text = jax.jit(lambda key: dropout.bernoulli(key, 1 - rate, shape)).lower(jax.random.key(0)).as_text()
        assert "while" not in text


@pytest.mark.parametrize("change", ["evaluation", "no rate", "all", "options"])
def test_dropout_is_the_plain_one_where_there_is_no_mask_to_draw(change):
    x, rate = values(3, 5), {"no rate": 0.0, "all": 1.0}.get(change, 0.5)
    ours, plain = (kind(rate, rngs=nnx.Rngs(3)) for kind in (dropout.Dropout, nnx.Dropout))
    if change == "evaluation":
        ours.eval()
        plain.eval()
    options = {"deterministic": True} if change == "options" else {}
    np.testing.assert_array_equal(ours(x, **options), plain(x, **options))


def test_dropout_with_keys_of_another_generator_is_the_plain_one():
    with jax.enable_x64(False):
        key = jax.random.key(3, impl="rbg")
        np.testing.assert_array_equal(dropout.bernoulli(key, 0.8, (3, 5)), jax.random.bernoulli(key, 0.8, (3, 5)))


@pytest.mark.parametrize("kernels", ["onednn", "xla"])
def test_statistics_of_many_numbers_are_exact_to_float32(kernels):
    x = np.random.default_rng(0).normal(1, 1, (64, 32, 32, 4)).astype(np.float32)
    wanted = x.astype(np.float64).mean((0, 1, 2))
    compiled = jax.jit(mean_of_channels).lower(x).compile(cpu_options(kernels, len(x)))
    np.testing.assert_allclose(compiled(x), wanted, rtol=5e-7)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
def test_the_gradients_of_a_row_are_summed_in_float32_at_least(dtype):
    with jax.enable_x64(True):
        layer, tokens = Embedding(2, 1), jnp.zeros(1000, jnp.int32)
        layer.embedding.set_value(jnp.ones((2, 1), dtype))
        gradient = nnx.grad(lambda layer: layer(tokens).sum())(layer).embedding.get_value()
    assert gradient.dtype == dtype
    assert gradient[:, 0].tolist() == [1000, 0]


def test_rows_keep_all_their_digits():
    with jax.enable_x64(True):
        layer = Embedding(1, 1)
        layer.embedding.set_value(jnp.full((1, 1), 1 / 3, jnp.float64))
        assert float(layer(jnp.zeros(1, jnp.int32))[0, 0]) == 1 / 3
