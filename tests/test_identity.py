"""Which host, program, method and kind of CPU a result is of; what cannot be known has a defined answer."""

import getpass
import hashlib
import platform
from datetime import UTC, datetime
from pathlib import Path

import factory
import msgspec
import pytest
from campaigns import SilentChild

from suite.case import Case
from suite.console import printing
from suite.driver import campaign, collect, profiles
from suite.driver.journal import CompletedRun, Journal
from suite.results.cite import one_host
from suite.results.records import acceptance, store
from suite.results.records import identity as identities
from suite.results.records.identity import Table, count_hosts, identity_in, same_host
from suite.results.records.machine import Machine
from suite.results.records.record import STABLE, to_json
from suite.sessions import bench
from suite.system import boot_id, machine, processor, redact
from suite.worker import main
from suite.worker.recorder import Process
from suite.worker_api.clock import Clock, Plan
from suite.worker_api.protocol import Task

BOOT = "3f2a9c04-7be1-4d52-9a10-5c6e8f7d1b23"
ONE, OTHER = "0123456789abcdef", "aaaaaaaaaaaaaaaa"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
PLAN = Plan(samples=3, chain_seconds=0.1, warmup_steps=2, warmup_seconds=0, sampling_seconds=0)
replace = msgspec.structs.replace


# Host


@pytest.fixture
def boot(tmp_path):
    path = tmp_path / "boot_id"
    path.write_text(f"{BOOT}\n")
    return path


def test_a_host_is_a_word_that_stays_and_is_another_after_another_boot(boot):
    found = boot_id.host(boot)
    assert len(found) == 16
    assert int(found, 16)
    assert boot_id.host(boot) == found
    boot.write_text(BOOT.replace("3", "4"))
    assert boot_id.host(boot) != found


def test_two_containers_of_a_host_are_one(boot, monkeypatch, tmp_path):
    found = boot_id.host(boot)
    (tmp_path / "machine-id").write_text("00000000000000000000000000000001\n")
    monkeypatch.setattr(boot_id, "_MACHINE", tmp_path / "machine-id")
    monkeypatch.setattr(platform, "node", lambda: "another-container")
    assert boot_id.host(boot) == found


def test_the_word_of_a_host_is_no_plain_hash_of_the_boot(boot):
    found = boot_id.host(boot)
    plain = {hashlib.sha256(text.encode()).hexdigest() for text in (BOOT, f"{BOOT}\n", BOOT.replace("-", ""))}
    assert not any(each.startswith(found) for each in plain)
    assert found not in BOOT


@pytest.mark.parametrize(
    "content", ["", "\n", "00000000-0000-0000-0000-000000000000\n", "unknown\n", "3f2a9c04", "\x00\xff" * 18]
)
def test_what_is_no_identifier_of_a_boot_makes_no_host(boot, content):
    boot.write_bytes(content.encode("latin-1"))
    assert boot_id.host(boot) == ""


def test_a_container_that_hides_the_boot_has_no_host_and_can_measure(tmp_path, monkeypatch):
    assert boot_id.host(tmp_path / "missing") == ""
    assert boot_id.host(tmp_path) == ""  # a folder mounted over it
    monkeypatch.setattr(boot_id, "BOOT", tmp_path)
    assert len(boot_id.place("a")) == 16


@pytest.mark.parametrize("known", [True, False])
def test_a_hidden_boot_is_said_once_before_measuring(tmp_path, monkeypatch, known):
    said = []
    monkeypatch.setattr(bench.boot_id, "host", lambda: ONE if known else "")
    monkeypatch.setattr(bench.terminal, "say", said.append)
    journal = Journal(tmp_path / "journal.jsonl")
    case = factory.record().case
    journal.append(campaign.planned([case], [factory.description()], "quick", factory.HOST, NOW))
    bench.settle(journal)
    assert [line for line in said if "no boot identifier" in line] == [boot_id.HIDDEN] * (not known)


def test_every_run_says_its_host_and_a_failed_one_too(monkeypatch):
    monkeypatch.setattr(collect.boot_id, "host", lambda: ONE)

    task = Task(cases=(factory.record().case,), dataset="mnist", seed=0, plan=PLAN, flow=PLAN)
    (done,) = collect.run_child(task, 0, 0, lambda stage: None, lambda cases: SilentChild("was killed"))
    assert done.run.reason
    assert (done.run.host, done.run.program) == (ONE, "")


