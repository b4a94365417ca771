"""Validity checks: each marks a result invalid, with a reason that begins with the check's name.

A check is skipped if its input is missing, as in older records or for implementations without support.
"""

from collections.abc import Callable, Iterable, Iterator
from statistics import median

from suite import units
from suite.case import FRAMEWORK_DEFAULT, Case
from suite.results.records.record import Record
from suite.results.records.run import Audit, JaxprCost, Run
from suite.results.single.floor import floor_seconds, trained
from suite.scopes import SCOPES

NOT_FINITE = "the loss is not finite"
DONATED = "a donated buffer was used again"
NOTHING_COMPUTED = "it stands still, or nothing is computed"

SPINNING_SECONDS = 0.06  # threads spin before they sleep
AWAITED_SECONDS = 0.01  # to find that every array is ready

FEWEST_SAMPLES = 3  # of a process, unless the budget allows fewer
DOUBLING_FROM = 1.25  # least ratio of times of twice the steps, even on a busy machine
_CLOCKS_SHARE, _CLOCKS_SECONDS = 0.05, 0.1  # tolerance between two clocks
_CPU_SHARE, _CPU_SECONDS = 0.1, 0.1  # tolerance of CPU time above cores x wall-clock time
_UNFINISHED_SHARE = 0.1  # of a sample
_FEWEST_FLOP = 0.999
_FEWEST_SERVED = 0.95  # of the parameters: serving folds batch norms into kernels
_LITTLE = 0.2  # tolerance of the requests in flight by Little's law
_WRONG = 0.05  # of all answers
_SAME_LOSS, _SAME_CHANGE, _ROUNDING = 1e-3, 0.25, 1e-6
_NO_LOSS = 1e-9  # of a batch that a small network fits to the rounding of its numbers: nothing is left to learn


def invalid(record: Record) -> Iterator[str]:
    """Yield why the record is invalid: round, check and observation."""
    for run in record.runs:
        for name, check in CHECKS.items():
            for words in check(record, run):
                yield f"round {run.round + 1}: {name}: {words}"


def is_short(case: Case, run: Run) -> bool:
    """Return whether a process took too few samples of its steps, since the budget allowed no more."""
    return SCOPES[case.scope].with_step and 0 < len(run.samples) < FEWEST_SAMPLES


def _compilations(record: Record, run: Run) -> Iterator[str]:
    if run.compilations:
        yield f"{units.pluralize(run.compilations, 'compilation')} inside the samples"


def _loss(record: Record, run: Run) -> Iterator[str]:
    if run.reason == NOT_FINITE or run.first_loss != run.first_loss:
        yield NOT_FINITE


def _calibration(record: Record, run: Run) -> Iterator[str]:
    if NOTHING_COMPUTED in run.reason:
        yield run.reason


def _donation(record: Record, run: Run) -> Iterator[str]:
    if DONATED in run.reason:
        yield DONATED


def _stamps(record: Record, run: Run) -> Iterator[str]:
    if run.elapsed_seconds is None or not run.samples:
        return
    stated = sum(sample.wall_seconds for sample in run.samples)
    if abs(run.elapsed_seconds - stated) > _CLOCKS_SHARE * run.elapsed_seconds + _CLOCKS_SECONDS:
        yield f"the samples add up to {stated:.3f} s, by the parent's clock they took {run.elapsed_seconds:.3f} s"


def _cpu_time(record: Record, run: Run) -> Iterator[str]:
    wall = run.profiled.wall_seconds if run.profiled else sum(sample.wall_seconds for sample in run.samples)
    used = sum(sample.process_seconds for sample in run.samples)
    cores = record.machine.cores
    if used > (1 + _CPU_SHARE) * cores * wall + _CPU_SECONDS:
        yield f"{used:.3f} s of CPU time in {wall:.3f} s on {units.pluralize(cores, 'core')}"


def _kernels(record: Record, run: Run) -> Iterator[str]:
    """A GPU is busy for at most the whole chain; two clocks tell it."""
    busy = sum(sample.wall_seconds for sample in run.samples)
    if run.profiled is not None and busy > (1 + _CLOCKS_SHARE) * run.profiled.wall_seconds:
        yield f"the GPU was busy for {busy:.4f} s of a chain of {run.profiled.wall_seconds:.4f} s"


