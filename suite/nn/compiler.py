"""Compiler options that pay, guarded by backend and version."""

from jaxlib import version as jaxlib_version


def options(backend: str) -> dict[str, str | bool]:
    """Return XLA's compile options for the backend and the installed jaxlib."""
    version = tuple(int(part) for part in jaxlib_version.__version__.split(".")[:2])
    if backend == "cpu" and version < (0, 11):
        # 0.10.2 sends convolutions to a slow path; this keeps that path for dots alone.
        return {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"}
    return {}
