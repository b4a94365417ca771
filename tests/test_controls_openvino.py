"""OpenVINO as a control: PyTorch's network and answer, in float32, with the cores that the case grants."""

import dataclasses
import importlib
import sys
import types
from contextlib import nullcontext

import msgspec
import numpy as np
import pytest

from suite import controls, models
from suite.analysis.capabilities import MachineCapabilities
from suite.case import Case
from suite.driver import validation
from suite.driver.cases import default_cases
from suite.driver.request import Request
from suite.variants import variants_of
from suite.worker.serving import IN_FLIGHT

NAME = "serve_mobilenet_v2"
CASE = Case(workload=NAME, backend="cpu", scope="step", batch=1, data="random", implementation="openvino")
SERVING = msgspec.structs.replace(CASE, scope="serve")


@dataclasses.dataclass
class Control:
    """An inference without a network, as far as the program reads a control."""

    model: object = lambda: types.SimpleNamespace(eval=lambda: "network")
    loss: object = None
    optimizer: object = None
    served: object = None


class InferRequest:
    """One whose answer is the first number of its picture, once it has run."""

    def __init__(self):
        self.ran, self.tensor, self.answer = 0, None, None

    def set_input_tensor(self, place, tensor):
        self.tensor = tensor

    def infer(self):
        self.ran, self.answer = self.ran + 1, self.tensor.flat[0]

    start_async = infer

    def wait(self):
        assert self.answer is not None

    def get_output_tensor(self, place):
        return types.SimpleNamespace(data=np.array(self.answer, np.float32))


class Compiled:
    def __init__(self, options):
        self.options, self.requests = options, []

    def create_infer_request(self):
        self.requests.append(InferRequest())
        return self.requests[-1]

    def get_property(self, name):
        return ["CPU"] if name == "EXECUTION_DEVICES" else self.options.get(name, "its own choice")


@pytest.fixture
def drive(monkeypatch):
    """Make a program with modules in the place of OpenVINO and PyTorch."""
    engine, torch = types.ModuleType("openvino"), types.ModuleType("torch")
    port = types.SimpleNamespace(get_node=lambda: types.SimpleNamespace(set_partial_shape=lambda shape: None))
    graph = types.SimpleNamespace(inputs=[port], validate_nodes_and_infer_types=lambda: None)
    engine.Type, engine.PartialShape = type(None), tuple
    engine.Tensor = lambda array, shared_memory: array
    engine.convert_model = lambda module, example_input: graph
    engine.Core = lambda: types.SimpleNamespace(compile_model=lambda graph, device, options: Compiled(options))
    torch.nn = types.SimpleNamespace(Module=object)
    torch.Tensor = object
    torch.no_grad, torch.manual_seed, torch.from_numpy = nullcontext, lambda seed: None, lambda array: array
    monkeypatch.setitem(sys.modules, "openvino", engine)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.delitem(sys.modules, "suite.programs.openvino_program", raising=False)
    monkeypatch.delitem(sys.modules, "suite.programs.torch_program", raising=False)

    def program(case=CASE, kind="OpenvinoProgram", control=None):
        module = importlib.import_module("suite.programs.openvino_program")
        made = getattr(module, kind)(control or Control(), case)
        made.initialise(0)
        made.put([{"images": np.full((1, 2, 2, 3), index, np.float32)} for index in range(6)])
        made.lower()
        made.compile()
        return made

    yield program
    sys.modules.pop("suite.programs.openvino_program", None)


def test_a_gpu_is_refused(drive):
    with pytest.raises(RuntimeError, match="backend 'gpu' asked for, OpenVINO runs on 'cpu' here"):
        drive(msgspec.structs.replace(CASE, backend="gpu"))


def test_a_network_that_is_trained_is_refused(drive):
    with pytest.raises(LookupError, match=f"'{NAME}' is trained, OpenVINO only infers"):
        drive(control=Control(optimizer=object()))


def test_it_computes_in_float32_whatever_the_processor_could_do(drive):
    assert drive()._compiled.options["INFERENCE_PRECISION_HINT"] == "f32"
    assert drive(SERVING, "OpenvinoServing")._compiled.options["INFERENCE_PRECISION_HINT"] == "f32"


def test_asked_threads_are_given_in_full_and_otherwise_it_chooses_among_the_granted_cores(drive, monkeypatch):
    drive()
    monkeypatch.setattr(sys.modules["suite.programs.openvino_program"], "granted_cores", lambda: 16)
    free = drive()._compiled.options
    assert (free["INFERENCE_NUM_THREADS"], "ENABLE_HYPER_THREADING" in free) == (16, False)
    told = drive(msgspec.structs.replace(CASE, threads=4))
    assert (told._compiled.options["INFERENCE_NUM_THREADS"], told._compiled.options["ENABLE_HYPER_THREADING"]) == (
        4,
        True,
    )
    assert told.settings()["openvino_inference_num_threads"] == 4
    assert told.platform() == "cpu"


