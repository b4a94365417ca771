"""The last JAX for Python 3.11 is slow on CPUs, at convolutions above all, and so flatters any GPU."""

from collections.abc import Mapping

from suite.results.records.record import Record

_QUICK_ON_A_CPU = (0, 11)  # first JAX that is fast on a CPU


def slow_on_a_cpu(packages: Mapping[str, str]) -> str:
    """Return a message with remedy if the JAX among these versions is slow on a CPU; '' if it is not."""
    version = packages.get("jax", "")
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if len(numbers) < 2 or numbers >= _QUICK_ON_A_CPU:
        return ""
    return (
        f"JAX {version} is the last for Python 3.11, slow on a CPU, at convolutions above all; the one for a "
        "newer Python is not: install Python 3.13, which nox takes when it is there, or name one in SUITE_PYTHON"
    )


def slow(record: Record) -> str:
    """Return a message with remedy if a record is of such a JAX on a CPU; '' if it is not."""
    jax_on_a_cpu = (record.case.implementation, record.backend) == ("jax", "cpu")
    return slow_on_a_cpu(record.software.packages) if jax_on_a_cpu else ""