def test_of_the_host_nothing_else_is_in_a_record(boot, monkeypatch):
    monkeypatch.setattr(boot_id, "BOOT", boot)
    monkeypatch.setattr(platform, "node", lambda: "secret-laptop")
    monkeypatch.setattr(getpass, "getuser", lambda: "secret-user")
    redact._names.cache_clear()
    word = boot_id.host(boot)
    run = factory.run(0, 0.01, host=word, reason=f"secret-user on secret-laptop lost {BOOT}")
    done = CompletedRun(case=factory.record().case, software=factory.record().software, run=run)
    plan = campaign.planned([done.case], [factory.description()], "quick", machine.machine(), NOW)
    (record,) = campaign.records(plan, [done])
    redact._names.cache_clear()
    text = to_json(record).decode().lower()
    assert word in text
    files = ("/proc/sys/kernel/random/boot_id", "/etc/machine-id", "/sys/class/dmi/id/product_uuid")
    secrets = [BOOT, *(found.lower() for path in files if (found := processor.text(Path(path))))]
    hashes = [hashlib.sha256(f"{each}{end}".encode()).hexdigest()[:16] for each in secrets for end in ("", "\n")]
    for secret in ("secret", *secrets, *hashes, *(each.replace("-", "") for each in secrets)):
        assert secret not in text


@pytest.mark.parametrize(("scope", "method"), [("step", 1), ("run", 1), ("epoch", 2), ("input", 2), ("learning", 2)])
def test_a_record_has_the_method_of_its_scope(scope, method):
    case = factory.record(scope=scope).case
    done = CompletedRun(case=case, software=factory.record().software, run=factory.run(0, 0.01))
    (record,) = campaign.records(campaign.planned([case], [factory.description()], "quick", factory.HOST, NOW), [done])
    assert identity_in(record, Table()).method == method


# Kind of CPU


def cpu(folder, text, siblings=None):
    (folder / "cpuinfo").write_text(text)
    if siblings is not None:
        for number in range(512):
            place = folder / f"cpu{number}" / "topology"
            place.mkdir(parents=True)
            (place / "thread_siblings_list").write_text(siblings)
    return processor.described(folder / "cpuinfo", folder)


X86 = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: Intel(R) Xeon(R)\n"
ARM = "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n"


@pytest.mark.parametrize(
    ("siblings", "threads"), [("0,64\n", 2), ("0-1\n", 2), ("0-7", 8), ("0", 1), ("", None), ("x", None)]
)
def test_hardware_threads_of_a_core_are_counted_or_not_known(tmp_path, siblings, threads):
    found = cpu(tmp_path, X86, siblings)
    assert (found["cpu_vendor"], found["cpu_family"], found["cpu_number"]) == ("GenuineIntel", 6, 143)
    assert found.get("threads_per_core") == threads


@pytest.mark.parametrize(
    ("text", "name", "described"),
    [
        (ARM, "ARM Neoverse-N1", {"cpu_vendor": "ARM", "cpu_family": 8, "cpu_number": 0xD0C}),
        (
            ARM.replace("0x41", "0xc0").replace("0xd0c", "0xac3"),
            "Ampere Ampere-1",
            {"cpu_vendor": "Ampere", "cpu_family": 8, "cpu_number": 0xAC3},
        ),
        (
            ARM.replace("0x41", "0x99").replace("0xd0c", "0x123"),
            "implementer 0x99 part 0x123",
            {"cpu_vendor": "0x99", "cpu_family": 8, "cpu_number": 0x123},
        ),
    ],
)
def test_an_arm_processor_is_told_by_implementer_and_part(tmp_path, text, name, described):
    assert cpu(tmp_path, text) == described
    assert machine.cpu_model(tmp_path / "cpuinfo") == name


def test_what_says_nothing_of_its_processor_has_no_kind_and_an_arm_core_is_not_said_to_be_no_virtual_one(tmp_path):
    assert cpu(tmp_path, "") == {}
    assert machine.is_virtual(tmp_path / "cpuinfo") is None
    cpu(tmp_path, ARM)
    assert machine.is_virtual(tmp_path / "cpuinfo") is None
    cpu(tmp_path, X86 + "flags\t\t: fpu hypervisor\n")
    assert machine.is_virtual(tmp_path / "cpuinfo") is True
    cpu(tmp_path, X86 + "flags\t\t: fpu\n")
    assert machine.is_virtual(tmp_path / "cpuinfo") is False


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("Intel(R) Xeon(R) Processor", ""),
        ("Intel(R) Xeon(R) CPU @ 2.50GHz", ""),
        ("AMD EPYC", ""),
        ("x86_64", ""),
        ("aarch64", ""),
        ("AMD EPYC, family 26 model 2", "AuthenticAMD family 26 model 2"),
        ("Intel(R) Xeon(R) Processor, family 6 model 207", "GenuineIntel family 6 model 207"),
        ("Cortex-A72, family 8 model 3", "Cortex-A72, family 8 model 3"),
        ("AMD EPYC 9575F 64-Core Processor", "AMD EPYC 9575F 64-Core Processor"),
        ("Apple M2", "Apple M2"),
    ],
)
def test_of_an_older_record_the_name_tells_the_kind_if_it_has_a_number(model, kind):
    assert Machine(name="a", cpu_model=model, cores=4).cpu_kind.model == kind


