"""JAX and PyTorch compute the same numbers in float64: logits, gradients, and ten steps of training.

Same weights, dropout off. Gradients are compared with the larger of their own norm and a thousandth of the norm of
all, because the true gradient of a bias in front of a batch norm is zero.
"""

import math
from itertools import groupby

import jax
import numpy as np
import pytest
from flax import nnx

from suite import controls, models
from suite.measure.step import training_step
from suite.nn.initial import filled

torch = pytest.importorskip("torch", reason="PyTorch is not installed beside JAX; the parity session has both")

EXAMPLES, STEPS = 4, 10
SIDES = {"mnist": (28, 28, 1), "cifar10": (32, 32, 3)}
LEAVES = {"kernel": "weight", "scale": "weight", "bias": "bias", "embedding": "weight"}  # of JAX to those of torch
LSTM_LEAVES = {"kernel": "weight_ih_l0", "recurrent_kernel": "weight_hh_l0", "bias": "bias_ih_l0"}
HEAVY_FLOP = 1_000_000_000


def wide(tree):
    return jax.tree.map(lambda x: np.asarray(x, np.float64) if x.dtype == np.float32 else x, tree)


def batches(workload, rng):
    """Return two batches of random content."""
    if workload.draw is not None:
        return [workload.draw(rng, EXAMPLES) for _ in range(2)]
    shape = SIDES[workload.description.dataset]
    images = rng.integers(0, 256, (2, EXAMPLES, *shape), dtype=np.uint8)
    labels = rng.integers(0, 10, (2, EXAMPLES))
    return [workload.preprocess(*drawn) for drawn in zip(images, labels, strict=True)]


def layers_of(module):
    """Yield the layers of a torch module that JAX has, each as a function from a leaf's name to the parameter."""
    if isinstance(module, torch.nn.LSTM):  # its gates are in the order of Keras
        for ending in ("_reverse", ""):
            yield lambda leaf, ending=ending: getattr(module, LSTM_LEAVES[leaf] + ending)
    else:
        yield lambda leaf: getattr(module, LEAVES[leaf])


class Pair:
    """One network on both sides, with the same float64 weights and batches."""

    def __init__(self, name):
        self.workload, self.control = models.load(name), controls.load(name)
        network = nnx.eval_shape(lambda: self.workload.model(nnx.Rngs(0)))
        for _, module in nnx.iter_modules(network):
            if isinstance(module, nnx.Dropout):
                module.deterministic = True
        self.graph, params, rest = nnx.split(network, nnx.Param, ...)
        self.params, self.rest = wide(filled(params, 0)), wide(filled(rest, 0))
        rng = np.random.default_rng(0)
        for path, leaf in nnx.to_flat_state(self.params):  # zero biases and unit scales would hide a swap
            if path[-1] != "kernel":
                leaf.set_value(leaf.get_value() + rng.normal(0, 0.1, leaf.get_value().shape))
        self.batches = [wide(batch) for batch in batches(self.workload, rng)]
        (self.input,) = self.batches[0].keys() - {"labels"}
        self.torch = self.control.model().double().train()
        for module in self.torch.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        with torch.no_grad():
            for mine, theirs in self.leaves(self.params):
                theirs.copy_(torch.from_numpy(mine))

    def leaves(self, state):
        """Yield each leaf of a JAX state, laid out as torch's, with torch's parameter; layers pair up in order."""
        layers = groupby(nnx.to_flat_state(state), key=lambda item: item[0][:-1])
        named = {tuple(int(p) if p.isdigit() else p for p in n.split(".")): m for n, m in self.torch.named_modules()}
        owners = [m for _, m in sorted(named.items()) if list(m.parameters(recurse=False))]
        for (_, group), parameter in zip(layers, (layer for m in owners for layer in layers_of(m)), strict=True):
            for path, leaf in group:
                value = np.asarray(leaf.get_value())
                axes = {4: (3, 2, 0, 1), 3: (2, 1, 0), 2: (1, 0), 1: (0,)}[value.ndim]
                axes = (0, 1) if path[-1] == "embedding" else axes
                yield np.ascontiguousarray(value.transpose(axes)), parameter(path[-1])

    def torch_batch(self, batch):
        if self.input != "images":
            return {name: torch.from_numpy(array) for name, array in batch.items()}
        images = torch.from_numpy(batch["images"])
        convolves = any(isinstance(m, torch.nn.Conv2d) for m in self.torch.modules())
        images = images.permute(0, 3, 1, 2) if convolves else images.flatten(1)  # flattened in the order of JAX
        return {"images": images, "labels": torch.from_numpy(batch["labels"])}

    def gradients(self):
        """Return (loss, gradients) of JAX and leave torch's gradients in its parameters, with torch's loss."""

        def loss(params):
            return self.workload.loss(
                nnx.merge(self.graph, params, jax.tree.map(lambda x: x, self.rest)), self.batches[0]
            )

        mine = jax.jit(jax.value_and_grad(loss))(self.params)
        self.torch.zero_grad()
        theirs = self.control.loss(self.torch, self.torch_batch(self.batches[0]))
        theirs.backward()
        return mine, float(theirs.detach())


