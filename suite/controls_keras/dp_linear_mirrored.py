"""dp_linear_mirrored in Keras, on one device."""

from functools import partial
from typing import Any

import keras
from keras import layers, ops

from suite.controls_keras._base import Batch, Control
from suite.controls_keras._optimizers import sgd
from suite.data.random_inputs import points_on_a_line


def model() -> keras.Model:
    """Return one dense unit; float32[N,1] to float32[N,1]."""
    return keras.Sequential([keras.Input((1,)), layers.Dense(1)])


def loss(model: keras.Model, batch: Batch) -> Any:
    """Return the mean squared error of a batch."""
    return ops.mean(ops.square(model(batch["inputs"], training=True)[:, 0] - batch["labels"]))


CONTROL = Control(model=model, loss=loss, optimizer=partial(sgd, 0.2), draw=points_on_a_line)
