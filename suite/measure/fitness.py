"""Whether this machine is fit to measure, and what to do where it is not."""

from dataclasses import dataclass
from typing import Literal

from suite import units
from suite.measure.probe import Offer
from suite.measure.readings import Counters
from suite.results.old_jax import slow_on_a_cpu
from suite.results.record import Gpu, Machine

# Lowest driver and compute capability of each of JAX's CUDA extras.
# Source: JAX documentation, Installation, NVIDIA GPU.
CUDA_EXTRAS = {"cuda13": (580, 7.5), "cuda12": (525, 5.2)}

_GPU_WORDS = {
    "utilisation": "utilisation",
    "power_watts": "power",
    "energy_joules": "energy",
    "sm_clock_mhz": "clocks",
    "reasons": "why they are lowered",
    "temperature_celsius": "temperature",
    "memory_bytes": "memory",
    "other_processes": "other processes",
}
_BUSY_SHARE, _LEAST_MEMORY_BYTES = 0.1, 6 * 2**30


@dataclass(frozen=True, kw_only=True)
class Check:
    """One question to the machine, what was found, and what to do about it."""

    name: str
    found: str
    verdict: Literal["good", "remark", "bad"] = "good"
    advice: str = ""


def cuda_extra(gpu: Gpu) -> str | None:
    """Return the extra that suits a GPU; None if its driver or its architecture is too old for any."""
    major = int(gpu.driver.split(".")[0] or 0) if gpu.driver[:1].isdigit() else 0
    for extra, (driver, capability) in CUDA_EXTRAS.items():
        if major >= driver and float(gpu.compute_capability) >= capability:
            return extra
    return None


def gpu_check(machine: Machine, offer: Offer) -> Check:
    """Return how the GPU stands: used by JAX, there but unusable and why, or not there."""
    name = "GPU"
    if not machine.gpus:
        found = "none that a driver shows"
        advice = "CPU times are measured; speed-ups stand beside published GPUs as 'different host'"
        return Check(name=name, found=found, verdict="remark", advice=advice)
    gpu = machine.gpus[0]
    found = f"{len(machine.gpus)} x '{gpu.name}', driver {gpu.driver}, compute capability {gpu.compute_capability}"
    if "gpu" in offer.backends:
        return Check(name=name, found=found)
    extra = cuda_extra(gpu)
    if extra is None:
        driver, capability = CUDA_EXTRAS["cuda12"]
        advice = f"JAX needs driver {driver} or later and compute capability {capability} or more; update the driver"
        return Check(name=name, found=found, verdict="bad", advice=advice)
    advice = f"JAX sees only {', '.join(offer.backends)}; install the '{extra}' extra: pip install 'jax[{extra}]'"
    return Check(name=name, found=found, verdict="bad", advice=advice)


def missing_backend(backend: str, machine: Machine, offer: Offer, problem: str = "") -> str:
    """Return the line that explains why a backend that was asked for cannot be had; `problem` is why no GPU can."""
    check = gpu_check(machine, offer)
    seen = ", ".join(f"'{name}'" for name in offer.backends) or "nothing"
    cause = f"{check.found}; {check.advice}" if machine.gpus else problem or "no GPU driver answers"
    return f"backend '{backend}' asked for, JAX sees only {seen} ({cause}); or run --backend cpu"


def checks(machine: Machine, offer: Offer, load_by_others: float, there: Counters | None = None) -> tuple[Check, ...]:
    """Return what the doctor has to say, worst things included."""
    slow = slow_on_a_cpu(offer.packages)
    return (
        Check(
            name="JAX",
            found=offer.problem or ", ".join(f"{name} {version}" for name, version in offer.packages.items()),
            verdict="bad" if offer.problem else "remark" if slow else "good",
            advice="install the suite: pip install ." if offer.problem else slow,
        ),
        Check(name="backends", found="; ".join(f"{b}: {', '.join(d)}" for b, d in offer.backends.items()) or "none"),
        gpu_check(machine, offer),
        _cores(machine),
        _load(machine, load_by_others),
        _governor(machine),
        _memory(machine),
        *([] if there is None else [counters_check(machine, there)]),
    )


def counters_check(machine: Machine, there: Counters) -> Check:
    """Return which counters answer, and what a result lacks without the others."""
    gpu = [_GPU_WORDS[name] for name in there.gpu_fields if name in _GPU_WORDS]
    found = ["CPU utilisation"]
    found += ["steal"] if there.steal else []
    found += ["throttled periods of the control group"] if there.throttling else []
    found += [f"GPU: {', '.join(gpu)}"] if gpu else []
    found += ["energy of the CPU packages"] if there.package_energy else []
    lacking = [word for name, word in _GPU_WORDS.items() if machine.gpus and name not in there.gpu_fields]
    missing = [f"of the GPU: {', '.join(lacking)}"] if lacking else []
    if not there.package_energy:
        missing.append("energy of the CPU packages, which often only root may read")
    if machine.gpus and not there.in_cuda_order:
        missing.append("energy of the GPU in use: of unlike GPUs set CUDA_DEVICE_ORDER=PCI_BUS_ID to know which it is")
    advice = f"not shown here, and left empty: {'; '.join(missing)}" if missing else ""
    verdict = "remark" if machine.gpus and not there.gpu_energy else "good"
    return Check(name="counters", found="; ".join(found), verdict=verdict, advice=advice)


def _cores(machine: Machine) -> Check:
    found = f"{machine.cores} of '{machine.cpu_model}'"
    quota = machine.cpu_quota_cores
    if quota is not None and quota < machine.cores:
        advice = (
            f"the control group allows {quota:g}; threads will be throttled: pin to as many cores or lift the quota"
        )
        return Check(name="cores", found=f"{found}, quota {quota:g}", verdict="bad", advice=advice)
    return Check(name="cores", found=found)


def _load(machine: Machine, others: float) -> Check:
    found = f"other processes use {units.number(others, digits=2)} cores"
    if others > _BUSY_SHARE * machine.cores:
        return Check(name="load", found=found, verdict="bad", advice="end them or wait: busy results are not citable")
    return Check(name="load", found=found)


def _governor(machine: Machine) -> Check:
    found = machine.cpu_governor or "not shown"
    if machine.cpu_governor not in (None, "performance"):
        advice = "choose 'performance' for steadier times: cpupower frequency-set -g performance"
        return Check(name="governor", found=found, verdict="remark", advice=advice)
    return Check(name="governor", found=found)


def _memory(machine: Machine) -> Check:
    found = units.memory(machine.memory_bytes)
    if machine.memory_bytes < _LEAST_MEMORY_BYTES:
        return Check(name="memory", found=found, verdict="remark", advice="the larger networks may not fit")
    return Check(name="memory", found=found)
