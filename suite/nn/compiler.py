"""Compiler options by backend and version.

From jaxlib 0.11 on XLA has several sets of CPU kernels; the fastest was measured per workload on 2 to 16 cores. On a
GPU XLA can put a step into a CUDA graph, launched as one; by default convolutions stay outside and split the graph.
Measured per workload on an H100. Products stay Triton's if XLA finds them faster than cuBLAS's: the choice adds 8 to 43
s to a first start, and without it steps are up to 5 % slower, an LSTM's up to 90 %.
"""

import platform

from jaxlib import version as jaxlib_version

_X86 = ("x86_64", "AMD64")  # oneDNN and YNN were measured on these alone
_YNN = "xla_cpu_experimental_ynn_fusion_type"
_ONEDNN: dict[str, str | bool] = {"xla_cpu_use_onednn": True, "xla_cpu_experimental_onednn_custom_call": True}
_CPU: dict[str, dict[str, str | bool]] = {
    "xla": {},
    # Without the reductions whole steps get slower: oneDNN's calls then split XLA's loops.
    "onednn": _ONEDNN | {_YNN: "LIBRARY_FUSION_TYPE_REDUCE,LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"},
    # YNN's mean over a picture pulls in half of a network, convolutions too. oneDNN packs products and convolutions of
    # constant weights.
    "onednn-alone": _ONEDNN | {_YNN: ""},
    "ynn": {_YNN: "LIBRARY_FUSION_TYPE_DOT,LIBRARY_FUSION_TYPE_ELTWISE,LIBRARY_FUSION_TYPE_REDUCE"},
}
# One example's weight gradient is an outer product, which XLA fuses into the update's loop. YNN takes it out as a
# matrix product: a step of 12 million weights then takes three times as long.
_OF_ONE_EXAMPLE = {"ynn": "xla"}
_GRAPH = "xla_gpu_enable_command_buffer"
_WHOLE = "FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL,CUDNN,DYNAMIC_SLICE_FUSION,CONVOLUTION"
_GPU: dict[str, dict[str, str | bool]] = {
    "xla": {},
    "whole": {_GRAPH: _WHOLE},
    "concurrent": {
        _GRAPH: _WHOLE,
        "xla_gpu_command_buffer_scheduling_mode": "CONCURRENT",
        "xla_gpu_graph_enable_concurrent_region": True,
    },
}
# While a profiler looks, XLA else launches the operations of a graph one by one, none beside another.
PROFILED: dict[str, str | bool] = {"xla_enable_command_buffers_during_profiling": True}
_LAYOUT: dict[str, dict[str, str | bool]] = {"xla": {}, "channels-first": {"xla_gpu_force_conv_nchw": True}}


def cpu_options(kernels: str, batch: int) -> dict[str, str | bool]:
    """Return XLA's compile options for a set of CPU kernels, a batch size and the installed jaxlib."""
    if not has_kernel_sets():
        # 0.10.2 sends convolutions to a slow path; this restricts that path to dots.
        return {_YNN: "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"}
    kernels = _OF_ONE_EXAMPLE.get(kernels, kernels) if batch == 1 else kernels
    return _CPU[kernels] if has_onednn() else {}


def has_onednn() -> bool:
    """Return whether the installed jaxlib has oneDNN's CPU kernels for this machine."""
    return has_kernel_sets() and platform.machine() in _X86


def has_kernel_sets() -> bool:
    """Return whether the installed jaxlib has a choice of CPU kernel sets."""
    return tuple(int(part) for part in jaxlib_version.__version__.split(".")[:2]) >= (0, 11)


def gpu_options(graph: str, layout: str = "xla") -> dict[str, str | bool]:
    """Return XLA's compile options for the contents of a CUDA graph and the layout of convolutions.

    A graph holds XLA's choice, the whole step, or the whole step with branches side by side. XLA gives cuDNN pictures
    with channels last. cuDNN's full float32 kernels take channels first and transpose each picture before and after.
    """
    return _GPU[graph] | _LAYOUT[layout]


def holds_convolutions(options: dict[str, str | bool]) -> bool:
    """Return whether a CUDA graph holds the convolutions too."""
    return "CONVOLUTION" in str(options.get(_GRAPH))
