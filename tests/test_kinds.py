"""Every kind of GPU against every kind of CPU: which pools count, the mean over models, and what the page says."""

import json
import math

import factory
import pytest
from msgspec.structs import replace

from suite.report.pages import kinds as page
from suite.report.parts import kinds as part
from suite.report.parts import lead
from suite.report.parts.facts import Facts
from suite.results.pooled import kinds
from suite.results.pooled.pools import Pool, current, pools
from suite.results.records.store import sealed
from suite.results.stats import pooling
from suite.results.stats.variance_components import Components

MODELS = ("mnist_mlp", "cifar10_mlp", "mnist_cnn", "cifar10_tf_cnn", "imdb_bilstm")
HOST = replace(factory.KNOWN, virtual=True)
SMALL = replace(
    factory.PLAIN, name="small, 2 cores", cores=2, cpu_model="A newer CPU", cpu_vendor="A maker", cpu_family=26,
    cpu_number=2, virtual=True
)  # fmt: skip


def steps(machine, seconds, backend="cpu", models=MODELS, jax="0.12.0", hosts=3, lot=0, **axes):
    """A step of each model on each of several hosts, which differ by a hundredth; each model takes twice the last."""
    made = []
    for number in range(hosts):
        share = (1.0, 1.01, 0.99)[number % 3]
        for place, name in enumerate(models):
            runs = tuple(
                factory.run(i, seconds * 2**place * share * noise, host=f"{1000 * lot + number:016x}")
                for i, noise in enumerate((1.0, 1.002, 0.998))
            )
            when = {"campaign": f"2026010{lot}-0{number}0000-test", "created": f"2026-01-0{lot}T0{number}:00:00Z"}
            one = factory.record(name, backend, [seconds] * 3, machine, runs=runs, **when, **axes)
            software = replace(one.software, packages={"jax": jax})
            made.append(sealed(replace(one, software=software, digest="")))
    return made


TWO_MACHINES = (
    *steps(HOST, 0.010, lot=1),
    *steps(HOST, 0.0005, "gpu", lot=1),
    *steps(SMALL, 0.012, jax="0.13.0", lot=2),
)


def known(records):
    return current(pools(records))


def pairs(records):
    return {(pair.cpu.machine.name, pair.other.machine.gpus[0].name): pair for pair in kinds.pairs(known(records))}


def test_a_cpu_of_one_machine_is_set_against_the_gpu_of_another():
    pair = pairs(TWO_MACHINES)["small, 2 cores", factory.H100.name]
    assert pair.mean.value == pytest.approx(24)
    assert {name: value.value for name, value in pair.by_workload.items()} == pytest.approx(dict.fromkeys(MODELS, 24))
    assert not pair.one_machine
    assert pair.versions() == ("0.13.0", "0.12.0")
    assert pairs(TWO_MACHINES)["test-gpu, 16 cores", factory.H100.name].one_machine


def test_the_mean_is_over_the_models_that_both_timed():
    small = steps(SMALL, 0.040, models=MODELS[:1], lot=2) + steps(SMALL, 0.160, models=MODELS[1:], lot=2)
    more = steps(SMALL, 1.0, models=("catdog_cnn_base",), lot=2)
    pair = pairs([*TWO_MACHINES[:30], *small, *more])["small, 2 cores", factory.H100.name]
    assert sorted(pair.by_workload) == sorted(MODELS)
    assert pair.mean.value == pytest.approx((80 * 160**4) ** (1 / 5))


def test_a_pair_with_too_few_models_in_common_is_left_out():
    few = steps(SMALL, 0.012, models=MODELS[:4], lot=2)
    assert [cpu for cpu, _ in pairs([*TWO_MACHINES[:30], *few])] == ["test-gpu, 16 cores"]


