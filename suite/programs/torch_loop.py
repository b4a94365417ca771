"""PyTorch's loop as people write it: a DataLoader over examples in memory, each batch copied to the device."""

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
import torch
from torch.utils import data

from suite.programs.torch_program import TorchProgram
from suite.worker_api.program import Batch, joined


class TorchLoop(TorchProgram):
    """Eager steps from a DataLoader with its defaults, driven as `suite.worker_api.program.Program` describes.

    Variant `loop-wait` reads the loss of each step with `item()`, which waits for the device; `loop` adds the losses
    up on the device.
    """

    def put(self, batches: Sequence[Batch]) -> None:
        """Keep an epoch's examples as tensors in the host's memory, pictures [N,H,W,C] as [N,C,H,W]."""
        examples = self._tensors(joined(batches))
        self._names = tuple(joined(batches[:1]))
        self._loader = data.DataLoader(examples, batch_size=self._case.batch)
        self._endless = self._epochs()
        self._total: float | torch.Tensor = 0.0 if self._waits else torch.zeros([], device=self._device)

    @property
    def _waits(self) -> bool:
        return self._case.variant == "loop-wait"

    def _tensors(self, examples: Batch) -> data.TensorDataset:
        return data.TensorDataset(*(self._on_host(torch.from_numpy(array)) for array in examples.values()))

    def _on_host(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.ndim != 4:
            return tensor
        pictures = tensor.permute(0, 3, 1, 2)
        return pictures.contiguous() if self._case.layout == "contiguous" else pictures

    def _epochs(self) -> Iterator[list[torch.Tensor]]:
        while True:
            yield from self._loader

    def compile(self) -> None:
        """Do nothing: nothing is compiled or captured."""

    def chain(self, steps: int) -> None:
        """Take dependent steps with the loader's next batches."""
        for tensors in islice(self._endless, steps):
            self._take(tensors)

    def _take(self, tensors: Sequence[torch.Tensor]) -> None:
        self._out = self._once(self._copied(tensors))
        self._total += self._out.item() if self._waits else self._out

    def _copied(self, tensors: Sequence[torch.Tensor]) -> dict[str, torch.Tensor]:
        return {name: tensor.to(self._device) for name, tensor in zip(self._names, tensors, strict=True)}


class TorchRun(TorchLoop):
    """A whole run in the variant `loop-wait`, driven as `suite.worker.whole_run.Trainable` describes."""

    def prepare(self, examples: Batch) -> None:
        """Keep an epoch's examples as tensors in the host's memory."""
        self._kept: dict[int, data.TensorDataset] = {}
        self._names, self._total = tuple(examples), 0.0
        self._examples(examples)

    def compile_rest(self, train: Batch, test: Batch | None) -> None:
        """Do nothing: nothing is compiled."""

    def train(self, examples: Batch, order: np.ndarray) -> None:
        """Take a step with each batch of the examples in that order; return when all are done."""
        for tensors in data.DataLoader(self._examples(examples), self._case.batch, sampler=order.tolist()):
            self._take(tensors)
        self.block()

    @torch.no_grad()
    def evaluate(self, examples: Batch) -> None:
        """Compute each batch's loss without dropout or training, and read it."""
        self._model.eval()
        for tensors in data.DataLoader(self._examples(examples), self._case.batch):
            self._total += self._loss(self._model, self._copied(tensors)).item()
        self._model.train()

    def _examples(self, examples: Batch) -> data.TensorDataset:
        """Return the examples as tensors, made once."""
        if id(examples) not in self._kept:
            self._kept[id(examples)] = self._tensors(examples)
        return self._kept[id(examples)]
