"""Losses that several controls share, each the mean over a batch."""

from typing import Any

from keras import losses, ops

from suite.controls_keras._base import Batch


def softmax_cross_entropy(model: Any, batch: Batch) -> Any:
    """Return the mean softmax cross-entropy of the logits [N,K], in training."""
    logits = model(batch["images"], training=True)
    return ops.mean(losses.categorical_crossentropy(batch["labels"], logits, from_logits=True))


def sigmoid_cross_entropy(model: Any, batch: Batch) -> Any:
    """Return the mean cross-entropy of the logits [N,1] of photographs or tokens, in training."""
    logits = model(batch["images"] if "images" in batch else batch["tokens"], training=True)
    return ops.mean(losses.binary_crossentropy(batch["labels"][:, None], logits, from_logits=True))
