"""From a request to a plan of jobs."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from suite import units
from suite.case import Implementation
from suite.cluster import supervisor
from suite.cluster.plan import Cluster, Place, Plan, new, partition
from suite.console import terminal
from suite.driver import plan, preflight, probing
from suite.driver.request import Request
from suite.results.records import files
from suite.results.records.machine import Gpu, Machine
from suite.system import machine, software
from suite.worker_api.protocol import Offer

# Stands for a scheduler's node, which is unknown here: it has everything that can be asked for.
_MANY = 1024
_GPU = Gpu(name="any", memory_bytes=0, compute_capability="99.0", driver="", cuda="")
_NODE = Machine(name="any", cpu_model="any", cores=_MANY, memory_bytes=0, gpus=(_GPU,) * _MANY)
_BACKENDS = {backend: (backend,) * _MANY for backend in ("cpu", "gpu")}


def planned(
    asked: Request,
    out: Path,
    cluster: Cluster,
    jobs: int | None,
    options: dict[str, str],
    machine_name: str | None,
) -> Place:
    """Split the requested workloads into jobs, write the plan, and return its place.

    Raises ValueError for a budget or half-width, RuntimeError if jobs cannot be submitted, and what `plan.make_plan`
    raises for a node. What a scheduler's node lacks, its job reports.
    """
    terminal.notes(preflight.passed(preflight.of_a_plan(out)))
    if asked.within is not None:
        raise ValueError("--within asked for with --cluster, whose jobs plan their rounds; leave one of them out")
    if asked.budget_minutes is not None:
        raise ValueError(
            "--budget asked for with --cluster, whose jobs would each skip workloads; leave it out, or name the "
            "workloads"
        )
    names = measurable(asked, cluster)
    if jobs is not None and jobs > len(names):
        count = f"{'is' if len(names) == 1 else 'are'} {units.pluralize(len(names), 'workload')}"
        terminal.say(f"note: {jobs} jobs asked for, there {count}; a workload stays in one job")
    place = new(out, datetime.now(UTC))
    with files.writing(place.folder):
        supervisor.executor(cluster, place.logs, options)  # raises before a plan is stored that cannot be submitted
        place.write(
            Plan(
                cluster=cluster,
                request=asked,
                parts=partition(names, jobs),
                options=options,
                machine_name=machine_name,
                software=software.here(),
            )
        )
    return place


def measurable(asked: Request, cluster: Cluster) -> tuple[str, ...]:
    """Return the requested workloads that a node can measure: this machine, or a scheduler's ideal one."""
    offers: dict[Implementation, Offer] = probing.requested(asked)
    node = machine.machine() if cluster == "local" else _NODE
    if node is _NODE:
        offers = {name: msgspec.structs.replace(offer, backends=_BACKENDS, ways={}) for name, offer in offers.items()}
    drafted = plan.make_plan(asked, node, offers)
    terminal.notes(drafted.remarks)
    return tuple(about.name for about in drafted.descriptions)


def options(words: Sequence[str], cluster: Cluster) -> dict[str, str]:
    """Return sbatch's options from words such as partition=gpu.

    Raises ValueError for another form, a time that is not whole minutes, or a cluster without a scheduler.
    """
    if words and cluster == "local":
        raise ValueError(
            f"--job-option {words[0]} asked for with --cluster local, which has no scheduler; leave it out, or use "
            "--cluster slurm"
        )
    options_given = dict[str, str]()
    for word in words:
        name, sign, value = word.partition("=")
        if not sign or not name or not value or name.startswith("-"):
            raise ValueError(f"--job-option asked for with '{word}'; write NAME=VALUE, such as partition=gpu")
        options_given[name] = value
    if not options_given.get("time", "1").isdecimal():
        raise ValueError(
            f"--job-option asked for with 'time={options_given['time']}'; write whole minutes, such as time=120"
        )
    return options_given
