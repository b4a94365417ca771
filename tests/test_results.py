"""Records are sealed and suspicious; summaries say what the samples say."""

import json

import factory
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.results.records import store
from suite.results.records.record import to_json
from suite.results.records.run import Run, Sample
from suite.results.single import paired_speedup, summary
from suite.results.stats.statistics import geometric_mean, paired_ratio
from suite.results.views.documents import schemas

positive = st.floats(min_value=1e-6, max_value=1e6)


def test_a_record_reads_back_as_it_was_written(tmp_path):
    made = factory.record()
    assert store.read(store.add(made, tmp_path)) == made


def test_a_record_is_never_written_twice(tmp_path):
    store.add(factory.record(), tmp_path)
    with pytest.raises(FileExistsError, match="never edited"):
        store.add(factory.record(), tmp_path)


def test_an_edited_record_is_refused(tmp_path):
    path = store.add(factory.record(), tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"step_seconds"', b'"x"').replace(b"0.04", b"0.02", 1))
    with pytest.raises(ValueError, match="was changed after it was written"):
        store.read(path)


def test_a_record_cut_short_anywhere_is_refused(tmp_path):
    path = store.add(factory.record(), tmp_path)
    content = path.read_bytes()
    for length in range(0, len(content) - 2, 97):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match="not a readable record"):
            store.read(path)


def test_a_record_that_lies_where_another_belongs_is_named_and_not_counted_twice(tmp_path):
    path = store.add(factory.record(), tmp_path)
    path.with_name("copy.json").write_bytes(path.read_bytes())
    records, problems = store.load([tmp_path])
    assert len(records) == 1
    assert "is the record '20260101-000000-test/mnist_mlp.cpu.step.json'; put it there" in problems[0]


def test_of_a_record_that_was_published_its_copy_is_not_counted_again(tmp_path):
    published, out = tmp_path / "published", tmp_path / "out"
    mine = store.add(factory.record(), out)
    store.add(factory.record(backend="gpu"), out)
    store.write_once(published / mine.parent.name / mine.name, mine.read_bytes())
    assert [record.backend for record in store.load([published, out])[0]] == ["cpu", "gpu"]
    assert len(store.load([published])[0]) == 1


def test_a_copy_does_not_stand_in_for_a_published_record_that_was_changed(tmp_path):
    published, out = tmp_path / "published", tmp_path / "out"
    mine = store.add(factory.record(), out)
    changed = mine.read_bytes().replace(b'"rounds": 3', b'"rounds": 4')
    store.write_once(published / mine.parent.name / mine.name, changed)
    records, problems = store.load([published, out])
    assert not records
    assert len(problems) == 1
    assert "it was changed after it was written" in problems[0]


@pytest.mark.parametrize(
    "text",
    [
        b'{"schema":"result/9"}',
        b"[1]",
        b'{"schema":"result/0","workload":NaN}',
        b'{"two\\nlines":1}',
        b"[" * 100_000,
        b'{"schema":"result/0","rounds":' + b"9" * 5000 + b"}",
    ],
)
def test_a_foreign_file_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / "c" / "r.json"
    path.parent.mkdir()
    path.write_bytes(text)
    records, problems = store.load([tmp_path])
    assert records == ()
    assert len(problems) == 1
    assert "\n" not in problems[0]


def test_a_full_disk_is_said_and_leaves_nothing_half_written(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(RuntimeError, match="No space left"):
        store.add(factory.record(), tmp_path)
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RuntimeError, match="choose another folder"):
        store.add(factory.record(), tmp_path / "file")


def test_fields_that_were_renamed_keep_their_name_in_the_file():
    run = factory.record().runs[0]
    run = msgspec.structs.replace(run, other_load_cores=0.5, blocking_samples=run.samples)
    written = json.loads(msgspec.json.encode(run))
    assert (written["load_by_others"], len(written["alone"])) == (0.5, len(run.samples))
    assert not written.keys() & {"other_load_cores", "blocking_samples"}
    assert msgspec.convert(written, Run) == run


def test_the_json_schema_accepts_a_record():
    import jsonschema

    jsonschema.validate(json.loads(to_json(factory.record())), schemas()["record"])


def test_batch_zero_and_unknown_fields_are_refused():
    plain = json.loads(to_json(factory.record()))
    plain["case"]["colour"] = "red"
    from suite.results.records.record import Record

    with pytest.raises(msgspec.ValidationError, match="colour"):
        msgspec.convert(plain, Record)


@given(st.lists(positive, min_size=2, max_size=8))
def test_the_interval_holds_the_geometric_mean(values):
    found = geometric_mean(values)
    assert found.low <= found.value * (1 + 1e-9)
    assert found.high >= found.value * (1 - 1e-9)


