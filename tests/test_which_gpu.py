"""Which GPU is meant by a number, and which hardware threads a pinned process has."""

from types import SimpleNamespace

import factory
import msgspec
import pynvml
import pytest
from plan import wanted
from test_telemetry import FakeNvml

from suite.driver import fitness, plan, preflight, validation
from suite.driver.request import Request
from suite.processes import lock
from suite.results.compare import comparison
from suite.results.pooled.grouping import kind_of
from suite.results.single import prices
from suite.results.single.prices import Price
from suite.system import machine
from suite.system.nvml import Gpus
from suite.system.processor import one_of_each_core_first
from suite.worker_api.protocol import Offer

A100 = "NVIDIA A100-SXM4-40GB"
FIRST, SECOND = "MIG-aaaa1111-0000-0000-0000-000000000000", "MIG-bbbb2222-0000-0000-0000-000000000000"
KINDS = {"1g.5gb": (1, 1, 4864), "3g.20gb": (3, 3, 19968), "1c.3g.20gb": (3, 1, 19968), "7g.40gb": (7, 7, 40192)}


class SlicedNvml(FakeNvml):
    """A driver whose first card is cut by MIG; slices are the numbers from 100 on, and answer as NVIDIA's do."""

    def __init__(self, kinds=("1g.5gb", "3g.20gb"), names=(A100,), named=True, uuids=(FIRST, SECOND), **answers):
        self.kinds = kinds

        def of_a_card(answer):
            def asked(handle, *_):
                if handle >= 100:
                    raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
                return answer

            return asked

        def memory(handle):
            size = KINDS[kinds[handle - 100]][2] * 2**20 if handle >= 100 else 40 * 2**30
            return SimpleNamespace(used=2**28 if handle >= 100 else 2**35, total=size)

        def name(handle):
            if handle < 100:
                return names[handle]
            return f"{names[0]} MIG {kinds[handle - 100]}" if named else names[0]

        def part(handle, index):
            if index >= len(kinds):
                raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
            return 100 + index

        super().__init__(
            names=names,
            DeviceGetMigMode=lambda handle: [int(handle == 0), int(handle == 0)],
            DeviceGetMaxMigDeviceCount=7,
            DeviceGetMigDeviceHandleByIndex=part,
            DeviceGetGpuInstanceId=lambda handle: handle - 99,
            DeviceGetComputeInstanceId=0,
            DeviceGetAttributes=lambda handle: SimpleNamespace(
                **dict(
                    zip(
                        ("gpuInstanceSliceCount", "computeInstanceSliceCount", "memorySizeMB"),
                        KINDS[kinds[handle - 100]],
                        strict=True,
                    )
                )
            ),
            DeviceGetUUID=lambda handle: uuids[handle - 100] if handle >= 100 else f"GPU-{handle}0000000",
            DeviceGetName=name,
            DeviceGetMemoryInfo=memory,
            DeviceGetUtilizationRates=of_a_card(SimpleNamespace(gpu=87)),
            DeviceGetPowerUsage=350_000,  # as a driver that answers for the whole card
            DeviceGetTotalEnergyConsumption=5_000_000,
            DeviceGetCudaComputeCapability=of_a_card((8, 0)),
            **answers,
        )


