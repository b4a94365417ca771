"""The data behind the pages: records, evidence and what follows from them, computed once for all pages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from suite import experiments
from suite.report.parts import placing
from suite.report.parts.headlines import headlines
from suite.report.parts.html import Html, links
from suite.report.parts.names import named
from suite.report.parts.overview import first
from suite.report.parts.templates import render
from suite.results.cite import stored_pools
from suite.results.cite.citation import Citation
from suite.results.cite.numbers import Numbers
from suite.results.cite.stored_pools import StoredPool
from suite.results.compare.reproducibility import Reproducibility, reproducibility
from suite.results.evidence import copyable
from suite.results.evidence.copyable import Compared
from suite.results.evidence.gallery import Gallery
from suite.results.evidence.learning import LearningCheck
from suite.results.evidence.parity import Parity, Trees
from suite.results.evidence.trust import Part
from suite.results.pooled import baselines, machine_evidence, pools, speedup
from suite.results.pooled.baselines import BaselineComparison
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.pools import Found, Pool
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.records import catalogue, store
from suite.results.records.machine import Machine
from suite.results.records.record import Record, plain_name
from suite.results.single.prices import Price
from suite.results.single.roofline import Roof, is_ceiling, roof
from suite.results.single.selection import by_machine
from suite.results.views.experiment_result import ExperimentResult
from suite.workload import Description

Answers = Mapping[str, Sequence[tuple[Machine, ExperimentResult]]]  # by experiment, then by machine
STEPS = "steps"  # folder of the copyable steps, in the site's sources and in the built site


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The data of all pages; derived values are computed on first use."""

    records: Sequence[Record]
    local: frozenset[str] = frozenset()  # unpublished campaigns
    prices: Sequence[Price] = ()
    site: str = ""  # the address at which it will be published; '' if unknown
    catalogue: Sequence[Description] = ()  # all workloads that can be measured
    stored: Sequence[StoredPool] = ()
    copied: Mapping[str, str] = field(default_factory=dict)  # copyable steps by workload
    timed: Sequence[Compared] = ()  # copyable steps against the suite's own
    networks: Parity | None = None
    boosted: Trees | None = None
    proof: Sequence[Part] = ()
    lessons: Sequence[LearningCheck] = ()
    drawn: Gallery | None = None

    @cached_property
    def measured(self) -> Sequence[Record]:
        """The records of documented models."""
        return [record for record in self.records if record.description.documented]

    @cached_property
    def general(self) -> Sequence[Record]:
        """The records of models, without those of experiments only."""
        return [record for record in self.measured if record.general]

    @cached_property
    def published(self) -> Sequence[Record]:
        """The published records."""
        return [record for record in self.records if record.campaign not in self.local]

    @cached_property
    def machines(self) -> Mapping[str, Sequence[Record]]:
        """Each machine's records, by its name in addresses."""
        return by_machine(self.records)

    def page(self, path: str, template: str = "", **values: Any) -> str:
        """Return the page at a path; names in its tables lead to the pages of models and machines."""
        return render(path, self.local, template, links=self.links["../" * path.count("/")], **values)

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """The models' names for people, by workload."""
        return named({record.workload: record.description.title for record in self.records})

    @cached_property
    def links(self) -> Mapping[str, Mapping[str, Html]]:
        """The addresses of the pages that names in tables lead to, by the way up to the site's root."""
        return {up: links(self.records, up) for up in ("", "../")}

    @cached_property
    def ceilings(self) -> Roof:
        """Each machine's ceilings."""
        return roof(self.records)

    @cached_property
    def places(self) -> Mapping[str, placing.Place]:
        """Each machine's place among the others."""
        steps = placing.headlines(self.current)
        return {slug: placing.place(steps, slug) for slug in self.machines}

    @cached_property
    def pools(self) -> Sequence[Pool]:
        """The pools of all records, with ceilings: they help to estimate the spread between hosts."""
        return pools.pools(self.records)

    @cached_property
    def published_pools(self) -> Sequence[Pool]:
        """The pools of the published records."""
        return pools.pools(self.published) if self.local else self.pools

    @cached_property
    def current(self) -> Found:
        """The current pool of each machine and case, without ceilings."""
        return {key: pool for key, pool in pools.current(self.pools).items() if not is_ceiling(pool.newest)}

    @cached_property
    def speedups(self) -> Sequence[PooledSpeedUp]:
        """The speed-ups of all machines."""
        return speedup.of_pools(self.current)

    @cached_property
    def baselines(self) -> Sequence[BaselineComparison]:
        """JAX's steps on all machines with their baselines."""
        return baselines.of_pools(self.current)

    @cached_property
    def baselines_of(self) -> Mapping[str, Sequence[BaselineComparison]]:
        """The steps with their baselines by machine."""
        by_name: dict[str, list[BaselineComparison]] = {slug: [] for slug in self.machines}
        for item in self.baselines:
            by_name.setdefault(item.machine, []).append(item)
        return by_name

    @cached_property
    def evidence(self) -> Mapping[str, Evidence]:
        """The evidence of each machine, by its name in addresses."""
        return machine_evidence.by_machines(self.records, self.current, self.speedups, self.pools)

    @cached_property
    def answers(self) -> Answers:
        """Each machine's answers, by experiment."""
        return {name: list(self._answers(name)) for name in experiments.names()}

    @cached_property
    def results(self) -> Mapping[str, Mapping[str, ExperimentResult]]:
        """What each experiment says of each machine, by its name in addresses."""
        return {name: {machine.slug: its for machine, its in of} for name, of in self.answers.items()}

    def _answers(self, name: str) -> Iterator[tuple[Machine, ExperimentResult]]:
        for each in self.evidence.values():
            result = experiments.load(name).read(each)
            if result is not None:
                yield each.records[0].machine, result

    @cached_property
    def reproducibility(self) -> Reproducibility:
        """How often the published numbers hold on the next machine."""
        return reproducibility(self.published_pools)

    @cached_property
    def numbers(self) -> Numbers:
        """The published numbers by key."""
        if self.local:
            return Numbers(self.published, self.stored, pools=self.published_pools)
        return Numbers(self.records, self.stored, pools=self.pools, speedups=self.speedups)

    @cached_property
    def citations(self) -> Sequence[Citation]:
        """The current published numbers, pinned if they are stored, as they are quoted; sorted by key."""
        return [Citation(number=number) for number in map(self.numbers.pinned, self.numbers.current.values())]

    @cached_property
    def headlines(self) -> Mapping[str, Sequence[Citation]]:
        """Each model's speed-ups of a headline step: quotable ones first, then the home page's machine."""
        return headlines(self.citations, first(self.speedups))


