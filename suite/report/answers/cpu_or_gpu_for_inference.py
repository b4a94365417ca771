"""Inference: pictures a second and the wait for one, in batches, and what the CPU alone can answer."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from suite import units
from suite.analysis import serving
from suite.analysis.steps import value_point
from suite.report.answers._own_chart import OwnChart
from suite.report.parts import rungs
from suite.report.parts.answer import Answer, Question, tables
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.report.parts.lead import short
from suite.report.parts.quoted import Quoting, ratio_words
from suite.results.pooled import ladder
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.speedup import PooledSpeedUp, lacking
from suite.results.single.summary import Summary, time_ratio
from suite.results.stats.statistics import Estimate
from suite.results.views.experiment_result import Chart
from suite.results.views.rows import row_of, slow_cpu_notes, state_cells
from suite.results.views.table import HOSTS, INTERVAL, STATUS, Cell, Table, times_cells

_ONE: serving.Way = ("step", 1)


def answer(facts: Facts, evidence: Evidence) -> Answer | None:
    """Return the smallest and the largest gain at one picture a step, of networks to be quoted if there are two."""
    networks = serving.served(evidence.speedups)
    single = sorted((ways[_ONE] for ways in networks.values() if _ONE in ways), key=lambda item: item.ratio.value)
    if not single:
        return None
    quoting = Quoting(facts=facts, evidence=evidence)
    sure = [item for item in single if item.quotable]
    named = sure if len(sure) > 1 else single
    ends = (named[0], named[-1])
    numbers = tuple(map(quoting.speedup, ends))
    models = [quoting.model(item.record.description) for item in ends]
    most = Html(", {} for {}").format(numbers[1].words, models[1]) if len(single) > 1 else ""
    of = f"{units.count(len(named))} of {units.pluralize(len(single), 'network')}"
    few = f" These are the {of} whose speed-up may be quoted; the table has all." if len(named) < len(single) else ""
    return Answer(
        sentence=Html("One {} answers {} as many pictures a second for {}{}.").format(
            quoting.gpu, numbers[0].words, models[0], most
        ),
        numbers=numbers,
        more=Html(
            "That is beside the host’s {}, one picture a step, each sent before the last answer is back.{}{}"
        ).format(
            quoting.cores, few, _waiting(quoting, networks)
        ),
        turns=Html(
            "It turns with the pictures a second that you need: the table says up to how many the {} suffice.{}{}"
        ).format(quoting.cores, _beside_others(named[-1]), _in_batches(quoting, networks)),
        draw=_chart(facts, single).figures,
        advice=(_suffices(facts, quoting, single),),
        tables=tables(facts, evidence, "serving"),
    )  # fmt: skip


def _waiting(quoting: Quoting, networks: Iterable[str]) -> Html:
    """Return the least and the most that the GPU gains if each answer is waited for, as a further sentence.

    Each is of one campaign, so none may be quoted. '' if none was timed on both sides.
    """
    for what, sides in _waited_for(quoting.evidence, networks):
        pairs = [(ratio, gpu) for cpu, gpu in sides if (ratio := time_ratio(cpu, gpu))]
        if pairs:
            pairs.sort(key=lambda pair: pair[0].value)
            gains = [
                Html("{} for {}").format(
                    quoting.of_record(ratio_words(ratio), gpu.record), quoting.model(gpu.record.description)
                )
                for ratio, gpu in (pairs if len(pairs) == 1 else (pairs[0], pairs[-1]))
            ]
            some = f"{units.count(len(pairs))} of them {'gains' if len(pairs) == 1 else 'gain'}"
            words = " If one waits for {} before the next picture, {} {}: of one campaign each, not to be quoted."
            return Html(words).format(what, some, Html(" to ").join(gains))
    return Html("")


def _waited_for(evidence: Evidence, networks: Iterable[str]) -> Iterator[tuple[str, Sequence[tuple[Summary, Summary]]]]:
    """Yield CPU and GPU of what each network waits for: requests, with copies, then steps on the device."""
    requests: dict[str, dict[str, Summary]] = defaultdict(dict)
    for each in serving.latencies(evidence.records):
        record = each.summary.record
        if each.blocking is not None and serving.plain_requests(record):
            requests[record.workload][record.backend] = each.blocking
    yield "its answer", [(both["cpu"], both["gpu"]) for both in requests.values() if both.keys() >= {"cpu", "gpu"}]
    known = (rung for name in networks for rung in ladder.ladder(evidence.of(name).records) if rung.blocking)
    yield "the end of each step", [(rung.cpu, rung.gpu) for rung in known if rung.cpu and rung.gpu]


def _chart(facts: Facts, single: Sequence[PooledSpeedUp]) -> OwnChart:
    """Return the chart of both sides' pictures a second, one a step."""
    points = tuple(
        value_point(side, rate, f"{_number(rate)}/s", not any(lacking(pool.pooled)), row=item.workload)
        for item in single
        for side, pool in (("GPU", item.gpu), ("CPU", item.cpu))
        for rate in [pool.seconds.per(item.case.batch)]
    )
    mean, networks = short(rungs.mean(single)), units.pluralize(len(single), "network")
    title = f"At one picture a step the GPU gives {mean} the pictures a second, the geometric mean of {networks}"
    caption = "Pictures a second at one a step, of the network alone: the picture is in the device's memory."
    chart = Chart(caption=caption, across="pictures/s, log scale", points=points)
    columns = ("model", "side", "pictures/s")
    return OwnChart(name="cpu-or-gpu-for-inference", title=title, chart=chart, titles=facts.titles, columns=columns)


