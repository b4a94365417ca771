"""Threads of the CPU side and the layout of pictures in PyTorch: what is timed, what is refused, what runs."""

import factory
import numpy as np
import pytest
from test_measure import answered, offer

PICTURES = (factory.description("mnist_mlp", family="convolution"),)


def test_each_number_of_threads_is_a_case_and_all_cores_have_no_number():
    found = answered(offer("cpu"), threads=(1, 2, 4), scopes=("step",), workloads=("mnist_mlp",)).cases
    assert [case.threads for case in found] == [1, 2, None]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            {"threads": (8,)},
            "--threads 8 asked for, this process may use 4 cores; choose at most that many",
        ),
        (
            {"layouts": ("contiguous",)},
            "--layout asked for without implementation torch; add --implementation torch or leave it out",
        ),
        (
            {"layouts": ("contiguous",), "implementations": ("jax", "torch")},
            "--layout contiguous asked for, the batches of mnist_mlp have no pictures; leave it out",
        ),
    ],
)
def test_what_cannot_be_timed_is_refused(asked, words):
    with pytest.raises(ValueError, match=r"asked for") as refused:
        answered(offer("cpu"), workloads=("mnist_mlp",), **asked)
    assert str(refused.value) == words


def test_threads_are_of_the_cpu_side():
    with pytest.raises(ValueError, match=r"^--threads asked for without backend cpu; add"):
        answered(offer("cpu", "gpu"), factory.HOST, backends=("gpu",), threads=(2,))


def test_a_layout_is_a_case_of_pytorch_alone():
    made = offer("cpu", workloads=PICTURES)
    layouts = ("channels-last", "contiguous")
    found = answered(made, layouts=layouts, implementations=("jax", "torch"), scopes=("step",)).cases
    assert {c.layout for c in found if c.implementation == "jax"} == {"channels-last"}
    assert {c.layout for c in found if c.implementation == "torch"} == set(layouts)


@pytest.mark.parametrize(("layout", "moved"), [("channels-last", False), ("contiguous", True)])
def test_pictures_and_kernels_lie_in_the_layout_asked_for(layout, moved):
    torch = pytest.importorskip("torch")
    from suite import controls
    from suite.programs.torch_program import TorchProgram

    case = factory.record("catdog_cnn_base", batch=4, implementation="torch", backend="cpu", layout=layout).case
    program = TorchProgram(controls.load("catdog_cnn_base"), case)
    program.initialise(0)
    (batch,) = (program._tensor(np.zeros((4, 64, 64, 3), np.float32)) for _ in range(1))
    assert batch.is_contiguous() == moved
    assert batch.is_contiguous(memory_format=torch.channels_last) != moved
    kernels = [weights for weights in program._model.parameters() if weights.ndim == 4 and weights.shape[1] > 1]
    assert all(weights.is_contiguous() == moved for weights in kernels)
