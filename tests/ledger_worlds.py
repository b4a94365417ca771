"""Records of machines on which what the articles say holds, does not hold, or holds in part."""

from pathlib import Path

import factory
import msgspec
from factory import of_one_machine
from test_grid_experiment import search
from test_input_experiments import ABOUT, DROPOUT, NOAUG, cell, stored
from test_learning_page import HALF, RAW, trained
from test_run_experiments import calls, watched
from test_scaling import MLP, NODE, node, seconds

from suite import models
from suite.claims import observations
from suite.results.records.run import Moment, Sample, Telemetry

ROOT = Path(__file__).parents[1]
NOISE = (1.0, 1.001, 0.999)
SHARES = (1.0, 1.001, 0.999)  # of hosts that are alike
FAR_APART = (0.1, 1.0, 10.0)  # of hosts of which nothing can be said in common
ALL = {each.code: each for each in observations()}
CNN = models.load("cifar10_tf_cnn").description
RESNET63, RESNET87 = (models.load(f"cifar10_resnet{depth}").description for depth in (63, 87))
TREES, UNIT = (msgspec.structs.replace(MLP, name=name) for name in ("gbdt_mortgage", "dp_linear_mirrored"))
SERVED = [
    models.load(f"serve_{name}").description
    for name in ("mobilenet_v2", "nasnet_mobile", "resnet50", "resnet152", "nasnet_large")
]
BY_FLOP = ("catdog_cnn_base", "catdog_cnn_conv64", "catdog_cnn_128", "catdog_cnn_deep", "cifar10_tf_cnn")


def known(records, shares=SHARES):
    """What is known of the machine if each host had such a share of the times; None: as the records are."""
    return of_one_machine(records if shares is None else factory.on_hosts(records, shares))


def judge(code, records, shares=SHARES):
    return ALL[code].judge(known(records, shares))


def sides(name, ratio, scope="step", about=None, gpu=0.001, **changes):
    """A CPU and a GPU record whose speed-up is that."""
    about = about or factory.description(name)
    return [
        factory.record(name, backend, [seconds * noise for noise in NOISE], scope=scope, about=about, **changes)
        for backend, seconds in (("cpu", gpu * ratio), ("gpu", gpu))
    ]


def alone(records):
    """The same from the first process alone, so that no ratio has an interval."""
    return [msgspec.structs.replace(record, runs=record.runs[:1], rounds=1) for record in records]


def thrice(records):
    """The same from three processes that are equal."""
    return [
        msgspec.structs.replace(
            record, rounds=3, runs=tuple(msgspec.structs.replace(record.runs[0], round=number) for number in range(3))
        )
        for record in records
    ]


def shared(record):
    """The same, measured on a machine that other virtual machines had half of, so that it is not steady."""
    seen = [run.telemetry or Telemetry(seconds=5.0, readings=50) for run in record.runs]
    runs = tuple(
        msgspec.structs.replace(run, telemetry=msgspec.structs.replace(each, steal=0.5))
        for run, each in zip(record.runs, seen, strict=True)
    )
    return msgspec.structs.replace(record, runs=runs)


def single(name, ratio, **changes):
    return alone(sides(name, ratio, **changes))


def of_resnet(record):
    case = msgspec.structs.replace(record.case, workload="cifar10_resnet63")
    return msgspec.structs.replace(record, workload="cifar10_resnet63", case=case)


def first_calls(cpu=(20.0, 9.0, 8.0, 8.05), gpu=(15.0, 0.3, 0.2, 0.2005)):
    return [of_resnet(calls("cpu", *cpu)), of_resnet(calls("gpu", *gpu))]


def clocks(cpu, gpu):
    """First calls that keep so many cores busy."""

    def sample(one, cores):
        return Sample(wall_seconds=one.wall_seconds, process_seconds=cores * one.wall_seconds)

    made = []
    for record, cores in zip(first_calls(), (cpu, gpu), strict=True):
        runs = [
            msgspec.structs.replace(run, samples=tuple(sample(one, cores) for one in run.samples))
            for run in record.runs
        ]
        made.append(msgspec.structs.replace(record, runs=tuple(runs)))
    return made


