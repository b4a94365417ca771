"""A record's machine and software, and which of its settings differ from another's."""

import re
from collections.abc import Mapping
from functools import lru_cache

from suite.results.records import generations
from suite.results.records.run import Count
from suite.workload import Plain

ARCHITECTURES = ("x86_64", "amd64", "i386", "i686", "aarch64", "arm64", "armv7l", "ppc64le", "s390x", "riscv64")
ARCHITECTURES += ("armv8l", "ppc64", "riscv32", "loongarch64", "mips64", "sparc64")
# These follow from the case's backend or the suite, name one of equal GPUs, a folder or another program's file. Pools
# themselves tell a graph that lacks kernels from one that does not.
_ASIDE = frozenset(
    {"JAX_PLATFORMS", "CUDA_VISIBLE_DEVICES", "JAX_COMPILATION_CACHE_DIR", "KERAS_BACKEND", "TF_CLI_CONFIG_FILE"}
    | {"jax_graph_lacks_kernels"}
)

_VENDORS = {"Intel": "GenuineIntel", "AMD": "AuthenticAMD"}  # as processors name them


class Gpu(Plain, frozen=True, kw_only=True):
    """One GPU as its driver describes it."""

    name: str
    memory_bytes: int
    compute_capability: str
    driver: str
    cuda: str  # the newest the driver supports
    graphics_clock_limit_mhz: int | None = None
    memory_clock_limit_mhz: int | None = None
    power_limit_watts: float | None = None
    slice: str = ""  # MIG slice such as 1g.10gb: share of the processors, memory


class CpuKind(Plain, frozen=True, kw_only=True):
    """What two CPUs must share for their times to be pooled. Memory is not part of it."""

    model: str  # such as 'GenuineIntel family 6 model 143'; '' if unknown
    cores: int  # granted
    virtual: bool | None = None  # None: unknown

    @property
    def words(self) -> str:
        """The kind in words."""
        virtual = {True: "virtual", False: "not virtual", None: "virtual or not is not known"}[self.virtual]
        return f"{self.model or 'model not known'}, {self.cores} core{'s' if self.cores != 1 else ''}, {virtual}"


class Machine(Plain, frozen=True, kw_only=True):
    """The machine of a measurement; nothing here identifies a person or a host."""

    name: str  # such as 'h100-80gb, 16 cores'
    cpu_model: str
    cores: int  # granted to this process
    cpu_quota_cores: float | None = None  # of the control group; None if unlimited
    cpu_governor: str | None = None
    memory_bytes: int = 0
    system: str = ""  # kernel name and release series
    virtual: bool | None = None
    gpus: tuple[Gpu, ...] = ()
    cpu_vendor: str | None = None  # such as 'GenuineIntel'; on ARM the implementer
    cpu_family: Count | None = None  # on ARM the architecture version
    cpu_number: Count | None = None  # model within the family; on ARM the part
    threads_per_core: Count | None = None  # hardware threads; a virtual machine may hide them

    @property
    def cpu_kind(self) -> CpuKind:
        """The kind of CPU, by family and model; for older records by a CPU name that contains a number."""
        if self.cpu_vendor and self.cpu_family is not None and self.cpu_number is not None:
            model = f"{self.cpu_vendor} family {self.cpu_family} model {self.cpu_number}"
        else:
            model = _model_of(self.cpu_model)
        return CpuKind(model=model, cores=self.cores, virtual=self.virtual)

    @property
    def cpu_words(self) -> str:
        """The kind of CPU by one name, whether a record states the vendor apart or not; '' if unknown."""
        model = self.cpu_kind.model
        numbers = model.partition(" ")[2]
        return self.cpu_model if numbers and self.cpu_model.endswith(f", {numbers}") else model

    @property
    def processor(self) -> str:
        """The processor's name without marks; of a known Intel or AMD server with its generation."""
        return generations.processor(self.cpu_model, self.cpu_kind.model)

    @property
    def slug(self) -> str:
        """The name in file names and addresses."""
        return slug(self.name)


class Software(Plain, frozen=True, kw_only=True):
    """Versions of the software, and the settings that can change its speed."""

    suite: str
    python: str
    packages: dict[str, str]  # name to version: jax, jaxlib, flax, optax, numpy, torch ...
    settings: dict[str, str]  # environment variables and options that bear on speed


@lru_cache(2**12)  # each record is asked for it many times
def _model_of(cpu: str) -> str:
    """Return the model in the name of an older record's CPU, as records that state its numbers have it; '' if none."""
    numbers = re.fullmatch(r"(Intel|AMD)\b.*, (family \d+ model \d+)", cpu)
    if numbers:
        return f"{_VENDORS[numbers[1]]} {numbers[2]}"
    return cpu if names_a_model(cpu) else ""


def names_a_model(cpu: str) -> bool:
    """Return whether a CPU's name includes its model: 'Apple M2' does, 'AMD EPYC' and 'x86_64' do not."""
    name = re.sub(r"@.*", "", cpu)  # a clock rate is no model number
    return bool(re.search(r"\d", name)) and name.strip().lower() not in ARCHITECTURES


@lru_cache(2**12)  # each record is asked for it many times
def slug(name: str) -> str:
    """Return a machine's name in file names and addresses."""
    return "-".join(name.replace(",", " ").split())


def differing(*settings: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the settings that differ between these.

    A missing environment variable or XLA flag counts as unset. An implementation's own setting is compared only if both
    sides state it: older records lack some, and each implementation states its own.
    """
    names = {name for each in settings for name in each} - _ASIDE
    return tuple(name for name in sorted(names) if len(_values(name, settings)) > 1)


def bearing(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that bear on speed, by name."""
    return {name: settings[name] for name in sorted(settings.keys() - _ASIDE)}


def _values(name: str, settings: tuple[Mapping[str, str], ...]) -> set[str | None]:
    values = {each.get(name) for each in settings}
    return values if outside(name) else values - {None}


def outside(name: str) -> bool:
    """Return whether a setting is an environment variable or XLA flag, not an implementation's own."""
    return name.isupper() or name.startswith("xla_")
