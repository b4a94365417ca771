"""catdog_cnn_noaug in Keras."""

from suite.controls_keras.catdog_cnn_base import control

CONTROL = control(64, (32, 32, 64), dropout=0.5, augmented=False)
