"""Variants of each implementation: their names, and the backends that have them.

Those of scope `written` are ways to write a loop; no other scope has them.
"""

from suite.case import Backend, Case, Implementation
from suite.scopes import SCOPES, Scope
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
_EPOCH = ("fit", "predict", "resident-loop")  # ways that take an epoch in one call
# Frameworks under Keras; a variant ends in the name of its own.
KERAS_BACKENDS = ("jax", "torch", "tensorflow")
_KERAS_FITS, _KERAS_PREDICTS = ("fit", "train-on-batch"), ("predict", "predict-on-batch")  # training, inference

WRITTEN: dict[Implementation, dict[str, tuple[Backend, ...]]] = {
    "jax": {
        "nnx-loop": _BOTH,  # nnx.jit once per step, each batch a slice of the host's arrays
        "nnx-loop-wait": _BOTH,  # and float(loss) each step
        "resident-loop": _BOTH,  # the examples on the device, a lax.scan over an epoch's steps
    },
    "torch": {
        "loop": _BOTH,  # eager, DataLoader with its defaults, batch.to(device), losses added up on the device
        "loop-wait": _BOTH,  # loss.item() each step instead
    },
    "keras": {f"{call}-{on}": _BOTH for call in (*_KERAS_FITS, *_KERAS_PREDICTS) for on in KERAS_BACKENDS},
}
_RUN: dict[Implementation, str] = {"torch": "loop-wait", "keras": "fit"}  # how the ways of their whole runs begin
SLOW_TO_START = frozenset({"compile", "compile-graph"})  # torch.compile takes a quarter of a minute and more
AUGMENTING = ("plain", "scan")  # variants of JAX whose step can augment its batch
NAMES = tuple(dict.fromkeys(name for table in (VARIANTS, WRITTEN) for variants in table.values() for name in variants))


def variants_of(implementation: Implementation, backend: Backend, scope: Scope = "step") -> tuple[str, ...]:
    """Return an implementation's variants on a backend in a scope; () if it does not run there."""
    if scope == "written" or (scope == "run" and implementation in _RUN):
        named = WRITTEN.get(implementation, {})
    else:
        named = VARIANTS[implementation]
    whole = _RUN.get(implementation, "") if scope == "run" else ""
    return tuple(name for name, backends in named.items() if backend in backends and name.startswith(whole))


def every_variant_of(implementation: Implementation, backend: Backend) -> tuple[str, ...]:
    """Return an implementation's variants on a backend in any scope."""
    scopes: tuple[Scope, ...] = ("step", "written")
    return tuple(dict.fromkeys(name for scope in scopes for name in variants_of(implementation, backend, scope)))


def keras_backend(variant: str) -> str:
    """Return the framework under a variant of Keras."""
    return next((name for name in KERAS_BACKENDS if variant.endswith(f"-{name}")), "tensorflow")


def can_write(about: Description, implementation: Implementation, variant: str) -> bool:
    """Return whether a way of scope `written` can be written for a workload: Keras fits what trains, else predicts."""
    fits = implementation != "keras" or variant.startswith(_KERAS_FITS if about.trained else _KERAS_PREDICTS)
    return about.is_network and fits


def steps_per_call(case: Case) -> int:
    """Return how many steps one call from Python takes."""
    return STEPS_PER_CALL if case.variant in _SEVERAL_STEPS else 1


def takes_epochs(variant: str) -> bool:
    """Return whether one call of a loop as written takes an epoch."""
    return variant.removesuffix(f"-{keras_backend(variant)}") in _EPOCH


def way_of(case: Case) -> str:
    """Return the name of a case's implementation and variant."""
    return way_name(case.implementation, case.variant)


def way_name(implementation: Implementation, variant: str) -> str:
    """Return an implementation and its variant, such as 'torch compile', 'keras' or 'keras fit, on torch'."""
    if implementation == "keras" and variant != "plain":
        on = keras_backend(variant)
        return f"keras {variant.removesuffix(f'-{on}')}, on {on}"
    suffix = {"torch": "eager"}.get(implementation, "") if variant == "plain" else variant
    return f"{implementation} {suffix}".rstrip()


def require(case: Case) -> None:
    """Raise LookupError with the alternatives if the implementation lacks the case's variant or augmentation."""
    variants = variants_of(case.implementation, case.backend, case.scope)
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
