"""Numbers become text: one way for each, with its interval, or as of one run, which has none."""

import math
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from suite import units
from suite.analysis.input_pipeline import change
from suite.analysis.steps import percent_words, share_words, words
from suite.results.stats.statistics import Estimate, geometric_mean


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (5.2345, 0.4, "5.2x"),
        (5.2345, 0.39, "5.23x"),
        (52.345, 4, "52x"),
        (52.345, 3.9, "52.3x"),
        (159.42, 20, "159x"),
        (159.42, 40, "160x"),
        (0.5123, 0.03, "0.512x"),
        (0.5123, 0.04, "0.51x"),
        (23.4, 130, "20x"),
        (2.34, 130, "2x"),
    ],
)
def test_a_value_ends_where_its_half_width_does_which_has_two_digits_if_it_begins_with_1_2_or_3(value, half, text):
    low, high = (None, None) if half is None else (value - half, value + half)
    assert units.ratio(value, low, high) == text


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (1234.5, None, "1,230x"),
        (1234.5, 1.5, "1,230x"),
        (52.345, 0.39, "52.3x"),
        (0.5123, 0.002, "0.512x"),
        (0.5123, 1e-7, "0.512x"),
        (0.5123, 0.0, "0.512x"),
        (9.996, 0.02, "10.0x"),
    ],
)
def test_a_value_has_at_most_three_digits_however_narrow_its_interval(value, half, text):
    assert units.ratio(value, *(None, None) if half is None else (value - half, value + half)) == text


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (88.4, 75.1, 104.2, "88x (75 to 105)"),
        (39.1, 28.7, 53.2, "39x (28 to 54)"),
        (44.8, 33.3, 60.3, "45x (33 to 61)"),
        (1.6958, 1.6882, 1.7034, "1.70x (1.68 to 1.71)"),
        (12456, 12345.6, 12567.8, "12,500x (12,300 to 12,600)"),
        (150.34, 150.29, 150.39, "150x (150 to 151)"),
        (1.4, 1.30, 1.5, "1.40x (1.30 to 1.50)"),
        (1.6, 0.1 + 0.7, 1.1 + 2.2, "1.6x (0.8 to 3.3)"),
    ],
)
def test_a_value_and_its_ends_stop_at_the_same_digit_and_the_ends_are_rounded_outward(value, low, high, text):
    assert f"{units.ratio(value, low, high)} ({units.interval(low, high)})" == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.0996, 25.17, "0 to 26"),
        (-9.1, 38.2, "-10 to 39"),
        (0.9, 12, "0.9 to 12.0"),
        (-12.2, -0.3, "-12.2 to -0.3"),
        (-0.3, 12.2, "-0.3 to 12.2"),
        (59.66, 168.4, "59 to 169"),
        (0.66, 1.9, "0.6 to 1.9"),
        (0.0, 12.2, "0 to 13"),
        (0.06, 7.996, "0.06 to 8.00"),
    ],
)
def test_the_ends_have_one_digit_more_only_where_it_keeps_one_within_a_tenth_of_itself(low, high, text):
    assert units.interval(low, high) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (117.23e-6, 117.26e-6, "117 µs to 118 µs"),
        (117.2e-6, 117.2e-6, "117 µs to 117 µs"),
        (117.2e-6, 117.2e-6 * (1 + 1e-15), "117 µs to 117 µs"),
        (117.2e-6, 117.2e-6 * (1 + 1e-7), "117 µs to 118 µs"),
        (999.3e-6, 1001.3e-6, "999 µs to 1.01 ms"),
        (99.6e-6, 0.025, "90 µs to 25 ms"),
        (117.4, 119.98, "117 s to 2 min 00 s"),
        (125.11, 126.12, "2 min 05 s to 2 min 07 s"),
        (1234.1, 1235.2, "20 min 30 s to 20 min 40 s"),
        (3599, 3599.5, "59 min 50 s to 1 h 00 min"),
        (3590, 3700, "59 min 50 s to 1 h 02 min"),
        (400, 30_000, "6 min to 9 h"),
    ],
)
def test_ends_of_durations_that_differ_are_printed_apart_and_those_that_are_alike_alike(low, high, text):
    assert units.seconds_interval(low, high) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (9.5, 9.996, "9.50 to 10.0"),
        (-9.996, -9.5, "-10.0 to -9.50"),
        (99.4, 100.4, "99 to 101"),
        (999.20, 999.22, "999 to 1,000"),
        (8.5, 9.96, "8.5 to 10.0"),
    ],
)
def test_no_end_gets_a_fourth_digit_by_reaching_the_next_power_of_ten(low, high, text):
    assert units.interval(low, high) == text


