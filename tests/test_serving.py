"""Requests: four always under way, each with its own latency and its own answer; what is derived from them says so."""

import re
from contextlib import nullcontext
from datetime import UTC, datetime

import factory
import jax.numpy as jnp
import msgspec
import numpy as np
import pytest
from factory import of_one_machine
from flax import nnx
from test_traffic import Device, measured, task

from suite import experiments, models
from suite.analysis.capabilities import MachineCapabilities
from suite.analysis.serving import BATCHES, cluster, latencies, latency_table
from suite.claims import observations
from suite.console import printing
from suite.data import batches as data
from suite.driver import campaign, runner, validation
from suite.driver.cases import default_cases
from suite.driver.journal import Journal
from suite.driver.request import Request
from suite.experiments import serving
from suite.programs.jax.serving import JaxServing
from suite.results.cite import one_host
from suite.results.cite.citation import Citation
from suite.results.cite.number import parse
from suite.results.records import acceptance, store
from suite.results.records.run import Sample, Served
from suite.results.single.latency import latency, quantile
from suite.results.single.summary import summary
from suite.results.stats.statistics import Estimate
from suite.worker import main, steady
from suite.worker_api.protocol import Task
from suite.workload import Workload

O12 = next(each for each in observations() if each.code == "O12")
BOTH, ALONE = MachineCapabilities(backends=("cpu", "gpu"), cores=16), MachineCapabilities(backends=("cpu",), cores=2)
NAMES = ("serve_mobilenet_v2", "serve_resnet50", "serve_nasnet_large")
ABOUT = {name: models.load(name).description for name in (*serving.WORKLOADS, "mnist_mlp")}
NOISE = (1.0, 1.001, 0.999)


# A program


def tiny():
    """A network of one layer on pictures of two by two pixels."""

    def draw(rng, examples):
        return {"images": rng.random((examples, 2, 2, 3), np.float32)}

    def loss(model, batch):
        return jnp.max(nnx.softmax(model(batch["images"].reshape(batch["images"].shape[0], -1)))).mean()

    about = msgspec.structs.replace(ABOUT[NAMES[0]], parameters=65, trainable_parameters=65)
    return Workload(description=about, model=lambda rngs: nnx.Linear(12, 5, rngs=rngs), loss=loss, draw=draw)


def test_jax_answers_each_request_for_itself_in_whatever_order_and_compiles_nothing():
    program = JaxServing(tiny(), task().cases[0])
    pictures = data.drawn(tiny().draw, 1, 6, seed=0)
    program.initialise(0)
    program.put(pictures)
    program.lower()
    program.compile()
    alone = [program.answer(program.ask(index)) for index in range(6)]
    assert len(set(alone)) == 6
    before = program.compilations()
    pending = [(index, program.ask(index)) for index in (5, 0, 3, 3, 1)]
    assert [program.answer(one) for _, one in reversed(pending)] == [alone[index] for index, _ in reversed(pending)]
    assert program.compilations() == before
    program.chain(1)
    program.block()
    assert program.loss() == pytest.approx(alone[0], rel=1e-6)


# Skipping


def test_a_case_whose_first_step_takes_too_long_is_skipped_with_its_reason():
    with pytest.raises(steady.TooLongError) as error:
        measured(Device(first_step=12.3), longest=10.0)
    words = main.reason(error.value)
    assert words == "skipped: its first step took 12.3 s, what takes more than 10.0 s is left out"
    assert measured(Device(first_step=9.9), longest=10.0).samples
    assert measured(Device(first_step=12.3)).samples


def test_the_experiment_alone_sets_that_limit():
    assert experiments.longest_step_seconds("serving") == 10.0
    assert experiments.longest_step_seconds("crossover") is None
    assert experiments.longest_step_seconds("") is None


