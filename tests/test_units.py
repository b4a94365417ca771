"""Numbers become text with the digits that their interval allows."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite import units


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (52.345, 0.4, "52.3x"),
        (52.345, 4, "52x"),
        (159.42, 20, "160x"),
        (1234.5, None, "1,230x"),
        (0.5123, 0.002, "0.512x"),
        (23.4, 130, "20x"),
    ],
)
def test_no_digit_stands_below_the_half_width(value, half, text):
    low, high = (None, None) if half is None else (value - half, value + half)
    assert units.times(value, low, high) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(0.0996, 25.17, "0 to 25"), (-9.1, 38.2, "-9 to 38"), (1.234, 1.256, "1.23 to 1.26"), (0.9, 12, "0.9 to 12.0")],
)
def test_an_end_near_zero_has_one_digit_more_than_the_half_width_allows(low, high, text):
    assert units.interval(low, high) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0000123, "12.3 µs"), (0.0123, "12.3 ms"), (1.5, "1.50 s"), (125, "2 min 05 s"), (7300, "2 h 02 min"),
     (3599.9, "1 h 00 min"), (119.99, "2 min 00 s"), (0.99996, "1.00 s"), (0.0009996, "1.00 ms")],
)  # fmt: skip
def test_durations_take_the_unit_that_suits_them_as_they_are_printed(value, text):
    assert units.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (496, 4, "8 min 16 s"), (496, 40, "8 min 20 s"), (496, 90, "8 min"), (3590, 90, "1 h 00 min"),
        (7300, 100, "2 h 02 min"), (9000, 4000, "2 h"),
    ],
)  # fmt: skip
def test_a_long_duration_has_no_digit_below_the_half_width_either(value, half, text):
    assert units.seconds(value, half) == text


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [(999_999, None, "1.00 MB"), (999.4, None, "999 B"), (999.6, None, "1.00 kB"), (960, 70, "960 B")],
)
def test_a_prefix_goes_by_the_number_as_it_is_printed(value, half, text):
    assert units.quantity(value, "B", half) == text


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_what_is_missing_is_a_dash(value):
    assert units.seconds(value) == units.times(value) == units.number(value) == units.DASH


@given(st.floats(min_value=1e-9, max_value=1e12))
def test_a_number_read_back_agrees_to_three_digits(value):
    assert float(units.number(value).replace(",", "")) == pytest.approx(value, rel=5.1e-3)


@pytest.mark.parametrize(("ratio", "shown"), [(4.0, "4x"), (159.42, "159.42x"), (1.5, "1.5x"), (None, units.DASH)])
def test_a_documented_ratio_has_the_digits_that_it_was_written_with(ratio, shown):
    assert units.stated(ratio) == shown


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
    assert units.stated(value, unit) == shown
