"""What a step costs on each kind of CPU and GPU, and what a CPU may cost for a step to cost the same."""

import pytest
from msgspec.structs import replace
from test_kinds import HOST, SMALL, TWO_MACHINES, known

from suite.report.pages import kinds as page
from suite.report.parts import equal_money as part
from suite.report.parts.facts import Facts
from suite.results.pooled.equal_money import equal_money
from suite.results.pooled.kinds import pairs
from suite.results.single.prices import Price, price_of, price_of_cpu

GPU = Price(gpu="H100", per_hour=3.6, currency="USD", date="2026-01", source="a list")
CPU = Price(cpu="newer CPU", cores=2, per_hour=0.3, currency="USD", date="2026-02", source="another list")


def items(*prices):
    """By the CPU's machine; one H100 is 24 times as fast as the small machine and 20 times as its own host."""
    return {item.pair.cpu.machine.name: item for item in equal_money(pairs(known(TWO_MACHINES)), prices)}


def test_a_step_costs_the_same_if_an_hour_of_the_cpu_is_the_gpus_over_the_speed_up():
    item = items(GPU)["small, 2 cores"]
    same, ratio = item.equal_per_hour, item.pair.mean
    assert same.value == pytest.approx(3.6 / 24)
    assert (same.low, same.high) == pytest.approx((3.6 / ratio.high, 3.6 / ratio.low))
    assert (item.cpu, item.over, item.cores) == (None, None, None)


def test_with_both_prices_a_step_has_a_cost_on_either_side():
    item = items(GPU, CPU)["small, 2 cores"]
    assert item.over.value == pytest.approx(24 * 0.3 / 3.6)
    assert item.over.low == pytest.approx(item.pair.mean.low * 0.3 / 3.6)
    assert item.cores == pytest.approx(24)
    assert items(GPU, CPU)["test-gpu, 16 cores"].cpu is None


def test_the_price_of_a_gpu_is_never_that_of_its_hosts_cpu():
    named = replace(GPU, gpu="", machine="test-gpu, 16 cores")
    assert items(named)["test-gpu, 16 cores"].cpu is None
    assert price_of_cpu(HOST, [named, GPU]) is None
    assert price_of_cpu(SMALL, [replace(CPU, cpu="", cores=0, machine="small, 2 cores")]) is not None


def test_a_cpu_is_priced_by_its_name_and_its_cores_the_longest_name_first():
    assert price_of_cpu(SMALL, [CPU]) == price_of(SMALL, [CPU]) == CPU
    assert price_of_cpu(SMALL, [replace(CPU, cores=4)]) is None
    assert price_of_cpu(SMALL, [replace(CPU, cpu="older CPU")]) is None
    longer = replace(CPU, cpu="A newer CPU", per_hour=1.0)
    assert price_of_cpu(SMALL, [CPU, longer]) == longer
    assert price_of_cpu(replace(HOST, cpu_model="A newer CPU", cores=2), [CPU]) == CPU
    assert price_of_cpu(replace(SMALL, cores=0), [GPU]) is None


def test_prices_in_two_currencies_are_not_set_against_each_other():
    assert items(GPU, replace(CPU, currency="EUR"))["small, 2 cores"].cpu is None


def test_without_a_price_of_the_gpu_nothing_is_said():
    assert items(CPU) == {}
    assert part.sentence(()) == ""
    assert "same money" not in page.files(Facts(records=TWO_MACHINES, prices=[CPU]))[page.PATH]


def test_the_sentence_is_of_the_pair_whose_prices_are_known():
    both, one = (part.sentence(list(items(*prices).values())) for prices in ((GPU, CPU), (GPU,)))
    assert "2 virtual cores of A newer CPU (family 26 model 2) 0.3 USD, a step costs 2.0" in both
    assert "the H100 80GB HBM3's own 16 virtual cores if these are 0.180 USD" in one


def test_a_price_is_shown_with_all_its_digits():
    table = part.table(list(items(replace(GPU, per_hour=3.994)).values()))
    assert {row[2].text for row in table.rows} == {"3.994 USD"}


def test_the_table_names_the_sources_and_what_is_not_known():
    table = part.table(list(items(GPU, CPU).values()))
    assert table.notes == ("Price of 2026-01: a list.", "Price of 2026-02: another list.")
    rows = {row[0].text: row for row in table.rows}
    assert [rows["A newer CPU (family 26 model 2), 2 cores"][at].sort for at in (3, 5, 6, 8)] == pytest.approx(
        [0.15, 0.3, 2, 24]
    )
    assert "--prices" in rows["Test CPU (Emerald Rapids), 16 cores"][5].remark


def test_words_of_a_price_are_escaped():
    prices = [replace(GPU, source="<script>alert(1)</script>", provider="<b>", region="here")]
    shown = page.files(Facts(records=TWO_MACHINES, prices=prices))[page.PATH]
    assert "same-money" in shown
    assert "<script>alert" not in shown
    assert "<b>" not in shown
