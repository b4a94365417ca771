"""The machine's description, as far as it affects speed; nothing that identifies a person or a host."""

import os
import platform
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from suite.results.records.machine import Gpu, Machine, names_a_model
from suite.system import cpu_names, processor
from suite.system.counters import control_groups, granted_cores
from suite.system.limits import usable_bytes
from suite.system.nvml import Gpus
from suite.system.processor import text

_PCI = Path("/sys/bus/pci/devices")
_MAKERS = {"0x10de": "NVIDIA", "0x1002": "AMD", "0x8086": "Intel"}
_GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")


def machine(name: str | None = None) -> Machine:
    """Return this machine's description; `name` replaces the one made from its processors."""
    cards, cores, model = gpus(), granted_cores(), cpu_model()
    return Machine(
        name=_with_slice(name, cards) if name else short_name(model, cores, cards),
        cpu_model=model,
        cores=cores,
        cpu_quota_cores=cpu_quota_cores(control_groups()),
        cpu_governor=text(_GOVERNOR),
        memory_bytes=usable_bytes(),
        system=f"{platform.system()} {'.'.join(platform.release().split('.')[:2])} {platform.machine()}",
        virtual=is_virtual(),
        gpus=cards,
        **processor.described(),
    )


def is_virtual(cpuinfo: Path = processor.CPUINFO) -> bool | None:
    """Return whether the CPU's flags name a hypervisor or its name an emulator; None without flags, as on ARM."""
    if cpu_names.emulated(text(cpuinfo) or ""):
        return True
    flags = re.search(r"^flags\s*:(.*)$", text(cpuinfo) or "", re.MULTILINE)
    return "hypervisor" in flags[1].split() if flags else None


def _with_slice(name: str, cards: tuple[Gpu, ...]) -> str:
    """Return a machine's given name with its GPU slice appended if missing: a whole card is another machine."""
    profile = next((gpu.slice for gpu in cards if gpu.slice), "")
    return name if profile in name else f"{name}, mig {profile}"


def short_name(cpu: str, cores: int, cards: tuple[Gpu, ...]) -> str:
    """Return a name such as 'h100-80gb, 16 cores', '2x h200, 32 cores' or 'amd-epyc-26-2, 4 cores'."""
    if cards:
        words = re.sub(r"(?i)\b(nvidia|tesla|geforce|hbm\d\w*|graphics|pcie|sxm\d?)\b", " ", cards[0].name)
        first = f"{len(cards)}x " if len(cards) > 1 else ""
    else:
        words = re.sub(r"(?i)\((r|tm)\)|@|\b(cpu|processor|\d+-core|family|model)\b", " ", cpu)
        first = ""
    slug = re.sub(r"[^a-z0-9.]+", "-", words.lower()).strip("-") or "unknown"
    return f"{first}{slug}, {cores} core{'s' if cores != 1 else ''}"


def cpu_model(cpuinfo: Path = processor.CPUINFO) -> str:
    """Return the system's name of the processor, with family and model if a virtual machine hides the model.

    Two processors that were both named 'AMD EPYC' differed by up to a factor of two.
    """
    facts = processor.said(cpuinfo)
    if "model name" in facts:
        name = " ".join(facts["model name"].split())
        if names_a_model(name) or not {"cpu family", "model"} <= facts.keys():
            return name
        return f"{name}, family {facts['cpu family']} model {facts['model']}"
    if named := cpu_names.named(text(cpuinfo) or ""):
        return named
    if platform.system() == "Darwin":
        import subprocess

        answer = subprocess.run(
            ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True, check=False
        )
        return answer.stdout.strip() or platform.machine()
    return platform.processor() or platform.machine()


def cpu_quota_cores(groups: Iterable[Path]) -> float | None:
    """Return the smallest quota of these control groups, in cores; None if there is none."""
    limits = []
    for folder in groups:
        version1 = " ".join(text(folder / f"cpu.cfs_{name}_us") or "" for name in ("quota", "period"))
        quota = re.fullmatch(r"(\d+) (\d+)", text(folder / "cpu.max") or version1)  # 'max' or -1: no limit
        limits += [int(quota[1]) / int(quota[2])] if quota and int(quota[1]) and int(quota[2]) else []
    return min(limits, default=None)