def slice_of(**changes):
    return Gpus(SlicedNvml(), **changes).described()[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("named", [True, False])
def test_a_slice_is_named_as_one_with_its_own_memory(kind, named):
    (found,) = Gpus(SlicedNvml((kind,), named=named)).described()
    assert (found.name, found.slice) == (f"{A100} MIG {kind}", kind)
    assert found.memory_bytes == KINDS[kind][2] * 2**20
    assert (found.compute_capability, found.power_limit_watts) == ("8.0", None)


def test_a_machine_with_a_slice_is_named_after_it_whoever_names_it(monkeypatch):
    monkeypatch.setattr(machine, "gpus", lambda: (slice_of(),))
    assert machine.machine().name.startswith("a100-40gb-mig-1g.5gb, ")
    assert machine.machine("my box").name == "my box, mig 1g.5gb"
    assert machine.machine("my box, mig 1g.5gb").name == "my box, mig 1g.5gb"
    monkeypatch.setattr(machine, "gpus", lambda: (factory.H100,))
    assert machine.machine("my box").name == "my box"


@pytest.mark.parametrize(
    ("wanted", "kinds"),
    [
        (None, ["1g.5gb"]),  # CUDA gives a process one slice, the first
        (SECOND, ["3g.20gb"]),
        ("MIG-bbbb", ["3g.20gb"]),
        (f"{SECOND},{FIRST}", ["3g.20gb"]),
        ("MIG-GPU-00000000/2/0", ["3g.20gb"]),
        ("MIG-GPU-0/1/0", ["1g.5gb"]),
        ("MIG-GPU-00000000/9/0", []),
        ("MIG-cccc", []),
        ("MIG-", []),  # names two
        ("0", ["1g.5gb"]),
        ("GPU-00000000", ["1g.5gb"]),
        ("1", [""]),
        ("GPU-1", [""]),
        ("", []),
    ],
)
def test_a_slice_is_found_by_whatever_cuda_knows_it_by(wanted, kinds, monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    found = Gpus(SlicedNvml(names=(A100, A100)), wanted).described()
    assert [gpu.slice for gpu in found] == kinds


@pytest.mark.parametrize(
    ("wanted", "names"),
    [("0,0", ()), ("GPU-0,GPU-00000000", ()), ("1x", ("b",)), (" 1 , 0 ", ("b", "a")), ("GPU-", ())],
)
def test_words_are_read_as_cuda_reads_them(wanted, names):
    assert Gpus(FakeNvml(names=("a", "b")), wanted).names == names


def test_what_others_do_on_the_card_is_not_the_slices():
    (found,) = Gpus(SlicedNvml(pids=())).readings()
    assert (found.utilisation, found.power_watts, found.energy_joules) == (None, None, None)
    assert (found.memory_bytes, found.sm_clock_mhz, found.temperature_celsius) == (2**28, 1980.0, 61.0)


def with_driver(monkeypatch, driver, visible=None):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.setattr(machine, "Gpus", lambda: Gpus(driver))


def test_a_slice_that_is_not_there_is_refused_with_those_that_are(monkeypatch):
    with_driver(monkeypatch, SlicedNvml(names=(A100, A100)), "MIG-cccc")
    assert machine.why_no_gpu() == (
        f"CUDA_VISIBLE_DEVICES is 'MIG-cccc', which names none of the driver's GPUs or slices; there are {FIRST} "
        f"({A100} MIG 1g.5gb), {SECOND} ({A100} MIG 3g.20gb), 1 ({A100}): set it to one of these, or unset it; "
        "a slice gets a new UUID each time it is made"
    )


def test_a_slice_where_mig_is_off_is_refused_with_the_whole_cards(monkeypatch):
    with_driver(monkeypatch, FakeNvml(), FIRST)
    assert "there are 0 (NVIDIA H100), 1 (NVIDIA H100): set it to one of these" in machine.why_no_gpu()


def test_mig_without_a_slice_is_said_with_what_to_do(monkeypatch):
    with_driver(monkeypatch, SlicedNvml(()))
    assert machine.gpus() == ()
    assert "make a slice (nvidia-smi mig -cgi PROFILE -C), or switch MIG off" in machine.why_no_gpu()


JAX = Offer(
    implementation="jax", backends={"cpu": ("cpu",)}, packages={"jax": "0.12"}, workloads=(factory.description(),)
)


def test_a_gpu_that_is_named_wrongly_is_not_left_out_in_silence(monkeypatch):
    with_driver(monkeypatch, FakeNvml(), "MIG-cccc")
    monkeypatch.setattr(plan, "why_no_gpu", machine.why_no_gpu)
    (remark,) = plan.make_plan(Request(workloads=("mnist_mlp",)), factory.PLAIN, {"jax": JAX}).remarks
    assert "CUDA_VISIBLE_DEVICES is 'MIG-cccc'" in remark
    with_driver(monkeypatch, FakeNvml(), "")  # hidden on purpose
    assert plan.make_plan(Request(workloads=("mnist_mlp",)), factory.PLAIN, {"jax": JAX}).remarks == ()


def test_the_locks_of_a_slice_have_names_that_files_may_have(monkeypatch, tmp_path):
    driver = SlicedNvml(uuids=("MIG-GPU-0000/1/0", "MIG-GPU-0000/2/0"))
    monkeypatch.setattr(lock, "Gpus", lambda: Gpus(driver, "0"))
    lock.check_nothing_measures(tmp_path)


SLICE = msgspec.structs.replace(factory.H100, name=f"{factory.H100.name} MIG 1g.10gb", slice="1g.10gb")
SLICED = msgspec.structs.replace(factory.HOST, gpus=(SLICE,))


def test_a_slice_is_never_pooled_or_compared_with_the_whole_card():
    assert kind_of(SLICED, "gpu") != kind_of(factory.HOST, "gpu")
    assert not any(kind.fills(SLICED) for kind in wanted.KINDS)
    assert any(kind.fits(factory.HOST) for kind in wanted.KINDS)
    whole, part = factory.record(backend="gpu"), factory.record(backend="gpu", machine=SLICED)
    assert comparison.axes(whole, part) == ("GPU",)
    assert comparison.axes(whole, whole) == ()


def test_a_slice_does_not_cost_what_its_card_does():
    card = Price(gpu="H100", per_hour=3.6, currency="USD", date="2026-01", source="a list")
    part = msgspec.structs.replace(card, gpu="H100 MIG 1g.10gb", per_hour=0.5)
    assert prices.price_of(SLICED, (card,)) is None
    assert prices.price_of(SLICED, (card, part)) == part
    assert prices.price_of(factory.HOST, (card, part)) == card


OLD = msgspec.structs.replace(factory.H100, name="Tesla K80", compute_capability="3.7")
BOTH = msgspec.structs.replace(factory.HOST, gpus=(OLD, factory.H100))


def seeing(*gpus):
    return msgspec.structs.replace(JAX, backends={"cpu": ("cpu",)} | ({"gpu": gpus} if gpus else {}))


def test_the_doctor_judges_each_card():
    found = {check.found.split("'")[1]: check for check in fitness.gpu_checks(BOTH, seeing())}
    assert (found["Tesla K80"].verdict, found[factory.H100.name].verdict) == ("remark", "bad")
    assert "install the 'cuda13' extra" in found[factory.H100.name].advice
    assert "hide this one with CUDA_VISIBLE_DEVICES" in found["Tesla K80"].advice
    with_jax = fitness.gpu_checks(BOTH, seeing(factory.H100.name))
    assert [check.verdict for check in with_jax] == ["remark", "good"]
    assert [check.name for check in with_jax] == ["GPU 1", "GPU 2"]


def test_what_keeps_a_gpu_from_jax_is_said_of_the_best_card():
    assert "install the 'cuda13' extra" in fitness.missing_backend("gpu", BOTH, seeing())


def test_a_card_too_old_for_any_driver_is_not_told_to_update_it():
    (check,) = fitness.gpu_checks(msgspec.structs.replace(factory.HOST, gpus=(OLD,)), seeing())
    assert check.verdict == "bad"
    assert "no driver gives" in check.advice


def test_a_card_that_jax_does_not_use_is_told():
    other = msgspec.structs.replace(factory.H100, name="NVIDIA V100")
    both = msgspec.structs.replace(factory.HOST, gpus=(factory.H100, other))
    assert [c.verdict for c in fitness.gpu_checks(both, seeing(factory.H100.name))] == ["good", "remark"]
    assert [c.verdict for c in fitness.gpu_checks(both, seeing(factory.H100.name, other.name))] == ["good", "good"]


def test_the_doctor_says_why_no_gpu_can_be_used():
    (check,) = fitness.gpu_checks(factory.PLAIN, seeing(), "MIG is on without a slice")
    assert (check.verdict, check.advice) == ("bad", "MIG is on without a slice")
    assert fitness.gpu_checks(factory.PLAIN, seeing())[0].verdict == "remark"


def test_a_machine_is_named_after_the_card_that_jax_uses_first():
    """CUDA counts the fastest first, the driver by bus."""
    plain = msgspec.structs.replace(BOTH, name="tesla-k80, 16 cores")
    found = machine.seen_by(plain, (factory.H100.name, "Tesla K80"))
    assert [gpu.name for gpu in found.gpus] == [factory.H100.name, "Tesla K80"]
    assert found.name == "2x h100-80gb, 16 cores"
    assert machine.seen_by(plain, (factory.H100.name,), "my box").name == plain.name
    assert machine.seen_by(plain, ("gpu",)) == machine.seen_by(plain, ()) == plain


def test_a_slice_that_the_driver_does_not_show_is_refused():
    with pytest.raises(RuntimeError, match=r"JAX sees '.* MIG 1g.10gb', a slice, but the driver shows 'NVIDIA H100"):
        machine.seen_by(factory.HOST, (SLICE.name,))
    with pytest.raises(RuntimeError, match="a slice"):
        machine.seen_by(SLICED, (f"{factory.H100.name} MIG 3g.40gb",))
    assert machine.seen_by(SLICED, (SLICE.name,)) == SLICED


def test_a_baseline_that_sees_another_gpu_first_is_refused():
    offers = {
        "jax": seeing(factory.H100.name),
        "torch": msgspec.structs.replace(seeing(SLICE.name), names=("mnist_mlp",)),
    }
    with pytest.raises(RuntimeError, match=r"its first GPU is '.* MIG 1g.10gb' and JAX's is 'NVIDIA H100"):
        plan.make_plan(Request(workloads=("mnist_mlp",), implementations=("jax", "torch")), factory.HOST, offers)
    for same in (factory.H100.name, "cuda"):
        validation.check_same_gpu({"jax": (factory.H100.name,), "torch": (same, "another card")})


def test_a_record_of_before_has_no_slice_and_the_same_digest():
    content = msgspec.json.encode(factory.H100)
    old = content.replace(b',"slice":""', b"")
    assert msgspec.json.decode(old, type=type(factory.H100)) == factory.H100


NEIGHBOURS = {0: "0-1", 1: "0-1", 2: "2-3", 3: "2-3"}.__getitem__
HALVES = {0: "0,2", 2: "0,2", 1: "1,3", 3: "1,3"}.__getitem__


def test_one_thread_of_each_core_comes_before_the_second_of_any():
    assert one_of_each_core_first({0, 1, 2, 3}, NEIGHBOURS) == (0, 2, 1, 3)
    assert one_of_each_core_first({0, 1, 2, 3}, HALVES) == (0, 1, 2, 3)


def test_where_the_system_tells_nothing_each_thread_is_a_core():
    assert one_of_each_core_first({3, 1, 2}, lambda thread: "") == (1, 2, 3)


def test_a_core_of_which_one_thread_is_granted_counts_as_any_other():
    assert one_of_each_core_first({1, 2, 3}, NEIGHBOURS) == (1, 2, 3)


@pytest.mark.parametrize(
    ("given", "cards", "said"),
    [
        ("void", (), "NVIDIA_VISIBLE_DEVICES is 'void': this container was started without a GPU"),
        ("all", (), ""),
        (None, (("0x030000", "0x8086"), ("0x020000", "0x10de")), "the cards here are of Intel; the suite measures"),
        (None, (("0x030000", "0x1002"), ("0x038000", "0x8086")), "the cards here are of AMD and Intel; the suite"),
        (None, (("0x030200", "0x10de"), ("0x030000", "0x8086")), "a card of NVIDIA is here without its driver"),
        (None, (("0x030000", "0x1a03"),), ""),
    ],
)
def test_a_gpu_that_no_driver_shows_is_told_with_its_maker(tmp_path, monkeypatch, given, cards, said):
    monkeypatch.delenv("NVIDIA_VISIBLE_DEVICES", raising=False)
    if given is not None:
        monkeypatch.setenv("NVIDIA_VISIBLE_DEVICES", given)
    for number, (kind, maker) in enumerate(cards):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "class").write_text(f"{kind}\n")
        (tmp_path / str(number) / "vendor").write_text(f"{maker}\n")
    why = machine.without_driver(tmp_path)
    assert why.startswith(said)
    assert bool(why) == bool(said)


def test_who_asks_for_a_gpu_hears_why_there_is_no_driver(monkeypatch):
    monkeypatch.setattr(machine, "without_driver", lambda: "a card without its driver")
    monkeypatch.setattr(machine, "Gpus", lambda: SimpleNamespace(problem="", names=(), in_driver=0, described=tuple))
    assert (machine.why_no_gpu(), machine.why_no_gpu(wanted_one=False)) == ("a card without its driver", "")
    (check,) = preflight._of_gpus(asked=True)
    assert (check.verdict, check.advice) == ("bad", "a card without its driver")
    (check,) = preflight._of_gpus(asked=False)
    assert check.verdict == "good"