def test_a_kind_of_cpu_has_one_name_whether_its_vendor_is_known_or_not():
    name = "Intel(R) Xeon(R) Processor, family 6 model 207"
    old = Machine(name="a", cpu_model=name, cores=4)
    new = replace(old, cpu_vendor="GenuineIntel", cpu_family=6, cpu_number=207)
    assert old.cpu_kind == new.cpu_kind
    assert (old.cpu_words, new.cpu_words) == (name, name)
    assert replace(new, cpu_model="AMD EPYC 9575F").cpu_words == "GenuineIntel family 6 model 207"
    assert replace(old, cpu_model="AMD EPYC").cpu_words == ""


def test_memory_is_no_part_of_the_kind_cores_and_being_virtual_are():
    here = replace(factory.HOST, cpu_vendor="GenuineIntel", cpu_family=6, cpu_number=143, virtual=True)
    assert here.cpu_kind == replace(here, memory_bytes=1, cpu_model="another name", cpu_governor="x").cpu_kind
    others = [replace(here, cores=4), replace(here, virtual=False), replace(here, cpu_number=85)]
    assert len({here.cpu_kind, *(each.cpu_kind for each in others)}) == 4


# Identity

KNOWN = replace(factory.HOST, cpu_vendor="GenuineIntel", cpu_family=6, cpu_number=143, virtual=True)


def made(host=ONE, program=OTHER, campaign="a", machine=KNOWN, hosts=None, **changes):
    runs = tuple(factory.run(n, 0.01, host=each, program=program) for n, each in enumerate(hosts or (host,) * 3))
    return factory.record(campaign=campaign, machine=machine, runs=runs, **changes)


def old(campaign="a", machine=factory.HOST, **changes):
    """A record of result/1."""
    runs = tuple(factory.run(number, 0.01, host="", program="") for number in range(3))
    record = factory.record(campaign=campaign, machine=machine, runs=runs, **changes)
    return factory.sealed(replace(record, schema="result/1", method=0, digest=""))


NUMBERED = replace(factory.HOST, cpu_model="AMD EPYC 9575F 64-Core Processor")


def of(record, table=None):
    return identity_in(record, table or Table())


def test_two_campaigns_of_a_host_and_two_of_others_are_told_apart():
    found = [of(made(host, campaign=name)) for name, host in (("a", ONE), ("b", ONE), ("c", "c" * 16), ("d", "d" * 16))]
    assert same_host(found[0], found[1])
    assert not same_host(found[0], found[2])
    assert count_hosts(found) == 3


@pytest.mark.parametrize(
    "machine",
    [
        replace(KNOWN, cpu_number=85),
        replace(KNOWN, cores=4),
        replace(KNOWN, gpus=()),
        replace(KNOWN, gpus=KNOWN.gpus * 2),
        replace(KNOWN, virtual=False),
    ],
)
def test_a_foreign_record_that_claims_a_host_on_another_machine_is_another_host(machine):
    mine, foreign = of(made()), of(made(campaign="foreign", machine=machine))
    assert not same_host(mine, foreign)


def test_two_hosts_that_say_the_same_and_are_described_alike_count_once():
    assert count_hosts([of(made(campaign=name)) for name in "ab"]) == 1


def test_hosts_that_cannot_be_known_count_as_one_of_their_kind():
    unknown = [of(made("", campaign=name)) for name in "ab"]
    assert count_hosts(unknown) == 1
    assert count_hosts([*unknown, of(made()), of(made("", machine=replace(KNOWN, cores=4)))]) == 3


def test_a_program_that_cannot_be_had_stands_alone_but_not_in_a_scope_that_has_none():
    assert of(made(program="")).own_campaign_only
    assert not of(made()).own_campaign_only
    assert not of(made(program="", scope="input", data="embedded")).own_campaign_only


