"""The cats-and-dogs network with dropout again, trained on photographs as they are.

Source: phoenixNAP, "GPU vs CPU Deep Learning: Training Performance of Convolutional Networks".
Reported: 533 photographs/s on a Tesla V100, against 425 with augmentation; validation accuracy from 90 to 85 %.
Differs: the timed step is training alone, so it is the step of
    catdog_cnn_dropout.
"""

from dataclasses import replace

from suite.models.catdog_cnn_base import V100, accuracy, workload
from suite.models.catdog_cnn_dropout import PARAMETERS, PLACE_OF_DROPOUT, PLAN
from suite.workload import Claim

WORKLOAD = workload(
    name="catdog_cnn_noaug",
    title="Cats and dogs, three convolutions and dropout, no augmentation",
    plan=replace(PLAN, augmented=False),
    parameters=PARAMETERS,
    place="the network with dropout, trained without augmentation",
    claims=(
        Claim(
            metric="throughput",
            definition="training without augmentation, from reading the files",
            unit="img/s",
            gpu_device=V100,
            gpu_value=533.0,
        ),
        accuracy(85.0),
    ),
    differs=(PLACE_OF_DROPOUT,),
)