def test_an_interval_that_is_not_known_is_a_dash():
    assert units.interval(1.0, None) == units.interval(1.0, math.inf) == units.DASH
    assert units.seconds_interval(None, 1.0) == units.quantity_interval(1.0, math.inf, "B") == units.DASH


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0000123, "12.3 µs"), (0.0123, "12.3 ms"), (1.5, "1.50 s"), (125, "2 min 05 s"), (7300, "2 h 02 min"),
     (999.4, "16 min 39 s"), (1234, "20 min 30 s"),
     (3599.9, "1 h 00 min"), (119.99, "2 min 00 s"), (0.99996, "1.00 s"), (0.0009996, "1.00 ms")],
)  # fmt: skip
def test_durations_take_the_unit_that_suits_them_as_they_are_printed(value, text):
    assert units.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (496, 4, "8 min 16 s"), (496, 40, "8 min 20 s"), (496, 300, "8 min"), (3590, 300, "1 h 00 min"),
        (496.4, 1.5, "8 min 16 s"), (125.32, 0.15, "2 min 05 s"), (1234, 1.5, "20 min 30 s"), (7300, 100, "2 h 02 min"),
        (7300, 300, "2 h 02 min"), (9000, 4000, "2 h 30 min"), (9000, 20_000, "2 h"), (130, 20_000, "100 s"),
    ],
)  # fmt: skip
def test_a_long_duration_goes_down_to_the_unit_that_the_half_width_allows(value, half, text):
    assert units.seconds(value, half) == text


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (999_999, None, "1.00 MB"),
        (999.4, None, "999 B"),
        (999.6, None, "1.00 kB"),
        (960, 70, "960 B"),
        (999.6, 40, "1.00 kB"),
        (999.4, 0.4, "999 B"),
        (99.96, 0.4, "100 B"),
    ],
)
def test_a_prefix_goes_by_the_number_as_it_is_printed(value, half, text):
    assert units.quantity(value, "B", half) == text


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_what_is_missing_is_a_dash(value):
    assert units.seconds(value) == units.ratio(value) == units.number(value) == units.DASH


@given(st.floats(min_value=1e-9, max_value=1e12))
def test_a_number_read_back_agrees_to_three_digits(value):
    assert float(units.number(value).replace(",", "")) == pytest.approx(value, rel=5.1e-3)


# What is printed, read back

