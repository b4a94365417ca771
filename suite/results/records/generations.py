"""The generation of a processor whose name hides it, from its family and model."""

import re
from collections.abc import Mapping

_FAMILY_AND_MODEL = re.compile(r"\bfamily (\d+) model (\d+)\b")
# Source: Linux, arch/x86/include/asm/intel-family.h.
_INTEL: Mapping[tuple[int, int], str] = {
    (6, 79): "Broadwell",
    (6, 85): "Skylake or Cascade Lake",
    (6, 106): "Ice Lake",
    (6, 143): "Sapphire Rapids",
    (6, 173): "Granite Rapids",
    (6, 207): "Emerald Rapids",
}
# Source: AMD's revision guides; the models of a family in sixteens.
_AMD: Mapping[tuple[int, int], str] = {
    (23, 0): "Naples",
    (23, 3): "Rome",
    (25, 0): "Milan",
    (25, 1): "Genoa",
    (25, 10): "Bergamo",
    (26, 0): "Turin",
    (26, 1): "Turin",
}


def processor(model: str, kind: str) -> str:
    """Return a processor's name without marks; for an Intel or AMD server of known kind with its generation."""
    words = f"{model} {kind}"
    numbers = _FAMILY_AND_MODEL.search(words)
    name = re.sub(r",? family \d+ model \d+|\((?:R|TM)\)| Processor\b", "", model)
    if numbers is None:
        return name
    family, number = map(int, numbers.groups())
    generation = _AMD.get((family, number // 16)) if "AMD" in words else _INTEL.get((family, number))
    return f"{name} ({generation or f'family {family} model {number}'})"
