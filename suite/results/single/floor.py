"""A lower bound of a step's time on any machine: what it must compute and move, at unreachable rates.

The rates are bounds, not estimates, so no honest result is ever below the floor.
"""

from suite.results.records.record import Record
from suite.workload import Description

_BYTES = 4  # of a stored number; parameters stay float32 at every precision

# FLOP/s of one core: two units for 16 multiply-adds in a cycle of 6 GHz; for bfloat16 a matrix unit of 1024.
_CORE_FLOP = {"float32-highest": 4e11, "framework-default": 4e11, "tf32": 4e11, "bfloat16": 1.3e13}
_CORE_BYTES = 8e11  # bytes/s from and to its first-level cache: two reads of 64 bytes in a cycle of 6 GHz

# FLOP/s and bytes/s of one GPU: twice the specification of the largest ones of 2025, caches included.
_GPU_FLOP = {"float32-highest": 2e14, "framework-default": 5e15, "tf32": 5e15, "bfloat16": 1e16}
_GPU_BYTES = 4e13

# A convolution may need fewer multiplications: Winograd's of 3x3 on tiles of 4x4 needs a quarter.
_FEWER = {"dense": 1, "text": 1, "data parallel": 1}
_FEWER_IN_CONVOLUTIONS = 4


def floor_seconds(record: Record) -> float:
    """Return a lower bound of the seconds of a step of the record's case."""
    case, about = record.case, record.description
    units = case.devices if case.backend == "gpu" else max(record.machine.cores, 1)
    flop_rate = (_GPU_FLOP if case.backend == "gpu" else _CORE_FLOP)[case.precision] * units
    byte_rate = (_GPU_BYTES if case.backend == "gpu" else _CORE_BYTES) * units
    fewer = _FEWER.get(about.family, _FEWER_IN_CONVOLUTIONS)
    flop = case.batch * about.flop_per_example / fewer
    return max(flop / flop_rate, _moved_bytes(record) / byte_rate)


def _moved_bytes(record: Record) -> int:
    """Return the bytes that a training step must move: each parameter read and written.

    0 for inference, which may skip parameters, such as the embeddings of other words.
    """
    about = record.description
    dense = about.family in ("dense", "convolution", "residual")
    return 2 * _BYTES * about.trainable_parameters if trained(about) and dense else 0


def trained(about: Description) -> bool:
    """Return whether a step updates the parameters."""
    return about.flop_per_example > about.forward_flop_per_example
