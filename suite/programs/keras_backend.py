"""The framework under Keras: its settings, its device, and when its work is done. Only that one is imported."""

from collections.abc import Iterable
from typing import Any

import keras

from suite.case import Case
from suite.system.software import versions as installed

NAME = keras.backend.backend()


def prepare(case: Case) -> None:
    """Ask the framework for full float32 and for the case's threads, as the suite asks its own programs.

    Raises RuntimeError if it has no device of the case's backend, or for another precision.
    """
    if case.precision != "float32-highest":
        raise RuntimeError(f"precision '{case.precision}' asked for, Keras runs in float32-highest; leave keras out")
    if NAME == "jax":
        import jax

        jax.config.update("jax_default_matmul_precision", "highest")
        missing = case.backend != jax.default_backend()
    elif NAME == "torch":
        import torch

        torch.set_flush_denormal(True)  # as XLA does
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        if case.threads is not None:
            torch.set_num_threads(case.threads)
        missing = case.backend == "gpu" and not torch.cuda.is_available()
    else:
        import tensorflow as tf

        tf.config.experimental.enable_tensor_float_32_execution(False)
        if case.threads is not None:
            tf.config.threading.set_intra_op_parallelism_threads(case.threads)
        missing = case.backend == "gpu" and not tf.config.list_physical_devices("GPU")
    if missing:
        raise RuntimeError(f"backend '{case.backend}' asked for, Keras' {NAME} has none; install its CUDA build")


def settle(variables: Iterable[Any]) -> None:
    """Block until the variables are ready."""
    if NAME == "jax":
        import jax

        jax.block_until_ready([variable.value for variable in variables])
    elif NAME == "torch":
        import torch

        if torch.cuda.is_available():
            torch.cuda.synchronize()
    else:
        import tensorflow as tf

        tf.test.experimental.sync_devices()


def platform(variable: Any) -> str:
    """Return the backend of the device that holds a variable."""
    value = variable.value
    if NAME == "jax":
        return next(iter(value.devices())).platform
    name = value.device.type if NAME == "torch" else value.device
    return "gpu" if "cuda" in name or "GPU" in name else "cpu"


def packages() -> dict[str, str]:
    """Return the versions of Keras and of the framework, as its own programs name them."""
    versions = {"keras": keras.version()}
    if NAME == "jax":
        return versions | installed("jax", "jaxlib")
    if NAME == "torch":
        import torch

        cuda = {"torch-cuda": torch.version.cuda, "torch-cudnn": str(torch.backends.cudnn.version())}
        return versions | {"torch": str(torch.__version__)} | (cuda if torch.version.cuda is not None else {})
    import tensorflow as tf

    return versions | {"tensorflow": tf.version.VERSION}
