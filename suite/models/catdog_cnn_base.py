"""A small convolution network that tells cats from dogs, with the code of its five relatives.

Source: phoenixNAP, "GPU vs CPU Deep Learning: Training Performance of Convolutional Networks"; network of
    venkateshtata/cnn_medium. @ 69581eb, cnn.py.
Reported: 47 photographs/s in a virtual machine, 64 after tuning its input; a Tesla V100 4x as fast as 16 cores.
Differs: the timed step is training alone; scope `epoch` has the input with it.
"""

from dataclasses import dataclass

import jax
from flax import nnx

from suite.data.prepare.photographs import Photograph
from suite.nn import flop
from suite.nn.augment import ShearZoomFlip
from suite.nn.dropout import Dropout
from suite.nn.layers import ConvRelu
from suite.nn.losses import sigmoid_cross_entropy
from suite.nn.optimizers import adam
from suite.nn.pool import max_pool_2x2
from suite.workload import Claim, Description, GpuGraph, GpuLayout, LearningTarget, LossTarget, Source, Workload

HIDDEN = 128
EPOCH_EXAMPLES = 8_000 * 32  # as the article counts: 8,000 steps, 32 times the data set


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What distinguishes the six networks: pairs of 3x3 convolution and 2x2 max pool, and their surroundings."""

    side: int  # of the photographs
    features: tuple[int, ...]  # of each pair
    extra: tuple[int, ...] = ()  # same-padded 3x3 convolutions after each pair
    dropout: float = 0.0  # after the hidden layer
    augmented: bool = True

    def pairs(self) -> list[tuple[int, int, int, int]]:
        """Return each pair's sides of the convolution and the pool, features and extra convolutions."""
        shapes, side = [], self.side
        for features, extra in zip(self.features, self.extra or (0,) * len(self.features), strict=True):
            shapes.append((side - 2, (side - 2) // 2, features, extra))
            side = (side - 2) // 2
        return shapes

    def flattened(self) -> int:
        """Return the number of inputs of the hidden layer."""
        _, side, features, _ = self.pairs()[-1]
        return side * side * features

    def forward_flop(self) -> int:
        """Return the forward FLOP of one example."""
        total, inputs = 0, 3
        for convolved, pooled, features, extra in self.pairs():
            total += flop.conv(convolved, convolved, inputs, features, 3)
            total += extra * flop.conv(pooled, pooled, features, features, 3)
            inputs = features
        return total + flop.dense(self.flattened(), HIDDEN) + flop.dense(HIDDEN, 1)

    def flop(self) -> int:
        """Return a training step's FLOP for one example."""
        first = flop.conv(self.side - 2, self.side - 2, 3, self.features[0], 3)
        return flop.training(self.forward_flop(), first)

    def augmentation(self) -> str:
        """Return the augmentation of the photographs in words."""
        return "shear, zoom and flip" if self.augmented else "no shear, zoom or flip"

    def augment(self) -> ShearZoomFlip | None:
        """Return the augmentation on the device, in place of the preparation's; None without."""
        found = self.preparation()
        return ShearZoomFlip(shear=found.shear, zoom=found.zoom) if self.augmented else None

    def model(self, rngs: nnx.Rngs) -> "CatDogCnn":
        """Return the network."""
        return CatDogCnn(rngs, self)

    def preparation(self) -> Photograph:
        """Return the preparation of photographs for the network."""
        return Photograph(side=self.side, augmented=self.augmented)


class CatDogCnn(nnx.Module):
    """The convolutions of a plan with ReLU, a hidden layer of 128 with ReLU, and one logit."""

    def __init__(self, rngs: nnx.Rngs, plan: Plan) -> None:
        layers, inputs = [], 3
        for _, _, features, extra in plan.pairs():
            layers.append(ConvRelu(inputs, features, 3, "VALID", max_pool_2x2))
            layers += [ConvRelu(features, features, 3, "SAME") for _ in range(extra)]
            inputs = features
        self.convolutions = nnx.List(layers)
        self.hidden = nnx.Linear(plan.flattened(), HIDDEN, rngs=rngs)
        self.dropout = Dropout(plan.dropout, rngs=rngs) if plan.dropout else None
        self.output = nnx.Linear(HIDDEN, 1, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map photographs float32[N,S,S,3] to logits float32[N], the source's output before its sigmoid."""
        for layer in self.convolutions:
            x = layer(x)  # a pair takes two pixels from each side, then halves it
        x = nnx.relu(self.hidden(x.reshape(x.shape[0], -1)))  # N 128
        if self.dropout is not None:
            x = self.dropout(x)
        return self.output(x)[:, 0]  # N


def loss(model: CatDogCnn, batch: dict[str, jax.Array]) -> jax.Array:
    """Return the mean cross-entropy of a batch."""
    return sigmoid_cross_entropy(model(batch["images"]), batch["labels"])


LEARNING = LearningTarget(steps=150, bound=0.8)
VM, SERVER, V100 = "VirtualBox VM on a workstation", "2x Xeon Silver 4110, 16 cores", "Tesla V100"


def accuracy(percent: float) -> Claim:
    """Return the claim of a validation accuracy."""
    return Claim(
        metric="accuracy",
        definition="share of the validation that is answered right after training",
        unit="percent",
        gpu_value=percent,
    )


def workload(
    *,
    name: str,
    title: str,
    plan: Plan,
    parameters: int,
    place: str,
    claims: tuple[Claim, ...],
    differs: tuple[str, ...] = (),
    inferred: bool = False,
    gpu_graph: GpuGraph = "whole",
    gpu_layout: GpuLayout = "xla",
    headline: bool = False,
    learning: LearningTarget | LossTarget = LEARNING,
) -> Workload:
    """Return the workload of one of the six networks."""
    return Workload(
        description=Description(
            name=name,
            title=title,
            family="convolution",
            source=Source(
                author="phoenixNAP",
                title="GPU vs CPU Deep Learning: Training Performance of Convolutional Networks",
                year=2018,
                address="https://phoenixnap.com/blog/gpu-deep-learning",
                place=place,
                way="fit",
            ),
            claims=claims,
            differs=(
                "The article's numbers contain reading and decoding the photographs "
                f"({plan.augmentation()}): so does scope `epoch`. The headline is one training step in steady state.",
                "The cross-entropy is computed from the logit; Keras of that time keeps the sigmoid 1e-7 away from 0 "
                "and 1 first. No effect on speed.",
                *differs,
            ),
            inferred=inferred,
            dataset="cats_vs_dogs",
            preprocessing=f"{plan.side}x{plan.side} pixels / 255",
            optimizer="Adam, learning rate 0.001, beta 0.9 and 0.999, epsilon 1e-7 as Keras places it",
            loss="binary cross-entropy",
            batch=32,
            parameters=parameters,
            trainable_parameters=parameters,
            forward_flop_per_example=plan.forward_flop(),
            flop_per_example=plan.flop(),
            examples_per_epoch=EPOCH_EXAMPLES,
            augmented=plan.augmented,
            headline=headline,
        ),
        model=plan.model,
        gpu_graph=gpu_graph,
        gpu_layout=gpu_layout,
        loss=loss,
        optimizer=adam,
        preparation=plan.preparation(),
        augment=plan.augment(),
        learning=learning,
    )


WORKLOAD = workload(
    name="catdog_cnn_base",
    title="Cats and dogs, two convolutions",
    plan=Plan(side=64, features=(32, 32)),
    parameters=813_217,
    place="the first network; after venkateshtata/cnn_medium. @ 69581eb, cnn.py",
    claims=(
        Claim(
            metric="throughput_default",
            definition="training with one loader thread and batch 32, from reading the files",
            unit="img/s",
            cpu_device=VM,
            cpu_value=47.0,
        ),
        Claim(
            metric="throughput_tuned",
            definition="training with four loader threads and batch 64, from reading the files",
            unit="img/s",
            cpu_device=VM,
            cpu_value=64.0,
        ),
        Claim(
            metric="gpu_vs_bare_metal",
            definition="training speed of the GPU over that of the server, from reading the files",
            unit="ratio",
            cpu_device=SERVER,
            gpu_device=V100,
            speedup=4.0,
        ),
        Claim(
            metric="gpu_tuning_gain",
            definition="training speed with a tuned input over that with the default one",
            unit="ratio",
            gpu_device=V100,
            gpu_value=3.0,
        ),
        Claim(
            metric="epoch_of_8000_steps",
            definition="8,000 steps of 32 photographs with one loader thread, from reading the files",
            unit="min",
            cpu_device=VM,
            cpu_value=90.0,
        ),
        Claim(
            metric="25_epochs",
            definition="25 epochs of 8,000 steps with one loader thread: more than this",
            unit="h",
            cpu_device=VM,
            cpu_value=36.0,
        ),
        Claim(
            metric="gpu_utilisation",
            definition="share of the time in which the GPU is busy while training with the default input, at most",
            unit="percent",
            gpu_device=V100,
            gpu_value=10.0,
        ),
        accuracy(80.0),
    ),
    headline=True,
)
