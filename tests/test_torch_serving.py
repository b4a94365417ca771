"""PyTorch answers each request for itself, as JAX does; skipped where PyTorch is not installed."""

import numpy as np
import pytest

from suite.case import Case
from suite.data import batches as data

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
TorchServing = pytest.importorskip("suite.programs.torch_program").TorchServing
Control = pytest.importorskip("suite.controls._base").Control

BACKENDS = ["cpu", *(["gpu"] if torch.cuda.is_available() else [])]
WAYS = [(b, v) for b in BACKENDS for v in ("plain", *(("graph",) if b == "gpu" else ()))]


def pictures(rng, examples):
    return {"images": rng.random((examples, 2, 2, 3), np.float32)}


def control():
    """A network of one layer on pictures of two by two pixels."""

    def loss(model, batch):
        return torch.softmax(model(batch["images"].flatten(1)), 1).amax(1).mean()

    return Control(model=lambda: torch.nn.Linear(12, 5), loss=loss, draw=pictures)


def served(backend, variant):
    case = Case(workload="tiny", backend=backend, scope="serve", batch=1, data="random", variant=variant,
                implementation="torch")  # fmt: skip
    program = TorchServing(control(), case)
    program.initialise(0)
    program.put(data.drawn(pictures, 1, 6, seed=0))
    program.lower()
    program.compile()
    return program


@pytest.mark.parametrize(("backend", "variant"), WAYS)
def test_each_request_has_its_own_answer_in_whatever_order(backend, variant):
    program = served(backend, variant)
    alone = [program.answer(program.ask(index)) for index in range(6)]
    assert len(set(alone)) == 6
    pending = [(index, program.ask(index)) for index in (5, 0, 3, 3, 1)]
    assert [program.answer(one) for _, one in reversed(pending)] == [alone[index] for index, _ in reversed(pending)]
    program.ask(0)
    program.chain(1)
    program.block()
    assert program.loss() == pytest.approx(alone[0], rel=1e-6)