@given(st.lists(st.tuples(positive, positive), min_size=1, max_size=8))
def test_a_over_b_times_b_over_a_is_one(pairs):
    a, b = dict(enumerate(x for x, _ in pairs)), dict(enumerate(y for _, y in pairs))
    assert paired_ratio(a, b).value * paired_ratio(b, a).value == pytest.approx(1)


def test_the_t_interval_of_three_processes_is_students():
    found = geometric_mean([1.0, 1.1, 1.21])
    assert found.high / found.value == pytest.approx(1.267, rel=1e-3)  # exp(4.3027 * 0.09531 / sqrt 3)


def test_a_ratio_takes_only_the_rounds_that_both_sides_have():
    assert paired_ratio({0: 2.0, 1: 8.0}, {0: 1.0, 2: 1.0}).value == pytest.approx(2)
    assert paired_ratio({0: 1.0}, {1: 1.0}) is None


def test_warm_ups_are_stored_but_not_summarised():
    slow = (Sample(wall_seconds=99.0, process_seconds=99.0),)
    runs = tuple(factory.run(n, 0.01, warmup=slow) for n in range(3))
    assert summary.summary(factory.record(runs=runs)).seconds.value == pytest.approx(0.01, rel=0.01)


@pytest.mark.parametrize(
    ("changes", "state", "word"),
    [
        ({"compilations": 1}, "invalid", "compilations"),
        ({"reason": "killed by SIGKILL"}, "open", "SIGKILL"),
        ({"doubling_ratio": 1.8}, "open", "twice the steps"),
        ({"other_load_cores": 8.0}, "open", "other processes"),
        ({}, "open", ""),
    ],
)
def test_troubles_are_reasons_and_what_cannot_be_true_is_invalid(changes, state, word):
    runs = tuple(factory.run(n, 0.01, **changes) for n in range(3))
    found = summary.summary(factory.record(runs=runs))
    assert (found.state, found.steady) == (state, not word)
    assert word in "; ".join(found.reasons)


@pytest.mark.parametrize("method", [0, 1])
@pytest.mark.parametrize("scope", ["step", "serve"])
def test_a_sample_during_which_the_process_was_stopped_makes_a_result_unstable(scope, method):
    def paused(times):
        run = factory.run(0, 0.01)
        slow = Sample(wall_seconds=times * run.samples[0].wall_seconds, process_seconds=0.04)
        runs = (msgspec.structs.replace(run, samples=(*run.samples, slow)), factory.run(1, 0.01), factory.run(2, 0.01))
        return summary.summary(msgspec.structs.replace(factory.record(runs=runs, scope=scope), method=method))

    assert not paused(4).steady
    assert "one sample took 4.0 times" in "; ".join(paused(4).reasons)
    assert "one sample" not in "; ".join(paused(2.9).reasons)


def test_processes_that_disagree_make_a_result_unstable():
    assert not summary.summary(factory.record(step_seconds=(0.01, 0.02, 0.03))).steady


def test_a_missing_round_makes_a_result_incomplete():
    runs = (factory.run(0, 0.01),)
    assert summary.summary(factory.record(runs=runs)).lacking


def test_a_speed_up_is_cpu_over_gpu_of_one_campaign():
    (found,) = paired_speedup.speedups(factory.campaign(("mnist_mlp",), cpu=0.01, gpu=0.0002))
    assert found.ratio.value == pytest.approx(50)
    assert found.certified


def test_two_campaigns_give_no_speed_up():
    cpu = factory.record(backend="cpu", campaign="a")
    gpu = factory.record(backend="gpu", campaign="b")
    assert paired_speedup.speedups([cpu, gpu]) == ()


def test_a_slow_cpu_side_is_not_certified():
    made = [r for r in factory.campaign(("mnist_mlp",)) if r.case.implementation == "jax"]
    baseline = factory.record(step_seconds=(0.006, 0.006, 0.006), implementation="torch")
    (found,) = paired_speedup.speedups([*made, baseline])
    assert not found.certified
    assert any("a baseline takes 0.60" in reason for reason in found.reasons)


def test_a_cpu_side_that_was_not_compared_is_not_certified():
    made = [r for r in factory.campaign(("mnist_mlp",)) if r.case.implementation == "jax"]
    (found,) = paired_speedup.speedups(made)
    assert not found.certified
    assert "not compared" in found.reasons[-1]


def test_the_fastest_baseline_counts():
    slow = factory.record(step_seconds=(0.02,) * 3, implementation="torch")
    fast = factory.record(step_seconds=(0.005,) * 3, implementation="torch", allocator="default-malloc")
    made = [r for r in factory.campaign(("mnist_mlp",)) if r.case.implementation == "jax"]
    (found,) = paired_speedup.speedups([*made, slow, fast])
    assert found.fastest_baseline[0].record == fast
