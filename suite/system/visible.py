"""The GPUs and slices that CUDA may use, by CUDA's reading of CUDA_VISIBLE_DEVICES.

Sources: NVIDIA, CUDA C++ Programming Guide, CUDA Environment Variables; MIG User Guide, CUDA Device Enumeration.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Slice:
    """A MIG slice of a card."""

    handle: Any
    uuid: str
    numbers: tuple[int, int] | None  # GPU and compute instance, in older drivers' names


@dataclass(frozen=True, kw_only=True)
class Card:
    """A whole card; with MIG on, CUDA may use only its slices."""

    handle: Any
    uuid: str
    mig: bool = False
    slices: tuple[Slice, ...] = ()


Device = tuple[Card, Slice | None]  # a whole card, or a slice of one


def visible(cards: Sequence[Card], wanted: str | None) -> list[Device]:
    """Return the devices that CUDA may use; `wanted` is the value of CUDA_VISIBLE_DEVICES, None if unset.

    CUDA stops at the first unknown word, and uses no device if one is repeated. A process uses at most one slice, the
    first, and then no other card. A card with MIG on means its first slice.
    """
    if wanted is None:
        devices = [(card, None) for card in cards]
    else:
        devices = _named(cards, [word.strip() for word in wanted.split(",")])
    devices = [(card, part or next(iter(card.slices), None)) for card, part in devices]
    usable = [(card, part) for card, part in devices if part or not card.mig]
    return next(([device] for device in usable if device[1]), usable)


def _named(cards: Sequence[Card], words: Sequence[str]) -> list[Device]:
    kind = next((kind for prefix, kind in _KINDS.items() if words[0].startswith(prefix)), _numbered)
    devices: list[Device] = []
    for word in words:
        matching = kind(cards, word)
        if len(matching) != 1:
            break
        if matching[0] in devices:
            return []
        devices += matching
    return devices


def _numbered(cards: Sequence[Card], word: str) -> list[Device]:
    number = re.match(r"\+?\d+", word)
    return [(card, None) for card in cards[int(number[0]) :][:1]] if number else []


def _whole(cards: Sequence[Card], word: str) -> list[Device]:
    return [(card, None) for card in cards if word.startswith("GPU-") and card.uuid.startswith(word)]


def _slices(cards: Sequence[Card], word: str) -> list[Device]:
    """Return the slices of a name, which may be abbreviated, or of older drivers' MIG-GPU-<uuid>/<number>/<number>."""
    old = re.fullmatch(r"MIG-(GPU-[^/]+)/(\d+)/(\d+)", word)
    if old:
        numbers = int(old[2]), int(old[3])
        return [(c, s) for c in cards for s in c.slices if c.uuid.startswith(old[1]) and numbers == s.numbers]
    return [(c, s) for c in cards for s in c.slices if word.startswith("MIG-") and s.uuid.startswith(word)]


_KINDS: dict[str, Callable[[Sequence[Card], str], list[Device]]] = {"GPU-": _whole, "MIG-": _slices}
