"""mnist_grid_search in PyTorch: the first network of the grid."""

from dataclasses import replace
from functools import partial

from suite.controls.mnist_cnn import CONTROL as LARGER
from suite.controls.mnist_cnn import MnistCnn

CONTROL = replace(LARGER, model=partial(MnistCnn, first=8, second=8, hidden=32))
