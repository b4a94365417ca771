"""mnist_cnn in Keras."""

import keras
from keras import layers

from suite.controls_keras._base import Control
from suite.controls_keras._losses import softmax_cross_entropy
from suite.controls_keras._optimizers import adadelta
from suite.data.prepare.pictures import Pixels


def model(first: int = 32, second: int = 64, hidden: int = 128) -> keras.Model:
    """Return two 3x3 convolutions, 2x2 max pool, a hidden layer, two dropouts; float32[N,28,28,1] to logits."""
    return keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(first, 3, activation="relu"),
            layers.Conv2D(second, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Dropout(0.25),
            layers.Flatten(),
            layers.Dense(hidden, activation="relu"),
            layers.Dropout(0.5),
            layers.Dense(10),
        ]
    )


CONTROL = Control(model=model, loss=softmax_cross_entropy, optimizer=adadelta, preparation=Pixels())
