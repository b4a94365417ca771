"""Experiments over the input pipeline: what is asked for, how often, and what is read off; heat maps."""

import json

import factory
import msgspec
import pytest
from factory import of_one_machine

from suite import experiments, models
from suite.analysis.capabilities import MachineCapabilities
from suite.case import Case
from suite.driver import campaign
from suite.experiments import depth, extrapolation, input_tuning
from suite.report.charts import plots, vega
from suite.results.records.run import GpuTelemetry, Level, Telemetry
from suite.results.records.store import sealed
from suite.results.views.experiment_result import HeatMap, Square
from suite.workload import WholeRun

BOTH = MachineCapabilities(backends=("cpu", "gpu"), cores=16)
ALONE = MachineCapabilities(backends=("cpu",), cores=4)
NOISE = (1.0, 1.01, 0.99)
ALIKE = (1.0, 1.001, 0.999)  # times of three hosts
ABOUT = {name: models.load(name).description for name in depth.WORKLOADS}
BASE, DROPOUT, NOAUG = (ABOUT[f"catdog_cnn_{name}"] for name in ("base", "dropout", "noaug"))


def stored(
    about, rate, backend="cpu", scope="epoch", rounds=3, busy=None, alone=None, experiment="input_tuning", **axes
):
    """A record of so many examples a second, by default from storage, whose GPU was that busy."""
    batch = axes.get("batch", about.batch)
    level = Level(mean=busy, max=1.0) if busy is not None else None
    gpus = (GpuTelemetry(utilisation=level, power_watts=Level(mean=200.0, max=210.0)),)
    seen = Telemetry(seconds=5.0, readings=50, cpu_utilisation=Level(mean=0.5, max=1.0), gpus=gpus)
    runs = tuple(
        factory.run(n, batch / rate * NOISE[n], telemetry=seen, step_alone_seconds=batch / alone if alone else None)
        for n in range(rounds)
    )
    made = factory.record(
        about.name, backend, [1.0] * rounds, about=about, scope=scope, runs=runs, batch=batch, **{
            name: value for name, value in axes.items() if name != "batch"
        }
    )  # fmt: skip
    return sealed(msgspec.structs.replace(made, experiment=experiment))


def cell(workers, batch, rate, about=BASE, **axes):
    return stored(about, rate, workers=workers, batch=batch, **axes)


def words(reading):
    assert reading is not None
    return " ".join(reading.answers)


# Tuning


def test_the_grid_is_asked_for_on_the_gpu_where_there_is_one():
    found = input_tuning.cases([BASE], BOTH)
    grid = {(c.workers, c.batch, c.augmentation) for c in found if c.augmentation != "device"}
    assert {c.backend for c in found} == {"gpu"}
    assert {c.scope for c in found} == {"epoch"}
    assert len(grid) == 5 * 4 * 2
    assert {c.backend for c in input_tuning.cases([BASE], ALONE)} == {"cpu"}


def test_around_the_default_one_setting_at_a_time_is_changed():
    usual = Case(workload=BASE.name, backend="cpu", scope="epoch", batch=32, workers=1)
    changed = [
        {name for name in msgspec.structs.asdict(usual) if getattr(case, name) != getattr(usual, name)}
        for case in input_tuning.cases([BASE], ALONE)
        if (case.workers, case.batch, case.augmentation) == (1, 32, "host")
    ]
    assert sorted(map(tuple, changed)) == [(), ("decoding",), ("loader",), ("queue",), ("queue",), ("stored",)]


def test_augmentation_on_the_device_is_left_to_networks_that_have_it():
    def augmentations(about):
        return {case.augmentation for case in input_tuning.cases([about], ALONE)}

    assert augmentations(BASE) - augmentations(msgspec.structs.replace(BASE, augmented=False)) == {"device"}


