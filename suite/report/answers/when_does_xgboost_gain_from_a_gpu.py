"""Boosted trees: XGBoost's own step on both sides, or boosting in JAX while that is missing."""

from suite.analysis import threshold_map
from suite.report.answers._by_way import by_way, chart_of
from suite.report.parts.answer import Answer, Question
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.report.parts.quoted import Quoting
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.thresholds import thresholds

_WORKLOAD, _FAMILY, _XGBOOST, _JAX = "gbdt_mortgage", "crossover_trees", "xgboost", "jax plain"


def answer(facts: Facts, evidence: Evidence) -> Answer | None:
    """Return XGBoost's speed-up of a boosting iteration, else that of boosting in JAX."""
    ways = by_way(evidence, _WORKLOAD)
    own = next((item for words, item in ways.items() if words.startswith(_XGBOOST)), None)
    item = own or ways.get(_JAX)
    if item is None:
        return None
    quoting = Quoting(facts=facts, evidence=evidence)
    number = quoting.speedup(item)
    chart = chart_of("when-does-xgboost-gain-from-a-gpu", ways)
    missing = "" if own else "; XGBoost itself is not measured yet"
    return Answer(
        sentence=Html("On one {} a boosting iteration in {} is {} as fast as on its host’s {}{}.").format(
            quoting.gpu, "XGBoost" if own else "JAX", number.words, quoting.cores, missing
        ),
        numbers=(number,),
        turns=_turns(evidence, quoting),
        draw=chart.figures if chart else tuple,
        tables=(chart.table,) if chart else (),
    )


def _turns(evidence: Evidence, quoting: Quoting) -> Html:
    slug = quoting.machine.slug
    turning = thresholds({(slug, case): pool for case, pool in evidence.pools.items()})
    tables = {one.way.partition(" ")[0]: one for one in turning if one.family == _FAMILY}
    item = tables.get(_XGBOOST)
    rule = Html("It turns with the size of the table, its rows times columns.")
    if item is None or not item.known:
        jax = f" With boosting in JAX the CPU wins {threshold_map.clause(tables['jax'])}." if "jax" in tables else ""
        return Html("{} From which size on XGBoost gains is not measured yet.{}").format(rule, jax)
    words = f"{threshold_map.size_words(item.found, item.unit)} ({threshold_map.interval_words(item.found, item.unit)})"
    return Html("{} {} gains from {} on.").format(rule, item.way, quoting.threshold(item, words).words)


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
