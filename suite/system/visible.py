"""Which of the driver's GPUs and slices CUDA may use: what CUDA_VISIBLE_DEVICES says, as CUDA reads it.

Sources: NVIDIA, CUDA C++ Programming Guide, CUDA Environment Variables; MIG User Guide, CUDA Device Enumeration.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Slice:
    """A part of a card that MIG has made."""

    handle: Any
    uuid: str
    numbers: tuple[int, int] | None  # of its GPU and compute instance, which older drivers name it by


@dataclass(frozen=True, kw_only=True)
class Card:
    """A whole card; with MIG on, CUDA may use its slices alone."""

    handle: Any
    uuid: str
    mig: bool = False
    slices: tuple[Slice, ...] = ()


Device = tuple[Card, Slice | None]  # a whole card, or a slice of one


def visible(cards: Sequence[Card], wanted: str | None) -> list[Device]:
    """Return what CUDA may use; `wanted` is the value of CUDA_VISIBLE_DEVICES, None if it is not set.

    CUDA stops at the first word that names nothing, and takes nothing at all if one stands twice. A process has one
    slice, the first, and then no card beside it. A card with MIG on stands for its first slice.
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
    """Return the slices of a name, which may be cut short, or of older drivers' MIG-GPU-<uuid>/<number>/<number>."""
    old = re.fullmatch(r"MIG-(GPU-[^/]+)/(\d+)/(\d+)", word)
    if old:
        numbers = int(old[2]), int(old[3])
        return [(c, s) for c in cards for s in c.slices if c.uuid.startswith(old[1]) and numbers == s.numbers]
    return [(c, s) for c in cards for s in c.slices if word.startswith("MIG-") and s.uuid.startswith(word)]


_KINDS: dict[str, Callable[[Sequence[Card], str], list[Device]]] = {"GPU-": _whole, "MIG-": _slices}
