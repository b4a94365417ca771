"""The versions of the software here, and their differences from another machine's."""

import hashlib
import os
import platform
import re
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from suite.child_imports import PACKAGE
from suite.results.records.acceptance import COMMIT

_PROJECT = re.compile(r"""^name\s*=\s*["']gpu-speedup-suite["']""", re.MULTILINE)  # in the root's pyproject.toml
# These would point git to another repository, as in a hook or in `git rebase --exec`. Variables of configuration files
# stay, since safe.directory is set there.
_OF_A_REPOSITORY = re.compile(
    r"GIT_(DIR|WORK_TREE|INDEX_FILE|INDEX_VERSION|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE"
    r"|PREFIX|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|SHALLOW_FILE|GRAFT_FILE|REPLACE_REF_BASE"
    r"|NO_REPLACE_OBJECTS|IMPLICIT_WORK_TREE|CONFIG|CONFIG_PARAMETERS|INTERNAL_SUPER_PREFIX|DEFAULT_HASH|TRACE\w*)"
)
_GIT_SECONDS = 10.0
_git_hangs = threading.Event()  # then it is not asked again
_NO_ANSWER = f"no answer within {_GIT_SECONDS:g} s"
_HASH = re.compile(r"[0-9a-f]{7,40}(\+changed)?")


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The commit of the running suite; if unknown, the problem and its remedy."""

    commit: str = ""
    problem: str = ""


def versions(*names: str) -> dict[str, str]:
    """Return the versions of those packages that are installed."""
    known = {}
    for name in names:
        with suppress(metadata.PackageNotFoundError):
            known[name] = metadata.version(name)
    return known


def commit(folder: Path = PACKAGE) -> str:
    """Return the suite's commit, with '+changed' if a file of the package differs from it; '' if unknown.

    Raises ValueError if SUITE_COMMIT is not a valid name of a commit.
    """
    return origin(folder).commit


def origin(folder: Path = PACKAGE, named: str | None = None) -> Origin:
    """Return the commit of the suite's own repository, or why it is unknown.

    SUITE_COMMIT, or `named` instead of it, takes precedence: the files may have been copied without their history.
    Raises ValueError if it is not a valid name of a commit.
    """
    named = os.environ.get("SUITE_COMMIT", "") if named is None else named
    if named := named.strip():
        if not COMMIT.fullmatch(named):
            raise ValueError(
                f"SUITE_COMMIT is '{named}', which records do not accept; set it to at most 80 letters, digits, '.', "
                "'_', '+' and '-', such as what git rev-parse --short=12 HEAD prints, or unset it"
            )
        return Origin(commit=named)
    root = folder.resolve().parent
    code, answer, message = _git(folder, "rev-parse", "--show-toplevel", "--short=12", "HEAD")
    top, _, commit = answer.partition("\n")
    if code is None:
        remedy = "see why git status takes so long" if message == _NO_ANSWER else "install git"
        return _unknown(f"git cannot be run: {message}", remedy)
    if code and not top:
        if "safe.directory" in message:
            return _unknown(
                f"git does not trust another user's checkout, '{root}'",
                f"git config --global --add safe.directory {root}",
            )
        if not (root / ".git").exists():
            return _unknown(f"'{root}' is not a checkout", "run the suite from its checkout")
        return _unknown(f"git cannot read '{root}' ({message})", "repair the checkout")
    if Path(top).resolve() != root or not _is_the_suites(root):
        # A virtual environment inside the user's own repository, whose commit says nothing about this code.
        return _unknown(f"'{folder}' lies in a repository that is not the suite's", "run the suite from its checkout")
    if code:
        return _unknown(f"the checkout '{root}' has no commit ({message})", "commit its files")
    code, changed, _ = _git(folder, "status", "--porcelain", "--untracked-files=normal", "--", ".")
    return Origin(commit=commit + ("+changed" if changed or code != 0 else ""))


def _unknown(problem: str, remedy: str) -> Origin:
    return Origin(problem=f"records will name no commit: {problem}; {remedy}, or set SUITE_COMMIT to the commit")


def _is_the_suites(root: Path) -> bool:
    """Return whether the project at the root of a repository is the suite, and git tracks its package."""
    try:
        named = _PROJECT.search((root / "pyproject.toml").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return False
    return bool(named) and _git(root, "ls-files", "--error-unmatch", "suite/__init__.py")[0] == 0


def _git(folder: Path, *arguments: str) -> tuple[int | None, str, str]:
    """Return git's exit code, output and last line of errors; the code is None if git cannot be run."""
    if _git_hangs.is_set():
        return None, "", _NO_ANSWER
    kept = {name: value for name, value in os.environ.items() if not _OF_A_REPOSITORY.fullmatch(name)}
    try:
        answer = subprocess.run(
            ["git", "-C", str(folder), "-c", "core.fsmonitor=false", *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_GIT_SECONDS,
            env={**kept, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
        )
    except subprocess.TimeoutExpired:
        _git_hangs.set()
        return None, "", _NO_ANSWER
    except OSError as error:
        return None, "", error.strerror or str(error)
    lines = answer.stderr.strip().splitlines()
    message = next((line for line in lines if "safe.directory" in line), lines[-1] if lines else "")
    return answer.returncode, answer.stdout.strip(), message


def code(folder: Path = PACKAGE) -> str:
    """Return a digest of the package's modules; it tells apart two states that are both '+changed'.

    It is the same whether a checkout ends lines with LF or, as git does with core.autocrlf, with CRLF.
    """
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        content = path.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{path.relative_to(folder).as_posix()}\n{len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]


def another_checkout(folder: Path | None = None) -> Path | None:
    """Return the checkout of the suite around the current folder, if it is not the running one; else None."""
    here = (folder or Path.cwd()).resolve()
    for place in (here, *here.parents):
        if (place / "suite" / "__init__.py").is_file() and (place / "pyproject.toml").is_file():
            text = (place / "pyproject.toml").read_text(encoding="utf-8", errors="replace")
            return place if _PROJECT.search(text) and place / "suite" != PACKAGE else None
    return None


def _alike(one: str, other: str) -> bool:
    """Return whether two names may mean the same commit: one begins with the other, or is empty."""
    one, other = one.removesuffix("+changed"), other.removesuffix("+changed")
    return one.startswith(other) or other.startswith(one)


def doubt(here: Origin) -> str:
    """Return why records will name no commit, or one that is not the checkout's; '' if they name it."""
    if _HASH.fullmatch(here.commit) and os.environ.get("SUITE_COMMIT", "").strip():
        kept = origin(named="").commit
        if not _alike(here.commit, kept):
            return f"SUITE_COMMIT is '{here.commit}', which records will name, but the checkout is at '{kept}'"
    return here.problem


def elsewhere() -> str:
    """Return which checkout the running suite is not from, although the user stands in it; '' if there is none."""
    other = another_checkout()
    return f"the running suite lies in '{PACKAGE.parent}', not in the checkout '{other}'" if other else ""


def here() -> dict[str, str]:
    """Return commit, code and package versions, which must agree on machines that measure together."""
    packages = versions("jax", "jaxlib", "flax", "optax", "numpy")
    return {"commit": commit(), "code": code(), "python": platform.python_version(), **packages}


def differences(theirs: Mapping[str, str], ours: Mapping[str, str]) -> str:
    """Return the differences in words; '' if there are none."""
    names = [name for name in {**ours, **theirs} if theirs.get(name) != ours.get(name)]
    return "; ".join(f"{name}=={theirs.get(name)} there, {name}=={ours.get(name)} here" for name in names)
