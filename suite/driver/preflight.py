"""What can be seen of a machine within a second, before a campaign is planned or anything is written.

No process of a framework is started: JAX's own answer takes seconds, see probing.py.
"""

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from suite import units
from suite.child_imports import PACKAGE
from suite.data import store
from suite.driver.fitness import Check, Verdict, check
from suite.processes import lock
from suite.results.records import files
from suite.system import folders, limits, machine, software, variables

_LITTLE_MEMORY_BYTES = 6 * 2**30
_NO_SPACE_BYTES, _LITTLE_SPACE_BYTES = 10 * 2**20, 2**30
_SHARED = Path("/dev/shm")
_NO_DATA = "new data sets cannot be prepared"


def passed(checks: Iterable[Check]) -> tuple[str, ...]:
    """Return the remarks, as notes for the user. Raises RuntimeError with all that prevents measuring, at once."""
    checks = tuple(checks)
    bad = [each.advice for each in checks if each.verdict == "bad"]
    if len(bad) > 1:
        raise RuntimeError("\n- ".join((f"{len(bad)} things on this machine prevent measuring:", *bad)))
    if bad:
        raise RuntimeError(bad[0])
    return tuple(each.advice for each in checks if each.verdict == "remark")


def checks(out: Path = files.LOCAL, compile_cache: Path | None = None, gpu: bool = False) -> tuple[Check, ...]:
    """Return the checks of code, variables, folders, memory and GPUs here; each advice stands alone.

    `gpu` says whether a GPU is asked for.
    """
    return (
        *of_a_plan(out),
        *_of_data(),
        *_of_temporary_files(),
        *_of_a_cache(compile_cache),
        *_of_limits(),
        *_of_gpus(gpu),
    )


def of_a_plan(out: Path) -> tuple[Check, ...]:
    """Return those checks that hold wherever a plan is measured, such as by the jobs of a cluster."""
    return (*_of_code(), *_of_variables(), _folder("results", out, "choose another folder with --out"))


def of_a_follower() -> tuple[Check, ...]:
    """Return those checks that hold for a host that joins another's campaign, and so writes no results."""
    return (*_of_code(), *_of_variables(), *_of_temporary_files(), *_of_limits())


def _of_code() -> Iterator[Check]:
    """Yield the checks of the code that will be measured and its commit."""
    yield check("code", str(PACKAGE), software.elsewhere())
    try:
        here = software.origin()
    except ValueError as error:  # of SUITE_COMMIT
        yield check("commit", os.environ["SUITE_COMMIT"], str(error), "bad")
    else:
        yield check("commit", here.commit or "unknown", software.doubt(here))


def _of_variables() -> Iterator[Check]:
    """Yield a check for each variable that prevents measuring, distorts times or is not passed on, and the others."""
    remarks = variables.spoiling() | variables.replaced()
    prevent = variables.preventing()
    for name, advice in prevent.items():
        yield check("variable", name, advice, "bad")
    for name, advice in remarks.items():
        yield check("variable", name, advice)
    others = [name for name in variables.settings() if name not in remarks | prevent]
    yield check("recorded variables", ", ".join(others) or "none")


def _folder(name: str, path: Path, remedy: str) -> Check:
    """Return the check of a folder that has to be written to."""
    tried = folders.probed(path)
    if tried.error:
        return check(name, str(path), str(files.refusal(path, tried.error, remedy)), "bad")
    free = units.memory(tried.free_bytes) if tried.free_bytes is not None else "an unknown space"
    shown = f"{path} ({free} free)"
    if tried.free_bytes is not None and tried.free_bytes < _LITTLE_SPACE_BYTES:
        verdict: Verdict = "bad" if tried.free_bytes < _NO_SPACE_BYTES else "remark"
        return check(name, shown, f"'{path}' has {free} free; free some space, or {remedy}", verdict)
    return check(name, shown)


def _of_data() -> Iterator[Check]:
    """Yield the check of the data folder: one that cannot be written to serves what needs no new data set."""
    remedy = f"set {store.VARIABLE} to a folder that you may write to"
    try:
        place = store.folder()
    except RuntimeError as error:
        yield check("data", "none", f"{_NO_DATA}: {error}")
        return
    tried = _folder("data", place, remedy)
    yield check("data", tried.found, f"{_NO_DATA}: {tried.advice}") if tried.verdict == "bad" else tried


def _of_temporary_files() -> Iterator[Check]:
    """Yield the check of the folder of temporary files and locks."""
    asked = os.environ.get("TMPDIR", "")
    try:
        place = tempfile.gettempdir()
    except FileNotFoundError:
        yield check("temporary files", asked or "none", "no folder for temporary files; set TMPDIR to one", "bad")
        return
    tried = _folder("temporary files", Path(place), "set TMPDIR to a folder that you may write to")
    if tried.verdict == "good" and asked and Path(asked).absolute() != Path(place):
        instead = f"TMPDIR is '{asked}', which cannot be used, so '{place}' is used"
        tried = check("temporary files", tried.found, f"{instead}; runs with another TMPDIR do not see this one")
    yield tried
    try:
        lock.place()
    except RuntimeError as error:
        yield check("locks", "none", str(error), "bad")


def _of_a_cache(path: Path | None) -> Iterator[Check]:
    if path is not None:
        yield _folder("compile cache", path, "choose another folder with --compile-cache, or leave it out")


def _of_limits() -> Iterator[Check]:
    """Yield the checks of memory and of what else a worker needs."""
    yield _memory(limits.memory_limits())
    for limit in limits.counts():
        shown = f"{limit.left:.0f}{limit.unit} ({limit.what})"
        if limit.left < limit.least:
            needed = f"a worker needs at least {limit.least}{limit.unit}; raise {limit.what}"
            yield check(limit.name, shown, f"{limit.name}: {shown} left, {needed}", "bad")
        else:
            short = limit.left < limit.enough
            yield check(limit.name, shown, f"larger cases may need more {limit.name} than {shown}" if short else "")
    if sys.platform == "linux":
        problem = folders.probed(_SHARED).problem if _SHARED.is_dir() else "it is missing"
        lacking = f"'{_SHARED}' cannot be used ({problem}): pipelines of processes and several GPUs need it"
        yield check("shared memory", str(_SHARED), lacking if problem else "")


def _memory(sizes: tuple[limits.Limit, ...]) -> Check:
    """Return the check of the memory that a worker may use, by the first limit that is too small, else the smallest."""
    short = [limit for limit in sizes if limit.of_bytes < limit.least_bytes]
    least = (*short, *sizes)[0]
    shown = f"{units.memory(least.of_bytes)}, {least.what}"
    if short:
        needed = f"the smallest network needs {units.memory(least.least_bytes)}; raise it"
        return check("memory", shown, f"a process may use {shown}; {needed}", "bad")
    small = least.of_bytes < _LITTLE_MEMORY_BYTES
    return check("memory", shown, f"the larger networks may not fit into {shown}" if small else "")


def _of_gpus(asked: bool) -> Iterator[Check]:
    """Yield the check of the GPUs that CUDA may use, as the driver says; without a driver JAX decides.

    If none is asked for, the plan says which are left out and why.
    """
    shown = os.environ.get("CUDA_VISIBLE_DEVICES")
    chosen = "" if shown is None else f" (CUDA_VISIBLE_DEVICES is '{shown}')"
    names = ", ".join(gpu.name for gpu in machine.gpus())
    why = machine.why_no_gpu()
    noted = "" if names or shown is not None or not why else f": {why}"
    yield check("visible GPUs", (names or "none") + chosen + noted, why if asked else "", "bad")
