"""mnist_mlp in Keras."""

import keras
from keras import layers

from suite.controls_keras._base import Control
from suite.controls_keras._losses import softmax_cross_entropy
from suite.controls_keras._optimizers import rmsprop
from suite.data.prepare.pictures import Pixels


def model() -> keras.Model:
    """Return 784-512-512-10 with ReLU and dropout 0.2 after each hidden layer; float32[N,28,28,1] to logits."""
    return keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Flatten(),
            layers.Dense(512, activation="relu"),
            layers.Dropout(0.2),
            layers.Dense(512, activation="relu"),
            layers.Dropout(0.2),
            layers.Dense(10),
        ]
    )


CONTROL = Control(model=model, loss=softmax_cross_entropy, optimizer=rmsprop, preparation=Pixels())
