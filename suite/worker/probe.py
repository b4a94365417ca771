"""What an implementation's interpreter offers, asked in a child so that the parent imports no framework.

`python -m suite.worker.probe jax` prints one JSON line: versions, backends and every workload's description.
"""

import logging
import os
import platform
import re
import sys
import traceback
import warnings
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from importlib import metadata

import msgspec

from suite.child_imports import PACKAGE
from suite.processes import parent_death
from suite.system.software import versions
from suite.variants import KERAS_BACKENDS, every_variant_of, keras_backend
from suite.worker_api.protocol import Offer

# JAX and PyTorch on a GPU are as fast as these wheels make them.
_GPU_WHEELS = re.compile(r"(jax-cuda\d+-(plugin|pjrt)|nvidia-(?!ml)[\w-]+|triton)$")
# What JAX logs or warns of a GPU's plugin that it leaves out.
_OF_A_PLUGIN = re.compile(r"(?i)^(?!.*\btpu).*plugin|Unable to initialize backend '(cuda|rocm)'")
_AROUND = re.compile(
    r"^(Jax plugin configuration error: (Exception when calling )?|Unable to initialize backend '\w+': )"
    r"| \((you may need to|set JAX_PLATFORMS).*$"
)


def jax_offer() -> Offer:
    """Return JAX's backends and every model's description."""
    backends, reasons = jax_backends()
    from suite import ceilings, families, models

    descriptions = tuple(models.load(name).description for name in models.names())
    return Offer(
        implementation="jax",
        backends=backends,
        packages=versions("jax", "jaxlib", "flax", "optax", "numpy"),
        reasons=reasons,
        workloads=descriptions,
        of_experiments=tuple(
            load(name).description
            for load, names in ((ceilings.load, ceilings.names()), (models.load, families.NAMES))
            for name in names
        ),
        names=tuple(about.name for about in descriptions),
    )


def jax_backends() -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Return the devices of each of JAX's backends, and why a GPU's plugin that is there has none."""
    backends: dict[str, tuple[str, ...]] = {}
    with _heard() as lines:
        import jax

        for backend in ("cpu", "gpu", "cpu"):  # a plugin that fails ends the first look, and the next one succeeds
            try:
                backends[backend] = tuple(device.device_kind for device in jax.devices(backend))
            except (RuntimeError, AssertionError) as error:
                lines.append(str(error))
    return backends, _told("gpu", backends, (_AROUND.sub("", line) for line in lines if _OF_A_PLUGIN.search(line)))


def _told(backend: str, backends: Collection[str], lines: Iterable[str]) -> dict[str, str]:
    """Return the last line as the reason for which a backend is missing; {} if it is there, or without a line."""
    last = list(lines)[-1:]
    return {backend: last[0]} if last and backend not in backends else {}


@contextmanager
def _heard() -> Iterator[list[str]]:
    """Collect what is warned of, and what JAX logs of its backends: often no exception says why one is missing."""
    lines: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            error = record.exc_info[1] if record.exc_info else None
            lines.append(record.getMessage() + (f": {type(error).__name__}: {error}" if error else ""))

    log = logging.getLogger("jax._src.xla_bridge")
    log.addHandler(listener := Listener())
    before = log.level
    log.setLevel(logging.INFO)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        yield lines
    log.removeHandler(listener)
    log.setLevel(before)
    lines[:0] = [str(warning.message) for warning in warned]


def torch_offer() -> Offer:
    """Return PyTorch's backends and the workloads that have a control."""
    with _heard() as lines:
        import torch  # pyright: ignore[reportMissingImports]

        backends: dict[str, tuple[str, ...]] = {"cpu": ("cpu",)}
        if torch.cuda.is_available():
            backends["gpu"] = tuple(torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count()))
    from suite import controls, families

    if torch.version.cuda is None:
        lines = ["this PyTorch is built without CUDA"]
    return Offer(
        implementation="torch",
        backends=backends,
        reasons=_told("gpu", backends, (line for line in lines if "CUDA" in line)),
        packages={"torch": str(torch.__version__)},
        names=(*controls.names(), *families.members("suite.controls")),
    )


