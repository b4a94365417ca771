"""cifar10_tf_cnn in Keras.

Keras' moving average of the parameters has a fixed rate; the source's rises to it. The cost is the same.
"""

from typing import Any

import keras
from keras import initializers, layers, ops, optimizers

from suite.controls_keras._base import Batch, Control
from suite.controls_keras._losses import softmax_cross_entropy
from suite.data.prepare.crops import Crop

STEPS_PER_STAIR = 350 * 50_000 // 512
WEIGHT_DECAY = 0.004


def started(deviation: float, bias: float) -> dict[str, Any]:
    """Return the source's initial values as a layer takes them."""
    kernel = initializers.TruncatedNormal(stddev=deviation)
    return {"kernel_initializer": kernel, "bias_initializer": initializers.Constant(bias)}


def normalised() -> layers.Layer:
    """Return local response normalisation over nine channels: TensorFlow's own there, of which Keras has no other."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        return layers.Lambda(lambda x: tf.nn.local_response_normalization(x, 4, 1.0, 0.001 / 9, 0.75))
    return layers.Lambda(lambda x: x / ops.power(1.0 + 0.001 / 9 * sums(ops.square(x)), 0.75))


def sums(x: Any) -> Any:
    """Return the sum over each channel and its four neighbours on either side; float32[N,H,W,C]."""
    height, width, channels = x.shape[1:]
    rows = ops.pad(ops.reshape(x, (-1, height * width, channels, 1)), ((0, 0), (0, 0), (4, 4), (0, 0)))
    means = ops.average_pool(rows, (1, 9), strides=1, data_format="channels_last")
    return ops.reshape(9 * means, (-1, height, width, channels))


def model() -> keras.Model:
    """Return two 5x5 convolutions with pool and normalisation, 384, 192 and ten units; float32[N,24,24,3] to logits."""
    return keras.Sequential(
        [
            keras.Input((24, 24, 3)),
            layers.Conv2D(64, 5, padding="same", activation="relu", **started(0.05, 0.0)),
            layers.MaxPooling2D(3, 2, padding="same"),
            normalised(),
            layers.Conv2D(64, 5, padding="same", activation="relu", **started(0.05, 0.1)),
            normalised(),
            layers.MaxPooling2D(3, 2, padding="same"),
            layers.Flatten(),
            layers.Dense(384, activation="relu", name="local3", **started(0.04, 0.1)),
            layers.Dense(192, activation="relu", name="local4", **started(0.04, 0.1)),
            layers.Dense(10, **started(1 / 192, 0.0)),
        ]
    )


def loss(model: keras.Model, batch: Batch) -> Any:
    """Return the mean cross-entropy of a batch and half the decayed squares of both hidden layers' weights."""
    decayed = sum(ops.sum(ops.square(model.get_layer(name).kernel)) for name in ("local3", "local4")) / 2
    return softmax_cross_entropy(model, batch) + WEIGHT_DECAY * decayed


def optimizer() -> optimizers.Optimizer:
    """Return gradient descent with a falling rate and the moving average of all parameters."""
    rate = optimizers.schedules.ExponentialDecay(0.1, STEPS_PER_STAIR, 0.1, staircase=True)
    return optimizers.SGD(rate, use_ema=True, ema_momentum=0.9999)


CONTROL = Control(model=model, loss=loss, optimizer=optimizer, preparation=Crop())
