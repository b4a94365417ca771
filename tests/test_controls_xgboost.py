"""XGBoost as a control: the same rounds on the same table, and no number from a device that was not asked for."""

import dataclasses
import importlib
import json
import sys
import types

import factory
import msgspec
import numpy as np
import pytest

from suite import controls_xgboost, families, models
from suite.case import Case
from suite.driver import validation
from suite.results.single.roofline import COPY, MATMUL, Ceiling, share
from suite.results.single.summary import summary
from suite.variants import variants_of
from suite.worker import probe

CASE = Case(workload="gbdt_mortgage", backend="cpu", scope="step", batch=64, data="random", implementation="xgboost")


class Booster:
    """One that trains on the CPU whatever it is told, unless there is a GPU; its loss halves with each round."""

    gpu = False
    made = 0

    def __init__(self, parameters, cache):
        Booster.made += 1
        self.parameters, self.rounds, (self.table,) = parameters, [], cache

    def save_config(self):
        device = "cuda:0" if self.gpu and self.parameters["device"] == "cuda" else "cpu"
        told = {"device": device, "nthread": str(self.parameters["nthread"])}
        return json.dumps({"learner": {"generic_param": told}})

    def update(self, table, number):
        assert table is self.table
        self.rounds.append(number)

    def predict(self, table):
        return self.table["labels"] - np.float32(0.5 ** len(self.rounds))


@pytest.fixture
def xgboost(monkeypatch):
    """A module in XGBoost's place, and the program that was imported with it."""
    fake = types.ModuleType("xgboost")
    fake.__version__ = "0"
    fake.cuda = False
    fake.build_info = lambda: {"USE_CUDA": fake.cuda}
    fake.QuantileDMatrix = lambda data, labels, **how: {"data": data, "labels": labels, **how}
    fake.Booster = Booster
    monkeypatch.setitem(sys.modules, "xgboost", fake)
    monkeypatch.delitem(sys.modules, "suite.programs.xgboost_program", raising=False)
    monkeypatch.setattr(Booster, "made", 0)
    yield fake
    sys.modules.pop("suite.programs.xgboost_program", None)


def program(case=CASE, rounds=100):
    control = dataclasses.replace(controls_xgboost.load("gbdt_mortgage"), rounds=rounds)
    made = importlib.import_module("suite.programs.xgboost_program").XgboostProgram(control, case)
    made.initialise(0)
    made.put([control.draw(np.random.default_rng(0), case.batch)])
    made.lower()
    made.compile()
    return made


def on_gpu(case=CASE):
    return msgspec.structs.replace(case, backend="gpu")


def test_a_build_without_cuda_is_an_error(xgboost):
    with pytest.raises(RuntimeError, match=r"backend 'gpu' asked for, this XGBoost was built for the CPU alone"):
        program(on_gpu())


def test_training_on_the_cpu_where_the_gpu_was_asked_for_is_an_error(xgboost):
    xgboost.cuda = True
    with pytest.raises(RuntimeError, match=r"backend 'gpu' asked for, XGBoost trains on 'cpu'"):
        program(on_gpu())


def test_the_device_is_the_one_that_the_booster_says(xgboost, monkeypatch):
    xgboost.cuda = True
    assert program().platform() == "cpu"
    monkeypatch.setattr(Booster, "gpu", True)
    assert program(on_gpu()).platform() == "gpu"
    assert program(on_gpu()).settings()["xgboost_device"] == "cuda:0"


@pytest.mark.parametrize(("variant", "threads", "wanted"), [("one-thread", None, "1"), ("plain", 3, "3")])
def test_the_threads_are_those_of_the_case_and_are_recorded(xgboost, variant, threads, wanted):
    made = program(msgspec.structs.replace(CASE, variant=variant, threads=threads))
    assert made.settings()["xgboost_threads"] == wanted


def test_after_the_last_round_a_new_booster_begins(xgboost):
    made = program(rounds=3)
    made.chain(4)
    assert (Booster.made, made._booster.rounds) == (2, [0])


def test_the_loss_counts_positive_rows_twice(xgboost):
    made = program()
    made.chain(1)
    weights = np.where(made._labels > 0, 2.0, 1.0)
    assert made.loss() == pytest.approx(np.mean(weights * 0.25))


def test_parameters_are_those_of_the_model_in_jax():
    told, growth = controls_xgboost.load("gbdt_mortgage").parameters, models.load("gbdt_mortgage").growth
    mine = (growth.depth, growth.rate, growth.least_gain, growth.l1, growth.l2, growth.least_hessian)
    assert tuple(told[n] for n in ("max_depth", "eta", "gamma", "alpha", "lambda", "min_child_weight")) == mine
    assert (told["scale_pos_weight"], told["base_score"]) == (growth.positive_weight, growth.start)
    assert controls_xgboost.load("gbdt_mortgage").rounds == growth.rounds
    assert controls_xgboost.load("gbdt_mortgage").draw is models.load("gbdt_mortgage").draw


def test_it_offers_the_backends_that_it_was_built_for(xgboost):
    assert set(probe.xgboost_offer().backends) == {"cpu"}
    xgboost.cuda = True
    offer = probe.xgboost_offer()
    assert set(offer.backends) == {"cpu", "gpu"}
    assert offer.names == ("gbdt_mortgage", *families.members("suite.controls_xgboost"))


def test_one_thread_is_timed_on_the_cpu_alone_and_refused_on_a_gpu():
    assert variants_of("xgboost", "cpu") == ("plain", "one-thread")
    with pytest.raises(LookupError, match="variant 'one-thread' asked for, 'xgboost' on gpu has: plain"):
        validation.check_variants(("one-thread",), ("xgboost",), ("gpu",))


def test_an_unknown_control_is_named_with_all_there_are():
    with pytest.raises(LookupError, match="no control in XGBoost for workload 'nothing'; there are: gbdt_mortgage"):
        controls_xgboost.load("nothing")


def test_where_no_flop_are_counted_there_is_no_rate_of_them_and_no_mfu():
    about = models.load("gbdt_mortgage").description
    item = summary(msgspec.structs.replace(factory.record(), description=about))
    assert item.seconds is not None
    assert item.flop_per_second is None
    ceiling = Ceiling(rate=1e12, measured=item)
    record = item.record
    side = (record.machine.slug, record.backend)
    roof = {(*side, MATMUL, record.case.precision): ceiling, (*side, COPY, "float32-highest"): ceiling}
    found = share(item, roof)
    assert found.mfu is None
    assert found.reason == "no FLOP are counted where nothing is multiplied"
    assert found.of_floor is not None
