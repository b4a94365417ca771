"""Faults of a framework that does not start: its own reason reaches the user, with a remedy that fits it."""

from functools import partial

from trust.bench import A_LINE, ROOT, SMALL, Bench, Outcome, fault, refused_with_nothing_left

_BY = "what the child says as it starts"
_DUMP = "Fatal Python error: Aborted\n\nCurrent thread 0x00007f (most recent call first):\n  <no Python frame>"


def plugin(place: Bench, source: str, *words: str) -> Outcome:
    """Install a plugin of JAX for CUDA with this source, and ask for a GPU of the real one."""
    module = place.folder / "site" / "jax_plugins" / "xla_cuda13" / "__init__.py"
    module.parent.mkdir(parents=True)
    module.write_text(source)
    place.env["PYTHONPATH"] = f"{ROOT}:{place.folder / 'site'}"
    return refused_with_nothing_left(place, place.run(SMALL, "--backend", "gpu", prefix=("env",)), *words)


@fault("JAX's CUDA plugin lacks a library (real probe)", "one line with JAX's own reason, exit 1", _BY)
def _(place: Bench) -> Outcome:
    source = "def initialize():\n    raise RuntimeError('Unable to load cuDNN. Is it installed?')\n"
    return plugin(place, source, "JAX says:", "Unable to load cuDNN. Is it installed?")


@fault("JAX's CUDA plugin cannot be imported (real probe)", "one line with JAX's own reason, exit 1", _BY)
def _(place: Bench) -> Outcome:
    source = "raise ImportError('libcudart.so.13: cannot open shared object file')"
    return plugin(place, source, "JAX says:", "libcudart.so.13: cannot open shared")


def gpu_missing(place: Bench, reason: str, advice: str) -> Outcome:
    """Let JAX say why it has no GPU, on a machine whose driver shows one."""
    packages = {"jax": "0", "jaxlib": "0", "jax-cuda13-plugin": "0"}
    place.faked().offering(reasons={"gpu": reason} if reason else {}, packages=packages if reason else {"jax": "0"})
    cards = (("gpus", "cards", ["NVIDIA H100"], [[9, 0]], "580.1"),)
    return refused_with_nothing_left(place, place.run("--backend", "gpu", planted=cards), reason, advice)


for _what, _reason, _advice in (
    ("the plugin is not installed", "", "install the 'cuda13' extra: pip install 'jax[cuda13]'"),
    ("the driver is too old", "CUDA driver version is insufficient for CUDA runtime", "update the GPU's driver"),
    ("a library is missing", "Unable to load cuDNN. Is it installed?", "install it again, with its libraries"),
    ("versions differ", "it is not compatible with the installed jaxlib", "install JAX's packages in one version"),
    ("its memory is taken", "RESOURCE_EXHAUSTED: Failed to allocate 80.00GiB", "end the processes that hold the GPU's"),
    ("another process has it alone", "CUDA_ERROR_DEVICE_UNAVAILABLE", "end the process that holds the GPU, or wait"),
    ("it is hidden", "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected", "set CUDA_VISIBLE_DEVICES to a GPU"),
    ("the service of joined GPUs does not run", "CUDA_ERROR_SYSTEM_NOT_READY", "systemctl start nvidia-fabricmanager"),
):
    fault(f"JAX does not start the GPU: {_what}", f"JAX's reason and what to do, {A_LINE.partition(', ')[2]}",
          "JAX's answer")(partial(gpu_missing, reason=_reason, advice=_advice))  # fmt: skip


def variable(place: Bench, name: str, value: str, *words: str) -> Outcome:
    """Set a variable that the real JAX refuses."""
    place.env[name] = value
    good, found = refused_with_nothing_left(place, place.run(SMALL, "--backend", "cpu"), *words)
    return good and "SIGABRT" not in place.said() and "pip install" not in place.said(), found


for _name, _value, _words in (
    ("JAX_DEBUG_NANS", "maybe", "invalid truth value 'maybe' for environment 'JAX_DEBUG_NANS'; unset JAX_DEBUG_NANS"),
    ("XLA_FLAGS", "--xla_no_such_flag=1", "this jaxlib lacks --xla_no_such_flag=1: take it out of XLA_FLAGS, or unset"),
    ("XLA_FLAGS", "/no/such/file", "unset XLA_FLAGS, or correct it"),
):
    fault(f"{_name} is '{_value}' (real probe)", "one line that names the variable, exit 1", _BY)(
        lambda place, name=_name, value=_value, words=_words: variable(place, name, value, words)
    )


def dying(place: Bench, shell: str, words: tuple[str, ...]) -> Outcome:
    """Let the child that is asked what it can run end otherwise."""
    return refused_with_nothing_left(place, place.faked().answering(shell).run("alpha"), *words)


for _what, _shell, _words in (
    ("aborts, and a dump hides its reason", f"printf 'ValueError: the reason\\n{_DUMP}\\n' >&2; kill -ABRT $$",
     ("cannot start 'jax': it was killed by SIGABRT: ValueError: the reason",)),
    ("is killed as its processor lacks an instruction", "kill -ILL $$", ("SIGILL", "the instructions of this build")),
    ("is killed as memory runs out", "kill -KILL $$", ("SIGKILL", "allow it more memory")),
    ("gets no memory", "echo 'MemoryError: ' >&2; exit 1", ("MemoryError", "allow it more memory")),
    ("lacks JAX", "echo \"ModuleNotFoundError: No module named 'jax'\" >&2; exit 1", ("No module named 'jax'",)),
    ("needs a newer C library", "echo \"ImportError: libc.so.6: version 'GLIBC_2.99' not found\" >&2; exit 1",
     ("GLIBC_2.99", "install it again")),
    ("talks nonsense", "echo nonsense; exit 0", ("does not answer like a Python", "set SUITE_JAX_PYTHON to one")),
    ("says nothing", "exit 0", ("cannot start 'jax'", "see all that it prints")),
):  # fmt: skip
    fault(f"the interpreter {_what}, as it is asked what it can run", f"its reason and what to do, {A_LINE[-6:]}", _BY)(
        partial(dying, shell=_shell, words=_words)
    )


@fault("the interpreter hangs as it is asked what it can run", f"{A_LINE}, no process left", "the probe's limit")
def _(place: Bench) -> Outcome:
    ran = place.faked().answering("exec sleep 1000").run("alpha", planted=(("probe_seconds", 0.6),))
    good, found = refused_with_nothing_left(place, ran, "what 'jax' can run", "see all that it prints")
    return good and not place.orphans(), found


@fault("SUITE_JAX_PYTHON names nothing that can be run", A_LINE, "the file's mode")
def _(place: Bench) -> Outcome:
    place.env["SUITE_JAX_PYTHON"] = "/no/such/python"
    return refused_with_nothing_left(place, place.run("alpha"), "which cannot be run; name a Python or unset it")


@fault("an implementation is not installed", A_LINE, "what its interpreter lacks")
def _(place: Bench) -> Outcome:
    torch = Bench(place.folder / "torch").faked()
    torch.offering(implementation="torch", problem="No module named 'torch'", installed=False)
    place.faked().env["SUITE_TORCH_PYTHON"] = torch.env["SUITE_JAX_PYTHON"]
    asked = place.run("alpha", "--implementation", "jax,torch")
    return refused_with_nothing_left(place, asked, "No module named 'torch'; install it there")
