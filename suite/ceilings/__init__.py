"""The ceilings of a machine, one kind of work a file, with the contract of a model."""

from collections.abc import Callable
from functools import partial

from suite import discovery
from suite.workload import Source, Workload

names = partial(discovery.names, __path__)
load: Callable[[str], Workload] = discovery.loader(__name__, "ceiling", "WORKLOAD")
SOURCE = Source(  # of ceilings: they are the project's own, their idea is not
    author="Williams, Waterman and Patterson",
    title="Roofline: An Insightful Visual Performance Model for Multicore Architectures",
    year=2009,
    address="https://doi.org/10.1145/1498765.1498785",
    place="the roof, measured in place of the vendor's numbers",
)