def read(
    folders: Sequence[Path], site: Path, prices: Sequence[Price] = (), address: str = ""
) -> tuple[Facts, tuple[str, ...]]:
    """Return the records below the folders and the evidence in the site's sources; and a line for each problem.

    The address is that of the published site, '' if unknown. The first folder holds the published records. A record
    whose name is unsafe for a page is skipped. Raises ValueError naming an invalid evidence file or catalogue.
    """
    records, problems = store.load(folders)
    shown, unfit = [], []
    for record in records:
        if all(map(plain_name, (record.workload, record.campaign, record.machine.slug))):
            shown.append(record)
        else:
            unfit.append(f"a record of campaign {record.campaign[:60]!r} has a name that no page may have; not shown")
    stored, spoiled = stored_pools.read(stored_pools.path(folders[0]))
    folder = site / "evidence"
    facts = Facts(
        records=shown,
        local=frozenset(record.campaign for record in shown) - store.campaigns(folders[0]),
        prices=prices,
        site=address,
        catalogue=catalogue.read(folders[0]),
        stored=stored,
        copied={path.stem: path.read_text(encoding="utf-8") for path in sorted((site / STEPS).glob("*.py"))},
        timed=copyable.read(folder),
        networks=Parity.read(folder),
        boosted=Trees.read(folder),
        proof=Part.read_all(folder),
        lessons=LearningCheck.read_all(folder),
        drawn=Gallery.read(folder),
    )
    return facts, (*problems, *unfit, *spoiled)
