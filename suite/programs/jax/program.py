"""The timed step in JAX: compiled ahead of time, its state donated and initialised without compilation.

The compiled program takes lists of arrays. A call that takes a tree of NNX variables takes each apart in Python, at 1
to 4 us a variable: half of the smallest step on a CPU, and 0.8 ms for a network with 554 of them.

The weights of an inference are constants of its program. On a CPU its kernels then keep them in their own order: a
ResNet infers 12 % faster. On a GPU no call passes hundreds of arrays: MobileNet's takes 198 us, and took 302 with 106
arrays of weights.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property, partial
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from suite.case import Case, Precision
from suite.data.batches import digest
from suite.nn.augment import first_key
from suite.nn.compiler import PROFILED, cpu_options, gpu_options, holds_convolutions
from suite.nn.initial import filled, started
from suite.programs.jax import lowered_digest
from suite.programs.jax.jaxpr_cost import jaxpr_cost
from suite.programs.jax.packing import PackedModel, flatten_state, unflatten_args, vectors_of
from suite.programs.jax.sharding import put, shardings
from suite.programs.jax.step import Step, augmented_step, evaluation_step, inference_step, several_steps, training_step
from suite.results.records.run import JaxprCost
from suite.system.software import versions
from suite.variants import STEPS_PER_CALL
from suite.worker_api.program import Batch
from suite.workload import Workload

MATMUL_PRECISION: dict[Precision, str] = {
    "float32-highest": "highest",
    "framework-default": "default",
    "tf32": "tensorfloat32",
    "bfloat16": "bfloat16",
}
_AHEAD = 2  # steps whose batches lie on the device
_SHORT_STEP_FLOP = 1e9  # about 0.1 ms on a large GPU; below it a loop costs as much as its steps


class JaxProgram:
    """A workload's step, driven as `suite.worker_api.program.Program` describes.

    Variants: `plain` dispatches every step, `scan` dispatches a program of STEPS_PER_CALL steps. Several devices split
    the batch, and XLA adds the collectives that the step then needs, such as the sum of gradients.
    """

    def __init__(self, workload: Workload, case: Case) -> None:
        self._workload, self._case = workload, case
        self._shardings, self._out = shardings(case, self._cpu_devices()), None
        self._seed, self._compiled_seed = 0, None
        self._weights: list[list[Any]] = []
        self._lacks_kernels = False
        self._compilations, self._hits, self._cache_hits = 0, 0, 0
        jax.monitoring.register_event_duration_secs_listener(self._count)
        jax.monitoring.register_event_listener(self._count_hits)

    def _count(self, event: str, duration_secs: float, **_: Any) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            self._compilations += 1

    def _count_hits(self, event: str, **_: Any) -> None:
        if event == "/jax/compilation_cache/cache_hits":
            self._hits += 1

    @property
    def steps_per_call(self) -> int:
        """How many steps one dispatch takes."""
        return STEPS_PER_CALL if self._case.variant == "scan" else 1

    def values(self, seed: int) -> tuple[nnx.GraphDef, nnx.State, nnx.State]:
        """Return the model's graph, parameters and other state, from NumPy: nothing is compiled."""
        graph, params, rest = self._shapes
        params, rest = filled(params, seed), filled(rest, seed)
        if self._workload.served is not None:
            graph, params, rest = nnx.split(self._workload.served(nnx.merge(graph, params, rest)), nnx.Param, ...)
        return graph, params, rest

    @cached_property
    def _shapes(self) -> tuple[nnx.GraphDef, nnx.State, nnx.State]:
        """What `values` fills, the same for every seed: tracing the model takes longer than filling a small network."""
        graph, params, rest = nnx.split(nnx.eval_shape(lambda: self._workload.model(nnx.Rngs(0))), nnx.Param, ...)
        return graph, params, rest

    @cached_property
    def _transformation(self) -> optax.GradientTransformation:
        """The optimizer, one object for all seeds: JAX then compiles its initial state once."""
        assert self._workload.optimizer is not None
        return self._workload.optimizer()

    def initialise(self, seed: int) -> None:
        """Put the whole state on the device."""
        self._seed = seed
        graph, params, rest = self.values(seed)
        precision = self._case.precision
        if self._workload.optimizer is None:
            self._form = PackedModel(graph)
            step = inference_step(self._workload, self._form, precision)
            self._begin(step, (np.zeros([], np.float32), np.zeros([], np.float32)), (params, rest))
        else:
            self._form = self._packed(graph, params, rest)
            params, rest = self._form.params.pack(params), self._form.rest.pack(rest)
            state = params, rest, started(self._transformation, params)
            step = training_step(self._workload, self._form, self._transformation, precision)
            if self._case.augmentation == "device":
                step, state = augmented_step(step, self._augment()), (state, first_key(seed))
            self._begin(step, state)

    def _begin(self, step: Step, state: Any, *weights: Any) -> None:
        """Keep step(*weights, state, batch) -> (state, loss) over lists of arrays; the state lies on the device."""
        self._structures = tuple(map(jax.tree.structure, (*weights, state)))
        self._step = flatten_state(unflatten_args(step, self._structures))
        self._weights = [jax.tree.leaves(tree) for tree in weights]
        self._state = put(jax.tree.leaves(state), self._shardings.state)

    def _packed(self, graph: nnx.GraphDef, params: nnx.State, rest: nnx.State) -> PackedModel:
        """Return the packed model for training: on a GPU, vectors are packed."""
        return (
            PackedModel(graph, vectors_of(params), vectors_of(rest))
            if self._case.backend == "gpu"
            else PackedModel(graph)
        )

    def _augment(self) -> Callable[[jax.Array, Batch], Any]:
        """Return the augmentation of a batch on the device. Raises ValueError if the workload augments nothing."""
        if self._workload.augment is None:
            raise ValueError(
                f"augmentation 'device' asked for, workload '{self._case.workload}' augments nothing; leave it out"
            )
        return self._workload.augment

    def put(self, batches: Sequence[Batch]) -> None:
        """Copy the input sets to the device; those of `scan` stacked in one array."""
        self._host = batches
        if self._case.variant == "scan":
            assert STEPS_PER_CALL % len(batches) == 0
            self._batches = [put(_stacked(batches), self._shardings.batches)]
            self._step = several_steps(self._step, STEPS_PER_CALL // len(batches), self._unroll(len(batches)))
        else:
            self._batches = [self._placed(batch) for batch in batches]
        if self._weights and self._compiled_seed not in (None, self._seed):
            self.lower()
            self.compile()

    def holds(self, batches: Sequence[Batch]) -> bool | None:
        """Return whether the device's arrays equal these input sets; None if other hosts have parts of them."""
        if not self._shardings.batch.is_fully_addressable:
            return None
        expected = self._arranged(batches)
        return len(expected) == len(self._batches) and all(map(_same, expected, self._batches))

    def _arranged(self, batches: Sequence[Batch]) -> Sequence[Batch]:
        """Return the input sets as `put` arranges them."""
        return [_stacked(batches)] if self._case.variant == "scan" else batches

    def _cpu_devices(self) -> int:
        return self._workload.cpu_devices

    def _unroll(self, sets: int) -> int:
        flop = self._case.batch * self._workload.description.flop_per_example
        return sets if flop < _SHORT_STEP_FLOP else 1

    def lower(self) -> None:
        """Trace the step for the shapes of the state and the first batch."""
        self._traced = self.trace(self._step, self._batches[0])
        self._lowered = self._traced.lower()

    def trace(self, step: Callable[..., Any], batch: Mapping[str, Any], donate: bool = True) -> jax.stages.Traced:
        """Return a step traced for the shapes of the state and a batch; `donate`: the state is donated."""
        step = partial(step, *self._weights)
        jitted = jax.jit(step, donate_argnums=0 if donate else (), out_shardings=self._shardings.outputs)
        with self._precision():
            return jitted.trace(self._state, batch)

    def _precision(self) -> AbstractContextManager:
        """Return the context of products in the case's precision."""
        return jax.default_matmul_precision(MATMUL_PRECISION[self._case.precision])

    def evaluation(self) -> Callable[..., jax.Array]:
        """Return evaluate(state, batch) -> loss, the state as a list of arrays."""
        evaluate = evaluation_step(self._workload, self._form, self._case.precision)
        return unflatten_args(evaluate, self._structures)

    def compile(self) -> None:
        """Compile with the options chosen for the backend and this jaxlib."""
        options, before = self._options(), self._hits
        self._lacks_kernels = holds_convolutions(options) and self._out is None
        if self._lacks_kernels and jax.config.values["jax_enable_compilation_cache"]:
            self._load_kernels()
            self._lacks_kernels = False
        self._compiled = self._lowered.compile(options)
        self._cache_hits, self._compiled_seed = self._hits - before, self._seed

    def lacks_kernels(self) -> bool:
        """Return whether the CUDA graph holds convolutions and was made before their kernels had run."""
        return self._lacks_kernels

    def _load_kernels(self) -> None:
        """Run a step as XLA itself would launch it, and discard the result.

        A CUDA graph is complete only if cuDNN's kernels have run in this process. Compilation runs them in the
        autotuner, which is enough for a first step. A program from a cache has run none and fails, as does one whose
        convolutions were tuned for another program: tuning results are cached too.
        """
        state = jax.device_get(self._state)
        step = self._lowered.compile(gpu_options("xla"))
        jax.block_until_ready(step(self._state, self._batches[0]))
        self._state = put(state, self._shardings.state)

    def _options(self) -> dict[str, str | bool]:
        if self._case.backend == "cpu":
            return cpu_options(self._workload.cpu_kernels, self._case.batch)
        full = self._case.precision == "float32-highest"
        options = gpu_options(self._workload.gpu_graph, self._workload.gpu_layout if full else "xla")
        return options | (PROFILED if self._case.scope == "kernels" else {})

    def chain(self, steps: int) -> None:
        """Dispatch dependent steps, rotating through the batches."""
        self._dispatch(self._batches[index % len(self._batches)] for index in range(steps // self.steps_per_call))

    def feed(self, steps: int) -> None:
        """Dispatch dependent steps, each with its batch copied from the host."""
        self._dispatch(self._host_batch(self._host[index % len(self._host)]) for index in range(steps))

    def learn(self, batches: Iterable[Batch]) -> None:
        """Dispatch a dependent step for each batch, copied from the host; at most two ahead of the device."""
        ahead: deque[jax.Array] = deque()
        for batch in batches:
            self._dispatch([self._host_batch(batch)])
            ahead.append(cast(jax.Array, self._out))
            if len(ahead) > _AHEAD:
                ahead.popleft().block_until_ready()

    def _host_batch(self, batch: Batch) -> Any:
        """Return what a call takes for a batch on the host: the batch itself, or its parts for several devices.

        Beyond the copy itself this costs the host 3 us a call; `device_put` costs 60.
        """
        return batch if len(self._shardings.devices) == 1 else self._placed(batch)

    def _placed(self, batch: Batch) -> Any:
        """Return a batch on the devices, copied in one call; what is already there, such as all examples, stays."""
        there = {name: array for name, array in batch.items() if isinstance(array, jax.Array)}
        return put({name: array for name, array in batch.items() if name not in there}, self._shardings.batch) | there

    def _dispatch(self, batches: Iterable[dict[str, Any]]) -> None:
        state, step = self._state, self._compiled
        for batch in batches:
            state, self._out = step(state, batch)
            if self._shardings.in_turn:
                self._out.block_until_ready()
        self._state = state

    def block(self) -> None:
        """Wait for the whole state, not the loss alone: right even if the step is split in two later."""
        jax.block_until_ready((self._batches, self._state, self._out))

    def loss(self) -> float:
        """Return the last step's loss."""
        assert self._out is not None
        return float(self._out)

    def compilations(self) -> int:
        """Return how many programs XLA has compiled since this object was created."""
        return self._compilations

    def cache_hits(self) -> int:
        """Return how many programs `compile` took from the compile cache."""
        return self._cache_hits

    def jaxpr_cost(self) -> JaxprCost:
        """Return what the compiled program's results need, per step."""
        axis = 1 if self._case.variant == "scan" else 0
        return jaxpr_cost(self._traced.jaxpr, self._batches[0], axis, self.steps_per_call)

    def program_digest(self) -> str:
        """Return the digest of every lowered program; of constant weights only their shapes."""
        return lowered_digest.digest(self.lowered_texts(), self.weights_are_constants())

    def weights_are_constants(self) -> bool:
        """Return whether the compiled program holds its weights, as that of an inference does."""
        return bool(self._weights)

    def lowered_texts(self) -> tuple[str, ...]:
        """Return the text of each lowered program: here of the step."""
        text = lowered_digest.text_of(self._lowered)
        return text, *lowered_digest.split_texts(self._traced, text, self._case.backend)

    def state_digest(self) -> str:
        """Return a digest of parameters, statistics and optimizer state."""
        return tree_digest(self._state)

    def platform(self) -> str:
        """Return the backend of the device that holds the batches, which are never donated."""
        return next(iter(jax.tree.leaves(self._batches)[0].devices())).platform

    def device_memory_bytes(self) -> int | None:
        """Return the peak memory of this host's fullest GPU, in bytes; None on the CPU, which has no counter."""
        mine = [device for device in self._shardings.devices if device.process_index == jax.process_index()]
        peaks = [(device.memory_stats() or {}).get("peak_bytes_in_use") for device in mine]
        return max((peak for peak in peaks if peak is not None), default=None)

    def bytes_per_step(self) -> int | None:
        """Return the least bytes of a step: its state read and written, its constants and one batch read.

        Everything in between, such as activations, could stay in a cache.
        """
        return 2 * tree_nbytes(self._state) + tree_nbytes(self._weights) + tree_nbytes(self._batches) // len(self._host)

    def packages(self) -> dict[str, str]:
        """Return the versions of JAX and its packages."""
        return versions("jax", "jaxlib", "flax", "optax", "numpy")

    def settings(self) -> dict[str, Any]:
        """Return the precision, the devices and the compiler options in force."""
        options = self._options()
        graph = {"jax_graph_lacks_kernels": self._lacks_kernels} if holds_convolutions(options) else {}
        return {
            "matmul_precision": MATMUL_PRECISION[self._case.precision],
            "jax_devices": len(self._shardings.devices),
            "jax_weights_constant": bool(self._weights),
            **graph,
            **options,
        }


def _stacked(batches: Sequence[Batch]) -> Batch:
    return {name: np.stack([batch[name] for batch in batches]) for name in batches[0]}


def _same(expected: Batch, there: Mapping[str, Any]) -> bool:
    return expected.keys() == there.keys() and all(np.array_equal(expected[name], there[name]) for name in expected)


def tree_digest(tree: Any) -> str:
    """Return the digest of the numbers in a tree, in its order, without random keys: they move whatever is computed."""
    numbers = [leaf for leaf in jax.tree.leaves(tree) if not jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)]
    return digest([{str(index): np.asarray(leaf)} for index, leaf in enumerate(numbers)])


def tree_nbytes(tree: Any) -> int:
    """Return the bytes of all arrays in a tree."""
    return sum(leaf.nbytes for leaf in jax.tree.leaves(tree))
