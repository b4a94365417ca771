"""Resolve keys among the published records and the stored pools."""

import difflib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from suite.results.cite import one_host, pooled_numbers, stored_pools
from suite.results.cite.number import PINNED, RATIOS, Key, Number, key_of, parse
from suite.results.cite.stored_pools import StoredPool
from suite.results.pooled.grouping import case_of
from suite.results.pooled.pools import Found, Pool, current, pools
from suite.results.pooled.speedup import PooledSpeedUp, of_pools, of_ways
from suite.results.records.record import Record


class Numbers:
    """Every number of the records and of the stored pools, each part computed on first use."""

    def __init__(
        self,
        records: Iterable[Record],
        stored: Iterable[StoredPool] = (),
        pools: Sequence[Pool] | None = None,
        speedups: Sequence[PooledSpeedUp] | None = None,
    ) -> None:
        """Take the records, and their pools and speed-ups if already computed."""
        self._records = sorted(records, key=lambda record: record.created)
        self._stored = tuple(stored)
        self._all_pools, self._known_speedups = pools, speedups

    @cached_property
    def current(self) -> Mapping[str, Number]:
        """The current number of each key without a digest, sorted by key.

        It is of the current pool, else of the newest campaign, as for latencies and smoke.
        """
        newest = {number.key.unpinned.text(): number for number in one_host.numbers(self._records)}
        alone = {key: number for key, number in newest.items() if self._alias(number.key) not in self.pooled}
        return dict(sorted({**alone, **self.pooled}.items()))

    @cached_property
    def pooled(self) -> Mapping[str, Number]:
        """The numbers of the current pools, sorted by key."""
        return dict(sorted({**self._times, **self._ratios}.items()))

    @property
    def headline(self) -> tuple[Number, ...]:
        """The current ratios of JAX's headline steps, and the seconds of both sides."""
        return pooled_numbers.headline(self._speedups)

    def resolve(self, text: str) -> Number:
        """Return the number of a key.

        Raises ValueError if it is no key; LookupError, with the nearest key, if it has no number or its digest is
        ambiguous.
        """
        key = parse(text)
        number = self._pinned(key) if key.digest else self._current(key)
        if number is not None:
            return number
        if key.digest and self._current(key.unpinned) is not None:
            raise LookupError(
                f"nothing has key '{text}': no record and no stored pool under it has that digest; "
                f"'{key.unpinned.text()}' names its current number"
            )
        near = difflib.get_close_matches(key.unpinned.text(), self.current, 1)
        raise LookupError(f"nothing has key '{text}'" + (f"; the nearest is '{near[0]}'" if near else ""))

    def latest(self, number: Number) -> Number | None:
        """Return the current number of a number's key; None if its records are gone."""
        return self._current(number.key.unpinned)

    def pinned(self, number: Number) -> Number:
        """Return a current number under the key of its stored line; unchanged if it has none."""
        under_key = [] if number.digest else self._stored_under.get(number.key.text(), [])
        line = stored_pools.line_for(number, under_key) if under_key else None
        return stored_pools.under(number, line.digest) if line is not None else number

    @cached_property
    def _stored_under(self) -> Mapping[str, Sequence[StoredPool]]:
        lines: dict[str, list[StoredPool]] = defaultdict(list)
        for line in self._stored:
            lines[line.key].append(line)
        return lines

    def _pinned(self, key: Key) -> Number | None:
        under_key = self._stored_under.get(key.unpinned.text(), ())
        lines = {line.digest: line for line in under_key if line.digest.startswith(key.digest)}
        records = {r.digest: r for r in self._of(key) if r.digest.startswith(key.digest)}
        if len(lines) + len(records) > 1:
            several = ", ".join(digest[:PINNED] for digest in sorted({*lines, *records}))
            raise LookupError(f"key '{key.text()}' is ambiguous among {several}; give all {PINNED} or 64 digits")
        for line in lines.values():
            number = stored_pools.number_of(line, self._by_digest)
            now = self._current(key.unpinned) if key.metric in RATIOS else None
            return replace(number, slow_cpu=now.slow_cpu if now else "")
        for record in records.values():
            return one_host.of_record(record, key.metric, self._records)
        return None

    def _current(self, key: Key) -> Number | None:
        pooled = self._ratios if key.metric in RATIOS else self._times
        pooled_number = pooled.get(key.text()) or pooled.get(self._alias(key))
        if pooled_number is not None:
            return pooled_number
        given = (one_host.of_record(record, key.metric, self._records) for record in reversed(self._of(key)))
        return next((number for number in given if number is not None), None)

    @cached_property
    def _pools(self) -> Found:
        return current(pools(self._records) if self._all_pools is None else self._all_pools)

    @cached_property
    def _speedups(self) -> Sequence[PooledSpeedUp]:
        return of_pools(self._pools) if self._known_speedups is None else self._known_speedups

    @cached_property
    def _times(self) -> Mapping[str, Number]:
        return {number.key.text(): number for number in pooled_numbers.times(self._pools)}

    @cached_property
    def _ratios(self) -> Mapping[str, Number]:
        every = (*self._speedups, *of_ways(self._pools))
        both_sides = (*pooled_numbers.ratios(every), *pooled_numbers.thresholds(self._pools))
        return {number.key.text(): number for number in both_sides}

    def _alias(self, key: Key) -> str:
        """Return the key of the pool that evidence under a key belongs to, as for stand-ins and chosen threads."""
        for record in reversed(self._of(key)):
            return replace(key.unpinned, case=case_of(record).text(record.description.batch)).text()
        return key.unpinned.text()

    def _of(self, key: Key) -> Sequence[Record]:
        return self._by_key.get((key.machine, key.case), ())

    @cached_property
    def _by_key(self) -> Mapping[tuple[str, str], Sequence[Record]]:
        records: dict[tuple[str, str], list[Record]] = defaultdict(list)
        for record in self._records:
            key = key_of(record, "seconds")
            records[key.machine, key.case].append(record)
        return records

    @cached_property
    def _by_digest(self) -> Mapping[str, Record]:
        return {record.digest[:PINNED]: record for record in self._records}