def test_a_network_without_photographs_has_nothing_to_decode():
    about = models.load("mnist_mlp").description
    assert {case.decoding for case in input_tuning.cases([about], ALONE)} == {"full"}


def test_the_networks_beside_it_are_measured_at_the_default_and_tuned():
    found = input_tuning.cases([DROPOUT, NOAUG], BOTH)
    assert [(c.workload[11:], c.workers, c.batch) for c in found] == [
        ("dropout", 1, 32), ("dropout", 16, 64), ("noaug", 1, 32), ("noaug", 16, 64)]  # fmt: skip


def test_what_is_compared_in_words_has_three_rounds_and_the_other_cells_one():
    found = input_tuning.cases([BASE, DROPOUT], ALONE)
    header, smoke = (
        campaign.planned(
            found, [BASE, DROPOUT], profile, factory.PLAIN, campaign.datetime.now(campaign.UTC), "input_tuning"
        )
        for profile in ("quick", "smoke")
    )
    thrice = {case for case in found if header.rounds_of(case) == 3}
    assert {header.rounds_of(case) for case in found} == {1, 3}
    assert {(c.workers, c.batch) for c in thrice} == {(1, 32), *((4, batch) for batch in (32, 64, 128, 256))}
    assert all(case in thrice for case in found if case.queue != 10 or case.workload == DROPOUT.name)
    assert {smoke.rounds_of(case) for case in found} == {1}


def test_an_experiment_without_a_word_on_rounds_leaves_them_to_the_profile():
    case = Case(workload="mnist_mlp", backend="cpu", scope="step", batch=128)
    assert experiments.rounds("size", case, 4) is None
    assert campaign.rounds("quick", case, "size", 4) == campaign.rounds("quick", case, "", 4) == 3


def grid(**axes):
    return [
        cell(1, 32, 100.0, alone=1000.0, **axes),
        cell(4, 64, 300.0, **axes),
        cell(16, 128, 900.0, rounds=1, **axes),
        cell(1, 32, 150.0, augmentation="none", **axes),
    ]


def test_the_gain_of_tuning_stands_beside_the_documented_one():
    said = words(input_tuning.read(of_one_machine(factory.on_hosts(grid(), ALIKE))))
    assert "four workers and batch 64 are 3.00x (2.9" in said
    assert "Not to be quoted" not in said
    assert "documented are 1.36x in a VirtualBox VM" in words(input_tuning.read(of_one_machine(grid())))
    assert "documented are about 3x on a Tesla V100" in words(input_tuning.read(of_one_machine(grid(backend="gpu"))))


def test_the_fastest_cell_is_named_with_its_bottleneck():
    records = [*grid(backend="gpu", busy=0.08), cell(8, 256, 1200.0, backend="gpu", rounds=1, busy=0.1, alone=24_000.0)]
    said = words(input_tuning.read(of_one_machine(records)))
    assert "the fastest augmented cell is 8 workers with batch 256, 12" in said
    assert "the step alone accounts for 5.0 % of its time, and the GPU is busy 10 % of it" in said


def test_the_fastest_cell_is_the_one_that_gains_most_as_the_table_has_it():
    runs = tuple(factory.run(number, 32 / rate) for number, rate in enumerate((50.0, 150.0, 200.0)))
    default = msgspec.structs.replace(stored(BASE, 100.0, workers=1), runs=runs)
    reading = input_tuning.read(of_one_machine([default, cell(4, 64, 300.0), cell(16, 128, 290.0, rounds=1)]))
    assert "the fastest augmented cell is 4 workers with batch 64, 2.6" in words(reading)


def test_the_cost_of_augmentation_stands_beside_the_documented_one():
    beside = [cell(1, 32, 80.0, DROPOUT), cell(1, 32, 100.0, NOAUG)]
    said = words(input_tuning.read(of_one_machine([*grid(), *beside])))
    assert "with 1 worker and batch 32 augmentation changes the speed by -33 %" in said
    assert "augmentation changes the speed by -20 %" in said
    assert "documented are 425 against 533 photographs/s on a Tesla V100, -20 %" in said


