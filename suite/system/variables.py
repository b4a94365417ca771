"""Environment variables that affect speed: which are recorded, distort times, are replaced or prevent measuring."""

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from suite.system.redact import anonymous

_WATCHED = re.compile(
    # XLA, JAX, threads and allocators
    r"(XLA_|JAX_|FLAX_|NNX_|OMP_|MKL_|MALLOC_|GLIBC_TUNABLES$|KERAS_(?!HOME)|NPROC$|PJRT_|CUDA_VISIBLE_DEVICES$"
    r"|NVIDIA_TF32_OVERRIDE$"
    # TensorFlow; Terraform's variables begin alike, and say what is private
    r"|TF_(?!CPP_|(ACC|CLI|CLOUD|DATA|HTTP|IGNORE|IN|INPUT|LOG|PLUGIN|REATTACH|REGISTRY|TOKEN|VAR|WORKSPACE)(_|$))"
    # threads and kernels of the CPU's libraries
    r"|KMP_|GOMP_|OPENBLAS_|GOTO_NUM_THREADS$|BLIS_|VECLIB_|NUMEXPR_|DNNL_|ONEDNN_|ACL_|ATEN_|NPY_|NUMPY_|OPENCV_|TBB_"
    # CUDA, its libraries, and the driver's launch settings; installation folders do not affect speed
    r"|CUDA_(LAUNCH_BLOCKING$|DEVICE_|MODULE_|CACHE_(DISABLE|MAXSIZE)$|FORCE_|DISABLE_|ENABLE_|MPS_|MANAGED_|AUTO_BOOST$"
    r"|SCALE_|BINARY_LOADER_|GRAPHS_|INJECTION)|CUBLAS|CUDNN_|NCCL_|TRITON_"
    # PyTorch
    r"|TORCH_|TORCHINDUCTOR_|TORCHDYNAMO_|PYTORCH_"
    # preloaded libraries, and other allocators
    r"|LD_PRELOAD$|LD_AUDIT$|LD_BIND_NOW$|DYLD_INSERT_LIBRARIES$|TCMALLOC_|MIMALLOC_"
    # Python itself; -O and the like do not reach children
    r"|PYTHON(OPTIMIZE|MALLOC|MALLOCSTATS|DEVMODE|ASYNCIODEBUG|TRACEMALLOC|PROFILEIMPORTTIME|PERFSUPPORT"
    r"|_GIL|_JIT|_CPU_COUNT|_PERF_JIT_SUPPORT|_FROZEN_MODULES)$)"
)
# Variables that only name a folder.
_OF_A_FOLDER = re.compile(r"(TORCH|TRITON|NUMPY|OPENCV|TBB)\w*_(HOME|DIR|ROOT|PATH)$|TORCH_EXTENSIONS_DIR$|TBBROOT$")
_LIBRARIES = re.compile(r"LD_PRELOAD$|LD_AUDIT$|DYLD_INSERT_LIBRARIES$|CUDA_INJECTION")  # by their files' names
_FLAGS = re.compile(r"(XLA|TF_XLA)_FLAGS$")  # a file's name stands for the flags in it
_SECRET = re.compile(r"(?i)address|coordinator|user|token|secret|password|credential|url|comm_id|hostid|^TF_CONFIG$")
_PRIVATE = re.compile(r"(?i)dir|path|file|dump|/|host|\\|~|(gpu|mig)-[0-9a-f]")
_PLAIN = re.compile(r"[+-]?\d+(\.\d+)?|(?i:true|false|on|off|yes|no)|")
_HIDDEN = "set"
_LONGEST = 4000  # of a text in a record
_NEITHER = ("", "0", "false", "no", "off")