def depths(
    base=100.0, conv=100.0, dropout=100.0, wide=80.0, deep=78.0, busy=(0.1, 0.5, 0.9), cpu=50.0, wide_cpu=8.0,
    deep_cpu=3.0,
):  # fmt: skip
    rates = {"base": base, "conv64": conv, "dropout": dropout, "128": wide, "deep": deep}
    slow = {"128": wide_cpu, "deep": deep_cpu}
    shares = dict(zip(("base", "128", "deep"), busy, strict=True))
    found = []
    for name, rate in rates.items():
        about = ABOUT[f"catdog_cnn_{name}"]
        for backend, value in (("gpu", rate), ("cpu", slow.get(name, cpu))):
            found.append(stored(about, value, backend, busy=shares.get(name), experiment="depth"))
            found.append(stored(about, 10 * value, backend, scope="step", experiment="depth"))
    return found


def threads(gain, name="cifar10_mlp"):
    return [
        factory.record(name, "cpu", [seconds * n for n in NOISE], threads=count)
        for count, seconds in ((1, 0.01 * gain), (None, 0.01))
    ]


def runs(short, long):
    return [watched(1, "plain", short), watched(10, "plain", long)]


def utilised(cpu, gpu):
    """A run on either side: how busy the cores are while it trains, and the most that the GPU is."""
    made = []
    for record in (watched(1, "plain", 0.2, backend) for backend in ("cpu", "gpu")):
        (run,) = record.runs
        seen = run.telemetry
        course = [Moment(seconds=m.seconds, cpu_utilisation=cpu, gpu_utilisation=0.1) for m in seen.course]
        level = msgspec.structs.replace(seen.gpus[0].utilisation, max=gpu)
        seen = msgspec.structs.replace(
            seen, course=tuple(course), gpus=(msgspec.structs.replace(seen.gpus[0], utilisation=level),)
        )
        made.append(msgspec.structs.replace(record, runs=(msgspec.structs.replace(run, telemetry=seen),)))
    return thrice(made)


def varied(ratio, batch_ratio, *axes):
    """A network, one that differs in each of these axes alone, and a batch of its own, with these speed-ups."""
    apart = {
        "data": {"dataset": "another"},
        "optimizer": {"optimizer": "another"},
        "architecture": {"parameters": 2000, "flop_per_example": 60_000},
    }
    found = [*sides("mnist_mlp", 10), *sides("mnist_mlp", batch_ratio, batch=256)]
    for axis in axes:
        about = factory.description(f"mnist_{axis}", **apart[axis])
        found += sides(about.name, ratio, about=about)
    return found


AXES = ("data", "optimizer", "architecture")


def epochs(*pairs):
    """Steps and epochs on the GPU: of each network the epoch over what its step predicts."""
    return [
        factory.record(about.name, "gpu", [over * 0.01 * noise for noise in NOISE], scope=scope, about=about)
        for about, ratio in pairs
        for scope, over in (("step", 1.0), ("epoch", ratio))
    ]


def grid(default, tuned, busy=0.05, alone=None, backend="gpu"):
    return [
        cell(1, 32, default, backend=backend, busy=busy, alone=alone),
        cell(4, 64, tuned, backend=backend, busy=busy, alone=alone),
    ]


def augmented(with_it, without, backend="cpu"):
    return [cell(1, 32, with_it, DROPOUT, backend=backend), cell(1, 32, without, NOAUG, backend=backend)]


def served(*ratios):
    """Networks that serve, the smallest first."""
    about = SERVED if len(ratios) == len(SERVED) else [SERVED[0], SERVED[2], SERVED[4]]
    pairs = zip(about, ratios, strict=True)
    return [record for each, ratio in pairs for record in sides(each.name, ratio, about=each, gpu=0.1)]


def scaled(summing, about=MLP, experiment="scaling"):
    return node(4, about, lambda n, batch: seconds(n, batch, summing), experiment=experiment)


def trees(one, four):
    """A CPU and a GPU whose speed-up is that, and four GPUs that are so many times as fast as one."""
    machine = msgspec.structs.replace(NODE, name="4x test", gpus=(factory.H100,) * 4)
    return [
        *sides("gbdt_mortgage", one, about=TREES, gpu=0.01 * TREES.batch, machine=machine),
        *node(4, TREES, lambda n, batch: 0.01 * batch / (four if n == 4 else 1)),
    ]


def searches(cpu):
    return [search("plain", cpu, (0.1, 0.2, 0.3)), search("plain", 10.0, (0.1, 0.2, 0.3), backend="gpu")]


def taught(*accuracies, seeds=(-0.002, 0.0, 0.002)):
    """The four networks of the ladder, and the third without augmentation, each of so many seeds."""
    names = ("base", "conv64", "dropout", "128", "noaug")
    return [
        trained(f"catdog_cnn_{name}", [share + seed for seed in seeds])
        for name, share in zip(names, accuracies, strict=True)
    ]


