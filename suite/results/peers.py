"""Peers: the other implementations of one case in one campaign, each with its time over this one's."""

from collections.abc import Iterable

import msgspec

from suite.results.statistics import Estimate
from suite.results.summary import Summary, time_ratio
from suite.variants import peer_name, variants_of


def peers_of(mine: Summary, group: Iterable[Summary]) -> tuple[tuple[Summary, Estimate], ...]:
    """Return the other implementations of the same case, each with its time over mine."""
    found = []
    for other in others_of(mine, group):
        over = time_ratio(other, mine)
        if over is not None:
            found.append((other, over))
    return tuple(found)


def way(item: Summary) -> tuple[str, str]:
    """Return how a step was implemented, whatever the allocator: implementation and variant."""
    return item.record.case.implementation, item.record.case.variant


def untimed(peers: Iterable[tuple[Summary, Estimate]]) -> tuple[str, ...]:
    """Return the names of the ways that these implementations have on their backend and that are not among them.

    A CPU where memory was kept throughout has the system's allocator too, which serves some programs better.
    """
    cases = [peer.record.case for peer, _ in peers]
    timed = {(case.implementation, case.variant) for case in cases}
    each = {case.implementation: case for case in cases}.values()
    ways = [
        peer_name(msgspec.structs.replace(case, variant=variant))
        for case in sorted(each, key=lambda case: case.implementation)
        for variant in variants_of(case.implementation, case.backend)
        if (case.implementation, variant) not in timed
    ]
    if {(case.backend, case.allocator) for case in cases} == {("cpu", "retaining")}:
        ways.append("the system allocator")
    return tuple(ways)


def others_of(mine: Summary, group: Iterable[Summary]) -> Iterable[Summary]:
    """Yield the results of other implementations of the same case, whatever they are worth."""
    own = mine.record.compared_as
    for other in group:
        theirs = msgspec.structs.replace(
            other.record.compared_as, implementation=own.implementation, variant=own.variant, layout=own.layout
        )
        if other.record.case.implementation != own.implementation and theirs == own:
            yield other
