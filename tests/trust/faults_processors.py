"""Faults of processors without a model name: each is named, and none stands for another."""

from functools import partial

from trust.bench import Bench, Outcome, fault, whole

_NAMED = {
    "Neoverse-V2": "ARM Neoverse-V2",
    "unlike cores": "ARM Cortex-A725 and ARM Cortex-X925",
    "a 32-bit view": "ARM Cortex-A72",
    "Cobalt": "Microsoft Azure-Cobalt-100",
    "SiFive": "sifive,u74-mc, rv64imafdc",
    "POWER9": "POWER9",
    "z15": "IBM z15, machine 8561",
    "Loongson": "Loongson-3A5000",
}


def told(place: Bench, called: str) -> Outcome:
    """Measure on a machine whose /proc/cpuinfo is that processor's."""
    good, found = whole(place.faked().run("alpha", planted=(("cpuinfo", called),)))
    names = {record.machine.cpu_model for record in place.loaded(0).records}
    kinds = {record.machine.cpu_kind.model for record in place.loaded(0).records}
    return good and names == {_NAMED[called]} and all(kinds), f"{found}; {', '.join(names)}"


for _name in _NAMED:
    fault(f"/proc/cpuinfo has no model name: {_name}", "the record names the processor, as lscpu would", "its fields")(
        partial(told, called=_name)
    )
