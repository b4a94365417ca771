# /// script
# requires-python = ">=3.11"
# dependencies = ["nox[uv]>=2025.11.12"]
# ///
"""Sessions: each installs what it needs. `nox -l` lists them, `nox -s bench` measures this machine."""

import os
import platform
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_external_run = True
nox.options.sessions = ["tests"]

PYTHON = os.environ.get("SUITE_PYTHON")  # an interpreter newer than the one that runs nox, say
ACCELERATORS = ("", "cuda12", "cuda13")
# Lowest driver and compute capability of JAX's CUDA extras, as in suite/measure/fitness.py (a test compares them).
CUDA_EXTRAS = {"cuda13": (580, 7.5), "cuda12": (525, 5.2)}
# Hundreds of processes of the tests import jax; where each compiles it anew they take three times as long.
KEEP_BYTECODE = {"PYTHONDONTWRITEBYTECODE": ""}
PEERS = {
    "torch": "control",
    "keras": "control-keras",
    "xgboost": "control-xgboost",
}  # to the dependency groups of their environments


def accelerator() -> str:
    """Return the JAX extra for this machine's GPU; SUITE_ACCEL overrides it ('' for CPU, cuda12, cuda13)."""
    chosen = os.environ.get("SUITE_ACCEL")
    if chosen is not None:
        if chosen not in ACCELERATORS:
            raise ValueError(f"SUITE_ACCEL is '{chosen}'; set it to cuda13 or cuda12, to nothing for CPU, or unset it")
        return chosen
    if platform.system() != "Linux" or not shutil.which("nvidia-smi"):
        return ""
    command = ["nvidia-smi", "--query-gpu=driver_version,compute_cap", "--format=csv,noheader"]
    try:
        rows = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout.splitlines()
        return extra_for(rows)
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return ""


def extra_for(rows: list[str]) -> str:
    """Return the extra that suits every GPU of nvidia-smi's 'driver, capability' rows; '' if none does."""
    driver = int(rows[0].split(".")[0])
    capability = min(float(row.split(",")[1]) for row in rows)
    suited = (extra for extra, least in CUDA_EXTRAS.items() if driver >= least[0] and capability >= least[1])
    return next(suited, "")


def install(session: nox.Session, *extras: str) -> None:
    """Install the suite with what this machine's accelerator needs."""
    try:
        found = accelerator()
    except ValueError as error:
        session.error(str(error))
    wanted = ",".join(extra for extra in (*extras, found) if extra)
    session.install("-e", f".[{wanted}]" if wanted else ".")


def dependencies(session: nox.Session, *groups: str) -> None:
    """Install dependency groups of pyproject.toml."""
    session.install(*nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), *groups))


def control_python(session: nox.Session, peer: str) -> str:
    """Return a Python that has a peer: the one in SUITE_TORCH_PYTHON and so on, or one made here."""
    if chosen := os.environ.get(f"SUITE_{peer.upper()}_PYTHON"):
        return chosen
    home = Path(session.virtualenv.location).resolve().parent / peer
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        base = os.environ.get(f"SUITE_{peer.upper()}_BASE", "python3")
        session.run(base, "-m", "venv", "--clear", str(home), external=True)
        wanted = nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), PEERS[peer])
        session.run(str(python), "-m", "pip", "install", "--quiet", *wanted, external=True)
        (home / "ready").touch()
    return str(python)


