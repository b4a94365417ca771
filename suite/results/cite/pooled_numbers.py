"""The current numbers of pools: times, rates, speed-ups, and best over best."""

from collections.abc import Iterable, Iterator

import msgspec

from suite.results.cite.number import Key, Number, a_step
from suite.results.pooled.kernel_time import too_short
from suite.results.pooled.pools import Found, Pool
from suite.results.pooled.speedup import PooledSpeedUp, lacking, state_of
from suite.results.pooled.thresholds import Threshold
from suite.results.pooled.thresholds import thresholds as pooled_thresholds
from suite.results.pooled.ways import way_words
from suite.results.records.record import Record
from suite.results.stats.pooling import Pooled


def times(current: Found) -> Iterator[Number]:
    """Yield the seconds and rates of each machine's current pools."""
    for (machine, _), pool in current.items():
        impossible = too_short(machine, pool, current)
        yield _time(machine, pool, impossible)
        for metric in ("examples-per-second", "flop-per-second"):
            quantity = a_step(of_machine(machine, pool), metric)
            if quantity is not None:
                yield _time(machine, pool, impossible, metric, pool.pooled.per(quantity))


def ratios(speedups: Iterable[PooledSpeedUp]) -> Iterator[Number]:
    """Yield each speed-up and, for JAX's default step, the best over the best."""
    for item in speedups:
        yield _speedup(item)
        if (item.case.scope, item.case.implementation, item.case.variant) == ("step", "jax", "plain"):
            yield _best(item)


def thresholds(current: Found) -> Iterator[Number]:
    """Yield each threshold that lies between two measured sizes, under the name of its family."""
    for item in pooled_thresholds(current):
        turn = item.found
        if item.known and turn.size is not None:
            _, above = item.around
            yield Number(
                key=threshold_key(item),
                value=Pooled(value=turn.size, low=turn.low, high=turn.high, hosts=item.hosts, processes=item.processes),
                state=item.state,
                reasons=item.reasons,
                record=of_machine(item.machine, above.gpu),
                members=item.records,
            )


def speedup_key(item: PooledSpeedUp) -> Key:
    """Return the key of a speed-up: that of its GPU side's case."""
    return _key(item.machine, item.gpu, "speedup")


def threshold_key(item: Threshold) -> Key:
    """Return the key of a threshold: that of a step of its family in its way, at the usual batch."""
    first, *_ = item.calls
    case = msgspec.structs.replace(first.case, workload=item.family)
    return Key(machine=item.machine, case=case.text(case.batch), metric=f"{item.unit.lower()}-threshold")


def headline(speedups: Iterable[PooledSpeedUp]) -> tuple[Number, ...]:
    """Return the ratios of JAX's headline steps, and the seconds of both sides, machine by machine."""
    return tuple(
        number
        for item in speedups
        if of_machine(item.machine, item.gpu).headline_step()
        for number in (
            _speedup(item),
            _best(item),
            _time(item.machine, item.cpu),
            _time(item.machine, item.gpu, item.impossible),
        )
    )


def of_machine(machine: str, pool: Pool) -> Record:
    """Return the pool's newest record of the machine; other machines of its kind have other names."""
    return next(record for record in reversed(pool.records) if record.machine.slug == machine)


def _time(
    machine: str, pool: Pool, impossible: tuple[str, ...] = (), metric: str = "seconds", value: Pooled | None = None
) -> Number:
    value = value or pool.pooled
    reasons = (*impossible, *lacking(value, pool.records))
    return Number(
        key=_key(machine, pool, metric),
        value=value,
        state=state_of(reasons, impossible),
        reasons=reasons,
        record=of_machine(machine, pool),
        members=pool.records,
    )


def _speedup(item: PooledSpeedUp) -> Number:
    return Number(
        key=speedup_key(item),
        value=item.ratio,
        state=item.state,
        reasons=item.reasons,
        record=of_machine(item.machine, item.gpu),
        members=(*item.cpu.records, *item.gpu.records),
        slow_cpu=item.marked_slow,
    )


def _best(item: PooledSpeedUp) -> Number:
    cpu, gpu, value = item.best_cpu, item.best_gpu, item.best_over_best
    sides = {id(pool): pool for pool in (cpu, gpu, item.cpu, item.gpu)}
    members = tuple(record for pool in sides.values() for record in pool.records)
    reasons, wrong = tuple(lacking(value, members)), (*item.apart, *item.impossible)
    return Number(
        key=_key(item.machine, item.gpu, "best-over-best"),
        value=value,
        state=state_of(reasons, wrong),
        reasons=(*wrong, *reasons),
        record=of_machine(item.machine, gpu),
        members=members,
        ways=f"{way_words(cpu.case)} on the CPU, {way_words(gpu.case)} on the GPU",
        slow_cpu=item.marked_slow if cpu is item.cpu else "",
    )


def _key(machine: str, pool: Pool, metric: str) -> Key:
    return Key(machine=machine, case=pool.case.text(of_machine(machine, pool).description.batch), metric=metric)
