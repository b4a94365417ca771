"""catdog_cnn_conv64 in PyTorch."""

from suite.controls.catdog_cnn_base import control

CONTROL = control(64, (32, 32, 64))
