"""Whether this machine is fit to measure, and what to do if it is not."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from suite import units
from suite.driver.remedies import remedy
from suite.results.records.machine import Gpu, Machine
from suite.results.single.old_jax import slow_on_a_cpu
from suite.worker_api.protocol import Offer
from suite.worker_api.telemetry_messages import Counters

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
_PLUGIN = re.compile(r"jax-cuda\d+-plugin")  # what the extra installs
_BUSY_SHARE = 0.1


Verdict = Literal["good", "remark", "bad"]


@dataclass(frozen=True, kw_only=True)
class Check:
    """One property of the machine, its value, a verdict and advice."""

    name: str
    found: str
    verdict: Verdict = "good"
    advice: str = ""


def check(name: str, value: str, advice: str = "", verdict: Verdict = "remark") -> Check:
    """Return a check with a verdict if there is advice, else a good one."""
    return Check(name=name, found=value, verdict=verdict if advice else "good", advice=advice)


def cuda_extra(gpu: Gpu) -> str | None:
    """Return the newest CUDA extra that supports a GPU; None if its driver or architecture is too old."""
    major = int(gpu.driver.split(".")[0] or 0) if gpu.driver[:1].isdigit() else 0
    for extra, (driver, capability) in CUDA_EXTRAS.items():
        if major >= driver and float(gpu.compute_capability) >= capability:
            return extra
    return None


def gpu_checks(machine: Machine, offer: Offer, problem: str = "") -> tuple[Check, ...]:
    """Return a check for each kind of GPU here: used by JAX, unusable and why, or missing.

    `problem` says why no GPU can be used although there is a driver.
    """
    if not machine.gpus:
        shown = "none that CUDA may use" if problem else "none that a driver shows"
        reason = offer.reasons.get("gpu", "")
        advice = problem or "CPU times are measured; their speed-ups use published GPUs, marked 'different host'"
        if reason:
            extra = next((extra for extra in CUDA_EXTRAS if extra in reason), next(iter(CUDA_EXTRAS)))
            advice += f"; JAX says: {'; '.join(filter(None, (reason, remedy(reason, f'jax[{extra}]'))))}"
        return (Check(name="GPU", found=shown, verdict="bad" if problem else "remark", advice=advice),)
    kinds = Counter(machine.gpus)
    usable = [gpu for gpu in kinds if cuda_extra(gpu)]
    judged = [(gpu, _judged(gpu, offer, bool(usable))) for gpu in kinds]
    return tuple(
        Check(
            name="GPU" if len(kinds) == 1 else f"GPU {number}",
            found=f"{kinds[gpu]} x '{gpu.name}'{_of_a_card(gpu)}, driver {gpu.driver}, compute capability "
            f"{gpu.compute_capability}",
            verdict=verdict,
            advice=advice,
        )
        for number, (gpu, (verdict, advice)) in enumerate(judged, 1)
    )


def _of_a_card(gpu: Gpu) -> str:
    return f" (a slice of {units.memory(gpu.memory_bytes)})" if gpu.slice else ""


def _judged(gpu: Gpu, offer: Offer, others: bool) -> tuple[Verdict, str]:
    """Return the verdict on a GPU, and advice; `others` says whether another GPU here is usable."""
    driver, capability = CUDA_EXTRAS["cuda12"]
    extra = cuda_extra(gpu)
    if extra is None and others:
        return "remark", (
            f"JAX needs driver {driver} or later and compute capability {capability} or more: hide this one with "
            "CUDA_VISIBLE_DEVICES"
        )
    if "gpu" in offer.backends:
        seen = offer.backends["gpu"]
        comparable = any(" " in name for name in seen)  # JAX names its devices as the driver does
        unused = gpu.name not in seen and any(other != gpu.name for other in seen) and others and comparable
        return ("remark", f"JAX uses {', '.join(dict.fromkeys(seen))} and not this one") if unused else ("good", "")
    if extra is not None:
        return "bad", f"JAX sees only {', '.join(offer.backends)}; {_unstarted(extra, offer)}"
    if 0 < float(gpu.compute_capability) < capability:
        return "bad", (
            f"JAX needs driver {driver} or later and compute capability {capability} or more, which no driver gives "
            "this GPU; measure the CPU, or take a newer GPU"
        )
    return "bad", f"JAX needs driver {driver} or later and compute capability {capability} or more; update the driver"


def _unstarted(extra: str, offer: Offer) -> str:
    """Return why JAX does not start a GPU that its CUDA extra supports, and what to do."""
    plugins = [f"{name} {version}" for name, version in offer.packages.items() if _PLUGIN.fullmatch(name)]
    reason = offer.reasons.get("gpu", "")
    if not plugins and not reason:
        return f"install the '{extra}' extra: pip install 'jax[{extra}]'"
    repair = remedy(reason, f"jax[{extra}]") or f"repair it: pip install -U --force-reinstall 'jax[{extra}]'"
    return (
        f"{', '.join(plugins) or 'a plugin'} is installed beside jaxlib {offer.packages.get('jaxlib', '')}, and does "
        f"not start: {reason or 'JAX does not say why'}; {repair}"
    )


def missing_backend(backend: str, machine: Machine, offer: Offer, problem: str = "") -> str:
    """Return a line that says why a requested backend is missing; `problem` says why no GPU can be used."""
    order: tuple[Verdict, ...] = ("good", "bad", "remark")  # a remark is on a GPU that another one here replaces
    check = min(gpu_checks(machine, offer), key=lambda check: order.index(check.verdict))
    seen = ", ".join(f"'{name}'" for name in offer.backends) or "nothing"
    reason = offer.reasons.get(backend, "")
    driverless = f"no GPU driver answers{f', and JAX says: {reason}' if reason else ''}"
    cause = f"{check.found}; {check.advice}" if machine.gpus else problem or driverless
    return f"backend '{backend}' asked for, JAX sees only {seen} ({cause}); or run --backend cpu"


def checks(
    machine: Machine,
    offer: Offer,
    other_load_cores: float,
    counters: Counters | None = None,
    no_gpu: str = "",
) -> tuple[Check, ...]:
    """Return the checks that need JAX's answer or a look at the load, after those of the preflight.

    `no_gpu` says why no GPU can be used although there is a driver.
    """
    slow = slow_on_a_cpu(offer.packages)
    return (
        Check(
            name="JAX",
            found=offer.problem or _versions(offer),
            verdict="bad" if offer.problem else "remark" if slow else "good",
            advice=offer.remedy if offer.problem else slow,
        ),
        Check(name="backends", found=_backends(offer) or "none"),
        *gpu_checks(machine, offer, no_gpu),
        *_host_checks(machine, other_load_cores),
        *([] if counters is None else [counters_check(machine, counters)]),
    )


def baseline_check(offer: Offer) -> Check:
    """Return the check of a baseline's interpreter: what it has, and why it cannot run or has no GPU."""
    reason, name = offer.reasons.get("gpu", ""), offer.implementation
    if offer.problem:
        return Check(name=name, found=offer.problem, verdict="bad", advice=offer.remedy)
    found = f"{_versions(offer)}; {_backends(offer)}"
    return check(name, found, f"no GPU: {reason}; {remedy(reason, name)}".removesuffix("; ") if reason else "")


