"""What a job does on its node: an ordinary campaign, gone on with where an earlier job of the same part was lost."""

import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suite.cluster.plan import Place, Plan
from suite.console import terminal
from suite.driver import runner
from suite.driver.journal import FILE_NAME, Journal
from suite.sessions import bench, resuming
from suite.system import software


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a job has left."""

    campaign: str
    node: str


@dataclass(frozen=True, kw_only=True)
class Part:
    """One job; it travels to its node and is called there."""

    folder: Path  # of the plan
    out: Path
    number: int

    def __call__(self) -> Outcome:
        """Measure what this part lacks.

        Raises RuntimeError if this node has other software than the machine that planned it.
        """
        place = Place(self.folder)
        plan = place.read()
        place.node(self.number).write_text(platform.node())
        check_same_software(plan, self.out)
        journal = self._journal(place, plan)
        if not resuming.has_ended(journal) and bench.measure(journal, self.out) == "interrupted":
            raise KeyboardInterrupt
        return Outcome(campaign=journal.path.parent.name, node=platform.node())

    def checkpoint(self) -> Any:
        """Return the same job again, for a cluster that takes a node away and gives another."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self)

    def _journal(self, place: Place, plan: Plan) -> Journal:
        """Return the journal of this part's campaign, or a new one's where it cannot be gone on with here."""
        remembered = place.campaign(self.number)
        if remembered.exists():
            journal = Journal(self.out / remembered.read_text() / FILE_NAME)
            try:
                if not resuming.has_ended(journal):
                    resuming.check_resumable_here(journal)
                return journal
            except RuntimeError as error:
                terminal.say(f"note: {error}")
                runner.forget_compiled(journal)
        journal = bench.planned(plan.of(self.number), self.out, plan.machine_name, self.number + 1)
        remembered.write_text(journal.path.parent.name)
        return journal


def check_same_software(plan: Plan, out: Path) -> None:
    """Raise RuntimeError, naming what differs, if this node has other software than where the plan was made."""
    if differs := software.differences(plan.software, software.here()):
        raise RuntimeError(
            f"node '{platform.node()}' has other software than the machine that planned the campaign: {differs}; "
            f"install the same on all nodes, then {resuming.resume_words(out, f'run --cluster {plan.cluster}')}"
        )
