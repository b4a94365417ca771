"""cifar10_resnet87 in PyTorch."""

from functools import partial

from suite.controls._base import Control
from suite.controls._optimizers import adam
from suite.controls.cifar10_resnet63 import Cifar10ResNet, loss
from suite.data.prepare.pictures import Shifted

CONTROL = Control(model=partial(Cifar10ResNet, blocks_per_stage=14), loss=loss, optimizer=adam, preparation=Shifted())
