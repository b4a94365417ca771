"""Frameworks: for how many models JAX is surely faster than the fastest other one, on the GPU and on the CPU."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from suite import units
from suite.report.answers._own_chart import OwnChart
from suite.report.parts.answer import Answer, Question
from suite.report.parts.facts import Facts
from suite.report.parts.frameworks import name_of, over_networks
from suite.report.parts.html import Html
from suite.report.parts.quoted import Quoted, Quoting, listed, ratio_words, why_not
from suite.results.pooled.baselines import BaselineComparison
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.speedup import lacking
from suite.results.pooled.ways import Way
from suite.results.views.experiment_result import Chart, Point
from suite.results.views.rows import row_of
from suite.results.views.table import HOSTS, INTERVAL, STATUS, Table, standing_cells, times_cells

_Compared = tuple[BaselineComparison, Way]
_ASKED = ("torch", "keras")  # by the question
_GLOSSES = {
    "torch compile-graph": " (torch.compile, replayed as a CUDA graph)",
    "torch graph": " (eager PyTorch, replayed as a CUDA graph)",
    "torch eager": " (PyTorch without torch.compile)",
}


def answer(facts: Facts, evidence: Evidence) -> Answer | None:
    """Return for how many networks JAX is surely faster than the fastest baseline, on the GPU and on the CPU."""
    compared = facts.baselines_of[evidence.records[0].machine.slug]
    steps = (each for each in compared if each.mine.headline_step() and _asked(each))
    items = [(each, each.best) for each in steps]
    known = sorted(((each, best) for each, best in items if best), key=lambda pair: pair[1].over.value)
    gpu, cpu = ([pair for pair in known if pair[0].mine.case.backend == side] for side in ("gpu", "cpu"))
    own, other = (gpu, cpu) if gpu else (cpu, [])
    if not own:
        return None
    quoting = Quoting(facts=facts, evidence=evidence)
    place = Html("one {}").format(quoting.gpu) if gpu else f"the CPU of {quoting.machine.name}"
    faster, slower, _ = map(units.count, _counts(other))
    beside = f"; on its CPU for {faster}, slower for {slower}" if other else ""
    chart = _chart(facts, [*own, *other], _title(gpu, cpu))
    return Answer(
        sentence=Html("JAX is surely faster than {} for {} models on {}{}.").format(
            " or ".join(name_of(name) for name in _timed(own)), _faster(own), place, beside
        ),
        numbers=tuple(_number(quoting, pair) for side in (own, other) if side for pair in (side[0], side[-1])),
        more=Html("Both compute in full float32."),
        turns=Html(" ").join(_turns(quoting, gpu, cpu)),
        draw=chart.figures,
        tables=(_table(facts, [*own, *other]),),
    )


def _asked(each: BaselineComparison) -> bool:
    """Return whether a framework of the question ran the step; trees have a question of their own."""
    return any(way.pool.case.implementation in _ASKED for way in each.ways)


def _faster(pairs: Sequence[_Compared]) -> str:
    """Return of how many models the interval is above 1, and of how many there are, such as '20 of 22'."""
    return f"{units.count(_counts(pairs)[0])} of {units.count(len(pairs))}"


def _counts(pairs: Sequence[_Compared]) -> tuple[int, int, int]:
    """Return for how many models JAX is surely faster, surely slower, and neither."""
    faster = sum((best.over.low or 0) > 1 for _, best in pairs)
    slower = sum(best.over.high is not None and best.over.high < 1 for _, best in pairs)
    return faster, slower, len(pairs) - faster - slower


def _title(gpu: Sequence[_Compared], cpu: Sequence[_Compared]) -> str:
    sides = " and ".join(
        f"for {_faster(pairs)} models on the {side}" for side, pairs in (("GPU", gpu), ("CPU", cpu)) if pairs
    )
    return f"JAX is surely faster {sides}"


def _turns(quoting: Quoting, gpu: Sequence[_Compared], cpu: Sequence[_Compared]) -> Iterator[Html]:
    """Yield each side's counts and range, and its commonest fastest way; then what was timed."""
    sides = {side: pairs for side, pairs in (("GPU", gpu), ("CPU", cpu)) if pairs}
    for side, pairs in sides.items():
        faster, slower, neither = map(units.count, _counts(pairs))
        least, most = (_number(quoting, pair).words for pair in (pairs[0], pairs[-1]))
        yield Html(
            "On the {} JAX is surely faster than the fastest way that was timed elsewhere for {} of {}, surely slower "
            "for {}, undecided for {}. It is {} to {} as fast{}."
        ).format(side, faster, units.pluralize(len(pairs), "model"), slower, neither, least, most, _centre(pairs))
        words, count = _commonest(pairs)
        yield Html("The fastest other way is {} for {} of the {}.").format(words, count, units.count(len(pairs)))
    yield from _beside(sides)
    yield Html('<a href="../standing.html">Every step, machine by machine</a>.')


