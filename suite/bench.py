"""From one command to results: plans a campaign, measures it, writes its records, and shows them."""

import shutil
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from suite import citing, experiments, terminal, units
from suite.data import embedded
from suite.data import store as datasets
from suite.data.edition import Size
from suite.measure import (
    beside,
    campaign,
    children,
    fitness,
    hosts,
    identity,
    load,
    lock,
    machine,
    profiles,
    request,
    runner,
)
from suite.measure.probe import Offer
from suite.results import journal as journals
from suite.results import prices, selection, store
from suite.results.comparison import compared
from suite.results.journal import Header, Journal, Session
from suite.results.record import Machine, Record
from suite.results.roofline import is_ceiling
from suite.results.summary import summary
from suite.results.table import Table
from suite.workload import Data, Implementation


def planned(asked: request.Request, out: Path, machine_name: str | None = None, part: int | None = None) -> Journal:
    """Find out what can be measured here, say how long it may take, and open the campaign's journal.

    `part` is the number of a job beside others, which may begin in the same second on a machine of the same name.
    """
    here = machine.machine(machine_name)
    needed: tuple[Implementation, ...] = ("jax", *asked.implementations)
    offers: dict[Implementation, Offer] = {name: request.offer(name) for name in dict.fromkeys(needed)}
    answer = request.answer(asked, here, offers)
    for remark in answer.remarks:
        terminal.say(f"note: {remark}")
    for left in (each for each in journals.journals(out)[:1] if not has_ended(each)):
        terminal.say(f"note: campaign '{left.path.parent.name}' has not ended; run --resume goes on with it")
    processes = len(campaign.units(answer.cases))
    header = campaign.planned(
        answer.cases, answer.descriptions, asked.profile, here, datetime.now(UTC), asked.experiment or "", part
    )
    terminal.say(
        f"{here.name}: {len(answer.descriptions)} workloads, {processes} processes in {header.rounds} rounds, "
        f"about {units.seconds(answer.seconds)}"
    )
    journal = Journal(out / header.campaign / journals.FILE_NAME)
    if journal.path.parent.exists():
        raise RuntimeError(f"campaign '{header.campaign}' is there already; wait a second, or set the clock right")
    journal.append(header)
    return journal


def resumed(out: Path) -> Journal:
    """Return the journal of the newest campaign that has not ended.

    Raises RuntimeError if there is none, or if it was begun with another version or on a machine that differs.
    """
    found = journals.journals(out)
    if not found:
        raise RuntimeError(f"--resume asked for, '{out}' holds no campaign; start one without --resume")
    journal = next((each for each in found if not has_ended(each)), None)
    if journal is None:
        raise RuntimeError(
            f"--resume asked for, every campaign in '{out}' has ended, '{found[0].path.parent.name}' last; "
            "start one without --resume"
        )
    refuse_elsewhere(journal)
    return journal


def refuse_elsewhere(journal: Journal) -> None:
    """Raise RuntimeError if a campaign was begun with another version or on a machine that differs."""
    header, here, commit = journal.header(), machine.machine(), campaign.commit()
    differs = [
        f"{name} '{_words(then)}' there, '{_words(now)}' here"
        for name, then, now in (
            ("processor", header.machine.cpu_model, here.cpu_model),
            ("cores", header.machine.cores, here.cores),
            ("GPUs", header.machine.gpus, here.gpus),
            ("commit", header.commit, commit),
        )
        if then != now
    ]
    if differs:
        raise RuntimeError(
            f"campaign '{header.campaign}' cannot be completed here, it was begun on '{header.machine.name}' with "
            f"{'; '.join(differs)}; start anew without --resume"
        )


def _words(value: object) -> str:
    gpus = [f"{gpu.name}, driver {gpu.driver}" for gpu in value] if isinstance(value, tuple) else [str(value)]
    return "; ".join(gpus) or "none"


