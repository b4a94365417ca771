"""catdog_cnn_base in Keras, with the code of its five relatives."""

from collections.abc import Sequence
from functools import partial

import keras
from keras import layers

from suite.controls_keras._base import Control
from suite.controls_keras._losses import sigmoid_cross_entropy
from suite.controls_keras._optimizers import adam
from suite.data.prepare.photographs import Photograph


def network(side: int, features: Sequence[int], extra: Sequence[int], dropout: float) -> keras.Model:
    """Return pairs of convolution and pool, then extra convolutions and 128 hidden units; to logits [N,1]."""
    made = [keras.Input((side, side, 3))]
    for width, count in zip(features, extra or (0,) * len(features), strict=True):
        made += [layers.Conv2D(width, 3, activation="relu"), layers.MaxPooling2D(2)]
        made += [layers.Conv2D(width, 3, padding="same", activation="relu") for _ in range(count)]
    made += [layers.Flatten(), layers.Dense(128, activation="relu")]
    return keras.Sequential([*made, *([layers.Dropout(dropout)] if dropout else []), layers.Dense(1)])


def control(
    side: int, features: Sequence[int], extra: Sequence[int] = (), dropout: float = 0.0, augmented: bool = True
) -> Control:
    """Return the control of one of the six networks."""
    return Control(
        model=partial(network, side, features, extra, dropout),
        loss=sigmoid_cross_entropy,
        optimizer=adam,
        preparation=Photograph(side=side, augmented=augmented),
    )


CONTROL = control(64, (32, 32))
