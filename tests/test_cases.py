"""The walk over all that a request could be made of: what is timed, with which axes, and what keeps the rest out."""

import factory
import pytest

from suite.analysis.capabilities import MachineCapabilities
from suite.case import Case
from suite.driver import cases as walks
from suite.driver.cases import default_cases, walk
from suite.driver.request import Request
from suite.workload import Grid, WholeRun

ABOUT = factory.description()
PICTURES = factory.description("pictures", family="convolution")
TREES = factory.description("trees", family="trees", data="random")
SERVED = factory.description("served", family="inference", data="random", batch=1)
LONG = factory.description("long", run=WholeRun(epochs=2, train=100))
SEARCHED = factory.description(
    "searched", run=WholeRun(epochs=2, train=100), grid=Grid(hidden=((8,),), epochs=(1, 2), folds=3)
)
BOTH = MachineCapabilities(backends=("cpu", "gpu"), cores=4)
CPU = MachineCapabilities(backends=("cpu",), cores=4)


@pytest.fixture(autouse=True)
def two_allocators(monkeypatch):
    """Have both allocators on any system."""
    monkeypatch.setattr(walks.children, "allocators", lambda: ("tuned-malloc", "default-malloc"))


def timed(*about, here=CPU, **asked):
    return default_cases(Request(**asked), about or (ABOUT,), here)


def of(cases, *names):
    """These axes of the cases, each combination once; of one axis its values."""
    found = [tuple(getattr(case, name) for name in names) for case in cases]
    return {each[0] for each in found} if len(names) == 1 else set(found)


def case(scope="step", backend="cpu", **axes):
    start = {"allocator": "default-malloc"} if scope in ("cold", "calls") and backend == "cpu" else {}
    return Case(workload=ABOUT.name, backend=backend, scope=scope, batch=ABOUT.batch, **(start | axes))


def kept_out(about, here=BOTH, **asked):
    """By which options each scope of JAX's plain way on the GPU is kept out."""
    return {
        one.scope: by
        for one, by in walk(Request(**asked), [about], here)
        if (one.backend, one.implementation, one.variant) == ("gpu", "jax", "plain")
    }


def test_by_default_jax_takes_the_usual_scopes_in_its_plain_way_on_each_backend_in_order():
    assert timed(here=BOTH) == tuple(
        case(scope, backend) for backend in ("cpu", "gpu") for scope in ("step", "transfer", "cold")
    )


def test_workloads_come_in_the_order_that_they_were_chosen_in():
    assert [case.workload for case in timed(PICTURES, ABOUT, scopes=("step",))] == ["pictures", ABOUT.name]


def test_the_cpu_is_float32_whatever_the_gpu_is_timed_at():
    found = timed(here=BOTH, scopes=("step",), precisions=("tf32", "bfloat16"))
    assert of(found, "backend", "precision") == {("cpu", "float32-highest"), ("gpu", "tf32"), ("gpu", "bfloat16")}


def test_beside_a_baseline_each_side_has_both_allocators_in_what_is_compared_and_the_gpu_one():
    found = timed(here=BOTH, implementations=("jax", "torch"), variants=("plain",))
    both = {(name, "step", each) for name in ("jax", "torch") for each in ("tuned-malloc", "default-malloc")}
    on_cpu = [each for each in found if each.backend == "cpu"]
    assert of([each for each in on_cpu if each.scope == "step"], "implementation", "scope", "allocator") == both
    assert of([each for each in on_cpu if each.scope == "transfer"], "allocator") == {"tuned-malloc"}
    assert of([each for each in found if each.backend == "gpu"], "allocator") == {"tuned-malloc"}


def test_allocators_that_are_named_are_timed_and_are_those_of_a_start():
    found = timed(allocators=("tuned-malloc", "default-malloc"), scopes=("step", "cold", "calls"))
    assert of(found, "scope", "allocator") == {
        ("step", "tuned-malloc"),
        ("step", "default-malloc"),
        ("cold", "tuned-malloc"),
        ("calls", "tuned-malloc"),
    }
    assert of(timed(scopes=("calls",)), "allocator") == {"default-malloc"}


def test_several_hosts_have_the_systems_allocator():
    assert of(timed(hosts=2, devices=4, scopes=("step",)), "allocator", "hosts", "devices") == {
        ("default-malloc", 2, 4)
    }


