"""Every observation and number of the articles has a verdict by its rule, and the page shows them all."""

import factory
import msgspec
import pytest
import reference
from ledger_worlds import (
    ALL,
    ROOT,
    SHARES,
    TREES,
    WORLDS,
    alone,
    augmented,
    clocks,
    depths,
    epochs,
    first_calls,
    grid,
    judge,
    known,
    of_resnet,
    runs,
    scaled,
    served,
    shared,
    sides,
    single,
    threads,
    thrice,
    trees,
    utilised,
    varied,
)
from test_input_experiments import BASE
from test_learning_page import trained
from test_run_experiments import calls, watched
from test_scaling import MLP, node

from suite import experiments, models
from suite.claims import NOT_RUN, VERDICTS, Judgement, devices, input_tuning, observations, text, whole_runs
from suite.claims._documented_numbers import entries
from suite.report.pages import ledger
from suite.report.parts.facts import Facts
from suite.results.records import catalogue
from suite.results.records.run import Sample
from suite.results.single.selection import by_machine

CATALOGUE = catalogue.read(ROOT / "site" / "records")


CASES = [
    ("O3", varied(10, 30), "in part"),  # the batch alone
    ("O7", first_calls(), "in part"),  # three cores busy on both sides
    ("O10", sides("cifar10_mlp", 40, "run"), "not comparable"),
    ("O11", sides("imdb_text_cnn", 60), "not comparable"),
    ("O13", trees(11, 3.9), "in part"),
    ("O13", trees(11, 0.8), "in part"),
    ("O13", trees(0.9, 2.1), "in part"),
    ("O13", trees(0.9, 3.9), "refuted"),
    ("O14", scaled(0.00024), "not comparable"),  # as fast as one, within the noise
    ("O15", sides("mnist_mlp", 60), "not comparable"),
    ("O16", grid(100, 150), "not comparable"),
    ("O18", [msgspec.structs.replace(record, experiment="") for record in depths(base=200.0)], "reproduced"),
]


ON_ONE_HOST = [
    ("O1", alone(utilised(0.48, 0.36)), "not comparable"),  # one process
    ("O2", runs(0.2, 0.21), "not comparable"),
    ("O3", [*single("mnist_mlp", 10), *single("cifar10_mlp", 30)], "not comparable"),
    ("O5", alone(first_calls()), "reproduced"),
    ("O5", alone(first_calls(cpu=(12.0, 9.0, 8.0, 8.05))), "in part"),
    ("O5", alone(first_calls(cpu=(12.0, 9.0, 8.0, 8.05), gpu=(0.3, 0.3, 0.2, 0.2005))), "not comparable"),
    ("O11", single("imdb_text_cnn", 13), "not comparable"),
    ("O11", single("imdb_text_cnn", 0.9), "not comparable"),
    ("O11", single("imdb_text_cnn", 0.4), "refuted"),
    ("O19", alone(depths()), "reproduced"),
    ("O19", alone(depths(wide_cpu=30.0)), "not comparable"),
    ("O19", alone(depths(wide_cpu=60.0)), "not comparable"),
    ("O19", alone(depths(wide_cpu=200.0)), "refuted"),
]


@pytest.mark.parametrize(
    ("code", "records", "verdict"), ON_ONE_HOST, ids=[f"{c}-{v}-{i}" for i, (c, _, v) in enumerate(ON_ONE_HOST)]
)
def test_a_process_of_one_host_decides_what_is_beyond_a_bound_by_a_factor_of_two(code, records, verdict):
    assert judge(code, records, (1.0,)).verdict == verdict


@pytest.mark.parametrize(
    ("code", "records", "verdict"), CASES, ids=[f"{c}-{v}-{i}" for i, (c, _, v) in enumerate(CASES)]
)
def test_an_observation_is_judged_by_its_rule(code, records, verdict):
    judgement = judge(code, records)
    assert (judgement.verdict, bool(judgement.found)) == (verdict, True)
    assert judgement.found.endswith(".")


@pytest.mark.parametrize("code", ["O5", "O6", "O7", "O9"])
def test_what_was_found_says_what_speaks_against_all_of_it(code):
    unsteady = judge(code, list(map(shared, WORLDS[code]["reproduced"])))
    assert " Caution: other virtual machines " in unsteady.found


