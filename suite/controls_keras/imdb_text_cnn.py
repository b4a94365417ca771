"""imdb_text_cnn in Keras."""

import keras
from keras import layers

from suite.controls_keras._base import Control
from suite.controls_keras._losses import sigmoid_cross_entropy
from suite.controls_keras._optimizers import adam
from suite.data.prepare.words import Words


def model() -> keras.Model:
    """Return embedding 5000x50, 250 filters of width 3, global max pool, dense 250; int32[N,400] to logits [N,1]."""
    return keras.Sequential(
        [
            keras.Input((400,), dtype="int32"),
            layers.Embedding(5000, 50),
            layers.Dropout(0.2),
            layers.Conv1D(250, 3, activation="relu"),
            layers.GlobalMaxPooling1D(),
            layers.Dense(250),
            layers.Dropout(0.2),
            layers.ReLU(),
            layers.Dense(1),
        ]
    )


CONTROL = Control(model=model, loss=sigmoid_cross_entropy, optimizer=adam, preparation=Words())
