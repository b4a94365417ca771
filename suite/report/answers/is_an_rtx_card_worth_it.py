"""A card of one's own."""

from suite.report.answers._of_gpu import of_gpu
from suite.report.parts.answer import Question

QUESTION = Question(
    title="Is an RTX card worth it?",
    place=7,
    also=("GeForce", "RTX 3060", "RTX 4090", "RTX 5090", "graphics card", "laptop", "buy a GPU"),
    wanted="This needs records of a PC with such a card; so far only GPUs of data centres are measured.",
    command="nox -s bench",
    evidence=("headline", "roofline"),
    read_next=("why_is_my_gpu_slower_than_my_cpu", "which_is_cheaper_in_the_cloud"),
    answer=of_gpu("GeForce", "RTX"),
)
