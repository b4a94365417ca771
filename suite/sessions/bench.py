"""A campaign from its plan to its records: open, measure, write."""

import math
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from suite import units
from suite.console import terminal
from suite.console.progress import CampaignProgress
from suite.data import store as datasets
from suite.data.datasets import edition
from suite.driver import campaign, plan, preflight, probing, profiles, reference_round, runner, schedule
from suite.driver import journal as journals
from suite.driver.forecast import Deadline, Forecast
from suite.driver.journal import Closed, CompletedRun, Header, Journal, Rounds, Session
from suite.driver.request import BUDGET_MINUTES, WITHIN, Request
from suite.processes import lock
from suite.results.records import store
from suite.results.records.record import to_json
from suite.results.single.summary import summary
from suite.results.views import documents
from suite.sessions import resuming
from suite.system import boot_id, machine
from suite.telemetry import host_speed, windows

Ending = Literal["whole", "out of time", "interrupted"]


def planned(
    asked: Request,
    out: Path,
    machine_name: str | None = None,
    part: int | None = None,
    reserved: float = 0.0,
    began: float | None = None,
    compile_cache: Path | None = None,
    published: Path | None = None,
) -> Journal:
    """Plan what can be measured here, print the forecast, and open the campaign's journal.

    What prevents measuring is refused first, all of it at once.
    `part` numbers a cluster's job, since another job may begin in the same second on a machine of the same name.
    `reserved` seconds of the budget are kept for the work after measuring. The budget starts at `began`, in seconds of
    the monotonic clock. A reference round begins with what the fewest hosts in the folder `published` have timed.
    Raises RuntimeError while another run measures here, ValueError for a budget that no process fits.
    """
    terminal.notes(preflight.passed(preflight.checks(out, compile_cache, "gpu" in asked.backends)))
    here = machine.machine(machine_name)
    offers = probing.requested(asked)
    if asked.reference:
        offers |= probing.installed(reference_round.IMPLEMENTATIONS)
    here = machine.seen_by(here, offers["jax"].backends.get("gpu", ()), machine_name)
    drafted = plan.make_plan(asked, here, offers)
    terminal.notes(drafted.remarks)
    if part is None:
        resuming.mention_unfinished(out, offers)
    budget = budget_seconds(asked, drafted.seconds, reserved)
    records = store.load([published])[0] if asked.reference and published is not None else ()
    known = reference_round.known_hosts(drafted.cases, here, records)
    header = campaign.planned(
        drafted.cases,
        drafted.descriptions,
        asked.profile,
        here,
        lock.moment(),
        asked.experiment or "",
        part,
        asked=asked.rounds,
        within=(asked.within or WITHIN) if asked.adaptive else None,
        budget_seconds=budget,
        energy=asked.energy,
        is_reference=asked.reference,
        known_hosts=known,
        offers=offers,
    )
    check_budget(header, Deadline(budget, reserved, began))
    for line in announced(header, drafted.seconds):
        terminal.say(line)
    lock.check_nothing_measures()
    journal = Journal(out / header.campaign / journals.FILE_NAME)
    if journal.path.parent.exists():
        raise RuntimeError(f"campaign '{header.campaign}' exists already; wait a second, or correct the clock")
    journal.append(header)
    return journal


def budget_seconds(asked: Request, seconds: float, reserved: float) -> float | None:
    """Return the wall time, in seconds, of a command whose first pass takes `seconds`; None without a limit.

    An adaptive plan always has a limit: BUDGET_MINUTES by default, and for more than the headline set at least twice
    the first pass, in whole minutes.
    """
    if asked.budget_minutes is not None:
        return 60 * asked.budget_minutes
    if not asked.adaptive:
        return None
    long = 0 if asked.headline else 60 * math.ceil((2 * seconds + reserved) / 60)
    return max(60 * BUDGET_MINUTES, long)


def check_budget(header: Header, deadline: Deadline, done: Sequence[CompletedRun] = ()) -> None:
    """Raise ValueError if the budget fits no process."""
    forecast = Forecast(header, done)
    least = min(campaign.processes(header), key=forecast.shortest)
    seconds = forecast.shortest(least)
    if deadline.seconds is not None and seconds > deadline.left:
        beside = "starting and the site" if deadline.reserved else "starting"
        elsewhere = deadline.seconds - deadline.left
        raise ValueError(
            f"--budget {deadline.seconds / 60:g} asked for; the shortest process here, of {least[0].workload}, takes "
            f"about {units.seconds(seconds)}, {beside} {units.seconds(elsewhere)}: take --budget "
            f"{math.ceil((seconds + elsewhere) / 60)} or more"
        )


def announced(header: Header, seconds: float) -> tuple[str, ...]:
    """Return lines that say what a campaign will measure and how long it takes."""
    what = f"{header.machine.name}: {units.pluralize(len(header.descriptions), 'workload')}"
    limit = "" if header.budget_seconds is None else f", ends within {units.seconds(header.budget_seconds)}"
    if header.within is None:
        processes = sum(header.rounds_of(group[0]) for group in campaign.processes(header))
        return (f"{what}, {units.pluralize(processes, 'process', 'processes')}, about {units.seconds(seconds)}{limit}",)
    known = units.percent(header.within)
    return f"{what}{limit}", f"each measured once, then the widest interval again, until all are within {known}"


