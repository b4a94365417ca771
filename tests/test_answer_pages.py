"""Every question has a page: with its answer where records have one, else with what is missing; and search engines
read the same words."""

import html
import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import factory
import msgspec
import pytest

from suite import claims, discovery, experiments, families, models, units
from suite.analysis.capabilities import MachineCapabilities
from suite.report import answers, pages
from suite.report.pages.answers import quoting
from suite.report.parts.answer import Answer, answer
from suite.report.parts.facts import Facts
from suite.report.parts.html import Html
from suite.report.parts.quoted import Quoted, why_not
from suite.results.records import store
from suite.results.records.run import Profiled, Sample
from suite.results.single.prices import Price

GOLDEN = Path(__file__).parent / "golden" / "records"
WRITTEN = Path(__file__).parents[1] / "site"
NOISE = (1.0, 1.01, 0.99)
MOST_WORDS = 25
ABLE = MachineCapabilities(
    backends=("cpu", "gpu"), cores=16, gpus=2, gpu_precisions=("float32-highest", "tf32", "bfloat16")
)
EVIL = "</script><script>alert(1)</script> {{ 7 * 7 }} *c*"
T4 = msgspec.structs.replace(factory.H100, name="Tesla T4")
APPLE = msgspec.structs.replace(factory.H100, name="Apple M4")
CARD = msgspec.structs.replace(factory.H100, name="NVIDIA GeForce RTX 4090")
TWO = msgspec.structs.replace(factory.HOST, name="two-gpus, 32 cores", gpus=(factory.H100, factory.H100))
PRICES = (
    Price(per_hour=4.0, currency="USD", date="2026-01", source="A provider", gpu="H100"),
    Price(per_hour=0.5, currency="USD", date="2026-02", source="Another", machine=factory.PLAIN.name),
)


def about(name, **changes):
    """A model's own description where there is such a model, so that its family is right."""
    known = models.load(name).description if name in (*models.names(), *families.NAMES) else factory.description(name)
    return msgspec.structs.replace(known, **changes)


def calls(name, gpu, variant="plain"):
    """A step of a member of a family on both sides, its CPU's time by its work alone."""
    described = about(name)
    work = described.batch * described.flop_per_example
    return both(name, 20e-6 + work / 100e9, gpu + work / 10e12, described=described, variant=variant)


def both(name="mnist_mlp", cpu=0.010, gpu=0.0005, machine=factory.HOST, scope="step", described=None, **axes):
    described = described or about(name)
    return [
        factory.record(name, backend, [seconds * n for n in NOISE], machine, scope=scope, about=described, **axes)
        for backend, seconds in (("cpu", cpu), ("gpu", gpu))
    ]


def one(name="mnist_mlp", backend="gpu", seconds=0.0005, machine=factory.HOST, **axes):
    return factory.record(name, backend, [seconds * n for n in NOISE], machine, about=about(name), **axes)


def of_gpu(gpu):
    return both(
        machine=msgspec.structs.replace(factory.HOST, name=f"its {gpu.name[-2:].lower()}, 2 cores", gpus=(gpu,))
    )


SAMPLES = {
    "why_is_my_gpu_slower_than_my_cpu": both("dp_linear_mirrored", 0.0001, 0.0002),
    "why_is_gpu_use_low": [*both(), *both(cpu=2.0, gpu=1.9, scope="epoch")],
    "why_is_the_first_step_slow": [*both(), *both(cpu=2.0, gpu=22.0, scope="cold")],
    "what_does_the_batch_size_do": [*both(), *both(cpu=0.02, gpu=0.00099, batch=1024)],
    "apple_m_series_or_cuda": of_gpu(APPLE),
    "colab_t4_or_my_pc": of_gpu(T4),
    "is_an_rtx_card_worth_it": of_gpu(CARD),
    "cpu_or_gpu_for_inference": [*both("serve_resnet50"), *both("serve_resnet50", 0.3, 0.004, batch=32)],
    "which_is_cheaper_in_the_cloud": [*both(), one(backend="cpu", seconds=0.02, machine=factory.PLAIN)],
    "are_lstms_slow_on_gpus": [*both("imdb_bilstm"), *both("imdb_bilstm", variant="scan", gpu=0.0001)],
    "when_does_xgboost_gain_from_a_gpu": both("gbdt_mortgage", implementation="xgboost"),
    "why_are_two_gpus_no_faster": [
        one(seconds=seconds, machine=TWO, devices=devices, batch=batch)
        for devices, batch, seconds in ((1, 128, 0.001), (2, 128, 0.002), (1, 1024, 0.004), (2, 1024, 0.003))
    ],
    "does_mixed_precision_help": [one(seconds=s, precision=p) for p, s in
                                  (("float32-highest", 0.003), ("tf32", 0.002), ("bfloat16", 0.001))],
    "how_many_cpu_cores_equal_a_gpu": [
        one(seconds=0.0005),
        *(one(backend="cpu", seconds=0.002 + 0.02 / n, threads=n) for n in (1, 2, 4, 8)),
        one(backend="cpu", seconds=0.002 + 0.02 / 16),
    ],
    "will_another_gpu_give_the_same": [*both(), *both("mnist_cnn", 0.02)],
    "is_jax_faster_than_pytorch": [*both(), *both(gpu=0.0008, implementation="torch", variant="plain")],
}  # fmt: skip