def test_a_setting_that_changes_nothing_is_said_to():
    singly = [cell(1, 32, 100.5, queue=64), cell(1, 32, 200.0, stored="memory")]
    noisy = [msgspec.structs.replace(s, runs=s.runs[::-1]) for s in singly]
    noisy = [msgspec.structs.replace(s, runs=tuple(msgspec.structs.replace(r, round=n) for n, r in enumerate(s.runs)))
             for s in noisy]  # fmt: skip
    said = words(input_tuning.read(of_one_machine(factory.on_hosts([*grid(), *noisy], ALIKE))))
    assert "a queue of 64 is 1.0" in said
    assert said.count("no difference that shows") == 1
    assert "records in memory is 2.0" in said


def test_what_was_not_asked_for_with_a_number_of_workers_is_no_cell():
    reading = input_tuning.read(of_one_machine([*grid(), stored(BASE, 500.0)]))
    assert {square.row for square in reading.chart.squares} == {"1", "4", "16"}


def test_cells_of_two_campaigns_are_set_against_each_other():
    records = grid()
    other = msgspec.structs.replace(records[1], campaign="20270101-000000-x", created="2027-01-01T00:00:00Z")
    assert "are 3.00x (no interval) as fast" in words(
        input_tuning.read(of_one_machine([records[0], other, records[2]]))
    )
    assert "not known" in words(input_tuning.read(of_one_machine([records[0], records[2]])))


def test_the_heat_map_has_a_panel_for_each_augmentation_and_marks_what_is_unsteady():
    reading = input_tuning.read(of_one_machine(grid()))
    assert isinstance(reading.chart, HeatMap)
    assert [square.panel[-13:] for square in reading.chart.squares].count("not augmented") == 1
    assert [(s.row, s.column, s.text) for s in reading.chart.squares][:2] == [("1", "32", "99.6"), ("4", "64", "299")]


def test_a_cell_that_failed_is_named_beside_the_others():
    records = grid()
    gone = (factory.run(0, 1.0, samples=0, reason="RuntimeError: out of memory"),)
    records[2] = msgspec.structs.replace(records[2], runs=gone, reason="RuntimeError: out of memory")
    reading = input_tuning.read(of_one_machine(records))
    assert {s.row for s in reading.chart.squares} == {"1", "4"}
    assert reading.tables[0].notes[-1].startswith("catdog_cnn_base/cpu/epoch/batch=128/workers=16 does not count: ")
    assert "out of memory" in reading.tables[0].notes[-1]
    assert "4 workers with batch 64" in words(reading)


# Heat maps


def squares(*values):
    return HeatMap(caption="c", across="batch", up="workers", squares=tuple(
        Square(panel="p", row=str(n), column="1", value=v, text=f"v{n}", solid=n > 0) for n, v in enumerate(values)
    ))  # fmt: skip


def test_a_heat_map_writes_every_value_in_an_ink_that_can_be_read_on_it():
    picture = vega.svg(plots.plot(squares(1.0, 10.0, 100.0)), "dark")
    assert all(text in picture for text in (">(v0)<", ">v1<", ">v2<"))
    layers = plots.plot(squares(1.0, 100.0))["vconcat"][0]["layer"]
    inks = {row["text"]: layer["mark"]["color"] for layer in layers if layer["mark"]["type"] == "text"
            for row in layer["data"]["values"]}  # fmt: skip
    assert inks == {"(v0)": "white", "v1": "black"}


@pytest.mark.parametrize("values", [(), (None,), (5.0,), (5.0, 5.0), (5.0, None)])
def test_a_heat_map_of_little_is_drawn_all_the_same(values):
    light, dark = (vega.svg(plots.plot(squares(*values)), palette) for palette in ("light", "dark"))
    assert light.startswith("<svg")
    assert vega.recoloured(light) == dark
    assert json.dumps(plots.plot(squares(*values)))


