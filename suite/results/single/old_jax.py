"""The last JAX for Python 3.11: on a CPU it is so slow, most of all at convolutions, that it flatters any GPU."""

from collections.abc import Mapping

from suite.results.records.record import Record

_QUICK_ON_A_CPU = (0, 11)  # from this JAX on


def slow_on_a_cpu(packages: Mapping[str, str]) -> str:
    """Return that the JAX among these versions is slow on a CPU, and what helps; '' if it is not."""
    version = packages.get("jax", "")
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if len(numbers) < 2 or numbers >= _QUICK_ON_A_CPU:
        return ""
    return (
        f"JAX {version} is the last for Python 3.11, slow on a CPU, at convolutions above all; the one for a "
        "newer Python is not: install Python 3.13, which nox takes when it is there, or name one in SUITE_PYTHON"
    )


def slow(record: Record) -> str:
    """Return that a record is of such a JAX on a CPU, and what helps; '' if it is not."""
    jax_on_a_cpu = (record.case.implementation, record.backend) == ("jax", "cpu")
    return slow_on_a_cpu(record.software.packages) if jax_on_a_cpu else ""
