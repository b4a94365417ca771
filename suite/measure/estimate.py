"""How long a campaign will take: a guess before it starts, corrected by what has been seen."""

from suite.measure.profiles import CHAIN_SECONDS, Effort
from suite.workload import Case, Description

_START_SECONDS = 8.0  # interpreter, imports, data, initial state
_COMPILE_SECONDS_PER_GFLOP = 4.0  # of one example: deep networks compile longer
_FLOP_PER_SECOND = {"cpu": 25e9, "gpu": 4e12}  # sustained; per core on the CPU
_FEWEST_SAMPLES = 3
_DOUBLINGS = 12


def process_seconds(case: Case, about: Description, effort: Effort, cores: int) -> float:
    """Return a guess of one child process's duration, for a case's step and cold scopes together."""
    rate = _FLOP_PER_SECOND[case.backend] * (min(cores, case.threads or cores) if case.backend == "cpu" else 1)
    step = case.batch * about.flop_per_example / rate
    chain = max(step, CHAIN_SECONDS[case.backend])
    warmup = max(effort.warmup_steps * step, min(effort.warmup_seconds, _DOUBLINGS * chain))
    sampling = min(effort.samples * chain, max(effort.sampling_seconds, _FEWEST_SAMPLES * chain))
    compiling = 2.0 + _COMPILE_SECONDS_PER_GFLOP * about.forward_flop_per_example / 1e9
    return _START_SECONDS + compiling + 2 * step + warmup + sampling
