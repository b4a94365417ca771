"""How fast a host is just before a process on the CPU: what two fixed kernels reach on all granted cores."""

import math
import os
import re

import msgspec

from suite.processes import children
from suite.results.records.run import ReferenceKernel
from suite.system.counters import control_groups
from suite.system.load import granted_cores
from suite.system.machine import cpu_quota_cores
from suite.worker_api.clock import Clock

_LIMIT_SECONDS = 20.0  # a host that takes longer has none
# What a user asks of a BLAS or an allocator would make hosts differ that do not.
_THEIRS = re.compile(
    r"^(OMP|GOMP|KMP|OPENBLAS|GOTO|MKL|BLIS|NVPL|ARMPL|VECLIB|NUMEXPR|MALLOC)_|^(GLIBC_TUNABLES|LD_PRELOAD)$"
)


def measured(limit_seconds: float = _LIMIT_SECONDS, module: str = "suite.telemetry.kernel") -> ReferenceKernel:
    """Return what the kernels reach now on all granted cores.

    Raises RuntimeError if they fail, or take longer than the limit.
    """
    clock, threads, python = Clock().wall, granted_threads(), children.interpreter("jax")  # which has NumPy
    began = clock()
    try:
        with children.child(module, str(threads), python=python, env=environment(threads)) as child:
            line = child.line(limit_seconds)
            if line is None:
                raise RuntimeError(f"the reference kernels' process {child.ended()}")
            said = msgspec.json.decode(line, type=ReferenceKernel)
    except TimeoutError:
        raise RuntimeError(f"the reference kernels took more than {limit_seconds:.0f} s") from None
    except (OSError, msgspec.MsgspecError) as error:
        raise RuntimeError(f"the reference kernels failed: {error}") from None
    rates = said.matmul_flop_per_second, said.copy_bytes_per_second
    if not all(0 < rate < math.inf for rate in rates):
        raise RuntimeError(f"the reference kernels reached {rates[0]:g} FLOP/s and {rates[1]:g} bytes/s")
    return msgspec.structs.replace(said, seconds=clock() - began)


def granted_threads() -> int:
    """Return how many threads the kernels have: one a granted core, no more than a control group's quota lets run."""
    quota = cpu_quota_cores(control_groups())
    return granted_cores() if quota is None else max(1, min(granted_cores(), math.ceil(quota)))


def environment(threads: int) -> dict[str, str]:
    """Return the child's environment: ours, without what bears on a BLAS, which is told its number of threads."""
    kept = {name: value for name, value in os.environ.items() if not _THEIRS.match(name)}
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
    return kept | dict.fromkeys(names, str(threads))
