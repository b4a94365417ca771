"""Shared code of the five serving networks: their source, its one number, and the timed step."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from suite.data.random_inputs import photographs
from suite.nn.dtypes import wide
from suite.nn.frozen import folded
from suite.workload import Claim, CpuKernels, Description, Source, Workload

SOURCE = Source(
    author="Marko Kovacevic",
    title="How GPU can Powerfully Speed Up Training in Deep Learning",
    year=2020,
    address="https://marko-kovacevic.com/blog/how-gpu-can-powerfully-speed-up-training-in-deep-learning",
    place="'804 %', after Microsoft, 'GPUs vs CPUs for deployment of deep learning models', 11 September 2018; one "
    "image a request after microsoft/AKSDeploymentTutorial @ aea3e5f",
)
READINGS = ((8.04, "804 % of the CPU cluster's throughput"), (9.04, "better than the CPU cluster by 804 %"))
CLAIMS = tuple(
    Claim(
        metric="throughput_gain",
        definition=f"'804 %' read as: {reading}; image scoring web services with five networks, the article does not "
        "say for which of them, and gives no times",
        unit="percent",
        cpu_device="one cluster of 5 CPU nodes",
        gpu_device="one cluster of 3 GPU nodes",
        gpu_value=804,
        speedup=speedup,
    )
    for speedup, reading in READINGS
)
DIFFERS = (
    "The article quotes the number for training; its source is a study of inference, which this is.",
    "One CPU machine against one GPU, not a cluster of 5 nodes against one of 3, and the network's step alone, without "
    "the web service around it.",
    "Random weights and random pictures from -1 to 1; the time of a step depends on neither.",
    "Batch norms are folded into their convolutions once, before the timed step; the counts are of the network before.",
)


def loss(model: Any, batch: dict[str, jax.Array]) -> jax.Array:
    """Return the mean over the batch of the likeliest class's probability, float32[]: it needs every output."""
    logits = model(batch["images"])
    likely = jax.nn.softmax(logits.astype(wide(logits.dtype)))
    return jnp.mean(jnp.max(likely, -1))


def workload(
    *,
    name: str,
    title: str,
    model: Callable[..., Any],
    forward: int,
    parameters: int,
    trainable: int,
    side: int = 224,
    cpu_kernels: CpuKernels,
    headline: bool = False,
) -> Workload:
    """Return the workload of a network that maps photographs float32[N,side,side,3] to logits float32[N,1000]."""
    return Workload(
        description=Description(
            name=name,
            title=title,
            family="inference",
            source=SOURCE,
            claims=CLAIMS,
            differs=DIFFERS,
            inferred=False,
            dataset="imagenet2012",
            preprocessing="pixels / 127.5 - 1",
            optimizer="none: inference",
            loss="none; the step gives the probability of the likeliest class",
            batch=1,
            parameters=parameters,
            trainable_parameters=trainable,
            forward_flop_per_example=forward,
            flop_per_example=forward,
            data="random",
            headline=headline,
        ),
        model=model,
        loss=loss,
        draw=partial(photographs, side=side),
        served=folded,
        cpu_kernels=cpu_kernels,
        gpu_graph="whole",
    )
