"""A committed choice holds for its kind of machine, or for all that have none of their own."""

from suite.results.records.choices import Choices, Threads, Way, choices, kind

USUAL = Way(workload="mnist_mlp", backend="gpu", on="", implementation="torch", variant="graph")
H100 = Way(workload="mnist_mlp", backend="gpu", on="NVIDIA H100", implementation="torch", variant="compile")
CPU = Way(workload="mnist_mlp", backend="cpu", on="4 cores", implementation="keras")
FEWER = Threads(workload="mnist_mlp", on="4 cores", implementation="jax", threads=2)
CHOSEN = Choices(baselines=(H100, USUAL, CPU), threads=(FEWER,))


def test_a_kind_is_the_granted_cores_or_the_gpu_as_a_machine_s_name_begins():
    assert (kind("cpu", 1), kind("cpu", 2), kind("cpu", 4, "a, b")) == ("1 core", "2 cores", "4 cores")
    assert kind("gpu", 4, "NVIDIA H100, 16 cores, 2 GPUs") == "NVIDIA H100"


def test_a_baseline_is_that_of_the_kind_of_machine_before_that_of_all_others():
    assert CHOSEN.baseline("mnist_mlp", "gpu", 16, "NVIDIA H100, 16 cores") == H100
    assert CHOSEN.baseline("mnist_mlp", "gpu", 16, "NVIDIA A100, 16 cores") == USUAL
    assert CHOSEN.baseline("mnist_mlp", "cpu", 4, "NVIDIA H100, 4 cores") == CPU
    assert CHOSEN.baseline("mnist_mlp", "cpu", 8, "NVIDIA H100, 8 cores") is None
    assert CHOSEN.baseline("cifar10_mlp", "gpu", 16, "NVIDIA H100") is None


def test_threads_are_those_of_workload_implementation_and_cores():
    assert CHOSEN.threads_of("mnist_mlp", "jax", 4) == 2
    assert CHOSEN.threads_of("mnist_mlp", "torch", 4) is None
    assert CHOSEN.threads_of("cifar10_mlp", "jax", 4) is None
    assert CHOSEN.threads_of("mnist_mlp", "jax", 8) is None


def test_the_committed_choices_are_read_and_leave_out_what_is_usual():
    assert choices().baselines
    assert Choices().baselines == Choices().threads == ()
    assert (CPU.variant, CPU.layout) == ("plain", "channels-last")
