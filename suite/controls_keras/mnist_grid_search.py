"""mnist_grid_search in Keras: the first network of the grid."""

import keras
from keras import layers

from suite.controls_keras.base import Control
from suite.controls_keras.losses import softmax_cross_entropy
from suite.controls_keras.optimizers import adadelta
from suite.data.prepare.pictures import Pixels


def model() -> keras.Model:
    """Return two 3x3 convolutions of 8, max pool, a hidden layer of 32, two dropouts; float32[N,28,28,1] to logits."""
    return keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(8, 3, activation="relu"),
            layers.Conv2D(8, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Dropout(0.25),
            layers.Flatten(),
            layers.Dense(32, activation="relu"),
            layers.Dropout(0.5),
            layers.Dense(10),
        ]
    )


CONTROL = Control(model=model, loss=softmax_cross_entropy, optimizer=adadelta, preparation=Pixels())
