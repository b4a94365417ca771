"""Colab's free GPU, beside its two virtual cores."""

from suite.report.answers._of_gpu import of_gpu
from suite.report.parts.answer import Question
from suite.report.parts.html import Html

_INSTALL = Html(
    "In Colab choose a runtime with a T4 and open this suite’s checkout with <code>%cd</code>. Then run "
    '<code>!pip install "nox[uv]"</code> and <code>!nox -s bench -- mnist_cnn</code>.'
)
_REPORTED = Html(
    "One article reports how much faster a T4 trains a wide dense network: "
    '<a href="../ledger.html#O10">row O10 of the ledger</a> '
    "sets its number beside this suite’s own run on another GPU."
)

QUESTION = Question(
    title="Is Colab’s T4 faster than my PC?",
    place=6,
    also=("Google Colab", "notebook", "free GPU", "Tesla T4", "Kaggle"),
    wanted="This needs records of a T4 in Colab and of a PC; Colab’s two virtual cores alone would flatter the GPU.",
    command="nox -s bench -- mnist_cnn",
    hints=(_INSTALL, _REPORTED),
    evidence=("headline",),
    read_next=("is_an_rtx_card_worth_it", "why_is_gpu_use_low"),
    answer=of_gpu("T4"),
)
