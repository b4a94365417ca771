"""Jobs on this machine, which only their supervisor interrupts, never the terminal."""

import os
import subprocess
import sys
from typing import Any

from submitit.local.local import LocalExecutor, LocalJob

from suite.child_imports import child_imports

_LOG = "controller.log"  # of a job's controller, beside the job's own log


class DetachedExecutor(LocalExecutor):
    """Submits jobs that run in a session of their own and see the same GPUs."""

    def _submit_command(self, command: str) -> LocalJob[Any]:
        given = {
            "EXECUTOR": "local",
            "LOCAL_COMMAND": command,
            "LOCAL_JOB_NUM_NODES": "1",
            "LOCAL_NODEID": "0",
            "LOCAL_NTASKS": "1",
            "LOCAL_SIGNAL_DELAY_S": "30",
            "LOCAL_TIMEOUT_S": str(60 * self.parameters["timeout_min"]),
            "LOCAL_WITH_SHELL": "",
            "STDERR_TO_STDOUT": "",
        }
        with (self.folder / _LOG).open("ab") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", "submitit.local._local", str(self.folder)],
                env={**os.environ, **{f"SUBMITIT_{name}": value for name, value in given.items()}, **child_imports()},
                stderr=errors,
                start_new_session=True,
            )
        return LocalJob(folder=self.folder, job_id=str(process.pid), tasks=[0], process=process)
