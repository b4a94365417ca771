"""Numbers as the answers' sentences quote them: with interval, link and keys; and names with links to their pages."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from suite import units
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html, address, record_address
from suite.results.cite.citation import Citation
from suite.results.cite.number import Key
from suite.results.cite.pooled_numbers import of_machine, threshold_key
from suite.results.pooled.machine_evidence import Evidence, over, rate_over
from suite.results.pooled.pools import OUTDATED, Pool
from suite.results.pooled.speedup import PooledSpeedUp, lacking
from suite.results.pooled.thresholds import Threshold
from suite.results.records.machine import Machine
from suite.results.records.record import Record
from suite.results.stats.pooling import Pooled
from suite.results.stats.statistics import Estimate
from suite.workload import Description

_UP = "../"  # from a page of an answer to the site's root
FEW_HOSTS = re.compile(r"(\d+ hosts?) of (\d+)")


@dataclass(frozen=True, kw_only=True)
class Quoted:
    """A number as a sentence quotes it: with its interval and a link; its keys; and why it may not be quoted."""

    words: Html
    keys: tuple[str, ...]
    doubtful: frozenset[str] = frozenset()  # those whose own number may not be quoted
    caveat: str = ""


@dataclass(frozen=True, kw_only=True)
class Quoting:
    """Quotes numbers of one machine, and names its machine and models with links to their pages."""

    facts: Facts
    evidence: Evidence

    @property
    def machine(self) -> Machine:
        """The machine as its newest record describes it."""
        return max(self.evidence.records, key=lambda record: record.created).machine

    @property
    def gpu(self) -> Html:
        """The name of the machine's GPU, or else its own."""
        machine = self.machine
        name = machine.gpus[0].name.removeprefix("NVIDIA ") if machine.gpus else machine.name
        return Html('<a href="{}machines/{}.html">{}</a>').format(_UP, address(machine.slug), name)

    @property
    def cores(self) -> str:
        """The machine's cores in words."""
        machine = self.machine
        return units.pluralize(machine.cores, "virtual core" if machine.virtual else "core")

    def model(self, about: Description) -> Html:
        """Return a model's name, in quotation marks if a comma in it would part the sentence."""
        name = f"“{about.title}”" if "," in about.title else about.title
        return Html('<a href="{}workloads/{}.html">{}</a>').format(_UP, address(about.name), name)

    def speedup(self, item: PooledSpeedUp) -> Quoted:
        """Return a speed-up."""
        return self.following(ratio_words(item.ratio), [item])

    def best_over_best(self, item: PooledSpeedUp) -> Quoted:
        """Return the fastest CPU way's time over the fastest GPU way's."""
        key, caveat = self._key(item.gpu, "best-over-best"), why_not(lacking(item.best_over_best))
        return self._quoted(ratio_words(item.best_over_best), [key], item.record, caveat)

    def ratio(self, one: Pool, other: Pool) -> Quoted:
        """Return a pool's time over another's, which follows from both."""
        return self._of_ratio(over(one, other), one, other)

    def rate(self, one: Pool, other: Pool) -> Quoted:
        """Return a pool's examples a second over another's, which follow from both."""
        return self._of_ratio(rate_over(one, other), one, other)

    def _of_ratio(self, ratio: Pooled, one: Pool, other: Pool) -> Quoted:
        return self.of_pools(ratio_words(ratio), [one, other], why_not(lacking(ratio)))

    def seconds(self, pool: Pool) -> Quoted:
        """Return a pool's time."""
        value = pool.pooled
        words = units.seconds(value.value, units.half_width(value.low, value.high))
        within = units.seconds_interval(value.low, value.high) if value.low is not None else "no interval"
        return self.of_pools(f"{words} ({within})", [pool], why_not(lacking(value)))

    def threshold(self, item: Threshold, words: str) -> Quoted:
        """Return a threshold, given in words."""
        return self._quoted(words, [threshold_key(item)], item.around[-1].gpu.newest, why_not(item.reasons))

    def following(self, words: str, items: Sequence[PooledSpeedUp]) -> Quoted:
        """Return a number, given in words, that follows from these speed-ups."""
        keys = [self._key(item.gpu, "speedup") for item in items]
        caveats = [why_not(item.reasons) for item in items if not item.quotable]
        return self._quoted(words, keys, items[0].record, caveats[0] if caveats else "")

    def of_pools(self, words: str, pools: Sequence[Pool], caveat: str) -> Quoted:
        """Return a number, given in words, that follows from these times."""
        return self._quoted(words, [self._key(pool, "seconds") for pool in pools], pools[-1].newest, caveat)

    def of_record(self, words: str, record: Record) -> Html:
        """Return a number, given in words, with a link to its record: of one campaign, so it may not be quoted."""
        place = record_address(record, _UP, record.campaign in self.facts.local)
        return Html('<a href="{}">{}</a>').format(place, words)

    def _key(self, pool: Pool, metric: str) -> Key:
        slug = self.machine.slug if self.machine.slug in pool.machines else pool.newest.machine.slug
        own = of_machine(slug, pool)
        return Key(machine=slug, case=pool.case.text(own.description.batch), metric=metric)

    def _quoted(self, words: str, keys: Sequence[Key], record: Record, caveat: str) -> Quoted:
        """Return words that lead to the row of a published number, or to the record if none is published."""
        numbers = [self.facts.numbers.current.get(key.text()) for key in keys]
        cited = [number and Citation(number=self.facts.numbers.pinned(number), site=_UP) for number in numbers]
        names = tuple(each.key if each else key.text() for key, each in zip(keys, cited, strict=True))
        known = next(filter(None, cited), None)
        local = record.campaign in self.facts.local
        place = address(known.permalink) if known else record_address(record, _UP, local)
        doubtful = {name for name, number in zip(names, numbers, strict=True) if number is None or not number.quotable}
        link = Html('<a href="{}">{}</a>').format(place, words)
        return Quoted(words=link, keys=names, doubtful=frozenset(doubtful), caveat=caveat)


def why_not(reasons: Iterable[str]) -> str:
    """Return the first reason why a number may not be quoted, after an earlier method of timing also too few hosts."""
    first, second, *_ = (*reasons, "", "")
    return f"{first}; {second}" if first == OUTDATED and FEW_HOSTS.fullmatch(second) else first


def ratio_words(ratio: Pooled | Estimate) -> str:
    """Return a ratio with its interval, or a remark that it has none."""
    within = units.interval(ratio.low, ratio.high)
    return f"{units.ratio(ratio.value, ratio.low, ratio.high)} ({within if within != units.DASH else 'no interval'})"


def span(numbers: Sequence[Quoted]) -> Html:
    """Return the least and the most of several numbers, or the one there is."""
    return Html(" to ").join(dict.fromkeys(number.words for number in numbers))


def listed(names: Sequence[Html | str]) -> Html:
    """Return names as a list in words."""
    return Html(" and ").join(filter(None, (Html(", ").join(names[:-1]), names[-1]))) if names else Html("")