def test_cards_are_one_kind_whatever_their_host_and_the_pool_of_more_hosts_counts():
    twin = replace(HOST, name="two cards, 32 cores", cores=32, gpus=(factory.H100, factory.H100))
    more = steps(twin, 0.0010, "gpu", lot=3, hosts=2)
    (gpu,) = kinds.kinds(known([*TWO_MACHINES, *more]), "gpu")
    assert gpu.machine.name == "test-gpu, 16 cores"
    (gpu,) = kinds.kinds(known([*steps(HOST, 0.0005, "gpu", lot=1, hosts=1), *more]), "gpu")
    assert gpu.machine.name == "two cards, 32 cores"
    other = steps(replace(HOST, name="a slice", gpus=(replace(factory.H100, slice="1g.10gb"),)), 0.0010, "gpu", lot=4)
    assert len(kinds.kinds(known([*TWO_MACHINES, *other]), "gpu")) == 2


@pytest.mark.parametrize("axes", [{"batch": 7}, {"scope": "transfer"}, {"precision": "tf32"}, {"data": "tfds"}])
def test_only_headline_steps_count(axes):
    others = steps(SMALL, 0.0001, lot=3, **axes)
    (cpu,) = kinds.kinds(known([*TWO_MACHINES[:30], *others]), "cpu")
    assert cpu.machine.name == "test-gpu, 16 cores"


def test_a_step_that_is_shorter_than_its_kernels_is_left_out():
    kernels = steps(HOST, 0.001, "gpu", models=MODELS[:1], lot=1, scope="kernels")
    (gpu,) = kinds.kinds(known([*TWO_MACHINES, *kernels]), "gpu")
    assert sorted(gpu.steps) == sorted(MODELS[1:])


def test_the_headlines_allocator_counts_if_both_have_as_many_hosts():
    default = steps(SMALL, 0.5, lot=2, allocator="default-malloc")
    assert pairs([*TWO_MACHINES, *default])["small, 2 cores", factory.H100.name].mean.value == pytest.approx(24)
    more = steps(SMALL, 0.5, lot=2, allocator="default-malloc", hosts=3)
    fewer = [*TWO_MACHINES[:30], *steps(SMALL, 0.012, lot=2, hosts=2)]
    assert pairs([*fewer, *more])["small, 2 cores", factory.H100.name].mean.value == pytest.approx(1000)


def test_a_host_is_set_against_the_fastest_cpu_with_fewer_cores():
    slow = replace(SMALL, name="slow, 4 cores", cores=4, cpu_number=3)
    wide = replace(SMALL, name="wide, 64 cores", cores=64, cpu_number=4)
    records = [*TWO_MACHINES, *steps(slow, 0.1, lot=3), *steps(wide, 0.001, lot=4)]
    pair = kinds.against_fewer_cores(known(records))
    assert pair is not None
    assert (pair.cpu.machine.name, pair.other.machine.name) == ("test-gpu, 16 cores", "small, 2 cores")
    assert pair.mean.value == pytest.approx(10 / 12)
    assert kinds.against_fewer_cores(known(TWO_MACHINES[:30])) is None
    assert kinds.against_fewer_cores(known(steps(SMALL, 0.012, lot=2))) is None


# The mean's interval

AMONG = Components(tau2=0.01, sigma2=0.02, degrees=8, cells=3)
CELL, OTHER = [[1.0, 1.1], [1.2]], [[0.1], [0.11], [0.12]]


def test_the_mean_of_one_pair_is_its_ratio():
    sides = (CELL, AMONG), (OTHER, AMONG)
    assert pooling.mean_ratio([sides]) == pooling.ratio(*sides)


def test_a_mean_is_of_an_earlier_method_if_one_side_of_one_pair_is(monkeypatch):
    new, old = (next(iter(known(steps(HOST, 0.01, lot=1, models=MODELS[:1])).values())) for _ in range(2))
    monkeypatch.setattr(Pool, "outdated", property(lambda self: self is old))
    assert kinds.mean_ratio([(new, new), (new, old)]).outdated
    assert not kinds.mean_ratio([(new, new)]).outdated


