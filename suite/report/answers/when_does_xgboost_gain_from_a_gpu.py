"""Boosted trees: XGBoost's own step on both sides, or boosting in JAX while that is missing."""

from collections.abc import Mapping

from suite import units
from suite.analysis import threshold_map
from suite.report.answers._by_way import by_way, chart_of
from suite.report.parts.answer import Answer, Question
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.report.parts.quoted import Quoted, Quoting
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.pooled.thresholds import Threshold, thresholds
from suite.results.pooled.ways import way_words

_WORKLOAD, _FAMILY, _XGBOOST, _JAX = "gbdt_mortgage", "crossover_trees", "xgboost", "jax"


def answer(facts: Facts, evidence: Evidence) -> Answer | None:
    """Return XGBoost's speed-up of a boosting iteration, else that of boosting in JAX, and from which size it gains."""
    ways = by_way(evidence, _WORKLOAD)
    own = next((item for words, item in ways.items() if words.startswith(_XGBOOST)), None)
    jax = ways.get(_JAX)
    item = own or jax
    if item is None:
        return None
    quoting = Quoting(facts=facts, evidence=evidence)
    number, turning = quoting.speedup(item), _turning(evidence, quoting)
    size = _from(quoting, turning.get(_XGBOOST)) if own else "XGBoost itself is not measured yet."
    best = _best(quoting, jax) if own and jax else None
    title = f"; the fastest way on each side {_ratio(jax)}" if best and jax else ""
    chart = chart_of("when-does-xgboost-gain-from-a-gpu", ways, title)
    return Answer(
        sentence=Html("On one {} a boosting iteration in {} on {} rows is {} as fast as on its host’s {}.").format(
            quoting.gpu, "XGBoost" if own else "JAX", units.count(item.case.batch), number.words, quoting.cores
        ),
        more=Html(" ").join([size, *([best[0]] if best else [])]),
        further=(best[1],) if best else (),
        numbers=(number,),
        turns=_turns(turning),
        draw=chart.figures if chart else tuple,
        tables=(chart.table,) if chart else (),
    )


def _best(quoting: Quoting, jax: PooledSpeedUp) -> tuple[Html, Quoted]:
    """Return what the fastest way on each side gains, as a sentence, and its number."""
    best = quoting.best_over_best(jax)
    words = Html("With the fastest way on each side, {} on the CPU and {} on the GPU, it is {}.")
    return words.format(way_words(jax.best_cpu.case), way_words(jax.best_gpu.case), best.words), best


def _ratio(jax: PooledSpeedUp) -> str:
    best = jax.best_over_best
    return units.ratio(best.value, best.low, best.high)


def _turning(evidence: Evidence, quoting: Quoting) -> Mapping[str, Threshold]:
    """Return from which size of a table on the GPU wins, by framework."""
    slug = quoting.machine.slug
    known = thresholds({(slug, case): pool for case, pool in evidence.pools.items()})
    return {one.way.partition(" ")[0]: one for one in known if one.family == _FAMILY}


def _from(quoting: Quoting, item: Threshold | None) -> Html:
    """Return from which size on XGBoost gains, or that it is not measured."""
    if item is None or not item.known:
        return Html("From which size on XGBoost gains is not measured yet.")
    words = f"{threshold_map.size_words(item.found, item.unit)} ({threshold_map.interval_words(item.found, item.unit)})"
    return Html("XGBoost gains from {} on.").format(quoting.threshold(item, words).words)


def _turns(turning: Mapping[str, Threshold]) -> Html:
    jax = turning.get("jax")
    rule = "It turns with the size of the table, its rows times columns."
    return Html(rule + (f" With boosting in JAX the CPU wins {threshold_map.clause(jax)}." if jax else ""))


QUESTION = Question(
    title="When does XGBoost gain from a GPU?",
    place=11,
    also=("gradient boosting", "decision trees", "LightGBM", "tabular data", "gpu_hist", "device cuda"),
    wanted="This needs a boosting iteration of XGBoost, on a CPU and a GPU of the same machine.",
    command="nox -s control -- gbdt_mortgage --experiment as_written",
    evidence=("as_written", "crossover"),
    read_next=("what_does_the_batch_size_do", "how_many_cpu_cores_equal_a_gpu"),
    answer=answer,
)