@pytest.mark.parametrize(("experiment", "longest"), [("serving", 10.0), ("", None)])
def test_a_worker_is_told_of_the_limit_and_a_skipped_case_has_a_record_with_the_reason(tmp_path, experiment, longest):
    why = b"skipped: its first step took 12.3 s, what takes more than 10.0 s is left out"
    told = []

    class Skipping:
        pid, heard, lines = 0, 0.0, [b'{"stage": "failed", "reason": "%s"}' % why]

        def tell(self, line):
            told.append(msgspec.json.decode(line, type=Task).longest_step_seconds)

        def line(self, timeout_seconds):
            return self.lines[0]

    case = task().cases[0]
    now = datetime(2026, 1, 1, tzinfo=UTC)
    header = campaign.planned((case,), [ABOUT[NAMES[0]]], "smoke", factory.PLAIN, now, experiment)
    journal = Journal(tmp_path / "journal.jsonl")
    journal.append(header)
    watch = type(
        "Silent", (), dict.fromkeys(("begins", "grows", "stage", "ends", "prepares", "skips"), lambda *_: None)
    )()
    runner.run(header, journal, watch, lambda unit: nullcontext(Skipping()))
    (made,) = campaign.records(header, journal.done())
    assert told == [longest]
    assert (made.reason, made.experiment) == (why.decode(), experiment)
    assert summary(made).lacking


# Records


def requests(backend="cpu", seconds=0.010, name=NAMES[0], rounds=NOISE, tail=1.0, **changes):
    """A record of requests, so many seconds apart, of which the slowest two take `tail` times as long."""
    return factory.record(
        name,
        backend,
        [seconds * noise for noise in rounds],
        scope="serve",
        about=ABOUT[name],
        data="random",
        runs=tuple(served_run(number, seconds * noise, tail) for number, noise in enumerate(rounds)),
        **changes,
    )


def served_run(number, seconds, tail=1.0, **changes):
    waited = (Sample(wall_seconds=2 * seconds, process_seconds=seconds),) * 30
    made = factory.run(number, seconds, steps=67, samples=3, blocking_samples=waited)
    waits = tuple(4 * seconds * (tail if index % 67 == 0 else 1.0) for index in range(201))
    served = Served(in_flight=4, latency_seconds=waits, pictures=64, answers=60, wrong_answers=0)
    return msgspec.structs.replace(made, served=msgspec.structs.replace(served, **changes))


def steps(backend, seconds, batch, name=NAMES[0], **changes):
    times = [seconds * noise for noise in NOISE]
    return factory.record(name, backend, times, about=ABOUT[name], data="random", batch=batch, **changes)


def asked(record):
    return msgspec.structs.replace(record, experiment="serving")


def served_campaign(gain=20.0, name=NAMES[0], at_batch=60.0, **changes):
    made = [requests("cpu", 0.010 * gain, name, **changes), requests("gpu", 0.010, name, **changes)]
    for batch in BATCHES:
        made += [steps("cpu", 0.01 * batch * at_batch, batch, name, **changes),
                 steps("gpu", 0.01 * batch, batch, name, **changes)]  # fmt: skip
    return list(map(asked, made))


def test_a_quantile_is_what_so_many_did_not_exceed():
    values = [float(index) for index in range(1, 201)]
    assert (quantile(values, 0.5), quantile(values, 0.99), quantile(values, 1.0)) == (100.0, 198.0, 200.0)
    assert quantile([3.0], 0.5) == quantile([3.0], 0.99) == 3.0
    with pytest.raises(ValueError, match="a quantile needs values"):
        quantile([], 0.5)


def test_each_process_gives_one_number_to_a_latency():
    found = latency(requests(seconds=0.010, tail=3.0))
    assert found.median.value == pytest.approx(0.040, rel=1e-3)
    assert found.tail.value == pytest.approx(0.120, rel=1e-3)
    assert found.tail.low < found.tail.value < found.tail.high
    assert found.rate.value == pytest.approx(100, rel=0.01)
    assert found.requests == 3 * 201


def test_a_run_ends_with_the_latencies_of_this_machine(tmp_path, capsys):
    record = requests(tail=3.0)
    store.add(record, tmp_path)
    for machine, there in ((record.machine, True), (msgspec.structs.replace(record.machine, name="another"), False)):
        printing.print_results((tmp_path,), machine)
        printed = capsys.readouterr().out
        assert ("four always under way" in printed) is there
        assert ("120 ms" in printed) is there


