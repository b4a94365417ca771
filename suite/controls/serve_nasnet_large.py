"""serve_nasnet_large in PyTorch, batch norms folded by torch's fusion tool."""

from functools import partial

from suite.controls._serving import control
from suite.controls.serve_nasnet_mobile import NasNet

SIDE, STEM, FILTERS, CELLS = 331, 96, 168, 6

CONTROL = control(partial(NasNet, stem=STEM, filters=FILTERS, cells=CELLS, skips=True), side=SIDE)
