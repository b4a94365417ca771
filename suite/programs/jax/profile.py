"""What the GPU did during a call, read from the trace of JAX's profiler.

CUPTI writes a line for each stream of the GPU: its kernels, those of CUDA graphs one by one, its copies and memory
sets. All of them keep the GPU busy. Other lines hold nothing that runs on it, such as CUPTI's own overhead, or repeat
the kernels by operation and module.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import jax

from suite.worker_api.program import Interval

DEVICE, STREAM = "/device:GPU:", "Stream #"  # how the names of planes and lines begin
HOST_LEVEL = 0  # the host's own events would slow its dispatch and tell nothing of the GPU
_NS = 1e-9


def device_intervals(run: Callable[[], object]) -> list[Interval]:
    """Call `run` under the profiler; return start and end, in seconds, of all that the GPU's streams did.

    Raises RuntimeError if the trace has no GPU, or nothing on its streams.
    """
    options = jax.profiler.ProfileOptions()
    options.host_tracer_level, options.python_tracer_level, options.enable_hlo_proto = HOST_LEVEL, 0, False
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder, profiler_options=options):
            run()
        planes = [plane for file in Path(folder).rglob("*.xplane.pb")
                  for plane in jax.profiler.ProfileData.from_file(str(file)).planes]  # fmt: skip
        return list(intervals(planes))


def intervals(planes: Iterable[Any]) -> Iterator[Interval]:
    """Yield the intervals of the streams of a trace's GPUs, in seconds. Raises RuntimeError as above."""
    planes = list(planes)
    lines = [line for plane in planes if plane.name.startswith(DEVICE) for line in plane.lines]
    streams = [line for line in lines if line.name.startswith(STREAM)]
    events = [event for line in streams for event in line.events if event.duration_ns > 0]
    if not events:
        names = ", ".join(part.name for part in lines or planes) or "nothing"
        raise RuntimeError(
            f"the profiler's trace has no GPU stream with work on it, only: {names}; check that CUPTI is installed and "
            "that this user may profile"
        )
    for event in events:
        yield event.start_ns * _NS, (event.start_ns + event.duration_ns) * _NS
