"""Records for tests: plausible machines, scripted times, nothing measured."""

import msgspec

from suite import __version__
from suite.case import Case
from suite.results.pooled import pools
from suite.results.pooled.machine_evidence import Evidence, evidence
from suite.results.records.machine import Gpu, Machine, Software
from suite.results.records.record import SCHEMA, Record
from suite.results.records.run import Energy, Run, Sample, Stage
from suite.results.records.store import sealed
from suite.scopes import SCOPES
from suite.worker_api.protocol import WorkerReport
from suite.workload import Claim, Description, Source

H100 = Gpu(name="NVIDIA H100 80GB HBM3", memory_bytes=80 * 2**30, compute_capability="9.0", driver="580.1", cuda="13.0")
HOST = Machine(name="test-gpu, 16 cores", cpu_model="Test CPU", cores=16, memory_bytes=2**37, gpus=(H100,))
KNOWN = msgspec.structs.replace(HOST, cpu_vendor="A maker", cpu_family=6, cpu_number=207)  # hosts of it pool
PLAIN = Machine(name="test-cpu, 4 cores", cpu_model="Test CPU", cores=4, memory_bytes=2**34)


def description(name="mnist_mlp", batch=128, **changes):
    made = Description(
        name=name,
        title=f"Title of {name}",
        family="dense",
        source=Source(author="An author", title="A title", year=2019, address="https://example.org/a", place="§1"),
        claims=(
            Claim(
                metric="whole_run",
                definition="a whole run",
                unit="s",
                cpu_device="an old laptop",
                cpu_value=112.0,
                gpu_device="Tesla P100",
                gpu_value=8.43,
                speedup=13.29,
            ),
        ),
        differs=("It is one step.",),
        inferred=True,
        dataset="mnist",
        preprocessing="pixels / 255",
        optimizer="SGD",
        loss="cross-entropy",
        batch=batch,
        parameters=1000,
        trainable_parameters=900,
        forward_flop_per_example=10_000,
        flop_per_example=30_000,
    )
    return msgspec.structs.replace(made, **changes)


def run(number, step_seconds, steps=4, samples=5, **changes):
    times = tuple(
        Sample(wall_seconds=steps * step_seconds * (1 + 0.002 * i), process_seconds=steps * step_seconds)
        for i in range(samples)
    )
    stages = tuple(
        Stage(name=name, wall_seconds=0.5, process_seconds=0.5)
        for name in ("import", "init", "lower", "compile", "first_step")
    )
    made = Run(
        round=number,
        position=0,
        seed=number,
        started="2026-01-01T00:00:00Z",
        stages=stages,
        steps_per_sample=steps,
        doubling_ratio=2.0,
        warmup=times[:1],
        samples=times,
        compilations=0,
        first_loss=2.3,
        last_loss=2.2,
        other_load_cores=0.0,
        host="0123456789abcdef",
        program="fedcba9876543210",
    )
    return msgspec.structs.replace(made, **changes)


def record(
    workload="mnist_mlp",
    backend="cpu",
    step_seconds=(0.010, 0.0101, 0.0099),
    machine=HOST,
    campaign="20260101-000000-test",
    created="2026-01-01T00:00:00Z",
    profile="quick",
    scope="step",
    about=None,
    runs=None,
    **axes,
):
    about = about or description(workload)
    case = Case(workload=workload, backend=backend, scope=scope, batch=axes.pop("batch", about.batch), **axes)
    made = tuple(run(number, seconds) for number, seconds in enumerate(step_seconds)) if runs is None else runs
    return sealed(
        Record(
            schema=SCHEMA,
            method=SCOPES[scope].method,
            campaign=campaign,
            created=created,
            profile=profile,
            workload=workload,
            backend=backend,
            case=case,
            machine=machine,
            software=Software(suite="0", python="3.12.1", packages={"jax": "0.12.0"}, settings={}),
            commit="abc",
            description=about,
            runs=made,
            rounds=len(step_seconds),
        )
    )


