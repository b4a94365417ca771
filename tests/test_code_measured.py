"""The code that children run is the parent's own, wherever it is started, and no script of the user."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import factory
import msgspec
import pytest

import suite
from suite import child_imports
from suite.driver import campaign, probing, runner
from suite.driver.request import Request
from suite.processes import children
from suite.sessions import bench, resuming
from suite.system import machine, software

PACKAGE = Path(suite.__file__).parent
SAYS = "import suite, json; print(json.dumps([suite.__path__[0], suite.__file__]))"
LIVES = 'import suite.worker.probe as p, multiprocessing, sys; sys.stdout.write(p.__file__ + "\\n")'


@pytest.fixture
def other_checkout(tmp_path, monkeypatch):
    """Stand in another checkout of the suite, which has scripts called as modules that everything imports."""
    for name in (
        "__init__",
        "units",
        "worker/__init__",
        "worker/probe",
        "worker/main",
        "telemetry/__init__",
        "telemetry/process",
    ):
        path = tmp_path / "suite" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("raise SystemExit('the code of another checkout')")
    for name in ("random", "json", "numpy", "jax", "tempfile"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a script of the user')")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("module", ["suite.worker.probe", "suite.telemetry.process"])
def test_a_child_runs_the_parents_package_whatever_lies_in_the_current_folder(other_checkout, module):
    with children.child(module, "jax", python=sys.executable, env=children.environment(None)) as child:
        line = child.line(120)
        assert line is not None, child.ended()


@pytest.mark.usefixtures("other_checkout")
def test_what_can_be_run_is_asked_of_the_parents_package():
    assert probing.offer("jax").package == str(PACKAGE)


def python(code, env, folder):
    return subprocess.run([sys.executable, "-c", code], env=env, cwd=folder, capture_output=True, text=True, check=True)


def test_what_a_child_starts_itself_imports_the_same(other_checkout):
    started = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {LIVES!r}], check=True)"
    env = {**os.environ, **child_imports.child_imports()}
    assert python(started, env, other_checkout).stdout.strip() == str(PACKAGE / "worker" / "probe.py")


def test_the_package_keeps_its_own_places_on_the_path_of_a_child(other_checkout):
    env = {**os.environ, **child_imports.child_imports()}
    assert json.loads(python(SAYS, env, other_checkout).stdout) == [str(PACKAGE), str(PACKAGE / "__init__.py")]


def test_a_script_in_the_packages_own_folder_does_not_reach_a_child(tmp_path):
    """As where somebody stands in the checkout that is measured, and keeps scripts there."""
    shutil.copytree(PACKAGE, tmp_path / "suite", ignore=shutil.ignore_patterns("__pycache__", "records"))
    (tmp_path / "random.py").write_text("raise SystemExit('a script of the user')")
    code = "import runpy, sys; sys.path.insert(0, sys.argv[1]); from suite import child_imports as c; import os; "
    code += "os.chdir(sys.argv[1]); print(c.child_imports()['PYTHONPATH'])"
    path = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd="/", capture_output=True, text=True, check=True
    ).stdout.strip()
    assert str(tmp_path) not in path.split(os.pathsep)
    env = {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"}
    said = python(f"import random; {SAYS}", env, tmp_path).stdout
    assert json.loads(said)[0] == str(tmp_path / "suite")


def test_the_suite_runs_in_a_folder_whose_scripts_have_the_names_of_modules(tmp_path):
    """All but those that Python itself imports before it reads the suite's first line."""
    (tmp_path / "first.py").write_text("import sys; print(*sys.modules)")
    env = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    run = {"cwd": tmp_path, "env": env, "capture_output": True, "text": True, "check": True}
    first = subprocess.run([sys.executable, "-m", "first"], **run).stdout.split()
    names = {*sys.stdlib_module_names, "jax", "numpy", "click", "msgspec", "rich", "psutil"} - {*first}
    assert {"random", "json", "re", "pathlib", "typing"} <= names
    for name in names:
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('{name} is a script of the user')")
    assert "mnist_mlp" in subprocess.run([sys.executable, "-m", "suite", "list"], **run).stdout


def test_another_interpreter_gets_the_package_alone():
    assert child_imports.child_imports("/usr/bin/other")["PYTHONPATH"] == str(PACKAGE / "child_path")


def test_a_path_that_a_user_chose_reaches_the_own_interpreter(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path), ""])
    assert str(tmp_path) in child_imports.child_imports()["PYTHONPATH"].split(os.pathsep)


