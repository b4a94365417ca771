"""The numbers of a network as JAX computes them, in float64; each is computed when it is asked for."""

import math
import zlib
from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import Any

import jax
import numpy as np
from flax import nnx
from jax import numpy as jnp

from parity import networks
from suite.data.batches import digest
from suite.nn.compiler import cpu_options
from suite.nn.initial import glorot_uniform
from suite.programs.jax.packing import PackedModel, fresh
from suite.programs.jax.step import training_step
from suite.workload import Workload

STEPS = 10
VARIANCES = (0.7, 1.3)
SCALES = (0.1, 0.3)  # of norms: small ones keep a deep residual network well conditioned


class ImportedMask(nnx.Module):
    """Dropout with a mask that NumPy makes, the same on both sides."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def __call__(self, x: jax.Array) -> jax.Array:
        """Return x [N,...] with what the mask drops at zero and the rest scaled up."""
        return x * mask(x.shape, self.rate).astype(x.dtype)


def mask(shape: tuple[int, ...], rate: float) -> np.ndarray:
    """Return the factors of [N,D], or of whole examples [N,1,...] where the order of the axes is each side's own."""
    drawn = shape if len(shape) == 2 else (shape[0], *(1,) * (len(shape) - 1))
    places = np.random.default_rng(0).permutation(math.prod(drawn)).reshape(drawn)
    return (places >= math.ceil(rate * places.size)) / (1 - rate)


class Listened:
    """A model that keeps what it returned, so that logits are found wherever the loss computes them."""

    def __init__(self, model: nnx.Module) -> None:
        self._model, self.out = model, None

    def __call__(self, *args: Any, **options: Any) -> Any:
        self.out = self._model(*args, **options)
        return self.out

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


class JaxSide:
    """A network of `networks` on the CPU: weights from its leaves' paths and shapes, and the numbers they lead to.

    It has the fields of `Computed`, and the logits in float32. Another workload than the documented one may be given.
    """

    def __init__(self, name: str, workload: Workload | None = None) -> None:
        self.workload = workload or networks.workload(name)
        network = nnx.eval_shape(lambda: self.workload.model(nnx.Rngs(0)))
        import_masks(network)
        self.graph, params, rest = nnx.split(network, nnx.Param, ...)
        self.params, self.rest = weighted(params), weighted(rest)
        self.batches = networks.batches(name, self.workload)

    def retrained(self, workload: Workload) -> "JaxSide":
        """Return this side with the optimizer of another workload; what none has a part in is not computed again."""
        other = copy(self)
        other.workload = workload
        other.__dict__.pop("_trained", None)
        return other

    @property
    def leaves(self) -> dict[str, np.ndarray]:
        """Parameters and statistics by their paths."""
        return by_path(self.params) | by_path(nnx.filter_state(self.rest, nnx.BatchStat))

    @property
    def trainable(self) -> tuple[str, ...]:
        """The paths of all parameters."""
        return tuple(by_path(self.params))

    @property
    def parameters(self) -> dict[str, tuple[int, ...]]:
        """Shapes by path."""
        return {path: leaf.shape for path, leaf in sorted(self.leaves.items())}

    @property
    def inputs(self) -> str:
        """The digest of all weights and batches."""
        return digest([self.leaves, *self.batches])

    @cached_property
    def logits(self) -> np.ndarray:
        """What the model returns for the first batch."""
        return self._forward[1]

    @property
    def loss(self) -> float:
        """The loss of the first batch."""
        return float(self._forward[0])

    @cached_property
    def gradients(self) -> dict[str, np.ndarray]:
        """The gradient of every parameter for the first batch."""
        if self.workload.optimizer is None:
            return {}
        with jax.enable_x64(True):
            gradient = jax.grad(lambda *given: self._loss(*given)[0])
            return by_path(self._run(gradient, *wide((self.params, self.rest, self.batches[0]))))

    @property
    def steps(self) -> tuple[float, ...]:
        """The losses of ten steps of the optimizer, batches in turn."""
        return self._trained[0]

    @property
    def statistics(self) -> dict[str, np.ndarray]:
        """The moving statistics after the steps."""
        return self._trained[1]

    @cached_property
    def float32(self) -> np.ndarray:
        """The logits computed in float32."""
        with jax.default_matmul_precision("highest"):
            return np.asarray(self._run(self._loss, self.params, self.rest, self.batches[0])[1])

    @cached_property
    def _forward(self) -> tuple[np.ndarray, np.ndarray]:
        with jax.enable_x64(True):
            loss, logits = self._run(self._loss, *wide((self.params, self.rest, self.batches[0])))
            return np.asarray(loss), np.asarray(logits)

    @cached_property
    def _trained(self) -> tuple[tuple[float, ...], dict[str, np.ndarray]]:
        if self.workload.optimizer is None:
            return (), {}
        optimizer, losses = self.workload.optimizer(), []
        with jax.enable_x64(True):
            step = training_step(self.workload, PackedModel(self.graph), optimizer, "float32-highest")
            params, rest, batches = wide((self.params, self.rest, self.batches))
            state = (params, rest, wide(optimizer.init(params)))
            step = self._compiled(step, state, batches[0])
            for index in range(STEPS):
                state, loss = step(state, batches[index % len(batches)])
                losses.append(float(loss))
        return tuple(losses), by_path(nnx.filter_state(state[1], nnx.BatchStat))

    def _run(self, function: Callable[..., Any], *given: Any) -> Any:
        return self._compiled(function, *given)(*given)

    def _compiled(self, function: Callable[..., Any], *given: Any) -> Callable[..., Any]:
        """Return the function compiled with the options that it is timed with."""
        examples = networks.examples(self.workload.description.name)
        return jax.jit(function).lower(*given).compile(cpu_options(self.workload.cpu_kernels, examples))

    def _loss(self, params: nnx.State, rest: nnx.State, batch: dict) -> tuple[jax.Array, jax.Array]:
        model = Listened(nnx.merge(self.graph, params, fresh(rest)))
        loss = self.workload.loss(model, batch)
        assert model.out is not None
        return loss, model.out


