"""Cats and dogs at 128x128 with four convolutions of 64.

Source: phoenixNAP, "GPU vs CPU Deep Learning: Training Performance of Convolutional Networks".
Reported: 333 photographs/s on a Tesla V100, about 23x those of 16 cores; validation accuracy 94 %.
Differs: the timed step is training alone; the number of pairs and the places
    of 64 features are read between the lines.
"""

from suite.models.catdog_cnn_base import SERVER, V100, Plan, accuracy, workload
from suite.models.catdog_cnn_dropout import PLACE_OF_DROPOUT
from suite.workload import Claim, LearningTarget

FEATURES, SIDE, DROPOUT = (64, 64, 64, 64), 128, 0.5
READING = (
    "The article says 64 filters on all layers: read as four pairs of convolution and pool with 64 features, while the "
    "hidden layer keeps its 128 and the dropout stays."
)

WORKLOAD = workload(
    name="catdog_cnn_128",
    title="Cats and dogs at 128x128, four convolutions",
    gpu_graph="concurrent",
    gpu_layout="channels-first",
    plan=Plan(side=SIDE, features=FEATURES, dropout=DROPOUT),
    parameters=407_745,
    place="the network of the 94 %",
    claims=(
        Claim(
            metric="throughput",
            definition="training with augmentation, from reading the files; the CPU's is derived from the GPU's and "
            "the article's ratio",
            unit="img/s",
            cpu_device=SERVER,
            cpu_value=14.5,
            gpu_device=V100,
            gpu_value=333.0,
            speedup=23.0,
            grade="A/C",
        ),
        Claim(
            metric="change_from_dropout_net",
            definition="change of training speed from the network with dropout at 64x64 to this one",
            unit="percent",
            cpu_device=SERVER,
            cpu_value=-85.0,
            gpu_device=V100,
            gpu_value=-20.0,
        ),
        Claim(
            metric="gpu_utilisation",
            definition="share of the time in which the GPU is busy while training, from reading the files",
            unit="percent",
            gpu_device=V100,
            gpu_value=50.0,
        ),
        accuracy(94.0),
    ),
    differs=(READING, PLACE_OF_DROPOUT),
    headline=True,
    learning=LearningTarget(steps=150, bound=0.8, gpu_only=True),
)