def test_an_interpreter_that_imports_another_suite_is_refused(tmp_path, monkeypatch):
    other = tmp_path / "elsewhere"
    shutil.copytree(PACKAGE, other / "suite", ignore=shutil.ignore_patterns("__pycache__"))
    stubborn = tmp_path / "python"
    stubborn.write_text(f'#!/bin/sh\nPYTHONPATH="{other}" exec "{sys.executable}" "$@"\n')
    stubborn.chmod(0o755)
    monkeypatch.setenv("SUITE_JAX_PYTHON", str(stubborn))
    with pytest.raises(RuntimeError) as refused:
        probing.offer("jax")
    assert f"imports another suite, from '{other / 'suite'}', and this one lies in '{PACKAGE}'" in str(refused.value)
    assert "PYTHONPATH" in str(refused.value)


def git(folder, *words, **options):
    named = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    return subprocess.run(
        ["git", "-C", str(folder), *named, *words], check=True, capture_output=True, text=True, **options
    ).stdout.strip()


PROJECT = '[project]\nname = "gpu-speedup-suite"\n'


def repository(folder, project=PROJECT):
    """Make a repository with a package called suite and a commit; return that commit's short name."""
    (folder / "suite" / "models").mkdir(parents=True)
    for name in ("suite/__init__.py", "suite/models/net.py"):
        (folder / name).write_text("")
    (folder / "pyproject.toml").write_text(project)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", str(folder))
    return git(folder, "rev-parse", "--short=12", "HEAD")


@pytest.fixture(autouse=True)
def no_commit_named(monkeypatch):
    monkeypatch.delenv("SUITE_COMMIT", raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)


def test_a_checkout_names_its_commit_and_a_change_of_its_package(tmp_path):
    found = repository(tmp_path)
    (tmp_path / "notes.md").write_text("beside it")
    assert software.origin(tmp_path / "suite") == software.Origin(commit=found)
    git(tmp_path, "config", "status.showUntrackedFiles", "no")
    (tmp_path / "suite" / "models" / "another.py").write_text("")
    assert software.commit(tmp_path / "suite") == f"{found}+changed"


def test_a_git_worktree_names_its_own_commit(tmp_path):
    repository(tmp_path / "first")
    git(tmp_path / "first", "worktree", "add", "-q", str(tmp_path / "second"))
    (tmp_path / "second" / "suite" / "models" / "net.py").write_text("another")
    git(tmp_path / "second", "commit", "-qam", "other")
    found = git(tmp_path / "second", "rev-parse", "--short=12", "HEAD")
    assert software.commit(tmp_path / "second" / "suite") == found != software.commit(tmp_path / "first" / "suite")


@pytest.mark.parametrize("place", ["venv/lib/site-packages", "."])
def test_a_copy_within_the_users_own_repository_has_no_commit(tmp_path, place):
    copied = tmp_path / place
    repository(copied, '[project]\nname = "the-users-own"\n')
    if place != ".":
        shutil.rmtree(copied / ".git")
        git(tmp_path, "init", "-q")
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-qm", "one")
    found = software.origin(copied / "suite")
    assert found.commit == ""
    assert "lies in a repository that is not the suite's" in found.problem
    assert "SUITE_COMMIT" in found.problem


def test_a_copy_that_is_installed_within_the_suites_own_checkout_has_no_commit(tmp_path):
    """Its files need not be those of the checkout around it."""
    repository(tmp_path)
    installed = tmp_path / ".nox" / "bench" / "site-packages" / "suite"
    shutil.copytree(tmp_path / "suite", installed)
    assert software.commit(installed) == ""


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("GIT_DIR", "{other}/.git"),
        ("GIT_WORK_TREE", "{other}"),
        ("GIT_INDEX_FILE", "{other}/.git/index"),
        ("GIT_OBJECT_DIRECTORY", "{other}/.git/objects"),
        ("GIT_COMMON_DIR", "{other}/.git"),
        ("GIT_CEILING_DIRECTORIES", "{here}"),
        ("GIT_NAMESPACE", "other"),
        ("GIT_CONFIG_PARAMETERS", "'core.worktree={other}'"),
    ],
)
def test_gits_own_variables_lead_to_no_other_repository(tmp_path, monkeypatch, variable, value):
    found = repository(tmp_path / "here")
    repository(tmp_path / "other")
    (tmp_path / "other" / "suite" / "models" / "net.py").write_text("other")
    git(tmp_path / "other", "commit", "-qam", "another")
    monkeypatch.setenv(variable, value.format(here=tmp_path / "here", other=tmp_path / "other"))
    assert software.commit(tmp_path / "here" / "suite") == found


def test_a_checkout_of_another_user_is_noted_with_what_to_do(tmp_path, monkeypatch):
    found = repository(tmp_path)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    problem = software.origin(tmp_path / "suite").problem
    assert "git does not trust another user's checkout" in problem
    assert f"git config --global --add safe.directory {tmp_path}" in problem
    assert "SUITE_COMMIT" in problem
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")  # the remedy, where there is no home to write it to
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "safe.directory")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(tmp_path))
    assert software.origin(tmp_path / "suite") == software.Origin(commit=found)


