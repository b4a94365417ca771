"""What has a new name keeps its former one for ever: values in records, keys and addresses, commands and options."""

import hashlib
import html
import json
from pathlib import Path

import factory
import msgspec
import pytest
from click.testing import CliRunner

from suite import cli, former
from suite.case import Case
from suite.cli import running, types
from suite.console import citing
from suite.report.pages import glossary, numbers
from suite.report.parts.facts import Facts
from suite.results.cite import stored_pools
from suite.results.cite.number import parse
from suite.results.cite.numbers import Numbers
from suite.results.records import record, store
from suite.results.records.run import Run
from suite.variants import NAMES

PUBLISHED = Path(__file__).parents[1] / "site" / "records"

# Published keys with former values, pinned, and what they mean: the value and the address of the record.
PINNED = {
    "amd-epyc-2-cores/catdog_cnn_base/cpu/step/variant=several-steps/seconds@1109fd97ed58f162": (
        0.16438892273262354, "20261122-222429-amd-epyc-2-cores/catdog_cnn_base.cpu.step.variant-several-steps"),
    "h100-80gb-16-cores/cifar10_mlp/gpu/step/variant=several-steps/seconds@fdfdf6f57b9388ae": (
        0.0001611764402059613, "20261125-190222-h100-80gb-16-cores/cifar10_mlp.gpu.step.variant-several-steps"),
    "h200-16-cores/catdog_cnn_dropout/cpu/cold/allocator=system/seconds@bb6a8d3bd854c517": (
        0.7821672332192036, "20261127-030600-h200-16-cores/catdog_cnn_dropout.cpu.cold.allocator-system"),
    "amd-epyc-2-cores/gbdt_mortgage/cpu/step/data=random/allocator=system/examples-per-second@e0316b228519b8fe": (
        2945847.2495007445, "20261122-230442-amd-epyc-2-cores/gbdt_mortgage.cpu.step.data-random.allocator-system"),
    "h100-80gb-16-cores/mnist_mlp/gpu/step/best-over-best@3bc65ede8fb65df3": (
        35.4534279, "20261125-190222-h100-80gb-16-cores/mnist_mlp.gpu.step.variant-several-steps"),
}  # fmt: skip


@pytest.fixture(scope="module")
def there():
    return citing.published(PUBLISHED)[0]


@pytest.mark.parametrize(("text", "meaning"), PINNED.items())
def test_a_published_key_with_a_former_value_means_its_number_for_ever(there, text, meaning):
    for spelling in (text, former.key(text)):
        found = there.resolve(spelling)
        assert found.value.value == pytest.approx(meaning[0], rel=1e-12)
        assert f"{found.record.campaign}/{found.record.name}" == meaning[1]


def test_every_current_key_means_the_same_by_its_former_name(there):
    renamed = {key: old for key in there.current if (old := former.former_key(key)) != key}
    assert len(renamed) > 500
    assert all(there.resolve(old) == there.current[key] for key, old in renamed.items())


def test_a_number_of_a_pool_that_was_stored_by_former_names_is_pinned_to_that_line_and_stored_no_second_time(
    there, tmp_path
):
    now = there.resolve("h100-80gb-16-cores/mnist_mlp/gpu/step/best-over-best")
    assert now.ways == "torch compile on the CPU, jax scan on the GPU"
    line = stored_pools.line_of(now)
    text = msgspec.json.encode(msgspec.structs.replace(line, digest="")).replace(b"jax scan", b"jax several-steps")
    digest = hashlib.sha256(text).hexdigest()
    file = tmp_path / stored_pools.FILE_NAME
    before = text.replace(b'"digest":""', b'"digest":"%s"' % digest.encode()) + b"\n"
    file.write_bytes(before)
    lines, problems = stored_pools.read(file)
    assert (problems, [each.ways for each in lines]) == ((), [now.ways])
    assert Numbers(now.members, lines).pinned(now).digest == digest
    assert stored_pools.store(file, [now]) == ()
    assert file.read_bytes() == before


