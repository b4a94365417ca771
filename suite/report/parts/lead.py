"""The first sentences of a machine's page: the centre, its spread, and what remains when more is counted."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import geometric_mean

from suite import units
from suite.report.parts import rungs
from suite.report.parts.html import Html
from suite.report.parts.rungs import Rung
from suite.results.pooled.kinds import mean_ratio
from suite.results.pooled.pools import FEWEST_HOSTS
from suite.results.pooled.same_hosts import step_beside
from suite.results.pooled.speedup import PooledSpeedUp
from suite.results.records.record import Record
from suite.results.single import old_jax
from suite.results.stats.pooling import Pooled
from suite.scopes import SCOPES

_TELLING = ("from storage", "whole run", "cold start", "batch copied")
_FEW = 2  # slower models that are named, not counted


def answer(amounts: Sequence[Rung], records: Sequence[Record], others: Sequence[PooledSpeedUp] = ()) -> Html:
    """Return the first sentences of a page; without speed-ups of steps they say what is missing.

    `records` are all of the machine's, `others` the speed-ups outside the headline.
    """
    step = rungs.step(amounts)
    if step is None and any(record.machine.gpus for record in records):
        return Html.escape(
            "No speed-up yet: no step in full float32, at its headline batch, has been timed on both CPU and GPU "
            f"here.{_left_out(records)}{_others(others)}"
        )
    if step is None:
        return Html(
            "No machine with a GPU has been measured yet. Measure yours: <code>nox -s bench</code> in the suite's "
            "checkout takes a few minutes and renders this page with your numbers."
        )
    if len(step.by_workload) == 1:
        (item,) = step.by_workload.values()
        return _alone(item)
    return Html(" ").join([_centre(step), *_earlier(step), *_slower(step), *_remaining(step, amounts)])


def of_model(amounts: Sequence[Rung], workload: str) -> Html:
    """Return what one model's step gains from the GPU and what more of the work leaves of it; '' without a step."""
    step = rungs.step(amounts)
    if step is None or workload not in step.by_workload:
        return Html("")
    item = step.by_workload[workload]
    wider = [rung for rung in amounts if rung is not step and workload in rung.by_workload]
    results = [rung.by_workload[workload] for rung in wider]
    alone = [step_beside(item, result) for result in results]
    where = "" if any(alone) else ", timed on other hosts"
    clauses = [
        Html("{}{}, {}{}").format(
            rung.words, _read(result), _words(result.ratio), "" if where else beside(item.ratio, on_them)
        )
        for rung, result, on_them in zip(wider, results, alone, strict=True)
    ]
    rest = Html(" Counting more of the work{}: {}.").format(where, Html("; ").join(clauses)) if wider else ""
    words = _words(item.ratio)
    return Html("On {}, a step is {} as fast on the GPU as on the CPU.{}{}").format(
        item.record.machine.name,
        Html("<strong>{}</strong>").format(words) if item.quotable else words,
        item.caveat + _slow_cpu(item),
        rest,
    )


def _read(item: PooledSpeedUp) -> str:
    return f" {item.record.data_words}" if item.record.data_words else ""


def beside(step: Pooled, same_hosts: Pooled | None) -> str:
    """Return the step's speed-up on the hosts of another result if it is another one; that they are other hosts."""
    if same_hosts is None:
        return " (other hosts)"
    return "" if same_hosts.value == step.value else f" (a step on the same hosts: {_words(same_hosts)})"


def short(value: float) -> str:
    """Return a mean over models with the two digits that make sense of it."""
    return f"{units.number(value, digits=2)}x"


def finding(amounts: Sequence[Rung]) -> str:
    """Return what becomes of the step's speed-up with more of the work, as a chart's title; '' if only steps are known.

    It tells the first of `_TELLING` that is known, over the models for which both are.
    """
    step, known = rungs.step(amounts), {rung.name: rung for rung in amounts}
    wider = next((known[name] for name in _TELLING if name in known), None)
    if step is None or wider is None or not (models := rungs.both(step, wider)):
        return ""
    before, after = (_gains([one.by_workload[name] for name in models]) for one in (step, wider))
    apart = rungs.elsewhere((wider.by_workload[name] for name in models), step)
    number = units.pluralize(len(models), "model") + (" gains" if len(models) == 1 else " gain")
    return f"{number} {before} in a step and {after} {wider.words}{rungs.on_other_hosts(len(apart), len(models))}"


