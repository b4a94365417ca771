"""Faults of clocks and of a machine that sleeps."""

import shutil
import time
from datetime import UTC, datetime
from unittest import mock

from suite.case import Case
from suite.results.single.summary import summary
from suite.worker import steady
from suite.worker.recorder import Process
from suite.worker_api import clock
from suite.worker_api.protocol import Task
from trust.bench import A_RECORD, PATCHES, SMALL, Bench, Outcome, fault, in_process, recorded


@fault("a real worker is stopped for a while and goes on, during the samples", "unstable or invalid, and why",
       "the longest sample beside the median; between two samples, the parent's clock")  # fmt: skip
def _(place: Bench) -> Outcome:
    asked = ("--profile", "quick", "--rounds", "1", "--backend", "cpu", "--scope", "step", "--out", str(place.out))
    ran = place.ran("run", SMALL, *asked, planted=(("brief",), ("stopped", "samples", 3.0)))
    found = "; ".join(reason for record in ran.records for reason in summary(record).reasons)
    within, between = ran.code == 0 and "one sample took" in found, "stamps: the samples add up to" in found
    return within or between, f"exit {ran.code}; {found or ran.said[-300:]}"


@fault("the clock goes backwards by an hour during a sample", A_RECORD, "the run's samples")
def _(place: Bench) -> Outcome:
    return recorded(place.faked("backwards samples").run("--scope", "step"), "the clock stood still or went backwards")


@fault("the clock jumps ahead during a sample", "a reason against it", "the longest sample beside the median")
def _(place: Bench) -> Outcome:
    found = [summary(record) for record in in_process(place, "pause samples", "quick")]
    return all("one sample took" in str(f.reasons) for f in found), str([f.reasons for f in found])


@fault("the machine is suspended during the samples", "the run fails with its reason", "the clock that runs on",
       sample=True)  # fmt: skip
def _(place: Bench) -> Outcome:
    target = mock.Mock(compilations=lambda: 0, steps_per_call=1)
    plan = clock.Plan(samples=3, chain_seconds=0.001, warmup_steps=1, warmup_seconds=0, sampling_seconds=1)
    try:
        with PATCHES, mock.patch.object(clock, "asleep_seconds", side_effect=(100.0, 160.0)):
            task = Task(cases=(Case(workload=SMALL, backend="cpu", scope="step", batch=8),), dataset="random", seed=1,
                        plan=plan, flow=plan)  # fmt: skip
            mine = Process(task=task, say=lambda _: None)
            steady.steady_state(mine, lambda steps: time.sleep(0.001 * steps), target)
    except RuntimeError as error:
        return "suspended for 60 s" in str(error), str(error)
    return False, "it was not seen"


@fault("an odd time zone", "moments in UTC", "the records")
def _(place: Bench) -> Outcome:
    found = []
    for zone in ("Pacific/Kiritimati", "XYZ-24:59:59", "no such zone"):
        place.env["TZ"] = zone
        shutil.rmtree(place.out, ignore_errors=True)
        ran = place.faked().run("alpha")
        ages = [datetime.now(UTC) - datetime.fromisoformat(record.created) for record in ran.records]
        found.append(ran.good and all(0 <= age.total_seconds() < 120 for age in ages))
    return all(found), f"as it is: {found}"
