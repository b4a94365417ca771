"""Modules are found by being there, and who asks for one that is not is told what there is."""

import sys

import pytest

from suite import discovery


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "found_here"
    folder.mkdir()
    for name in ("__init__", "second", "first", "_shared"):
        (folder / f"{name}.py").write_text(f"NAME = '{name}'\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield [str(folder)]
    for name in [each for each in sys.modules if each.startswith("found_here")]:
        del sys.modules[name]


def test_a_module_is_there_by_its_file_and_an_underscore_keeps_it_out(package):
    assert discovery.names(package) == ("first", "second")
    assert "found_here.first" not in sys.modules, "nothing is imported to find it"
    assert discovery.module("found_here", "first", discovery.names(package), "thing").NAME == "first"


def test_what_is_not_there_is_refused_with_what_is(package):
    there = discovery.names(package)
    with pytest.raises(LookupError, match=r"no thing 'frist' \(did you mean 'first'\?\); there are: first, second"):
        discovery.module("found_here", "frist", there, "thing")
    with pytest.raises(LookupError, match="no thing '_shared'"):
        discovery.module("found_here", "_shared", there, "thing")