def _suffices(facts: Facts, quoting: Quoting, single: Sequence[PooledSpeedUp]) -> Table:
    """Return up to how many pictures a second the CPU suffices, the smallest gain first."""
    rows = []
    for item in single:
        cpu, gpu = (pool.seconds.per(item.case.batch) for pool in (item.cpu, item.gpu))
        rates = (
            (Cell(text=_number(rate), sort=rate.value), units.interval(rate.low, rate.high)) for rate in (cpu, gpu)
        )
        ratio = times_cells(item.ratio.estimate, item.record)
        rows.append(row_of(facts.titles[item.workload], *chain(*rates), *ratio, *state_cells(item)))
    columns = ("model", "CPU suffices up to, pictures/s", INTERVAL, "GPU up to, pictures/s", INTERVAL,
               "speed-up", INTERVAL, STATUS, HOSTS)  # fmt: skip
    title = f"Pictures a second at one a step: {quoting.cores} or one GPU"
    return Table(title=title, columns=columns, rows=tuple(rows), notes=tuple(slow_cpu_notes(single)))


def _beside_others(item: PooledSpeedUp) -> str:
    """Return that a network's gain is beside a slow CPU, if another CPU with fewer cores is surely faster."""
    title = f"“{item.record.description.title}”"
    return f" {title} gains most beside a slow CPU: {item.slow_cpu}." if item.slow_cpu else ""


def _number(rate: Estimate) -> str:
    return units.number(rate.value, units.half_width(rate.low, rate.high))


def _in_batches(quoting: Quoting, networks: dict[str, dict[serving.Way, PooledSpeedUp]]) -> Html:
    """Return what the largest batch gains, as a further sentence; '' if only single pictures were timed."""
    batched = [
        item for ways in networks.values() for (scope, batch), item in ways.items() if scope == "step" and batch > 1
    ]
    if not batched:
        return Html("")
    item = max(batched, key=lambda one: (one.case.batch, one.ratio.value))
    return Html(" In batches of {}, the GPU is {} as fast for {}.").format(
        units.count(item.case.batch), quoting.speedup(item).words, quoting.model(item.record.description)
    )


QUESTION = Question(
    title="CPU or GPU for inference?",
    place=8,
    also=("serving", "latency", "prediction", "one picture", "requests a second", "deployment"),
    wanted="This needs an inference network, on a CPU and a GPU of the same machine.",
    command="nox -s bench -- serve_mobilenet_v2 --experiment serving",
    evidence=("serving",),
    read_next=("what_does_the_batch_size_do", "which_is_cheaper_in_the_cloud"),
    answer=answer,
)
