"""Commands and options that have a new name do the same by the old one, and say the new one."""

import factory
import msgspec
import pytest
from click.testing import CliRunner

from suite import cli
from suite.cli import running, types
from suite.results.records.run import Run


def asked(monkeypatch, *words):
    """Return the request that `suite run` makes of its arguments, and its standard error."""
    found = []
    monkeypatch.setattr(running, "_run", lambda request, *_: found.append(request) or (0, b""))
    answer = CliRunner().invoke(cli.main, ["run", *words])
    assert answer.exit_code == 0, answer.output
    return found[0], answer.stderr


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["--cache", "warm"], ["--cold-start", "warm-cache"]),
        (["--cache=empty,warm"], ["--cold-start=cold,warm-cache"]),
        (["--length", "3"], ["--epochs-times", "3"]),
        (["--peer-backend=cpu"], ["--baseline-backend=cpu"]),
    ],
)
def test_an_old_option_asks_for_the_same_and_says_the_new_one(monkeypatch, old, new):
    name, called = (words[0].partition("=")[0] for words in (old, new))
    default, _ = asked(monkeypatch)
    before, said = asked(monkeypatch, *old)
    after, silent = asked(monkeypatch, *new)
    assert before == after != default
    assert (said, silent) == (f"note: {name} is now called {called}\n", "")


def test_the_words_of_a_cold_start_are_the_caches_of_its_cases(monkeypatch):
    assert asked(monkeypatch, "--cold-start", "cold,warm-cache")[0].cold_starts == ("empty", "warm")
    assert asked(monkeypatch)[0].cold_starts == ("empty",)
    answer = CliRunner().invoke(cli.main, ["run", "--cold-start", "hot"])
    assert "'hot' is not one of: cold, warm-cache" in answer.output


@pytest.mark.parametrize(("old", "new"), types.COMMANDS.items())
def test_an_old_command_is_the_new_one(old, new):
    before, after = (CliRunner().invoke(cli.main, [name, "--help"]) for name in (old, new))
    assert (before.exit_code, before.stdout) == (0, after.stdout)
    assert (before.stderr, after.stderr) == (f"note: {old} is now called {new}\n", "")


def test_help_shows_new_names_alone():
    shown = CliRunner().invoke(cli.main, ["run", "--help"]).output + CliRunner().invoke(cli.main, ["--help"]).output
    words = set(shown.replace("[", " ").split())
    assert not words & {*types.OPTIONS, *types.COMMANDS}
    assert words >= {*types.OPTIONS.values(), *types.COMMANDS.values()}


def test_a_record_keeps_the_first_names_of_a_run_s_fields():
    run = factory.run(0, 0.01, blocking_samples=factory.run(1, 0.02).samples, other_load_cores=1.5)
    stored = msgspec.json.encode(run)
    assert {"alone", "load_by_others"} <= set(msgspec.json.decode(stored))
    assert not {"blocking_samples", "other_load_cores"} & set(msgspec.json.decode(stored))
    assert msgspec.json.decode(stored, type=Run) == run
