"""Optimizers for the controls with the documented defaults.

Keras 3 has RMSprop's epsilon inside the root, the sources outside: the same cost, slightly different losses.
"""

from keras import optimizers


def sgd(learning_rate: float = 0.01) -> optimizers.Optimizer:
    """Return plain gradient descent."""
    return optimizers.SGD(learning_rate)


def rmsprop() -> optimizers.Optimizer:
    """Return RMSprop with learning rate 0.001 and rho 0.9."""
    return optimizers.RMSprop(1e-3, rho=0.9, epsilon=1e-7)


def adadelta() -> optimizers.Optimizer:
    """Return Adadelta with learning rate 1.0 and rho 0.95."""
    return optimizers.Adadelta(1.0, rho=0.95, epsilon=1e-7)


def adam(learning_rate: float = 1e-3) -> optimizers.Optimizer:
    """Return Adam."""
    return optimizers.Adam(learning_rate, epsilon=1e-7)