def test_models_that_err_together_narrow_nothing():
    sides = (CELL, AMONG), (OTHER, AMONG)
    one, four = pooling.mean_ratio([sides]), pooling.mean_ratio([sides] * 4)
    assert [four.value, four.low, four.high] == pytest.approx([one.value, one.low, one.high])
    assert (four.range_low, four.range_high) == pytest.approx((one.range_low, one.range_high))
    assert (four.hosts, four.processes) == (2, 3)


def test_variances_of_both_sides_add_and_the_fewest_degrees_count():
    few = Components(tau2=0.04, sigma2=0.0, degrees=4, cells=3)
    value = pooling.mean_ratio([(([[1.0]], AMONG), ([[1.0]], few)), (([[1.0]], few), ([[1.0]], few))])
    cpu, gpu = ((math.sqrt(0.03) + 0.2) / 2) ** 2, 0.04
    degrees = (cpu + gpu) ** 2 / (cpu**2 / 4 + gpu**2 / 4)
    assert value.high is not None
    assert math.log(value.high) == pytest.approx(pooling.t_quantile(degrees) * math.sqrt(cpu + gpu))


def test_a_mean_without_a_pair_is_refused():
    with pytest.raises(ValueError, match="needs at least one pair"):
        pooling.mean_ratio([])


def test_one_model_of_whose_hosts_nothing_is_known_leaves_the_mean_without_an_interval():
    unknown = replace(AMONG, degrees=0)
    assert pooling.mean_ratio([((CELL, AMONG), (OTHER, AMONG)), ((CELL, unknown), (OTHER, AMONG))]).low is None


# The page


def test_the_table_has_a_row_a_pair_and_says_of_how_many_machines_it_is():
    table = part.table(tuple(pairs(TWO_MACHINES).values()))
    machines = {row[0].text: row[table.columns.index("machines")].text for row in table.rows}
    assert machines == {
        "Test CPU (Emerald Rapids), 16 cores": "one", "A newer CPU (family 26 model 2), 2 cores": "two",
    }  # fmt: skip


def test_a_pair_says_whether_its_mean_may_be_quoted_and_why_not(monkeypatch):
    def statuses(records):
        table = part.table(tuple(pairs(records).values()))
        cells = [row[part.COLUMNS.index("status")] for row in table.rows]
        return [(cell.text, cell.remark) for cell in cells]

    baselines = [
        r for host, lot in ((HOST, 1), (SMALL, 2)) for r in steps(host, 0.011, implementation="torch", lot=lot)
    ]
    assert statuses([*TWO_MACHINES, *baselines]) == [("quotable", "")] * 2
    doubtful = ("open", "1 of 5 speed-ups behind it may not be quoted")
    assert statuses([*TWO_MACHINES, *(r for r in baselines if r.workload != MODELS[0])]) == [doubtful] * 2
    monkeypatch.setattr(Pool, "outdated", True)
    assert [why.split("; ")[0] for _, why in statuses(TWO_MACHINES)] == ["timed by an earlier method"] * 2


def test_a_model_s_ratio_has_the_certificate_of_its_cpu():
    def states(records):
        return {cpu: pair.standing(MODELS[0]) for (cpu, _), pair in pairs(records).items()}

    fast = steps(SMALL, 0.002, implementation="torch", models=MODELS[:1], lot=2)
    like = steps(HOST, 0.010, implementation="torch", models=MODELS[:1], lot=1)
    standing = states([*TWO_MACHINES, *like, *fast])
    assert standing["test-gpu, 16 cores"] == ("quotable", ())
    state, (reason,) = standing["small, 2 cores"]
    assert state == "not certified"
    assert "of JAX's time on the CPU" in reason
    assert states(TWO_MACHINES)["small, 2 cores"] == ("open", ("certificate open: no baseline was timed on this CPU",))


