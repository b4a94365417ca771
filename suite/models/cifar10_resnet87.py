"""The residual network of cifar10_resnet63 with 14 blocks a stage instead of 10: 87 convolutions.

Source: Hide Inada, "What's the speed difference between running an ML job on GPU vs CPU?", 2019; code in
    hideyukiinada/cifar10 @ e0b573e, keras_29.
Reported: 100 epochs in 5.17 h on a GTX 1080, from which the article extrapolates to 795 h on a Mac mini.
Differs: no augmentation in the timed step; scope `epoch` has it.
"""

from functools import partial

from suite.data.prepare.pictures import Shifted
from suite.models.cifar10_resnet63 import GTX_1080, STEM, Cifar10ResNet, forward_flop, loss
from suite.nn import flop
from suite.nn.augment import RotateShiftFlip
from suite.nn.optimizers import adam
from suite.workload import Claim, Description, Source, Workload

BLOCKS_PER_STAGE = 14
SHIFTED = Shifted()
FORWARD = forward_flop(BLOCKS_PER_STAGE)

WORKLOAD = Workload(
    description=Description(
        name="cifar10_resnet87",
        title="CIFAR-10, residual network of 87 convolutions",
        family="residual",
        source=Source(
            author="Hide Inada",
            title="What's the speed difference between running an ML job on GPU vs CPU?",
            year=2019,
            address="https://github.com/hideyukiinada/cifar10",
            place="keras_29 @ e0b573e and its accuracy log",
            way="fit",
        ),
        claims=(
            Claim(
                metric="100_epochs",
                definition="100 epochs of training with augmentation, wall clock",
                unit="h",
                gpu_device=GTX_1080,
                gpu_value=5.17,
            ),
        ),
        differs=(
            "The source turns, shifts and flips its pictures; the timed step has them as they are.",
            "Keras 2.2 scales the moving variance by n/(n - 1.001); here, as in Keras 3, it is not scaled. It takes no "
            "part in training.",
        ),
        inferred=False,
        dataset="cifar10",
        preprocessing="pixels / 255, labels one-hot, no augmentation",
        optimizer="Adam, learning rate 0.001, beta 0.9 and 0.999, epsilon 1e-7 as Keras places it",
        loss="categorical cross-entropy",
        batch=64,
        parameters=21_417_610,
        trainable_parameters=21_391_626,
        forward_flop_per_example=FORWARD,
        flop_per_example=flop.training(FORWARD, STEM),
        examples_per_epoch=50_000,
        augmented=True,
    ),
    model=partial(Cifar10ResNet, blocks_per_stage=BLOCKS_PER_STAGE),
    loss=loss,
    optimizer=adam,
    gpu_graph="whole",
    gpu_layout="channels-first",
    preparation=SHIFTED,
    augment=RotateShiftFlip(degrees=SHIFTED.degrees, pixels=SHIFTED.pixels),
    learning="halves",
)
