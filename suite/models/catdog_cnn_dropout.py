"""The cats-and-dogs network with three convolutions and dropout.

Source: phoenixNAP, "GPU vs CPU Deep Learning: Training Performance of Convolutional Networks".
Reported: 425 photographs/s on a Tesla V100; validation accuracy from 84 to 90 %.
Differs: the timed step is training alone; the place of the dropout is taken
    from a network of the same pattern.
"""

from suite.models.catdog_cnn_base import V100, Plan, accuracy, workload
from suite.workload import Claim

PLAN = Plan(side=64, features=(32, 32, 64), dropout=0.5)
PARAMETERS = 323_809
PLACE_OF_DROPOUT = (
    "The article shows the place of the dropout in a picture alone; here it follows the hidden layer, as in the "
    "network of the Keras blog that has the same pattern."
)

WORKLOAD = workload(
    name="catdog_cnn_dropout",
    title="Cats and dogs, three convolutions and dropout",
    plan=PLAN,
    parameters=PARAMETERS,
    place="the network with three convolutions and dropout 0.5",
    claims=(
        Claim(
            metric="throughput",
            definition="training with augmentation, from reading the files",
            unit="img/s",
            gpu_device=V100,
            gpu_value=425.0,
        ),
        accuracy(90.0),
    ),
    differs=(PLACE_OF_DROPOUT,),
)
