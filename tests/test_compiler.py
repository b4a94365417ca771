"""Compiler options are those that were measured for the backend, the machine and the version, and change no number."""

import platform
import re
from collections.abc import Callable
from typing import get_args

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import synthetic
from jax import lax
from jaxlib import version as jaxlib_version

from suite import models
from suite.case import Case, Precision
from suite.nn import compiler, dense
from suite.nn.conv import conv_general_dilated
from suite.programs.jax.program import JaxProgram
from suite.workload import CpuKernels, GpuGraph, GpuLayout

KERNELS = get_args(CpuKernels)
BATCH = 4
NHWC = ("NHWC", "HWIO", "NHWC")
needs_onednn = pytest.mark.skipif(
    not compiler.cpu_options("onednn", BATCH).get("xla_cpu_use_onednn"), reason="needs oneDNN's kernels"
)


@pytest.mark.parametrize("layout", get_args(GpuLayout))
@pytest.mark.parametrize("graph", get_args(GpuGraph))
def test_the_options_of_a_gpu_are_known_to_this_jaxlib(graph: str, layout: str) -> None:
    lowered = jax.jit(lambda x: x + 1).lower(np.ones(3, np.float32))
    lowered.compile(compiler.gpu_options(graph, layout))  # every jaxlib knows all options, and refuses unknown ones
    with pytest.raises(jax.errors.JaxRuntimeError, match="not a valid enum value"):
        lowered.compile({"xla_gpu_enable_command_buffer": "BOGUS"})


def prepared(monkeypatch: pytest.MonkeyPatch, graph: str) -> JaxProgram:
    """Return the lowered step of a network with dropout, which a CUDA graph would hold."""
    case = Case(workload="mnist_cnn", backend="cpu", scope="step", batch=4)
    workload, rng = models.load(case.workload), np.random.default_rng(0)
    program = JaxProgram(workload, case)
    program.initialise(0)
    pictures, labels = rng.integers(0, 256, (4, 28, 28, 1), np.uint8), rng.integers(0, 10, 4)
    program.put([synthetic.pictured(workload.preparation, pictures, labels)])
    program.lower()
    monkeypatch.setattr(program, "_options", lambda: compiler.gpu_options(graph))
    return program


def losses(monkeypatch: pytest.MonkeyPatch, graph: str, cached: bool) -> tuple[list[float], int]:
    """Return the losses of two steps, and how many programs were compiled."""
    program = prepared(monkeypatch, graph)
    before, compiled = jax.config.jax_enable_compilation_cache, program.compilations()
    try:
        jax.config.update("jax_enable_compilation_cache", cached)
        program.compile()
    finally:
        jax.config.update("jax_enable_compilation_cache", before)
    seen = []
    for _ in range(2):
        program.chain(1)
        seen.append(program.loss())
    return seen, program.compilations() - compiled


@pytest.mark.parametrize(
    ("precision", "layout"), [("float32-highest", "channels-first"), ("tf32", "xla"), ("bfloat16", "xla")]
)
def test_convolutions_have_their_channels_first_in_full_float32_alone(precision: Precision, layout: str) -> None:
    case = Case(workload="cifar10_resnet63", backend="gpu", scope="step", batch=64, precision=precision)
    program = object.__new__(JaxProgram)  # a real one wants the GPU at once
    program._workload, program._case = models.load(case.workload), case
    assert program._options() == compiler.gpu_options(program._workload.gpu_graph, layout)


@pytest.mark.parametrize("graph", get_args(GpuGraph))
def test_kernels_are_loaded_for_a_graph_that_may_come_from_a_cache(monkeypatch: pytest.MonkeyPatch, graph: str) -> None:
    plain, once = losses(monkeypatch, "xla", cached=False)
    seen, compiled = losses(monkeypatch, graph, cached=True)
    assert seen == plain, "loading the kernels left its mark on the state"
    assert compiled == (once if graph == "xla" else once + 1)


@pytest.mark.parametrize(
    ("graph", "cached", "lacking"),
    [("whole", False, [True, False]), ("whole", True, [False, False]), ("xla", False, [False, False])],
)
def test_a_graph_lacks_kernels_until_it_is_compiled_after_a_step_or_its_kernels_are_loaded(
    monkeypatch: pytest.MonkeyPatch, graph: str, cached: bool, lacking: list[bool]
) -> None:
    program, before = prepared(monkeypatch, graph), jax.config.jax_enable_compilation_cache
    seen = []
    try:
        jax.config.update("jax_enable_compilation_cache", cached)
        for _ in range(2):
            program.compile()
            seen.append(program.lacks_kernels())
            program.chain(1)
    finally:
        jax.config.update("jax_enable_compilation_cache", before)
    assert seen == lacking
    known = {"jax_graph_lacks_kernels": False} if graph == "whole" else {}
    assert {name: value for name, value in program.settings().items() if "lacks" in name} == known


def test_an_old_jaxlib_keeps_convolutions_off_the_slow_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jaxlib_version, "__version__", "0.10.2")
    for kernels in KERNELS:
        assert set(compiler.cpu_options(kernels, BATCH).values()) == {"LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"}


