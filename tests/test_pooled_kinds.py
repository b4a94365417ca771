"""What is one kind of machine: by the CPU's model, by name where it hides the model, by GPUs on their side alone."""

import factory
import pytest
from msgspec.structs import replace

from suite.results.pooled.grouping import kind_of

KNOWN = replace(factory.HOST, cpu_vendor="GenuineIntel", cpu_family=6, cpu_number=207)
OTHER_GPU = (replace(factory.H100, name="NVIDIA H200"),)


@pytest.mark.parametrize(
    ("change", "cpu", "gpu"),
    [
        ({"gpus": OTHER_GPU, "name": "h200, 16 cores"}, True, False),
        ({"memory_bytes": 2**38}, True, True),
        ({"name": "another name"}, True, True),
        ({"cpu_number": 143}, False, False),
        ({"cores": 8}, False, False),
        ({"virtual": True}, False, False),
        ({"gpus": (replace(factory.H100, power_limit_watts=350.0),)}, True, False),
    ],
)
def test_a_cpu_of_known_model_is_one_kind_whatever_stands_beside_it(change, cpu, gpu):
    other = replace(KNOWN, **change)
    assert (kind_of(KNOWN, "cpu") == kind_of(other, "cpu"), kind_of(KNOWN, "gpu") == kind_of(other, "gpu")) == (
        cpu,
        gpu,
    )


def test_cpus_that_hide_their_model_are_one_kind_by_the_machines_name_alone():
    nameless = replace(factory.HOST, cpu_model="AMD EPYC")
    assert kind_of(nameless, "cpu") == kind_of(replace(nameless, memory_bytes=1), "cpu")
    assert kind_of(nameless, "cpu") != kind_of(replace(nameless, name="another, 16 cores"), "cpu")
    assert kind_of(nameless, "cpu") != kind_of(KNOWN, "cpu")
