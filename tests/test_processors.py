"""Processors without a model name are told by what /proc/cpuinfo says of them; the texts are as systems print them."""

import platform

import pytest

from suite.results.records.machine import CpuKind, Machine, names_a_model
from suite.system import machine, processor


def cores(*each):
    return "\n".join(f"processor\t: {number}\n{core}" for number, core in enumerate(each))


def arm(implementer, part, first=""):
    return (
        f"{first}BogoMIPS\t: 50.00\nFeatures\t: fp asimd aes\nCPU implementer\t: {implementer}\nCPU architecture: 8\n"
        f"CPU variant\t: 0x1\nCPU part\t: {part}\nCPU revision\t: 1\n"
    )


SIFIVE = """\
hart\t\t: 1
isa\t\t: rv64imafdc_zicntr_zicsr_zifencei_zihpm_zba_zbb
mmu\t\t: sv39
uarch\t\t: sifive,u74-mc
mvendorid\t: 0x489
marchid\t\t: 0x8000000000000007
mimpid\t\t: 0x4210427
"""
THEAD = SIFIVE.replace("rv64imafdc", "rv64imafdcv").replace("sifive,u74-mc", "thead,c908").replace("0x489", "0x5b7")
SPACEMIT = SIFIVE.replace("uarch\t\t: sifive,u74-mc", "model name\t: Spacemit(R) X60").replace("0x489", "0x710")
NUMBERED = (
    SIFIVE.replace("uarch\t\t: sifive,u74-mc\n", "").replace("0x489", "0x61f").replace("0x8000000000000007", "0x31")
)
VIRTUAL = NUMBERED.replace("0x61f", "0x0").replace("0x31", "0x7015e")
POWER = """\
cpu\t\t: POWER9, altivec supported
clock\t\t: 3800.000000MHz
revision\t: 2.2 (pvr 004e 1202)

timebase\t: 512000000
platform\t: PowerNV
model\t\t: 8335-GTH
machine\t\t: PowerNV 8335-GTH
firmware\t: OPAL
MMU\t\t: Radix
"""
GUEST = """\
cpu\t\t: POWER10 (architected), altivec supported
platform\t: pSeries
model\t\t: IBM pSeries (emulated by qemu)
machine\t\t: CHRP IBM pSeries (emulated by qemu)
"""
Z = """\
vendor_id       : IBM/S390
# processors    : 2
bogomips per cpu: 3241.00
max thread id   : 0
features\t: esan3 zarch stfle msa ldisp eimm dfp edat etf3eh highgprs te vx
cache0          : level=1 type=Data scope=Private size=128K line_size=256 associativity=8
processor 0: version = FF,  identification = 0618E8,  machine = 8561
processor 1: version = FF,  identification = 0618E8,  machine = 8561

cpu number      : 0
version         : FF
identification  : 0618E8
machine         : 8561
"""
LOONGSON = """\
system type\t\t: generic-loongson-machine
processor\t\t: 0
package\t\t\t: 0
CPU Family\t\t: Loongson-64bit
Model Name\t\t: Loongson-3A5000
CPU Revision\t\t: 0x10
CPU MHz\t\t\t: 2500.00
ISA\t\t\t: loongarch32 loongarch64
Features\t\t: cpucfg lam ual fpu lsx lasx
"""
MIPS = "system type\t: generic\nprocessor\t: 0\ncpu model\t: ICT Loongson-3 V0.4  FPU V0.1\nisa\t: mips1 mips64r2\n"
SPARC = "cpu\t\t: SPARC-M7\nfpu\t\t: SPARC-M7 integrated FPU\ntype\t\t: sun4v\n"
SAID = {
    "Neoverse-V2": (cores(arm("0x41", "0xd4f")), "ARM Neoverse-V2", "ARM"),
    "unlike cores": (
        cores(arm("0x41", "0xd87"), arm("0x41", "0xd85"), arm("0x41", "0xd87")),
        "ARM Cortex-A725 and ARM Cortex-X925",
        "ARM",
    ),
    "a 32-bit view": (
        cores(arm("0x41", "0xd08", "model name\t: ARMv7 Processor rev 3 (v7l)\n")),
        "ARM Cortex-A72",
        "ARM",
    ),
    "Cobalt": (cores(arm("0x6d", "0xd49")), "Microsoft Azure-Cobalt-100", "Microsoft"),
    "M1": (cores(arm("0x61", "0x022"), arm("0x61", "0x023")), "Apple Icestorm-M1 and Apple Firestorm-M1", "Apple"),
    "unknown part": (cores(arm("0x51", "0x001")), "Qualcomm part 0x001", "Qualcomm"),
    "SiFive": (cores(SIFIVE, SIFIVE), "sifive,u74-mc, rv64imafdc", "SiFive"),
    "T-Head": (cores(THEAD), "thead,c908, rv64imafdcv", "T-Head"),
    "SpacemiT": (cores(SPACEMIT), "Spacemit(R) X60", "SpacemiT"),
    "numbered RISC-V": (cores(NUMBERED), "Ventana core 0x31, rv64imafdc", "Ventana"),
    "POWER9": (cores(POWER), "POWER9", "IBM"),
    "POWER10": (cores(GUEST), "POWER10 (architected)", "IBM"),
    "z15": (Z, "IBM z15, machine 8561", "IBM/S390"),
    "a Z that is not known": (Z.replace("8561", "9999"), "IBM/S390 machine 9999", "IBM/S390"),
    "one line a processor": (Z.partition("cpu number")[0], "IBM z15, machine 8561", "IBM/S390"),
    "Loongson": (LOONGSON, "Loongson-3A5000", "Loongson"),
    "MIPS": (MIPS, "ICT Loongson-3 V0.4 FPU V0.1", None),
    "SPARC": (SPARC, "SPARC-M7", None),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cpuinfo"


@pytest.mark.parametrize(("text", "name", "vendor"), SAID.values(), ids=SAID.keys())
def test_a_processor_without_a_model_name_has_name_vendor_and_kind(path, text, name, vendor):
    path.write_text(text)
    described = processor.described(path, path.parent)
    assert machine.cpu_model(path) == name
    assert described.get("cpu_vendor") == vendor
    assert Machine(name="a", cpu_model=name, cores=4, **described).cpu_kind.model


def test_no_two_of_these_processors_are_of_one_kind(path):
    kinds = {}
    for called, (text, name, _) in SAID.items():
        path.write_text(text)
        kind = Machine(name="a", cpu_model=name, cores=4, **processor.described(path, path.parent)).cpu_kind
        kinds.setdefault(kind, []).append(called)
    assert [alike for alike in kinds.values() if len(alike) > 1] == [["z15", "one line a processor"]]


def test_a_name_for_files_has_no_sign_that_a_path_may_not_have():
    assert machine.short_name("sifive,u74-mc, rv64imafdc", 4, ()) == "sifive-u74-mc-rv64imafdc, 4 cores"
    assert machine.short_name("IBM z15, machine 8561", 2, ()) == "ibm-z15-machine-8561, 2 cores"


@pytest.mark.parametrize("text", ["", cores(VIRTUAL), "processor\t: 0\nisa\t: rv64imafdc\n"])
def test_what_names_no_processor_has_the_architectures_name_and_no_kind(path, text, monkeypatch):
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    path.write_text(text)
    assert machine.cpu_model(path) == "riscv64"
    assert not Machine(name="a", cpu_model="riscv64", cores=4, **processor.described(path, path.parent)).cpu_kind.model


@pytest.mark.parametrize(
    ("text", "virtual"),
    [
        (cores(GUEST), True),
        (cores(POWER), None),
        (Z, None),
        ("model name\t: VirtualApple @ 2.50GHz\nflags\t\t: fpu sse2\n", True),
        ("model name\t: QEMU Virtual CPU version 2.5+\nflags\t\t: fpu sse2\n", True),
        ("model name\t: AMD EPYC 9575F 64-Core Processor\nflags\t\t: fpu sse2\n", False),
    ],
)
def test_an_emulated_processor_is_virtual(path, text, virtual):
    path.write_text(text)
    assert machine.is_virtual(path) is virtual


def test_nothing_that_tells_hosts_apart_is_in_a_name(path):
    path.write_text(Z)
    assert "0618E8" not in f"{machine.cpu_model(path)} {processor.described(path, path.parent)}"


@pytest.mark.parametrize("name", [
    "x86_64", "amd64", "AMD64", "i386", "i686", "aarch64", "arm64", "armv7l", "armv8l", "ppc64", "ppc64le", "s390x",
    "riscv32", "riscv64", "loongarch64", "mips64", "sparc64", "Virtual CPU @ 2.20GHz", "",
])  # fmt: skip
def test_an_instruction_set_or_a_clock_rate_names_no_model(name):
    assert not names_a_model(name)
    assert names_a_model("AMD EPYC 9B45 @ 2.20GHz")


@pytest.mark.parametrize(("virtual", "words"), [
    (True, "virtual"), (False, "not virtual"), (None, "virtual or not is not known"),
])  # fmt: skip
def test_a_kind_says_model_cores_and_whether_it_is_virtual(virtual, words):
    assert CpuKind(model="M 1", cores=2, virtual=virtual).words == f"M 1, 2 cores, {words}"
    assert CpuKind(model="", cores=1, virtual=virtual).words == f"model not known, 1 core, {words}"
