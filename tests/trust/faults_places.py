"""Faults of places: another run, another machine, another language."""

import os
import shutil
from datetime import UTC, datetime
from unittest import mock

import msgspec

from suite.case import Case
from suite.driver import campaign
from suite.driver.journal import FILE_NAME, Journal, Session
from suite.processes import lock
from suite.sessions import bench
from trust import fake
from trust.bench import A_LINE, HERE, PATCHES, THE_RESULT, Bench, Outcome, fault, refused, run_here, whole


@fault("two runs at once", "one measures, the other names it, exit 1", "the machine's lock", sample=True)
def _(place: Bench) -> Outcome:
    with lock.measuring("the-first", place.folder):
        return refused(
            place.faked().run(), f"(process {os.getpid()}, campaign the-first); two at once would distort both"
        )


@fault("an odd locale, or one that is not there", THE_RESULT, "the records and the exit code")
def _(place: Bench) -> Outcome:
    found = []
    for name in ("C", "tr_TR.UTF-8", "zh_CN.GB18030"):
        place.env |= {"LC_ALL": name, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LANG": name}
        shutil.rmtree(place.out, ignore_errors=True)
        found.append(whole(place.faked().run("alpha")))
    return all(good for good, _ in found), " / ".join(words for _, words in found)


@fault("resumed on another machine of the same description", "a workload's cut round is measured from its beginning",
       "where the journal says it was measured", sample=True)  # fmt: skip
def _(place: Bench) -> Outcome:
    place.faked()
    cases = [Case(workload=name, backend="cpu", scope=scope, batch=8)
             for name in fake.NAMES[:2] for scope in ("step", "cold")]  # fmt: skip
    header = campaign.planned(cases, map(fake.description, fake.NAMES), "quick", HERE, datetime.now(UTC))
    journal = Journal(place.out / header.campaign / FILE_NAME)
    journal.append(header, Session(place="there"))
    run_here(place, journal)
    lines = journal.path.read_bytes().splitlines(keepends=True)
    journal.path.write_bytes(b"".join(lines[:9]))  # the plan, the session, a round, and three of four of the second
    before = journal.done()
    with PATCHES, mock.patch("suite.console.terminal.say") as said:
        bench.settle(journal)
    run_here(place, journal)
    after = journal.done()
    note = "; ".join(call.args[0] for call in said.call_args_list)
    stay = [entry for entry in before if entry in after]
    good = len(before) == 7 and len(after) == 12 and len(stay) == 6 and "round 2 was cut" in note
    return good, f"{len(stay)} of {len(before)} runs stay; {note}"


@fault("resumed on a machine of another description", "one line that says what differs, exit 1",
       "the plan's machine beside this one")  # fmt: skip
def _(place: Bench) -> Outcome:
    other = msgspec.structs.replace(HERE, cores=99)
    header = campaign.planned([Case(workload="alpha", backend="cpu", scope="step", batch=8)],
                              [fake.description("alpha")], "smoke", other, datetime.now(UTC))  # fmt: skip
    Journal(place.out / header.campaign / FILE_NAME).append(header)
    return refused(place.run("--resume"), "cores '99' then")


@fault("--resume when every campaign has ended", A_LINE, "the records beside the journal")
def _(place: Bench) -> Outcome:
    first = place.faked().run("alpha")
    code, said = refused(place.run("--resume"), "has ended, '")
    return first.good and code, said
