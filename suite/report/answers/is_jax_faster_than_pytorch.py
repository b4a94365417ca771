"""Frameworks: the fastest other one's time of a step over JAX's, and in how many steps JAX is surely faster."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from suite import units
from suite.report.charts.vega import Figure
from suite.report.parts.answer import Answer, Question
from suite.report.parts.experiment_figures import drawn
from suite.report.parts.facts import Facts
from suite.report.parts.frameworks import over_networks
from suite.report.parts.html import Html
from suite.report.parts.quoted import Quoted, Quoting, ratio_words, span
from suite.results.pooled.baselines import BaselineComparison
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.speedup import lacking
from suite.results.pooled.ways import Way
from suite.results.views.experiment_result import Chart, Point

_Compared = tuple[BaselineComparison, Way]


def answer(facts: Facts, evidence: Evidence) -> Answer | None:
    """Return the least and the most by which JAX is faster than the fastest baseline, with counts."""
    slug = evidence.records[0].machine.slug
    items = [(each, each.best) for each in facts.baselines_of[slug] if each.mine.newest.headline_step()]
    known = sorted(((each, best) for each, best in items if best), key=lambda pair: pair[1].over.value)
    backend = "gpu" if any(each.mine.case.backend == "gpu" for each, _ in known) else "cpu"
    own = [pair for pair in known if pair[0].mine.case.backend == backend]
    others = [pair for pair in known if pair[0].mine.case.backend != backend]
    if not own:
        return None
    quoting = Quoting(facts=facts, evidence=evidence)
    least, most = _number(quoting, own[0]), _number(quoting, own[-1])
    faster = sum((best.over.low or 0) > 1 for _, best in own)
    counted = f"{units.count(faster)} of {units.pluralize(len(own), 'model')}"
    place = Html("one {}").format(quoting.gpu) if backend == "gpu" else f"the CPU of {quoting.machine.name}"
    known = over_networks([each for each, _ in own])
    centre = f", {units.ratio(known[0])} on average over {units.pluralize(known[1], 'network')}" if known else ""
    return Answer(
        sentence=Html("On {} JAX is {} as fast as the fastest other framework{}, and surely faster for {}.").format(
            place, span([least, most]), centre, counted
        ),
        numbers=(least, most),
        turns=Html(
            "It turns with the way the other is written: its fastest way is {} for {}. A mean is the geometric one, of "
            "networks that differ. "
            '<a href="../standing.html">Every step, machine by machine</a>.'
        ).format(*_commonest(own)),
        draw=partial(_chart, [*own, *others], f"JAX is surely faster for {counted}", facts.titles),
    )


def _number(quoting: Quoting, pair: _Compared) -> Quoted:
    each, best = pair
    return quoting.of_pools(ratio_words(best.over), [best.pool, each.mine], next(lacking(best.over), ""))


def _commonest(pairs: Sequence[_Compared]) -> tuple[str, str]:
    ((words, count),) = Counter(best.words for _, best in pairs).most_common(1)
    return words, f"{count} of {units.pluralize(len(pairs), 'model')}"


def _chart(pairs: Sequence[_Compared], title: str, titles: Mapping[str, str]) -> tuple[Figure, ...]:
    points = tuple(
        Point(
            series=each.mine.case.backend.upper(), row=each.mine.case.workload, value=best.over.value,
            low=best.over.low, high=best.over.high, text=best.words, solid=not any(lacking(best.over)),
        )
        for each, best in pairs
    )  # fmt: skip
    caption = "The fastest other framework's time of a step over JAX's. Right of 1 JAX is faster."
    chart = Chart(caption=caption, across="its time / JAX's time, log scale", points=points, level=1.0)
    words = "; ".join(f"{each.mine.case.workload}, {best.words}: {ratio_words(best.over)}" for each, best in pairs)
    return tuple(drawn("answers.is-jax-faster-than-pytorch", chart, words, titles, title))


QUESTION = Question(
    title="Is JAX faster than PyTorch and Keras?",
    place=15,
    also=("TensorFlow", "torch.compile", "XLA", "framework", "comparison"),
    wanted="This needs a step in JAX and in another framework on the same machine.",
    command="nox -s control -- cifar10_mlp",
    evidence=("as_written",),
    read_next=("are_lstms_slow_on_gpus", "does_mixed_precision_help"),
    answer=answer,
)
