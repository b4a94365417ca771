"""What a record comes to: its number by process, and its status to the bound."""

import math

import factory
import msgspec
import pytest

from suite.results.records.run import Sample
from suite.results.single.summary import against, fastest, longest, seconds_by_round, step_seconds, summary, time_ratio
from suite.results.stats.state import MAX_HALF_WIDTH

EVEN = (0.010,) * 3


def samples(*seconds):
    return tuple(Sample(wall_seconds=value, process_seconds=value) for value in seconds)


def changed(run, **changes):
    return msgspec.structs.replace(run, **changes)


def runs(count=3, seconds=0.010, **changes):
    return tuple(factory.run(number, seconds, **changes) for number in range(count))


def of(made, **changes):
    return summary(msgspec.structs.replace(factory.record(step_seconds=(1.0,) * len(made), runs=made), **changes))


def test_a_process_has_one_number_all_time_of_its_samples_over_all_their_steps():
    run = factory.run(0, 1.0, steps=4)
    assert step_seconds(changed(run, samples=samples(4.0, 8.0, 96.0))) == 9.0
    assert step_seconds(changed(run, samples=samples(4.0), steps_per_sample=1)) == 4.0
    assert step_seconds(changed(run, samples=samples(4.0), steps_per_sample=0)) is None
    assert step_seconds(changed(run, samples=())) is None
    assert step_seconds(changed(run, reason="killed")) is None


def test_a_record_of_method_0_keeps_its_number_the_median_and_later_ones_have_the_mean():
    made = tuple(changed(run, samples=samples(0.04, 0.04, 0.05), steps_per_sample=4) for run in runs())
    assert of(made, method=0).seconds.value == pytest.approx(0.01)
    assert of(made, method=1).seconds.value == pytest.approx(0.13 / 12)
    assert of(made, method=2).seconds.value == pytest.approx(0.13 / 12)


def test_a_record_is_summed_up_once_and_one_made_from_it_anew():
    record = factory.record(step_seconds=EVEN)
    assert summary(record) is summary(record)
    other = msgspec.structs.replace(record, runs=record.runs[:1])
    assert summary(other).record is other
    assert summary(other).lacking
    assert set(seconds_by_round(record)) == {0, 1, 2}
    assert set(seconds_by_round(other)) == {0}


@pytest.mark.parametrize(("scope", "batch", "known"), [("step", 1, True), ("serve", 128, True), ("epoch", 128, False)])
def test_a_throughput_has_the_interval_of_its_step_where_each_call_takes_a_batch(scope, batch, known):
    made = summary(factory.record(scope=scope, batch=batch, step_seconds=(0.009, 0.010, 0.011)))
    assert made.seconds is not None
    assert made.examples_per_second_estimate == (made.seconds.per(batch) if known else None)


@pytest.mark.parametrize("scope", ["step", "transfer", "epoch", "input", "serve"])
def test_a_throughput_is_known_wherever_batches_follow_each_other(scope):
    about = factory.description()
    made = summary(factory.record(scope=scope, batch=64, step_seconds=EVEN, about=about))
    assert made.seconds is not None
    rate = 64 / made.seconds.value
    assert made.examples_per_second == pytest.approx(rate)
    computed = None if scope == "input" else pytest.approx(rate * about.flop_per_example)  # a pipeline computes nothing
    assert made.flop_per_second == computed


def test_the_longest_sample_is_compared_with_the_median_one_and_none_with_none():
    run = factory.run(0, 1.0)
    assert longest(changed(run, samples=samples(1.0, 2.0, 8.0))) == 4.0
    assert longest(changed(run, samples=samples(0.0, 0.0, 0.0))) == 0.0
    assert longest(changed(run, samples=())) == 0.0


def test_without_a_time_or_a_batch_there_is_no_throughput():
    assert summary(factory.record(runs=runs(reason="killed"))).examples_per_second_estimate is None
    assert summary(factory.record(batch=0, step_seconds=EVEN)).examples_per_second_estimate is None


def test_rounds_without_a_positive_number_are_left_out():
    made = (
        factory.run(0, 1.0),
        factory.run(1, 0.0),
        changed(factory.run(2, 1.0), reason="killed"),
        factory.run(4, 3.0),
    )
    assert seconds_by_round(factory.record(runs=made)).keys() == {0, 4}


def test_throughput_and_flop_follow_from_batch_and_time():
    found = of(runs(seconds=0.016, samples=1))
    assert found.examples_per_second == pytest.approx(128 / 0.016)
    assert found.flop_per_second == pytest.approx(30_000 * 128 / 0.016)
    cold = summary(factory.record(scope="cold"))
    assert (cold.examples_per_second, cold.flop_per_second) == (None, None)
    none = of(runs(reason="killed"))
    assert (none.seconds, none.examples_per_second) == (None, None)


