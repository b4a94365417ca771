"""A bidirectional LSTM over the subwords of a review.

Source: Marko Kovacevic, "How GPU can Powerfully Speed Up Training in Deep Learning", 2020; network of
    tensorflow/docs @ eff3de64d, text_classification_rnn.
Reported: nothing for this network; the article's text classification fits `imdb_text_cnn` better.
Differs: inferred network; every review is brought to 256 positions; subwords by a rule of the project.
"""

from functools import partial

import jax
from flax import nnx

from suite.data.prepare.words import Subwords
from suite.nn import flop
from suite.nn.layers import Embedding
from suite.nn.losses import sigmoid_cross_entropy
from suite.nn.lstm import BidirectionalLstm
from suite.nn.optimizers import adam
from suite.workload import Description, LearningTarget, Source, Workload

POSITIONS, VOCABULARY = 256, 8185


class ImdbBilstm(nnx.Module):
    """Embedding 8185x64, bidirectional LSTM 64, dense 64 with ReLU, dense 1; padding is read like any subword."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.embedding = Embedding(VOCABULARY, 64)
        self.lstm = BidirectionalLstm(64, 64)
        self.hidden = nnx.Linear(128, 64, rngs=rngs)
        self.output = nnx.Linear(64, 1, rngs=rngs)

    def __call__(self, tokens: jax.Array) -> jax.Array:
        """Map subword ids int32[N,T] to logits float32[N]."""
        x = self.embedding(tokens)  # N T 64
        x = self.lstm(x)  # N 128
        x = nnx.relu(self.hidden(x))  # N 64
        return self.output(x)[:, 0]  # N


def loss(model: ImdbBilstm, batch: dict[str, jax.Array]) -> jax.Array:
    """Return the mean cross-entropy of a batch."""
    return sigmoid_cross_entropy(model(batch["tokens"]), batch["labels"])


FORWARD = 2 * flop.lstm(POSITIONS, 64, 64) + flop.dense(128, 64) + flop.dense(64, 1)

WORKLOAD = Workload(
    description=Description(
        name="imdb_bilstm",
        title="IMDB reviews, bidirectional LSTM",
        family="text",
        source=Source(
            author="Marko Kovacevic",
            title="How GPU can Powerfully Speed Up Training in Deep Learning",
            year=2020,
            address="https://marko-kovacevic.com/blog/how-gpu-can-powerfully-speed-up-training-in-deep-learning",
            place="recurrent alternative to imdb_text_cnn, after tensorflow/docs @ eff3de64d, text_classification_rnn",
        ),
        claims=(),
        differs=(
            "The article does not document its network, and its times do not fit this one: no documented number is "
            "attached to it.",
            f"Every review is padded or cut to {POSITIONS} positions; the tutorial pads to the longest of each batch, "
            "which would be a new program for nearly every batch.",
            f"The embedding has {VOCABULARY} rows whatever the vocabulary, as that of the tutorial has.",
            "The subwords are made from the training split by a rule of the project; the tutorial has those of TFDS.",
        ),
        inferred=True,
        dataset="imdb_reviews",
        preprocessing=f"ids of subwords, padded and cut behind to {POSITIONS}, padding not masked",
        optimizer="Adam, learning rate 0.0001, beta 0.9 and 0.999, epsilon 1e-7 as Keras places it",
        loss="binary cross-entropy from logits",
        batch=64,
        parameters=598_209,
        trainable_parameters=598_209,
        forward_flop_per_example=FORWARD,
        flop_per_example=flop.training(FORWARD),
        examples_per_epoch=25_000,
    ),
    model=ImdbBilstm,
    loss=loss,
    optimizer=partial(adam, 1e-4),
    preparation=Subwords(),
    cpu_devices=4,
    learning=LearningTarget(steps=800, bound=0.6, batch=16),
)
