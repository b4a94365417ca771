"""The first sentences of a page say first what may be quoted, and of the rest that it is provisional."""

import html
import re

import factory
import msgspec
import pytest

from suite.report import home, lead
from suite.results.speedup import current, speedups

STEADY, SHAKEN = (1.0, 1.01, 0.99), (1.0, 1.5, 0.7)
EACH = "one step of training or inference on the GPU against all CPU cores of the same machine"


def sides(name, times, noise=STEADY, certified=True, **changes):
    """Return a model's steps on both sides, `times` as fast on the GPU, beside a peer if it is `certified`."""
    made = [("cpu", 0.1, {}), ("gpu", 0.1 / times, {})] + [("cpu", 0.1, {"implementation": "torch"})] * certified
    return [factory.record(name, side, [seconds * share for share in (noise if side == "cpu" else [1] * len(noise))],
                           **axes, **changes) for side, seconds, axes in made]  # fmt: skip


def said(*models):
    answer = lead.answer(current(speedups(record for records in models for record in records)), True)
    return html.unescape(re.sub(r"</?strong>", "", answer))


def test_of_several_that_may_all_be_quoted_the_reach_comes_first():
    assert said(sides("a", 10), sides("b", 20), sides("c", 15)) == (
        f"It depends on the model: from 10.0x (9.7 to 10.3) for a to 20.0x (19.5 to 20.6) for b, {EACH} "
        "(test-gpu, 16 cores). All 3 are steady and may be quoted."
    )


def test_those_that_may_be_quoted_are_counted_and_named_before_the_whole_range():
    assert said(sides("a", 10), sides("b", 20), sides("c", 40, certified=False), sides("d", 30, SHAKEN),
                sides("e", 5, SHAKEN, certified=False)) == (
        "It depends on the model. On test-gpu, 16 cores, 2 of 5 speed-ups are steady and may be quoted: "
        "from 10.0x (9.7 to 10.3) for a to 20.0x (19.5 to 20.6) for b. Provisional is the whole range, "
        "from 5x (1 to 14) for e to 40.0x (39.0 to 41.1) for c: 2 are not steady and 1 is not certified. "
        f"Each is {EACH}."
    )  # fmt: skip


def test_speed_ups_of_several_campaigns_say_so():
    def answer(*tail):
        later = {"campaign": "20260102-000000-b", "created": "2026-01-02T00:00:00Z"}
        first, second = sides("a", 10), sides("b", 20)
        return said(first, [msgspec.structs.replace(record, **later) for record in second], *tail)

    assert answer().endswith(" may be quoted. They are of 2 campaigns, 2026-01-01 to 2026-01-02.")
    assert answer(sides("z", 40, SHAKEN)).endswith(f"{EACH}. They are of 2 campaigns, 2026-01-01 to 2026-01-02.")


@pytest.mark.parametrize(
    ("models", "words"),
    [
        (("a",), "1 of 2 speed-ups is steady and may be quoted: 10.0x (9.7 to 10.3) for a. Provisional"),
        (("a", "b", "c"), "3 of 4 speed-ups are steady and may be quoted: from 10.0x (9.7 to 10.3) for a to "
                          "30.0x (29.2 to 30.8) for c. Provisional"),
        ((), "none of 2 speed-ups is steady and may be quoted yet. Provisional"),
    ],
)  # fmt: skip
def test_the_ends_of_those_that_may_be_quoted_are_named(models, words):
    doubtful = [sides("z", 40, SHAKEN), sides("y", 35, SHAKEN)][: 1 if models else 2]
    assert words in said(*(sides(name, 10 * (i + 1)) for i, name in enumerate(models)), *doubtful)


@pytest.mark.parametrize(
    ("changes", "ends"),
    [
        ({}, "on the GPU."),
        ({"certified": False}, "on the GPU. Provisional: quick, not certified."),
        ({"profile": "smoke"}, "on the GPU. Profile smoke: it only shows that it runs."),
    ],
)
def test_one_alone_says_whether_it_is_provisional(changes, ends):
    answer = said(sides("a", 10, **changes))
    assert answer.startswith("On test-gpu, 16 cores, one step of a is 10.0x (9.7 to 10.3) faster ")
    assert answer.endswith(ends)


def test_one_alone_that_is_not_steady_says_so():
    assert said(sides("a", 10, SHAKEN)) == (
        "On test-gpu, 16 cores, one step of a is 10x (3 to 27) faster on the GPU. Provisional: unstable."
    )


def test_a_smoke_run_only_shows_that_it_runs():
    answer = said(sides("a", 10), sides("b", 20, profile="smoke"))
    assert answer.endswith(" (test-gpu, 16 cores). Profile smoke: it only shows that it runs.")
    assert "quoted" not in answer


def test_what_has_one_process_has_no_interval_and_may_not_be_quoted():
    assert " to 20.0x for b: 1 is without an interval." in said(sides("a", 10), sides("b", 20, noise=(1.0,)))


def test_a_page_whose_table_has_wider_scopes_alone_says_so():
    cold = [*sides("a", 10, scope="cold"), *sides("b", 10, scope="cold"), *sides("a", 2, scope="epoch")]
    page = home.page(cold, frozenset())["index.md"]
    assert (
        "none in full float32 and with its headline batch has been timed on both here yet. The table has 3 other "
        "speed-ups: 2 of a cold start (lowering, compiling and the first step), 1 of one step with its batch brought "
        "from storage.</p>"
    ) in page
    assert "aside" not in page, "a row is hidden until a script runs"
    assert lead.answer((), True).endswith(" on both here yet.")
    assert "other speed-up" not in home.page([*cold, *sides("a", 10)], frozenset())["index.md"]
