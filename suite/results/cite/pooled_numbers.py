"""The current numbers of pools: times, rates, speed-ups, and best over best."""

from collections.abc import Iterable, Iterator, Sequence

from suite.case import Case
from suite.results.cite.keys import Key
from suite.results.cite.number import Number, a_step
from suite.results.pooled.pools import Found, Pool
from suite.results.pooled.speedup import PooledSpeedUp, State, lacking
from suite.results.pooled.ways import way_words
from suite.results.records.record import STABLE, Record
from suite.results.stats.pooling import Pooled


def times(current: Found) -> Iterator[Number]:
    """Yield the seconds and rates of each machine's current pools."""
    for (machine, _), pool in current.items():
        record = of_machine(machine, pool)
        yield _time(machine, pool)
        for metric in ("examples-per-second", "flop-per-second"):
            quantity = a_step(record, metric)
            if quantity is not None:
                yield _number(machine, metric, pool.pooled.per(quantity), pool)


def ratios(speedups: Iterable[PooledSpeedUp]) -> Iterator[Number]:
    """Yield each speed-up of JAX and, for a default step, the best over the best."""
    for item in speedups:
        yield _speedup(item)
        if item.case.scope == "step" and item.case.variant == "plain":
            yield _best(item)


def headline(speedups: Iterable[PooledSpeedUp]) -> tuple[Number, ...]:
    """Return the ratios of JAX's headline steps, and the seconds of both sides, machine by machine."""
    steps = [item for item in speedups if of_machine(item.machine, item.gpu).headline_step()]
    sides = [(_time(item.machine, item.cpu), _time(item.machine, item.gpu)) for item in steps]
    return tuple(
        number
        for item, (cpu, gpu) in zip(steps, sides, strict=True)
        for number in (_speedup(item), _best(item), cpu, gpu)
    )


def of_machine(machine: str, pool: Pool) -> Record:
    """Return the pool's newest record of the machine; other machines of its kind have other names."""
    return next(record for record in reversed(pool.records) if record.machine.slug == machine)


def _speedup(item: PooledSpeedUp) -> Number:
    members = (*item.cpu.records, *item.gpu.records)
    record = of_machine(item.machine, item.gpu)
    return _made(
        _key(item.machine, item.case, "speedup", record), item.ratio, item.state, item.reasons, record, members
    )


def _best(item: PooledSpeedUp) -> Number:
    cpu, gpu = item.best_cpu, item.best_gpu
    record, reasons = of_machine(item.machine, gpu), (*item.apart, *lacking(item.best_over_best))
    state: State = "invalid" if item.apart else "open" if reasons else "quotable"
    key, members = _key(item.machine, item.case, "best-over-best", record), (*cpu.records, *gpu.records)
    ways = f"{way_words(cpu.case)} on the CPU, {way_words(gpu.case)} on the GPU"
    return _made(key, item.best_over_best, state, reasons, record, members, ways)


def _time(machine: str, pool: Pool) -> Number:
    return _number(machine, "seconds", pool.pooled, pool)


def _number(machine: str, metric: str, value: Pooled, pool: Pool) -> Number:
    reasons, record = tuple(lacking(value)), of_machine(machine, pool)
    state: State = "open" if reasons else "quotable"
    return _made(_key(machine, pool.case, metric, record), value, state, reasons, record, pool.records)


def _key(machine: str, case: Case, metric: str, record: Record) -> Key:
    return Key(machine=machine, case=case.text(record.description.batch), metric=metric)


def _made(
    key: Key,
    value: Pooled,
    state: State,
    reasons: Sequence[str],
    record: Record,
    members: tuple[Record, ...],
    ways: str = "",
) -> Number:
    provisional = sorted({member.schema for member in members} - STABLE)
    return Number(
        key=key,
        value=value,
        state="open" if provisional and state == "quotable" else state,
        reasons=(*reasons, *(f"{schema} was provisional" for schema in provisional)),
        record=record,
        members=members,
        digest="",
        ways=ways,
    )
