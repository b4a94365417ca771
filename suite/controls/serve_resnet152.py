"""serve_resnet152 in PyTorch, batch norms folded by torch's fusion tool."""

from functools import partial

from suite.controls._serving import control
from suite.controls.serve_resnet50 import ResNet

BLOCKS = (3, 8, 36, 3)

CONTROL = control(partial(ResNet, blocks=BLOCKS))
