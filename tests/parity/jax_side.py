"""The numbers of a network as JAX computes them, in float64; each is computed when it is asked for."""

import zlib
from functools import cached_property
from typing import Any

import jax
import numpy as np
from flax import nnx
from jax import numpy as jnp

from parity import networks
from parity.comparison import Fingerprint, fingerprint, fingerprints
from suite.data.batches import digest
from suite.measure.step import fresh, training_step
from suite.nn.initial import glorot_uniform
from suite.workload import Workload

STEPS = 10


class ImportedMask(nnx.Module):
    """Dropout that keeps or drops whole examples, the same on both sides whatever the layout: shares of them by rate."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def __call__(self, x: jax.Array) -> jax.Array:
        """Return x [N,...] with its first examples dropped and the others scaled up."""
        factor = kept(x.shape[0], self.rate).astype(x.dtype)
        return x * factor.reshape(-1, *(1,) * (x.ndim - 1))


def kept(examples: int, rate: float) -> np.ndarray:
    """Return the factor of each example under the imported mask, float64[N]."""
    return ((np.arange(examples) + 0.5) / examples >= rate) / (1 - rate)


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

    It has the fields of `Numbers`. The workload is the documented one unless another is given.
    """

    def __init__(self, name: str, workload: Workload | None = None) -> None:
        self.workload = workload or networks.workload(name)
        network = nnx.eval_shape(lambda: self.workload.model(nnx.Rngs(0)))
        import_masks(network)
        self.graph, params, rest = nnx.split(network, nnx.Param, ...)
        self.params, self.rest = weighted(params), weighted(rest)
        self.batches = networks.batches(name, self.workload)

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

    @property
    def logits(self) -> Fingerprint:
        """What the model returns for the first batch."""
        return fingerprint(self._first[1])

    @property
    def loss(self) -> float:
        """The loss of the first batch."""
        return float(self._first[0])

    @property
    def gradients(self) -> dict[str, Fingerprint]:
        """The gradient of every parameter."""
        return fingerprints(by_path(self._first[2]))

    @property
    def steps(self) -> tuple[float, ...]:
        """The losses of ten steps of the optimizer, batches in turn."""
        return self._trained[0]

    @property
    def statistics(self) -> dict[str, Fingerprint]:
        """The moving statistics after the steps."""
        return fingerprints(self._trained[1])

    @cached_property
    def float32(self) -> Fingerprint:
        """The logits computed in float32."""

        def logits(params: nnx.State, rest: nnx.State, batch: dict) -> jax.Array:
            return self._loss(params, rest, batch)[1]

        with jax.default_matmul_precision("highest"):
            return fingerprint(jax.jit(logits)(self.params, self.rest, self.batches[0]))

    def _loss(self, params: nnx.State, rest: nnx.State, batch: dict) -> tuple[jax.Array, jax.Array]:
        model = Listened(nnx.merge(self.graph, params, fresh(rest)))
        loss = self.workload.loss(model, batch)
        assert model.out is not None
        return loss, model.out

    @cached_property
    def _first(self) -> tuple[jax.Array, jax.Array, nnx.State]:
        with jax.enable_x64(True):
            values = wide((self.params, self.rest, self.batches[0]))
            if self.workload.optimizer is None:
                return *jax.jit(self._loss)(*values), nnx.State({})
            (loss, logits), gradients = jax.jit(jax.value_and_grad(self._loss, has_aux=True))(*values)
            return loss, logits, gradients

    @cached_property
    def _trained(self) -> tuple[tuple[float, ...], dict[str, np.ndarray]]:
        if self.workload.optimizer is None:
            return (), {}
        optimizer, losses = self.workload.optimizer(), []
        with jax.enable_x64(True):
            step = jax.jit(training_step(self.workload, self.graph, optimizer, "float32-highest"))
            params, rest, batches = wide((self.params, self.rest, self.batches))
            state = (params, rest, wide(optimizer.init(params)))
            for index in range(STEPS):
                state, loss = step(state, batches[index % len(batches)])
                losses.append(float(loss))
        return tuple(losses), by_path(nnx.filter_state(state[1], nnx.BatchStat))


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
        value = rng.uniform(0.7, 1.3, leaf.shape)
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
