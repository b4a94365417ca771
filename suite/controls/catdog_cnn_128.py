"""catdog_cnn_128 in PyTorch."""

from suite.controls.catdog_cnn_base import control

CONTROL = control(128, (64, 64, 64, 64), dropout=0.5)
