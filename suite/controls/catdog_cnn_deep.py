"""catdog_cnn_deep in PyTorch."""

from suite.controls.catdog_cnn_base import control

CONTROL = control(128, (64, 64, 64, 64), extra=(0, 20, 12, 0), dropout=0.5)
