"""Compiler options that pay, guarded by backend and version.

From jaxlib 0.11 on XLA has three sets of CPU kernels; which is fastest was measured per workload on 4 and on 16 cores.
"""

import platform

from jaxlib import version as jaxlib_version

_X86 = ("x86_64", "AMD64")  # oneDNN and YNN were measured there alone
_YNN = "xla_cpu_experimental_ynn_fusion_type"
_CPU: dict[str, dict[str, str | bool]] = {
    "xla": {},
    # Without the reductions whole steps get slower: then oneDNN's calls break the loops in which XLA would do them.
    "onednn": {
        "xla_cpu_use_onednn": True,
        "xla_cpu_experimental_onednn_custom_call": True,
        _YNN: "LIBRARY_FUSION_TYPE_REDUCE,LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT",
    },
    "ynn": {_YNN: "LIBRARY_FUSION_TYPE_DOT,LIBRARY_FUSION_TYPE_ELTWISE,LIBRARY_FUSION_TYPE_REDUCE"},
}


def options(backend: str, cpu_kernels: str) -> dict[str, str | bool]:
    """Return XLA's compile options for the backend, the kernels wanted on the CPU and the installed jaxlib."""
    if backend != "cpu":
        return {}
    version = tuple(int(part) for part in jaxlib_version.__version__.split(".")[:2])
    if version < (0, 11):
        # 0.10.2 sends convolutions to a slow path; this keeps that path for dots alone.
        return {_YNN: "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"}
    return _CPU[cpu_kernels] if platform.machine() in _X86 else {}
