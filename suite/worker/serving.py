"""Requests of one picture each: the latency and throughput of several in flight, then the latency of a single one."""

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import msgspec

from suite.data.batches import Batch
from suite.results.records.run import Served
from suite.scopes import FEWEST_REQUESTS
from suite.worker import doubling
from suite.worker.recorder import Process
from suite.worker.steady import started
from suite.worker_api import clock
from suite.worker_api.program import IN_FLIGHT, Program

_FEWEST_SAMPLES, _MOST_SAMPLES = 3, 5  # more would fill records with latencies
_SAME_ANSWER = 1e-6  # relative; answers to two random pictures differ by about ten times as much


@runtime_checkable
class Server(Protocol):
    """A program that answers independent single requests."""

    def ask(self, index: int) -> Any:
        """Dispatch a request with its picture copied from the host; return the pending answer."""

    def answer(self, pending: Any) -> float:
        """Return the answer once it is on the host."""
        ...


@dataclass(kw_only=True)
class Traffic:
    """A closed loop: when the oldest request in flight has its answer, the next one is sent."""

    server: Server
    pictures: int
    clocks: clock.Clock
    under_way: deque[tuple[int, float, Any]] = field(default_factory=deque)  # picture, time sent, pending answer
    sent: int = 0
    latency_seconds: list[float] = field(default_factory=list)
    answers: list[tuple[int, float]] = field(default_factory=list)  # picture, answer

    def serve(self, requests: int) -> None:
        """Receive that many answers; the number of requests in flight stays the same."""
        while len(self.under_way) < IN_FLIGHT:
            self._send()
        for _ in range(requests):
            self._receive()
            self._send()

    def begin(self) -> None:
        """Forget what was received, and fill the loop with requests that had others ahead of them."""
        self.serve(IN_FLIGHT)
        self.latency_seconds, self.answers = [], []

    def end(self) -> None:
        """Receive what is in flight and send nothing more."""
        while self.under_way:
            self._receive()

    def block(self, requests: int) -> None:
        """Send so many requests, each once the one before has its answer; their latencies are not kept."""
        for _ in range(requests):
            picture = self.sent % self.pictures
            self.answers.append((picture, self.server.answer(self.server.ask(picture))))
            self.sent += 1

    def _send(self) -> None:
        picture = self.sent % self.pictures
        self.under_way.append((picture, self.clocks.wall(), self.server.ask(picture)))
        self.sent += 1

    def _receive(self) -> None:
        picture, at, pending = self.under_way.popleft()
        answer = self.server.answer(pending)
        self.latency_seconds.append(self.clocks.wall() - at)
        self.answers.append((picture, answer))


def measured_serving(process: Process, target: Program, inputs: list[Batch]) -> float:
    """Measure requests in steady traffic; return the first step's loss.

    Raises LookupError if the implementation does not answer single requests.
    """
    if not isinstance(target, Server):
        raise LookupError(f"scope 'serve' asked for, {type(target).__name__} does not support it")
    started(process, target, inputs)
    first_loss = target.loss()
    server, clocks = target, process.clocks
    alone = process.result("alone", lambda: [server.answer(server.ask(picture)) for picture in range(len(inputs))])
    traffic = Traffic(server=server, pictures=len(inputs), clocks=clocks)
    plan = replace(process.task.plan, samples=min(process.task.plan.samples, _MOST_SAMPLES))
    least = 2 * IN_FLIGHT
    count, warm = process.result("warmup", lambda: clock.calibrate(traffic.serve, plan, clocks, least))
    count, ratio = process.result("doubling", lambda: doubling.proportional(traffic.serve, count, clocks, call=least))
    count = max(count, -(-FEWEST_REQUESTS // min(plan.samples, _FEWEST_SAMPLES)))
    traffic.end()
    seen = process.streamed("serve", traffic.serve, count, plan, target.compilations, traffic.begin)
    served = noted(traffic, alone)
    traffic.end()
    traffic.answers = []
    waits = process.result("blocking", lambda: clock.blocking_samples(traffic.block, 1, plan, clocks))
    wrong = served.wrong_answers + noted(traffic, alone).wrong_answers
    process.runs["serve"] = msgspec.structs.replace(
        seen,
        doubling_ratio=ratio,
        warmup=warm,
        blocking_samples=waits,
        served=msgspec.structs.replace(served, wrong_answers=wrong),
    )
    return first_loss


def noted(traffic: Traffic, alone: list[float]) -> Served:
    """Return the record of the traffic; `alone` has each picture's answer when it was asked alone."""
    wrong = sum(not abs(answer - alone[at]) <= _SAME_ANSWER * abs(alone[at]) for at, answer in traffic.answers)
    return Served(
        in_flight=IN_FLIGHT,
        latency_seconds=tuple(round(seconds, 9) for seconds in traffic.latency_seconds),
        pictures=traffic.pictures,
        answers=len({answer for _, answer in traffic.answers}),
        wrong_answers=wrong,
    )
