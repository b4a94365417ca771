"""Faults of the environment: a user's defaults, settings that spoil or prevent a measurement."""

import json
from functools import partial

from suite.system.variables import REPLACED, settings
from trust.bench import A_LINE, THE_RESULT, Bench, Outcome, fault, refused_with_nothing_left, whole

_BROKEN = {
    "JAX_DEFAULT_PRNG_IMPL": "rbg",
    "JAX_TRANSFER_GUARD": "disallow",
    "JAX_TRANSFER_GUARD_HOST_TO_DEVICE": "disallow",
    "JAX_TRANSFER_GUARD_DEVICE_TO_HOST": "disallow",
    "JAX_TRANSFER_GUARD_DEVICE_TO_DEVICE": "disallow",
    "JAX_DEFAULT_DEVICE": "gpu",
    "JAX_ENABLE_X64": "maybe",
    "JAX_DEFAULT_DTYPE_BITS": "x",
    "JAX_NUM_CPU_DEVICES": "3",
    "JAX_THREEFRY_PARTITIONABLE": "no such value",
    "JAX_DEFAULT_MATMUL_PRECISION": "no such precision",
}


def value_of(name: str) -> str:
    """Return what a default is set to: what breaks a program, or another than the workloads' own."""
    return _BROKEN.get(name, "1")


def shown(name: str) -> str:
    """Return a value as a note shows it: a name with HOST in it might hold an address."""
    return settings({name: value_of(name)}).get(name, value_of(name))


@fault("all of JAX's defaults of a user's own programs (real worker)", f"{THE_RESULT}, and a note on each",
       "what a child's environment lacks")  # fmt: skip
def _(place: Bench) -> Outcome:
    place.env |= _BROKEN
    notes = (f"{name} is '{shown(name)}': not used here, since" for name in _BROKEN)
    return whole(place.run("mnist_mlp", "--backend", "cpu", "--scope", "step"), *notes)


def default(place: Bench, name: str) -> Outcome:
    """Set a default of JAX, Flax or Keras; the fake Python ends if it sees it, as JAX does."""
    seen = f'[ -n "${{{name}+x}}" ] && echo "{name} is set" >&2 && exit 1'
    place.faked().answering(seen).working(seen).env[name] = value_of(name)
    ran = place.run("alpha")
    good, found = whole(ran, f"{name} is '{shown(name)}': not used here, since {REPLACED[name]}")
    return good and name not in place.journal().path.read_text(), found


for _name in REPLACED:
    fault(f"a user's default {_name}={value_of(_name)}", f"{THE_RESULT}, a note, and no trace in child or record",
          "what a child's environment lacks")(partial(default, name=_name))  # fmt: skip


@fault("JAX_DISABLE_JIT is set", f"{A_LINE}, nothing left", "the preflight")
def _(place: Bench) -> Outcome:
    place.env["JAX_DISABLE_JIT"] = "1"
    words = ("JAX_DISABLE_JIT is '1': nothing is compiled", "unset it")
    return refused_with_nothing_left(place, place.faked().run("alpha"), *words)


@fault("JAX_PLATFORMS names another backend", THE_RESULT, "the case's own backend in the child's environment")
def _(place: Bench) -> Outcome:
    place.env["JAX_PLATFORMS"] = "tpu"
    place.faked().working('[ "$JAX_PLATFORMS" = cpu ] || exit 1')
    return whole(place.run("alpha"))


def spoiling(place: Bench, name: str, value: str, kept: str) -> Outcome:
    """Set what distorts times, and see it noted and recorded."""
    place.faked().env[name] = value
    ran = place.run("alpha")
    good, found = whole(ran, f"note: {name} is '{kept}': ", "unset it unless that is what you measure")
    recorded = place.journal().header().settings or {}
    return good and recorded.get(name) == kept, f"{found}; recorded as '{recorded.get(name)}'"


for _name, _value, _kept in (
    ("CUDA_LAUNCH_BLOCKING", "1", "1"),
    ("CUDA_INJECTION64_PATH", "/opt/someone/libInjection.so", "libInjection.so"),
    ("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "50", "50"),
    ("JAX_DEBUG_NANS", "1", "1"),
    ("TORCHDYNAMO_DISABLE", "1", "1"),
):
    fault(f"{_name} spoils times", f"a note, its value recorded, and {THE_RESULT}", "the variables that distort times")(
        partial(spoiling, name=_name, value=_value, kept=_kept)
    )


@fault("a preloaded library that does not exist (fresh Python)", f"a note, its file's name alone, and {THE_RESULT}",
       "the variables that distort times")  # fmt: skip
def _(place: Bench) -> Outcome:
    place.faked().env["LD_PRELOAD"] = "/home/someone/libno.so"
    good, found = whole(place.run("alpha"), "note: LD_PRELOAD is 'libno.so': ")
    recorded = place.journal().header().settings or {}
    return good and recorded.get("LD_PRELOAD") == "libno.so", f"{found}; recorded as '{recorded.get('LD_PRELOAD')}'"


@fault("variables name folders, hosts and users", "none of them in journal or record", "what leaves the machine")
def _(place: Bench) -> Outcome:
    place.faked().env |= {
        "XLA_FLAGS": "--xla_dump_to=/home/somebody/dump --xla_gpu_autotune_level=0",
        "NCCL_COMM_ID": "somebody:99",
        "TF_CONFIG": json.dumps({"cluster": {"worker": ["somebody:2222"]}}),
        "TORCH_LOGS_OUT": "/home/somebody/log",
        "CUDA_VISIBLE_DEVICES": "GPU-1a2bsomebody",
    }
    good, found = whole(place.run("alpha"))
    text = b"".join(path.read_bytes() for path in place.out.rglob("*.json*"))
    return good and b"somebody" not in text and b"--xla_gpu_autotune_level=0" in text, found


@fault("several workloads with commas between their names", THE_RESULT, "the names")
def _(place: Bench) -> Outcome:
    ran = place.faked().run("alpha,beta", "gamma")
    good, found = whole(ran)
    return good and {record.case.workload for record in ran.records} == {"alpha", "beta", "gamma"}, found


@fault("five troubles of one machine at once", "all five with their remedies, exit 1, nothing left", "the preflight")
def _(place: Bench) -> Outcome:
    group = place.folder / "group"
    group.mkdir()
    (group / "memory.max").write_text(f"{2**28}\n")
    place.out = place.folder / "file" / "records"
    (place.folder / "file").write_text("in the way")
    place.faked().env |= {"JAX_DISABLE_JIT": "1", "SUITE_COMMIT": "feature/x"}
    planted = (("memory_limit", str(group), 2**36), ("refuse", "fcntl.flock", "ENOLCK"))
    words = ("5 things on this machine prevent measuring", "JAX_DISABLE_JIT is '1'", "SUITE_COMMIT is 'feature/x'",
             "choose another folder with --out", "set TMPDIR to a folder on a local disk", "(memory.max)")  # fmt: skip
    return refused_with_nothing_left(place, place.run("alpha", planted=planted), *words)
