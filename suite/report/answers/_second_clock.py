"""How much of a step the GPU computes, by its own clock: on the answer's machine, or another that profiled it."""

from collections.abc import Sequence

from suite import units
from suite.analysis.steps import percent_words
from suite.experiments import kernels
from suite.report.parts.answer import tables
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.report.parts.quoted import Quoted, Quoting
from suite.results.pooled.kernel_time import KernelTime
from suite.results.pooled.speedup import lacking
from suite.results.views.table import Table

_Said = tuple[Html | None, tuple[Quoted, ...]]  # a sentence and its numbers; (None, ()) where nothing was profiled


def of_step(facts: Facts, quoting: Quoting, workload: str) -> _Said:
    """Return how much of one model's step the GPU computes."""
    for own in _profiled(facts, quoting):
        for each in kernels.kernel_times(own.evidence):
            if each.step.case.workload == workload:
                share = _share(own, each)
                words = "By the clock of one {}, it works for {} of this model’s step and waits for launches otherwise."
                return Html(words).format(own.gpu, share.words), (share,)
    return None, ()


def of_steps(facts: Facts, quoting: Quoting) -> _Said:
    """Return in how many models' steps the GPU waits, and how much it computes of the step that waits most."""
    for own in _profiled(facts, quoting):
        timed = kernels.kernel_times(own.evidence)
        waiting = [each for each in timed if kernels.launch_bound(each)]
        share, about = _share(own, timed[0]), own.model(timed[0].step.newest.description)
        words = "On one {} launches limit {} of {}. The step of {} waits most: the GPU computes for {} of it."
        counts = units.count(len(waiting)) if waiting else "none", units.pluralize(len(timed), "step")
        return Html(words).format(own.gpu, *counts, about, share.words), (share,)
    return None, ()


def table(facts: Facts, quoting: Quoting) -> tuple[Table, ...]:
    """Return the table of kernels and gaps; () where nothing was profiled."""
    return next((tables(facts, own.evidence, "kernels") for own in _profiled(facts, quoting)), ())


def _profiled(facts: Facts, quoting: Quoting) -> Sequence[Quoting]:
    """Return the machines with profiled steps, the answer's first, then those with most models."""
    machines = [Quoting(facts=facts, evidence=evidence) for evidence in facts.evidence.values()]
    counts = {own.machine.slug: len(kernels.kernel_times(own.evidence)) for own in machines}
    fitting = [own for own in machines if counts[own.machine.slug]]
    return sorted(fitting, key=lambda own: (own.machine != quoting.machine, -counts[own.machine.slug]))


def _share(own: Quoting, each: KernelTime) -> Quoted:
    return own.of_pools(percent_words(kernels.busy(each)), [each.kernels, each.step], next(lacking(each.busy), ""))
