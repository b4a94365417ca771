"""A case says in words what sets it apart, whichever of its axes that is."""

from suite.case import _WORDS, Case, axes

STEP = {"workload": "mnist_mlp", "backend": "cpu", "scope": "step", "batch": 128}


def test_every_axis_but_the_implementation_has_words():
    assert set(_WORDS) == set(axes()) - {"implementation"}


def test_a_label_has_words_for_what_is_not_usual_alone():
    assert Case(**STEP).non_default_axes() == ()
    case = Case(**STEP, variant="scan", threads=1, workers=2, augmentation="none", stored="memory")
    assert case.non_default_axes() == ("scan", "1 thread", "2 workers", "no augmentation", "records in memory")


def test_data_have_words_where_their_workload_usually_has_others():
    assert Case(**STEP, data="random").non_default_axes("random") == ()
    assert Case(**STEP).non_default_axes("random") == ("stand-in",)


def test_a_step_taken_in_anothers_way_is_else_as_it_was():
    mine = Case(**STEP, threads=2, precision="tf32")
    theirs = Case(**STEP, implementation="torch", variant="compile", layout="contiguous", threads=4)
    taken = mine.taken_as(theirs)
    assert (taken.implementation, taken.variant, taken.layout) == ("torch", "compile", "contiguous")
    assert (taken.threads, taken.precision) == (2, "tf32")
    assert taken.taken_as(mine) == mine
