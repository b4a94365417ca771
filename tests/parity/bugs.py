"""Bugs planted in right models, one at a time, and the checks that have to catch them."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import test_models
from flax import nnx
from synthetic import Changed

from parity import networks
from parity.comparison import BOUNDS, difference, stored
from parity.jax_side import JaxSide
from suite.models.cifar10_mlp import Cifar10Mlp
from suite.models.cifar10_resnet63 import Block, Cifar10ResNet
from suite.models.cifar10_tf_cnn import Cifar10TfCnn
from suite.models.imdb_bilstm import ImdbBilstm
from suite.models.mnist_cnn import MnistCnn
from suite.models.mnist_mlp import MnistMlp
from suite.nn import optimizers
from suite.nn.layers import BatchNorm, Embedding
from suite.nn.losses import softmax_cross_entropy
from suite.nn.pool import max_pool_3x3
from suite.workload import Workload

LATE = {"cifar10_tf_cnn": ((34_178, 0.1), (34_179, 0.01), (68_358, 0.001))}  # steps taken, learning rate of the next
Plant = Callable[[Workload], Workload]


class Bug(NamedTuple):
    """A change of a right workload that makes it wrong, and the first check that sees it."""

    name: str
    network: str
    check: str
    plant: Plant

    def planted(self) -> Workload:
        """Return the wrong workload."""
        return self.plant(right(self.network).workload)


@cache
def right(network: str) -> JaxSide:
    """Return a network without a bug, its logits and gradients computed."""
    side = JaxSide(network)
    assert side.logits is not None
    assert side.gradients
    return side


def caught_by(network: str, workload: Workload) -> str | None:
    """Return the first check that a workload fails: those of parity, then of what ten steps do not show."""
    only_trained = replace(workload, optimizer=right(network).workload.optimizer) == right(network).workload
    side = right(network).retrained(workload) if only_trained else JaxSide(network, workload)
    found = difference(side, stored(network))
    return found or next((check for check, fails in LATER.items() if fails(network, workload)), None)


def starts_otherwise(network: str, workload: Workload) -> bool:
    """Return whether initial values are not those documented."""
    try:
        test_models.test_initial_values_are_those_of_keras(workload)
    except AssertionError:
        return True
    except pytest.skip.Exception:  # it has values of its own, and they a test
        return False
    return False


def learns_at_another_rate(network: str, workload: Workload) -> bool:
    """Return whether the documented staircase of the learning rate has other steps."""
    return any(abs(rate_after(taken, workload) - rate) > 1e-6 * rate for taken, rate in LATE.get(network, ()))


def rate_after(taken: int, workload: Workload) -> float:
    """Return how far the step after so many others moves against a gradient of 1."""
    optimizer, place = workload.optimizer(), jnp.float32(0)
    counted = jax.tree.map(lambda x: jnp.full_like(x, taken) if x.dtype == jnp.int32 else x, optimizer.init(place))
    return -float(optimizer.update(jnp.float32(1), counted, place)[0])


LATER = {"initial values": starts_otherwise, "learning rate": learns_at_another_rate}
CHECKS = (*BOUNDS, *LATER)


def changed(change: Callable[[Any], None]) -> Plant:
    """Return what changes the network after it is built."""

    def plant(right: Workload) -> Workload:
        def model(rngs: nnx.Rngs) -> nnx.Module:
            network = right.model(rngs)
            change(network)
            return network

        return replace(right, model=model)

    return plant


def turned(wrong: type[nnx.Module]) -> Plant:
    """Return what turns every layer of a wrong class's base into one of the wrong class."""

    def change(network: nnx.Module) -> None:
        for _, module in list(nnx.iter_modules(network)):
            if type(module) is wrong.__base__:
                module.__class__ = wrong

    return changed(change)


def trained(optimizer: optax.GradientTransformation) -> Plant:
    """Return what trains with another optimizer."""
    return lambda right: replace(right, optimizer=lambda: optimizer)


def prepared(change: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]) -> Plant:
    """Return what changes every batch."""
    return lambda right: replace(right, preparation=Changed(right=right.preparation, change=change))


def scaled(factor: float) -> Plant:
    """Return what multiplies the loss."""
    return lambda right: replace(right, loss=lambda model, batch: factor * right.loss(model, batch))


# Dense networks


class ReluMissing(MnistMlp):
    def __call__(self, x: jax.Array) -> jax.Array:
        x = self.dropout(nnx.relu(self.hidden1(x.reshape(x.shape[0], -1))))
        return self.output(self.dropout(self.hidden2(x)))


class Frozen(MnistMlp):
    def __call__(self, x: jax.Array) -> jax.Array:
        x = jax.lax.stop_gradient(self.dropout(nnx.relu(self.hidden1(x.reshape(x.shape[0], -1)))))
        return self.output(self.dropout(nnx.relu(self.hidden2(x))))