def test_without_git_or_a_checkout_it_is_said_that_no_commit_is_known(tmp_path, monkeypatch):
    (tmp_path / "suite").mkdir()
    assert f"'{tmp_path}' is not a checkout" in software.origin(tmp_path / "suite").problem
    (tmp_path / ".git").write_text("gitdir: /nowhere/.git/worktrees/gone")  # a worktree without its repository
    assert "git cannot read" in software.origin(tmp_path / "suite").problem
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "git cannot be run" in software.origin(tmp_path / "suite").problem


@pytest.mark.parametrize("named", ["feature/x", "a b", "x" * 81, "v1;rm", "grün\u2028x"])
def test_a_commit_that_no_record_can_name_is_refused_before_anything_is_measured(monkeypatch, tmp_path, named):
    monkeypatch.setenv("SUITE_COMMIT", named)
    monkeypatch.setattr(probing, "offer", lambda name: pytest.fail("measuring had begun"))
    with pytest.raises(RuntimeError, match=r"SUITE_COMMIT is '.*set it to at most 80 letters.*or unset it"):
        bench.planned(Request(), tmp_path)


@pytest.mark.parametrize("named", ["0123456789ab", "0123456789ab+changed", "v1.2-rc_3", " v1 "])
def test_a_commit_that_is_named_well_stands_in_records(monkeypatch, named):
    monkeypatch.setenv("SUITE_COMMIT", named)
    assert software.commit() == named.strip()


def test_a_named_commit_that_is_not_the_checkouts_is_noted(monkeypatch):
    monkeypatch.setattr(software, "_git", lambda folder, *words: (0, GIT.get(words[0], ""), ""))
    for named, noted in (("0123456", False), ("0123456789ab+changed", False), ("fedcba9", True), ("v1", False)):
        monkeypatch.setenv("SUITE_COMMIT", named)
        assert ("SUITE_COMMIT" in software.doubt(software.origin())) == noted


GIT = {"rev-parse": f"{PACKAGE.parent}\n0123456789ab"}


def test_a_git_that_hangs_is_asked_once(tmp_path, monkeypatch):
    (tmp_path / "git").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(software, "_git_hangs", threading.Event())
    monkeypatch.setattr(software, "_GIT_SECONDS", 0.3)
    began = time.monotonic()
    problems = {software.origin().problem for _ in range(5)}
    assert time.monotonic() - began < 1.0
    (problem,) = problems
    assert "git cannot be run: no answer within 10 s; see why git status takes so long, or set SUITE_COMMIT" in problem


def test_a_checkout_without_a_commit_says_so(tmp_path):
    repository(tmp_path)
    shutil.rmtree(tmp_path / ".git")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    assert f"the checkout '{tmp_path}' has no commit" in software.origin(tmp_path / "suite").problem


def test_a_commit_takes_three_calls_of_git(monkeypatch):
    asked = []
    real = software._git
    monkeypatch.setattr(software, "_git", lambda folder, *words: asked.append(words[0]) or real(folder, *words))
    assert software.commit()
    assert asked == ["rev-parse", "ls-files", "status"]


def test_who_stands_in_another_checkout_is_told_which_one_is_measured(tmp_path, monkeypatch):
    repository(tmp_path)
    (tmp_path / "site").mkdir()
    monkeypatch.chdir(tmp_path / "site")
    assert f"lies in '{PACKAGE.parent}', not in the checkout '{tmp_path}'" in software.elsewhere()
    monkeypatch.chdir(PACKAGE)
    assert software.elsewhere() == ""


def test_files_changed_under_one_name_of_a_commit_are_told_apart(tmp_path):
    repository(tmp_path)
    before = software.code(tmp_path / "suite")
    (tmp_path / "suite" / "notes.md").write_text("no module")
    assert software.code(tmp_path / "suite") == before
    (tmp_path / "suite" / "models" / "net.py").write_text("1")
    first = software.code(tmp_path / "suite")
    (tmp_path / "suite" / "models" / "net.py").write_text("2")
    assert len({before, first, software.code(tmp_path / "suite")}) == 3


def test_nothing_is_resumed_or_noted_with_files_that_were_changed(monkeypatch):
    plan = factory_header()
    runner.check_unchanged(plan)
    monkeypatch.setattr(software, "code", lambda: "another")
    with pytest.raises(RuntimeError, match=r"were changed while campaign .* restore the files and add --resume"):
        runner.check_unchanged(plan)
    with pytest.raises(RuntimeError, match="code of that commit"):
        resuming.check_same_settings(plan)
    runner.check_unchanged(msgspec.structs.replace(plan, code=""))  # of an older version


def factory_header():
    here = machine.machine()
    cases = (factory.record().case,)
    return campaign.planned(cases, [factory.description()], "quick", here, datetime(2026, 1, 1, tzinfo=UTC))