def beside(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return arguments that name implementations, PyTorch beside JAX unless they do, and the peers among these.

    The option is written with a space or an equals sign; given twice, it names those of both.
    """
    words = " ".join(arguments).replace("--implementation=", "--implementation ").split()
    named = [value for flag, value in pairwise(words) if flag == "--implementation"]
    asked = arguments if named else ["--implementation", "jax,torch", *arguments]
    return asked, [peer for peer in PEERS if peer in ",".join(named or ["torch"]).split(",")]


def side_by_side() -> tuple[str, ...]:
    """Return what makes pytest use the cores granted, whose processes take over from each other at the end."""
    granted = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return ("-n", str(granted), "--dist", "worksteal")


@nox.session(python=PYTHON)
def bench(session: nox.Session) -> None:
    """Measure this machine, render the site, print the speed-ups. Arguments go to suite run."""
    install(session, "site")
    session.run("suite", "run", "--report", *session.posargs)


@nox.session(python=PYTHON)
def control(session: nox.Session) -> None:
    """As bench, with PyTorch beside JAX, so that the CPU side can be certified; `-- --implementation jax,torch,keras`.

    Of boosted trees the peer is XGBoost: `-- gbdt_mortgage --implementation jax,xgboost`. It ends with the control
    table. Each peer is installed in an environment of its own.
    """
    install(session, "site")
    arguments, peers = beside(session.posargs)
    env = {f"SUITE_{peer.upper()}_PYTHON": control_python(session, peer) for peer in peers}
    session.run("suite", "run", "--report", *arguments, env=env)


@nox.session(python=PYTHON)
def boosting(session: nox.Session) -> None:
    """Compare the AUC of boosted trees in JAX and in XGBoost on whole tables; --store writes the references anew.

    What it finds, with that of trees that have a planted bug, becomes the site's evidence.
    """
    install(session)
    peer = control_python(session, "xgboost")
    env = {"PYTHONPATH": os.pathsep.join((str(Path.cwd()), "tests")), "SUITE_XGBOOST_PYTHON": peer}
    python = peer if "--store" in session.posargs else "python"
    session.run(python, "-m", "boosting", *session.posargs, env=env, external=True)


@nox.session(python=PYTHON)
def kernels(session: nox.Session) -> None:
    """Compile the kernels written in Pallas for a Hopper GPU that need not be there."""
    install(session)
    dependencies(session, "tests", "compilers")
    asked = "import jaxlib; print(jaxlib.__version__)"
    version = str(session.run("python", "-c", asked, silent=True)).strip()
    session.install("--no-deps", f"jax-cuda13-plugin=={version}", f"jax-cuda13-pjrt=={version}")
    session.run("pytest", "-s", "tests/test_compiled_kernels.py", *session.posargs, env={"PYTHONPATH": "tests"})


@nox.session(python=PYTHON, venv_backend="venv")
def parity(session: nox.Session) -> None:
    """Compare JAX and the stored references with PyTorch, plant bugs; --store writes the references anew.

    The tests of the controls, which the ordinary ones skip for want of PyTorch, come first.
    """
    install(session)
    dependencies(session, "tests", "control")
    session.run("pytest", "tests/test_controls.py")
    session.run("python", "-m", "parity", *session.posargs, env={"PYTHONPATH": "tests"})


@nox.session(python=PYTHON)
def trust(session: nox.Session) -> None:
    """Prove the harness, part by part, and leave the site's evidence: `-- [--sample] [PART...]`."""
    install(session, "site")
    dependencies(session, "tests")
    session.run("python", "-m", "trust", *session.posargs, env={"PYTHONPATH": "tests"})


@nox.session(python=PYTHON)
def stock(session: nox.Session) -> None:
    """Prepare published data sets by TFDS' own builders, byte for byte, with TensorFlow: `-- NAME...`."""
    install(session)
    dependencies(session, "stock")
    session.run("python", "-m", "suite.data.stock", *session.posargs)


@nox.session(python=PYTHON)
def learning(session: nox.Session) -> None:
    """Train every network on small stand-ins and leave the site's evidence: `-- [--backend gpu] [NETWORK...]`."""
    install(session)
    dependencies(session, "tests")
    session.run("python", "-m", "learning", *session.posargs, env={"PYTHONPATH": "tests"})


@nox.session(python=PYTHON)
def tests(session: nox.Session) -> None:
    """Run the tests; those that need Chromium or a GPU say so when they are skipped."""
    install(session, "site")
    dependencies(session, "tests")
    session.run("pytest", *side_by_side(), *session.posargs, env=KEEP_BYTECODE)


@nox.session(python=PYTHON)
def golden(session: nox.Session) -> None:
    """Render the stored records of tests/golden to its stored pages anew; `git diff` shows what is other now."""
    install(session, "site")
    session.run("python", "-m", "golden", env={"PYTHONPATH": "tests"})


@nox.session(python=PYTHON)
def thorough(session: nox.Session) -> None:
    """Run the tests that take too long to be run for each change, and those of properties with other examples."""
    install(session, "site")
    dependencies(session, "tests")
    chosen = ("-m", "slow or hypothesis", "--hypothesis-profile", "thorough")
    session.run("pytest", *side_by_side(), *chosen, *session.posargs, env=KEEP_BYTECODE)


@nox.session(python=PYTHON)
def browser(session: nox.Session) -> None:
    """Run the tests that need Chromium."""
    install(session, "site")
    dependencies(session, "tests", "browser")
    session.run("pytest", "-m", "browser", *session.posargs)


@nox.session(python=PYTHON)
def visits(session: nox.Session) -> None:
    """Visit every page of the built site in Chromium: requests, charts, links, tables, axe, narrow, scripts off."""
    install(session, "site")
    dependencies(session, "tests", "browser")
    session.run("python", "-m", "visits", *session.posargs, env={"PYTHONPATH": "tests"})


@nox.session(python=PYTHON)
def growth(session: nox.Session) -> None:
    """Render and build the site from so many made-up records, and say how long that takes: `-- 100 1000 10000`."""
    install(session, "site")
    dependencies(session, "tests")
    session.run("python", "-m", "growth", *session.posargs, env={"PYTHONPATH": "tests"})


@nox.session(python=PYTHON)
def zensical(session: nox.Session) -> None:
    """Build the same mkdocs.yml and pages with Zensical, into build/zensical."""
    install(session, "site")
    dependencies(session, "zensical")
    session.run("suite", "report", "--no-build")  # the pages that are made from records
    home = Path("build") / "zensical"
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree("site", home / "site")
    shutil.copy("mkdocs.yml", home)
    session.run("zensical", "build", "--strict", "--config-file", str(home / "mkdocs.yml"), *session.posargs)


@nox.session(python=PYTHON)
def lint(session: nox.Session) -> None:
    """Check style and formatting with ruff."""
    dependencies(session, "lint")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session(python=PYTHON)
def types(session: nox.Session) -> None:
    """Check types with pyright."""
    install(session, "site", "cluster")
    dependencies(session, "types")
    session.run("pyright", *session.posargs)


@nox.session(python=PYTHON)
def site(session: nox.Session) -> None:
    """Render and build the site from the records there are, without measuring."""
    install(session, "site")
    session.run("suite", "report", *session.posargs)


@nox.session(python=PYTHON)
def serve(session: nox.Session) -> None:
    """Serve the built site on http://127.0.0.1:8000."""
    install(session, "site")
    session.run("suite", "report")
    session.run("python", "-m", "http.server", "--bind", "127.0.0.1", "--directory", "build/html", "8000")
