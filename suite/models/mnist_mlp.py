"""Two hidden layers of 512 on MNIST: the simple network of its day.

Source: option40, "ML - How much faster is a GPU?"; network of keras-team/keras @ 4f2e65c385, examples/mnist_mlp.py.
Reported: 1 min 52 s on a laptop, 8.43 s on a Tesla P100 (13.3x); network, batch size and epochs are not documented.
Differs: inferred network; the timed step is training alone.
"""

import jax
from flax import nnx

from suite.data.prepare.pictures import Pixels
from suite.nn import flop
from suite.nn.dropout import Dropout
from suite.nn.losses import softmax_cross_entropy
from suite.nn.optimizers import rmsprop
from suite.workload import Claim, Description, LearningTarget, Source, WholeRun, Workload


class MnistMlp(nnx.Module):
    """784-512-512-10 with ReLU and dropout 0.2 after each hidden layer."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.hidden1 = nnx.Linear(784, 512, rngs=rngs)
        self.hidden2 = nnx.Linear(512, 512, rngs=rngs)
        self.output = nnx.Linear(512, 10, rngs=rngs)
        self.dropout = Dropout(0.2, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map digits float32[N,28,28,1] to logits float32[N,10]."""
        x = x.reshape(x.shape[0], -1)  # N 784
        x = self.dropout(nnx.relu(self.hidden1(x)))  # N 512
        x = self.dropout(nnx.relu(self.hidden2(x)))  # N 512
        return self.output(x)  # N 10


def loss(model: MnistMlp, batch: dict[str, jax.Array]) -> jax.Array:
    """Return the mean cross-entropy of a batch."""
    return softmax_cross_entropy(model(batch["images"]), batch["labels"])


FIRST = flop.dense(784, 512)
FORWARD = FIRST + flop.dense(512, 512) + flop.dense(512, 10)

WORKLOAD = Workload(
    description=Description(
        name="mnist_mlp",
        title="MNIST, two hidden layers",
        family="dense",
        source=Source(
            author="option40",
            title="ML - How much faster is a GPU?",
            year=2018,
            address="https://option40.com/blog/ml-how-much-faster-is-a-gpu",
            place="whole article; network after keras-team/keras @ 4f2e65c385, examples/mnist_mlp.py",
            way="fit",
        ),
        claims=(
            Claim(
                metric="whole_run",
                definition="one whole training run in Keras, wall clock; network, batch and epochs not documented",
                unit="s",
                cpu_device="laptop, model not documented",
                cpu_value=112.0,
                gpu_device="Tesla P100 (Azure VM)",
                gpu_value=8.43,
                speedup=13.29,
            ),
            Claim(
                metric="accuracy",
                definition="share of the test pictures that is answered right after 20 epochs, as "
                "the Keras example that the network is states it",
                unit="percent",
                gpu_value=98.4,
            ),
        ),
        differs=(
            "The article does not document its network: this is the Keras example whose default run fits both of its "
            "times (20 epochs, batch 128).",
            "The article times a whole run: so does scope `run`. The headline is one training step in steady state.",
        ),
        inferred=True,
        dataset="mnist",
        preprocessing="pixels / 255, labels one-hot, no augmentation",
        optimizer="RMSprop, learning rate 0.001, rho 0.9, epsilon 1e-7 outside the root",
        loss="categorical cross-entropy",
        batch=128,
        parameters=669_706,
        trainable_parameters=669_706,
        forward_flop_per_example=FORWARD,
        flop_per_example=flop.training(FORWARD, FIRST),
        run=WholeRun(epochs=20, train=60_000, test=10_000),
        headline=True,
    ),
    model=MnistMlp,
    loss=loss,
    optimizer=rmsprop,
    preparation=Pixels(),
    cpu_kernels="xla",  # for three products a call of oneDNN's costs more than it saves
    learning=LearningTarget(steps=100, bound=0.95),
)
