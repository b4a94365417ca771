"""How JAX stands: its steps beside those of other implementations, of one machine and campaign."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from suite.results.peers import peers_of, untimed, way
from suite.results.record import Record
from suite.results.selection import campaign_recency
from suite.results.statistics import Estimate, product
from suite.results.summary import COUNTED, SOUND, Status, Summary, better, by_round, summary, wide, worse


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One step of JAX, with the allocator that serves it better, and the same step of others."""

    mine: Summary
    peers: tuple[tuple[Summary, Estimate], ...]  # fastest first, each with its time over mine; never empty
    against: "Standing | None" = None  # a newer one that left the fastest way out, and in which JAX does worse

    @property
    def best_peer(self) -> Summary:
        """The fastest other implementation that ran."""
        return self.peers[0][0]

    @property
    def ratio(self) -> Estimate:
        """The best peer's time over JAX's: above 1, JAX is the faster one."""
        return self.peers[0][1]

    @property
    def untimed(self) -> tuple[str, ...]:
        """The ways that the peers have on this backend and that gave no time here: one of them may be the fastest."""
        return untimed(self.peers)

    @property
    def ways(self) -> frozenset[tuple[str, str]]:
        """The ways of the peers that were timed and may be counted with: implementation and variant."""
        return frozenset(way(peer) for peer, _ in self.peers if peer.status in COUNTED)

    @property
    def status(self) -> Status:
        """The worse one of the two sides' statuses; of sound ones unstable if the ratio's own interval is wide."""
        sides = worse(self.mine.status, self.best_peer.status)
        return "unstable" if sides in SOUND and self._doubt else sides

    @property
    def reasons(self) -> tuple[str, ...]:
        """What troubled either side, or the ratio."""
        sides = [f"{s.record.case.implementation}: {words}" for s in (self.mine, self.best_peer) for words in s.reasons]
        return tuple(filter(None, (*sides, self._doubt)))

    @property
    def _doubt(self) -> str:
        return wide(self.mine.record, self.ratio)


def standings(records: Iterable[Record]) -> tuple[Standing, ...]:
    """Return the standing of each machine and case of JAX that was compared, by machine and backend.

    It is of the newest campaign that timed the fastest way of a peer that is known.
    """
    campaigns: dict[tuple[str, str, str], list[Summary]] = defaultdict(list)
    for record in records:
        if record.case.scope == "step":
            campaigns[record.campaign, record.machine.slug, record.workload].append(summary(record))
    found: dict[tuple[str, str, str, str], list[Standing]] = defaultdict(list)
    for group in sorted(campaigns.values(), key=lambda g: campaign_recency(item.record for item in g)):
        for item in _standings(group):
            record = item.mine.record
            case = record.case.timed.of_either_allocator.text(record.description.batch)
            found[record.machine.slug, record.backend, record.case.precision, case].append(item)
    return tuple(_fair(found[place]) for place in sorted(found))


def _fair(items: Sequence[Standing]) -> Standing:
    """Return of one case's standings, the newest last, the one that is fair to the peers.

    Which way is the fastest is known from the newest campaign that timed most of them. A newer campaign counts if it
    timed that way too: one that left it out would let JAX look better. Where it lets it look worse all the same, that
    is known of the one that counts.
    """
    fullest = max(reversed(items), key=lambda item: len(item.ways))
    fastest = way(fullest.best_peer)
    found = next((item for item in reversed(items) if fastest in item.ways), fullest)
    newer = [item for item in items[items.index(found) + 1 :] if item.best_peer.status in COUNTED]
    worst = min(newer, key=lambda item: item.ratio.value, default=found)
    return replace(found, against=worst) if worst.ratio.value < found.ratio.value else found


def _standings(group: Sequence[Summary]) -> Iterable[Standing]:
    ways = defaultdict(list)
    for item in group:
        if item.record.case.implementation == "jax":
            ways[item.record.case.of_either_allocator].append(item)
    for allocators in ways.values():
        mine = better(allocators)
        peers = sorted(peers_of(mine, group), key=lambda peer: peer[1].value) if mine else []
        if mine is not None and mine.status != "invalid" and peers:
            yield Standing(mine=mine, peers=tuple(peers))


@dataclass(frozen=True, kw_only=True)
class Overall:
    """The geometric mean of standings."""

    ratio: Estimate
    networks: int  # that it was taken over
    items: tuple[Standing, ...]  # that it was taken over: a network may have several


def overall(items: Iterable[Standing]) -> Overall | None:
    """Return the geometric mean of JAX's plain steps at the headline batch; None if those of a campaign share no round.

    Its interval is of these networks as they were measured. Those of one campaign are taken together by round, since
    what disturbs one may disturb all; campaigns are independent. The data-parallel model does not count, nor do trees,
    which are no network. Networks that have the same counts, as they differ in data or dropout alone, count as one with
    the mean of their ratios.
    """
    networks: dict[tuple, list[Standing]] = defaultdict(list)
    for item in items:
        about, case = item.mine.record.description, item.mine.record.case
        plain = (case.variant, case.devices, case.batch) == ("plain", 1, about.batch)
        if plain and about.is_network:
            networks[about.network].append(item)
    weighed = [(item, 1 / (len(networks) * len(same))) for same in networks.values() for item in same]
    factors = list(_factors(weighed))
    if not factors or not all(factors):
        return None
    counted = tuple(item for item, _ in weighed)
    return Overall(ratio=product(factors), networks=len(networks), items=counted)


def _factors(weighed: Iterable[tuple[Standing, float]]) -> Iterable[list[float]]:
    """Yield by what each campaign multiplies the mean, in each of the rounds that its standings share."""
    campaigns: dict[str, list[tuple[dict[int, float], float]]] = defaultdict(list)
    for item, weight in weighed:
        campaigns[item.mine.record.campaign].append((_logarithms(item), weight))
    for parts in campaigns.values():
        rounds = set.intersection(*(set(logarithms) for logarithms, _ in parts))
        yield [math.exp(math.fsum(weight * logarithms[r] for logarithms, weight in parts)) for r in sorted(rounds)]


def _logarithms(item: Standing) -> dict[int, float]:
    mine, theirs = by_round(item.mine.record), by_round(item.best_peer.record)
    return {r: math.log(theirs[r] / mine[r]) for r in mine.keys() & theirs.keys()}
