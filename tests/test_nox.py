"""What noxfile.py decides before anything is installed."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from suite.measure import fitness

pytest.importorskip("nox", reason="nox is not installed here; nox -s tests has it")
ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def noxfile():
    spec = importlib.util.spec_from_file_location("noxfile", ROOT / "noxfile.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_sessions_and_the_doctor_agree_on_the_cuda_extras(noxfile):
    assert noxfile.CUDA_EXTRAS == fitness.CUDA_EXTRAS


@pytest.mark.parametrize("chosen", ["cuda", "cuda14", "gpu", " "])
def test_a_wrong_accelerator_is_named_with_what_it_may_be(noxfile, monkeypatch, chosen):
    monkeypatch.setenv("SUITE_ACCEL", chosen)
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


def environment(chosen):
    import os

    return {**os.environ, "SUITE_ACCEL": chosen}


def test_an_accelerator_that_is_named_is_taken(noxfile, monkeypatch):
    for chosen in ("", "cuda12", "cuda13"):
        monkeypatch.setenv("SUITE_ACCEL", chosen)
        assert noxfile.accelerator() == chosen


@pytest.mark.parametrize(
    ("rows", "extra"),
    [
        (["580.65, 9.0"], "cuda13"),
        (["580.65, 9.0", "580.65, 7.0"], "cuda12"),
        (["535.2, 8.0"], "cuda12"),
        (["470.1, 8.0"], ""),
    ],
)
def test_the_extra_suits_every_gpu(noxfile, rows, extra):
    assert noxfile.extra_for(rows) == extra


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ([], ["torch"]),
        (["mnist_mlp", "--profile", "smoke"], ["torch"]),
        (["--implementation", "jax,torch,keras"], ["torch", "keras"]),
        (["--implementation=jax,keras"], ["keras"]),
        (["--implementation", "jax"], []),
        (["gbdt_mortgage", "--implementation", "jax,xgboost"], ["xgboost"]),
        (["--implementation", "jax,torch", "--implementation=keras"], ["torch", "keras"]),
    ],
)
def test_only_the_peers_asked_for_get_an_environment_and_are_timed(noxfile, arguments, found):
    asked, peers = noxfile.beside(arguments)
    assert peers == found
    named = any(word.startswith("--implementation") for word in arguments)
    assert asked == (arguments if named else ["--implementation", "jax,torch", *arguments])


def test_every_peer_has_its_dependencies(noxfile):
    import nox

    for peer, group in noxfile.PEERS.items():
        wanted = nox.project.dependency_groups(nox.project.load_toml(ROOT / "pyproject.toml"), group)
        assert any(line.startswith(peer) for line in wanted)
        assert any(line.startswith("msgspec") for line in wanted)
