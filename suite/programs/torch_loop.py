"""PyTorch's loop as people write it: a DataLoader over examples in memory, each batch copied to the device."""

from collections.abc import Iterator, Sequence
from itertools import islice

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
        examples = {name: self._on_host(torch.from_numpy(array)) for name, array in joined(batches).items()}
        self._names = tuple(examples)
        self._loader = data.DataLoader(data.TensorDataset(*examples.values()), batch_size=self._case.batch)
        self._endless = self._epochs()
        self._total: float | torch.Tensor = 0.0 if self._waits else torch.zeros([], device=self._device)

    @property
    def _waits(self) -> bool:
        return self._case.variant == "loop-wait"

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
            batch = {name: tensor.to(self._device) for name, tensor in zip(self._names, tensors, strict=True)}
            self._out = self._once(batch)
            self._total += self._out.item() if self._waits else self._out
