"""A campaign is of one software: its plan names it, and nothing is resumed or measured with another one."""

import platform

import msgspec
import pytest
from campaigns import case, done, plan

from suite.case import Implementation
from suite.driver import probing, runner
from suite.driver.journal import FILE_NAME, Header, Journal
from suite.sessions import resuming
from suite.worker_api.protocol import Offer

OFFERS: dict[Implementation, Offer] = {
    "jax": Offer(
        implementation="jax",
        backends={"cpu": ("cpu",)},
        python="3.12.1",
        packages={"jax": "0.11.0", "jaxlib": "0.11.0", "flax": "0.12.1", "optax": "0.2.6", "numpy": "2.3.1"},
    ),
    "torch": Offer(
        implementation="torch", backends={"cpu": ("cpu",)}, python="3.13.0", packages={"torch": "2.9.0+cpu"}
    ),
    "keras": Offer(
        implementation="keras", backends={"cpu": ("cpu",)}, packages={"keras": "3.12.0", "tensorflow": "2.20.0"}
    ),
    "xgboost": Offer(implementation="xgboost", backends={"cpu": ("cpu",)}, packages={"xgboost": "3.1.0"}),
}
BEGUN = plan(*(case(implementation=name) for name in OFFERS), offers=OFFERS)


def with_(implementation, version=None, **packages):
    """Return the offers after an upgrade of one implementation's Python or packages."""
    offer = OFFERS[implementation]
    offer = msgspec.structs.replace(offer, python=version or offer.python, packages=offer.packages | packages)
    return OFFERS | {implementation: offer}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A function that gives this machine some software; the campaign below `tmp_path` was begun on it with OFFERS."""
    Journal(tmp_path / BEGUN.campaign / FILE_NAME).append(BEGUN)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(resuming.machine, "machine", lambda: BEGUN.machine)

    def given(offers):
        monkeypatch.setattr(resuming.probing, "offer", offers.__getitem__)

    return given


def test_a_plan_names_the_software_of_what_it_measures_and_of_nothing_else():
    assert BEGUN.software["jax"] == {"Python": "3.12.1", **OFFERS["jax"].packages}
    assert BEGUN.software.keys() == OFFERS.keys()
    assert plan(case(), offers=OFFERS).software.keys() == {"jax"}


@pytest.mark.parametrize(
    ("implementation", "now", "words"),
    [
        ("jax", {"version": "3.13.0"}, "Python from 3.12.1 to 3.13.0"),
        ("jax", {"jax": "0.12.0"}, "jax from 0.11.0 to 0.12.0"),
        ("jax", {"jaxlib": "0.11.1"}, "jaxlib from 0.11.0 to 0.11.1"),
        ("jax", {"flax": "0.12.2", "optax": "0.2.7"}, "flax from 0.12.1 to 0.12.2, optax from 0.2.6 to 0.2.7"),
        ("jax", {"numpy": "2.4.0"}, "numpy from 2.3.1 to 2.4.0"),
        ("jax", {"jax-cuda13-plugin": "0.11.0"}, "jax-cuda13-plugin from none to 0.11.0"),
        ("torch", {"torch": "2.9.0+cu130"}, "torch from 2.9.0+cpu to 2.9.0+cu130"),
        ("torch", {"version": "3.13.1"}, "Python from 3.13.0 to 3.13.1"),
        ("keras", {"tensorflow": "2.21.0"}, "tensorflow from 2.20.0 to 2.21.0"),
        ("xgboost", {"xgboost": "3.2.0"}, "xgboost from 3.1.0 to 3.2.0"),
    ],
)
def test_a_campaign_is_not_resumed_with_other_software(home, tmp_path, implementation, now, words):
    home(with_(implementation, **now))
    with pytest.raises(RuntimeError) as refused:
        resuming.resumed(tmp_path)
    versions = "versions" if "," in words else "version"
    assert str(refused.value) == (
        f"campaign '{BEGUN.campaign}' cannot be resumed here: the software of '{implementation}' was changed since it "
        f"began, {words}; install the former {versions}, or start a new one without --resume, or publish the completed "
        f"part with suite publish --incomplete {BEGUN.campaign}"
    )


def test_a_campaign_is_resumed_with_the_software_that_it_began_with(home, tmp_path):
    home(OFFERS)
    assert resuming.resumed(tmp_path).header() == BEGUN


def test_a_campaign_whose_plan_names_no_software_is_resumed_with_any(home, tmp_path):
    journal = Journal(tmp_path / BEGUN.campaign / FILE_NAME)
    plain = msgspec.to_builtins(BEGUN)
    del plain["software"]
    journal.path.unlink()
    journal.append(msgspec.convert(plain, Header))
    home(with_("jax", jax="0.12.0"))
    assert resuming.resumed(tmp_path).header().software == {}


@pytest.mark.usefixtures("home")
def test_a_new_run_does_not_mention_a_campaign_of_other_software(tmp_path, capsys):
    resuming.mention_unfinished(tmp_path, with_("jax", jax="0.12.0"))
    assert capsys.readouterr().err == ""
    resuming.mention_unfinished(tmp_path, {"jax": OFFERS["jax"]})
    assert f"campaign '{BEGUN.campaign}' has not ended" in capsys.readouterr().err


NO_DRIVER = "operation cuInit(0) failed: CUDA_ERROR_NO_DEVICE"


def test_a_campaign_whose_gpu_is_gone_is_refused_with_the_reason_and_its_remedy(home, tmp_path, capsys):
    gone = BEGUN.campaign.replace("2026", "2027")
    on_gpu = msgspec.structs.replace(BEGUN, campaign=gone, cases=(case(backend="gpu"),))
    Journal(tmp_path / gone / FILE_NAME).append(on_gpu)
    now = OFFERS | {"jax": msgspec.structs.replace(OFFERS["jax"], reasons={"gpu": NO_DRIVER})}
    home(now)
    with pytest.raises(RuntimeError) as refused:
        resuming.resumed(tmp_path, gone)
    assert f"'jax' no longer sees backend 'gpu': {NO_DRIVER}; set CUDA_VISIBLE_DEVICES to a GPU" in str(refused.value)
    resuming.mention_unfinished(tmp_path, now)
    assert capsys.readouterr().err == "", "what would be refused is not offered"


def test_a_campaign_of_several_hosts_is_mentioned_with_the_command_that_resumes_it(home, tmp_path, capsys):
    (tmp_path / BEGUN.campaign / FILE_NAME).unlink()
    cases = (msgspec.structs.replace(case(), hosts=2),)
    Journal(tmp_path / BEGUN.campaign / FILE_NAME).append(msgspec.structs.replace(BEGUN, cases=cases))
    resuming.mention_unfinished(tmp_path, OFFERS)
    assert f"run --resume --hosts 2 --address HOST:PORT --out {tmp_path}" in capsys.readouterr().err


def measured(number, **software):
    """Return the first case's run of a round, by this software."""
    (entry,) = done(BEGUN.cases[0], [0.1])
    run = msgspec.structs.replace(entry.run, round=number)
    return msgspec.structs.replace(entry, run=run, software=msgspec.structs.replace(entry.software, **software))


