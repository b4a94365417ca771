"""The timed inference in OpenVINO, an engine that only runs networks, on the CPU; and single requests."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import openvino
import torch

from suite.case import Case
from suite.controls._base import Control
from suite.programs import source_digest
from suite.system.counters import granted_cores
from suite.system.software import versions
from suite.worker_api.program import IN_FLIGHT, Batch

_RECORDED = ("NUM_STREAMS", "INFERENCE_NUM_THREADS", "INFERENCE_PRECISION_HINT", "ENABLE_HYPER_THREADING")


class OpenvinoProgram:
    """An inference of a control in PyTorch as OpenVINO's graph, driven as `suite.worker_api.program.Program` describes.

    PyTorch builds the network and its values, and computes nothing in the step.
    """

    hints: Mapping[str, Any] = MappingProxyType({"PERFORMANCE_HINT": "LATENCY"})

    def __init__(self, control: Control, case: Case) -> None:
        if case.backend != "cpu":
            raise RuntimeError(f"backend '{case.backend}' asked for, OpenVINO runs on 'cpu' here; leave openvino out")
        if control.optimizer is not None:
            raise LookupError(f"'{case.workload}' is trained, OpenVINO only infers; leave openvino out")
        self._control, self._case, self._out = control, case, None

    @property
    def steps_per_call(self) -> int:
        """One."""
        return 1

    def initialise(self, seed: int) -> None:
        """Build the network with torch's own initial values, as PyTorch's side does."""
        torch.manual_seed(seed)
        network = self._control.model().eval()
        self._network = self._control.served(network) if self._control.served is not None else network

    def put(self, batches: Sequence[Batch]) -> None:
        """Make tensors of the input sets, which share their memory."""
        self._names = tuple(batches[0])
        self._arrays = list(batches[0].values())
        self._batches = [
            [openvino.Tensor(batch[name], shared_memory=True) for name in self._names] for batch in batches
        ]

    def lower(self) -> None:
        """Translate the network, its loss included, into OpenVINO's graph for the shapes of the first batch."""
        example = tuple(torch.from_numpy(array) for array in self._arrays)
        with torch.no_grad():
            self._graph = openvino.convert_model(
                _Step(self._control, self._network, self._names), example_input=example
            )
        for array, port in zip(self._arrays, self._graph.inputs, strict=True):
            port.get_node().set_partial_shape(openvino.PartialShape(array.shape))
        self._graph.validate_nodes_and_infer_types()

    def compile(self) -> None:
        """Compile the graph for this CPU.

        OpenVINO chooses its threads among the granted cores. An asked number of threads it gets in full, two of a core
        included. Without the hint of a precision it would round to bfloat16 where the CPU has that.
        """
        asked = self._case.threads
        options = {
            "INFERENCE_PRECISION_HINT": "f32",
            "INFERENCE_NUM_THREADS": asked or granted_cores(),
            "CPU_DENORMALS_OPTIMIZATION": True,  # as XLA does
            **self.hints,
        }
        if asked is not None:
            options["ENABLE_HYPER_THREADING"] = True
        self._compiled = openvino.Core().compile_model(self._graph, "CPU", options)
        self._request = self._compiled.create_infer_request()

    def chain(self, steps: int) -> None:
        """Infer one batch after another, rotating through them."""
        for index in range(steps):
            self._hand(self._request, index % len(self._batches))
            self._request.infer()
        self._out = _read(self._request)

    def _hand(self, request: Any, index: int) -> None:
        for place, tensor in enumerate(self._batches[index]):
            request.set_input_tensor(place, tensor)

    def block(self) -> None:
        """Do nothing: a call returns with its result."""

    def loss(self) -> float:
        """Return the last step's loss."""
        assert self._out is not None
        return self._out

    def compilations(self) -> int:
        """Return 0: nothing is compiled after `compile`."""
        return 0

    def cache_hits(self) -> None:
        """Return None: no cache."""

    def jaxpr_cost(self) -> None:
        """Return None: unsupported."""

    def program_digest(self) -> str:
        """Return a digest of the source of the control and its driver."""
        return source_digest.of_case(type(self), "suite.controls", self._case)

    def state_digest(self) -> None:
        """Return None: unsupported."""

    def platform(self) -> str:
        """Return the backend that the compiled graph runs on."""
        return ",".join(self._compiled.get_property("EXECUTION_DEVICES")).lower()

    def device_memory_bytes(self) -> None:
        """Return None: the CPU has no counter."""

    def bytes_per_step(self) -> None:
        """Return None: JAX's side counts them."""

    def packages(self) -> dict[str, str]:
        """Return the versions of OpenVINO and of PyTorch, which wrote the graph."""
        return versions("openvino", "torch")

    def settings(self) -> dict[str, Any]:
        """Return the options in force that affect speed."""
        return {f"openvino_{name.lower()}": _text(self._compiled.get_property(name)) for name in _RECORDED}


class OpenvinoServing(OpenvinoProgram):
    """An inference that answers requests, driven as `suite.worker.serving.Server` describes.

    OpenVINO divides the cores among the requests under way as it sees fit.
    """

    hints = MappingProxyType({"PERFORMANCE_HINT": "THROUGHPUT", "PERFORMANCE_HINT_NUM_REQUESTS": IN_FLIGHT})

    def compile(self) -> None:
        """Compile the graph, and make requests that are free."""
        super().compile()
        self._free: list[Any] = []

    def ask(self, index: int) -> Any:
        """Begin a request with its picture in the host's memory."""
        request = self._free.pop() if self._free else self._compiled.create_infer_request()
        self._hand(request, index)
        request.start_async()
        return request

    def answer(self, pending: Any) -> float:
        """Return the answer once it is computed."""
        pending.wait()
        answer = _read(pending)
        self._free.append(pending)
        return answer


class _Step(torch.nn.Module):
    """A control's loss as a function of a batch's arrays in their order; pictures are [N,H,W,C]."""

    def __init__(self, control: Control, network: torch.nn.Module, names: Sequence[str]) -> None:
        super().__init__()
        self.network, self.names, self.value = network, names, control.loss

    def forward(self, *arrays: torch.Tensor) -> torch.Tensor:
        """Map the arrays of a batch to the loss."""
        turned = (array.permute(0, 3, 1, 2) if array.ndim == 4 else array for array in arrays)
        return self.value(self.network, dict(zip(self.names, turned, strict=True)))


def _read(request: Any) -> float:
    return float(np.asarray(request.get_output_tensor(0).data))


def _text(value: Any) -> Any:
    return value.to_string() if isinstance(value, openvino.Type) else value
