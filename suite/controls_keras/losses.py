"""Losses that several controls share, each the mean over a batch."""

from typing import Any

from keras import losses, ops

from suite.controls_keras.base import Batch


def softmax_cross_entropy(model: Any, batch: Batch) -> Any:
    """Return the mean softmax cross-entropy of the logits, in training."""
    logits = model(batch["images"], training=True)
    return ops.mean(losses.categorical_crossentropy(batch["labels"], logits, from_logits=True))
