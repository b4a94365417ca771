"""A case says in words what sets it apart, whichever of its axes that is."""

from suite.case import _WORDS, Case, axes

STEP = {"workload": "mnist_mlp", "backend": "cpu", "scope": "step", "batch": 128}


def test_every_axis_but_the_implementation_has_words():
    assert set(_WORDS) == set(axes()) - {"implementation"}


def test_a_label_has_words_for_what_is_not_usual_alone():
    assert Case(**STEP).non_default_axes() == ()
    case = Case(**STEP, variant="several-steps", threads=1, workers=2, augmentation="none", stored="memory")
    assert case.non_default_axes() == ("several-steps", "1 thread", "2 workers", "no augmentation", "records in memory")


def test_data_have_words_where_their_workload_usually_has_others():
    assert Case(**STEP, data="random").non_default_axes("random") == ()
    assert Case(**STEP).non_default_axes("random") == ("stand-in",)
