"""The name and vendor of a processor without a model name, from the fields of /proc/cpuinfo.

ARM, RISC-V, POWER, s390x, LoongArch, MIPS and SPARC report other fields than x86.
"""

import re
from contextlib import suppress

# ARM processors report only numbers. These names are lscpu's, for servers and small computers.
_IMPLEMENTERS = {
    0x41: "ARM",
    0x43: "Cavium",
    0x46: "FUJITSU",
    0x48: "HiSilicon",
    0x4E: "NVIDIA",
    0x50: "APM",
    0x51: "Qualcomm",
    0x53: "Samsung",
    0x61: "Apple",
    0x6D: "Microsoft",
    0x70: "Phytium",
    0xC0: "Ampere",
}
_PARTS = {
    (0x41, 0xD03): "Cortex-A53",
    (0x41, 0xD05): "Cortex-A55",
    (0x41, 0xD07): "Cortex-A57",
    (0x41, 0xD08): "Cortex-A72",
    (0x41, 0xD09): "Cortex-A73",
    (0x41, 0xD0A): "Cortex-A75",
    (0x41, 0xD0B): "Cortex-A76",
    (0x41, 0xD0C): "Neoverse-N1",
    (0x41, 0xD40): "Neoverse-V1",
    (0x41, 0xD41): "Cortex-A78",
    (0x41, 0xD42): "Cortex-A78AE",
    (0x41, 0xD47): "Cortex-A710",
    (0x41, 0xD49): "Neoverse-N2",
    (0x41, 0xD4A): "Neoverse-E1",
    (0x41, 0xD4F): "Neoverse-V2",
    (0x41, 0xD80): "Cortex-A520",
    (0x41, 0xD81): "Cortex-A720",
    (0x41, 0xD83): "Neoverse-V3AE",
    (0x41, 0xD84): "Neoverse-V3",
    (0x41, 0xD85): "Cortex-X925",
    (0x41, 0xD87): "Cortex-A725",
    (0x41, 0xD8E): "Neoverse-N3",
    (0x43, 0x0AF): "ThunderX2-99xx",
    (0x46, 0x001): "A64FX",
    (0x48, 0xD01): "TaiShan-v110",
    (0x4E, 0x004): "Carmel",
    (0x61, 0x022): "Icestorm-M1",
    (0x61, 0x023): "Firestorm-M1",
    (0x61, 0x032): "Blizzard-M2",
    (0x61, 0x033): "Avalanche-M2",
    (0x6D, 0xD49): "Azure-Cobalt-100",
    (0xC0, 0xAC3): "Ampere-1",
    (0xC0, 0xAC4): "Ampere-1a",
}
_RISC_V = {0x31E: "Andes", 0x489: "SiFive", 0x5B7: "T-Head", 0x61F: "Ventana", 0x710: "SpacemiT"}  # by JEDEC number
_Z = {
    2964: "z13",
    2965: "z13s",
    3906: "z14",
    3907: "z14 ZR1",
    8561: "z15",
    8562: "z15 T02",
    3931: "z16",
    3932: "z16 A02",
}
_FIELDS = (
    "model name|vendor_id|cpu family|model|CPU implementer|CPU architecture|CPU part|Model Name|CPU Family"
    "|cpu model|cpu|machine|isa|uarch|mvendorid|marchid"
)
_NO_NAME = re.compile(r"ARMv\d\S* Processor")  # what a 32-bit process is told, whatever the ARM processor is
_EMULATED = re.compile(r"(?im)^(?:model name|cpu|model|machine)[ \t]*:.*(?:\bqemu\b|VirtualApple)")  # by QEMU, Rosetta


def fields(cpuinfo: str) -> dict[str, str]:
    """Return the fields of the first processor in the text of /proc/cpuinfo."""
    facts: dict[str, str] = {}
    for name, value in re.findall(rf"^({_FIELDS})[ \t]*:[ \t]*(\S.*)$", cpuinfo, re.MULTILINE):
        facts.setdefault(name, " ".join(value.split()))
    if _NO_NAME.match(facts.get("model name", "")) and "CPU part" in facts:
        del facts["model name"]
    # Some kernels of s390x have one line a processor.
    if machine := re.search(r"^processor \d+: .*\bmachine = (\d+)$", cpuinfo, re.MULTILINE):
        facts.setdefault("machine", machine[1])
    return facts


def named(cpuinfo: str) -> str:
    """Return the name of a processor without a model name; '' if nothing names it.

    Unlike cores are all named, in the order of the first of each. Of a RISC-V processor the instruction set is part of
    the name, since cores of one name come with and without vectors.
    """
    facts = fields(cpuinfo)
    if "CPU implementer" in facts:
        return _arm(cpuinfo)
    if "isa" in facts and (core := facts.get("uarch") or _risc_v_core(facts)):
        return f"{core}, {facts['isa'].partition('_')[0]}"
    if facts.get("vendor_id") == "IBM/S390" and "machine" in facts:
        machine = integer(facts["machine"])
        return f"IBM {_Z[machine]}, machine {machine}" if machine in _Z else f"IBM/S390 machine {facts['machine']}"
    name = facts.get("Model Name") or facts.get("cpu model") or facts.get("cpu", "")
    return name.removesuffix(", altivec supported")


def _arm(cpuinfo: str) -> str:
    """Return an ARM processor's implementers and parts in lscpu's names; '' if it reports none."""
    number = r"[ \t]*:[ \t]*(0x[0-9a-fA-F]+)"
    cores = re.findall(
        rf"^CPU implementer{number}$(?:\n(?!processor|CPU part).*)*\nCPU part{number}$", cpuinfo, re.MULTILINE
    )
    names = []
    for implementer, part in dict.fromkeys((int(one, 16), int(other, 16)) for one, other in cores):
        maker = _IMPLEMENTERS.get(implementer, f"implementer {implementer:#04x}")
        names.append(f"{maker} {_PARTS.get((implementer, part), f'part {part:#05x}')}")
    return " and ".join(names)


def _risc_v_core(facts: dict[str, str]) -> str:
    """Return the vendor and number of a RISC-V core; '' if it has none, as an emulated one."""
    maker, core = vendor(facts), integer(facts.get("marchid"))
    return f"{maker} core {core:#x}" if maker and core else ""


def vendor(facts: dict[str, str]) -> str | None:
    """Return the vendor of a processor from its fields; None if unknown."""
    if "CPU implementer" in facts:
        implementer = integer(facts["CPU implementer"])
        return None if implementer is None else _IMPLEMENTERS.get(implementer, facts["CPU implementer"])
    if number := integer(facts.get("mvendorid")):
        return _RISC_V.get(number, facts["mvendorid"])
    if facts.get("CPU Family", "").startswith("Loongson"):
        return "Loongson"
    return "IBM" if facts.get("cpu", "").startswith("POWER") else facts.get("vendor_id")


def emulated(cpuinfo: str) -> bool:
    """Return whether a processor's name says that it is emulated."""
    return _EMULATED.search(cpuinfo) is not None


def integer(word: str | None) -> int | None:
    """Return the value of a decimal or hexadecimal number, such as 8 or 0xd0c; None for anything else."""
    with suppress(ValueError, TypeError):
        return int(word or "", 0)
    return None