def test_a_machine_nobody_has_measured_gets_no_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jaxlib_version, "__version__", "0.12.0")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert [compiler.cpu_options(kernels, BATCH) for kernels in KERNELS] == [{}] * len(KERNELS)


def test_one_example_has_its_product_of_vectors_in_the_loop_of_the_update(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jaxlib_version, "__version__", "0.12.0")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert compiler.cpu_options("ynn", 1) == compiler.cpu_options("xla", 1) != compiler.cpu_options("ynn", 2)
    assert compiler.cpu_options("onednn", 1) == compiler.cpu_options("onednn", 2)


def test_a_convolution_and_its_gradients_are_the_same_with_all_kernels() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(BATCH, 8, 8, 64)).astype(np.float32)
    kernel = rng.normal(size=(3, 3, 64, 64)).astype(np.float32) / 24

    def loss(x: jax.Array, kernel: jax.Array) -> jax.Array:
        return (jnp.maximum(conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=NHWC), 0) ** 2).mean()

    lowered = jax.jit(jax.value_and_grad(loss, argnums=(0, 1))).lower(x, kernel)
    plain, *others = (
        jax.tree.leaves(lowered.compile(compiler.cpu_options(kernels, BATCH))(x, kernel)) for kernels in KERNELS
    )
    for other in others:
        for ours, wanted in zip(other, plain, strict=True):
            np.testing.assert_allclose(ours, wanted, rtol=1e-4, atol=1e-6)


@needs_onednn
def test_every_convolution_within_a_loop_is_onednns() -> None:
    x, first, second = (np.zeros(shape, np.float32) for shape in ((32, 31, 31, 32), (3, 3, 32, 32), (3, 3, 32, 32)))

    def loss(kernels: tuple[jax.Array, jax.Array]) -> jax.Array:
        y: jax.Array | np.ndarray = x
        for kernel in kernels:
            y = jnp.maximum(conv_general_dilated(y, kernel, (1, 1), "VALID", dimension_numbers=NHWC), 0)
        return y.mean()

    def step(kernels: tuple, _: None) -> tuple[tuple, None]:
        return jax.tree.map(lambda kernel, gradient: kernel - gradient, kernels, jax.grad(loss)(kernels)), None

    loop = jax.jit(lambda kernels: jax.lax.scan(step, kernels, length=4))
    text = loop.lower((first, second)).compile(compiler.cpu_options("onednn", BATCH)).as_text()
    assert text.count("__onednn$convolution") >= 3
    assert " convolution(" not in text


@needs_onednn
def test_the_mean_over_a_picture_takes_no_convolutions_along_where_onednn_works_alone() -> None:
    rng = np.random.default_rng(0)
    wide, narrow = rng.normal(size=(512, 128)).astype(np.float32), rng.normal(size=(128, 512)).astype(np.float32)
    kernel = rng.normal(size=(3, 3, 128, 128)).astype(np.float32)

    def infer(x: jax.Array) -> jax.Array:
        y = jnp.maximum(x @ wide, 0)
        y = jnp.maximum(conv_general_dilated(y, kernel, (1, 1), "SAME", dimension_numbers=NHWC), 0)
        return jnp.maximum(x + y @ narrow, 0).mean((1, 2))

    lowered = jax.jit(infer).lower(np.zeros((1, 14, 14, 512), np.float32))
    beside, alone = (
        lowered.compile(compiler.cpu_options(kernels, 1)).as_text() for kernels in ("onednn", "onednn-alone")
    )
    assert "ynn_fusion" in beside, "there is nothing to keep away any more"
    assert "ynn_fusion" not in alone
    assert alone.count("__onednn$convolution") == 1
    assert alone.count("__onednn$matmul") == 2


@pytest.mark.skipif(
    "ELTWISE" not in str(compiler.cpu_options("ynn", BATCH)), reason="needs YNN's updates; jaxlib 0.10 copies kernels"
)
def test_the_update_of_a_dense_layer_is_part_of_its_product_and_copies_no_kernel() -> None:
    kernels = tuple(np.zeros(shape, np.float32) for shape in ((768, 640), (640, 256), (256, 10)))

    def moved_whole(dot: Callable[..., jax.Array]) -> set[str]:
        """Return what the compiled step does to all of a large kernel or its gradient, beside the update."""

        def loss(kernels: tuple[jax.Array, ...], x: jax.Array) -> jax.Array:
            for kernel in kernels:
                x = jnp.maximum(dot(x, kernel, (((1,), (0,)), ((), ()))), 0)
            return x.mean()

        def step(kernels: tuple[jax.Array, ...], x: jax.Array) -> tuple[jax.Array, ...]:
            return jax.tree.map(lambda kernel, gradient: kernel - gradient / 100, kernels, jax.grad(loss)(kernels, x))

        lowered = jax.jit(step, donate_argnums=0).lower(kernels, np.zeros((32, 768), np.float32))
        text = lowered.compile(compiler.cpu_options("ynn", 32)).as_text().partition("ENTRY")[2]
        return set(re.findall(r"f32\[(?:768,640|640,256)\]\S* (copy|dot)\(", text))

    assert moved_whole(lax.dot_general) == {"copy", "dot"}, "XLA does it by itself now"
    assert moved_whole(dense.dot_general) == set()