@pytest.mark.parametrize(
    ("changes", "state", "reason"),
    [
        ({"compilations": 2}, "invalid", "round 1: compilations: 2 compilations inside the samples"),
        ({"first_loss": math.nan}, "invalid", "round 1: loss: the loss is not finite"),
        ({"first_loss": None, "compilations": None}, "open", None),
        ({"reason": "killed by SIGKILL"}, "open", "killed by SIGKILL"),
        ({"doubling_ratio": 2.11}, "open", "twice the steps took 2.11 times as long"),
        ({"doubling_ratio": 1.89}, "open", "twice the steps took 1.89 times as long"),
        ({"doubling_ratio": 2.09}, "open", None),
        ({"doubling_ratio": 1.91}, "open", None),
        ({"doubling_ratio": None}, "open", None),
        ({"other_load_cores": 1.7}, "open", "other processes used 1.7 cores; rerun when idle"),
        ({"other_load_cores": 1.6}, "open", None),  # a tenth of 16 cores
        ({"other_load_cores": None}, "open", None),
    ],
)
def test_a_trouble_of_each_process_is_a_reason(changes, state, reason):
    found = of(runs(**changes))
    assert (found.state, found.steady) == (state, reason is None)
    assert (found.reasons[0] if found.reasons else None) == reason


def test_a_program_without_a_digest_is_said_where_one_is_compiled():
    words = "its program has no digest, so it pools with no other campaign"
    assert of(runs(program="")).reasons == (words,)
    assert not of(runs(program=""), method=0).reasons
    assert words not in summary(factory.record(scope="input", data="embedded", runs=runs(program=""))).reasons


def test_one_process_of_three_with_little_trouble_is_outvoted():
    one, two, three = runs()
    assert of((changed(one, doubling_ratio=1.5), two, three)).steady
    assert of((changed(one, doubling_ratio=1.0), two, three)).state == "invalid"
    assert of((changed(one, other_load_cores=99.0), two, three)).steady
    assert of((changed(one, compilations=1), two, three)).state == "invalid"
    assert of((changed(one, doubling_ratio=None, samples=samples(*[0.04] * 3)), two, three)).steady


def test_other_load_cores_counts_on_the_cpu_alone():
    assert of(runs(other_load_cores=9.0), backend="gpu").steady


def test_a_cold_start_is_not_asked_for_proportion_or_trend():
    cold = factory.record(scope="cold", runs=runs(doubling_ratio=9.0))
    assert summary(cold).steady


def test_missing_rounds_are_counted_and_reasons_said_once():
    found = of(runs(2), rounds=5)
    assert (found.lacking, found.reasons) == (True, ("3 of 5 rounds are missing",))
    found = of(runs(3, reason="killed"))
    assert found.reasons == ("killed",)
    assert found.seconds is None
    found = of(runs(3), reason="out of memory")
    assert (found.lacking, found.reasons) == (True, ("out of memory",))
    assert of(runs(4), rounds=3).steady


def spread(*shares, profile="quick"):
    made = tuple(factory.run(n, 0.01 * (1 + share), samples=3) for n, share in enumerate(shares))
    return of(made, profile=profile)


@pytest.mark.parametrize("profile", ["quick", "standard"])
def test_an_interval_may_be_as_wide_as_that_of_a_number_to_quote_whatever_the_profile(profile):
    for share, wide in ((0.99, False), (1.02, True)):
        step = math.log1p(share * MAX_HALF_WIDTH) * math.sqrt(3) / 4.302653  # of the logarithms of three processes
        found = spread(math.expm1(step), 0.0, math.expm1(-step), profile=profile)
        assert found.seconds.relative_half_width == pytest.approx(share * MAX_HALF_WIDTH, rel=1e-5)
        assert any("half-width" in reason for reason in found.reasons) is wide
    assert found.reasons[0] == "half-width 15.3 %; more than 15 % is wide, rerun when idle or with more --rounds"


@pytest.mark.parametrize(
    ("shares", "word"),
    [((0, 0, 0.6, 0, 0, 0), "half-width"), ((0.06, 0.06, -0.06, -0.06, 0, 0.06, -0.06) * 4, "processes")],
)
def test_width_and_spread_are_two_troubles(shares, word):
    found = spread(*shares)
    assert [words.split()[0] for words in found.reasons] == [word]


def test_the_spread_is_the_median_distance_from_the_median():
    assert spread(*(0.049, -0.049, 0) * 12, 0.049, -0.049).steady
    found = spread(*(0.052, -0.052) * 12, 0.0)
    assert found.reasons == ("processes differ by 5.2 %; rerun when idle",)


