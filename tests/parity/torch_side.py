"""The numbers of a network as PyTorch computes them, from the weights and batches of the side in JAX."""

from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from parity import networks
from parity.comparison import Computed
from parity.jax_side import STEPS, JaxSide, mask
from parity.keras_optimizers import keras_form

NAME = f"PyTorch {torch.__version__.partition('+')[0]}"


def computed(side: JaxSide, name: str) -> Computed:
    """Return what the control of a network computes with a side's weights."""
    control = networks.control(name)
    return TorchSide(side, control, networks.batches(name, control)).computed()


class TorchSide:
    """A control with the weights of a side in JAX."""

    def __init__(self, side: JaxSide, control: Any, batches: list[dict[str, np.ndarray]]) -> None:
        self.side, self.control, self.batches = side, control, batches
        self.trained = control.optimizer is not None

    def computed(self) -> Computed:
        """Return all numbers."""
        network = self.network(torch.float64)
        logits, loss = self.forward(network, 0, torch.float64)
        if self.trained:
            loss.backward()
        steps, statistics = self.ten_steps() if self.trained else ((), {})
        return Computed(
            parameters=self.side.parameters,
            inputs=self.side.inputs,
            logits=numpy(logits),
            loss=float(loss.detach()),
            gradients=self.gradients(network) if self.trained else {},
            steps=steps,
            statistics=statistics,
        )

    def network(self, dtype: torch.dtype) -> nn.Module:
        """Return the network with its weights, masks and moving statistics."""
        network = self.control.model()
        state = self.control.weights(self.side.leaves, network)
        beyond = network.load_state_dict({n: torch.from_numpy(np.array(a)) for n, a in state.items()}, strict=False)
        missing = [n for n in beyond.missing_keys if not n.endswith("num_batches_tracked")]
        if missing or beyond.unexpected_keys:
            raise ValueError(f"weights of the control: missing {missing}, unexpected {beyond.unexpected_keys}")
        network = network.to(dtype).to(memory_format=torch.channels_last).train(self.trained)
        for module in network.modules():
            if isinstance(module, nn.modules.dropout._DropoutNd):
                module.forward = partial(masked, module.p)
            elif isinstance(module, nn.modules.batchnorm._BatchNorm) and self.trained:
                module.register_forward_pre_hook(move_as_keras)
        return network

    def forward(self, network: nn.Module, index: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        """Return what the network returns within its loss, and the loss."""
        heard = []
        handle = network.register_forward_hook(lambda module, inputs, output: heard.append(output))
        loss = self.control.loss(network, {n: tensor(array, dtype) for n, array in self.batches[index].items()})
        handle.remove()
        return heard[0], loss

    def ten_steps(self) -> tuple[tuple[float, ...], dict[str, np.ndarray]]:
        """Return the losses of ten steps of the optimizer in Keras' form, and the statistics after them."""
        network, losses = self.network(torch.float64), []
        step = keras_form(self.control.optimizer([p for p in network.parameters() if p.requires_grad], False))
        for index in range(STEPS):
            network.zero_grad()
            _, loss = self.forward(network, index % len(self.batches), torch.float64)
            loss.backward()
            step()
            losses.append(float(loss.detach()))
        moved = {
            f"{name}.{key}".lstrip("."): numpy(value)
            for name, module in network.named_modules()
            for key, value in getattr(module, "as_keras", {}).items()
        }
        return tuple(losses), self.at_home(moved)

    def gradients(self, network: nn.Module) -> dict[str, np.ndarray]:
        """Return the gradients by the paths and in the layout of the side in JAX."""
        found = {name: numpy(p.grad) for name, p in network.named_parameters() if p.grad is not None}
        gradients = self.at_home(found)
        lost = set(self.side.trainable) - set(gradients)
        if lost:
            raise ValueError(f"weights of the control: no gradient comes back for {sorted(lost)}")
        return gradients

    def at_home(self, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return arrays of the network's names as the leaves they came from.

        The way back is found by sending every number's place, from 1 on, the way there; zeros came from nowhere.
        """
        leaves, places, start = self.side.leaves, {}, 1
        for path, leaf in leaves.items():
            places[path] = np.arange(start, start + leaf.size, dtype=np.float64).reshape(leaf.shape)
            start += leaf.size
        sent = self.control.weights(places, self.control.model())
        values = np.full(start, np.nan)
        for name, array in arrays.items():
            values[sent[name].astype(np.int64)] = array
        back = {path: values[place.astype(np.int64)] for path, place in places.items()}
        return {path: array for path, array in back.items() if not np.all(np.isnan(array))}


def tensor(array: np.ndarray, dtype: torch.dtype) -> torch.Tensor:
    """Return an array as the timed program hands it to the step, floats in the given type."""
    made = torch.from_numpy(array)
    made = made.to(dtype) if made.is_floating_point() else made
    return made.permute(0, 3, 1, 2) if made.ndim == 4 else made


def numpy(tensor: torch.Tensor) -> np.ndarray:
    """Return a tensor's values."""
    return tensor.detach().numpy()


def masked(rate: float, x: torch.Tensor) -> torch.Tensor:
    """Return x [N,...] under the imported mask."""
    return x * torch.from_numpy(mask(tuple(x.shape), rate)).to(x.dtype)


@torch.no_grad()
def move_as_keras(module: nn.Module, inputs: tuple[torch.Tensor]) -> None:
    """Move statistics by those of x [N,C,...] beside torch's own, whose variance is the unbiased one."""
    (x,) = inputs
    axes = [axis for axis in range(x.ndim) if axis != 1]
    if not hasattr(module, "as_keras"):
        module.as_keras = {"running_mean": module.running_mean.clone(), "running_var": module.running_var.clone()}
    module.as_keras["running_mean"].lerp_(x.mean(axes), module.momentum)
    module.as_keras["running_var"].lerp_(x.var(axes, correction=0), module.momentum)