def test_honest_requests_are_valid():
    assert summary(requests()).steady


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"wrong_answers": 201}, "answers: 201 of 201 answers were not those of their pictures"),
        ({"answers": 1}, "answers: the answer is the same to all of 64 pictures"),
        ({"latency_seconds": (0.010,) * 201}, "in flight: by their latencies 1.00 requests were under way, not 4"),
        ({"latency_seconds": (0.040,) * 50}, "in flight: 50 latencies of 201 requests"),
    ],
)
def test_requests_that_cannot_be_true_are_invalid(changes, words):
    runs = tuple(served_run(number, 0.010, **changes) for number in range(3))
    found = summary(msgspec.structs.replace(requests(), runs=runs))
    assert found.state == "invalid"
    assert words in found.reasons[0]


def test_a_baseline_with_its_own_initial_values_may_answer_the_same_to_every_picture():
    runs = tuple(served_run(number, 0.010, answers=1) for number in range(3))
    found = msgspec.structs.replace(requests(implementation="torch"), runs=runs)
    assert summary(found).steady


def test_a_latency_that_is_no_time_is_refused():
    runs = (served_run(0, 0.010, latency_seconds=(0.0,) * 201),)
    assert ("$.runs[0].served.latency_seconds[0]", "0.0 is no time") in list(
        acceptance.contradictions(msgspec.structs.replace(requests(), runs=runs))
    )


def test_latencies_have_keys():
    found = {number.key.metric: number for number in one_host.numbers([requests(tail=3.0)])}
    assert found["latency-p50"].value.value == pytest.approx(0.040, rel=1e-3)
    assert (found["latency-p99"].state, found["latency-p99"].reasons) == ("open", ())
    text = found["latency-p99"].key.unpinned.text()
    assert text == "test-gpu-16-cores/serve_mobilenet_v2/cpu/serve/data=random/latency-p99"
    assert parse(text).text() == text
    assert Citation(number=found["latency-p99"]).short.startswith("latency at the 99th percentile of a request")


# What is asked for


def test_requests_and_every_batch_are_asked_of_each_backend():
    cases = serving.cases([ABOUT[NAMES[0]], ABOUT["mnist_mlp"]], BOTH)
    wanted = {("serve", 1), *(("step", batch) for batch in (1, 8, 32, 128))}
    assert {(c.workload, c.backend, c.scope, c.batch) for c in cases} == {
        (NAMES[0], backend, *way) for backend in ("cpu", "gpu") for way in wanted
    }
    assert {case.backend for case in serving.cases([ABOUT[NAMES[0]]], ALONE)} == {"cpu"}


def test_networks_that_are_trained_are_named():
    with pytest.raises(ValueError, match="asks about inference, these networks are trained: mnist_mlp; name one such"):
        serving.cases([ABOUT["mnist_mlp"]], BOTH)


def refused(scopes=("serve",), named=(), about=NAMES, batch=None, implementations=("jax",), devices=1):
    asked = Request(scopes=scopes, workloads=named, batch=batch, implementations=implementations, devices=devices)
    validation.check_serving(asked, [ABOUT[name] for name in about])


@pytest.mark.parametrize(
    ("asked_for", "words"),
    [
        ({"named": ("mnist_mlp",), "about": ("mnist_mlp",)}, "these are trained: mnist_mlp; name workloads that begin"),
        ({"named": ("mnist_mlp",), "about": ("mnist_mlp", NAMES[0])}, "these are trained: mnist_mlp;"),
        ({"about": ("mnist_mlp",)}, "these are trained: mnist_mlp;"),
        ({"batch": 8}, "with batch 8, a request is one picture; leave --batch out"),
        ({"devices": 2}, "on 2 devices, it uses one"),
        ({"implementations": ("keras",)}, "with 'keras', only jax, torch, openvino serve"),
    ],
)
def test_what_cannot_be_served_is_refused_with_what_to_do(asked_for, words):
    with pytest.raises(ValueError, match="scope 'serve' asked for") as error:
        refused(**asked_for)
    assert words in str(error.value)


def test_what_can_be_served_is_not_refused():
    refused()
    refused(about=("mnist_mlp", NAMES[0]), implementations=("jax", "keras"))
    refused(scopes=("step",), named=("mnist_mlp",), about=("mnist_mlp",), batch=8, devices=2)