def _doubling(record: Record, run: Run) -> Iterator[str]:
    if run.doubling_ratio is not None and run.doubling_ratio < DOUBLING_FROM:
        yield f"twice the steps took {run.doubling_ratio:.2f} times as long"


def _unfinished(record: Record, run: Run) -> Iterator[str]:
    if run.audit is None or run.audit.unfinished_seconds is None or not run.samples:
        return
    sample, over = median(sample.wall_seconds for sample in run.samples), run.audit.unfinished_seconds
    if over > _UNFINISHED_SHARE * sample + SPINNING_SECONDS:
        yield f"work went on for {over:.3f} s after a sample of {sample:.3f} s had ended"
    awaited = run.audit.awaited_seconds if _dispatched(record) else None
    if awaited is not None and awaited > _UNFINISHED_SHARE * sample + AWAITED_SECONDS:
        yield f"its arrays were there {awaited:.3f} s after a sample of {sample:.3f} s had ended"
    read = run.audit.loss_seconds if run.audit.program is not None else None  # a baseline may compute it anew
    if read is not None and read > _UNFINISHED_SHARE * sample + SPINNING_SECONDS:
        yield f"its loss took {read:.3f} s to read after a sample of {sample:.3f} s had ended"


def _dispatched(record: Record) -> bool:
    """Return whether arrays may be returned before they are computed; on CPUs PyTorch, XGBoost and OpenVINO block."""
    return record.backend == "gpu" or record.case.implementation not in ("torch", "xgboost", "openvino")


def _cache(record: Record, run: Run) -> Iterator[str]:
    if (record.case.scope, record.case.cache) == ("cold", "empty") and run.cache_hits:
        yield f"{units.pluralize(run.cache_hits, 'program')} of a cold start came from a compile cache"


def _floor(record: Record, run: Run) -> Iterator[str]:
    if not SCOPES[record.case.scope].bounded or not run.samples or run.steps_per_sample < 1:
        return
    step = median(sample.wall_seconds for sample in run.samples) / run.steps_per_sample
    least = floor_seconds(record)
    if step < least:
        yield f"a step in {step:.2e} s, which no such machine can do in less than {least:.2e} s"


def _in_flight(record: Record, run: Run) -> Iterator[str]:
    """Source: Little, A proof for the queuing formula L = lambda W (1961)."""
    if run.served is None or not run.samples:
        return
    wanted, taken = run.served.in_flight, run.steps_per_sample * len(run.samples)
    if len(run.served.latency_seconds) != taken:
        yield f"{len(run.served.latency_seconds)} latencies of {taken} requests"
        return
    in_flight = sum(run.served.latency_seconds) / sum(sample.wall_seconds for sample in run.samples)
    if abs(in_flight / wanted - 1) > _LITTLE:
        yield f"by their latencies {in_flight:.2f} requests were under way, not {wanted}"


def _answers(record: Record, run: Run) -> Iterator[str]:
    """Baselines draw their own initial values, under which a deep network may answer the same for every picture."""
    if run.served is None:
        return
    served, requests = run.served, len(run.served.latency_seconds)
    if served.answers < 2 and record.case.implementation == "jax":
        yield f"the answer is the same to all of {served.pictures} pictures"
    if served.wrong_answers > _WRONG * requests:
        yield f"{served.wrong_answers} of {requests} answers were not those of their pictures"


def _of_audit(check: Callable[[Record, Audit], Iterable[str]]) -> Callable[[Record, Run], Iterable[str]]:
    return lambda record, run: check(record, run.audit) if run.audit is not None else ()


def _of_program(check: Callable[[Record, JaxprCost], Iterable[str]]) -> Callable[[Record, Run], Iterable[str]]:
    return _of_audit(lambda record, audit: check(record, audit.program) if audit.program is not None else ())


def _cores(record: Record, audit: Audit) -> Iterator[str]:
    asked = min(record.case.threads or record.machine.cores, record.machine.cores)
    if record.backend == "cpu" and audit.cores != asked:
        yield f"the process could use {units.pluralize(audit.cores, 'core')}, of {asked}"


def _backend(record: Record, audit: Audit) -> Iterator[str]:
    if audit.platform is not None and audit.platform != record.backend:
        yield f"'{record.backend}' asked for, the arrays were on '{audit.platform}'"


def _inputs(record: Record, audit: Audit) -> Iterator[str]:
    if not audit.inputs_kept:
        yield "the batches were changed while they were used"


