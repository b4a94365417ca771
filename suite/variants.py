"""Variants of each implementation: their names, and the backends that have them."""

from suite.case import Backend, Case, Implementation
from suite.scopes import SCOPES
from suite.workload import Description

STEPS_PER_CALL = 16  # of `scan`; fixed, so that `scan` means one thing everywhere

_CPU: tuple[Backend, ...] = ("cpu",)
_GPU: tuple[Backend, ...] = ("gpu",)
_BOTH = _CPU + _GPU

VARIANTS: dict[Implementation, dict[str, tuple[Backend, ...]]] = {
    "jax": {
        "plain": _BOTH,  # compiled ahead of time, state donated
        "nnx-jit": _BOTH,  # as in tutorials: nnx.Optimizer, and nnx.jit once per step
        "scan": _BOTH,  # a lax.scan over STEPS_PER_CALL steps in one compiled program
        "stacked": _BOTH,  # of a grid's network: one fit per headline batch in the batch
        "resident": _BOTH,  # of a whole run: data on the device, a lax.scan over an epoch's steps
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
        "one-thread": _CPU,  # very probably that of the documented CPU worker
    },
    "openvino": {"plain": _CPU},  # inference alone, from PyTorch's network
}
_SEVERAL_STEPS = ("scan",)  # variants that take STEPS_PER_CALL steps in one call
SLOW_TO_START = frozenset({"compile", "compile-graph"})  # torch.compile takes a quarter of a minute and more
AUGMENTING = ("plain", "scan")  # variants of JAX whose step can augment its batch
NAMES = tuple(dict.fromkeys(name for variants in VARIANTS.values() for name in variants))


def variants_of(implementation: Implementation, backend: Backend) -> tuple[str, ...]:
    """Return an implementation's variants on a backend; () if it does not run there."""
    return tuple(name for name, backends in VARIANTS[implementation].items() if backend in backends)


def steps_per_call(case: Case) -> int:
    """Return how many steps one call from Python takes."""
    return STEPS_PER_CALL if case.variant in _SEVERAL_STEPS else 1


def way_of(case: Case) -> str:
    """Return the name of a case's implementation and variant."""
    return way_name(case.implementation, case.variant)


def way_name(implementation: Implementation, variant: str) -> str:
    """Return an implementation and its variant, such as 'torch compile' or 'keras'."""
    suffix = {"torch": "eager"}.get(implementation, "") if variant == "plain" else variant
    return f"{implementation} {suffix}".rstrip()


def require(case: Case) -> None:
    """Raise LookupError with the alternatives if the implementation lacks the case's variant or augmentation."""
    variants = variants_of(case.implementation, case.backend)
    stepped = case.implementation == "jax" and case.variant in AUGMENTING and not SCOPES[case.scope].trains
    if case.augmentation == "device" and SCOPES[case.scope].computes and not stepped:
        raise LookupError(
            f"augmentation 'device' is not supported in scope '{case.scope}' with variant '{case.variant}' of "
            f"'{case.implementation}'; steps of JAX support it: {', '.join(AUGMENTING)}"
        )
    if case.variant not in variants:
        raise LookupError(
            f"no variant '{case.variant}' of '{case.implementation}' on backend '{case.backend}'; "
            f"there are: {', '.join(variants) or 'none'}"
        )


def usual_batch(about: Description, variant: str) -> int:
    """Return the headline batch; for variant `stacked` that of all fits of one network."""
    return about.batch * (about.grid.stack if variant == "stacked" and about.grid is not None else 1)


def fits_of(about: Description, batch: int, devices: int) -> int:
    """Return how many fits a stacked case trains at once: one per headline batch in its batch.

    Raises ValueError if the workload has no grid, or if the batch does not divide into fits, equally many per device.
    """
    if about.grid is None:
        raise ValueError(
            f"variant 'stacked' trains the fits of a grid at once, but '{about.name}' has no grid; "
            "omit the workload or the variant"
        )
    if batch % (about.batch * devices):
        raise ValueError(
            f"batch {batch} of '{about.name}' does not divide into fits of {about.batch} examples"
            + (f", equally many on each of {devices} devices" if devices > 1 else "")
            + f"; choose a multiple of {about.batch * devices} with --batch"
        )
    return batch // about.batch
