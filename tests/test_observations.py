"""What the articles observed is written out in sentences, names what is there, and says what each of its parts is."""

import pytest
from ledger_worlds import ALL, ROOT, WORLDS, judge

from suite import experiments, models
from suite.claims import _articles, observations
from suite.results.records import catalogue

BUSIER = "catdog_cnn_128 keeps it busier than catdog_cnn_base", "catdog_cnn_deep keeps it busier than catdog_cnn_128"
PARTS = {
    "O1": ("it takes all of the CPU", "it leaves half of the GPU idle"),
    "O3": (
        "it depends on the data",
        "it depends on the optimizer",
        "it depends on the architecture",
        "it depends on the batch, a hyper-parameter",
    ),
    "O5": (
        "the first call is slower than a later one on both sides",
        "it is so by a higher ratio on the GPU",
    ),
    "O6": ("they agree on the CPU", "they agree on the GPU"),
    "O7": ("on the CPU several cores are busy", "one core is busy while the GPU computes"),
    "O12": ("the GPU wins every case", "it wins most with small networks"),
    "O13": ("one GPU is 11 times as fast as the CPU", "4 GPUs are 2.1 times as fast as one"),
    "O14": ("several GPUs train the trees faster", "several GPUs train the data-parallel network faster"),
    "O16": ("the gain on the CPU is 1.36x", "the gain on the GPU is 3x"),
    "O17": ("the GPU is busy at most 10 %", "the input holds it up"),
    "O20": ("the GPU loses less than 10 %", "the CPU loses more than 10 %"),
    "O21": BUSIER,
    "O22": ("the convolution changes nothing", "dropout changes nothing"),
    "O23": ("the accuracy rises along the four networks", "it is lower without augmentation"),
    "O25": ("pixels that were not rescaled tilt the answers to dogs", "an output is rarely exactly 1"),
}


def test_each_says_in_sentences_what_was_observed_and_by_which_rule_it_is_judged():
    for each in observations():
        assert each.said.endswith("."), each.code
        assert each.rule.endswith("."), each.code


def test_each_is_of_an_article_and_names_an_experiment_and_documented_numbers_that_are_there():
    articles = {value for name, value in vars(_articles).items() if name.isupper()}
    numbers = {(each.name, claim.metric) for each in catalogue.read(ROOT / "site" / "records") for claim in each.claims}
    for each in observations():
        assert each.article in articles
        assert set(each.numbers) <= numbers
        assert not each.experiment or each.code in experiments.load(each.experiment).TESTS
    assert {each.article for each in observations()} == articles
    assert {name for name, _ in numbers} <= set(models.names())


def test_each_is_there_once_and_no_measurement_decides_what_is_of_prices():
    assert [each.code for each in observations()] == [f"O{number}" for number in range(1, 28)]
    assert [code for code, each in ALL.items() if not each.testable] == ["O15"]


@pytest.mark.parametrize("code", WORLDS)
def test_each_says_what_its_parts_are(code):
    says = tuple(part.says for part in judge(code, WORLDS[code]["refuted"]).parts)
    assert says == PARTS.get(code, ("",))