def has_ended(journal: Journal) -> bool:
    """Return whether a campaign has left all its records; one whose journal cannot be read has not."""
    try:
        return all((journal.path.parent / f"{name}.json").exists() for name in campaign.file_names(journal.header()))
    except ValueError:
        return False


def ended(out: Path, campaign: str) -> Journal:
    """Return the journal of a campaign that has ended.

    Raises LookupError if there is no such campaign, RuntimeError if it has not ended or only shows that it runs.
    """
    there = sorted(path.parent.name for path in out.glob(f"*/{journals.FILE_NAME}"))
    if campaign not in there:
        raise LookupError(f"no campaign '{campaign}' in '{out}'; there are: {', '.join(there) or 'none'}")
    journal = Journal(out / campaign / journals.FILE_NAME)
    if not has_ended(journal):
        raise RuntimeError(f"campaign '{campaign}' has not ended; go on with run --resume")
    if journal.header().profile == "smoke":
        raise RuntimeError(f"campaign '{campaign}' has profile 'smoke', which only shows that it runs; take another")
    return journal


def measure(journal: Journal, out: Path, compile_cache: Path | None = None) -> bool:
    """Measure what the journal lacks and write the records; return False if the user interrupted it.

    What is compiled for a GPU stays in the folder `compile_cache`, if there is one.
    """
    header = journal.header()
    with lock.measuring(header.campaign):
        settle(journal)
        try:
            prepare_data(header)
            with terminal.CampaignProgress(header, journal.done()) as progress, beside.telemetry() as telemetry:
                runner.run(header, journal, progress, beside=telemetry, kept=compile_cache)
        except KeyboardInterrupt:
            write(journal, out, partial=True)
            terminal.say(f"interrupted; '{journal.path.parent}' keeps what was completed: go on with run --resume")
            return False
    write(journal, out)
    return True


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
    with terminal.DataProgress() as progress:
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
    for record in campaign.records(header, journal.done()):
        if partial:
            store.put(record, folder)
        elif not (out / record.campaign / f"{record.name}.json").exists():
            store.add(record, out)


def publish(journal: Journal, out: Path, published: Path) -> tuple[Path, ...]:
    """Copy the campaign's records, as they are, to where the site takes its evidence from.

    Raises ValueError for one that is not as it was written.
    """
    mine = [path for path in store.paths([out]) if path.parent.name == journal.header().campaign]
    for path in mine:
        store.read(path)
    written = []
    for path in mine:
        target = published / path.parent.name / path.name
        if not target.exists():
            store.write_once(target, path.read_bytes())
        written.append(target)
    return (*written, *picture(published), *mentions(published))


def mentions(published: Path) -> tuple[Path, ...]:
    """Bring the quotations that are not pinned in README and the site's own pages up to date; return what changed."""
    root, there = published.parent.parent, citing.published(published)
    pages = [root / "README.md", *sorted((root / "site").glob("*.md"))]
    return tuple(path for path in pages if path.is_file() and citing.renew(path, there))


def picture(published: Path) -> tuple[Path, ...]:
    """Draw the headline chart of the published records where README shows it; nothing without the site extra."""
    try:
        from suite.report import home
    except ImportError:
        return ()
    drawn = home.picture(store.load([published])[0])
    if drawn is None:
        return ()
    path = published.parent / "assets" / "speedups.svg"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(drawn, encoding="utf-8")
    return (path,)


def print_results(
    folders: Sequence[Path], here: Machine, listed: Sequence[prices.Price] = (), campaigns: Collection[str] = ()
) -> None:
    """Print this machine's speed-ups, or CPU times where it has no GPU, how JAX stands beside its peers, and costs.

    Of this machine only what those campaigns measured, if any are named.
    """
    from suite.report import cost, feeding, placing, standing, tables

    found, problems = store.load(folders)
    general = [record for record in found if record.general and not is_ceiling(record)]
    records = [r for r in general if not campaigns or r.campaign in campaigns or r.machine.slug != here.slug]
    for problem in problems:
        terminal.say(f"note: {problem}")
    costs = cost.for_terminal(records, here.slug, listed)
    fed = feeding.for_terminal(records, here.slug)
    for table in (*tables.for_terminal(records, here.slug), *standing.for_terminal(records, here.slug), *fed, *costs):
        show(table)
    for sentence in placing.sentences(placing.headlines(records), here.slug):
        print(sentence)
    say_failures(record for record in records if record.machine.slug == here.slug)


