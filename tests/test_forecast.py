"""How long the processes of a campaign take: a guess, corrected by those that ended, here or before it was resumed."""

from pathlib import Path

import factory
import msgspec
import pytest

from suite.case import Case
from suite.driver import campaign
from suite.driver.forecast import Forecast, first_seconds, process_seconds
from suite.driver.journal import CompletedRun, Header
from suite.driver.profiles import EFFORTS, epoch_steps
from suite.results.records import store

PUBLISHED = Path(__file__).parents[1] / "site" / "records"
ROUNDS = 3
ABOUT = factory.description()
GPU = Case(workload="mnist_mlp", backend="gpu", scope="step", batch=128)
CPU = Case(workload="mnist_mlp", backend="cpu", scope="step", batch=128)
HEADER = Header(
    campaign="20260101-000000-test",
    created="2026-01-01T00:00:00Z",
    profile="quick",
    rounds=ROUNDS,
    seed=0,
    machine=factory.HOST,
    commit="",
    cases=(GPU, CPU),
    descriptions=(ABOUT,),
)


def ended(case: Case, number: int, seconds: float, **changes) -> CompletedRun:
    run = factory.run(number, 1e-3, **changes)
    return CompletedRun(case=case, software=factory.record().software, run=run, seconds=seconds)


def guess(case: Case) -> float:
    return process_seconds((case,), ABOUT, EFFORTS["quick"], factory.HOST.cores)


def test_before_its_first_process_a_campaign_takes_what_its_processes_are_guessed_to_take():
    forecast = Forecast(HEADER)
    assert forecast.seconds((CPU,)) == guess(CPU)
    assert forecast.seconds((GPU,)) == pytest.approx(guess(GPU) + first_seconds((GPU,), ABOUT))
    assert forecast.total([(CPU,), (GPU,)]) == pytest.approx(forecast.seconds((CPU,)) + forecast.seconds((GPU,)))


def test_a_way_whose_call_takes_an_epoch_has_long_samples():
    slow = msgspec.structs.replace(ABOUT, flop_per_example=1e9)
    steps = epoch_steps(EFFORTS["quick"], slow, 128)
    fit, batches = (
        process_seconds(
            (msgspec.structs.replace(CPU, scope="written", implementation="keras", variant=variant),),
            slow, EFFORTS["quick"], factory.HOST.cores,
        )
        for variant in ("fit-jax", "train-on-batch-jax")
    )  # fmt: skip
    step = 128 * 1e9 / (60e9 * factory.HOST.cores)
    assert fit > batches + 4 * (steps - 1) * step, "a first call and three samples of that many more steps each"


def test_the_first_process_on_a_gpu_chooses_kernels_for_the_others():
    other = msgspec.structs.replace(GPU, batch=256)
    forecast = Forecast(msgspec.structs.replace(HEADER, cases=(GPU, other)))
    forecast.learn([ended(GPU, 0, 0.5 * (first_seconds((GPU,), ABOUT) + guess(GPU)))])
    assert forecast.seconds((GPU,)) == pytest.approx(0.5 * guess(GPU))
    assert forecast.seconds((other,)) == pytest.approx(0.5 * (first_seconds((other,), ABOUT) + guess(other)))
    forecast.learn([ended(GPU, 1, 3 * guess(GPU))])
    assert forecast.seconds((GPU,)) == 3 * guess(GPU)
    assert forecast.seconds((other,)) == pytest.approx(0.5 * (first_seconds((other,), ABOUT) + guess(other))), (
        "a later process says nothing of how long kernels are chosen"
    )


def test_what_was_seen_corrects_the_guesses_of_its_backend_alone():
    other, third = (msgspec.structs.replace(CPU, batch=batch) for batch in (256, 512))
    forecast = Forecast(msgspec.structs.replace(HEADER, cases=(CPU, other, third, GPU)))
    before = forecast.seconds((GPU,))
    forecast.learn([ended(CPU, 0, 4 * guess(CPU))])
    assert forecast.seconds((other,)) == pytest.approx(4 * guess(other))
    assert forecast.seconds((GPU,)) == before
    forecast.learn([ended(other, 0, guess(other))])
    assert forecast.seconds((third,)) == pytest.approx(2 * guess(third)), "as factors: 4 and 1 are 2 on average"
    assert forecast.shortest((third,)) < forecast.seconds((third,))


def test_no_guess_is_corrected_beyond_reason():
    other = msgspec.structs.replace(CPU, batch=256)
    for factor, most in ((1000, 20.0), (0.001, 0.1)):
        forecast = Forecast(msgspec.structs.replace(HEADER, cases=(CPU, other)))
        forecast.learn([ended(CPU, 0, factor * guess(CPU))])
        assert forecast.seconds((other,)) == pytest.approx(most * guess(other))


