"""How does the answer depend on how the loop is written? The step of each way, CPU and GPU."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import ratio_point, said_of_caveats, usual_case, words
from suite.analysis.written_ways import LENT, Way, fits, networks, set_against
from suite.case import Backend, Case
from suite.experiments import headline
from suite.results.cite.number import Key
from suite.results.pooled.machine_evidence import Evidence, over
from suite.results.single.summary import summary
from suite.results.stats.pooling import Pooled
from suite.results.views.experiment_result import Chart, ExperimentResult
from suite.results.views.rows import row_of, standing_cells, state_cells
from suite.results.views.table import Cell, Table, time_cell, times_cells
from suite.variants import can_write, variants_of, way_of
from suite.workload import Description

TITLE = "How does the answer depend on how the loop is written?"
TESTS = ()
BASELINES = ("torch", "keras", "xgboost")
METHOD = (
    "One step of the same network at its headline batch, written in each way that people use, on both sides in "
    "float32 at highest precision. A loop as written takes its examples from arrays in the host's memory: Keras by "
    "fit, or by train_on_batch for each slice; PyTorch by a DataLoader with its defaults, batch.to(device), and the "
    "loss added up on the device (loop) or read each step (loop-wait); JAX by nnx.jit once per step on slices "
    "(nnx-loop), the loss read each step (nnx-loop-wait), or with the examples on the device and a call an epoch "
    "(resident-loop). The other ways have their batch on the device, or copied where that is said: PyTorch eager, "
    "compiled or captured, JAX compiled once, which is the step of the copyable files, or, of short steps, several a "
    "call. A sample has many steps, and ends when all is computed. Keras' progress bar is off. Loops pass the same "
    "checks as steps, but for two that need the compiled program, which only JAX shows: one counts its products, one "
    "replays it. A CPU captures no graph: a captured step on the GPU is set against the same step uncaptured on the "
    "CPU, and XGBoost on a GPU also against one thread. The article's way is marked, whatever framework Keras runs "
    "on. Where the article's fit had a generator, this one has arrays."
)
WORKLOADS: tuple[str, ...] = ()  # see `usual`
usual = headline.usual
LONGEST_CALL_SECONDS = 120.0  # torch.compile needs up to 80 s in its first call; a slow epoch in one call, minutes

_COLUMNS = ("model", "way", "CPU step", "GPU step", "speed-up", "95 % interval", "status", "hosts", "article", "key")
# Of a step, at most, that is also scanned: a longer one gains nothing from fewer calls. On two cores XLA runs
# convolutions of a residual network in a loop so slowly that one call of 16 steps takes minutes.
_SCANNED_FLOP = 1e10


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return each way of each network on each backend, what is probably quickest to measure first."""
    return tuple(case for about in catalogue for backend in here.backends for case in _ways(about, backend, here))


def _ways(about: Description, backend: Backend, here: MachineCapabilities) -> Iterator[Case]:
    yield usual_case(about, backend, here)
    if about.family == "trees":
        for variant in variants_of("xgboost", backend):
            yield usual_case(about, backend, here, implementation="xgboost", variant=variant)
        return
    yield usual_case(about, backend, here, "transfer")
    if about.batch * about.flop_per_example <= _SCANNED_FLOP:
        yield usual_case(about, backend, here, variant="scan")
    for variant in variants_of("torch", backend):
        yield usual_case(about, backend, here, implementation="torch", variant=variant)
    layout = "contiguous" if about.has_pictures else "channels-last"  # as people have it
    for implementation in ("jax", "torch", "keras"):
        own = {"layout": layout} if implementation == "torch" else {}
        for variant in variants_of(implementation, backend, "written"):
            if can_write(about, implementation, variant):
                yield usual_case(about, backend, here, "written", implementation=implementation, variant=variant, **own)


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return each way's speed-up by network; None if no network was timed as written and in another way."""
    timed = {name: ways for name, ways in networks(evidence).items() if len(ways) > 1}
    if not any(_of_a_tutorial(way.case) for ways in timed.values() for way in ways):
        return None
    every = [(name, way) for name, ways in timed.items() for way in ways]
    table = Table(
        title="One step in each way it is written",
        columns=_COLUMNS,
        rows=tuple(_row(name, way, evidence) for name, way in every),
        notes=(*set_against([way for _, way in every]), *_failed(evidence)),
    )
    answers = tuple(_answer(name, ways) for name, ways in timed.items())
    widest = _widest(timed)
    charts = (_chart(name, timed[name]) for name in sorted(timed, key=lambda name: (name != widest, name)))
    first, *further = [chart for chart in charts if chart.points] or [None]
    lead = _lead(timed[widest]) if widest else ""
    return ExperimentResult(
        answers=answers, tables=(table,), chart=first, beside=tuple(filter(None, further)), lead=lead
    )


def _widest(networks: Mapping[str, Sequence[Way]]) -> str:
    """Return the network whose speed-up depends most on how it is written; '' if no loop was timed on both sides."""

    def span(name: str) -> float:
        (_, least), (_, most) = _ends(networks[name])
        return most.value / least.value

    looped = (name for name, ways in networks.items() if any(way.case.scope == "written" and way.ratio for way in ways))
    return max(looped, key=span, default="")


def _lead(ways: Sequence[Way]) -> str:
    """Return how much the GPU gains in the least and in the best way of a network, and what its article documents."""
    (slow, least), (fast, most) = _ends(ways)
    stated = any(claim.speedup is not None for claim in slow.about.claims)
    article = f"; its article documents {_documented(slow.about)}" if stated else ""
    return (
        f"the GPU is {words(least.estimate)} as fast if {slow.case.workload} is written as {slow.words}, "
        f"{words(most.estimate)} as {fast.words}{article}.{said_of_caveats([slow.caveat, fast.caveat])}"
    )


