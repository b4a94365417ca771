"""Faults of GPUs and their driver; where there is no GPU, a stub of the driver's library answers."""

import subprocess
import sys
from functools import partial
from unittest import mock

from suite.system import machine
from trust import fake
from trust.bench import (
    A_LINE,
    A_RECORD,
    HERE,
    PATCHES,
    ROOT,
    SMALL,
    Bench,
    Outcome,
    fault,
    recorded,
    refused,
    refused_with_nothing_left,
    whole,
)


@fault("no GPU, and one is asked for", A_LINE, "what JAX sees")
def _(place: Bench) -> Outcome:
    place.env["CUDA_VISIBLE_DEVICES"] = ""
    return refused(place.run(SMALL, "--backend", "gpu"), "backend 'gpu' asked for, JAX sees only 'cpu'")


@fault("the driver does not fit its library", "one line that says so", "the driver's answer", sample=True)
def _(place: Bench) -> Outcome:
    import pynvml

    broken = mock.Mock(side_effect=pynvml.NVMLError(pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH))
    from suite.driver.plan import make_plan
    from suite.driver.request import Request
    from suite.worker_api.protocol import Offer

    offer = Offer(implementation="jax", backends={"cpu": ("cpu",)}, workloads=(fake.description("alpha"),))
    with PATCHES, mock.patch.object(pynvml, "nvmlInit", broken):
        found = machine.gpus()
        try:
            make_plan(Request(backends=("gpu",)), HERE, {"jax": offer})
        except RuntimeError as error:
            return found == () and "driver does not answer: RM has detected" in str(error), str(error)
    return False, "no error"


@fault("a GPU that JAX then does not have (silent fallback)", A_RECORD, "the backend obtained beside the one asked for")
def _(place: Bench) -> Outcome:
    place.faked("real worker", backends=("cpu", "gpu"), names=("mnist_mlp",))
    ran = place.run("mnist_mlp", "--backend", "gpu")
    good, found = recorded(ran, "")
    return good and all("gpu" in r or "cuda" in r.lower() for r in ran.reasons) and not any(
        run.samples for record in ran.records for run in record.runs
    ), found  # fmt: skip


_A100 = "NVIDIA A100-SXM4-40GB"
_SLICES = ("gpus", "slices", ["1g.5gb", "3g.20gb"], [_A100])
_FIRST, _SECOND = "MIG-aaaa1111-0000-0000-0000-000000000000", "MIG-bbbb2222-0000-0000-0000-000000000000"
_BOTH = ("gpus", "cards", ["Tesla K80", "NVIDIA H100"], [[3, 7], [9, 0]], "580.1")
_BY = "the driver's library (a stub)"


def sliced(place: Bench, visible: str | None, kind: str) -> Outcome:
    """Measure on a card that MIG has cut."""
    name = f"{_A100} MIG {kind}"
    place.faked(backends=("cpu", "gpu")).offering(backends={"cpu": ["cpu"], "gpu": [name]})
    if visible is not None:
        place.env["CUDA_VISIBLE_DEVICES"] = visible
    good, found = whole(place.run("alpha", "--backend", "gpu", planted=(_SLICES,)))
    (machine_,) = {record.machine for record in place.loaded(0).records}
    (gpu,) = machine_.gpus
    memory = {"1g.5gb": 4864, "3g.20gb": 19968}[kind] * 2**20
    named = gpu.slice == kind and gpu.name == name and gpu.memory_bytes == memory and f"mig-{kind}" in machine_.name
    return good and named, f"{found}; '{machine_.name}', {gpu.memory_bytes >> 20} MiB"


for _what, _visible, _kind in (
    ("MIG is on", None, "1g.5gb"),
    ("CUDA_VISIBLE_DEVICES names a slice by its UUID", _SECOND, "3g.20gb"),
    ("CUDA_VISIBLE_DEVICES names a slice as older drivers do", "MIG-GPU-00000000/2/0", "3g.20gb"),
):
    fault(_what, "the record names the slice, with its own memory", _BY)(partial(sliced, visible=_visible, kind=_kind))


def not_shown(place: Bench, visible: str | None, stub: tuple, *words: str) -> Outcome:
    """Ask for a GPU that CUDA may not use."""
    if visible is not None:
        place.env["CUDA_VISIBLE_DEVICES"] = visible
    return refused_with_nothing_left(place, place.faked().run("alpha", "--backend", "gpu", planted=(stub,)), *words)


