"""How many cores would equal the GPU: never where threads stop helping, and what a core is."""

import math

import factory
import msgspec
import pytest
from factory import of_one_machine

from suite.analysis import cores
from suite.analysis.capabilities import MachineCapabilities
from suite.experiments import threads

ALIKE = (1.0, 1.001, 0.999)
COUNTS = (1, 2, 4, 8, None)


def records(times, gpu=None, hosts=ALIKE, machine=factory.HOST):
    """Steps by threads, None for all sixteen, and the GPU's."""
    made = [
        factory.record("mnist_mlp", "cpu", [seconds * noise for noise in ALIKE], machine, threads=count)
        for count, seconds in times.items()
    ]
    if gpu is not None:
        made.append(factory.record("mnist_mlp", "gpu", [gpu * noise for noise in ALIKE], machine))
    return factory.on_hosts(made, hosts)


def law(fixed, divided, counts=COUNTS):
    return {count: fixed + divided / (count or 16) for count in counts}


def read(*args, **changes):
    reading = threads.read(of_one_machine(records(*args, **changes)))
    assert reading is not None
    return reading


def test_the_cores_that_equal_the_gpu_have_an_interval_and_a_condition():
    reading = read(law(0.001, 0.08), gpu=0.0021)
    assert " It would take 73 cores (7" in reading.answers[0]
    assert reading.answers[0].endswith(
        ") to equal the GPU, with 2.11 ms a step, if threads go on to help as they do here."
    )
    (row,) = reading.tables[1].rows
    assert [cell.text for cell in row[:5]] == ["mnist_mlp", "2.11 ms", "6.02 ms", "16", "1.00 ms"]
    assert row[6].text == "73"
    assert [cell.text for cell in row[-2:]] == ["quotable", "3"]


def test_a_number_that_was_timed_needs_no_condition():
    answer = read(law(0.001, 0.08), gpu=0.022).answers[0]
    assert " It takes 4 cores (" in answer
    assert answer.endswith(" to equal the GPU, with 22.1 ms a step.")
    assert " It takes 1 core to equal" in read(law(0.001, 0.08), gpu=0.2).answers[0].replace(" (1)", "")


def test_a_part_that_no_thread_shortens_is_never_won_back():
    reading = read(law(0.005, 0.08), gpu=0.001)
    assert reading.answers[0].endswith(
        " No number of cores equals the GPU: even infinitely many would take 5.02 ms a step, the GPU takes 1.00 ms."
    )
    assert [cell.text for cell in reading.tables[1].rows[0][6:8]] == ["never", "never"]


def test_a_gpu_near_that_part_is_probably_never_equalled():
    answer = read(law(0.005, 0.08), gpu=0.00499).answers[0]
    assert " Probably no number of cores equals the GPU, and at least " in answer


def test_where_more_threads_are_slower_none_equals_a_faster_gpu():
    times = {1: 0.08, 2: 0.04, 4: 0.02, 8: 0.03, None: 0.04}
    assert (
        read(times, gpu=0.01)
        .answers[0]
        .endswith(" No number of cores equals the GPU: more than 4 do not help, and the GPU takes 10.0 ms a step.")
    )
    assert " It takes 2 cores (" in read(times, gpu=0.045).answers[0]


@pytest.mark.parametrize(
    ("times", "gpu"), [({1: 0.08, None: 0.01}, 0.001), (law(0.001, 0.08), None)], ids=["two numbers", "no GPU"]
)
def test_without_three_numbers_or_a_gpu_there_is_no_number_of_cores(times, gpu):
    reading = read(times, gpu)
    assert len(reading.tables) == 1
    assert "equal" not in reading.answers[0]


def test_one_host_alone_gives_no_interval():
    reading = read(law(0.001, 0.08), gpu=0.0021, hosts=(1.0,))
    assert [cell.text for cell in reading.tables[1].rows[0][6:8]] == ["73", "–"]
    assert reading.tables[1].rows[0][-2].text == "open"


def test_threads_that_share_a_core_are_no_part_of_the_law():
    """Eight cores with two threads each: the second threads of them gain nothing here."""
    times, machine = law(0.001, 0.08), msgspec.structs.replace(factory.HOST, threads_per_core=2)
    times[None] = times[8]
    (row,) = read(times, gpu=0.0021, machine=machine).tables[1].rows
    assert row[6].text == "73"
    reading = read(times, gpu=0.0021)
    assert reading.tables[1].rows[0][6].text != "73", "each counts as a core where nothing else is known"


def test_a_number_beyond_the_law_has_its_condition_even_if_so_many_threads_were_timed():
    """Sixteen threads of eight cores take 11 ms here: that 11 cores take 9 ms was not timed."""
    times, machine = law(0.001, 0.08), msgspec.structs.replace(factory.HOST, threads_per_core=2)
    times[None] = times[8]
    assert " It would take 11 cores (" in read(times, gpu=0.009, machine=machine).answers[0]


def test_a_fastest_number_that_is_not_surely_faster_does_not_say_that_more_do_not_help():
    times = law(0.005, 0.08)
    times[None] = 1.0005 * times[8]
    assert "even infinitely many would take" in read(times, gpu=0.001).answers[0]


def test_what_a_core_is_is_said():
    host = msgspec.structs.replace(factory.HOST, threads_per_core=2)
    assert cores.hardware_threads(host) == (
        "These 16 cores are hardware threads, 2 to a core of the processor: 8 have one each, the further ones share "
        "them. The law is that of the former."
    )
    hidden = msgspec.structs.replace(factory.HOST, virtual=True)
    assert cores.hardware_threads(hidden).startswith("This virtual machine does not tell which of its 16 cores share")
    assert cores.hardware_threads(msgspec.structs.replace(hidden, cores=1)) == ""
    assert cores.hardware_threads(msgspec.structs.replace(factory.HOST, threads_per_core=1)) == ""


def test_the_gpu_is_timed_beside_the_threads_where_there_is_one():
    about = (factory.description(),)
    both = threads.cases(about, MachineCapabilities(backends=("cpu", "gpu"), cores=4))
    assert [(case.backend, case.threads) for case in both] == [("cpu", 1), ("cpu", 2), ("cpu", None), ("gpu", None)]


@pytest.mark.parametrize(("value", "words"), [(1.0, "1"), (79.2, "80"), (1234.0, "1,200"), (math.inf, "never")])
def test_a_number_of_cores_is_whole_and_of_two_digits(value, words):
    assert cores.number(value) == words
