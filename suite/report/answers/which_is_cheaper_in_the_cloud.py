"""Money: the same step on a rented GPU and on a rented CPU, by the dated prices of both."""

from collections.abc import Iterator

from suite import units
from suite.report.parts.answer import Answer, Question
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.report.parts.quoted import Quoted, Quoting, span
from suite.results.pooled.machine_evidence import Evidence, over
from suite.results.pooled.pools import Pool
from suite.results.pooled.speedup import lacking
from suite.results.single.prices import Price, price_of
from suite.results.stats.pooling import Pooled

_Offer = tuple[Pool, Price, Pooled]  # a CPU's step, its price, and its cost over the GPU's


def answer(facts: Facts, evidence: Evidence) -> Answer | None:
    """Return how many times the GPU's cost a step on a priced CPU has, for the models at both ends."""
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
        return None
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


def _price(price: Price) -> str:
    return f"{units.money(price.per_hour, price.currency)} ({price.date}, {price.source})"


def _offers(facts: Facts, step: Pool, price: Price) -> Iterator[_Offer]:
    """Yield the same step on each CPU with a price in the same currency."""
    for pool in facts.current.values():
        host, case = pool.newest.machine, pool.case
        if host.gpus or case.backend != "cpu" or not pool.newest.headline_step() or case.workload != step.case.workload:
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
    wanted="This needs today’s dated prices of a GPU’s machine and of a CPU’s that timed the same step.",
    command="nox -s bench -- cifar10_resnet63 --prices prices.toml",
    evidence=("serving",),
    read_next=("cpu_or_gpu_for_inference", "how_many_cpu_cores_equal_a_gpu"),
    answer=answer,
)