for _what, _visible, _stub, _words in (
    ("a slice that is not there any more", "MIG-cccc", _SLICES,
     (f"{_FIRST} ({_A100} MIG 1g.5gb), {_SECOND}", "a slice gets a new UUID each time it is made")),
    ("a slice where MIG is off", _FIRST, _BOTH, ("0 (Tesla K80), 1 (NVIDIA H100): set it to one of these",)),
    ("a card that the driver has not", "7", _BOTH, ("CUDA_VISIBLE_DEVICES is '7', which names none",)),
    ("one card twice", "0,0", _BOTH, ("CUDA_VISIBLE_DEVICES is '0,0'",)),
    ("no card", "", _BOTH, ("CUDA_VISIBLE_DEVICES is ''", "unset it")),
):  # fmt: skip
    fault(f"CUDA_VISIBLE_DEVICES names {_what}", f"{A_LINE}, nothing left", _BY)(
        partial(lambda place, visible, stub, words: not_shown(place, visible, stub, *words),
                visible=_visible, stub=_stub, words=_words))  # fmt: skip


@fault("MIG is on without a slice", f"{A_LINE}, nothing left", _BY)
def _(place: Bench) -> Outcome:
    return not_shown(place, None, ("gpus", "slices", [], [_A100]), "make a slice (nvidia-smi mig -cgi PROFILE -C)")


@fault(
    "an old card beside a new one, and JAX has no CUDA", "one line that advises the extra of the new one, exit 1", _BY
)
def _(place: Bench) -> Outcome:
    words = "install the 'cuda13' extra"
    good, found = not_shown(place, None, _BOTH, words)
    return good and "update the driver" not in found, found


@fault("the doctor of an old card beside a new one", "each card judged by itself", _BY)
def _(place: Bench) -> Outcome:
    place.env["COLUMNS"] = "1000"
    ran = place.faked().ran("doctor", planted=(_BOTH,))
    said = ("GPU 1", "'Tesla K80'", "hide this one with CUDA_VISIBLE_DEVICES", "GPU 2", "install the 'cuda13' extra")
    return all(words in ran.said for words in said) and "update the driver" not in ran.said, ran.said[-300:]


@fault("noxfile.py beside an old card and a new one", "the new one's extra, and one line that says why", "nvidia-smi")
def _(place: Bench) -> Outcome:
    tool = place.folder / "nvidia-smi"
    rows = "GPU-0a2b, Tesla K80, 580.65, 3.7\nGPU-2a2b, NVIDIA H100, 580.65, 9.0"
    tool.write_text(f"#!/bin/sh\ncat <<'END'\n{rows}\nEND\n")
    tool.chmod(0o755)
    code = "import runpy; print(runpy.run_path('noxfile.py')['accelerator']())"
    env = {name: value for name, value in place.env.items() if name not in ("SUITE_ACCEL", "CUDA_VISIBLE_DEVICES")}
    env["PATH"] = f"{place.folder}:/usr/bin:/bin"
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    if "No module named 'nox'" in answer.stderr:
        return True, "not tried: nox is not installed here"
    found = answer.stdout.strip() or answer.stderr[-300:]
    return "('cuda13'," in found and "too old for it: Tesla K80" in found, found


@fault("a baseline sees another GPU first", f"{A_LINE}, nothing left", "the GPUs that each implementation sees")
def _(place: Bench) -> Outcome:
    torch = Bench(place.folder / "torch").faked()
    torch.offering(implementation="torch", workloads=[], backends={"cpu": ["cpu"], "gpu": ["Tesla K80"]})
    place.faked().offering(backends={"cpu": ["cpu"], "gpu": ["NVIDIA H100", "Tesla K80"]})
    place.env["SUITE_TORCH_PYTHON"] = torch.env["SUITE_JAX_PYTHON"]
    ran = place.run("alpha", "--implementation", "jax,torch", "--backend", "gpu", planted=(_BOTH,))
    return refused_with_nothing_left(place, ran, "its first GPU is 'Tesla K80' and JAX's is 'NVIDIA H100'")


@fault("JAX sees a slice that the driver does not show", f"{A_LINE}, nothing left", "JAX's answer beside the driver's")
def _(place: Bench) -> Outcome:
    place.faked().offering(backends={"cpu": ["cpu"], "gpu": ["NVIDIA H100 MIG 1g.10gb"]})
    words = ("JAX sees 'NVIDIA H100 MIG 1g.10gb', a slice, but the driver shows", "set CUDA_VISIBLE_DEVICES")
    return refused_with_nothing_left(place, place.run("alpha", "--backend", "gpu", planted=(_BOTH,)), *words)