def quoting(items: Sequence[PooledSpeedUp]) -> Html:
    """Return the whole range, how many may be quoted and what the others lack, and the best ways' mean; '' of one."""
    if len(items) < 2:
        return Html("")
    order = sorted(items, key=lambda item: item.ratio.value)
    low, high = (f"{_words(item.ratio)} for “{item.record.description.title}”" for item in (order[0], order[-1]))
    quotable = sum(item.quotable for item in items)
    lacking = f" Not yet: {_faults(items)}." if quotable < len(items) else ""
    return Html("The {} speed-ups of a step run from {} to {}. {} may be quoted.{}{}").format(
        units.count(len(items)), low, high, units.count(quotable) if quotable else "None", lacking, _best(items)
    )


def _centre(step: Rung) -> Html:
    items = list(step.by_workload.values())
    machine = max((item.record for item in items), key=lambda record: record.created).machine
    low, high = rungs.most(items)
    cores = units.pluralize(machine.cores, "virtual core" if machine.virtual else "core")
    return Html(
        "A step of JAX in full float32 is <strong>{}</strong>{} as fast on one {} as on {} beside it. That is the "
        "geometric mean of {}, {}.{}"
    ).format(
        short(step.mean),
        _within(step),
        machine.gpus[0].name if machine.gpus else machine.name,
        f"the {cores} of the {machine.processor}",
        _models(items),
        f"{'most of them' if rungs.many(items) else 'which are'} between {short(low.ratio.value)} and "
        f"{short(high.ratio.value)}",
        _quotable(items),
    )


def _models(items: Sequence[PooledSpeedUp]) -> str:
    """Return the number of models, and of those that only infer, if there are some."""
    serving = sum(not item.record.description.trained for item in items)
    inferring = f", {units.count(serving)} of them inference" if 0 < serving < len(items) else ""
    return units.pluralize(len(items), "model") + inferring


def _quotable(items: Sequence[PooledSpeedUp]) -> str:
    """Return how many models have a number that may be quoted, as a sentence; '' if none has."""
    count = sum(item.quotable for item in items)
    return f" Quote a model, not the mean: {units.count(count)} may be quoted." if count else ""


def _within(step: Rung) -> str:
    """Return the interval of the mean, in brackets; '' if it has none."""
    mean = mean_ratio((item.cpu, item.gpu) for item in step.by_workload.values())
    if mean.low is None or mean.high is None:
        return ""
    low, high = (units.number(end, digits=2) for end in (mean.low, mean.high))
    return f" ({low} to {high})"


def _earlier(step: Rung) -> Iterator[Html]:
    """Yield that no step may be quoted, if an earlier method timed all of them."""
    if all(item.ratio.outdated for item in step.by_workload.values()):
        yield Html("An earlier method of timing gave these numbers, so none of them may be quoted.")


def _slower(step: Rung) -> Iterator[Html]:
    """Yield a sentence on the models whose step is slower on the GPU, if there are some."""
    slower = [item for item in step.by_workload.values() if item.ratio.value < 1]
    if len(slower) > _FEW:
        yield Html("{} of them are slower on the GPU.").format(units.count(len(slower)))
    elif slower:
        abouts = [item.record.description for item in slower]
        sizes = (f"“{about.title}” with {units.pluralize(about.parameters, 'parameter')}" for about in abouts)
        yield Html("Slower on the GPU: {}.").format(" and ".join(sizes))