def test_an_upgrade_while_a_campaign_is_measured_ends_it_before_a_run_of_it_is_kept():
    before = measured(0, python="3.12.1", packages={"jax": "0.11.0", "flax": "0.12.1"})
    same = measured(1, python="3.12.1", packages={"jax": "0.11.0", "flax": "0.12.1"})
    runner.check_same_software(BEGUN, [before], [same])
    runner.check_same_software(BEGUN, [], [same])
    upgraded = measured(1, python="3.13.0", packages={"jax": "0.11.0", "flax": "0.12.2"})
    with pytest.raises(RuntimeError) as refused:
        runner.check_same_software(BEGUN, [before], [upgraded])
    assert str(refused.value) == (
        f"software was changed while campaign '{BEGUN.campaign}' was measured: Python from 3.12.1 to 3.13.0, flax from "
        "0.12.1 to 0.12.2; completed runs are kept: install the former version and add --resume, or start a new run"
    )


def test_an_upgrade_before_a_cases_first_process_ends_the_campaign_too():
    upgraded = measured(0, python="3.12.1", packages={"jax": "0.11.0", "jaxlib": "0.11.1", "other": "1"})
    with pytest.raises(RuntimeError, match=r"was measured: jaxlib from 0\.11\.0 to 0\.11\.1; completed runs are kept"):
        runner.check_same_software(BEGUN, [], [upgraded])
    runner.check_same_software(msgspec.structs.replace(BEGUN, software={}), [], [upgraded])


def test_a_run_that_failed_tells_no_software_and_stops_nothing():
    same = {"python": "3.12.1", "packages": {"jax": "0.11.0"}}
    before, failed = measured(0, **same), measured(1, python="", packages={})
    runner.check_same_software(BEGUN, [before], [failed])
    runner.check_same_software(BEGUN, [failed], [before])


def test_jax_tells_its_python_and_every_package_that_its_records_name():
    offer = probing.offer("jax")
    assert offer.python == platform.python_version()
    assert offer.packages.keys() >= {"jax", "jaxlib", "flax", "optax", "numpy"}
