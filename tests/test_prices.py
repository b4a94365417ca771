"""Prices come from a file that anybody may write, and what is wrong with one is said with its place."""

import factory
import msgspec
import pytest
from click.testing import CliRunner

from suite.cli import main
from suite.report.parts import cost
from suite.results.single import prices
from suite.results.single.prices import Price
from suite.results.stats.statistics import Estimate

ENTRY = """
[[price]]
gpu = "H100"
per_hour = 3.6
currency = "USD"
date = "2026-01"
source = "a list"
"""
PRICE = Price(gpu="H100", per_hour=3.6, currency="USD", date="2026-01", source="a list")


def of(tmp_path, text):
    path = tmp_path / "prices.toml"
    path.write_text(text, encoding="utf-8")
    return prices.read(path)


def test_the_shipped_file_has_the_price_that_an_article_reports():
    found, *others = prices.read()
    assert (found.gpu, found.per_hour, found.currency) == ("P100", 0.9, "USD")
    assert found.source.startswith("reported: ")
    assert [(price.provider, price.source.startswith("https://")) for price in others] == [("Hyperstack", True)] * 2


def test_a_price_is_read_as_it_stands(tmp_path):
    assert of(tmp_path, ENTRY) == (PRICE,)
    assert (PRICE.machine, PRICE.gpus) == ("", 1)
    assert of(tmp_path, "price = []") == ()
    two = ENTRY + ENTRY.replace("H100", "A100")
    assert of(tmp_path, two) == (PRICE, msgspec.structs.replace(PRICE, gpu="A100"))


