"""catdog_cnn_conv64 in Keras."""

from suite.controls_keras.catdog_cnn_base import control

CONTROL = control(64, (32, 32, 64))