def test_a_baseline_takes_steps_alone_in_every_way_that_it_has_and_where_it_is_asked_for():
    found = timed(here=BOTH, implementations=("jax", "torch", "keras"), allocators=("tuned-malloc",))
    others = [each for each in found if each.implementation != "jax"]
    assert of(others, "scope") == {"step"}
    ways = {
        ("cpu", "torch", "plain"),
        ("cpu", "torch", "compile"),
        ("gpu", "torch", "plain"),
        ("gpu", "torch", "compile"),
        ("gpu", "torch", "graph"),
        ("gpu", "torch", "compile-graph"),
        ("cpu", "keras", "plain"),
    }
    assert of(others, "backend", "implementation", "variant") == ways
    alone = timed(here=BOTH, implementations=("jax", "torch"), baseline_backends=("cpu",), scopes=("step",))
    assert of(alone, "backend", "implementation") == {("cpu", "jax"), ("gpu", "jax"), ("cpu", "torch")}
    assert of(timed(implementations=("torch",)), "implementation") == {"torch"}


def test_variants_that_are_named_are_taken_where_an_implementation_has_them_and_else_it_is_timed_as_usual():
    found = timed(implementations=("jax", "torch"), variants=("scan",), allocators=("tuned-malloc",))
    assert of(found, "implementation", "variant") == {("jax", "scan"), ("torch", "plain"), ("torch", "compile")}
    found = timed(implementations=("jax", "torch"), variants=("compile",), allocators=("tuned-malloc",))
    assert of(found, "implementation", "variant") == {("jax", "plain"), ("torch", "compile")}


def test_a_scan_has_no_step_to_start_with_and_copies_no_batch():
    assert of(timed(variants=("scan",)), "scope") == {"step"}
    assert of(timed(variants=("nnx-jit",)), "scope") == {"step", "transfer", "cold"}


def test_trees_are_boosted_in_one_way_and_fits_are_stacked_where_there_is_a_grid():
    assert of(timed(TREES, variants=("scan",)), "variant") == set()
    assert of(timed(TREES), "variant") == {"plain"}
    assert timed(LONG, variants=("stacked",)) == ()
    found = timed(SEARCHED, variants=("stacked",))
    assert of(found, "scope", "batch") == {(scope, 6 * SEARCHED.batch) for scope in ("step", "transfer", "cold")}
    assert of(timed(SEARCHED, variants=("stacked",), batch=12), "batch") == {12}


def test_an_epoch_and_its_input_are_of_stored_data_on_one_device_in_the_plain_way():
    scopes = ("epoch", "input", "learning")
    found = timed(here=BOTH, scopes=scopes)
    assert of(found, "backend", "scope") == {(b, s) for b in ("cpu", "gpu") for s in scopes} - {("gpu", "input")}
    assert timed(TREES, scopes=scopes) == ()
    assert timed(scopes=scopes, devices=2) == ()
    assert timed(scopes=scopes, variants=("scan",)) == ()
    torch = timed(implementations=("torch",), variants=("plain",), scopes=scopes, allocators=("tuned-malloc",))
    assert of(torch, "scope", "loader") == {("input", "processes")}


def test_a_whole_run_is_on_one_device_where_the_source_timed_one():
    assert timed(scopes=("run",)) == ()
    both = {"scopes": ("run",), "variants": ("plain", "resident", "stacked", "scan")}
    assert of(timed(LONG, **both), "variant") == {"plain", "resident"}
    assert of(timed(SEARCHED, **both), "variant") == {"plain", "stacked"}
    assert of(timed(SEARCHED, **both, devices=2), "variant") == {"stacked"}
    written = {"implementations": ("torch", "keras"), "scopes": ("run",), "allocators": ("tuned-malloc",)}
    assert of(timed(LONG, **written), "variant") == {"loop-wait", "fit-jax", "fit-torch", "fit-tensorflow"}
    assert timed(LONG, **written, devices=2) == timed(SEARCHED, **written) == timed(**written) == ()
    assert of(timed(LONG, variants=("resident",)), "scope") == set()


def test_requests_are_to_a_network_that_is_not_trained_on_one_device():
    assert timed(scopes=("serve",)) == ()
    every = {"implementations": ("jax", "torch", "keras"), "allocators": ("tuned-malloc",)}
    found = timed(SERVED, scopes=("serve",), **every)
    assert of(found, "implementation", "variant") == {("jax", "plain"), ("torch", "plain"), ("torch", "compile")}
    assert timed(SERVED, scopes=("serve",), variants=("nnx-jit",)) == ()
    assert timed(SERVED, scopes=("serve",), devices=2) == ()


def test_data_is_what_the_machine_has_and_else_drawn():
    here = MachineCapabilities(backends=("cpu",), cores=4, data="tfds")
    assert of(timed(ABOUT, TREES, here=here), "workload", "data") == {(ABOUT.name, "tfds"), ("trees", "random")}