# Depth


def test_each_network_is_asked_for_with_and_without_its_input_on_each_backend():
    found = depth.cases([BASE], BOTH)
    assert [(c.backend, c.scope) for c in found] == [
        ("cpu", "epoch"), ("cpu", "step"), ("gpu", "epoch"), ("gpu", "step")]  # fmt: skip


def deepening():
    rates = {"base": (100, 900, 400, 40_000), "dropout": (100, 800, 400, 36_000), "128": (15, 20, 320, 9_000),
             "deep": (3, 4, 320, 1_800)}  # fmt: skip
    for name, (cpu, cpu_alone, gpu, gpu_alone) in rates.items():
        about = ABOUT[f"catdog_cnn_{name}"]
        busy = gpu / gpu_alone
        yield stored(about, cpu, "cpu", alone=cpu_alone, experiment="depth")
        yield stored(about, cpu_alone, "cpu", "step", experiment="depth")
        yield stored(about, gpu, "gpu", busy=busy, alone=gpu_alone, experiment="depth")
        yield stored(about, gpu_alone, "gpu", "step", experiment="depth")


def test_the_lead_says_what_the_deepest_network_costs_on_each_side():
    lead = depth.read(of_one_machine(factory.on_hosts(list(deepening()), ALIKE))).lead
    assert lead.startswith("an example of catdog_cnn_deep takes, beside one of catdog_cnn_base, on")
    gpu, cpu = lead.partition("catdog_cnn_base, ")[2].split("; ")
    assert gpu.startswith("on the GPU 1.25x (")
    assert " the time from storage, 22.2" in gpu
    assert cpu.startswith("on the CPU 33")
    only = [record for record in deepening() if record.workload == BASE.name]
    assert depth.read(of_one_machine(only)).lead == ""


def invalid(record):
    runs = tuple(msgspec.structs.replace(run, compilations=3) for run in record.runs)
    return msgspec.structs.replace(record, runs=runs)


def test_a_step_that_makes_no_sense_is_left_out_of_what_is_said_of_it():
    records = list(deepening())
    found = [invalid(r) if (r.backend, r.case.scope) == ("gpu", "step") else r for r in records]
    whole, without = (words(depth.read(of_one_machine(group))) for group in (records, found))
    assert "from storage the GPU is 4.00x" in whole
    assert "44.4x (no interval) with the batch on the device" in whole
    assert "from storage the GPU is 4.00x" in without
    assert "44.4x" not in without


def test_a_network_is_pooled_over_the_hosts_that_timed_it():
    slower = factory.on_hosts(list(deepening()), (1.0, 4.0, 1.0))
    usual, pooled = (
        words(depth.read(of_one_machine(records))) for records in (factory.on_hosts(list(deepening()), ALIKE), slower)
    )
    assert "From catdog_cnn_dropout to catdog_cnn_128 the GPU's speed changes by -20.0 % (-2" in usual
    assert "From catdog_cnn_dropout to catdog_cnn_128 the GPU's speed changes by -20 % (-" in pooled, "rather too wide"
    reading = depth.read(of_one_machine(slower))
    assert {(row[-2].text, row[-1].text) for row in reading.tables[0].rows} == {("open", "3")}
    assert not any(point.solid for point in reading.chart.points)


def test_the_cost_of_depth_stands_beside_the_documented_one_on_both_sides():
    records = factory.on_hosts(list(deepening()), ALIKE)
    said = words(depth.read(of_one_machine(records)))
    for words_ in (
        "From catdog_cnn_dropout to catdog_cnn_128 the GPU's speed changes by -20.0 % (",
        "with the batch on the device; documented -20 %.",
        "the CPU's speed changes by -85.0 %",
        "documented -85 %.",
        "catdog_cnn_base: from storage the GPU is 4.0",
        "documented from storage are 4x",
        "catdog_cnn_deep: from storage the GPU is 107",
        "documented from storage are 100x",
        "1.0 % for catdog_cnn_base (documented 10 %)",
    ):
        assert words_ in said
    from_128 = next(a for a in depth.read(of_one_machine(records)).answers if a.startswith("From catdog_cnn_128"))
    assert "0 % (-1.3 to 1.4) from storage, -80.0 % (-80.3 to -79.7) with the batch on the device" in from_128


