"""Which campaign can be resumed here, and what prevents it."""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from suite import units
from suite.case import Implementation
from suite.console import terminal
from suite.driver import campaign, preflight, probing
from suite.driver import journal as journals
from suite.driver.journal import PLAN_VERSION, Header, Journal
from suite.driver.remedies import remedy
from suite.processes import lock
from suite.results.records import files
from suite.results.records.machine import Gpu, differing
from suite.system import machine, software
from suite.worker_api.protocol import Offer

COMMAND = "SUITE_COMMAND"  # set by noxfile.py: the nox command that runs the suite


def mention_unfinished(out: Path, offers: Mapping[Implementation, Offer]) -> None:
    """Mention the newest campaign if it has not ended and can be resumed with the software that `offers` tell of."""
    for left in journals.journals(out)[:1]:
        if not has_ended(left) and not hindrance(left, offers=offers):
            words = resume_words(out, hosts=hosts_of(left.header()))
            terminal.say(f"note: campaign '{left.path.parent.name}' has not ended; resume it with {words}")


def resume_words(out: Path, command: str = "run", hosts: int = 1) -> str:
    """Return the command that resumes the newest campaign in a folder, with this many hosts."""
    where = "" if out == files.LOCAL else f" --out {shlex.quote(str(out))}"
    return f"{program(command)} --resume{_of_hosts(hosts) if hosts > 1 else ''}{where}"


def say_how(journal: Journal, out: Path, ending: str, signal: str = "") -> None:
    """Print the command that resumes an unfinished campaign, and why it stopped: by which `signal`, if by one."""
    if has_ended(journal):
        return
    words = resume_words(out, hosts=hosts_of(journal.header()))
    by = f" by {signal}" if signal else ""
    why = f"interrupted{by}; resume" if ending == "interrupted" else "the budget is spent; continue"
    terminal.say(f"{why} with: {words}")


def program(command: str) -> str:
    """Return the command line of a suite command, started like this one: by nox, as `suite`, or with Python."""
    if command == "run" and (started := os.environ.get(COMMAND)):
        return started
    installed = Path(sys.argv[0]).name == "suite"
    return f"suite {command}" if installed else f"{Path(sys.executable).name} -m suite {command}"


def hosts_of(header: Header) -> int:
    """Return how many hosts take part in a campaign."""
    return max(case.hosts for case in header.cases)


def _of_hosts(count: int) -> str:
    return f" --hosts {count} --address HOST:PORT"


def resumed(out: Path, name: str | None = None, count: int = 1, compile_cache: Path | None = None) -> Journal:
    """Return the journal of the newest campaign that can be resumed here with `count` hosts, or of the named one.

    Prints its name, and why each newer one is skipped. Raises RuntimeError if none can be resumed here, LookupError if
    none has the name.
    """
    terminal.notes(preflight.passed(preflight.checks(out, compile_cache)))
    journals_here = journals.journals(out)
    if not journals_here:
        raise RuntimeError(f"--resume asked for, but '{out}' holds no campaign; start one without --resume")
    if name is not None:
        names = [each.path.parent.name for each in journals_here]
        if name not in names:
            raise LookupError(
                f"--campaign {name} asked for, but '{out}' holds no such campaign; there are: {', '.join(names)}"
            )
        journals_here = (journals_here[names.index(name)],)
    left = [each for each in journals_here if not has_ended(each)]
    if not left:
        every = "every campaign" if name is None else f"campaign '{name}'"
        last = f", '{journals_here[0].path.parent.name}' last" if name is None else ""
        raise RuntimeError(f"--resume asked for, but {every} in '{out}' has ended{last}; start one without --resume")
    journal = _first_resumable(left, count)
    header = journal.header()
    terminal.say(f"campaign '{header.campaign}', begun {units.minute(header.created)} UTC, resumes")
    return journal


def _first_resumable(left: Sequence[Journal], count: int) -> Journal:
    """Return the first journal that can be resumed here, and print why those before it cannot.

    Raises RuntimeError with the first one's reason if none can, after printing the others' reasons.
    """
    hindrances: list[str] = []
    for journal in left:
        if not (why := hindrance(journal, count)):
            terminal.notes(hindrances)
            return journal
        hindrances.append(why)
    terminal.notes(hindrances[1:])
    raise RuntimeError(hindrances[0])


def hindrance(journal: Journal, count: int | None = None, offers: Mapping[Implementation, Offer] | None = None) -> str:
    """Return why an unfinished campaign cannot be resumed with `count` hosts; '' if it can.

    Without a count, hosts are assumed unchanged, and so are implementations without an offer: probing takes seconds.
    """
    try:
        check_folder_name(journal)
        name = journal.path.parent.name
        if lock.is_measured(name):
            return f"campaign '{name}' is being measured now by another process; wait for it"
        if count is None:
            check_plan_version(journal.header())
            check_same_settings(journal.header())
            for implementation, offer in (offers or {}).items():
                check_offered(journal.header(), implementation, offer)
        else:
            check_resumable_here(journal, count)
    except (RuntimeError, ValueError) as error:
        return str(error)
    return ""


