"""Faults of a worker that is killed, hangs, is stopped, or says what it should not."""

from functools import partial

from suite.driver import collect
from trust.bench import A_RECORD, Bench, Outcome, fault, in_process, recorded

_STAGES = tuple(name for name in collect.STAGE_TIMEOUT_SECONDS if name != "start")
_SAMPLED = ("samples", "epoch")  # one of every case, one that a case of steps has not


@fault("the worker is killed (SIGKILL)", A_RECORD, "how the child ended", sample=True)
def _(place: Bench) -> Outcome:
    return recorded(place.faked("kill samples").run(), "killed by SIGKILL, in stage 'samples'")


@fault("the worker talks nonsense", A_RECORD, "the protocol's types")
def _(place: Bench) -> Outcome:
    return recorded(place.faked("nonsense init").run(), "was not understood in stage 'init'")


@fault("the worker's last words name a path", "a record without the path", "what leaves the machine", sample=True)
def _(place: Bench) -> Outcome:
    ran = place.faked("exit compile").run()
    good, found = recorded(ran, "lost at <path>")
    text = b"".join(path.read_bytes() for path in place.out.glob("*/*.json"))
    return good and b"somebody" not in text, found


@fault("the loss is not a number", A_RECORD, "the run's losses")
def _(place: Bench) -> Outcome:
    return recorded(place.faked("nan samples").run("--backend", "cpu"), "the loss is not finite")


def silent(place: Bench, how: str, stage: str) -> Outcome:
    """Let the worker fall silent in a stage whose limit is short, and see that it is ended and said."""
    seen = in_process(place, f"{how} {stage}", "smoke", {stage: 0.6})
    words = f"no word from the worker for 1 s in stage '{stage}'"
    good = bool(seen) and all(words in record.reason for record in seen) and not place.orphans()
    return good, "; ".join({record.reason for record in seen})


for _stage in _STAGES:
    fault(f"the worker hangs in stage '{_stage}' and ignores SIGTERM", f"{A_RECORD}, no process left",
          "the stage's limit", sample=_stage in _SAMPLED)(partial(silent, how="hang", stage=_stage))  # fmt: skip
fault("the worker is stopped (SIGSTOP) for ever", f"{A_RECORD}, no process left", "the stage's limit")(
    partial(silent, how="stop", stage="warmup")
)