def test_a_row_says_that_another_cpu_with_fewer_cores_takes_less_time():
    faster = steps(SMALL, 0.004, jax="0.13.0", lot=2)
    table = part.models(tuple(pairs([*TWO_MACHINES[:30], *faster]).values()))
    place = part.MODEL_COLUMNS.index("status")
    statuses = {row[1].text: row[place] for row in table.rows}
    slow, quick = statuses["Test CPU (Emerald Rapids), 16 cores"], statuses["A newer CPU (family 26 model 2), 2 cores"]
    assert slow.text == "open, slow CPU"
    assert "2 cores of A newer CPU (family 26 model 2) take 0.40 (" in slow.remark
    assert quick.text == "open"


def test_means_are_rounded_as_on_the_home_page_and_a_host_is_said_to_be_so_fast():
    found = pairs(TWO_MACHINES)
    own = found["test-gpu, 16 cores", factory.H100.name]
    value, within = (cell.text for cell in part.table((own,)).rows[0][2:4])
    assert value == lead.short(own.mean.value) == "20x"
    cores = "H100 80GB HBM3's own 16 virtual cores"
    assert part.finding((own,)) == f"A step on one NVIDIA H100 80GB HBM3 is 20x ({within}) as fast as on the {cores}."
    said = part.beside(kinds.against_fewer_cores(known(TWO_MACHINES)))
    assert said.startswith(f"The {cores} are 1.20x (")
    assert ") as fast as 2 virtual cores of A newer CPU (family 26 model 2), over 5 models." in said


def test_sides_of_two_methods_make_no_pair():
    earlier = [sealed(replace(record, method=0, digest="")) for record in TWO_MACHINES if record.machine == SMALL]
    assert [cpu for cpu, _ in pairs([*TWO_MACHINES[:30], *earlier])] == ["test-gpu, 16 cores"]


def test_the_first_sentence_compares_means_of_the_same_models():
    few = steps(replace(SMALL, name="slow, 4 cores", cores=4, cpu_number=3), 1.0, models=MODELS[:5], lot=3)
    more = [*TWO_MACHINES, *steps(HOST, 0.010, models=("imdb_text_cnn",), lot=1),
            *steps(HOST, 0.0005, "gpu", models=("imdb_text_cnn",), lot=1)]  # fmt: skip
    assert part.finding(tuple(pairs([*more, *few]).values())).count(" as fast as on ") == 1
    assert part.finding(tuple(pairs(more).values())).count(" as fast as on ") == 1
    assert part.finding(tuple(pairs(TWO_MACHINES).values())).count(" as fast as on ") == 2


def test_each_model_of_each_pair_has_a_row_and_the_first_pair_is_shown_first():
    table = part.models(tuple(pairs(TWO_MACHINES).values()))
    assert len(table.rows) == 10
    assert table.facets[0] == table.chosen


def test_the_document_has_the_mean_then_the_models_and_follows_its_schema():
    document = json.loads(page.files(Facts(records=TWO_MACHINES))[page.DOCUMENT])
    small = [row for row in document["rows"] if row["cpu"] == "small-2-cores"]
    assert [row["workload"] for row in small] == [None, *sorted(MODELS)]
    assert (small[0]["models"], small[0]["cores"], small[0]["virtual"], small[0]["hosts"]) == (5, 2, True, 3)
    assert (small[0]["cpu_jax"], small[0]["gpu_jax"], small[0]["one_machine"]) == ("0.13.0", "0.12.0", False)
    assert small[0]["value"] == pytest.approx(24)


def test_without_a_pair_the_page_says_what_it_needs():
    files = page.files(Facts(records=TWO_MACHINES[:15]))
    assert "5 models in common yet" in files[page.PATH]
    assert sorted(files) == [page.PATH, page.DOCUMENT]


def test_names_of_machines_and_cards_are_escaped():
    hostile = "<script>alert(1)</script>"
    host = replace(HOST, gpus=(replace(factory.H100, name=hostile),))
    other = replace(SMALL, cpu_model=hostile)
    records = [*steps(host, 0.010, lot=1), *steps(host, 0.0005, "gpu", lot=1), *steps(other, 0.012, lot=2)]
    assert "<script>alert" not in page.files(Facts(records=records))[page.PATH]
