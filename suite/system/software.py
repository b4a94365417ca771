"""Which versions are at work here, and how they differ from those elsewhere."""

import hashlib
import os
import platform
import re
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from suite.child_imports import PACKAGE
from suite.results.records.acceptance import COMMIT

_PROJECT = re.compile(r"""^name\s*=\s*["']gpu-speedup-suite["']""", re.MULTILINE)  # in the root's pyproject.toml
# They would lead git to another repository, as in a hook or below `git rebase --exec`. Those that name files of
# settings stay, since safe.directory stands there.
_OF_A_REPOSITORY = re.compile(
    r"GIT_(DIR|WORK_TREE|INDEX_FILE|INDEX_VERSION|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE"
    r"|PREFIX|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|SHALLOW_FILE|GRAFT_FILE|REPLACE_REF_BASE"
    r"|NO_REPLACE_OBJECTS|IMPLICIT_WORK_TREE|CONFIG|CONFIG_PARAMETERS|INTERNAL_SUPER_PREFIX|DEFAULT_HASH|TRACE\w*)"
)
_GIT_SECONDS = 20
_HASH = re.compile(r"[0-9a-f]{7,40}(\+changed)?")


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Which commit of the suite runs; where that is not known, why and what helps."""

    commit: str = ""
    problem: str = ""


def versions(*names: str) -> dict[str, str]:
    """Return the versions of packages, those that are installed."""
    known = {}
    for name in names:
        with suppress(metadata.PackageNotFoundError):
            known[name] = metadata.version(name)
    return known


def commit(folder: Path = PACKAGE) -> str:
    """Return the suite's commit, '+changed' appended where any file of the package differs from it; '' if not known.

    Raises ValueError if SUITE_COMMIT is none that a record can name.
    """
    return origin(folder).commit


def origin(folder: Path = PACKAGE, named: str | None = None) -> Origin:
    """Return the commit of the suite's package, of its own repository alone, or why it is not known.

    What SUITE_COMMIT names, or `named` in its place, comes first: the files may have been brought without their
    history. Raises ValueError if a record cannot name what it is.
    """
    named = os.environ.get("SUITE_COMMIT", "") if named is None else named
    if named.strip():
        return Origin(commit=accepted(named.strip()))
    root = folder.resolve().parent
    code, top, message = _git(folder, "rev-parse", "--show-toplevel")
    if code is None:
        return _unknown(f"git cannot be run: {message}", "install git")
    if code:
        if "safe.directory" in message:
            return _unknown(
                f"git trusts no checkout of another user, '{root}'", f"git config --global --add safe.directory {root}"
            )
        if not (root / ".git").exists():
            return _unknown(f"'{root}' is no checkout", "run the suite from its checkout")
        return _unknown(f"git cannot read '{root}' ({message})", "mend the checkout")
    if Path(top).resolve() != root or not _is_the_suites(root):
        # A virtual environment within the user's own repository: that one's commit says nothing of this code.
        return _unknown(f"'{folder}' lies in a repository that is not the suite's", "run the suite from its checkout")
    code, commit, message = _git(folder, "rev-parse", "--short=12", "HEAD")
    if code != 0:
        return _unknown(f"the checkout '{root}' has no commit ({message})", "commit its files")
    code, changed, _ = _git(folder, "status", "--porcelain", "--untracked-files=normal", "--", ".")
    return Origin(commit=commit + ("+changed" if changed or code != 0 else ""))


def accepted(named: str) -> str:
    """Return a commit named by SUITE_COMMIT. Raises ValueError if a record cannot have it."""
    if not COMMIT.fullmatch(named):
        raise ValueError(
            f"SUITE_COMMIT is '{named}', which no record may name; set it to at most 80 letters, digits, '.', '_', "
            "'+' and '-', such as what git rev-parse --short=12 HEAD prints, or unset it"
        )
    return named


def _unknown(problem: str, remedy: str) -> Origin:
    return Origin(problem=f"records will name no commit: {problem}; {remedy}, or set SUITE_COMMIT to the commit")


def _is_the_suites(root: Path) -> bool:
    """Return whether the project at the root of a repository is the suite, and git keeps its package."""
    try:
        named = _PROJECT.search((root / "pyproject.toml").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return False
    return bool(named) and _git(root, "ls-files", "--error-unmatch", "suite/__init__.py")[0] == 0


def _git(folder: Path, *arguments: str) -> tuple[int | None, str, str]:
    """Return git's exit code, output and last line of errors; no code if it cannot be run."""
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
        return None, "", f"no answer within {_GIT_SECONDS} s"
    except OSError as error:
        return None, "", error.strerror or str(error)
    lines = answer.stderr.strip().splitlines()
    said = next((line for line in lines if "safe.directory" in line), lines[-1] if lines else "")
    return answer.returncode, answer.stdout.strip(), said


def code(folder: Path = PACKAGE) -> str:
    """Return a digest of the package's modules as they are now: two states that git calls '+changed' differ in it."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()}\n{len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]


def another_checkout(folder: Path | None = None) -> Path | None:
    """Return the checkout of the suite that somebody stands in, if it is not the one whose code runs."""
    here = (folder or Path.cwd()).resolve()
    for place in (here, *here.parents):
        if (place / "suite" / "__init__.py").is_file() and (place / "pyproject.toml").is_file():
            text = (place / "pyproject.toml").read_text(encoding="utf-8", errors="replace")
            return place if _PROJECT.search(text) and place / "suite" != PACKAGE else None
    return None


def _alike(one: str, other: str) -> bool:
    """Return whether two names are of one commit, as far as both say; an unknown one contradicts nothing."""
    one, other = one.removesuffix("+changed"), other.removesuffix("+changed")
    return one.startswith(other) or other.startswith(one)


def notes() -> tuple[str, ...]:
    """Return what a user should know, before anything is measured, of the code that will be.

    Raises ValueError if SUITE_COMMIT is none that a record can name.
    """
    here = origin()
    remarks = [here.problem] if here.problem else []
    if _HASH.fullmatch(here.commit) and not _alike(here.commit, kept := origin(named="").commit):
        remarks.append(f"SUITE_COMMIT is '{here.commit}', which records will name, and the checkout is at '{kept}'")
    if other := another_checkout():
        remarks.append(f"the suite that is measured lies in '{PACKAGE.parent}', not in the checkout '{other}'")
    return tuple(remarks)


def here() -> dict[str, str]:
    """Return the suite's commit and code, and the versions that machines must have alike which measure together."""
    packages = versions("jax", "jaxlib", "flax", "optax", "numpy")
    return {"commit": commit(), "code": code(), "python": platform.python_version(), **packages}


def differences(theirs: Mapping[str, str], ours: Mapping[str, str]) -> str:
    """Return in words what is not the same in both places; '' if all is."""
    names = [name for name in {**ours, **theirs} if theirs.get(name) != ours.get(name)]
    return "; ".join(f"{name}=={theirs.get(name)} there, {name}=={ours.get(name)} here" for name in names)
