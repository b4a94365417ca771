"""A campaign's pack holds its records byte for byte, grows and never changes, and what is no pack is refused."""

import io
import json
import os
import re
import stat
import time
import zipfile
from pathlib import Path

import factory
import msgspec
import pytest
from click.testing import CliRunner
from hostile_packs import HOSTILE, archive, entry
from hypothesis import given
from hypothesis import strategies as st

from suite.cli import main
from suite.report.site import build, pages
from suite.results.records import packs, store
from suite.results.records.record import sealed, to_json
from suite.sessions import publishing

ROOT = Path(__file__).parent.parent
CAMPAIGN = "20260101-000000-test"
names = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,30}", fullmatch=True).map("{}.json".format)


def said(*arguments):
    result = CliRunner(env={"COLUMNS": "300"}).invoke(main, [str(word) for word in arguments])
    return result.exit_code, result.output


def contents(**changes):
    """Return the files of a small campaign's records by name."""
    made = [msgspec.structs.replace(record, **changes) for record in factory.campaign(("mnist_mlp",))]
    return {f"{record.name}.json": to_json(sealed(record)) for record in made}


@pytest.fixture
def pack(tmp_path):
    """The pack of a small campaign."""
    return store.pack(tmp_path / CAMPAIGN, contents())


# What a pack is


@given(st.dictionaries(names, st.binary(max_size=200), min_size=1, max_size=5))
def test_records_come_out_of_a_pack_byte_for_byte_whatever_order_they_were_put_in(files):
    whole = packs.packed(files)
    assert packs.packed(dict(reversed(files.items()))) == whole
    with zipfile.ZipFile(io.BytesIO(whole)) as read_by_others:
        assert {name: read_by_others.read(name) for name in read_by_others.namelist()} == files


def test_a_pack_says_nothing_of_when_and_where_it_was_made(monkeypatch):
    before = packs.packed(contents())
    monkeypatch.setattr(time, "time", lambda: 2e9)
    monkeypatch.setattr("sys.platform", "win32")
    assert packs.packed(contents()) == before
    assert plain(before)


def plain(pack):
    """Return whether nothing but records is in a pack: no time, no owner, no remark, no byte between members."""
    with zipfile.ZipFile(io.BytesIO(pack)) as whole:
        members = whole.infolist()
        files = sum(30 + 46 + 2 * len(member.filename) + member.compress_size for member in members)
        return (
            len(pack) == files + 22
            and [member.filename for member in members] == sorted(member.filename for member in members)
            and {(m.date_time, m.extra, m.comment, m.external_attr >> 16, m.create_system) for m in members}
            == {((1980, 1, 1, 0, 0, 0), b"", b"", stat.S_IFREG | 0o644, 3)}
        )


def test_published_packs_hold_nothing_beside_records():
    found = list((ROOT / "site" / "records").glob("*.zip"))
    assert found
    assert [path.name for path in found if not plain(path.read_bytes())] == []
    assert not [path.name for path in (ROOT / "site" / "records").iterdir() if path.is_dir()], "store.pack packs it"


def test_a_record_in_a_pack_is_read_as_its_file_is(tmp_path, pack):
    loose = {name: store.put(store.read(pack / name), tmp_path / "loose") for name in contents()}
    assert [path.name for path in store.of(pack)] == sorted(loose)
    for name, path in loose.items():
        assert store.read(pack / name) == store.read(path)
        assert store.content(pack / name) == path.read_bytes()


def test_records_come_in_the_same_order_from_packs_and_from_folders(tmp_path):
    for campaign in ("20260101-000000-b", "20260101-000000-a", "20260101-000000-a.5ghz"):
        for record in factory.campaign(("mnist_mlp", "cifar10_mlp"), campaign=campaign):
            store.add(record, tmp_path)
    loose = store.load([tmp_path])
    store.pack(tmp_path / "20260101-000000-a.5ghz")
    assert store.load([tmp_path]) == loose
    for folder in [path for path in tmp_path.iterdir() if path.is_dir()]:
        store.pack(folder)
    assert {path.suffix for path in tmp_path.iterdir()} == {".zip"}
    assert store.load([tmp_path]) == loose


def test_of_a_record_that_was_published_in_a_pack_its_loose_copy_is_not_counted_again(tmp_path):
    published, out = tmp_path / "published", tmp_path / "out"
    mine = store.add(factory.record(), out)
    store.add(factory.record(backend="gpu"), out)
    store.pack(published / CAMPAIGN, {mine.name: mine.read_bytes()})
    assert [record.backend for record in store.load([published, out])[0]] == ["cpu", "gpu"]
    assert len(store.load([published])[0]) == 1