def test_what_failed_or_was_not_timed_teaches_nothing():
    forecast = Forecast(HEADER)
    forecast.learn([ended(CPU, 0, 99.0, reason="out of memory"), ended(CPU, 0, 0.0)])
    assert forecast.seconds((CPU,)) == guess(CPU)


def test_a_process_that_took_its_shortest_sample_corrects_guesses_and_says_nothing_of_a_whole_one():
    forecast, about = Forecast(HEADER), Forecast(HEADER)
    forecast.learn([ended(CPU, 0, 3 * about.shortest((CPU,)), samples=1)])
    assert forecast.shortest((CPU,)) == pytest.approx(3 * about.shortest((CPU,)))
    assert forecast.seconds((CPU,)) == pytest.approx(3 * guess(CPU))


def test_a_resumed_campaign_knows_what_its_processes_took_not_what_their_stages_add_up_to():
    whole, resumed = Forecast(HEADER), [ended(GPU, 0, 90.0), ended(CPU, 0, 33.0), ended(GPU, 1, 21.0)]
    whole.learn(resumed)
    again = Forecast(HEADER, resumed[::-1])
    for unit in ((CPU,), (GPU,)):
        assert again.seconds(unit) == whole.seconds(unit)
    assert (again.seconds((CPU,)), again.seconds((GPU,))) == (33.0, 21.0)


@pytest.mark.parametrize("variant", ["compile", "compile-graph"])
def test_every_process_of_torch_compile_compiles_for_half_a_minute(variant):
    eager, graph = (msgspec.structs.replace(GPU, implementation="torch", variant=name) for name in ("plain", "graph"))
    assert guess(graph) == guess(eager)
    assert guess(msgspec.structs.replace(eager, variant=variant)) > guess(eager) + 20


@pytest.mark.parametrize("scope", ["cold", "run", "calls"])
def test_a_scope_in_which_compiling_counts_chooses_kernels_in_each_process(scope):
    cpu, gpu = ((Case(workload="mnist_mlp", backend=side, scope=scope, batch=128),) for side in ("cpu", "gpu"))
    assert first_seconds(gpu, ABOUT) == 0.0 < first_seconds((GPU,), ABOUT)
    plain = Case(workload="mnist_mlp", backend="gpu", scope=scope, batch=128, implementation="torch")
    assert guess(gpu[0]) == pytest.approx(guess(plain) + first_seconds((GPU,), ABOUT))
    assert first_seconds(cpu, ABOUT) == 0.0
    warm = (msgspec.structs.replace(gpu[0], cache="warm"),)
    assert first_seconds(warm, ABOUT) == first_seconds((GPU,), ABOUT), (
        "the process that fills the cache chooses for all"
    )


@pytest.mark.parametrize("name", ["20261127-030931-h100-80gb-16-cores", "20261125-200624-intel-xeon-2-cores"])
def test_a_search_is_guessed_within_a_factor_of_two_of_what_it_took(name):
    mine = (path for path in store.paths([PUBLISHED]) if path.parent.name.removesuffix(".zip") == name)
    searches = [store.read(path) for path in mine if ".run" in path.name]
    assert searches
    for record in searches:
        told = process_seconds((record.case,), record.description, EFFORTS[record.profile], record.machine.cores)
        assert 0.5 < record.runs[0].samples[0].wall_seconds / told < 2


def test_a_process_that_measures_two_cases_teaches_once():
    cases = tuple(Case(workload="mnist_mlp", backend="gpu", scope=scope, batch=128) for scope in ("step", "transfer"))
    (unit,) = campaign.process_groups(cases)
    forecast = Forecast(msgspec.structs.replace(HEADER, cases=cases))
    whole = forecast.seconds(unit)
    forecast.learn([ended(case, 0, 2 * whole) for case in unit])
    assert forecast.seconds(unit) == pytest.approx(2 * (whole - first_seconds(unit, ABOUT)))


def test_a_process_of_another_batch_than_the_headline_says_so():
    other = msgspec.structs.replace(GPU, batch=1024, workers=2)
    about = factory.description()
    assert GPU.label(about) == "gpu jax"
    assert other.label(about) == "gpu jax batch 1,024 2 workers"
    assert other.label() == "gpu jax 2 workers"


def test_data_are_told_where_they_are_not_the_workloads_usual_ones():
    random = msgspec.structs.replace(GPU, data="random")
    assert random.label(factory.description()) == "gpu jax random data"
    assert random.label(factory.description(data="random")) == "gpu jax"
    assert random.non_default_axes() == ("random data",)
