"""A closed loop of requests on a scripted device: four always under way, each with its own latency and answer."""

import dataclasses

import msgspec
import pytest

from suite.case import Case
from suite.driver import profiles
from suite.worker.recorder import Process
from suite.worker.serving import IN_FLIGHT, Traffic, measured_serving, noted
from suite.worker_api import program
from suite.worker_api.clock import Clock
from suite.worker_api.protocol import Task

NAME = "serve_mobilenet_v2"


class Device:
    """Answers one request after another, each in its time, by a clock that only work moves."""

    steps_per_call = 1

    def __init__(self, seconds=0.010, first_step=0.1, mixed_up=False, stuck=False):
        self.seconds, self.first_step, self.mixed_up, self.stuck = seconds, first_step, mixed_up, stuck
        self.now, self.free, self.most, self.asked, self.under_way = 0.0, 0.0, 0, [], []

    def initialise(self, seed): ...
    def put(self, batches): ...
    def lower(self): ...
    def compile(self): ...
    def block(self): ...

    def chain(self, steps):
        self.now += self.first_step

    def loss(self):
        return 1.0

    def compilations(self):
        return 0

    def ask(self, index):
        self.free = max(self.now, self.free) + self.seconds
        self.asked.append(index)
        self.under_way.append(index)
        self.most = max(self.most, len(self.under_way))
        return self.free, index

    def answer(self, pending):
        ready, index = pending
        self.now = max(self.now, ready)
        self.under_way.remove(index)
        if self.stuck:
            return 0.5
        return 1.0 + (self.asked[-1] if self.mixed_up else index) * 1e-4


def task(profile="smoke", longest=None):
    case = Case(workload=NAME, backend="cpu", scope="serve", batch=1, data="random")
    return Task(
        cases=(case,),
        dataset="imagenet2012",
        seed=0,
        plan=profiles.plan(profile, "cpu"),
        flow=profiles.flow(profile),
        longest_step_seconds=longest,
    )


def measured(device, profile="smoke", **changes):
    """Return what was seen of a device, with the samples that were said."""
    said = []
    clocks = Clock(wall=lambda: device.now, process=lambda: device.now)
    process = Process(task=task(profile, **changes), say=said.append, clocks=clocks)
    measured_serving(process, device, [{}] * program.PICTURES)
    samples = tuple(line.sample for line in said if line.sample is not None)
    return msgspec.structs.replace(process.runs["serve"], samples=samples)


def test_with_four_under_way_a_request_takes_four_times_as_long_as_answers_are_apart():
    seen = measured(Device(0.010))
    assert seen.served.latency_seconds == pytest.approx([0.040] * len(seen.served.latency_seconds))
    rate = len(seen.samples) * seen.steps_per_sample / sum(sample.wall_seconds for sample in seen.samples)
    assert rate == pytest.approx(100)


@pytest.mark.parametrize("profile", ["smoke", "quick"])
@pytest.mark.parametrize("seconds", [0.0002, 0.030, 5.0])
def test_of_each_process_at_least_two_hundred_latencies_are_kept_and_not_many_more_than_needed(profile, seconds):
    seen = measured(Device(seconds), profile)
    assert len(seen.served.latency_seconds) == seen.steps_per_sample * len(seen.samples) >= 200
    assert len(seen.samples) <= 5
    assert len(seen.served.latency_seconds) < 5000


def test_four_requests_are_under_way_each_with_another_picture():
    device = Device()
    seen = measured(device)
    assert device.most == seen.served.in_flight == IN_FLIGHT == 4
    assert device.under_way == []
    warm = program.PICTURES  # each picture's answer, alone, is known before
    assert device.asked[warm:] == [index % program.PICTURES for index in range(len(device.asked) - warm)]
    assert seen.served.pictures == seen.served.answers == program.PICTURES >= 4 * IN_FLIGHT


def test_every_answer_is_that_of_its_own_picture():
    assert measured(Device()).served.wrong_answers == 0
    seen = measured(Device(mixed_up=True)).served
    assert seen.wrong_answers == len(seen.latency_seconds)