# What no pack is


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_no_pack_is_refused_in_one_line_with_the_remedy_and_the_rest_is_read(tmp_path, pack, kind):
    content, reason = HOSTILE[kind]
    bad = tmp_path / "20260102-000000-bad.zip"
    bad.write_bytes(content)
    records, problems = store.load([tmp_path])
    assert len(records) == len(store.of(pack))
    (problem,) = problems
    assert str(bad) in problem
    assert reason in problem
    assert problem.endswith("move it away to continue without it")
    assert problem.isprintable()
    assert len(problem) < 1500


def test_a_pack_that_is_too_large_is_refused_before_it_is_read(tmp_path):
    with (tmp_path / f"{CAMPAIGN}.zip").open("wb") as file:
        file.truncate(2**40)
    ((), (problem,)) = store.load([tmp_path])
    assert f"more than the {packs.LARGEST_BYTES} bytes that a pack may have" in problem


@pytest.mark.parametrize(
    "make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), Path.mkdir], ids=["pipe", "device", "folder"]
)
def test_what_is_no_file_is_no_pack(tmp_path, make):
    make(tmp_path / f"{CAMPAIGN}.zip")
    assert store.load([tmp_path]) == ((), ())


def small():
    """Return the pack of two short texts."""
    return packs.packed({"a.json": b'{"a": 1}\n', "b.json": b'{"a": 1, "b": 2}\n'})


def out_of(pack, path):
    """Return what is in a pack by name, and the reasons why anything cannot be had."""
    path.write_bytes(pack)
    try:
        members = store.of(path)
    except ValueError as error:
        return {}, [str(error)]
    found, reasons = {}, []
    for member in members:
        try:
            found[member.name] = store.content(member)
        except ValueError as error:
            reasons.append(str(error))
    return found, reasons


def test_a_pack_cut_short_at_any_byte_is_refused(tmp_path):
    for length in range(len(small())):
        found, (reason,) = out_of(small()[:length], tmp_path / "c.zip")
        assert not found
        assert re.search("is not a readable pack of records: (no|incomplete) ZIP archive", reason)