def check_folder_name(journal: Journal) -> None:
    """Raise ValueError if the folder is not named after its campaign, as its records are."""
    folder = journal.path.parent
    if (name := journal.header().campaign) != folder.name:
        raise ValueError(f"'{folder}' holds campaign '{name}'; give the folder that name")


def check_resumable_here(journal: Journal, count: int = 1) -> None:
    """Raise RuntimeError if a campaign began with another version, other settings, machine or number of hosts.

    Also raise it if a case's implementation or backend is no longer available, or its Python or packages changed.
    """
    header = journal.header()
    check_plan_version(header)
    check_same_settings(header)
    implementations: dict[Implementation, None] = dict.fromkeys(case.implementation for case in header.cases)
    for implementation in implementations:
        check_offered(header, implementation, probing.offer(implementation))
    if (planned := hosts_of(header)) != count:
        remedy = f"give --resume{_of_hosts(planned)}"
        raise RuntimeError(
            f"campaign '{header.campaign}' has {units.pluralize(planned, 'host')}, not {count}; "
            + (remedy if planned > 1 else "leave --hosts and --address out")
        )


def check_plan_version(header: Header) -> None:
    """Raise RuntimeError for a plan of another version, such as those without a budget."""
    if header.version != PLAN_VERSION:
        raise RuntimeError(
            f"campaign '{header.campaign}' was begun by another version of the suite, which planned rounds "
            f"differently; {_instead(header)}"
        )


def check_same_settings(header: Header) -> None:
    """Raise RuntimeError if a campaign began with another version, other settings or on another kind of machine."""
    here, commit = machine.machine(), software.commit()
    # Two states of changed files share one commit's name, so compare the code only if the commits agree.
    code = software.code() if header.code and header.commit == commit else header.code
    settings = campaign.settings()
    planned = settings if header.settings is None else header.settings
    names = differing(planned, settings)
    differs = [
        f"{name} '{_words(then)}' then, '{_words(now)}' now"
        for name, then, now in (
            ("processor", header.machine.cpu_model, here.cpu_model),
            ("cores", header.machine.cores, here.cores),
            ("GPUs", _by_name(header.machine.gpus), _by_name(here.gpus)),
            ("commit", header.commit, commit),
            ("code of that commit", header.code, code),
            *((f"setting {name}", planned.get(name, "unset"), settings.get(name, "unset")) for name in names),
        )
        if then != now
    ]
    if differs:
        raise RuntimeError(
            f"campaign '{header.campaign}' cannot be resumed here: it was begun on '{header.machine.name}' with "
            f"{'; '.join(differs)}; {_instead(header)}"
        )


def check_offered(header: Header, implementation: Implementation, present: Offer) -> None:
    """Raise RuntimeError if an implementation changed since a campaign began: its Python, packages or backends.

    Older plans do not name the packages.
    """
    then = header.software.get(implementation)
    if then and (changes := campaign.version_changes(then, campaign.versions(present))):
        raise RuntimeError(
            f"campaign '{header.campaign}' cannot be resumed here: the software of '{implementation}' was changed "
            f"since it began, {', '.join(changes)}; install the former version{'s' if len(changes) > 1 else ''}, or "
            f"{_instead(header)}"
        )
    wanted = dict.fromkeys(case.backend for case in header.cases if case.implementation == implementation)
    for backend in wanted:
        if backend not in present.backends:
            reason = present.reasons.get(backend, "")
            why = f": {reason}" if reason else ""
            raise RuntimeError(
                f"campaign '{header.campaign}' cannot be resumed here: '{implementation}' no longer sees backend "
                f"'{backend}'{why}; {remedy(reason) or 'see suite doctor'}, or {_instead(header)}"
            )


def _instead(header: Header) -> str:
    """Return the remedy for a campaign that cannot be resumed; a smoke run keeps nothing."""
    anew = "start a new one without --resume"
    if header.profile == "smoke":
        return anew
    return f"{anew}, or publish the completed part with suite publish --incomplete {header.campaign}"


def _by_name(gpus: Sequence[Gpu]) -> tuple[Gpu, ...]:
    """Return the GPUs sorted by name and memory: the plan lists them in CUDA's order, the driver in its own."""
    return tuple(sorted(gpus, key=lambda gpu: (gpu.name, gpu.memory_bytes)))


def _words(value: object) -> str:
    gpus = [f"{gpu.name}, driver {gpu.driver}" for gpu in value] if isinstance(value, tuple) else [str(value)]
    return "; ".join(gpus) or "none"


def has_ended(journal: Journal) -> bool:
    """Return whether a campaign was closed or has all its records; False if its journal is unreadable."""
    try:
        return journal.closed() or all(
            (journal.path.parent / f"{name}.json").exists() for name in campaign.file_names(journal.header())
        )
    except ValueError:
        return False