def test_what_several_gpus_gain_and_lose_is_said_not_to_be_always_so():
    said = judge("O14", [*scaled(0.0001), *scaled(1.0, TREES)]).found
    assert f" Not always: faster are {MLP.name}, slower gbdt_mortgage." in said
    assert "always" not in judge("O14", scaled(0.0001)).found
    assert "always" not in judge("O14", scaled(1.0, TREES)).found


def test_what_is_missing_for_a_verdict_is_said_beside_what_was_found():
    pair = sides("gbdt_mortgage", 20, about=TREES)
    cases = {
        ("O2", "Not measured: one ten times as long."): runs(0.2, 0.3)[:1],
        ("O2", "Not measured: the documented run."): runs(0.2, 0.3)[1:],
        ("O13", "Not measured: 4 GPUs at once."): pair,
        ("O13", "Not measured: the CPU beside them."): trees(11, 2.1)[2:],
        ("O13", "Not measured: the CPU beside them, 4 GPUs at once."): node(2, TREES),
    }
    for (code, missing), records in cases.items():
        judgement = judge(code, records)
        assert judgement.verdict == "not run"
        assert judgement.found.endswith(f". {missing}")
    assert judge("O13", pair).found.startswith("One GPU trains the trees 20.0")
    assert "2 GPUs train them" in judge("O13", node(2, TREES)).found


def test_a_judgement_says_of_how_many_campaigns_the_results_of_one_host_are():
    cpu, gpu = first_calls()
    later = {"campaign": "20260102-000000-later", "created": "2026-01-02T00:00:00Z"}
    assert "campaigns" not in judge("O5", [cpu, gpu], None).found
    found = judge("O5", [cpu, msgspec.structs.replace(gpu, **later)], None).found
    assert found.endswith(" The results are of 2 campaigns, 2026-01-01 to 2026-01-02.")


def test_a_judgement_says_how_many_of_its_speed_ups_may_be_quoted():
    pair = [*sides("imdb_text_cnn", 13), *sides("imdb_bilstm", 20)]
    baseline = factory.record("imdb_text_cnn", "cpu", [0.0125] * 3, implementation="torch")
    assert judge("O11", pair).found.endswith(" None of 2 may be quoted.")
    assert judge("O11", [*pair, baseline]).found.endswith(" 1 of 2 may be quoted.")
    assert judge("O11", [pair[0], pair[1], baseline]).found.endswith("as fast on the GPU.")


def test_a_longer_run_that_only_compiles_for_less_of_its_time_was_not_too_short():
    whole = thrice([watched(1, "plain", 0.03, training=0.3), watched(10, "plain", 0.15, training=0.28)])
    judged = judge("O2", whole)
    assert judged.verdict == "refuted"
    assert judged.found.endswith("building and compiling included, 3.0 % and 15 %.")
    found = judge("O2", [watched(1, "plain", 0.03, epochs=1.0), whole[1]])
    assert (found.verdict, found.found.partition(" Not measured: ")[2]) == (
        "not run", "how busy it is in the epochs of the documented run, which are too short for it.")  # fmt: skip


def test_cores_are_judged_by_what_they_do_while_training():
    pair = [watched(1, "plain", 0.2, backend) for backend in ("cpu", "gpu")]
    assert judge("O1", pair, None).found.startswith(
        "While training, the CPU's cores are busy 70 % (one run); the GPU is at most 90 % (one run)."
    )


def test_the_length_of_a_run_is_judged_by_all_hosts_that_made_it():
    first, again = runs(0.2, 0.8), runs(0.2, 0.21)
    both = [*factory.on_hosts(first, SHARES), *factory.on_hosts(again, (1.0,) * 6)[2 * len(SHARES) :]]
    assert judge("O2", factory.on_hosts(first, SHARES), None).verdict == "reproduced"
    said = judge("O2", both, None).found
    assert said.startswith("While training, the GPU is busy 20.0 % (")
    assert " in the documented run and 41" in said


