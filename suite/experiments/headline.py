"""How much faster is the GPU? The cases behind the speed-up that each article asks for."""

from collections.abc import Sequence

from suite.workload import Allocator, Backend, Case, Description, Implementation, Precision, Scope

# One or two models an article; those that exist are measured when nothing is named.
WORKLOADS = (
    "mnist_mlp",
    "cifar10_mlp",
    "cifar10_resnet63",
    "imdb_text_cnn",
    "catdog_cnn_base",
    "catdog_cnn_128",
    "serve_resnet50",
)


def cases(
    catalogue: Sequence[Description],
    *,
    backends: Sequence[Backend],
    implementations: Sequence[Implementation] = ("jax",),
    precisions: Sequence[Precision] = ("float32-highest",),
    scopes: Sequence[Scope] = ("step", "cold"),
    allocators: Sequence[Allocator] = ("retaining", "system"),
    batch: int | None = None,
) -> tuple[Case, ...]:
    """Return what has to be timed for the speed-ups of these workloads.

    The CPU side is float32 at highest precision, whatever the GPU's is. Raises ValueError if nothing but the CPU is
    asked for in a precision that it does not have.
    """
    if "gpu" not in backends and "float32-highest" not in precisions:
        raise ValueError(
            f"precision '{precisions[0]}' asked for on backend 'cpu', which has only 'float32-highest'; "
            "add --backend gpu or leave the precision out"
        )
    found = []
    for about in catalogue:
        for backend in backends:
            for precision in ("float32-highest",) if backend == "cpu" else precisions:
                for implementation in implementations:
                    for variant, allocator in ways(implementation, backend, allocators):
                        found += [
                            Case(
                                workload=about.name,
                                backend=backend,
                                scope=scope,
                                batch=batch or about.batch,
                                implementation=implementation,
                                variant=variant,
                                precision=precision,
                                data=about.data,
                                allocator=allocator,
                            )
                            for scope in scopes
                            if scope == "step" or implementation == "jax"  # peers certify the steady state alone
                        ]
    return tuple(found)


def ways(
    implementation: Implementation, backend: Backend, allocators: Sequence[Allocator]
) -> tuple[tuple[str, Allocator], ...]:
    """Return the variants and allocators in which an implementation is timed; its fastest counts."""
    if implementation == "jax":
        return (("plain", "retaining"),)
    if backend == "gpu":  # a graph replays the eager step's kernels without its launches
        return (("graph", "retaining"),)
    return (*(("plain", allocator) for allocator in allocators), ("compile", "retaining"))
