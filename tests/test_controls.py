"""Every control in PyTorch is the documented network, can be driven as a program and answers requests."""

import subprocess
import sys

import numpy as np
import pytest
import reference
import synthetic

from suite import controls
from suite.case import Case
from suite.data import batches as data
from suite.programs import load

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
TorchProgram = pytest.importorskip("suite.programs.torch_program").TorchProgram


@pytest.fixture(params=controls.names())
def name(request):
    return request.param


def batches(name, examples=8):
    """Return two batches: drawn, or such that each class has a picture of its own."""
    control = controls.load(name)
    if synthetic.drawn(control, np.random.default_rng(0), 1) is not None:
        return [synthetic.drawn(control, np.random.default_rng(seed), examples) for seed in range(2)]
    shape = synthetic.SIDES[reference.of(name)["dataset"]]
    rng = np.random.default_rng(0)
    prototypes = rng.integers(0, 256, (10, *shape), dtype=np.uint8)
    drawn = [rng.integers(0, 10, examples) for _ in range(2)]
    return [synthetic.pictured(control.preparation, prototypes[labels], labels) for labels in drawn]


def test_every_control_has_the_documented_parameters(name):
    counts = reference.of(name)["counts"]
    network = controls.load(name).model()
    trainable = sum(p.numel() for p in network.parameters())
    moving = sum(b.numel() for key, b in network.named_buffers() if "running" in key)
    assert trainable == counts["trainable_parameters"]
    assert trainable + moving == counts["parameters"]


def test_folding_the_norms_changes_no_answer():
    control = controls.load("serve_mobilenet_v2")
    torch.manual_seed(0)
    network = control.model().double().eval()
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            for values in (module.weight, module.bias, module.running_mean, module.running_var):
                torch.nn.init.uniform_(values, 0.7, 1.3)
    pictures = torch.rand(1, 3, 224, 224, dtype=torch.float64)
    with torch.no_grad():
        plain = network(pictures)
        network = control.served(network)
        assert not any(isinstance(module, torch.nn.BatchNorm2d) for module in network.modules())
        assert torch.allclose(network(pictures), plain, rtol=1e-10)


@pytest.mark.parametrize(
    ("precision", "products", "convolutions"),
    [("float32-highest", False, False), ("tf32", True, True), ("framework-default", False, True)],
)
def test_a_case_of_the_frameworks_default_leaves_tf32_as_pytorch_has_it(precision, products, convolutions):
    torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = False, True  # as a fresh process has it
    case = Case(workload="mnist_mlp", backend="cpu", scope="step", batch=8, implementation="torch", precision=precision)
    program, _ = load.of_this_host(case)
    assert torch.backends.cuda.matmul.allow_tf32 is products
    assert torch.backends.cudnn.allow_tf32 is convolutions
    settings = program.settings()
    assert settings["torch_allow_tf32"] is convolutions
    assert settings.get("torch_allow_tf32_products") is (products if precision == "framework-default" else None)


def test_a_fresh_pytorch_convolves_in_tf32_and_multiplies_in_float32():
    told = "import torch; print(torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32)"
    assert subprocess.check_output([sys.executable, "-c", told], text=True).split() == ["False", "True"]


def test_the_loss_of_every_control_falls_on_learnable_data(name):
    if controls.load(name).optimizer is None:
        pytest.skip("an inference learns nothing")
    steps = reference.of(name)["learns"].get("torch")
    if steps is None:
        pytest.skip("its loss need not fall; its step is compared in parity")
    program = TorchProgram(controls.load(name), Case(workload=name, backend="cpu", scope="step", batch=8))
    program.initialise(0)
    program.put(batches(name))
    program.lower()
    program.compile()
    program.chain(1)
    program.block()
    first = program.loss()
    program.chain(steps)
    program.block()
    assert program.loss() < 0.7 * first


@pytest.mark.filterwarnings("ignore")  # the compiler's own
@pytest.mark.parametrize("network", ["catdog_cnn_base", "cifar10_mlp", "cifar10_tf_cnn"])
def test_a_compiled_step_with_its_optimizer_takes_the_losses_of_the_eager_one(network):
    """Adam, descent and averaged descent, of networks that drop nothing: what is dropped differs."""
    losses = {}
    for variant in ("plain", "compile"):
        case = Case(workload=network, backend="cpu", scope="step", batch=8, variant=variant)
        program = TorchProgram(controls.load(network), case)
        program.initialise(0)
        program.put(batches(network))
        program.lower()
        program.compile()
        losses[variant] = []
        for _ in range(6):
            program.chain(1)
            losses[variant].append(program.loss())
        assert all(p.grad is None for p in program._model.parameters())  # or the next step would add to them
    assert losses["compile"] == pytest.approx(losses["plain"], rel=1e-4)
    assert losses["plain"][0] != losses["plain"][2]


def test_the_arrays_are_not_copied_on_their_way_to_the_step(name):
    program = TorchProgram(controls.load(name), Case(workload=name, backend="cpu", scope="step", batch=8))
    (batch, _) = batches(name)
    program.put([batch])
    for key, array in batch.items():
        assert program._batches[0][key].data_ptr() == array.ctypes.data


def test_a_gpu_that_is_not_there_is_an_error(name):
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(RuntimeError, match="backend 'gpu' asked for"):
        TorchProgram(controls.load(name), Case(workload=name, backend="gpu", scope="step", batch=8))


def test_an_unknown_control_is_named_with_all_there_are():
    with pytest.raises(LookupError, match="no control for workload 'nothing'; there are: "):
        controls.load("nothing")


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