def answers(tilted, exactly_one, data="tfds"):
    pair = (
        msgspec.structs.replace(HALF, exactly_one=exactly_one),
        msgspec.structs.replace(RAW, above_half=tilted),
    )
    steps = None if data == "tfds" else 300
    return [trained("catdog_cnn_dropout", (0.9,), data=data, steps=steps, predictions=pair)]


def at_512(busy, scope="epoch"):
    return [stored(CNN, 15_000.0, "gpu", scope, busy=busy, batch=512, experiment="")]


def by_flop(power):
    """Networks whose speed-up goes with that power of the FLOP of a step."""
    about = [models.load(name).description for name in BY_FLOP]
    sizes = [(each, (each.flop_per_example * each.batch / 1e9) ** power) for each in about]
    return [record for each, ratio in sizes for record in sides(each.name, 10 * ratio, about=each)]


# Of each observation a machine that reproduces it, one that refutes it and, where it has parts, one in between. Where
# being unsteady does not leave it open, a machine that does.
WORLDS = {
    "O1": {"reproduced": utilised(0.95, 0.3), "refuted": utilised(0.3, 0.95), "in part": utilised(0.95, 0.95)},
    "O2": {"reproduced": thrice(runs(0.3, 0.8)), "refuted": thrice(runs(0.2, 0.21))},
    "O3": {
        "reproduced": varied(30, 30, *AXES), "refuted": varied(10, 10, *AXES),
        "in part": varied(30, 10, "architecture"),
    },
    "O4": {"reproduced": searches(30.0), "refuted": searches(5.0)},
    "O5": {
        "reproduced": first_calls(), "refuted": first_calls(gpu=(0.1, 0.3, 0.2, 0.2005)),
        "in part": first_calls(cpu=(800.0, 9.0, 8.0, 8.05)),
    },
    "O6": {
        "reproduced": first_calls(), "refuted": first_calls((20.0, 9.0, 8.0, 9.0), (15.0, 0.3, 0.2, 0.21)),
        "in part": first_calls(cpu=(20.0, 9.0, 8.0, 9.0)),
    },
    "O7": {"reproduced": clocks(3.0, 1.02), "refuted": clocks(1.0, 0.15), "in part": clocks(3.0, 0.15)},
    "O8": {"reproduced": threads(3.0, "cifar10_resnet63"), "refuted": threads(1.1, "cifar10_resnet63")},
    "O9": {"reproduced": epochs((RESNET63, 1.0)), "refuted": epochs((RESNET63, 1.5))},
    "O10": {"reproduced": sides("cifar10_mlp", 12, "run"), "refuted": sides("cifar10_mlp", 0.5, "run")},
    "O11": {"reproduced": sides("imdb_text_cnn", 13), "refuted": sides("imdb_text_cnn", 0.5)},
    "O12": {
        "reproduced": served(40, 30, 20, 10, 5), "refuted": served(0.5, 2, 8, 20, 40),
        "in part": served(5, 10, 20, 30, 40),
    },
    "O13": {"reproduced": trees(11, 2.1), "refuted": trees(0.9, 0.8), "in part": trees(40, 2.1)},
    "O14": {
        "reproduced": [*scaled(0.0001, TREES), *scaled(0.0001, UNIT)], "in part": scaled(0.0001, TREES),
        "refuted": scaled(0.002, TREES),
    },
    "O16": {
        "reproduced": [*grid(100, 300), *grid(100, 136, backend="cpu")],
        "refuted": [*grid(100, 80), *grid(100, 80, backend="cpu")], "in part": grid(100, 300),
    },
    "O17": {
        "reproduced": grid(100, 300, busy=0.05, alone=1000.0), "refuted": grid(100, 300, busy=0.8, alone=110.0),
        "in part": grid(100, 300, busy=0.05, alone=110.0),
    },
    "O18": {"reproduced": depths(base=200.0), "refuted": depths(base=20.0)},
    "O19": {"reproduced": depths(), "refuted": depths(wide_cpu=100.0)},
    "O20": {"reproduced": depths(), "refuted": depths(deep=20.0, deep_cpu=8.0), "in part": depths(deep=20.0)},
    "O21": {
        "reproduced": depths(), "refuted": depths(busy=(0.5, 0.5, 0.4)), "in part": depths(busy=(0.1, 0.5, 0.5)),
    },
    "O22": {"reproduced": depths(), "refuted": depths(conv=50.0), "in part": depths(conv=50.0, dropout=50.0)},
    "O23": {
        "reproduced": taught(0.80, 0.84, 0.90, 0.94, 0.85), "refuted": taught(0.90, 0.84, 0.80, 0.94, 0.85),
        "in part": taught(0.90, 0.84, 0.80, 0.94, 0.75),
        "not comparable": taught(0.80, 0.84, 0.90, 0.94, 0.85, seeds=(0.0,)),
    },
    "O24": {"reproduced": augmented(80.0, 100.0), "refuted": augmented(100.0, 100.0)},
    "O25": {
        "reproduced": answers(0.99, 0.01), "refuted": answers(0.3, 0.5), "in part": answers(0.99, 0.5),
        "not comparable": answers(0.99, 0.01, data="embedded"),
    },
    "O26": {"reproduced": at_512(0.45), "refuted": at_512(0.97)},
    "O27": {"reproduced": by_flop(0.3), "refuted": by_flop(-0.3)},
}  # fmt: skip