def test_networks_come_in_the_order_of_depth_with_both_rates():
    reading = depth.read(of_one_machine(list(deepening())))
    first, meanwhile, sides = reading.tables
    assert [row[0].text[11:] for row in first.rows][::2] == ["base", "dropout", "128", "deep"]
    assert [row[6].text for row in first.rows] == ["input"] * 4 + ["both", "input", "both", "input"]
    assert [row[3].text for row in meanwhile.rows if row[1].text == "gpu"] == ["10 %", "–", "50 %", "100 %"]
    assert {row[4].text for row in meanwhile.rows if row[1].text == "gpu"} == {"200 W"}
    assert [row[5].text for row in sides.rows] == ["4x", "–", "23x", "100x"]
    assert {point.series for point in reading.chart.points} == {"CPU", "GPU"}
    assert {point.row.split(", ")[1] for point in reading.chart.points} == {"from storage", "alone"}


def test_another_experiments_newer_campaign_takes_no_network_away():
    newer = msgspec.structs.replace(
        stored(BASE, 999, "gpu", experiment="extrapolation"),
        campaign="20270101-000000-x",
        created="2027-01-01T00:00:00Z",
    )
    changed, usual = (
        depth.read(of_one_machine(records)).answers for records in ([*deepening(), newer], list(deepening()))
    )
    assert changed == usual, "a campaign of one side does not count where another timed both"


def test_one_side_alone_has_no_ratio_and_steps_alone_no_reading():
    cpu = [record for record in deepening() if record.backend == "cpu"]
    assert len(depth.read(of_one_machine(cpu)).tables) == 2
    assert depth.read(of_one_machine([record for record in cpu if record.case.scope == "step"])) is None


# Extrapolation


def test_small_networks_are_asked_of_the_cpu_and_large_ones_of_the_gpu():
    catalogue = [models.load(name).description for name in extrapolation.WORKLOADS]
    found = {(c.workload, c.backend, c.scope) for c in extrapolation.cases(catalogue, BOTH)}
    small = {"mnist_mlp", "cifar10_mlp", "catdog_cnn_base"}
    assert {name for name, backend, _ in found if backend == "cpu"} == small
    assert {name for name, backend, _ in found if backend == "gpu"} == {"cifar10_resnet63"}
    assert {name for name, _, scope in found if scope == "run"} == {"mnist_mlp", "cifar10_mlp"}
    assert "cifar10_resnet63" not in {c.workload for c in extrapolation.cases(catalogue, ALONE)}


def test_a_large_network_alone_is_refused_without_a_gpu():
    with pytest.raises(RuntimeError, match="needs a GPU"):
        extrapolation.cases([models.load("cifar10_resnet63").description], ALONE)


RUN = factory.description(run=WholeRun(epochs=3, train=1280, test=100))


def whole_run(*epochs, **changes):
    names = [(name, s) for seconds in epochs for name, s in (("epoch", seconds), ("validation", 9.0))]
    stages = tuple(msgspec.structs.replace(factory.run(0, 1.0).stages[0], name=n, wall_seconds=s) for n, s in names)
    runs = (factory.run(0, sum(epochs), steps=1, samples=1, stages=stages),)
    return factory.record(scope="run", about=RUN, runs=runs, step_seconds=[1.0], **changes)