@pytest.mark.parametrize(
    ("old", "new"),
    [("3.6", "1000000"), ('"a list"', '"' + "x" * 300 + '"'), ('gpu = "H100"', 'gpu = "H100"\ngpus = 1024')],
)
def test_the_largest_that_a_field_may_be_is_read(tmp_path, old, new):
    assert len(of(tmp_path, ENTRY.replace(old, new))) == 1


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("3.6", "-1", "price 1: 'per_hour' must be a number above 0"),
        ("3.6", "0", "'per_hour' must be a number above 0, at most 1,000,000$"),
        ("3.6", "1000001", "'per_hour' must be a number above 0"),
        ("3.6", "nan", "'per_hour' must be"),
        ("3.6", "inf", "'per_hour' must be"),
        ("3.6", "1e999", "'per_hour' must be"),
        ("3.6", "9" * 400, "'per_hour' must be"),
        ("3.6", "9" * 5000, "is no file of prices"),
        ("3.6", "true", "'per_hour' must be"),
        ("3.6", '"3.6"', "'per_hour' must be"),
        ("per_hour = 3.6\n", "", "price 1: lacks 'per_hour'"),
        ("per_hour = 3.6", "per_hour = 3.6\nper_hour = 4", "is no file of prices: .*line 5"),
        ('"USD"', '"dollars"', "'currency' must be three capital letters such as USD$"),
        ('"USD"', "7", "'currency' must be a printable text"),
        ('"2026-01"', '"yesterday"', "'date' must be YYYY, YYYY-MM or YYYY-MM-DD$"),
        ('"2026-01"', '"2026-13"', "'date' must be YYYY"),
        ('"2026-01"', "2026-01-02", "'date' must be a printable text"),
        ('"a list"', '" "', "'source' must say where the price was found$"),
        ('"a list"', '"' + "x" * 301 + '"', "'source' must be a printable text"),
        ('"a list"', '"\\u202e"', "'source' must be a printable text"),
        ('"a list"', '"\\u001b[2J"', "'source' must be a printable text"),
        ('gpu = "H100"', 'gpu = "H100"\nmachine = "x"', "must have either 'machine'"),
        (
            'gpu = "H100"',
            'gpu = "--"',
            "must have either 'machine', a name on the site, or 'gpu', words of a GPU's name, or 'cpu' with 'cores'$",
        ),
        ('gpu = "H100"', 'gpu = "H100"\ncpu = "EPYC"\ncores = 2', "must have either 'machine'"),
        ('gpu = "H100"', 'cpu = "EPYC"', "must have 'cpu' and 'cores' together$"),
        ('gpu = "H100"', 'gpu = "H100"\ncores = 2', "must have 'cpu' and 'cores' together$"),
        ('gpu = "H100"', 'cpu = "EPYC"\ncores = 0', "'cores' must be a whole number from 1 to 65536$"),
        ('gpu = "H100"', 'cpu = "EPYC"\ncores = true', "'cores' must be a whole number"),
        ('gpu = "H100"', "cpu = 7\ncores = 2", "'cpu' must be a printable text"),
        ('gpu = "H100"', 'gpu = "H100"\nregion = 7', "'region' must be a printable text"),
        ('gpu = "H100"', "gpu = 7", "'gpu' must be a printable text"),
        ('gpu = "H100"', "machine = 7", "'machine' must be a printable text"),
        ('gpu = "H100"\n', "", "must have either 'machine'"),
        ('gpu = "H100"', 'gpu = "H100"\ngpus = 0', "'gpus' must be a whole number from 1 to 1024$"),
        ('gpu = "H100"', 'gpu = "H100"\ngpus = 1025', "'gpus' must be a whole number"),
        ('gpu = "H100"', 'gpu = "H100"\ngpus = true', "'gpus' must be a whole number"),
        ('gpu = "H100"', 'gpu = "H100"\ndollars = 3', "has no field 'dollars'; there are: per_hour"),
        ("[[price]]", "[price]", r"must hold \[\[price\]\] entries"),
        ("[[price]]", "[[prices]]", r"must hold \[\[price\]\] entries and nothing else; there are: 'prices'"),
        ("[[price]]", "price = 3\n[other]", "must hold"),
        ("[[price]]", "[[price", "is no file of prices: .*line 2"),
        ("[[price]]", "x = " + "[" * 100_000, "is no file of prices"),
        (ENTRY, ENTRY * 2, "price 2: is the second one for this machine; keep one$"),
        (ENTRY, "", "must hold .* there are: none$"),
        ("[[price]]", "a = 1\nb = 2\nc = 3\nd = 4\n[[price]]", "there are: 'a', 'b', 'c'$"),
        (ENTRY, "# " + "x" * 2**20, "more than the 1048576 bytes"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_place(tmp_path, old, new, words):
    assert old in ENTRY
    with pytest.raises(ValueError, match=f"(?s)prices.toml'.*{words}"):
        of(tmp_path, ENTRY.replace(old, new, 1))


def test_a_file_that_is_no_text_or_not_there_is_said(tmp_path):
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"'.*bytes' is no file of prices"):
        prices.read(tmp_path / "bytes")
    for nothing in (tmp_path / "none", tmp_path):
        with pytest.raises(ValueError, match="cannot read the prices in"):
            prices.read(nothing)


