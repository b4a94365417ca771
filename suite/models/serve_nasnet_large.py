"""NASNet-A (6 @ 4032) answering one photograph at a time.

Source: Marko Kovacevic, "How GPU can Powerfully Speed Up Training in Deep Learning", 2020, after Microsoft's "GPUs vs
    CPUs for deployment of deep learning models", 2018; network of Zoph et al., "Learning Transferable Architectures
    for Scalable Image Recognition" (2018), figure 4, as keras.applications has it.
Reported: 804 %, 3 GPU nodes against 5 CPU nodes, for one network of five that is not named.
Differs: one machine, no web service; random weights; batch norms folded before the step.
"""

from functools import partial

from suite.models import _serving
from suite.models.serve_nasnet_mobile import NasNet, forward_flop

SIDE, STEM, FILTERS, CELLS = 331, 96, 168, 6

WORKLOAD = _serving.workload(
    name="serve_nasnet_large",
    title="NASNet-A large, inference",
    model=partial(NasNet, stem=STEM, filters=FILTERS, cells=CELLS, skips=True),
    forward=forward_flop(SIDE, STEM, FILTERS, CELLS, skips=True),
    parameters=88_949_818,
    trainable=88_753_150,
    side=SIDE,
    cpu_kernels="onednn-alone",
)