def measure(
    journal: Journal,
    out: Path,
    compile_cache: Path | None = None,
    deadline: Deadline | None = None,
    within: float | None = None,
) -> Ending:
    """Measure what the journal lacks until the deadline, write the records, and return how it ended.

    Compiled GPU programs stay in the folder `compile_cache`, if given. An adaptive plan adds rounds until each number
    reaches the relative half-width `within`, by default the planned one. Raises ValueError for `within` with planned
    rounds.
    """
    header = journal.header()
    if within is not None:
        if not header.adaptive:
            raise ValueError(f"--within asked for, but campaign '{header.campaign}' has planned rounds; leave it out")
        header = msgspec.structs.replace(header, within=within)
    ending: Ending = "interrupted"
    with lock.measuring(header.campaign):
        settle(journal)
        with suppress(KeyboardInterrupt):
            with CampaignProgress(header, journal.done(), deadline) as progress, windows.telemetry() as telemetry:
                complete = runner.run(
                    header,
                    journal,
                    progress,
                    telemetry=telemetry,
                    shared_cache=compile_cache,
                    deadline=deadline,
                    prepare=partial(prepare_data, header),
                    kernel=host_speed.measured,
                )
            ending = "whole" if complete else "out of time"
    write(journal, out, partial=ending != "whole")
    return ending


def close(journal: Journal, out: Path) -> None:
    """End a campaign early and write a record for each case that ran; those that lack rounds are incomplete.

    Raises RuntimeError if no process completed, or while another run measures on this machine.
    """
    name = journal.header().campaign
    if not journal.done():
        raise RuntimeError(f"campaign '{name}' has completed no process, so it has no records to keep")
    if not resuming.has_ended(journal):
        with lock.measuring(name):
            whole = schedule.whole_rounds(journal.header(), journal.planned(), journal.done())
            journal.append(Rounds(case_rounds=whole.case_rounds), Closed())
    write(journal, out)


@contextmanager
def kept_if_begun(journal: Journal) -> Iterator[None]:
    """Remove a new campaign that is refused before it completed a process: nothing of it is worth resuming."""
    try:
        yield
    except Exception:
        if not journal.done():
            shutil.rmtree(journal.path.parent, ignore_errors=True)
        raise


def document(journal: Journal, out: Path, site: Path | None) -> bytes:
    """Return a campaign's records as a JSON document, schema run/2; `site` is the site's first page."""
    header, complete = journal.header(), resuming.has_ended(journal)
    folder = out / (header.campaign if complete else store.PARTIAL + header.campaign)
    written = documents.run_document(
        [store.read(path) for path in store.of(folder)],
        campaign=header.campaign,
        machine=header.machine.slug,
        commit=header.commit,
        complete=complete,
        resume=None if complete else resuming.resume_words(out, hosts=resuming.hosts_of(header)),
        site=site,
        folder=folder,
    )
    return to_json(written)


def answered(journal: Journal) -> bool:
    """Return whether every case has its planned rounds or failed; more rounds would only narrow intervals."""
    planned, done = journal.planned(), journal.done()
    failed = {entry.case for entry in done if entry.run.reason}
    ended = Counter(entry.case for entry in done)
    return all(case in failed or ended[case] >= planned.rounds_of(case) for case in planned.cases)


def settle(journal: Journal) -> None:
    """Store in the journal where measuring continues; report a changed place, where cut rounds start again.

    Also report a host that cannot be identified.
    """
    if not boot_id.host():
        terminal.say(boot_id.HIDDEN)
    here, before = boot_id.place(journal.header().campaign), journal.done()
    if journal.place() == here:
        return
    journal.append(Session(place=here))
    kept = {(entry.case, entry.run.round) for entry in journal.done()}
    anew = sorted({entry.run.round + 1 for entry in before if (entry.case, entry.run.round) not in kept})
    if anew:
        terminal.say(
            f"note: this is another machine of the same description, or it was restarted: round "
            f"{', '.join(map(str, anew))} was cut and is measured again from its start"
        )


def prepare_data(header: Header, group: campaign.ProcessGroup, progress: datasets.Progress) -> None:
    """Make or download the data sets that a group reads and that are missing.

    Raises RuntimeError, with a remedy, if disk or network fail.
    """
    dataset = next(about.dataset for about in header.descriptions if about.name == group[0].workload)
    for case in group:
        for size in profiles.sizes(header.profile, case.scope) if case.data != "random" else ():
            datasets.prepare(dataset, case.data, edition(dataset, size), progress)


def write(journal: Journal, out: Path, partial: bool = False) -> None:
    """Write a record for each case of the campaign; partial records are replaced by later ones."""
    header, done = journal.header(), journal.done()
    if partial:
        header = schedule.whole_rounds(header, journal.planned(), done)
    folder = out / (store.PARTIAL + header.campaign)
    if folder.exists():
        shutil.rmtree(folder)
    for draft in (out / header.campaign).glob(".writing-*"):
        draft.unlink()  # left by a killed write
    if not partial:
        runner.forget_compiled(journal)
    done = [entry for entry in done if entry.run.round < header.rounds_of(entry.case)]
    for record in campaign.records(header, done):
        if partial:
            store.put(record, folder)
        elif not (out / record.campaign / f"{record.name}.json").exists():
            store.add(record, out)


def resulted(journal: Journal) -> bool:
    """Return whether a campaign has a time that no check calls invalid."""
    summaries = map(summary, campaign.records(journal.header(), journal.done()))
    return any(item.seconds is not None and item.state != "invalid" for item in summaries)
