"""Compiler options that pay, guarded by backend and version.

From jaxlib 0.11 on XLA has several sets of CPU kernels; which is fastest was measured per workload on 2 to 16 cores.
On a GPU it can put a step into a CUDA graph, which is launched at once: by default without its convolutions, which then
cut the graph into pieces. Measured per workload on an H100. Products stay Triton's where XLA finds them faster than
cuBLAS's: choosing takes a first start 8 to 43 s, and without them steps are up to 5 % slower, an LSTM's up to 90 %.
"""

import platform

from jaxlib import version as jaxlib_version

_X86 = ("x86_64", "AMD64")  # oneDNN and YNN were measured there alone
_YNN = "xla_cpu_experimental_ynn_fusion_type"
_ONEDNN: dict[str, str | bool] = {"xla_cpu_use_onednn": True, "xla_cpu_experimental_onednn_custom_call": True}
_CPU: dict[str, dict[str, str | bool]] = {
    "xla": {},
    # Without the reductions whole steps get slower: then oneDNN's calls break the loops in which XLA would do them.
    "onednn": _ONEDNN | {_YNN: "LIBRARY_FUSION_TYPE_REDUCE,LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"},
    # YNN's mean over a picture takes the half of a network before it along, convolutions too; oneDNN packs products of
    # weights that are held, as it does convolutions of them.
    "onednn-alone": _ONEDNN | {_YNN: ""},
    "ynn": {_YNN: "LIBRARY_FUSION_TYPE_DOT,LIBRARY_FUSION_TYPE_ELTWISE,LIBRARY_FUSION_TYPE_REDUCE"},
}
# One example's weight gradient is the product of two vectors, which XLA leaves in the loop that updates the weights.
# YNN takes it out, as a product of matrices: a step of 12 million weights then takes three times as long.
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
_LAYOUT: dict[str, dict[str, str | bool]] = {"xla": {}, "channels-first": {"xla_gpu_force_conv_nchw": True}}


def cpu_options(kernels: str, batch: int) -> dict[str, str | bool]:
    """Return XLA's compile options for a set of CPU kernels, the examples of a step and the installed jaxlib."""
    if not has_kernel_sets():
        # 0.10.2 sends convolutions to a slow path; this keeps that path for dots alone.
        return {_YNN: "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"}
    kernels = _OF_ONE_EXAMPLE.get(kernels, kernels) if batch == 1 else kernels
    return _CPU[kernels] if has_onednn() else {}


def has_onednn() -> bool:
    """Return whether the installed jaxlib's CPU kernels can be oneDNN's on this machine."""
    return has_kernel_sets() and platform.machine() in _X86


def has_kernel_sets() -> bool:
    """Return whether the installed jaxlib has several sets of CPU kernels to choose from."""
    return tuple(int(part) for part in jaxlib_version.__version__.split(".")[:2]) >= (0, 11)


def gpu_options(graph: str, layout: str = "xla") -> dict[str, str | bool]:
    """Return XLA's compile options for what a CUDA graph holds, and for the layout of convolutions.

    A graph holds XLA's choice, the whole step, or that side by side. XLA gives cuDNN pictures with their channels last,
    whose kernels for full float32 take them first and turn each picture around before and after.
    """
    return _GPU[graph] | _LAYOUT[layout]


def holds_convolutions(options: dict[str, str | bool]) -> bool:
    """Return whether a CUDA graph holds the convolutions too."""
    return "CONVOLUTION" in str(options.get(_GRAPH))
