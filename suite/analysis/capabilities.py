"""A machine's capabilities for experiments."""

from dataclasses import dataclass

from suite.case import Allocator, Backend, Precision
from suite.workload import Data, Description


@dataclass(frozen=True, kw_only=True)
class MachineCapabilities:
    """The capabilities of a machine, after the options of the run."""

    backends: tuple[Backend, ...]
    cores: int  # granted
    gpus: int = 1  # visible to JAX, if there is a GPU
    allocator: Allocator = "tuned-malloc"  # fastest for JAX
    gpu_precisions: tuple[Precision, ...] = ("float32-highest",)  # that the GPU supports in hardware
    data: Data = "embedded"  # source of stored examples

    def data_of(self, about: Description) -> Data:
        """Return the data that a workload is timed on."""
        return self.data if about.stored else about.data

    def need_gpu(self, experiment: str) -> None:
        """Raise RuntimeError if there is no GPU."""
        if "gpu" not in self.backends:
            raise RuntimeError(
                f"experiment '{experiment}' needs a GPU, this run has only backend "
                f"'{', '.join(self.backends)}'; run it on a machine with a GPU, see suite doctor"
            )

    def need_gpus(self, experiment: str, count: int) -> None:
        """Raise RuntimeError if there are fewer GPUs; parts of a CPU do not count."""
        self.need_gpu(experiment)
        if self.gpus < count:
            raise RuntimeError(
                f"experiment '{experiment}' needs {count} GPUs or more, JAX sees {self.gpus}; "
                "run it on a machine with more, see suite doctor"
            )

    def need_cpu(self, experiment: str) -> None:
        """Raise RuntimeError if the CPU is excluded."""
        if "cpu" not in self.backends:
            raise RuntimeError(f"experiment '{experiment}' needs the CPU; add it to --backend or omit that option")