def sample(name):
    return factory.on_hosts(SAMPLES[name])


def answer_of(name, records, **more):
    return answer(answers.load(name), Facts(records=records, prices=PRICES, **more))


def words(text):
    """How many words are read aloud: an interval in brackets belongs to its number."""
    return len(re.sub(r" \([^)]*\)", "", text).split())


def structured(page):
    """The structured data of a page; None if it has none."""
    found = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page, re.DOTALL)
    return json.loads(found[0]) if found else None


def said(page):
    """Questions and their answers as a search engine reads them."""
    document = structured(page)
    return {each["name"]: each["acceptedAnswer"]["text"] for each in document["mainEntity"]} if document else {}


@pytest.mark.parametrize("name", answers.names())
def test_every_question_keeps_the_contract(name):
    question = answers.load(name)
    assert question.title.endswith("?")
    assert words(question.wanted) <= MOST_WORDS
    assert not re.search(r"\d\.\d", question.wanted)
    assert set(question.read_next) <= {*answers.names()} - {name}
    assert set(question.evidence) <= {*experiments.names()}
    assert question.read_next
    assert question.also


def test_no_two_questions_have_one_place():
    places = [answers.load(name).place for name in answers.names()]
    assert sorted(places) == list(range(1, len(places) + 1))


@pytest.mark.parametrize("name", answers.names())
def test_the_command_of_a_question_is_one_that_nox_and_the_suite_know(name):
    session, _, rest = answers.load(name).command.removeprefix("nox -s ").partition(" -- ")
    assert session in ("bench", "control")
    named, *options = rest.split(" --")
    assert set(named.split()) <= {*models.names()}
    for option in options:
        flag, value = option.split()
        assert flag in ("experiment", "prices")
        if flag == "experiment":
            catalogue = [models.load(each).description for each in named.split()]
            assert experiments.load(value).cases(catalogue, ABLE)


@pytest.mark.parametrize("name", answers.names())
def test_every_question_is_answered_from_records_in_one_sentence_with_keys_and_a_condition(name):
    its = answer_of(name, sample(name))
    assert its is not None
    sentence = str(its.sentence.striptags())
    assert words(sentence) <= MOST_WORDS
    assert sentence.endswith(".")
    assert sentence.count(". ") == 0
    assert its.keys
    assert its.turns
    assert all(number.words in its.sentence + its.turns for number in its.numbers)
    assert all(re.search(r"\((.* to .*|no interval)\)", str(number.words.striptags())) for number in its.numbers)


@pytest.mark.parametrize("name", answers.names())
def test_every_answer_with_a_chart_has_its_numbers_in_a_table(name):
    its = answer_of(name, sample(name))
    assert its.tables or its.advice or not list(its.draw())


@pytest.mark.parametrize("name", answers.names())
def test_keys_of_an_answer_name_numbers_and_its_links_their_rows(name):
    facts = Facts(records=sample(name), prices=PRICES)
    its = answer(answers.load(name), facts)
    files = pages.files(facts)
    page = files[f"answers/{answers.slug(name)}.md"]
    for key in its.keys:
        number = facts.numbers.resolve(key)
        row = number.key.unpinned.text().replace("/", ".")
        assert f'id="{row}"' in html.unescape(files[f"numbers/{number.record.workload}.md"])
    assert all(number.words in page for number in its.numbers)
    places = [re.findall(r'href="\.\./(numbers/\w+)\.html#([^"]+)"', number.words) for number in its.numbers]
    assert all(len(each) <= 1 for each in places)  # what was carried on or averaged stands in no row
    assert any(places)
    assert all(f'id="{row}"' in html.unescape(files[f"{path}.md"]) for each in places for path, row in each)


@pytest.mark.parametrize("name", answers.names())
def test_without_its_evidence_a_page_says_what_is_missing_and_is_in_no_list_of_answers(name):
    question = answers.load(name)
    files = factory.pages(())
    page = html.unescape(files[f"answers/{answers.slug(name)}.md"])
    assert question.wanted in page
    assert question.command in page
    assert structured(page) is None
    assert f"answers/{answers.slug(name)}.html" not in files["index.md"]
    assert structured(files["answers/index.md"]) is None


@pytest.mark.parametrize("records", [GOLDEN, (), "cpu"], ids=["golden", "none", "no GPU"])
def test_all_pages_of_questions_stand_whatever_was_measured(records):
    if records == "cpu":
        records = [r for r in factory.campaign(machine=factory.PLAIN) if r.backend == "cpu"]
    if records == GOLDEN:
        records, _ = store.load([GOLDEN])
    files = factory.pages(records)
    names = {f"answers/{answers.slug(name)}" for name in answers.names()}
    assert {path.removesuffix(".md") for path in files if path.startswith("answers/")} == {*names, "answers/index"}
    index = html.unescape(files["answers/index.md"])
    for name in answers.names():
        page = files[f"answers/{answers.slug(name)}.md"]
        assert f'href="{answers.slug(name)}.html"' in index
        assert bool(said(page)) == (answers.load(name).title in said(index))
        for href in re.findall(r'href="\.\./([\w./-]+)\.html', html.unescape(page)):
            assert {f"{href}.md", f"{href}.html"} & files.keys() or (WRITTEN / f"{href}.md").exists(), href
        for chart in re.findall(r'src="\.\./(charts/[\w.-]+)\.light\.svg', html.unescape(page)):
            assert f"{chart}.json" in files


