"""A campaign from its plan to its records: opened, measured, written."""

import shutil
from pathlib import Path

from suite import resuming, terminal, units
from suite.data import embedded
from suite.data import store as datasets
from suite.data.edition import Size
from suite.measure import (
    answering,
    beside,
    campaign,
    identity,
    lock,
    machine,
    probing,
    profiles,
    runner,
    widening,
)
from suite.measure.probe import Offer
from suite.measure.remaining import Remaining
from suite.measure.request import Request
from suite.progress import CampaignProgress, DataProgress
from suite.results import journal as journals
from suite.results import store
from suite.results.journal import Closed, Header, Journal, Rounds, Session
from suite.results.summary import summary
from suite.workload import Data, Implementation


def planned(asked: Request, out: Path, machine_name: str | None = None, part: int | None = None) -> Journal:
    """Find out what can be measured here, say how long it may take, and open the campaign's journal.

    `part` is the number of a job beside others, which may begin in the same second on another machine of the same name.
    Raises RuntimeError while something is measured here: no campaign is begun that could not go on at once.
    """
    here = machine.machine(machine_name)
    needed: tuple[Implementation, ...] = ("jax", *asked.implementations)
    offers: dict[Implementation, Offer] = {name: probing.offer(name) for name in dict.fromkeys(needed)}
    answer = answering.answer(asked, here, offers)
    for remark in answer.remarks:
        terminal.say(f"note: {remark}")
    if part is None:
        resuming.mention_unfinished(out)
    header = campaign.planned(
        answer.cases,
        answer.descriptions,
        asked.profile,
        here,
        lock.moment(),
        asked.experiment or "",
        part,
        asked=asked.rounds,
        most=0 if asked.budget_minutes is not None and asked.most_rounds is None else asked.most_rounds,
        energy=asked.energy,
    )
    processes = sum(header.rounds_of(unit[0]) for unit in campaign.units(header.cases))
    terminal.say(
        f"{here.name}: {units.counted(len(answer.descriptions), 'workload')}, "
        f"{units.counted(processes, 'process', 'processes')}, about {units.seconds(answer.seconds)}" + _further(header)
    )
    lock.refuse_beside_another()
    journal = Journal(out / header.campaign / journals.FILE_NAME)
    if journal.path.parent.exists():
        raise RuntimeError(f"campaign '{header.campaign}' is there already; wait a second, or set the clock right")
    journal.append(header)
    return journal


def _further(header: Header) -> str:
    """Return what a plan's further rounds may come to, in words; '' if it may have none."""
    widest = widening.widest(header)
    if widest == header:
        return ""
    seconds = units.seconds(Remaining(widest, []).seconds)
    return f", and up to {header.most_rounds} rounds where intervals stay wide, about {seconds} if all do"


def measure(journal: Journal, out: Path, compile_cache: Path | None = None) -> bool:
    """Measure what the journal lacks and write the records; return False if the user interrupted it.

    What is compiled for a GPU stays in the folder `compile_cache`, if there is one.
    """
    header = journal.header()
    with lock.measuring(header.campaign):
        settle(journal)
        try:
            prepare_data(header)
            with CampaignProgress(header, journal.done()) as progress, beside.telemetry() as telemetry:
                runner.run(header, journal, progress, beside=telemetry, kept=compile_cache)
        except KeyboardInterrupt:
            write(journal, out, partial=True)
            words = resuming.resume_words(out, hosts=resuming.hosts_of(header))
            kept = "keeps what was completed" if any(journal.done()) else "has the plan, nothing was completed"
            terminal.say(f"interrupted; '{journal.path.parent}' {kept}: go on with {words}")
            return False
    write(journal, out)
    return True


def close(journal: Journal, out: Path) -> None:
    """End a campaign as it is and write a record for each case that ran; those that lack rounds are incomplete.

    Raises RuntimeError if nothing ran, or while something is measured on this machine.
    """
    name = journal.header().campaign
    if not journal.done():
        raise RuntimeError(f"campaign '{name}' has completed no process; there is nothing to keep of it")
    if not resuming.has_ended(journal):
        with lock.measuring(name):
            whole = widening.whole_rounds(journal.header(), journal.planned(), journal.done())
            journal.append(Rounds(case_rounds=whole.case_rounds), Closed())
    write(journal, out)


def settle(journal: Journal) -> None:
    """Note in the journal where measuring goes on, and say so if that is elsewhere: its pairs start afresh there."""
    here, before = identity.place(journal.header().campaign), journal.done()
    if journal.place() == here:
        return
    journal.append(Session(place=here))
    anew = sorted({entry.run.round + 1 for entry in before} - {entry.run.round + 1 for entry in journal.done()})
    if anew:
        terminal.say(
            f"note: this is another machine of the same description, or it was started anew: round "
            f"{', '.join(map(str, anew))}, which was cut, is measured from its beginning"
        )


def prepare_data(header: Header) -> None:
    """Make or download what the campaign's cases read and is not there yet.

    Raises RuntimeError, saying what to do, if disk or network refuse.
    """
    about = {description.name: description for description in header.descriptions}
    wanted: dict[tuple[str, Data, Size], None] = {
        (about[case.workload].dataset, case.data, size): None
        for case in header.cases
        if case.data != "random"
        for size in profiles.sizes(header.profile, case.scope)
    }
    with DataProgress() as progress:
        for dataset, data, size in wanted:
            datasets.prepare(dataset, data, embedded.edition(dataset, size), progress)


def write(journal: Journal, out: Path, partial: bool = False) -> None:
    """Write a record for each case of the campaign; a partial result is replaced when more is known."""
    header = journal.header()
    folder = out / (store.PARTIAL + header.campaign)
    if folder.exists():
        shutil.rmtree(folder)
    for draft in (out / header.campaign).glob(".writing-*"):
        draft.unlink()  # of a write that was killed
    if not partial:
        runner.forget_compiled(journal)
    for record in campaign.records(header, journal.done()):
        if partial:
            store.put(record, folder)
        elif not (out / record.campaign / f"{record.name}.json").exists():
            store.add(record, out)


def resulted(journal: Journal) -> bool:
    """Return whether a campaign has a result that makes sense: a time that no check refutes."""
    found = map(summary, campaign.records(journal.header(), journal.done()))
    return any(item.seconds is not None and item.status != "invalid" for item in found)
