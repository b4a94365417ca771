"""What an implementation's interpreter offers, asked in a child so that the parent imports no framework.

`python -m suite.worker.probe jax` prints one JSON line: versions, backends and every workload's description.
"""

import os
import platform
import sys

import msgspec

from suite.child_imports import PACKAGE
from suite.processes import parent_death
from suite.system.software import versions
from suite.worker_api.protocol import Offer


def jax_offer() -> Offer:
    """Return JAX's backends and every model's description."""
    import jax

    from suite import ceilings, models

    backends: dict[str, tuple[str, ...]] = {}
    for backend in ("cpu", "gpu"):
        try:
            backends[backend] = tuple(device.device_kind for device in jax.devices(backend))
        except (RuntimeError, AssertionError):
            continue
    descriptions = tuple(models.load(name).description for name in models.names())
    return Offer(
        implementation="jax",
        backends=backends,
        packages=versions("jax", "jaxlib", "flax", "optax", "numpy"),
        workloads=descriptions,
        ceilings=tuple(ceilings.load(name).description for name in ceilings.names()),
        names=tuple(about.name for about in descriptions),
    )


def torch_offer() -> Offer:
    """Return PyTorch's backends and the workloads that have a control."""
    import torch  # pyright: ignore[reportMissingImports]

    from suite import controls

    backends: dict[str, tuple[str, ...]] = {"cpu": ("cpu",)}
    if torch.cuda.is_available():
        backends["gpu"] = tuple(torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count()))
    return Offer(
        implementation="torch",
        backends=backends,
        packages={"torch": str(torch.__version__)},
        names=tuple(controls.names()),
    )


def keras_offer() -> Offer:
    """Return the workloads that have a control in Keras, which runs on TensorFlow's CPU backend."""
    import keras  # pyright: ignore[reportMissingImports]
    import tensorflow  # pyright: ignore

    from suite import controls_keras

    return Offer(
        implementation="keras",
        backends={"cpu": ("cpu",)},
        packages={"keras": keras.version(), "tensorflow": tensorflow.version.VERSION},
        names=controls_keras.names(),
    )


def xgboost_offer() -> Offer:
    """Return the backends that XGBoost was built for, and the workloads that have a control in it."""
    import xgboost  # pyright: ignore[reportMissingImports]

    from suite import controls_xgboost

    backends: dict[str, tuple[str, ...]] = {"cpu": ("cpu",)}
    if xgboost.build_info().get("USE_CUDA"):
        backends["gpu"] = ("cuda",)
    return Offer(
        implementation="xgboost",
        backends=backends,
        packages={"xgboost": xgboost.__version__},
        names=controls_xgboost.names(),
    )


def main(implementation: str) -> None:
    """Print the offer as the only line on standard output."""
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    parent_death.exit_when_parent_exits()
    try:
        offers = {"jax": jax_offer, "torch": torch_offer, "keras": keras_offer, "xgboost": xgboost_offer}
        offer = offers[implementation]()
    except ImportError as error:
        offer = Offer(implementation=implementation, problem=str(error))
    offer = msgspec.structs.replace(offer, package=str(PACKAGE), python=platform.python_version())
    out.write(msgspec.json.encode(offer) + b"\n")


if __name__ == "__main__":
    main(sys.argv[1])
