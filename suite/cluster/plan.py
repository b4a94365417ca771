"""The stored plan of a campaign's jobs, from which a supervisor can resume."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from suite import units
from suite.driver.request import Request
from suite.results.records import files
from suite.workload import Plain

Cluster = Literal["slurm", "local"]
FOLDER = ".cluster"  # hidden in --out, so that it is not searched for records
_FILE = "plan.json"


class SubmittedJob(Plain, frozen=True, kw_only=True):
    """A part and the cluster's identifier of its job."""

    part: int
    job: str


class Plan(Plain, frozen=True, kw_only=True):
    """The request, and how its workloads are split into jobs."""

    cluster: Cluster
    request: Request
    parts: tuple[tuple[str, ...], ...]  # the workloads of each job
    options: dict[str, str]  # of sbatch
    machine_name: str | None
    software: dict[str, str]  # that every node must have
    sent: tuple[SubmittedJob, ...] = ()  # every job that was ever submitted, in order
    ended: bool = False

    def of(self, part: int) -> Request:
        """Return one job's request."""
        return replace(self.request, assigned_workloads=self.parts[part])


@dataclass(frozen=True)
class Place:
    """A plan's folder."""

    folder: Path

    @property
    def logs(self) -> Path:
        """The folder of the cluster's own files."""
        return self.folder / "jobs"

    def campaign(self, part: int) -> Path:
        """Return the file that holds the name of a job's campaign."""
        return self.folder / f"part-{part}.campaign"

    def node(self, part: int) -> Path:
        """Return the file that holds the node on which a job last ran."""
        return self.folder / f"part-{part}.node"

    def last_node(self, part: int) -> str:
        """Return the node on which a job last ran; a dash if it never began."""
        return self.node(part).read_text() if self.node(part).exists() else units.DASH

    def read(self) -> Plan:
        """Return the plan.

        Raises RuntimeError if it was written by another version of the suite, or is damaged.
        """
        path = self.folder / _FILE
        try:
            return msgspec.json.decode(files.content(path), type=Plan)
        except msgspec.ValidationError as error:
            raise RuntimeError(
                f"'{path}' was written by another version of the suite ({error}); resume with that version, or start a "
                "new run"
            ) from None
        except msgspec.DecodeError as error:
            raise RuntimeError(f"'{path}' is damaged ({error}); start a new run without --resume") from None

    def write(self, plan: Plan) -> None:
        """Write the plan atomically."""
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = self.folder / f".{_FILE}"
        draft.write_bytes(msgspec.json.format(msgspec.json.encode(plan)) + b"\n")
        draft.replace(self.folder / _FILE)


def new(out: Path, now: datetime) -> Place:
    """Return the place of a new plan below `out`."""
    return Place(out.absolute() / FOLDER / f"{now:%Y%m%d-%H%M%S}")


def unended(out: Path) -> Iterator[tuple[Place, Plan]]:
    """Yield the unfinished plans with their places, newest first. Raises RuntimeError as `read` does."""
    for path in sorted((out.absolute() / FOLDER).glob(f"*/{_FILE}"), reverse=True):
        place = Place(path.parent)
        if not (plan := place.read()).ended:
            yield place, plan


def unfinished(out: Path, cluster: Cluster) -> Place:
    """Return the place of the newest unfinished plan for a cluster.

    Raises RuntimeError if there is none.
    """
    for place, plan in unended(out):
        if plan.cluster == cluster:
            return place
    raise RuntimeError(
        f"--resume asked for, but '{out}' holds no unfinished jobs for '{cluster}'; start a new run without --resume"
    )


def partition(workloads: Sequence[str], jobs: int | None) -> tuple[tuple[str, ...], ...]:
    """Return the workloads of each job: `jobs` non-empty parts if possible, by default one for each workload."""
    count = min(jobs or len(workloads), len(workloads))
    return tuple(tuple(workloads[start::count]) for start in range(count))