@pytest.fixture
def float64():
    with jax.enable_x64(True):
        yield


@pytest.fixture(
    params=[
        pytest.param(n, marks=[pytest.mark.slow] if models.load(n).description.flop_per_example > HEAVY_FLOP else [])
        for n in sorted(set(models.names()) & set(controls.names()))
        if models.load(n).optimizer is not None  # what only infers has keras.applications beside it
    ]
)
def pair(request, float64):
    return Pair(request.param)


def keras_adam(parameters, rate, b1=0.9, b2=0.999, epsilon=1e-7):
    """Return a function that does one step in Keras' form, which torch's Adam does not have."""
    moments = [(p, torch.zeros_like(p), torch.zeros_like(p)) for p in parameters]
    taken = 0

    @torch.no_grad()
    def step():
        nonlocal taken
        taken += 1
        now = rate * math.sqrt(1 - b2**taken) / (1 - b1**taken)
        for p, mean, square in moments:
            mean.lerp_(p.grad, 1 - b1)
            square.mul_(b2).addcmul_(p.grad, p.grad, value=1 - b2)
            p.addcdiv_(mean, square.sqrt().add_(epsilon), value=-now)

    return step


def stepper(pair):
    optimizer = pair.control.optimizer(pair.torch.parameters(), False)
    if isinstance(optimizer, torch.optim.Adam):
        return keras_adam(pair.torch.parameters(), optimizer.defaults["lr"])
    return optimizer.step


def losses(pair, shift=0):
    """Return the losses of ten steps on either side; labels of JAX rotated by `shift` classes."""
    optimizer = pair.workload.optimizer()
    step = jax.jit(training_step(pair.workload, pair.graph, optimizer, "float32-highest"))
    state = (pair.params, pair.rest, wide(optimizer.init(pair.params)))
    torch_step, mine, theirs = stepper(pair), [], []
    for index in range(STEPS):
        batch = pair.batches[index % 2]
        state, loss = step(state, {**batch, "labels": np.roll(batch["labels"], shift, -1)})
        mine.append(float(loss))
        pair.torch.zero_grad()
        out = pair.control.loss(pair.torch, pair.torch_batch(batch))
        out.backward()
        torch_step()
        theirs.append(float(out.detach()))
    return np.array(mine), np.array(theirs)


def test_logits_agree_to_ten_digits(pair):
    model = nnx.merge(pair.graph, pair.params, pair.rest)
    mine = np.asarray(model(pair.batches[0][pair.input]))
    theirs = pair.torch(pair.torch_batch(pair.batches[0])[pair.input]).detach().numpy()
    assert np.linalg.norm(mine - theirs) <= 1e-10 * np.linalg.norm(theirs)


def test_every_gradient_agrees(pair):
    (mine, gradients), theirs = pair.gradients()
    assert mine == pytest.approx(theirs, rel=1e-12)
    pairs = [(g, p.grad.numpy()) for g, p in pair.leaves(gradients)]
    total = math.sqrt(sum(np.linalg.norm(t) ** 2 for _, t in pairs))
    for g, t in pairs:
        assert np.linalg.norm(g - t) <= 1e-9 * max(np.linalg.norm(t), 1e-3 * total)


def test_ten_steps_of_training_have_the_same_losses(pair):
    mine, theirs = losses(pair)
    assert mine == pytest.approx(theirs, abs=1e-8)


def test_labels_shifted_by_one_class_are_caught(pair):
    if pair.workload.description.flop_per_example > HEAVY_FLOP:
        pytest.skip("one planted bug in a small network is enough")
    mine, theirs = losses(pair, shift=1)
    assert mine != pytest.approx(theirs, abs=1e-3)
