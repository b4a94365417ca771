"""The cards that other sites show beside a link to the home page and to each model's pages."""

from suite import units
from suite.report.charts.previews import FOLDER, Card, svg
from suite.report.parts import embeds, lead, rungs
from suite.report.parts.facts import Facts
from suite.report.parts.overview import first
from suite.results.cite.citation import Citation


def files(facts: Facts) -> dict[str, str]:
    """Return the drawings of the cards; their pictures are made from them."""
    cards = {workload: of_number(those[0]) for workload, those in facts.headlines.items()}
    home = of_all(facts)
    if home:
        cards["index"] = home
    return {f"{FOLDER}/{name}.svg": svg(card, embeds.SITE_NAME) for name, card in cards.items()}


def of_number(cited: Citation) -> Card:
    """Return the card of a model's headline number."""
    number = cited.number
    return Card(
        number=cited.value,
        within="" if number.value.low is None else f"95 % interval {cited.interval}",
        words=embeds.words(cited),
        foot=f"{embeds.behind(cited)}, measured {cited.when}",
        caveat="" if number.quotable else f"{number.word}: not to be quoted yet",
    )


def of_all(facts: Facts) -> Card | None:
    """Return the home page's card: the mean over the first machine's models; None without a speed-up."""
    slug = first(facts.speedups)
    amounts = rungs.rungs(item for item in facts.speedups if item.machine == slug)
    step = rungs.step(amounts)
    if slug is None or step is None:
        return None
    low, high = rungs.most(step.by_workload.values())
    machine = max((item.record for item in step.by_workload.values()), key=lambda record: record.created).machine
    between = f"most models between {lead.short(low.ratio.value)} and {lead.short(high.ratio.value)}"
    return Card(
        number=lead.short(step.mean),
        within=between if len(step.by_workload) > 1 else "",
        words="as fast on the GPU as on the CPU: one step, the mean of "
        f"{units.pluralize(len(step.by_workload), 'model')}. "
        f"{lead.finding(amounts)}",
        foot=machine.name,
    )