@pytest.mark.parametrize("command", ["report", "run"])
def test_the_command_line_refuses_a_bad_file_before_anything_else(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.toml").write_text(ENTRY.replace("3.6", "free"))
    result = CliRunner().invoke(main, [command, "--prices", "p.toml"])
    assert result.exit_code == 1
    assert "Error: 'p.toml' is no file of prices" in result.output


def gpus(*names):
    return msgspec.structs.replace(
        factory.HOST, gpus=tuple(msgspec.structs.replace(factory.H100, name=name) for name in names)
    )


SLICED = msgspec.structs.replace(
    factory.HOST, gpus=(msgspec.structs.replace(factory.H100, name="NVIDIA H100 MIG 1g.10gb", slice="1g.10gb"),)
)


def price(**changes):
    return msgspec.structs.replace(PRICE, **changes)


@pytest.mark.parametrize(
    ("listed", "machine", "found"),
    [
        ([price()], gpus("NVIDIA H100 80GB HBM3"), 0),
        ([price(gpu="T4")], gpus("NVIDIA T400"), None),  # whole words alone
        ([price()], gpus("NVIDIA H100", "NVIDIA H100"), None),  # the price is of one
        ([price(gpus=2)], gpus("NVIDIA H100", "NVIDIA H100"), 0),
        ([price(gpus=2)], gpus("NVIDIA H100", "Tesla T4"), None),
        ([price(), price(gpu="h100 hbm3")], gpus("NVIDIA H100 80GB HBM3"), 1),
        ([price(), price(gpu="", machine="test-gpu, 16 cores")], factory.HOST, 1),
        ([price(gpu="", machine="test-gpu-16-cores")], factory.HOST, 0),
        ([price()], factory.PLAIN, None),
        ([price(gpu="NVIDIA H100")], gpus("NVIDIA H100"), 0),
        ([price(gpu="", machine="another machine")], factory.HOST, None),
        ([price(), price(gpu="H100 MIG")], SLICED, 1),
        ([price()], SLICED, None),  # a slice has a price of its own
        ([price(gpu="", machine="test-cpu, 4 cores")], factory.PLAIN, 0),
    ],
)
def test_a_machine_has_the_price_of_its_name_or_else_of_its_gpus(listed, machine, found):
    assert prices.price_of(machine, listed) == (None if found is None else listed[found])


def test_cost_is_price_times_time_and_keeps_the_interval():
    found = prices.cost(Estimate(value=1000.0, low=500.0, high=2000.0, processes=3), 1_000_000, PRICE)
    assert found == Estimate(value=1.0, low=0.5, high=2.0, processes=3)  # 1,000 s at 3.60 an hour
    alone = prices.cost(Estimate(value=1000.0), 1_000_000, PRICE)
    assert (alone.low, alone.high) == (None, None)
    unsure = prices.cost(Estimate(value=1.0, low=0.0, high=float("inf")), 1000, PRICE)
    assert (unsure.low, unsure.high) == (None, None)  # a rate of 0, or without a bound, costs nothing that is known
    slow = prices.cost(Estimate(value=1.0, low=0.5, high=2.0), 1000, PRICE)
    assert (slow.low, slow.high) == (0.5, 2.0)


def test_the_table_has_a_cost_for_an_epoch_where_there_is_one():
    about = factory.description(examples_per_epoch=60_000)
    timed = factory.record(backend="gpu", step_seconds=(0.128,) * 3, about=about)  # 1,000 examples/s
    table = cost.table([timed, factory.record(backend="gpu"), factory.record(backend="gpu", scope="cold")], [PRICE])
    gpu, other = table.rows
    assert [cell.text for cell in gpu[1:5]] == ["1.00 USD", "0.0602 USD", "3.6 USD", "2026-01"]
    assert (other[2].text, other[2].remark) == ("–", "the source knows no epochs")
    assert table.notes[0] == "Price of 2026-01: a list."
    assert cost.table([timed], []).rows == ()


def test_cpu_steps_cost_only_where_no_gpu_is_rented_with_the_cpu():
    own = msgspec.structs.replace(PRICE, gpu="", machine=factory.PLAIN.name)
    steps = [factory.record(), factory.record(machine=factory.PLAIN), factory.record(backend="gpu")]
    rows = cost.table(steps, [PRICE, own]).rows
    assert [row[0].record.machine.slug for row in rows] == [factory.PLAIN.slug, factory.HOST.slug]
    assert [row[0].text for row in rows] == ["cpu jax", "gpu jax"]


def test_the_workload_page_shows_the_cost_and_the_terminal_the_headline_s():
    records = factory.campaign()
    page = factory.pages(records, prices=[price(source="<b>list</b>")])["workloads/mnist_mlp.md"]
    assert "What the steps cost" in page
    assert "<b>list" not in page
    assert "What the steps cost" not in factory.pages(records)["workloads/mnist_mlp.md"]
    (table,) = cost.for_terminal(records, factory.HOST.slug, [PRICE])
    assert [(row[0].text, row[1].text) for row in table.rows] == [
        ("cifar10_mlp", "gpu jax"),
        ("mnist_mlp", "gpu jax"),
    ]
