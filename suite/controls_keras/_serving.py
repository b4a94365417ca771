"""What the serving networks share: keras.applications without trained weights, and the number that a step gives."""

from collections.abc import Callable
from functools import partial
from typing import Any

from keras import ops

from suite.controls_keras._base import Batch, Control
from suite.data.random_inputs import photographs


def loss(model: Any, batch: Batch) -> Any:
    """Return the mean squared class probability: a number that needs every output of the network."""
    return ops.mean(ops.square(ops.softmax(model(batch["images"], training=False))))


def control(network: Callable[..., Any], side: int = 224) -> Control:
    """Return the control of one of keras.applications' networks, which gives the logits of 1000 classes."""
    model = partial(network, weights=None, classifier_activation=None)
    return Control(model=model, loss=loss, draw=partial(photographs, side=side))
