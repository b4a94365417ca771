"""What a machine has to answer an experiment with."""

from dataclasses import dataclass

from suite.case import Allocator, Backend, Precision
from suite.workload import Data, Description


@dataclass(frozen=True, kw_only=True)
class MachineCapabilities:
    """What a machine has to answer with."""

    backends: tuple[Backend, ...]
    cores: int  # granted
    gpus: int = 1  # that JAX sees, where there is a GPU
    allocator: Allocator = "tuned-malloc"  # that serves JAX best
    gpu_precisions: tuple[Precision, ...] = ("float32-highest",)  # that the GPU has in hardware
    data: Data = "embedded"  # that stored examples are taken from

    def data_of(self, about: Description) -> Data:
        """Return what data a workload is timed on."""
        return self.data if about.stored else about.data

    def need_gpu(self, experiment: str) -> None:
        """Raise RuntimeError if there is no GPU to ask."""
        if "gpu" not in self.backends:
            raise RuntimeError(
                f"experiment '{experiment}' asks about a GPU, this run has only backend "
                f"'{', '.join(self.backends)}'; run it on a machine with a GPU, see suite doctor"
            )

    def need_gpus(self, experiment: str, count: int) -> None:
        """Raise RuntimeError if there are fewer GPUs to ask; parts of a CPU are none."""
        self.need_gpu(experiment)
        if self.gpus < count:
            raise RuntimeError(
                f"experiment '{experiment}' asks about {count} GPUs or more, JAX sees {self.gpus}; "
                "run it on a machine with more, see suite doctor"
            )

    def need_cpu(self, experiment: str) -> None:
        """Raise RuntimeError if the CPU was left out."""
        if "cpu" not in self.backends:
            raise RuntimeError(f"experiment '{experiment}' asks about the CPU; add it to --backend or leave that out")
