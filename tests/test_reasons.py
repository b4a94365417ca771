"""The reason for which a framework or its GPU does not start reaches the user, with a remedy that fits it."""

import ast
import queue
import subprocess
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import factory
import msgspec
import pytest
from click.testing import CliRunner

from suite.cli import main
from suite.driver import fitness, plan, probing
from suite.driver.remedies import remedy
from suite.processes import children
from suite.system import causes
from suite.telemetry import host_speed
from suite.worker import probe
from suite.worker_api.protocol import Offer

FAILING = "from jax._src import hardware_utils, xla_bridge\nhardware_utils.has_visible_nvidia_gpu = lambda: True\n"
FAILING += "def start():\n    raise RuntimeError('CUDA driver version is insufficient')\n"
FAILING += "def initialize():\n    xla_bridge.register_backend_factory('cuda', start, priority=500, fail_quietly={})\n"
MISMATCHED = "import warnings\nwarnings.warn('JAX plugin x version 1 is not compatible')\ndef initialize():\n    pass\n"
NO_LIBRARY = "def initialize():\n    raise RuntimeError('Unable to load cuDNN. Is it installed?')\n"


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """A function that installs a CUDA plugin of JAX with this source."""

    def install(source):
        module = tmp_path / "jax_plugins" / "xla_cuda13" / "__init__.py"
        module.parent.mkdir(parents=True)
        module.write_text(source)
        monkeypatch.syspath_prepend(tmp_path)
        return tmp_path

    return install


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (NO_LIBRARY, "jax_plugins.xla_cuda13.initialize(): RuntimeError: Unable to load cuDNN. Is it installed?"),
        ("raise ImportError('libcudart.so.13: cannot open shared object file')", "libcudart.so.13: cannot open shared"),
        (FAILING.format(True), "CUDA driver version is insufficient"),
        (FAILING.format(False), "CUDA driver version is insufficient"),
        (MISMATCHED, "x version 1 is not compatible"),
    ],
)
def test_jaxs_own_reason_for_a_missing_gpu_is_told_and_the_cpu_stays(plugin, source, reason):
    code = f"import sys; sys.path.insert(0, {str(plugin(source))!r}); from suite.worker import probe; "
    code += "print(probe.jax_backends())"
    env = children.environment(None)
    said = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout
    backends, reasons = ast.literal_eval(said.splitlines()[-1])
    assert backends.keys() == {"cpu"}
    assert reason in reasons["gpu"]


def test_without_a_plugin_there_is_no_reason_to_tell():
    assert probing.offer("jax").reasons == {}


def test_a_plugin_that_does_not_start_is_named_with_its_reason_to_who_asks_for_a_gpu(plugin):
    plugin(NO_LIBRARY)
    offer = probing.offer("jax")
    words = fitness.missing_backend("gpu", factory.PLAIN, offer)
    assert "JAX says: jax_plugins.xla_cuda13.initialize(): RuntimeError: Unable to load cuDNN" in words
    (check,) = fitness.gpu_checks(factory.PLAIN, offer)
    assert "Unable to load cuDNN. Is it installed?; install it again, with its libraries" in check.advice


JAX = Offer(implementation="jax", backends={"cpu": ("cpu",)}, packages={"jax": "0.12", "jaxlib": "0.12"})
PLUGIN = {"jax-cuda13-plugin": "0.11"}


@pytest.mark.parametrize(
    ("packages", "reasons", "words", "other"),
    [
        ({}, {}, "install the 'cuda13' extra: pip install 'jax[cuda13]'", "repair"),
        (PLUGIN, {}, "jax-cuda13-plugin 0.11 is installed beside jaxlib 0.12, and does not start", "install the"),
        (PLUGIN, {"gpu": "no words for it"}, "not start: no words for it; repair it: pip install", "install the"),
        (PLUGIN, {"gpu": "CUDA driver version is insufficient"}, "insufficient; update the GPU's driver", "pip"),
        (PLUGIN, {"gpu": "it is not compatible with the installed jaxlib"}, "in one version", "install the"),
        (PLUGIN, {"gpu": "RESOURCE_EXHAUSTED: 80 GiB"}, "end the processes that hold the GPU's memory", "pip"),
    ],
)
def test_the_extra_is_advised_only_where_it_is_not_installed(packages, reasons, words, other):
    offer = msgspec.structs.replace(JAX, packages={**JAX.packages, **packages}, reasons=reasons)
    (check,) = fitness.gpu_checks(factory.HOST, offer)
    assert check.verdict == "bad"
    assert words in check.advice
    assert other not in check.advice


