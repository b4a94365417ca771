"""A number in a sentence has its interval, or is said to be of one run, which has none."""

from suite.analysis.input_pipeline import change
from suite.analysis.steps import percent_words, share_words, words
from suite.results.stats.statistics import Estimate, geometric_mean


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