def _ends(ways: Sequence[Way]) -> tuple[tuple[Way, Pooled], tuple[Way, Pooled]]:
    """Return the ways with the least and the greatest speed-up, of those that have one."""
    known = [(way, way.ratio) for way in ways if way.ratio is not None]
    least, most = (of(known, key=lambda each: each[1].value) for of in (min, max))
    return least, most


def _of_a_tutorial(case: Case) -> bool:
    """Return whether it is a loop as people write it, or the step of one: `nnx.jit`, as tutorials have it."""
    return case.scope == "written" or case.variant == "nnx-jit"


def _chart(name: str, ways: Sequence[Way]) -> Chart:
    """Return a network's speed-ups by way: all networks in one chart would be thousands of pixels high."""
    kinds = {True: "as written", False: "another way"}
    return Chart(
        name=name,
        caption=f"{name}: CPU time over GPU time of one step, by how it is written. Left of 1 the CPU is faster."
        + "".join(f" {words}" for words in set_against(ways)),
        across="CPU time / GPU time, log scale",
        points=tuple(
            replace(ratio_point(kinds[way.case.scope == "written"], way.ratio, row=way.words), solid=not way.caveat)
            for way in ways
            if way.ratio
        ),
        level=1.0,
        finding="Depending on how it is written, a step is {span} as fast on the GPU",
    )


def _row(name: str, way: Way, evidence: Evidence) -> tuple[Cell, ...]:
    cpu, gpu = (_side_cell(way, backend) for backend in ("cpu", "gpu"))
    ratio = times_cells(way.ratio and way.ratio.estimate, way.item and way.item.record, "one side was not measured")
    standing = state_cells(way.item) if way.item else standing_cells(way.ratio, "one side was not measured")
    article = Cell(text=_documented(way.about) if way.of_article else units.DASH, remark=_of_article(way))
    return row_of(name, way.words, cpu, gpu, *ratio, *standing, article, _key(way, evidence))


def _side_cell(way: Way, backend: Backend) -> Cell:
    """Return the cell of a way's time on a backend; of a lent side it names the way that was timed."""
    lent = way.lent.get(backend)
    if lent is None:
        return time_cell(way.sides.get(backend))
    cell, words = time_cell(lent), way_of(lent.case)
    return replace(cell, text=f"{cell.text}, {words}", remark=LENT[backend])


def _of_article(way: Way) -> str:
    source = way.about.source
    return f"as {source.author} wrote it, '{source.title}'" if way.of_article else "the article's way is another"


def _documented(about: Description) -> str:
    """Return the article's own speed-ups of its first metric, and what they count; a word if it has none."""
    claims = [claim for claim in about.claims if claim.speedup is not None]
    first = [units.documented(claim.speedup) for claim in claims if claim.metric == claims[0].metric]
    counted = claims[0].metric.replace("_", " ") if claims else ""
    return f"{' and '.join(first)} ({counted})" if first else "its way, no number"


def _key(way: Way, evidence: Evidence) -> Cell:
    if way.item is None:
        return Cell(
            text=units.DASH, remark="it has no speed-up of its own" if way.ratio else "one side was not measured"
        )
    text = way.item.case.text(way.about.batch)
    return Cell(text=Key(machine=way.item.machine, case=text, metric="speedup").text())


def _failed(evidence: Evidence) -> Iterator[str]:
    """Yield why the newest try of a way failed that was never timed."""
    timed = {pool.case.ignoring_allocator for pool in evidence.pools.values()}
    last = {record.case.ignoring_allocator: record for record in evidence.records if fits(record)}
    for case, record in sorted(last.items(), key=lambda each: each[0].text(0)):
        if case.timed not in timed and record.reason:
            yield f"{case.workload} {case.backend} {way_of(case)} does not count: {'; '.join(summary(record).reasons)}."


def _alone(ways: Sequence[Way]) -> str:
    """Return how the ways differ on the backend on which more of them were measured."""
    counts = Counter(backend for way in ways for backend in way.sides)
    backend, count = counts.most_common(1)[0]
    if count < 2:
        return "no way was measured on both sides"
    pools = [(way, way.sides[backend]) for way in ways if backend in way.sides]
    (slowest, slow), (fastest, fast) = (of(pools, key=lambda each: each[1].seconds.value) for of in (max, min))
    ratio = words(over(slow, fast).estimate)
    return f"on the {backend.upper()} alone a step takes {ratio} as long in {slowest.words} as in {fastest.words}"


def _answer(name: str, ways: Sequence[Way]) -> str:
    known = [(way, way.ratio) for way in ways if way.ratio is not None]
    if not known:
        return f"{name}: {_alone(ways)}."
    least, most = _ends(ways)
    ends = dict.fromkeys(f"{words(ratio.estimate)} as fast in {way.words}" for way, ratio in (least, most))
    said = f"{name}: the GPU is {', '.join(ends)}"
    own = [(way, ratio) for way, ratio in known if way.of_article]
    if own:
        best = max(own, key=lambda each: each[1].value)
        said += (
            f"; its article's way, {best[0].words}, {words(best[1].estimate)}, documented {_documented(best[0].about)}"
        )
    lost = [way.words for way, ratio in known if ratio.high is not None and ratio.high < 1]
    turns = f" The CPU is faster in {', '.join(lost)}." if lost else " In no way is the CPU surely faster."
    return f"{said}.{turns}{said_of_caveats([way.caveat for way, _ in known])}"