def test_every_chart_of_an_answer_is_made_by_some_page():
    for name in answers.names():
        files = pages.files(Facts(records=sample(name), prices=PRICES))
        page = html.unescape(files[f"answers/{answers.slug(name)}.md"])
        for chart in re.findall(r'src="\.\./(charts/[\w.-]+)\.light\.svg', page):
            assert f"{chart}.json" in files, name


def test_with_sizes_on_both_sides_of_it_the_first_question_has_a_threshold():
    records = factory.on_hosts([r for size in ("32x2", "128x2", "512x2") for r in calls(f"crossover_mlp_{size}", 4e-4)])
    its = answer_of("why_is_my_gpu_slower_than_my_cpu", records)
    assert [key.split("/")[-1] for key in its.keys] == ["flop-threshold"]
    assert words(str(its.sentence.striptags())) <= MOST_WORDS
    assert [figure.name for figure in its.draw()] == [
        "experiments.crossover.test-gpu-16-cores", "experiments.crossover.test-gpu-16-cores.narrow"
    ]  # fmt: skip
    assert " in jax takes longer than on its host’s CPU: " in its.sentence
    slow = answer_of("why_is_my_gpu_slower_than_my_cpu", [*records, *sample("why_is_my_gpu_slower_than_my_cpu")])
    assert slow.sentence == its.sentence
    assert "In JAX a step of “One dense unit, data parallel” is 0.500x (" in slow.more.striptags()


def test_search_engines_read_the_sentence_that_the_page_shows():
    name = "does_mixed_precision_help"
    its, files = answer_of(name, sample(name)), factory.pages(sample(name))
    title, expected = answers.load(name).title, f"{its.sentence.striptags()}"
    assert said(files[f"answers/{answers.slug(name)}.md"])[title].startswith(expected)
    assert said(files["answers/index.md"])[title].startswith(expected)
    assert "2.00x" in expected  # over TF32, which JAX takes by default


def test_the_first_question_joins_what_is_around_a_small_model_s_step():
    name = "why_is_my_gpu_slower_than_my_cpu"
    scopes = {"transfer": (0.01, 0.002), "epoch": (1.0, 0.8), "run": (20.0, 40.0)}
    records = [*sample(name), *factory.on_hosts(both("mnist_mlp"))]
    for scope, times in scopes.items():
        records += factory.on_hosts(both("mnist_mlp", *times, scope=scope))
    its = answer_of(name, records)
    shown = [re.sub(r" .*", "", str(number.words.striptags())) for number in its.further]
    assert shown == ["20.0x", "5.00x", "1.25x", "0.500x", "0.500x"]  # the last is the slowest whole run
    assert {key.split("/")[3] for key in its.keys} == {"step", *scopes}
    page = factory.pages(records)[f"answers/{answers.slug(name)}.md"]
    assert its.more in page
    assert its.tables[0].rows[0][0].text == "dp_linear_mirrored"  # the one that is slower comes first
    (wide, _) = its.draw()
    rows = [row["value"] for layer in wide.spec["layer"] for row in layer["data"]["values"] if "series" in row]
    assert rows[0] == min(rows)


def test_the_cpu_suffices_up_to_a_rate_of_each_network_in_a_table_that_is_not_folded():
    name = "cpu_or_gpu_for_inference"
    records = [*sample(name), *factory.on_hosts(both("serve_mobilenet_v2", 0.005, 0.0001))]
    its = answer_of(name, records)
    (table,) = its.advice
    rates = {row[0].text: (row[1].text, row[5].text) for row in table.rows}
    assert rates == {"ResNet-50, inference": ("99.6", "20.0x"), "MobileNetV2, inference": ("199", "50.0x")}
    assert ["serve_resnet50" in its.sentence, "serve_mobilenet_v2" in its.sentence] == [True, True]
    assert words(str(its.sentence.striptags())) <= MOST_WORDS
    page = factory.pages(records)[f"answers/{answers.slug(name)}.md"]
    before = page[: page.index("suffices up to, pictures")]
    assert before.count("<details") == before.count("</details>")


def test_inference_names_the_networks_that_may_be_quoted_if_there_are_two():
    name = "cpu_or_gpu_for_inference"
    certified = [
        each
        for network, cpu in (("serve_resnet50", 0.010), ("serve_nasnet_mobile", 0.015))
        for each in (*both(network, cpu), one(network, "cpu", cpu, implementation="torch"))
    ]
    records = factory.on_hosts([*certified, *both("serve_mobilenet_v2", 0.05)])
    its = answer_of(name, records)
    assert (its.quotable, [key.split("/")[1] for key in its.keys]) == ("all", ["serve_resnet50", "serve_nasnet_mobile"])
    assert "These are the 2 of 3 networks whose speed-up may be quoted" in its.more
    assert words(str(its.sentence.striptags())) <= MOST_WORDS
    alone = answer_of(name, [each for each in records if each.workload != "serve_nasnet_mobile"])
    assert [key.split("/")[1] for key in alone.keys] == ["serve_resnet50", "serve_mobilenet_v2"]


