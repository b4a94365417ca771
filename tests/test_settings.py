"""Settings that differ between two runs are named, those that say nothing of speed are not."""

import pytest

from suite.results.records.machine import bearing, differing

CLIENT = "XLA_PYTHON_CLIENT_USE_TFRT_GPU_CLIENT"


@pytest.mark.parametrize(
    ("one", "other", "names"),
    [
        ({}, {}, ()),
        ({CLIENT: "1"}, {CLIENT: "1"}, ()),
        ({CLIENT: "1"}, {CLIENT: "0"}, (CLIENT,)),
        ({}, {CLIENT: "1"}, (CLIENT,)),
        ({"XLA_FLAGS": "--a", CLIENT: "1"}, {"XLA_FLAGS": "--b"}, ("XLA_FLAGS", CLIENT)),
        ({"MALLOC_MMAP_MAX_": "0"}, {}, ("MALLOC_MMAP_MAX_",)),
        ({"xla_gpu_force_conv_nchw": "True"}, {}, ("xla_gpu_force_conv_nchw",)),
    ],
)
def test_what_one_has_set_otherwise_or_alone_differs(one, other, names):
    assert differing(one, other) == differing(other, one) == names


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("JAX_PLATFORMS", "cuda"),
        ("CUDA_VISIBLE_DEVICES", "1"),
        ("JAX_COMPILATION_CACHE_DIR", "set"),
        ("KERAS_BACKEND", "tensorflow"),
        ("TF_CLI_CONFIG_FILE", "set"),
    ],
)
def test_what_follows_from_the_case_or_bears_on_no_speed_is_left_out(name, value):
    assert differing({name: value}, {}) == differing({name: value}, {name: "other"}) == ()


def test_what_an_implementation_tells_counts_where_it_is_told():
    assert differing({"jax_devices": "1"}, {"jax_devices": "2"}) == ("jax_devices",)
    assert differing({"jax_devices": "1"}, {"torch_threads": "2"}, {}) == ()
    assert differing({"jax_devices": "1"}, {}, {"jax_devices": "2"}) == ("jax_devices",)


def test_one_of_many_that_differs_is_enough():
    assert differing(*[{CLIENT: "1"}] * 9, {}) == (CLIENT,)
    assert differing({CLIENT: "1"}) == differing() == ()


def test_the_settings_that_bear_on_speed_are_those_that_may_differ():
    told = {"KERAS_BACKEND": "tensorflow", CLIENT: "1", "MALLOC_MMAP_MAX_": "0", "jax_devices": "2"}
    assert list(bearing(told).items()) == [("MALLOC_MMAP_MAX_", "0"), (CLIENT, "1"), ("jax_devices", "2")]
