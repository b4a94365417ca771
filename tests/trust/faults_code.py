"""Faults of the code and its commit: another checkout, the user's own scripts, another repository."""

import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import msgspec

from suite.child_imports import PACKAGE
from suite.system import software
from trust.bench import A_LINE, ROOT, SMALL, THE_RESULT, Bench, Outcome, fault, refused_with_nothing_left, whole

_OURS = "the result, of this package and its commit"
_SHADOWED = ("random", "json", "re", "typing", "pathlib", "jax", "numpy", "msgspec", "click")


@fault("the current folder is another checkout of the suite (real worker)", _OURS, "what a child imports")
def _(place: Bench) -> Outcome:
    for name in ("__init__", "worker/__init__", "worker/probe", "worker/main", "telemetry/__init__"):
        path = place.folder / "suite" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("raise SystemExit('the code of another checkout')")
    (place.folder / "pyproject.toml").write_text('[project]\nname = "gpu-speedup-suite"\n')
    ran = place.run(SMALL, "--backend", "cpu", "--scope", "step")
    good, found = whole(ran, "not in the checkout")
    return good and {record.commit for record in ran.records} == {"trust"}, found


@fault("scripts in the current folder have the names of modules (fresh Python, real worker)", THE_RESULT,
       "what the command and a child import")  # fmt: skip
def _(place: Bench) -> Outcome:
    for name in _SHADOWED:
        (place.folder / f"{name}.py").write_text(f"raise SystemExit('{name} is a script of the user')")
    return whole(place.run(SMALL, "--backend", "cpu", "--scope", "step", prefix=("env",)))


@fault("an interpreter imports another copy of the suite", A_LINE, "the package that a child names")
def _(place: Bench) -> Outcome:
    place.faked().offering(package="/elsewhere/suite")
    return refused_with_nothing_left(
        place, place.run("alpha"), "imports another suite, from '/elsewhere/suite'", "let it keep PYTHONPATH"
    )


@fault("the suite's own files change while it measures", "one line; completed runs stay", "the digest of the code")
def _(place: Bench) -> Outcome:
    ran = place.faked().run(planted=(("code_changes", 6),))
    good = ran.code == 1 and "were changed while campaign" in ran.said and "Traceback" not in ran.said
    kept = len(place.journal().done())
    return good and kept > 0, f"exit {ran.code}, {kept} runs stay; {ran.said[-200:]}"


@fault("the package is a copy within the user's own repository (fresh Python)", "no commit, and a note that says why",
       "the root of the repository")  # fmt: skip
def _(place: Bench) -> Outcome:
    home = place.folder / "venv" / "site-packages"
    shutil.copytree(PACKAGE, home / "suite", ignore=shutil.ignore_patterns("__pycache__"))
    for words in ("init -q", "add venv", "-c user.name=a -c user.email=a@example.org commit -qm theirs"):
        subprocess.run(["git", "-C", place.folder, *words.split()], check=True, capture_output=True)
    place.faked().offering(package=str(home / "suite"))
    place.env |= {"PYTHONPATH": str(home), "SUITE_COMMIT": ""}
    ran = place.run("alpha", prefix=("env",))
    good, found = whole(ran, "lies in a repository that is not the suite's")
    return good and {record.commit for record in ran.records} == {""}, found


def of_git(place: Bench, name: str, value: str) -> Outcome:
    """Let one of git's variables lead to another repository."""
    other = place.folder / "other"
    other.mkdir()
    subprocess.run(["git", "-C", other, "init", "-q"], check=True)
    place.env |= {name: value.format(other), "SUITE_COMMIT": ""}
    ran = place.faked().run("alpha")
    commits = {record.commit for record in ran.records}
    return ran.good and commits == {software.origin(named="").commit}, f"{whole(ran)[1]}; commit {commits}"


for _name, _value in (
    ("GIT_DIR", "{}/.git"),
    ("GIT_WORK_TREE", "{}"),
    ("GIT_INDEX_FILE", "{}/.git/index"),
    ("GIT_OBJECT_DIRECTORY", "{}/.git/objects"),
    ("GIT_CONFIG_PARAMETERS", "'core.worktree={}'"),
):
    fault(f"{_name} leads to another repository, as in a hook", "the result, with the suite's own commit",
          "git's cleaned environment")(partial(of_git, name=_name, value=_value))  # fmt: skip


@fault("the checkout belongs to another user", "a note that names safe.directory, and the result", "git's answer")
def _(place: Bench) -> Outcome:
    place.env |= {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1", "SUITE_COMMIT": "", "GIT_CONFIG_GLOBAL": os.devnull}
    words = (f"git config --global --add safe.directory {ROOT}", "or set SUITE_COMMIT to the commit")
    return whole(place.faked().run("alpha"), *words)


@fault("git is not installed", "a note that says so, and the result", "git's absence")
def _(place: Bench) -> Outcome:
    tools = place.folder / "tools"
    tools.mkdir()
    for name in ("sh", "dirname", "env"):
        (tools / name).symlink_to(Path(shutil.which(name) or name))
    place.env |= {"PATH": str(tools), "SUITE_COMMIT": ""}
    return whole(place.faked().run("alpha"), "records will name no commit: git cannot be run")


def named(place: Bench, commit: str) -> Outcome:
    """Name a commit that no record may name."""
    place.env["SUITE_COMMIT"] = commit
    words = (f"SUITE_COMMIT is '{commit}', which records do not accept", "or unset it")
    return refused_with_nothing_left(place, place.faked().run("alpha"), *words)


for _name, _value in (("a branch with a slash", "feature/x"), ("longer than a record's field", "x" * 81)):
    fault(f"SUITE_COMMIT is {_name}", f"{A_LINE}, nothing left", "what a record may hold")(
        partial(named, commit=_value)
    )


@fault("a worker's package is older than the suite (no package named)", A_LINE, "the package that a child names")
def _(place: Bench) -> Outcome:
    offer = place.faked().folder / "interpreter" / "offer.json"
    told = msgspec.json.decode(offer.read_bytes())
    offer.write_bytes(msgspec.json.encode({name: value for name, value in told.items() if name != "package"}))
    return refused_with_nothing_left(place, place.run("alpha"), "imports another suite, from 'an older version'")


@fault("the suite is started with python -O (fresh Python)", THE_RESULT, "the records")
def _(place: Bench) -> Outcome:
    place.faked()
    with (place.folder / "log").open("wb") as log:
        command = [sys.executable, "-OO", "-m", "suite", "run", "alpha", "--profile", "smoke", "--out", str(place.out)]
        code = subprocess.run(command, env=place.env, cwd=place.folder, stdout=log, stderr=log, check=False).returncode
    ran = place.loaded(code)
    return whole(ran)
