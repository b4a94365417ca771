"""A page with headline speed-ups names the models that have none, and why."""

import html

import factory

from suite.report.parts import overview


def test_each_model_without_a_speed_up_is_named_with_why():
    whole = factory.campaign(("whole",))
    apart = [factory.record("apart", "cpu", data="tfds"), factory.record("apart", "gpu", data="embedded")]
    bad = [factory.record("bad", "cpu", profile="smoke"), factory.record("bad", "gpu")]
    one_side = [factory.record("host", "cpu"), factory.record("device", "gpu")]
    other = [
        factory.record("other", "cpu", precision="tf32"),
        factory.record("other", "gpu", scope="cold"),
        factory.record("ceiling_copy", "gpu", about=factory.description("ceiling_copy", family="ceiling")),
    ]
    said = overview.without_speedup(
        [*whole, *apart, *bad, *one_side, *other], {"whole"}, ["whole", "host", "never", "other"]
    )
    assert said == (
        "Without a speed-up so far: apart (CPU and GPU timed with different data); bad (no time of the CPU counts: "
        "failed, invalid, disturbed, of a JAX that is slow on a CPU, "
        "or of profile smoke); device (timed on the GPU alone); host (timed "
        "on the CPU alone); never, other (headline step not timed here yet)."
    )
    assert overview.without_speedup(whole, {"whole"}, ["whole"]) == ""


def test_the_home_page_names_what_its_chart_leaves_out_of_all_that_can_be_measured():
    records = factory.campaign(("mnist_mlp",))
    every = [factory.description("mnist_mlp"), factory.description("mnist_cnn")]
    files = factory.pages(records, catalogue=every)
    said = "Without a speed-up so far: mnist_cnn (headline step not timed here yet)."
    assert said in html.unescape(files["index.md"])
    assert "Without a speed-up" not in files[f"machines/{factory.HOST.slug}.md"]
    assert "Without a speed-up" not in factory.pages([], catalogue=every)["index.md"]
