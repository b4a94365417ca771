"""Money: the same step on a rented GPU and on a CPU, by dated prices of both, or what the CPU may cost."""

from collections.abc import Iterator
from dataclasses import replace

from suite import units
from suite.report.parts.answer import Answer, Question
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.report.parts.quoted import Quoted, Quoting, span
from suite.results.pooled.kinds import FEWEST_MODELS, mean_ratio
from suite.results.pooled.machine_evidence import Evidence, over
from suite.results.pooled.pools import Pool
from suite.results.pooled.speedup import behind, lacking
from suite.results.single.prices import Price, price_of
from suite.results.stats.pooling import Pooled

_Offer = tuple[Pool, Price, Pooled]  # a CPU's step, its price, and its cost over the GPU's


def answer(facts: Facts, evidence: Evidence) -> Answer | None:
    """Return how many times the GPU's cost a step on a priced CPU has, for the models at both ends.

    Without the price of a CPU, return at which price a step would cost the same on the GPU's host.
    """
    quoting = Quoting(facts=facts, evidence=evidence)
    price = price_of(quoting.machine, facts.prices) if quoting.machine.gpus else None
    if price is None:
        return None
    offers = [
        (step, offer)
        for step in evidence.fitting(
            lambda record: record.backend == "gpu" and record.description.documented and record.headline_step()
        )
        for offer in _offers(facts, step, price)
    ]
    if not offers:
        return _of_its_host(quoting, price)
    offers.sort(key=lambda each: each[1][2].value)
    ends = (offers[0], offers[-1])
    numbers = tuple(_number(quoting, step, offer) for step, offer in ends)
    low, high = (quoting.model(step.newest.description) for step, _ in ends)
    cpu_price = min((offer[1] for _, offer in ends), key=lambda each: each.per_hour)
    return Answer(
        sentence=Html("A step on a rented CPU costs {} of what it costs on one {}.").format(span(numbers), quoting.gpu),
        numbers=numbers,
        turns=Html("It turns with the prices of an hour: {} and {}. It is least for {}, most for {}.").format(
            _price(price), _price(cpu_price), low, high
        ),
    )


def _of_its_host(quoting: Quoting, price: Price) -> Answer | None:
    """Return what an hour of the host's CPU would cost if a step cost the same on both, as a mean and at both ends."""
    steps = [item for item in quoting.evidence.speedups if item.headline and item.state != "invalid"]
    if len(steps) < FEWEST_MODELS:
        return None
    steps.sort(key=lambda item: item.ratio.value)
    mean = mean_ratio((item.cpu, item.gpu) for item in steps)
    same = _hour(mean, price)
    caveat = "; ".join((*lacking(mean), *behind(item.quotable for item in steps)))
    number = replace(quoting.following("", steps), words=Html(same), caveat=caveat)
    cheap, dear = (quoting.following(_hour(item.ratio, price), [item]).words for item in (steps[-1], steps[0]))
    low, high = (quoting.model(item.record.description) for item in (steps[-1], steps[0]))
    return Answer(
        sentence=Html("With one {} at {} an hour, the GPU is cheaper if {} cost over {}.").format(
            quoting.gpu, units.documented(price.per_hour, price.currency), quoting.cores, number.words
        ),
        numbers=(number,),
        more=Html(
            "The cores are the host’s own, rented without the GPU; the GPU’s price is that of a machine with one. This "
            "is the geometric mean of {}, each by its step alone, without compiling and reading."
        ).format(units.pluralize(len(steps), "model")),
        turns=Html(
            'It turns with the model: from {} for {} to {} for {}. {} <a href="../kinds.html">Other CPUs</a> have '
            "other times."
        ).format(cheap, low, dear, high, price.words),
    )


def _hour(ratio: Pooled, price: Price) -> str:
    """Return what an hour of the CPU would cost, given its time over the GPU's."""
    hour = ratio.per(price.per_hour)
    within = units.interval(hour.low, hour.high)
    words = units.money(hour.value, price.currency, units.half_width(hour.low, hour.high))
    return f"{words} ({within if within != units.DASH else 'no interval'})"


def _price(price: Price) -> str:
    return f"{units.money(price.per_hour, price.currency)} ({price.date}, {price.source})"


def _offers(facts: Facts, step: Pool, price: Price) -> Iterator[_Offer]:
    """Yield the same step on each CPU with a price in the same currency."""
    for pool in facts.current.values():
        host, case = pool.newest.machine, pool.case
        if host.gpus or case.backend != "cpu" or not pool.headline_step() or case.workload != step.case.workload:
            continue
        own = price_of(host, facts.prices)
        if own is not None and own.currency == price.currency:
            yield pool, own, over(pool, step).per(1).per(own.per_hour / price.per_hour)


def _number(quoting: Quoting, step: Pool, offer: _Offer) -> Quoted:
    pool, _, cost = offer
    words = f"{units.ratio(cost.value, cost.low, cost.high)} ({units.interval(cost.low, cost.high)})"
    return quoting.of_pools(words, [pool, step], next(lacking(cost, pool.records), ""))


QUESTION = Question(
    title="Which is cheaper in the cloud, a CPU or a GPU?",
    place=9,
    also=("price", "cost", "spot", "AWS", "Azure", "Google Cloud", "rent", "dollars an hour"),
    wanted="This needs a dated price of a GPU’s machine that timed steps on both sides.",
    command="nox -s bench -- cifar10_resnet63 --prices prices.toml",
    evidence=("serving",),
    read_next=("cpu_or_gpu_for_inference", "how_many_cpu_cores_equal_a_gpu"),
    answer=answer,
)
