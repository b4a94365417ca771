"""What the machine is, as far as it bears on speed; nothing that identifies a person or a host."""

import os
import platform
import re
from collections.abc import Iterable
from pathlib import Path

import psutil

from suite.measure.counters import control_groups
from suite.measure.load import granted_cores
from suite.measure.nvml import Gpus
from suite.results.record import Gpu, Machine

_GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
_CPUINFO = Path("/proc/cpuinfo")


def machine(name: str | None = None) -> Machine:
    """Return this machine's description; `name` replaces the one made from its processors."""
    found, cores, model = gpus(), granted_cores(), cpu_model()
    return Machine(
        name=name or short_name(model, cores, found),
        cpu_model=model,
        cores=cores,
        cpu_quota_cores=cpu_quota_cores(control_groups()),
        cpu_governor=text(_GOVERNOR),
        memory_bytes=psutil.virtual_memory().total,
        system=f"{platform.system()} {'.'.join(platform.release().split('.')[:2])} {platform.machine()}",
        virtual="hypervisor" in (text(_CPUINFO) or "") if platform.system() == "Linux" else None,
        gpus=found,
    )


def short_name(cpu: str, cores: int, found: tuple[Gpu, ...]) -> str:
    """Return a name such as 'h100-80gb, 16 cores', '2x h200, 32 cores' or 'amd-epyc-26-2, 4 cores'."""
    if found:
        words = re.sub(r"(?i)\b(nvidia|tesla|geforce|hbm\d\w*|graphics|pcie|sxm\d?)\b", " ", found[0].name)
        first = f"{len(found)}x " if len(found) > 1 else ""
    else:
        words = re.sub(r"(?i)\((r|tm)\)|@|\b(cpu|processor|\d+-core|family|model)\b", " ", cpu)
        first = ""
    slug = re.sub(r"[^a-z0-9.]+", "-", words.lower()).strip("-") or "unknown"
    return f"{first}{slug}, {cores} core{'s' if cores != 1 else ''}"


def cpu_model(cpuinfo: Path = _CPUINFO) -> str:
    """Return the processor's name as the system gives it, with family and model where a virtual machine hides which.

    Two processors that both called themselves 'AMD EPYC' were seen to differ by up to a factor of two.
    """
    said = dict(re.findall(r"^(model name|cpu family|model)\s*:\s*(.+)$", text(cpuinfo) or "", re.MULTILINE))
    if "model name" in said:
        name = " ".join(said["model name"].split())
        numbered = re.search(r"\d", re.sub(r"@.*", "", name))  # a clock is no model's number
        if numbered or not {"cpu family", "model"} <= said.keys():
            return name
        return f"{name}, family {said['cpu family']} model {said['model']}"
    if platform.system() == "Darwin":
        import subprocess

        answer = subprocess.run(
            ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True, check=False
        )
        return answer.stdout.strip() or platform.machine()
    return platform.processor() or platform.machine()


def cpu_quota_cores(groups: Iterable[Path]) -> float | None:
    """Return the smallest limit of these control groups in cores; None if there is none."""
    found = []
    for folder in groups:
        version1 = " ".join(text(folder / f"cpu.cfs_{name}_us") or "" for name in ("quota", "period"))
        said = re.fullmatch(r"(\d+) (\d+)", text(folder / "cpu.max") or version1)  # 'max' or -1: no limit
        found += [int(said[1]) / int(said[2])] if said and int(said[1]) and int(said[2]) else []
    return min(found, default=None)


def gpus() -> tuple[Gpu, ...]:
    """Return the NVIDIA GPUs that the driver shows and CUDA may use; none where there is no driver."""
    return Gpus().described()


def why_no_gpu() -> str:
    """Return why no GPU can be used although an NVIDIA driver is there; '' if one can, or if there is no driver."""
    there, wanted = Gpus(), os.environ.get("CUDA_VISIBLE_DEVICES")
    if there.problem:
        return f"the GPU's driver does not answer: {there.problem}; restart the machine or reinstall the driver"
    if there.in_driver and not there.names:
        return f"CUDA_VISIBLE_DEVICES is '{wanted}', which names none of the driver's GPUs; unset it"
    return ""


def text(path: Path) -> str | None:
    """Return a small system file's text; None where it is missing or closed to us."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
