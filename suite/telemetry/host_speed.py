"""The host's speed just before a process on the CPU: the rates of two fixed kernels on all granted cores."""

import math
import os
import re

import msgspec

from suite.processes import children
from suite.results.records.run import ReferenceKernel
from suite.system.counters import control_groups, granted_cores
from suite.system.machine import cpu_quota_cores
from suite.worker_api.clock import Clock

_LIMIT_SECONDS = 20.0  # a slower host gets no reference kernel
# Users' settings of BLAS and allocator would make equal hosts differ.
_USER_SETTINGS = re.compile(
    r"^(OMP|GOMP|KMP|OPENBLAS|GOTO|MKL|BLIS|NVPL|ARMPL|VECLIB|NUMEXPR|MALLOC)_|^(GLIBC_TUNABLES|LD_PRELOAD)$"
)


def measured(limit_seconds: float = _LIMIT_SECONDS, module: str = "suite.telemetry.kernel") -> ReferenceKernel:
    """Return the kernels' rates on all granted cores.

    Raises RuntimeError if they fail or exceed the limit.
    """
    clock, threads, python = Clock().wall, granted_threads(), children.interpreter("jax")  # which has NumPy
    began = clock()
    try:
        with children.child(module, str(threads), python=python, env=environment(threads)) as child:
            line = child.line(limit_seconds)
            if line is None:
                raise RuntimeError(f"the reference kernels' process {child.ended()}")
            kernel = msgspec.json.decode(line, type=ReferenceKernel)
    except TimeoutError:
        raise RuntimeError(f"the reference kernels took more than {limit_seconds:.0f} s") from None
    except (OSError, msgspec.MsgspecError) as error:
        raise RuntimeError(f"the reference kernels failed: {error}") from None
    rates = kernel.matmul_flop_per_second, kernel.copy_bytes_per_second
    if not all(0 < rate < math.inf for rate in rates):
        raise RuntimeError(f"the reference kernels reached {rates[0]:g} FLOP/s and {rates[1]:g} bytes/s")
    return msgspec.structs.replace(kernel, seconds=clock() - began)


def granted_threads() -> int:
    """Return the kernels' number of threads: one for each granted core, at most the control group's quota."""
    quota = cpu_quota_cores(control_groups())
    return granted_cores() if quota is None else max(1, min(granted_cores(), math.ceil(quota)))


def environment(threads: int) -> dict[str, str]:
    """Return the child's environment: this one without BLAS and allocator settings, with the number of threads."""
    kept = {name: value for name, value in os.environ.items() if not _USER_SETTINGS.match(name)}
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
    return kept | dict.fromkeys(names, str(threads))