def test_calls_are_judged_by_their_interval():
    def spreads(*shares):
        made = calls("gpu", 15.0, 0.3, 0.2, 0.2)
        later = [(0.2, 0.2 * (1 + share)) for share in shares]
        runs = tuple(
            msgspec.structs.replace(
                run, samples=tuple(Sample(wall_seconds=wall, process_seconds=wall) for wall in seconds)
            )
            for run, seconds in zip(made.runs, later, strict=True)
        )
        return of_resnet(msgspec.structs.replace(made, runs=runs))

    cpu = first_calls()[0]
    wide = judge("O6", [cpu, spreads(0.014, 0.006, 0.0046)])
    assert wide.verdict == "in part"  # the CPU's
    assert "0.7 % (0.17 to 3.09) on the GPU" in wide.found
    assert "Cannot be judged: they agree on the GPU" in wide.found
    assert "Does not hold: they agree on the GPU" in judge("O6", [cpu, spreads(0.014, 0.0139, 0.0141)]).found
    assert judge("O6", [cpu, spreads(0.002, 0.0021, 0.0019)]).verdict == "reproduced"
    assert judge("O6", [cpu, spreads(0.0, 0.0, 0.002)]).verdict == "reproduced"


def test_only_a_certified_speed_up_gains_surely_more_than_is_paid():
    high, shaky, less = sides("mnist_cnn", 60), sides("mnist_mlp", 45), sides("cifar10_mlp", 20)
    faster = factory.record("mnist_mlp", "cpu", [0.010] * 3, implementation="torch")
    found = judge("O15", [*high, *shaky, faster, *less]).found
    assert found.startswith("More than 30x is surely gained by 1 of 3 networks: mnist_cnn 60.0x (")
    assert "mnist_mlp" not in found


def elsewhere(records, fits):
    """Return the records, those that fit as if another campaign had them."""
    return [
        msgspec.structs.replace(record, campaign="20260102-000000-other") if fits(record) else record
        for record in records
    ]


def test_a_gap_without_both_sides_is_not_judged_and_what_each_side_loses_is_said():
    judgement = judge("O19", [r for r in depths() if (r.workload, r.backend) != ("catdog_cnn_base", "cpu")])
    assert judgement.verdict == "not comparable"
    assert "-84.0 %" in judgement.found
    assert "-20.0 %" in judgement.found
    assert "Cannot be judged: the gap grows, as not both networks were measured on both sides" in judgement.found


def test_sides_of_two_campaigns_are_pooled_as_those_of_one_are():
    apart = elsewhere(depths(), lambda r: r.backend == "cpu")
    assert judge("O19", apart, None) == judge("O19", depths(), None)


@pytest.mark.parametrize(
    ("calls_of_gpu", "verdict", "between"),
    [
        ((1.5, 0.3, 0.2, 0.2005), True, None),  # 7.5 after 2.5, the CPU's
        ((4.0, 0.3, 0.2, 0.2005), True, True),
        ((0.3, 0.3, 0.2, 0.2005), False, None),
        ((0.11, 0.3, 0.1, 0.1002), False, False),
    ],
)
def test_first_calls_of_two_campaigns_are_apart_by_far_or_not_surely(calls_of_gpu, verdict, between):
    cpu = (45.0, 9.0, 8.0, 8.05) if calls_of_gpu[0] == 0.11 else (20.0, 9.0, 8.0, 8.05)
    records = first_calls(cpu=cpu, gpu=calls_of_gpu)
    apart = elsewhere(records, lambda r: r.backend == "cpu")
    assert [judge("O5", each, None).parts[1].holds for each in (records, apart)] == [verdict, between]


@pytest.mark.parametrize(
    ("ratios", "wins"),
    [((30, 20, 10), True), ((90, 20, 0.6), None), ((90, 20, 0.4), False), ((90, 1.5, 10), None)],
)
def test_single_processes_win_or_lose_a_case_by_a_factor_of_two(ratios, wins):
    assert judge("O12", alone(served(*ratios)), (1.0,)).parts[0].holds is wins


def test_networks_of_unlike_size_that_gain_in_no_order_leave_open_whether_small_ones_gain_most():
    found = judge("O12", served(38.7, 19.3, 8.3, 8.9, 27.1))
    assert [part.holds for part in found.parts] == [True, None]
    assert found.verdict == "in part"


