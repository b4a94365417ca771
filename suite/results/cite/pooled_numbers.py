"""The current numbers of pools: times, rates, speed-ups, and best over best."""

from collections.abc import Iterable, Iterator

from suite.results.cite.number import Key, Number, a_step
from suite.results.pooled.pools import Found, Pool
from suite.results.pooled.speedup import PooledSpeedUp, lacking, state_of
from suite.results.pooled.ways import way_words
from suite.results.records.record import Record
from suite.results.stats.pooling import Pooled


def times(current: Found) -> Iterator[Number]:
    """Yield the seconds and rates of each machine's current pools."""
    for (machine, _), pool in current.items():
        yield _time(machine, pool)
        for metric in ("examples-per-second", "flop-per-second"):
            quantity = a_step(of_machine(machine, pool), metric)
            if quantity is not None:
                yield _time(machine, pool, metric, pool.pooled.per(quantity))


def ratios(speedups: Iterable[PooledSpeedUp]) -> Iterator[Number]:
    """Yield each speed-up and, for JAX's default step, the best over the best."""
    for item in speedups:
        yield _speedup(item)
        if (item.case.scope, item.case.implementation, item.case.variant) == ("step", "jax", "plain"):
            yield _best(item)


def headline(speedups: Iterable[PooledSpeedUp]) -> tuple[Number, ...]:
    """Return the ratios of JAX's headline steps, and the seconds of both sides, machine by machine."""
    return tuple(
        number
        for item in speedups
        if of_machine(item.machine, item.gpu).headline_step()
        for number in (_speedup(item), _best(item), _time(item.machine, item.cpu), _time(item.machine, item.gpu))
    )


def of_machine(machine: str, pool: Pool) -> Record:
    """Return the pool's newest record of the machine; other machines of its kind have other names."""
    return next(record for record in reversed(pool.records) if record.machine.slug == machine)


def _time(machine: str, pool: Pool, metric: str = "seconds", value: Pooled | None = None) -> Number:
    value = value or pool.pooled
    reasons = tuple(lacking(value, pool.records))
    return Number(
        key=_key(machine, pool, metric),
        value=value,
        state=state_of(reasons),
        reasons=reasons,
        record=of_machine(machine, pool),
        members=pool.records,
    )


def _speedup(item: PooledSpeedUp) -> Number:
    return Number(
        key=_key(item.machine, item.gpu, "speedup"),
        value=item.ratio,
        state=item.state,
        reasons=item.reasons,
        record=of_machine(item.machine, item.gpu),
        members=(*item.cpu.records, *item.gpu.records),
    )


def _best(item: PooledSpeedUp) -> Number:
    cpu, gpu, value = item.best_cpu, item.best_gpu, item.best_over_best
    members = (*cpu.records, *gpu.records)
    reasons = tuple(lacking(value, members))
    return Number(
        key=_key(item.machine, item.gpu, "best-over-best"),
        value=value,
        state=state_of(reasons, item.apart),
        reasons=(*item.apart, *reasons),
        record=of_machine(item.machine, gpu),
        members=members,
        ways=f"{way_words(cpu.case)} on the CPU, {way_words(gpu.case)} on the GPU",
    )


def _key(machine: str, pool: Pool, metric: str) -> Key:
    return Key(machine=machine, case=pool.case.text(of_machine(machine, pool).description.batch), metric=metric)
