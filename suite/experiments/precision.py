"""What does lower precision gain on the GPU? One step in float32, as the framework does it, in TF32 and bfloat16."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from suite import units
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.steps import ratio_point, said_of_pooled, untimed, usual_case, words
from suite.case import FRAMEWORK_DEFAULT, Case, Implementation, Precision
from suite.results.pooled.machine_evidence import Evidence, over
from suite.results.pooled.pools import Pool
from suite.results.records.record import Record
from suite.results.stats.pooling import Pooled
from suite.results.views.experiment_result import Chart, ExperimentResult
from suite.results.views.rows import count_cell, ratio_cells, row_of
from suite.results.views.table import HOSTS, STATUS, Cell, Table, base_cells, time_cell, times_cells
from suite.workload import Description

TITLE = "What does lower precision gain on the GPU?"
TESTS = ("O3",)
BASELINES: tuple[Implementation, ...] = ("torch",)
METHOD = (
    "One campaign times the step on the GPU in float32 at highest precision, in float32 as the framework multiplies "
    "it if nothing is set, in TF32, and with everything but the parameters in bfloat16: with JAX, and with eager "
    "PyTorch if it is installed. TF32 and the default concern matrix products and convolutions. On NVIDIA GPUs that "
    "have TF32, JAX takes it by default for both, PyTorch for convolutions alone. PyTorch's bfloat16 is that of "
    "autocast. A gain is the time in float32, or in TF32, over the time in the other precision, each pooled over "
    "hosts. The CPU has no such choice, so the headline compares float32 on both sides."
)
WORKLOADS = ("cifar10_mlp", "cifar10_tf_cnn", "cifar10_resnet63", "catdog_cnn_128", "serve_resnet50")

_FULL: Precision = "float32-highest"
_ORDER: tuple[Precision, ...] = (_FULL, FRAMEWORK_DEFAULT, "tf32", "bfloat16")
_FRAMEWORKS: dict[Implementation, str] = {"jax": "JAX", "torch": "PyTorch"}
_COLUMNS = ("model", "framework", "precision", "batch", "GPU step", "gain over float32", "95 % interval", STATUS, HOSTS,
            "gain over TF32", "95 % interval")  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Step:
    """One model's step in one framework, in each precision that was timed."""

    framework: str
    by_precision: Mapping[Precision, Pool]

    @property
    def name(self) -> str:
        """Its model, and its framework unless that is JAX."""
        workload = next(iter(self.by_precision.values())).case.workload
        return workload if self.framework == _FRAMEWORKS["jax"] else f"{workload}, {self.framework}"

    @property
    def flop(self) -> int:
        """The FLOP of the step."""
        pool = next(iter(self.by_precision.values()))
        return pool.case.batch * pool.newest.description.flop_per_example

    def gain(self, precision: Precision, base: Precision = _FULL) -> Pooled | None:
        """Return the time in the base over that in a precision; None if one was not timed, or of the base itself."""
        pool, other = self.by_precision.get(precision), self.by_precision.get(base)
        return over(other, pool) if pool and other and pool is not other else None

    @property
    def gains(self) -> dict[Precision, Pooled]:
        """The gain of each other precision over float32."""
        known: dict[Precision, Pooled | None] = {name: self.gain(name) for name in self.by_precision}
        return {name: gain for name, gain in known.items() if gain}


def cases(catalogue: Sequence[Description], here: MachineCapabilities) -> tuple[Case, ...]:
    """Return the GPU's step in each precision that it has. Raises RuntimeError if there is no choice."""
    here.need_gpu("precision")
    if len(here.gpu_precisions) < 2:
        raise RuntimeError(
            f"experiment 'precision' asks for a choice, this GPU has only {', '.join(here.gpu_precisions)}"
        )
    return tuple(
        usual_case(about, "gpu", here, precision=precision, implementation=implementation)
        for about in catalogue
        for implementation in (_FRAMEWORKS if about.is_network else ("jax",))
        for precision in _ORDER
        if precision in (FRAMEWORK_DEFAULT, *here.gpu_precisions)
    )