def _versions(offer: Offer) -> str:
    named = {name: version for name, version in offer.packages.items() if not name.startswith("nvidia-")}
    return ", ".join(f"{name} {version}" for name, version in named.items())


def _backends(offer: Offer) -> str:
    return "; ".join(f"{backend}: {', '.join(devices)}" for backend, devices in offer.backends.items())


def counters_check(machine: Machine, available: Counters) -> Check:
    """Return the check of the available counters, and what results lack without the others."""
    gpu = [_GPU_WORDS[name] for name in available.gpu_fields if name in _GPU_WORDS]
    names = ["CPU utilisation"]
    names += ["steal"] if available.steal else []
    names += ["throttled periods of the control group"] if available.throttling else []
    names += [f"GPU: {', '.join(gpu)}"] if gpu else []
    names += ["energy of the CPU packages"] if available.package_energy else []
    lacking = [word for name, word in _GPU_WORDS.items() if machine.gpus and name not in available.gpu_fields]
    missing = [f"of the GPU: {', '.join(lacking)}"] if lacking else []
    if not available.package_energy:
        missing.append("energy of the CPU packages, which usually only root may read")
    if machine.gpus and not available.in_cuda_order:
        missing.append("energy of the GPU in use: with unlike GPUs set CUDA_DEVICE_ORDER=PCI_BUS_ID to identify it")
    advice = f"not available, so left empty: {'; '.join(missing)}" if missing else ""
    verdict = "remark" if machine.gpus and not available.gpu_energy else "good"
    return Check(name="counters", found="; ".join(names), verdict=verdict, advice=advice)


def _host_checks(machine: Machine, others: float) -> Iterator[Check]:
    """Yield the checks of cores, load and governor; `others` are the cores that other processes use."""
    cores, quota = f"{machine.cores} of '{machine.cpu_model}'", machine.cpu_quota_cores
    if quota is not None and quota < machine.cores:
        remedy = "threads will be throttled: pin to as many cores or raise the quota"
        yield check("cores", f"{cores}, quota {quota:g}", f"the control group allows {quota:g}; {remedy}", "bad")
    else:
        yield check("cores", cores)
    busy = "end them or wait: busy results are not citable" if others > _BUSY_SHARE * machine.cores else ""
    yield check("load", f"other processes use {units.number(others, digits=2)} cores", busy, "bad")
    slow = machine.cpu_governor not in (None, "performance")
    advice = "choose 'performance' for steadier times: cpupower frequency-set -g performance" if slow else ""
    yield check("governor", machine.cpu_governor or "unknown", advice)
