"""cifar10_resnet87 in Keras."""

from functools import partial

from suite.controls_keras._base import Control
from suite.controls_keras._losses import softmax_cross_entropy
from suite.controls_keras._optimizers import adam
from suite.controls_keras.cifar10_resnet63 import model
from suite.data.prepare.pictures import Shifted

CONTROL = Control(
    model=partial(model, blocks_per_stage=14),
    loss=softmax_cross_entropy,
    optimizer=adam,
    preparation=Shifted(),
)