@pytest.mark.parametrize(("scope", "told"), [("step", "the end of each step"), ("serve", "its answer")])
def test_inference_says_what_the_gpu_gains_if_each_answer_is_waited_for(scope, told):
    def waiting(backend, seconds):
        waited = (Sample(wall_seconds=seconds, process_seconds=seconds),) * 30
        runs = [factory.run(place, seconds, blocking_samples=waited) for place in range(3)]
        return factory.record("serve_resnet50", backend, scope=scope, runs=runs, about=about("serve_resnet50"))

    records = [*both("serve_resnet50"), waiting("cpu", 0.012), waiting("gpu", 0.002)]
    its = answer_of("cpu_or_gpu_for_inference", records[2:] if scope == "step" else records)
    gain = rf" If one waits for {told} before the next picture, 1 of them gains 6\.0\d*x \(.*\) for “ResNet-50, "
    gain += "inference”: "
    assert re.search(gain + "of one campaign each, not to be quoted", its.more.striptags())
    assert f"?serve_resnet50.gpu.{scope}#" in its.more
    assert not its.further


def test_reading_from_storage_names_its_workers():
    its = answer_of("why_is_gpu_use_low", sample("why_is_gpu_use_low"))
    assert "The input pipeline reads with 16 workers, one for each core." in its.more
    four = [*both(), *both(cpu=2.0, gpu=1.9, scope="epoch", workers=4)]
    assert answer_of("why_is_gpu_use_low", four) is None  # not the headline setting


def test_a_larger_batch_is_told_by_the_examples_a_second_of_both_sides():
    its = answer_of("what_does_the_batch_size_do", sample("what_does_the_batch_size_do"))
    told = its.sentence.striptags()
    assert told.startswith("At batch 1,024 one H100 80GB HBM3 computes 4.04x (")
    assert " the examples a second of batch 128, its CPU 4.00x (" in told
    assert its.more.striptags().startswith("The GPU still gains at batch 1,024. The speed-up is 20.0x (")
    steps = ((128, 0.0005), (512, 0.001), (1024, 0.00195))
    full = factory.on_hosts([each for batch, seconds in steps for each in both(gpu=seconds, batch=batch)])
    full = answer_of("what_does_the_batch_size_do", full)
    assert (its.thin, full.thin) == (True, False)
    assert full.sentence.striptags().startswith("At batch 512 one ")
    assert full.more.striptags().startswith("The GPU gains under 10 % beyond batch 512. ")


def test_two_gpus_are_told_with_the_batch_from_which_they_pay():
    name = "why_are_two_gpus_no_faster"
    its = answer_of(name, sample(name))  # slower at batch 128, faster at 1,024
    told = str(its.sentence.striptags())
    assert " at batch 128 two " in told
    assert re.search(r" as fast as one, from batch [3-7]\d\d faster\.$", told)
    slower = [each for each in SAMPLES[name] if each.case.batch == 128]
    assert str(answer_of(name, factory.on_hosts(slower)).sentence.striptags()).endswith(" as fast as one.")


def test_cores_are_told_as_extrapolated_and_of_how_many_models():
    name = "how_many_cpu_cores_equal_a_gpu"
    records = [*both("cifar10_mlp"), *both("crossover_mlp_32x2")]  # the last is of no article
    its = answer_of(name, [*sample(name), *factory.on_hosts(records)])
    assert "Further cores are extrapolated by Amdahl’s law from the 1 to 16 threads that were timed." in its.turns
    assert "Of 2 models 1 was timed with several numbers of threads; the law was fitted to 1." in its.turns
    two = [one("cifar10_mlp", "cpu", 0.010, threads=8), one("cifar10_mlp", "cpu", 0.013)]  # too few for the law
    more = answer_of(name, [*sample(name), *factory.on_hosts([one("cifar10_mlp"), *two])])
    assert "Of 2 models 2 were timed with several numbers of threads; the law was fitted to 1." in more.turns
    told = str(more.more.striptags())
    assert told.startswith("With 16 threads “CIFAR-10, wide dense network” is 0.769x (")  # the surely slower one
    assert told.endswith(" as fast as with 8.")


def test_cores_are_told_of_a_model_that_may_be_quoted_before_one_that_needs_fewer():
    name, fewer = "how_many_cpu_cores_equal_a_gpu", "cifar10_mlp"
    cpu = [one(fewer, "cpu", 0.0002 + 0.002 / n, **({"threads": n} if n < 16 else {})) for n in (1, 2, 4, 8, 16)]
    its = answer_of(name, [*sample(name), one(fewer), *cpu])
    assert ("mnist_mlp.html" in its.sentence, its.numbers[0].caveat) == (True, "")
    alone = answer_of(name, [*SAMPLES[name], one(fewer), *cpu])
    assert "cifar10_mlp.html" in alone.sentence


