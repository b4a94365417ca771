"""Words for a host and a machine: made of the kernel's identifier as they always were, or published hosts differ."""

import hashlib
import platform
import uuid

import psutil
import pytest

from suite.system import boot_id

BOOT = "3f2a9c04-7b1d-4e0e-9c55-0123456789ab"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine that shows its boot, as files in a folder."""
    (tmp_path / "boot").write_text(f"{BOOT}\n")
    (tmp_path / "machine").write_text("a machine\n")
    monkeypatch.setattr(boot_id, "BOOT", tmp_path / "boot")
    monkeypatch.setattr(boot_id, "_MACHINE", tmp_path / "machine")
    monkeypatch.setattr(platform, "node", lambda: "a name")
    monkeypatch.setattr(uuid, "getnode", lambda: 7)
    monkeypatch.setattr(psutil, "boot_time", lambda: 1234.0)
    return tmp_path


def word(*lines):
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def test_the_word_of_a_host_is_that_of_published_records(machine):
    salted = word("reference suite, host of a record, 1", BOOT)
    assert boot_id.host(machine / "boot") == salted
    (machine / "boot").write_text(BOOT.upper())
    assert boot_id.host(machine / "boot") == salted


def test_an_identifier_of_zeros_is_none_and_one_of_nearly_zeros_is_one(machine):
    (machine / "boot").write_text("0" * 8 + BOOT[8:])
    assert boot_id.host(machine / "boot")
    for text in ("00000000-0000-0000-0000-000000000000", BOOT[:-1], ""):
        (machine / "boot").write_text(text)
        assert boot_id.host(machine / "boot") == ""
    (machine / "boot").unlink()
    assert boot_id.host(machine / "boot") == ""


def test_a_place_is_of_a_campaign_a_name_a_boot_and_a_machine(machine):
    assert boot_id.place("a campaign") == word("a campaign", "a name", BOOT, "a machine")
    (machine / "machine").unlink()
    assert boot_id.place("a campaign") == word("a campaign", "a name", BOOT, "")


def test_without_a_boot_a_place_is_of_a_network_card_and_ten_seconds_of_starting(machine, monkeypatch):
    (machine / "boot").unlink()
    assert boot_id.place("a campaign") == word("a campaign", "a name", "7", "1230.0")
    monkeypatch.setattr(psutil, "boot_time", lambda: 1236.0)
    assert boot_id.place("a campaign") == word("a campaign", "a name", "7", "1240.0")


def test_the_files_are_those_of_linux():
    assert [str(path) for path in (boot_id.BOOT, boot_id._MACHINE)] == [
        "/proc/sys/kernel/random/boot_id",
        "/etc/machine-id",
    ]
