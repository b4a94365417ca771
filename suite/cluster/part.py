"""What a job does on its node: run a campaign, or resume that of a lost job of the same part."""

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
    """The result of a job: its campaign, and the node that ran it."""

    campaign: str
    node: str


@dataclass(frozen=True, kw_only=True)
class Part:
    """One job; it is pickled, sent to its node and called there."""

    folder: Path  # of the plan
    out: Path
    number: int

    def __call__(self) -> Outcome:
        """Measure what this part lacks.

        Raises RuntimeError if this node's software differs from the planning machine's.
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
        """Return the same job, for a cluster that preempts it and requeues it on another node."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self)

    def _journal(self, place: Place, plan: Plan) -> Journal:
        """Return the journal of this part's campaign; a new campaign's if that one cannot be resumed here."""
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
    """Raise RuntimeError, naming the differences, if this node's software differs from the planning machine's."""
    if differs := software.differences(plan.software, software.here()):
        raise RuntimeError(
            f"node '{platform.node()}' has other software than the machine that planned the campaign: {differs}; "
            f"install the same on all nodes, then {resuming.resume_words(out, f'run --cluster {plan.cluster}')}"
        )
