"""What `suite data` prints and does."""

from datetime import UTC, datetime

import factory
import pytest
from click.testing import CliRunner

from suite.cli import main
from suite.data import listing, store
from suite.data.datasets import mnist
from suite.data.edition import Edition
from suite.driver import campaign
from suite.sessions import bench


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Keep data in a folder of the test's own, and its small edition tiny."""
    monkeypatch.setenv(store.VARIABLE, str(tmp_path / "data"))
    monkeypatch.setattr(mnist, "SIZES", {"small": Edition(train=40, test=20), "documented": Edition(train=60, test=20)})
    return tmp_path / "data"


def said(*arguments):
    result = CliRunner().invoke(main, ["data", *arguments])
    return result.exit_code, result.output


@pytest.mark.parametrize("command", ["path", "prepare"])
def test_a_published_data_set_has_no_small_size(command):
    code, output = said(command, "mnist", "--data", "tfds", "--size", "small")
    assert code == 1
    assert "published data sets have one size; leave out --size" in output


def test_the_list_says_what_is_there_and_how_large_the_rest_is():
    said("prepare", "mnist", "--size", "small")
    rows = {row[:3]: row[3:] for row in listing.rows()}
    assert rows["mnist", "embedded", "small"][:2] == ("40", "20")
    assert rows["mnist", "embedded", "small"][-1].endswith("kB")
    assert rows["mnist", "embedded", "documented"][-1] == "not yet"
    assert rows["cats_vs_dogs", "tfds", "–"][-2:] == ("825 MB", "not yet")
    assert rows["higgs_1m", "tfds", "–"][-2] == "streamed"
    assert said("list")[0] == 0


def test_preparing_prints_where_the_set_lies(home):
    code, output = said("prepare", "mnist")
    assert code == 0
    assert output.splitlines()[-1] == said("path", "mnist")[1].strip()
    assert len(store.split("mnist", "train", edition=mnist.SIZES["documented"])) == 60


def test_the_path_says_nothing_about_whether_it_is_there(home):
    code, output = said("path", "cifar10", "--data", "tfds")
    assert code == 0
    assert output.strip() == str(home / "tfds" / "cifar10" / "3.0.2")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("prepare", "minst"), "no dataset 'minst' (did you mean 'mnist'?); there are: cats_vs_dogs, cifar10"),
        (("prepare", "mortgage", "--data", "tfds"), "no published dataset 'mortgage'; there are: cats_vs_dogs"),
        (("path", "minst"), "no dataset 'minst'"),
        (("prepare", "mnist", "--size", "huge"), "'huge' is not one of 'small', 'documented'"),
    ],
)
def test_a_wrong_word_fails_and_names_the_right_ones(arguments, words):
    code, output = said(*arguments)
    assert code != 0
    assert words in output


def test_a_folder_that_refuses_is_said_in_one_line(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(store.VARIABLE, str(tmp_path / "file"))
    code, output = said("prepare", "mnist")
    assert code != 0
    assert "cannot write dataset 'mnist'" in output
    assert "set SUITE_DATA" in output


def test_a_campaign_makes_its_data_before_the_first_process(home):

    cases = (factory.record().case, factory.record(scope="epoch").case, factory.record(data="random").case)
    header = campaign.planned(cases, [factory.description()], "quick", factory.HOST, datetime(2026, 1, 1, tzinfo=UTC))
    for unit in campaign.process_groups(cases):
        bench.prepare_data(header, unit, lambda *_: None)
    for size in ("small", "documented"):
        assert store.path("mnist", edition=mnist.SIZES[size]).is_dir()