def gpus() -> tuple[Gpu, ...]:
    """Return the NVIDIA GPUs that CUDA may use; none without a driver."""
    return Gpus().described()


def why_no_gpu(wanted_one: bool = True) -> str:
    """Return why no GPU can be used; '' if one can, or if nothing tells.

    If CUDA_VISIBLE_DEVICES hides all of them, or no driver shows one, that is reported only if `wanted_one`.
    """
    driver, wanted = Gpus(), os.environ.get("CUDA_VISIBLE_DEVICES")
    if driver.problem:
        return f"the GPU's driver does not answer: {driver.problem}; restart the machine or reinstall the driver"
    if driver.names:
        return ""
    if not driver.in_driver:
        return without_driver() if wanted_one else ""
    if not wanted_one and wanted is not None and wanted.strip() in ("", "-1"):
        return ""
    shown = driver.shown()
    if not shown or (wanted is None and driver.without_instances()):
        return (
            "MIG is on without a slice, so CUDA cannot use the GPU; make a slice (nvidia-smi mig -cgi PROFILE -C), or "
            "switch MIG off (nvidia-smi -mig 0)"
        )
    if not wanted:
        return f"CUDA_VISIBLE_DEVICES is '{wanted}', which names none of the driver's GPUs; unset it"
    hint = "; a slice gets a new UUID each time it is made" if wanted.startswith("MIG-") else ""
    return (
        f"CUDA_VISIBLE_DEVICES is '{wanted}', which names none of the driver's GPUs or slices; there "
        f"{'is' if len(shown) == 1 else 'are'} {', '.join(shown)}: set it to one of these, or unset it{hint}"
    )


def without_driver(devices: Path = _PCI) -> str:
    """Return why NVIDIA's driver shows no GPU: a container without one, or the makers of the cards; '' if unknown."""
    given = os.environ.get("NVIDIA_VISIBLE_DEVICES")
    if given in ("", "none", "void"):
        return f"NVIDIA_VISIBLE_DEVICES is '{given}': this container was started without a GPU (docker run --gpus all)"
    cards = [path.parent for path in devices.glob("*/class") if (text(path) or "").startswith("0x03")]
    makers = set(filter(None, (_MAKERS.get(text(card / "vendor") or "") for card in cards)))
    if "NVIDIA" in makers:
        return "a card of NVIDIA is here without its driver; install the driver, until nvidia-smi lists the card"
    return f"the cards here are of {' and '.join(sorted(makers))}; the suite measures NVIDIA's alone" if makers else ""


def seen_by(machine: Machine, kinds: Sequence[str], name: str | None = None) -> Machine:
    """Return the machine with its GPUs in CUDA's order, given the names that a program sees.

    CUDA lists the fastest GPU first, the driver goes by bus. With unlike cards the first may differ, and a machine
    without a `name` is named after it. Raises RuntimeError if the program sees a slice that the driver does not show.
    """
    cut = [kind for kind in kinds if " MIG " in kind]
    if cut and [_share(cut[0])] != [_share(gpu.name) for gpu in machine.gpus]:
        shown = ", ".join(f"'{gpu.name}'" for gpu in machine.gpus) or "none"
        raise RuntimeError(
            f"JAX sees '{cut[0]}', a slice, but the driver shows {shown}, so a record could not name "
            "the GPU; set CUDA_VISIBLE_DEVICES to the slice, as nvidia-smi -L shows it"
        )
    left, ordered = list(machine.gpus), []
    for kind in kinds:
        same = next((gpu for gpu in left if gpu.name == kind), None)
        if same is None:
            return machine
        left.remove(same)
        ordered.append(same)
    gpus = (*ordered, *left)
    if gpus == machine.gpus:
        return machine
    name = machine.name if name else short_name(machine.cpu_model, machine.cores, gpus)
    return msgspec.structs.replace(machine, name=name, gpus=gpus)


def _share(name: str) -> str:
    """Return a slice's share of its card's processors, such as '1g'; '' for a whole card."""
    share = re.search(r" MIG (?:\d+c\.)?(\d+g)", name)
    return share[1] if share else ""
