"""The cats-and-dogs network with a third convolution: fewer parameters, more work.

Source: phoenixNAP, "GPU vs CPU Deep Learning: Training Performance of Convolutional Networks".
Reported: no noticeable change of speed; validation accuracy from 80 to 84 %.
Differs: the timed step is training alone.
"""

from suite.models.catdog_cnn_base import Plan, accuracy, workload

WORKLOAD = workload(
    name="catdog_cnn_conv64",
    title="Cats and dogs, three convolutions",
    plan=Plan(side=64, features=(32, 32, 64)),
    parameters=323_809,
    place="the base network with one more convolution of 64 and pool",
    claims=(accuracy(84.0),),
)