def test_cores_that_may_be_enough_are_called_probably_too_few():
    name = "how_many_cpu_cores_equal_a_gpu"
    near = factory.on_hosts([one(seconds=0.00199), *SAMPLES[name][1:]])
    its = answer_of(name, near)
    told = str(its.sentence.striptags())
    assert " a step of “MNIST, two hidden layers”; at least " in told
    assert re.search(r" at least [\d,]+ cores \([\d,]+ to never\) equal it, probably no number does\.$", told)
    assert words(told) <= MOST_WORDS
    assert "Unlimited cores would take " in its.more.striptags()
    sure = answer_of(name, sample(name))
    assert sure.sentence.startswith("No number of its cores is enough for ")
    assert "It is open" not in sure.more


def test_the_table_of_an_own_chart_says_why_a_value_may_not_be_quoted():
    its = answer_of("are_lstms_slow_on_gpus", SAMPLES["are_lstms_slow_on_gpus"])
    assert {(row[-1].text, row[-1].remark) for row in its.tables[0].rows} == {("no", "1 host of 3")}


def test_the_lstm_s_page_names_the_suite_s_own_kernel_on_the_gpus_that_have_it_and_compares_two_networks():
    name, records = "are_lstms_slow_on_gpus", [*both("imdb_bilstm"), *both("imdb_text_cnn"), *both()]
    its = answer_of(name, records)
    assert (
        its.more == "JAX runs the loop on this GPU in a kernel of this suite’s own; an ordinary lax.scan was not timed."
    )
    assert {row[0].text for table in its.tables for row in table.rows} == {"imdb_bilstm", "imdb_text_cnn"}
    ada = msgspec.structs.replace(factory.H100, name="NVIDIA L4", compute_capability="8.9")
    other = answer_of(name, both("imdb_bilstm", machine=msgspec.structs.replace(factory.HOST, gpus=(ada,))))
    assert other.more == ""
    assert its.sentence.startswith("Not surely, even with a kernel of its own: one ")
    assert answer_of(name, sample(name)).sentence.startswith("Not with a kernel of its own: one ")
    assert other.sentence.startswith("Not surely: one ")


def test_the_fastest_way_on_each_side_stands_beside_what_xgboost_gains():
    xgboost = both("gbdt_mortgage", cpu=0.005, gpu=0.001, implementation="xgboost")
    records = factory.on_hosts([*both("gbdt_mortgage"), *xgboost])
    its = answer_of("when_does_xgboost_gain_from_a_gpu", records)
    (best,) = its.further
    (item,) = [each for each in Facts(records=records).speedups if each.workload == "gbdt_mortgage"]
    assert f"{item.best_over_best.value:.1f}x" in best.words
    assert item.best_over_best.value < item.ratio.value
    assert best.keys[0].partition("@")[0].endswith("/best-over-best")
    assert best.words in its.more


def test_campaigns_that_were_disturbed_are_counted_beside_another_gpu_s_range():
    records = factory.on_hosts(SAMPLES["will_another_gpu_give_the_same"], shares=(1.0, 1.1, 0.9))
    loaded = [msgspec.structs.replace(run, other_load_cores=9.0) for run in records[0].runs]
    busy = [
        msgspec.structs.replace(each, campaign="busy", runs=tuple(loaded)) for each in records if each.backend == "cpu"
    ]
    name = "will_another_gpu_give_the_same"
    assert ", none was left out as disturbed" in answer_of(name, records).turns
    assert ", 1 was left out as disturbed" in answer_of(name, [*records, *busy]).turns


def test_another_gpu_s_range_holds_the_value_and_is_wider_than_its_interval():
    name = "will_another_gpu_give_the_same"
    records = factory.on_hosts(SAMPLES[name], shares=(1.0, 1.1, 0.9))
    its = answer_of(name, records)
    (item,) = [each for each in Facts(records=records).speedups if each.workload == "mnist_mlp"]
    assert item.ratio.range_low < item.ratio.low < item.ratio.value < item.ratio.high < item.ratio.range_high
    row = next(row for row in its.tables[0].rows if row[0].text == "MNIST, two hidden layers")
    assert row[5].text == units.interval(item.ratio.range_low, item.ratio.range_high)
    (wide, _) = its.draw()
    assert "95 % intervals" not in wide.caption
    assert answer_of(name, SAMPLES[name]) is None  # of one host nothing is known of the next


def test_the_question_after_colab_leads_to_the_article_s_number_and_to_the_installation():
    page = html.unescape(factory.pages(())["answers/colab-t4-or-my-pc.md"])
    assert 'href="../ledger.html#O10"' in page
    (observed,) = [each for each in claims.observations() if each.code == "O10"]
    assert "row O10" in page
    assert "on a T4" in observed.said
    assert '!pip install "nox[uv]"' in page


def test_mixed_precision_is_set_against_the_default_and_then_against_full_float32():
    its = answer_of("does_mixed_precision_help", sample("does_mixed_precision_help"))
    assert "Over TF32" in its.sentence
    assert "3.00x" in its.turns
    (row,) = [row for row in its.tables[0].rows if row[1].text == "full float32"]
    assert row[2].text == "0.667x"
    alone = [each for each in SAMPLES["does_mixed_precision_help"] if each.case.precision != "tf32"]
    assert "Over full float32" in answer_of("does_mixed_precision_help", factory.on_hosts(alone)).sentence
    names = ("mnist_cnn", "cifar10_mlp", "imdb_bilstm", "imdb_text_cnn")
    more = [one(name, precision=each.case.precision) for name in names for each in alone]
    assert (its.thin, answer_of("does_mixed_precision_help", factory.on_hosts([*alone, *more])).thin) == (True, False)


