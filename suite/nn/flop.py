"""FLOP of layers from their shapes: a multiply-add is 2 FLOP; convolutions and matrix products only."""


def dense(inputs: int, outputs: int) -> int:
    """Return the forward FLOP of a dense layer for one example."""
    return 2 * inputs * outputs


def conv(height: int, width: int, inputs: int, outputs: int, kernel: int) -> int:
    """Return the forward FLOP of a square convolution for one example; height and width are the output's."""
    return 2 * height * width * outputs * inputs * kernel * kernel


def separable(height: int, width: int, inputs: int, outputs: int, kernel: int) -> int:
    """Return the forward FLOP of a depthwise convolution and the 1x1 convolution after it, for one example."""
    return conv(height, width, 1, inputs, kernel) + conv(height, width, inputs, outputs, 1)


def conv1d(positions: int, inputs: int, outputs: int, kernel: int) -> int:
    """Return the forward FLOP of a convolution along one axis for one example; positions are the output's."""
    return 2 * positions * outputs * inputs * kernel


def lstm(positions: int, inputs: int, features: int) -> int:
    """Return the forward FLOP of one direction of an LSTM for one example."""
    return 2 * positions * (inputs + features) * 4 * features


def training(forward: int, first: int = 0) -> int:
    """Return a training step's FLOP for one example: forward, weight gradients and input gradients.

    The first parametric layer needs no input gradient; after an embedding none is left out.
    """
    return 3 * forward - first