def import_masks(network: nnx.Module) -> None:
    """Put an imported mask in the place of every dropout."""
    for _, module in list(nnx.iter_modules(network)):
        for name, child in vars(module).items():
            if isinstance(child, nnx.Dropout):
                setattr(module, name, ImportedMask(child.rate))


def weighted(state: nnx.State) -> nnx.State:
    """Return an abstract state with values from NumPy, those of a seed and each leaf's path.

    Kernels are drawn as Keras does, and vectors so that none is alike: zeros and ones would hide a swap.
    """
    return nnx.from_flat_state(
        (path, leaf.replace(drawn(joined(path), leaf.get_value()))) for path, leaf in nnx.to_flat_state(state)
    )


def drawn(path: str, leaf: jax.ShapeDtypeStruct) -> np.ndarray | jax.Array:
    """Return the value of one leaf."""
    rng = np.random.default_rng([0, zlib.crc32(path.encode())])
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.key(0)
    if not jnp.issubdtype(leaf.dtype, jnp.floating):
        return np.zeros(leaf.shape, leaf.dtype)
    if len(leaf.shape) > 1:
        value = glorot_uniform(rng, leaf.shape)
    elif path.endswith(("scale", "var")):
        value = rng.uniform(*(SCALES if path.endswith("scale") else VARIANCES), leaf.shape)
    else:
        value = rng.uniform(-0.2, 0.2, leaf.shape)
    return value.astype(leaf.dtype)


def by_path(state: nnx.State) -> dict[str, np.ndarray]:
    """Return a state's arrays by their paths."""
    return {joined(path): np.asarray(leaf.get_value()) for path, leaf in nnx.to_flat_state(state)}


def joined(path: tuple) -> str:
    """Return a path in writing."""
    return "/".join(map(str, path))


def wide(tree: Any) -> Any:
    """Return the tree with its float32 arrays in float64."""
    return jax.tree.map(lambda x: np.asarray(x, np.float64) if x.dtype == np.float32 else x, tree)