def test_requests_are_answered_by_the_plain_way_of_jax_and_all_of_torch():
    asked = Request(scopes=("serve",), implementations=("jax", "torch", "keras"))
    cases = default_cases(asked, [ABOUT[NAMES[0]], ABOUT["mnist_mlp"]], BOTH)
    assert {case.workload for case in cases} == {NAMES[0]}
    assert {(c.implementation, c.variant) for c in cases if c.backend == "cpu"} == {
        ("jax", "plain"), ("torch", "plain"), ("torch", "compile")
    }  # fmt: skip


# What is read


def read(records):
    reading = serving.read(of_one_machine(records))
    assert reading is not None
    return reading


def test_latency_and_throughput_stand_beside_each_other():
    reading = read(factory.on_hosts(served_campaign()))
    waits, rates, _ = reading.tables
    assert [row[1].text for row in waits.rows] == ["CPU", "GPU"]
    assert (waits.rows[1][3].text, waits.rows[1][5].text) == ("20.0 ms", "40.0 ms")
    assert [row[1].text for row in rates.rows] == ["1, four under way", "batch 1", "batch 8", "batch 32", "batch 128"]
    assert [row[6].sort for row in rates.rows] == pytest.approx([20, 60, 60, 60, 60], rel=1e-3)
    assert {row[9].text for row in rates.rows} == {"3"}
    assert {chart.name for chart in reading.beside} == {"latency", "speedups"}
    drawn = next(chart for chart in read(factory.on_hosts(served_campaign()[::-1])).beside if chart.name == "speedups")
    assert [point.series for point in drawn.points] == [row[1].text for row in rates.rows]
    assert sorted({point.at for point in reading.chart.points}) == [1, 8, 32, 128]
    assert "half of the requests are answered within 40.0 ms" in reading.answers[2]


def test_what_a_picture_takes_that_is_waited_for_stands_first_with_what_the_gpu_gains():
    first = read(served_campaign(gain=20.0)).answers[0]
    assert first.startswith(
        f"{NAMES[0]}: one picture that is waited for takes 400 ms on the CPU and 20.0 ms on the GPU"
    )
    assert "the GPU answers it 20" in first
    assert "GPU" not in read([requests("cpu", 0.010)]).answers[0]


def test_a_campaign_that_waited_for_no_request_says_so():
    runs = tuple(msgspec.structs.replace(run, blocking_samples=()) for run in requests().runs)
    reading = read([msgspec.structs.replace(requests(), runs=runs)])
    cell = reading.tables[0].rows[0][3]
    assert (cell.text, cell.remark) == ("–", "this campaign timed no request that is waited for")
    assert "waited" not in reading.answers[0]
    drawn = next(chart for chart in reading.beside if chart.name == "latency")
    assert {point.series for point in drawn.points} == {"half of requests", "99 of 100"}


def test_an_unsteady_campaign_that_waited_for_no_request_gives_that_and_no_other_reason():
    runs = tuple(msgspec.structs.replace(run, blocking_samples=()) for run in requests().runs)
    lacking = msgspec.structs.replace(requests(), runs=runs, profile="smoke")
    (cell,) = (row[3] for row in latency_table(latencies([lacking])).rows)
    assert latencies([lacking])[0].summary.reasons
    assert cell.remark == "this campaign timed no request that is waited for"


def test_a_request_that_is_waited_for_has_a_key():
    found = {number.key.metric: number for number in one_host.numbers([requests()])}
    assert found["latency"].value.value == pytest.approx(0.020, rel=1e-3)
    assert Citation(number=found["latency"]).short.startswith("blocking latency of a request of one picture, CPU: ")


def test_clusters_are_derived_from_one_gpu_and_one_machine_and_say_so():
    assert cluster(Estimate(value=20.0, low=15.0, high=30.0, processes=3), 3, 5) == Estimate(
        value=12.0, low=9.0, high=18.0, processes=3
    )
    assert cluster(Estimate(value=20.0), 1, 5) == Estimate(value=4.0)
    records = served_campaign(gain=20.0, at_batch=60.0)
    table = read(records).tables[-1]
    assert table.title.startswith("Derived")
    assert "not to be cited" in table.notes[0]
    shown = {(row[1].text, row[2].text, row[3].text): (row[4].sort, row[6].text) for row in table.rows}
    assert shown["1, four under way", "3", "5"] == (pytest.approx(12.0, rel=1e-3), "8.04x or 9.04x")
    assert shown["batch 128", "1", "5"] == (pytest.approx(12.0, rel=1e-3), "–")
    assert all(cell.record is None for row in table.rows for cell in row)
    assert any("derived: 3 such GPUs answer 12.0" in answer for answer in read(records).answers)


