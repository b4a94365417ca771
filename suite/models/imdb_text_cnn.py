"""One convolution along the words of a review, and each filter's maximum.

Source: Marko Kovacevic, "How GPU can Powerfully Speed Up Training in Deep Learning", 2020; network of
    keras-team/keras @ ca5a4e3d69, examples/imdb_cnn.py.
Reported: a text classification in 198.2 s on a Colab CPU and 14.4 s on a Colab GPU (13.76x); network, data set, batch
    and epochs are not documented.
Differs: inferred network; the timed step is training alone.
"""

import jax
from flax import nnx

from suite.data.prepare.words import Words
from suite.nn import flop
from suite.nn.dropout import Dropout
from suite.nn.layers import Embedding
from suite.nn.losses import sigmoid_cross_entropy
from suite.nn.optimizers import adam
from suite.workload import Claim, Description, LearningTarget, Source, WholeRun, Workload


class ImdbTextCnn(nnx.Module):
    """Embedding 5000x50, 250 filters of width 3, global max pool, dense 250, dense 1; dropout 0.2."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.embedding = Embedding(5000, 50)
        self.conv = nnx.Conv(50, 250, (3,), padding="VALID", rngs=rngs)
        self.hidden = nnx.Linear(250, 250, rngs=rngs)
        self.output = nnx.Linear(250, 1, rngs=rngs)
        self.dropout = Dropout(0.2, rngs=rngs)

    def __call__(self, tokens: jax.Array) -> jax.Array:
        """Map word ids int32[N,400] to logits float32[N]."""
        x = self.dropout(self.embedding(tokens))  # N 400 50
        x = nnx.relu(self.conv(x)).max(1)  # N 250
        x = nnx.relu(self.dropout(self.hidden(x)))  # N 250
        return self.output(x)[:, 0]  # N


def loss(model: ImdbTextCnn, batch: dict[str, jax.Array]) -> jax.Array:
    """Return the mean cross-entropy of a batch."""
    return sigmoid_cross_entropy(model(batch["tokens"]), batch["labels"])


FORWARD = flop.conv1d(398, 50, 250, 3) + flop.dense(250, 250) + flop.dense(250, 1)

WORKLOAD = Workload(
    description=Description(
        name="imdb_text_cnn",
        title="IMDB reviews, one convolution",
        family="text",
        source=Source(
            author="Marko Kovacevic",
            title="How GPU can Powerfully Speed Up Training in Deep Learning",
            year=2020,
            address="https://marko-kovacevic.com/blog/how-gpu-can-powerfully-speed-up-training-in-deep-learning",
            place="the author's own run; network after keras-team/keras @ ca5a4e3d69, examples/imdb_cnn.py",
            way="fit",
        ),
        claims=(
            Claim(
                metric="training",
                definition="one training run of a text classification, wall clock; network, data, batch and epochs not "
                "documented",
                unit="s",
                cpu_device="Colab CPU runtime",
                cpu_value=198.2,
                gpu_device="Colab GPU, one of K80, T4, P4, P100",
                gpu_value=14.4,
                speedup=13.76,
            ),
            Claim(
                metric="accuracy",
                definition="share of the test reviews that is answered right after 2 epochs, as "
                "the Keras example that the network is states it",
                unit="percent",
                gpu_value=89.0,
            ),
        ),
        differs=(
            "The article does not document its network: this is the Keras example for text classification of its day, "
            "whose default run fits both of its times best (2 epochs, batch 32, validation after each).",
            "The article times a whole run: so does scope `run`. The headline is one training step in steady state.",
            "The cross-entropy is computed from the logit; Keras of that time keeps the sigmoid 1e-7 away from 0 and 1 "
            "first. No effect on speed.",
        ),
        inferred=True,
        dataset="imdb_reviews",
        preprocessing="ids of the 5,000 most frequent words, padded and cut in front to 400",
        optimizer="Adam, learning rate 0.001, beta 0.9 and 0.999, epsilon 1e-7 as Keras places it",
        loss="binary cross-entropy",
        batch=32,
        parameters=350_751,
        trainable_parameters=350_751,
        forward_flop_per_example=FORWARD,
        flop_per_example=flop.training(FORWARD),
        run=WholeRun(epochs=2, train=25_000, test=25_000),
        headline=True,
    ),
    model=ImdbTextCnn,
    loss=loss,
    optimizer=adam,
    preparation=Words(),
    cpu_kernels="xla",
    gpu_graph="whole",
    learning=LearningTarget(steps=200, bound=0.9),
)
