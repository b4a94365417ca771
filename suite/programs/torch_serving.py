"""Single requests in PyTorch: eager, compiled, or replayed as one CUDA graph whose picture is replaced."""

from typing import Any

import torch  # pyright: ignore[reportMissingImports]

from suite.programs.torch_program import TorchProgram


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