def keras_offer() -> Offer:
    """Return the workloads that have a control in Keras, and its variants on the frameworks that are installed."""
    frameworks = {name: _under_keras(name) for name in KERAS_BACKENDS}
    usable = {name: backends for name, backends in frameworks.items() if not isinstance(backends, str)}
    if not usable:
        raise ModuleNotFoundError(frameworks["tensorflow"])
    os.environ["KERAS_BACKEND"] = "tensorflow" if "tensorflow" in usable else next(iter(usable))
    import keras  # pyright: ignore[reportMissingImports]

    from suite import controls_keras

    ways = {name: usable.get(keras_backend(name), ()) for name in every_variant_of("keras", "cpu")}
    return Offer(
        implementation="keras",
        backends={name: (name,) for name in ("cpu", "gpu") if any(name in backends for backends in usable.values())},
        packages={"keras": keras.version(), **_tensorflow_version()},
        names=controls_keras.names(),
        ways=ways,
        reasons={way: str(frameworks[keras_backend(way)]) for way, backends in ways.items() if not backends},
    )


def _tensorflow_version() -> dict[str, str]:
    tensorflow = sys.modules.get("tensorflow")
    return {"tensorflow": tensorflow.version.VERSION} if tensorflow is not None else {}


def _under_keras(name: str) -> tuple[str, ...] | str:
    """Return the backends of a framework that Keras can use, or why it cannot be imported."""
    try:
        if name == "jax":
            return tuple(jax_backends()[0])
        if name == "torch":
            import torch  # pyright: ignore[reportMissingImports]

            return ("cpu", "gpu") if torch.cuda.is_available() else ("cpu",)
        import tensorflow  # pyright: ignore

        return ("cpu", "gpu") if tensorflow.config.list_physical_devices("GPU") else ("cpu",)
    except ModuleNotFoundError as error:
        return str(error)


def xgboost_offer() -> Offer:
    """Return the backends that XGBoost was built for, and the workloads that have a control in it."""
    import xgboost  # pyright: ignore[reportMissingImports]

    from suite import controls_xgboost, families

    backends: dict[str, tuple[str, ...]] = {"cpu": ("cpu",)}
    if xgboost.build_info().get("USE_CUDA"):
        backends["gpu"] = ("cuda",)
    return Offer(
        implementation="xgboost",
        backends=backends,
        reasons=_told("gpu", backends, ["this XGBoost is built without CUDA"]),
        packages={"xgboost": xgboost.__version__},
        names=(*controls_xgboost.names(), *families.members("suite.controls_xgboost")),
    )


def openvino_offer() -> Offer:
    """Return the inferences that have a control in PyTorch, from which OpenVINO's graph is made, on the CPU."""
    import openvino  # pyright: ignore[reportMissingImports] # noqa: F401
    import torch  # pyright: ignore[reportMissingImports] # noqa: F401

    from suite import controls

    return Offer(
        implementation="openvino",
        backends={"cpu": ("cpu",)},
        packages=versions("openvino", "torch"),
        names=tuple(name for name in controls.names() if controls.load(name).optimizer is None),
    )


_OFFERS = {
    "jax": jax_offer,
    "torch": torch_offer,
    "keras": keras_offer,
    "xgboost": xgboost_offer,
    "openvino": openvino_offer,
}


def main(implementation: str) -> None:
    """Print the offer as the only line on standard output."""
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    parent_death.exit_when_parent_exits()
    try:
        offer = _OFFERS[implementation]()
    except Exception as error:
        traceback.print_exc()
        lacks = isinstance(error, ModuleNotFoundError)
        problem = str(error) if lacks else f"{type(error).__name__}: {error}"
        offer = Offer(implementation=implementation, problem=problem, installed=not lacks)
    answer = msgspec.structs.replace(
        offer,
        package=str(PACKAGE),
        python=platform.python_version(),
        packages={**offer.packages, **gpu_wheels()},
        problem=_line(offer.problem),
        reasons={backend: _line(reason) for backend, reason in offer.reasons.items()},
    )
    out.write(msgspec.json.encode(answer) + b"\n")
    os._exit(0)  # the thread that waits for the parent's death holds standard input, and would abort the interpreter


def gpu_wheels() -> dict[str, str]:
    """Return the versions of the installed wheels that make an implementation fast on a GPU."""
    named = {each.metadata["Name"]: each.version for each in metadata.distributions()}
    return {name: named[name] for name in sorted(filter(None, named)) if _GPU_WHEELS.match(name)}


def _line(text: str) -> str:
    return " ".join(text.split())[:400]


if __name__ == "__main__":
    main(sys.argv[1])
