"""The source of the ceilings: this project."""

from suite.workload import Source

SOURCE = Source(
    author="Williams, Waterman and Patterson",
    title="Roofline: An Insightful Visual Performance Model for Multicore Architectures",
    year=2009,
    address="https://doi.org/10.1145/1498765.1498785",
    place="the roof, measured in place of the vendor's numbers",
)