# Axes that some have alone


def test_each_axis_is_of_the_scopes_and_sides_that_have_it():
    asked = {
        "scopes": ("step", "cold", "epoch", "input"),
        "cold_starts": ("empty", "warm"),
        "workers": (1, 2),
        "loaders": ("threads", "processes"),
        "threads": (2, 4),
    }
    found = timed(here=BOTH, **asked)
    assert of([each for each in found if each.scope == "cold"], "cache") == {"empty", "warm"}
    assert of([each for each in found if each.scope != "cold"], "cache") == {"empty"}
    fed = [each for each in found if each.scope in ("epoch", "input")]
    assert of(fed, "workers", "loader") == {(count, loader) for count in (1, 2) for loader in ("threads", "processes")}
    rest = [each for each in found if each.scope in ("step", "cold")]
    assert of(rest, "workers", "loader") == {(None, "threads")}
    threads = {
        scope: of([e for e in found if (e.scope, e.backend) == (scope, "cpu")], "threads")
        for scope in ("step", "cold", "epoch", "input")
    }
    assert threads == {"step": {2, None}, "cold": {2, None}, "epoch": {2, None}, "input": {None}}
    assert of([each for each in found if each.backend == "gpu"], "threads") == {None}


def test_all_granted_cores_are_no_choice_of_threads_and_count_once():
    assert [each.threads for each in timed(scopes=("step",), threads=(4, 2, 4))] == [None, 2]


def test_a_run_is_as_long_as_asked_for_and_nothing_else_is():
    found = timed(LONG, scopes=("run", "step"), epochs_times=10)
    assert of(found, "scope", "length") == {("run", 10), ("step", 1)}


def test_a_layout_is_of_torchs_pictures():
    asked = {"implementations": ("jax", "torch"), "layouts": ("contiguous", "channels-last"), "scopes": ("step",)}
    found = timed(ABOUT, PICTURES, variants=("plain",), allocators=("tuned-malloc",), **asked)
    assert of(found, "workload", "implementation", "layout") == {
        (ABOUT.name, "jax", "channels-last"),
        (ABOUT.name, "torch", "channels-last"),
        ("pictures", "jax", "channels-last"),
        ("pictures", "torch", "contiguous"),
        ("pictures", "torch", "channels-last"),
    }


def test_torch_augments_on_the_host():
    asked = {"implementations": ("jax", "torch"), "scopes": ("input", "epoch"), "variants": ("plain",)}
    found = timed(augmentations=("host", "device"), allocators=("tuned-malloc",), **asked)
    assert of(found, "implementation", "augmentation") == {("jax", "host"), ("jax", "device"), ("torch", "host")}


# What keeps it out


def test_what_is_timed_is_kept_out_by_nothing_and_what_no_option_brings_is_not_walked():
    every = kept_out(SEARCHED)
    assert every == dict.fromkeys(("step", "transfer", "cold", "epoch", "run", "calls", "learning", "kernels"), ())
    assert "serve" not in every


def test_each_option_that_keeps_a_combination_out_is_named():
    assert kept_out(ABOUT, devices=2)["epoch"] == ("devices",)
    assert kept_out(ABOUT, variants=("scan",))["cold"] == ("variants",)
    assert kept_out(ABOUT, implementations=("torch",))["step"] == ("implementations",)
    assert kept_out(ABOUT, here=CPU)["step"] == ("backends",)
    assert kept_out(ABOUT, here=CPU, devices=2, variants=("scan",), implementations=("torch",))["epoch"] == (
        "devices",
        "variants",
        "implementations",
        "backends",
    )
    asked = Request(implementations=("jax", "torch"), baseline_backends=("cpu",))
    torch = {by for one, by in walk(asked, [ABOUT], BOTH) if (one.backend, one.implementation) == ("gpu", "torch")}
    assert torch == {("baseline_backends",)}


def test_scopes_asked_for_come_first_and_each_is_walked_once():
    scopes = [one.scope for one, _ in walk(Request(scopes=("cold", "step")), [ABOUT], CPU) if one.variant == "plain"]
    mine = scopes[: len(scopes) // 2]
    assert mine[:2] == ["cold", "step"]
    assert len(mine) == len(set(mine))


def test_the_scopes_that_were_not_asked_for_are_walked_and_not_timed():
    walked = walk(Request(scopes=("cold",)), [ABOUT], CPU)
    assert {one.scope for one, by in walked if not by} > {"cold", "step"}
    assert of(timed(scopes=("cold",)), "scope") == {"cold"}