def test_a_derived_figure_has_no_key():
    values = [number.value.value for number in one_host.numbers(served_campaign(gain=20.0))]
    assert not any(value == pytest.approx(12.0, rel=1e-3) for value in values)


def test_a_cell_that_was_skipped_keeps_its_row_with_the_reason():
    why = "skipped: its first step took 12.3 s, what takes more than 10.0 s is left out"
    records = served_campaign()
    at = next(i for i, r in enumerate(records) if (r.backend, r.case.batch) == ("cpu", 128))
    runs = (factory.run(0, 1.0, samples=0, reason=why),)
    records[at] = msgspec.structs.replace(records[at], runs=runs, reason=why)
    table = read(records).tables[1]
    row = dict(zip(table.columns, table.rows[-1], strict=True))
    assert (row["CPU pictures/s"].text, row["CPU pictures/s"].remark) == ("–", why)
    assert (row["speed-up"].text, row["status"].text) == ("–", "–")
    assert all(derived[1].text != "batch 128" for derived in read(records).tables[2].rows)


def test_one_backend_alone_is_read_without_ratios():
    reading = read([record for record in served_campaign() if record.backend == "cpu"])
    assert len(reading.tables) == 2
    assert not [column for column in reading.tables[1].columns if "GPU" in column or column == "speed-up"]


def test_requests_of_other_campaigns_have_latencies_and_baselines():
    reading = read([requests(), requests(implementation="torch", seconds=0.020)])
    assert [row[2].text for row in reading.tables[0].rows] == ["jax", "torch"]
    assert len(reading.answers) == 2  # of a picture that is waited for, and with four under way
    assert serving.read(of_one_machine([])) is None


def test_campaigns_are_pooled_and_smoke_has_latencies_alone():
    later = {"campaign": "20270101-000000-x", "created": "2027-01-01T00:00:00Z"}
    both = read(served_campaign(gain=20.0) + served_campaign(gain=45.0, **later))
    rates = both.tables[1]
    assert rates.rows[0][rates.columns.index("speed-up")].sort == pytest.approx(30, rel=1e-3)
    smoke = served_campaign(gain=80.0, **later, profile="smoke")
    assert [table.title for table in read(smoke).tables] == [
        "Requests of one picture: each waited for, then four always under way"
    ]


def test_the_networks_that_serve_only_infer():
    assert {models.load(name).description.family for name in serving.WORKLOADS} == {"inference"}


def note(names):
    return f"Not timed here by this experiment: {', '.join(names)}."


def test_networks_that_were_not_timed_are_named_below_the_first_table_and_do_not_count_as_answered():
    reading = read(served_campaign(name="serve_resnet50"))
    missing = [name for name in serving.WORKLOADS if name != "serve_resnet50"]
    assert reading.tables[0].notes == (note(missing),)
    assert not any("Not timed" in said for table in reading.tables[1:] for said in table.notes)
    assert [name for name in serving.WORKLOADS if not reading.names(name)] == missing


def test_a_network_with_requests_or_steps_alone_was_timed():
    first, second, *missing = serving.WORKLOADS
    records = [requests(name=first), *map(asked, (steps("cpu", 0.01, 8, second), steps("cpu", 0.08, 32, second)))]
    assert read(records).tables[0].notes == (note(missing),)
    (table,) = read(records[1:]).tables
    assert table.notes[-1] == note([first, *missing])


def test_of_two_allocators_the_better_one_s_latencies_count():
    slow, fast = requests(seconds=0.020), requests(seconds=0.010, allocator="default-malloc")
    (alone,) = read([fast]).tables[0].rows
    assert [read(both).tables[0].rows for both in ([slow, fast], [fast, slow])] == [(alone,), (alone,)]


def test_requests_of_two_campaigns_are_said_to_be():
    moved = msgspec.structs.replace(
        requests(implementation="torch"), campaign="20270101-000000-x", created="2027-01-01T00:00:00Z"
    )
    first, _ = read([requests(), moved]).tables[0].notes
    assert first.startswith("The rows are of 2 campaigns")