def read(evidence: Evidence) -> ExperimentResult | None:
    """Return what each precision gains over float32 and over TF32; None if no step was timed in two of them."""
    steps = list(_steps(evidence))
    if not steps:
        return None
    points = [ratio_point(precision, gain, row=step.name) for step in steps for precision, gain in step.gains.items()]
    greatest = {point.row: max(other.value for other in points if other.row == point.row) for point in points}
    chart = Chart(
        caption="Time of one step in float32 over its time in another precision on the same GPU; above 1 it gains.",
        across="float32 time / time, log scale",
        points=tuple(sorted(points, key=lambda point: -greatest[point.row])),
        level=1.0,
        finding="In lower precision a step is {span} as fast as in float32",
    )
    table = Table(
        title="One step on the GPU in each precision",
        columns=_COLUMNS,
        rows=tuple(_row(step, precision) for step in steps for precision in step.by_precision),
        notes=untimed(evidence, _fits, [tuple(step.by_precision.values()) for step in steps]),
    )
    answers = (*_over_tf32(steps), *_by_default(steps), *map(_said, steps))
    return ExperimentResult(answers=answers, tables=(table,), chart=chart)


def _steps(evidence: Evidence) -> Iterator[Step]:
    for implementation, framework in _FRAMEWORKS.items():
        of_framework = partial(_fits, implementations=(implementation,))
        for group in evidence.sides(of_framework, least=2):
            known = {pool.case.precision: pool for pool in group}
            yield Step(framework=framework, by_precision={name: known[name] for name in _ORDER if name in known})


def _fits(record: Record, implementations: Container[str] = _FRAMEWORKS) -> bool:
    usual = record.headline_step("precision", "implementation")
    return usual and record.backend == "gpu" and record.case.implementation in implementations


def _row(step: Step, precision: Precision) -> tuple[Cell, ...]:
    pool, full = step.by_precision[precision], step.by_precision.get(_FULL)
    gain = ratio_cells(pool, full, step.gain(precision), f"no {_FULL} beside it")
    further = step.gain(precision, "tf32")
    tf32 = base_cells(pool.newest) if precision == "tf32" else times_cells(further and further.estimate, pool.newest)
    model, batch = pool.case.workload, count_cell(pool.case.batch)
    return row_of(model, step.framework, precision, batch, time_cell(pool), *gain, *tf32)


def _said(step: Step) -> str:
    gains, further = step.gains, step.gain("bfloat16", "tf32")
    said = " and ".join(f"{precision} is {words(gain.estimate)}" for precision, gain in gains.items())
    text = f"{said} as fast as float32" if gains else "not known, as float32 was not measured"
    beside = f"; bfloat16 is {words(further.estimate)} as fast as tf32" if further else ""
    return f"{step.name}: {text}{beside}.{said_of_pooled([*gains.values(), *filter(None, [further])])}"


def _over_tf32(steps: Sequence[Step]) -> Iterator[str]:
    """Yield in how many of JAX's steps bfloat16 surely gains over TF32, and on what it depends."""
    known = [(step, gain) for step in _of(steps, "jax") if (gain := step.gain("bfloat16", "tf32"))]
    if not known:
        return
    gaining = [step for step, gain in known if gain.low is not None and gain.low > 1]
    losing = sum(gain.high is not None and gain.high < 1 for _, gain in known)
    others = [step for step, _ in known if step not in gaining]
    counts = f"surely faster than TF32 in {units.count(len(gaining)) if gaining else 'none'} of "
    counts += f"{units.pluralize(len(known), 'step')} and surely slower in {units.count(losing) if losing else 'none'}"
    yield f"With JAX bfloat16 is {counts}.{_condition(gaining, others)}"


def _condition(gaining: Sequence[Step], others: Sequence[Step]) -> str:
    """Return from how much work a step gains; '' if all do or none does."""
    if not gaining or not others:
        return ""
    least, most = min(step.flop for step in gaining), max(step.flop for step in others)
    smaller = sum(step.flop <= most for step in gaining)
    if smaller == len(gaining):
        return " The work of a step does not tell which."
    some, all_of = units.quantity(most, "FLOP"), units.quantity(least, "FLOP")
    if smaller:
        of_smaller = f"{units.count(smaller)} of {units.count(smaller + len(others))}"
        return f" Every step of more than {some} gains, of the others {of_smaller}."
    return f" Steps of {all_of} or more gain, those of {some} or less do not."


def _by_default(steps: Sequence[Step]) -> Iterator[str]:
    """Yield for each framework how its default compares with its TF32."""
    for implementation, framework in _FRAMEWORKS.items():
        gains = [
            gain.value for step in _of(steps, implementation) if (gain := step.gain("tf32", base=FRAMEWORK_DEFAULT))
        ]
        if gains:
            span = units.interval(min(gains), max(gains)) if len(gains) > 1 else units.number(gains[0])
            yield f"If nothing is set, a step of {framework} takes {span} times as long as in TF32."


def _of(steps: Sequence[Step], implementation: Implementation) -> list[Step]:
    return [step for step in steps if step.framework == _FRAMEWORKS[implementation]]
