"""Sites of records that are unlike the published ones: none, one machine, no GPU, many of everything, hostile text."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import factory
import msgspec
from test_injection import hostile

from suite.results.records.record import Record

_MACHINES, _BATCHES = 40, 130
_ALWAYS = ("index", "coverage", "models", "records", "compare", "ledger", "answers/index")
_FOLDERS = ("machines", "workloads", "numbers", "experiments", "embed")


def nothing() -> Sequence[Record]:
    """Return no record."""
    return ()


def one_machine() -> Sequence[Record]:
    """Return one campaign."""
    return factory.campaign()


def no_gpu() -> Sequence[Record]:
    """Return the CPU's records of a machine without a GPU."""
    return [record for record in factory.campaign(machine=factory.PLAIN) if record.backend == "cpu"]


def many_machines() -> Sequence[Record]:
    """Return a campaign on each of many machines with long names."""
    names = (f"machine-{number:02d} of a very long and telling name, 16 cores" for number in range(_MACHINES))
    hosts = [msgspec.structs.replace(factory.HOST, name=name) for name in names]
    return [record for place, host in enumerate(hosts) for record in _of(host, f"20260101-{place:06d}-many")]


def _of(host: factory.Machine, campaign: str) -> Sequence[Record]:
    return factory.campaign(machine=host, campaign=campaign)


def many_keys() -> Sequence[Record]:
    """Return both sides of one model at so many batches that it has a thousand keys."""
    sides = {"cpu": 1e-4, "gpu": 1e-5}
    return [
        factory.record(backend=side, batch=batch, step_seconds=[batch * seconds] * 3)
        for batch in range(1, _BATCHES)
        for side, seconds in sides.items()
    ]


def hostile_text() -> Sequence[Record]:
    """Return records with a payload in every field that takes any text."""
    records, _, _ = hostile()
    return records


WORLDS: Mapping[str, Callable[[], Sequence[Record]]] = {
    "nothing": nothing,
    "one-machine": one_machine,
    "no-gpu": no_gpu,
    "many-machines": many_machines,
    "many-keys": many_keys,
    "hostile-text": hostile_text,
}


def pages_of(site: Path) -> Iterator[Path]:
    """Yield the pages of a world that are visited: those that every site has, and one of each folder."""
    yield from (site / f"{name}.html" for name in _ALWAYS)
    for folder in _FOLDERS:
        yield from sorted((site / folder).rglob("*.html"))[:1]
