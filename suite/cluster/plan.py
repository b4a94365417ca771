"""Which jobs a campaign over many machines has, on disk, so that whoever watches over them can come back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from suite.driver.request import Request
from suite.workload import Plain

Cluster = Literal["slurm", "local"]
FOLDER = ".cluster"  # in --out, where nobody looks for records
_FILE = "plan.json"


class SubmittedJob(Plain, frozen=True, kw_only=True):
    """A job as the cluster knows it."""

    part: int
    job: str


class Plan(Plain, frozen=True, kw_only=True):
    """What was asked for, and how it is dealt."""

    cluster: Cluster
    request: Request
    parts: tuple[tuple[str, ...], ...]  # the workloads of each job
    options: dict[str, str]  # of sbatch
    machine_name: str | None
    software: dict[str, str]  # that every node must have
    sent: tuple[SubmittedJob, ...] = ()  # every job that was ever submitted, in order
    ended: bool = False

    def of(self, part: int) -> Request:
        """Return what one job is asked for."""
        return replace(self.request, assigned_workloads=self.parts[part])


@dataclass(frozen=True)
class Place:
    """A plan's folder."""

    folder: Path

    @property
    def logs(self) -> Path:
        """Where the cluster's own files go."""
        return self.folder / "jobs"

    def campaign(self, part: int) -> Path:
        """Return the file that remembers which campaign is a job's."""
        return self.folder / f"part-{part}.campaign"

    def node(self, part: int) -> Path:
        """Return the file that remembers on which node a job ran last."""
        return self.folder / f"part-{part}.node"

    def read(self) -> Plan:
        """Return the plan.

        Raises RuntimeError if it was written by another version of the suite, or is damaged.
        """
        path = self.folder / _FILE
        try:
            return msgspec.json.decode(path.read_bytes(), type=Plan)
        except msgspec.ValidationError as error:
            raise RuntimeError(
                f"'{path}' was written by another version of the suite ({error}); go on with that one, or start anew"
            ) from None
        except msgspec.DecodeError as error:
            raise RuntimeError(f"'{path}' is damaged ({error}); start anew without --resume") from None

    def write(self, plan: Plan) -> None:
        """Write the plan in one piece."""
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = self.folder / f".{_FILE}"
        draft.write_bytes(msgspec.json.format(msgspec.json.encode(plan)) + b"\n")
        draft.replace(self.folder / _FILE)


def new(out: Path, now: datetime) -> Place:
    """Return the place of a new plan in a folder of campaigns."""
    return Place(out.absolute() / FOLDER / f"{now:%Y%m%d-%H%M%S}")


def unended(out: Path) -> Iterator[tuple[Place, Plan]]:
    """Yield the plans that have not ended with their places, the newest first. Raises RuntimeError as `read` does."""
    for path in sorted((out.absolute() / FOLDER).glob(f"*/{_FILE}"), reverse=True):
        place = Place(path.parent)
        if not (plan := place.read()).ended:
            yield place, plan


def unfinished(out: Path, cluster: Cluster) -> Place:
    """Return the place of the newest plan for such a cluster that has not ended.

    Raises RuntimeError if there is none.
    """
    for place, plan in unended(out):
        if plan.cluster == cluster:
            return place
    raise RuntimeError(
        f"--resume asked for, '{out}' holds no jobs for '{cluster}' that are not done; start anew without --resume"
    )


def partition(workloads: Sequence[str], jobs: int | None) -> tuple[tuple[str, ...], ...]:
    """Return the workloads of each job: as many as asked for, none of them empty, or one for each."""
    count = min(jobs or len(workloads), len(workloads))
    return tuple(tuple(workloads[start::count]) for start in range(count))