def test_the_first_step_compiles_and_half_of_all_models_win_that_back():
    times = {"mnist_mlp": (0.01, 0.0005), "cifar10_mlp": (1.0, 0.05), "mnist_cnn": (0.004, 0.0002)}  # of a step
    never = {"dp_linear_mirrored": (0.001, 0.002)}
    records = [each for name, (cpu, gpu) in (times | never).items() for each in both(name, cpu, gpu)]
    starts = {"mnist_mlp": 3.0, "cifar10_mlp": 50.0, "mnist_cnn": 10.0, "dp_linear_mirrored": 2.0}  # of the GPU
    records += [each for name, gpu in starts.items() for each in both(name, 1.0, gpu, scope="cold")]
    at_once = [*both("imdb_text_cnn"), *both("imdb_text_cnn", 1.0, 0.9, scope="cold")]
    its = answer_of("why_is_the_first_step_slow", factory.on_hosts([*records, *at_once]))
    text = str(its.sentence.striptags())
    assert words(text) <= MOST_WORDS
    gpu, cpu = (str(number.words.striptags()) for number in its.numbers)
    assert (gpu[:6], cpu[:4]) == ("10.0 s", "1.00")  # mnist_cnn, which needs most steps
    assert "mnist_cnn.html" in its.sentence
    (half,) = its.further
    assert half.words.striptags().startswith("212 steps")  # mnist_mlp: 1 + (3 - 1) / (0.01 - 0.0005)
    rest = "the GPU has won its longer start back for half of 5 models, at once for 1, never for 1."
    assert str(its.more.striptags()) == f"Within {half.words.striptags()} {rest}"


def test_jax_is_counted_on_both_sides_each_with_its_models():
    its = answer_of("is_jax_faster_than_pytorch", sample("is_jax_faster_than_pytorch"))
    assert "JAX is surely faster than PyTorch for 1 of 1 models on one" in its.sentence.striptags()
    assert "; on its CPU for 0, slower for 0." in its.sentence.striptags()
    assert its.turns.count("Timed beside JAX in a step on the GPU and the CPU: PyTorch for 1 and Keras for none.") == 1
    assert its.turns.count("Keras") == 2
    assert {key.split("/")[2] for key in its.keys} == {"cpu", "gpu"}, "the sentence counts both sides"
    assert [row[1].text for row in its.tables[0].rows] == ["GPU", "CPU"]
    unit = [*both("dp_linear_mirrored"), *both("dp_linear_mirrored", gpu=0.0001, implementation="torch")]
    more = answer_of("is_jax_faster_than_pytorch", [*sample("is_jax_faster_than_pytorch"), *factory.on_hosts(unit)])
    assert "JAX is surely faster than PyTorch for 1 of 2 models" in more.sentence
    assert " for 2 of the 2." in more.turns
    trees = factory.on_hosts([*both("gbdt_mortgage"), *both("gbdt_mortgage", implementation="xgboost")])
    beside = answer_of("is_jax_faster_than_pytorch", [*sample("is_jax_faster_than_pytorch"), *trees])
    assert beside.sentence == its.sentence


def test_a_hostile_name_ends_no_script_and_is_read_as_it_is():
    bad = both("imdb_bilstm", described=about("imdb_bilstm", title=EVIL))
    page = factory.pages(factory.on_hosts(bad))["answers/are-lstms-slow-on-gpus.md"]
    assert "<script>alert" not in page
    assert "{{" not in page
    (text,) = said(page).values()
    assert EVIL in text


def test_what_may_not_be_quoted_is_said_on_the_page_and_to_search_engines():
    its = answer_of("are_lstms_slow_on_gpus", both("imdb_bilstm"))
    assert its.caveat == "Not to be quoted: timed on 1 host, 3 are needed."
    assert its.text.endswith(its.caveat)


def standing_on(*caveats):
    """An answer that stands on a number with each caveat; '' of one that may be quoted."""
    numbers = (Quoted(words=Html("<a>{}</a>").format("2x (1 to 4)" if caveat else "4.0x (3.9 to 4.1)"), keys=(),
                      caveat=caveat) for caveat in caveats)  # fmt: skip
    return Answer(sentence=Html("It is."), numbers=tuple(numbers), turns=Html(""))


def test_an_answer_names_the_number_that_may_be_quoted_beside_one_that_may_not():
    its = [standing_on(""), standing_on("", "2 hosts of 3"), standing_on("2 hosts of 3")]
    assert [each.quotable for each in its] == ["all", "some", "none"]
    assert its[0].caveat == ""
    assert its[1].caveat == "May be quoted: 4.0x (3.9 to 4.1). Not 2x (1 to 4): timed on 2 hosts, 3 are needed."
    assert quoting(its).startswith("1 of 3 sentences below may be quoted as a whole, 1 in part. Each page says which ")
    assert quoting(its[:1]) == "1 of 1 sentence below may be quoted as a whole."


