"""The ways in which each implementation takes its steps: their names, and the backends that have them."""

from suite.case import Backend, Case, Implementation
from suite.scopes import SCOPES
from suite.workload import Description

STEPS_PER_CALL = 16  # of `scan`; a fixed number, so that the word means one thing everywhere

_CPU: tuple[Backend, ...] = ("cpu",)
_GPU: tuple[Backend, ...] = ("gpu",)
_BOTH = _CPU + _GPU

VARIANTS: dict[Implementation, dict[str, tuple[Backend, ...]]] = {
    "jax": {
        "plain": _BOTH,  # compiled ahead of time, its state donated
        "nnx-jit": _BOTH,  # as tutorials write it: nnx.Optimizer, and nnx.jit once per step
        "scan": _BOTH,  # a lax.scan over STEPS_PER_CALL steps in one compiled program
        "stacked": _BOTH,  # of a grid's network: as many fits at once as the batch has headline batches
        "resident": _BOTH,  # of a whole run: the data on the device, a lax.scan over the steps of an epoch
    },
    "torch": {
        "plain": _BOTH,  # eager, pictures channels-last
        "compile": _BOTH,  # torch.compile of forward and loss, and of the optimizer's step; inference: weights frozen
        "graph": _GPU,  # the whole eager step replayed as one CUDA graph
        "compile-graph": _GPU,  # the same with torch.compile inside
    },
    "keras": {"plain": _CPU},  # a tf.function on TensorFlow
    "xgboost": {
        "plain": _BOTH,  # one call of Booster.update, with a thread for each granted core
        "one-thread": _CPU,  # as the documented CPU worker very probably had
    },
}
SLOW_TO_START = frozenset({"compile", "compile-graph"})  # torch.compile takes a quarter of a minute and more
AUGMENTING = ("plain", "scan")  # those of JAX whose step can augment its batch
NAMES = tuple(dict.fromkeys(name for variants in VARIANTS.values() for name in variants))


def variants_of(implementation: Implementation, backend: Backend) -> tuple[str, ...]:
    """Return the variants that an implementation has on a backend; none where it does not run there."""
    return tuple(name for name, backends in VARIANTS[implementation].items() if backend in backends)


def way_of(case: Case) -> str:
    """Return the name of the way in which a case is implemented."""
    return way_name(case.implementation, case.variant)


def way_name(implementation: Implementation, variant: str) -> str:
    """Return an implementation and its variant, such as 'torch compile' or 'keras'."""
    said = {"torch": "eager"}.get(implementation, "") if variant == "plain" else variant
    return f"{implementation} {said}".rstrip()


def require(case: Case) -> None:
    """Raise LookupError, naming what there is, if the implementation lacks the case's variant or augmentation."""
    there = variants_of(case.implementation, case.backend)
    stepped = case.implementation == "jax" and case.variant in AUGMENTING and not SCOPES[case.scope].trains
    if case.augmentation == "device" and SCOPES[case.scope].computes and not stepped:
        raise LookupError(
            f"augmentation 'device' asked for in scope '{case.scope}' with variant '{case.variant}' of "
            f"'{case.implementation}', which has none; steps of JAX have it: {', '.join(AUGMENTING)}"
        )
    if case.variant not in there:
        raise LookupError(
            f"no variant '{case.variant}' of '{case.implementation}' on backend '{case.backend}'; "
            f"there are: {', '.join(there) or 'none'}"
        )


def usual_batch(about: Description, variant: str) -> int:
    """Return the headline batch; of variant `stacked` that of each fit of one network."""
    return about.batch * (about.grid.stack if variant == "stacked" and about.grid is not None else 1)


def fits_of(about: Description, batch: int, devices: int) -> int:
    """Return how many fits a stacked case trains at once: one for each headline batch in its batch.

    Raises ValueError if the workload has no grid, or if the batch does not divide into fits, as many on each device.
    """
    if about.grid is None:
        raise ValueError(
            f"variant 'stacked' asked for, which trains the fits of a grid at once, and '{about.name}' has no grid; "
            "leave it or that variant out"
        )
    if batch % (about.batch * devices):
        raise ValueError(
            f"batch {batch} of '{about.name}' does not divide into fits of {about.batch} examples"
            + (f", as many on each of {devices} devices" if devices > 1 else "")
            + f"; choose a multiple of {about.batch * devices} with --batch"
        )
    return batch // about.batch