def test_what_came_before_the_samples_is_not_among_the_latencies():
    device = Device()
    traffic = Traffic(server=device, pictures=8, clocks=Clock(wall=lambda: device.now, process=lambda: device.now))
    traffic.serve(10)
    traffic.end()
    device.now += 100.0
    traffic.begin()
    assert (traffic.latency_seconds, len(traffic.under_way)) == ([], IN_FLIGHT)
    traffic.serve(5)
    assert traffic.latency_seconds == pytest.approx([0.040] * 5)


@pytest.mark.parametrize(("seconds", "requests"), [(0.010, 30), (0.2, 5), (5.0, 3)])
def test_a_picture_that_is_waited_for_takes_as_long_as_its_answer_and_nothing_is_sent_meanwhile(seconds, requests):
    device = Device(seconds)
    seen = measured(device, "quick")
    assert [sample.wall_seconds for sample in seen.blocking_samples] == pytest.approx([seconds] * requests)
    assert device.under_way == []
    pictures = [index % program.PICTURES for index in range(requests)]
    last = device.asked[-requests:]
    assert [(index - last[0]) % program.PICTURES for index in last] == pictures


def test_a_wrong_answer_to_a_picture_that_is_waited_for_counts_as_others_do():
    device, answer = Device(), Device.answer
    device.answer = lambda pending: answer(device, pending) + (len(device.under_way) < 1 and len(device.asked) > 300)
    assert measured(device).served.wrong_answers == 30  # those under way before are no wrong ones


def test_a_program_that_answers_no_requests_says_so():
    class Trained:
        now = 0.0

    with pytest.raises(LookupError, match="scope 'serve' asked for, Trained does not support it"):
        measured(Trained())


def traffic_of(device, pictures=8):
    return Traffic(server=device, pictures=pictures, clocks=Clock(wall=lambda: device.now, process=lambda: device.now))


def test_what_is_under_way_at_the_end_is_received_and_nothing_more_is_sent():
    device = Device()
    traffic = traffic_of(device)
    traffic.serve(3)
    assert (traffic.sent, len(traffic.under_way)) == (7, IN_FLIGHT)
    traffic.end()
    assert (traffic.sent, len(traffic.answers), device.under_way) == (7, 7, [])
    assert [picture for picture, _ in traffic.answers] == list(range(7))


def test_what_is_noted_is_of_each_request_and_wrong_is_what_is_another_than_alone():
    traffic = traffic_of(Device(), pictures=3)
    traffic.latency_seconds = [0.1234567894, 0.2]
    traffic.answers = [
        (0, -1.0),
        (1, 2.0 + 1.9e-6),
        (1, 2.0 + 2.1e-6),
        (2, float("nan")),
        (0, -1.0 - 0.9e-6),
        (0, -1.0),
    ]
    found = noted(traffic, [-1.0, 2.0, 0.5])
    assert (found.in_flight, found.pictures, found.wrong_answers, found.answers) == (4, 3, 2, 5)
    assert found.latency_seconds == (0.123456789, 0.2)


def test_the_steps_of_serving_are_warmed_up_doubled_and_no_more_than_five_samples():
    said, device = [], Device(0.010)
    clocks = Clock(wall=lambda: device.now, process=lambda: device.now)
    process = Process(task=task("quick"), say=said.append, clocks=clocks)
    assert measured_serving(process, device, [{}] * 8) == 1.0
    stages = [line.stage for line in said if line.stage_time is not None]
    assert stages[4:] == ["alone", "warmup", "doubling", "collect", "serve_samples", "blocking"]
    found = process.runs["serve"]
    assert found.doubling_ratio == pytest.approx(2.0)
    assert found.warmup
    assert found.steps_per_sample >= 67
    assert sum(line.sample is not None for line in said) == 5


def test_fewer_samples_than_three_have_the_requests_of_all():
    device = Device(5.0)
    clocks = Clock(wall=lambda: device.now, process=lambda: device.now)
    short = task("quick")
    short = msgspec.structs.replace(short, plan=dataclasses.replace(short.plan, samples=2))
    process = Process(task=short, say=lambda line: None, clocks=clocks)
    measured_serving(process, device, [{}] * 8)
    assert process.runs["serve"].steps_per_sample == 100