def test_the_table_tells_the_program_of_a_newer_record_and_never_its_host():
    lacking, stating, other = made(program="", campaign="a"), made(campaign="b"), made(campaign="c")
    rows = {lacking.digest[:16]: (0, 0), stating.digest[:16]: (0, 0), other.digest[:16]: (0, None)}
    table = Table(hosts=("~1",), programs=("f" * 16,), records=rows)
    assert (of(lacking, table).host, of(lacking, table).program) == (ONE, "f" * 16)
    assert (of(stating, table).host, of(stating, table).program) == (ONE, "f" * 16)
    assert (of(other, table).host, of(other, table).program) == (ONE, OTHER)
    assert not of(lacking, table).own_campaign_only


def test_a_record_of_an_older_schema_is_of_method_0():
    record = old(machine=KNOWN)
    table = Table(hosts=("~1",), programs=(OTHER,), records={record.digest[:16]: (0, 0)})
    before, now = of(record, table), of(made())
    assert (before.method, now.method) == (0, 1)
    assert before.program == now.program
    assert not same_host(before, now)


def test_the_table_tells_host_and_program_of_older_records():
    records = [old(name, machine=NUMBERED, step_seconds=(0.01,) * 3) for name in "abc"]
    rows = dict(zip((each.digest[:16] for each in records), ((0, 0), (0, 0), (1, 0)), strict=True))
    found = [of(each, Table(hosts=("~1", "~2"), programs=(OTHER,), records=rows)) for each in records]
    assert [each.host for each in found] == ["~1", "~1", "~2"]
    assert count_hosts(found) == 2


def test_host_and_program_of_an_older_record_are_told_each_by_its_own_list():
    record = old(machine=NUMBERED)
    table = Table(hosts=("~1",), programs=(ONE, OTHER), records={record.digest[:16]: (0, 1)})
    assert (of(record, table).host, of(record, table).program) == ("~1", OTHER)
    half = of(record, Table(programs=(OTHER,), records={record.digest[:16]: (None, 0)}))
    assert (half.host, half.program, half.own_campaign_only) == ("", OTHER, False)


def test_the_words_of_an_identity_say_what_is_not_known_and_what_there_is_none_of():
    assert of(made()).words.startswith(f"host {ONE}, program {OTHER}, method 1, CPU ")
    assert of(old()).words.startswith("host not known, program not known, method 0")
    assert of(made(program="", scope="input", data="embedded")).words.startswith(f"host {ONE}, program none, ")


def test_an_older_record_of_the_input_alone_is_no_exception():
    assert of(old(scope="input", data="embedded")).own_campaign_only


def test_an_older_record_that_is_not_in_the_table_stands_alone():
    found = [of(old(name, machine=NUMBERED)) for name in "ab"]
    assert all(each.own_campaign_only for each in found)
    assert count_hosts(found) == 2


def test_runs_of_several_hosts_have_no_host_and_stand_alone():
    record = made(hosts=(ONE, OTHER, ONE))
    assert record.host == ""
    assert of(record).own_campaign_only
    assert made(hosts=(ONE, ONE, ONE)).host == ONE


def test_a_run_that_failed_decides_neither_host_nor_program():
    runs = factory.run(0, 0.01), factory.run(1, 0.01, host=OTHER, program="", reason="killed")
    record = factory.record(runs=runs)
    assert (record.host, record.program) == (runs[0].host, runs[0].program)
    assert not of(record).own_campaign_only


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[]", "is no table of identities"),
        (b'{"version": 2}', "has version 2, this suite reads 1"),
        (b'{"hosts": ["0123456789abcdef"]}', "is no table of identities"),  # no hash: a cluster
        (b'{"hosts": ["~1"], "records": {"0123456789abcdef": [1, null]}}', "has an index out of range"),
        (b'{"records": {"0123456789abcdef": [null, 0]}}', "has an index out of range"),
        (b'{"hosts": ["~1"], "records": {"0123456789abcdef": [-1, null]}}', "is no table of identities"),
        (b'{"records": {"short": [null, null]}}', "is no table of identities"),
    ],
)
def test_a_table_that_is_damaged_is_said(content, said):
    with pytest.raises(ValueError, match=said):
        identities.read(content)


def test_the_published_table_can_be_read_and_is_small():
    assert identities.table().version == 1
    path = Path(identities.__file__).with_name(identities.FILE_NAME)
    assert identities.table().records
    assert path.stat().st_size < 150_000