def test_the_list_judges_an_answers_sentence_and_the_page_the_numbers_below_it_too():
    sure, doubtful = standing_on("").numbers, standing_on("2 hosts of 3").numbers
    its = replace(standing_on(""), further=doubtful)
    assert (its.quotable, its.caveat) == ("all", "")
    assert its.note == "May be quoted: 4.0x (3.9 to 4.1). Not 2x (1 to 4): timed on 2 hosts, 3 are needed."
    assert replace(standing_on(""), further=sure).note == ""
    assert replace(standing_on("2 hosts of 3"), further=sure).quotable == "none"


def test_an_earlier_method_and_too_few_hosts_are_both_named_and_each_once():
    old, few = "timed by an earlier method", "1 host of 3"
    assert why_not((old, few, "no interval")) == f"{old}; {few}"
    assert why_not((few, "no interval")) == few
    assert why_not(()) == ""
    its = standing_on("2 hosts of 3", why_not((old, few)), old)
    assert its.caveat == f"Not to be quoted: timed on 2 hosts or 1 host, 3 are needed; {old}."


def test_a_step_on_one_host_by_an_earlier_method_says_both():
    name = "why_are_two_gpus_no_faster"
    its = answer_of(name, [msgspec.structs.replace(each, method=0) for each in SAMPLES[name]])
    assert its.caveat == "Not to be quoted: timed on 1 host, 3 are needed; timed by an earlier method."


def test_a_machine_whose_numbers_may_be_quoted_answers_before_the_home_page_s():
    sure, lstm = msgspec.structs.replace(factory.KNOWN, name="zzz, 16 cores"), about("imdb_bilstm")
    axes = {"workload": lstm.name, "batch": lstm.batch}
    three = [
        msgspec.structs.replace(
            each, workload=lstm.name, description=lstm, case=msgspec.structs.replace(each.case, **axes)
        )
        for each in factory.hosts(machine=sure)
    ]
    once = factory.campaign((lstm.name, "mnist_mlp"))
    first = answer_of("are_lstms_slow_on_gpus", [*once, *three])
    assert (first.caveat, f"machines/{sure.slug}.html" in first.sentence) == ("", True)
    assert answer_of("are_lstms_slow_on_gpus", once).caveat


def test_a_machine_some_of_whose_numbers_may_be_quoted_answers_before_one_with_none():
    other = msgspec.structs.replace(factory.KNOWN, name="zzz, 16 cores")
    facts = Facts(records=[*both("mnist_mlp"), *both("cifar10_mlp"), *both(machine=other)], prices=PRICES)
    none, some = standing_on("2 hosts of 3"), standing_on("", "2 hosts of 3")
    thin, of_one_host = replace(none, thin=True), standing_on("1 host of 3")
    for ours, theirs, told in (
        (none, some, some), (none, of_one_host, none), (None, none, none), (thin, of_one_host, of_one_host),
        (replace(some, thin=True), none, replace(some, thin=True)),
    ):  # fmt: skip
        its = {factory.HOST.slug: ours, other.slug: theirs}
        question = replace(
            answers.load("are_lstms_slow_on_gpus"), answer=lambda _, own, its=its: its[own.records[0].machine.slug]
        )
        assert answer(question, facts) == told


def test_an_unpublished_number_leads_to_its_record():
    records = factory.on_hosts(both("imdb_bilstm"))
    local = frozenset(record.campaign for record in records)
    its = answer_of("are_lstms_slow_on_gpus", records, local=local)
    assert 'href="../local/' in its.sentence


def test_the_cost_ratio_is_time_times_price():
    its = answer_of("which_is_cheaper_in_the_cloud", sample("which_is_cheaper_in_the_cloud"))
    assert "5.0" in its.sentence.striptags()  # 40 times the time at an eighth of the price
    assert "0.50 USD" in its.turns
    assert "4.0 USD" in its.turns


def test_a_cpu_without_a_price_in_the_same_currency_is_not_compared():
    name = "which_is_cheaper_in_the_cloud"
    for prices in (PRICES[:1], (PRICES[0], msgspec.structs.replace(PRICES[1], currency="EUR"))):
        assert answer(answers.load(name), Facts(records=sample(name), prices=prices)) is None


def test_without_the_price_of_a_cpu_the_answer_is_what_an_hour_of_it_may_cost():
    name, models_too = "which_is_cheaper_in_the_cloud", ("cifar10_mlp", "mnist_cnn", "imdb_text_cnn")
    records = [*both(), *both("imdb_bilstm", cpu=0.020), *both("catdog_cnn_base", cpu=0.005)]
    records += [record for each in models_too for record in both(each)]
    its = answer(answers.load(name), Facts(records=factory.on_hosts(records), prices=PRICES[:1]))
    sentence = str(its.sentence.striptags())
    assert "an hour, the GPU is cheaper if 16 cores cost over 0.2" in sentence  # a twentieth
    assert "mean of 6 models, each by its step alone" in its.more
    assert sentence.startswith("With one H100 80GB HBM3 at 4 USD an hour, the GPU")
    assert words(sentence) <= MOST_WORDS
    turns = str(its.turns.striptags())
    assert "from 0.10" in turns  # a fortieth of the price for the model that gains most
    assert ". Price of 2026-01: A provider. Other CPUs" in turns
    assert its.caveat == "Not to be quoted: 6 of 6 speed-ups behind it may not be quoted."
    assert len(its.keys) == 6
    few = [*both(), *both("mnist_cnn")]
    assert answer(answers.load(name), Facts(records=factory.on_hosts(few), prices=PRICES[:1])) is None


