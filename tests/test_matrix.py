"""The matrix of models and machines: a shade for each value, and grey with a reason for what has none."""

import re

import factory
import msgspec

from suite.report.parts.facts import Facts
from suite.report.parts.matrix import SHADES, matrices
from suite.results.records.store import sealed

PLAIN = msgspec.structs.replace(factory.PLAIN, cpu_vendor="GenuineIntel", cpu_family=6, cpu_number=85)


def _squares(records):
    found = matrices(Facts(records=records))
    return [
        {(model, machine): one for model, row in zip(m.models, m.rows, strict=True)
         for machine, one in zip(m.machines, row, strict=True)}
        for m in found
    ]  # fmt: skip


def test_a_larger_speed_up_has_a_darker_shade_and_the_largest_the_last():
    names = ("mnist_mlp", "cifar10_mlp", "mnist_cnn")
    speedups, _ = _squares(factory.on_hosts(factory.campaign(names)))
    shades = [speedups[name, "test-gpu-16-cores"].shade for name in names]
    assert shades == sorted(shades)
    assert (shades[0], shades[-1]) == (0, SHADES - 1)
    assert [speedups[name, "test-gpu-16-cores"].text for name in names] == ["50.0x", "100x", "150x"]


def test_of_two_allocators_the_faster_counts_whichever_was_measured_last():
    slow = factory.record("mnist_mlp", "cpu", [0.020] * 3, PLAIN, allocator="default-malloc")
    fast = factory.record("mnist_mlp", "cpu", [0.010] * 3, PLAIN)
    for records in ([slow, fast], [fast, slow]):
        (times,) = _squares(records)
        assert times["mnist_mlp", PLAIN.slug].sort < 0.011


def test_a_value_that_may_not_be_quoted_stands_in_brackets_with_why():
    speedups, times = _squares(factory.campaign())
    for square in (*speedups.values(), *times.values()):
        assert re.fullmatch(r"\(.*\)", square.text)
        assert square.remark == "1 host of 3"


def test_what_failed_and_what_was_not_measured_is_grey_and_says_so():
    failed = sealed(
        msgspec.structs.replace(
            factory.record("mnist_mlp", "cpu", machine=PLAIN), runs=(), reason="out of memory", digest=""
        )
    )
    speedups, times = _squares([*factory.on_hosts(factory.campaign()), failed])
    assert not any(machine == PLAIN.slug for _, machine in speedups)  # it has no GPU
    one, other = times["mnist_mlp", PLAIN.slug], times["cifar10_mlp", PLAIN.slug]
    assert (one.shade, one.text, one.remark) == (None, "failed", "out of memory")
    assert (other.shade, other.remark) == (None, "not measured")


def test_a_value_counts_though_an_earlier_record_failed():
    failed = sealed(
        msgspec.structs.replace(factory.record("mnist_mlp", "cpu"), runs=(), reason="out of memory", digest="")
    )
    _, times = _squares([failed, *factory.on_hosts(factory.campaign())])
    assert times["mnist_mlp", "test-gpu-16-cores"].shade is not None


def test_without_a_value_there_is_no_matrix_and_hostile_reasons_are_text():
    assert matrices(Facts(records=())) == []
    failed = sealed(
        msgspec.structs.replace(
            factory.record("mnist_mlp", "cpu", machine=PLAIN), runs=(), reason="<b>x</b>", digest=""
        )
    )
    page = factory.pages([*factory.on_hosts(factory.campaign()), failed])["coverage.md"]
    assert "<b>x" not in page
    assert page.count('class="none"') == 2
