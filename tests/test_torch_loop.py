"""PyTorch's loop as written takes the eager step with the loader's batches, in order, epoch after epoch."""

import numpy as np
import pytest

from suite import controls
from suite.case import Case
from suite.programs import load

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
TorchProgram = pytest.importorskip("suite.programs.torch_program").TorchProgram
TorchLoop = pytest.importorskip("suite.programs.torch_loop").TorchLoop
BATCH = 4


def sets(count=3):
    rng = np.random.default_rng(0)
    labels = np.eye(10, dtype=np.float32)
    return [
        {"images": rng.random((BATCH, 32, 32, 3), np.float32), "labels": labels[rng.integers(0, 10, BATCH)]}
        for _ in range(count)
    ]


def program(kind, scope, variant, **changes):
    name = changes.pop("workload", "cifar10_mlp")
    case = Case(
        workload=name, backend="cpu", scope=scope, batch=BATCH, implementation="torch", variant=variant, **changes
    )
    made = kind(controls.load(name), case)
    made.initialise(0)
    made.put(sets())
    made.lower()
    made.compile()
    return made


@pytest.mark.parametrize("variant", ["loop", "loop-wait"])
def test_a_loop_takes_the_eager_steps_over_several_epochs(variant):
    loop, eager = program(TorchLoop, "written", variant), program(TorchProgram, "step", "plain")
    for made in (loop, eager):
        made.chain(7)
    assert loop.loss() == pytest.approx(eager.loss(), rel=1e-5)


@pytest.mark.parametrize("variant", ["loop", "loop-wait"])
def test_a_chain_goes_on_where_the_last_one_ended(variant):
    once, twice = (program(TorchLoop, "written", variant) for _ in range(2))
    once.chain(5)
    twice.chain(2)
    twice.chain(3)
    assert once.loss() == twice.loss()


def test_losses_are_added_up_on_the_device_or_read_each_step():
    added, read = program(TorchLoop, "written", "loop"), program(TorchLoop, "written", "loop-wait")
    for made in (added, read):
        made.chain(4)
    assert isinstance(added._total, torch.Tensor)
    assert isinstance(read._total, float)
    assert float(added._total) == pytest.approx(read._total, rel=1e-6)
    assert read._total > read.loss()


@pytest.mark.parametrize("layout", ["contiguous", "channels-last"])
def test_pictures_reach_the_network_in_the_layout_of_the_case(layout, monkeypatch):
    loop = program(TorchLoop, "written", "loop", workload="cifar10_resnet63", layout=layout)
    seen = []
    monkeypatch.setattr(loop, "_once", lambda batch: seen.append(batch["images"]) or torch.zeros([]))
    loop.chain(1)
    assert seen[0].shape == (BATCH, 3, 32, 32)
    assert np.array_equal(seen[0].permute(0, 2, 3, 1).numpy(), sets()[0]["images"])
    examples = loop._loader.dataset.tensors[0]
    assert examples.is_contiguous() == (layout == "contiguous")


def test_a_loop_has_a_digest_of_its_own_and_leaves_that_of_the_step():
    digests = {program(TorchLoop, "written", variant).program_digest() for variant in ("loop", "loop-wait")}
    assert len(digests | {program(TorchProgram, "step", "plain").program_digest()}) == 3


@pytest.mark.parametrize("examples", [12, 10])
def test_a_whole_run_takes_each_example_once_an_epoch_and_its_validation_changes_nothing(examples):
    whole = {name: np.concatenate([one[name] for one in sets()])[:examples] for name in ("images", "labels")}
    case = Case(workload="cifar10_mlp", backend="cpu", scope="run", batch=BATCH, implementation="torch",
                variant="loop-wait")  # fmt: skip
    run = load.of_this_host(case)[0]
    run.initialise(0)
    run.prepare(whole)
    run.lower()
    run.compile()
    seen = []
    step = run._once
    run._once = lambda batch: seen.append(len(batch["labels"])) or step(batch)
    run.train(whole, np.arange(examples))
    before = [parameter.detach().clone() for parameter in run._model.parameters()]
    run.evaluate(whole)
    assert sum(seen) == examples
    assert all(torch.equal(*pair) for pair in zip(before, run._model.parameters(), strict=True))
    assert run._model.training