def _centre(pairs: Sequence[_Compared]) -> str:
    """Return the geometric mean over networks; models of equal networks count as one."""
    known = over_networks([each for each, _ in pairs])
    if known is None:
        return ""
    return f", the geometric mean of {units.pluralize(known[1], 'different network')} is {units.ratio(known[0])}"


def _timed(pairs: Sequence[_Compared]) -> Counter[str]:
    """Return for how many models each other framework was timed, the one with most models first."""
    names = [name for each, _ in pairs for name in sorted({way.pool.case.implementation for way in each.ways})]
    return Counter(dict(Counter(names).most_common()))


def _beside(sides: Mapping[str, Sequence[_Compared]]) -> Iterator[Html]:
    """Yield for how many models each framework was timed, those of the question also if for none.

    Sides with equal counts share a sentence.
    """
    timed: dict[Html, list[str]] = defaultdict(list)
    for side, pairs in sides.items():
        numbers = {**_timed(pairs), **{name: 0 for name in _ASKED if name not in _timed(pairs)}}
        names = [f"{name_of(name)} for {units.count(n) if n else 'none'}" for name, n in numbers.items()]
        timed[Html("{}").format(listed(names))].append(side)
    for names, of in timed.items():
        yield Html("Timed beside JAX in a step on the {}: {}.").format(" and the ".join(of), names)
    if not all("keras" in _timed(pairs) for pairs in sides.values()):
        yield Html('Keras is timed in loops, <a href="../experiments/as_written.html">as people write them</a>.')


def _number(quoting: Quoting, pair: _Compared) -> Quoted:
    each, best = pair
    return quoting.of_pools(ratio_words(best.over), [best.pool, each.mine], why_not(lacking(best.over)))


def _commonest(pairs: Sequence[_Compared]) -> tuple[str, str]:
    ((words, count),) = Counter(best.words for _, best in pairs).most_common(1)
    return words + _GLOSSES.get(words, ""), units.count(count)


def _chart(facts: Facts, pairs: Sequence[_Compared], title: str) -> OwnChart:
    points = tuple(
        Point(
            series=each.mine.case.backend.upper(), row=each.mine.case.workload, value=best.over.value,
            low=best.over.low, high=best.over.high, solid=not any(lacking(best.over)),
            text=units.ratio(best.over.value, best.over.low, best.over.high),
        )
        for each, best in pairs
    )  # fmt: skip
    caption = "The fastest other framework's time of a step over JAX's. Right of 1 JAX is faster."
    chart = Chart(caption=caption, across="its time / JAX's time, log scale", points=points, level=1.0)
    return OwnChart(name="is-jax-faster-than-pytorch", title=title, chart=chart, titles=facts.titles)


def _table(facts: Facts, pairs: Sequence[_Compared]) -> Table:
    """Return the fastest other way of each step, and its time over JAX's."""
    rows = (
        row_of(
            facts.titles[each.mine.case.workload], each.mine.case.backend.upper(), best.words,
            *times_cells(best.over.estimate, best.pool.newest), *standing_cells(best.over),
        )
        for each, best in pairs
    )  # fmt: skip
    columns = ("model", "side", "fastest other way", "its time / JAX's time", INTERVAL, STATUS, HOSTS)
    return Table(title="The fastest other way of each step, beside JAX's", columns=columns, rows=tuple(rows))


QUESTION = Question(
    title="Is JAX faster than PyTorch?",
    place=15,
    also=("Keras", "TensorFlow", "torch.compile", "XLA", "framework", "comparison"),
    wanted="This needs a step in JAX and in another framework on the same machine.",
    command="nox -s control -- cifar10_mlp",
    evidence=("as_written",),
    read_next=("are_lstms_slow_on_gpus", "does_mixed_precision_help"),
    answer=answer,
)