def test_a_pack_with_any_bit_changed_gives_no_other_bytes_than_were_packed(tmp_path):
    whole, _ = out_of(small(), tmp_path / "c.zip")
    noticed = 0
    for place in range(8 * len(small())):
        bad = bytearray(small())
        bad[place // 8] ^= 1 << place % 8
        found, reasons = out_of(bytes(bad), tmp_path / "c.zip")
        noticed += bool(reasons)
        assert all("\n" not in reason and "c.zip" in reason for reason in reasons)
        assert set(found.values()) <= set(whole.values()), place
        assert len(found) + len(reasons) >= 1
    assert noticed > 4 * len(small())


def damage(pack):
    """Change one bit of a pack's first record."""
    first, whole = store.of(pack)[0].name, pack.read_bytes()
    at = 30 + len(first) + 200
    pack.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    os.utime(pack, (1, 1))


def test_of_a_pack_with_a_damaged_record_the_others_are_read_and_the_record_is_named(pack):
    first, *others = store.of(pack)
    damage(pack)
    records, (problem,) = store.load([pack.parent])
    assert len(records) == len(others)
    assert problem.startswith(f"'{first}' is not a readable record: it is damaged in its pack: ")
    assert problem.endswith("; download the pack again, or move it away to continue without it")


def test_a_record_that_was_changed_and_packed_anew_is_refused(tmp_path):
    files = {name: text.replace(b'"rounds": 3', b'"rounds": 4') for name, text in contents().items()}
    store.pack(tmp_path / CAMPAIGN, files)
    records, problems = store.load([tmp_path])
    assert not records
    assert len(problems) == len(files)
    assert all("it was changed after it was written" in problem for problem in problems)


def test_a_pack_under_another_name_than_its_campaigns_is_said_and_not_counted(pack):
    other = pack.rename(pack.with_name("20260102-000000-other.zip"))
    records, problems = store.load([other.parent])
    assert not records
    assert f"of campaign '{CAMPAIGN}'; it belongs in '{CAMPAIGN}.zip' as 'mnist_mlp." in problems[0]


def test_what_no_pack_may_hold_is_not_packed(tmp_path):
    for name, content in (("Up.json", b"{}"), ("../x.json", b"{}"), ("x.json", bytes(packs.LARGEST_RECORD_BYTES + 1))):
        with pytest.raises(ValueError, match=rf"'{tmp_path}/c\.zip' cannot hold these records: member "):
            store.pack(tmp_path / "c", {name: content})
    assert not list(tmp_path.iterdir())


# How it grows


def test_a_pack_that_grows_keeps_what_it_has_and_else_stays_untouched(tmp_path, pack):
    before, inode = {path.name: store.content(path) for path in store.of(pack)}, pack.stat().st_ino
    store.pack(tmp_path / CAMPAIGN, before)
    assert pack.stat().st_ino == inode
    store.pack(tmp_path / CAMPAIGN, {"mnist_mlp.cpu.step.batch-64.json": b"new"})
    after = {path.name: store.content(path) for path in store.of(pack)}
    assert after == before | {"mnist_mlp.cpu.step.batch-64.json": b"new"}


def test_a_pack_never_gets_another_record_under_a_name_that_it_has(tmp_path, pack):
    whole, (name, *_) = pack.read_bytes(), contents()
    with pytest.raises(ValueError, match=r"exists and differs; a published record is never changed"):
        store.pack(tmp_path / CAMPAIGN, {"new.json": b"{}", name: b"{}"})
    assert pack.read_bytes() == whole
    assert list(tmp_path.iterdir()) == [pack]


def test_a_damaged_pack_is_not_overwritten(tmp_path, pack):
    pack.write_bytes(pack.read_bytes()[:-9])
    with pytest.raises(ValueError, match="is not a readable pack of records"):
        store.pack(tmp_path / CAMPAIGN, contents())


def test_where_the_disk_is_full_the_pack_stays_as_it_was_and_so_do_loose_records(tmp_path, pack, monkeypatch):
    whole, loose = pack.read_bytes(), store.put(factory.record(batch=64), tmp_path / CAMPAIGN)

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(RuntimeError, match=rf"cannot write '{pack}': No space left on device; free some space"):
        store.pack(tmp_path / CAMPAIGN)
    assert pack.read_bytes() == whole
    assert loose.exists()
    assert sorted(tmp_path.iterdir()) == sorted([pack, loose.parent])


def test_loose_records_go_when_they_are_packed_and_what_else_lies_there_stays(tmp_path):
    path = store.add(factory.record(), tmp_path)
    content, note = path.read_bytes(), path.with_name("journal.jsonl")
    note.write_text("{}")
    pack = store.pack(path.parent)
    assert store.content(pack / path.name) == content
    assert list(path.parent.iterdir()) == [note]


# Commands


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    (tmp_path / "site" / "records").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_pack_and_a_record_in_it_are_checked(pack):
    code, output = said("validate", pack)
    count = len(store.of(pack))
    assert (code, output.splitlines()[-1]) == (0, f"{count} records, none invalid")
    assert output.splitlines()[0].startswith(f"{store.of(pack)[0]}: mnist_mlp.")
    code, alone = said("validate", store.of(pack)[0])
    line, identity, total = alone.splitlines()
    assert (code, line, total) == (0, output.splitlines()[0], "1 record, none invalid")
    assert identity.startswith("  host ")
    assert said("validate", pack.parent) == (0, output)


def test_a_pack_that_was_sent_may_have_any_name_but_holds_one_campaign(tmp_path, pack):
    sent = pack.rename(pack.with_name("records.zip"))
    assert said("validate", sent)[0] == 0
    assert said("validate", tmp_path)[0] == 1
    other = contents(campaign="other")["mnist_mlp.cpu.step.json"]
    sent.write_bytes(packs.packed({**contents(), "mnist_mlp.cpu.step.json": other}))
    code, output = said("validate", sent)
    assert code == 1
    assert "the record 'mnist_mlp" in output
    sent.write_bytes(packs.packed({"another.json": contents()["mnist_mlp.cpu.step.json"]}))
    code, output = said("validate", sent)
    assert code == 1
    assert f"it belongs in '{CAMPAIGN}.zip' as 'mnist_mlp.cpu.step.json'" in output


def test_a_pack_that_lies_too_deep_fails_the_check(tmp_path):
    store.pack(tmp_path / "a" / "b" / CAMPAIGN, contents())
    code, output = said("validate", tmp_path / "a")
    assert code == 1
    assert f"it belongs in '{tmp_path}/a/{CAMPAIGN}.zip', or name '{tmp_path}/a/b' if that is where" in output
    assert said("validate", tmp_path / "a" / "b")[0] == 0


def test_a_damaged_pack_and_a_record_that_it_lacks_are_said(pack):
    assert said("validate", pack / "nosuch.json")[0] == 1
    assert (
        "its pack has no record of that name; list its records with suite validate PACK"
        in said("validate", pack / "nosuch.json")[1]
    )
    pack.write_bytes(pack.read_bytes()[:-9])
    for named in (pack, pack.parent):
        code, output = said("validate", named)
        assert code == 1
        assert f"'{pack}' is not a readable pack of records: incomplete ZIP archive: it is truncated" in output
        assert output.endswith("0 records, none invalid; 1 file that the site skips\n")


def test_packs_and_records_in_them_are_compared(tmp_path, pack):
    other = store.pack(tmp_path / "20260102-000000-b", contents(campaign="20260102-000000-b"))
    for words in ((pack, other), (store.of(pack)[0], store.of(other)[0])):
        code, output = said("compare", *words, "--out", tmp_path)
        assert code == 0, output
        assert "no difference" in output or "same" in output


@pytest.mark.parametrize("name", [CAMPAIGN, "records"])
def test_a_pack_that_was_sent_is_published_under_its_campaigns_name(checkout, name):
    sent = store.pack(checkout / "sent" / name, contents())
    code, output = said("publish", sent)
    assert code == 0, output
    assert output.splitlines()[0] == f"published site/records/{CAMPAIGN}.zip"
    assert Path(f"site/records/{CAMPAIGN}.zip").read_bytes() == sent.read_bytes()


def test_what_others_write_into_an_archive_is_not_published(checkout):
    secret = entry("mnist_mlp.cpu.step.json", extra=b"UT\x05\x00\x01home", comment=b"/home/me")
    Path("sent.zip").write_bytes(archive([(secret, contents()["mnist_mlp.cpu.step.json"])]))
    assert said("publish", "sent.zip")[0] == 0
    (pack,) = Path("site/records").iterdir()
    assert plain(pack.read_bytes())


def test_a_campaign_that_grew_is_published_again_and_one_that_changed_is_not(checkout):
    first = store.add(factory.record(campaign=CAMPAIGN), Path("sent"))
    assert said("publish", f"sent/{CAMPAIGN}")[0] == 0
    content = first.read_bytes()
    first.unlink()
    store.add(factory.record(campaign=CAMPAIGN, backend="gpu"), Path("sent"))
    assert said("publish", f"sent/{CAMPAIGN}")[0] == 0
    pack = Path(f"site/records/{CAMPAIGN}.zip")
    assert [path.name for path in store.of(pack)] == ["mnist_mlp.cpu.step.json", "mnist_mlp.gpu.step.json"]
    assert store.content(pack / first.name) == content
    store.add(msgspec.structs.replace(factory.record(campaign=CAMPAIGN), commit="another"), Path("sent"))
    code, output = said("publish", f"sent/{CAMPAIGN}")
    assert code == 1
    assert "exists and differs" in output
    assert store.content(pack / first.name) == content


def test_records_that_were_published_loose_are_packed_with_the_campaigns_next(checkout):
    loose = store.add(factory.record(campaign=CAMPAIGN, backend="gpu"), Path("site/records"))
    store.add(factory.record(campaign=CAMPAIGN), Path("sent"))
    assert publishing.publish(Path("sent", CAMPAIGN), Path("site/records"))[0] == Path(f"site/records/{CAMPAIGN}.zip")
    assert not loose.parent.exists()
    assert len(store.load([Path("site/records")])[0]) == 2


# The site


def gathered(folder):
    """Copy what stands beside pages into the built site, and return each file's text there."""
    out = folder / "html"
    build._copy(build._beside(folder / "site"), out)
    build._remove_others(out, build._beside(folder / "site").keys())
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def test_the_site_has_each_pack_and_at_the_former_address_of_each_record_where_it_is(tmp_path):
    pack = store.pack(tmp_path / "site" / "records" / CAMPAIGN, contents())
    served = gathered(tmp_path)
    assert served.pop(f"records/{CAMPAIGN}.zip") == pack.read_bytes()
    assert served.keys() == {f"records/{CAMPAIGN}/{name}" for name in contents()}
    for address, content in served.items():
        moved = json.loads(content)
        packed = tmp_path / "html" / Path(address).parent / moved["pack"]
        assert zipfile.ZipFile(packed).read(moved["file"]) == contents()[Path(address).name]
    pack.unlink()
    assert gathered(tmp_path) == {}


def test_a_damaged_pack_is_said_once_and_the_site_goes_on_without_it(tmp_path):
    pack = store.pack(tmp_path / "site" / "records" / CAMPAIGN, contents())
    good = store.pack(tmp_path / "site" / "records" / "20260102-000000-b", contents(campaign="20260102-000000-b"))
    pack.write_bytes(pack.read_bytes()[:-9])
    outcome = pages.render([tmp_path / "site" / "records"], tmp_path / "site")
    assert len(outcome.problems) == 1
    assert f"'{pack}' is not a readable pack of records" in outcome.problems[0]
    served = {name for name in gathered(tmp_path) if name.startswith("records/") and name.endswith(".json")}
    assert served == {f"records/20260102-000000-b/{path.name}" for path in store.of(good)}


def test_what_was_published_in_a_pack_is_shown_as_published(tmp_path):
    store.pack(tmp_path / "site" / "records" / CAMPAIGN, contents())
    for record in factory.campaign(("mnist_mlp",)):
        store.add(record, tmp_path / "records")
    pages.render([tmp_path / "site" / "records", tmp_path / "records"], tmp_path / "site")
    assert not (tmp_path / "site" / "local").exists()
    assert f"records.html?mnist_mlp.gpu.step#{CAMPAIGN}" in (tmp_path / "site" / "index.md").read_text()
