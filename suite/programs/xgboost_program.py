"""One boosting round in XGBoost: a call of `Booster.update` on a table in XGBoost's own form."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import xgboost

from suite.case import Case
from suite.controls_xgboost._base import Control
from suite.programs import source_digest
from suite.system.counters import granted_cores
from suite.worker_api.program import Batch

ONE_THREAD = "one-thread"  # the variant; `plain` has one thread for each granted core


class XgboostProgram:
    """A control's rounds on one device, driven as `suite.worker_api.program.Program` describes.

    The table is the first input set. After the last round a new booster begins, as on JAX's side.
    """

    def __init__(self, control: Control, case: Case) -> None:
        if case.backend == "gpu" and not xgboost.build_info().get("USE_CUDA"):
            raise RuntimeError(
                "backend 'gpu' asked for, this XGBoost was built for the CPU alone; install the package xgboost in "
                "place of xgboost-cpu, or run --backend cpu"
            )
        self._control, self._case = control, case
        self._threads = 1 if case.variant == ONE_THREAD else case.threads or granted_cores()
        self._device = "cuda" if case.backend == "gpu" else "cpu"

    @property
    def steps_per_call(self) -> int:
        """One."""
        return 1

    def initialise(self, seed: int) -> None:
        """Start without trees; nothing is random."""
        self._seed, self._round = seed, 0

    def put(self, batches: Sequence[Batch]) -> None:
        """Give XGBoost the first input set; XGBoost bins it."""
        table = batches[0]
        self._labels = table["labels"]
        self._table = xgboost.QuantileDMatrix(
            table["bins"].astype(np.float32), self._labels, max_bin=self._control.bins, nthread=self._threads
        )

    def lower(self) -> None:
        """Do nothing: there is no such stage."""

    def compile(self) -> None:
        """Create a booster.

        Raises RuntimeError if it is not on the requested device, of which XGBoost itself only warns.
        """
        self._begin()
        if self.platform() != self._case.backend:
            raise RuntimeError(
                f"backend '{self._case.backend}' asked for, XGBoost trains on '{self.platform()}'; "
                "see suite doctor, or run --backend cpu"
            )

    def _begin(self) -> None:
        chosen = {"device": self._device, "nthread": self._threads, "seed": self._seed, "max_bin": self._control.bins}
        self._booster = xgboost.Booster({**self._control.parameters, **chosen}, [self._table])

    def chain(self, steps: int) -> None:
        """Grow `steps` trees."""
        for _ in range(steps):
            if self._round == self._control.rounds:
                self._begin()
                self._round = 0
            self._booster.update(self._table, self._round)
            self._round += 1

    def block(self) -> None:
        """Do nothing: a call returns with its tree."""

    def loss(self) -> float:
        """Return the mean squared error after the last round, weighted as in training."""
        errors = self._booster.predict(self._table) - self._labels
        weights = np.where(self._labels > 0, self._control.parameters.get("scale_pos_weight", 1.0), 1.0)
        return float(np.mean(weights * errors**2))

    def compilations(self) -> int:
        """Return 0: nothing is compiled."""
        return 0

    def cache_hits(self) -> None:
        """Return None: no cache."""

    def jaxpr_cost(self) -> None:
        """Return None: unsupported."""

    def program_digest(self) -> str:
        """Return a digest of the source of the control and its driver: nothing is lowered ahead of time."""
        return source_digest.of_case(type(self), "suite.controls_xgboost", self._case)

    def state_digest(self) -> None:
        """Return None: unsupported."""

    def platform(self) -> str:
        """Return the backend of the device that the booster itself reports."""
        told = json.loads(self._booster.save_config())["learner"]["generic_param"]["device"]
        return "gpu" if told.startswith("cuda") else told

    def device_memory_bytes(self) -> None:
        """Return None: XGBoost has no counter."""

    def bytes_per_step(self) -> None:
        """Return None: JAX's side counts them."""

    def packages(self) -> dict[str, str]:
        """Return XGBoost's version."""
        return {"xgboost": xgboost.__version__}

    def settings(self) -> dict[str, Any]:
        """Return the options in force that affect speed."""
        told = json.loads(self._booster.save_config())["learner"]["generic_param"]
        return {"xgboost_threads": told["nthread"], "xgboost_device": told["device"]}