def test_a_baseline_without_a_gpu_says_why_it_skips_it():
    lacking = [factory.record(backend="gpu", implementation="torch").case]
    told = Offer(implementation="torch", reasons={"gpu": "this PyTorch is built without CUDA"})
    (line,) = plan.baselines_skipped(lacking, {"torch": told})
    assert line.endswith("on gpu (this PyTorch is built without CUDA); skipped")
    assert "install a build with CUDA" in fitness.baseline_check(told).advice
    broken = Offer(implementation="torch", reasons={"gpu": "Could not load library libcudnn.so"})
    assert "--force-reinstall 'torch'" in fitness.baseline_check(broken).advice


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        (
            {"JAX_DEBUG_NANS": "maybe"},
            "invalid truth value 'maybe' for environment 'JAX_DEBUG_NANS'; unset JAX_DEBUG_NANS",
        ),
        (
            {"XLA_FLAGS": "--xla_no_such_flag=1"},
            "Unknown flag in XLA_FLAGS: --xla_no_such_flag=1; this jaxlib lacks --xla_no_such_flag=1: take it out of "
            "XLA_FLAGS, or unset XLA_FLAGS",
        ),
        ({"XLA_FLAGS": "/no/such/file"}, "; unset XLA_FLAGS, or correct it"),
    ],
)
def test_a_variable_that_jax_refuses_is_named_by_list_and_doctor(variables, words, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    answer = probing.answered("jax")
    (check,) = [check for check in fitness.checks(factory.PLAIN, answer, 0.0) if check.name == "JAX"]
    assert check.verdict == "bad"
    assert words in f"{check.found}; {check.advice}"
    assert "pip install" not in check.advice
    assert "SIGABRT" not in check.found
    monkeypatch.setattr(probing, "answered", lambda name: answer)
    listed = CliRunner().invoke(main, ["list"])
    assert listed.exit_code == 1
    assert words in listed.output


def test_a_baseline_that_is_not_installed_is_one_line_and_no_traceback(monkeypatch, tmp_path):
    lacking = Offer(implementation="torch", problem="No module named 'torch'", remedy="install it", installed=False)
    monkeypatch.setattr(probing, "answered", lambda name: JAX if name == "jax" else lacking)
    asked = ["run", "--implementation", "jax,torch", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(main, asked)
    assert "Error: No module named 'torch'; install it" in result.output
    assert not (tmp_path / "out").exists()
    assert probing.installed(("jax", "torch")).keys() == {"jax"}


LOGGED = "F1129 11:23:22.135420   22890 parse_flags_from_env.cc:234] Unknown flag"
ABORTED = "ValueError: the reason\nFatal Python error: _enter_buffered_busy: could not acquire lock\nPython runtime "
ABORTED += "state: finalizing (tstate=0x00)\n\nCurrent thread 0x00007fe0 (most recent call first):\n  <no Python frame>"


@pytest.mark.parametrize(
    ("printed", "last"),
    [
        ("Traceback:\n  File 'x'\nValueError: the reason\n", "ValueError: the reason"),
        (ABORTED, "ValueError: the reason"),
        (LOGGED, "Unknown flag"),
        ("a warning\n\n", "a warning"),
        ("  File 'x'\n  <no Python frame>", "<no Python frame>"),
        ("", ""),
    ],
)
def test_the_last_error_of_a_process_is_no_line_of_a_dump(printed, last, tmp_path):
    path = tmp_path / "errors"
    path.write_text(printed)
    with path.open("rb") as errors:
        assert children.Child.last_error(SimpleNamespace(_errors=errors)) == last  # pyright: ignore


@pytest.mark.parametrize(
    ("number", "kills", "words"),
    [
        ("SIGKILL", (1, 1), "was killed by SIGKILL"),
        ("SIGKILL", (1, None), "was killed by SIGKILL"),
        ("SIGKILL", (1, 2), "was killed by SIGKILL, as memory ran out"),
        ("SIGSEGV", (1, 2), "was killed by SIGSEGV"),
    ],
)
def test_what_a_process_was_killed_by_is_a_sentence(number, kills, words, monkeypatch):
    counts = iter(kills)
    monkeypatch.setattr(causes, "kills", lambda: next(counts))
    with started(f"import os, signal; os.kill(os.getpid(), signal.{number})") as child:
        assert child.line(60) is None
        assert child.ended() == words


@pytest.mark.parametrize(("hard", "number"), [(5, "SIGXCPU"), (1, "SIGKILL")])
def test_a_process_that_reached_its_limit_of_processor_time_says_so(hard, number, monkeypatch):
    monkeypatch.setattr(causes.resource, "getrlimit", lambda kind: (1, hard))
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_CPU, (1, {hard}))\nwhile True: pass"
    with started(limited) as child:
        assert child.line(60) is None
        assert child.ended() == f"was killed by {number}, as its processor time reached the limit (ulimit -t)"
    with started("import os, signal; os.kill(os.getpid(), signal.SIGKILL)") as child:
        child.line(60)
        assert child.ended() == "was killed by SIGKILL", "it took little time"


def test_the_reference_kernels_and_a_framework_that_is_asked_say_the_cause_too(monkeypatch):
    counts = iter(range(9))
    monkeypatch.setattr(causes, "kills", lambda: next(counts))
    monkeypatch.setattr(children.subprocess, "Popen", popen("import os; os.kill(os.getpid(), 9)"))
    with pytest.raises(RuntimeError, match="was killed by SIGKILL, as memory ran out"):
        host_speed.measured()
    problem = probing.answered("jax")
    assert problem.problem.endswith("was killed by SIGKILL, as memory ran out")
    assert problem.remedy == "allow it more memory (ulimit -v, control group)"


def test_a_line_that_came_while_the_parent_was_stopped_is_read_before_the_child_counts_as_silent():
    class Late(queue.Queue):
        asked = 0

        def get(self, block=True, timeout=None):
            self.asked += 1
            if self.asked == 1:
                raise queue.Empty
            return 1.0, b"word"

    assert children.Child.line(SimpleNamespace(_lines=Late()), 0.0) == b"word"  # pyright: ignore


SHARING = """
import multiprocessing, os, signal, sys, time
from multiprocessing import shared_memory
memory = shared_memory.SharedMemory(create=True, size=8)
lock = multiprocessing.get_context("spawn").Lock()
print(memory.name, lock._semlock.name, flush=True)
{}
"""


@pytest.mark.parametrize(
    "ending",
    [
        "time.sleep(60)",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)",
        "os.kill(os.getpid(), signal.SIGKILL)",
    ],
)
def test_a_process_that_is_ended_leaves_no_shared_memory_and_no_semaphore(ending):
    with started(SHARING.format(ending)) as child:
        memory, lock = (child.line(60) or b"").decode().split()
        left = [Path("/dev/shm") / memory, Path("/dev/shm") / f"sem.{lock.removeprefix('/')}"]
        assert "SIGKILL" in ending or all(path.exists() for path in left)
    assert not [path for path in left if path.exists()]


