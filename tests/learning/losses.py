"""What a loss must do on batches that lie in memory, and how far two curves of losses are apart."""

import math
from collections.abc import Sequence

import jax
import numpy as np
from flax import nnx

from suite import models
from suite.case import Backend, Case
from suite.data import batches as sets
from suite.programs.jax.program import JaxProgram
from suite.results.evidence.learning import LossCheck
from suite.worker_api.program import Batch

HALVING_STEPS = 30  # within which a ResNet halves its loss on a batch that it sees again and again
FALLING_STEPS = 50
DEEP_STEPS = 3
CURVE_STEPS = 10
# Both sides compute in float32, whose rounding a step multiplies; a wrong rate, mask or precision is far beyond it.
CURVE_TOLERANCE = 1e-3
# Steps count as long as one rounding of the start moves the CPU's own losses by no more: the first step of Adam is a
# gradient's sign, and a ResNet of 63 convolutions has its second loss 0.2 % and its tenth 80 % elsewhere for that.
CURVE_ROUNDING = CURVE_TOLERANCE / 10
_AGREEING = f"losses of CPU and GPU within {CURVE_TOLERANCE:g} of each other"


class Rounded(JaxProgram):
    """A network whose parameters start one rounding off, each up or down."""

    def values(self, seed: int) -> tuple[nnx.GraphDef, nnx.State, nnx.State]:
        graph, params, rest = super().values(seed)
        random = np.random.default_rng(seed)

        def moved(leaf: np.ndarray) -> np.ndarray:
            towards = np.where(random.random(leaf.shape) < 0.5, -np.inf, np.inf).astype(leaf.dtype)
            return np.where(leaf == 0, leaf, np.nextafter(leaf, towards))

        return graph, jax.tree.map(moved, params), rest


def curves(
    network: str,
    backend: Backend,
    batch: int,
    steps: int,
    seeds: Sequence[int] = (0,),
    *,
    share: float = 0.0,
    kind: type[JaxProgram] = JaxProgram,
) -> list[tuple[float, ...]]:
    """Return each seed's losses step by step on one batch of its own, until one is that share of the first."""
    workload = models.load(network)
    program = kind(workload, Case(workload=network, backend=backend, scope="step", batch=batch))
    found: list[tuple[float, ...]] = []
    for seed in seeds:
        program.initialise(seed)
        program.put([one_batch(network, batch, seed)])
        if not found:
            program.lower()
            program.compile()
        losses: list[float] = []
        while len(losses) < steps and not (losses and losses[-1] <= share * losses[0]):
            program.chain(1)
            losses.append(program.loss())
        found.append(tuple(losses))
    return found


def one_batch(network: str, batch: int, seed: int) -> Batch:
    """Return a batch of a network's own data: of the small embedded set, or drawn."""
    workload = models.load(network)
    if workload.draw is not None:
        return sets.drawn(workload.draw, batch, 1, seed)[0]
    return sets.batches(workload.description.dataset, workload.preparation, batch, 1, seed)[0]


def halved(network: str, backend: Backend, seeds: Sequence[int]) -> LossCheck:
    """Return after how many steps on one batch of 8 the loss is half of what it was, from each seed."""
    found = curves(network, backend, 8, HALVING_STEPS, seeds, share=0.5)
    good = all(curve[-1] <= 0.5 * curve[0] for curve in found)
    words = ", ".join(f"step {len(curve)}" if curve[-1] <= 0.5 * curve[0] else "not" for curve in found)
    expected = f"half its first loss on one batch of 8 within {HALVING_STEPS} steps"
    return LossCheck(expected=expected, found=f"by seed: {words}", good=good)


def falling(network: str, backend: Backend, seeds: Sequence[int]) -> LossCheck:
    """Return whether the loss on one batch is lower in the end, from each seed."""
    found = curves(network, backend, 64, FALLING_STEPS, seeds)
    words = ", ".join(f"{curve[0]:.3g} to {curve[-1]:.3g}" for curve in found)
    good = all(curve[-1] < curve[0] for curve in found)
    return LossCheck(expected=f"a lower loss after {FALLING_STEPS} steps", found=words, good=good)


def finite(network: str, backend: Backend) -> LossCheck:
    """Return whether the loss of the first steps is a number."""
    (curve,) = curves(network, backend, 8, DEEP_STEPS)
    words = ", ".join(f"{loss:.4g}" for loss in curve)
    return LossCheck(expected="a finite loss", found=words, good=all(map(math.isfinite, curve)))


def furthest(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the largest difference of two curves of losses, over the first one's loss at that step."""
    return max(abs(a - b) / abs(a) for a, b in zip(one, other, strict=True))


def agreeing(network: str, gpu: bool) -> LossCheck:
    """Return whether a GPU's losses are those of the CPU from the same start on the same batch."""
    if not gpu:
        return LossCheck(expected=_AGREEING, found="not tried: needs a GPU", good=None)
    (cpu,), (rounded,) = (curves(network, "cpu", 16, CURVE_STEPS, kind=kind) for kind in (JaxProgram, Rounded))
    return compared(cpu, rounded, curves(network, "gpu", 16, CURVE_STEPS)[0])


def compared(cpu: Sequence[float], rounded: Sequence[float], gpu: Sequence[float]) -> LossCheck:
    """Return whether a GPU's losses are the CPU's, in the steps before a rounding of the start moves the CPU's own."""
    moved = [furthest([one], [other]) for one, other in zip(cpu, rounded, strict=True)]
    steps = next((step for step, by in enumerate(moved) if by > CURVE_ROUNDING), len(cpu))
    if steps == 0:
        return LossCheck(
            expected=_AGREEING, found="cannot be told: one rounding of the start moves the first", good=None
        )
    apart = furthest(cpu[:steps], gpu[:steps])
    found = f"{apart:.2g} apart in {steps} steps" if steps > 1 else f"{apart:.2g} apart in the first step"
    if steps < len(cpu):
        found += f"; {furthest(cpu, gpu):.2g} in all {len(cpu)}, where one rounding of the start moves {max(moved):.2g}"
    return LossCheck(expected=_AGREEING, found=found, good=apart <= CURVE_TOLERANCE)
