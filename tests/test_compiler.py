"""Compiler options are those that were measured for the backend, the machine and the version, and change no number."""

import platform
from typing import get_args

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxlib import version as jaxlib_version

from suite import models
from suite.measure.jax_program import JaxProgram
from suite.nn import compiler
from suite.nn.conv import conv_general_dilated
from suite.workload import Case, CpuKernels, GpuGraph

KERNELS = get_args(CpuKernels)
NHWC = ("NHWC", "HWIO", "NHWC")


@pytest.mark.parametrize("graph", get_args(GpuGraph))
def test_the_options_of_a_gpu_are_known_to_this_jaxlib(graph: str) -> None:
    lowered = jax.jit(lambda x: x + 1).lower(np.ones(3, np.float32))
    lowered.compile(compiler.gpu_options(graph))  # every jaxlib knows all options, and refuses unknown ones
    with pytest.raises(jax.errors.JaxRuntimeError, match="not a valid enum value"):
        lowered.compile({"xla_gpu_enable_command_buffer": "BOGUS"})


@pytest.mark.parametrize("graph", get_args(GpuGraph))
def test_what_a_graph_with_convolutions_holds_comes_from_no_cache(monkeypatch: pytest.MonkeyPatch, graph: str) -> None:
    case = Case(workload="dp_linear_mirrored", backend="cpu", scope="step", batch=10, data="random")
    workload = models.load(case.workload)
    program, draw = JaxProgram(workload, case), workload.draw
    assert draw is not None
    program.initialise(0)
    program.put([draw(np.random.default_rng(0), case.batch)])
    program.lower()
    monkeypatch.setattr(program, "_options", lambda: compiler.gpu_options(graph))
    before = jax.config.jax_enable_compilation_cache
    try:
        jax.config.update("jax_enable_compilation_cache", True)
        program.compile()
        assert jax.config.jax_enable_compilation_cache == (graph == "xla")
    finally:
        jax.config.update("jax_enable_compilation_cache", before)


def test_an_old_jaxlib_keeps_convolutions_off_the_slow_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jaxlib_version, "__version__", "0.10.2")
    for kernels in KERNELS:
        assert set(compiler.cpu_options(kernels).values()) == {"LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"}


def test_a_machine_nobody_has_measured_gets_no_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jaxlib_version, "__version__", "0.12.0")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert [compiler.cpu_options(kernels) for kernels in KERNELS] == [{}, {}, {}]


def test_a_convolution_and_its_gradients_are_the_same_with_all_kernels() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 8, 8, 64)).astype(np.float32)
    kernel = rng.normal(size=(3, 3, 64, 64)).astype(np.float32) / 24

    def loss(x: jax.Array, kernel: jax.Array) -> jax.Array:
        return (jnp.maximum(conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=NHWC), 0) ** 2).mean()

    lowered = jax.jit(jax.value_and_grad(loss, argnums=(0, 1))).lower(x, kernel)
    plain, *others = (jax.tree.leaves(lowered.compile(compiler.cpu_options(kernels))(x, kernel)) for kernels in KERNELS)
    for other in others:
        for ours, wanted in zip(other, plain, strict=True):
            np.testing.assert_allclose(ours, wanted, rtol=1e-4, atol=1e-6)
