"""imdb_bilstm in Keras."""

from functools import partial

import keras
from keras import layers

from suite.controls_keras._base import Control
from suite.controls_keras._losses import sigmoid_cross_entropy
from suite.controls_keras._optimizers import adam
from suite.data.prepare.words import Subwords


def model() -> keras.Model:
    """Return embedding 8185x64, bidirectional LSTM 64, dense 64 with ReLU; int32[N,256] to logits [N,1]."""
    return keras.Sequential(
        [
            keras.Input((256,), dtype="int32"),
            layers.Embedding(8185, 64),
            layers.Bidirectional(layers.LSTM(64)),
            layers.Dense(64, activation="relu"),
            layers.Dense(1),
        ]
    )


CONTROL = Control(model=model, loss=sigmoid_cross_entropy, optimizer=partial(adam, 1e-4), preparation=Subwords())
