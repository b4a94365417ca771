"""O1, O2: how busy the processors are in a short run."""

from suite import units
from suite.analysis.steps import percent_words
from suite.claims import NOT_RUN, Judgement, Observation, judged, part, unmeasured
from suite.claims._articles import MNIST
from suite.claims._judging import above, below, least, most, mostly, unsure
from suite.experiments.run_length import busy, cpu_while_training, gpu, gpu_at_most, gpu_while_training, runs
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.pools import Pool
from suite.results.stats.statistics import Estimate

_EXPERIMENT = "run_length"
_SATURATED, _IDLE, _MORE = 0.9, 0.5, 1.5
_SHORT, _LONG = 1, 10  # times the documented epochs
_NAMES = {_SHORT: "the documented run", _LONG: "one ten times as long"}


def _runs(evidence: Evidence) -> dict[tuple[str, int], Pool]:
    """Return the whole runs of mnist_mlp with data on the host, by backend and length."""
    every = (pool.case for group in runs(evidence.of("mnist_mlp")) for pool in group)
    return {(case.backend, case.length): evidence.pools[case] for case in every if case.variant == "plain"}


def _saturates(evidence: Evidence) -> Judgement:
    runs = _runs(evidence)
    if not {("cpu", 1), ("gpu", 1)} <= set(runs):
        return NOT_RUN
    host, top = busy(runs["cpu", 1], cpu_while_training), busy(runs["gpu", 1], gpu_at_most)
    if host is None or top is None:
        return NOT_RUN
    text = f"While training, the CPU's cores are busy {percent_words(host)}; the GPU is at most {percent_words(top)}."
    parts = (
        part("it takes all of the CPU", mostly(host, _SATURATED), below(host, _IDLE), why=unsure(host, between=True)),
        part("it leaves half of the GPU idle", below(top, _IDLE), mostly(top, _IDLE), why=unsure(top)),
    )
    return judged(text, parts)


def _too_short(evidence: Evidence) -> Judgement:
    sides = {length: pool for (backend, length), pool in _runs(evidence).items() if backend == "gpu"}
    shares = {length: busy(pool, gpu_while_training) for length, pool in sides.items()}
    known = {length: share for length in _NAMES if (share := shares.get(length)) is not None}
    if not known:
        return NOT_RUN
    listed = " and ".join(f"{percent_words(busy)} in {_NAMES[length]}" for length, busy in known.items())
    summary = f"While training, the GPU is busy {listed}"
    missing = [_missing(length, length in sides) for length in _NAMES if length not in known]
    if missing:
        return unmeasured(missing[0], f"{summary}.")
    short, long = known[_SHORT], known[_LONG]
    gain = _over(long, short)
    wholes = " and ".join(units.percent(whole.value) for each in _NAMES if (whole := busy(sides[each], gpu)))
    summary = f"{summary}; building and compiling included, {wholes}."
    busier, same = above(gain, _MORE) and mostly(long, _IDLE), below(gain, _MORE)
    return judged(summary, [part("", busier, same, why=unsure(gain))])


def _over(one: Estimate, other: Estimate) -> Estimate:
    """Return the ratio of two shares, bounded by the ends of their intervals; without interval if a share has none."""
    value = one.value / other.value
    if None in (one.low, one.high, other.low, other.high):
        return Estimate(value=value)
    return Estimate(value=value, low=least(one) / most(other), high=most(one) / least(other), processes=one.processes)


def _missing(length: int, timed: bool) -> str:
    return f"how busy it is in the epochs of {_NAMES[length]}, which are too short for it" if timed else _NAMES[length]


OBSERVATIONS = (
    Observation(
        code="O1",
        article=MNIST,
        said="Training on MNIST takes all of the CPU, but at most 26 % of the GPU.",
        rule="Part 1 holds if the CPU's cores are surely busy more than 90 % of the time while the run trains; it "
        "fails below 50 %. Part 2 holds if the GPU's peak is surely below 50 %; it fails above.",
        experiment=_EXPERIMENT,
        judge=_saturates,
    ),
    Observation(
        code="O2",
        article=MNIST,
        said="The GPU was not busy because the run was too short.",
        rule="Reproduced if ten times the epochs make the GPU surely 1.5 times as busy while training, and busy more "
        "than half of that time. Refuted if surely less than 1.5 times as busy. Building and compiling do not "
        "count, since a longer run always has less of them.",
        experiment=_EXPERIMENT,
        judge=_too_short,
    ),
)