def test_served_networks_count_with_every_batch_whoever_asked_for_it():
    asked = [
        msgspec.structs.replace(r, experiment="serving", case=msgspec.structs.replace(r.case, batch=8))
        for r in served(15, 20, 10)
    ]
    found = judge("O12", [*served(30, 20, 10), *asked]).found
    assert "serve_mobilenet_v2 30.0x" in found
    assert "6 cases of network and batch" in found


def test_networks_that_differ_in_dropout_alone_are_no_further_evidence():
    names = ("catdog_cnn_conv64", "catdog_cnn_dropout", "catdog_cnn_noaug", "catdog_cnn_128")
    about = {name: models.load(name).description for name in names}
    records = [r for name in names for r in sides(name, 10 if name != "catdog_cnn_128" else 20, about=about[name])]
    assert judge("O27", records) == NOT_RUN


@pytest.mark.parametrize("code", ALL)
def test_nothing_is_judged_without_records_or_by_what_only_shows_that_it_runs(code):
    assert judge(code, []).verdict == "not run"
    smoke = [
        r for name in ("mnist_mlp", "cifar10_mlp") for s in ("step", "run") for r in sides(name, 20, s, profile="smoke")
    ]
    assert judge(code, smoke).verdict == "not run"


def test_each_observation_is_there_once_and_names_an_experiment_that_tests_it():
    assert list(ALL) == [f"O{number}" for number in range(1, 28)]
    for each in observations():
        if each.experiment:
            assert each.code in experiments.load(each.experiment).TESTS
    tested = {code for name in experiments.names() for code in experiments.load(name).TESTS}
    assert tested <= set(ALL)


def test_every_documented_number_has_an_entry():
    documented = {(name, metric) for name in models.names() for metric, *_ in reference.of(name)["claims"]}
    found = {(entry.workload, entry.claim.metric) for entry in entries(CATALOGUE, known([]), {})}
    assert documented <= found
    assert sum(entry.workload == "gbdt_mortgage" for entry in entries(CATALOGUE, known([]), {})) == 4


def test_a_ratio_that_any_hardware_may_have_is_reproduced_within_a_quarter_and_never_refuted():
    about = next(each for each in CATALOGUE if each.name == "cifar10_mlp")

    def verdict(ratio):
        (found,) = [
            e for e in entries([about], known(sides("cifar10_mlp", ratio, "run", about)), {}) if e.claim in about.claims
        ]
        return found.judgement.verdict, found.scope

    assert verdict(12.0) == verdict(14.5) == ("reproduced", "run")
    assert verdict(20.0) == verdict(0.5) == ("not comparable", "run")


def test_how_busy_the_gpu_is_at_a_batch_is_missing_where_nobody_watched():
    about = next(each for each in CATALOGUE if each.name == "cifar10_tf_cnn")
    found = judge("O26", [factory.record("cifar10_tf_cnn", "gpu", batch=512, about=about)])
    assert found.verdict == "not run"
    assert "Not measured: how busy the GPU is meanwhile" in found.found
    assert judge("O26", []) == NOT_RUN


def test_a_disturbed_result_reproduces_no_number():
    about = next(each for each in CATALOGUE if each.name == "cifar10_mlp")
    steady = sides("cifar10_mlp", 12.0, "run", about)
    found = [next(e.judgement for e in entries([about], known(records), {}) if e.claim in about.claims)
             for records in (steady, list(map(shared, steady)))]  # fmt: skip
    assert [judgement.verdict for judgement in found] == ["reproduced", "not run"]


def test_a_number_is_not_reproduced_because_an_observation_is():
    judged = {code: Judgement(verdict="reproduced", found="So it was.") for code in ALL}
    found = {entry.judgement for entry in entries(CATALOGUE, known([]), judged)}
    assert {judgement.verdict for judgement in found} == {"not comparable", "not run"}
    assert {judgement.found for judgement in found if judgement.verdict == "not comparable"} == {
        "It is not measured.",
        "So it was. The documented ratio itself was not measured.",
        "So it was. Documented is no ratio of CPU and GPU.",
    }