# Variables that distort times, and how.
_SPOILING = {
    "CUDA_LAUNCH_BLOCKING": "every kernel launch blocks, so GPU times are too long",
    "CUDA_INJECTION64_PATH": "a profiler is loaded into each CUDA process and slows it down",
    "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": "a process may use only a share of the GPU",
    "CUDA_FORCE_PTX_JIT": "the driver compiles kernels that exist in compiled form",
    "JAX_DEBUG_NANS": "every output is checked, and every step blocks",
    "JAX_DEBUG_INFS": "every output is checked, and every step blocks",
    "JAX_CHECK_TRACER_LEAKS": "tracing takes longer",
    "LD_PRELOAD": "a library is loaded into each process before all others",
    "DYLD_INSERT_LIBRARIES": "a library is loaded into each process before all others",
    "MALLOC_CHECK_": "the allocator checks each block",
    "MALLOC_PERTURB_": "the allocator writes to each block",
    "PYTHONDEVMODE": "Python runs additional checks",
    "PYTHONTRACEMALLOC": "Python traces each block of memory",
    "PYTHONMALLOCSTATS": "Python counts its memory",
    "PYTHONPROFILEIMPORTTIME": "each import is timed and printed",
    "TORCHDYNAMO_DISABLE": "PyTorch compiles nothing, not even its compiled variants",
}
_OF_FLAX = (
    *(f"FLAX_{name}" for name in ("FIX_RNG_SEPARATOR", "RETURN_FROZENDICT", "PRESERVE_ADOPTED_NAMES", "USE_FLAXLIB")),
    *(f"FLAX_{name}" for name in ("ARRAY_REF", "PYTREE_MODULE", "ALWAYS_SHARD_VARIABLE", "HIJAX_VARIABLE", "PROFILE")),
    *("NNX_GRAPH_MODE", "NNX_GRAPH_UPDATES"),
)
# Defaults of a user's own programs, and what the workloads say instead; they do not reach the children. With the
# guards, another generator or another device every process fails; the others change what is computed.
REPLACED = {
    "JAX_DEFAULT_DEVICE": "each case names its backend",
    "JAX_NUM_CPU_DEVICES": "each case names its devices",
    "JAX_DEFAULT_PRNG_IMPL": "the workloads draw with threefry2x32",
    "JAX_THREEFRY_PARTITIONABLE": "the workloads draw with JAX's default",
    "JAX_RANDOM_SEED_OFFSET": "each process names its seed",
    "JAX_ENABLE_X64": "the workloads compute in float32",
    "JAX_DEFAULT_DTYPE_BITS": "the workloads compute in float32",
    "JAX_DEFAULT_MATMUL_PRECISION": "each case names its precision",
    "JAX_TRANSFER_GUARD": "the suite copies to and from devices",
    "JAX_TRANSFER_GUARD_HOST_TO_DEVICE": "the suite copies to devices",
    "JAX_TRANSFER_GUARD_DEVICE_TO_DEVICE": "the suite copies between devices",
    "JAX_TRANSFER_GUARD_DEVICE_TO_HOST": "the suite copies from devices",
    **dict.fromkeys(("NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE"), "each case names its precision"),
    **dict.fromkeys(_OF_FLAX, "the workloads use Flax's defaults"),
    **dict.fromkeys(("KERAS_NNX_ENABLED", "KERAS_USE_BACKEND_AGNOSTIC_OPS"), "the baseline uses Keras' defaults"),
}
# With these no process can be measured, and without them it would not be what the user asks for.
_PREVENTING = {
    "JAX_DISABLE_JIT": "nothing is compiled, and the suite times compiled programs",
    "JAX_NO_TRACING": "JAX refuses to trace a program a second time, as each measurement does",
}


def settings(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the recorded environment variables, those that affect speed, with private values hidden.

    Of flags and lists only the private parts are hidden; libraries lose their folders.
    """
    return {
        name: _recorded(name, value)[:_LONGEST]
        for name, value in sorted(environment.items())
        if _WATCHED.match(name) and not _OF_A_FOLDER.match(name)
    }


def _recorded(name: str, value: str) -> str:
    """Return a variable's value as a record stores it."""
    if _SECRET.search(name):
        return _HIDDEN
    if _LIBRARIES.match(name):
        files = [Path(word).name for word in re.split(r"[:\s]+", value) if word]
        return " ".join(_open("", file) for file in files)
    if _FLAGS.match(name):
        return " ".join(map(_flag, _flags(value)))
    return _open(name, value)


def _flags(value: str) -> list[str]:
    """Return XLA's flags; a value without a leading dash names a file of flags."""
    text = value.strip()
    if text and not text.startswith("-"):
        with suppress(OSError, UnicodeDecodeError):
            text = Path(text).read_text(encoding="utf-8")
    return text.split() if text.startswith("-") else [_HIDDEN] if text else []


def _flag(flag: str) -> str:
    name, sign, value = flag.partition("=")
    if not re.fullmatch(r"--?\w[\w-]*", name):
        return _open("", flag)
    return f"{name}{sign}{_open(name, value)}" if sign else name


def _open(name: str, value: str) -> str:
    """Return a value without its private parts; 'set' if all of it is private."""
    if _PLAIN.fullmatch(value) and not _SECRET.search(name):
        return value
    if _closed(name) or not value.isprintable():
        return _HIDDEN
    if not _closed(value):
        return value
    parts = re.split("([,;])", value)
    return "".join(_part(part) for part in parts) if len(parts) > 1 else _HIDDEN


def _part(text: str) -> str:
    """Return a part of a list; a hidden value keeps its name."""
    if text in ",;" or not _closed(text):
        return text
    named = re.match(r"[\w.]+[:=]", text)
    if named is None or _SECRET.search(named[0]) or anonymous(named[0]) != named[0]:
        return _HIDDEN
    return f"{named[0]}{_HIDDEN}"


def _closed(text: str) -> bool:
    return bool(_PRIVATE.search(text) or _SECRET.search(text)) or anonymous(text) != text


def spoiling(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return a note for each variable that distorts times, with its effect."""
    return {
        name: f"{name} is '{value}': {_SPOILING[name]}; unset it unless that is what you measure"
        for name, value in _set(_SPOILING, environment).items()
    }


def replaced(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return a note for each of the user's defaults that does not reach the children."""
    return {
        name: f"{name} is '{value}': not used here, since {REPLACED[name]}"
        for name, value in _set(REPLACED, environment).items()
    }


def preventing(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return a reason, with its remedy, for each variable with which nothing can be measured."""
    return {
        name: f"{name} is '{value}': {_PREVENTING[name]}; unset it"
        for name, value in _set(_PREVENTING, environment).items()
    }


def _set(names: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the recorded values of those variables that are set to something but off."""
    here = settings(environment)
    return {name: here[name] for name in names if here.get(name, "").lower() not in _NEITHER}