class Transposed(MnistMlp):
    def __call__(self, x: jax.Array) -> jax.Array:
        x = self.dropout(nnx.relu(self.hidden1(x.reshape(x.shape[0], -1))))
        x = x @ self.hidden2.kernel.get_value().T + self.hidden2.bias.get_value()
        return self.output(self.dropout(nnx.relu(x)))


class Narrow(MnistMlp):
    def __call__(self, x: jax.Array) -> jax.Array:
        return super().__call__(jax.lax.reduce_precision(x, 8, 10) if x.dtype == jnp.float32 else x)


class ChannelsFirst(Cifar10Mlp):
    def __call__(self, x: jax.Array) -> jax.Array:
        return super().__call__(x.transpose(0, 3, 1, 2))


def output_bias_missing(network: MnistMlp) -> None:
    network.output = nnx.Linear(512, 10, use_bias=False, rngs=nnx.Rngs(0))


def dropout_off(network: MnistMlp) -> None:
    network.dropout = nnx.Dropout(0.0, rngs=nnx.Rngs(0))


def dropout_of_half(network: MnistMlp) -> None:
    network.dropout = nnx.Dropout(0.5, rngs=nnx.Rngs(0))


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.normal(0, 0.05, shape)


def normal_kernel(network: MnistMlp) -> None:
    network.hidden1.kernel = nnx.Param(network.hidden1.kernel.get_value(), draw=normal)


def large_bias(network: MnistMlp) -> None:
    network.hidden1.bias = nnx.Param(network.hidden1.bias.get_value(), draw=lambda _, shape: np.full(shape, 0.1))


def sigmoids(right: Workload) -> Workload:
    def loss(model: nnx.Module, batch: dict[str, jax.Array]) -> jax.Array:
        chances = jax.nn.sigmoid(model(batch["images"]))
        logs = jnp.log(chances / chances.sum(-1, keepdims=True))
        return -jnp.mean(jnp.sum(batch["labels"] * logs, -1))

    return replace(right, loss=loss)