def test_what_augmentation_costs_stands_beside_the_two_networks_it_was_measured_with():
    judged = {"O24": judge("O24", augmented(80.0, 100.0))}
    beside = {
        entry.workload for entry in entries(CATALOGUE, known([]), judged) if "Augmentation" in entry.judgement.found
    }
    assert beside == {"catdog_cnn_dropout", "catdog_cnn_noaug"}


@pytest.mark.parametrize(("ratio", "observed"), [(13, "reproduced"), (60, "not comparable")])
def test_a_step_stands_beside_a_training_that_was_not_run_and_does_not_reproduce_it(ratio, observed):
    about = next(each for each in CATALOGUE if each.name == "imdb_text_cnn")
    evidence = known(sides("imdb_text_cnn", ratio))
    judged = ledger.judgements(evidence)
    (found,) = [e for e in entries([about], evidence, judged) if e.claim.metric == "training"]
    assert (judged["O11"].verdict, found.judgement.verdict) == (observed, "not comparable")
    assert f"imdb_text_cnn is {ratio}" in found.judgement.found
    assert found.judgement.found.endswith("The documented ratio itself was not measured.")


def test_what_an_observation_stands_beside_is_documented():
    documented = {(about.name, claim.metric) for about in CATALOGUE for claim in about.claims}
    beside = [number for each in ALL.values() for number in each.numbers]
    assert beside
    assert set(beside) <= documented
    assert len(set(beside)) == len(beside), "each stands beside one"


@pytest.mark.parametrize(
    ("records", "verdict"),
    [
        (grid(100, 300), "reproduced"),
        (grid(100, 150), "not comparable"),
        (grid(100, 136, backend="cpu"), "not run"),
    ],
)
def test_what_tuning_gains_a_gpu_is_reproduced_by_a_gpu_alone(records, verdict):
    judged = ledger.judgements(known(records))
    (found,) = [e for e in entries([BASE], known(records), judged) if e.claim.metric == "gpu_tuning_gain"]
    assert found.judgement.verdict == verdict


@pytest.mark.parametrize(
    ("accuracies", "verdict"),
    [
        ((0.981, 0.982, 0.983), "reproduced"),
        ((0.982,), "not comparable"),  # one process
        ((0.950, 0.951, 0.952), "not comparable"),  # between two points and five
        ((0.930, 0.931, 0.932), "refuted"),
        ((), "not run"),
    ],
)
def test_an_accuracy_is_reached_within_two_points_on_the_real_data_alone(accuracies, verdict):
    about = next(each for each in CATALOGUE if each.name == "mnist_mlp")
    made = [trained("mnist_mlp", accuracies) if accuracies else trained("mnist_mlp", (0.984,), data="embedded")]
    (found,) = [e for e in entries([about], known(made), {}) if e.claim.metric == "accuracy"]
    assert found.judgement.verdict == verdict


def test_figures_differ_by_what_is_counted_and_that_is_said():
    about = next(each for each in CATALOGUE if each.name == "cifar10_mlp")
    rungs = {"step": 30, "transfer": 9, "epoch": 4, "cold": 0.5, "run": 2}
    records = [record for scope, ratio in rungs.items() for record in sides("cifar10_mlp", ratio, scope, about)]
    found = next(e for e in entries([about], known(records), {}) if e.claim in about.claims)
    assert "a step 30" in found.judgement.found
    assert "from storage on 4" in found.judgement.found
    assert "the whole run 2" in found.judgement.found
    assert "Tesla T4" in found.judgement.found


def test_the_page_shows_every_line_and_counts_them():
    records = [*sides("mnist_mlp", 10), *sides("cifar10_mlp", 30)]
    page = ledger.files(Facts(records=records, catalogue=CATALOGUE))["ledger.md"]
    assert all(f">{code}<" in page for code in ALL)
    assert all(verdict in page for verdict in VERDICTS)
    assert page.count(">gbdt&#95;mortgage<") == 4
    assert "must be beyond it by a factor of 2." in page
    assert "Within a factor of 1.25 means" in page
    assert "not run" in ledger.files(Facts(records=(), catalogue=CATALOGUE))["ledger.md"]