def test_the_middle_epoch_of_a_whole_run_is_set_against_its_steps():
    step = factory.record(about=RUN, step_seconds=[0.1, 0.1, 0.1])
    (row,) = extrapolation.read(of_one_machine([step, whole_run(5.0, 1.1, 1.2)])).tables[0].rows
    assert [cell.text for cell in row[:3]] == ["mnist_mlp", "CPU, from memory", "1.00 s"]
    assert row[4].sort == pytest.approx(1.2, rel=0.01)
    assert row[6].text == "100 %"


def test_both_times_of_an_epoch_are_of_the_rounds_that_its_ratio_is_of():
    step = factory.record(about=RUN, step_seconds=[0.2, 0.1, 0.1])
    (row,) = extrapolation.read(of_one_machine([step, whole_run(1.0, 1.0, 1.0)])).tables[0].rows
    assert row[3].sort / row[2].sort == pytest.approx(row[4].sort)


def test_a_run_that_was_cut_short_is_no_epoch():
    step = factory.record(about=RUN, step_seconds=[0.1], profile="smoke")
    assert extrapolation.read(of_one_machine([step, whole_run(0.1, profile="smoke")])) is None


def test_an_epoch_from_storage_says_how_much_of_it_was_timed():
    step, flowing = stored(BASE, 1000.0, scope="step"), stored(BASE, 500.0)
    reading = extrapolation.read(of_one_machine([step, flowing]))
    (row,) = reading.tables[0].rows
    assert row[4].sort == pytest.approx(2.0, rel=1e-6)
    assert row[2].sort == pytest.approx(8.0, rel=0.01)
    assert row[6].sort == pytest.approx(20 / 250)
    assert (
        "takes 2.00x (2.00 to 2.00) as long as its step predicts, judged by the 8.0 % of it that were timed"
        in words(reading)
    )


def test_an_epoch_without_its_step_predicts_nothing():
    assert extrapolation.read(of_one_machine([stored(BASE, 500.0)])) is None
    assert extrapolation.read(of_one_machine([whole_run(1.0)])) is None


def test_an_epoch_of_each_side_is_named_in_the_chart_and_a_grid_has_none():
    sides = [
        stored(BASE, rate, side, scope) for side in ("cpu", "gpu") for scope, rate in (("epoch", 50), ("step", 99))
    ]
    assert [item.row for item in extrapolation.read(of_one_machine(sides)).chart.points] == [
        f"{BASE.name}, {s}" for s in ("CPU", "GPU")
    ]
    grid = msgspec.structs.replace(BASE, grid=models.load("mnist_grid_search").description.grid)
    of_grid = [msgspec.structs.replace(record, description=grid) for record in sides]
    assert extrapolation.read(of_one_machine(of_grid)) is None


def test_a_models_page_has_the_many_cells_of_an_experiment_in_one_table():
    def titles(experiment):
        cells = [stored(BASE, 100.0 * n, workers=n, experiment=experiment) for n in (1, 2, 4)]
        return factory.pages(cells)[f"workloads/{BASE.name}.md"].count("<caption>")

    assert titles("input_tuning") == 2  # with what is documented
    assert titles("") > 2


def test_a_machine_without_a_gpu_has_no_columns_about_one():
    first, meanwhile = depth.read(of_one_machine([record for record in deepening() if record.backend == "cpu"])).tables
    assert not [column for column in meanwhile.columns if "GPU" in column]
    assert meanwhile.columns[0] == first.columns[0] == "model"


@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_a_machine_that_nobody_watched_has_no_table_of_what_it_did(backend):
    record = stored(BASE, 100.0, backend, experiment="depth")
    unseen = msgspec.structs.replace(
        record, runs=tuple(msgspec.structs.replace(run, telemetry=None) for run in record.runs)
    )
    assert len(depth.read(of_one_machine([record])).tables) == 2
    assert [table.title for table in depth.read(of_one_machine([unseen])).tables] == [
        "From storage, and on the device alone"
    ]