# Records


def test_records_of_all_schemas_are_read_and_their_digests_stay():
    for record in (made(), old(), factory.sealed(replace(old(), schema="result/0", digest=""))):
        assert acceptance.validate(to_json(record)).digest == record.digest


def test_records_of_stable_schemas_may_be_quoted():
    first = replace(old(), schema="result/0")
    given = [one_host.of_record(record, "seconds", ()).reasons for record in (made(), old(), first)]
    assert given == [(), (), ("result/0 was provisional",)]
    assert sorted(STABLE) == ["result/1", "result/2"]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (replace(made(), method=0), "result/2 needs a method of at least 1 at \\$.method"),
        (replace(old(), method=1), "result/1 has no method at \\$.method"),
        (replace(made(), schema="result/1", method=0), "result/1 has no host at \\$.runs\\[0\\].host"),
        (made(host="my-laptop"), "'my-laptop' is not 16 hexadecimal characters at \\$.runs\\[0\\].host"),
        (made(program="ABC"), "'ABC' is not 16 hexadecimal characters at \\$.runs\\[0\\].program"),
    ],
)
def test_a_foreign_record_that_says_what_its_schema_cannot_is_refused(record, said):
    record = factory.sealed(replace(record, digest=""))
    with pytest.raises(ValueError, match=said):
        acceptance.validate(to_json(record))


def test_rounds_of_different_programs_are_no_whole_result():
    case, software = factory.record().case, factory.record().software
    done = [
        CompletedRun(case=case, software=software, run=factory.run(number, 0.01, program=program))
        for number, program in enumerate((ONE, OTHER))
    ]
    assert campaign.changed(done[:1]) == ""
    assert campaign.changed(done).startswith("its program, the step or an option of it, was changed between two rounds")


def test_a_file_that_is_checked_shows_host_program_method_and_kind_of_cpu(tmp_path):
    path = store.put(made(), tmp_path)
    lines = [line for line, wrong in printing.checked([path]) if not wrong]
    assert ONE in lines[1]
    assert OTHER in lines[1]
    assert "method 1" in lines[1]
    assert "GenuineIntel family 6 model 143, 16 cores, virtual" in lines[1]
    assert not any(ONE in line for line, _ in printing.checked([tmp_path]))


# Program


class Program:
    def __init__(self, digest="d"):
        self.digest = digest

    def program_digest(self):
        if self.digest is None:
            raise RuntimeError("nothing was lowered")
        return self.digest


def test_a_program_is_its_step_and_the_settings_that_bear_on_speed():
    plain = main.program_of("d", {"xla_a": "1"})
    assert len(plain) == 16
    assert plain == main.program_of("d", {"xla_a": "1", "CUDA_VISIBLE_DEVICES": "3", "JAX_PLATFORMS": "cpu"})
    others = [
        main.program_of("e", {"xla_a": "1"}),
        main.program_of("d", {"xla_a": "2"}),
        main.program_of("d", {"xla_a": "1", "matmul_precision": "highest"}),
    ]
    assert len({plain, *others}) == 4


def test_a_program_that_cannot_be_had_costs_no_measurement(capsys):
    assert main.program_of(main.step_digest(Program(None)), {}) == ""
    assert "nothing was lowered" in capsys.readouterr().err


class Measured(Program):
    """A program that was measured, as far as a worker asks what it was."""

    def loss(self):
        return 1.0

    def nothing(self):
        return None

    device_memory_bytes = bytes_per_step = cache_hits = nothing

    def settings(self):
        return {}

    packages = settings


def test_a_compile_cache_is_part_of_a_cold_start_but_not_of_a_step(monkeypatch):
    def programs(cache):
        monkeypatch.setattr(main, "settings", lambda: {"JAX_ENABLE_COMPILATION_CACHE": cache})
        cases = tuple(Case(workload="mnist_mlp", backend="gpu", scope=scope, batch=32) for scope in ("step", "cold"))
        plan = profiles.plan("smoke", "gpu")
        process = Process(
            task=Task(cases=cases, dataset="mnist", seed=0, plan=plan, flow=plan), say=print, clocks=Clock()
        )
        process.runs = {case.scope: factory.run(0, 0.01) for case in cases}
        main.note_program(process, Measured(), "", 1.0)
        return {scope: run.program for scope, run in process.runs.items()}

    off, on = programs("false"), programs("true")
    assert len(off["step"]) == 16
    assert off["step"] == on["step"]
    assert off["cold"] != on["cold"]
