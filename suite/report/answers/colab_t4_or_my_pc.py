"""Colab's free GPU, beside its two virtual cores."""

from suite.report.answers._of_gpu import of_gpu
from suite.report.parts.answer import Question

QUESTION = Question(
    title="Is Colab’s T4 faster than my PC?",
    place=6,
    also=("Google Colab", "notebook", "free GPU", "Tesla T4", "Kaggle"),
    wanted="This needs records of a T4 in Colab and of a PC; Colab’s two virtual cores alone would flatter the GPU.",
    command="nox -s bench -- mnist_cnn",
    evidence=("headline",),
    read_next=("is_an_rtx_card_worth_it", "why_is_gpu_use_low"),
    answer=of_gpu("T4"),
)