def test_a_key_that_may_not_be_quoted_is_marked_where_keys_are_listed():
    name = "does_mixed_precision_help"
    for records, marked in ((SAMPLES[name], True), (sample(name), False)):
        page = factory.pages(records)[f"answers/{answers.slug(name)}.md"]
        listed = page.partition("Quote it")[2].partition("How to cite")[0]
        assert ("</code>, not to be quoted yet" in listed) is marked


def test_a_threshold_of_another_machine_stands_beside_the_slowest_model():
    slow = factory.on_hosts(both("dp_linear_mirrored", 0.0001, 0.0002))
    other = msgspec.structs.replace(factory.HOST, name="other, 8 cores", cores=8)
    sized = [msgspec.structs.replace(record, machine=other)
             for size in ("32x2", "128x2", "512x2") for record in calls(f"crossover_mlp_{size}", 4e-4)]  # fmt: skip
    its = answer_of("why_is_my_gpu_slower_than_my_cpu", [*slow, *factory.on_hosts(sized, (1.0,))])
    assert "as fast as its CPU" in its.sentence
    assert "written as jax, is slower than on the CPU." in its.more.striptags()
    assert any(key.startswith("other-8-cores/") and key.endswith("flop-threshold") for key in its.keys)


def test_a_gpu_of_another_make_answers_no_question_after_one():
    assert answer_of("colab_t4_or_my_pc", sample("is_an_rtx_card_worth_it")) is None
    assert answer_of("is_an_rtx_card_worth_it", sample("colab_t4_or_my_pc")) is None


@pytest.mark.parametrize("term", ["mixed precision", "break-even", "compile time", "Colab"])
def test_words_that_readers_search_for_stand_on_a_page_of_a_question(term):
    files = factory.pages(())
    texts = [html.unescape(text).lower() for path, text in files.items() if path.startswith("answers/")]
    assert any(term.lower() in text for text in texts)


def test_a_new_question_is_one_file(tmp_path, monkeypatch):
    source = Path(answers.__path__[0], "colab_t4_or_my_pc.py").read_text(encoding="utf-8")
    (tmp_path / "a_new_one.py").write_text(
        source.replace("Is Colab’s T4 faster", "Is a new one faster"), encoding="utf-8"
    )
    path = [*answers.__path__, str(tmp_path)]
    monkeypatch.setattr(answers, "__path__", path)
    monkeypatch.setattr(answers, "names", partial(discovery.names, path))
    assert "Is a new one faster" in factory.pages(())["answers/index.md"]


def profiled(name, seconds, machine=factory.HOST):
    """The kernels of a model's step on three hosts, as the GPU's own clock times them."""
    runs = [
        msgspec.structs.replace(
            factory.run(place, seconds * noise, samples=1, doubling_ratio=None),
            profiled=Profiled(wall_seconds=8 * seconds, operations_per_step=4.0),
        )
        for place, noise in enumerate(NOISE)
    ]
    times = [1.0] * len(runs)
    return factory.record(name, "gpu", times, machine, scope="kernels", runs=runs, about=about(name))


def test_a_tiny_step_says_how_much_of_it_the_gpu_computes_on_the_machine_that_profiled_it():
    name = "why_is_my_gpu_slower_than_my_cpu"
    assert answer_of(name, sample(name)).more is None
    other = msgspec.structs.replace(factory.HOST, name="h200, 16 cores")
    steps = [one("dp_linear_mirrored", seconds=0.0002, machine=other)]
    kernels = [profiled("dp_linear_mirrored", 0.00001, other), profiled("mnist_mlp", 0.0004, other)]
    its = answer_of(name, factory.on_hosts([*SAMPLES[name], *steps, one(seconds=0.0005, machine=other), *kernels]))
    words = str(its.more.striptags())
    share = r"(4\.9|5\.0)\d* % \(.*\)"
    told = f"By the clock of one H100.*, it works for {share} of this model’s step and waits for launches otherwise"
    assert re.fullmatch(told + r"\.", words)
    assert its.further[0].keys == (
        "h200-16-cores/dp_linear_mirrored/gpu/kernels/seconds",
        "h200-16-cores/dp_linear_mirrored/gpu/step/seconds",
    )


def test_low_use_of_a_gpu_says_in_how_many_steps_it_waits_and_shows_them():
    name = "why_is_gpu_use_low"
    kernels = [profiled("dp_linear_mirrored", 0.00001), profiled("mnist_mlp", 0.000495)]
    records = factory.on_hosts([*SAMPLES[name], *both("dp_linear_mirrored", 0.0001, 0.0002), *kernels])
    its = answer_of(name, records)
    words = str(its.more.striptags())
    assert ". On one H100" in words
    assert " launches limit 1 of 2 steps. The step of " in words
    assert re.search(r" waits most: the GPU computes for (4\.9|5\.0)\d* % \(.*\) of it\.$", words)
    assert "Kernels and gaps of a step" in [table.title for table in its.tables]
