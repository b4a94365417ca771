"""Recurrent networks: one after another in time, yet not slow, if a kernel takes all time steps at once."""

from collections.abc import Iterator
from functools import partial

from suite import units
from suite.experiments import headline
from suite.report.answers._by_way import by_way, chart_of
from suite.report.parts.answer import Answer, Question, shown
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.report.parts.quoted import Quoted, Quoting, listed, ratio_words, why_not
from suite.results.pooled.machine_evidence import Evidence
from suite.results.pooled.speedup import PooledSpeedUp, lacking
from suite.results.views.table import Table

_WORKLOAD, _BESIDE = "imdb_bilstm", "imdb_text_cnn"  # the same reviews, without a loop
_HOPPER = "9."  # the compute capability of the GPUs for which `suite/nn/lstm_kernels.py` is
_WORDS = ("Yes", "Not surely", "No")  # slower, undecided, faster


def answer(facts: Facts, evidence: Evidence) -> Answer | None:
    """Return the LSTM's speed-up, and that of each other way of writing it."""
    item = next((i for i in evidence.speedups if i.headline and i.workload == _WORKLOAD), None)
    if item is None or item.state == "invalid":
        return None
    quoting, ratio = Quoting(facts=facts, evidence=evidence), item.ratio
    number = quoting.speedup(item)
    ways = by_way(evidence, _WORKLOAD)
    others = [Html("{} as {}").format(quoting.speedup(other).words, words)
              for words, other in ways.items() if other is not item]  # fmt: skip
    title = f"One step of an LSTM gains {units.ratio(ratio.value, ratio.low, ratio.high)}"
    chart = chart_of("are-lstms-slow-on-gpus", ways)
    kernels = list(_kernels(quoting, item))
    even = "even with a kernel of its own"
    words = (f"Yes, {even}", f"Not surely, {even}", "Not with a kernel of its own") if _own_kernel(item) else _WORDS
    slower, faster = ratio.high is not None and ratio.high < 1, (ratio.low or 0) > 1
    return Answer(
        sentence=Html("{}: one {} runs a step of {} {} as fast as its CPU.").format(
            words[0 if slower else 2 if faster else 1],
            quoting.gpu,
            quoting.model(item.record.description),
            number.words,
        ),
        more=Html(" ").join(each for each, _ in kernels),
        numbers=(number,),
        further=tuple(each for _, each in kernels if each),
        turns=Html(
            "It turns with the kernel: cuDNN, or kernels such as this suite’s own, take all time steps in one launch; "
            "a loop in Python launches each by itself.{}"
        ).format(Html(" Written in other ways: {}.").format(listed(others)) if others else ""),
        draw=chart.figures if chart else partial(shown, facts, evidence, "headline", title),
        tables=(chart.table,) if chart else _tables(evidence),
    )


def _own_kernel(item: PooledSpeedUp) -> bool:
    """Return whether a kernel of this suite's own runs the loop on the GPU."""
    return any(gpu.compute_capability.startswith(_HOPPER) for gpu in item.record.machine.gpus)


def _kernels(quoting: Quoting, item: PooledSpeedUp) -> Iterator[tuple[Html, Quoted | None]]:
    """Yield what runs the loop on the GPU, in JAX and in PyTorch, with the number in it."""
    if _own_kernel(item):
        words = "JAX runs the loop on this GPU in a kernel of this suite’s own; an ordinary lax.scan was not timed."
        yield Html(words), None
    if item.gpu_baselines:
        way = item.gpu_baselines[0]
        number = quoting.of_pools(ratio_words(way.over), [way.pool, item.gpu], why_not(lacking(way.over)))
        yield Html("PyTorch’s LSTM takes {} of that step’s time on the GPU.").format(number.words), number


def _tables(evidence: Evidence) -> tuple[Table, ...]:
    """Return the table of the LSTM and of the convolution that reads the same reviews."""
    its = headline.read(evidence.of(_WORKLOAD, _BESIDE))
    return its.tables if its else ()


QUESTION = Question(
    title="Are LSTMs slow on GPUs?",
    place=10,
    also=("RNN", "GRU", "recurrent network", "cuDNN", "scan", "sequence"),
    wanted="This needs the bidirectional LSTM, on a CPU and a GPU of the same machine.",
    command="nox -s control -- imdb_bilstm --experiment as_written",
    evidence=("as_written", "headline"),
    read_next=("why_is_my_gpu_slower_than_my_cpu", "is_jax_faster_than_pytorch"),
    answer=answer,
)
