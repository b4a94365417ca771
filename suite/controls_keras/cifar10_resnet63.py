"""cifar10_resnet63 in Keras, and any other number of blocks."""

from typing import Any

import keras
from keras import layers

from suite.controls_keras._base import Control
from suite.controls_keras._losses import softmax_cross_entropy
from suite.controls_keras._optimizers import adam
from suite.data.prepare.pictures import Pixels

BLOCKS_PER_STAGE = 10
WIDTHS = (64, 128, 256)


def unit(x: Any, features: int, kernel: int, stride: int) -> Any:
    """Map [N,H,W,C] to [N,H/stride,W/stride,features]: convolution with bias, then batch normalisation."""
    return layers.BatchNormalization()(layers.Conv2D(features, kernel, stride, padding="same")(x))


def block(x: Any, features: int) -> Any:
    """Map [N,H,W,C] to [N,H,W,features], with H and W halved if C differs from features."""
    stride = 1 if x.shape[-1] == features else 2
    shortcut = x if stride == 1 else unit(x, features, 1, 2)
    x = layers.ReLU()(unit(x, features, 3, stride))
    return layers.ReLU()(layers.Add()([unit(x, features, 3, 1), shortcut]))


def model(blocks_per_stage: int = BLOCKS_PER_STAGE) -> keras.Model:
    """Return stem, three stages of residual blocks, global average, dense layer; float32[N,32,32,3] to logits."""
    pictures = keras.Input((32, 32, 3))
    x = layers.ReLU()(unit(pictures, WIDTHS[0], 3, 1))
    for width in WIDTHS:
        for _ in range(blocks_per_stage):
            x = block(x, width)
    return keras.Model(pictures, layers.Dense(10)(layers.GlobalAveragePooling2D()(x)))


CONTROL = Control(model=model, loss=softmax_cross_entropy, optimizer=adam, preparation=Pixels())
