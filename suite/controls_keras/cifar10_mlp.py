"""cifar10_mlp in Keras."""

import keras
from keras import layers

from suite.controls_keras._base import Control
from suite.controls_keras._losses import softmax_cross_entropy
from suite.controls_keras._optimizers import sgd
from suite.data.prepare.pictures import Pixels


def model() -> keras.Model:
    """Return 3072-3000-1000-10 with ReLU; float32[N,32,32,3] to the logits before the source's sigmoid."""
    return keras.Sequential(
        [
            keras.Input((32, 32, 3)),
            layers.Flatten(),
            layers.Dense(3000, activation="relu"),
            layers.Dense(1000, activation="relu"),
            layers.Dense(10),
        ]
    )


CONTROL = Control(model=model, loss=softmax_cross_entropy, optimizer=sgd, preparation=Pixels())
