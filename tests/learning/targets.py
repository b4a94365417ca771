"""How long each network trains on the small embedded sets, and the share of right answers that it has to reach."""

from dataclasses import dataclass

SEEDS = (0, 1, 2)


@dataclass(frozen=True, kw_only=True)
class LearningTarget:
    """A network's training and its bound; steps are few, so that the whole session fits into 15 minutes of 4 cores."""

    network: str
    steps: int
    bound: float
    batch: int | None = None  # None: the headline one
    gpu_only: bool = False  # a CPU would take minutes for each seed


# Bounds lie below the worst seed that was seen and above what is left of a network whose labels mean nothing or whose
# last layer alone learns; the session trains those too, and fails if one of them reaches the bound.
TARGETS = (
    LearningTarget(network="mnist_mlp", steps=100, bound=0.95),
    LearningTarget(network="mnist_cnn", steps=80, bound=0.85),
    LearningTarget(network="mnist_grid_search", steps=250, bound=0.8),
    LearningTarget(network="cifar10_mlp", steps=250, bound=0.33),
    LearningTarget(network="cifar10_tf_cnn", steps=200, bound=0.8, batch=64),
    LearningTarget(network="imdb_text_cnn", steps=200, bound=0.9),
    LearningTarget(network="imdb_bilstm", steps=800, bound=0.6, batch=16),
    LearningTarget(network="catdog_cnn_base", steps=150, bound=0.8),
    LearningTarget(network="catdog_cnn_conv64", steps=150, bound=0.8),
    LearningTarget(network="catdog_cnn_dropout", steps=150, bound=0.8),
    LearningTarget(network="catdog_cnn_noaug", steps=150, bound=0.8),
    LearningTarget(network="catdog_cnn_128", steps=150, bound=0.8, gpu_only=True),
)