SIZES = {"": 1, "ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600,
         "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}  # fmt: skip
PRINTED = {
    "plain": (units.interval, units.number),
    "duration": (units.seconds_interval, units.seconds),
    "prefixed": (lambda low, high: units.quantity_interval(low, high, ""),
                 lambda value, width: units.quantity(value, "", width)),
}  # fmt: skip
CENTRES = st.floats(min_value=1e-8, max_value=1e12)


def value_of(text):
    parts = re.findall(r"(-?[\d.,]+) ?([a-zµA-Z]*)", text)
    return math.fsum(float(digits.replace(",", "")) * SIZES[unit] for digits, unit in parts)


def ends_of(text):
    return tuple(map(value_of, text.split(" to ")))


def contains(printed, computed):
    (low, high), slack = printed, 1e-11 * max(map(abs, computed))
    return low <= computed[0] + slack and high >= computed[1] - slack


@pytest.mark.parametrize("kind", PRINTED)
@given(centre=CENTRES, factor=st.floats(min_value=0, max_value=7).map(math.exp) | st.floats(1, 1.1))
def test_no_interval_is_printed_narrower_than_computed_nor_its_value_outside(kind, centre, factor):
    low, high = centre / factor, centre * factor
    assume(high - low > 1e-9 * high)
    text, value = PRINTED[kind]
    printed = ends_of(text(low, high))
    assert contains(printed, (low, high))
    assert contains(printed, (value_of(value(centre, (high - low) / 2)),) * 2)
    assert printed[0] < printed[1]


def little_wider(printed, computed, least=0.0):
    """Return whether an interval is at most 1.4 times as wide, or each end off by a unit of the third digit at most."""
    (low, high), most = computed, max(map(abs, computed))
    unit = max(least, 10.0 ** (math.floor(math.log10(most)) - 2)) + 1e-11 * most
    return printed[1] - printed[0] <= 1.4 * (high - low) or max(low - printed[0], printed[1] - high) <= unit


@pytest.mark.parametrize("kind", PRINTED)
@given(centre=CENTRES, factor=st.floats(min_value=0, max_value=7).map(math.exp))
def test_no_interval_is_printed_much_wider_than_computed(kind, centre, factor):
    low, high = centre / factor, centre * factor
    minute = 60 if kind == "duration" and high >= 3599 else 0
    assert little_wider(ends_of(PRINTED[kind][0](low, high)), (low, high), minute)


@pytest.mark.parametrize("kind", PRINTED)
@given(centre=st.floats(min_value=1e-8, max_value=50), factor=st.floats(min_value=0, max_value=0.5).map(math.exp))
def test_no_number_is_printed_with_more_than_three_digits(kind, centre, factor):
    low, high = centre / factor, centre * factor
    text, value = PRINTED[kind]
    for number in re.findall(r"[\d.]+", f"{text(low, high)} {value(centre, (high - low) / 2)}"):
        assert len(number.replace(".", "").lstrip("0")) <= 3


@given(st.floats(-1e6, 1e6), st.floats(min_value=1e-3, max_value=1e6))
def test_an_interval_of_any_sign_is_printed_no_narrower_and_little_wider(low, width):
    high = low + width
    printed = ends_of(units.interval(low, high))
    assert contains(printed, (low, high))
    assert little_wider(printed, (low, high))


@given(st.integers(-999, 920), st.integers(20, 79))
def test_an_end_that_needs_no_rounding_stays_as_it_is(low, width):
    low, high = low / 100, (low + width) / 100
    for noise in (0, 1e-15, -1e-15):
        assert units.interval(low * (1 + noise), high * (1 - noise)) == f"{low:.2f} to {high:.2f}"


@given(CENTRES | st.floats(1000, 3600), st.sampled_from([0, 1e-16, 1e-14]))
def test_ends_that_are_alike_are_printed_as_their_value(value, noise):
    ends = value * (1 - noise), value * (1 + noise)
    assert units.interval(*ends).split(" to ") == [units.number(value)] * 2
    assert units.seconds_interval(*ends).split(" to ") == [units.seconds(value)] * 2


@pytest.mark.parametrize(("ratio", "shown"), [(4.0, "4x"), (159.42, "159.42x"), (1.5, "1.5x"), (None, units.DASH)])
def test_a_documented_ratio_has_the_digits_that_it_was_written_with(ratio, shown):
    assert units.documented(ratio) == shown


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (3.0, "img/s", "3 img/s"),
        (28.382499, "s", "28.382499 s"),
        (100.0, "percent", "100 %"),
        (15000, "img/s", "15,000 img/s"),
    ],
)
def test_a_documented_number_has_its_unit_and_no_digit_more_than_was_written(value, unit, shown):
    assert units.documented(value, unit) == shown


def test_a_moment_has_a_day_and_a_minute():
    assert units.day("2026-01-02T03:04:05Z") == "2026-01-02"
    assert units.minute("2026-01-02T03:04:05Z") == "2026-01-02 03:04"


def test_a_ratio_of_one_process_says_that_it_is_of_one_run():
    assert words(geometric_mean([1.3])) == "1.30x (one run)"
    assert words(Estimate(value=1.3, low=1.2, high=1.4, processes=3)) == "1.30x (1.20 to 1.40)"
    assert words(Estimate(value=1.3, processes=3)) == "1.30x (no interval)"


def test_a_change_and_a_share_left_out_of_one_process_say_so_too():
    assert change(geometric_mean([1.5])) == "50 % (one run)"
    assert share_words(geometric_mean([2.0])) == "50 % (one run)"
    assert change(Estimate(value=1.5, low=1.4, high=1.6, processes=3)) == "50 % (40 to 60)"


def test_a_share_of_one_process_says_that_it_is_of_one_run():
    assert percent_words(geometric_mean([0.013])) == "1.3 % (one run)"
    assert percent_words(Estimate(value=0.013, low=0.012, high=0.014, processes=3)) == "1.30 % (1.20 to 1.40)"


def test_a_change_has_the_digits_that_its_interval_allows():
    assert change(Estimate(value=0.9929, low=0.8134, high=1.2128, processes=3)) == "-0.7 % (-19 to 22)"
    assert change(Estimate(value=1.0123, low=1.0101, high=1.0145, processes=3)) == "1.23 % (1.01 to 1.45)"
