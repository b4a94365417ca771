"""What goes on after a sample is watched until it ends, two seconds at most, in looks of 20 ms on a scripted clock."""

import sys
from types import SimpleNamespace

import pytest

from suite.worker import checks
from suite.worker_api import clock

wait = checks.drain  # which the tests replace
FIELDS = ("seconds", "awaited_seconds")


class Busy:
    """A process that works for a while after its time was taken, whose waits may be longer than asked for."""

    def __init__(self, until, now=0.0, waits=None):
        self.now, self.used, self.until, self.waits, self.asked = now, 0.0, until, waits, []
        self.clock = clock.Clock(wall=lambda: self.now, process=lambda: self.used)

    def sleep(self, seconds):
        self.asked.append(seconds)
        seconds = self.waits or seconds
        self.used += max(0.0, min(self.until, self.now + seconds) - self.now)
        self.now += seconds


@pytest.fixture(autouse=True)
def nothing_awaited(monkeypatch):
    """Let every array be there at once."""
    monkeypatch.setattr(checks, "drain", lambda: None)


@pytest.mark.parametrize(("until", "seen"), [(0.0, 0.0), (0.5, 0.5), (60.0, 2.0)])
def test_work_that_goes_on_is_watched_until_it_ends(until, seen):
    busy = Busy(100.0 + until, now=100.0)
    assert checks.watch_until_idle(busy.clock, busy.sleep).seconds == pytest.approx(seen, abs=0.021)
    assert set(busy.asked) == {0.02}


def test_no_look_begins_after_two_seconds():
    busy = Busy(60.0, waits=0.5)
    assert checks.watch_until_idle(busy.clock, busy.sleep).seconds == checks.LONGEST_SECONDS == 2.0
    assert len(busy.asked) == 4


@pytest.mark.parametrize(("used", "looks"), [(0.0049, 1), (0.005, 2), (0.0051, 2)])
def test_a_process_is_quiet_that_uses_less_than_a_quarter_of_a_core(used, looks):
    busy = Busy(used)
    checks.watch_until_idle(busy.clock, busy.sleep)
    assert len(busy.asked) == looks


def test_what_is_waited_for_is_told_apart_and_counts_as_work(monkeypatch):
    busy = Busy(0.0, now=100.0)

    def drain():
        busy.now += 0.3

    monkeypatch.setattr(checks, "drain", drain)
    found = checks.watch_until_idle(busy.clock, busy.sleep)
    assert (found.seconds, found.awaited_seconds) == pytest.approx((0.3, 0.3))


@pytest.mark.parametrize(
    ("each", "seen", "samples"),
    [((0.02,), 0.02, 0), ((0.08, 0.02), 0.02, 1), ((0.3, 0.3, 0.3), 0.3, 2), ((0.08, 0.3, 0.2), 0.08, 2)],
)
def test_what_may_have_been_spinning_threads_is_looked_at_again(each, seen, samples):
    busy, taken = Busy(each[0]), []

    def sample():
        taken.append(busy.now)
        busy.until = busy.now + each[len(taken)]

    assert checks.least(sample, busy.clock, busy.sleep).seconds == pytest.approx(seen, abs=0.03)
    assert len(taken) == samples


@pytest.mark.parametrize(
    ("looks", "least", "samples"),
    [
        ([(0.06, 0.01)], (0.06, 0.01), 0),
        ([(0.02, 0.011), (0.03, 0.0)], (0.02, 0.0), 1),
        ([(0.02, 0.05), (0.3, 0.0), (0.2, 0.04)], (0.02, 0.0), 2),  # the least work and the least wait are of two looks
        ([(0.3, 0.3), (0.2, 0.2), (0.4, 0.4)], (0.2, 0.2), 2),  # what a program leaves behind is there each time
    ],
)
def test_arrays_that_are_not_there_at_once_are_looked_at_again(monkeypatch, looks, least, samples):
    seen, taken = iter(looks), []
    monkeypatch.setattr(
        checks,
        "watch_until_idle",
        lambda *_: checks.PendingWork(**dict(zip(FIELDS, next(seen), strict=True))),
    )
    found = checks.least(lambda: taken.append("a sample"), clock.Clock())
    assert (found.seconds, found.awaited_seconds) == least
    assert len(taken) == samples


def test_without_further_samples_one_look_has_to_do():
    busy = Busy(0.3)
    assert checks.least(None, busy.clock, busy.sleep).seconds == pytest.approx(0.3, abs=0.03)


def test_a_process_that_has_not_used_a_gpu_is_not_made_to_look_for_one(monkeypatch):
    asked = []
    cuda = SimpleNamespace(is_initialized=lambda: False, synchronize=lambda: asked.append("synchronize"))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    wait()
    assert asked == []
    cuda.is_initialized = lambda: True
    wait()
    assert asked == ["synchronize"]


def test_every_array_of_jax_is_waited_for_though_one_is_given_away_meanwhile(monkeypatch):
    waited = []

    def block_until_ready(arrays):
        waited.append(arrays)
        raise RuntimeError("Array has been deleted")

    monkeypatch.setitem(
        sys.modules, "jax", SimpleNamespace(block_until_ready=block_until_ready, live_arrays=lambda: ["an array"])
    )
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    wait()
    assert waited == [["an array"]]
