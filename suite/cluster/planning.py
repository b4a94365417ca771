"""From what was asked for to a plan of jobs."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from suite import terminal
from suite.cluster.part import software
from suite.cluster.plan import Cluster, Place, Plan, dealt, new
from suite.experiments import headline
from suite.measure import request


def planned(
    asked: request.Request,
    out: Path,
    cluster: Cluster,
    jobs: int | None,
    options: dict[str, str],
    machine_name: str | None,
) -> Place:
    """Deal the workloads asked for to jobs, and write the plan.

    Raises LookupError for an unknown workload; what the nodes cannot measure, their jobs say.
    """
    jax = request.offer("jax")
    question = request.chosen_by(asked.experiment, asked) if asked.experiment else headline
    networks, limits = ([each.name for each in offered] for offered in (jax.workloads, jax.ceilings))
    names = request.workloads(asked, networks, limits, question.WORKLOADS)
    if jobs is not None and jobs > len(names):
        terminal.say(f"note: {jobs} jobs asked for, there are {len(names)} workloads; a workload stays in one job")
    place = new(out, datetime.now(UTC))
    place.write(
        Plan(
            cluster=cluster,
            request=asked,
            parts=dealt(names, jobs),
            options=options,
            machine_name=machine_name,
            software=software(),
        )
    )
    return place


def options(words: Sequence[str]) -> dict[str, str]:
    """Return sbatch's options from words such as partition=gpu.

    Raises ValueError for a word of another form, or a time that is no number of minutes.
    """
    found = dict[str, str]()
    for word in words:
        name, sign, value = word.partition("=")
        if not sign or not name or not value or name.startswith("-"):
            raise ValueError(f"--job-option asked for with '{word}'; write NAME=VALUE, such as partition=gpu")
        found[name] = value
    if not found.get("time", "1").isdecimal():
        raise ValueError(f"--job-option asked for with 'time={found['time']}'; write whole minutes, such as time=120")
    return found