def stored_before(**axes):
    """Return a record, and its file as an older suite wrote it."""
    now = factory.record(**axes)
    plain = msgspec.to_builtins(msgspec.structs.replace(now, digest=""))
    for axis, values in former.AXES.items():
        back = {new: old for old, new in values.items()}
        plain["case"][axis] = back.get(plain["case"][axis], plain["case"][axis])
    plain["digest"] = record.digest(record.to_json(plain))
    return now, record.to_json(plain)


def test_a_record_with_former_values_has_the_current_ones_its_bytes_and_its_file(tmp_path):
    now, content = stored_before(variant="scan", allocator="default-malloc")
    path = tmp_path / now.campaign / "mnist_mlp.cpu.step.variant-several-steps.allocator-system.json"
    store.write_once(path, content)
    (found,), problems = store.load([tmp_path])
    assert problems == ()
    assert (found.case, found.name) == (now.case, path.stem)
    assert (found.case.variant, found.case.allocator) == ("scan", "default-malloc")
    pack = store.pack(path.parent)
    assert store.content(pack / path.name) == content
    assert store.load([tmp_path]) == ((found,), ())


def test_a_record_that_is_written_now_has_current_values_and_their_file_name(tmp_path):
    path = store.add(factory.record(variant="scan", allocator="default-malloc"), tmp_path)
    assert path.name == "mnist_mlp.cpu.step.variant-scan.allocator-default-malloc.json"
    assert store.read(path).name == path.stem
    assert json.loads(path.read_bytes())["case"]["allocator"] == "default-malloc"


def test_a_case_never_has_a_former_value_wherever_it_comes_from():
    for axis, values in former.AXES.items():
        for old, new in values.items():
            made = Case(workload="mnist_mlp", backend="cpu", scope="step", batch=1, **{axis: old})
            sent = msgspec.json.encode(msgspec.to_builtins(made) | {axis: old})
            again = msgspec.structs.replace(made, **{axis: old})
            assert {getattr(case, axis) for case in (made, again, msgspec.json.decode(sent, type=Case))} == {new}


def test_former_and_current_values_are_apart():
    for values in former.AXES.values():
        assert not values.keys() & values.values()
    assert not former.AXES["variant"].keys() & set(NAMES)


def test_only_the_value_of_an_axis_is_renamed():
    text = "system/mnist_mlp/cpu/step/variant=plain/allocator=system/seconds@0123456789ab"
    assert parse(text).text() == text.replace("=system", "=default-malloc")
    assert former.former_key(former.key(text)) == text


@pytest.mark.parametrize(
    ("option", "old", "new"), [("--variant", "several-steps", "scan"), ("--allocator", "system", "default-malloc")]
)
def test_an_old_value_of_an_option_asks_for_the_same_and_says_the_new_one(monkeypatch, option, old, new):
    requests = []
    monkeypatch.setattr(running, "_run", lambda request, *_: requests.append(request) or (0, b""))
    before, after = (CliRunner().invoke(cli.main, ["run", option, f"{value}"]) for value in (old, new))
    assert requests[0] == requests[1]
    assert (before.stderr, after.stderr) == (f"note: {old} is now called {new}\n", "")
    assert old not in CliRunner().invoke(cli.main, ["run", "--help"]).output.replace("the system's", "").split("|")


def test_a_number_keeps_the_addresses_of_its_former_name():
    ways = {"variant": "scan", "precision": "float32-highest"}
    files = numbers.files(Facts(records=[factory.record(**ways), factory.record(backend="gpu", **ways)]))
    for name in (name for name in files if "variant=scan" in name):
        assert files[name.replace("=scan", "=several-steps")] == files[name]
    assert any("=several-steps/speedup.svg" in name for name in files)
    page = html.unescape(files["numbers/mnist_mlp.md"])
    assert 'id="test-gpu-16-cores.mnist_mlp.gpu.step.variant=several-steps.speedup"' in page


def test_a_word_of_the_glossary_keeps_the_address_of_its_former_name():
    page = glossary.files(Facts(records=()))["glossary.md"]
    for word in ("retaining", "system", "jax-several-steps", "tuned-malloc", "default-malloc", "jax-scan"):
        assert f'id="{word}"' in page


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