def test_nothing_is_said_of_networks_not_timed_where_all_were():
    reading = read([requests(name=name) for name in serving.WORKLOADS])
    assert not any("Not timed" in note for table in reading.tables for note in table.notes)


# The ledger


def judged(gains, at_batch=60.0, **changes):
    records = [
        r for name, gain in zip(NAMES, gains, strict=True) for r in served_campaign(gain, name, at_batch, **changes)
    ]
    return O12.judge(known(records))


def known(records):
    return of_one_machine(factory.on_hosts(records))


def test_the_gpu_has_to_win_every_case_and_the_found_counts_them():
    found = judged((30, 20, 10))
    assert found.parts[0].holds is True
    assert "four requests under way" in found.found
    assert (
        "In order of speed-up the smallest network is number 1 of 3, the largest number 3. 15 cases of network and "
        "batch were measured on both sides, with larger batches of 3 of 3 networks and requests of 3; the GPU surely "
        "loses none."
    ) in found.found


def test_one_batch_that_the_gpu_loses_refutes_it():
    found = judged((30, 20, 10), at_batch=0.5)
    assert [part.holds for part in found.parts] == [False, None]
    assert "the GPU surely loses serve_mobilenet_v2 at 1" in found.found


def headlines(*ratios):
    """The steps at batch 1 of all networks that serve, the smallest first, each of its own campaign."""
    return [
        steps(backend, seconds, 1, name, campaign=f"20260{month}01-000000-x")
        for month, (name, ratio) in enumerate(zip(serving.WORKLOADS, ratios, strict=True), 1)
        for backend, seconds in (("cpu", 0.01 * ratio), ("gpu", 0.01))
    ]


@pytest.mark.parametrize(
    ("ratios", "verdict", "first", "last"),
    [
        ((110, 60, 30, 20, 9), "reproduced", 1, 5),
        ((110, 140, 8, 9, 26), "in part", 2, 3),
        ((34, 19, 8, 9, 26), "in part", 1, 2),
        ((6, 19, 8, 9, 26), "in part", 5, 1),
        ((34, 19, 8, 0.5, 26), "refuted", 1, 2),
        ((26, 19, 8, 9, 26), "in part", 1, 1),
    ],
)
def test_where_requests_are_of_one_network_steps_at_batch_1_are_compared_the_headlines_first(
    ratios, verdict, first, last
):
    found = O12.judge(known([*headlines(*ratios), *served_campaign(10.0, "serve_resnet50", ratios[2])]))
    each = "; ".join(
        f"{name} {f'{ratio:#.3g}'.rstrip('.')}x" for name, ratio in zip(serving.WORKLOADS, ratios, strict=True)
    )
    lost = "serve_resnet152 at 1" if 0.5 in ratios else "none"
    assert found.verdict == verdict
    assert found.found.endswith(" 1 of 9 may be quoted.")
    assert re.sub(r" \([^)]*\)", "", found.found).startswith(
        f"Speed-ups at batch 1, the smallest network first: {each}. In order of speed-up the smallest network is "
        f"number {first} of 5, the largest number {last}. 9 cases of network and batch were measured on both sides, "
        f"with larger batches of 1 of 5 networks and requests of 1; the GPU surely loses {lost}."
    )


def test_steps_at_batch_1_alone_are_no_larger_batches_and_no_requests():
    found = O12.judge(known(headlines(34, 19, 8, 9, 26))).found
    assert "5 cases" in found
    assert "with larger batches of 0 of 5 networks and requests of 0;" in found


def test_requests_of_all_networks_but_one_are_not_compared():
    asked_of_most = [record for name in serving.WORKLOADS[1:] for record in served_campaign(90.0, name, 10.0)]
    found = O12.judge(known([*headlines(110, 60, 30, 20, 9), *asked_of_most]))
    assert found.verdict == "reproduced"
    assert "four requests under way" not in found.found
    assert "21 cases" in found.found
    assert "with larger batches of 4 of 5 networks and requests of 4;" in found.found


def test_smoke_judges_nothing():
    assert judged((30, 20, 10), profile="smoke").verdict == "not run"