def _on_device(record: Record, audit: Audit) -> Iterator[str]:
    if audit.inputs_on_device is False:
        yield "the arrays on the device are not the batches of the record"


def _examples(record: Record, audit: Audit) -> Iterator[str]:
    if audit.examples_differ is False:
        yield "every example is the same"


def _flop(record: Record, program: JaxprCost) -> Iterator[str]:
    wanted = record.case.batch * record.description.flop_per_example
    if program.flop_per_step < _FEWEST_FLOP * wanted:
        yield f"the results of the program need {program.flop_per_step:.4g} FLOP a step, the network {wanted:.4g}"


def _parameters(record: Record, program: JaxprCost) -> Iterator[str]:
    about = record.description
    wanted = about.trainable_parameters if trained(about) else int(_FEWEST_SERVED * about.trainable_parameters)
    if program.parameters < wanted:
        yield f"the program takes {program.parameters} parameters, the network has {about.trainable_parameters}"


def _batch(record: Record, program: JaxprCost) -> Iterator[str]:
    if program.examples != record.case.batch:
        yield f"the results of the program need {program.examples} examples of a batch of {record.case.batch}"


def _precision(record: Record, program: JaxprCost) -> Iterator[str]:
    """Trees have no products; the jaxpr excludes those of an LSTM's kernel, float32 at every precision."""
    asked, types, kinds = record.case.precision, program.product_dtypes, program.product_precisions
    narrow = [name for name in types if name != "float32"]
    lower = [name for name in kinds if name != "highest"]
    if narrow and asked != "bfloat16":
        yield f"products in {', '.join(narrow)} at precision '{asked}'"
    if lower and asked == "float32-highest":
        yield f"products of precision '{', '.join(lower)}' at precision 'float32-highest'"
    if types and "bfloat16" not in types and asked == "bfloat16":
        yield f"products in {', '.join(types)} alone at precision 'bfloat16'"
    if kinds and not lower and asked in ("tf32", FRAMEWORK_DEFAULT):
        yield f"products of precision 'highest' alone at precision '{asked}'"


def _replay(record: Record, run: Run) -> Iterator[str]:
    replay = run.audit.replay if run.audit is not None else None
    if replay is None:
        return
    about, begun = record.description, run.first_loss
    first, once, twice, together = replay.first, replay.once, replay.twice, replay.together
    if first is None or once is None or twice is None or together is None:
        yield "a loss is not finite"
        return
    if begun is None:
        return
    if abs(first - begun) > _SAME_LOSS * abs(begun):
        yield f"the first loss was {begun:.6g}, from the same start it is {first:.6g}"
    learning = abs(once) > _NO_LOSS
    if learning and (about.family == "trees" or trained(about)) and once == twice:
        yield f"the loss of a batch stays {once:.6g}: the state does not advance"
    if abs(together - twice) > _SAME_CHANGE * abs(twice - once) + _ROUNDING * abs(twice):
        yield f"after a chain the loss is {together:.6g}, after its steps one by one {twice:.6g}"
    if once == replay.other_inputs and not replay.other_state:
        yield f"the loss is {once:.6g} whatever the batch"
    if about.family != "trees" and replay.rotated is False:  # boosting has one table
        yield f"after two steps the loss is {together:.6g} whatever the second batch"
    # Boosting has no parameters to draw, and a copy of memory ignores them.
    if learning and about.flop_per_example > 0 and (once, twice) == (replay.other_seed, replay.other_seed_twice):
        yield f"the loss is {once:.6g} whatever the parameters"


CHECKS: dict[str, Callable[[Record, Run], Iterable[str]]] = {
    "compilations": _compilations,
    "loss": _loss,
    "donation": _donation,
    "calibration": _calibration,
    "stamps": _stamps,
    "CPU time": _cpu_time,
    "kernels": _kernels,
    "doubling": _doubling,
    "unfinished work": _unfinished,
    "cache": _cache,
    "floor": _floor,
    "in flight": _in_flight,
    "answers": _answers,
    "cores": _of_audit(_cores),
    "backend": _of_audit(_backend),
    "inputs": _of_audit(_inputs),
    "inputs on the device": _of_audit(_on_device),
    "examples": _of_audit(_examples),
    "FLOP": _of_program(_flop),
    "parameters": _of_program(_parameters),
    "batch": _of_program(_batch),
    "precision": _of_program(_precision),
    "replay": _replay,
}
