"""catdog_cnn_noaug in PyTorch."""

from suite.controls.catdog_cnn_base import control

CONTROL = control(64, (32, 32, 64), dropout=0.5, augmented=False)