@contextmanager
def started(code):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(children.subprocess, "Popen", popen(code))
        child = children.Child("any", python=sys.executable, env={})
    try:
        yield child
    finally:
        child.end()


def popen(code):
    real = subprocess.Popen
    return lambda words, **options: real([words[0], "-c", code], **options)


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        ("CUDA initialization: The NVIDIA driver on your system is too old (found version 11040).", "update the GPU's"),
        ("operation cuInit(0) failed: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "update the GPU's driver"),
        ("operation cuInit(0) failed: CUDA_ERROR_NO_DEVICE", "set CUDA_VISIBLE_DEVICES to a GPU"),
        ("operation cuInit(0) failed: CUDA_ERROR_SYSTEM_NOT_READY", "start nvidia-fabricmanager"),
        ("CUDA_ERROR_OUT_OF_MEMORY: out of memory", "end the processes that hold the GPU's memory"),
        ("all CUDA-capable devices are busy or unavailable", "end the process that holds the GPU"),
        ("Outdated cuDNN installation found. Version JAX was built against: 91", "'jax[cuda12]'"),
        ("jaxlib version 0.13 is newer than and incompatible with jax version 0.12", "in one version"),
        ("was killed by SIGILL", "instructions of this build"),
        ("MemoryError: ", "more memory"),
        ('ValueError: Invalid value "x" for JAX flag jax_default_prng_impl', "unset JAX_DEFAULT_PRNG_IMPL"),
    ],
)
def test_a_known_reason_has_the_remedy_that_fits_it(reason, advice):
    assert advice in remedy(reason, "jax[cuda12]")


@pytest.mark.parametrize(
    ("cuda", "warning", "reason"),
    [
        (None, "", "this PyTorch is built without CUDA"),
        (
            "13.0",
            "CUDA initialization: The NVIDIA driver on your system is too old",
            "driver on your system is too old",
        ),
        ("13.0", "", ""),
    ],
)
def test_pytorch_says_why_it_has_no_gpu(cuda, warning, reason, monkeypatch):
    def is_available():
        if warning:
            warnings.warn(warning, stacklevel=1)
        return False

    here = SimpleNamespace(is_available=is_available)
    torch = SimpleNamespace(cuda=here, version=SimpleNamespace(cuda=cuda), __version__="2.11")
    monkeypatch.setitem(sys.modules, "torch", torch)
    offer = probe.torch_offer()
    assert offer.backends.keys() == {"cpu"}
    assert reason in offer.reasons.get("gpu", "")
    assert bool(reason) == bool(offer.reasons)


def test_a_reason_without_a_known_remedy_has_none():
    assert remedy("something else") == ""


def test_wheels_for_a_gpu_are_told_with_their_versions(monkeypatch):
    names = {"jax-cuda13-plugin": "1", "nvidia-cudnn-cu13": "2", "nvidia-ml-py": "3", "numpy": "4"}
    wheels = [SimpleNamespace(metadata={"Name": name}, version=version) for name, version in names.items()]
    monkeypatch.setattr(probe.metadata, "distributions", lambda: wheels)
    assert probe.gpu_wheels() == {"jax-cuda13-plugin": "1", "nvidia-cudnn-cu13": "2"}