def show(table: Table) -> None:
    """Print a table's text."""
    rows = [[cell.text for cell in row[: len(table.columns)]] for row in table.rows]
    terminal.print_table(table.title, table.columns, rows, table.notes)


def say_failures(records: Iterable[Record]) -> None:
    """Say which records lack a result, and why."""
    for record in records:
        if record.reason:
            terminal.say(f"failed: {record.name}: {record.reason}")


def print_answers(name: str, folders: Sequence[Path], here: Machine) -> None:
    """Print what this machine answers to an experiment."""
    records, _ = store.load(folders)
    mine = [record for record in records if record.machine.slug == here.slug]
    found = experiments.load(name).read(mine)
    if found is None:
        terminal.say(f"experiment '{name}' has no answer yet: what it compares was not measured whole")
    for table in found.tables if found else ():
        show(table)
    for answer in found.answers if found else ():
        print(answer)
    say_failures(mine)


def report(published: Path, out: Path, build: bool, listed: Sequence[prices.Price] = ()) -> Path | None:
    """Render the site's pages and, if asked, build it; return where it begins."""
    from suite.report import build as site
    from suite.report import pages

    root = Path.cwd()
    if not (root / "mkdocs.yml").is_file():
        raise RuntimeError(f"no mkdocs.yml in '{root}'; run suite report in the suite's checkout")
    outcome = pages.render((published, out), root / "site", listed)
    for problem in outcome.problems:
        terminal.say(f"note: {problem}")
    if not build:
        return None
    site.build(root)
    return root / "build" / "html" / "index.html"


def compare(first: str, second: str, folders: Sequence[Path], band: float | None) -> None:
    """Print the comparison of what two words mean; `band` is the share that does not matter."""
    from suite.report import comparison

    sides = [selection.selected(word, folders) for word in (first, second)]
    table = comparison.table(first, second, compared(*sides), band)
    show(table)


def doctor() -> tuple[fitness.Check, ...]:
    """Return what JAX sees and how fit the machine is."""
    here = machine.machine()
    try:
        offer = request.offer("jax")
    except RuntimeError as error:
        offer = Offer(implementation="jax", problem=str(error))
    with beside.telemetry() as telemetry:
        there = telemetry.counters()
    return fitness.checks(here, offer, load.others_now(2.0), there)


def follow(address: str, patience_seconds: float) -> int:
    """Take part in one process after another of the host at an address; return in how many, until none comes in time.

    Raises RuntimeError if one ends with an error.
    """
    count = 0
    while True:
        arguments = (address, str(patience_seconds))
        env = children.environment(None)
        with children.child("suite.measure.follower", *arguments, python=sys.executable, env=env) as child:
            code, ended = child.code(), child.ended()
        if code == hosts.NOBODY and count:
            return count
        if code:
            raise RuntimeError(f"following '{address}': {ended}")
        count += 1


def checked(paths: Sequence[Path]) -> Iterator[tuple[str, bool]]:
    """Yield a line for each record below the paths: what it is, or why it is none; and whether that is wrong."""
    for path in paths:
        files = [path] if path.is_file() else sorted(path.rglob("*.json"))
        if not files:
            yield f"'{path}' holds no record; a campaign's folder has a JSON file for each case", True
        for file in files:
            try:
                found = summary(store.read(file))
            except ValueError as error:
                yield str(error), True
                continue
            why = f": {'; '.join(found.reasons)}" if found.reasons else ""
            yield f"{file}: {found.record.name}, {found.status}{why}, {found.record.machine.name}", False