def campaign(workloads=("mnist_mlp", "cifar10_mlp"), machine=HOST, cpu=0.010, gpu=0.0002, **changes):
    """A campaign with CPU, GPU and PyTorch's CPU side for each workload."""
    made = []
    for index, name in enumerate(workloads):
        noise = (1.0, 1.01, 0.99)
        mine = [cpu * (index + 1) * n for n in noise]
        fast = [gpu * n for n in noise]
        made += [
            record(name, "cpu", mine, machine, **changes),
            record(name, "gpu", fast, machine, **changes),
            record(name, "cpu", [0.9 * t for t in mine], machine, implementation="torch", **changes),
            record(name, "gpu", [1.2 * t for t in fast], machine, implementation="torch", variant="graph", **changes),
            record(name, "cpu", [2.0] * 3, machine, scope="cold", **changes),
        ]
    return tuple(made)


def on_hosts(records, shares=(1.0, 1.01, 0.99)):
    """The records once a host, each in a campaign of its own and with that share of their times."""
    made = []
    for number, share in enumerate(shares, 1):
        when = {"campaign": f"202601{number:02}-000000-host", "created": f"2026-01-{number:02}T00:00:00Z"}
        for each in records:
            machine = msgspec.structs.replace(each.machine, cpu_vendor="GenuineIntel", cpu_family=6, cpu_number=143)
            runs = tuple(_on_host(run, share, f"{number:016x}") for run in each.runs)
            made.append(sealed(msgspec.structs.replace(each, machine=machine, runs=runs, digest="", **when)))
    return made


def _on_host(run, share, host):
    samples = tuple(msgspec.structs.replace(s, wall_seconds=share * s.wall_seconds) for s in run.samples)
    return msgspec.structs.replace(run, samples=samples, host=host)


def hosts(count=3, cpu=0.0100, gpu=0.0010, baseline=0.0101, spread=0.001, day=1, program="fedcba9876543210", **changes):
    """A campaign of JAX and PyTorch on each of several hosts; hosts and processes differ by a permille."""
    made = []
    for number in range(count):
        lot = 1 + spread * (number - (count - 1) / 2)
        when = {
            "campaign": f"2026010{day}-0{number}0000-test",
            "created": f"2026-01-0{day}T0{number}:00:00Z",
            "machine": KNOWN,
            **changes,
        }
        for backend, implementation, seconds in (("cpu", "jax", cpu), ("cpu", "torch", baseline), ("gpu", "jax", gpu)):
            runs = tuple(
                run(place, seconds * lot * noise, host=f"{16 * day + number:016x}", program=program)
                for place, noise in enumerate((1.0, 1 + spread, 1 - spread))
            )
            steps = [seconds] * len(runs)
            made.append(record(backend=backend, implementation=implementation, step_seconds=steps, runs=runs, **when))
    return tuple(made)


def current(records):
    """The current pool of each machine and case."""
    return pools.current(pools.pools(records))


def with_energy(**changes):
    """A GPU's record of two runs, the second of which had its energy counted."""
    window = Energy(seconds=10.0, step_seconds=0.002, gpu_joules=3000.0, gpu_idle_watts=70.0)
    counted = run(0, 0.002, energy=msgspec.structs.replace(window, **changes))
    about = description(examples_per_epoch=60_000)
    return record(backend="gpu", runs=(run(1, 0.002), counted), about=about)


def told(**measured):
    """What a worker says of a scope."""
    blank = Run(round=0, position=0, seed=0, started="", steps_per_sample=1)
    program = {
        "input_digest": "d",
        "program": "fedcba9876543210",
        "first_loss": 2.0,
        "last_loss": 1.0,
        "peak_memory_bytes": 1,
    }
    return msgspec.structs.replace(blank, **(program | measured))


# What a worker tells that measured a cold start and steps.
FACTS = WorkerReport(
    software=Software(suite=__version__, python="3.12.1", packages={"jax": "0"}, settings={}),
    runs={
        "cold": told(samples=(Sample(wall_seconds=3.0, process_seconds=3.0),)),
        "step": told(steps_per_sample=2, doubling_ratio=2.0, compilations=0, other_load_cores=0.0),
    },
)


def pages(records, local=frozenset(), **more):
    """The generated files of the site by their paths; `more` are other facts, such as prices."""
    from suite.report.parts.facts import Facts
    from suite.report.site import pages

    return pages.files(Facts(records=records, local=local, **more))


def of_one_machine(records):
    """Return the evidence of one machine's records, without those of other machines."""
    return next(iter(evidence(records).values()), Evidence())