def test_just_as_much_as_is_allowed_is_no_trouble():
    tall = tuple(factory.run(number, seconds, samples=3, steps=1) for number, seconds in enumerate((19.0, 20.0, 21.0)))
    assert of(tall).reasons == ()  # a median distance of 5 % alone is none
    long = tuple(changed(run, samples=samples(1.0, 1.0, 3.0)) for run in runs())
    assert of(long).steady


def test_a_smoke_run_only_shows_that_it_runs_and_says_its_troubles():
    found = of(runs(doubling_ratio=3.0), profile="smoke")
    assert (found.state, found.complete, found.usable, found.steady) == ("open", True, False, False)
    assert found.reasons == ("it only shows that it runs", "twice the steps took 3.00 times as long")
    assert of(runs(1), profile="smoke").reasons == ("it only shows that it runs",)


def drifting(rise, *orders):
    """A record whose processes have samples that rise in these orders; the last two fifths by so much."""
    made = [
        changed(run, samples=samples(*(0.04 * (1 + rise * place / 3.5) for place in order)))
        for run, order in zip(runs(len(orders)), orders, strict=True)
    ]
    return of(tuple(made))


STEADILY, NEARLY, ANYHOW = (0.5, 1, 2, 4, 4.5), (0.5, 2, 1, 4, 4.5), (2, 4, 0.5, 4.5, 1)


@pytest.mark.parametrize(("rise", "steady"), [(0.009, True), (0.011, False), (-0.011, False)])
def test_a_trend_counts_from_one_hundredth_either_way(rise, steady):
    assert drifting(rise, STEADILY, STEADILY, STEADILY).steady is steady


def test_a_trend_is_named_with_its_size():
    (reason,) = drifting(-0.07, STEADILY).reasons
    assert reason == "samples changed by -7.1 % from the first to the last of a process; rerun when idle"


def test_a_trend_that_may_be_noise_does_not_count():
    assert not drifting(0.07, STEADILY).steady
    assert drifting(0.07, NEARLY).steady  # of one process every sample has to say so
    assert not drifting(0.07, NEARLY, NEARLY, NEARLY).steady
    assert drifting(0.07, STEADILY, ANYHOW, ANYHOW).steady
    assert drifting(0.07, STEADILY, tuple(reversed(STEADILY)), STEADILY).steady


def test_three_samples_have_no_trend():
    assert of(tuple(changed(run, samples=samples(0.04, 0.041, 0.042)) for run in runs())).steady


def test_a_whole_result_is_better_than_a_faster_one_that_lacks_a_round():
    whole, fast, broken = of(runs(seconds=0.02)), of(runs(seconds=0.01)), of(runs(2, seconds=0.001), rounds=3)
    invalid = of(runs(seconds=0.001, compilations=1))
    assert fastest([whole, broken, fast, invalid]) is fast
    assert fastest([broken, whole]) is whole
    assert fastest([of(runs(reason="killed"))]) is None
    assert fastest([]) is None
    assert fastest([whole, of(runs(seconds=0.02))]).seconds == whole.seconds


@pytest.mark.parametrize("axes", [{"batch": 7}, {"threads": 1}, {"variant": "nnx-jit"}, {"precision": "tf32"}])
def test_what_only_an_experiment_asks_for_stands_on_its_own_page(axes):
    record = factory.record(**axes)
    assert record.general
    assert not msgspec.structs.replace(record, experiment="threads").general


def test_a_sentence_on_results_says_what_speaks_against_all_of_them_else_against_how_many():
    calm, shaky, worse = of(runs()), of(runs(doubling_ratio=3.0)), of(runs(doubling_ratio=3.0, other_load_cores=9.0))
    smoke = of(runs(1), profile="smoke")
    assert against([]) == against([calm, calm]) == ""
    assert against(iter([shaky])) == " Caution: twice the steps took 3.00 times as long."
    assert against([worse, shaky]) == against([shaky])
    assert against([calm, shaky, worse]) == " Caution: the table has reasons against 2 of 3 times."
    assert against([smoke, smoke]) == " Caution: it only shows that it runs."


def test_times_have_a_ratio_within_one_campaign_and_if_both_make_sense():
    slow, fast = (factory.record(backend=side, step_seconds=[t] * 3) for side, t in (("cpu", 2.0), ("gpu", 1.0)))
    moved = msgspec.structs.replace(fast, campaign="20270101-000000-x")
    wrong = msgspec.structs.replace(fast, runs=tuple(msgspec.structs.replace(run, compilations=1) for run in fast.runs))
    assert time_ratio(summary(slow), summary(fast)).value == pytest.approx(2.0)
    assert summary(wrong).state == "invalid"
    assert [time_ratio(summary(slow), summary(other)) for other in (moved, wrong)] == [None, None]
    assert time_ratio(summary(wrong), summary(slow)) is None