def test_steps_rotate_through_the_batches_and_each_is_inferred(drive):
    program = drive()
    program.chain(8)
    assert (program._request.ran, program.loss()) == (8, 1.0)


def test_each_request_has_its_own_answer_and_no_more_are_made_than_are_under_way(drive):
    program = drive(SERVING, "OpenvinoServing")
    pending = [program.ask(index) for index in range(IN_FLIGHT)]
    assert [program.answer(one) for one in reversed(pending)] == [3.0, 2.0, 1.0, 0.0]
    for index in (5, 4):
        assert program.answer(program.ask(index)) == index
    assert len(program._compiled.requests) == 1 + IN_FLIGHT  # one is that of steps
    assert program._compiled.options["PERFORMANCE_HINT_NUM_REQUESTS"] == IN_FLIGHT


def test_it_is_timed_on_the_cpu_alone_in_steps_and_requests():
    chosen = [models.load(NAME).description]
    here = MachineCapabilities(backends=("cpu", "gpu"), cores=2, gpus=1, allocator="tuned-malloc")
    asked = Request(implementations=("openvino",), scopes=("step", "serve", "cold", "input"))
    assert {(case.backend, case.scope) for case in default_cases(asked, chosen, here)} == {
        ("cpu", "step"), ("cpu", "serve")
    }  # fmt: skip
    assert variants_of("openvino", "gpu") == ()
    with pytest.raises(LookupError, match="variant 'compile' asked for, 'openvino' on cpu has: plain"):
        validation.check_variants(("compile",), ("openvino",), ("cpu",))


# With OpenVINO itself


@pytest.fixture
def engine():
    """PyTorch beside OpenVINO on one thread: OpenVINO pins the calling thread, and PyTorch's would share its core."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
    pytest.importorskip("openvino", reason="OpenVINO is not installed here")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield importlib.import_module("suite.programs.openvino_program").OpenvinoProgram
    torch.set_num_threads(threads)


def lively(name, **changes):
    """Return a control whose values carry the picture to the logits: with torch's own a deep network's fade."""
    import torch

    control = controls.load(name)

    def model():
        network = control.model()
        for module in network.modules():
            if isinstance(module, torch.nn.Conv2d):
                torch.nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        return network

    return dataclasses.replace(control, model=model, **changes)


def inferred(program, batches, seed=0):
    """Return the outputs of a program for each batch."""
    program.initialise(seed)
    program.put(batches)
    program.lower()
    program.compile()
    found = []
    for index in range(len(batches)):
        program._hand(program._request, index)
        program._request.infer()
        found.append(program._request.get_output_tensor(0).data.copy())
    return found


@pytest.mark.filterwarnings("ignore")  # the tracer's own
@pytest.mark.parametrize(
    "network", ["serve_mobilenet_v2", "serve_nasnet_large", "serve_nasnet_mobile", "serve_resnet152", "serve_resnet50"]
)
def test_its_logits_are_those_of_pytorch_from_equal_weights_and_tell_pictures_and_seeds_apart(engine, network):
    import torch

    control = lively(network, loss=lambda model, batch: model(batch["images"]))
    batches = [control.draw(np.random.default_rng(seed), 1) for seed in range(2)]
    case = msgspec.structs.replace(CASE, workload=network)
    found = inferred(engine(control, case), batches)
    torch.manual_seed(0)
    served = control.served(control.model().eval())
    with torch.no_grad():
        wanted = [served(torch.from_numpy(batch["images"]).permute(0, 3, 1, 2)).numpy() for batch in batches]
    (other,) = inferred(engine(control, case), batches[:1], seed=1)
    scale = np.abs(wanted[0]).max()
    assert found[0].shape == wanted[0].shape == (1, 1000)
    assert max(np.abs(mine - theirs).max() for mine, theirs in zip(found, wanted, strict=True)) < 1e-4 * scale
    assert min(np.abs(found[0] - found[1]).max(), np.abs(found[0] - other).max()) > 1e-3 * scale


@pytest.mark.filterwarnings("ignore")
def test_its_answer_is_that_of_pytorch_s_program(engine):
    from suite.programs.torch_program import TorchProgram

    control, answers = lively(NAME), []
    batch = control.draw(np.random.default_rng(0), 1)
    for kind in (TorchProgram, engine):
        program = kind(control, CASE)
        program.initialise(0)
        program.put([batch])
        program.lower()
        program.compile()
        program.chain(1)
        answers.append(program.loss())
    assert answers[1] == pytest.approx(answers[0], rel=1e-4)
    assert answers[0] > 1.5e-3  # not all classes are alike
