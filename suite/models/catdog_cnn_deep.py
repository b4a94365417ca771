"""Cats and dogs at 128x128, made deeper than it needs to be: 36 convolutions.

Source: phoenixNAP, "GPU vs CPU Deep Learning: Training Performance of Convolutional Networks".
Reported: about 3 photographs/s on 16 cores, a Tesla V100 about 100x as fast and fully used; only "30+" convolutions.
Differs: inferred network; the timed step is training alone.
"""

from suite.models.catdog_cnn_128 import DROPOUT, FEATURES, READING, SIDE
from suite.models.catdog_cnn_base import SERVER, V100, Plan, workload
from suite.models.catdog_cnn_dropout import PLACE_OF_DROPOUT
from suite.workload import Claim

WORKLOAD = workload(
    name="catdog_cnn_deep",
    title="Cats and dogs at 128x128, 36 convolutions",
    gpu_graph="concurrent",
    gpu_layout="channels-first",
    plan=Plan(side=SIDE, features=FEATURES, extra=(0, 20, 12, 0), dropout=DROPOUT),
    parameters=1_589_441,
    place="the unnecessarily deep network",
    claims=(
        Claim(
            metric="throughput",
            definition="training with augmentation, from reading the files; the GPU's is derived from the CPU's and "
            "the article's ratio",
            unit="img/s",
            cpu_device=SERVER,
            cpu_value=3.0,
            gpu_device=V100,
            gpu_value=300.0,
            speedup=100.0,
            grade="A/C",
        ),
        Claim(
            metric="gpu_utilisation",
            definition="share of the time in which the GPU is busy while training, from reading the files",
            unit="percent",
            gpu_device=V100,
            gpu_value=100.0,
        ),
    ),
    differs=(
        "The article says only that more than 30 convolutions were added. Here the network at 128x128 has 20 more of "
        "64 features after its second pool and 12 after its third, which agrees with the speed that the article "
        "reports for its CPU.",
        READING,
        PLACE_OF_DROPOUT,
    ),
    inferred=True,
    learning="finite",  # 36 plain convolutions pass no signal to learn from
)