_SLOW_STEPS = {"gpu": 0.5}
# Of each documented number that can be refuted, by workload and metric, a machine that reproduces it and one that
# refutes it.
NUMBERS = {
    ("cifar10_resnet63", "steady_step"): {
        "reproduced": sides("cifar10_resnet63", 52, about=RESNET63, gpu=0.02),
        "refuted": sides("cifar10_resnet63", 10, about=RESNET63, **_SLOW_STEPS),
    },
    ("cifar10_resnet63", "first_call"): {
        "reproduced": first_calls(cpu=(22.5, 9.0, 8.0, 8.05)),
        "refuted": [*first_calls(cpu=(200.0, 9.0, 8.0, 8.05)), *sides("cifar10_resnet63", 5, about=RESNET63, gpu=0.02)],
    },
    ("cifar10_resnet87", "100_epochs"): {"refuted": sides("cifar10_resnet87", 10, about=RESNET87, **_SLOW_STEPS)},
    ("catdog_cnn_128", "throughput"): {
        "reproduced": depths(wide=184.0), "refuted": depths(base=200.0, wide_cpu=50.0),
    },
    ("catdog_cnn_deep", "throughput"): {"reproduced": depths(deep=300.0), "refuted": depths(deep=9.0)},
    ("catdog_cnn_base", "gpu_tuning_gain"): {"reproduced": grid(100, 300), "refuted": grid(100, 80)},
    ("catdog_cnn_base", "throughput_default"): {
        "reproduced": grid(100, 136, backend="cpu"), "refuted": grid(100, 80, backend="cpu"),
    },
    ("catdog_cnn_base", "throughput_tuned"): {
        "reproduced": grid(100, 136, backend="cpu"), "refuted": grid(100, 80, backend="cpu"),
    },
    ("catdog_cnn_dropout", "throughput"): {
        "reproduced": augmented(80, 100, "gpu"), "refuted": augmented(150, 100, "gpu"),
    },
    ("catdog_cnn_noaug", "throughput"): {
        "reproduced": augmented(80, 100, "gpu"), "refuted": augmented(150, 100, "gpu"),
    },
    ("catdog_cnn_128", "change_from_dropout_net"): {
        "reproduced": depths(), "in part": depths(wide=40.0), "refuted": depths(wide=20.0, wide_cpu=40.0),
    },
    ("catdog_cnn_128", "gpu_utilisation"): {"reproduced": depths(), "refuted": depths(busy=(0.5, 0.3, 0.9))},
    ("catdog_cnn_deep", "gpu_utilisation"): {
        "reproduced": depths(busy=(0.1, 0.5, 0.95)), "refuted": depths(busy=(0.1, 0.5, 0.3)),
    },
    **{
        (name, "accuracy"): {
            "reproduced": [trained(name, (share - 0.002, share, share + 0.002))],
            "refuted": [trained(name, (share - 0.102, share - 0.1, share - 0.098))],
        }
        for name, share in (
            ("catdog_cnn_base", 0.8), ("catdog_cnn_conv64", 0.84), ("catdog_cnn_dropout", 0.9),
            ("catdog_cnn_noaug", 0.85), ("catdog_cnn_128", 0.94), ("mnist_mlp", 0.984), ("imdb_text_cnn", 0.89),
        )
    },
}  # fmt: skip
