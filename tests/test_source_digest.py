"""The digest of a baseline's source: of what its step reaches, wherever that lies."""

import re
from pathlib import Path

import pytest

from suite.case import Case
from suite.programs import source_digest

ROOT = Path(__file__).parent.parent
DRIVERS = [
    ("torch_program", "TorchProgram", "controls", "mnist_mlp"),
    ("torch_program", "TorchServing", "controls", "serve_resnet50"),
    ("keras_program", "KerasProgram", "controls_keras", "cifar10_resnet87"),
    ("xgboost_program", "XgboostProgram", "controls_xgboost", "gbdt_mortgage"),
    ("openvino_program", "OpenvinoServing", "controls", "serve_resnet50"),
]


def sources():
    """Every module of the package with its source, by name."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): path.read_text()
        for path in (ROOT / "suite").rglob("*.py")
    }


def start(driver, kind, controls, workload):
    return [(f"suite.programs.{driver}", kind), (f"suite.{controls}.{workload}", "CONTROL")]


def digest_of(given, texts):
    return source_digest.digest(start(*given), texts.get)


def changed(texts, module, before, after):
    assert before in texts[module]
    return texts | {module: texts[module].replace(before, after)}


@pytest.fixture(scope="module")
def texts():
    return sources()


@pytest.mark.parametrize("given", DRIVERS)
def test_moved_lines_docstrings_comments_and_annotations_leave_it_as_it_is(texts, given):
    def reworded(text):
        text = "# moved\n\n" + re.sub(r'"""(?=\w)', '"""In other words: ', text)
        return text.replace(" -> None:", ":").replace("\n\n\n", "\n\n\n# a comment\n\n\n")

    other = {
        name: reworded(text) if ".controls" in name or "_program" in name else text for name, text in texts.items()
    }
    assert digest_of(given, other) == digest_of(given, texts)


def test_a_renamed_file_leaves_it_as_it_is(texts):
    other = {
        name.replace("controls._optimizers", "controls._rules"): text.replace(
            "suite.controls._optimizers", "suite.controls._rules"
        )
        for name, text in texts.items()
    }
    assert "suite.controls._rules" in other
    assert "suite.controls._optimizers" not in other
    assert digest_of(DRIVERS[0], other) == digest_of(DRIVERS[0], texts)


@pytest.mark.parametrize(
    ("given", "module", "before", "after"),
    [
        (DRIVERS[0], "controls.mnist_mlp", "nn.Dropout(0.2)", "nn.Dropout(0.3)"),
        (DRIVERS[0], "controls._optimizers", "alpha=0.9, eps=1e-7, foreach=True", "alpha=0.9, eps=1e-7"),
        (DRIVERS[0], "programs.torch_program", "benchmark = True", "benchmark = False"),
        (DRIVERS[0], "controls.mnist_mlp", "from torch.nn import functional", "from torch.ao.nn import functional"),
        (DRIVERS[1], "programs.torch_program", "torch.channels_last", "torch.contiguous_format"),
        (DRIVERS[1], "controls._serving", "nn.Identity()", "nn.Flatten()"),
        (DRIVERS[2], "programs.keras_program", "autograph=False", "autograph=True"),
        (DRIVERS[2], "controls_keras.cifar10_resnet63", "keras", "tensorflow"),
        (DRIVERS[3], "controls_xgboost.gbdt_mortgage", '"max_depth": 8', '"max_depth": 7'),
        (DRIVERS[3], "data.random_loans", "BINS = 256", "BINS = 128"),
        (DRIVERS[4], "programs.openvino_program", '_HINT": "f32"', '_HINT": "bf16"'),
        (DRIVERS[4], "controls._serving", "nn.Identity()", "nn.Flatten()"),
    ],
)  # fmt: skip
def test_what_the_step_does_changes_it(texts, given, module, before, after):
    other = changed(texts, f"suite.{module}", before, after)
    assert digest_of(given, other) != digest_of(given, texts)


@pytest.mark.parametrize(
    ("module", "before", "after"),
    [
        ("controls._optimizers", "def adam(", "def other(): return 1\n\n\ndef adam("),  # another optimizer
        ("controls._weights", "def in_order(", "def in_order(more=0, "),  # the comparison with JAX
        ("controls.mnist_mlp", "preparation=Pixels()", "preparation=None"),  # both sides' batches
        ("programs.torch_program", '"torch_threads"', '"threads"'),  # the name of a setting
        ("controls.cifar10_mlp", "nn.Linear", "nn.Identity"),  # another workload
    ],
)
def test_what_no_step_of_it_reaches_leaves_it_as_it_is(texts, module, before, after):
    assert digest_of(DRIVERS[0], changed(texts, f"suite.{module}", before, after)) == digest_of(DRIVERS[0], texts)


def test_all_versions_of_python_give_the_same():
    source = "import torch\nA = 1e-7\n\nclass N(torch.nn.Module):\n    def f(self, x, *, y=None):\n"
    source += "        return [A, x, 't']\n"
    found = source_digest.digest([("suite.a", "N")], {"suite.a": source}.get)
    assert found[:16] == "4490ba9222ebe346"


def test_a_name_that_is_not_there_is_said():
    with pytest.raises(LookupError, match=r"no 'CONTROL' in module 'suite\.a'"):
        source_digest.digest([("suite.a", "CONTROL")], {"suite.a": "x = 1"}.get)


def test_the_driver_and_the_control_are_read_from_the_files_that_were_imported():
    case = Case(workload="mnist_mlp", implementation="xgboost", backend="cpu", scope="step", batch=8)

    class Driver:
        __module__, __qualname__ = "suite.programs.torch_program", "TorchProgram"

    found = source_digest.of_case(Driver, "suite.controls", case)
    assert found == f"{digest_of(DRIVERS[0], sources())} plain float32-highest"
