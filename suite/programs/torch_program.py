"""The timed step in PyTorch: eager, compiled, or replayed as one CUDA graph of either; and single requests."""

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._inductor import config as inductor

from suite.case import FRAMEWORK_DEFAULT, Case
from suite.controls._base import Control
from suite.programs import source_digest
from suite.worker_api.program import Batch

_GRAPH_WARMUP_STEPS = 3  # before capture, as PyTorch's documentation of CUDA graphs asks


class TorchProgram:
    """A control's step on one device, driven as `suite.worker_api.program.Program` describes.

    Variants: `plain` is eager, `compile` compiles forward and loss, and the optimizer's step, with torch.compile.
    `graph` replays the whole eager step as one CUDA graph, `compile-graph` the whole compiled step. The compiler may
    treat the weights of an inference as constants.
    """

    def __init__(self, control: Control, case: Case) -> None:
        if case.backend == "gpu" and not torch.cuda.is_available():
            raise RuntimeError(
                "backend 'gpu' asked for, PyTorch sees none; install its CUDA build or run --backend cpu"
            )
        self._control, self._case = control, case
        words = case.variant.split("-")
        self._compiled, self._replayed = "compile" in words, "graph" in words
        self._device = torch.device("cuda" if case.backend == "gpu" else "cpu")
        # As XLA does. An LSTM's gradients become subnormal, which makes the CPU 8 times slower.
        torch.set_flush_denormal(True)  # before the first parallel work, so that its threads inherit it
        if case.threads is not None:
            torch.set_num_threads(case.threads)
        fast = case.precision == "tf32"
        torch.backends.cuda.matmul.allow_tf32 = fast
        torch.backends.cudnn.allow_tf32 = fast
        torch.backends.cudnn.benchmark = True
        inductor.freezing = True  # without gradients; torch.compile's own options come too late for it
        self._out: torch.Tensor | None = None

    @property
    def steps_per_call(self) -> int:
        """One."""
        return 1

    def initialise(self, seed: int) -> None:
        """Build the network with torch's own initial values and put it on the device."""
        torch.manual_seed(seed)
        network = self._control.model().train(self._control.optimizer is not None)
        if self._control.served is not None:
            network = self._control.served(network)
        last = self._case.layout == "channels-last"
        self._model = network.to(self._device, memory_format=torch.channels_last if last else torch.contiguous_format)
        if self._control.optimizer is not None:
            self._optimizer = self._control.optimizer(self._model.parameters(), self._replayed)

    def put(self, batches: Sequence[Batch]) -> None:
        """Copy the input sets to the device, pictures [N,H,W,C] as [N,C,H,W]; channels-last moves no byte for it."""
        self._batches = [{name: self._tensor(array) for name, array in batch.items()} for batch in batches]

    def _tensor(self, array: Any) -> torch.Tensor:
        tensor = torch.from_numpy(array).to(self._device)
        if tensor.ndim != 4:
            return tensor
        pictures = tensor.permute(0, 3, 1, 2)
        return pictures.contiguous() if self._case.layout == "contiguous" else pictures

    def lower(self) -> None:
        """Choose the function that runs as a step; PyTorch has no stage for it."""
        made = torch.compile if self._compiled else lambda function: function
        self._loss = made(self._control.loss)
        if self._control.optimizer is not None:
            self._move = made(self._optimizer.step)

    def compile(self) -> None:
        """Capture the CUDA graphs, one for each input set; without graphs the first step compiles."""
        self._steps: list[Callable[[], torch.Tensor]] = [
            lambda batch=batch: self._once(batch) for batch in self._batches
        ]
        if self._replayed:
            self._steps = [self._captured(batch) for batch in self._batches]

    def _once(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        return self._infer(batch) if self._control.optimizer is None else self._train(batch)

    @torch.inference_mode()
    def _infer(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        with self._autocast():
            return self._loss(self._model, batch)

    def _train(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        with self._autocast():
            loss = self._loss(self._model, batch)
        loss.backward()
        self._move()
        self._optimizer.zero_grad()  # also in a graph: zeros would be written and then added to
        return loss.detach()

    def _autocast(self) -> contextlib.AbstractContextManager:
        if self._case.precision == "bfloat16":
            return torch.autocast(self._device.type, torch.bfloat16)
        return contextlib.nullcontext()

    def _captured(self, batch: dict[str, torch.Tensor]) -> Callable[[], torch.Tensor]:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(_GRAPH_WARMUP_STEPS):
                self._once(batch)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            loss = self._once(batch)

        def replay() -> torch.Tensor:
            graph.replay()
            return loss

        return replay

    def chain(self, steps: int) -> None:
        """Dispatch dependent steps, rotating through the batches."""
        for index in range(steps):
            self._out = self._steps[index % len(self._steps)]()

    def block(self) -> None:
        """Wait for the device; on the CPU every call returns with its result."""
        if self._device.type == "cuda":
            torch.cuda.synchronize()

    def loss(self) -> float:
        """Return the last step's loss."""
        assert self._out is not None
        return float(self._out)

    def compilations(self) -> int:
        """Return how many graphs torch.compile has compiled so far."""
        return int(torch._dynamo.utils.counters["stats"]["unique_graphs"]) if self._compiled else 0

    def cache_hits(self) -> None:
        """Return None: no cache."""

    def jaxpr_cost(self) -> None:
        """Return None: unsupported."""

    def program_digest(self) -> str:
        """Return a digest of the source of the control and its driver: nothing is lowered ahead of time."""
        return source_digest.of_case(type(self), "suite.controls", self._case)

    def state_digest(self) -> None:
        """Return None: unsupported."""

    def platform(self) -> str:
        """Return the backend of the device that holds the parameters."""
        kind = next(self._model.parameters()).device.type
        return "gpu" if kind == "cuda" else kind

    def device_memory_bytes(self) -> int | None:
        """Return the GPU's peak memory in bytes; None on the CPU."""
        return torch.cuda.max_memory_allocated() if self._device.type == "cuda" else None

    def bytes_per_step(self) -> None:
        """Return None: JAX's side counts them."""

    def packages(self) -> dict[str, str]:
        """Return PyTorch's version, with its CUDA version."""
        versions = {"torch": str(torch.__version__)}
        if torch.version.cuda is not None:
            versions |= {"torch-cuda": torch.version.cuda, "torch-cudnn": str(torch.backends.cudnn.version())}
        return versions

    def settings(self) -> dict[str, Any]:
        """Return the options in force that affect speed."""
        products = {"torch_allow_tf32_products": torch.backends.cuda.matmul.allow_tf32}  # else the same as below
        return (products if self._case.precision == FRAMEWORK_DEFAULT else {}) | {
            "torch_threads": torch.get_num_threads(),
            "torch_allow_tf32": torch.backends.cudnn.allow_tf32,
            "torch_cudnn_benchmark": torch.backends.cudnn.benchmark,
            "torch_weights_frozen": self._compiled and self._control.optimizer is None,
        }


class TorchServing(TorchProgram):
    """An inference that answers requests, driven as `suite.worker.serving.Server` describes.

    On a GPU everything is queued in one stream: the picture's copy, the inference, the answer's copy, and an event. The
    event marks this answer as ready, whatever is queued behind it.
    """

    def compile(self) -> None:
        """Capture one CUDA graph, whose picture each request overwrites; other variants compile as steps do."""
        self._pictures = [{name: tensor.cpu() for name, tensor in batch.items()} for batch in self._batches]
        if self._replayed:
            self._batches = self._batches[:1]
        super().compile()

    def ask(self, index: int) -> Any:
        """Dispatch a request with its picture copied from the host, and the copy of its answer back."""
        answer = self._asked(self._pictures[index])
        if self._device.type != "cuda":
            return answer
        there, mark = torch.empty((), pin_memory=True), torch.cuda.Event()
        there.copy_(answer, non_blocking=True)
        mark.record()
        return there, mark

    def _asked(self, picture: dict[str, torch.Tensor]) -> torch.Tensor:
        if not self._replayed:
            return self._once({name: tensor.to(self._device, non_blocking=True) for name, tensor in picture.items()})
        for name, tensor in picture.items():
            self._batches[0][name].copy_(tensor, non_blocking=True)
        return self._steps[0]()

    def answer(self, pending: Any) -> float:
        """Return the answer once it is on the host."""
        if self._device.type != "cuda":
            return float(pending)
        there, mark = pending
        mark.synchronize()
        return float(there)