def labels_shifted(batch: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {**batch, "labels": np.roll(batch["labels"], 1, -1)}


def divided_by_256(batch: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {**batch, "images": batch["images"] * np.float32(255 / 256)}


def weight_decay(right: Workload) -> Workload:
    def loss(model: nnx.Module, batch: dict[str, jax.Array]) -> jax.Array:
        kernel = model.output.kernel.get_value()
        return right.loss(model, batch) + 1e-4 * jnp.sum(kernel * kernel)

    return replace(right, loss=loss)


# Residual networks


def norm(
    used: Callable[..., tuple[Any, Any]] = lambda norm, mean, var: (mean, var),
    deviation: Callable[[jax.Array], jax.Array] = lambda var: jnp.sqrt(var + 1e-3),
    momentum: float = 0.99,
    unbiased: bool = False,
) -> type[BatchNorm]:
    """Return batch normalisation written plainly, right but for what is given."""

    class Wrong(BatchNorm):
        def __call__(self, x: jax.Array) -> jax.Array:
            axes, examples = tuple(range(x.ndim - 1)), x.size // x.shape[-1]
            mean, var = used(self, x.mean(axes), x.var(axes))
            moved = examples / (examples - 1) if unbiased else 1
            for running, now in ((self.mean, x.mean(axes)), (self.var, x.var(axes) * moved)):
                running.set_value(momentum * running.get_value() + (1 - momentum) * now)
            return (x - mean) / deviation(var) * self.scale.get_value() + self.bias.get_value()

    return Wrong


def moving(norm: BatchNorm, *_: jax.Array) -> tuple[jax.Array, jax.Array]:
    return norm.mean.get_value(), norm.var.get_value()


def constant(_: BatchNorm, *statistics: jax.Array) -> tuple[jax.Array, jax.Array]:
    return jax.lax.stop_gradient(statistics)


class SumAfterRelu(Block):
    def __call__(self, x: jax.Array) -> jax.Array:
        shortcut = x if self.shortcut is None else self.shortcut(x)
        return nnx.relu(self.unit2(nnx.relu(self.unit1(x)))) + shortcut


class GlobalMax(Cifar10ResNet):
    def __call__(self, x: jax.Array) -> jax.Array:
        x = nnx.relu(self.stem(x))
        for block in self.blocks:
            x = block(x)
        return self.output(x.max((1, 2)))


def padded_evenly(network: Cifar10ResNet) -> None:
    for block in network.blocks:
        if block.shortcut is not None:
            block.unit1.conv.padding = ((1, 1), (1, 1))


def stride_in_second(network: Cifar10ResNet) -> None:
    for block in network.blocks:
        if block.shortcut is not None:
            block.unit1.conv.strides, block.unit2.conv.strides = (1, 1), (2, 2)


def block_missing(network: Cifar10ResNet) -> None:
    network.blocks = nnx.List(list(network.blocks)[1:])


# Convolution and text networks


def average_pool(network: MnistCnn) -> None:
    network.conv2.pool = lambda x: nnx.avg_pool(x, (2, 2), (2, 2))


class Unnormalised(Cifar10TfCnn):
    def __call__(self, x: jax.Array) -> jax.Array:
        x = max_pool_3x3(self.conv2(self.conv1(x)))
        x = nnx.relu(self.local3(x.reshape(x.shape[0], -1)))
        return self.softmax_linear(nnx.relu(self.local4(x)))


def embedding_of_the_vocabulary(network: ImdbBilstm) -> None:
    network.embedding = Embedding(8184, 64)


def forgetful(network: ImdbBilstm) -> None:
    network.lstm.forward.bias = nnx.Param(network.lstm.forward.bias.get_value())


def undecayed(right: Workload) -> Workload:
    return replace(right, loss=lambda model, batch: softmax_cross_entropy(model(batch["images"]), batch["labels"]))


MLP, PICTURES, RESNET = "mnist_mlp", "cifar10_mlp", "cifar10_resnet9"
CONVOLUTIONS, TUTORIAL, LSTM = "mnist_cnn", "cifar10_tf_cnn", "imdb_bilstm"

BUGS = (
    Bug("the last layer has no bias", MLP, "parameters", changed(output_bias_missing)),
    Bug("a residual block is missing", RESNET, "parameters", changed(block_missing)),
    Bug("labels are shifted by one class", MLP, "inputs", prepared(labels_shifted)),
    Bug("pixels are divided by 256", MLP, "inputs", prepared(divided_by_256)),
    Bug("a ReLU is missing", MLP, "logits", turned(ReluMissing)),
    Bug("a square kernel is transposed", MLP, "logits", turned(Transposed)),
    Bug("dropout is off", MLP, "logits", changed(dropout_off)),
    Bug("dropout of 0.5 for 0.2", MLP, "logits", changed(dropout_of_half)),
    Bug("pictures are flattened with channels first", PICTURES, "logits", turned(ChannelsFirst)),
    Bug("even padding in front of a stride", RESNET, "logits", changed(padded_evenly)),
    Bug("the stride is in a block's second convolution", RESNET, "logits", changed(stride_in_second)),
    Bug("the sum comes after the ReLU", RESNET, "logits", turned(SumAfterRelu)),
    Bug("global maximum for global average", RESNET, "logits", turned(GlobalMax)),
    Bug("batch norm in evaluation mode", RESNET, "logits", turned(norm(used=moving))),
    Bug("epsilon of the batch norm is torch's", RESNET, "logits", turned(norm(deviation=lambda v: jnp.sqrt(v + 1e-5)))),
    Bug("epsilon outside the root", RESNET, "logits", turned(norm(deviation=lambda v: jnp.sqrt(v) + 1e-3))),
    Bug("softmax over sigmoids instead of logits", PICTURES, "loss", sigmoids),
    Bug("the loss is a sum, not a mean", MLP, "loss", scaled(networks.EXAMPLES)),
    Bug("decay of the last kernel in the loss", MLP, "loss", weight_decay),
    Bug("the first layer is frozen", MLP, "gradients", turned(Frozen)),
    Bug("no gradient through the batch's statistics", RESNET, "gradients", turned(norm(used=constant))),
    Bug("RMSprop with epsilon inside the root", MLP, "steps", trained(optax.rmsprop(1e-3, decay=0.9, eps=1e-7))),
    Bug("RMSprop with decay 0.99", MLP, "steps", trained(optax.rmsprop(1e-3, 0.99, eps=1e-7, eps_in_sqrt=False))),
    Bug("a learning rate of 0.001 for 0.01", PICTURES, "steps", trained(optimizers.sgd(0.001))),
    Bug("gradient descent with momentum", PICTURES, "steps", trained(optax.sgd(0.01, momentum=0.9))),
    Bug("Adam with epsilon where optax has it", RESNET, "steps", trained(optax.adam(1e-3, eps=1e-7))),
    Bug("momentum of the statistics 0.9 for 0.99", RESNET, "statistics", turned(norm(momentum=0.9))),
    Bug("moving variance is the unbiased one", RESNET, "statistics", turned(norm(unbiased=True))),
    Bug("a row of the embedding is missing", LSTM, "parameters", changed(embedding_of_the_vocabulary)),
    Bug("the forget gate starts at zero", LSTM, "initial values", changed(forgetful)),
    Bug("average pool for maximum pool", CONVOLUTIONS, "logits", changed(average_pool)),
    Bug("no local response normalisation", TUTORIAL, "logits", turned(Unnormalised)),
    Bug("weight decay is missing", TUTORIAL, "loss", undecayed),
    Bug("the learning rate is no staircase", TUTORIAL, "learning rate", trained(optimizers.sgd(0.1))),
    Bug("TF32 inside float32", MLP, "float32", turned(Narrow)),
    Bug("a kernel starts from a normal distribution", MLP, "initial values", changed(normal_kernel)),
    Bug("a bias starts at 0.1", MLP, "initial values", changed(large_bias)),
)
