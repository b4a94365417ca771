"""ResNet-152 answering one photograph at a time.

Source: Marko Kovacevic, "How GPU can Powerfully Speed Up Training in Deep Learning", 2020, after Microsoft's "GPUs vs
    CPUs for deployment of deep learning models", 2018; network of He et al., "Deep Residual Learning for Image
    Recognition" (2015), as keras.applications has it.
Reported: 804 %, 3 GPU nodes against 5 CPU nodes, for one network of five that is not named.
Differs: one machine, no web service; random weights; batch norms folded before the step.
"""

from functools import partial

from suite.models import _serving
from suite.models.serve_resnet50 import ResNet, forward_flop

BLOCKS = (3, 8, 36, 3)

WORKLOAD = _serving.workload(
    name="serve_resnet152",
    title="ResNet-152, inference",
    model=partial(ResNet, blocks=BLOCKS),
    forward=forward_flop(BLOCKS),
    parameters=60_419_944,
    trainable=60_268_520,
    cpu_kernels="onednn-alone",
)