def test_the_machine_that_decides_is_taken():
    slow = msgspec.structs.replace(factory.HOST, name="aaa, 2 cores")
    records = [*sides("imdb_text_cnn", 60, machine=slow), *sides("imdb_text_cnn", 13)]
    machines = by_machine(records).values()
    name, judgement = ledger.best([(mine[0].machine.name, judge("O11", mine)) for mine in machines])
    assert (name, judgement.verdict) == (factory.HOST.name, "reproduced")


def test_a_machine_that_decides_all_parts_and_by_own_networks_is_taken_first():
    open_, whole = judge("O16", grid(100, 300)), judge("O16", WORLDS["O16"]["refuted"])
    assert (open_.verdict, whole.verdict) == ("in part", "refuted")
    assert ledger.best([("a", open_), ("b", whole)]) == ("b", whole)
    others, own = judge("O8", threads(3.0)), judge("O8", WORLDS["O8"]["refuted"])
    assert ledger.best([("a", others), ("b", own)]) == ("b", own)
    mixed = judge("O20", WORLDS["O20"]["in part"])
    assert ledger.best([("a", mixed), ("b", whole)]) == ("a", mixed)


def test_what_is_missing_is_of_the_machine_that_has_most_of_it_and_of_none_where_all_lack_the_same():
    nothing, some = Judgement(verdict="not run"), Judgement(verdict="not run", found="Not measured: the rest.")
    assert ledger.best([("a", nothing), ("b", some)]) == ("b", some)
    assert ledger.best([("a", some), ("b", some)]) == ("", some)
    assert ledger.best([("a", nothing)]) == ("", nothing)
    assert ledger.best([]) == ("", nothing)


def test_the_documented_ratios_that_decide_are_those_of_the_networks():
    about = {each.name: {claim.metric: claim for claim in each.claims} for each in CATALOGUE}
    assert about["imdb_text_cnn"]["training"].speedup == text._DOCUMENTED
    assert about["cifar10_mlp"]["10_epochs_incl_build"].speedup == whole_runs._DOCUMENTED
    trees = [claim.speedup for each in CATALOGUE if each.name == "gbdt_mortgage" for claim in each.claims]
    assert (trees[0], trees[-1] / trees[0]) == (devices._OF_ONE, devices._OF_FOUR)
    base = about["catdog_cnn_base"]
    gain = base["throughput_tuned"].cpu_value / base["throughput_default"].cpu_value
    assert {"cpu": gain, "gpu": base["gpu_tuning_gain"].gpu_value} == input_tuning.GAINS


def test_a_catalogue_that_is_none_is_named(tmp_path):
    assert catalogue.read(tmp_path) == ()
    (tmp_path / "catalogue.json").write_text("[1]")
    with pytest.raises(ValueError, match=r"catalogue\.json' is no catalogue"):
        catalogue.read(tmp_path)


def test_a_process_that_took_no_cpu_time_gives_no_interval_and_decides_nothing():
    found = judge("O7", clocks(3.0, 0.0))
    assert found.verdict == "in part"
    assert found.parts[1].holds is False  # surely below by the factor of two


def test_a_verdict_says_which_part_of_the_observation_it_is_on():
    assert "159x and 52x themselves are judged as documented numbers" in judge("O8", WORLDS["O8"]["reproduced"]).found
    own, other = WORLDS["O9"]["reproduced"], epochs((BASE, 59.0))
    assert "Other networks, of which the article says nothing: of 1 epoch" in judge("O9", [*own, *other]).found
    assert "Other networks, which decide instead of the article's" in judge("O9", other).found


def test_each_article_s_speed_ups_stand_in_the_ledger_as_searched_text_also_rounded():
    page = ledger.files(Facts(records=(), catalogue=CATALOGUE))["ledger.md"]
    listed = page.partition("The speed-ups by article")[2].partition("</details>")[0]
    assert "<li>What&#39;s the speed difference between running an ML job on GPU vs CPU?: " in listed
    for ratio in ("159.42x (159x)", "52.25x (52.2x, 52x)", "13.76x (13.8x, 14x)", "12.13x (12.1x, 12x)", "23x", "100x"):
        assert ratio in listed
