"""Prices per hour of machines, from a user's file, and the cost of a measured step."""

import math
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from suite.results.records.machine import Machine
from suite.results.stats.statistics import Estimate
from suite.workload import Plain

SHIPPED = Path(__file__).with_name("prices.toml")
_LARGEST_BYTES = 2**20
_LONGEST = 300  # characters of a text
_DATE = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")
_CURRENCY = re.compile(r"[A-Z]{3}")
_HIGHEST = 1e6  # an hour


class Price(Plain, frozen=True, kw_only=True):
    """The price of an hour of one kind of machine."""

    per_hour: float  # of the whole machine
    currency: str  # ISO 4217
    date: str
    source: str
    machine: str = ""  # the name on the site
    gpu: str = ""  # or words of the GPU's name
    gpus: int = 1
    cpu: str = ""  # or words of the CPU's name, with its cores: of a machine without a GPU
    cores: int = 0
    provider: str = ""
    instance: str = ""  # as the provider calls it
    region: str = ""

    @property
    def words(self) -> str:
        """Who asks it for what and when, and where that is said."""
        offer = ", ".join(filter(None, (self.provider, self.instance, self.region)))
        return f"Price of {self.date}: {offer}{'; ' * bool(offer)}{self.source}."


def read(path: Path = SHIPPED) -> tuple[Price, ...]:
    """Return the prices of a file in the format of the shipped one.

    Raises ValueError with the file, the price and the field if it is invalid.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_BYTES + 1)
        if len(content) > _LARGEST_BYTES:
            raise ValueError(f"more than the {_LARGEST_BYTES} bytes that it may have")
        table = tomllib.loads(content.decode("utf-8-sig"))  # a byte order mark is no fault
    except OSError as error:
        raise ValueError(f"cannot read the prices in '{path}': {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:  # a TOMLDecodeError says line and column
        raise ValueError(f"'{path}' is no file of prices: {error}; '{SHIPPED.name}' of the suite shows one") from None
    listed = table.pop("price", None)
    if table or not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        there = ", ".join(f"'{name[:40]}'" for name in list(table)[:3]) or "none"
        raise ValueError(f"'{path}' must hold [[price]] entries and nothing else; there are: {there}")
    prices: list[Price] = []
    for number, entry in enumerate(listed, 1):
        try:
            price = _price(entry)
            if any(_kind(price) == _kind(other) for other in prices):
                raise ValueError("is the second one for this machine; keep one")
        except ValueError as error:
            raise ValueError(f"'{path}', price {number}: {error}") from None
        prices.append(price)
    return tuple(prices)


def _kind(price: Price) -> tuple[str, tuple[str, ...], int, tuple[str, ...], int]:
    return price.machine, _words(price.gpu), price.gpus, _words(price.cpu), price.cores


def _price(entry: dict[str, Any]) -> Price:
    fields = Price.__struct_fields__
    for name in entry:
        if name not in fields:
            raise ValueError(f"has no field '{name[:40]}'; there are: {', '.join(fields)}")
    for name in ("per_hour", "currency", "date", "source"):
        if name not in entry:
            raise ValueError(f"lacks '{name}'")
    for name in ("currency", "date", "source", "machine", "gpu", "cpu", "provider", "instance", "region"):
        value = entry.get(name, "")
        if not isinstance(value, str) or len(value) > _LONGEST or not value.isprintable():
            raise ValueError(f"'{name}' must be a printable text of at most {_LONGEST} characters")
    amount, gpus = entry["per_hour"], entry.get("gpus", 1)
    if isinstance(amount, bool) or not isinstance(amount, int | float) or not 0 < amount <= _HIGHEST:
        raise ValueError(f"'per_hour' must be a number above 0, at most {_HIGHEST:,.0f}")
    if isinstance(gpus, bool) or not isinstance(gpus, int) or not 1 <= gpus <= 1024:
        raise ValueError("'gpus' must be a whole number from 1 to 1024")
    _check_cores(entry)
    if not _CURRENCY.fullmatch(entry["currency"]):
        raise ValueError("'currency' must be three capital letters such as USD")
    if not _DATE.fullmatch(entry["date"]):
        raise ValueError("'date' must be YYYY, YYYY-MM or YYYY-MM-DD")
    if not entry["source"].strip():
        raise ValueError("'source' must say where the price was found")
    if sum(map(bool, (entry.get("machine"), _words(entry.get("gpu", "")), _words(entry.get("cpu", ""))))) != 1:
        raise ValueError(
            "must have either 'machine', a name on the site, or 'gpu', words of a GPU's name, or 'cpu' with 'cores'"
        )
    return Price(**{**entry, "per_hour": float(amount)})


def _check_cores(entry: dict[str, Any]) -> None:
    """Raise ValueError unless 'cores' is a count that stands with 'cpu'."""
    cores = entry.get("cores")
    if bool(entry.get("cpu")) != (cores is not None):
        raise ValueError("must have 'cpu' and 'cores' together")
    if cores is not None and (isinstance(cores, bool) or not isinstance(cores, int) or not 1 <= cores <= 65536):
        raise ValueError("'cores' must be a whole number from 1 to 65536")


def price_of(machine: Machine, prices: Iterable[Price]) -> Price | None:
    """Return a machine's price: by its name, else by its GPUs, the longest description first; None if unknown.

    One without a GPU has its CPU's price.
    """
    listed = list(prices)
    for price in listed:
        if price.machine and price.machine in (machine.name, machine.slug):
            return price
    if not machine.gpus:
        return price_of_cpu(machine, listed)
    names = [set(_words(gpu.name)) for gpu in machine.gpus]
    of_count = [price for price in listed if price.gpu and price.gpus == len(names)]
    fitting = [price for price in of_count if all(set(_words(price.gpu)) <= name for name in names)]
    if any(gpu.slice for gpu in machine.gpus):  # a slice has a price of its own
        fitting = [price for price in fitting if "mig" in _words(price.gpu)]
    return max(fitting, key=lambda p: len(_words(p.gpu)), default=None)


def price_of_cpu(machine: Machine, prices: Iterable[Price]) -> Price | None:
    """Return the price of a machine with this CPU and as many cores, but no GPU; None if unknown."""
    own, listed = set(_words(machine.cpu_model)), list(prices)
    if not machine.gpus and (named := [price for price in listed if price.machine in (machine.name, machine.slug)]):
        return named[0]
    of_count = [price for price in listed if price.cpu and price.cores == machine.cores]
    fitting = [price for price in of_count if set(_words(price.cpu)) <= own]
    return max(fitting, key=lambda price: len(_words(price.cpu)), default=None)


def _words(name: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[a-z0-9]+", name.lower()))


def cost(examples_per_second: Estimate, examples: int, price: Price) -> Estimate:
    """Return the cost of so many examples at a throughput, in the price's currency, with its interval."""
    hours = examples / 3600

    def at(rate: float | None) -> float | None:
        return None if rate is None or not 0 < rate < math.inf else price.per_hour * hours / rate

    return Estimate(
        value=price.per_hour * hours / examples_per_second.value,
        low=at(examples_per_second.high),
        high=at(examples_per_second.low),
        processes=examples_per_second.processes,
    )