def _remaining(step: Rung, amounts: Sequence[Rung]) -> Iterator[Html]:
    """Yield a sentence on what becomes of the step's speed-up, each time over the models for which both are known.

    Loops as written are left out: they are another way of writing, not more of the work.
    """
    each: list[Html] = []
    for rung in amounts:
        both = rungs.both(step, rung)
        if both and rung.name not in (rungs.STEP, rungs.AS_WRITTEN):
            number = units.count(len(both)) if each else units.pluralize(len(both), "model")
            gains = _gains([rung.by_workload[name] for name in both])
            each.append(Html("<strong>{}</strong> {} ({})").format(gains, rung.words, number))
    if each:
        yield Html("If more of the work is counted, the GPU gains less: {}.").format(Html(", ").join(each))


def _gains(items: Sequence[PooledSpeedUp]) -> str:
    """Return the mean of many models, of few the lowest and the highest."""
    if rungs.many(items):
        return short(rungs.mean(items))
    return " to ".join(dict.fromkeys(short(item.ratio.value) for item in rungs.most(items)))


def _left_out(records: Sequence[Record]) -> str:
    """Return which times make no speed-up, and why; '' if there are none."""
    smoke = any(record.profile == "smoke" for record in records)
    old = next(filter(None, map(old_jax.slow, records)), "")
    said = " Profile smoke times nothing: it only shows that it runs." * smoke
    return said + (f" {old[0].upper() + old[1:]}." if old else "")


def _others(items: Sequence[PooledSpeedUp]) -> str:
    """Return the speed-ups outside the headline, by scope."""
    if not items:
        return ""
    scopes = Counter(SCOPES[item.case.scope].sentence for item in items)
    each = ", ".join(f"{units.count(n)} of {scope}" for scope, n in scopes.most_common())
    return f" The table has {units.pluralize(len(items), 'other speed-up')}: {each}."


def _alone(item: PooledSpeedUp) -> Html:
    words = _words(item.ratio)
    shown = Html("<strong>{}</strong>").format(words) if item.quotable else words
    return Html("On {}, one step of {} is {} as fast on the GPU.{}").format(
        item.record.machine.name, item.record.description.title, shown, item.caveat + _slow_cpu(item)
    )


def _slow_cpu(item: PooledSpeedUp) -> str:
    """Return that the CPU is slow, as a further sentence; '' if it is not."""
    return f" The CPU beside it is slow: {item.slow_cpu}." if item.slow_cpu else ""


def _words(ratio: Pooled) -> str:
    value = units.ratio(ratio.value, ratio.low, ratio.high)
    return value if ratio.low is None else f"{value} ({units.interval(ratio.low, ratio.high)})"


def _best(items: Sequence[PooledSpeedUp]) -> str:
    """Return the mean of the best CPU way's time over the best GPU way's; '' without a baseline."""
    compared = [item for item in items if item.baselines or item.gpu_baselines]
    if not compared:
        return ""
    over = geometric_mean(item.best_over_best.value for item in compared)
    same = rungs.mean(compared)
    return (
        f" With the fastest way on each side, in any framework that was timed, {short(same)} becomes {short(over)} "
        f"({units.pluralize(len(compared), 'model')})."
    )


def _faults(items: Iterable[PooledSpeedUp]) -> str:
    """Return how many are not quotable, and why; the first phrase has the verb."""
    (fault, count), *rest = Counter(_fault(item) for item in items if not item.quotable).most_common()
    phrases = [f"{units.count(count)} {'has' if count == 1 else 'have'} {fault}"]
    phrases += [f"{units.count(number)} {other}" for other, number in rest]
    return " and ".join(filter(None, (", ".join(phrases[:-1]), phrases[-1])))


def _fault(item: PooledSpeedUp) -> str:
    if item.state == "invalid":
        return "two sides that computed different things"
    if item.state == "not certified":
        return "a CPU step that another framework surely beats"
    if item.ratio.outdated:
        return "an earlier method of timing"
    if item.hosts < FEWEST_HOSTS:
        return f"fewer than {units.count(FEWEST_HOSTS)} hosts"
    return "an open certificate" if item.certificate == "open" else "too wide an interval"
