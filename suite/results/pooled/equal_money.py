"""A step's cost on a kind of CPU and on a kind of GPU, at the prices of an hour of each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from suite.results.pooled.kinds import Pair
from suite.results.single.prices import Price, price_of, price_of_cpu
from suite.results.stats.pooling import Pooled
from suite.results.stats.statistics import Estimate


@dataclass(frozen=True, kw_only=True)
class EqualMoney:
    """A pair with the GPU's price; the CPU's is None if unknown or in another currency."""

    pair: Pair
    gpu: Price  # of a machine with one such GPU
    cpu: Price | None

    @property
    def equal_per_hour(self) -> Pooled:
        """What an hour of the CPU would cost if a step cost the same on both."""
        return self.pair.mean.per(self.gpu.per_hour)

    @property
    def over(self) -> Estimate | None:
        """A step's cost on the CPU over that on the GPU; None if the CPU's price is unknown."""
        return self.pair.mean.estimate.times(self.cpu.per_hour / self.gpu.per_hour) if self.cpu else None

    @property
    def cores(self) -> float | None:
        """Cores of this CPU for the price of the GPU; None if the CPU's price is unknown."""
        return self.pair.cpu.machine.cores * self.gpu.per_hour / self.cpu.per_hour if self.cpu else None


def equal_money(pairs: Iterable[Pair], prices: Sequence[Price]) -> tuple[EqualMoney, ...]:
    """Return the pairs whose GPU has a price."""
    known = []
    for pair in pairs:
        gpu, cpu = price_of(pair.other.machine, prices), price_of_cpu(pair.cpu.machine, prices)
        if gpu is not None:
            known.append(EqualMoney(pair=pair, gpu=gpu, cpu=cpu if cpu and cpu.currency == gpu.currency else None))
    return tuple(known)
