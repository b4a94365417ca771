"""mnist_grid_search in Keras: the first network of the grid."""

from dataclasses import replace
from functools import partial

from suite.controls_keras.mnist_cnn import CONTROL as LARGER
from suite.controls_keras.mnist_cnn import model

CONTROL = replace(LARGER, model=partial(model, first=8, second=8, hidden=32))
